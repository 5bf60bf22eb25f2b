/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions through the library, with real sandboxes: the launcher stands beside this program. */
#include "lib/test.h"

#include <bawn/bawn.h>
#include <bawn/run.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { CASE_SECONDS = 60 };

static char workspace[TEST_DIR_BYTES];
static struct bawn_load *load;
static struct bawn_policy *policy;
static struct bawn_host *host;
static struct bawn_plan *plan;
static struct bawn_session *session;
static struct bawn_error err;
static int out[2];

/* A file of the workspace, whole; "" when there is none. */
static const char *content(const char *name)
{
    static char text[4096];
    char path[128];
    ssize_t length;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", workspace, name);
    fd = open(path, O_RDONLY);
    length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    text[length > 0 ? length : 0] = '\0';
    if (fd >= 0)
        (void)close(fd);
    return text;
}

static const char *time_limit; /* NULL: none */

static void make_plan(void)
{
    test_make_dir(workspace, "session");
    ck_assert_int_eq(bawn_load_new(&load, &err), 0);
    bawn_load_isolated(load, true);
    ck_assert_int_eq(bawn_load_workspace(load, workspace, &err), 0);
    if (time_limit)
        ck_assert_int_eq(bawn_load_set(load, "sandbox.limits.time", time_limit, "test", &err), 0);
    ck_assert_int_eq(bawn_policy_load(load, &policy, NULL, &err), 0);
    ck_assert_int_eq(bawn_host_probe_kernel(&host, &err), 0);
    ck_assert_int_eq(bawn_plan_new(policy, host, &plan, &err), 0);
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
}

static void make_plan_for_a_second(void)
{
    time_limit = "1s";
    make_plan();
}

static void drop_plan(void)
{
    char *argv[] = {(char[]){"rm"}, (char[]){"-rf"}, workspace, NULL};
    pid_t pid;

    bawn_plan_free(plan);
    bawn_host_free(host);
    bawn_policy_free(policy);
    bawn_load_free(load);
    pid = fork();
    if (pid == 0) {
        (void)execvp(argv[0], argv);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
}

static void start(const struct bawn_command *command)
{
    int result = bawn_run_start(plan, command, &session, &err);

    ck_assert_msg(result == 0, "%s", err.message);
}

/* Runs a shell line in the session. Returns its job. */
static int exec_shell(const char *line)
{
    const char *argv[] = {"sh", "-c", line, NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, out[1], -1}};
    int job = bawn_session_exec(session, &command, &err);

    ck_assert_msg(job > 0, "%s", err.message);
    return job;
}

static int status_of(int job)
{
    int status = -1;
    int result = bawn_session_wait(session, job, &status, &err);

    ck_assert_msg(result == 0, "%s", err.message);
    return status;
}

START_TEST(commands_run_one_after_another_with_their_own_status)
{
    start(NULL);
    ck_assert_int_eq(status_of(exec_shell("exit 0")), 0);
    ck_assert_int_eq(status_of(exec_shell("exit 7")), 7);
    ck_assert_int_eq(status_of(exec_shell("kill -TERM $$")), 128 + SIGTERM);
    ck_assert_int_eq(status_of(exec_shell("echo $$ > a; test \"$(pwd)\" = \"$PWD\"")), 0);
    ck_assert_str_ne(content("a"), "");
    bawn_session_close(session);
}
END_TEST

START_TEST(commands_run_side_by_side_and_are_waited_for_in_any_order)
{
    int slow, quick;

    start(NULL);
    slow = exec_shell("sleep 0.2; exit 3");
    quick = exec_shell("exit 4");
    ck_assert_int_eq(status_of(slow), 3);
    ck_assert_int_eq(status_of(quick), 4);
    ck_assert_int_eq(bawn_session_wait(session, quick + 1, &slow, &err), -EINVAL);
    bawn_session_close(session);
}
END_TEST

START_TEST(output_comes_through_the_descriptors_that_were_given)
{
    char text[16] = "";

    start(NULL);
    ck_assert_int_eq(status_of(exec_shell("printf hello")), 0);
    ck_assert_int_eq(read(out[0], text, sizeof(text)), 5);
    ck_assert_str_eq(text, "hello");
    bawn_session_close(session);
}
END_TEST

START_TEST(a_program_that_is_not_there_is_told_by_its_errno)
{
    const char *argv[] = {"no-such-program", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}};
    int status, job;

    start(NULL);
    job = bawn_session_exec(session, &command, &err);
    ck_assert_int_eq(bawn_session_wait(session, job, &status, &err), -ENOENT);
    ck_assert_int_eq(status_of(exec_shell("exit 0")), 0);
    bawn_session_close(session);
}
END_TEST

