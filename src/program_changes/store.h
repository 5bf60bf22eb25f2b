/* SPDX-License-Identifier: Apache-2.0 */
/* The layers that sessions have left: see base/layers.h. */
#ifndef PROGRAM_CHANGES_STORE_H
#define PROGRAM_CHANGES_STORE_H

#include "base/layers.h"
#include "base/limits.h"
#include "base/vec.h"
#include "overlay/changes.h"

#include <stdint.h>

struct store_place {
    int fd; /* O_PATH */
    char path[LIMIT_PATH_BYTES];
};

/* -ENOENT without a message: no session ever had overlays. */
int store_place_open(struct store_place *place, struct bawn_error *err);
void store_place_close(struct store_place *place);
#define autostoreplace __attribute__((cleanup(store_place_close)))

struct store_names {
    VEC(char *) list; /* sorted */
};
int store_list(const struct store_place *place, struct store_names *names, struct bawn_error *err);
void store_names_done(struct store_names *names);
#define autostorenames __attribute__((cleanup(store_names_done)))

struct store_tree {
    unsigned number;
    char *path;
    int dir_fd;   /* of the number, O_PATH */
    int lower_fd; /* a negative errno: it cannot be opened (any more) */
    int upper_fd;
};

struct store {
    char name[LAYERS_NAME_BYTES];
    int dir_fd;        /* readable, for its names are listed */
    int lock_fd;       /* -EBADF: another bawn uses it */
    char *workspace;   /* or NULL */
    uint64_t began_ns; /* of a run that nobody has looked at yet; 0: there is none */
    struct store_tree trees[LAYERS_TREES_MAX];
    size_t count;
};

/* Opens one by its name. lock_fd: taken over if it is not negative. Who only reads goes on without
 * the lock; who does not gets -EBUSY. */
int store_open(const struct store_place *place, const char *name, int lock_fd, bool only_reads,
               struct store *ret_store, struct bawn_error *err);
/* The same without what is in it, with the lock: to be removed. */
int store_open_bare(const struct store_place *place, const char *name, struct store *ret_store,
                    struct bawn_error *err);
void store_close(struct store *store);
#define autostore __attribute__((cleanup(store_close)))

/* Whether there is one of that name. */
bool store_has(const struct store_place *place, const char *name);

struct overlay_tree store_tree(const struct store_tree *tree);

/* It was looked at. */
int store_settled(struct store *store, struct bawn_error *err);

/* Removes a session with all that is in it. Needs the lock. */
int store_remove(const struct store_place *place, struct store *store, struct bawn_error *err);

/* The names of those that somebody was killed over while they were removed. */
int store_list_gone(const struct store_place *place, struct store_names *names,
                    struct bawn_error *err);

/* When it was last used. */
int64_t store_used(const struct store *store);

#endif
