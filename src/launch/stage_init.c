/* SPDX-License-Identifier: Apache-2.0 */
/* Pid 1 of the sandbox. */
#include "base/cleanup.h"
#include "base/environ.h"
#include "base/error.h"
#include "kernel/sys.h"
#include "launch/own.h"
#include "launch/pty.h"
#include "wire/strings.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

enum { JOBS_MAX = 256 };

struct job {
    pid_t pid; /* 0: free */
    uint32_t number;
    uint32_t flags;
};

/* All that pid 1 knows; static, for it must not allocate. */
struct init {
    int sock;
    const struct image *image;
    struct job jobs[JOBS_MAX];
    char bytes[SYNC_BYTES_MAX];
    char *strings[STRINGS_MAX + 2];
};

static void say(const struct init *init, enum sync_point point, uint32_t job, int value, int fd)
{
    struct sync_message message = {.point = point, .job = job, .value = value};

    /* The launcher is gone: so is all of this. */
    if (sync_send(init->sock, &message, NULL, 0, &fd, fd >= 0 ? 1 : 0, NULL) < 0)
        _exit(0);
}

/* The strings behind a message: a directory, arguments, variables. */
static bool split_strings(struct init *init, const struct sync_message *message, size_t size,
                          struct stage_command *command)
{
    size_t length = strnlen(init->bytes, size) + 1;

    if (length > size || !strings_are_few(message->args, message->envs))
        return false;
    command->cwd = init->bytes;
    command->argv = init->strings;
    command->envp = init->strings + message->args + 1;
    return strings_split(init->bytes + length, size - length, message->args, message->envs,
                         init->strings);
}

static const char *find_path(char *const *envp)
{
    const char *path = environ_get(envp, "PATH");

    return path ? path : "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
}

/* A child that shares our memory until its exec, so that only a page table entry is copied. */
static pid_t spawn(const struct stage_command *command, volatile struct stage_failure *failure)
{
    /* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork): a fork
     * would copy the launcher's memory, and stage_command keeps the rules of a vfork. */
    pid_t pid = vfork();

    if (pid == 0)
        stage_command(command, failure);
    /* NOLINTEND(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork) */
    return pid;
}

static struct job *free_job(struct init *init)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (init->jobs[i].pid == 0)
            return &init->jobs[i];
    }
    return NULL;
}

/* The errno of the exec, or a negative one of what comes before it. */
static int explain(const struct stage_command *command, struct stage_failure failure,
                   struct bawn_error *err)
{
    if (failure.at == FAILED_EXEC)
        return failure.errnum;
    if (failure.at == FAILED_STREAMS)
        return error_errno(err, failure.errnum, "give the command its streams");
    (void)error_errno(err, failure.errnum, "enter %s, where the command starts", command->cwd);
    error_hint(err, failure.errnum == EACCES
                        ? "the sandbox's user may not enter it: cd elsewhere, or change its mode"
                        : "cd to a directory that the policy grants");
    return -failure.errnum;
}

/* 0, the errno of the exec, or a negative one of what comes before it. */
static int start_job(struct init *init, const struct sync_message *message, size_t size,
                     const int fds[SYNC_FDS], int *ret_master, struct bawn_error *err)
{
    struct stage_command command = {.flags = message->flags};
    struct job *job = free_job(init);
    autoclose int slave = -EBADF;
    volatile struct stage_failure failure = {0};
    int result = 0;
    pid_t pid;

    if (!job)
        return error_errno(err, EAGAIN, "start one more command");
    if (!split_strings(init, message, size, &command))
        return error_errno(err, EINVAL, "read the command");
    command.path = find_path(command.envp);
    memcpy(command.fds, fds, sizeof(command.fds));
    if (message->flags & EXEC_TTY)
        result = pty_open(ret_master, &slave);
    if (result == 0 && slave >= 0)
        result = pty_set(slave, &message->state, &message->size);
    if (result < 0)
        return error_errno(err, -result, "make a terminal");
    command.slave_fd = slave;
    pid = spawn(&command, &failure);
    if (pid < 0)
        return error_errno(err, errno, "start the command: vfork");
    if (failure.errnum) {
        (void)waitpid(pid, NULL, __WALL);
        return explain(&command, failure, err);
    }
    *job = (struct job){.pid = pid, .number = message->job, .flags = message->flags};
    return 0;
}

