/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command used, folded into few paths to grant. Pure.
 *
 * How it works: each path that was used is one entry, with how often, by whom and what was
 * seen first. Where LEARNED_FOLD entries lie directly in one directory, they become that directory,
 * the deepest first, as long as may_fold agrees: up to three a person reads one by one, from the
 * fourth on it is the directory that the program works with. What lies below a directory that is
 * granted goes with it. Where more than LEARNED_LINES are left, entries anywhere below a directory
 * count, too. What is too much even then is left out, the least used first, and counted.
 */
#ifndef POLICY_LEARNED_H
#define POLICY_LEARNED_H

#include "base/limits.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LEARNED_FOLD = 4,
    LEARNED_LINES = 24,
    LEARNED_MOST = 48,
    LEARNED_PATHS = 4096, /* that are taken in; more are counted */
    LEARNED_PROGRAM_BYTES = 64,
};

struct learned_path {
    char *path;  /* absolute, normalized; owned */
    char *first; /* what was seen first of it; owned */
    char program[LEARNED_PROGRAM_BYTES];
    bool writes;
    bool is_dir;   /* all below it is meant */
    uint64_t uses; /* how often */
    size_t paths;  /* how many different ones */
};

struct learned_paths {
    VEC(struct learned_path) all;
    uint64_t left_out; /* uses that found no room */
};

void learned_done(struct learned_paths *learned);

/* One use of a path, or several. -ENOMEM, or 0: also where there is no room for another. */
int learned_add(struct learned_paths *learned, const char *path, bool writes, bool is_dir,
                const char *program, uint64_t uses);

typedef bool (*learned_may_fold)(void *context, const char *dir);

/* Folds; the entries are in the order of their paths then. */
int learned_fold(struct learned_paths *learned, learned_may_fold may_fold, void *context);

#endif
