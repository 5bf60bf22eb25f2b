/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pid 1 of the sandbox.
 *
 * How it works: one loop over the launcher's messages and the ends of children.
 * SECURITY: it waits for nothing that a command can hold up. Whoever is inside
 * may stop a child of pid 1's by its number before the exec, and a vfork would
 * wait for that one for good. So a child shares pid 1's memory, which is quick,
 * but not its time: it has a stack, strings and a command of its own (struct
 * birth), touches nothing else, and tells the launcher itself why it could not
 * exec. A birth is over when the kernel says so (CLONE_CHILD_CLEARTID) or the
 * child is reaped. While too many are not over, children get a copy of the
 * memory instead.
 */
#include "base/cleanup.h"
#include "base/environ.h"
#include "base/error.h"
#include "kernel/facts.h"
#include "kernel/sys.h"
#include "launch/own.h"
#include "launch/pty.h"
#include "wire/strings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/wait.h>

enum { JOBS_MAX = 256, BIRTHS_MAX = 4, STACK_BYTES = 32 * 1024, POOL_FULL_BYTES = 64 * 1024 };

/* What one child needs until its exec. What most commands use of it is side by side: the top of the
 * stack, the command, the first strings. */
struct birth {
    _Alignas(16) char stack[STACK_BYTES];
    struct stage_command command;
    char *strings[STRINGS_MAX + 2];
    char bytes[SYNC_BYTES_MAX];
};

struct job {
    pid_t pid; /* 0: free */
    uint32_t number;
    uint32_t flags;
    bool is_stop_told;
};

/* All that pid 1 knows; static, for it must not allocate. */
struct init {
    int sock;
    const struct image *image;
    int terminal; /* whose session we lead, or -EBADF */
    /* Of the children that are being born: the kernel sets it, and clears it at the exec. Not in
     * the births: all of these are looked at, and of those only one was ever used. */
    atomic_int pids[BIRTHS_MAX];
    struct job jobs[JOBS_MAX];
    /* The last one is for children that do not share our memory: it is always free. */
    struct birth births[BIRTHS_MAX + 1];
};

static void say(const struct init *init, enum sync_point point, uint32_t job, int value, int fd)
{
    struct sync_message message = {.point = point, .job = job, .value = value};

    /* The launcher is gone: so is all of this. */
    if (sync_send(init->sock, &message, NULL, 0, &fd, fd >= 0 ? 1 : 0, NULL) < 0)
        _exit(0);
}

/* The strings behind a message: a directory, arguments, variables. */
static bool split_strings(struct birth *birth, const struct sync_message *message, size_t size)
{
    size_t length = strnlen(birth->bytes, size) + 1;

    if (length > size || !strings_are_few(message->args, message->envs))
        return false;
    birth->command.cwd = birth->bytes;
    birth->command.argv = birth->strings;
    birth->command.envp = birth->strings + message->args + 1;
    return strings_split(birth->bytes + length, size - length, message->args, message->envs,
                         birth->strings);
}

static const char *find_path(char *const *envp)
{
    const char *path = environ_get(envp, "PATH");

    return path ? path : "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
}

static struct birth *free_birth(struct init *init)
{
    size_t i = 0;

    while (i < BIRTHS_MAX && atomic_load(&init->pids[i]))
        i++;
    return &init->births[i];
}

static int enter_command(void *context)
{
    stage_command(context);
}

static pid_t spawn(struct init *init, struct birth *birth)
{
    size_t number = (size_t)(birth - init->births);
    bool is_shared = number < BIRTHS_MAX;
    int flags = is_shared ? CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID : 0;
    atomic_int *pid = is_shared ? &init->pids[number] : NULL;

    return clone(enter_command, birth->stack + STACK_BYTES, SIGCHLD | flags, &birth->command, pid,
                 NULL, pid);
}

