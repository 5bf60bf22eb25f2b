/* SPDX-License-Identifier: Apache-2.0 */
#include "session/ledger.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "session/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define SUFFIX ".ndjson"

int ledger_open_place(struct ledger_place *place, bool makes, struct bawn_error *err)
{
    place->heads_fd = places_open_heads(makes, place->path, err);
    if (place->heads_fd < 0)
        return place->heads_fd;
    /* Nobody but root and the caller can move it away from there. */
    place->dir_fd = openat(place->heads_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place->dir_fd < 0)
        return error_errno(err, errno, "open the directory above %s", place->path);
    *strrchr(place->path, '/') = '\0';
    return 0;
}

void ledger_close_place(struct ledger_place *place)
{
    if (place->dir_fd >= 0)
        (void)close(take_fd(&place->dir_fd));
    if (place->heads_fd >= 0)
        (void)close(take_fd(&place->heads_fd));
}

void ledger_make_id(const char *sid, char ret_id[static LEDGER_ID_BYTES])
{
    struct timespec now = clock_wall();
    struct tm date = {0};
    size_t length;

    (void)gmtime_r(&now.tv_sec, &date);
    length = strftime(ret_id, LEDGER_ID_BYTES, "%Y%m%dT%H%M%S", &date);
    (void)snprintf(ret_id + length, LEDGER_ID_BYTES - length, ".%03ld-%s", now.tv_nsec / 1000000,
                   sid);
}

bool ledger_is_id(const char *word)
{
    return strlen(word) == LEDGER_ID_BYTES - 1 && strspn(word, "0123456789") == 8 &&
           word[8] == 'T' && strspn(word + 9, "0123456789") == 6 && word[15] == '.' &&
           strspn(word + 16, "0123456789") == 3 && word[LEDGER_TIME_LENGTH] == '-' &&
           registry_is_sid(word + LEDGER_TIME_LENGTH + 1);
}

static void name_file(const char *id, char ret_name[static LEDGER_NAME_BYTES])
{
    (void)snprintf(ret_name, LEDGER_NAME_BYTES, "%s" SUFFIX, id);
}

int ledger_make(const struct ledger_place *place, const char *id, int *ret_fd, int *ret_head_fd)
{
    autoclose int head_fd = -EBADF;
    char name[LEDGER_NAME_BYTES];
    int fd;

    name_file(id, name);
    /* First: a trail without a head is one that somebody tampered with. */
    head_fd = kept_open_file(place->heads_fd, id, O_WRONLY | O_CREAT | O_EXCL);
    if (head_fd < 0)
        return head_fd;
    fd = kept_open_file(place->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (fd < 0) {
        (void)unlinkat(place->heads_fd, id, 0);
        return fd;
    }
    (void)flock(fd, LOCK_EX | LOCK_NB);
    *ret_fd = fd;
    *ret_head_fd = take_fd(&head_fd);
    return 0;
}

int ledger_open(const struct ledger_place *place, const char *id, int flags, int *ret_head_fd)
{
    char name[LEDGER_NAME_BYTES];
    int fd;

    name_file(id, name);
    fd = kept_open_file(place->dir_fd, name, flags);
    *ret_head_fd = fd < 0 ? -EBADF : kept_open_file(place->heads_fd, id, flags);
    return fd;
}

bool ledger_is_alive(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    (void)flock(fd, LOCK_UN);
    return false;
}

void ledger_ids_done(struct ledger_ids *ids)
{
    vec_each (&ids->items, id)
        free(*id);
    vec_done(&ids->items);
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Names in a directory that are IDs with this behind them. */
static int list_names(int dir_fd, const char *suffix, struct ledger_ids *ids)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int result = 0;

    if (!dir) {
        result = -errno;
        if (fd >= 0)
            (void)close(fd);
        return result;
    }
    while (result == 0 && (entry = readdir(dir))) {
        autofree char *id = NULL;
        size_t length = strlen(entry->d_name);

        if (!text_ends_with(entry->d_name, suffix))
            continue;
        id = strndup(entry->d_name, length - strlen(suffix));
        if (!id || (ledger_is_id(id) && !vec_push(&ids->items, id)))
            result = -ENOMEM;
        else if (ledger_is_id(id))
            id = NULL;
    }
    (void)closedir(dir);
    if (ids->items.count > 1)
        qsort(ids->items.items, ids->items.count, sizeof(*ids->items.items), compare);
    return result;
}

int ledger_list(const struct ledger_place *place, struct ledger_ids *ids, struct bawn_error *err)
{
    int result = list_names(place->dir_fd, SUFFIX, ids);

    return result < 0 ? error_errno(err, -result, "list %s", place->path) : 0;
}

int ledger_list_heads(const struct ledger_place *place, struct ledger_ids *ids,
                      struct bawn_error *err)
{
    int result = list_names(place->heads_fd, "", ids);

    return result < 0 ? error_errno(err, -result, "list the heads in %s", place->path) : 0;
}

static bool look(const struct ledger_place *place, const char *id, struct stat *ret_status)
{
    char name[LEDGER_NAME_BYTES];

    name_file(id, name);
    return fstatat(place->dir_fd, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0;
}

void ledger_remove(const struct ledger_place *place, const char *id)
{
    char name[LEDGER_NAME_BYTES];

    name_file(id, name);
    (void)unlinkat(place->dir_fd, name, 0);
    (void)unlinkat(place->heads_fd, id, 0);
}

/* False: its launcher lives. */
static bool drop(const struct ledger_place *place, const char *id)
{
    int head_fd = -EBADF;
    autoclose int fd = ledger_open(place, id, O_RDONLY, &head_fd);

    if (head_fd >= 0)
        (void)close(head_fd);
    if (fd >= 0 && ledger_is_alive(fd))
        return false;
    ledger_remove(place, id);
    return true;
}

/* A head alone tells that somebody removed its trail; for as long as that would have been kept. */
static void drop_heads(const struct ledger_place *place, time_t now)
{
    autoledgerids struct ledger_ids heads = {0};
    struct stat status;

    if (ledger_list_heads(place, &heads, NULL) < 0)
        return;
    vec_each (&heads.items, id) {
        if (fstatat(place->heads_fd, *id, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_mtime + LEDGER_SECONDS < now && !look(place, *id, &status))
            (void)unlinkat(place->heads_fd, *id, 0);
    }
}

void ledger_sweep(const struct ledger_place *place)
{
    autoledgerids struct ledger_ids ids = {0};
    time_t now = time(NULL);
    uint64_t bytes = 0;
    struct stat status;
    size_t kept = 0;

    if (ledger_list(place, &ids, NULL) < 0)
        return;
    /* The newest first: what is left over is old. */
    for (size_t i = ids.items.count; i-- > 0;) {
        const char *id = ids.items.items[i];

        if (!look(place, id, &status))
            continue;
        bytes += (uint64_t)status.st_blocks * 512;
        if ((kept >= LEDGER_MOST || bytes > LEDGER_ALL_BYTES ||
             status.st_mtime + LEDGER_SECONDS < now) &&
            drop(place, id))
            bytes -= (uint64_t)status.st_blocks * 512;
        else
            kept++;
    }
    drop_heads(place, now);
}
