/* SPDX-License-Identifier: Apache-2.0 */
/* Whose ids the caller may use. */
#ifndef API_IDS_H
#define API_IDS_H

#include "api/view.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether our user namespace has all the ids there are: 0 is the host's root. */
bool ids_are_all(void);

/* The first range of at least two ids that a file like /etc/subuid gives the user. */
bool ids_range(struct view *view, const char *file, unsigned uid, uint32_t *ret_first,
               uint32_t *ret_count);

/* How many ids our user namespace has from 0 on. */
uint32_t ids_from_root(const char *map);

#endif
