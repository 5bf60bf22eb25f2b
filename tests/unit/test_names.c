/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that stand for names. */
#include "lib/test.h"
#include "net/names.h"

#include <arpa/inet.h>
#include <check.h>
#include <string.h>

static struct host address(const char *text)
{
    struct host host;

    ck_assert(host_parse_address(text, &host));
    return host;
}

static struct names *names_of(size_t most)
{
    struct names *names = names_new(most, NULL);

    ck_assert_ptr_nonnull(names);
    return names;
}

static void give(struct names *names, const char *name, const char *v4, const char *v6)
{
    struct name_addresses addresses;
    char text[INET6_ADDRSTRLEN];

    ck_assert(names_give(names, name, &addresses));
    ck_assert_str_eq(inet_ntop(AF_INET, addresses.v4, text, sizeof(text)), v4);
    ck_assert_str_eq(inet_ntop(AF_INET6, addresses.v6, text, sizeof(text)), v6);
}

static const char *find(struct names *names, const char *text)
{
    static char name[LIMIT_HOST_BYTES];
    struct host host = address(text);

    return names_find(names, &host, name) ? name : "none";
}

START_TEST(a_name_has_an_address_of_either_family)
{
    struct names *names = names_of(NAMES_MAX);

    give(names, "a.example", "198.18.0.2", "fd53:5ec::2");
    give(names, "b.example", "198.18.0.3", "fd53:5ec::3");
    give(names, "a.example", "198.18.0.2", "fd53:5ec::2");
    ck_assert_str_eq(find(names, "198.18.0.2"), "a.example");
    ck_assert_str_eq(find(names, "fd53:5ec::2"), "a.example");
    ck_assert_str_eq(find(names, "198.18.0.3"), "b.example");
    ck_assert_str_eq(find(names, "198.18.0.4"), "none");
    ck_assert_str_eq(find(names, "198.18.0.0"), "none");
    ck_assert_str_eq(find(names, "198.18.0.1"), "none");
    ck_assert_str_eq(find(names, "fd53:5ec::1"), "none");
    ck_assert_str_eq(find(names, "fd53:5ec::1:0:2"), "none");
    ck_assert_str_eq(find(names, "fd53:5ec:0:1::2"), "none");
    ck_assert_str_eq(find(names, "fd53:5ec::ffff:ffff:ffff:ffff"), "none");
    ck_assert_str_eq(find(names, "0.0.0.2"), "none");
    names_free(names);
}
END_TEST

START_TEST(what_was_not_used_for_the_longest_goes)
{
    struct names *names = names_of(3);

    give(names, "a.example", "198.18.0.2", "fd53:5ec::2");
    give(names, "b.example", "198.18.0.3", "fd53:5ec::3");
    give(names, "c.example", "198.18.0.4", "fd53:5ec::4");
    ck_assert_str_eq(find(names, "198.18.0.2"), "a.example");
    give(names, "d.example", "198.18.0.3", "fd53:5ec::3");
    ck_assert_str_eq(find(names, "198.18.0.3"), "d.example");
    ck_assert_str_eq(find(names, "198.18.0.2"), "a.example");
    give(names, "b.example", "198.18.0.4", "fd53:5ec::4");
    names_free(names);
}
END_TEST

START_TEST(all_of_them_fit_and_stay)
{
    struct names *names = names_of(NAMES_MAX);
    struct name_addresses first, again;
    char name[32];

    ck_assert(names_give(names, "n0.example", &first));
    for (int i = 1; i < NAMES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "n%d.example", i);
        ck_assert(names_give(names, name, &again));
    }
    ck_assert_str_eq(find(names, "198.19.0.1"), "n65535.example");
    ck_assert_str_eq(find(names, "fd53:5ec::1:1"), "n65535.example");
    ck_assert(names_give(names, "n0.example", &again));
    ck_assert_mem_eq(&first, &again, sizeof(first));
    give(names, "more.example", "198.18.0.3", "fd53:5ec::3");
    names_free(names);
}
END_TEST

START_TEST(synthetic_is_all_of_both_ranges)
{
    static const char *const inside[] = {"198.18.0.0",
                                         "198.18.0.1",
                                         "198.19.255.255",
                                         "fd53:5ec::1",
                                         "fd53:5ec::2:0",
                                         "::ffff:198.18.3.4",
                                         "fd53:5ec::ffff:ffff:ffff:ffff"};
    static const char *const outside[] = {
        "198.17.255.255", "198.20.0.0", "fd53:5ec:0:1::", "fd53:5eb::1", "::", "127.0.0.1"};
    struct host name = {.kind = HOST_NAME, .name = "a.example"};

    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        struct host host = address(inside[i]);

        ck_assert_msg(names_is_synthetic(&host), "%s", inside[i]);
    }
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        struct host host = address(outside[i]);

        ck_assert_msg(!names_is_synthetic(&host), "%s", outside[i]);
    }
    ck_assert(!names_is_synthetic(&name));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *tests = tcase_create("names");

    tcase_add_test(tests, a_name_has_an_address_of_either_family);
    tcase_add_test(tests, what_was_not_used_for_the_longest_goes);
    tcase_add_test(tests, all_of_them_fit_and_stay);
    tcase_add_test(tests, synthetic_is_all_of_both_ranges);
    suite_add_tcase(suite, tests);
    return test_run(suite, "names");
}
