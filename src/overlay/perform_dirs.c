/* SPDX-License-Identifier: Apache-2.0 */
/* The directories that stay: let in, given what they are to have, and waited for. */
#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/copy.h"
#include "overlay/perform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int open_dir(const struct journal *journal, const struct journal_dir *dir)
{
    const struct journal_tree *tree = journal_tree(journal, dir->tree);
    autoclose int fd = tree ? named_open_dir(tree->fd, dir->path) : -EBADMSG;
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    return st.st_ino == dir->ino ? take_fd(&fd) : -ENOENT;
}

static int fail(const struct journal *journal, const struct journal_dir *dir, int errnum,
                struct bawn_error *err)
{
    const struct journal_tree *tree = journal_tree(journal, dir->tree);

    return error_errno(err, errnum, "directory %s/%s", tree ? tree->path : "", dir->path);
}

bool perform_may_be_gone(const struct journal *journal, int result)
{
    return !journal->is_committed &&
           (result == -ENOENT || result == -ENOTDIR || result == -ELOOP || result == -EXDEV);
}

int perform_open(const struct journal *journal, struct bawn_error *err)
{
    vec_each (&journal->dirs, dir) {
        autoclose int fd = open_dir(journal, dir);
        struct stat st;

        if (fd < 0 && perform_may_be_gone(journal, fd))
            continue;
        if (fd < 0 || fstat(fd, &st) < 0)
            return fail(journal, dir, fd < 0 ? -fd : errno, err);
        if (geteuid() == 0 || st.st_uid != geteuid() || (st.st_mode & 0700) == 0700)
            continue;
        journal_step(journal);
        if (named_set_mode(fd, ".", (st.st_mode & 07777) | 0700) < 0)
            return fail(journal, dir, errno, err);
    }
    return 0;
}

static int set_attributes(const struct journal *journal, int fd, const char *name)
{
    autoclose int from = -EBADF;

    if (!*name)
        return 0;
    from = openat(journal->store_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    journal_step(journal);
    return from < 0 ? -errno : copy_attributes(from, fd, false);
}

/* An access list that was set or removed changed the mode, too: so it is always looked at. Times
 * are set last, and where that is not allowed they are as they are. */
static int set_mode(const struct journal *journal, int fd, mode_t mode,
                    const struct timespec *times)
{
    char proc[NAMED_PROC_BYTES];
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    journal_step(journal);
    if ((st.st_mode & 07777) != (mode & 07777) &&
        chmod(named_proc_path(fd, proc), mode & 07777) < 0)
        return -errno;
    if (times)
        (void)!utimensat(AT_FDCWD, named_proc_path(fd, proc), times, 0);
    return 0;
}

int perform_dirs(const struct journal *journal, enum perform_what what, struct bawn_error *err)
{
    int r = 0;

    /* The inner ones first: an outer one may shut us out. */
    for (size_t i = journal->dirs.count; i-- > 0;) {
        const struct journal_dir *dir = &journal->dirs.items[i];
        autoclose int fd = open_dir(journal, dir);
        int one = fd < 0 ? fd : 0;

        if (one == 0 && what == PERFORM_OLD_ATTRIBUTES)
            one = set_attributes(journal, fd, dir->old_attributes);
        else if (one == 0 && what == PERFORM_NEW_ATTRIBUTES)
            one = set_attributes(journal, fd, dir->new_attributes);
        else if (one == 0 && what == PERFORM_OLD_MODES)
            one = set_mode(journal, fd, dir->old_mode, dir->old_times);
        else if (one == 0)
            one = set_mode(journal, fd, dir->new_mode, dir->has_new_times ? dir->new_times : NULL);
        if (one < 0 && r == 0 && !perform_may_be_gone(journal, one))
            r = fail(journal, dir, -one, err);
    }
    return r;
}

static int sync_dir(int fd, bool is_all)
{
    autoclose int open_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (open_fd < 0)
        return -errno;
    return (is_all ? syncfs(open_fd) : fsync(open_fd)) < 0 && errno != EINVAL ? -errno : 0;
}

int perform_sync_dirs(const struct journal *journal, struct bawn_error *err)
{
    vec_each (&journal->dirs, dir) {
        autoclose int fd = open_dir(journal, dir);
        int r = fd < 0 ? fd : sync_dir(fd, false);

        /* Where it may be written to but not read it cannot be waited for. */
        if (r < 0 && r != -EACCES)
            return fail(journal, dir, -r, err);
    }
    return 0;
}

int perform_sync(const struct journal *journal, struct bawn_error *err)
{
    bool has_many = journal->ops.count > PERFORM_SYNC_EACH, has_copies = false;
    int r = perform_sync_dirs(journal, err);

    vec_each (&journal->ops, op) {
        has_many |= op->has_new && !*op->fetched && S_ISDIR(op->new_mode);
        has_copies |= op->keep == JOURNAL_COPY;
    }
    vec_each (&journal->trees, tree)
        if (r == 0 && has_many && sync_dir(tree->fd, true) < 0)
            r = error_errno(err, errno, "sync %s", tree->path);
    if (r == 0 && sync_dir(journal->dir_fd, has_copies) < 0)
        r = error_errno(err, errno, "sync the store");
    return r;
}
