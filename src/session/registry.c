/* SPDX-License-Identifier: Apache-2.0 */
#include "session/registry.h"

#include "base/cleanup.h"
#include "base/environ.h"
#include "base/error.h"
#include "base/file.h"
#include "base/layers.h"
#include "base/places.h"
#include "base/text.h"
#include "kernel/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { SESSIONS_MAX = 4096 };

int registry_open(struct registry *registry, char *const *variables, bool makes,
                  struct bawn_error *err)
{
    registry->fd =
        places_open_sessions(environ_get(variables, "XDG_RUNTIME_DIR"), makes, registry->path, err);
    return registry->fd < 0 ? registry->fd : 0;
}

void registry_close(struct registry *registry)
{
    if (registry->fd >= 0)
        (void)close(take_fd(&registry->fd));
}

bool registry_is_sid(const char *word)
{
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789");

    return length > 0 && length <= SID_LENGTH && word[length] == '\0';
}

void registry_names_done(struct registry_names *names)
{
    vec_each (&names->sids, sid)
        free(*sid);
    vec_done(&names->sids);
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* One that was being made when its launcher was killed, and its keeper too. */
static bool is_abandoned(const char *name)
{
    char *end;
    unsigned long long pid, start;

    if (strncmp(name, ".new-", 5) != 0)
        return false;
    pid = strtoull(name + 5, &end, 10);
    start = *end == '-' ? strtoull(end + 1, &end, 10) : 0;
    return pid > 0 && pid <= INT32_MAX && *end == '\0' && process_start((pid_t)pid) != start;
}

int registry_names_read(int dir_fd, const char *path, struct registry_names *names,
                        void (*other)(const void *context, const char *name), const void *context,
                        struct bawn_error *err)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int result = 0;

    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return error_errno(err, errno, "list %s", path);
    }
    while (result == 0 && names->sids.count < SESSIONS_MAX && (entry = readdir(dir))) {
        char *sid;

        if (strlen(entry->d_name) != SID_LENGTH || !registry_is_sid(entry->d_name)) {
            if (other)
                other(context, entry->d_name);
            continue;
        }
        sid = strdup(entry->d_name);
        if (!sid || !vec_push(&names->sids, sid)) {
            free(sid);
            result = error_memory(err);
        }
    }
    (void)closedir(dir);
    if (names->sids.count > 1)
        qsort(names->sids.items, names->sids.count, sizeof(*names->sids.items), compare);
    return result;
}

static void remove_abandoned(const void *context, const char *name)
{
    if (is_abandoned(name))
        registry_remove(context, name);
}

int registry_list(const struct registry *registry, struct registry_names *names,
                  struct bawn_error *err)
{
    return registry_names_read(registry->fd, registry->path, names, remove_abandoned, registry,
                               err);
}

/*
 * SECURITY: whoever listens gets the client's streams and variables. Where a
 * command could write what is the registry now, that may be the command: it has
 * our uid, but a pid namespace below ours. That of a launcher is not to be
 * looked at, for it is not dumpable; how many numbers it has is.
 */
static bool is_outside(int fd, bool *ret_stopped)
{
    pid_t pid = 0;
    autoclose int pidfd = process_peer(fd, &pid);
    unsigned depth = pidfd < 0 ? 0 : process_depth(pid, ret_stopped);

    return depth > 0 && process_is_at(depth) && process_is_there(pidfd);
}

pid_t registry_stopped(int sock)
{
    pid_t pid = 0;
    autoclose int pidfd = process_peer(sock, &pid);

    return pidfd >= 0 && process_is_stopped(pid) ? pid : 0;
}

static int connect_sid(const struct registry *registry, const char *sid, bool *ret_stopped)
{
    autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (fd < 0)
        return -errno;
    /* By the directory's descriptor: a path may be too long for an address. */
    (void)snprintf(address.sun_path, sizeof(address.sun_path),
                   "/proc/self/fd/%d/%.*s/" REGISTRY_CONTROL, registry->fd, SID_LENGTH, sid);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return is_outside(fd, ret_stopped) ? take_fd(&fd) : -EACCES;
}

int registry_connect_sid(const struct registry *registry, const char *sid)
{
    bool is_stopped;

    return connect_sid(registry, sid, &is_stopped);
}

