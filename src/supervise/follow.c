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

/* Takes the object that the walk reached. A path that ends in a slash must name a directory. */
static int reached(int *fd, struct followed *followed)
{
    followed->object = take_fd(fd);
    if (fstat(followed->object, &followed->st) < 0)
        return -errno;
    return followed->at.has_slash && !S_ISDIR(followed->st.st_mode) ? -ENOTDIR : 0;
}

/* A link of /proc to what the caller has open. */
static int reached_open(const struct call *call, struct located_link *link,
                        struct followed *followed)
{
    int r = reached(&link->object, followed);

    followed->is_write_open = link->is_write_open;
    followed->is_open = true;
    followed->at.is_anchored = false;
    return r < 0 ? r : locate_path(&call->locator, followed->object, followed->at.path);
}

struct following {
    struct followed *followed;
    bool follows;
};

/* What a slash follows is followed in any case. */
static int visit(void *context, const struct location *at)
{
    const struct following *following = context;
    autoclose int fd = openat(at->dir, at->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode) && (following->follows || at->has_slash))
        return 1;
    return reached(&fd, following->followed);
}

int call_follow(struct call *call, bool follows, struct followed *followed)
{
    struct following following = {followed, follows};
    const struct locate_steps steps = {.visit = visit, .context = &following};
    struct located_link link;
    int r;

    followed->at.dir = take_fd(&call->starts[0]);
    r = locate_follow(&call->locator, &steps, call->paths[0], &followed->at, &link);
    return r > 0 ? reached_open(call, &link, followed) : r;
}

int call_follow_fd(struct call *call, struct followed *followed)
{
    int r;

    followed->is_open = true;
    r = reached(&call->starts[0], followed);
    return r < 0 ? r : locate_path(&call->locator, followed->object, followed->at.path);
}
