/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher between who asks and who answers: each question once, the first answer counts, and
 * no where nobody can say yes. */
#include "lib/test.h"
#include "session/own.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static struct session session;
static struct session_request request;
static struct image image;
static int asker; /* the far end: of the process that makes calls */
static unsigned changes;

static void on_change(struct session *of)
{
    ck_assert_ptr_eq(of, &session);
    changes++;
}

static void begin(void)
{
    int ends[2];

    memset(&session, 0, sizeof(session));
    image.ask_seconds = 300;
    request.image = &image;
    session.request = &request;
    session.audit.fd = session.feed.fd = session.net.control_fd = -EBADF;
    ck_assert_int_eq(loop_init(&session.loop, NULL), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    session.server.answer_fd = ends[0];
    asker = ends[1];
    ck_assert_int_eq(asks_open(&session), 0);
    session.asks->changed = on_change;
    changes = 0;
}

static void end(void)
{
    asks_done(&session);
    loop_done(&session.loop);
    (void)close(session.server.answer_fd);
    (void)close(asker);
}

static void ask(uint64_t number, const char *op, const char *path)
{
    struct event event = {.what = EVENT_ASKED, .who = WHO_CALLS, .times = 1, .number = number};

    for (int i = 0; i < EVENT_TEXTS; i++)
        event.texts[i] = "";
    event.texts[EVENT_OP] = op;
    event.texts[EVENT_PATH] = path;
    event.texts[EVENT_GRANT_TREE] = "write /w/dir";
    session_event(&session, &event);
}

static void give_up(uint64_t number)
{
    struct event event = {.what = EVENT_GIVEN_UP, .who = WHO_CALLS, .times = 1, .number = number};

    for (int i = 0; i < EVENT_TEXTS; i++)
        event.texts[i] = "";
    session_event(&session, &event);
}

/* Nobody was told anything. */
static void waits(void)
{
    struct ask_verdict verdict;

    ck_assert_int_eq(recv(asker, &verdict, sizeof(verdict), 0), -1);
    ck_assert_int_eq(errno, EAGAIN);
}

static void is_told(uint64_t number, bool is_allowed, enum ask_scope scope)
{
    struct ask_verdict verdict;

    ck_assert_int_eq(recv(asker, &verdict, sizeof(verdict), 0), sizeof(verdict));
    ck_assert_uint_eq(verdict.kind, NET_VERDICT);
    ck_assert_uint_eq(verdict.number, number);
    ck_assert_uint_eq(verdict.is_allowed, is_allowed);
    ck_assert_uint_eq(verdict.scope, scope);
}

static void say(bool is_allowed, enum ask_scope scope)
{
    const struct ask *first = asks_first(&session);
    struct ask_answer answer = {.is_allowed = is_allowed, .scope = scope, .by = ASK_BY_TERMINAL};

    ck_assert_ptr_nonnull(first);
    ck_assert_int_eq(asks_answer(&session, first->id, &answer), 0);
}

static int stop(void *context)
{
    loop_end(context);
    return 0;
}

static void pass(int ms)
{
    static struct loop_timer timer;

    session.loop.is_done = false;
    loop_set_timer(&session.loop, &timer, ms, 0, stop, &session.loop);
    ck_assert_int_eq(loop_run(&session.loop, -1, NULL), 0);
}

START_TEST(where_nobody_can_be_asked_it_is_no_at_once)
{
    session.asks->changed = NULL;
    ask(1, "write", "/w/x");
    is_told(1, false, ASK_ONCE);
    ck_assert_ptr_null(asks_first(&session));
}
END_TEST

START_TEST(a_question_waits_for_the_first_answer)
{
    uint32_t id;

    ask(7, "write", "/w/x");
    waits();
    ck_assert_uint_eq(changes, 1);
    id = asks_first(&session)->id;
    ck_assert_str_eq(asks_find(&session, id)->event.texts[EVENT_PATH], "/w/x");
    say(true, ASK_ONCE);
    is_told(7, true, ASK_ONCE);
    ck_assert_uint_eq(changes, 2);
    ck_assert_int_eq(asks_answer(&session, id, &(struct ask_answer){.is_allowed = true}), -ENOENT);
    ck_assert_int_eq(asks_answer(&session, 0, &(struct ask_answer){.is_allowed = true}), -ENOENT);
    waits();
    /* Once is once. */
    ask(8, "write", "/w/x");
    waits();
    say(false, ASK_ONCE);
    is_told(8, false, ASK_ONCE);
}
END_TEST

START_TEST(the_same_question_of_many_is_one)
{
    for (uint64_t i = 1; i <= ASKS_ASKERS; i++)
        ask(i, "write", "/w/x");
    waits();
    ck_assert_uint_eq(changes, 1);
    ask(ASKS_ASKERS + 1, "write", "/w/x");
    is_told(ASKS_ASKERS + 1, false, ASK_ONCE);
    say(true, ASK_ONCE);
    for (uint64_t i = 1; i <= ASKS_ASKERS; i++)
        is_told(i, true, ASK_ONCE);
}
END_TEST

START_TEST(an_answer_for_the_session_is_remembered_for_what_it_was_about)
{
    ask(1, "write", "/w/x");
    say(true, ASK_SESSION);
    is_told(1, true, ASK_SESSION);
    ask(2, "write", "/w/x");
    is_told(2, true, ASK_SESSION);
    ask(3, "write", "/w/xx");
    ask(4, "read", "/w/x");
    waits();
    say(false, ASK_SESSION);
    is_told(3, false, ASK_SESSION);
    ask(5, "write", "/w/xx");
    is_told(5, false, ASK_SESSION);
    say(true, ASK_ONCE);
    is_told(4, true, ASK_ONCE);
}
END_TEST

START_TEST(an_answer_for_a_directory_holds_below_it_alone)
{
    ask(1, "write", "/w/dir/x");
    say(true, ASK_SESSION_TREE);
    is_told(1, true, ASK_SESSION_TREE);
    ask(2, "write", "/w/dir/y/z");
    is_told(2, true, ASK_SESSION_TREE);
    ask(3, "write", "/w/dirt");
    waits();
    say(false, ASK_ONCE);
    is_told(3, false, ASK_ONCE);
}
END_TEST

START_TEST(what_nobody_waits_for_goes_away_and_comes_back_with_who_asks_again)
{
    ask(1, "write", "/w/x");
    give_up(1);
    ck_assert_ptr_nonnull(asks_first(&session));
    ask(2, "write", "/w/x");
    pass(ASKS_ORPHAN_MS + 500);
    ck_assert_ptr_nonnull(asks_first(&session));
    ck_assert_uint_eq(changes, 1);
    give_up(2);
    pass(ASKS_ORPHAN_MS + 500);
    ck_assert_ptr_null(asks_first(&session));
    waits();
    ask(3, "write", "/w/y");
    asks_asker_gone(&session, WHO_CALLS);
    pass(ASKS_ORPHAN_MS + 500);
    ck_assert_ptr_null(asks_first(&session));
}
END_TEST

START_TEST(who_does_not_answer_in_time_has_said_no)
{
    image.ask_seconds = 1;
    ask(1, "write", "/w/x");
    pass(500);
    waits();
    pass(1500);
    is_told(1, false, ASK_ONCE);
    ck_assert_ptr_null(asks_first(&session));
}
END_TEST

START_TEST(when_the_last_who_answers_is_gone_all_that_wait_are_told_no)
{
    ask(1, "write", "/w/x");
    ask(2, "write", "/w/y");
    session.asks->changed = NULL;
    asks_client_gone(&session);
    is_told(1, false, ASK_ONCE);
    is_told(2, false, ASK_ONCE);
}
END_TEST

START_TEST(so_many_questions_wait_and_no_more)
{
    char path[32];

    for (uint64_t i = 1; i <= ASKS_WAITING + 1; i++) {
        (void)snprintf(path, sizeof(path), "/w/%llu", (unsigned long long)i);
        ask(i, "write", path);
    }
    is_told(ASKS_WAITING + 1, false, ASK_ONCE);
    waits();
    for (uint64_t i = 1; i <= ASKS_WAITING; i++) {
        say(true, ASK_SESSION);
        is_told(i, true, ASK_SESSION);
    }
    /* And so many answers are remembered: a further one holds once. */
    for (uint64_t i = ASKS_WAITING + 1; i <= ANSWERS_MOST + 1; i++) {
        (void)snprintf(path, sizeof(path), "/w/%llu", (unsigned long long)i);
        ask(i, "write", path);
        say(true, ASK_SESSION);
        is_told(i, true, i <= ANSWERS_MOST ? ASK_SESSION : ASK_ONCE);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("asks");
    TCase *all = tcase_create("asks");

    tcase_add_checked_fixture(all, begin, end);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, where_nobody_can_be_asked_it_is_no_at_once);
    tcase_add_test(all, a_question_waits_for_the_first_answer);
    tcase_add_test(all, the_same_question_of_many_is_one);
    tcase_add_test(all, an_answer_for_the_session_is_remembered_for_what_it_was_about);
    tcase_add_test(all, an_answer_for_a_directory_holds_below_it_alone);
    tcase_add_test(all, what_nobody_waits_for_goes_away_and_comes_back_with_who_asks_again);
    tcase_add_test(all, who_does_not_answer_in_time_has_said_no);
    tcase_add_test(all, when_the_last_who_answers_is_gone_all_that_wait_are_told_no);
    tcase_add_test(all, so_many_questions_wait_and_no_more);
    suite_add_tcase(suite, all);
    return test_run(suite, "asks");
}