static struct job *free_job(struct init *init)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (init->jobs[i].pid == 0)
            return &init->jobs[i];
    }
    return NULL;
}

static int refuse_terminal(int errnum, struct bawn_error *err)
{
    int r = error_errno(err, errnum, "make a terminal");

    /* KERNEL: a tree of the host's is mounted without devices, and so are its terminals. */
    if (errnum == ENOENT || errnum == EACCES)
        error_hint(err, "the sandbox has no /dev of its own: start it with --private /dev");
    return r;
}

static int start_job(struct init *init, struct birth *birth, const struct sync_message *message,
                     size_t size, int *ret_master, struct bawn_error *err)
{
    struct job *job = free_job(init);
    autoclose int slave = -EBADF;
    int result = 0;
    pid_t pid;

    if (!job)
        return error_errno(err, EAGAIN, "start one more command");
    if (!split_strings(birth, message, size))
        return error_errno(err, EINVAL, "read the command");
    birth->command.path = find_path(birth->command.envp);
    if (message->flags & EXEC_TTY)
        result = pty_open(ret_master, &slave);
    if (result == 0 && slave >= 0)
        result = pty_set(slave, &message->state, &message->size);
    if (result == 0 && message->flags & EXEC_LED)
        result = pty_lead(slave);
    if (result < 0)
        return refuse_terminal(-result, err);
    birth->command.slave_fd = slave;
    pid = spawn(init, birth);
    if (pid < 0)
        return error_errno(err, errno, "start the command: clone");
    *job = (struct job){.pid = pid, .number = message->job, .flags = message->flags};
    if (message->flags & EXEC_LED)
        init->terminal = take_fd(&slave);
    return 0;
}

/* They come behind the streams and the witness. */
static void take_further(struct stage_command *command, const struct sync_message *message,
                         const int fds[SYNC_FDS])
{
    unsigned before =
        (message->flags & EXEC_OWN ? 0U : 3U) + (message->flags & EXEC_WITNESS ? 1U : 0U);

    for (unsigned i = 0; i < message->further && i < LIMIT_FURTHER_FDS; i++) {
        command->further[i] = fds[before + i];
        command->numbers[i] = message->numbers[i];
        command->further_count = i + 1;
    }
}

static void handle_exec(struct init *init, struct birth *birth, const struct sync_message *message,
                        size_t size, const int fds[SYNC_FDS])
{
    autoclose int master = -EBADF;
    struct bawn_error err = {0};
    int result;

    birth->command =
        (struct stage_command){.sock = init->sock, .job = message->job, .flags = message->flags};
    memcpy(birth->command.fds, fds, sizeof(birth->command.fds));
    take_further(&birth->command, message, fds);
    result = start_job(init, birth, message, size, &master, &err);

    /* The caller's streams are the command's alone: who reads them must see their end. */
    if (message->flags & EXEC_OWN)
        (void)sys_close_range(0, 2, 0);
    /* Not the command's fault: the sandbox that was to run it ends. */
    if (result < 0 && (message->flags & EXEC_ENDS))
        stage_fail(init->sock, &err);
    if (result < 0)
        say(init, SYNC_NOEXEC, message->job, -result, -EBADF);
    else if (master >= 0)
        say(init, SYNC_STARTED, message->job, 0, master);
}

