/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled plans of command lines seen before.
 *
 * How it works: what selects a policy (options, directory, user, version) is
 * the key; a file named by its hash holds the key and the image. The image
 * lists what it was made from; when any of that changed, there is none.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/strbuf.h"
#include "kernel/sys.h"
#include "launch/root.h"
#include "program_bawn/own.h"
#include "program_bawn/plans.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>

enum {
    CACHE_KEY_BYTES = 16384,
    CACHE_IMAGE_BYTES = 64 << 20,
    CACHE_ENTRIES = 400, /* then those that are older than this are removed */
    CACHE_KEEP_SECONDS = 3600,
    CACHE_GROUPS = 256,    /* who has more goes without */
    NO_FOLLOWING = 0x2000, /* of statfs. KERNEL(5.10): a mount with nosymfollow */
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

/* Who we are to the kernel: plans that were made with other rights show other things. Another user
 * namespace shows other owners of what a plan notes, or gives the same rights. */
static bool add_rights(struct strbuf *key)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {{0}};
    gid_t groups[CACHE_GROUPS];
    int count = getgroups(CACHE_GROUPS, groups);

    if (count < 0 || syscall(SYS_capget, &header, caps) < 0)
        return false;
    strbuf_addf(key, "%lu %lu %x%08x %d", getauxval(AT_UID), getauxval(AT_GID), caps[1].effective,
                caps[0].effective, prctl(PR_GET_SECCOMP));
    for (int i = 0; i < count; i++)
        strbuf_addf(key, " %u", (unsigned)groups[i]);
    add_part(key, "");
    return true;
}

/* All that selects the policy. SECURITY: a workspace by what it is, not by its name: a link may
 * lead elsewhere the next time. */
static bool make_key(const struct front *front, struct strbuf *key)
{
    const char *workspace = options_value(&front->options, OPTION_WORKSPACE);
    const char *self = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    char path[LIMIT_PATH_BYTES];
    struct stat program;

    /* Two programs of one version need not be the same, and one has many names. */
    if (stat(self, &program) < 0)
        return false;
    strbuf_addf(key, "%s %d %llx %llx %llx", BAWN_VERSION,
                isatty(STDIN_FILENO) && isatty(STDERR_FILENO), (unsigned long long)program.st_dev,
                (unsigned long long)program.st_ino,
                (unsigned long long)image_time_ns(program.st_ctim));
    add_part(key, "");
    if (!add_rights(key) || !getcwd(path, sizeof(path)))
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

/* As locate and skeleton_name make them, finished or not. */
static bool is_own_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == 16 && (name[16] == '\0' || name[16] == '.');
}

enum { NAME_BYTES = 64 };

/* Where the plan is kept, its key, and its name. */
static bool locate(const struct front *front, bool makes, struct plans *plans, struct strbuf *key,
                   char name[NAME_BYTES])
{
    if (!is_cachable(front) || !make_key(front, key) || !plans_open(plans, makes))
        return false;
    (void)snprintf(name, NAME_BYTES, "%016llx",
                   (unsigned long long)hash(key->text, key->length, 0xcbf29ce484222325ULL));
    return true;
}

/* Beside the plan, and another for each plan that was ever made. */
static void skeleton_name(const struct image *image, char name[NAME_BYTES])
{
    (void)snprintf(name + 16, NAME_BYTES - 16, ".%016llx", (unsigned long long)image->nonce);
}

/* A file of ours is the key, padded to 8 bytes with NULs, and the image. */
static size_t image_offset(const struct strbuf *key)
{
    return (key->length + 8) & ~(size_t)7;
}

static bool map_file(const struct strbuf *key, struct kept *kept)
{
    struct stat status;
    size_t offset = image_offset(key);
    const struct image *image;

    if (fstat(kept->fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != getauxval(AT_UID) || (status.st_mode & 077) ||
        status.st_size <= (off_t)offset || status.st_size > CACHE_IMAGE_BYTES)
        return false;
    kept->bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, kept->fd, 0);
    if (kept->bytes == MAP_FAILED)
        return false;
    image = (const struct image *)(const void *)(kept->bytes + offset);
    if (memcmp(kept->bytes, key->text, key->length + 1) == 0 &&
        image_check(image, (size_t)status.st_size - offset, NULL) == 0) {
        kept->image = image;
        return true;
    }
    (void)munmap((void *)(uintptr_t)kept->bytes, (size_t)status.st_size);
    return false;
}

