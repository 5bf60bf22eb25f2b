/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of mode copy, when the command has ended.
 *
 * How it works: the set-up copies each into a private place and gives it the
 * time of the original (launch/copy.c). We have looked at the original before,
 * and hold a descriptor of the mount that has the copy: it outlives the
 * sandbox. When nobody is left inside, a copy with another size or time and
 * other bytes was changed. That is said, or it replaces the original.
 *
 * SECURITY: what is found there was made inside. It is opened below that mount
 * without following a link, must be a file, and no more than the limit of it is
 * read. The original is replaced only if it is the one that was looked at.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/path.h"
#include "kernel/sys.h"
#include "launch/copy.h"
#include "session/own.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { LINKLESS = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

struct copy {
    const char *source;               /* the original */
    const char *within;               /* the copy, relative to what holds it */
    const struct image_mount *holder; /* the step that mounts that */
    int holder_fd;
    struct stat before; /* of the original; no mode: there was none */
};

struct copies {
    struct copy items[LIMIT_COPIES];
    size_t count;
};

/* A whole file of at most the limit. -ENOENT: there is none; -EINVAL: something else has the name.
 */
static int read_file(int dir_fd, const char *path, uint64_t resolve, struct stat *status,
                     char **ret_data)
{
    autoclose int fd =
        sys_openat2(dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                    LINKLESS | resolve);
    autofree char *data = NULL;
    size_t used = 0;
    ssize_t got = 1;

    if (fd < 0)
        return errno == ELOOP || errno == ENXIO || errno == EISDIR ? -EINVAL : -errno;
    if (fstat(fd, status) < 0)
        return -errno;
    if (!S_ISREG(status->st_mode))
        return -EINVAL;
    if (status->st_size > LIMIT_COPY_BYTES)
        return -EFBIG;
    data = malloc((size_t)status->st_size + 1);
    if (!data)
        return -ENOMEM;
    while (used < (size_t)status->st_size && got > 0) {
        got = read(fd, data + used, (size_t)status->st_size - used);
        if (got < 0)
            return -errno;
        used += (size_t)got;
    }
    /* Another sandbox may work in a kept home. */
    if (used < (size_t)status->st_size)
        return -EAGAIN;
    *ret_data = take_ptr(&data);
    return 0;
}

