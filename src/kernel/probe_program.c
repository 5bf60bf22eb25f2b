/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it works: one child of ours is the parent of all the programs, and adopts
 * what they leave behind. It collects output and exit statuses in memory that it
 * shares with us, kills whatever remains, and ends. The calling program so has no
 * children it does not know, and gets no SIGCHLD.
 */
#include "kernel/probe_program.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "kernel/probe_child.h"
#include "kernel/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    PROGRAMS_MAX = 4,
    VARIABLE_BYTES = 1024,
    TICK_MS = 50,     /* exits are noticed by SIGCHLD; this is for an exec that failed */
    GRACE_MS = 500,   /* for the clean-up, on top of the limit */
    SWEEP_ROUNDS = 50 /* killing what was left behind may leave something behind */
};

struct environment {
    char home[VARIABLE_BYTES];
    char runtime[VARIABLE_BYTES];
    char *more; /* NULL: none */
};

struct run {
    struct program *programs; /* in shared memory */
    size_t count;
    int64_t until_ms;
    struct environment environments[PROGRAMS_MAX];
    pid_t pids[PROGRAMS_MAX];
    int fds[PROGRAMS_MAX][PROGRAM_STREAMS]; /* -1 at the end of the output */
};

static bool is_only_roots(const struct stat *st)
{
    return st->st_uid == 0 && !(st->st_mode & S_IWOTH) &&
           (st->st_gid == 0 || !(st->st_mode & S_IWGRP));
}

bool program_find(const char *name, char *ret_path, size_t size)
{
    static const char *const dirs[] = {"/usr/local/bin", "/usr/bin", "/bin"};
    struct stat st;

    for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
        int length = snprintf(ret_path, size, "%s/%s", dirs[i], name);

        if (length < 0 || (size_t)length >= size)
            continue;
        if (stat(dirs[i], &st) < 0 || !is_only_roots(&st))
            continue;
        if (stat(ret_path, &st) == 0 && S_ISREG(st.st_mode) && is_only_roots(&st) &&
            access(ret_path, X_OK) == 0)
            return true;
    }
    return false;
}

bool program_succeeded(const struct program *program)
{
    return program->ended && WIFEXITED(program->status) && WEXITSTATUS(program->status) == 0;
}

static void close_from_3(void)
{
    if (syscall(SYS_close_range, 3U, ~0U, 0) == 0)
        return;
    for (int fd = 3; fd < 4096; fd++)
        (void)close(fd);
}

/* What root's program mounts must not stay, nor what it writes to /run when its state is not to
 * be the real one. An ordinary user's programs can do neither; the unshare is refused. */
static void keep_mounts_private(const struct program *program)
{
    if (unshare(CLONE_NEWNS) < 0)
        return;
    (void)mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
    if (program->home)
        (void)mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "size=16m");
}

/* SECURITY: handlers, ignored signals, descriptors, directory: nothing of ours goes along. */
static _Noreturn void become(const struct program *program, struct environment *environment,
                             const int out_fds[static PROGRAM_STREAMS])
{
    char path[] = "PATH=/usr/bin:/bin";
    char *variables[] = {path, environment->home, environment->runtime, environment->more, NULL};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    int null_fd = open("/dev/null", O_RDONLY | O_NONBLOCK);
    sigset_t none;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    keep_mounts_private(program);
    if (null_fd < 0 || chdir("/") < 0 || dup2(out_fds[PROGRAM_STDOUT], 1) < 0 ||
        dup2(out_fds[PROGRAM_STDERR], 2) < 0 || dup2(null_fd, 0) < 0)
        _exit(127);
    close_from_3();
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &standard, NULL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(program->argv[0], (char *const *)(uintptr_t)program->argv, variables);
    _exit(127);
}

/* A pipe whose ends keep out of the way of 0 to 2, should these have been closed. */
static int open_pipe(int ret_fds[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        ret_fds[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        (void)close(low[i]);
    }
    return ret_fds[0] < 0 || ret_fds[1] < 0 ? -1 : 0;
}

/* On failure the program stays one that has not ended; descriptors end with the child. */
static void start(struct run *run, size_t index)
{
    int out[PROGRAM_STREAMS] = {-1, -1};

    run->pids[index] = -1;
    for (int i = 0; i < PROGRAM_STREAMS; i++)
        run->fds[index][i] = -1;
    if (!run->programs[index].argv[0])
        return;
    for (int i = 0; i < PROGRAM_STREAMS; i++) {
        int fds[2];

        if (open_pipe(fds) < 0)
            return;
        run->fds[index][i] = fds[0];
        out[i] = fds[1];
    }
    run->pids[index] = process_split(-EBADF, NULL);
    if (run->pids[index] == 0)
        become(&run->programs[index], &run->environments[index], out);
    for (int i = 0; i < PROGRAM_STREAMS; i++)
        (void)close(out[i]);
}

/* Keeps the beginning and lets the rest go by, so that nobody blocks on writing. */
static void collect(struct run *run, size_t index, int stream)
{
    struct program *program = &run->programs[index];
    size_t room = PROGRAM_OUTPUT - 1 - program->length[stream];
    int *fd = &run->fds[index][stream];
    char bytes[4096];
    ssize_t got = read(*fd, bytes, sizeof(bytes));

    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        (void)close(*fd);
        *fd = -1;
        return;
    }
    if ((size_t)got < room)
        room = (size_t)got;
    memcpy(program->output[stream] + program->length[stream], bytes, room);
    program->length[stream] += room;
}

