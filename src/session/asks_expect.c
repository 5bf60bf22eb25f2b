/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody who answers for all sessions, and has not found this one yet.
 *
 * How it works: 'bawn supervise' holds a lock on a file beside the sessions while it answers for
 * all of them, and connects to each that gets its name there. A command may ask before that: then
 * the question waits a moment.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/places.h"
#include "session/asks.h"
#include "session/own.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { EXPECT_MS = 3000 };

static bool is_marked(const struct session *session)
{
    char path[PLACES_SESSIONS_BYTES];
    autoclose int dir_fd = places_open_sessions(
        environ_get(session->request->environ, "XDG_RUNTIME_DIR"), false, path, NULL);
    autoclose int fd = dir_fd < 0 ? -EBADF
                                  : openat(dir_fd, PLACES_ANSWERED,
                                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool asks_expect(struct session *session)
{
    int64_t now_ms = clock_ms();

    if (session->is_unlisted || !is_marked(session))
        return false;
    session->asks->expects_ms = now_ms + EXPECT_MS;
    return true;
}
