/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleans up after a launcher that was killed.
 *
 * How it works: a process of its own, born before there is anything to clean
 * up, waits for the other end of a pipe to close. What there is to do stands in
 * a page that both share, so that telling it costs no call, and is right at
 * every instant: a group's path is there before its directory is made.
 */
#ifndef SESSION_KEEPER_H
#define SESSION_KEEPER_H

#include "kernel/cgroup.h"
#include "session/aide.h"
#include "session/registry.h"

struct keeper_page {
    struct cgroup group;
    char registry[REGISTRY_PATH_BYTES]; /* "": not registered */
    char unfinished[64];                /* the name it is made under */
    char sid[SID_BYTES];
    volatile bool is_done;
};

struct keeper {
    struct keeper_page *page; /* NULL: there is none */
    int pipe_fd;
    struct aide aide;
};

int keeper_start(struct keeper *keeper, struct bawn_error *err);
/* All is cleaned up: it ends, and leaves no zombie behind. */
void keeper_end(struct keeper *keeper);

#endif
