/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories that were found inside a moment ago, and where: known again by what they are, which
 * is one cheap question, instead of by their path, which is several.
 *
 * SECURITY: each is held open, so that nobody else gets its numbers while it is known. The command
 * moves a directory only to where the rules say the same of all that may be below it
 * (guard_is_same_below). Whoever else moves one is believed late: after DIRS_KNOWN_MS at most.
 */
#ifndef SUPERVISE_DIRS_H
#define SUPERVISE_DIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIRS_SETS = 128, DIRS_WAYS = 2, DIRS_KNOWN_MS = 1000 };

/* What a directory is: the same numbers are the same one, by the same mount. */
struct dir_key {
    uint64_t mount, inode;
    uint32_t major, minor;
};

struct dir {
    struct dir_key key;
    int fd;     /* O_PATH, owned */
    char *path; /* inside; owned. NULL: nobody */
    int64_t until_ms;
};

struct dirs {
    int most; /* descriptors from this number on are left for calls */
    struct dir known[DIRS_SETS][DIRS_WAYS];
    uint64_t mount; /* that the last one is on; 0: there was none */
};

void dirs_init(struct dirs *dirs);
void dirs_done(struct dirs *dirs);

/* The path of an open directory, if it is known; else NULL. Borrowed until the next is added.
 * *ret_key is filled for dirs_add. */
const char *dirs_find(struct dirs *dirs, int fd, struct dir_key *ret_key);

/* Whether a file was surely opened by a mount of the sandbox's: the one that the last directory is
 * on. */
bool dirs_are_on(const struct dirs *dirs, int fd);

/* From now on it is known that it has this path inside. What cannot be kept is not known. */
void dirs_add(struct dirs *dirs, const struct dir_key *key, int fd, const char *path);

#endif