/* Whether any program still runs. */
static bool reap_ended(struct run *run)
{
    bool running = false;

    for (size_t i = 0; i < run->count; i++) {
        struct program *program = &run->programs[i];

        if (run->pids[i] < 0 || program->ended)
            continue;
        program->ended = waitpid(run->pids[i], &program->status, __WALL | WNOHANG) == run->pids[i];
        running |= !program->ended;
    }
    return running;
}

/* Waits at most timeout_ms for output or an exit. Whether there was output. */
static bool watch(struct run *run, int exit_fd, int timeout_ms)
{
    struct pollfd polled[PROGRAMS_MAX * PROGRAM_STREAMS + 1] = {{.fd = exit_fd, .events = POLLIN}};
    size_t count = run->count * PROGRAM_STREAMS;
    struct signalfd_siginfo ignored;
    bool any = false;

    for (size_t i = 0; i < count; i++)
        polled[i + 1] = (struct pollfd){.fd = run->fds[i / PROGRAM_STREAMS][i % PROGRAM_STREAMS],
                                        .events = POLLIN};
    if (poll(polled, count + 1, timeout_ms) <= 0)
        return false;
    if (polled[0].revents)
        (void)!read(exit_fd, &ignored, sizeof(ignored));
    for (size_t i = 0; i < count; i++) {
        if (!polled[i + 1].revents)
            continue;
        collect(run, i / PROGRAM_STREAMS, (int)(i % PROGRAM_STREAMS));
        any = true;
    }
    return any;
}

/* Kills the adopted orphans, e.g. of a program that made itself a daemon. */
static void kill_children(void)
{
    char text[1024];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text));
    pid_t pid = 0;

    for (ssize_t i = 0; i < got; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            pid = pid * 10 + (text[i] - '0');
        } else if (pid > 0) {
            (void)kill(pid, SIGKILL);
            pid = 0;
        }
    }
    if (fd >= 0)
        (void)close(fd);
}

static void sweep(const struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->pids[i] > 0)
            (void)kill(-run->pids[i], SIGKILL);
    for (int round = 0; round < SWEEP_ROUNDS; round++) {
        pid_t pid = waitpid(-1, NULL, __WALL | WNOHANG);

        if (pid < 0)
            return;
        if (pid == 0) {
            kill_children();
            (void)poll(NULL, 0, 1);
        }
    }
}

static PROBE_WORK(run_programs)
{
    struct run run = *(const struct run *)env->extra;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t child_exits;
    int exit_fd;

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    (void)sigaction(SIGCHLD, &standard, NULL); /* SIG_IGN would reap them unseen */
    sigemptyset(&child_exits);
    sigaddset(&child_exits, SIGCHLD);
    exit_fd = signalfd(-1, &child_exits, SFD_CLOEXEC | SFD_NONBLOCK);
    if (exit_fd < 0)
        return probe_fail(result, "signalfd");
    for (size_t i = 0; i < run.count; i++)
        start(&run, i);
    while (reap_ended(&run) && clock_ms() < run.until_ms)
        (void)watch(&run, exit_fd, TICK_MS);
    sweep(&run);
    /* What was written before the end. Nobody holds the pipes any more who could add to it. */
    while (watch(&run, exit_fd, 0))
        ;
    return true;
}

/* "NAME=VALUE"; no value, or one that is too long, makes it empty. */
static void set_variable(char out[static VARIABLE_BYTES], const char *name, const char *value)
{
    int length = snprintf(out, VARIABLE_BYTES, "%s=%s", name, value ? value : "");

    if (length < 0 || length >= VARIABLE_BYTES)
        (void)snprintf(out, VARIABLE_BYTES, "%s=", name);
}

int program_run_all(struct program *programs, size_t count, int timeout_ms)
{
    size_t size = count * sizeof(*programs);
    struct run run = {.count = count, .until_ms = clock_ms() + timeout_ms};
    struct probe_env env = {.extra = &run};
    struct probe_result result = {0};
    int r;

    if (count == 0 || count > PROGRAMS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        const char *home = programs[i].home;

        set_variable(run.environments[i].home, "HOME", home ? home : getenv("HOME"));
        set_variable(run.environments[i].runtime, "XDG_RUNTIME_DIR",
                     home ? home : getenv("XDG_RUNTIME_DIR"));
        run.environments[i].more = (char *)(uintptr_t)programs[i].variable;
    }
    run.programs = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.programs == MAP_FAILED)
        return -errno;
    memcpy(run.programs, programs, size);
    r = probe_child_run(run_programs, &env, timeout_ms + GRACE_MS, &result);
    memcpy(programs, run.programs, size);
    (void)munmap(run.programs, size);
    return r < 0 ? r : -result.errnum;
}
