/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that makes calls for the sandbox. The launcher starts it with the
 * first such call.
 *
 * How it works: a call takes memory and time. It may wait as long as somebody
 * inside likes (for the lock of a file) or for good (a file system that hangs).
 * So this process is in the sandbox's control groups, and the launcher does not
 * wait for it: it goes on looking at clocks, signals and clients.
 */
#ifndef SESSION_SERVER_H
#define SESSION_SERVER_H

#include "kernel/cgroup.h"
#include "session/aide.h"
#include "supervise/supervise.h"

struct server {
    struct aide aide;
    struct streams early;    /* what came in before it was started */
    struct streams *streams; /* shared with it; NULL until it is started */
    int answer_fd;           /* where it hears answers (wire/ask.h), or -EBADF */
};

/* Where to add what comes in as a stream. */
struct streams *server_streams(struct server *server);

/* channel: where it tells what was refused, and why it fails. */
int server_start(struct server *server, const struct cgroup *group, int channel,
                 const struct supervisor_options *options, struct bawn_error *err);

#endif
