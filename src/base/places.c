/* SPDX-License-Identifier: Apache-2.0 */
#include "base/places.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/passwd.h"
#include "base/path.h"
#include "base/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

int places_open_config(const char *path, struct bawn_error *err)
{
    int r = file_make_dirs(path, err);
    int fd = r < 0 ? r : file_open_linkless(path, O_RDONLY | O_DIRECTORY);

    return r == 0 && fd < 0 ? error_errno(err, -fd, "open %s", path) : fd;
}

/*
 * SECURITY: from the root down, each directory is looked at by name before the next. Those above it
 * can only be replaced by root and the caller, so what was looked at is what is opened in the end.
 */
struct walk {
    char done[LIMIT_PATH_BYTES]; /* "" is the root */
    struct stat status;          /* of that */
    struct trail trail;
    bool is_below_home; /* the last names are ours to make, and no link counts among them */
    int errnum;         /* why it goes no further */
};

/* Each start walks: the id costs no call. Nobody who walks has changed his. */
static uid_t own_uid(void)
{
    return (uid_t)getauxval(AT_UID);
}

/* Only root and the caller can put something else there. */
static bool is_safe(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && (status->st_uid == 0 || status->st_uid == own_uid()) &&
           (!(status->st_mode & 022) || (status->st_mode & S_ISVTX));
}

/* Homes are often reached through a link of root's: that of the last name, which begins there. */
static bool push_link(struct walk *walk, size_t before, const struct stat *status)
{
    char target[LIMIT_PATH_BYTES];
    ssize_t length = readlink(walk->done, target, sizeof(target) - 1);

    if (length <= 0 || walk->is_below_home || status->st_uid != 0 || walk->status.st_uid != 0 ||
        (walk->status.st_mode & 022))
        return false;
    target[length] = '\0';
    if (path_has_dotdot(target) || trail_link(&walk->trail, target) < 0)
        return false;
    walk->done[before] = '\0';
    if (*target != '/')
        return true;
    *walk->done = '\0';
    return lstat("/", &walk->status) == 0;
}

static bool step(struct walk *walk, const char *name, bool makes)
{
    size_t before = strlen(walk->done);
    size_t length = strlen(name);
    struct stat status;
    int result;

    walk->errnum = ENAMETOOLONG;
    if (before + 1 + length >= sizeof(walk->done))
        return false;
    walk->done[before] = '/';
    memcpy(walk->done + before + 1, name, length + 1);
    result = lstat(walk->done, &status);
    if (result < 0 && errno == ENOENT && makes && walk->is_below_home &&
        (mkdir(walk->done, 0700) == 0 || errno == EEXIST))
        result = lstat(walk->done, &status);
    walk->errnum = result < 0 ? errno : S_ISLNK(status.st_mode) ? ELOOP : EPERM;
    if (result == 0 && S_ISLNK(status.st_mode))
        return push_link(walk, before, &status);
    if (result < 0 || !is_safe(&status))
        return false;
    walk->status = status;
    return true;
}

static bool go(struct walk *walk, const char *way, bool makes)
{
    char name[NAME_MAX + 1];
    int r;

    (void)snprintf(walk->trail.rest, sizeof(walk->trail.rest), "%s", way);
    while ((r = trail_next(&walk->trail, name)) > 0) {
        if (!step(walk, name, makes))
            return false;
    }
    return r == 0;
}

/* The home that the user database names. */
static bool go_home(struct walk *walk)
{
    char home[LIMIT_PATH_BYTES];

    if (!passwd_home(own_uid(), home) || path_has_dotdot(home) || lstat("/", &walk->status) < 0 ||
        !is_safe(&walk->status) || !go(walk, home, false))
        return false;
    walk->is_below_home = true;
    return true;
}

/* What is the caller's own, below his home. ret_path: how far it is reached; "": not to his home.
 */
static int open_below_home(const char *way, bool makes, char ret_path[LIMIT_PATH_BYTES])
{
    struct walk walk = {.is_below_home = false};
    bool is_reached;

    *ret_path = '\0';
    if (!go_home(&walk))
        return -ENOENT;
    is_reached = go(&walk, way, makes);
    memcpy(ret_path, walk.done, sizeof(walk.done));
    if (!is_reached)
        return -walk.errnum;
    if (walk.status.st_uid != own_uid())
        return -EPERM;
    if (strlen(walk.done) >= LIMIT_PATH_BYTES - 64)
        return -ENAMETOOLONG;
    return file_open_linkless(ret_path, O_PATH | O_DIRECTORY);
}

int places_open_plans(bool makes, char ret_path[LIMIT_PATH_BYTES])
{
    return open_below_home(PLACES_PLANS, makes, ret_path);
}

