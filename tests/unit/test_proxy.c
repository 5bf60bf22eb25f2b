/* SPDX-License-Identifier: Apache-2.0 */
/* The upstream proxy: how it is spelled, and what goes past it. */
#include "lib/test.h"
#include "policy/build.h"
#include "policy/proxy.h"

#include <check.h>
#include <string.h>

static struct policy policy;

static void set_up(void)
{
    static const char *const direct[] = {"near.test",      "**.corp.test", "*.below.test",
                                         "some.test:8443", "10.0.0.0/8",   "2001:db8::/32"};
    struct setting *setting = &policy.settings[SETTING_NETWORK_UPSTREAM_PROXY];

    memset(&policy, 0, sizeof(policy));
    *setting = (struct setting){.is_set = true, .text = "http://proxy.test:3128"};
    for (size_t i = 0; i < sizeof(direct) / sizeof(direct[0]); i++)
        ck_assert_int_eq(proxy_add_direct(&policy, direct[i]), 0);
}

static void tear_down(void)
{
    policy_done(&policy);
}

START_TEST(it_is_a_host_and_a_port)
{
    static const struct {
        const char *text, *name;
        unsigned port;
    } good[] = {
        {"http://proxy.test:3128", "proxy.test", 3128}, {"http://PROXY.test:80/", "proxy.test", 80},
        {"http://10.0.0.1:8080", "10.0.0.1", 8080},     {"http://[fd00::1]:1", "fd00::1", 1},
        {"http://localhost:3128", "localhost", 3128},
    };
    struct host host;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(proxy_parse(good[i].text, &host), "%s", good[i].text);
        ck_assert_str_eq(host.name, good[i].name);
        ck_assert_uint_eq(host.port, good[i].port);
    }
}
END_TEST

START_TEST(anything_else_is_none)
{
    static const char *const bad[] = {
        "",
        "proxy.test:3128",
        "http://",
        "http://proxy.test",
        "http://:3128",
        "http://proxy.test:0",
        "http://proxy.test:65536",
        "http://proxy.test:3128//",
        "http://proxy.test:3128/path",
        "http://proxy.test:3128?a",
        "https://proxy.test:3128",
        "socks5://proxy.test:1080",
        "HTTP://proxy.test:3128",
        "http://me@proxy.test:3128",
        "http://me:secret@proxy.test:3128",
        "http://*.test:3128",
        "http://10.0.0.0/8:3128",
        "http://127.1:3128",
        "http://proxy.test:3128\r\nX: 1",
        "http://proxy test:3128",
    };
    struct host host;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!proxy_parse(bad[i], &host), "%s", bad[i]);
}
END_TEST

static bool serves(const char *text)
{
    struct host target;

    ck_assert_ptr_null(host_parse_target(text, &target));
    return proxy_serves(&policy, &target);
}

START_TEST(what_is_listed_goes_past_it)
{
    static const char *const past[] = {
        "near.test:443",  "corp.test:80", "a.b.corp.test:80",  "a.below.test:1",
        "some.test:8443", "10.1.2.3:443", "[2001:db8::1]:443", "127.0.0.1:80",
        "127.9.9.9:80",   "[::1]:80",     "localhost:80",      "a.localhost:80",
    };
    static const char *const through[] = {"far.test:443",   "a.near.test:443", "below.test:1",
                                          "some.test:443",  "11.1.2.3:443",    "notcorp.test:443",
                                          "[2001:db9::1]:1"};

    for (size_t i = 0; i < sizeof(past) / sizeof(past[0]); i++)
        ck_assert_msg(!serves(past[i]), "%s", past[i]);
    for (size_t i = 0; i < sizeof(through) / sizeof(through[0]); i++)
        ck_assert_msg(serves(through[i]), "%s", through[i]);
}
END_TEST

START_TEST(without_one_nothing_goes_through_it)
{
    struct host host;

    ck_assert(proxy_find(&policy, &host));
    ck_assert_str_eq(host.name, "proxy.test");
    policy.settings[SETTING_NETWORK_UPSTREAM_PROXY].is_set = false;
    ck_assert(!proxy_find(&policy, &host));
    ck_assert(!serves("far.test:443"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proxy");
    TCase *tests = tcase_create("proxy");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, it_is_a_host_and_a_port);
    tcase_add_test(tests, anything_else_is_none);
    tcase_add_test(tests, what_is_listed_goes_past_it);
    tcase_add_test(tests, without_one_nothing_goes_through_it);
    suite_add_tcase(suite, tests);
    return test_run(suite, "proxy");
}
