/* SPDX-License-Identifier: Apache-2.0 */
/* Whose home is where, whatever variables say. */
#ifndef BASE_HOME_H
#define BASE_HOME_H

#include "base/limits.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The home of a user by /etc/passwd; false: it names none, or no absolute path.
 * SECURITY: the program that seals the place of compiled plans and the one that
 * looks for them there ask this same question. Other sources of users may answer
 * one of them and not the other.
 */
bool home_find(uid_t uid, char ret_home[LIMIT_PATH_BYTES]);

#endif
