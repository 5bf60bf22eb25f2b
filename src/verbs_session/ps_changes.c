/* SPDX-License-Identifier: Apache-2.0 */
/* The part of bawn ps about changes that sessions with overlays have left. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/layers.h"
#include "base/places.h"
#include "base/room.h"
#include "base/text.h"
#include "base/vec.h"
#include "verbs_session/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct left {
    char name[LAYERS_NAME_BYTES];
    char *workspace; /* or NULL */
    struct room room;
    uint64_t used;
    bool is_in_use;
};
struct lefts {
    VEC(struct left) list;
};

static void lefts_done(struct lefts *lefts)
{
    vec_each (&lefts->list, left)
        free(left->workspace);
    vec_done(&lefts->list);
}

static int look(int place_fd, const char *name, struct lefts *lefts, struct bawn_error *err)
{
    autoclose int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct left left = {.workspace = NULL};
    struct stat status;
    size_t length;

    /* Removed meanwhile, or none. */
    if (fd < 0 || fstat(fd, &status) < 0)
        return 0;
    memcpy(left.name, name, strlen(name) + 1); /* layers_is_name says that it fits */
    (void)file_read(fd, LAYERS_WORKSPACE, LIMIT_PATH_BYTES, &left.workspace, &length, NULL);
    left.used = (uint64_t)status.st_mtim.tv_sec;
    (void)room_measure(fd, 0, &left.room);
    left.is_in_use = layers_is_in_use(fd);
    if (vec_push(&lefts->list, left))
        return 0;
    free(left.workspace);
    return error_memory(err);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct left *)a)->name, ((const struct left *)b)->name);
}

static int find(struct lefts *lefts, struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES];
    autoclose int place_fd = places_open_changes(false, path, err);
    const struct dirent *entry;
    DIR *dir = NULL;
    int result = 0;
    int fd;

    if (place_fd < 0)
        return place_fd == -ENOENT && err->errnum == 0 ? 0 : place_fd;
    fd = openat(place_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        dir = fdopendir(fd);
    if (!dir)
        return error_errno(err, errno, "list %s", path);
    while (result == 0 && (entry = readdir(dir))) {
        if (layers_is_name(entry->d_name))
            result = look(place_fd, entry->d_name, lefts, err);
    }
    (void)closedir(dir);
    if (lefts->list.count > 1)
        qsort(lefts->list.items, lefts->list.count, sizeof(*lefts->list.items), compare);
    return result;
}

/* Of what is closed to us it is not known how much it is. */
static bool is_all(const struct room *room)
{
    return room->unread + room->deep == 0;
}

static void put_size(struct strbuf *out, const struct room *room)
{
    uint64_t bytes = room->layers + room->rest;

    if (!is_all(room))
        strbuf_add(out, ">");
    if (bytes < 1024 * 1024)
        strbuf_addf(out, "%llu KiB", (unsigned long long)(bytes + 1023) / 1024);
    else
        strbuf_addf(out, "%.1f MiB", (double)bytes / (1024 * 1024));
}

static void put_row(struct strbuf *out, const struct left *left)
{
    autostrbuf struct strbuf size = {0}, age = {0};
    uint64_t now = (uint64_t)time(NULL);
    char shown[LIMIT_PATH_BYTES];

    put_size(&size, &left->room);
    put_duration(&age, now > left->used ? now - left->used : 0);
    text_escape(shown, sizeof(shown), left->workspace ? left->workspace : "-",
                left->workspace ? strlen(left->workspace) : 1, TEXT_ONE_LINE);
    strbuf_addf(out, "%-16s %-10s %-8s %-12s %s\n", left->name, size.text ? size.text : "",
                left->is_in_use ? "runs" : "-", age.text ? age.text : "", shown);
}

int changes_put(struct strbuf *out, bool as_json, struct bawn_error *err)
{
    struct lefts lefts = {0};
    int result = find(&lefts, err);
    int count = (int)lefts.list.count;

    if (result == 0 && as_json)
        json_open(out, "changes", '[');
    else if (result == 0 && lefts.list.count > 0)
        strbuf_addf(out, "%s%-16s %-10s %-8s %-12s %s\n", out->length ? "\n" : "", "CHANGES OF",
                    "SIZE", "NOW", "LAST USED", "WORKSPACE");
    for (size_t i = 0; result == 0 && i < lefts.list.count; i++) {
        const struct left *left = &lefts.list.items[i];

        if (!as_json) {
            put_row(out, left);
            continue;
        }
        json_open(out, NULL, '{');
        json_put_string(out, "name", left->name);
        json_put_string(out, "workspace", left->workspace);
        json_put_uint(out, "bytes", left->room.layers + left->room.rest);
        json_put_uint(out, "layer_bytes", left->room.layers);
        json_put_bool(out, "measured_all", is_all(&left->room));
        json_put_uint(out, "used", left->used);
        json_put_bool(out, "running", left->is_in_use);
        json_close(out, '}');
    }
    if (result == 0 && as_json)
        json_close(out, ']');
    lefts_done(&lefts);
    return result < 0 ? result : count;
}
