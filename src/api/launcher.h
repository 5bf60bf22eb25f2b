/* SPDX-License-Identifier: Apache-2.0 */
/* Where bawn's other programs are. */
#ifndef API_LAUNCHER_H
#define API_LAUNCHER_H

#include "base/limits.h"

#include <bawn/error.h>

int launcher_find(char out[LIMIT_PATH_BYTES], struct bawn_error *err);

/* The program that reads git configuration. */
int launcher_find_git(char out[LIMIT_PATH_BYTES], struct bawn_error *err);

#endif
