/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes a directory with all that is in it.
 *
 * How it works: one descriptor, however deep it goes: a command can make directories deeper than
 * there are descriptors. The way back is "..", which is checked to be where it came from. An entry
 * that cannot be removed because it is a directory with entries is gone into; back from it, its
 * parent is read anew, and what is empty now goes.
 */
#include "base/cleanup.h"
#include "overlay/named.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct place {
    dev_t dev;
    ino_t ino;
};
struct way {
    VEC(struct place) places; /* from the top to where dir_fd is */
    int dir_fd;
};

/* Opens an entry that must be a directory, and lets its owner in. */
static int open_dir(int dir_fd, const char *name, struct place *ret_place)
{
    autoclose int path_fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char proc[NAMED_PROC_BYTES];
    struct stat st;
    int fd;

    *ret_place = (struct place){0};
    if (path_fd < 0 || fstat(path_fd, &st) < 0)
        return -errno;
    if ((st.st_mode & 0700) != 0700)
        (void)chmod(named_proc_path(path_fd, proc), (st.st_mode & 07777) | 0700);
    fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *ret_place = (struct place){st.st_dev, st.st_ino};
    return fd < 0 ? -errno : fd;
}

static int go_into(struct way *way, const char *name)
{
    struct place place;
    int fd = open_dir(way->dir_fd, name, &place);

    if (fd < 0)
        return fd;
    if (way->places.count && place.dev != way->places.items[0].dev) {
        close(fd); /* a mount: never emptied */
        return -EBUSY;
    }
    if (!vec_push(&way->places, place)) {
        close(fd);
        return -ENOMEM;
    }
    close(way->dir_fd);
    way->dir_fd = fd;
    return 0;
}

static int go_back(struct way *way)
{
    int fd = openat(way->dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct place *expected;
    struct stat st;

    if (fd < 0)
        return -errno;
    way->places.count--;
    expected = &way->places.items[way->places.count - 1];
    close(way->dir_fd);
    way->dir_fd = fd;
    /* SECURITY: somebody may have moved it meanwhile, to a place where nothing is to be removed. */
    if (fstat(fd, &st) < 0 || st.st_dev != expected->dev || st.st_ino != expected->ino)
        return -ESTALE;
    return 0;
}

/* 1: went into a directory; 0: all that is here is gone. */
static int empty_here(struct way *way)
{
    autonamed struct named_list names = {0};
    int r = named_read(way->dir_fd, &names);

    if (r < 0)
        return r;
    vec_each (&names.list, name) {
        if (unlinkat(way->dir_fd, *name, 0) == 0 || errno == ENOENT)
            continue;
        if (errno != EISDIR && errno != EPERM)
            return -errno;
        if (unlinkat(way->dir_fd, *name, AT_REMOVEDIR) == 0)
            continue;
        if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
            return -errno;
        r = go_into(way, *name);
        return r < 0 ? r : 1;
    }
    return 0;
}

static int empty_all(int dir_fd, const char *name)
{
    struct way way = {.dir_fd = -EBADF};
    struct place top;
    int r;

    way.dir_fd = open_dir(dir_fd, name, &top);
    r = way.dir_fd < 0 ? way.dir_fd : vec_push(&way.places, top) ? 0 : -ENOMEM;
    while (r >= 0) {
        r = empty_here(&way);
        if (r != 0)
            continue;
        if (way.places.count == 1)
            break;
        r = go_back(&way);
    }
    if (way.dir_fd >= 0)
        close(way.dir_fd);
    vec_done(&way.places);
    return r;
}

int named_remove(int dir_fd, const char *name)
{
    int r;

    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return -errno;
    r = empty_all(dir_fd, name);
    if (r < 0)
        return r;
    return unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
