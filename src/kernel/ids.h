/* SPDX-License-Identifier: Apache-2.0 */
/* Whose ids the caller may use. */
#ifndef KERNEL_IDS_H
#define KERNEL_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether our user namespace has all the ids there are: 0 is the host's root. */
bool ids_are_all(void);

/* How many ids our user namespace has from 0 on, by a file like /proc/self/uid_map. */
uint32_t ids_from_root(const char *map);

/* The next range that the text of a file like /etc/subuid gives a user: "NAME-OR-UID:FIRST:COUNT" a
 * line. The name may be NULL. What is read of the text is cut off; false: nothing is left. */
bool ids_next_range(char **text, uid_t uid, const char *name, uint32_t *ret_first,
                    uint32_t *ret_count);

/* The first of them with at least two ids. */
bool ids_range(char *text, uid_t uid, const char *name, uint32_t *ret_first, uint32_t *ret_count);

#endif
