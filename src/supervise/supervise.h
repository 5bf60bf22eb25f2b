/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the system calls that the filter sends out of the sandbox: those that
 * make, rename, remove or open for writing; where the plan says so, also those
 * that open for reading, connect or run. Each is decided by the policy's rules,
 * or by whom they have asked. What is allowed is performed here on behalf of the
 * caller and its result put in place. A call goes on by itself only where
 * nothing depends on what was read of the caller's memory, for that may change
 * meanwhile.
 */
#ifndef SUPERVISE_SUPERVISE_H
#define SUPERVISE_SUPERVISE_H

#include "supervise/report.h"
#include "supervise/streams.h"
#include "wire/image.h"

#include <poll.h>
#include <sys/types.h>

struct supervisor;

/* notify_fd and root_fd (O_PATH of the sandbox's root) are borrowed. Cheap: the rules are read at
 * the first notification. */
struct supervisor_options {
    const struct image *image;
    int notify_fd;
    int root_fd;
    pid_t init_pid; /* pid 1 of the sandbox, which opens terminals and nothing else; 0: unknown */
    report_event report; /* may be NULL; paths are those inside, where the calls led */
    void *context;
    const struct streams *streams; /* NULL: none came in */
    /* With IMAGE_HANDS_OVER; else not looked at. */
    int dial_fd;  /* to bawn-net, borrowed; -EBADF: none */
    uint64_t net; /* the sandbox's network: see handed_net */
    /* Puts a question; false: nobody heard it. May be NULL. With IMAGE_ASKS, else not looked at. */
    bool (*ask)(void *context, const struct event *event);
    int answer_fd; /* where answers come (wire/ask.h), borrowed; -EBADF: nobody can be asked */
};
/* From here on the thread that serves lets no signal in: see answer_put_fd. */
int supervisor_new(const struct supervisor_options *options, struct supervisor **ret_supervisor,
                   struct bawn_error *err);
/* Reads the rules, which else the first call waits for. */
int supervisor_read_rules(struct supervisor *supervisor, struct bawn_error *err);
/* Where options had none: what it listens on and the root inside, both borrowed. */
void supervisor_listen(struct supervisor *supervisor, int notify_fd, int root_fd);
/* Reports what was only counted so far. */
void supervisor_free(struct supervisor *supervisor);

/*
 * Answers one call. events: what poll just said of notify_fd. 0, or -EPIPE
 * when nobody is left inside. Fails only when the supervisor itself
 * cannot go on. The process has one thread and keeps its umask; root's becomes
 * the image's host_uid for a while, has no supplementary groups from the first
 * call on, and is not dumpable. SIGXFSZ is blocked: a command may want a file too long for us.
 */
int supervisor_serve(struct supervisor *supervisor, uint32_t events, struct bawn_error *err);

/* Calls that are answered later: what to poll for besides, and for how long; and afterwards. */
enum { SUPERVISOR_POLLED = 258 };
size_t supervisor_await(const struct supervisor *supervisor, struct pollfd *ret_polled,
                        int *ret_timeout_ms);
/* No call came for that long. */
void supervisor_rest(struct supervisor *supervisor);
void supervisor_go_on(struct supervisor *supervisor, const struct pollfd *polled, size_t count);

#endif