START_TEST(the_environment_is_filtered_for_every_command)
{
    const char *argv[] = {"sh", "-c", "env > e", NULL};
    const char *variables[] = {"LD_PRELOAD=/x.so", "LANG=C.UTF-8", "AWS_SECRET_ACCESS_KEY=s3cr3t",
                               NULL};
    struct bawn_command command = {.argv = argv, .environ = variables, .fds = {-1, -1, -1}};

    start(NULL);
    ck_assert_int_eq(status_of(bawn_session_exec(session, &command, &err)), 0);
    ck_assert_ptr_nonnull(strstr(content("e"), "LANG=C.UTF-8"));
    ck_assert_ptr_null(strstr(content("e"), "LD_PRELOAD"));
    ck_assert_ptr_null(strstr(content("e"), "s3cr3t"));
    bawn_session_close(session);
}
END_TEST

START_TEST(a_directory_or_terminal_cannot_be_handed_in)
{
    const char *argv[] = {"true", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    int status, job;

    start(NULL);
    command.fds[0] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    job = bawn_session_exec(session, &command, &err);
    ck_assert_int_eq(bawn_session_wait(session, job, &status, &err), -EISDIR);
    ck_assert_str_eq(err.code, "run.stream");
    /* The next descriptor that is opened would take its number. */
    (void)close(command.fds[0]);
    ck_assert_int_eq(bawn_session_exec(session, &command, &err), -EBADF);
    command.fds[2] = command.fds[0];
    command.fds[0] = -1;
    ck_assert_int_eq(bawn_session_exec(session, &command, &err), -EBADF);
    command.fds[2] = -1;
    ck_assert_int_ge(master, 0);
    command.fds[0] = master;
    ck_assert_int_eq(bawn_session_exec(session, &command, &err), -ENOTTY);
    ck_assert_int_eq(status_of(exec_shell("exit 5")), 5);
    bawn_session_close(session);
}
END_TEST

/* What the terminal shows until the text is there, or it ends. */
static bool shows(int terminal, const char *text)
{
    char seen[4096];
    size_t length = 0;
    ssize_t count;

    while (length < sizeof(seen) - 1 &&
           (count = read(terminal, seen + length, sizeof(seen) - 1 - length)) > 0) {
        length += (size_t)count;
        seen[length] = '\0';
        if (strstr(seen, text))
            return true;
    }
    return false;
}

START_TEST(a_command_can_have_a_terminal_of_the_size_that_was_asked_for)
{
    const char *argv[] = {"sh", "-c",
                          "test -t 0 && test ! -t 1 && stty size >&2 && read -r word && exit $word",
                          NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, out[1], -1}, .cols = 91, .rows = 17};
    int job, other, terminal, status;

    start(NULL);
    job = bawn_session_exec(session, &command, &err);
    ck_assert_msg(job > 0, "%s", err.message);
    /* Neither is lost while the other is waited for. */
    other = exec_shell("exit 3");
    ck_assert_int_eq(status_of(other), 3);
    terminal = bawn_session_terminal(session, job, &err);
    ck_assert_msg(terminal >= 0, "%s", err.message);
    ck_assert(shows(terminal, "17 91"));
    ck_assert_int_eq(write(terminal, "42\n", 3), 3);
    ck_assert_int_eq(status_of(job), 42);
    ck_assert_int_eq(bawn_session_terminal(session, job, &err), -ENOTTY);
    ck_assert_int_eq(bawn_session_terminal(session, other, &err), -ENOTTY);
    (void)close(terminal);
    /* One that cannot be run has none, and the reason is still there. */
    argv[0] = "no-such-program";
    job = bawn_session_exec(session, &command, &err);
    terminal = bawn_session_terminal(session, job, &err);
    if (terminal >= 0)
        (void)close(terminal);
    ck_assert_int_eq(bawn_session_wait(session, job, &status, &err), -ENOENT);
    bawn_session_close(session);
}
END_TEST

