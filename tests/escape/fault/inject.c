/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one system call of a process tree fail.
 *
 *   inject [-l LOG] [-f PLACE/NAME/N -e ERRNO] -c COMM COMMAND...
 *
 * How it works: the tree is traced from its first instruction. A process is
 * named by its PLACE: "0" is the command, "0.1" its second child, so that the
 * name does not depend on who runs first. Calls of the table below are counted
 * by place and name until a process has become COMM, the contained program:
 * all before that is set-up. What a process does while it is another program
 * than COMMAND is not counted. LOG gets a line "PLACE/NAME/N DETAIL" for each. The one
 * that -f names does not happen and ends with ERRNO. The exit status is that
 * of COMMAND, 99 when the call that -f names did not come, and 97 when the tree
 * became another program after it: all of it is ended then.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64, PLACE_BYTES = 64, NOT_REACHED = 99, NEW_PLAN = 97, SECONDS_MAX = 60 };

/* What set-up is made of: reading the clock, memory and closing are left out. */
static const struct {
    const char *name;
    long number;
    int text_arg; /* which argument is worth showing as text; -1: none */
} calls[] = {
    {"clone3", SYS_clone3, -1},
    {"clone", SYS_clone, -1},
    {"fork", SYS_fork, -1},
    {"vfork", SYS_vfork, -1},
    {"unshare", SYS_unshare, -1},
    {"setns", SYS_setns, -1},
    {"mount", SYS_mount, 1},
    {"umount2", SYS_umount2, 0},
    {"open_tree", SYS_open_tree, 1},
    {"move_mount", SYS_move_mount, 3},
    {"mount_setattr", SYS_mount_setattr, 1},
    {"fsopen", SYS_fsopen, 0},
    {"fsconfig", SYS_fsconfig, 2},
    {"fsmount", SYS_fsmount, -1},
    {"fspick", SYS_fspick, -1},
    {"pivot_root", SYS_pivot_root, 0},
    {"chroot", SYS_chroot, 0},
    {"chdir", SYS_chdir, 0},
    {"fchdir", SYS_fchdir, -1},
    {"mkdir", SYS_mkdir, 0},
    {"mkdirat", SYS_mkdirat, 1},
    {"symlink", SYS_symlink, 1},
    {"symlinkat", SYS_symlinkat, 2},
    {"mknod", SYS_mknod, 0},
    {"mknodat", SYS_mknodat, 1},
    {"open", SYS_open, 0},
    {"openat", SYS_openat, 1},
    {"openat2", SYS_openat2, 1},
    {"creat", SYS_creat, 0},
    {"write", SYS_write, 1},
    {"pwrite64", SYS_pwrite64, 1},
    {"writev", SYS_writev, -1},
    {"ftruncate", SYS_ftruncate, -1},
    {"fchmod", SYS_fchmod, -1},
    {"fchmodat", SYS_fchmodat, 1},
    {"chmod", SYS_chmod, 0},
    {"fchown", SYS_fchown, -1},
    {"fchownat", SYS_fchownat, 1},
    {"chown", SYS_chown, 0},
    {"setuid", SYS_setuid, -1},
    {"setgid", SYS_setgid, -1},
    {"setresuid", SYS_setresuid, -1},
    {"setresgid", SYS_setresgid, -1},
    {"setreuid", SYS_setreuid, -1},
    {"setregid", SYS_setregid, -1},
    {"setgroups", SYS_setgroups, -1},
    {"capset", SYS_capset, -1},
    {"prctl", SYS_prctl, -1},
    {"seccomp", SYS_seccomp, -1},
    {"landlock_create_ruleset", SYS_landlock_create_ruleset, -1},
    {"landlock_add_rule", SYS_landlock_add_rule, -1},
    {"landlock_restrict_self", SYS_landlock_restrict_self, -1},
    {"setrlimit", SYS_setrlimit, -1},
    {"prlimit64", SYS_prlimit64, -1},
    {"sethostname", SYS_sethostname, 0},
    {"setdomainname", SYS_setdomainname, 0},
    {"umask", SYS_umask, -1},
    {"socket", SYS_socket, -1},
    {"socketpair", SYS_socketpair, -1},
    {"bind", SYS_bind, -1},
    {"connect", SYS_connect, -1},
    {"ioctl", SYS_ioctl, -1},
    {"sendto", SYS_sendto, -1},
    {"recvfrom", SYS_recvfrom, -1},
    {"sendmsg", SYS_sendmsg, -1},
    {"recvmsg", SYS_recvmsg, -1},
    {"close_range", SYS_close_range, -1},
    {"dup2", SYS_dup2, -1},
    {"dup3", SYS_dup3, -1},
    {"fcntl", SYS_fcntl, -1},
    {"setsid", SYS_setsid, -1},
    {"setpgid", SYS_setpgid, -1},
    {"pipe2", SYS_pipe2, -1},
    {"memfd_create", SYS_memfd_create, 0},
    {"epoll_create1", SYS_epoll_create1, -1},
    {"epoll_ctl", SYS_epoll_ctl, -1},
    {"signalfd4", SYS_signalfd4, -1},
    {"timerfd_create", SYS_timerfd_create, -1},
    {"timerfd_settime", SYS_timerfd_settime, -1},
    {"eventfd2", SYS_eventfd2, -1},
    {"pidfd_open", SYS_pidfd_open, -1},
    {"execve", SYS_execve, 0},
    {"execveat", SYS_execveat, 1},
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

struct process {
    pid_t pid;
    char place[PLACE_BYTES];
    unsigned children;
    unsigned counts[CALLS];
    bool is_named;    /* its parent's event has come */
    bool is_stopped;  /* waits for that */
    bool is_injected; /* the call that is under way is to fail */
    bool is_foreign;  /* has become another program than the first */
};

static struct process processes[PROCESSES_MAX];
static FILE *log_file;
static const char *fault, *comm;
static char first_comm[64];
static int fault_errno = EPERM;
static bool has_begun, is_over, was_reached;

static void fail(const char *what)
{
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    exit(NOT_REACHED);
}

static struct process *find(pid_t pid)
{
    struct process *free_one = NULL;

    for (size_t i = 0; i < PROCESSES_MAX; i++) {
        if (processes[i].pid == pid)
            return &processes[i];
        if (!free_one && processes[i].pid == 0)
            free_one = &processes[i];
    }
    if (!free_one)
        fail("too many processes");
    memset(free_one, 0, sizeof(*free_one));
    free_one->pid = pid;
    return free_one;
}

static void go_on(const struct process *process, int signal_number)
{
    ptrace(PTRACE_SYSCALL, process->pid, 0, signal_number);
}

static void name_child(struct process *parent)
{
    unsigned long message = 0;
    struct process *child;

    ptrace(PTRACE_GETEVENTMSG, parent->pid, 0, &message);
    child = find((pid_t)message);
    snprintf(child->place, sizeof(child->place), "%.50s.%u", parent->place, parent->children++);
    child->is_named = true;
    child->is_foreign = parent->is_foreign;
    if (child->is_stopped)
        go_on(child, 0);
}

/* Another call in its place, which no filter minds: its result is overwritten when it ends. */
static void replace_call(const struct process *process)
{
    struct user_regs_struct regs;

    if (ptrace(PTRACE_GETREGS, process->pid, 0, &regs) == -1)
        fail("registers");
    regs.orig_rax = SYS_getppid;
    if (ptrace(PTRACE_SETREGS, process->pid, 0, &regs) == -1)
        fail("registers");
}

static void set_result(const struct process *process)
{
    struct user_regs_struct regs;

    if (ptrace(PTRACE_GETREGS, process->pid, 0, &regs) == -1)
        fail("registers");
    regs.rax = (unsigned long long)-(long long)fault_errno;
    if (ptrace(PTRACE_SETREGS, process->pid, 0, &regs) == -1)
        fail("registers");
}

/* The call's text argument, or its first two arguments as numbers. */
static void describe(const struct process *process, const struct __ptrace_syscall_info *info,
                     int text_arg, char *detail, size_t size)
{
    char text[48] = "";
    struct iovec own = {text, sizeof(text) - 1}, other = {NULL, sizeof(text) - 1};
    ssize_t count;

    snprintf(detail, size, "%llx,%llx", (unsigned long long)info->entry.args[0],
             (unsigned long long)info->entry.args[1]);
    if (text_arg < 0)
        return;
    other.iov_base = (void *)(uintptr_t)info->entry.args[text_arg];
    count = process_vm_readv(process->pid, &own, 1, &other, 1, 0);
    if (count <= 0)
        return;
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '.';
    snprintf(detail, size, "%s", text);
}

static void count_call(struct process *process, const struct __ptrace_syscall_info *info)
{
    char point[128], detail[64];

    for (size_t i = 0; i < CALLS; i++) {
        if (calls[i].number != (long)info->entry.nr)
            continue;
        snprintf(point, sizeof(point), "%s/%s/%u", process->place, calls[i].name,
                 ++process->counts[i]);
        if (log_file) {
            describe(process, info, calls[i].text_arg, detail, sizeof(detail));
            fprintf(log_file, "%s %s\n", point, detail);
        }
        if (fault && strcmp(point, fault) == 0) {
            replace_call(process);
            process->is_injected = was_reached = true;
        }
    }
}

static void at_call(struct process *process)
{
    struct __ptrace_syscall_info info;

    if (ptrace(PTRACE_GET_SYSCALL_INFO, process->pid, sizeof(info), &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_EXIT && process->is_injected) {
        set_result(process);
        process->is_injected = false;
    }
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY && has_begun && !is_over && !process->is_foreign)
        count_call(process, &info);
}

static void at_exec(struct process *process)
{
    char path[64], name[64] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)process->pid);
    file = fopen(path, "re");
    if (file && fgets(name, sizeof(name), file)) {
        name[strcspn(name, "\n")] = '\0';
        is_over = is_over || strcmp(name, comm) == 0;
        if (!has_begun)
            snprintf(first_comm, sizeof(first_comm), "%s", name);
        process->is_foreign = strcmp(name, first_comm) != 0;
        if (was_reached && process->is_foreign && !is_over)
            exit(NEW_PLAN);
    }
    if (file)
        fclose(file);
    has_begun = true;
}

