/* SPDX-License-Identifier: Apache-2.0 */
/* Names looked up, with a resolver of the test's own outside. */
#include "base/clock.h"
#include "lib/policy.h"
#include "lib/stub.h"
#include "lib/test.h"
#include "net/lookup.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RULES                                                                                      \
    "sandbox:\n"                                                                                   \
    "  network:\n"                                                                                 \
    "    mode: proxy\n"                                                                            \
    "    allow: ['**.example', 'only.test:443', '10.1.0.0/16', '10.2.0.1:8080']\n"                 \
    "    deny: ['198.51.100.0/24', c.denied.test, 'd.denied.test:22']\n"                           \
    "    ask: ['asked.test', '10.3.0.0/16', '192.0.2.0/24']\n"                                     \
    "    hosts: {pinned.example: 10.9.9.9}\n"

static struct stub_row rows[] = {
    {"ok.example", "A 203.0.113.10 A 203.0.113.11 AAAA 2001:db8:1::10", .lasts_seconds = 60},
    {"six.example", "AAAA 2001:db8:1::6", .lasts_seconds = 60},
    {"alias.example", "CNAME b.test CNAME c.test A 203.0.113.12", .lasts_seconds = 60},
    {"hidden.example", "CNAME b.test CNAME C.denied.test A 203.0.113.12", .lasts_seconds = 60},
    {"ported.example", "CNAME d.denied.test A 203.0.113.12", .lasts_seconds = 60},
    {"gone.example", .code = 3},
    {"empty.example", .code = 0},
    {"failing.example", .code = 2},
    {"silent.example", .way = STUB_SILENT},
    {"rebind.example", "A 203.0.113.13", .lasts_seconds = 0, .then = "A 127.0.0.1"},
    {"mixed.example", "A 203.0.113.14 A 192.168.1.1", .lasts_seconds = 60},
    {"mapped.example", "AAAA ::ffff:169.254.169.254", .lasts_seconds = 60},
    {"partly.example", "A 198.51.100.1 A 203.0.113.15", .lasts_seconds = 60},
    {"denied.example", "A 198.51.100.1", .lasts_seconds = 60},
    {"listed.example", "A 10.1.2.3 A 203.0.113.16", .lasts_seconds = 60},
    {"port.example", "A 10.2.0.1", .lasts_seconds = 60},
    {"asked.test", "A 203.0.113.20", .lasts_seconds = 60},
    {"asks.example", "A 203.0.113.21 A 10.3.0.1", .lasts_seconds = 60},
    {"range.example", "A 192.0.2.1 A 192.0.2.2", .lasts_seconds = 60},
    {"either.example", "A 192.0.2.1 A 203.0.113.22", .lasts_seconds = 60},
    {"worse.example", "A 10.3.0.1 A 192.168.1.1", .lasts_seconds = 60},
    {"only.test", "A 203.0.113.17", .lasts_seconds = 60},
    {"id.example", "A 203.0.113.18", .lasts_seconds = 60, .way = STUB_WRONG_ID},
    {"place.example", "A 203.0.113.19", .lasts_seconds = 60, .way = STUB_WRONG_PLACE},
    {"cut.example", .many = 100, .lasts_seconds = 60, .way = STUB_CUT},
    {"huge.example", .many = 2000, .lasts_seconds = 60, .way = STUB_CUT},
    {"raw.example", "\x81\x80\0\1\0\1\0\0\0\0\xc0\x0c", .way = STUB_RAW, .raw_bytes = 12},
    {"*", "A 203.0.113.99", .lasts_seconds = 60},
    {.name = NULL},
};

static struct hub hub;
static struct stub stub;
static struct test_policy test;
static struct lookups *lookups;
static unsigned looks, calls, wanted;
static char said[4096];
static const char *other_at = "127.0.0.2";

static void on_look(void *context)
{
    (void)context;
    looks++;
}

static void set_up(void)
{
    ck_assert_int_eq(hub_init(&hub, NULL), 0);
    stub_start(&stub, &hub, rows, other_at);
    test_policy_init(&test);
    ck_assert_int_eq(test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_BAWN, "t.yaml",
                                      RULES, sizeof(RULES) - 1),
                     0);
    ck_assert_int_eq(test_policy_finish(&test), 0);
    lookups = lookups_new(&hub, &test.policy, on_look, NULL, stub.port, NULL);
    ck_assert_ptr_nonnull(lookups);
}

