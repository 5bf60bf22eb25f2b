/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session tells of itself: to its audit trail (session/ledger.h), and to whoever gave
 * it a descriptor with --events. docs/PROTOCOL-audit.md has the words of both.
 *
 * How it works: each thing that is told is one object, rendered once. Of the trail
 * several wait for one write, which comes after a batch of events, when the session has
 * lived for a moment, and at the end: a short command without events costs one write of
 * its trail and one of its head. Where the policy says 'required' the trail is there before the
 * command, and a write that fails ends the session; else that is said, once.
 *
 * SECURITY: a command can be refused things as often as it likes. Behind the first megabytes
 * single events are only counted, and the counts are written once a minute. Whoever reads the
 * stream of events too slowly misses some, and is told how many.
 */
#ifndef SESSION_AUDIT_H
#define SESSION_AUDIT_H

#include "base/loop.h"
#include "session/ledger.h"
#include "session/members.h"

struct audit {
    struct ledger_place place;
    int fd, head_fd; /* -EBADF: nothing is recorded */
    char id[LEDGER_ID_BYTES];
    struct chain written;       /* as the file is */
    struct chain next;          /* with what waits */
    struct strbuf waiting;      /* records for the file */
    uint64_t bytes;             /* of the file */
    uint64_t lost;              /* records that could not be written */
    uint64_t only[EVENT_COUNT]; /* events that are only counted, since the last count */
    int64_t counted_ms;         /* when that was */
    struct bawn_error failure;
    struct loop_timer timer; /* rings when what waits is to be written */
    bool is_required;
    bool has_begun; /* its start was told */
};

/* The stream. */
struct feed {
    int fd; /* -EBADF: nobody listens */
    bool is_socket;
    bool may_wait; /* a write to it may: look first */
    struct loop *loop;
    struct loop_source source;
    struct strbuf waiting;
    uint64_t count;
    uint64_t lost; /* objects that found no room */
};

/* The descriptor stays the caller's. Negative: nothing can be written to it. */
int feed_open(struct feed *feed, int fd, struct bawn_error *err);
/* Members of an object, without its brackets. For the last one there is always room. */
void feed_put(struct feed *feed, const char *body, bool is_last);
/* Waits for a moment for whoever reads slowly. */
void feed_end(struct feed *feed);

#endif
