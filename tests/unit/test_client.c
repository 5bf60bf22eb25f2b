/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that others started, through the library: found, asked, watched, ended; and some that
 * break their word. The launcher stands beside this program; tests/cli is in the working
 * directory. */
#include "lib/test.h"

#include <bawn/session.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CASE_SECONDS = 60, SID_BYTES = 7 };

static char workspace[TEST_DIR_BYTES];
static char runtime[TEST_DIR_BYTES];
static struct bawn_session *session;
static struct bawn_status *status;
static struct bawn_error err;

static void make_places(void)
{
    test_make_dir(workspace, "client");
    test_make_dir(runtime, "runtime");
    ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", runtime, 1), 0);
}

static void open_session(const char *sid)
{
    int result = bawn_session_open(sid, &session, &err);

    ck_assert_msg(result == 0, "%s", err.message);
}

/* Whoever is left is ended; what a session leaves behind is found here, in every case. */
static void end_all(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    struct bawn_status *list = NULL;
    char path[128];
    int code;

    ck_assert_int_ge(bawn_session_list(&list, &err), 0);
    for (const struct bawn_status *one = list; one; one = one->next) {
        int result = bawn_session_open(one->sid, &session, &err);

        if (result == -ESRCH)
            continue; /* it ended since it was listed */
        ck_assert_msg(result == 0, "%s", err.message);
        ck_assert_int_eq(bawn_session_stop(session, 0, &err), 0);
        ck_assert_int_eq(bawn_session_wait(session, 0, &code, &err), 0);
        bawn_session_close(session);
    }
    bawn_status_free(list);
    (void)snprintf(path, sizeof(path), "%s/bawn", runtime);
    for (int tries = 0; tries < 100 && access(path, F_OK) == 0; tries++)
        (void)nanosleep(&pause, NULL);
    ck_assert_int_ne(access(path, F_OK), 0);
}

/* bawn run --detach [OPTION...] -- sh -c LINE. Returns its name. */
static const char *start(const char *line, const char *cols, const char *rows)
{
    static char sids[4][SID_BYTES + 1];
    static unsigned count;
    char *sid = sids[count++ % 4];
    char self[128] = "";
    const char *argv[] = {self, "run", "--detach", "-C", workspace, cols,
                          rows, "--",  "sh",       "-c", line,      NULL};
    const char *plain[] = {self, "run", "--detach", "-C", workspace, "--", "sh", "-c", line, NULL};
    int ends[2], code;
    pid_t pid;

    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 6), 0);
    (void)snprintf(strrchr(self, '/'), 6, "/bawn");
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)execv(self, (char *const *)(uintptr_t)(cols ? argv : plain));
        _exit(1);
    }
    (void)close(ends[1]);
    ck_assert_int_eq(read(ends[0], sid, SID_BYTES), SID_BYTES);
    (void)close(ends[0]);
    sid[SID_BYTES - 1] = '\0';
    ck_assert(waitpid(pid, &code, 0) == pid && code == 0);
    return sid;
}

/* What the stream says until the text is there, or it ends. */
static bool says(int stream, const char *text)
{
    char seen[4096];
    size_t length = 0;
    ssize_t count;

    while (length < sizeof(seen) - 1 &&
           (count = read(stream, seen + length, sizeof(seen) - 1 - length)) > 0) {
        length += (size_t)count;
        seen[length] = '\0';
        if (strstr(seen, text))
            return true;
    }
    return false;
}

static int end_of(int job)
{
    int code = -1;
    int result = bawn_session_wait(session, job, &code, &err);

    ck_assert_msg(result == 0, "%s", err.message);
    return code;
}

