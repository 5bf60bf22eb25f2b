/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled plans of command lines seen before.
 *
 * How it works: what selects a policy (options, directory, user, version) is
 * the key; a file named by its hash holds the key and the image. The image
 * lists what it was made from; when any of that changed, there is none.
 * SECURITY: the directory is the user's alone, and no sandbox can write it: the
 * policy seals it.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/strbuf.h"
#include "front/own.h"
#include "kernel/sys.h"
#include "launch/root.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

enum {
    CACHE_KEY_BYTES = 16384,
    CACHE_IMAGE_BYTES = 64 << 20,
    CACHE_ENTRIES = 400, /* then those that are older than this are removed */
    CACHE_KEEP_SECONDS = 3600,
};

/* BAWN_* variables are part of a policy; so are files that --claude reads. Then none is kept. */
static bool is_cachable(const struct front *front)
{
    for (char **at = front->environ; *at; at++) {
        if (strncmp(*at, "BAWN_", 5) == 0 && strncmp(*at, "BAWN_TEST_", 10) != 0)
            return false;
    }
    return !options_has(&front->options, OPTION_CLAUDE);
}

/* Each with its NUL, so that no value can look like two. */
static void add_part(struct strbuf *key, const char *text)
{
    strbuf_add_bytes(key, text, strlen(text) + 1);
}

/* All that selects the policy. SECURITY: a workspace by what it is, not by its name: a link may
 * lead elsewhere the next time. */
static bool make_key(const struct front *front, struct strbuf *key)
{
    const char *workspace = options_value(&front->options, OPTION_WORKSPACE);
    char path[LIMIT_PATH_BYTES];

    strbuf_addf(key, "%s %lu %lu %d", BAWN_VERSION, getauxval(AT_UID), getauxval(AT_GID),
                isatty(STDIN_FILENO) && isatty(STDERR_FILENO));
    add_part(key, "");
    if (!getcwd(path, sizeof(path)))
        return false;
    add_part(key, path);
    if (workspace && !realpath(workspace, path))
        return false;
    add_part(key, workspace ? path : "");
    vec_each (&front->options.given, given) {
        if (given->option->id == OPTION_DETACH || given->option->id == OPTION_STATS ||
            given->option->id == OPTION_JSON || given->option->id == OPTION_QUIET)
            continue;
        add_part(key, given->option->name);
        add_part(key, given->value ? given->value : "");
    }
    return !key->failed && key->length < CACHE_KEY_BYTES;
}

static uint64_t hash(const char *bytes, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++)
        seed = (seed ^ (unsigned char)bytes[i]) * 0x100000001b3ULL;
    return seed;
}

static bool make_dir(const struct front *front, char dir[LIMIT_PATH_BYTES])
{
    const char *cache = environ_get(front->environ, "XDG_CACHE_HOME");
    const char *home = environ_get(front->environ, "HOME");
    int length;

    if (cache && *cache == '/')
        length = snprintf(dir, LIMIT_PATH_BYTES, "%s/bawn/plans", cache);
    else if (home && *home == '/')
        length = snprintf(dir, LIMIT_PATH_BYTES, "%s/.cache/bawn/plans", home);
    else
        return false;
    return length < LIMIT_PATH_BYTES - 64;
}

/* SECURITY: HOME may be another user's, as with sudo -E, and he may have put something there: a
 * link, or a directory of his with a skeleton in it. */
static bool is_own(const char *dir)
{
    struct stat status;

    return lstat(dir, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == getauxval(AT_UID) && !(status.st_mode & 022);
}

/* As locate and skeleton_name make them, finished or not. */
static bool is_own_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == 16 && (name[16] == '\0' || name[16] == '.');
}

/* Where the plan is kept, and its key. */
static bool locate(const struct front *front, struct strbuf *key, char path[LIMIT_PATH_BYTES])
{
    if (!is_cachable(front) || !make_key(front, key) || !make_dir(front, path) || !is_own(path))
        return false;
    (void)snprintf(path + strlen(path), 64, "/%016llx",
                   (unsigned long long)hash(key->text, key->length, 0xcbf29ce484222325ULL));
    return true;
}