/* The command's group; and itself, should it have joined another one. */
static void handle_signal(struct init *init, const struct sync_message *message)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &init->jobs[i];

        if (job->pid <= 0 || job->number != message->job)
            continue;
        if (job->flags & EXEC_LED && message->flags != FRONT_SAME)
            pty_front(init->terminal, job->pid, message->flags == FRONT_COMMAND);
        if (message->value == SIGCONT || message->value == 0)
            job->is_stop_told = false;
        (void)kill(-job->pid, message->value);
        if (getpgid(job->pid) != job->pid)
            (void)kill(job->pid, message->value);
    }
    say(init, SYNC_SIGNALLED, message->job, message->value, -EBADF);
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
    struct birth *birth = free_birth(init);
    size_t size = sizeof(birth->bytes);
    struct bawn_error err = {0};
    int result = sync_receive(init->sock, &message, birth->bytes, &size, fds, &err);

    if (result == -EPIPE)
        _exit(0);
    if (result < 0)
        stage_fail(init->sock, &err);
    switch (message.point) {
    case SYNC_EXEC:
        handle_exec(init, birth, &message, size, fds);
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

/* KERNEL(before 5.16): one that dies of a signal that dumps core leaves its word as it was. */
static void end_birth(struct init *init, pid_t pid)
{
    for (size_t i = 0; i < BIRTHS_MAX; i++) {
        int expected = pid;

        (void)atomic_compare_exchange_strong(&init->pids[i], &expected, 0);
    }
}

/* How many there are, by their names in /proc; 0 when that cannot be told. */
static uint32_t count_processes(void)
{
    _Alignas(struct dirent) char entries[2048] = {0};
    long fd = sys_bare(SYS_openat, AT_FDCWD, (long)"/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    uint32_t count = 0;
    long length;

    while (fd >= 0 &&
           (length = sys_bare(SYS_getdents64, fd, (long)entries, sizeof(entries), 0)) > 0) {
        for (long at = 0; at < length;) {
            const struct dirent *entry = (const void *)(entries + at);

            count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
            at += entry->d_reclen;
        }
    }
    if (fd >= 0)
        (void)close((int)fd);
    return count;
}

/* All private places are one file system: where a command that failed leaves no room in it, that
 * may be why. KERNEL: one without a limit tells of no blocks and no files at all. */
static bool is_pool_full(const struct image *image)
{
    struct statfs room;

    image_each (image, PART_MOUNTS, struct image_mount, step) {
        char path[LIMIT_PATH_BYTES + 1];

        if (step->step != STEP_PRIVATE)
            continue;
        (void)snprintf(path, sizeof(path), "/%s", image_string(image, step->target));
        return statfs(path, &room) == 0 &&
               ((room.f_blocks > 0 && room.f_bavail * (uint64_t)room.f_bsize < POOL_FULL_BYTES) ||
                (room.f_files > 0 && room.f_ffree == 0));
    }
    return false;
}

/* The end of the command with which all ends. Where no group counts forks that were refused, it is
 * worth a look how many processes a command that failed leaves behind. */
_Noreturn static void end_with(const struct init *init, const struct job *job, int status)
{
    const struct image_limits *limits = &init->image->limits;
    struct sync_message message = {.point = SYNC_EXITED, .job = job->number, .value = status};

    if (status != 0 && limits->cgroup == CGROUP_NONE && limits->pids > 0)
        message.flags = count_processes();
    message.is_full = status != 0 && is_pool_full(init->image);
    (void)sync_send(init->sock, &message, NULL, 0, NULL, 0, NULL);
    /* The kernel ends what is left inside with us. */
    _exit(0);
}

/* SECURITY: once, until it is continued: the launcher may be stopped itself, and reads nothing. */
static void tell_stop(struct init *init, pid_t pid, int signal)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &init->jobs[i];

        if (job->pid != pid || !(job->flags & EXEC_ENDS) || job->is_stop_told)
            continue;
        job->is_stop_told = true;
        say(init, SYNC_STOPPED, job->number, signal, -EBADF);
    }
}

static void reap(struct init *init)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            tell_stop(init, pid, WSTOPSIG(status));
            continue;
        }
        end_birth(init, pid);
        for (size_t i = 0; i < JOBS_MAX; i++) {
            struct job *job = &init->jobs[i];

            if (job->pid != pid)
                continue;
            if (job->flags & EXEC_ENDS)
                end_with(init, job, status);
            say(init, SYNC_EXITED, job->number, status, -EBADF);
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
    init.terminal = -EBADF;
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