START_TEST(a_terminal_is_replaced_by_one_that_starts_like_it)
{
    const char *argv[] = {"sh", "-c",
                          "stty size; stty -a | grep -o -- -echoctl; test ! -t 2 && exit 3", NULL};
    struct bawn_command command = {.argv = argv, .flags = BAWN_COMMAND_TERMINAL};
    struct winsize size = {.ws_col = 93, .ws_row = 19};
    struct termios state;
    int terminal, job;

    command.fds[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_eq(unlockpt(command.fds[0]), 0);
    command.fds[1] = open(ptsname(command.fds[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    command.fds[2] = out[1];
    ck_assert_int_eq(ioctl(command.fds[0], TIOCSWINSZ, &size), 0);
    ck_assert_int_eq(tcgetattr(command.fds[0], &state), 0);
    state.c_lflag &= ~(tcflag_t)ECHOCTL;
    ck_assert_int_eq(tcsetattr(command.fds[0], TCSANOW, &state), 0);
    start(NULL);
    job = bawn_session_exec(session, &command, &err);
    terminal = bawn_session_terminal(session, job, &err);
    ck_assert_msg(terminal >= 0, "%s", err.message);
    ck_assert(shows(terminal, "19 93\r\n-echoctl"));
    ck_assert_int_eq(status_of(job), 3);
    (void)close(terminal);
    /* One of the two lengths is enough where the other is the caller's. */
    command.rows = 44;
    job = bawn_session_exec(session, &command, &err);
    terminal = bawn_session_terminal(session, job, &err);
    ck_assert(shows(terminal, "44 93\r\n"));
    (void)close(terminal);
    bawn_session_close(session);
}
END_TEST

/* What happens next, as a loop would learn it. */
static int next_event(int *ret_job)
{
    struct pollfd said = {.fd = bawn_session_fd(session), .events = POLLIN};
    int event = bawn_session_next(session, ret_job, &err);

    if (event == BAWN_EVENT_NONE) {
        ck_assert_int_eq(poll(&said, 1, 1000 * CASE_SECONDS), 1);
        event = bawn_session_next(session, ret_job, &err);
    }
    ck_assert_msg(event >= 0, "%s", err.message);
    return event;
}

START_TEST(a_loop_is_told_what_has_happened_to_which_job)
{
    const char *argv[] = {"sh", "-c", "read -r word; exit $word", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}, .cols = 80, .rows = 24};
    int typed, quick, job = -1, terminal;

    start(NULL);
    ck_assert_int_eq(bawn_session_next(session, &job, &err), BAWN_EVENT_NONE);
    typed = bawn_session_exec(session, &command, &err);
    ck_assert_int_eq(next_event(&job), BAWN_EVENT_STARTED);
    ck_assert_int_eq(job, typed);
    ck_assert_int_eq(bawn_session_next(session, &job, &err), BAWN_EVENT_NONE);
    terminal = bawn_session_terminal(session, typed, &err);
    quick = exec_shell("exit 3");
    ck_assert_int_eq(next_event(&job), BAWN_EVENT_ENDED);
    ck_assert_int_eq(job, quick);
    ck_assert_int_eq(bawn_session_next(session, &job, &err), BAWN_EVENT_NONE);
    ck_assert_int_eq(status_of(quick), 3);
    /* What was heard while another was waited for is told, too. */
    quick = exec_shell("exit 4");
    ck_assert_int_eq(write(terminal, "5\n", 2), 2);
    ck_assert_int_eq(status_of(typed), 5);
    ck_assert_int_eq(next_event(&job), BAWN_EVENT_ENDED);
    ck_assert_int_eq(job, quick);
    ck_assert_int_eq(status_of(quick), 4);
    (void)close(terminal);
    bawn_session_close(session);
}
END_TEST

START_TEST(a_session_of_ones_own_is_measured_and_stopped_like_any)
{
    const char *argv[] = {"sh", "-c", "trap 'exit 5' TERM; echo up; while :; do sleep 0.02; done",
                          NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, out[1], -1}};
    struct bawn_metrics metrics;
    bool has_terminal;
    int job;

    start(&command);
    ck_assert_str_eq(bawn_session_sid(session), "");
    ck_assert(shows(out[0], "up"));
    job = exec_shell("exit 7");
    ck_assert_int_eq(bawn_session_metrics(session, &metrics, sizeof(metrics), &err), 0);
    ck_assert_uint_ge(metrics.pids_current, 1);
    ck_assert_int_eq(bawn_session_attach(session, NULL, &has_terminal, &err), -ENOTTY);
    ck_assert_str_eq(err.code, "session.attached");
    ck_assert_int_eq(status_of(job), 7);
    ck_assert_int_eq(bawn_session_stop(session, 10000, &err), 0);
    ck_assert_int_eq(status_of(0), 5);
    bawn_session_close(session);
}
END_TEST

START_TEST(one_call_runs_a_command_with_the_policy_of_a_directory)
{
    const char *argv[] = {
        "sh", "-c",
        "pwd > where; mkdir -p .git/hooks 2>/dev/null; touch .git/hooks/x 2>/dev/null || exit 9",
        NULL};
    int status = -1;
    char path[128];
    FILE *file;

    ck_assert_msg(bawn_run(workspace, argv, &status, &err) == 0, "%s", err.message);
    ck_assert_int_eq(status, 9);
    ck_assert(strncmp(content("where"), workspace, strlen(workspace)) == 0);
    argv[0] = "no-such-program";
    ck_assert_int_eq(bawn_run(workspace, argv, &status, &err), 0);
    ck_assert_int_eq(status, 127);
    ck_assert_int_lt(bawn_run("/no/such/directory", argv, &status, &err), 0);
    /* A policy that makes no sense is refused, and nothing runs. */
    argv[0] = "sh";
    (void)snprintf(path, sizeof(path), "%s/.bawn", workspace);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/.bawn/policy.yaml", workspace);
    file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs("nonsense: 1\n", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    status = -1;
    ck_assert_int_lt(bawn_run(workspace, argv, &status, &err), 0);
    ck_assert_int_eq(status, -1);
}
END_TEST

START_TEST(commands_need_no_question_where_all_is_held_and_was_proven)
{
    int job;

    start(NULL);
    job = exec_shell("exit 4");
    ck_assert_int_eq(bawn_session_may_auto_allow(session, &err), 1);
    /* What was heard meanwhile is not lost. */
    ck_assert_int_eq(status_of(job), 4);
    ck_assert_int_eq(bawn_session_may_auto_allow(session, &err), 1);
    bawn_session_close(session);
}
END_TEST

START_TEST(a_session_that_is_gone_is_no_yes)
{
    const char *argv[] = {"true", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}};

    start(&command);
    ck_assert_int_eq(status_of(0), 0);
    ck_assert_int_lt(bawn_session_may_auto_allow(session, &err), 0);
    bawn_session_close(session);
}
END_TEST

START_TEST(a_size_without_a_place_for_a_terminal_is_refused)
{
    const char *argv[] = {"true", NULL};
    struct bawn_command command = {
        .argv = argv, .fds = {out[0], out[1], out[1]}, .cols = 91, .rows = 17};

    ck_assert_int_eq(bawn_run_start(plan, &command, &session, &err), -ENOTSUP);
    start(NULL);
    ck_assert_int_eq(bawn_session_exec(session, &command, &err), -EINVAL);
    command.fds[0] = -1;
    command.rows = 0;
    ck_assert_int_eq(bawn_session_exec(session, &command, &err), -EINVAL);
    command.cols = 0;
    command.flags = BAWN_COMMAND_TERMINAL << 1;
    ck_assert_int_eq(bawn_session_exec(session, &command, &err), -EINVAL);
    bawn_session_close(session);
}
END_TEST

START_TEST(a_socket_of_the_network_cannot_be_handed_in)
{
    const char *argv[] = {"true", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}};
    int status, job;

    start(NULL);
    command.fds[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    job = bawn_session_exec(session, &command, &err);
    ck_assert_int_gt(job, 0);
    ck_assert_int_eq(bawn_session_wait(session, job, &status, &err), -ENOTCONN);
    ck_assert_str_eq(err.code, "run.stream");
    ck_assert_int_eq(status_of(exec_shell("exit 5")), 5);
    bawn_session_close(session);
}
END_TEST

START_TEST(boundaries_hold_for_every_command)
{
    start(NULL);
    ck_assert_int_ne(status_of(exec_shell("echo x > /etc/bawn-test-outside")), 0);
    ck_assert_int_ne(access("/etc/bawn-test-outside", F_OK), 0);
    ck_assert_int_eq(status_of(exec_shell("grep -q 'NoNewPrivs:.1' /proc/self/status")), 0);
    ck_assert_int_eq(status_of(exec_shell("grep -q 'Seccomp:.2' /proc/self/status")), 0);
    bawn_session_close(session);
}
END_TEST

START_TEST(a_session_ends_with_its_command)
{
    const char *argv[] = {"sh", "-c", "exit 9", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}};

    int job, status;

    start(&command);
    ck_assert_int_eq(status_of(0), 9);
    /* It may be noticed only when nobody answers. */
    job = bawn_session_exec(session, &command, &err);
    if (job > 0)
        job = bawn_session_wait(session, job, &status, &err);
    ck_assert_int_eq(job, -EPIPE);
    bawn_session_close(session);
}
END_TEST

START_TEST(closing_ends_all_that_runs)
{
    start(NULL);
    /* Each has the pipe's end: it is at its end when all are gone. */
    (void)exec_shell("trap '' HUP TERM; sleep 1000 & setsid sleep 1000 & sleep 1000");
    ck_assert_int_eq(status_of(exec_shell("exit 0")), 0);
    (void)close(out[1]);
    bawn_session_close(session);
    ck_assert_int_eq(read(out[0], &err, 1), 0);
}
END_TEST

START_TEST(a_signal_reaches_its_job_alone)
{
    int one, other;

    start(NULL);
    one = exec_shell("exec sleep 1000");
    other = exec_shell("exec sleep 0.5");
    ck_assert_int_eq(bawn_session_signal(session, one, SIGINT, &err), 0);
    ck_assert_int_eq(status_of(one), 128 + SIGINT);
    ck_assert_int_eq(status_of(other), 0);
    bawn_session_close(session);
}
END_TEST

START_TEST(time_counts_without_a_first_command)
{
    int told, deaf;

    start(NULL);
    told = exec_shell("exec sleep 1000");
    deaf = exec_shell("trap '' TERM; sleep 1000; sleep 1000");
    ck_assert_int_eq(status_of(told), 128 + SIGTERM);
    ck_assert_int_eq(status_of(deaf), 128 + SIGKILL);
    bawn_session_close(session);
}
END_TEST

static void *start_in_thread(void *context)
{
    (void)context;
    start(NULL);
    return NULL;
}

START_TEST(a_thread_that_ended_does_not_end_the_session_it_started)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, start_in_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(status_of(exec_shell("exit 6")), 6);
    bawn_session_close(session);
}
END_TEST

