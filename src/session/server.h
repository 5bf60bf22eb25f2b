/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who makes the calls that the sandbox may not make itself: a process of its
 * own, started when the first of them is asked for.
 *
 * How it works: such a call takes memory and time, and may wait as long as
 * somebody inside likes (for the lock of a file) or for good (a file system that
 * hangs). So it is made in the sandbox's control groups, and by a process that
 * nobody else waits for: the launcher goes on looking at clocks, signals and
 * clients.
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
};

/* Where to add what comes in as a stream. */
struct streams *server_streams(struct server *server);

/* channel: where it tells what was refused, and why it fails. */
int server_start(struct server *server, const struct cgroup *group, int channel,
                 const struct supervisor_options *options, struct bawn_error *err);

#endif
