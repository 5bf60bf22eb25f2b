/* SPDX-License-Identifier: Apache-2.0 */
/* One line on a terminal when a verb takes longer than a second: what it does meanwhile. */
#ifndef PROGRAM_POLICY_PROGRESS_H
#define PROGRAM_POLICY_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

struct progress {
    pthread_t thread;
    const char *verb, *busy;
    int end_fd; /* closed at the end; -EBADF: not started */
    int wait_fd;
};

/* busy: "tries what this host can do". Nothing is said if it cannot be started. */
void progress_start(struct progress *progress, const char *verb, const char *busy);
void progress_end(struct progress *progress);

#endif
