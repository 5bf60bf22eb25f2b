/* SPDX-License-Identifier: Apache-2.0 */
#include "program_changes/store.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/places.h"
#include "overlay/named.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int store_place_open(struct store_place *place, struct bawn_error *err)
{
    place->fd = places_open_changes(false, place->path, err);
    return place->fd < 0 ? place->fd : 0;
}

void store_place_close(struct store_place *place)
{
    cleanup_close(&place->fd);
    place->fd = -EBADF;
}

void store_names_done(struct store_names *names)
{
    vec_each (&names->list, name)
        free(*name);
    vec_done(&names->list);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool store_has(const struct store_place *place, const char *name)
{
    struct stat status;

    return layers_is_name(name) && fstatat(place->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

#define GONE ".gone-" /* no name of a session begins so */

static bool is_gone(const struct store_place *place, const char *name)
{
    (void)place;
    return strncmp(name, GONE, strlen(GONE)) == 0;
}

static int list(const struct store_place *place,
                bool (*is_one)(const struct store_place *place, const char *name),
                struct store_names *names, struct bawn_error *err)
{
    int fd = openat(place->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int result = 0;

    if (!dir)
        return error_errno(err, errno, "list %s", place->path);
    while (result == 0 && (entry = readdir(dir))) {
        char *name = is_one(place, entry->d_name) ? strdup(entry->d_name) : NULL;

        if (name && !vec_push(&names->list, name)) {
            free(name);
            result = error_memory(err);
        }
    }
    (void)closedir(dir);
    if (names->list.count > 1)
        qsort(names->list.items, names->list.count, sizeof(*names->list.items), compare_names);
    return result;
}

int store_list(const struct store_place *place, struct store_names *names, struct bawn_error *err)
{
    return list(place, store_has, names, err);
}

static int take_lock(struct store *store, int lock_fd, bool only_reads, struct bawn_error *err)
{
    store->lock_fd = lock_fd;
    if (lock_fd >= 0)
        return 0;
    store->lock_fd = openat(store->dir_fd, LAYERS_LOCK,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (store->lock_fd < 0)
        return error_errno(err, errno, "open the lock of session %s", store->name);
    if (flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return error_errno(err, errno, "lock session %s", store->name);
    cleanup_close(&store->lock_fd);
    store->lock_fd = -EBADF;
    if (only_reads)
        return 0;
    (void)error_set(err, EBUSY, "changes.busy", "session %s is in use by another bawn",
                    store->name);
    error_hint(err, "wait until its command has ended; 'bawn ps' lists what runs");
    return -EBUSY;
}

/* The top of the layer is the command's to close. Then nobody could look at the rest any more, take
 * back what was applied before, or go on. */
static int let_in(const struct store_tree *tree, struct bawn_error *err)
{
    struct stat status;

    if (fstat(tree->upper_fd, &status) == 0 &&
        ((status.st_mode & 0500) == 0500 ||
         fchmodat(tree->dir_fd, LAYERS_UPPER, (status.st_mode & 07777) | 0500, 0) == 0))
        return 0;
    return error_errno(err, errno, "open the layer of %s", tree->path);
}

static int open_tree(struct store *store, unsigned number, struct bawn_error *err)
{
    struct store_tree *tree = &store->trees[store->count];
    char name[16];
    size_t length;
    int result;

    *tree = (struct store_tree){
        .number = number, .dir_fd = -EBADF, .lower_fd = -EBADF, .upper_fd = -EBADF};
    (void)snprintf(name, sizeof(name), "%u", number);
    tree->dir_fd = openat(store->dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (tree->dir_fd < 0 && errno == ENOENT)
        return 0;
    if (tree->dir_fd < 0)
        return error_errno(err, errno, "open layer %u of session %s", number, store->name);
    store->count++;
    result = file_read(tree->dir_fd, LAYERS_PATH, LIMIT_PATH_BYTES, &tree->path, &length, err);
    if (result < 0)
        return result;
    tree->upper_fd =
        openat(tree->dir_fd, LAYERS_UPPER, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (tree->upper_fd < 0)
        return error_errno(err, errno, "open the layer of %s", tree->path);
    result = store->lock_fd < 0 ? 0 : let_in(tree, err);
    if (result < 0)
        return result;
    tree->lower_fd = file_open_linkless(tree->path, O_PATH | O_DIRECTORY);
    return 0;
}

static int read_rest(struct store *store, struct bawn_error *err)
{
    autofree char *running = NULL;
    size_t length;
    size_t before;
    int result = file_read(store->dir_fd, LAYERS_WORKSPACE, LIMIT_PATH_BYTES, &store->workspace,
                           &length, NULL);

    if (result < 0 && result != -ENOENT)
        return error_errno(err, -result, "read the workspace of session %s", store->name);
    result = file_read(store->dir_fd, LAYERS_RUNNING, 64, &running, &length, NULL);
    if (result < 0 && result != -ENOENT)
        return error_errno(err, -result, "read when session %s began", store->name);
    store->began_ns = running ? strtoull(running, NULL, 10) : 0;
    for (unsigned i = 0; i < LAYERS_TREES_MAX; i++) {
        before = store->count;
        result = open_tree(store, i, err);
        if (result < 0)
            return result;
        if (store->count == before)
            break;
    }
    return 0;
}

static void forget(struct store *store)
{
    *store = (struct store){.dir_fd = -EBADF, .lock_fd = -EBADF};
}

static int enter(const struct store_place *place, const char *name, int lock_fd, bool only_reads,
                 struct store *ret_store, struct bawn_error *err)
{
    char kept[LAYERS_NAME_BYTES];

    (void)snprintf(kept, sizeof(kept), "%s", name);
    forget(ret_store);
    memcpy(ret_store->name, kept, sizeof(kept));
    ret_store->dir_fd = openat(place->fd, kept, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (ret_store->dir_fd < 0)
        return error_errno(err, errno, "open the changes of session %s", kept);
    return take_lock(ret_store, lock_fd, only_reads, err);
}

int store_open(const struct store_place *place, const char *name, int lock_fd, bool only_reads,
               struct store *ret_store, struct bawn_error *err)
{
    int result = enter(place, name, lock_fd, only_reads, ret_store, err);

    return result < 0 ? result : read_rest(ret_store, err);
}

int store_open_bare(const struct store_place *place, const char *name, struct store *ret_store,
                    struct bawn_error *err)
{
    return enter(place, name, -EBADF, false, ret_store, err);
}

void store_close(struct store *store)
{
    for (size_t i = 0; i < store->count; i++) {
        free(store->trees[i].path);
        cleanup_close(&store->trees[i].dir_fd);
        cleanup_close(&store->trees[i].lower_fd);
        cleanup_close(&store->trees[i].upper_fd);
    }
    free(store->workspace);
    cleanup_close(&store->dir_fd);
    cleanup_close(&store->lock_fd);
    forget(store);
}

struct overlay_tree store_tree(const struct store_tree *tree)
{
    return (struct overlay_tree){
        .path = tree->path, .lower_fd = tree->lower_fd, .upper_fd = tree->upper_fd};
}

int store_settled(struct store *store, struct bawn_error *err)
{
    if (unlinkat(store->dir_fd, LAYERS_RUNNING, 0) < 0 && errno != ENOENT)
        return error_errno(err, errno, "note that session %s has ended", store->name);
    store->began_ns = 0;
    return 0;
}

int store_list_gone(const struct store_place *place, struct store_names *names,
                    struct bawn_error *err)
{
    return list(place, is_gone, names, err);
}

/* What another one was ended over. */
static void remove_gone(const struct store_place *place)
{
    autostorenames struct store_names names = {0};

    (void)store_list_gone(place, &names, NULL);
    vec_each (&names.list, name)
        (void)named_remove(place->fd, *name);
}

/* It is gone at once: nobody finds a part of it, nor takes its lock while the rest is there. */
int store_remove(const struct store_place *place, struct store *store, struct bawn_error *err)
{
    char gone[LAYERS_NAME_BYTES + 32];

    (void)snprintf(gone, sizeof(gone), GONE "%s-%d", store->name, (int)getpid());
    if (renameat(place->fd, store->name, place->fd, gone) < 0)
        return error_errno(err, errno, "remove %s/%s", place->path, store->name);
    remove_gone(place);
    return 0;
}

int64_t store_used(const struct store *store)
{
    struct stat status;

    return fstat(store->dir_fd, &status) < 0 ? 0 : status.st_mtim.tv_sec;
}