START_TEST(sessions_are_listed_oldest_first_as_they_describe_themselves)
{
    struct bawn_status *list = NULL;
    struct timespec pause = {.tv_nsec = 50000000};
    const char *first, *second;

    ck_assert_int_eq(bawn_session_list(&list, &err), 0);
    ck_assert_ptr_null(list);
    first = start("sleep 100", NULL, NULL);
    (void)nanosleep(&pause, NULL);
    second = start("sleep 200", NULL, NULL);
    ck_assert_int_eq(bawn_session_list(&list, &err), 2);
    ck_assert_str_eq(list->sid, first);
    ck_assert_str_eq(list->command, "sh -c sleep 100");
    ck_assert_str_eq(list->workspace, workspace);
    ck_assert_str_eq(list->backend, "native");
    ck_assert_str_eq(list->enforcement, "full");
    ck_assert(list->is_detached && !list->has_terminal);
    ck_assert_int_ge((int)list->started, (int)time(NULL) - CASE_SECONDS);
    ck_assert_int_eq(kill(list->pid, 0), 0);
    /* Nobody was asked. */
    ck_assert(!list->state && !list->metrics && !list->may_auto_allow);
    ck_assert(list->record[0] == '{' && list->record[strlen(list->record) - 1] == '}');
    ck_assert_ptr_nonnull(strstr(list->record, first));
    ck_assert_str_eq(list->next->sid, second);
    ck_assert_ptr_null(list->next->next);
    bawn_status_free(list);
}
END_TEST

START_TEST(a_session_that_answers_has_a_state_and_metrics)
{
    const char *sid = start("sleep 100", NULL, NULL);
    struct {
        struct bawn_metrics metrics;
        uint64_t more[2];
    } larger;
    struct bawn_metrics metrics;

    ck_assert_int_eq(bawn_session_status(sid, &status, &err), 0);
    ck_assert_str_eq(status->sid, sid);
    ck_assert_str_eq(status->state, "running");
    ck_assert_str_eq(status->enforcement, "full");
    ck_assert(status->may_auto_allow);
    ck_assert_ptr_nonnull(status->metrics);
    ck_assert_uint_ge(status->metrics->pids_current, 1);
    bawn_status_free(status);
    /* By its beginning, and as the only one. */
    ck_assert_int_eq(bawn_session_status((char[]){sid[0], sid[1], '\0'}, &status, &err), 0);
    bawn_status_free(status);
    open_session(NULL);
    ck_assert_str_eq(bawn_session_sid(session), sid);
    ck_assert_int_eq(bawn_session_may_auto_allow(session, &err), 1);
    ck_assert_int_eq(bawn_session_metrics(session, &metrics, sizeof(metrics), &err), 0);
    ck_assert_uint_gt(metrics.memory_current, 0);
    ck_assert_uint_ge(metrics.pids_current, 1);
    /* A caller of another age has another size. */
    memset(&larger, 0xff, sizeof(larger));
    ck_assert_int_eq(bawn_session_metrics(session, &larger.metrics, sizeof(larger), &err), 0);
    ck_assert(larger.metrics.pids_current >= 1 && larger.more[0] == 0 && larger.more[1] == 0);
    memset(&metrics, 0xff, sizeof(metrics));
    ck_assert_int_eq(bawn_session_metrics(session, &metrics, 2 * sizeof(uint64_t), &err), 0);
    ck_assert(metrics.elapsed_ms < 1000 * CASE_SECONDS && metrics.pids_current == UINT64_MAX);
    bawn_session_close(session);
}
END_TEST

START_TEST(which_session_is_meant_must_be_clear)
{
    ck_assert_int_eq(bawn_session_status(NULL, &status, &err), -ESRCH);
    ck_assert_str_eq(err.code, "session.none");
    ck_assert_ptr_null(status);
    (void)start("sleep 100", NULL, NULL);
    (void)start("sleep 100", NULL, NULL);
    ck_assert_int_eq(bawn_session_status(NULL, &status, &err), -EINVAL);
    ck_assert_str_eq(err.code, "session.ambiguous");
    ck_assert_ptr_null(status);
    ck_assert_int_eq(bawn_session_open(NULL, &session, &err), -EINVAL);
    /* One that is not there has a status: nothing is known of it. */
    ck_assert_int_eq(bawn_session_status("zzzzzz", &status, &err), -ESRCH);
    ck_assert_str_eq(err.code, "session.unknown");
    ck_assert_ptr_nonnull(status);
    ck_assert(!status->state && !status->metrics && status->pid == 0 && !status->cgroups[0]);
    ck_assert_str_eq(status->sid, "");
    ck_assert_str_eq(status->record, "");
    bawn_status_free(status);
}
END_TEST

