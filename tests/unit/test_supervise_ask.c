/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait for an answer: asked once, judged anew, holding up nobody. The answer to a path
 * is in its name. */
#include "lib/supervised.h"
#include "wire/ask.h"
#include "wire/net.h"

enum { SLOW_MS = 1000, OTHERS = 100, CROWD = 300, MOST = 256 };

static int ends[2]; /* the test's, the supervisor's */
static struct {
    unsigned asked;    /* questions */
    unsigned given_up; /* of these */
    char last[256];
    struct ask_verdict later[CROWD]; /* answers that are due */
    unsigned later_count;
    int64_t due_ms; /* 0: none */
} seen;

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void answer(const struct ask_verdict *verdict)
{
    ck_assert_int_eq(send(ends[0], verdict, sizeof(*verdict), MSG_NOSIGNAL), sizeof(*verdict));
}

static bool has_name(const char *path, const char *name)
{
    return strstr(path, name) != NULL;
}

/* The person. */
static bool decide(void *context, const struct event *event)
{
    const char *path = event->texts[EVENT_PATH];
    struct ask_verdict verdict = {.kind = NET_VERDICT,
                                  .number = event->number,
                                  .is_allowed = !has_name(path, "no"),
                                  .scope = has_name(path, "session") ? ASK_SESSION
                                           : has_name(path, "tree")  ? ASK_SESSION_TREE
                                                                     : ASK_ONCE};

    (void)context;
    ck_assert_int_eq(event->what, EVENT_ASKED);
    ck_assert_str_eq(event->texts[EVENT_OP], "write");
    seen.asked++;
    (void)snprintf(seen.last, sizeof(seen.last), "%s", path);
    if (has_name(path, "unheard"))
        return false;
    if (has_name(path, "wrong")) {
        /* To nobody, of another kind, and cut: none is an answer. */
        verdict.number += 1000;
        answer(&verdict);
        verdict.number -= 1000;
        verdict.kind = NET_LOOK;
        answer(&verdict);
        ck_assert_int_eq(send(ends[0], &verdict, 8, 0), 8);
        verdict.kind = NET_VERDICT;
        verdict.is_allowed = 0;
        answer(&verdict);
    } else if (has_name(path, "gone")) {
        close(ends[0]);
    } else if (has_name(path, "slow") || (has_name(path, "restart") && seen.asked % 2 == 1)) {
        seen.later[seen.later_count++ % CROWD] = verdict;
        seen.due_ms = now_ms() + SLOW_MS;
    } else if (!has_name(path, "never") && !has_name(path, "restart")) {
        answer(&verdict);
    }
    return true;
}

static void note(void *context, const struct event *event)
{
    seen.given_up += event->what == EVENT_GIVEN_UP;
    note_refusal(context, event);
}

static void serve(struct sandbox *sandbox)
{
    struct pollfd polled[1 + SUPERVISOR_POLLED] = {{.fd = sandbox->fds[0], .events = POLLIN}};
    struct bawn_error err = {0};
    int r = 0;

    while (r == 0) {
        int timeout_ms = -1;
        size_t more = supervisor_await(sandbox->supervisor, polled + 1, &timeout_ms);
        int ready = poll(polled, 1 + more, seen.due_ms ? 10 : timeout_ms < 0 ? 20000 : timeout_ms);

        ck_assert_msg(ready > 0 || timeout_ms >= 0 || seen.due_ms || errno == EINTR,
                      "nothing was asked for 20 s");
        if (seen.due_ms && now_ms() >= seen.due_ms) {
            seen.due_ms = 0;
            while (seen.later_count > 0)
                answer(&seen.later[--seen.later_count]);
        }
        if (ready < 0)
            continue;
        if (more)
            supervisor_go_on(sandbox->supervisor, polled + 1, more);
        if (polled[0].revents)
            r = supervisor_serve(sandbox->supervisor, (uint32_t)polled[0].revents, &err);
    }
    ck_assert_msg(r == -EPIPE, "%s", err.message);
}

static void run(void (*before)(void), void (*after)(void), uid_t host_uid, struct sandbox *sandbox)
{
    struct command command = {.before = before, .after = after};

    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
                     0);
    asked = decide;
    noted_by = note;
    answers = ends[1];
    sandbox_start(sandbox, &command, host_uid);
    serve(sandbox);
    sandbox_end(sandbox);
    check_expected();
}

static int make(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    return fd < 0 ? -1 : close(fd);
}

static void prepare(void)
{
    prepare_protected();
    close(ends[0]);
    close(ends[1]);
    MUST(mkdir("tree", 0700) == 0 && mkdir("tree/below", 0700) == 0 && mkdir("trees", 0700) == 0);
    MUST(mkdir("renamed", 0700) == 0);
    put_file("renamed/from.ask", "from");
}

