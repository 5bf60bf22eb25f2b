/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken from a resolv.conf. */
#include "lib/test.h"
#include "net/resolv_conf.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* "ADDRESS%SCOPE ... timeout attempts [tcp]" */
static const char *read_all(const char *text)
{
    static char out[512];
    struct resolv_conf conf;
    size_t length = 0;

    resolv_conf_read(text, &conf);
    for (size_t i = 0; i < conf.server_count; i++)
        length +=
            (size_t)snprintf(out + length, sizeof(out) - length, "%s%s%s ", conf.servers[i].address,
                             conf.servers[i].scope[0] ? "%" : "", conf.servers[i].scope);
    (void)snprintf(out + length, sizeof(out) - length, "%u %u%s", conf.timeout_seconds,
                   conf.attempts, conf.use_tcp ? " tcp" : "");
    return out;
}

START_TEST(servers_are_read_in_their_order)
{
    ck_assert_str_eq(read_all("nameserver 192.0.2.1\nnameserver\t2001:DB8::1\n"),
                     "192.0.2.1 2001:db8::1 5 2");
    ck_assert_str_eq(read_all("# a\n;b\nsearch x.example\n\nnameserver 192.0.2.1 # c\r\n"),
                     "192.0.2.1 5 2");
    ck_assert_str_eq(read_all("nameserver 192.0.2.1#c"), "192.0.2.1 5 2");
    ck_assert_str_eq(read_all("nameserver ::ffff:192.0.2.1"), "::ffff:192.0.2.1 5 2");
}
END_TEST

START_TEST(three_servers_at_most)
{
    ck_assert_str_eq(read_all("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver bad\n"
                              "nameserver 192.0.2.3\nnameserver 192.0.2.4\n"),
                     "192.0.2.1 192.0.2.2 192.0.2.3 5 2");
}
END_TEST

START_TEST(a_scope_counts_for_link_local_addresses)
{
    ck_assert_str_eq(read_all("nameserver fe80::1%eth0.5\nnameserver fe80::2%3\n"
                              "nameserver 2001:db8::1%eth0\n"),
                     "fe80::1%eth0.5 fe80::2%3 2001:db8::1 5 2");
    ck_assert_str_eq(read_all("nameserver fe80::1%\nnameserver fe80::1%a,b\nnameserver fe80::1%a]\n"
                              "nameserver fe80::1%a%b\nnameserver fe80::1%aaaabbbbccccdddd\n"
                              "nameserver 192.0.2.1%eth0\nnameserver fe80::1\n"),
                     "fe80::1 5 2");
}
END_TEST

START_TEST(without_a_usable_server_it_is_the_local_one)
{
    ck_assert_str_eq(read_all(""), "127.0.0.1 5 2");
    ck_assert_str_eq(read_all("nameserver\nnameserver \n nameserver 192.0.2.1\n"
                              "nameservers 192.0.2.1\nNAMESERVER 192.0.2.1\n"
                              "nameserver [192.0.2.1]:53\nnameserver 192.0.2.1:53\n"
                              "nameserver 192.0.2\nnameserver dns.example\n#nameserver 192.0.2.1"),
                     "127.0.0.1 5 2");
}
END_TEST

START_TEST(options_are_within_bounds)
{
    ck_assert_str_eq(read_all("options timeout:1 attempts:3 use-vc edns0"), "127.0.0.1 1 3 tcp");
    ck_assert_str_eq(read_all("options timeout:0 attempts:0"), "127.0.0.1 1 1");
    ck_assert_str_eq(read_all("options timeout:99 attempts:99"), "127.0.0.1 30 5");
    ck_assert_str_eq(read_all("options timeout:-1 attempts:x timeout: use-vcx"), "127.0.0.1 5 2");
    ck_assert_str_eq(read_all("options timeout:3\noptions timeout:2 # attempts:3"),
                     "127.0.0.1 2 2");
}
END_TEST

START_TEST(a_word_that_is_too_long_is_left_out)
{
    char text[400] = "nameserver ";

    memset(text + 11, '1', 300);
    (void)snprintf(text + 311, sizeof(text) - 311, "\nnameserver 192.0.2.1\n");
    ck_assert_str_eq(read_all(text), "192.0.2.1 5 2");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resolv_conf");
    TCase *tests = tcase_create("resolv_conf");

    tcase_add_test(tests, servers_are_read_in_their_order);
    tcase_add_test(tests, three_servers_at_most);
    tcase_add_test(tests, a_scope_counts_for_link_local_addresses);
    tcase_add_test(tests, without_a_usable_server_it_is_the_local_one);
    tcase_add_test(tests, options_are_within_bounds);
    tcase_add_test(tests, a_word_that_is_too_long_is_left_out);
    suite_add_tcase(suite, tests);
    return test_run(suite, "resolv_conf");
}