START_TEST(a_session_is_asked_to_end_and_killed_after_its_grace)
{
    const char *sid =
        start("trap 'exit 5' TERM; echo up; while :; do sleep 0.02; done", NULL, NULL);
    struct bawn_session *other = NULL;
    struct bawn_metrics metrics;
    bool has_terminal;
    int code, stream;

    open_session(sid);
    ck_assert_int_eq(bawn_session_open(sid, &other, &err), 0);
    /* Nobody would tell of its end. */
    ck_assert_int_eq(bawn_session_wait(session, 0, &code, &err), -EINVAL);
    ck_assert_int_eq(bawn_session_stop(session, -1, &err), -EINVAL);
    ck_assert_int_eq(bawn_session_stop(session, 600 * 1000 + 1, &err), -EINVAL);
    stream = bawn_session_attach(session, NULL, &has_terminal, &err);
    ck_assert(says(stream, "up"));
    ck_assert_int_eq(bawn_session_stop(session, 10000, &err), 0);
    ck_assert_int_eq(end_of(0), 5);
    (void)close(stream);
    bawn_session_close(session);
    ck_assert_int_eq(bawn_session_metrics(other, &metrics, sizeof(metrics), &err), -EPIPE);
    ck_assert_str_eq(err.code, "session.gone");
    ck_assert_int_eq(bawn_session_next(other, &code, &err), -EPIPE);
    bawn_session_close(other);
    sid = start("trap '' TERM; echo up; while :; do sleep 0.02; done", NULL, NULL);
    open_session(sid);
    stream = bawn_session_attach(session, NULL, &has_terminal, &err);
    ck_assert(says(stream, "up"));
    ck_assert_int_eq(bawn_session_stop(session, 100, &err), 0);
    ck_assert_int_eq(end_of(0), 128 + SIGKILL);
    (void)close(stream);
    bawn_session_close(session);
}
END_TEST

START_TEST(what_a_detached_command_says_is_read_and_its_end_is_told)
{
    const char *sid = start(
        "echo before; while ! [ -e go ]; do sleep 0.02; done; echo after; exit 6", NULL, NULL);
    struct winsize size = {.ws_col = 80, .ws_row = 24};
    bool has_terminal = true;
    char path[128];
    int stream, job = -1;

    open_session(sid);
    ck_assert_int_eq(bawn_session_resize(session, &size, &err), -EINVAL);
    stream = bawn_session_attach(session, NULL, &has_terminal, &err);
    ck_assert_msg(stream >= 0, "%s", err.message);
    ck_assert(!has_terminal);
    ck_assert_int_eq(bawn_session_attach(session, NULL, &has_terminal, &err), -EALREADY);
    ck_assert(says(stream, "before\n"));
    ck_assert_int_eq(bawn_session_next(session, &job, &err), BAWN_EVENT_NONE);
    (void)snprintf(path, sizeof(path), "%s/go", workspace);
    (void)close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ck_assert(says(stream, "after\n"));
    ck_assert_int_eq(read(stream, path, 1), 0);
    ck_assert_int_eq(poll(&(struct pollfd){.fd = bawn_session_fd(session), .events = POLLIN}, 1,
                          1000 * CASE_SECONDS),
                     1);
    ck_assert_int_eq(bawn_session_next(session, &job, &err), BAWN_EVENT_ENDED);
    ck_assert_int_eq(job, 0);
    ck_assert_int_eq(end_of(0), 6);
    (void)close(stream);
    bawn_session_close(session);
}
END_TEST

