/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came in from outside as a standard stream of a command and has no name:
 * pipes, files in memory, files whose name is gone.
 *
 * How it works: no path leads to such a thing, so no rule is about it; by way of
 * /proc/self/fd it can still be opened again, for more than it is open for. That is
 * fine with what was made inside. What others outside read too is not written by
 * who was to read it: a shell that gets its script by a pipe would run what a command
 * put there.
 *
 * The launcher adds, the process that makes calls looks: the memory is shared.
 */
#ifndef SUPERVISE_STREAMS_H
#define SUPERVISE_STREAMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum { STREAMS_MAX = 192 };

struct streams {
    atomic_uint count; /* more than STREAMS_MAX: not all are known */
    struct {
        uint64_t device, inode;
    } of[STREAMS_MAX];
};

static inline bool streams_can_be(const struct stat *status)
{
    return S_ISFIFO(status->st_mode) || S_ISREG(status->st_mode);
}

/* SECURITY: where it is not known what came in, anything may have. */
static inline bool streams_has(const struct streams *streams, const struct stat *status)
{
    unsigned count = streams ? atomic_load(&streams->count) : 0;

    if (!streams_can_be(status))
        return false;
    for (unsigned i = 0; i < count && i < STREAMS_MAX; i++)
        if (streams->of[i].device == status->st_dev && streams->of[i].inode == status->st_ino)
            return true;
    return count > STREAMS_MAX;
}

/* Before it is handed in. Those of commands that ended stay: their children may have them. */
static inline void streams_add(struct streams *streams, const struct stat *status)
{
    unsigned count = atomic_load(&streams->count);

    if (!streams_can_be(status) || streams_has(streams, status))
        return;
    if (count < STREAMS_MAX) {
        streams->of[count].device = status->st_dev;
        streams->of[count].inode = status->st_ino;
    }
    atomic_store(&streams->count, count + 1);
}

#endif
