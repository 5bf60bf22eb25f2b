/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process outside that writes what a command says to files that the command
 * must not have itself: through a descriptor to write, a file is opened again to
 * be read (/proc/self/fd), cut off, or given another mode.
 *
 * How it works: the command gets a pipe. A process of its own, since writing to
 * a disk may take any time, and the launcher's is needed for limits. It ends when
 * nobody has the pipes open any more. Over a socket it is asked to write what is
 * there, and answers how that went; its last word comes unasked.
 */
#ifndef SESSION_SCRIBE_H
#define SESSION_SCRIBE_H

#include "session/aide.h"
#include "wire/image.h"

struct scribe {
    struct scribe *next; /* for whoever has many */
    const struct image *image;
    struct aide aide;
    int sock;
    struct {
        int given;   /* the pipe's end to hand in, or -EBADF: the stream is none of ours */
        int from;    /* its other end, until the process has it */
        int outside; /* the file */
    } of[3];
    int errnum, stream; /* the first file that could not be written; 0: none */
    bool is_done;       /* the last word has come */
};

/* The image says whose the pipes are, and how long a file may become. */
struct scribe *scribe_new(const struct image *image, struct bawn_error *err);
/* Takes the file on as this stream of the command's. Borrows fd. Returns the descriptor to hand in,
 * which is that of another stream where both are the same file. */
int scribe_add(struct scribe *scribe, int stream, int fd, struct bawn_error *err);
/* channel: where it tells what it cannot write. */
int scribe_start(struct scribe *scribe, int channel, struct bawn_error *err);
/* The pipes are the command's alone now: who has them open inside is all that counts. */
void scribe_handed_in(struct scribe *scribe);

/* Asks for what is there to be written, without waiting. */
void scribe_ask(struct scribe *scribe);
/* Takes one answer. False: there is none, and none will come. */
bool scribe_hear(struct scribe *scribe);
/* Both, and waits for a while. */
void scribe_settle(struct scribe *scribe);
/* Whether it has ended. Waits for that, once nobody is left inside. */
bool scribe_has_ended(struct scribe *scribe, bool waits);
void scribe_free(struct scribe *scribe);

/* What became of it: 0, or an error that says which stream is not complete. */
int scribe_judge(const struct scribe *scribe, struct bawn_error *err);

#endif
