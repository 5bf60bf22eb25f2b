/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the launcher's command line share. */
#ifndef PROGRAM_BAWN_OWN_H
#define PROGRAM_BAWN_OWN_H

#include "base/strbuf.h"
#include "launch/launch.h"
#include "program_bawn/plans.h"
#include "session/session.h"
#include "verbs_session/front.h"
#include "wire/image.h"

/* What is about the changes of overlays is bawn-changes: returns when it cannot be started. */
int front_changes(struct front *front, struct bawn_error *err);
/* bawn rm */
int front_rm(struct front *front, struct bawn_error *err);
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
/* Whether the host is as it was when the plan was made: 0, or -ESTALE. context: struct kept */
int cache_holds(void *context, struct bawn_error *err);
/* Where the plan of this command line is kept. To be asked before anything is tried with it, for
 * that may take rights from us which the next start has. */
struct place_kept {
    struct plans plans;
    struct strbuf key;
    char name[64]; /* "": nowhere */
    int fd;        /* of the plan, while it has not got its name */
};
void cache_locate(const struct front *front, struct place_kept *ret_place);
void cache_place_done(struct place_kept *place);
#define autoplace __attribute__((cleanup(cache_place_done)))
/* Writes one that is being proven, under a name that nobody reads. Failing to is no error, here and
 * later. */
void cache_write(struct place_kept *place, const struct image *image);
/* Keeps it for the next time when it is proven; else it goes. It takes the place of what was kept
 * there; then its skeleton is made, and those are removed that no plan uses any more. */
void cache_store(const struct place_kept *place, bool is_proven);
void cache_tidy(const struct place_kept *place, const struct image *image);

/*
 * A plan that was made just now. A process of its own lets a probe try to break out of a sandbox of
 * it, and keeps it then. Meanwhile the sandbox for the command is made, but no command comes in
 * before the proof is there.
 */
struct proof {
    struct session_request *request;
    int sock; /* to that process */
    pid_t pid;
};
int proof_start(struct proof *proof, const struct place_kept *place,
                struct session_request *request, struct bawn_error *err);
/* Waits for the proof: 0, or a negative errno that says how it failed. context: struct proof */
int proof_holds(void *context, struct bawn_error *err);
/* Waits until the plan is kept, so that the next start finds it. */
void proof_finish(struct proof *proof);

/* Maps and checks an image in a sealed memory file. */
int plan_map(int fd, const struct image **ret_image, struct bawn_error *err);

/* Tells of an error whoever started us: as text, or by the library's connection. Returns
 * STATUS_FAILED. */
int front_fail(const struct front *front, const struct bawn_error *err);

/* The verbs that start sessions. Each returns the status to end with, or a negative errno. */
int front_run(struct front *front, struct bawn_error *err);
int front_shell(struct front *front, struct bawn_error *err);

#endif