/* code: of what is said where there is no such place. */
static int open_state(const char *way, const char *code, bool makes,
                      char ret_path[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    int fd = open_below_home(way, makes, ret_path);

    if (fd >= 0 || (fd == -ENOENT && !makes))
        return fd;
    if (!*ret_path) {
        (void)error_set(err, ENOENT, code, "you have no home where it could be kept");
        error_hint(err, "/etc/passwd names none, or others can change a directory on the way");
        return -ENOENT;
    }
    (void)error_set(err, -fd, code, "%s: %s", ret_path,
                    fd == -EPERM   ? "others can change it, or it is no directory of yours"
                    : fd == -ELOOP ? "it is a link, and none is followed here"
                                   : strerror(-fd));
    error_hint(err,
               fd == -EPERM ? "make it yours alone: chmod go-w %s"
                            : "it has to be a directory of yours that others cannot write: %s",
               ret_path);
    return fd;
}

int places_open_kept(bool makes, char ret_path[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    return open_state(PLACES_KEPT, "session.kept", makes, ret_path, err);
}

int places_open_changes(bool makes, char ret_path[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    return open_state(PLACES_CHANGES, "changes.place", makes, ret_path, err);
}

int places_open_heads(bool makes, char ret_path[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    return open_state(PLACES_AUDIT "/" PLACES_HEADS, "audit.place", makes, ret_path, err);
}

static int refuse_home(const struct walk *walk, struct bawn_error *err)
{
    (void)error_set(err, EPERM, "run.kept_home",
                    "there is no place to keep a home in: %s is not a directory, or not one that "
                    "only you can change",
                    *walk->done ? walk->done : "your home in /etc/passwd");
    error_hint(err, "kept homes are in ~/" PLACES_HOMES
                    ", to which no link leads; or use sandbox.home: private");
    return -EPERM;
}

int places_find_home(const char *name, bool makes, char ret_path[LIMIT_PATH_BYTES],
                     struct bawn_error *err)
{
    struct walk walk = {.is_below_home = false};
    char way[LIMIT_PATH_BYTES];

    (void)snprintf(way, sizeof(way), PLACES_HOMES "%s%.255s", *name ? "/" : "", name);
    if (!makes) {
        /* Where nothing could be kept, that is for who wants it made to find out. */
        if (!go_home(&walk) && !passwd_home(own_uid(), walk.done))
            return refuse_home(&walk, err);
        return (size_t)snprintf(ret_path, LIMIT_PATH_BYTES, "%s/%s", walk.done, way) <
                       LIMIT_PATH_BYTES
                   ? 0
                   : refuse_home(&walk, err);
    }
    if (!go_home(&walk) || !go(&walk, way, true) || walk.status.st_uid != own_uid() ||
        (walk.status.st_mode & 077))
        return refuse_home(&walk, err);
    memcpy(ret_path, walk.done, sizeof(walk.done));
    return 0;
}

bool places_sessions(const char *runtime, enum places_sessions which,
                     char ret_path[PLACES_SESSIONS_BYTES])
{
    unsigned uid = (unsigned)getuid();
    int length = -1;

    switch (which) {
    case SESSIONS_NAMED:
        if (runtime && *runtime == '/')
            length = snprintf(ret_path, PLACES_SESSIONS_BYTES, "%s/bawn", runtime);
        break;
    case SESSIONS_USUAL:
        length =
            snprintf(ret_path, PLACES_SESSIONS_BYTES, uid == 0 ? "/run/bawn" : "/tmp/bawn-%u", uid);
        break;
    case SESSIONS_LOGIN:
        length = snprintf(ret_path, PLACES_SESSIONS_BYTES, "/run/user/%u/bawn", uid);
        break;
    case SESSIONS_COUNT:
        break;
    }
    return length > 0 && length < PLACES_SESSIONS_BYTES - 64;
}

/* The user's alone: nobody else can have put something there, or can later. */
static bool is_private(int fd)
{
    struct stat status;

    return fd >= 0 && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == getuid() && (status.st_mode & 077) == 0;
}

/* $XDG_RUNTIME_DIR may be somebody else's, as after su: then it is not used. */
static void choose_sessions(const char *runtime, char ret_path[PLACES_SESSIONS_BYTES])
{
    autoclose int fd = -EBADF;

    if (places_sessions(runtime, SESSIONS_NAMED, ret_path))
        fd = openat(AT_FDCWD, runtime, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!is_private(fd))
        (void)places_sessions(NULL, SESSIONS_USUAL, ret_path);
}

bool places_find_sessions(const char *runtime, char ret_path[PLACES_SESSIONS_BYTES])
{
    char chosen[PLACES_SESSIONS_BYTES];
    char above[LIMIT_PATH_BYTES];
    char *name;

    choose_sessions(runtime, chosen);
    name = strrchr(chosen, '/');
    *name++ = '\0';
    return realpath(*chosen ? chosen : "/", above) &&
           (size_t)snprintf(ret_path, PLACES_SESSIONS_BYTES, "%s/%s", above, name) <
               PLACES_SESSIONS_BYTES;
}

static int open_directory(const char *path)
{
    return openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int places_open_sessions(const char *runtime, bool makes, char ret_path[PLACES_SESSIONS_BYTES],
                         struct bawn_error *err)
{
    autoclose int fd = -EBADF;

    choose_sessions(runtime, ret_path);
    fd = open_directory(ret_path);
    if (fd < 0 && errno == ENOENT) {
        if (!makes)
            return -ENOENT;
        if (mkdir(ret_path, 0700) < 0 && errno != EEXIST)
            return error_errno(err, errno, "make the directory of sessions %s", ret_path);
        fd = open_directory(ret_path);
    }
    if (is_private(fd))
        return take_fd(&fd);
    (void)error_set(err, EPERM, "session.place",
                    "the directory of sessions %s is not a directory of yours alone", ret_path);
    error_hint(err, "remove it, or set XDG_RUNTIME_DIR to a directory of yours with mode 0700");
    return -EPERM;
}
