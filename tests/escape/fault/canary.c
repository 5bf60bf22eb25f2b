/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is run where set-up was disturbed: canary OUTSIDE PID. Makes the file
 * "sub/ran", then says "contained", or what it could do. OUTSIDE is a file of the
 * host's and PID a process there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int found;

static void check(int is_contained, const char *what)
{
    if (is_contained)
        return;
    printf("not contained: %s\n", what);
    found = 1;
}

static void check_task(const char *path)
{
    FILE *status = fopen(path, "re");
    char line[256];
    int lines = 0;

    while (status && fgets(line, sizeof(line), status)) {
        if (strncmp(line, "Cap", 3) == 0)
            check(strspn(line + 8, "0") == 16, "capabilities");
        else if (strncmp(line, "NoNewPrivs:", 11) == 0)
            check(line[12] == '1', "no_new_privs");
        else if (strncmp(line, "Seccomp:", 8) == 0)
            check(line[9] == '2', "filter");
        else
            continue;
        lines++;
    }
    check(lines == 7, path);
    if (status)
        fclose(status);
}

static void check_files(const char *outside)
{
    check(open(outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) == -1, "a file outside");
    check(open("/etc/bawn-canary", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) == -1, "/etc");
    check(open("/proc/sys/kernel/hostname", O_WRONLY | O_CLOEXEC) == -1, "/proc/sys");
    check(access("/sys/kernel/security/lsm", F_OK) == -1, "/sys");
    for (int fd = 3; fd < 4096; fd++)
        check(fcntl(fd, F_GETFD) == -1, "a descriptor");
}

static void check_kernel(pid_t outside)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct rlimit core;

    /* TEST-NET-1: routed nowhere, and connecting a datagram socket sends nothing. */
    inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
    check(connect(fd, (struct sockaddr *)&address, sizeof(address)) == -1, "a route out");
    check(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0) == -1, "a vsock");
    check(kill(outside, 0) == -1 && errno == ESRCH, "a process outside");
    check(getpgrp() > 0 && getsid(0) > 0, "the launcher's group");
    check(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max <= 1, "core dumps");
    check(open("/proc/1/environ", O_RDONLY | O_CLOEXEC) == -1, "pid 1's environment");
    check(unshare(CLONE_NEWUSER) == -1, "a user namespace");
}

int main(int argc, char **argv)
{
    int fd = open("sub/ran", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (argc != 3 || fd == -1)
        return 1;
    close(fd);
    check_task("/proc/self/status");
    check_task("/proc/1/status");
    check_files(argv[1]);
    check_kernel((pid_t)atol(argv[2]));
    if (!found)
        puts("contained");
    return 0;
}
