/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of a session that runs: see base/layers.h. */
#ifndef SESSION_LAYERS_H
#define SESSION_LAYERS_H

#include "base/layers.h"
#include "launch/launch.h"
#include "session/registry.h"

struct layers {
    char name[LAYERS_NAME_BYTES];
    int dir_fd; /* O_PATH */
    int lock_fd;
    bool is_new; /* it was made for this run */
    struct launch_layer items[LAYERS_TREES_MAX];
    unsigned count;
};

/* Whether an image has overlays. */
bool layers_are_needed(const struct image *image);

/* Opens the layers of a session, or makes them, and holds them for one run. */
int layers_open(struct layers *layers, const struct image *image, const char *name,
                char *const *variables, struct bawn_error *err);

/* When nobody is left inside: bawn-changes notes what changed, and says so unless it is to be
 * quiet; with reviews it shows it, and asks what is to become of it where somebody is
 * there. It is waited for, and gives the layers back. */
int layers_settle(struct layers *layers, char *const *variables, bool is_quiet, bool reviews,
                  struct bawn_error *err);

#endif
