/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking into and steering another process.
 *   d_trace child     a child of one's own
 *   d_trace pid1      the first process inside, and what /proc shows of it
 *   d_trace signals   every signal to the parent, which is pid 1, then exit 5
 *   d_trace squeeze   its limits, priority and processors taken away, then exit 5
 */
#include "d_attempt.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

#define NUMBER_PIDFD_OPEN  434
#define NUMBER_PIDFD_GETFD 438

static char secret[64];

static int trace_me(void *context)
{
    (void)context;
    return verdict_of(ptrace(PTRACE_TRACEME, 0, 0, 0));
}

static void peek(const char *prefix, pid_t pid)
{
    struct iovec own = {secret, sizeof(secret)}, other = {secret, sizeof(secret)};
    char what[64];
    int pidfd;

    snprintf(what, sizeof(what), "%s-seize", prefix);
    say(what, ptrace(PTRACE_SEIZE, pid, 0, 0));
    snprintf(what, sizeof(what), "%s-attach", prefix);
    say(what, ptrace(PTRACE_ATTACH, pid, 0, 0));
    snprintf(what, sizeof(what), "%s-readv", prefix);
    say(what, process_vm_readv(pid, &own, 1, &other, 1, 0));
    snprintf(what, sizeof(what), "%s-writev", prefix);
    say(what, process_vm_writev(pid, &own, 1, &other, 1, 0));
    snprintf(what, sizeof(what), "%s-kcmp", prefix);
    say(what, syscall(SYS_kcmp, getpid(), pid, 1, 0, 0));
    pidfd = (int)syscall(NUMBER_PIDFD_OPEN, pid, 0);
    snprintf(what, sizeof(what), "%s-getfd", prefix);
    say(what, syscall(NUMBER_PIDFD_GETFD, pidfd, 0, 0));
    if (pidfd >= 0)
        close(pidfd);
}

static void child(void)
{
    pid_t pid = fork();
    char word[32];

    if (pid == 0) {
        pause();
        _exit(0);
    }
    verdict_apart(trace_me, NULL, word, sizeof(word));
    verdict_say(word, "child-traceme");
    peek("child", pid);
    kill(pid, SIGKILL);
}

/* To open is not to see: a byte of a file, where an entry of a directory leads. */
static long look_into(int fd)
{
    DIR *dir = fdopendir(dup(fd));
    const struct dirent *entry;
    char text[256];
    long result = -1;

    if (!dir)
        return read(fd, text, 1);
    errno = ENOENT;
    while (result < 0 && (entry = readdir(dir))) {
        int inner = -1;

        if (entry->d_name[0] == '.')
            continue;
        result = readlinkat(fd, entry->d_name, text, sizeof(text));
        if (result < 0 && errno == EINVAL)
            result = inner = openat(fd, entry->d_name, O_RDONLY | O_CLOEXEC);
        if (inner >= 0)
            result = read(inner, text, 1);
    }
    closedir(dir);
    return result;
}

static void open_file(const char *name, int flags)
{
    char path[64], what[80];
    long result;
    int fd;

    snprintf(path, sizeof(path), "/proc/1/%s", name);
    result = fd = open(path, flags | O_CLOEXEC);
    if (fd >= 0 && flags == O_RDONLY)
        result = look_into(fd);
    snprintf(what, sizeof(what), "pid1-%s-%s", flags == O_RDONLY ? "read" : "write", name);
    say(what, (int)result);
    if (fd >= 0)
        close(fd);
}

static void pid1(void)
{
    static const char *const read_names[] = {"mem", "environ", "maps",      "fd", "root",
                                             "cwd", "auxv",    "map_files", "ns", "stack",
                                             "exe", "syscall", "pagemap",   "io", "fdinfo"};
    static const char *const write_names[] = {"mem", "oom_score_adj", "clear_refs",
                                              "coredump_filter"};

    peek("pid1", 1);
    for (size_t i = 0; i < sizeof(read_names) / sizeof(read_names[0]); i++)
        open_file(read_names[i], O_RDONLY);
    for (size_t i = 0; i < sizeof(write_names) / sizeof(write_names[0]); i++)
        open_file(write_names[i], O_WRONLY);
}

static void signals(void)
{
    pid_t reaper = getppid();

    for (int number = 1; number <= 64; number++)
        kill(reaper, number);
    usleep(200 * 1000);
    verdict_say(getppid() == reaper ? "alive" : "gone", "pid1");
}

static void squeeze(void)
{
    static const int resources[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_DATA,   RLIMIT_STACK,
                                    RLIMIT_AS,     RLIMIT_NPROC, RLIMIT_MEMLOCK};
    struct rlimit none = {0, 0};
    pid_t reaper = getppid();
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
        prlimit(reaper, (enum __rlimit_resource)resources[i], &none, NULL);
    setpriority(PRIO_PROCESS, (id_t)reaper, 19);
    sched_setaffinity(reaper, sizeof(cpus), &cpus);
    prlimit(reaper, RLIMIT_CPU, &none, NULL);
    say("pid1-squeezed", 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    if (strcmp(way, "child") == 0)
        child();
    else if (strcmp(way, "pid1") == 0)
        pid1();
    else if (strcmp(way, "signals") == 0)
        signals();
    else if (strcmp(way, "squeeze") == 0)
        squeeze();
    else
        return 2;
    return strcmp(way, "signals") == 0 || strcmp(way, "squeeze") == 0 ? 5 : 0;
}