START_TEST(the_terminal_of_a_detached_command_is_typed_into_and_resized)
{
    struct winsize size = {.ws_col = 100, .ws_row = 30};
    bool has_terminal = false;
    int stream;

    (void)start(
        "stty size; until [ \"$(stty size)\" = '30 100' ]; do sleep 0.02; done; echo sized; "
        "read -r word; exit $word",
        "--cols=91", "--rows=17");
    open_session(NULL);
    stream = bawn_session_attach(session, NULL, &has_terminal, &err);
    ck_assert_msg(stream >= 0, "%s", err.message);
    ck_assert(has_terminal);
    ck_assert(says(stream, "17 91"));
    ck_assert_int_eq(bawn_session_resize(session, &size, &err), 0);
    ck_assert(says(stream, "sized"));
    ck_assert_int_eq(write(stream, "7\n", 2), 2);
    ck_assert_int_eq(end_of(0), 7);
    (void)close(stream);
    bawn_session_close(session);
}
END_TEST

START_TEST(a_session_whose_launcher_is_killed_is_gone)
{
    const char *argv[] = {"true", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}};
    struct timespec pause = {.tv_nsec = 10000000};
    bool has_terminal;
    int stream, code;

    (void)start("echo up; exec sleep 100", NULL, NULL);
    ck_assert_int_eq(bawn_session_status(NULL, &status, &err), 0);
    open_session(NULL);
    stream = bawn_session_attach(session, NULL, &has_terminal, &err);
    ck_assert(says(stream, "up"));
    ck_assert_int_eq(kill(status->pid, SIGKILL), 0);
    bawn_status_free(status);
    ck_assert(!says(stream, "more"));
    ck_assert_int_eq(bawn_session_wait(session, 0, &code, &err), -EPIPE);
    ck_assert_str_eq(err.code, "session.gone");
    ck_assert_int_eq(bawn_session_exec(session, &command, &err), -EPIPE);
    ck_assert_int_eq(bawn_session_stop(session, 0, &err), -EPIPE);
    ck_assert_int_eq(bawn_session_may_auto_allow(session, &err), -EPIPE);
    (void)close(stream);
    bawn_session_close(session);
    /* Its keeper removes what is left. */
    while (bawn_session_list(&status, &err) > 0) {
        bawn_status_free(status);
        (void)nanosleep(&pause, NULL);
    }
}
END_TEST

/* Whether it is among those that have ended, and how. */
static int ended_with(const char *sid)
{
    struct bawn_status *list = NULL;
    int code = -1;

    ck_assert_int_ge(bawn_session_list_ended(&list, &err), 0);
    for (const struct bawn_status *one = list; one; one = one->next) {
        ck_assert(!one->next || one->started <= one->next->started);
        if (strcmp(one->sid, sid) == 0 && strcmp(one->state, "ended") == 0 && one->ended > 0)
            code = one->exit_status;
    }
    bawn_status_free(list);
    return code;
}

START_TEST(what_a_detached_command_said_and_how_it_ended_is_kept)
{
    const char *sid = start("echo one; echo two; sleep 0.3; printf three; exit 9", NULL, NULL);
    struct bawn_ended ended;
    struct bawn_log_state state;
    struct bawn_log *log = NULL;
    char seen[64] = "";
    int got, length = 0;

    ck_assert_int_eq(bawn_session_await(sid, 0, &ended, &err), -ETIMEDOUT);
    ck_assert_str_eq(err.code, "session.timeout");
    ck_assert_int_eq(ended_with(sid), -1);
    ck_assert_int_eq(bawn_log_open(sid, &log, &err), 0);
    while ((got = bawn_log_read(log, seen + length, sizeof(seen) - 1 - (size_t)length, &err)) > 0 ||
           (got == 0 && bawn_log_wait(log, &err) > 0))
        length += got;
    ck_assert_int_eq(got, 0);
    seen[length] = '\0';
    ck_assert_str_eq(seen, "one\ntwo\nthree");
    ck_assert_int_eq(bawn_log_tail(log, 2, &err), 0);
    ck_assert_int_eq(bawn_log_read(log, seen, sizeof(seen), &err), 9);
    ck_assert_mem_eq(seen, "two\nthree", 9);
    ck_assert_uint_eq(bawn_log_dropped(log), 0);
    bawn_log_state(log, &state);
    ck_assert_str_eq(state.sid, sid);
    ck_assert_str_eq(state.state, "ended");
    ck_assert_int_eq(state.status, 9);
    ck_assert_int_eq(state.errnum, 0);
    bawn_log_close(log);
    ck_assert_int_eq(bawn_session_await(sid, -1, &ended, &err), 0);
    ck_assert_str_eq(ended.sid, sid);
    ck_assert_int_eq(ended.status, 9);
    ck_assert_int_eq(ended_with(sid), 9);
    ck_assert_int_eq(bawn_log_open("../../..", &log, &err), -ESRCH);
    ck_assert_ptr_null(log);
    ck_assert_int_eq(bawn_session_await("zzzzzz", -1, &ended, &err), -ESRCH);
    ck_assert_str_eq(err.code, "session.unknown");
}
END_TEST

