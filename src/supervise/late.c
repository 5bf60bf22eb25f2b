/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it works: every directory on the way from a shown tree's root to a hidden
 * name is watched, and for patterns every directory. An event says only where to
 * look: what is hidden is decided by the path that the sandbox has for it now, so
 * a stale event does no harm. A directory is watched first and looked through
 * afterwards: nothing is made in between unseen. Directories are opened in the
 * sandbox's own root, for that is what it shows, whatever the host's names lead
 * to by now; but their paths are kept as the host has them, as all rules are.
 */
#include "supervise/late.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kernel/sys.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/message.h"
#include "wire/rules.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum { DEPTH_MOST = 64, READ_BYTES = 65536, SLOTS = 4096 };

/* SECURITY: the command renames directories as often as it likes: of one that is watched only the
 * last paths are known. More than one counts only where the host shows it twice. */
enum { PATHS_MOST = 4 };

/* A directory that is watched, under one of its paths. */
struct watched {
    int wd;
    bool is_deep;
    struct watched *next; /* of the same slot; the newest first */
    char path[];
};

struct late {
    struct late_options options;
    struct policy policy;
    struct watched *slots[SLOTS];
    VEC(char *) targets; /* to be masked, relative to the root */
    bool *is_new;        /* which of those masked at once were not masked before */
    size_t watched;      /* directories */
    size_t most;         /* of those, for patterns */
    bool is_full;
    _Alignas(struct inotify_event) char events[READ_BYTES];
};

static int look_at(struct late *late, const char *path, bool is_deep, unsigned depth,
                   struct bawn_error *err);

/* The path relative to the sandbox's root. */
static const char *inside(const struct late *late, const char *path, char *buffer)
{
    const struct image *image = late->options.image;
    const char *moved =
        path_moved(path, late->policy.workspace, image_string(image, image->workspace_at), buffer,
                   LIMIT_PATH_BYTES);

    return moved[1] ? moved + 1 : ".";
}

/* And back, from the root. */
static const char *outside(const struct late *late, const char *path, char *buffer)
{
    const struct image *image = late->options.image;

    return path_moved(path, image_string(image, image->workspace_at), late->policy.workspace,
                      buffer, LIMIT_PATH_BYTES);
}

static int open_inside(const struct late *late, const char *path)
{
    char buffer[LIMIT_PATH_BYTES];
    int fd = sys_openat2(late->options.root_fd, inside(late, path, buffer),
                         O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                         RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH);

    return fd < 0 ? -errno : fd;
}

static void tell_masked(const struct late *late, const char *target)
{
    struct path_decision decisions[PATH_OP_COUNT];
    autostrbuf struct strbuf rule = {0};
    char path[LIMIT_PATH_BYTES + 1];
    char buffer[LIMIT_PATH_BYTES];
    struct event event = {.what = EVENT_MASKED, .verdict = VERDICT_DENY};

    (void)snprintf(path, sizeof(path), "/%s", target);
    event.texts[EVENT_PATH] = path;
    if (decide_path(&late->policy, outside(late, path, buffer), decisions) == 0) {
        message_label(&decisions[PATH_READ], &rule);
        event.texts[EVENT_RULE] = rule.failed ? NULL : rule.text;
        if (decisions[PATH_READ].access == ACCESS_ASK)
            event.verdict = VERDICT_ASK;
    }
    late->options.report(late->options.context, &event);
}

static int flush(struct late *late, struct bawn_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < late->targets.count; i += late->options.cover_most) {
        size_t left = late->targets.count - i;
        size_t count = left < late->options.cover_most ? left : late->options.cover_most;

        r = late->options.cover(late->options.context, late->targets.items + i, count, late->is_new,
                                err);
        for (size_t j = 0; r == 0 && j < count; j++) {
            if (late->is_new[j])
                tell_masked(late, late->targets.items[i + j]);
        }
    }
    vec_each (&late->targets, target)
        free(*target);
    late->targets.count = 0;
    return r;
}

static int mask(struct late *late, const char *path, struct bawn_error *err)
{
    char buffer[LIMIT_PATH_BYTES];
    char *target = strdup(inside(late, path, buffer));

    if (!target || !vec_push(&late->targets, target)) {
        free(target);
        return error_memory(err);
    }
    return 0;
}

