/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/kept.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/path.h"
#include "kernel/sys.h"
#include "launch/root.h"
#include "launch/root_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Names what is in the way as the host knows it, so that it can be removed there. */
static int refuse_planted(const struct image *image, const char *target, bool wants_dir,
                          struct bawn_error *err)
{
    const char *name = "";
    const char *home = "";

    image_each (image, PART_MOUNTS, struct image_mount, step) {
        const char *at = image_string(image, step->target);
        size_t length = strlen(at);

        if (step->step != STEP_KEPT || strncmp(target, at, length) != 0 || target[length] != '/')
            continue;
        home = image_string(image, step->source);
        name = target + length;
    }
    (void)error_set(err, EEXIST, "launch.kept_home",
                    "/%s is to be %s inside, and in the kept home something else has that name, or "
                    "one on the way: an earlier command left it there",
                    target, wants_dir ? "a directory" : "a file");
    error_hint(err, "remove %s%s, or all of %s", home, name, home);
    return -EEXIST;
}

/* The directory that it is in, which an earlier step has made; *ret_name is the rest. */
static int open_parent(const char *target, const char **ret_name)
{
    char parent[LIMIT_PATH_BYTES];
    const char *slash = strrchr(target, '/');

    *ret_name = slash ? slash + 1 : target;
    (void)snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - target) : 1,
                   slash ? target : ".");
    return sys_openat2(AT_FDCWD, parent, O_PATH | O_DIRECTORY | O_CLOEXEC,
                       RESOLVE_HOST | RESOLVE_BENEATH);
}

static bool is_usable(int parent, const char *name, bool wants_dir)
{
    struct stat status = {0};

    return fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           (wants_dir ? S_ISDIR(status.st_mode)
                      : !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode));
}

/* Nothing is mounted on a link: where the name is taken, what has it stays. */
static int make_link(const char *source, int parent, const char *name, struct bawn_error *err)
{
    if (symlinkat(source, parent, name) == 0 || errno == EEXIST)
        return 0;
    return error_errno(err, errno, "make the link %s in the kept home", name);
}

/* The command has it the first time; later it has its own. */
static int make_text(const char *text, unsigned mode, int parent, const char *name,
                     struct bawn_error *err)
{
    size_t length = strlen(text);
    autoclose int fd =
        openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0 && errno == EEXIST)
        return 0;
    errno = fd < 0 ? errno : ENOSPC;
    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        return error_errno(err, errno, "write %s in the kept home", name);
    return 0;
}

int kept_make_entry(const struct image *image, const struct image_mount *step,
                    struct bawn_error *err)
{
    const char *target = image_string(image, step->target);
    bool wants_dir = step->step == STEP_DIR;
    const char *name;
    autoclose int parent = open_parent(target, &name);
    int result;

    if (parent < 0 && (errno == ELOOP || errno == ENOTDIR || errno == ENOENT))
        return refuse_planted(image, target, wants_dir, err);
    if (parent < 0)
        return error_errno(err, errno, "open what /%s is in", target);
    if (step->step == STEP_SYMLINK)
        return make_link(image_string(image, step->source), parent, name, err);
    if (step->step == STEP_TEXT)
        return make_text(image_string(image, step->source), step->mode, parent, name, err);
    result =
        wants_dir ? mkdirat(parent, name, step->mode) : mknodat(parent, name, S_IFREG | 0600, 0);
    if (result == 0)
        return 0;
    if (errno != EEXIST)
        return error_errno(err, errno, "make /%s in the kept home", target);
    return is_usable(parent, name, wants_dir) ? 0 : refuse_planted(image, target, wants_dir, err);
}

int kept_mask(const struct image *image, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(image, step->target);
    autoclose int at = sys_openat2(AT_FDCWD, target, O_PATH | O_NOFOLLOW | O_CLOEXEC,
                                   RESOLVE_HOST | RESOLVE_BENEATH);
    struct stat status = {0};
    int result;

    /* Through a link it is another path, which other rules are about. */
    if (at < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return 0;
    if (at < 0 || fstat(at, &status) < 0)
        return error_errno(err, errno, "look at /%s", target);
    result = root_cover(at, S_ISDIR(status.st_mode) ? "mask-dir" : "mask-file");
    return result < 0 ? error_errno(err, -result, "mask /%s", target) : 0;
}