START_TEST(what_is_not_held_is_told_in_printable_lines)
{
    struct bawn_status *list = NULL;
    char path[128], line[512];
    unsigned long long began = 0;
    const char *at;
    FILE *file = fopen("/proc/self/stat", "re");

    /* A record of a session that is this very process. */
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
    (void)fclose(file);
    at = strrchr(line, ')') + 2;
    for (int i = 3; i < 22; i++)
        at = strchr(at, ' ') + 1;
    began = strtoull(at, NULL, 10);
    (void)snprintf(path, sizeof(path), "%s/bawn", runtime);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/bawn/plants", runtime);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/bawn/plants/record.json", runtime);
    file = fopen(path, "we");
    ck_assert_int_gt(fprintf(file,
                             "{\"sid\": \"plants\", \"pid\": %d, \"start\": %llu, "
                             "\"not_enforced\": [\"one\\u001b[31m\\nline\", \"two\"]}\n",
                             (int)getpid(), began),
                     0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(bawn_session_list(&list, &err), 1);
    ck_assert_str_eq(list->not_enforced, "one\\x1b[31m\\nline\ntwo");
    bawn_status_free(list);
    /* It has no socket: nobody answers, and its record is still an answer. */
    ck_assert_int_eq(bawn_session_status("plants", &status, &err), -ESRCH);
    ck_assert_str_eq(status->state, "stopped");
    ck_assert_str_eq(status->sid, "plants");
    bawn_status_free(status);
    ck_assert_int_eq(remove(path), 0);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(remove(path), 0);
}
END_TEST

static pid_t broken_start(const char *answer)
{
    char path[128];
    struct timespec pause = {.tv_nsec = 10000000};
    struct stat found;
    pid_t pid = fork();

    if (pid == 0) {
        (void)execlp("python3", "python3", "tests/cli/broken_session.py", runtime, answer, NULL);
        _exit(1);
    }
    (void)snprintf(path, sizeof(path), "%s/bawn/broken/record.json", runtime);
    while (stat(path, &found) < 0 || found.st_size == 0) {
        ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
        (void)nanosleep(&pause, NULL);
    }
    return pid;
}

static void broken_end(pid_t pid)
{
    struct bawn_status *list = NULL;

    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    /* What it left is removed. */
    ck_assert_int_eq(bawn_session_list(&list, &err), 0);
}

static int try_metrics(void)
{
    struct bawn_metrics metrics;

    return bawn_session_metrics(session, &metrics, sizeof(metrics), &err);
}

static int try_stop(void)
{
    int code;
    int result = bawn_session_stop(session, 0, &err);

    return result < 0 ? result : bawn_session_wait(session, 0, &code, &err);
}

static int try_attach(void)
{
    bool has_terminal;

    return bawn_session_attach(session, NULL, &has_terminal, &err);
}

static int start_job(void)
{
    static const char *const argv[] = {"true", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}, .cols = 80, .rows = 24};

    return bawn_session_exec(session, &command, &err);
}

static int try_exec(void)
{
    int code;
    int job = start_job();

    return job < 0 ? job : bawn_session_wait(session, job, &code, &err);
}

