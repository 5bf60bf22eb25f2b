/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of 'bawn approve' share. */
#ifndef VERBS_SESSION_APPROVE_OWN_H
#define VERBS_SESSION_APPROVE_OWN_H

#include "verbs_session/own.h"
#include "verbs_session/waiting.h"

enum { APPROVE_LOOK_MS = 500 };

/* A list to choose from and answer, until the user leaves it or the session ends. sid is NULL for
 * all. */
int approve_on_screen(const struct front *front, const char *sid, struct bawn_error *err);

#endif
