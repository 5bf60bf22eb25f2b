/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it works: the kernel finds the listener of a socket by its inode, and an
 * overlay has inodes of its own: below it every socket of the host is one that
 * nobody listens on, those that are made later too.
 *
 * KERNEL: nothing may be mounted below a layer, for in a user namespace those
 * mounts cannot be taken off. Such a directory stays as it is, and what is in it
 * is covered entry by entry: directories by overlays, sockets by a mask.
 */
#include "launch/shut.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mounts.h"
#include "kernel/sys.h"
#include "launch/remount.h"
#include "launch/root.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define LAYERS "lowerdir=.:" ROOT_SHELF "empty,userxattr"

enum { DIRECTORIES = 8192, DEPTH = 32 };

struct shut {
    int proc_fd;
    char *mounts; /* the list, once it was needed */
    unsigned left;
    const char *name;
};

/* The line of a mount in the list, or NULL. */
static const char *find_line(const struct shut *shut, unsigned long id)
{
    const char *line = shut->mounts;

    while (line && *line && strtoul(line, NULL, 10) != id) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && *line ? line : NULL;
}

static bool has_mounts(const struct shut *shut, unsigned long id)
{
    const char *line = shut->mounts;
    char *rest;

    while (line && *line) {
        (void)strtoul(line, &rest, 10);
        if (strtoul(rest, NULL, 10) == id)
            return true;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

/* Whether a file system that cannot be a layer has no sockets, or none that anybody listens on. */
static bool is_free(const struct shut *shut, unsigned long id)
{
    /* KERNEL: overlays are stacked two high. One that is read-only as a whole is like ours. */
    static const char *const free_of[] = {"autofs",  "vfat",     "msdos",     "exfat", "ntfs3",
                                          "iso9660", "squashfs", "erofs",     "proc",  "sysfs",
                                          "cgroup",  "cgroup2",  "securityfs"};
    const char *line = find_line(shut, id);
    const char *end = line ? strchr(line, '\n') : NULL;
    const char *type = line ? strstr(line, " - ") : NULL;
    const char *options;
    size_t length;

    if (!end || !type || type > end)
        return false;
    type += 3;
    length = strcspn(type, " \n");
    for (size_t i = 0; i < sizeof(free_of) / sizeof(free_of[0]); i++)
        if (strlen(free_of[i]) == length && strncmp(type, free_of[i], length) == 0)
            return true;
    options = type + length + 1;
    options += strcspn(options, " \n");
    return length == 7 && strncmp(type, "overlay", length) == 0 && strncmp(options, " ro", 3) == 0;
}

static int refuse(const struct shut *shut, int errnum, struct bawn_error *err)
{
    (void)error_set(err, errnum, "launch.sockets",
                    "bawn cannot keep sockets below /%s out of reach", shut->name);
    error_hint(err, "a file system there does not work below an overlay, or there are too many "
                    "mounts below; --best-effort goes on without");
    return -errnum;
}

/* SECURITY: what we cannot look into may be open to its owner, who is the command. */
static int mask(int fd, const char *with, struct bawn_error *err)
{
    int result = root_cover(fd, with);

    return result < 0 ? error_errno(err, -result, "mask") : 0;
}

static int shut_dir(struct shut *shut, int fd, unsigned depth, struct bawn_error *err);

static int shut_entry(struct shut *shut, int dir_fd, const struct dirent *entry, unsigned depth,
                      struct bawn_error *err)
{
    autoclose int fd = -EBADF;
    struct stat status = {0};

    if ((entry->d_type != DT_DIR && entry->d_type != DT_SOCK && entry->d_type != DT_UNKNOWN) ||
        strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return 0;
    fd = openat(dir_fd, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0)
        return errno == ENOENT ? 0 : error_errno(err, errno, "look at %s", entry->d_name);
    if (S_ISSOCK(status.st_mode))
        return mask(fd, "mask-file", err);
    return S_ISDIR(status.st_mode) ? shut_dir(shut, fd, depth + 1, err) : 0;
}

static int shut_entries(struct shut *shut, int at, unsigned depth, struct bawn_error *err)
{
    int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int result = 0;

    if (fd < 0 && errno == EACCES)
        return mask(at, "mask-dir", err);
    if (!dir)
        return error_errno(err, errno, "list a directory in /%s", shut->name);
    while (result == 0 && (entry = readdir(dir)))
        result = shut_entry(shut, fd, entry, depth, err);
    (void)closedir(dir);
    return result;
}

/* What cannot be run stays so. */
static unsigned long no_exec(int fd)
{
    struct statvfs fs;

    return fstatvfs(fd, &fs) < 0 || (fs.f_flag & ST_NOEXEC) ? MS_NOEXEC : 0;
}

static int shut_dir(struct shut *shut, int fd, unsigned depth, struct bawn_error *err)
{
    unsigned long id = 0;
    int result = 0;

    if (depth > DEPTH || shut->left-- == 0)
        return refuse(shut, E2BIG, err);
    if (fchdir(fd) == 0 && mount("overlay", ".", "overlay",
                                 MS_RDONLY | MS_NOSUID | MS_NODEV | no_exec(fd), LAYERS) == 0)
        return 0;
    if (errno == EACCES)
        return mask(fd, "mask-dir", err);
    /* ELOOP: our own shelf is in it. */
    if (errno != EINVAL && errno != ELOOP)
        return error_errno(err, errno, "mount an overlay on /%s", shut->name);
    if (errno == ELOOP)
        return shut_entries(shut, fd, depth, err);
    if (!shut->mounts)
        result = mounts_read(shut->proc_fd, "self/mountinfo", &shut->mounts, err);
    if (result == 0 && remount_mount_id(fd, &id) < 0)
        result = error_errno(err, errno, "statx");
    if (result < 0)
        return result;
    if (has_mounts(shut, id))
        return shut_entries(shut, fd, depth, err);
    return is_free(shut, id) ? 0 : refuse(shut, ENOTSUP, err);
}

int shut_tree(int proc_fd, int fd, const char *name, struct bawn_error *err)
{
    struct shut shut = {.proc_fd = proc_fd, .left = DIRECTORIES, .name = name};
    int result = shut_dir(&shut, fd, 0, err);

    free(shut.mounts);
    return result;
}
