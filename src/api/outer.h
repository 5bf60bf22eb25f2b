/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox that bawn itself runs in, if it does. What it refuses is refused to every sandbox
 * in it, whatever their policy says.
 *
 * How it works: the kernel is asked, not the outer policy, which nobody hands in. A root of bawn's
 * is read-only and has only what was granted. What is denied there has a mount of mode 000 on it.
 * What is protected is refused by the supervisor to a call that the kernel refuses to everybody,
 * for another reason. Nothing is made or sent, and no file is opened. Who is inside may forge all
 * of it, and lies to itself.
 */
#ifndef API_OUTER_H
#define API_OUTER_H

#include "policy/netrule.h"

#include <bawn/query.h>

/* Whether there is one. */
bool outer_is_there(void);

/* What the outer sandbox does about a resolved path, to be read behind "the outer sandbox"; NULL:
 * it has nothing against it, or there is none. */
const char *outer_refuses_path(enum bawn_operation operation, const char *path);

/* The same of the very sandbox that we are in, about what its rules allow as far as they are told:
 * to be read behind "this sandbox". is_private: nothing of the host is there, and
 * it may be written. */
const char *outer_refuses_here(enum bawn_operation operation, const char *path, bool is_private);

/* The same of a host and a port; here: of the very sandbox that we are in. */
const char *outer_refuses_host(const struct host *host, bool here);

#endif
