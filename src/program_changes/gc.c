/* SPDX-License-Identifier: Apache-2.0 */
/* bawn gc: frees what is kept of sessions with overlays and nobody needs. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/room.h"
#include "base/text.h"
#include "overlay/apply.h"
#include "overlay/named.h"
#include "program_changes/own.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { UNDO_SECONDS = 7 * 24 * 60 * 60 };

enum reason { REASON_GONE, REASON_OLD, REASON_EMPTY, REASON_UNDO, REASON_NEW };
static const char *const reasons[] = {
    [REASON_GONE] = "half removed",     [REASON_OLD] = "not used for so long",
    [REASON_EMPTY] = "without changes", [REASON_UNDO] = "kept for undo",
    [REASON_NEW] = "half made",
};

struct freed {
    char name[LAYERS_NAME_BYTES];
    enum reason reason;
    uint64_t bytes;
};

struct gc {
    struct request *request;
    uint64_t older; /* seconds; 0: not given */
    bool is_dry;
    VEC(struct freed) list;
    uint64_t bytes;
    size_t in_use, failed;
    struct strbuf notes; /* what could not be looked at */
};

static uint64_t take_of(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct room room = {0};

    if (fd < 0)
        return 0;
    (void)room_measure(fd, 0, &room);
    (void)close(fd);
    return room.layers + room.rest;
}

static int add(struct gc *gc, const char *name, enum reason reason, uint64_t bytes,
               struct bawn_error *err)
{
    struct freed freed = {.reason = reason, .bytes = bytes};

    (void)snprintf(freed.name, sizeof(freed.name), "%s", name);
    gc->bytes += bytes;
    return vec_push(&gc->list, freed) ? 0 : error_memory(err);
}

static void note(struct gc *gc, const char *name, const struct bawn_error *err)
{
    gc->failed++;
    strbuf_addf(&gc->notes, "bawn: session %s stays: %s\n", name, err->message);
    if (err->hint[0])
        strbuf_addf(&gc->notes, "hint: %s\n", err->hint);
}

static int remove_halves(struct gc *gc, struct bawn_error *err)
{
    const struct store_place *place = &gc->request->place;
    autostorenames struct store_names names = {0};
    int result = store_list_gone(place, &names, err);

    vec_each (&names.list, name) {
        /* ".gone-NAME-PID" */
        size_t begin = strcspn(*name, "-") + 1;
        const char *end = strrchr(*name, '-');
        char shown[LAYERS_NAME_BYTES];
        uint64_t bytes = take_of(place->fd, *name);

        if (result < 0)
            return result;
        (void)snprintf(shown, sizeof(shown), "%.*s",
                       end > *name + begin ? (int)(end - *name - (ssize_t)begin) : 0,
                       *name + begin);
        if (!gc->is_dry)
            result = named_remove(place->fd, *name);
        result = result < 0 ? error_errno(err, -result, "remove %s/%s", place->path, *name)
                            : add(gc, shown, REASON_GONE, bytes, err);
    }
    return result;
}

static int remove_whole(struct gc *gc, enum reason reason, struct bawn_error *err)
{
    struct store *store = &gc->request->store;
    uint64_t bytes = take_of(store->dir_fd, ".");
    char name[LAYERS_NAME_BYTES];
    int result = 0;

    memcpy(name, store->name, sizeof(name));
    if (!gc->is_dry)
        result = store_remove(&gc->request->place, store, err);
    return result < 0 ? result : add(gc, name, reason, bytes, err);
}