static void tear_down(void)
{
    lookups_free(lookups);
    stub_stop(&stub);
    test_policy_done(&test);
    hub_done(&hub);
}

static struct host host_of(const char *target)
{
    struct host host;

    ck_assert_ptr_null(host_parse_rule(target, &host));
    return host;
}

/* "ADDRESS:PORT ..." or the failure, and the kind of address that must be listed. */
static void on_done(void *context, const struct lookup_answer *answer)
{
    size_t length = 0;

    (void)context;
    said[0] = '\0';
    for (size_t i = 0; i < answer->count; i++)
        length += (size_t)snprintf(said + length, sizeof(said) - length, "%s%s:%u", i ? " " : "",
                                   answer->addresses[i].name, answer->addresses[i].port);
    if (answer->failure)
        (void)snprintf(said, sizeof(said), "%s%s%s%s%s", answer->failure,
                       answer->decision.special ? ": " : "",
                       answer->decision.special ? answer->decision.special : "",
                       answer->decision.rule ? ": " : "",
                       answer->decision.rule ? answer->decision.rule->spelled : "");
    ck_assert((answer->end == LOOKUP_FOUND) == (answer->failure == NULL));
    ck_assert((answer->end == LOOKUP_BARRED || answer->end == LOOKUP_ASKS) ==
                  (answer->decision.access != ACCESS_UNSET) ||
              answer->end == LOOKUP_FOUND);
    if (answer->end == LOOKUP_ASKS)
        (void)snprintf(said, sizeof(said), "ask %s:%u", answer->asked.name, answer->asked.port);
    if (++calls == wanted)
        hub_end(&hub);
}

/* Who wants it: the command, the policy itself, the command with a person's yes. */
enum wanter { FOR_COMMAND, FOR_POLICY, FOR_APPROVED };

static int start(enum wanter wanter, const struct host *name, struct lookup **ret_lookup)
{
    switch (wanter) {
    case FOR_POLICY:
        return lookup_start_own(lookups, name, on_done, NULL, ret_lookup, NULL);
    case FOR_APPROVED:
        return lookup_start_approved(lookups, name, on_done, NULL, ret_lookup, NULL);
    default:
        return lookup_start(lookups, name, on_done, NULL, ret_lookup, NULL);
    }
}

static const char *look_up_for(enum wanter wanter, const char *target)
{
    struct host name = host_of(target);
    struct lookup *lookup;

    calls = 0;
    wanted = 1;
    said[0] = '\0';
    ck_assert_int_eq(start(wanter, &name, &lookup), 0);
    ck_assert((lookup == NULL) == (calls == 1));
    if (lookup)
        stub_run(&hub, 8000);
    ck_assert_uint_eq(calls, 1);
    return said;
}

static const char *look_up_as(const char *target, bool is_own)
{
    return look_up_for(is_own ? FOR_POLICY : FOR_COMMAND, target);
}

static const char *look_up(const char *target)
{
    return look_up_as(target, false);
}

/* A yes for the name is none for an address that a rule asks about. */
START_TEST(a_name_that_was_approved_is_vetted)
{
    ck_assert_str_eq(look_up_for(FOR_APPROVED, "asked.test:443"), "203.0.113.20:443");
    ck_assert_str_eq(look_up("asked.test:443"), "ask 203.0.113.20:443");
    for (unsigned i = 0; i < 2; i++) {
        enum wanter wanter = i ? FOR_APPROVED : FOR_COMMAND;

        ck_assert_str_eq(look_up_for(wanter, "asks.example:443"), "ask 10.3.0.1:443");
        ck_assert_str_eq(look_up_for(wanter, "range.example:443"), "ask 192.0.2.1:443");
        ck_assert_str_eq(look_up_for(wanter, "either.example:443"), "203.0.113.22:443");
        ck_assert_str_eq(look_up_for(wanter, "worse.example:443"), "address not allowed: private");
        ck_assert_str_eq(look_up_for(wanter, "mapped.example:443"),
                         "address not allowed: link-local (cloud metadata lives there)");
        ck_assert_str_eq(look_up_for(wanter, "denied.example:443"),
                         "address not allowed: 198.51.100.0/24");
    }
}
END_TEST