static void at_stop(pid_t pid, int status)
{
    struct process *process = find(pid);
    int number = WSTOPSIG(status), event = status >> 16;

    if (number == (SIGTRAP | 0x80)) {
        at_call(process);
        number = 0;
    } else if (event == PTRACE_EVENT_EXEC) {
        at_exec(process);
        number = 0;
    } else if (event) {
        name_child(process);
        number = 0;
    } else if (number == SIGSTOP && !process->is_stopped) {
        /* How a new process begins. */
        process->is_stopped = true;
        number = 0;
        if (!process->is_named)
            return;
    }
    go_on(process, number);
}

static int trace(pid_t first)
{
    int status, result = NOT_REACHED;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            at_stop(pid, status);
            continue;
        }
        if (pid == first)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        find(pid)->pid = 0;
    }
    return result;
}

static void at_alarm(int number)
{
    static const char text[] = "inject: took too long\n";

    (void)number;
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _exit(NOT_REACHED);
    _exit(98);
}

static pid_t start(char **argv)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    struct process *process;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(argv[0], argv);
        _exit(NOT_REACHED);
    }
    if (pid == -1 || waitpid(pid, &status, __WALL) != pid ||
        ptrace(PTRACE_SETOPTIONS, pid, 0, options) == -1)
        fail("trace");
    process = find(pid);
    snprintf(process->place, sizeof(process->place), "0");
    process->is_named = process->is_stopped = true;
    go_on(process, 0);
    return pid;
}

int main(int argc, char **argv)
{
    int option, result;

    while ((option = getopt(argc, argv, "+l:f:e:c:")) != -1) {
        if (option == 'l')
            log_file = fopen(optarg, "we");
        else if (option == 'f')
            fault = optarg;
        else if (option == 'e')
            fault_errno = atoi(optarg);
        else if (option == 'c')
            comm = optarg;
        else
            return NOT_REACHED;
    }
    if (optind >= argc || !comm)
        return NOT_REACHED;
    signal(SIGALRM, at_alarm);
    alarm(SECONDS_MAX);
    result = trace(start(argv + optind));
    if (log_file)
        fclose(log_file);
    return fault && !was_reached ? NOT_REACHED : result;
}
