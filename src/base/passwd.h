/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who users are by /etc/passwd, whatever variables say.
 * SECURITY: the program that seals the place of compiled plans and the one that
 * looks for them there ask this same question. Other sources of users may answer
 * one of them and not the other.
 */
#ifndef BASE_PASSWD_H
#define BASE_PASSWD_H

#include "base/limits.h"

#include <stdbool.h>
#include <sys/types.h>

/* The home of a user; false: it names none, or no absolute path. */
bool passwd_home(uid_t uid, char ret_home[LIMIT_PATH_BYTES]);

enum { PASSWD_NAME_BYTES = 256 };

/* The name of a user; false: it has none, or a longer one. */
bool passwd_name(uid_t uid, char ret_name[PASSWD_NAME_BYTES]);

#endif
