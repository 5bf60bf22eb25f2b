/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a detached session, for a day after its end: its record, how it
 * ended, and the last of what its command said.
 *
 * How it works: a place that no sandbox sees (see places_open_kept) has one
 * directory for each session, named by its SID. In there are the record, as in
 * the registry; "end", one struct kept_end, which is there from the start and is
 * written over, for that needs no room on a disk that is full; and "output.N",
 * what was said from byte N on. There are at most two of these: when one is full
 * the next is begun, and the one before goes.
 *
 * The launcher, and who writes the output for it, hold a lock on "end" while they
 * live: a session that has not ended and has no lock was killed.
 *
 * A session is made under another name (".new-PID") and then renamed.
 */
#ifndef SESSION_KEPT_H
#define SESSION_KEPT_H

#include "base/limits.h"
#include "session/registry.h"

enum {
    KEPT_SECONDS = 24 * 60 * 60,
    KEPT_SESSIONS_MAX = 256, /* of those that have ended the oldest go first */
    KEPT_OUTPUT_BYTES = 8 * 1024 * 1024,
    KEPT_NAME_BYTES = 32,
};
#define KEPT_OUTPUT "output."

enum kept_state { KEPT_RUNNING, KEPT_ENDED, KEPT_LOST, KEPT_STATES };

struct kept_end {
    char magic[8];
    uint32_t state;  /* enum kept_state */
    int32_t status;  /* KEPT_ENDED: what 'bawn run' would have ended with */
    uint64_t ended;  /* seconds since 1970; KEPT_LOST: when it was noticed */
    int32_t errnum;  /* why the output is not kept to its end; 0: it is */
    uint32_t unused; /* 0 */
};

struct kept_place {
    int fd; /* O_PATH */
    char path[LIMIT_PATH_BYTES];
};

/* -ENOENT without a message: nothing was ever kept. */
int kept_open(struct kept_place *kept, bool makes, struct bawn_error *err);
void kept_close(struct kept_place *kept);
#define autokept __attribute__((cleanup(kept_close)))

/* One of them that is being kept. */
struct kept_entry {
    int dir_fd; /* O_PATH, or -EBADF */
    int end_fd; /* with the lock */
};
/* -EEXIST without a message: another has that name. */
int kept_make(const struct kept_place *kept, const char *sid, const char *record, size_t length,
              struct kept_entry *ret_entry, struct bawn_error *err);
void kept_put_end(const struct kept_entry *entry, enum kept_state state, int status, int errnum);
void kept_remove(const struct kept_place *kept, const char *sid);
/* Removes those whose day is over, and those that are too many. */
void kept_sweep(const struct kept_place *kept);

/* The directory of a session: O_PATH. */
int kept_enter(const struct kept_place *kept, const char *sid);
/* How it ended; where it was killed that is noted now. False: it is none of ours. */
bool kept_look(int dir_fd, struct kept_end *ret_end);
/* The text of its record, to be freed, or NULL. */
char *kept_record(int dir_fd);
/* All that are there, sorted by name. */
int kept_list(const struct kept_place *kept, struct registry_names *names, struct bawn_error *err);
/* Those whose changes are kept under that name; the last that began comes last. */
int kept_called(const struct kept_place *kept, const char *name, struct registry_names *names,
                struct bawn_error *err);
/* The one whose SID begins with word, or the last whose changes are called so; NULL: the only one.
 * -ESRCH, -EINVAL: as of sessions that run. */
int kept_find(const struct kept_place *kept, const char *word, char sid[SID_BYTES],
              struct bawn_error *err);

/* A file in such a directory that is one: no link, no FIFO. */
int kept_open_file(int dir_fd, const char *name, int flags);

#endif
