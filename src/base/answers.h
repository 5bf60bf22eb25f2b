/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that hold while a session lasts: each for one thing, or for all that lies in a directory.
 * The last answer about a path counts. How long one is looked for does not depend on how many there
 * are.
 */
#ifndef BASE_ANSWERS_H
#define BASE_ANSWERS_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANSWERS_MOST = 8192 };

struct answer {
    struct answer *older;
    uint64_t order;
    bool is_allowed;
    bool is_tree; /* for the directory that the path is in */
    uint32_t by;  /* whose it is: the keeper's to say */
    char key[];   /* "OP PATH"; of a tree the directory, with its slash */
};

struct answers {
    struct map map; /* by key; trees apart */
    struct answer *newest;
    uint64_t last;
    size_t count;
};

void answers_done(struct answers *answers);

/* The answer about what the word says is done to the path, or NULL. */
const struct answer *answers_find(const struct answers *answers, const char *op, const char *path);

/* False: there are too many, or no memory; then it holds once. */
bool answers_keep(struct answers *answers, const char *op, const char *path,
                  const struct answer *answer);

#endif
