/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts counted from events: each by its name, the first of them in rows of their own, and nothing
 * is lost in the sum. */
#include "lib/test.h"
#include "session/hosts.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct hosts hosts;

static void take(enum event_what what, const char *host, uint32_t times, uint64_t bytes)
{
    struct event event = {.what = (uint32_t)what, .times = times, .sent = bytes};

    for (size_t i = 0; i < EVENT_TEXTS; i++)
        event.texts[i] = "";
    event.received = 2 * bytes;
    event.texts[EVENT_PATH] = host;
    hosts_take(&hosts, &event);
}

static void check_row(const struct control_host *row, const char *host, uint64_t connections,
                      uint64_t bytes, uint64_t refused)
{
    ck_assert_ptr_nonnull(row);
    ck_assert_str_eq(row->host, host);
    ck_assert_uint_eq(row->connections, connections);
    ck_assert_uint_eq(row->sent, bytes);
    ck_assert_uint_eq(row->received, 2 * bytes);
    ck_assert_uint_eq(row->refused, refused);
}

START_TEST(without_events_there_are_no_rows)
{
    struct control_host sum = hosts_sum(NULL);

    ck_assert_ptr_null(hosts_row(NULL, 0));
    ck_assert_ptr_null(hosts_row(&hosts, 0));
    check_row(&sum, "", 0, 0, 0);
}
END_TEST

START_TEST(events_of_a_host_add_up)
{
    struct control_host sum;

    take(EVENT_REACHED, "web.example:80", 2, 100);
    take(EVENT_BARRED, "other.example", 1, 0);
    take(EVENT_REACHED, "web.example:80", 1, 11);
    take(EVENT_BARRED, "web.example:80", 4, 0);
    take(EVENT_REACHED, "web.example:443", 1, 1);
    check_row(hosts_row(&hosts, 0), "web.example:80", 3, 111, 4);
    check_row(hosts_row(&hosts, 1), "other.example", 0, 0, 1);
    check_row(hosts_row(&hosts, 2), "web.example:443", 1, 1, 0);
    ck_assert_ptr_null(hosts_row(&hosts, 3));
    sum = hosts_sum(&hosts);
    check_row(&sum, "", 4, 112, 5);
}
END_TEST

START_TEST(hosts_that_have_no_room_are_one)
{
    struct control_host sum;
    char host[32];

    for (unsigned i = 0; i < HOSTS_MOST + 3; i++) {
        (void)snprintf(host, sizeof(host), "h%u.example:80", i);
        take(i % 2 ? EVENT_BARRED : EVENT_REACHED, host, 1, i % 2 ? 0 : 10);
    }
    take(EVENT_REACHED, "h0.example:80", 1, 10);
    check_row(hosts_row(&hosts, 0), "h0.example:80", 2, 20, 0);
    check_row(hosts_row(&hosts, HOSTS_MOST - 1), "h63.example:80", 0, 0, 1);
    check_row(hosts_row(&hosts, HOSTS_MOST), "", 2, 20, 1);
    ck_assert_ptr_null(hosts_row(&hosts, HOSTS_MOST + 1));
    sum = hosts_sum(&hosts);
    check_row(&sum, "", 35, 350, 33);
}
END_TEST

START_TEST(as_json_they_are_one_member)
{
    struct strbuf out = {0};

    take(EVENT_REACHED, "web.example:80", 1, 7);
    take(EVENT_BARRED, "a\x1b\"b", 2, 0);
    hosts_as_json(&out, &hosts);
    ck_assert_str_eq(out.text, "\"hosts\": [{\"host\": \"web.example:80\", \"connections\": 1, "
                               "\"sent\": 7, \"received\": 14, \"refused\": 0, \"uncounted\": 0}, "
                               "{\"host\": \"a\\\\x1b\\\"b\", \"connections\": 0, "
                               "\"sent\": 0, \"received\": 0, \"refused\": 2, \"uncounted\": 0}]");
    strbuf_done(&out);
    hosts_as_json(&out, NULL);
    ck_assert_str_eq(out.text, "\"hosts\": []");
    strbuf_done(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hosts");
    TCase *tcase = tcase_create("hosts");

    tcase_add_test(tcase, without_events_there_are_no_rows);
    tcase_add_test(tcase, events_of_a_host_add_up);
    tcase_add_test(tcase, hosts_that_have_no_room_are_one);
    tcase_add_test(tcase, as_json_they_are_one_member);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "hosts");
}
