/* SPDX-License-Identifier: Apache-2.0 */
/* What a detached command has said, as its session keeps it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "client/client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum {
    PIECES_MAX = 4, /* two, and one that is just begun */
    TRIES = 8,
    BLOCK_BYTES = 64 * 1024,
    LOOK_MS = 250, /* one whose launcher is killed does not tell */
};

struct piece {
    char name[KEPT_NAME_BYTES];
    uint64_t start, size;
};

struct pieces {
    struct piece items[PIECES_MAX];
    size_t count;
};

struct bawn_log {
    char sid[SID_BYTES];
    int dir_fd;
    int fd;           /* of the piece that is read, or -EBADF */
    uint64_t start;   /* of that */
    uint64_t at;      /* in all that was said */
    uint64_t dropped; /* bytes that were to be read and are gone */
    int watch_fd;     /* of inotify, or -EBADF */
    bool is_over;     /* nobody writes any more: what is there is all */
};

void bawn_log_close(struct bawn_log *log)
{
    if (!log)
        return;
    if (log->dir_fd >= 0)
        (void)close(log->dir_fd);
    if (log->fd >= 0)
        (void)close(log->fd);
    if (log->watch_fd >= 0)
        (void)close(log->watch_fd);
    free(log);
}

static int refuse_unkept(const char *sid, struct bawn_error *err)
{
    (void)error_set(err, ENODATA, "session.not_kept", "%s: nothing of it is kept", sid);
    error_hint(err, "what a command says is kept where 'bawn run --detach' started it and could "
                    "write below ~/.local/state/bawn");
    return -ENODATA;
}

int bawn_log_open(const char *sid, struct bawn_log **ret_log, struct bawn_error *err)
{
    autokept struct kept_place kept = {.fd = -EBADF};
    struct bawn_session *session = NULL;
    struct bawn_log *log = calloc(1, sizeof(*log));
    int result;

    *ret_log = NULL;
    if (!log)
        return error_memory(err);
    log->dir_fd = log->fd = log->watch_fd = -EBADF;
    result = client_find(sid, &session, &kept, log->sid, err);
    bawn_session_close(session);
    if (result == 0 && kept.fd >= 0)
        log->dir_fd = kept_enter(&kept, log->sid);
    if (result == 0 && log->dir_fd < 0)
        result = refuse_unkept(log->sid, err);
    if (result < 0) {
        bawn_log_close(log);
        return result;
    }
    *ret_log = log;
    return 0;
}

static void note_piece(struct pieces *pieces, int dir_fd, const char *name)
{
    const size_t length = strlen(KEPT_OUTPUT);
    struct piece piece = {0};
    struct stat status;
    size_t i = pieces->count;

    if (i == PIECES_MAX || strncmp(name, KEPT_OUTPUT, length) != 0 ||
        strlen(name) >= sizeof(piece.name) ||
        !text_parse_count(name + length, UINT64_MAX / 2, &piece.start) ||
        fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
        return;
    (void)stpcpy(piece.name, name);
    piece.size = (uint64_t)status.st_size;
    for (; i > 0 && pieces->items[i - 1].start > piece.start; i--)
        pieces->items[i] = pieces->items[i - 1];
    pieces->items[i] = piece;
    pieces->count++;
}

/* In their order. */
static int list_pieces(const struct bawn_log *log, struct pieces *ret_pieces,
                       struct bawn_error *err)
{
    int fd = openat(log->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    *ret_pieces = (struct pieces){.count = 0};
    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return error_errno(err, errno, "%s: list what is kept", log->sid);
    }
    while ((entry = readdir(dir)))
        note_piece(ret_pieces, log->dir_fd, entry->d_name);
    (void)closedir(dir);
    return 0;
}

/* The piece where it is to be read on; NULL: there is no more. */
static const struct piece *find_piece(const struct pieces *pieces, uint64_t at)
{
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->items[i];

        if (piece->size > 0 && piece->start + piece->size > at)
            return piece;
    }
    return NULL;
}

