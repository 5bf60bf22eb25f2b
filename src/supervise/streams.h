/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard streams that came in from outside and have no name: pipes, files in
 * memory, files whose name is gone.
 *
 * How it works: no path leads to such a stream, so no rule is about it. But a command
 * can open it again by /proc/self/fd, with more rights than it came in with. For
 * streams that were made inside this is fine. A stream from outside that came in to be
 * read must not be written: a shell outside that reads its script from the same pipe
 * would run what the command wrote.
 *
 * The launcher adds streams, and the process that makes calls looks them up, in memory
 * that the two share.
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
