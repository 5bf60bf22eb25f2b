/* SPDX-License-Identifier: Apache-2.0 */
#include "session/kept.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define END_FILE   "end"
#define UNFINISHED ".new-"
static const char end_magic[8] = "bawnend";

int kept_open(struct kept_place *kept, bool makes, struct bawn_error *err)
{
    kept->fd = places_open_kept(makes, kept->path, err);
    return kept->fd < 0 ? kept->fd : 0;
}

void kept_close(struct kept_place *kept)
{
    if (kept->fd >= 0)
        (void)close(take_fd(&kept->fd));
}

int kept_open_file(int dir_fd, const char *name, int flags)
{
    autoclose int fd =
        openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0)
        return -errno;
    return S_ISREG(status.st_mode) ? take_fd(&fd) : -EINVAL;
}

int kept_enter(const struct kept_place *kept, const char *sid)
{
    int fd = registry_is_sid(sid)
                 ? openat(kept->fd, sid, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;

    return fd < 0 ? -ENOENT : fd;
}

static bool write_end(int fd, enum kept_state state, int status, int errnum)
{
    struct kept_end end = {
        .state = state, .status = status, .ended = (uint64_t)time(NULL), .errnum = errnum};

    memcpy(end.magic, end_magic, sizeof(end.magic));
    return pwrite(fd, &end, sizeof(end), 0) == (ssize_t)sizeof(end);
}

void kept_put_end(const struct kept_entry *entry, enum kept_state state, int status, int errnum)
{
    (void)write_end(entry->end_fd, state, status, errnum);
}

static bool read_end(int fd, struct kept_end *ret_end)
{
    return pread(fd, ret_end, sizeof(*ret_end), 0) == (ssize_t)sizeof(*ret_end) &&
           memcmp(ret_end->magic, end_magic, sizeof(end_magic)) == 0 &&
           ret_end->state < KEPT_STATES && ret_end->status >= 0 && ret_end->status <= 255 &&
           ret_end->errnum >= 0;
}

bool kept_look(int dir_fd, struct kept_end *ret_end)
{
    autoclose int fd = kept_open_file(dir_fd, END_FILE, O_RDWR);

    if (fd < 0 || !read_end(fd, ret_end))
        return false;
    if (ret_end->state != KEPT_RUNNING || flock(fd, LOCK_SH | LOCK_NB) < 0)
        return true;
    /* Nobody writes any more. It may have said how it ended in the last moment. */
    if (read_end(fd, ret_end) && ret_end->state == KEPT_RUNNING) {
        (void)write_end(fd, KEPT_LOST, 0, ret_end->errnum);
        return read_end(fd, ret_end);
    }
    return true;
}

static int write_record(int dir_fd, const char *record, size_t length)
{
    autoclose int fd = kept_open_file(dir_fd, REGISTRY_RECORD, O_WRONLY | O_CREAT | O_EXCL);
    ssize_t written = fd < 0 ? fd : write(fd, record, length);

    if (fd < 0)
        return fd;
    return written == (ssize_t)length ? 0 : written < 0 ? -errno : -ENOSPC;
}

static int fill(int dir_fd, const char *record, size_t length, int *ret_end_fd)
{
    autoclose int fd = kept_open_file(dir_fd, END_FILE, O_RDWR | O_CREAT | O_EXCL);
    int result = fd < 0 ? fd : write_record(dir_fd, record, length);

    if (result == 0 && (flock(fd, LOCK_EX) < 0 || !write_end(fd, KEPT_RUNNING, 0, 0)))
        result = errno ? -errno : -ENOSPC;
    if (result == 0)
        *ret_end_fd = take_fd(&fd);
    return result;
}

static void remove_entry(const struct kept_place *kept, const char *name)
{
    int fd = openat(kept->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    (void)unlinkat(kept->fd, name, AT_REMOVEDIR);
}

void kept_remove(const struct kept_place *kept, const char *sid)
{
    if (registry_is_sid(sid))
        remove_entry(kept, sid);
}

int kept_make(const struct kept_place *kept, const char *sid, const char *record, size_t length,
              struct kept_entry *ret_entry, struct bawn_error *err)
{
    autoclose int dir_fd = -EBADF;
    autoclose int end_fd = -EBADF;
    char name[KEPT_NAME_BYTES];
    int result = 0;

    (void)snprintf(name, sizeof(name), UNFINISHED "%d", (int)getpid());
    remove_entry(kept, name);
    if (mkdirat(kept->fd, name, 0700) < 0)
        return error_errno(err, errno == EEXIST ? ENOTEMPTY : errno, "make a directory in %s",
                           kept->path);
    dir_fd = openat(kept->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    result = dir_fd < 0 ? -errno : fill(dir_fd, record, length, &end_fd);
    if (result < 0)
        (void)error_errno(err, -result, "write to %s", kept->path);
    /* KERNEL: over a directory that is not empty nothing is renamed. */
    else if (renameat(kept->fd, name, kept->fd, sid) < 0)
        result = errno == ENOTEMPTY || errno == EEXIST
                     ? -EEXIST
                     : error_errno(err, errno, "name the session in %s", kept->path);
    if (result < 0) {
        remove_entry(kept, name);
        return result;
    }
    *ret_entry = (struct kept_entry){.dir_fd = take_fd(&dir_fd), .end_fd = take_fd(&end_fd)};
    return 0;
}

char *kept_record(int dir_fd)
{
    autoclose int fd = kept_open_file(dir_fd, REGISTRY_RECORD, O_RDONLY);
    autofree char *text = NULL;
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0 || status.st_size <= 0 ||
        status.st_size > RECORD_BYTES_MAX)
        return NULL;
    text = malloc((size_t)status.st_size + 1);
    if (!text || pread(fd, text, (size_t)status.st_size, 0) != status.st_size)
        return NULL;
    text[status.st_size] = '\0';
    return take_ptr(&text);
}

int kept_list(const struct kept_place *kept, struct registry_names *names, struct bawn_error *err)
{
    return registry_names_read(kept->fd, kept->path, names, NULL, NULL, err);
}

/* When it was last heard of: seconds since 1970. 0: it still runs. */
static uint64_t last_heard(const struct kept_place *kept, const char *sid)
{
    autoclose int dir_fd = kept_enter(kept, sid);
    struct kept_end end;
    struct stat status;

    if (dir_fd >= 0 && kept_look(dir_fd, &end))
        return end.state == KEPT_RUNNING ? 0 : end.ended;
    return dir_fd >= 0 && fstat(dir_fd, &status) == 0 ? (uint64_t)status.st_mtime : 1;
}

struct heard {
    const char *sid;
    uint64_t at;
};

static int compare(const void *left, const void *right)
{
    const struct heard *one = left;
    const struct heard *other = right;

    return one->at < other->at ? 1 : one->at > other->at ? -1 : strcmp(one->sid, other->sid);
}

/* One that was being made when its launcher was killed. */
static void remove_abandoned(const void *context, const char *name)
{
    const struct kept_place *kept = context;
    struct stat status;

    if (strncmp(name, UNFINISHED, strlen(UNFINISHED)) == 0 &&
        fstatat(kept->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_mtime + KEPT_SECONDS < time(NULL))
        remove_entry(kept, name);
}

void kept_sweep(const struct kept_place *kept)
{
    autonames struct registry_names names = {0};
    VEC(struct heard) ended = {0};
    uint64_t now = (uint64_t)time(NULL);

    if (registry_names_read(kept->fd, kept->path, &names, remove_abandoned, kept, NULL) < 0)
        return;
    vec_each (&names.sids, sid) {
        struct heard heard = {.sid = *sid, .at = last_heard(kept, *sid)};

        if (heard.at > 0)
            (void)vec_push(&ended, heard);
    }
    if (ended.count > 1)
        qsort(ended.items, ended.count, sizeof(*ended.items), compare);
    for (size_t i = 0; i < ended.count; i++) {
        if (i >= KEPT_SESSIONS_MAX || ended.items[i].at + KEPT_SECONDS < now)
            remove_entry(kept, ended.items[i].sid);
    }
    vec_done(&ended);
}

/* A record is written once, when a session begins. */
static uint64_t began(int dir_fd)
{
    struct stat st;

    return fstatat(dir_fd, REGISTRY_RECORD, &st, AT_SYMLINK_NOFOLLOW) < 0
               ? 0
               : (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

static void swap_last_two(struct registry_names *names)
{
    size_t last = names->sids.count - 1;
    char *sid = names->sids.items[last];

    names->sids.items[last] = names->sids.items[last - 1];
    names->sids.items[last - 1] = sid;
}

int kept_called(const struct kept_place *kept, const char *name, struct registry_names *names,
                struct bawn_error *err)
{
    autonames struct registry_names all = {0};
    uint64_t latest = 0;
    int result = kept_list(kept, &all, err);

    for (size_t i = 0; result == 0 && i < all.sids.count; i++) {
        autoclose int dir_fd = kept_enter(kept, all.sids.items[i]);
        autofree char *record = dir_fd < 0 ? NULL : kept_record(dir_fd);
        char *sid = record && registry_is_called(record, name) ? all.sids.items[i] : NULL;

        if (!sid)
            continue;
        if (!vec_push(&names->sids, sid))
            return error_memory(err);
        all.sids.items[i] = NULL;
        if (began(dir_fd) >= latest)
            latest = began(dir_fd);
        else
            swap_last_two(names);
    }
    return result;
}

int kept_find(const struct kept_place *kept, const char *word, char sid[SID_BYTES],
              struct bawn_error *err)
{
    autonames struct registry_names names = {0};
    autonames struct registry_names called = {0};
    int result = kept->fd < 0 ? 0 : kept_list(kept, &names, err);
    size_t found = 0;
    char shown[64];

    if (result < 0)
        return result;
    vec_each (&names.sids, name) {
        if (!word || strncmp(*name, word, strlen(word)) == 0)
            found += snprintf(sid, SID_BYTES, "%s", *name) > 0;
    }
    if (found == 0 && word && kept->fd >= 0)
        result = kept_called(kept, word, &called, err);
    if (result == 0 && called.sids.count > 0)
        found = snprintf(sid, SID_BYTES, "%s", called.sids.items[called.sids.count - 1]) > 0;
    if (result < 0 || found == 1)
        return result;
    text_escape(shown, sizeof(shown), word ? word : "", word ? strlen(word) : 0, TEXT_ONE_LINE);
    if (!word && found == 0)
        (void)error_set(err, ESRCH, "session.none", "no session runs, and none is kept");
    else if (!word)
        (void)error_set(err, EINVAL, "session.ambiguous",
                        "which session? none runs, and %zu are kept", found);
    else if (found == 0)
        (void)error_set(err, ESRCH, "session.unknown", "%s: no such session runs, and none is kept",
                        shown);
    else
        (void)error_set(err, EINVAL, "session.ambiguous", "%s: %zu sessions begin so", shown,
                        found);
    error_hint(err, "'bawn ps --all' lists those that run and those that ended within a day");
    return found == 0 ? -ESRCH : -EINVAL;
}
