/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of HTTP: read in one way only, and passed on in one form. */
#include "lib/test.h"
#include "net/http.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static struct http_request request;
static const char *wrong;

static int read_text(const char *text)
{
    return http_read_request(text, strlen(text), 80, &request, &wrong);
}

/* Reads it, and sees that each beginning wants more. */
static void accept_it(const char *text)
{
    for (size_t size = 0; size < strlen(text); size++)
        ck_assert_int_eq(http_read_request(text, size, 80, &request, &wrong), 0);
    ck_assert_msg(read_text(text) == 1, "%s: %s", text, wrong);
    ck_assert_uint_eq(request.head_bytes, strlen(text));
}

START_TEST(a_request_names_its_host)
{
    accept_it("GET / HTTP/1.1\r\nHost: Example.org\r\n\r\n");
    ck_assert_str_eq(request.to.name, "example.org");
    ck_assert_uint_eq(request.to.port, 80);
    ck_assert(!request.is_connect && request.body == HTTP_NO_BODY);
    accept_it("GET http://example.org:8080/a?b HTTP/1.1\r\nHost: example.org:8080\r\n\r\n");
    ck_assert_uint_eq(request.to.port, 8080);
    ck_assert_int_eq(strncmp(request.path, "/a?b", request.path_bytes), 0);
    accept_it("GET http://[2001:db8::1]/ HTTP/1.0\r\n\r\n");
    ck_assert_str_eq(request.to.name, "2001:db8::1");
    accept_it("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n");
    ck_assert(request.is_connect);
    ck_assert_uint_eq(request.to.port, 443);
    accept_it("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n");
    accept_it("OPTIONS * HTTP/1.1\r\nHost: example.org\r\n\r\n");
}
END_TEST

START_TEST(what_could_be_read_in_two_ways_is_refused)
{
    static const char *const texts[] = {
        "GET / HTTP/1.1\nHost: a.b\n\n",
        "GET / HTTP/1.1\r\nHost: a.b\n\r\n",
        "GET / HTTP/1.1\rHost: a.b\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET / / HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET\t/ HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a.b\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.b\r\nHost: a.b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a.b\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: a.b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.b\r\n b: c\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.b, c.d\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: u@a.b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 0x7f.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET http://c.d/ HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET http://a.b:81/ HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET http://u@a.b/ HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET https://a.b/ HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET a.b HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "CONNECT a.b HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "CONNECT a.b:443 HTTP/1.1\r\nHost: c.d:443\r\n\r\n",
        "CONNECT a.b:443 HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
        "CONNECT /x HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 1, 1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: +1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 0x1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: \r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        ("POST / HTTP/1.1\r\nHost: a.b\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
         "identity\r\n\r\n"),
        "POST / HTTP/1.0\r\nHost: a.b\r\nTransfer-Encoding: chunked\r\n\r\n",
        "CONNECT a.b:443 HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: connect-udp\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.b\r\nx\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.b\r\nx: a\x01z\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        ck_assert_msg(read_text(texts[i]) == -400, "%s", texts[i]);
        ck_assert_ptr_nonnull(wrong);
    }
    ck_assert_int_eq(http_read_request("G\0", 2, 80, &request, &wrong), -400);
}
END_TEST

