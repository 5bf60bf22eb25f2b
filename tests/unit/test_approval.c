/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the launcher about hosts: one question for all who want the same, and answers that mean
 * what was asked. */
#include "lib/policy.h"
#include "lib/test.h"
#include "net/approval.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RULES                                                                                      \
    "sandbox:\n"                                                                                   \
    "  network:\n"                                                                                 \
    "    mode: proxy\n"                                                                            \
    "    unlisted: ask\n"                                                                          \
    "    ask: ['asked.test', '10.0.0.0/8']\n"

static struct hub hub;
static struct test_policy test;
static struct event_sender events;
static struct approvals approvals;
static int launcher;

static void set_up(void)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_int_eq(hub_init(&hub, NULL), 0);
    launcher = pair[0];
    events = (struct event_sender){.sock = pair[1], .who = WHO_NET};
    test_policy_init(&test);
    ck_assert_int_eq(test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_BAWN, "t.yaml",
                                      RULES, sizeof(RULES) - 1),
                     0);
    ck_assert_int_eq(test_policy_finish(&test), 0);
    ck_assert_int_eq(approvals_init(&approvals, &hub, &test.policy, &events, 60, NULL), 0);
}

static void tear_down(void)
{
    approvals_done(&approvals);
    test_policy_done(&test);
    hub_done(&hub);
    (void)close(events.sock);
    (void)close(launcher);
}

/* Static in each case: what still waits is taken out at the end. */
struct asked {
    struct approval_request request;
    struct approval answer;
    unsigned count;
    struct approval_request *cancels; /* when it is answered */
};

static void take(void *context, const struct approval *answer)
{
    struct asked *asked = context;

    asked->answer = *answer;
    asked->count++;
    if (asked->cancels)
        approval_cancel(asked->cancels);
}

static struct host host_of(const char *target)
{
    struct host host;

    ck_assert_ptr_null(host_parse_target(target, &host));
    return host;
}

static const struct net_answer git = {.pid = 17, .comm = "git", .exe = "/usr/bin/git"};

static bool ask_by(struct asked *asked, const char *target, const struct net_answer *who)
{
    struct host host = host_of(target);
    struct net_decision decision;
    const struct approval_asked words = {
        .host = &host, .decision = &decision, .way = "http", .who = who};

    decide_net(&test.policy, &host, &decision);
    ck_assert_int_eq(decision.access, ACCESS_ASK);
    *asked = (struct asked){.request = {.done = take, .context = asked}};
    return approval_ask(&approvals, &asked->request, &words);
}

static bool ask(struct asked *asked, const char *target)
{
    return ask_by(asked, target, &git);
}

static char bytes[EVENT_BYTES];

static bool hear(struct event *event)
{
    return event_receive(launcher, bytes, event) == 1;
}

static void answer(uint64_t number, bool is_allowed, enum ask_scope scope)
{
    const struct ask_verdict verdict = {.kind = NET_VERDICT,
                                        .scope = scope,
                                        .number = number,
                                        .is_allowed = is_allowed,
                                        .by = ASK_BY_CLIENT};

    approvals_take(&approvals, &verdict, sizeof(verdict));
}

static void stop(void *context)
{
    (void)context;
    hub_end(&hub);
}

static void run_for(int ms)
{
    struct hub_timer timer = {0};

    hub.is_done = false;
    hub_set_timer(&hub, &timer, ms, stop, NULL);
    ck_assert_int_eq(hub_run(&hub, NULL), 0);
}

START_TEST(a_question_says_all_that_is_known)
{
    static struct asked asked;
    struct event event;

    ck_assert(ask(&asked, "asked.test:443"));
    ck_assert(hear(&event));
    ck_assert_uint_eq(event.what, EVENT_ASKED);
    ck_assert_uint_eq(event.who, WHO_NET);
    ck_assert_uint_eq(event.verdict, VERDICT_ASK);
    ck_assert_int_eq(event.pid, 17);
    ck_assert_str_eq(event.texts[EVENT_OP], "connect");
    ck_assert_str_eq(event.texts[EVENT_PATH], "asked.test:443");
    ck_assert_str_eq(event.texts[EVENT_CALL], "http");
    ck_assert_str_eq(event.texts[EVENT_RULE], "ask asked.test");
    ck_assert_str_eq(event.texts[EVENT_COMM], "git");
    ck_assert_str_eq(event.texts[EVENT_EXE], "/usr/bin/git");
    ck_assert_str_eq(event.texts[EVENT_GRANT], "host asked.test:443");
    ck_assert_str_eq(event.texts[EVENT_GRANT_TREE], "");
    ck_assert_uint_eq(asked.count, 0);
    answer(event.number, true, ASK_ONCE);
    ck_assert(asked.count == 1 && asked.answer.is_allowed && asked.answer.by == ASK_BY_CLIENT);
    ck_assert(!hear(&event));
}
END_TEST