START_TEST(an_unknown_session_is_not_opened)
{
    char runtime[TEST_DIR_BYTES];

    test_make_dir(runtime, "runtime");
    ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", runtime, 1), 0);
    ck_assert_int_eq(bawn_session_open("zzzzzz", &session, &err), -ESRCH);
    ck_assert_str_eq(err.code, "session.unknown");
    ck_assert_int_eq(bawn_session_open(NULL, &session, &err), -ESRCH);
    ck_assert_str_eq(err.code, "session.none");
    ck_assert_int_eq(rmdir(runtime), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session");
    TCase *tcase = tcase_create("session");
    TCase *limited = tcase_create("limited");

    tcase_add_checked_fixture(tcase, make_plan, drop_plan);
    tcase_set_timeout(tcase, CASE_SECONDS);
    tcase_add_test(tcase, commands_run_one_after_another_with_their_own_status);
    tcase_add_test(tcase, commands_run_side_by_side_and_are_waited_for_in_any_order);
    tcase_add_test(tcase, output_comes_through_the_descriptors_that_were_given);
    tcase_add_test(tcase, a_program_that_is_not_there_is_told_by_its_errno);
    tcase_add_test(tcase, the_environment_is_filtered_for_every_command);
    tcase_add_test(tcase, a_directory_or_terminal_cannot_be_handed_in);
    tcase_add_test(tcase, a_socket_of_the_network_cannot_be_handed_in);
    tcase_add_test(tcase, a_session_that_is_gone_is_no_yes);
    tcase_add_test(tcase, commands_need_no_question_where_all_is_held_and_was_proven);
    tcase_add_test(tcase, one_call_runs_a_command_with_the_policy_of_a_directory);
    tcase_add_test(tcase, a_terminal_is_replaced_by_one_that_starts_like_it);
    tcase_add_test(tcase, a_loop_is_told_what_has_happened_to_which_job);
    tcase_add_test(tcase, a_session_of_ones_own_is_measured_and_stopped_like_any);
    tcase_add_test(tcase, a_command_can_have_a_terminal_of_the_size_that_was_asked_for);
    tcase_add_test(tcase, a_size_without_a_place_for_a_terminal_is_refused);
    tcase_add_test(tcase, boundaries_hold_for_every_command);
    tcase_add_test(tcase, a_session_ends_with_its_command);
    tcase_add_test(tcase, closing_ends_all_that_runs);
    tcase_add_test(tcase, a_signal_reaches_its_job_alone);
    tcase_add_test(tcase, a_thread_that_ended_does_not_end_the_session_it_started);
    tcase_add_test(tcase, an_unknown_session_is_not_opened);
    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(limited, make_plan_for_a_second, drop_plan);
    tcase_set_timeout(limited, CASE_SECONDS);
    tcase_add_test(limited, time_counts_without_a_first_command);
    suite_add_tcase(suite, limited);
    return test_run(suite, "session");
}
