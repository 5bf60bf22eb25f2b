/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the launcher's command line share. */
#ifndef PROGRAM_BAWN_OWN_H
#define PROGRAM_BAWN_OWN_H

#include "base/strbuf.h"
#include "launch/launch.h"
#include "program_bawn/plans.h"
#include "verbs_session/front.h"
#include "wire/image.h"

/* Everything that reads policy text is another program; returns when it cannot be started. */
int cold_exec(const struct front *front, struct bawn_error *err);

/* A compiled plan that was made for this very command line. */
struct kept {
    const struct image *image;       /* NULL: none */
    struct launch_skeleton skeleton; /* of its root; the path is "" where there is none */
    const struct front *front;
    const char *bytes; /* the file, mapped */
    int fd;
};
void cache_find(const struct front *front, struct kept *ret_kept);
/* Whether the host is as it was when the plan was made. context: struct kept */
bool cache_holds(void *context);
/* Where the plan of this command line is kept. To be asked before anything is tried with it, for
 * that may take rights from us which the next start has. */
struct place_kept {
    struct plans plans;
    struct strbuf key;
    char name[64]; /* "": nowhere */
};
void cache_locate(const struct front *front, struct place_kept *ret_place);
void cache_place_done(struct place_kept *place);
#define autoplace __attribute__((cleanup(cache_place_done)))
/* Keeps it for the next time. Failing to is no error. */
void cache_store(struct place_kept *place, const struct image *image);
void cache_forget(const struct front *front);

/* Maps and checks an image in a sealed memory file. */
int plan_map(int fd, const struct image **ret_image, struct bawn_error *err);

/* Tells of an error whoever started us: as text, or by the library's connection. Returns
 * STATUS_FAILED. */
int front_fail(const struct front *front, const struct bawn_error *err);

/* The verbs that start sessions. Each returns the status to end with, or a negative errno. */
int front_run(struct front *front, struct bawn_error *err);
int front_shell(struct front *front, struct bawn_error *err);

#endif
