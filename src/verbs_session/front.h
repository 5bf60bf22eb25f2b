/* SPDX-License-Identifier: Apache-2.0 */
/* A command line that bawn answers itself, and the verbs of sessions that run. */
#ifndef VERBS_SESSION_FRONT_H
#define VERBS_SESSION_FRONT_H

#include "base/limits.h"
#include "base/strbuf.h"
#include "verbs/verb.h"

struct winsize;

struct given_variables {
    char **items;
    size_t count, size;
};

struct front {
    char **argv; /* all of it, ended by NULL */
    char **environ;
    struct options options;           /* of the verb; its words are what is behind them */
    struct given_variables variables; /* of the command, where --env gives one a value */
    int further[LIMIT_FURTHER_FDS];   /* descriptors that the command gets, too */
    unsigned further_count;
    int events_fd; /* where it is told what happens; else -EBADF */
    bool json, quiet;
    bool has_dashes; /* "--" stood before the words */
    int plan_fd;     /* given by whoever made the plan; else -EBADF */
    int owner_fd;    /* given by whoever starts the session and talks to it; else -EBADF */
};

/* Prints a document of one verb, and frees it. Returns the status: 0, or that of a failure. */
int front_print(struct strbuf *text);

/* Prints an error as every verb of bawn does; returns STATUS_FAILED. */
int front_show_error(const struct front *front, const struct bawn_error *err);

/* --cols and --rows: 0 where they are not given. */
int front_size(const struct front *front, struct winsize *ret_size, struct bawn_error *err);

/* --timeout, of at most most_s seconds; *ret_ms stays where it is not given. */
int front_timeout(const struct front *front, unsigned most_s, int *ret_ms, struct bawn_error *err);

/* The verbs. Each returns the status to end with, or a negative errno. */
int front_ps(struct front *front, struct bawn_error *err);
int front_status(struct front *front, struct bawn_error *err);
int front_metrics(struct front *front, struct bawn_error *err);
int front_audit(struct front *front, struct bawn_error *err);
int front_logs(struct front *front, struct bawn_error *err);
int front_wait(struct front *front, struct bawn_error *err);
int front_stop(struct front *front, struct bawn_error *err);
int front_attach(struct front *front, struct bawn_error *err);
int front_approve(struct front *front, struct bawn_error *err);
int front_exec(struct front *front, struct bawn_error *err);

#endif
