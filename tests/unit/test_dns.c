/* SPDX-License-Identifier: Apache-2.0 */
/* Questions for names: read strictly, answered in the form of the question. */
#include "lib/test.h"
#include "net/dns.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#define QUERY       "\x12\x34\1\0\0\1\0\0\0\0\0\0"
#define QUERY_MORE  "\x12\x34\1\0\0\1\0\0\0\0\0\1"
#define NAME        "\3wWw\7example\3org\0"
#define OPT         "\0\0\x29\x10\0\0\0\0\0\0\0"
#define READ(bytes) dns_read_query(bytes, sizeof(bytes) - 1, &query)

static struct dns_query query;
static uint8_t out[DNS_ANSWER_MAX];

START_TEST(a_question_is_read)
{
    ck_assert_int_eq(READ(QUERY NAME "\0\x1c\0\1"), 0);
    ck_assert_uint_eq(query.id, 0x1234);
    ck_assert_uint_eq(query.type, DNS_AAAA);
    ck_assert_uint_eq(query.class, 1);
    ck_assert_str_eq(query.name, "www.example.org");
    ck_assert(query.wants_recursion && !query.has_extension);
    ck_assert_uint_eq(dns_udp_limit(&query), 512);
    ck_assert_int_eq(READ(QUERY_MORE NAME "\0\1\0\1" OPT), 0);
    ck_assert(query.has_extension);
    ck_assert_uint_eq(query.takes_bytes, 4096);
    ck_assert_uint_eq(dns_udp_limit(&query), DNS_UDP_MAX);
}
END_TEST

START_TEST(what_no_host_is_called_has_no_name)
{
    ck_assert_int_eq(READ(QUERY "\0\0\1\0\1"), 0);
    ck_assert_str_eq(query.name, "");
    ck_assert_int_eq(READ(QUERY "\3a.b\3org\0\0\1\0\1"), 0);
    ck_assert_str_eq(query.name, "");
    ck_assert_int_eq(READ(QUERY "\3a\0b\3org\0\0\1\0\1"), 0);
    ck_assert_str_eq(query.name, "");
    ck_assert_int_eq(READ(QUERY "\4_tcp\3org\0\0\1\0\1"), 0);
    ck_assert_str_eq(query.name, "_tcp.org");
}
END_TEST

START_TEST(a_long_name_is_whole_or_none)
{
    char bytes[12 + 4 * 64 + 5] = QUERY;
    size_t at = 12;

    for (int i = 0; i < 3; i++) {
        bytes[at++] = 63;
        memset(bytes + at, 'a', 63);
        at += 63;
    }
    bytes[at++] = 61; /* 3 * 64 + 62 + 1 = 255 */
    memset(bytes + at, 'b', 61);
    at += 61;
    memcpy(bytes + at, "\0\0\1\0\1", 5);
    ck_assert_int_eq(dns_read_query(bytes, at + 5, &query), 0);
    ck_assert_uint_eq(strlen(query.name), 253);
    bytes[12 + 3 * 64] = 62; /* one more */
    memcpy(bytes + at, "b\0\0\1\0\1", 6);
    ck_assert_int_eq(dns_read_query(bytes, at + 6, &query), DNS_BAD_FORM);
}
END_TEST

START_TEST(what_is_broken_is_answered_so_and_answers_are_not)
{
    ck_assert_int_eq(READ("\x12\x34\1\0\0\1"), -EBADMSG);
    ck_assert_int_eq(READ("\x12\x34\x81\0\0\1\0\0\0\0\0\0" NAME "\0\1\0\1"), -EBADMSG);
    ck_assert_int_eq(READ("\x12\x34\x11\0\0\1\0\0\0\0\0\0" NAME "\0\1\0\1"), DNS_NOT_DONE);
    ck_assert_int_eq(READ("\x12\x34\1\0\0\2\0\0\0\0\0\0" NAME "\0\1\0\1" NAME "\0\1\0\1"),
                     DNS_BAD_FORM);
    ck_assert_int_eq(READ("\x12\x34\1\0\0\0\0\0\0\0\0\0"), DNS_BAD_FORM);
    ck_assert_int_eq(READ(QUERY "\xc0\x0c\0\1\0\1"), DNS_BAD_FORM); /* a pointer to itself */
    ck_assert_int_eq(READ(QUERY "\1a\xc0\x0c\0\1\0\1"), DNS_BAD_FORM);
    ck_assert_int_eq(READ(QUERY NAME "\0\1\0"), DNS_BAD_FORM);
    ck_assert_int_eq(READ(QUERY NAME "\0\1\0\1x"), DNS_BAD_FORM);
    ck_assert_int_eq(READ(QUERY_MORE NAME "\0\1\0\1"), DNS_BAD_FORM);
    ck_assert_int_eq(READ(QUERY_MORE NAME "\0\1\0\1\0\0\1\x10\0\0\0\0\0\0\0"), DNS_BAD_FORM);
    ck_assert_uint_eq(query.id, 0x1234);
}
END_TEST