START_TEST(what_another_program_wants_is_another_question)
{
    static const struct net_answer other = {.pid = 18, .comm = "git", .exe = "/usr/bin/curl"};
    static struct asked asked[4];
    struct event event[3], more;

    ck_assert(ask(&asked[0], "asked.test:443") && ask_by(&asked[1], "asked.test:443", &other));
    ck_assert(ask_by(&asked[2], "asked.test:443", NULL) && ask(&asked[3], "asked.test:443"));
    ck_assert(hear(&event[0]));
    answer(event[0].number, true, ASK_ONCE);
    ck_assert(asked[0].count == 1 && asked[0].answer.is_allowed);
    ck_assert(asked[3].count == 1 && asked[3].answer.is_allowed);
    ck_assert(asked[1].count == 0 && asked[2].count == 0);
    ck_assert(hear(&event[1]));
    ck_assert_str_eq(event[1].texts[EVENT_EXE], "/usr/bin/curl");
    answer(event[1].number, false, ASK_ONCE);
    ck_assert(asked[1].count == 1 && !asked[1].answer.is_allowed && asked[2].count == 0);
    ck_assert(hear(&event[2]));
    ck_assert_str_eq(event[2].texts[EVENT_EXE], "");
    answer(event[2].number, false, ASK_ONCE);
    ck_assert(asked[2].count == 1 && !hear(&more));
}
END_TEST

START_TEST(who_wants_the_same_waits_for_the_same_answer)
{
    static struct asked first, second, third, other;
    struct event event, last;
    uint64_t number;

    ck_assert(ask(&first, "asked.test:443") && ask(&second, "asked.test:443"));
    ck_assert(ask(&third, "asked.test:443") && ask(&other, "asked.test:80"));
    ck_assert(hear(&event));
    number = event.number;
    ck_assert(hear(&last) && !hear(&event));
    ck_assert_str_eq(last.texts[EVENT_PATH], "asked.test:80");
    ck_assert_uint_eq(approvals.request_count, 4);
    /* Who is told may take the next one with it. */
    first.cancels = &second.request;
    answer(number, true, ASK_ONCE);
    ck_assert(first.count == 1 && second.count == 0 && third.count == 1 && other.count == 0);
    ck_assert_uint_eq(approvals.request_count, 1);
    answer(last.number, false, ASK_ONCE);
    ck_assert(other.count == 1 && !other.answer.is_allowed);
    ck_assert_uint_eq(approvals.question_count, 0);
    ck_assert(!hear(&event));
}
END_TEST

START_TEST(the_last_who_goes_gives_it_up)
{
    static struct asked first, second;
    struct event event;
    uint64_t number;

    ck_assert(ask(&first, "asked.test:443") && ask(&second, "asked.test:443"));
    ck_assert(hear(&event));
    number = event.number;
    approval_cancel(&first.request);
    ck_assert(!hear(&event));
    approval_cancel(&second.request);
    approval_cancel(&second.request);
    ck_assert(hear(&event));
    ck_assert_uint_eq(event.what, EVENT_GIVEN_UP);
    ck_assert_uint_eq(event.number, number);
    answer(number, true, ASK_SESSION);
    ck_assert(first.count == 0 && second.count == 0);
    ck_assert(!approval_find(&approvals, &(struct host){HOST_NAME, "asked.test", .port = 443},
                             &first.answer));
}
END_TEST

START_TEST(an_answer_for_the_session_is_for_that_host_and_port)
{
    static const char *const others[] = {"asked.test:80", "b.asked.test:443", "asked.tes:443",
                                         "10.0.0.1:443", "[2001:db8::1]:443"};
    struct approval found;
    static struct asked asked;
    struct event event;
    struct host host = host_of("asked.test:443");

    ck_assert(ask(&asked, "asked.test:443") && hear(&event));
    answer(event.number, true, ASK_SESSION);
    ck_assert(approval_find(&approvals, &host, &found) && found.is_allowed);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        host = host_of(others[i]);
        ck_assert_msg(!approval_find(&approvals, &host, &found), "%s", others[i]);
    }
    ck_assert(ask(&asked, "10.0.0.1:443") && hear(&event));
    ck_assert_str_eq(event.texts[EVENT_RULE], "ask 10.0.0.0/8");
    answer(event.number, false, ASK_SESSION);
    host = host_of("10.0.0.1:443");
    ck_assert(approval_find(&approvals, &host, &found) && !found.is_allowed);
    ck_assert(ask(&asked, "[2001:db8::1]:443") && hear(&event));
    ck_assert_str_eq(event.texts[EVENT_PATH], "[2001:db8::1]:443");
    ck_assert_str_eq(event.texts[EVENT_RULE], "unlisted");
}
END_TEST

START_TEST(a_no_for_once_holds_for_a_moment)
{
    struct approval found;
    static struct asked asked;
    struct event event;
    struct host host = host_of("asked.test:443");

    ck_assert(ask(&asked, "asked.test:443") && hear(&event));
    answer(event.number, true, ASK_ONCE);
    ck_assert(!approval_find(&approvals, &host, &found));
    ck_assert(ask(&asked, "asked.test:443") && hear(&event));
    answer(event.number, false, ASK_ONCE);
    ck_assert(approval_find(&approvals, &host, &found) && !found.is_allowed);
    (void)usleep((APPROVALS_NO_MS + 50) * 1000);
    ck_assert(!approval_find(&approvals, &host, &found));
}
END_TEST