static void ask_plainly(void)
{
    EXPECT(0, make("yes.ask"));
    EXPECT(0, make("yes.ask"));
    EXPECT(EACCES, make("no.ask"));
    HOLDS(access("no.ask", F_OK) < 0);
    EXPECT(EACCES, make("unheard.ask"));
    EXPECT(EACCES, make("wrong.ask"));
    EXPECT(0, make("session.ask"));
    EXPECT(0, unlink("session.ask"));
    EXPECT(0, make("session.ask"));
    EXPECT(0, rename("renamed/from.ask", "renamed/to.ask"));
    EXPECT(EACCES, make("p/.git/config"));
}

START_TEST(a_question_is_put_and_its_answer_holds_as_far_as_it_says)
{
    struct sandbox sandbox;

    run(prepare, ask_plainly, who[_i], &sandbox);
    /* twice yes, no, unheard, wrong, session, from and to */
    ck_assert_uint_eq(seen.asked, 8);
    ck_assert_uint_eq(sandbox.refusals, 4);
}
END_TEST

static void ask_for_a_tree(void)
{
    EXPECT(0, make("tree/one.ask"));
    EXPECT(0, make("tree/two.ask"));
    EXPECT(0, make("tree/below/three.ask"));
    /* Its name only begins the same. */
    EXPECT(EACCES, make("trees/no.ask"));
    /* What is denied stays so below what was allowed. */
    EXPECT(0, mkdir("tree/.git", 0700));
    EXPECT(EACCES, make("tree/.git/config"));
}

START_TEST(an_answer_for_a_directory_holds_for_what_is_asked_about_in_it)
{
    struct sandbox sandbox;

    run(prepare, ask_for_a_tree, who[_i], &sandbox);
    ck_assert_uint_eq(seen.asked, 2);
}
END_TEST

static atomic_bool has_waited;

static void *make_slowly(void *path)
{
    EXPECT(0, make(path));
    has_waited = true;
    return NULL;
}

static void work_meanwhile(void)
{
    pthread_t thread;
    char path[32];

    MUST(pthread_create(&thread, NULL, make_slowly, (void *)(uintptr_t) "slow.ask") == 0);
    (void)usleep(50 * 1000);
    for (int i = 0; i < OTHERS; i++) {
        (void)snprintf(path, sizeof(path), "many/%d", i);
        MUST(make(path) == 0);
    }
    HOLDS(!has_waited);
    MUST(pthread_join(thread, NULL) == 0);
    HOLDS(has_waited);
}

START_TEST(a_call_that_waits_for_an_answer_holds_up_nobody)
{
    struct sandbox sandbox;

    run(prepare, work_meanwhile, who[_i], &sandbox);
    ck_assert_uint_eq(seen.asked, 1);
}
END_TEST

static char wanted[64];

static void *want_more(void *what)
{
    (void)usleep(SLOW_MS * 1000 / 2);
    (void)snprintf(wanted, sizeof(wanted), "%s", (const char *)what);
    return NULL;
}

/* SECURITY: the answer is to what was asked about, and not to what the caller wants by then. */
static void swap_meanwhile(void)
{
    pthread_t thread;

    (void)snprintf(wanted, sizeof(wanted), "slow.ask");
    MUST(pthread_create(&thread, NULL, want_more, (void *)(uintptr_t) "p/.git/config") == 0);
    EXPECT(EACCES, open(wanted, O_WRONLY | O_CREAT, 0600));
    MUST(pthread_join(thread, NULL) == 0);
    HOLDS(access("slow.ask", F_OK) < 0);
    (void)snprintf(wanted, sizeof(wanted), "slow.ask");
    MUST(pthread_create(&thread, NULL, want_more, (void *)(uintptr_t) "no.ask") == 0);
    EXPECT(EACCES, open(wanted, O_WRONLY | O_CREAT, 0600));
    MUST(pthread_join(thread, NULL) == 0);
    HOLDS(access("no.ask", F_OK) < 0);
}

/* The name that was asked about becomes a link to another. */
static void *swap_link(void *what)
{
    (void)what;
    (void)usleep(SLOW_MS * 1000 / 2);
    MUST(renameat2_("x", "ok2", 0) == 0);
    MUST(symlink("plain", "x") == 0);
    return NULL;
}

static void link_meanwhile(void)
{
    pthread_t thread;

    MUST(pthread_create(&thread, NULL, swap_link, NULL) == 0);
    EXPECT(0, make("x/slow.ask"));
    MUST(pthread_join(thread, NULL) == 0);
    /* Where it led by then: asked about there, too. */
    HOLDS(access("ok2/slow.ask", F_OK) < 0);
}

