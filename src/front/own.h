/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the launcher's command line share. */
#ifndef FRONT_OWN_H
#define FRONT_OWN_H

#include "cli/rows.h"
#include "wire/image.h"

enum { STATUS_FAILED = 125 };

/* A command line that this program answers itself. */
struct front {
    char **argv;            /* all of it, ended by NULL */
    char **environ;
    struct options options; /* of the verb; its words are what is behind them */
    bool json, quiet;
    int plan_fd; /* given by whoever made the plan; else -EBADF */
};

/* Everything that reads policy text is another program; returns when it cannot be started. */
int cold_exec(const struct front *front, struct bawn_error *err);

/* A compiled plan that was made for this very command line, and still holds. NULL: none. The
 * path of the skeleton of its root is written to skeleton. */
const struct image *cache_find(const struct front *front, char *skeleton);
/* Keeps it for the next time. Failing to is no error. */
void cache_store(const struct front *front, const struct image *image);
void cache_forget(const struct front *front);

/* Maps and checks an image in a sealed memory file. */
int plan_map(int fd, const struct image **ret_image, struct bawn_error *err);

/* Prints an error as every verb of bawn does; returns STATUS_FAILED. */
int front_fail(const struct front *front, const struct bawn_error *err);

/* The verbs. Each returns the status to end with, or a negative errno. */
int front_run(struct front *front, bool is_shell, struct bawn_error *err);

#endif
