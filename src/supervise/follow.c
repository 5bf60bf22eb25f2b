/* SPDX-License-Identifier: Apache-2.0 */
/* What a path leads to when it exists: taken hold of, whatever it is, before anything is done. */
#include "base/cleanup.h"
#include "supervise/call.h"

#include <errno.h>
#include <fcntl.h>

void followed_done(struct followed *followed)
{
    location_done(&followed->at);
    cleanup_close(&followed->object);
    followed->object = -EBADF;
}

/* What was reached is it. A path that ends in a slash names a directory, or nothing. */
static int reached(int *fd, bool is_dir, struct followed *followed)
{
    followed->object = take_fd(fd);
    if (fstat(followed->object, &followed->st) < 0)
        return -errno;
    return is_dir && !S_ISDIR(followed->st.st_mode) ? -ENOTDIR : 0;
}

/* A link of /proc to what the caller has open. */
static int reached_open(const struct call *call, struct located_link *link, bool is_dir,
                        struct followed *followed)
{
    int r = reached(&link->object, is_dir, followed);

    followed->is_write_open = link->is_write_open;
    followed->is_open = true;
    followed->at.is_anchored = false;
    return r < 0 ? r : locate_path(&call->locator, followed->object, followed->at.path);
}

int call_follow(struct call *call, bool follows, struct followed *followed)
{
    struct location *at = &followed->at;
    struct located_link link;
    autoclose int start = take_fd(&call->starts[0]);
    const char *path = call->paths[0];
    bool is_dir = false;

    for (unsigned hops = 0; hops <= LIMIT_SYMLINKS; hops++) {
        autoclose int fd = -EBADF;
        struct stat st;
        int r = locate(&call->locator, &start, path, at);

        cleanup_close(&start);
        start = -EBADF;
        if (r < 0)
            return r;
        fd = openat(at->dir, at->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
            return -errno;
        /* What a slash follows is followed, and so is the link that it leads to. */
        is_dir = is_dir || at->has_slash;
        if (!S_ISLNK(st.st_mode) || (!follows && !is_dir))
            return reached(&fd, is_dir, followed);
        r = locate_link(&call->locator, at, &link);
        if (r < 0)
            return r;
        if (link.object >= 0)
            return reached_open(call, &link, is_dir, followed);
        start = take_fd(&at->dir);
        path = link.text;
    }
    return -ELOOP;
}

int call_follow_fd(struct call *call, struct followed *followed)
{
    int r;

    followed->is_open = true;
    r = reached(&call->starts[0], false, followed);
    return r < 0 ? r : locate_path(&call->locator, followed->object, followed->at.path);
}