/* What an earlier start was killed over; see session/layers.c. */
static int remove_new(struct gc *gc, struct bawn_error *err)
{
    const struct store *store = &gc->request->store;
    struct stat status;
    uint64_t bytes;
    int result = 0;

    if (fstatat(store->dir_fd, LAYERS_NEW, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    bytes = take_of(store->dir_fd, LAYERS_NEW) + (uint64_t)status.st_blocks * 512;
    if (!gc->is_dry)
        result = named_remove(store->dir_fd, LAYERS_NEW);
    return result < 0
               ? error_errno(err, -result, "remove what is half made in session %s", store->name)
               : add(gc, store->name, REASON_NEW, bytes, err);
}

static bool is_past(int64_t since, uint64_t seconds)
{
    int64_t now = (int64_t)time(NULL);

    return since < now && (uint64_t)(now - since) >= seconds;
}

static int remove_undo(struct gc *gc, struct bawn_error *err)
{
    const struct store *store = &gc->request->store;
    uint64_t bytes = apply_kept_bytes(store->dir_fd);
    int result = gc->is_dry ? 0 : apply_forget(store->dir_fd, err);

    return result < 0 ? result : add(gc, store->name, REASON_UNDO, bytes, err);
}

/* Of a session that is not used, and whose changes stay if it has any. */
static int remove_parts(struct gc *gc, struct bawn_error *err)
{
    struct request *request = gc->request;
    autofindings struct findings findings = {0};
    int64_t since = apply_kept_since(request->store.dir_fd);
    bool is_past_undo = since && is_past(since, gc->older ? gc->older : UNDO_SECONDS);
    int result = gc->is_dry ? 0 : settle(request, err);

    if (result == 0)
        result = find_changes(&request->store, &findings, err);
    if (result < 0)
        return result;
    if (findings_are_none(&findings) && (!since || is_past_undo))
        return remove_whole(gc, REASON_EMPTY, err);
    result = is_past_undo ? remove_undo(gc, err) : 0;
    return result < 0 ? result : remove_new(gc, err);
}

static int remove_old(struct gc *gc, const char *name, struct bawn_error *err)
{
    struct request *request = gc->request;
    int result = store_open_bare(&request->place, name, &request->store, err);

    /* An apply that was broken off has things in the tree that only this knows of. */
    if (result == 0 && !gc->is_dry)
        result = recover(request, err);
    return result < 0 ? result : remove_whole(gc, REASON_OLD, err);
}

static bool has(int dir_fd, const char *name)
{
    struct stat status;

    return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A closed one has something to close. */
static bool is_written(int dir_fd, const char *upper)
{
    autonamed struct named_list names = {0};
    autoclose int fd = openat(dir_fd, upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? errno != ENOENT : named_read(fd, &names) < 0 || names.list.count > 0;
}

/* Whether there can be nothing to remove in a session. It is found out without its lock, or
 * whoever wants it now would be refused. */
static bool is_needed(const struct gc *gc, int dir_fd)
{
    int64_t since = apply_kept_since(dir_fd);
    char upper[32];

    if (has(dir_fd, LAYERS_RUNNING) || has(dir_fd, LAYERS_NEW) ||
        (since && is_past(since, gc->older ? gc->older : UNDO_SECONDS)))
        return false;
    for (unsigned i = 0; i < LAYERS_TREES_MAX && since == 0; i++) {
        (void)snprintf(upper, sizeof(upper), "%u/" LAYERS_UPPER, i);
        if (is_written(dir_fd, upper))
            return true;
    }
    return since != 0;
}

static int look_at(struct gc *gc, const char *name, struct bawn_error *err)
{
    struct request *request = gc->request;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
    autoclose int fd =
        openat(request->place.fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    int result;

    if (fd < 0 || fstat(fd, &status) < 0)
        return 0;
    if (gc->older && is_past(status.st_mtim.tv_sec, gc->older))
        return remove_old(gc, name, err);
    if (is_needed(gc, fd))
        return 0;
    result = store_open(&request->place, name, -EBADF, false, &request->store, err);
    if (result == 0)
        result = remove_parts(gc, err);
    /* To look at it is not to use it. */
    times[1] = status.st_mtim;
    (void)futimens(fd, times);
    return result;
}

static int look_at_all(struct gc *gc, struct bawn_error *err)
{
    autostorenames struct store_names names = {0};
    int result = store_list(&gc->request->place, &names, err);

    vec_each (&names.list, name) {
        struct bawn_error said = {0};

        if (result < 0)
            break;
        result = look_at(gc, *name, &said);
        store_close(&gc->request->store);
        if (result == -EBUSY && strcmp(said.code, "changes.busy") == 0)
            gc->in_use++;
        else if (result == -ENOMEM)
            return error_memory(err);
        else if (result < 0)
            note(gc, *name, &said);
        result = 0;
    }
    return result;
}

static void put_bytes(struct strbuf *out, uint64_t bytes)
{
    if (bytes < 1 << 20)
        strbuf_addf(out, "%llu KiB", (unsigned long long)(bytes + 1023) / 1024);
    else
        strbuf_addf(out, "%.1f MiB", (double)bytes / (1 << 20));
}

static void put_text(const struct gc *gc, struct strbuf *out)
{
    vec_each (&gc->list, freed) {
        strbuf_addf(out, "%s ", gc->is_dry ? "would free" : "freed");
        put_bytes(out, freed->bytes);
        strbuf_addf(out, " of %s: %s\n", freed->name, reasons[freed->reason]);
    }
    if (gc->list.count == 0) {
        strbuf_add(out, "nothing to free");
    } else {
        strbuf_add(out, gc->is_dry ? "would free " : "freed ");
        put_bytes(out, gc->bytes);
        strbuf_add(out, " in all");
    }
    if (gc->in_use)
        strbuf_addf(out, "; %zu session%s in use", gc->in_use, gc->in_use == 1 ? " is" : "s are");
    strbuf_add(out, "\n");
}

static void put_json(const struct gc *gc, struct strbuf *out)
{
    json_open(out, NULL, '{');
    json_put_bool(out, "dry_run", gc->is_dry);
    json_open(out, "freed", '[');
    vec_each (&gc->list, freed) {
        json_open(out, NULL, '{');
        json_put_string(out, "session", freed->name);
        json_put_string(out, "why", reasons[freed->reason]);
        json_put_uint(out, "bytes", freed->bytes);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_put_uint(out, "bytes", gc->bytes);
    json_put_uint(out, "in_use", gc->in_use);
    json_put_uint(out, "not_looked_at", gc->failed);
    json_close(out, '}');
    strbuf_add(out, "\n");
}

static int report(struct gc *gc)
{
    struct strbuf out = {0};

    if (gc->notes.text)
        (void)fputs(gc->notes.text, stderr);
    if (gc->request->json)
        put_json(gc, &out);
    else if (!gc->request->quiet)
        put_text(gc, &out);
    if (print(&out) != STATUS_OK)
        return STATUS_FAILED;
    return gc->failed ? STATUS_FINDINGS : STATUS_OK;
}

static int read_older(struct gc *gc, struct bawn_error *err)
{
    const char *value = options_value(&gc->request->options, OPTION_OLDER);
    char shown[64];

    /* A number alone would be seconds, and few mean that. */
    if (!value || (text_parse_seconds(value, &gc->older) && gc->older > 0 &&
                   !isdigit((unsigned char)value[strlen(value) - 1])))
        return 0;
    text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "usage.bad_value", "--older: '%s' is no duration", shown);
    error_hint(err, "give a time such as 12h or 30d");
    return -EINVAL;
}

int gc_run(struct request *request, struct bawn_error *err)
{
    struct gc gc = {.request = request, .is_dry = options_has(&request->options, OPTION_DRY_RUN)};
    int result = read_older(&gc, err);

    if (result == 0)
        result = store_place_open(&request->place, err);
    if (result == 0)
        result = remove_halves(&gc, err);
    if (result == 0)
        result = look_at_all(&gc, err);
    if (result == 0 || (result == -ENOENT && err->errnum == 0))
        result = report(&gc);
    vec_done(&gc.list);
    strbuf_done(&gc.notes);
    return result;
}
