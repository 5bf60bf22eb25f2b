/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other ways into the kernel: the 32-bit gate from 64-bit code, a 32-bit
 * program, x32 numbers, and numbers that no kernel has. d_abi gate|exec|x32|unknown|watched.
 */
#include "d_attempt.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* A whole 32-bit program: exit(42) by int 0x80. */
static const unsigned char program[] = {
    0x7f, 'E',  'L',  'F',  1,    1,    1,  0, 0,    0,    0,    0,
    0,    0,    0,    0,                                               /* ELF32, little-endian */
    2,    0,    3,    0,    1,    0,    0,  0, 0x54, 0x80, 0x04, 0x08, /* ET_EXEC, EM_386, entry */
    0x34, 0,    0,    0,    0,    0,    0,  0, 0,    0,    0,    0,    /* phoff, shoff, flags */
    0x34, 0,    0x20, 0,    1,    0,    0,  0, 0,    0,    0,    0,    /* sizes, one segment */
    1,    0,    0,    0,    0,    0,    0,  0, 0,    0x80, 0x04, 0x08, /* PT_LOAD at 0x08048000 */
    0,    0x80, 0x04, 0x08, 0x60, 0,    0,  0, 0x60, 0,    0,    0,    /* 0x60 bytes */
    5,    0,    0,    0,    0,    0x10, 0,  0,                         /* r-x */
    0xb8, 1,    0,    0,    0,    0xbb, 42, 0, 0,    0,    0xcd, 0x80, /* mov, mov, int 0x80 */
};

static void report_end(const char *what, pid_t child)
{
    char word[32];
    int status = 0;

    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        snprintf(word, sizeof(word), "exit-%d", WEXITSTATUS(status));
    else
        snprintf(word, sizeof(word), "SIG%s", sigabbrev_np(WTERMSIG(status)));
    verdict_say(word, what);
}

/* i386 numbers: getpid 20, open 5, mount 21, ptrace 26, clone 120, socketcall 102, keyctl 288. */
static void try_gate(void)
{
    static const int numbers[] = {20, 5, 21, 26, 120, 102, 288};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char what[32];
        pid_t child;

        snprintf(what, sizeof(what), "int80-%d", numbers[i]);
        child = fork();
        if (child == 0) {
            long result;

            __asm__ volatile("int $0x80"
                             : "=a"(result)
                             : "a"(numbers[i]), "b"(0), "c"(0), "d"(0)
                             : "memory");
            _exit(result < 0 ? 1 : 0);
        }
        report_end(what, child);
    }
}

static void try_exec(void)
{
    char *const argv[] = {(char *)"program", NULL};
    int fd = open("d_abi_program", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    pid_t child;

    if (fd == -1 || write(fd, program, sizeof(program)) != (ssize_t)sizeof(program)) {
        say("write", -1);
        exit(1);
    }
    close(fd);
    child = fork();
    if (child == 0) {
        execv("./d_abi_program", argv);
        say("exec32", -1);
        _exit(99);
    }
    report_end("exec32-file", child);
    unlink("d_abi_program");

    child = fork();
    if (child == 0) {
        fd = memfd_create("program", 0);
        if (write(fd, program, sizeof(program)) == (ssize_t)sizeof(program))
            syscall(SYS_execveat, fd, "", argv, NULL, AT_EMPTY_PATH);
        say("exec32", -1);
        _exit(99);
    }
    report_end("exec32-memfd", child);
}

static void try_x32(void)
{
    /* read getpid clone ptrace mount unshare bpf, and x32's own rt_sigaction and execveat. */
    static const long numbers[] = {0, 39, 56, 101, 165, 272, 321, 512, 545};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char what[32];
        struct attempt attempt = {what, numbers[i] | 0x40000000, {0}};

        snprintf(what, sizeof(what), "x32-%ld", numbers[i]);
        attempt_run(&attempt);
    }
}

static void try_unknown(void)
{
    /* 512 to 547 belong to x32; 470 is free in what is known now, later kernels fill it. */
    for (long number = 480; number < 1024; number++) {
        char what[32];

        snprintf(what, sizeof(what), "unknown-%ld", number);
        if (syscall(number, 0, 0, 0, 0, 0, 0) != -1 || errno != ENOSYS) {
            say(errno == EPROTO ? "unknown-480-1023" : what, -1);
            return;
        }
    }
    say("unknown-480-1023", -1);
    attempt_run(&(struct attempt){"negative-2", -2, {0}});
    attempt_run(&(struct attempt){"negative-101", -101, {0}});
}

/* Answers EPROTO to whatever gets as far as a filter of our own, which is asked after the
 * sandbox's. */
static _Noreturn void answer_all(const volatile int *listener)
{
    for (;;) {
        struct seccomp_notif asked = {0};
        struct seccomp_notif_resp answer = {.error = -EPROTO};
        struct pollfd poller = {.fd = *listener, .events = POLLIN};

        if (poller.fd < 0 || poll(&poller, 1, 100) < 1 ||
            ioctl(poller.fd, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) {
            usleep(1000);
            continue;
        }
        answer.id = asked.id;
        ioctl(poller.fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

/* KERNEL: a verdict of ERRNO counts for more than one of USER_NOTIF. So what the sandbox's filter
 * refuses is never asked here, and what only the kernel refuses is. */
static void try_watched(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 480, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    int *listener =
        mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t watcher;

    *listener = -1;
    /* It has our descriptors, and not our filter. */
    watcher = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (watcher == 0)
        answer_all(listener);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    *listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                             &filter);
    if (*listener < 0)
        say("watching", -1);
    else
        try_unknown();
    kill(watcher, SIGKILL);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    if (strcmp(way, "gate") == 0)
        try_gate();
    else if (strcmp(way, "exec") == 0)
        try_exec();
    else if (strcmp(way, "x32") == 0)
        try_x32();
    else if (strcmp(way, "unknown") == 0)
        try_unknown();
    else if (strcmp(way, "watched") == 0)
        try_watched();
    else
        return 2;
    return 0;
}
