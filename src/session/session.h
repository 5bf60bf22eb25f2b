/* SPDX-License-Identifier: Apache-2.0 */
/* One run: the sandbox, its supervisor, its limits and its terminal, until the command ends. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "wire/image.h"

struct session_request {
    const struct image *image;
    const char *skeleton; /* see struct launch_request */
    char *const *argv;
    char *const *environ; /* the caller's */
    bool wants_stats;
    bool is_detached;
    bool is_quiet;
    bool is_json;
    bool is_stale; /* set when the set-up failed: the host may not be what the image was made for */
};

/* Runs the command and waits for it. Returns the status to exit with, or a negative errno when it
 * never ran. */
int session_run(struct session_request *request, struct bawn_error *err);

/* Starts the sandbox once, and lets a probe inside try to break out of it. 0: contained. */
int session_prove(const struct image *image, struct bawn_error *err);

#endif