static int refuse_sid(const char *word, size_t living, size_t found, struct bawn_error *err)
{
    char shown[64];

    if (!word && living == 0) {
        (void)error_set(err, ESRCH, "session.none", "no session is running");
        error_hint(err, "'bawn run --detach -- COMMAND' starts one");
        return -ESRCH;
    }
    if (!word) {
        (void)error_set(err, EINVAL, "session.ambiguous", "which session? %zu are running", living);
        error_hint(err, "name one of them; 'bawn ps' lists them");
        return -EINVAL;
    }
    text_escape(shown, sizeof(shown), word, strlen(word), TEXT_ONE_LINE);
    if (found > 1)
        (void)error_set(err, EINVAL, "session.ambiguous", "%s: %zu sessions begin so", shown,
                        found);
    else
        (void)error_set(err, ESRCH, "session.unknown", "%s: no such session is running", shown);
    error_hint(err, found > 1 ? "type one letter more; 'bawn ps' lists them"
                              : "'bawn ps' lists those that run, 'bawn ps --all' also those that "
                                "ended within a day");
    return found > 1 ? -EINVAL : -ESRCH;
}

/* The record is bawn's own, and in a string of a command's a quote is escaped. */
bool registry_is_called(const char *record, const char *name)
{
    char member[LAYERS_NAME_BYTES + 32];

    if (!layers_is_name(name))
        return false;
    (void)snprintf(member, sizeof(member), "\"" REGISTRY_CHANGES "\": \"%s\"", name);
    return strstr(record, member);
}

static bool is_called(const struct registry *registry, const char *sid, const char *word)
{
    autofree char *record = NULL;

    return registry_read(registry, sid, &record, NULL) == 0 && registry_is_called(record, word);
}

/* The sessions that word may mean: those that begin with it or are called so, and that live. */
static int find(const struct registry *registry, const char *word, char sid[SID_BYTES],
                bool *ret_stopped, struct bawn_error *err)
{
    autonames struct registry_names names = {0};
    int result = registry_list(registry, &names, err);
    size_t living = 0, found = 0;
    autoclose int sock = -EBADF;

    if (result < 0)
        return result;
    vec_each (&names.sids, name) {
        bool is_stopped = false;
        int fd = connect_sid(registry, *name, &is_stopped);

        if (fd < 0)
            continue;
        living++;
        if (word && strncmp(*name, word, strlen(word)) != 0 && !is_called(registry, *name, word)) {
            (void)close(fd);
            continue;
        }
        if (found++ == 0) {
            sock = fd;
            *ret_stopped = is_stopped;
            (void)snprintf(sid, SID_BYTES, "%s", *name);
        } else {
            (void)close(fd);
        }
    }
    return found == 1 ? take_fd(&sock) : refuse_sid(word, living, found, err);
}

static int connect_word(const struct registry *registry, const char *word, char sid[SID_BYTES],
                        bool *ret_stopped, struct bawn_error *err)
{
    if (word && strlen(word) == SID_LENGTH && registry_is_sid(word)) {
        int fd = connect_sid(registry, word, ret_stopped);

        (void)snprintf(sid, SID_BYTES, "%s", word);
        if (fd >= 0)
            return fd;
    }
    return find(registry, word, sid, ret_stopped, err);
}

int registry_connect_user(char *const *variables, const char *word, struct registry *registry,
                          char sid[SID_BYTES], bool *ret_stopped, struct bawn_error *err)
{
    int result = registry_open(registry, variables, false, err);

    if (result == -ENOENT)
        return refuse_sid(word, 0, 0, err);
    return result < 0 ? result : connect_word(registry, word, sid, ret_stopped, err);
}

int registry_read(const struct registry *registry, const char *sid, char **ret_record,
                  struct bawn_error *err)
{
    char path[64];
    size_t length;

    (void)snprintf(path, sizeof(path), "%.*s/" REGISTRY_RECORD, SID_LENGTH, sid);
    return file_read(registry->fd, path, RECORD_BYTES_MAX, ret_record, &length, err);
}

void registry_remove(const struct registry *registry, const char *name)
{
    autoclose int fd = openat(registry->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0) {
        (void)unlinkat(fd, REGISTRY_CONTROL, 0);
        (void)unlinkat(fd, REGISTRY_RECORD, 0);
        (void)unlinkat(registry->fd, name, AT_REMOVEDIR);
    }
    /* The last one takes the directory along. Whoever makes a session meanwhile tries again. */
    (void)rmdir(registry->path);
}