static bool is_same_time(const struct stat *one, const struct stat *other)
{
    return one->st_size == other->st_size && one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
           one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

/* Whether it is still what was looked at. */
static bool is_same(const struct stat *before, const struct stat *now)
{
    return before->st_mode == now->st_mode &&
           (before->st_mode == 0 ||
            (is_same_time(before, now) && before->st_dev == now->st_dev &&
             before->st_ino == now->st_ino && before->st_ctim.tv_sec == now->st_ctim.tv_sec &&
             before->st_ctim.tv_nsec == now->st_ctim.tv_nsec));
}

/* No mode: there is none. */
static int look_at(int dir_fd, const char *path, struct stat *status)
{
    *status = (struct stat){0};
    return fstatat(dir_fd, path, status, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOENT ||
                   errno == ENOTDIR
               ? 0
               : -errno;
}

/* What holds a copy: the last private mount over it. */
static void find_holder(const struct image *image, const char *target, struct copy *copy)
{
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if ((step->step == STEP_PRIVATE || step->step == STEP_KEPT || step->step == STEP_TMPFS) &&
            image_covers(image, step, target)) {
            copy->holder = step;
            copy->within = target + strlen(image_string(image, step->target)) + 1;
        }
    }
}

/* SECURITY: a copy that an earlier run left in a kept home may be older than the original: it would
 * undo what was done outside in between. */
static int refuse_older(const struct image *image, const struct copy *copy, struct bawn_error *err)
{
    const char *home = image_string(image, copy->holder->source);
    autoclose int fd = file_open_linkless(home, O_PATH | O_DIRECTORY);
    autofree char *own = NULL;
    autofree char *original = NULL;
    struct stat inside = {0};
    struct stat outside = {0};
    int result = fd < 0 ? fd : read_file(fd, copy->within, RESOLVE_BENEATH, &inside, &own);

    if (result == -ENOENT)
        return 0;
    if (result == 0)
        result = read_file(AT_FDCWD, copy->source, 0, &outside, &original);
    if (result == 0 && inside.st_size == outside.st_size &&
        memcmp(own, original, (size_t)inside.st_size) == 0)
        return 0;
    (void)error_set(err, EINVAL, "run.write_back",
                    "--write-back: the kept home has a %s of an earlier run, which is not yours",
                    copy->source);
    error_hint(err, "to begin with yours, remove %s/%s", home, copy->within);
    return -EINVAL;
}

static int refuse_none(struct bawn_error *err)
{
    (void)error_set(err, EINVAL, "run.write_back",
                    "--write-back: this policy has no path of mode copy");
    error_hint(err, "name one with --copy, or a preset that has one; or leave --write-back out");
    return -EINVAL;
}

int session_note_copies(struct session *session, struct bawn_error *err)
{
    const struct image *image = session->request->image;
    struct copies *copies = NULL;
    int result = 0;

    image_each (image, PART_MOUNTS, struct image_mount, step) {
        struct copy copy = {.source = image_string(image, step->source), .holder_fd = -EBADF};

        if (step->step != STEP_COPY || (copies && copies->count == LIMIT_COPIES))
            continue;
        if (!copies)
            session->copies = copies = calloc(1, sizeof(*copies));
        if (!copies)
            return error_memory(err);
        find_holder(image, image_string(image, step->target), &copy);
        result = look_at(AT_FDCWD, copy.source, &copy.before);
        if (result < 0)
            return error_errno(err, -result, "look at %s", copy.source);
        if (!copy.holder)
            continue;
        if (session->request->writes_back && copy.holder->step == STEP_KEPT)
            result = refuse_older(image, &copy, err);
        if (result < 0)
            return result;
        copies->items[copies->count++] = copy;
    }
    return session->request->writes_back && !copies ? refuse_none(err) : 0;
}

int session_find_copies(struct session *session, struct bawn_error *err)
{
    const struct image *image = session->request->image;

    for (size_t i = 0; session->copies && i < session->copies->count; i++) {
        struct copy *copy = &session->copies->items[i];

        /* A mount cannot be moved from its place: whoever runs by now has no say. If nobody runs
         * any more, the mounts are there all the same: we hold their namespace. */
        copy->holder_fd =
            sys_openat2(session->launch.root_fd, image_string(image, copy->holder->target),
                        O_PATH | O_DIRECTORY | O_CLOEXEC, LINKLESS | RESOLVE_BENEATH);
        if (copy->holder_fd < 0)
            return error_errno(err, errno, "open what has the copy of %s", copy->source);
    }
    return 0;
}

static void say(const struct session *session, const struct copy *copy, const char *what,
                const char *hint)
{
    struct bawn_error said = {0};

    (void)error_set(&said, EPERM, "run.copy", "%s: %s", copy->source, what);
    if (hint)
        error_hint(&said, "%s", hint);
    session_say(session, &said);
}

/* Beside the original, then in its place. */
static int replace(const struct copy *copy, int dir_fd, const char *name, const char *data,
                   size_t size)
{
    mode_t mode = copy->before.st_mode ? copy->before.st_mode & 0777 : 0600;
    char temporary[64];
    autoclose int fd = -EBADF;
    struct stat now;
    uint64_t mark;
    int result;

    if (getrandom(&mark, sizeof(mark), 0) != (ssize_t)sizeof(mark))
        return -errno;
    (void)snprintf(temporary, sizeof(temporary), ".bawn-%016llx", (unsigned long long)mark);
    fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    result = file_put(fd, data, size);
    if (result == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
        result = -errno;
    if (result == 0)
        result = look_at(dir_fd, name, &now);
    if (result == 0 && !is_same(&copy->before, &now))
        result = -ESTALE;
    if (result == 0 && syscall(SYS_renameat2, dir_fd, temporary, dir_fd, name,
                               copy->before.st_mode ? 0 : RENAME_NOREPLACE) < 0)
        result = errno == EEXIST ? -ESTALE : -errno;
    if (result < 0)
        (void)unlinkat(dir_fd, temporary, 0);
    return result;
}

static int write_back(const struct copy *copy, const char *data, size_t size)
{
    char dir[LIMIT_PATH_BYTES];
    autoclose int fd = -EBADF;

    /* Who replaces another's file takes it from him. */
    if (copy->before.st_mode && (!S_ISREG(copy->before.st_mode) || copy->before.st_uid != getuid()))
        return -EPERM;
    (void)snprintf(dir, sizeof(dir), "%s", copy->source);
    path_cut_name(dir);
    fd = file_open_linkless(dir, O_PATH | O_DIRECTORY);
    return fd < 0 ? fd : replace(copy, fd, strrchr(copy->source, '/') + 1, data, size);
}

/* Whether the original says something else by now. */
static bool differs(const struct copy *copy, const char *data, size_t size)
{
    autofree char *original = NULL;
    struct stat status = {0};

    if (read_file(AT_FDCWD, copy->source, 0, &status, &original) < 0 || !original || !data)
        return true;
    return (size_t)status.st_size != size || memcmp(original, data, size) != 0;
}

static void end_copy(const struct session *session, const struct copy *copy)
{
    bool writes_back = session->request->writes_back;
    autofree char *data = NULL;
    struct stat status = {0};
    char why[256];
    int result;

    result =
        read_file(copy->holder_fd, copy->within, RESOLVE_BENEATH | RESOLVE_NO_XDEV, &status, &data);
    if (result == -ENOENT || (result < 0 && !writes_back))
        return;
    if (result == 0 && ((copy->before.st_mode && is_same_time(&copy->before, &status)) ||
                        !differs(copy, data, (size_t)status.st_size)))
        return;
    if (!writes_back) {
        /* In a kept home it is there again the next time. */
        if (copy->holder->step != STEP_KEPT)
            say(session, copy, "the command changed its copy, and that is gone now",
                "--write-back takes such a copy back; look at it then, for it was written inside");
        return;
    }
    if (result == 0)
        result = write_back(copy, data, (size_t)status.st_size);
    if (result == 0) {
        say(session, copy, "what the command wrote to its copy was written back", NULL);
        return;
    }
    (void)snprintf(why, sizeof(why), "not written back: %s",
                   result == -ESTALE   ? "it changed outside meanwhile"
                   : result == -EINVAL ? "the copy is not a file any more"
                   : result == -EFBIG  ? "the copy is larger than 32 MiB"
                                       : strerror(-result));
    say(session, copy, why, NULL);
}

void session_end_copies(struct session *session)
{
    struct copies *copies = session->copies;

    for (size_t i = 0; copies && i < copies->count; i++) {
        if (copies->items[i].holder_fd < 0)
            continue;
        if (session->has_ended)
            end_copy(session, &copies->items[i]);
        (void)close(copies->items[i].holder_fd);
    }
    free(copies);
    session->copies = NULL;
}
