/* SPDX-License-Identifier: Apache-2.0 */
/* The policy files that rules are saved in: found, locked, read and replaced. */
#ifndef API_STORE_H
#define API_STORE_H

#include "api/api.h"

#include <sys/stat.h>

struct store {
    enum bawn_scope scope;
    char path[LIMIT_PATH_BYTES];   /* as loading names the file */
    char base[LIMIT_PATH_BYTES];   /* where relative paths in it start */
    char folder[LIMIT_PATH_BYTES]; /* the directory that it is in, without links */
    const char *name;              /* in that */
    int fd;                        /* the directory; locked, where it may be written */
    bool exists;
    struct stat status;
    char *text; /* of the file; "" where there is none */
    size_t length;
};

/* With writes the directory is made where it is missing, and locked. */
int store_open(struct store *store, const struct bawn_load *load, enum bawn_scope scope,
               bool writes, struct bawn_error *err);
void store_done(struct store *store);

/* The new text in place of the old file, whole, or the old file stays. */
int store_write(struct store *store, const char *text, size_t length, struct bawn_error *err);

#endif
