/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor under a start: the namespaces and mounts of a plan, made by a program that does nothing
 * else. No filter, no rules, nothing hidden, no limits, nobody who watches.
 *
 *     bench_floor [g:DIR]... [r:PATH | w:PATH | t:PATH | l:TARGET:PATH | p:PATH | d:PATH]...
 *         -- COMMAND...
 *
 * g is a control group that is made for the command and removed after it; r and w bind the host's
 * path there, read-only or not; t is an own tmpfs, l a link, p an own procfs, d a few devices. The
 * command is a child of pid 1, in a network with a loopback.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
    (void)fprintf(stderr, "bench_floor: %s: %s\n", what, strerror(errno));
    _exit(125);
}

static void write_text(const char *path, const char *text)
{
    int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        fail(path);
    (void)close(fd);
}

/* All directories on the way to it, below the working directory. */
static void make_parents(char *path)
{
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
}

static void make_place(char *path, const char *like)
{
    struct stat status;

    make_parents(path);
    if (stat(like, &status) == 0 && !S_ISDIR(status.st_mode))
        (void)close(openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    else
        (void)mkdir(path, 0755);
}

static void make_bind(char *path, bool is_read_only)
{
    make_place(path + 1, path);
    if (mount(path, path + 1, NULL, MS_BIND | MS_REC, NULL) < 0 ||
        (is_read_only && mount(NULL, path + 1, NULL,
                               MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0))
        fail(path);
}

static void make_devices(char *path)
{
    static const char *const names[] = {"null", "zero", "full", "random", "urandom", "tty"};
    char from[64], to[64];

    make_place(path + 1, "/");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(from, sizeof(from), "/dev/%s", names[i]);
        (void)snprintf(to, sizeof(to), "%.48s/%s", path + 1, names[i]);
        (void)close(openat(AT_FDCWD, to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        if (mount(from, to, NULL, MS_BIND, NULL) < 0)
            fail(from);
    }
}

static void make_step(char *word)
{
    char *path = word + 2;
    char *colon;

    switch (word[0]) {
    case 'r':
    case 'w':
        make_bind(path, word[0] == 'r');
        return;
    case 't':
    case 'p':
        make_place(path + 1, "/");
        if (mount("none", path + 1, word[0] == 't' ? "tmpfs" : "proc", MS_NOSUID | MS_NODEV, NULL) <
            0)
            fail(path);
        return;
    case 'd':
        make_devices(path);
        return;
    default:
        colon = strchr(path, ':');
        if (!colon)
            fail(word);
        *colon = '\0';
        make_parents(colon + 2);
        (void)symlink(path, colon + 2);
    }
}

static void raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        fail("lo");
    (void)close(fd);
}

static _Noreturn void run_init(char **steps, char **command)
{
    char cwd[4096];
    pid_t pid;
    int status;

    if (!getcwd(cwd, sizeof(cwd)) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL) < 0 || chdir("/tmp") < 0)
        fail("a new root");
    for (; steps + 1 < command; steps++)
        make_step(*steps);
    if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0)
        fail("pivot_root");
    raise_loopback();
    (void)chdir(cwd);
    pid = vfork();
    if (pid == 0) {
        (void)execv(command[0], command);
        _exit(127);
    }
    _exit(pid > 0 && waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 125);
}

/* Beside pid 1, which makes the mounts meanwhile. */
static void make_group(const char *dir, pid_t pid)
{
    char path[4096], text[32];
    struct stat status;

    if (mkdir(dir, 0755) < 0)
        fail(dir);
    (void)snprintf(path, sizeof(path), "%s/tasks", dir);
    if (stat(path, &status) < 0) /* v2 */
        (void)snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    (void)snprintf(text, sizeof(text), "%d", (int)pid);
    write_text(path, text);
}

int main(int argc, char **argv)
{
    char uid_map[64], gid_map[64];
    char **groups = argv + 1;
    int count = 0;
    int status = 0;
    int split = 1;
    pid_t pid;

    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (split + 1 >= argc) {
        (void)fprintf(stderr, "usage: bench_floor [STEP]... -- COMMAND...\n");
        return 2;
    }
    while (groups[count][0] == 'g')
        count++;
    (void)snprintf(uid_map, sizeof(uid_map), "%u %u 1\n", (unsigned)getuid(), (unsigned)getuid());
    (void)snprintf(gid_map, sizeof(gid_map), "%u %u 1\n", (unsigned)getgid(), (unsigned)getgid());
    pid = (pid_t)syscall(SYS_clone,
                         CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                             CLONE_NEWUTS | CLONE_NEWCGROUP | SIGCHLD,
                         0, 0, 0, 0);
    if (pid == 0) {
        write_text("/proc/self/setgroups", "deny");
        write_text("/proc/self/uid_map", uid_map);
        write_text("/proc/self/gid_map", gid_map);
        run_init(groups + count, argv + split + 1);
    }
    if (pid < 0)
        fail("clone");
    for (int i = 0; i < count; i++)
        make_group(groups[i] + 2, pid);
    if (waitpid(pid, &status, 0) != pid)
        return 125;
    for (int i = 0; i < count; i++)
        if (rmdir(groups[i] + 2) < 0)
            fail(groups[i] + 2);
    return WEXITSTATUS(status);
}