static int try_terminal(void)
{
    int job = start_job();
    int code;
    int result = job < 0 ? job : bawn_session_terminal(session, job, &err);

    /* One that was not run has none, and the reason is told. */
    return result == -ENOTTY ? bawn_session_wait(session, job, &code, &err) : result;
}

static int try_auto_allow(void)
{
    return bawn_session_may_auto_allow(session, &err);
}

static int try_peers(void)
{
    struct bawn_peer *list = (struct bawn_peer *)&err;
    int result = bawn_session_peers(session, &list, &err);

    ck_assert_ptr_null(list);
    return result;
}

static int (*const tries[])(void) = {try_metrics, try_stop,     try_attach,    try_exec,
                                     try_peers,   try_terminal, try_auto_allow};

static const struct {
    const char *answer, *code, *state;
} broken[] = {
    {"short", "session.protocol", "error"},      {"version", "session.protocol", "error"},
    {"kind", "session.protocol", "error"},       {"unasked", "session.protocol", "error"},
    {"stranger", "session.protocol", "error"},   {"no-error", "session.protocol", "error"},
    {"cut-error", "session.protocol", "error"},  {"empty-error", "session.protocol", "error"},
    {"wild-error", "session.protocol", "error"}, {"rude-error", "rude", "error"},
    {"long", "session.protocol", "error"},       {"cut-hosts", "session.protocol", "error"},
    {"open-hosts", "session.protocol", "error"}, {"many-hosts", "session.protocol", "error"},
    {"gone", "session.gone", "stopped"},
};

START_TEST(a_session_that_breaks_its_word_is_no_success)
{
    const char *answer = broken[_i].answer;
    pid_t pid = broken_start(answer);

    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        /* Nobody refuses to stop: an error is no answer to that. */
        bool is_odd = tries[i] == try_stop && strcmp(answer, "rude-error") == 0;

        open_session("broken");
        ck_assert_msg(tries[i]() < 0, "%s: %zu", answer, i);
        ck_assert_str_eq(err.code, is_odd ? "session.protocol" : broken[_i].code);
        for (const char *at = err.message; *at; at++)
            ck_assert_msg((unsigned char)*at >= ' ', "%s: %zu", answer, i);
        bawn_session_close(session);
    }
    ck_assert_int_lt(bawn_session_status("broken", &status, &err), 0);
    ck_assert_ptr_nonnull(status);
    ck_assert_str_eq(status->state, broken[_i].state);
    ck_assert_str_eq(status->sid, "broken");
    ck_assert(!status->metrics && !status->may_auto_allow);
    bawn_status_free(status);
    broken_end(pid);
}
END_TEST

START_TEST(a_session_that_is_starting_says_so)
{
    pid_t pid = broken_start("starting");

    ck_assert_int_eq(bawn_session_status("broken", &status, &err), 0);
    ck_assert_str_eq(status->state, "starting");
    bawn_status_free(status);
    broken_end(pid);
}
END_TEST

static void check_peer(const struct bawn_peer *peer, const char *host, uint64_t connections,
                       uint64_t refused)
{
    ck_assert_ptr_nonnull(peer);
    ck_assert_str_eq(peer->host, host);
    ck_assert_uint_eq(peer->connections, connections);
    ck_assert_uint_eq(peer->sent, connections ? connections + 1 : 0);
    ck_assert_uint_eq(peer->received, connections ? connections + 2 : 0);
    ck_assert_uint_eq(peer->refused, refused);
}

START_TEST(the_hosts_of_a_session_are_listed_in_printable_words)
{
    pid_t pid = broken_start("hosts");
    struct bawn_peer *list = NULL;

    open_session("broken");
    ck_assert_int_eq(bawn_session_peers(session, &list, &err), 3);
    check_peer(list, "web.example:80", 1, 0);
    check_peer(list->next, "a\\x1b[31mb", 0, 4);
    check_peer(list->next->next, "", 5, 8);
    ck_assert_ptr_null(list->next->next->next);
    bawn_peer_free(list);
    bawn_session_close(session);
    /* It is the answer to nothing else. */
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        if (tries[i] == try_peers)
            continue;
        open_session("broken");
        ck_assert_int_eq(tries[i](), -EPROTO);
        bawn_session_close(session);
    }
    broken_end(pid);
}
END_TEST

