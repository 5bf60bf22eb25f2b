/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of HTTP: where they end, in one way only, and the form in which they are passed on. */
#include "lib/test.h"
#include "net/answer.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static struct answer answer;

static int read_text(const char *text)
{
    return answer_read(text, strlen(text), false, &answer);
}

/* Reads it, and sees that each beginning wants more. */
static void accept_it(const char *text)
{
    for (size_t size = 0; size < strlen(text); size++)
        ck_assert_int_eq(answer_read(text, size, false, &answer), 0);
    ck_assert_int_eq(read_text(text), 1);
    ck_assert_uint_eq(answer.head_bytes, strlen(text));
}

START_TEST(an_answer_says_where_it_ends)
{
    accept_it("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
    ck_assert_int_eq(answer.status, 200);
    ck_assert(answer.body == HTTP_LENGTH && answer.body_bytes == 12 && !answer.is_to_end);
    accept_it("HTTP/1.1 200 OK\r\ncontent-length:12\r\nContent-Length: 12 \r\n\r\n");
    ck_assert_uint_eq(answer.body_bytes, 12);
    accept_it("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n");
    ck_assert(answer.body == HTTP_CHUNKED && !answer.is_to_end);
    accept_it("HTTP/1.1 200 OK\r\n\r\n");
    ck_assert(answer.body == HTTP_NO_BODY && answer.is_to_end);
    accept_it("HTTP/1.0 200 OK\nX: 1\n\n");
    ck_assert(answer.is_to_end);
    accept_it("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ck_assert(answer.body == HTTP_NO_BODY && !answer.is_to_end);
}
END_TEST

START_TEST(some_answers_have_no_body_whatever_they_say)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";

    accept_it("HTTP/1.1 204 No Content\r\nContent-Length: 12\r\n\r\n");
    ck_assert(answer.body == HTTP_NO_BODY && !answer.is_to_end);
    accept_it("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n");
    ck_assert(answer.body == HTTP_NO_BODY && !answer.is_to_end);
    accept_it("HTTP/1.1 100 Continue\r\n\r\n");
    ck_assert(answer.body == HTTP_NO_BODY && !answer.is_to_end);
    ck_assert_int_eq(answer_read(head, sizeof(head) - 1, true, &answer), 1);
    ck_assert(answer.body == HTTP_NO_BODY && !answer.is_to_end);
}
END_TEST

START_TEST(what_can_be_read_in_two_ways_is_no_answer)
{
    static const char *const wrong[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 30\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1234567890123456789\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: 1\r\n Content-Length: 3\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: 1\rContent-Length: 3\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno field\r\n\r\n",
        "HTTP/1.1 99 Low\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "<html>hello",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        ck_assert_msg(read_text(wrong[i]) == -EBADMSG, "%s", wrong[i]);
}
END_TEST

START_TEST(a_head_that_never_ends_is_no_answer)
{
    static char text[ANSWER_HEAD_MAX + 1];

    memset(text, 'a', sizeof(text));
    memcpy(text, "HTTP/1.1 200 OK\r\nX: ", 20);
    ck_assert_int_eq(answer_read(text, ANSWER_HEAD_MAX - 1, false, &answer), 0);
    ck_assert_int_eq(answer_read(text, ANSWER_HEAD_MAX, false, &answer), -EBADMSG);
}
END_TEST

START_TEST(what_is_passed_on_says_whether_more_may_come)
{
    struct strbuf out = {0};

    accept_it("HTTP/1.1 200 OK\nConnection: keep-alive\nKeep-Alive: timeout=5\nX-Own: 1\n\n");
    answer_write("HTTP/1.1 200 OK\nConnection: keep-alive\nKeep-Alive: timeout=5\nX-Own: 1\n\n",
                 &answer, false, &out);
    ck_assert_str_eq(out.text, "HTTP/1.1 200 OK\r\nX-Own: 1\r\nConnection: close\r\n\r\n");
    strbuf_done(&out);
    answer_write("HTTP/1.1 200 OK\nConnection: close\n\n", &answer, true, &out);
    ck_assert_str_eq(out.text, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n");
    strbuf_done(&out);
}
END_TEST

START_TEST(a_server_keeps_what_it_says_nothing_against)
{
    static const struct {
        const char *head;
        bool keeps;
    } heads[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true},
        {"HTTP/1.1 204 No Content\r\n\r\n", true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true},
        {"HTTP/1.1 200 OK\r\n\r\n", false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: x , CLOSE\t,\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: closed\r\n\r\n", true}};

    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        accept_it(heads[i].head);
        ck_assert_msg(answer.keeps == heads[i].keeps, "%s", heads[i].head);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("answer");
    TCase *tests = tcase_create("answer");

    tcase_add_test(tests, an_answer_says_where_it_ends);
    tcase_add_test(tests, some_answers_have_no_body_whatever_they_say);
    tcase_add_test(tests, what_can_be_read_in_two_ways_is_no_answer);
    tcase_add_test(tests, a_head_that_never_ends_is_no_answer);
    tcase_add_test(tests, what_is_passed_on_says_whether_more_may_come);
    tcase_add_test(tests, a_server_keeps_what_it_says_nothing_against);
    suite_add_tcase(suite, tests);
    return test_run(suite, "answer");
}