/* Beside the plan, and another for each plan that was ever made. */
static void skeleton_name(const struct image *image, char path[LIMIT_PATH_BYTES])
{
    (void)snprintf(path + strlen(path), 32, ".%016llx", (unsigned long long)image->nonce);
}

/* SECURITY: by ctime wherever a change counts, for anybody who may write sets mtime back. A link
 * that is made anew may have the number of the one before it, and lead elsewhere. */
static bool same_kind(const struct stat *status, const struct image_dep *dep)
{
    return status->st_dev == dep->dev && status->st_ino == dep->ino &&
           status->st_mode == dep->mode &&
           (!S_ISLNK(status->st_mode) || image_time_ns(status->st_ctim) == dep->ctime_ns);
}

static bool dep_holds(const struct front *front, const struct image *image,
                      const struct image_dep *dep)
{
    const char *path = image_string(image, dep->path);
    const char *value;
    struct stat status;

    if (dep->kind == DEP_ENV || dep->kind == DEP_NO_ENV) {
        value = environ_get(front->environ, path);
        return dep->kind == DEP_NO_ENV
                   ? !value
                   : value && strcmp(value, image_string(image, dep->text)) == 0;
    }
    if (lstat(path, &status) < 0)
        return dep->kind == DEP_ABSENT && (errno == ENOENT || errno == ENOTDIR);
    switch (dep->kind) {
    case DEP_PLACE:
        return same_kind(&status, dep);
    case DEP_DIR:
    case DEP_FILE:
        return same_kind(&status, dep) && image_time_ns(status.st_ctim) == dep->ctime_ns;
    default:
        return false;
    }
}

/* A gate, and since when it has been as it is if that is not what it says. */
struct gate {
    const struct image_dep *dep;
    int64_t ctime_ns;
};

static bool is_shut(const struct image *image, const struct image_dep *dep, struct gate *gate)
{
    struct stat status;

    if (lstat(image_string(image, dep->path), &status) < 0 || !same_kind(&status, dep))
        return false;
    if (image_time_ns(status.st_ctim) == dep->ctime_ns)
        return true;
    *gate = (struct gate){dep, image_time_ns(status.st_ctim)};
    return false;
}

/* *gate is one that could be shut again: what is behind it still holds. */
static bool still_holds(const struct front *front, const struct image *image, struct gate *gate)
{
    struct utsname name;

    if (!(image->flags & IMAGE_PROVEN) || uname(&name) < 0 ||
        strcmp(name.release, image->release) != 0)
        return false;
    image_each (image, PART_DEPS, struct image_dep, dep) {
        if (dep->kind != DEP_GATE && !dep_holds(front, image, dep))
            return false;
        if (dep->kind == DEP_GATE && is_shut(image, dep, gate))
            dep += dep->behind < (size_t)(dep_end - dep) ? dep->behind : 0;
    }
    return true;
}

/* A file of ours is the key, padded to 8 bytes with NULs, and the image. */
static size_t image_offset(const struct strbuf *key)
{
    return (key->length + 8) & ~(size_t)7;
}

/* The next start need not look at all that again. */
static void shut(int file, const char *bytes, const struct gate *gate)
{
    autoclose int fd = -EBADF;
    char path[32];

    if (!gate->dep || !image_is_settled(gate->ctime_ns, clock_wall()))
        return;
    /* SECURITY: this file, not one that has its name by now. */
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)!pwrite(fd, &gate->ctime_ns, sizeof(gate->ctime_ns),
                      (const char *)&gate->dep->ctime_ns - bytes);
}

static const struct image *check_file(const struct front *front, const struct strbuf *key, int fd)
{
    struct gate gate = {0};
    struct stat status;
    size_t offset = image_offset(key);
    const char *bytes;
    const struct image *image;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != getauxval(AT_UID) ||
        (status.st_mode & 077) || status.st_size <= (off_t)offset ||
        status.st_size > CACHE_IMAGE_BYTES)
        return NULL;
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    image = (const struct image *)(const void *)(bytes + offset);
    if (memcmp(bytes, key->text, key->length + 1) != 0 ||
        image_check(image, (size_t)status.st_size - offset, NULL) < 0 ||
        !still_holds(front, image, &gate)) {
        (void)munmap((void *)(uintptr_t)bytes, (size_t)status.st_size);
        return NULL;
    }
    shut(fd, bytes, &gate);
    return image;
}