START_TEST(so_many_are_asked_in_a_second)
{
    static struct asked asked;
    struct event event;
    char target[32];
    unsigned heard = 0;

    for (unsigned i = 0; i < 3 * APPROVALS_A_SECOND; i++) {
        (void)snprintf(target, sizeof(target), "host%u.test:443", i);
        ck_assert(ask(&asked, target));
        while (hear(&event))
            heard += event.what == EVENT_ASKED;
        approval_cancel(&asked.request);
        while (hear(&event))
            heard += event.what == EVENT_ASKED;
    }
    ck_assert_uint_le(heard, 2 * APPROVALS_A_SECOND);
    ck_assert(ask(&asked, "late.test:443"));
    for (int i = 0; i < 200 && approvals.told >= APPROVALS_A_SECOND; i++)
        run_for(10);
    ck_assert(hear(&event));
    ck_assert_str_eq(event.texts[EVENT_PATH], "late.test:443");
}
END_TEST

START_TEST(packets_that_are_no_answer_are_none)
{
    static struct asked asked;
    struct event event;
    struct ask_verdict verdict = {.kind = NET_VERDICT, .is_allowed = 1, .by = ASK_BY_CLIENT};

    ck_assert(ask(&asked, "asked.test:443") && hear(&event));
    answer(event.number + 1, true, ASK_SESSION);
    answer(event.number, true, ASK_SCOPES);
    verdict.number = event.number;
    approvals_take(&approvals, &verdict, sizeof(verdict) - 1);
    verdict.by = ASK_ENDS;
    approvals_take(&approvals, &verdict, sizeof(verdict));
    verdict.by = ASK_BY_CLIENT;
    verdict.kind = NET_WHO;
    approvals_take(&approvals, &verdict, sizeof(verdict));
    ck_assert_uint_eq(asked.count, 0);
    answer(event.number, false, ASK_ONCE);
    answer(event.number, true, ASK_ONCE);
    ck_assert(asked.count == 1 && !asked.answer.is_allowed);
}
END_TEST

START_TEST(too_many_are_not_asked_and_what_found_no_room_is_tried_again)
{
    static struct asked asked[APPROVALS_WAITING + 1];
    char target[32];
    struct event event;
    unsigned heard = 0;

    for (unsigned i = 0; i < APPROVALS_WAITING; i++) {
        (void)snprintf(target, sizeof(target), "host%u.test:443", i);
        ck_assert(ask(&asked[i], target));
    }
    ck_assert(!ask(&asked[APPROVALS_WAITING], "one-more.test:443"));
    ck_assert(ask(&asked[APPROVALS_WAITING], "host0.test:443"));
    for (int i = 0; i < 100 && heard < APPROVALS_WAITING; i++) {
        while (hear(&event))
            heard++;
        run_for(10);
    }
    ck_assert_uint_eq(heard, APPROVALS_WAITING);
    approval_cancel(&asked[1].request);
    ck_assert(ask(&asked[1], "one-more.test:443"));
}
END_TEST

START_TEST(no_answer_in_time_is_no)
{
    static struct asked asked;
    struct event event;

    approvals.patience_ms = 50 - APPROVALS_GRACE_MS;
    ck_assert(ask(&asked, "asked.test:443") && hear(&event));
    run_for(20);
    ck_assert_uint_eq(asked.count, 0);
    run_for(100);
    ck_assert(asked.count == 1 && !asked.answer.is_allowed && asked.answer.by == ASK_BY_TIME);
    ck_assert(hear(&event));
    ck_assert_uint_eq(event.what, EVENT_GIVEN_UP);
}
END_TEST

START_TEST(numbers_are_never_those_of_one_before)
{
    static struct approvals later;
    uint64_t number = approvals.last;

    approvals.last += 100000;
    (void)usleep(2000);
    ck_assert_int_eq(approvals_init(&later, &hub, &test.policy, &events, 60, NULL), 0);
    ck_assert_uint_gt(later.last, number + 100000);
    approvals_done(&later);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("approval");
    TCase *cases = tcase_create("approval");

    tcase_set_timeout(cases, 30);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_question_says_all_that_is_known);
    tcase_add_test(cases, what_another_program_wants_is_another_question);
    tcase_add_test(cases, who_wants_the_same_waits_for_the_same_answer);
    tcase_add_test(cases, the_last_who_goes_gives_it_up);
    tcase_add_test(cases, an_answer_for_the_session_is_for_that_host_and_port);
    tcase_add_test(cases, a_no_for_once_holds_for_a_moment);
    tcase_add_test(cases, so_many_are_asked_in_a_second);
    tcase_add_test(cases, packets_that_are_no_answer_are_none);
    tcase_add_test(cases, too_many_are_not_asked_and_what_found_no_room_is_tried_again);
    tcase_add_test(cases, no_answer_in_time_is_no);
    tcase_add_test(cases, numbers_are_never_those_of_one_before);
    suite_add_tcase(suite, cases);
    return test_run(suite, "approval");
}
