/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on behalf of the command are made with the rights of the command. An
 * ordinary user's supervisor has no others; root's becomes the command's uid
 * for the time of the call, with no capability over files.
 */
#ifndef SUPERVISE_IDENTITY_H
#define SUPERVISE_IDENTITY_H

#include <bawn/error.h>
#include <stdbool.h>
#include <sys/types.h>

struct identity {
    bool is_root; /* the supervisor is */
    uid_t uid;    /* of the command, on the host */
    gid_t gid;
    mode_t umask; /* the supervisor's own; nothing else in the program changes it */
};

int identity_init(struct identity *identity, uid_t uid, gid_t gid, struct bawn_error *err);
/* 0 or a negative errno. identity_leave also after a failure. */
int identity_enter(const struct identity *identity);
void identity_leave(const struct identity *identity);

#endif