static struct watched **slot_of(struct late *late, int wd)
{
    return &late->slots[(unsigned)wd % SLOTS];
}

/* Drops the paths of a directory but for the newest ones; returns how many it had. */
static size_t drop_paths(struct late *late, int wd, size_t kept)
{
    struct watched **at = slot_of(late, wd);
    size_t count = 0;

    while (*at) {
        struct watched *watched = *at;

        if (watched->wd != wd || ++count <= kept) {
            at = &watched->next;
            continue;
        }
        *at = watched->next;
        free(watched);
    }
    return count;
}

static int keep_path(struct late *late, const char *path, int wd, bool is_deep,
                     struct bawn_error *err)
{
    struct watched **slot = slot_of(late, wd);
    size_t size = strlen(path) + 1;
    struct watched *watched;

    for (watched = *slot; watched; watched = watched->next) {
        if (watched->wd == wd && strcmp(watched->path, path) == 0) {
            watched->is_deep |= is_deep;
            return 0;
        }
    }
    watched = calloc(1, sizeof(*watched) + size);
    if (!watched)
        return error_memory(err);
    late->watched += drop_paths(late, wd, PATHS_MOST - 1) == 0 ? 1 : 0;
    *watched = (struct watched){.wd = wd, .is_deep = is_deep, .next = *slot};
    memcpy(watched->path, path, size);
    *slot = watched;
    return 0;
}

static int refuse_watch(const char *path, int errnum, struct bawn_error *err)
{
    (void)error_errno(err, errnum, "watch %s for names that are hidden", path);
    error_hint(err, errnum == ENOSPC
                        ? "the user has no inotify watches left: see fs.inotify.max_user_watches"
                        : "grant a directory that you can read");
    return -errnum;
}

static void tell_full(const struct late *late, const char *path)
{
    static const char hint[] =
        "the command can read what others make under such a name in the directories that bawn does "
        "not watch; grant a smaller tree, or deny directories by name";
    char message[LIMIT_PATH_BYTES];
    struct event event = {.what = EVENT_FULL,
                          .texts = {[EVENT_PATH] = path,
                                    [EVENT_CODE] = "run.watches",
                                    [EVENT_MESSAGE] = message,
                                    [EVENT_HINT] = hint}};

    (void)snprintf(message, sizeof(message),
                   "%s has too many directories to watch for names that patterns hide", path);
    late->options.report(late->options.context, &event);
}

/* 1: watched; 0: it cannot be, and is masked or passed over. */
static int add_watch(struct late *late, int fd, const char *path, bool is_deep,
                     struct bawn_error *err)
{
    char link[32];
    int wd;
    int r;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (is_deep && late->watched >= late->most && !late->is_full)
        tell_full(late, path);
    late->is_full |= late->watched >= late->most;
    if (is_deep && late->is_full)
        return 0;
    wd = inotify_add_watch(late->options.fd, link, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    if (wd >= 0) {
        r = keep_path(late, path, wd, is_deep, err);
        return r < 0 ? r : 1;
    }
    /* SECURITY: of what cannot be listed a name may be known: it is hidden whole, as at the start.
     */
    if (errno == EACCES && strcmp(path, late->policy.workspace) != 0)
        return mask(late, path, err);
    if (errno != ENOSPC || !is_deep)
        return refuse_watch(path, errno, err);
    tell_full(late, path);
    late->is_full = true;
    return 0;
}

static bool leads_to_name(const struct late *late, const char *path)
{
    image_each (late->options.image, PART_WATCHES, struct image_watch, watch) {
        const char *name = image_string(late->options.image, watch->path);

        if (path_is_below(name, path))
            return true;
    }
    return false;
}

/* Whether a directory that was named is deep itself. */
static bool begins_deep(const struct late *late, const char *path)
{
    image_each (late->options.image, PART_WATCHES, struct image_watch, watch) {
        if ((watch->flags & WATCH_DEEP) &&
            strcmp(image_string(late->options.image, watch->path), path) == 0)
            return true;
    }
    return false;
}

/* Where a name is met. */
struct meeting {
    const char *dir;
    bool is_deep;
    unsigned depth;
};

/* A name in a directory that is watched. */
/* What a rule asks about stays where opens are held; with reads: dynamic so does what leads to a
 * grant. */
static bool is_hidden(const struct late *late, const struct path_decision *read)
{
    const struct image *image = late->options.image;

    if (!(image->flags & IMAGE_HOLDS_READS))
        return read->access >= ACCESS_ASK || read->reason == DECIDED_BY_SKELETON;
    return read->access == ACCESS_DENY ||
           (read->reason == DECIDED_BY_SKELETON && image->reads != READS_DYNAMIC);
}

static int meet(struct late *late, const struct meeting *at, const char *name, bool may_be_dir,
                struct bawn_error *err)
{
    const char *dir = at->dir;
    bool is_deep = at->is_deep;
    struct path_decision decisions[PATH_OP_COUNT];
    char path[LIMIT_PATH_BYTES];
    int length = snprintf(path, sizeof(path), "%s/%s", dir[1] ? dir : "", name);