START_TEST(a_name_of_the_policys_own_may_lead_anywhere)
{
    ck_assert_str_eq(look_up_as("port.example:3128", true), "10.2.0.1:3128");
    ck_assert_str_ne(look_up("port.example:3128"), "10.2.0.1:3128");
    ck_assert_str_eq(look_up_as("port.example:3129", true), "10.2.0.1:3129");
    ck_assert_str_eq(look_up_as("pinned.example:1", true), "10.9.9.9:1");
    ck_assert_str_eq(look_up_as("denied.example:1", true), "198.51.100.1:1");
    ck_assert_str_eq(look_up_as("unlisted.test:1", true), "203.0.113.99:1");
    ck_assert_str_eq(look_up_as("gone.example:1", true), "no such name");
}
END_TEST

START_TEST(a_name_has_the_addresses_of_both_families)
{
    const char *answer = look_up("ok.example:443");

    ck_assert_ptr_nonnull(strstr(answer, "203.0.113.10:443"));
    ck_assert_ptr_nonnull(strstr(answer, "203.0.113.11:443"));
    ck_assert_ptr_nonnull(strstr(answer, "2001:db8:1::10:443"));
    ck_assert_uint_eq(stub.asked, 2);
    ck_assert_str_eq(stub.last, "ok.example");
    ck_assert_str_eq(look_up("six.example:22"), "2001:db8:1::6:22");
}
END_TEST

START_TEST(an_alias_is_followed)
{
    ck_assert_str_eq(look_up("alias.example:80"), "203.0.113.12:80");
}
END_TEST

/* A denial holds for a host by whatever name it is reached. */
START_TEST(an_alias_of_a_name_that_is_denied_is_refused)
{
    ck_assert_str_eq(look_up("hidden.example:80"), "alias not allowed: c.denied.test");
    ck_assert_str_eq(look_up("hidden.example"), "alias not allowed: c.denied.test");
    ck_assert_str_eq(look_up_for(FOR_APPROVED, "hidden.example:443"),
                     "alias not allowed: c.denied.test");
    ck_assert_str_eq(look_up_for(FOR_POLICY, "hidden.example:80"), "203.0.113.12:80");
    ck_assert_str_eq(look_up("ported.example:22"), "alias not allowed: d.denied.test:22");
    ck_assert_str_eq(look_up("ported.example:80"), "203.0.113.12:80");
    ck_assert_str_eq(look_up("ported.example"), "203.0.113.12:0");
}
END_TEST

START_TEST(what_is_not_there_is_told_apart_from_what_failed)
{
    ck_assert_str_eq(look_up("gone.example:80"), "no such name");
    ck_assert_str_eq(look_up("empty.example:80"), "no address");
    ck_assert_str_eq(look_up("failing.example:80"), "resolver failed");
    ck_assert_ptr_nonnull(strstr("lookup failed, no answer", look_up("raw.example:80")));
}
END_TEST

START_TEST(a_failure_is_kept_for_a_while)
{
    unsigned asked;

    (void)look_up("gone.example:80");
    (void)look_up("failing.example:80");
    asked = stub.asked;
    ck_assert_str_eq(look_up("gone.example:80"), "no such name");
    ck_assert_str_eq(look_up("failing.example:80"), "resolver failed");
    ck_assert_uint_eq(stub.asked, asked);
}
END_TEST

START_TEST(silence_ends_and_then_somebody_looks_for_other_resolvers)
{
    int64_t start = clock_ms();

    ck_assert_str_eq(look_up("silent.example:80"), "no answer");
    ck_assert_int_lt(clock_ms() - start, 5500);
    ck_assert_uint_eq(looks, 0);
    while (clock_ms() - start < 5100)
        usleep(10000);
    (void)look_up("ok.example:80");
    ck_assert_uint_eq(looks, 1);
    (void)look_up("six.example:80");
    ck_assert_uint_eq(looks, 1);
}
END_TEST

START_TEST(other_resolvers_are_asked_from_then_on)
{
    (void)look_up("ok.example:80");
    (void)look_up("gone.example:80");
    ck_assert_uint_eq(stub.other, 0);
    lookups_take_resolv(lookups, "nameserver 127.0.0.2\noptions timeout:1 attempts:1\n");
    /* What was found stays; who found nothing is not believed any more. */
    (void)look_up("ok.example:80");
    ck_assert_uint_eq(stub.other, 0);
    (void)look_up("gone.example:80");
    ck_assert_uint_eq(stub.other, 2);
    lookups_take_resolv(lookups, "nameserver 127.0.0.2\n# the same\noptions timeout:1 attempts:1");
    (void)look_up("gone.example:80");
    ck_assert_uint_eq(stub.other, 2);
    (void)look_up("silent.example:80");
}
END_TEST