int cache_holds(void *context, struct bawn_error *err)
{
    const struct kept *kept = context;

    return plans_hold(kept->image, kept->front->environ, kept->fd, kept->bytes)
               ? 0
               : error_set(err, ESTALE, "launch.stale", "the host is not as the plan says");
}

/*
 * SECURITY: a directory that is removed takes the mounts on it away, in every
 * mount namespace. So who uses a skeleton holds a lock on it until he ends, and
 * nobody removes one that is locked. The lock also keeps its number from being
 * another directory's: by that the set-up knows it.
 */
static bool lock_skeleton(const struct plans *plans, const char *name, struct launch_skeleton *ret)
{
    int fd = openat(plans->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0 || fstat(fd, &status) < 0 ||
        status.st_uid != getauxval(AT_UID) || (status.st_mode & 022))
        return false;
    *ret = (struct launch_skeleton){.dev = status.st_dev, .ino = status.st_ino};
    (void)snprintf(ret->path, sizeof(ret->path), "%.4000s/%s", plans->path, name);
    return true;
}

/* Descriptors stay open: they end with the sandbox. */
void cache_find(const struct front *front, struct kept *ret_kept)
{
    autostrbuf struct strbuf key = {0};
    autoplans struct plans plans = {.fd = -EBADF};
    char name[NAME_BYTES];

    *ret_kept = (struct kept){.front = front, .fd = -EBADF};
    if (!locate(front, false, &plans, &key, name))
        return;
    /* To be written, too: what a directory answers for is brought up to date. */
    ret_kept->fd = openat(plans.fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (ret_kept->fd < 0 && (errno == EROFS || errno == EACCES))
        ret_kept->fd = openat(plans.fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (ret_kept->fd < 0 || !map_file(&key, ret_kept))
        return;
    skeleton_name(ret_kept->image, name);
    if (!lock_skeleton(&plans, name, &ret_kept->skeleton))
        *ret_kept->skeleton.path = '\0';
}

static void remove_free(int dir_fd, const char *name)
{
    autoclose int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        plans_remove(dir_fd, name);
}

/* Removes what has a name that begins so and was made before that time, but for two skeletons.
 * Returns how many there are. */
static size_t sweep(const struct plans *plans, const char *name, time_t before,
                    const char *const spared[2])
{
    int fd = openat(plans->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    size_t count = 0;
    struct stat status;

    while (entries && (entry = readdir(entries))) {
        count++;
        if (is_own_name(entry->d_name) && strncmp(entry->d_name, name, strlen(name)) == 0 &&
            strcmp(entry->d_name, spared[0]) != 0 && strcmp(entry->d_name, spared[1]) != 0 &&
            fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_mtime < before)
            remove_free(fd, entry->d_name);
    }
    if (entries)
        (void)closedir(entries);
    else if (fd >= 0)
        (void)close(fd);
    return count;
}

/* The links of a root are followed by the mount that it lies on. */
static bool follows_links(int fd)
{
    struct statfs facts;

    return fstatfs(fd, &facts) == 0 && !((uint64_t)facts.f_flags & NO_FOLLOWING);
}

/* Whole, or not there under its name. */
static bool make_skeleton(const struct image *image, const struct plans *plans, const char *name)
{
    char unfinished[NAME_BYTES + 8];
    autoclose int fd = -EBADF;
    /* The modes are those of the sandbox's root, whatever the caller's mask is. */
    mode_t mask = umask(0);
    bool is_made = false;

    (void)snprintf(unfinished, sizeof(unfinished), "%s.new", name);
    if (mkdirat(plans->fd, unfinished, 0755) == 0) {
        fd = openat(plans->fd, unfinished, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        is_made = fd >= 0 && follows_links(fd) && root_skeleton(image, fd, NULL) == 0 &&
                  renameat(plans->fd, unfinished, plans->fd, name) == 0;
        if (!is_made)
            plans_remove(plans->fd, unfinished);
    }
    (void)umask(mask);
    return is_made;
}

static void unfinished_name(const struct place_kept *place, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "%.16s.%d", place->name, (int)getpid());
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static int write_unfinished(const struct place_kept *place, const char *bytes, size_t size)
{
    autoclose int fd = -EBADF;
    char name[NAME_BYTES];

    unfinished_name(place, name);
    fd = openat(place->plans.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    /* Another start may tidy up meanwhile. */
    (void)flock(fd, LOCK_EX | LOCK_NB);
    if (!write_all(fd, bytes, size)) {
        (void)unlinkat(place->plans.fd, name, 0);
        return -EIO;
    }
    return take_fd(&fd);
}

void cache_locate(const struct front *front, struct place_kept *ret_place)
{
    *ret_place = (struct place_kept){.plans = {.fd = -EBADF}, .fd = -EBADF};
    if (!locate(front, true, &ret_place->plans, &ret_place->key, ret_place->name))
        *ret_place->name = '\0';
}

void cache_place_done(struct place_kept *place)
{
    plans_close(&place->plans);
    strbuf_done(&place->key);
}

/* Under a name that nobody reads; a descriptor, or negative. */
static int write_plan(const struct place_kept *place, const struct image *image)
{
    size_t offset = image_offset(&place->key);
    autofree char *bytes = calloc(1, offset + image->size);
    struct image *copy;

    if (!bytes)
        return -ENOMEM;
    memcpy(bytes, place->key.text, place->key.length);
    copy = (struct image *)(void *)(bytes + offset);
    memcpy(copy, image, image->size);
    copy->flags |= IMAGE_PROVEN;
    return write_unfinished(place, bytes, offset + image->size);
}

void cache_write(struct place_kept *place, const struct image *image)
{
    if (*place->name && !(image->flags & IMAGE_ONCE))
        place->fd = write_plan(place, image);
    /* The disk has begun by the time that somebody waits for it. */
    if (place->fd >= 0)
        (void)sync_file_range(place->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void cache_store(const struct place_kept *place, bool is_proven)
{
    char name[NAME_BYTES];

    unfinished_name(place, name);
    if (place->fd >= 0 && (!is_proven || fsync(place->fd) < 0 ||
                           renameat(place->plans.fd, name, place->plans.fd, place->name) < 0))
        (void)unlinkat(place->plans.fd, name, 0);
    /* For once: what was kept before is of no use either. */
    if (place->fd < 0 && is_proven && *place->name)
        (void)unlinkat(place->plans.fd, place->name, 0);
}

/* The skeleton of the plan that is kept there now: another start may have been faster. */
static void find_skeleton(const struct place_kept *place, char name[NAME_BYTES])
{
    autoclose int fd =
        openat(place->plans.fd, place->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct image head;

    memcpy(name, place->name, NAME_BYTES);
    if (fd >= 0 &&
        pread(fd, &head, sizeof(head), (off_t)image_offset(&place->key)) == (ssize_t)sizeof(head))
        skeleton_name(&head, name);
}

void cache_tidy(const struct place_kept *place, const struct image *image)
{
    char own[NAME_BYTES], current[NAME_BYTES], others[NAME_BYTES];
    const char *const spared[] = {own, current};
    time_t now = time(NULL);

    if (!*place->name)
        return;
    memcpy(own, place->name, NAME_BYTES);
    skeleton_name(image, own);
    if (place->fd >= 0)
        (void)make_skeleton(image, &place->plans, own);
    find_skeleton(place, current);
    (void)snprintf(others, sizeof(others), "%.16s.", place->name);
    if (sweep(&place->plans, others, now + 1, spared) > CACHE_ENTRIES)
        (void)sweep(&place->plans, "", now - CACHE_KEEP_SECONDS, spared);
}