/* 1: there is more to read in log->fd; 0: not now. */
static int turn_to(struct bawn_log *log, struct bawn_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        const struct piece *piece;
        struct pieces pieces;
        int result = list_pieces(log, &pieces, err);
        int fd;

        if (result < 0)
            return result;
        piece = find_piece(&pieces, log->at);
        if (!piece)
            return 0;
        fd = kept_open_file(log->dir_fd, piece->name, O_RDONLY);
        /* It has just been dropped. */
        if (fd == -ENOENT)
            continue;
        if (fd < 0)
            return error_errno(err, -fd, "%s: open %s", log->sid, piece->name);
        if (log->fd >= 0)
            (void)close(log->fd);
        log->fd = fd;
        log->start = piece->start;
        if (log->at < piece->start) {
            log->dropped += piece->start - log->at;
            log->at = piece->start;
        }
        return 1;
    }
    return 0;
}

int bawn_log_read(struct bawn_log *log, void *bytes, size_t size, struct bawn_error *err)
{
    size_t most = size < INT_MAX ? size : INT_MAX;

    for (;;) {
        ssize_t got = log->fd < 0 ? 0 : pread(log->fd, bytes, most, (off_t)(log->at - log->start));
        int result;

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, errno, "%s: read what is kept", log->sid);
        log->at += (uint64_t)got;
        if (got > 0)
            return (int)got;
        result = turn_to(log, err);
        if (result <= 0)
            return result;
    }
}

uint64_t bawn_log_dropped(const struct bawn_log *log)
{
    return log->dropped;
}

/* Goes back in one piece. True: the line is found where they begin. */
static bool go_back(int fd, uint64_t size, bool *is_last, uint64_t *lines, uint64_t *ret_offset)
{
    char block[BLOCK_BYTES];

    while (size > 0) {
        size_t length = size < sizeof(block) ? (size_t)size : sizeof(block);

        if (pread(fd, block, length, (off_t)(size - length)) != (ssize_t)length)
            return false;
        for (size_t i = length; i-- > 0; *is_last = false) {
            /* The end of the last line begins none. */
            if (block[i] != '\n' || *is_last || --*lines > 0)
                continue;
            *ret_offset = size - length + i + 1;
            return true;
        }
        size -= length;
    }
    *ret_offset = 0;
    return false;
}

int bawn_log_tail(struct bawn_log *log, uint64_t lines, struct bawn_error *err)
{
    struct pieces pieces;
    bool is_last = true, is_found = lines == 0;
    int result = list_pieces(log, &pieces, err);

    if (result < 0 || pieces.count == 0)
        return result;
    log->at = pieces.items[pieces.count - 1].start + pieces.items[pieces.count - 1].size;
    for (size_t i = pieces.count; !is_found && i-- > 0;) {
        const struct piece *piece = &pieces.items[i];
        autoclose int fd = kept_open_file(log->dir_fd, piece->name, O_RDONLY);
        uint64_t offset = 0;

        if (fd < 0)
            break;
        is_found = go_back(fd, piece->size, &is_last, &lines, &offset);
        log->at = piece->start + offset;
    }
    log->dropped = is_found ? 0 : log->at;
    return 0;
}

static int watch(struct bawn_log *log, struct bawn_error *err)
{
    char path[48];

    log->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", log->dir_fd);
    if (log->watch_fd < 0 || inotify_add_watch(log->watch_fd, path, IN_MODIFY) < 0)
        return error_errno(err, errno, "%s: watch what is kept", log->sid);
    return 1;
}

int bawn_log_wait(struct bawn_log *log, struct bawn_error *err)
{
    struct pollfd changed = {.fd = log->watch_fd, .events = POLLIN};
    struct kept_end end;
    char events[4096];

    if (log->is_over)
        return 0;
    /* What was said before it was watched is not told of. */
    if (log->watch_fd < 0)
        return watch(log, err);
    while (poll(&changed, 1, LOOK_MS) == 0 && kept_look(log->dir_fd, &end) &&
           end.state == KEPT_RUNNING)
        ;
    while (read(log->watch_fd, events, sizeof(events)) > 0)
        ;
    log->is_over = !kept_look(log->dir_fd, &end) || end.state != KEPT_RUNNING;
    return 1;
}

void bawn_log_state(struct bawn_log *log, struct bawn_log_state *ret_state)
{
    static const char *const states[KEPT_STATES] = {"running", "ended", "lost"};
    struct kept_end end = {.state = KEPT_LOST};

    (void)kept_look(log->dir_fd, &end);
    *ret_state = (struct bawn_log_state){.sid = log->sid,
                                         .state = states[end.state],
                                         .status = end.state == KEPT_ENDED ? end.status : 0,
                                         .errnum = end.errnum};
}