START_TEST(options_make_the_wait_shorter)
{
    int64_t start = clock_ms();

    lookups_take_resolv(lookups, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
    ck_assert_str_eq(look_up("silent.example:80"), "no answer");
    ck_assert_int_lt(clock_ms() - start, 2000);
}
END_TEST

START_TEST(with_use_vc_all_goes_by_tcp)
{
    lookups_take_resolv(lookups, "nameserver 127.0.0.1\noptions use-vc\n");
    ck_assert_str_eq(look_up("six.example:80"), "2001:db8:1::6:80");
    ck_assert_uint_eq(stub.asked, 0);
    ck_assert_uint_eq(stub.asked_by_tcp, 2);
}
END_TEST

START_TEST(nobody_at_the_port_is_told_at_once)
{
    int64_t start = clock_ms();

    lookups_take_resolv(lookups, "nameserver 127.0.0.77\n");
    ck_assert_str_eq(look_up("ok.example:80"), "resolver failed");
    ck_assert_int_lt(clock_ms() - start, 1000);
}
END_TEST

START_TEST(a_second_server_is_asked_when_the_first_is_not_there)
{
    lookups_take_resolv(lookups, "nameserver fe80::1%nowhere0\nnameserver 127.0.0.77\n"
                                 "nameserver 127.0.0.2\n");
    ck_assert_str_eq(look_up("six.example:80"), "2001:db8:1::6:80");
    ck_assert_uint_eq(stub.other, 2);
}
END_TEST

/* SECURITY: the name's owner says public first, and loopback when it is dialled. */
START_TEST(an_answer_that_lasts_no_time_is_not_asked_for_again)
{
    ck_assert_str_eq(look_up("rebind.example:80"), "203.0.113.13:80");
    ck_assert_str_eq(look_up("rebind.example:80"), "203.0.113.13:80");
    ck_assert_uint_eq(stub.asked, 2);
    usleep(5100000);
    ck_assert_str_eq(look_up("rebind.example:80"), "address not allowed: loopback");
}
END_TEST

START_TEST(an_answer_with_an_address_that_must_be_listed_is_none)
{
    ck_assert_str_eq(look_up("mixed.example:80"), "address not allowed: private");
    ck_assert_str_eq(look_up("mapped.example:80"),
                     "address not allowed: link-local (cloud metadata lives there)");
}
END_TEST

START_TEST(an_address_that_is_denied_is_left_out)
{
    ck_assert_str_eq(look_up("partly.example:80"), "203.0.113.15:80");
    ck_assert_str_eq(look_up("denied.example:80"), "address not allowed: 198.51.100.0/24");
}
END_TEST

START_TEST(a_listed_address_is_dialled)
{
    const char *answer = look_up("listed.example:80");

    ck_assert_ptr_nonnull(strstr(answer, "10.1.2.3:80"));
    ck_assert_ptr_nonnull(strstr(answer, "203.0.113.16:80"));
    ck_assert_str_eq(look_up("port.example:80"), "address not allowed: private");
    ck_assert_str_eq(look_up("port.example:8080"), "10.2.0.1:8080");
}
END_TEST

START_TEST(without_a_port_some_port_is_enough)
{
    ck_assert_str_eq(look_up("port.example"), "10.2.0.1:8080");
    ck_assert_str_eq(look_up("only.test"), "203.0.113.17:443");
    ck_assert_str_eq(look_up("mixed.example"), "address not allowed: private");
}
END_TEST

START_TEST(a_pinned_name_is_not_asked_for)
{
    ck_assert_str_eq(look_up("pinned.example:80"), "10.9.9.9:80");
    ck_assert_uint_eq(stub.asked, 0);
}
END_TEST

START_TEST(answers_of_others_are_ignored)
{
    ck_assert_str_eq(look_up("id.example:80"), "203.0.113.18:80");
    ck_assert_str_eq(look_up("place.example:80"), "203.0.113.19:80");
}
END_TEST

START_TEST(what_does_not_fit_comes_by_tcp)
{
    const char *answer = look_up("cut.example:80");

    ck_assert_ptr_nonnull(strstr(answer, "203.0.113.1:80"));
    ck_assert_ptr_nonnull(strstr(answer, "203.0.113.100:80"));
    ck_assert_uint_gt(stub.asked_by_tcp, 0);
    ck_assert_str_eq(look_up("huge.example:80"), "too many addresses");
}
END_TEST

START_TEST(many_who_ask_at_once_make_one_question)
{
    struct host name = host_of("ok.example:80");
    struct lookup *lookup[100];

    calls = 0;
    wanted = 90;
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(lookup_start(lookups, &name, on_done, NULL, &lookup[i], NULL), 0);
    for (int i = 0; i < 100; i += 10)
        lookup_cancel(lookup[i]);
    stub_run(&hub, 3000);
    ck_assert_uint_eq(calls, 90);
    ck_assert_uint_eq(stub.asked, 2);
}
END_TEST

/* One who is told looks up another, and makes all others that wait go. */
struct chain {
    struct lookup *others[3];
};

static void on_first(void *context, const struct lookup_answer *answer)
{
    struct chain *chain = context;
    struct host same = host_of("ok.example:80"), next = host_of("six.example:80");
    struct lookup *lookup;

    ck_assert_uint_gt(answer->count, 0);
    for (int i = 0; i < 3; i++)
        lookup_cancel(chain->others[i]);
    ck_assert_int_eq(lookup_start(lookups, &same, on_done, NULL, &lookup, NULL), 0);
    ck_assert_ptr_null(lookup);
    ck_assert_int_eq(lookup_start(lookups, &next, on_done, NULL, &lookup, NULL), 0);
}

START_TEST(who_is_told_may_ask_and_cancel)
{
    struct host name = host_of("ok.example:80");
    struct chain chain;
    struct lookup *first;

    calls = 0;
    wanted = 2;
    ck_assert_int_eq(lookup_start(lookups, &name, on_first, &chain, &first, NULL), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(lookup_start(lookups, &name, on_done, NULL, &chain.others[i], NULL), 0);
    stub_run(&hub, 3000);
    ck_assert_uint_eq(calls, 2);
}
END_TEST

START_TEST(those_who_wait_at_the_end_are_not_told)
{
    struct host name = host_of("silent.example:80");
    struct lookup *lookup;

    calls = 0;
    ck_assert_int_eq(lookup_start(lookups, &name, on_done, NULL, &lookup, NULL), 0);
}
END_TEST

START_TEST(too_many_names_at_once_are_refused)
{
    char target[64];
    int accepted = 0, r = 0;

    lookups_take_resolv(lookups, "options timeout:1 attempts:1\n");
    calls = 0;
    for (int i = 0; i < 1000 && r == 0; i++) {
        struct lookup *lookup;
        struct host name;

        (void)snprintf(target, sizeof(target), "n%d.flood.example:80", i);
        name = host_of(target);
        r = lookup_start(lookups, &name, on_done, NULL, &lookup, NULL);
        accepted += r == 0;
    }
    ck_assert_int_eq(r, -EBUSY);
    ck_assert_int_eq(accepted, 512);
    wanted = 512;
    stub_run(&hub, 8000);
    ck_assert_str_eq(look_up("ok.example:80") ? "ok" : "", "ok");
}
END_TEST

START_TEST(what_was_not_used_for_the_longest_is_forgotten)
{
    char target[64];
    unsigned asked;

    (void)look_up("six.example:80");
    for (int i = 0; i < 4096; i++) {
        (void)snprintf(target, sizeof(target), "n%d.many.example:80", i);
        ck_assert_str_eq(look_up(target), "203.0.113.99:80");
    }
    asked = stub.asked;
    ck_assert_uint_eq(asked, 2 + 2 * 4096);
    (void)look_up("n4095.many.example:80");
    ck_assert_uint_eq(stub.asked, asked);
    (void)look_up("six.example:80");
    ck_assert_uint_eq(stub.asked, asked + 2);
}
END_TEST

static size_t distinct(const uint16_t *numbers, size_t count)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_new = true;

        for (size_t j = 0; j < i; j++)
            is_new &= numbers[j] != numbers[i];
        found += is_new;
    }
    return found;
}

