/* SPDX-License-Identifier: Apache-2.0 */
/* Who makes calls that a seed chooses, and tells what each of them gave. */
#ifndef DIFFER_ACTOR_H
#define DIFFER_ACTOR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SLOTS = 8,
    RECENT = 6,
    RECENT_BYTES = 128,
    LINE_BYTES = 8192,
    ARGUMENT_BYTES = 4400,
    NO_FD = 999
};

/* What it chooses depends on the seed, and on what was made before: both sides go on alike until
 * one of them differs. */
struct actor {
    uint64_t random;
    const char *base; /* absolute; nothing outside of it is changed */
    int base_fd;      /* the same */
    const char *root; /* what the base lies in */
    int log_fd;
    int fds[SLOTS];                    /* -1: none */
    char recent[RECENT][RECENT_BYTES]; /* what was made, absolute */
    unsigned last;                     /* of them */
    unsigned depth;                    /* of processes that were started */
    bool shares;         /* descriptors and the current directory are other threads', too */
    bool is_racing;      /* others change the same files: only what a call gave is told */
    bool is_apart;       /* a thread with descriptors that its process has not */
    bool is_retrying;    /* a call may be interrupted by a signal: then it is made again */
    unsigned between_us; /* signals; 0: there are none */
    int signal_flags;
    bool wants_protected; /* names that bawn protects are among the others */
    unsigned long interrupted;
    long result; /* of the last call */
    int error;
    size_t used;
    char line[LINE_BYTES];
};

/* What a call gave. One that a signal interrupted has done nothing: it is made again. */
#define CALL(actor, call)                                                                          \
    do {                                                                                           \
        errno = 0;                                                                                 \
        (actor)->result = (long)(call);                                                            \
        (actor)->error = (actor)->result < 0 ? errno : 0;                                          \
    } while ((actor)->error == EINTR && (actor)->is_retrying && ++(actor)->interrupted)

/* From now on, in this process. */
void actor_set_signals(const struct actor *actor);

uint32_t actor_pick(struct actor *actor, uint32_t count);
bool actor_chance(struct actor *actor, uint32_t percent);
#define PICK_OF(actor, table) ((table)[actor_pick(actor, sizeof(table) / sizeof((table)[0]))])

/* Whether no name leads any more to what is open, for a directory on the way cannot be searched. */
bool actor_is_lost(int fd);

/* A line is begun, has words added, and is ended. */
__attribute__((format(printf, 2, 3))) void tell(struct actor *actor, const char *format, ...);
void tell_text(struct actor *actor, const char *text, size_t length);
void tell_result(struct actor *actor);
void tell_end(struct actor *actor);
/* What a descriptor is open on, and how. */
void tell_fd(struct actor *actor, int fd);
void tell_tree(struct actor *actor);

/* A path, or what should have been one. */
struct argument {
    const char *path; /* text, or a bad pointer */
    bool is_lost;     /* it begins at what no other name leads to */
    char text[ARGUMENT_BYTES];
};
enum {
    MAY_BE_DEVICE = 1, /* what changes nothing there */
    MAY_BE_ROOT = 2,
    MAY_BE_RELATIVE = 4, /* a directory is given with it */
    IS_NEW = 8,          /* something is to be made there */
};
void argument_choose(struct actor *actor, struct argument *argument, unsigned may);
/* Where a symbolic link is to lead. */
void argument_target(struct actor *actor, struct argument *argument);
/* After the call: what was made may be met again. */
void argument_remember(struct actor *actor, int dir, const struct argument *argument);
void tell_argument(struct actor *actor, const struct argument *argument);

/* Keeps this process from changing anything but dir, and from being anybody but that user. */
void shield_raise(const char *dir, uid_t uid, gid_t gid);

void steps_make(struct actor *actor, unsigned count);
/* What the sequences start with. */
void steps_begin(struct actor *actor);

#endif
