/* SPDX-License-Identifier: Apache-2.0 */
/* The git configuration that a command gets where it has a home of its own. */
#ifndef API_GIT_IDENTITY_H
#define API_GIT_IDENTITY_H

#include "api/api.h"

/*
 * Where ~/.gitconfig is the sandbox's own: what the user's has of the keys that
 * run nothing (config/gitconfig.h). bawn-git reads it while its caller goes on.
 */
struct git_identity {
    pid_t pid;  /* 0: nobody was asked */
    int out_fd; /* owned */
    char *text; /* owned; NULL: there is nothing to say */
    char *why;  /* owned; files that cannot be read are no error: the reason; or NULL */
};

/* Begins; git_identity_free in any case. */
int git_identity_new(const struct bawn_policy *policy, struct view *view,
                     struct git_identity **ret_identity, struct bawn_error *err);
/* Waits for the answer, once. */
int git_identity_hear(struct git_identity *identity, struct view *view, struct bawn_error *err);
void git_identity_free(struct git_identity *identity);

#endif
