/* SPDX-License-Identifier: Apache-2.0 */
/* A plan into the image that a launcher carries out. */
#ifndef PLAN_COMPILE_H
#define PLAN_COMPILE_H

#include "plan/plan.h"
#include "wire/image.h"

/* One thing that the plan was made from; see enum image_dep_kind. */
struct compile_dep {
    struct image_dep dep;
    const char *path, *text;
};

struct compile_deps {
    VEC(struct compile_dep) items; /* strings are borrowed */
    bool is_once;                  /* no list tells that the plan still holds: see IMAGE_ONCE */
};

struct compile_input {
    const struct plan *plan;
    const struct looker *looker;
    /* Whether root's file is closed to the caller, or to all but root's group. */
    bool (*is_closed)(void *context, const char *path, bool to_all);
    /* Whether only its owner and group may enter a directory. */
    bool (*is_shut)(void *context, const char *path);
    /* Whether only root can change what the name leads to. */
    bool (*is_steady)(void *context, const char *path);
    /* Whether only its owner may use a device. */
    bool (*is_private)(void *context, const char *path);
    /* What all was looked at, when there is nothing left to look at; NULL: nothing. */
    int (*collect)(void *context, struct compile_deps *deps, struct bawn_error *err);
    void *context;
    const char *cwd;          /* where the command starts; below the workspace */
    const char *user;         /* the caller's name, for the sandbox's own passwd */
    const char *release;      /* of the kernel, as image->release has it */
    const char *policy_hash;  /* as image->policy_hash has it; NULL: none */
    unsigned last_capability; /* that the kernel has */
    bool best_effort;         /* what cannot be enforced is noted instead of refused */
    bool is_host_root;        /* uid 0 of the namespace that has all ids */
    bool is_around;           /* bawn itself runs inside a sandbox */
    /* Host ids that are 1 and more where containers run inside; count 0: there are none. */
    uint32_t sub_uid, sub_gid, sub_count;
};

/* The image, one block to be freed with free(). Refuses a plan that cannot be carried out. */
int compile_image(const struct compile_input *input, struct image **ret_image,
                  struct bawn_error *err);

/* The steps, in the order in which they are carried out. */
struct compiler;
int compile_mounts(struct compiler *compiler);

#endif
