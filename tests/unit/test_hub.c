/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of bawn-net: deadlines ring in their order, and who is taken out is not called. */
#include "base/error.h"
#include "lib/test.h"
#include "net/hub.h"

#include <check.h>
#include <unistd.h>

enum { TIMERS = 3000, PIPES = 40 };

static struct hub hub;
static struct hub_timer timers[TIMERS];
static unsigned calls;
static int64_t last_at;

static void count_ring(void *context)
{
    const struct hub_timer *timer = context;

    ck_assert_int_ge(timer->at_ms, last_at);
    last_at = timer->at_ms;
    calls++;
}

static void end(void *context)
{
    (void)context;
    hub_end(&hub);
}

static void setup(void)
{
    calls = 0;
    last_at = 0;
    ck_assert_int_eq(hub_init(&hub, NULL), 0);
}

static void teardown(void)
{
    hub_done(&hub);
}

START_TEST(timers_ring_in_their_order)
{
    struct hub_timer last = {0};
    uint32_t random = 1;
    unsigned stopped = 0;

    for (size_t i = 0; i < TIMERS; i++) {
        random = random * 1664525 + 1013904223;
        hub_set_timer(&hub, &timers[i], (int)(random >> 25), count_ring, &timers[i]);
        if (i % 3 == 0) /* set again */
            hub_set_timer(&hub, &timers[i / 2], (int)(random >> 26), count_ring, &timers[i / 2]);
    }
    for (size_t i = 0; i < TIMERS; i += 7, stopped++)
        hub_stop_timer(&hub, &timers[i]);
    hub_set_timer(&hub, &last, 200, end, NULL);
    ck_assert_int_eq(hub_run(&hub, NULL), 0);
    ck_assert_uint_eq(calls, TIMERS - stopped);
}
END_TEST

static struct hub_source sources[PIPES];

/* The first that is called takes out all others. */
static void take_out(void *context, uint32_t events)
{
    (void)events;
    calls++;
    for (size_t i = 0; i < PIPES; i++) {
        if (&sources[i] != context)
            hub_remove(&hub, &sources[i]);
    }
}

START_TEST(a_source_that_was_taken_out_is_not_called)
{
    struct hub_timer last = {0};
    int fds[PIPES][2];

    for (size_t i = 0; i < PIPES; i++) {
        ck_assert_int_eq(pipe(fds[i]), 0);
        ck_assert_int_eq(write(fds[i][1], "x", 1), 1);
        sources[i] = (struct hub_source){.fd = fds[i][0],
                                         .events = EPOLLIN | EPOLLET,
                                         .ready = take_out,
                                         .context = &sources[i]};
        ck_assert_int_eq(hub_add(&hub, &sources[i], NULL), 0);
    }
    hub_set_timer(&hub, &last, 20, end, NULL);
    ck_assert_int_eq(hub_run(&hub, NULL), 0);
    ck_assert_uint_eq(calls, 1);
}
END_TEST

/* Asks to be told again, twice. */
static void ask_again(void *context, uint32_t events)
{
    (void)events;
    if (++calls == 3)
        hub_end(&hub);
    else
        ck_assert_int_eq(hub_change(&hub, context, EPOLLIN | EPOLLET), 0);
}

START_TEST(an_edge_is_told_again_when_asked_for)
{
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    sources[0] = (struct hub_source){
        .fd = fds[0], .events = EPOLLIN | EPOLLET, .ready = ask_again, .context = &sources[0]};
    ck_assert_int_eq(hub_add(&hub, &sources[0], NULL), 0);
    ck_assert_int_eq(hub_run(&hub, NULL), 0);
    ck_assert_uint_eq(calls, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hub");
    TCase *tests = tcase_create("hub");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, timers_ring_in_their_order);
    tcase_add_test(tests, a_source_that_was_taken_out_is_not_called);
    tcase_add_test(tests, an_edge_is_told_again_when_asked_for);
    suite_add_tcase(suite, tests);
    return test_run(suite, "hub");
}