/* SECURITY: who cannot see the questions cannot answer them. Two questions of one name share a
 * port. */
START_TEST(ports_and_ids_are_not_the_same_twice)
{
    char target[64];

    for (int i = 0; i < 100; i++) {
        (void)snprintf(target, sizeof(target), "n%d.ports.example:80", i);
        (void)look_up(target);
    }
    ck_assert_uint_ge(distinct(stub.ports, 200), 90);
    ck_assert_uint_ge(distinct(stub.ids, 200), 190);
}
END_TEST

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A network of the case's own, where lo has the address fe80::1. */
static bool has_own_network(void)
{
    struct in6_ifreq address = {.ifr6_prefixlen = 64, .ifr6_ifindex = 1};
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd;

    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return false;
    /* It is there at once, and not after a second of looking for others that have it. */
    write_file("/proc/sys/net/ipv6/conf/lo/accept_dad", "0");
    fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(inet_pton(AF_INET6, "fe80::1", &address.ifr6_addr), 1);
    ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &up), 0);
    ck_assert_int_eq(ioctl(fd, SIOCSIFADDR, &address), 0);
    close(fd);
    return true;
}

START_TEST(a_link_local_server_is_asked_at_its_interface)
{
    if (!has_own_network()) {
        test_skip("a_link_local_server_is_asked_at_its_interface", "no user namespaces");
        return;
    }
    other_at = "fe80::1";
    set_up();
    lookups_take_resolv(lookups, "nameserver fe80::1%lo\n");
    ck_assert_str_eq(look_up("six.example:80"), "2001:db8:1::6:80");
    ck_assert_uint_eq(stub.other, 2);
    lookups_take_resolv(lookups, "nameserver fe80::1%nowhere0\nnameserver fe80::1%1\n");
    ck_assert_str_eq(look_up("alias.example:80"), "203.0.113.12:80");
    ck_assert_uint_eq(stub.other, 4);
    tear_down();
}
END_TEST

