/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread, not a timer's signal: that would interrupt what the verb does, and a signal
 * that is on its way when another program takes our place would end it.
 */
#include "program_policy/progress.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 };

static void *wait_and_tell(void *context)
{
    const struct progress *progress = context;
    struct pollfd end = {.fd = progress->wait_fd, .events = POLLIN};
    char line[256];
    int length;

    if (poll(&end, 1, PATIENCE_MS) != 0)
        return NULL;
    length = snprintf(line, sizeof(line), "bawn: %s: %s ...\n", progress->verb, progress->busy);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        return NULL;
    return NULL;
}

void progress_start(struct progress *progress, const char *verb, const char *busy)
{
    sigset_t all, before;
    int ends[2];

    *progress = (struct progress){.verb = verb, .busy = busy, .end_fd = -EBADF};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    progress->wait_fd = ends[0];
    progress->end_fd = ends[1];
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&progress->thread, NULL, wait_and_tell, progress) != 0) {
        (void)close(ends[0]);
        (void)close(take_fd(&progress->end_fd));
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_end(struct progress *progress)
{
    if (progress->end_fd < 0)
        return;
    (void)close(take_fd(&progress->end_fd));
    (void)pthread_join(progress->thread, NULL);
    (void)close(progress->wait_fd);
}
