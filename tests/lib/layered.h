/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of the host's with a layer over it, as a session has them. */
#ifndef TESTS_LIB_LAYERED_H
#define TESTS_LIB_LAYERED_H

#include "overlay/apply.h"
#include "overlay/base.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { LAYERED_NO_OVERLAY = 77, LAYERED_DIR_BYTES = 64 };

struct layered {
    char dir[LAYERED_DIR_BYTES];   /* lower and merged are in it */
    char store[LAYERED_DIR_BYTES]; /* 1/upper and 1/work are in it */
    char lower[LAYERED_DIR_BYTES + 16];
    int store_fd, layer_fd;
    struct apply_tree tree;
    struct changes changes;
    struct timespec since;
};

/* Where file systems are fast and know attributes of users; with what the cases leave it goes when
 * all have ended. */
const char *layered_fast_dir(void);
const char *layered_slow_dir(void); /* on another file system, if there are two */
struct Suite;
int layered_test_run(struct Suite *suite, const char *name);

/* Makes both below these directories. */
void layered_init(struct layered *layered, const char *tree_base, const char *store_base);
void layered_done(struct layered *layered);

/* In a process of its own, which sees the overlay: its exit status. 77: there is no overlay here.
 */
int layered_run(struct layered *layered, void (*act)(void *context), void *context);
/* A script, there, or in one of "lower" and "upper". */
int layered_script(struct layered *layered, const char *where, const char *script);
/* The same; it must go well. */
void layered_must(struct layered *layered, const char *where, const char *script);

/* Looks what changed (with a note of the host's side, as at the end of a run). */
void layered_find(struct layered *layered);
void layered_note(struct layered *layered);

enum layered_depth {
    LAYERED_SHAPE, /* types, modes, bytes, links, attributes of users */
    LAYERED_EXACT, /* and times */
    LAYERED_INODE, /* and which inode it is */
};
/* What is in a directory, as text of the caller's. */
char *layered_picture(const char *path, enum layered_depth depth);

/* Numbers by a seed. */
struct dice {
    uint64_t state;
};
unsigned dice_roll(struct dice *dice, unsigned sides);

/* So many random operations in the working directory. */
void layered_shake(struct dice *dice, unsigned count);

#endif