/*
 * SECURITY: a directory that is removed takes the mounts on it away, in every
 * mount namespace. So who uses a skeleton holds a lock on it until he ends, and
 * nobody removes one that is locked.
 */
static bool lock_skeleton(const char *path)
{
    int fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* Descriptors stay open: they end with the sandbox. */
const struct image *cache_find(const struct front *front, char *skeleton)
{
    autostrbuf struct strbuf key = {0};
    char path[LIMIT_PATH_BYTES];
    const struct image *image;
    int fd;

    *skeleton = '\0';
    if (!locate(front, &key, path))
        return NULL;
    fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    image = fd < 0 ? NULL : check_file(front, &key, fd);
    if (image) {
        (void)snprintf(skeleton, LIMIT_PATH_BYTES, "%s", path);
        skeleton_name(image, skeleton);
        if (!lock_skeleton(skeleton))
            *skeleton = '\0';
    }
    return image;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    (void)remove(path);
    return 0;
}

static void remove_free(const char *path)
{
    autoclose int fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    else if (fd < 0)
        (void)unlink(path);
}

/* Removes what has a name that begins so and was made before that time. Returns how many there
 * are. */
static size_t sweep(const char *dir, const char *name, time_t before)
{
    char path[2 * LIMIT_PATH_BYTES];
    const struct dirent *entry;
    DIR *entries = opendir(dir);
    size_t count = 0;
    struct stat status;

    while (entries && (entry = readdir(entries))) {
        count++;
        (void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
        if (is_own_name(entry->d_name) && strncmp(entry->d_name, name, strlen(name)) == 0 &&
            lstat(path, &status) == 0 && status.st_mtime < before)
            remove_free(path);
    }
    if (entries)
        (void)closedir(entries);
    return count;
}

/* A plan, and the skeletons of all that were made under its name. */
static void drop(const char *path)
{
    char dir[LIMIT_PATH_BYTES];
    const char *name = strrchr(path, '/') + 1;
    time_t now = time(NULL);

    (void)snprintf(dir, sizeof(dir), "%.*s", (int)(name - path - 1), path);
    if (sweep(dir, name, now + 1) > CACHE_ENTRIES)
        (void)sweep(dir, "", now - CACHE_KEEP_SECONDS);
}

void cache_forget(const struct front *front)
{
    autostrbuf struct strbuf key = {0};
    char path[LIMIT_PATH_BYTES];

    if (locate(front, &key, path))
        drop(path);
}

/* Whole, or not there under its name. */
static bool make_skeleton(const struct image *image, const char *path)
{
    char unfinished[LIMIT_PATH_BYTES + 8];
    autoclose int fd = -EBADF;
    /* The modes are those of the sandbox's root, whatever the caller's mask is. */
    mode_t mask = umask(0);
    bool is_made = false;

    (void)snprintf(unfinished, sizeof(unfinished), "%s.new", path);
    if (mkdir(unfinished, 0755) == 0) {
        fd = openat(AT_FDCWD, unfinished, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        is_made = fd >= 0 && root_skeleton(image, fd, NULL) == 0;
    }
    (void)umask(mask);
    return is_made && rename(unfinished, path) == 0;
}

void cache_store(const struct front *front, const struct image *image)
{
    autostrbuf struct strbuf key = {0};
    autofree char *bytes = NULL;
    char path[LIMIT_PATH_BYTES];
    char dir[LIMIT_PATH_BYTES];
    size_t offset;
    struct image *kept;

    if ((image->flags & IMAGE_ONCE) || !make_dir(front, dir) || file_make_dirs(dir, NULL) < 0 ||
        !locate(front, &key, path))
        return;
    offset = image_offset(&key);
    bytes = calloc(1, offset + image->size);
    if (!bytes)
        return;
    drop(path);
    memcpy(bytes, key.text, key.length);
    kept = (struct image *)(void *)(bytes + offset);
    memcpy(kept, image, image->size);
    kept->flags |= IMAGE_PROVEN;
    (void)snprintf(dir, sizeof(dir), "%s", path);
    skeleton_name(image, dir);
    if (make_skeleton(image, dir))
        (void)file_write(path, bytes, offset + image->size, NULL);
}
