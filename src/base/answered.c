/* SPDX-License-Identifier: Apache-2.0 */
#include "base/answered.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/places.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 16 };

/* Whether the name is still that of what is open. */
static bool is_named(int dir_fd, const struct stat *status)
{
    struct stat there;

    return fstatat(dir_fd, PLACES_ANSWERED, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           there.st_ino == status->st_ino && there.st_dev == status->st_dev;
}

/* Of that very descriptor: others hold it, too, and whoever looks for it takes none. */
static bool hold(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

int answered_mark(int sessions_fd, const char *shown, struct bawn_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        autoclose int fd =
            openat(sessions_fd, PLACES_ANSWERED, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        struct stat status;

        if (fd < 0 || fstat(fd, &status) < 0)
            return error_errno(err, errno, "mark %s as answered", shown);
        /* The last one may just take it away. */
        if (hold(fd, F_RDLCK) && is_named(sessions_fd, &status))
            return take_fd(&fd);
    }
    return error_set(err, EAGAIN, "system", "mark %s as answered: it comes and goes", shown);
}

void answered_unmark(int sessions_fd, int *mark_fd)
{
    if (*mark_fd < 0)
        return;
    if (hold(*mark_fd, F_WRLCK))
        (void)unlinkat(sessions_fd, PLACES_ANSWERED, 0);
    (void)close(take_fd(mark_fd));
}
