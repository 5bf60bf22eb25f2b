/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what a detached command says and how it ended, for those who ask later.
 *
 * How it works: a process of its own, since writing to a disk may take any time,
 * and the launcher's is needed for limits. It is one more of those who watch the
 * output; it ends with that, also where the launcher was killed. Where nothing
 * can be kept the session goes on.
 */
#ifndef SESSION_RECORDER_H
#define SESSION_RECORDER_H

#include "session/aide.h"
#include "session/kept.h"

struct viewer;
struct session;

struct recorder {
    struct aide aide;
    struct kept_place kept;
    struct kept_entry entry;
    char sid[SID_BYTES];       /* "": nothing is kept */
    struct viewer *viewer;     /* NULL: it watches no output */
    struct bawn_error failure; /* why nothing is kept, or no more */
};

/* Takes the name of the session, and keeps its record under it. -EEXIST: another one is kept under
 * that name. All else that goes wrong is only noted. */
int recorder_reserve(struct session *session, const char *sid, const char *record, size_t length);
/* It is not to be that name. */
void recorder_forget(struct recorder *recorder);
/* The command's output is there. */
void recorder_start(struct session *session);
/* A process of its has told why it writes no more. */
void recorder_take(struct recorder *recorder, const struct event *event);
/* All was said: waits until it is written, and notes the status. */
void recorder_end(struct session *session, int status);

#endif
