/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/process.h"

#include "base/cleanup.h"
#include "kernel/sys.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { START_FIELD = 22 };

uint64_t process_start(pid_t pid)
{
    char path[32] = "/proc/self/stat";
    char text[1024];
    autoclose int fd = -EBADF;
    const char *cursor;
    ssize_t length;

    if (pid != 0)
        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    /* The second field is the program's name, and has whatever it likes in it. */
    cursor = strrchr(text, ')');
    for (unsigned field = 2; cursor && field < START_FIELD; field++)
        cursor = strchr(cursor + 1, ' ');
    return cursor ? strtoull(cursor, NULL, 10) : 0;
}

unsigned process_depth(pid_t pid)
{
    char path[32] = "/proc/self/status";
    char text[4096];
    autoclose int fd = -EBADF;
    const char *cursor;
    unsigned depth = 0;
    ssize_t length;

    if (pid != 0)
        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    cursor = strstr(text, "\nNSpid:");
    for (cursor = cursor ? cursor + strlen("\nNSpid:") : NULL; cursor && *cursor == '\t'; depth++)
        cursor += 1 + strcspn(cursor + 1, "\t\n");
    return depth;
}

bool process_withdraw(const int *fds, unsigned count, const char *name)
{
    sigset_t all;

    sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    for (unsigned i = 0; i < count; i++)
        if (dup2(fds[i], (int)i) < 0)
            return false;
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
    return sys_close_range(count, ~0U, 0) == 0 && setsid() >= 0 && chdir("/") == 0;
}
