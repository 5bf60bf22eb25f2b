/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are hidden, and that somebody outside makes while a command runs. */
#ifndef SUPERVISE_LATE_H
#define SUPERVISE_LATE_H

#include "supervise/report.h"
#include "wire/image.h"

/* As many directories are watched for patterns: the kernel counts them for the user. */
enum { LATE_DIRECTORIES = 16384 };

struct late;

struct late_options {
    const struct image *image;
    int root_fd; /* O_PATH of the sandbox's root */
    int fd;      /* of inotify, not blocking; borrowed */
    /* Masks names, which are relative to the root; as many as the caller can take at once. */
    int (*cover)(void *context, char *const *targets, size_t count, bool *is_new,
                 struct bawn_error *err);
    size_t cover_most;
    /* EVENT_MASKED; and once EVENT_FULL, when there are more directories than can be watched. */
    report_event report;
    void *context;
};

/* Watches, and masks what appeared since the plan was made. */
int late_new(const struct late_options *options, struct late **ret_late, struct bawn_error *err);
/* When fd is ready. A failure means that something may be seen that must not be. */
int late_serve(struct late *late, struct bawn_error *err);
void late_free(struct late *late);

#endif