    if (length >= (int)sizeof(path))
        return error_set(err, ENAMETOOLONG, "run.late", "%s/%s: the name is too long", dir, name);
    if (decide_path(&late->policy, path, decisions) < 0)
        return error_memory(err);
    if (is_hidden(late, &decisions[PATH_READ]))
        return mask(late, path, err);
    /* Nothing of the host is there. */
    if (decisions[PATH_READ].access == ACCESS_PRIVATE || !may_be_dir)
        return 0;
    is_deep |= begins_deep(late, path);
    return is_deep || leads_to_name(late, path) ? look_at(late, path, is_deep, at->depth + 1, err)
                                                : 0;
}

/* Deep: every entry. Else only those that are on the way to a name; the list may be long. */
static int look_through(struct late *late, int fd, const char *path, unsigned depth,
                        struct bawn_error *err)
{
    struct meeting at = {.dir = path, .is_deep = true, .depth = depth};
    int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = list < 0 ? NULL : fdopendir(list);
    const struct dirent *entry;
    int r = 0;

    if (!dir) {
        int errnum = errno;

        if (list >= 0)
            (void)close(list);
        return errnum == ENOENT || errnum == EACCES ? 0 : error_errno(err, errnum, "list %s", path);
    }
    while (r == 0 && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = meet(late, &at, entry->d_name,
                     entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN, err);
    }
    (void)closedir(dir);
    return r;
}

/* The names of the image that are right here. */
static int look_for_names(struct late *late, const char *path, unsigned depth,
                          struct bawn_error *err)
{
    const struct image *image = late->options.image;
    struct meeting at = {.dir = path, .depth = depth};
    size_t length = path[1] ? strlen(path) : 0;
    char next[NAME_MAX + 1] = "";
    int r = 0;

    image_each (image, PART_WATCHES, struct image_watch, watch) {
        const char *name = image_string(image, watch->path);
        size_t next_length;

        if (r < 0 || !path_is_below(name, path) || strcmp(name, path) == 0)
            continue;
        next_length = strcspn(name + length + 1, "/");
        /* They are sorted: those on one way follow each other. */
        if (next_length > NAME_MAX ||
            (strncmp(next, name + length + 1, next_length) == 0 && next[next_length] == '\0'))
            continue;
        memcpy(next, name + length + 1, next_length);
        next[next_length] = '\0';
        r = meet(late, &at, next, true, err);
    }
    return r;
}

/* A directory, if it is one: watched, and what is in it looked at. */
static int look_at(struct late *late, const char *path, bool is_deep, unsigned depth,
                   struct bawn_error *err)
{
    autoclose int fd = open_inside(late, path);
    int r;

    /* No directory, none any more, or none that the command has a way to. */
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -EACCES)
        return 0;
    if (fd < 0)
        return error_errno(err, -fd, "look at %s", path);
    if (depth > DEPTH_MOST)
        return 0;
    r = add_watch(late, fd, path, is_deep, err);
    if (r <= 0)
        return r;
    if (is_deep)
        return look_through(late, fd, path, depth, err);
    return look_for_names(late, path, depth, err);
}

