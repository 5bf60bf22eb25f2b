/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much room on the disk a session with overlays takes (see base/layers.h).
 *
 * How it works: a walk over the directory of the session. Blocks are counted, not lengths: a file
 * with holes takes what it takes, room that was reserved is taken, and a file with several names
 * counts once. SECURITY: what is in the layers was made inside, and may change during the walk. No
 * link is followed, and each directory on the way is held open: one that is moved meanwhile leads
 * nowhere else. What cannot be looked at is counted, so that the caller can tell.
 */
#ifndef BASE_ROOM_H
#define BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* No path of this many names can be said to the kernel. */
enum { ROOM_LEVELS = 2048 };

struct room {
    uint64_t layers; /* bytes that the layers of all trees take: what sandbox.limits.layer_size is
                      * about */
    uint64_t rest;   /* bytes that notes take, and what is kept for undo */
    uint64_t unread; /* directories that are closed to us: of what is in them nothing is known */
    uint64_t deep;   /* the same: deeper than ROOM_LEVELS, or than there are descriptors */
};

/* Files that were counted. One that is full no longer tells, and says so. */
struct room_files {
    struct room_file {
        uint64_t dev, ino; /* ino 0: empty */
    } * slots;
    size_t count, size;
    bool is_full;
};

/* Whether the file was not in there; it is now. */
bool room_files_add(struct room_files *files, uint64_t dev, uint64_t ino);
void room_files_done(struct room_files *files);

/* dir_fd is the directory of the session; O_PATH will do. With enough it stops once the layers take
 * more than that. Returns 0 or a negative errno. */
int room_measure(int dir_fd, uint64_t enough, struct room *ret_room);

#endif
