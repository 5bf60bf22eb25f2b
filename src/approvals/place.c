/* SPDX-License-Identifier: Apache-2.0 */
/* Where clients connect, and the mark that questions of all sessions are answered. */
#include "approvals/own.h"
#include "base/answered.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/places.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16 };

int place_open(struct place *place, struct bawn_error *err)
{
    place->sessions_fd =
        places_open_sessions(getenv("XDG_RUNTIME_DIR"), true, place->sessions, err);
    return place->sessions_fd < 0 ? place->sessions_fd : 0;
}

/* The directory and the name in it. SECURITY: no link leads there, and nobody else can put anything
 * into it. */
static int open_directory(struct place *place, const char *path, struct bawn_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    autofree char *dir =
        slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    autofree char *shown = text_escape_new(path, strlen(path), TEXT_ONE_LINE);
    struct stat status;

    if (!dir || !shown)
        return error_memory(err);
    if (!*name || strlen(name) >= sizeof(place->name) - 32 || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return error_set(err, EINVAL, "usage.bad_value",
                         "--socket: '%s' is no name for a socket, or is too long", shown);
    (void)snprintf(place->name, sizeof(place->name), "%s", name);
    place->dir_fd = file_open_linkless(dir, O_RDONLY | O_DIRECTORY);
    if (place->dir_fd < 0) {
        int result = error_errno(err, -place->dir_fd, "--socket: open the directory of %s", shown);

        error_hint(err, "name a directory that is there, by a path without links");
        return result;
    }
    if (fstat(place->dir_fd, &status) == 0 && status.st_uid == getuid() &&
        (status.st_mode & 077) == 0) {
        place->path = take_ptr(&shown);
        return 0;
    }
    (void)error_set(err, EPERM, "supervise.place",
                    "--socket: the directory of %s is not yours alone", shown);
    error_hint(err, "make one with 'mkdir -m 700', outside of what sandboxes see");
    return -EPERM;
}

static int open_usual(struct place *place, struct bawn_error *err)
{
    char path[sizeof(place->sessions) + 16];

    (void)snprintf(place->name, sizeof(place->name), "%s", PLACES_SUPERVISOR);
    (void)snprintf(path, sizeof(path), "%s/" PLACES_SUPERVISOR, place->sessions);
    place->dir_fd =
        openat(place->sessions_fd, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place->dir_fd < 0)
        return error_errno(err, errno, "open %s", place->sessions);
    place->path = strdup(path);
    return place->path ? 0 : error_memory(err);
}

/* By the directory's descriptor: a path may be too long for an address, and change. */
static struct sockaddr_un address_of(const struct place *place)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%.70s",
                   place->dir_fd, place->name);
    return address;
}

/* 0: the name is free, or was that of one who is gone. */
static int replace(const struct place *place, struct bawn_error *err)
{
    struct sockaddr_un address = address_of(place);
    autoclose int fd = -EBADF;
    struct stat status;

    if (fstatat(place->dir_fd, place->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : error_errno(err, errno, "look at %s", place->path);
    if (!S_ISSOCK(status.st_mode) || status.st_uid != getuid()) {
        (void)error_set(err, EEXIST, "supervise.place", "%s is there, and no socket of yours",
                        place->path);
        error_hint(err, "remove it, or name another place with --socket");
        return -EEXIST;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_errno(err, errno, "make a socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno == ECONNREFUSED)
        return unlinkat(place->dir_fd, place->name, 0) == 0
                   ? 0
                   : error_errno(err, errno, "remove the old %s", place->path);
    (void)error_set(err, EADDRINUSE, "supervise.taken", "%s: another 'bawn supervise' serves it",
                    place->path);
    error_hint(err, "use that one, end it, or name another place with --socket");
    return -EADDRINUSE;
}

static int bind_there(struct place *place, struct bawn_error *err)
{
    struct sockaddr_un address = address_of(place);
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int result = -1;

    if (fd >= 0) {
        /* SECURITY: 0600 from its birth on. */
        mode_t mask = umask(0177);

        result = bind(fd, (struct sockaddr *)&address, sizeof(address));
        (void)umask(mask);
    }
    if (result < 0 ||
        fstatat(place->dir_fd, place->name, &place->status, AT_SYMLINK_NOFOLLOW) < 0 ||
        listen(fd, BACKLOG) < 0)
        return error_errno(err, errno, "make the socket %s", place->path);
    place->listen_fd = take_fd(&fd);
    return 0;
}

int place_listen(struct place *place, const char *path, struct bawn_error *err)
{
    int result = path ? open_directory(place, path, err) : open_usual(place, err);

    /* Of two who start at once, one looks first. */
    if (result == 0)
        result = file_lock(place->dir_fd, place->path, err);
    if (result < 0)
        return result;
    result = replace(place, err);
    if (result == 0)
        result = bind_there(place, err);
    (void)flock(place->dir_fd, LOCK_UN);
    return result;
}

/* Whether the name is still that of what is open. */
static bool is_named(int dir_fd, const char *name, const struct stat *status)
{
    struct stat there;

    return fstatat(dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           there.st_ino == status->st_ino && there.st_dev == status->st_dev;
}

int place_mark(struct place *place, struct bawn_error *err)
{
    if (place->mark_fd < 0)
        place->mark_fd = answered_mark(place->sessions_fd, place->sessions, err);
    return place->mark_fd < 0 ? place->mark_fd : 0;
}

void place_unmark(struct place *place)
{
    answered_unmark(place->sessions_fd, &place->mark_fd);
}

void place_done(struct place *place)
{
    place_unmark(place);
    if (place->listen_fd >= 0) {
        if (is_named(place->dir_fd, place->name, &place->status))
            (void)unlinkat(place->dir_fd, place->name, 0);
        (void)close(take_fd(&place->listen_fd));
    }
    if (place->dir_fd >= 0)
        (void)close(take_fd(&place->dir_fd));
    if (place->sessions_fd >= 0) {
        (void)close(take_fd(&place->sessions_fd));
        /* As the last session does. */
        (void)rmdir(place->sessions);
    }
    free(place->path);
    place->path = NULL;
}