START_TEST(other_protocols_begin_with_letters_too)
{
    static const char *const texts[] = {
        "SSH-2.0-x", "EHLO a\r\n", "get / HTTP/1.1\r\n", "GET\n", "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        " GET",      "220 x"};
    static const char *const good[] = {"G", "GET", "GET / HT", "GET / HTTP/1.1\r\n",
                                       "PRI * HTTP/2.0\r\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        ck_assert_msg(!http_may_be_request(texts[i], strlen(texts[i])), "%s", texts[i]);
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        ck_assert_msg(http_may_be_request(good[i], strlen(good[i])), "%s", good[i]);
}
END_TEST

START_TEST(other_refusals_have_their_own_number)
{
    static char large[HTTP_HEAD_MAX + 1];
    static char many[4096];

    ck_assert_int_eq(read_text("TRACE / HTTP/1.1\r\nHost: a.b\r\n\r\n"), -405);
    ck_assert_int_eq(read_text("PRI * HTTP/2.0\r\n\r\n"), -505);
    ck_assert_int_eq(read_text("GET / HTTP/0.9\r\nHost: a.b\r\n\r\n"), -505);
    ck_assert_int_eq(read_text("ABCDEFGHIJKLMNOPQRSTU / HTTP/1.1\r\nHost: a.b\r\n\r\n"), -501);
    memset(large, 'a', sizeof(large));
    ck_assert_int_eq(http_read_request(large, sizeof(large), 80, &request, &wrong), -431);
    (void)stpcpy(many, "GET / HTTP/1.1\r\nHost: a.b\r\n");
    for (int i = 0; i <= HTTP_FIELDS_MAX; i++)
        (void)stpcpy(many + strlen(many), "x: y\r\n");
    (void)stpcpy(many + strlen(many), "\r\n");
    ck_assert_int_eq(read_text(many), -431);
}
END_TEST

static void passes_on(const char *text, const char *expected)
{
    autostrbuf struct strbuf out = {0};

    ck_assert_msg(read_text(text) == 1, "%s: %s", text, wrong);
    http_write_request(text, &request, &out);
    ck_assert_str_eq(out.text, expected);
    /* What goes on is read as the same request, and passed on as it is. */
    ck_assert_int_eq(read_text(expected), 1);
}

START_TEST(a_request_is_passed_on_alone)
{
    passes_on("GET http://a.b/x?y HTTP/1.1\r\nHost: a.b\r\nAccept: */*\r\nProxy-Connection: "
              "keep-alive\r\n"
              "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nProxy-Authorization: x\r\n\r\n",
              "GET /x?y HTTP/1.1\r\nHost: a.b\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n");
    ck_assert(http_may_follow(&request));
    passes_on("GET http://a.b/ HTTP/1.1\r\nHost: a.b\r\nProxy-Connection: x, Close\r\n\r\n",
              "GET / HTTP/1.1\r\nHost: a.b\r\nConnection: close\r\n\r\n");
    /* Servers differ about bodies, and what changes something is not sent again. */
    passes_on("GET / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 3\r\n\r\n",
              "GET / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
    passes_on("DELETE / HTTP/1.1\r\nHost: a.b\r\n\r\n",
              "DELETE / HTTP/1.1\r\nHost: a.b\r\nConnection: close\r\n\r\n");
    passes_on("GET http://a.b:81?q HTTP/1.0\r\n\r\n",
              "GET /?q HTTP/1.1\r\nHost: a.b:81\r\nConnection: close\r\n\r\n");
    passes_on(
        "POST / HTTP/1.1\r\nHost: a.b\r\nConnection: content-length\r\nContent-Length: 3\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
    /* Nobody has to do as a client wishes: Java asks for HTTP/2 with its first request. */
    passes_on("GET / HTTP/1.1\r\nHost: a.b\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: "
              "h2c\r\nHTTP2-Settings: AAE\r\n\r\n",
              "GET / HTTP/1.1\r\nHost: a.b\r\nConnection: keep-alive\r\n\r\n");
    ck_assert(!request.upgrades);
    passes_on("GET / HTTP/1.1\r\nHost: [2001:db8::1]:81\r\nConnection: Upgrade\r\nUpgrade: "
              "WebSocket\r\n\r\n",
              "GET / HTTP/1.1\r\nHost: [2001:db8::1]:81\r\nConnection: Upgrade\r\nUpgrade: "
              "websocket\r\n\r\n");
    ck_assert(request.upgrades);
}
END_TEST

/* Takes it in pieces of one size; the bytes of the body, or -EBADMSG. */
static long take_all(const char *bytes, size_t piece)
{
    struct http_body body;
    size_t at = 0;

    http_body_begin(&body, &request);
    while (!body.is_done && at < strlen(bytes)) {
        size_t size = strlen(bytes) - at < piece ? strlen(bytes) - at : piece;
        long taken = http_body_take(&body, bytes + at, size);

        if (taken < 0)
            return taken;
        ck_assert(body.is_done || (size_t)taken == size);
        at += (size_t)taken;
    }
    return body.is_done ? (long)at : -EAGAIN;
}

START_TEST(a_body_ends_where_it_says)
{
    static const struct {
        const char *bytes;
        long size;
    } bodies[] = {
        {"0\r\n\r\nGET", 5},
        {"3\r\nabc\r\n0\r\n\r\nGET", 13},
        {"A;x=\"y\"\r\n0123456789\r\n00\r\n\r\n", 27},
        {"3\r\nabc\r\n0\r\n", -EAGAIN},
        {"3\r\nabcd\r\n0\r\n\r\n", -EBADMSG},
        {"3\nabc\r\n0\r\n\r\n", -EBADMSG},
        {"3\r\nabc\n0\r\n\r\n", -EBADMSG},
        {"3\r\nabc\r\n0\n\n", -EBADMSG},
        {"3 \r\nabc\r\n0\r\n\r\n", -EBADMSG},
        {"\r\n0\r\n\r\n", -EBADMSG},
        {"x\r\n", -EBADMSG},
        {"-1\r\n", -EBADMSG},
        {";x\r\n", -EBADMSG},
        {"3;a\nb\r\nabc\r\n", -EBADMSG},
        {"fffffffffffffffff\r\n", -EBADMSG},
        {"0\r\nTrailer: x\r\n\r\n", -EBADMSG},
    };

    accept_it("POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 4\r\n\r\n");
    for (size_t piece = 1; piece < 9; piece++)
        ck_assert_int_eq(take_all("abcdGET", piece), 4);
    accept_it("POST / HTTP/1.1\r\nHost: a.b\r\nTransfer-Encoding: Chunked\r\n\r\n");
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
        for (size_t piece = 1; piece < 30; piece++)
            ck_assert_msg(take_all(bodies[i].bytes, piece) == bodies[i].size, "%s",
                          bodies[i].bytes);
}
END_TEST

START_TEST(an_answer_has_a_status)
{
    ck_assert_int_eq(http_read_status("HTTP/1.1 101 Switching", 22), 101);
    ck_assert_int_eq(http_read_status("HTTP/1.0 200\r\n", 14), 200);
    ck_assert_int_eq(http_read_status("HTTP/1.1 10", 11), 0);
    ck_assert_int_eq(http_read_status("HTTX", 4), -EBADMSG);
    ck_assert_int_eq(http_read_status("HTTP/1.1 1x1 y", 14), -EBADMSG);
    ck_assert_int_eq(http_read_status("HTTP/1.1 1011 y", 15), -EBADMSG);
    ck_assert_int_eq(http_read_status("HTTP/1.1 001 y", 14), -EBADMSG);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http");
    TCase *tests = tcase_create("http");

    suite_add_tcase(suite, tests);
    tcase_add_test(tests, a_request_names_its_host);
    tcase_add_test(tests, what_could_be_read_in_two_ways_is_refused);
    tcase_add_test(tests, other_protocols_begin_with_letters_too);
    tcase_add_test(tests, other_refusals_have_their_own_number);
    tcase_add_test(tests, a_request_is_passed_on_alone);
    tcase_add_test(tests, a_body_ends_where_it_says);
    tcase_add_test(tests, an_answer_has_a_status);
    return test_run(suite, "http");
}
