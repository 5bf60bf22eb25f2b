/* SPDX-License-Identifier: Apache-2.0 */
/* SOCKS: requests are read as they come, and a name is only what a host can be called. */
#include "lib/test.h"
#include "net/socks.h"

#include <check.h>
#include <string.h>

#define READ(bytes) read_whole(bytes, sizeof(bytes) - 1)

static struct socks_request request;

/* Reads it whole, and sees that each beginning wants more. */
static void read_whole(const char *bytes, size_t size)
{
    size_t used;

    for (size_t part = 0; part < size; part++)
        ck_assert_int_eq(socks_read_request(bytes, part, &used, &request), SOCKS_MORE);
    ck_assert_int_eq(socks_read_request(bytes, size, &used, &request), SOCKS_WHOLE);
    ck_assert_uint_eq(used, size);
}

START_TEST(a_greeting_says_whether_no_password_will_do)
{
    size_t used;
    bool is_open;

    ck_assert_int_eq(socks_read_greeting("", 0, &used, &is_open), SOCKS_MORE);
    ck_assert_int_eq(socks_read_greeting("\5\2\2", 3, &used, &is_open), SOCKS_MORE);
    ck_assert_int_eq(socks_read_greeting("\5\2\2\0x", 5, &used, &is_open), SOCKS_WHOLE);
    ck_assert_uint_eq(used, 4);
    ck_assert(is_open);
    ck_assert_int_eq(socks_read_greeting("\5\1\2", 3, &used, &is_open), SOCKS_WHOLE);
    ck_assert(!is_open);
    ck_assert_int_eq(socks_read_greeting("\5\0", 2, &used, &is_open), SOCKS_WHOLE);
    ck_assert(!is_open);
    ck_assert_int_eq(socks_read_greeting("G", 1, &used, &is_open), SOCKS_BROKEN);
}
END_TEST

START_TEST(a_request_has_a_name_or_an_address)
{
    READ("\5\1\0\3\x0b"
         "Example.org"
         "\1\xbb");
    ck_assert_int_eq(request.command, SOCKS_CONNECT);
    ck_assert_ptr_null(request.wrong);
    ck_assert_int_eq(request.to.kind, HOST_NAME);
    ck_assert_str_eq(request.to.name, "example.org");
    ck_assert_uint_eq(request.to.port, 443);
    READ("\5\3\0\1\xc0\0\2\1\0\x50");
    ck_assert_int_eq(request.command, SOCKS_UDP);
    ck_assert_str_eq(request.to.name, "192.0.2.1");
    ck_assert_uint_eq(request.to.port, 80);
    READ("\5\1\0\4\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\0\x50");
    ck_assert_str_eq(request.to.name, "2001:db8::1");
    READ("\4\1\0\x50\xc0\0\2\1me\0");
    ck_assert_uint_eq(request.version, 4);
    ck_assert_str_eq(request.to.name, "192.0.2.1");
    READ("\4\1\1\xbb\0\0\0\1\0example.org\0");
    ck_assert_int_eq(request.to.kind, HOST_NAME);
    ck_assert_str_eq(request.to.name, "example.org");
    ck_assert_uint_eq(request.to.port, 443);
}
END_TEST

START_TEST(an_address_as_text_is_an_address)
{
    READ("\5\1\0\3\x09"
         "127.0.0.1"
         "\0\x50");
    ck_assert_ptr_null(request.wrong);
    ck_assert_int_eq(request.to.kind, HOST_ADDRESS);
}
END_TEST

START_TEST(what_is_no_name_is_refused_and_not_broken)
{
    READ("\5\1\0\3\5"
         "a\0b.c"
         "\0\x50");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\5\1\0\3\3"
         "a b"
         "\0\x50");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\5\1\0\3\5"
         "a%00b"
         "\0\x50");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\5\1\0\3\0"
         "\0\x50");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\5\1\0\3\4"
         "a:80"
         "\0\x50");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\5\1\0\3\7"
         "0x7f000"
         "\0\x50");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\5\1\0\3\5"
         "[::1]"
         "\0\x50");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\5\1\0\3\3"
         "a.b"
         "\0\0");
    ck_assert_ptr_nonnull(request.wrong);
    READ("\4\1\0\x50\0\0\0\1\0\0");
    ck_assert_ptr_nonnull(request.wrong);
}
END_TEST

START_TEST(a_name_of_255_bytes_is_refused)
{
    char bytes[5 + 255 + 2] = "\5\1\0\3\xff";

    memset(bytes + 5, 'a', 255);
    memcpy(bytes + 5 + 255, "\0\x50", 2);
    read_whole(bytes, sizeof(bytes));
    ck_assert_ptr_nonnull(request.wrong);
}
END_TEST

START_TEST(what_is_not_socks_is_broken)
{
    char endless[SOCKS_REQUEST_MAX] = "\4\1\0\x50\xc0\0\2\1";
    size_t used;

    ck_assert_int_eq(socks_read_request("\6", 1, &used, &request), SOCKS_BROKEN);
    ck_assert_int_eq(socks_read_request("\5\1\1", 3, &used, &request), SOCKS_BROKEN);
    ck_assert_int_eq(socks_read_request("\5\1\0\2", 4, &used, &request), SOCKS_BROKEN);
    memset(endless + 8, 'u', sizeof(endless) - 8);
    ck_assert_int_eq(socks_read_request(endless, sizeof(endless), &used, &request), SOCKS_BROKEN);
}
END_TEST

START_TEST(answers_have_the_form_of_their_version)
{
    uint8_t out[SOCKS_ANSWER_BYTES];

    ck_assert_uint_eq(socks_write_answer(5, SOCKS_REFUSED, out), 10);
    ck_assert_mem_eq(out, "\5\2\0\1\0\0\0\0\0\0", 10);
    ck_assert_uint_eq(socks_write_answer(4, SOCKS_GRANTED, out), 8);
    ck_assert_mem_eq(out, "\0\x5a\0\0\0\0\0\0", 8);
    ck_assert_uint_eq(socks_write_answer(4, SOCKS_REFUSED, out), 8);
    ck_assert_mem_eq(out, "\0\x5b\0\0\0\0\0\0", 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("socks");
    TCase *tests = tcase_create("socks");

    suite_add_tcase(suite, tests);
    tcase_add_test(tests, a_greeting_says_whether_no_password_will_do);
    tcase_add_test(tests, a_request_has_a_name_or_an_address);
    tcase_add_test(tests, an_address_as_text_is_an_address);
    tcase_add_test(tests, what_is_no_name_is_refused_and_not_broken);
    tcase_add_test(tests, a_name_of_255_bytes_is_refused);
    tcase_add_test(tests, what_is_not_socks_is_broken);
    tcase_add_test(tests, answers_have_the_form_of_their_version);
    return test_run(suite, "socks");
}
