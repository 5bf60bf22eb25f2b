/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the system calls that the filter sends out of the sandbox: those
 * that make, rename or open for writing. Each is decided by the policy's rules
 * and, if allowed, performed here on behalf of the caller and its result put
 * in place; never continued, for the caller's memory may change meanwhile.
 */
#ifndef SUPERVISE_SUPERVISE_H
#define SUPERVISE_SUPERVISE_H

#include "supervise/streams.h"
#include "wire/image.h"

#include <sys/types.h>

struct supervisor;

enum { NOTES_GITFILES = 8, NOTES_PATH_BYTES = 1024 };

/* What the supervisor has seen and somebody may want to know at the end. */
struct supervisor_notes {
    char tracer[16];        /* the first program that wanted to trace another; empty: none did */
    unsigned gitfile_count; /* of all that could be made, or written */
    char gitfiles[NOTES_GITFILES][NOTES_PATH_BYTES]; /* of the first: host paths; "": too long */
};

/* notify_fd and root_fd (O_PATH of the sandbox's root) are borrowed. Cheap: the rules are read at
 * the first notification. on_refusal may be NULL; path is where the call led, inside. */
struct supervisor_options {
    const struct image *image;
    int notify_fd;
    int root_fd;
    pid_t init_pid; /* pid 1 of the sandbox, which opens terminals and nothing else; 0: unknown */
    void (*on_refusal)(void *context, const char *syscall, const char *path, int errnum);
    void *context;
    struct supervisor_notes *notes; /* may be NULL */
    const struct streams *streams;  /* NULL: none came in */
};
int supervisor_new(const struct supervisor_options *options, struct supervisor **ret_supervisor,
                   struct bawn_error *err);
void supervisor_free(struct supervisor *supervisor);

/*
 * Answers one call. events: what poll just said of notify_fd. 0, or -EPIPE
 * when nobody is left inside. Fails only when the supervisor itself
 * cannot go on. The process has one thread and keeps its umask; root's becomes
 * the image's host_uid for a while, has no supplementary groups from the first
 * call on, and is not dumpable. SIGXFSZ is blocked: a command may want a file too long for us.
 */
int supervisor_serve(struct supervisor *supervisor, uint32_t events, struct bawn_error *err);

#endif
