/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a plan still holds: all that was looked at while it was made is looked at again.
 *
 * How it works: names stand behind their directory. While the directory is as
 * it was, so are they. When it is not, each is looked at, and if all are as they
 * were the directory's new time is written into the file.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/limits.h"
#include "base/mounts.h"
#include "kernel/sys.h"
#include "program_bawn/plans.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum { GATES_MAX = 16 };

/* A directory that changed, though not what stands behind it. */
struct gate {
    const struct image_dep *dep;
    int64_t ctime_ns;
};

struct replay {
    const struct image *image;
    char *const *environ;
    struct timespec since; /* nothing was looked at before */
    struct gate gates[GATES_MAX];
    size_t gate_count;
};

static bool same_kind(const struct stat *status, const struct image_dep *dep)
{
    return (status->st_mode & S_IFMT) == (dep->mode & S_IFMT);
}

static bool same_rights(const struct stat *status, const struct image_dep *dep)
{
    return status->st_mode == dep->mode && status->st_uid == dep->uid;
}

/* SECURITY: by ctime, for anybody who may write sets mtime back. */
static bool same_file(const struct stat *status, const struct image_dep *dep)
{
    return status->st_dev == dep->dev && status->st_ino == dep->ino && same_rights(status, dep);
}

static bool same_content(const struct stat *status, const struct image_dep *dep)
{
    return same_file(status, dep) && image_time_ns(status->st_ctim) == dep->ctime_ns;
}

static bool leads_there(const char *path, const char *text)
{
    char target[LIMIT_PATH_BYTES];
    ssize_t length = readlink(path, target, sizeof(target));

    return length >= 0 && (size_t)length == strlen(text) &&
           memcmp(target, text, (size_t)length) == 0;
}

static bool file_holds(const char *path, const char *text, const struct image_dep *dep)
{
    struct stat status;
    int result = dep->kind == DEP_FILE ? stat(path, &status) : lstat(path, &status);

    if (result < 0)
        return ((dep->kind == DEP_ABSENT || dep->kind == DEP_NO_LINK) &&
                (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)) ||
               (dep->kind == DEP_CLOSED && (uint32_t)errno == dep->mode);
    switch (dep->kind) {
    case DEP_NO_LINK:
        return !S_ISLNK(status.st_mode);
    case DEP_ENTRY:
        return same_kind(&status, dep) && (!S_ISLNK(status.st_mode) || leads_there(path, text));
    case DEP_MODE:
        return same_file(&status, dep);
    case DEP_DIR:
    case DEP_FILE:
        return same_content(&status, dep);
    default:
        return false;
    }
}

static bool mounts_hold(const char *path, const char *text)
{
    autofree char *list = NULL;
    autostrbuf struct strbuf now = {0};

    if (mounts_read(AT_FDCWD, MOUNTS_PATH, &list, NULL) < 0)
        return false;
    mounts_add_below(&now, list, path);
    return !now.failed && strcmp(now.text ? now.text : "", text) == 0;
}

static bool dep_holds(const struct replay *replay, const struct image_dep *dep)
{
    const char *path = image_string(replay->image, dep->path);
    const char *text = image_string(replay->image, dep->text);
    const char *value;

    if (dep->kind == DEP_MOUNTS)
        return mounts_hold(path, text);
    if (dep->kind != DEP_ENV && dep->kind != DEP_NO_ENV)
        return file_holds(path, text, dep);
    value = environ_get(replay->environ, path);
    return dep->kind == DEP_NO_ENV ? !value : value && strcmp(value, text) == 0;
}

/* 1: what is behind it is as it was; 0: that is to be looked at; -1: the plan does not hold. */
static int gate_holds(struct replay *replay, const struct image_dep *dep)
{
    struct stat status;
    int64_t ctime_ns;

    if (lstat(image_string(replay->image, dep->path), &status) < 0 || !same_rights(&status, dep))
        return -1;
    ctime_ns = image_time_ns(status.st_ctim);
    if (!same_file(&status, dep) || dep->is_remote)
        return 0;
    if (ctime_ns == dep->ctime_ns)
        return 1;
    /* SECURITY: by the clock as it was before: one more change would show. */
    if (replay->gate_count < GATES_MAX && image_is_settled(ctime_ns, replay->since))
        replay->gates[replay->gate_count++] = (struct gate){dep, ctime_ns};
    return 0;
}

static bool deps_hold(struct replay *replay)
{
    image_each (replay->image, PART_DEPS, struct image_dep, dep) {
        int gate = dep->kind == DEP_GATE ? gate_holds(replay, dep) : 0;

        if (gate < 0 || (dep->kind != DEP_GATE && !dep_holds(replay, dep)))
            return false;
        if (gate > 0)
            dep += dep->behind < (size_t)(dep_end - dep) ? dep->behind : 0;
    }
    return true;
}

/* The next start need not look at all that again. */
static void shut(const struct replay *replay, int file, const char *bytes)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before;

    if (replay->gate_count == 0)
        return;
    /* A limit of file sizes is the command's. */
    (void)sigaction(SIGXFSZ, &ignored, &before);
    for (size_t i = 0; i < replay->gate_count; i++) {
        const struct gate *gate = &replay->gates[i];

        (void)!pwrite(file, &gate->ctime_ns, sizeof(gate->ctime_ns),
                      (const char *)&gate->dep->ctime_ns - bytes);
    }
    (void)sigaction(SIGXFSZ, &before, NULL);
}

bool plans_hold(const struct image *image, char *const *variables, int file, const char *bytes)
{
    struct replay replay = {.image = image, .environ = variables, .since = clock_wall()};
    struct utsname name;

    if (!(image->flags & IMAGE_PROVEN) || uname(&name) < 0 ||
        strcmp(name.release, image->release) != 0 || !deps_hold(&replay))
        return false;
    shut(&replay, file, bytes);
    return true;
}