START_TEST(a_call_that_changes_while_it_waits_is_judged_anew)
{
    struct sandbox sandbox;

    run(prepare, swap_meanwhile, who[_i], &sandbox);
    ck_assert_uint_eq(seen.asked, 3);
    run(prepare, link_meanwhile, who[_i], &sandbox);
    ck_assert_uint_eq(seen.asked, 2);
    ck_assert_str_eq(seen.last, "/w/plain/slow.ask");
}
END_TEST

static void on_alarm(int number)
{
    (void)number;
}

static void be_interrupted(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_value = {.tv_usec = 100 * 1000}};
    int status = 0;
    pid_t pid;

    MUST(sigaction(SIGALRM, &action, NULL) == 0);
    MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    EXPECT(EINTR, make("never.ask"));
    action.sa_flags = SA_RESTART;
    MUST(sigaction(SIGALRM, &action, NULL) == 0);
    MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    /* Asked for once more, and answered late. */
    EXPECT(0, make("restart.ask"));
    pid = fork();
    if (pid == 0) {
        (void)make("never.ask");
        _exit(1);
    }
    (void)usleep(100 * 1000);
    MUST(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    HOLDS(WIFSIGNALED(status));
    (void)usleep(100 * 1000);
    EXPECT(0, make("yes.ask"));
}

START_TEST(who_is_interrupted_or_killed_does_not_wait)
{
    struct sandbox sandbox;

    run(prepare, be_interrupted, who[_i], &sandbox);
    ck_assert_uint_eq(seen.asked, 5);
    ck_assert_uint_eq(seen.given_up, 3);
}
END_TEST

static void *make_and_wait(void *path)
{
    EXPECT(EACCES, make(path));
    return NULL;
}

static void lose_the_launcher(void)
{
    pthread_t thread;

    MUST(pthread_create(&thread, NULL, make_and_wait, (void *)(uintptr_t) "never.ask") == 0);
    (void)usleep(100 * 1000);
    EXPECT(EACCES, make("gone.ask"));
    MUST(pthread_join(thread, NULL) == 0);
    EXPECT(EACCES, make("yes.ask"));
    EXPECT(0, make("plainly"));
}

START_TEST(without_a_launcher_the_answer_is_no)
{
    struct sandbox sandbox;

    run(prepare, lose_the_launcher, who[_i], &sandbox);
    ck_assert_uint_eq(seen.asked, 2);
}
END_TEST

static void *ask_in_a_crowd(void *path)
{
    return (void *)(intptr_t)(make(path) < 0 ? errno : 0);
}

/* More than can wait: those beyond are told no at once, and what was given back can be used again.
 */
static void crowd(void)
{
    static pthread_t threads[CROWD];
    static char paths[CROWD][32];
    pthread_attr_t small;
    unsigned refused = 0;
    void *result;

    MUST(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 64 * 1024) == 0);
    for (int i = 0; i < CROWD; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "many/%d-slow.ask", i);
        MUST(pthread_create(&threads[i], &small, ask_in_a_crowd, paths[i]) == 0);
    }
    for (int i = 0; i < CROWD; i++) {
        MUST(pthread_join(threads[i], &result) == 0);
        refused += result != NULL;
    }
    HOLDS(refused >= CROWD - MOST);
    EXPECT(0, make("yes.ask"));
}

START_TEST(so_many_can_wait_and_no_more)
{
    struct sandbox sandbox;

    run(prepare, crowd, who[_i], &sandbox);
    ck_assert_uint_le(seen.asked, CROWD + 1);
}
END_TEST

static Suite *supervise_ask_suite(void)
{
    Suite *suite = suite_create("supervise_ask");
    TCase *all = tcase_create("supervise_ask");
    int runs = geteuid() == 0 ? ARRAY_LENGTH(who) : 1;

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, a_question_is_put_and_its_answer_holds_as_far_as_it_says, 0, runs);
    tcase_add_loop_test(all, an_answer_for_a_directory_holds_for_what_is_asked_about_in_it, 0,
                        runs);
    tcase_add_loop_test(all, a_call_that_waits_for_an_answer_holds_up_nobody, 0, runs);
    tcase_add_loop_test(all, a_call_that_changes_while_it_waits_is_judged_anew, 0, runs);
    tcase_add_loop_test(all, who_is_interrupted_or_killed_does_not_wait, 0, runs);
    tcase_add_loop_test(all, without_a_launcher_the_answer_is_no, 0, runs);
    tcase_add_loop_test(all, so_many_can_wait_and_no_more, 0, runs);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return test_run(supervise_ask_suite(), "supervise_ask");
}