static int look_at_all(struct late *late, struct bawn_error *err)
{
    const struct image *image = late->options.image;
    const char *last = "";
    int r = 0;

    /* Single names come first, and those of one tree follow each other. */
    image_each (image, PART_WATCHES, struct image_watch, watch) {
        const char *tree = image_string(image, watch->tree);
        bool is_deep = (watch->flags & WATCH_DEEP) != 0;

        if (r == 0 && (is_deep || strcmp(tree, last) != 0))
            r = look_at(late, tree, is_deep && strcmp(tree, image_string(image, watch->path)) == 0,
                        0, err);
        last = tree;
    }
    return r < 0 ? r : flush(late, err);
}

/* SECURITY: what is met may add and drop paths of any directory, so each is looked at by itself. */
static int on_event(struct late *late, const struct inotify_event *event, struct bawn_error *err)
{
    char paths[PATHS_MOST][LIMIT_PATH_BYTES];
    struct meeting at[PATHS_MOST];
    size_t count = 0;
    int r = 0;

    if (event->mask & IN_IGNORED) {
        late->watched -= drop_paths(late, event->wd, 0) > 0 ? 1 : 0;
        return 0;
    }
    for (const struct watched *watched = *slot_of(late, event->wd); watched && event->len;
         watched = watched->next) {
        if (watched->wd != event->wd || count == PATHS_MOST)
            continue;
        (void)snprintf(paths[count], sizeof(paths[count]), "%s", watched->path);
        at[count] = (struct meeting){.dir = paths[count],
                                     .is_deep = watched->is_deep,
                                     .depth = (unsigned)path_depth(watched->path)};
        count++;
    }
    for (size_t i = 0; r == 0 && i < count; i++)
        r = meet(late, &at[i], event->name, event->mask & IN_ISDIR, err);
    return r;
}

int late_serve(struct late *late, struct bawn_error *err)
{
    ssize_t got = read(late->options.fd, late->events, sizeof(late->events));
    bool was_lost = false;
    int r = 0;

    if (got < 0)
        return errno == EAGAIN || errno == EINTR
                   ? 0
                   : error_errno(err, errno, "read what was made outside");
    for (ssize_t at = 0; r == 0 && at < got;) {
        const struct inotify_event *event = (const void *)(late->events + at);

        was_lost |= event->mask & IN_Q_OVERFLOW;
        r = on_event(late, event, err);
        at += (ssize_t)(sizeof(*event) + event->len);
    }
    /* The kernel keeps only so many events: then all is looked at again. So it is where a mask was
     * not to be had: what it was for may have been moved away meanwhile. */
    if (r == 0)
        was_lost |= flush(late, err) < 0;
    return r == 0 && was_lost ? look_at_all(late, err) : r;
}

int late_new(const struct late_options *options, struct late **ret_late, struct bawn_error *err)
{
    struct late *late = calloc(1, sizeof(*late));
    int r;

    if (!late)
        return error_memory(err);
    late->options = *options;
    /* The user's other programs watch, too. The sandbox's own limit is half of what there is. */
    late->most = LATE_DIRECTORIES;
    if (options->image->limits.inotify_watches &&
        options->image->limits.inotify_watches / 2 < late->most)
        late->most = options->image->limits.inotify_watches / 2;
    late->is_new = calloc(options->cover_most, sizeof(*late->is_new));
    if (!late->is_new) {
        late_free(late);
        return error_memory(err);
    }
    r = rules_unpack(options->image, &late->policy, err);
    if (r == 0)
        r = look_at_all(late, err);
    if (r < 0) {
        late_free(late);
        return r;
    }
    *ret_late = late;
    return 0;
}

void late_free(struct late *late)
{
    if (!late)
        return;
    vec_each (&late->targets, target)
        free(*target);
    vec_done(&late->targets);
    for (size_t i = 0; i < SLOTS; i++) {
        while (late->slots[i])
            (void)drop_paths(late, late->slots[i]->wd, 0);
    }
    policy_done(&late->policy);
    free(late->is_new);
    free(late);
}
