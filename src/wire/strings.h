/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments and variables of a command as one block of bytes: each string with its NUL, one
 * behind the other. Allocates nothing: pid 1 of a sandbox uses it too. */
#ifndef WIRE_STRINGS_H
#define WIRE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRINGS_MAX = 16384 /* of one command */ };

/* The bytes that the strings take, and how many they are. The list ends with NULL. */
size_t strings_measure(char *const *strings, uint32_t *ret_count);

/* Writes them to at, where there is room; returns where the next one goes. */
char *strings_add(char *at, char *const *strings);

/* Whether the numbers are those of a command: at least one argument, not too many of both. */
bool strings_are_few(size_t args, size_t envs);

/* Finds args and then envs strings in the block, each list with a NULL behind it: room is for
 * args + envs + 2. False when the block has fewer or more, or does not end with a NUL. */
bool strings_split(char *bytes, size_t size, size_t args, size_t envs, char **room);

#endif
