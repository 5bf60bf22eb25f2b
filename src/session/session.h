/* SPDX-License-Identifier: Apache-2.0 */
/* One run: the sandbox, its supervisor, its limits and its terminal, until the command ends. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/limits.h"
#include "launch/launch.h"
#include "session/audit.h"
#include "session/log.h"
#include "session/registry.h"
#include "wire/image.h"

#include <sys/ioctl.h>

struct session_request {
    const struct image *image;
    const struct launch_skeleton *skeleton;              /* see struct launch_request */
    int (*holds)(void *context, struct bawn_error *err); /* the same */
    void *holds_context;
    char *const *argv;              /* NULL: none; the owner starts commands */
    char **own_argv;                /* see struct launch_request */
    char *const *environ;           /* the caller's */
    int further[LIMIT_FURTHER_FDS]; /* descriptors of ours that the command gets, too */
    unsigned further_count;
    bool is_json;                 /* what is said at the end is for programs */
    bool is_quiet;                /* what was refused is not said */
    bool asks_nobody;             /* on the terminal */
    char *const *command_environ; /* what the command gets of it, and what it was given instead */
    const struct log *log;        /* or NULL */
    const struct feed *feed;      /* for a program that wants to know what happens, or NULL */
    struct winsize size;          /* of the command's terminal; 0 where it follows the user's */
    bool is_proven;           /* a probe inside was contained: now, or when the image was kept */
    bool writes_back;         /* copies that were changed inside replace the originals at the end */
    const char *changes_name; /* under which the changes of overlays are kept; NULL: the SID */
    bool reviews;             /* what they are is shown at the end */
    bool wants_stats;
    bool needs_output; /* whoever asked for the session has something to say when it ends */
    bool is_detached;
    uint64_t log_bytes; /* of a detached command: how much of what it says is kept */
    int owner_fd;       /* a control connection whose end ends the session, or -EBADF */
    const char *preset; /* one that is made for the command, or NULL */
    int report_fd;      /* of a detached session: session_run_detached sets it */
    bool is_unrun;      /* set when the command could not be run: why is in the error */
    bool is_stale; /* set when the set-up failed: the host may not be what the image was made for */
};

/* Runs the command and waits for it. Returns the status to exit with, or a negative errno when it
 * never ran. */
int session_run(struct session_request *request, struct bawn_error *err);

/* What a detached session says to the one who started it. */
struct session_report {
    int status; /* 0: it runs; else the status to exit with, or a negative errno */
    bool is_stale;
    char sid[SID_BYTES];
    pid_t pid;
    struct bawn_error error;
    struct bawn_error unkept;     /* it runs, but nothing of it is kept: why; errnum 0: it is */
    struct bawn_error unrecorded; /* the same of its audit trail */
};
/* The same in a process of its own: returns when the command runs. A negative errno: it never
 * will. */
int session_run_detached(struct session_request *request, struct session_report *ret_report,
                         struct bawn_error *err);

/* What the caller of session_prove does while the sandbox is being made: that costs nobody time. */
struct session_proving {
    void (*spares)(void *context);
    void *context;
};
/* Starts a sandbox, and lets a probe inside try to break out of it. 0: contained. In any case the
 * sandbox is the caller's to end: the kernel takes its time for that, and nobody need wait. */
int session_prove(const struct image *image, const struct session_proving *proving,
                  struct launch *ret_launch, struct bawn_error *err);

#endif