START_TEST(an_answer_has_the_question_as_it_was_asked)
{
    static const uint8_t addresses[] = {198, 18, 0, 1, 198, 18, 0, 2};
    struct dns_answer answer = {.lasts_seconds = 60, .addresses = addresses, .address_count = 2};
    static const char expected[] = "\x12\x34\x81\x80\0\1\0\2\0\0\0\0" NAME "\0\1\0\1"
                                   "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\0\1"
                                   "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\0\2";

    ck_assert_int_eq(READ(QUERY NAME "\0\1\0\1"), 0);
    ck_assert_uint_eq(dns_write_answer(&query, &answer, 512, out), sizeof(expected) - 1);
    ck_assert_mem_eq(out, expected, sizeof(expected) - 1);
}
END_TEST

START_TEST(a_name_that_is_not_there_has_a_reason)
{
    struct dns_answer answer = {
        .code = DNS_NO_NAME, .reason = DNS_PROHIBITED, .text = "no rule allows it"};
    static const char plain[] = "\x12\x34\x81\x83\0\1\0\0\0\0\0\0" NAME "\0\1\0\1";
    static const char told[] = "\x12\x34\x81\x83\0\1\0\0\0\0\0\1" NAME "\0\1\0\1"
                               "\0\0\x29\4\xd0\0\0\0\0\0\x17\0\x0f\0\x13\0\x12no rule allows it";

    ck_assert_int_eq(READ(QUERY NAME "\0\1\0\1"), 0);
    ck_assert_uint_eq(dns_write_answer(&query, &answer, 512, out), sizeof(plain) - 1);
    ck_assert_mem_eq(out, plain, sizeof(plain) - 1);
    ck_assert_int_eq(READ(QUERY_MORE NAME "\0\1\0\1" OPT), 0);
    ck_assert_uint_eq(dns_write_answer(&query, &answer, 512, out), sizeof(told) - 1);
    ck_assert_mem_eq(out, told, sizeof(told) - 1);
}
END_TEST

START_TEST(what_does_not_fit_is_left_out_and_said_so)
{
    static const uint8_t addresses[100 * 16];
    struct dns_answer answer = {.addresses = addresses, .address_count = 100};
    size_t size;

    ck_assert_int_eq(READ(QUERY_MORE NAME "\0\x1c\0\1" OPT), 0);
    size = dns_write_answer(&query, &answer, 512, out);
    ck_assert_uint_le(size, 512);
    ck_assert(out[2] & 2);
    ck_assert_uint_gt(out[7], 10);
    size = dns_write_answer(&query, &answer, DNS_ANSWER_MAX, out);
    ck_assert(!(out[2] & 2));
    ck_assert_uint_eq(out[7], 100);
    ck_assert_uint_gt(size, 2800);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dns");
    TCase *tests = tcase_create("dns");

    suite_add_tcase(suite, tests);
    tcase_add_test(tests, a_question_is_read);
    tcase_add_test(tests, what_no_host_is_called_has_no_name);
    tcase_add_test(tests, a_long_name_is_whole_or_none);
    tcase_add_test(tests, what_is_broken_is_answered_so_and_answers_are_not);
    tcase_add_test(tests, an_answer_has_the_question_as_it_was_asked);
    tcase_add_test(tests, a_name_that_is_not_there_has_a_reason);
    tcase_add_test(tests, what_does_not_fit_is_left_out_and_said_so);
    return test_run(suite, "dns");
}