START_TEST(a_session_without_a_network_has_no_hosts)
{
    struct bawn_metrics metrics;
    pid_t pid;

    (void)start("sleep 100", NULL, NULL);
    open_session(NULL);
    ck_assert_int_eq(try_peers(), 0);
    ck_assert_int_eq(bawn_session_metrics(session, &metrics, sizeof(metrics), &err), 0);
    ck_assert(!metrics.net_connections && !metrics.net_refused && !metrics.net_sent &&
              !metrics.net_received);
    /* The connection is still good. */
    ck_assert_int_eq(try_peers(), 0);
    bawn_session_close(session);
    end_all();
    pid = broken_start("no-hosts");
    open_session("broken");
    ck_assert_int_eq(try_peers(), 0);
    bawn_session_close(session);
    broken_end(pid);
}
END_TEST

START_TEST(the_end_of_a_session_is_told_only_to_who_asked)
{
    pid_t pid = broken_start("end");

    open_session("broken");
    ck_assert_int_eq(try_exec(), -EPROTO);
    bawn_session_close(session);
    open_session("broken");
    ck_assert_int_eq(try_metrics(), -EPROTO);
    bawn_session_close(session);
    open_session("broken");
    ck_assert_int_eq(try_stop(), 0);
    bawn_session_close(session);
    broken_end(pid);
}
END_TEST

START_TEST(a_job_ends_once)
{
    pid_t pid = broken_start("twice");
    int job = -1, code = -1;

    open_session("broken");
    ck_assert_int_eq(start_job(), 1);
    ck_assert_int_eq(poll(&(struct pollfd){.fd = bawn_session_fd(session), .events = POLLIN}, 1,
                          1000 * CASE_SECONDS),
                     1);
    ck_assert_int_eq(bawn_session_next(session, &job, &err), BAWN_EVENT_ENDED);
    ck_assert_int_eq(job, 1);
    do
        job = bawn_session_next(session, &code, &err);
    while (job == BAWN_EVENT_NONE);
    ck_assert_int_eq(job, -EPROTO);
    ck_assert_int_eq(end_of(1), 0);
    ck_assert_int_lt(bawn_session_wait(session, 1, &code, &err), 0);
    bawn_session_close(session);
    broken_end(pid);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("client");
    TCase *tcase = tcase_create("client");

    tcase_add_checked_fixture(tcase, make_places, end_all);
    tcase_set_timeout(tcase, CASE_SECONDS);
    tcase_add_test(tcase, sessions_are_listed_oldest_first_as_they_describe_themselves);
    tcase_add_test(tcase, a_session_that_answers_has_a_state_and_metrics);
    tcase_add_test(tcase, which_session_is_meant_must_be_clear);
    tcase_add_test(tcase, a_session_is_asked_to_end_and_killed_after_its_grace);
    tcase_add_test(tcase, what_a_detached_command_says_is_read_and_its_end_is_told);
    tcase_add_test(tcase, the_terminal_of_a_detached_command_is_typed_into_and_resized);
    tcase_add_test(tcase, a_session_whose_launcher_is_killed_is_gone);
    tcase_add_test(tcase, what_a_detached_command_said_and_how_it_ended_is_kept);
    tcase_add_test(tcase, what_is_not_held_is_told_in_printable_lines);
    tcase_add_loop_test(tcase, a_session_that_breaks_its_word_is_no_success, 0,
                        sizeof(broken) / sizeof(broken[0]));
    tcase_add_test(tcase, a_session_that_is_starting_says_so);
    tcase_add_test(tcase, the_hosts_of_a_session_are_listed_in_printable_words);
    tcase_add_test(tcase, a_session_without_a_network_has_no_hosts);
    tcase_add_test(tcase, the_end_of_a_session_is_told_only_to_who_asked);
    tcase_add_test(tcase, a_job_ends_once);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "client");
}
