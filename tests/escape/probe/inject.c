/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject NAME=ERRNO... -- PROGRAM ARGS: the program runs where these system
 * calls fail so; with 0 they lie: they answer success and do nothing.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS_MAX = 32 };

static const struct {
    const char *name;
    long nr;
} syscalls[] = {
#include "syscalls.h"
};

static long number_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof syscalls / sizeof *syscalls; i++)
        if (strlen(syscalls[i].name) == length && strncmp(syscalls[i].name, name, length) == 0)
            return syscalls[i].nr;
    return -1;
}

static int errno_of(const char *word)
{
    if (strcmp(word, "0") == 0)
        return 0;
    for (int i = 1; i < 134; i++)
        if (strerrorname_np(i) && strcmp(strerrorname_np(i), word) == 0)
            return i;
    return -1;
}

int main(int argc, char **argv)
{
    struct sock_filter code[2 * CALLS_MAX + 2];
    struct sock_fprog program = {.filter = code};
    unsigned short count = 0;
    int at = 1;

    code[count++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (; at < argc && strcmp(argv[at], "--") != 0 && at <= CALLS_MAX; at++) {
        size_t length = strcspn(argv[at], "=");
        long nr = number_of(argv[at], length);
        int errnum = errno_of(argv[at] + length + (argv[at][length] == '='));

        if (nr < 0 || errnum < 0) {
            fprintf(stderr, "inject: %s?\n", argv[at]);
            return 2;
        }
        code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1);
        code[count++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum);
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = count;
    if (at + 1 >= argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("inject");
        return 2;
    }
    execv(argv[at + 1], argv + at + 1);
    perror(argv[at + 1]);
    return 2;
}