static void handle_exec(struct init *init, const struct sync_message *message, size_t size,
                        const int fds[SYNC_FDS])
{
    autoclose int master = -EBADF;
    struct bawn_error err = {0};
    int result = start_job(init, message, size, fds, &master, &err);

    /* The caller's streams are the command's alone: who reads them must see their end. */
    if (message->flags & EXEC_OWN)
        (void)sys_close_range(0, 2, 0);
    /* Not the command's fault: the sandbox that was to run it ends. */
    if (result < 0 && (message->flags & EXEC_ENDS))
        stage_fail(init->sock, &err);
    if (result != 0)
        say(init, SYNC_NOEXEC, message->job, abs(result), -EBADF);
    else if (master >= 0)
        say(init, SYNC_STARTED, message->job, 0, master);
}

static void handle_signal(const struct init *init, const struct sync_message *message)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (init->jobs[i].pid > 0 && init->jobs[i].number == message->job)
            (void)kill(-init->jobs[i].pid, message->value);
    }
}

static void handle_prove(struct init *init, const struct sync_message *question)
{
    struct sync_message answer = {.point = SYNC_PROVED};
    const char *through;
    pid_t pid = fork();

    if (pid == 0) {
        through = prove_contained(init->image, (uint16_t)question->value, (pid_t)question->job);
        answer.value = through ? 1 : 0;
        (void)sync_send(init->sock, &answer, through, through ? strlen(through) : 0, NULL, 0, NULL);
        _exit(0);
    }
    if (pid < 0)
        say(init, SYNC_PROVED, 0, -errno, -EBADF);
}

static void handle_message(struct init *init)
{
    struct sync_message message;
    int fds[SYNC_FDS];
    size_t size = sizeof(init->bytes);
    struct bawn_error err = {0};
    int result = sync_receive(init->sock, &message, init->bytes, &size, fds, &err);

    if (result == -EPIPE)
        _exit(0);
    if (result < 0)
        stage_fail(init->sock, &err);
    switch (message.point) {
    case SYNC_EXEC:
        handle_exec(init, &message, size, fds);
        break;
    case SYNC_SIGNAL:
        handle_signal(init, &message);
        break;
    case SYNC_PROVE:
        handle_prove(init, &message);
        break;
    default:
        _exit(1);
    }
    packet_drop_fds(fds, SYNC_FDS);
}

static void reap(struct init *init)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
        for (size_t i = 0; i < JOBS_MAX; i++) {
            struct job *job = &init->jobs[i];

            if (job->pid != pid)
                continue;
            say(init, SYNC_EXITED, job->number, status, -EBADF);
            /* The kernel ends what is left inside with us. */
            if (job->flags & EXEC_ENDS)
                _exit(0);
            job->pid = 0;
        }
    }
}

_Noreturn void stage_init(int sock, const struct image *image)
{
    static struct init init;
    struct pollfd ready[2] = {{.fd = sock, .events = POLLIN}, {.events = POLLIN}};
    struct bawn_error err = {0};
    sigset_t children;

    init.sock = sock;
    init.image = image;
    sigfillset(&children);
    (void)sigprocmask(SIG_BLOCK, &children, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    ready[1].fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (ready[1].fd < 0) {
        (void)error_errno(&err, errno, "signalfd");
        stage_fail(sock, &err);
    }
    /* Until the first message there is nobody to be reaped. */
    handle_message(&init);
    for (;;) {
        struct signalfd_siginfo info;

        if (poll(ready, 2, -1) < 0)
            continue;
        if (ready[1].revents && read(ready[1].fd, &info, sizeof(info)) > 0)
            reap(&init);
        if (ready[0].revents)
            handle_message(&init);
    }
}
