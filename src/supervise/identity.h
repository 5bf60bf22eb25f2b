/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on behalf of the command are made with the rights of the command. An
 * ordinary user's supervisor has no others; root's becomes the command's uid,
 * with no capability over files, and stays so until it needs its own rights:
 * there and back again costs as much as making a file.
 */
#ifndef SUPERVISE_IDENTITY_H
#define SUPERVISE_IDENTITY_H

#include <bawn/error.h>
#include <stdbool.h>
#include <sys/types.h>

struct identity {
    bool is_root;    /* the supervisor is */
    bool is_entered; /* its rights are the command's now */
    uid_t uid;       /* of the command, on the host */
    gid_t gid;
    mode_t umask; /* the supervisor's own; nothing else in the program changes it */
};

int identity_init(struct identity *identity, uid_t uid, gid_t gid, struct bawn_error *err);
/* 0 or a negative errno. identity_leave also after a failure. Nothing to be done is no failure. */
int identity_enter(struct identity *identity);
void identity_leave(struct identity *identity);

#endif
