/* SPDX-License-Identifier: Apache-2.0 */
#include "base/room.h"

#include "base/layers.h"
#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 512, FILES_LEAST = 256, FILES_MOST = 1 << 20 };

enum kind {
    KIND_SESSION,
    KIND_TREE,
    KIND_LAYER,
    KIND_WORK, /* KERNEL: what an overlay has in there is closed to all, and no command's doing */
    KIND_REST,
};

struct level {
    DIR *dir;
    enum kind kind;
};

struct walk {
    VEC(struct level) levels; /* from the session to where we are */
    struct room *room;
    struct room_files files;
};

static struct room_file *find(struct room_files *files, uint64_t dev, uint64_t ino)
{
    size_t at = (size_t)((ino * 0x9e3779b97f4a7c15ULL) ^ dev) & (files->size - 1);

    while (files->slots[at].ino && (files->slots[at].ino != ino || files->slots[at].dev != dev))
        at = (at + 1) & (files->size - 1);
    return &files->slots[at];
}

static bool grow(struct room_files *files)
{
    struct room_files grown = {.size = files->size ? files->size * 2 : FILES_LEAST};

    if (grown.size <= FILES_MOST)
        grown.slots = calloc(grown.size, sizeof(*grown.slots));
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < files->size; i++) {
        if (files->slots[i].ino)
            *find(&grown, files->slots[i].dev, files->slots[i].ino) = files->slots[i];
    }
    grown.count = files->count;
    free(files->slots);
    *files = grown;
    return true;
}

bool room_files_add(struct room_files *files, uint64_t dev, uint64_t ino)
{
    struct room_file *slot;

    if (files->count * 2 >= files->size && !files->is_full && !grow(files))
        files->is_full = true;
    slot = files->size ? find(files, dev, ino) : NULL;
    if (slot && slot->ino)
        return false;
    if (files->is_full || !slot)
        return true;
    *slot = (struct room_file){.dev = dev, .ino = ino};
    files->count++;
    return true;
}

void room_files_done(struct room_files *files)
{
    free(files->slots);
    *files = (struct room_files){0};
}

static enum kind kind_in(enum kind parent, const char *name)
{
    switch (parent) {
    case KIND_SESSION:
        return isdigit((unsigned char)name[0]) ? KIND_TREE : KIND_REST;
    case KIND_TREE:
        return strcmp(name, LAYERS_UPPER) == 0  ? KIND_LAYER
               : strcmp(name, LAYERS_WORK) == 0 ? KIND_WORK
                                                : KIND_REST;
    default:
        return parent;
    }
}

/* Where too many files have several names, each name stands for its share. */
static uint64_t bytes_of(struct walk *walk, const struct stat *status)
{
    uint64_t bytes = (uint64_t)status->st_blocks * BLOCK_BYTES;

    if (bytes == 0 || S_ISDIR(status->st_mode) || status->st_nlink < 2)
        return bytes;
    if (!room_files_add(&walk->files, status->st_dev, status->st_ino))
        return 0;
    return walk->files.is_full ? bytes / status->st_nlink : bytes;
}

static int go_into(struct walk *walk, int parent_fd, const char *name, enum kind kind)
{
    int fd = walk->levels.count < ROOM_LEVELS
                 ? openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int errnum = errno;

    if (dir && vec_push(&walk->levels, ((struct level){dir, kind})))
        return 0;
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    if (dir || errnum == ENOMEM)
        return -ENOMEM;
    if (walk->levels.count >= ROOM_LEVELS || errnum == EMFILE || errnum == ENFILE)
        walk->room->deep++;
    /* Removed or replaced meanwhile, or closed. */
    else if ((errnum == EACCES || errnum == EPERM) && kind != KIND_WORK)
        walk->room->unread++;
    return 0;
}

static int look_at(struct walk *walk, const struct level *level, const char *name)
{
    enum kind kind = kind_in(level->kind, name);
    struct stat status;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        fstatat(dirfd(level->dir), name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (kind == KIND_LAYER || kind == KIND_WORK)
        walk->room->layers += bytes_of(walk, &status);
    else
        walk->room->rest += bytes_of(walk, &status);
    return S_ISDIR(status.st_mode) ? go_into(walk, dirfd(level->dir), name, kind) : 0;
}

int room_measure(int dir_fd, uint64_t enough, struct room *ret_room)
{
    struct walk walk = {.room = ret_room};
    int result;

    *ret_room = (struct room){0};
    result = go_into(&walk, dir_fd, ".", KIND_SESSION);
    while (result == 0 && walk.levels.count > 0 && (enough == 0 || ret_room->layers <= enough)) {
        struct level level = walk.levels.items[walk.levels.count - 1];
        const struct dirent *entry = readdir(level.dir);

        if (entry) {
            result = look_at(&walk, &level, entry->d_name);
            continue;
        }
        (void)closedir(level.dir);
        walk.levels.count--;
    }
    vec_each (&walk.levels, level)
        (void)closedir(level->dir);
    vec_done(&walk.levels);
    room_files_done(&walk.files);
    return result;
}