/* In a process of its own, which looks for leaks in no file. */
START_TEST(no_file_is_opened_after_the_start)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    static const int opens[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2)};
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        for (size_t i = 0; i < 3; i++)
            ck_assert_int_eq(seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, opens[i], 0), 0);
        ck_assert_int_eq(seccomp_load(filter), 0);
        ck_assert_str_eq(look_up("six.example:80"), "2001:db8:1::6:80");
        (void)look_up("cut.example:80");
        lookups_take_resolv(lookups, "nameserver 127.0.0.2\n");
        ck_assert_str_eq(look_up("alias.example:80"), "203.0.113.12:80");
        _exit(7);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    seccomp_release(filter);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lookup");
    TCase *tests = tcase_create("lookup");
    TCase *apart = tcase_create("in a network of its own");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, a_name_has_the_addresses_of_both_families);
    tcase_add_test(tests, a_name_of_the_policys_own_may_lead_anywhere);
    tcase_add_test(tests, a_name_that_was_approved_is_vetted);
    tcase_add_test(tests, an_alias_is_followed);
    tcase_add_test(tests, an_alias_of_a_name_that_is_denied_is_refused);
    tcase_add_test(tests, what_is_not_there_is_told_apart_from_what_failed);
    tcase_add_test(tests, a_failure_is_kept_for_a_while);
    tcase_add_test(tests, silence_ends_and_then_somebody_looks_for_other_resolvers);
    tcase_add_test(tests, other_resolvers_are_asked_from_then_on);
    tcase_add_test(tests, options_make_the_wait_shorter);
    tcase_add_test(tests, with_use_vc_all_goes_by_tcp);
    tcase_add_test(tests, nobody_at_the_port_is_told_at_once);
    tcase_add_test(tests, a_second_server_is_asked_when_the_first_is_not_there);
    tcase_add_test(tests, an_answer_that_lasts_no_time_is_not_asked_for_again);
    tcase_add_test(tests, an_answer_with_an_address_that_must_be_listed_is_none);
    tcase_add_test(tests, an_address_that_is_denied_is_left_out);
    tcase_add_test(tests, a_listed_address_is_dialled);
    tcase_add_test(tests, without_a_port_some_port_is_enough);
    tcase_add_test(tests, a_pinned_name_is_not_asked_for);
    tcase_add_test(tests, answers_of_others_are_ignored);
    tcase_add_test(tests, what_does_not_fit_comes_by_tcp);
    tcase_add_test(tests, many_who_ask_at_once_make_one_question);
    tcase_add_test(tests, who_is_told_may_ask_and_cancel);
    tcase_add_test(tests, those_who_wait_at_the_end_are_not_told);
    tcase_add_test(tests, too_many_names_at_once_are_refused);
    tcase_add_test(tests, what_was_not_used_for_the_longest_is_forgotten);
    tcase_add_test(tests, ports_and_ids_are_not_the_same_twice);
    tcase_add_test(tests, no_file_is_opened_after_the_start);
    suite_add_tcase(suite, tests);
    tcase_add_test(apart, a_link_local_server_is_asked_at_its_interface);
    suite_add_tcase(suite, apart);
    return test_run(suite, "lookup");
}
