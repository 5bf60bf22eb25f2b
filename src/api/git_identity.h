/* SPDX-License-Identifier: Apache-2.0 */
/* The git configuration that a command gets where it has a home of its own. */
#ifndef API_GIT_IDENTITY_H
#define API_GIT_IDENTITY_H

#include "api/api.h"

/*
 * Where ~/.gitconfig is the sandbox's own: what the user's has of the keys that
 * run nothing (config/gitconfig.h). *ret_text is NULL where there is nothing to say. Files that
 * cannot be read are no error: *ret_why is the reason then.
 */
int git_identity_read(const struct bawn_policy *policy, struct view *view, char **ret_text,
                      char **ret_why, struct bawn_error *err);

#endif
