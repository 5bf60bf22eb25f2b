/* SPDX-License-Identifier: Apache-2.0 */
#include "session/layers.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/places.h"
#include "base/program.h"
#include "base/text.h"
#include "kernel/process.h"
#include "session/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

bool layers_are_needed(const struct image *image)
{
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (step->step == STEP_OVERLAY)
            return true;
    }
    return false;
}

#define PROBE_ATTRIBUTE "user.bawn"

static int lock(struct layers *layers, struct bawn_error *err)
{
    layers->lock_fd = openat(layers->dir_fd, LAYERS_LOCK,
                             O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (layers->lock_fd < 0)
        return error_errno(err, errno, "open the lock of session %s", layers->name);
    if (flock(layers->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    /* SECURITY: who has no lock does not touch what is in there. */
    cleanup_close(&layers->lock_fd);
    layers->lock_fd = -EBADF;
    if (errno != EWOULDBLOCK)
        return error_errno(err, errno, "lock session %s", layers->name);
    (void)error_set(err, EBUSY, "changes.busy", "session %s is in use by another bawn",
                    layers->name);
    error_hint(err, "wait for it to end, or give this run another name with --session");
    return -EBUSY;
}

/* The directory of the session, with its lock. Another bawn may remove an empty one meanwhile. */
static int enter(struct layers *layers, int place_fd, struct bawn_error *err)
{
    struct stat opened, named;
    int result;

    for (;;) {
        layers->is_new = mkdirat(place_fd, layers->name, 0700) == 0;
        if (!layers->is_new && errno != EEXIST)
            return error_errno(err, errno, "make a directory for the changes");
        layers->dir_fd =
            openat(place_fd, layers->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (layers->dir_fd < 0 && errno == ENOENT)
            continue;
        if (layers->dir_fd < 0)
            return error_errno(err, errno, "open the changes of session %s", layers->name);
        result = lock(layers, err);
        if (result < 0 && err && err->errnum == ENOENT)
            result = -ENOENT;
        if (result == 0 && fstat(layers->dir_fd, &opened) == 0 &&
            fstatat(place_fd, layers->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
            return 0;
        if (result < 0 && result != -ENOENT)
            return result;
        cleanup_close(&layers->lock_fd);
        cleanup_close(&layers->dir_fd);
        layers->lock_fd = layers->dir_fd = -EBADF;
    }
}

/* Not synced, as the layers themselves are not. */
static int write_file(int dir_fd, const char *name, const char *text, struct bawn_error *err)
{
    autoclose int fd =
        openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int result = fd < 0 ? -errno : file_put(fd, text, strlen(text));

    return result < 0 ? error_errno(err, -result, "write %s", name) : 0;
}

/* The number of the tree; -ENOENT: it is not among them, and *ret_free is a number for it. */
static int find_tree(int dir_fd, const char *path, unsigned *ret_free)
{
    for (unsigned i = 0; i < LAYERS_TREES_MAX; i++) {
        autofree char *text = NULL;
        char name[32];
        size_t length;
        int result;

        (void)snprintf(name, sizeof(name), "%u/" LAYERS_PATH, i);
        result = file_read(dir_fd, name, LIMIT_PATH_BYTES, &text, &length, NULL);
        if (result == -ENOENT) {
            *ret_free = i;
            return -ENOENT;
        }
        if (result < 0)
            return result;
        if (strcmp(text, path) == 0)
            return (int)i;
    }
    *ret_free = LAYERS_TREES_MAX;
    return -ENOENT;
}

/* Those that a change of would show: users' own, and access lists. */
static bool is_shown(const char *attribute)
{
    return (strncmp(attribute, "user.", 5) == 0 && strncmp(attribute, "user.overlay.", 13) != 0) ||
           strncmp(attribute, "system.posix_acl_", 17) == 0;
}

/* What cannot be copied was the tree's, and nobody inside took it away: then it shows as changed.
 */
static void copy_attributes(const char *tree, int fd)
{
    char names[4096], value[4096];
    ssize_t length = listxattr(tree, names, sizeof(names));

    for (const char *name = names; length > 0 && name < names + length; name += strlen(name) + 1) {
        ssize_t size = is_shown(name) ? getxattr(tree, name, value, sizeof(value)) : -1;

        if (size >= 0)
            (void)fsetxattr(fd, name, value, (size_t)size, 0);
    }
}

/* The layer's own directory is what is seen at the top of the overlay. KERNEL: it has its own owner
 * and mode. Where the caller may not write, the command may not, either. */
static int make_upper(int at, const char *tree, struct bawn_error *err)
{
    struct stat status;
    autoclose int fd = -EBADF;
    mode_t mode;

    if (stat(tree, &status) < 0)
        return error_errno(err, errno, "look at %s", tree);
    mode = status.st_mode & 01777;
    if (faccessat(AT_FDCWD, tree, W_OK, AT_EACCESS) < 0)
        mode &= ~(mode_t)0222;
    if (mkdirat(at, LAYERS_UPPER, 0700) < 0 || mkdirat(at, LAYERS_WORK, 0700) < 0)
        return error_errno(err, errno, "make a layer for %s", tree);
    fd = openat(at, LAYERS_UPPER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* KERNEL: without them an overlay can be made, and then directories cannot be removed. */
    if (fd >= 0 &&
        (fsetxattr(fd, PROBE_ATTRIBUTE, "", 0, 0) < 0 || fremovexattr(fd, PROBE_ATTRIBUTE) < 0)) {
        int errnum = errno;

        (void)error_errno(err, errnum, "keep an attribute of a directory in ~/" PLACES_CHANGES);
        error_hint(err,
                   "the file system of your home cannot hold the layer of an overlay; use mode "
                   "rw");
        return -errnum;
    }
    if (fd < 0 || (geteuid() == 0 && fchown(fd, status.st_uid, status.st_gid) < 0) ||
        fchmod(fd, mode) < 0)
        return error_errno(err, errno, "make a layer for %s", tree);
    copy_attributes(tree, fd);
    return 0;
}

/* What an earlier bawn was killed over; nothing was in it yet. */
static void clear_new(int dir_fd)
{
    static const char *const names[] = {LAYERS_NEW "/" LAYERS_PATH, LAYERS_NEW "/" LAYERS_UPPER,
                                        LAYERS_NEW "/" LAYERS_WORK, LAYERS_NEW};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlinkat(dir_fd, names[i], i == 0 ? 0 : AT_REMOVEDIR);
}

static int make_tree(const struct layers *layers, const char *path, unsigned number,
                     struct bawn_error *err)
{
    autoclose int fd = -EBADF;
    char name[16];
    int result;

    if (number >= LAYERS_TREES_MAX)
        return error_set(err, E2BIG, "changes.trees", "session %s has more than %d overlays",
                         layers->name, LAYERS_TREES_MAX);
    clear_new(layers->dir_fd);
    if (mkdirat(layers->dir_fd, LAYERS_NEW, 0700) < 0)
        return error_errno(err, errno, "make a layer for %s", path);
    fd = openat(layers->dir_fd, LAYERS_NEW, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "make a layer for %s", path);
    result = write_file(fd, LAYERS_PATH, path, err);
    if (result == 0)
        result = make_upper(fd, path, err);
    (void)snprintf(name, sizeof(name), "%u", number);
    if (result == 0 && renameat(layers->dir_fd, LAYERS_NEW, layers->dir_fd, name) < 0)
        result = error_errno(err, errno, "make a layer for %s", path);
    return result;
}

static int open_tree(struct layers *layers, const char *place, const char *path,
                     struct launch_layer *ret_layer, struct bawn_error *err)
{
    unsigned number = 0;
    int found = find_tree(layers->dir_fd, path, &number);
    char session[LAYERS_NAME_BYTES];
    struct stat status;
    char name[16];

    if (found >= 0)
        number = (unsigned)found;
    else if (found == -ENOENT)
        found = make_tree(layers, path, number, err);
    else
        return error_errno(err, -found, "read which trees session %s has", layers->name);
    if (found < 0)
        return found;
    (void)snprintf(name, sizeof(name), "%u", number);
    if (fstatat(layers->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return error_errno(err, errno, "look at the layer of %s", path);
    memcpy(session, layers->name, sizeof(session));
    if ((size_t)snprintf(ret_layer->path, sizeof(ret_layer->path), "%s/%s/%u", place, session,
                         number) >= sizeof(ret_layer->path))
        return error_errno(err, ENAMETOOLONG, "name the layer of %s", path);
    ret_layer->dev = status.st_dev;
    ret_layer->ino = status.st_ino;
    (void)snprintf(name, sizeof(name), "%u/" LAYERS_UPPER, number);
    if (fstatat(layers->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return error_errno(err, errno, "look at the layer of %s", path);
    ret_layer->mode = status.st_mode;
    return 0;
}

static _Noreturn void changes_main(const struct layers *layers, const char *verb,
                                   char *const *variables, bool is_quiet)
{
    char lock[32];
    char name[sizeof(layers->name)];
    char *argv[6] = {(char *)(uintptr_t) "bawn-changes"};
    size_t count = 1;

    memcpy(name, layers->name, sizeof(name));
    if (layers->lock_fd >= 0) {
        (void)snprintf(lock, sizeof(lock), "--lock-fd=%d", layers->lock_fd);
        argv[count++] = lock;
    }
    argv[count++] = (char *)(uintptr_t)verb;
    argv[count++] = name;
    if (is_quiet)
        argv[count++] = (char *)(uintptr_t) "--quiet";
    if (layers->lock_fd < 0 || fcntl(layers->lock_fd, F_SETFD, 0) == 0)
        (void)program_become("bawn-changes", argv, variables);
    _exit(127);
}

/* Has bawn-changes do something with the layers while we hold the lock, and waits for it. */
static int call_changes(const struct layers *layers, const char *verb, char *const *variables,
                        bool is_quiet, struct bawn_error *err)
{
    sigset_t none;
    int status = 0;
    pid_t pid;

    (void)sigemptyset(&none);
    pid = process_split(-EBADF, NULL);
    if (pid == 0) {
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        changes_main(layers, verb, variables, is_quiet);
    }
    while (pid > 0 && waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    /* 1: an apply that something is in the way of, which it told. Ctrl-C at a question keeps it
     * all.
     */
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return 0;
    if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT && strcmp(verb, "review") == 0)
        return 0;
    (void)error_set(err, EIO, "changes.unsettled", "what session %s changed was not looked at: %s",
                    layers->name,
                    pid < 0                                           ? strerror(errno)
                    : WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "bawn-changes is not there"
                                                                      : "bawn-changes failed");
    error_hint(err, "'bawn diff %s' does it now", layers->name);
    return -EIO;
}

/*
 * The time of the start as the kernel stamps files. KERNEL(6.13): its clock for that is now finer,
 * now coarser, but a file that changes later never has an earlier stamp.
 */
static int mark_running(struct layers *layers, const struct image *image, struct bawn_error *err)
{
    autoclose int fd = -EBADF;
    char text[32];
    struct stat status;
    int result =
        write_file(layers->dir_fd, LAYERS_WORKSPACE, image_string(image, image->workspace), err);

    if (result < 0)
        return result;
    fd = openat(layers->dir_fd, LAYERS_RUNNING,
                O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    result = fd < 0 ? -errno : file_put(fd, "\n", 1);
    if (result == 0 && fstat(fd, &status) < 0)
        result = -errno;
    if (result == 0) {
        (void)snprintf(text, sizeof(text), "%llu\n",
                       (unsigned long long)image_time_ns(status.st_ctim));
        if (pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
            result = -ENOSPC;
    }
    return result < 0 ? error_errno(err, -result, "write that session %s runs", layers->name) : 0;
}

int layers_open(struct layers *layers, const struct image *image, const char *name,
                char *const *variables, struct bawn_error *err)
{
    char place[LIMIT_PATH_BYTES];
    autoclose int place_fd = places_open_changes(true, place, err);
    int result = place_fd < 0 ? place_fd : 0;

    *layers = (struct layers){.dir_fd = -EBADF, .lock_fd = -EBADF};
    (void)snprintf(layers->name, sizeof(layers->name), "%s", name);
    if (result == 0)
        result = enter(layers, place_fd, err);
    /* SECURITY: what a killed bawn has left half done is finished first: an apply that goes on
     * afterwards would take what this run writes for what was applied. */
    if (result == 0 && !layers->is_new)
        result = call_changes(layers, "recover", variables, false, err);
    if (result == 0)
        result = mark_running(layers, image, err);
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (result < 0 || step->step != STEP_OVERLAY)
            continue;
        if (layers->count == LAYERS_TREES_MAX)
            return error_set(err, E2BIG, "changes.trees", "the policy has more than %d overlays",
                             LAYERS_TREES_MAX);
        result = open_tree(layers, place, image_string(image, step->source),
                           &layers->items[layers->count++], err);
    }
    return result;
}

/* Whether nothing was written to a layer, nor to its top. */
static bool is_untouched(const struct launch_layer *layer)
{
    char path[LIMIT_PATH_BYTES];
    char names[256];
    struct stat top;
    ssize_t length;
    unsigned count = 0;
    DIR *dir;

    (void)snprintf(path, sizeof(path), "%.*s/" LAYERS_UPPER,
                   (int)(sizeof(path) - sizeof(LAYERS_UPPER) - 1), layer->path);
    length = listxattr(path, names, sizeof(names));
    dir = length >= 0 && stat(path, &top) == 0 && top.st_mode == layer->mode ? opendir(path) : NULL;
    while (dir && readdir(dir))
        count++;
    if (dir)
        (void)closedir(dir);
    for (const char *name = names; length > 0 && name < names + length; name += strlen(name) + 1)
        count += is_shown(name);
    return dir && count == 2; /* . and .. */
}

/* Removes a session that was made for this run and to which nothing was written, as most are in
 * which a command only looked. */
static bool remove_untouched(const struct layers *layers)
{
    static const char *const in_tree[] = {"/" LAYERS_PATH, "/" LAYERS_UPPER,
                                          "/" LAYERS_WORK "/work", "/" LAYERS_WORK, ""};
    static const char *const in_session[] = {LAYERS_WORKSPACE, LAYERS_RUNNING, LAYERS_LOCK};
    char path[LIMIT_PATH_BYTES + 16];
    char *end;

    if (!layers->is_new)
        return false;
    for (unsigned i = 0; i < layers->count; i++) {
        if (!is_untouched(&layers->items[i]))
            return false;
    }
    for (unsigned i = 0; i < layers->count; i++) {
        for (size_t k = 0; k < sizeof(in_tree) / sizeof(in_tree[0]); k++) {
            (void)snprintf(path, sizeof(path), "%s%s", layers->items[i].path, in_tree[k]);
            (void)(k == 0 ? unlink(path) : rmdir(path));
        }
    }
    for (size_t k = 0; k < sizeof(in_session) / sizeof(in_session[0]); k++)
        (void)unlinkat(layers->dir_fd, in_session[k], 0);
    end = layers->count > 0 ? strrchr(path, '/') : NULL;
    if (end)
        *end = '\0';
    return end && rmdir(path) == 0;
}

int layers_settle(struct layers *layers, char *const *variables, bool is_quiet, bool reviews,
                  struct bawn_error *err)
{
    int result =
        remove_untouched(layers) ? 1 : call_changes(layers, "settle", variables, is_quiet, err);

    /* Who takes or drops it then needs the lock. */
    cleanup_close(&layers->lock_fd);
    layers->lock_fd = -EBADF;
    if (result == 0 && reviews && faccessat(layers->dir_fd, LAYERS_LOCK, F_OK, 0) == 0)
        result = call_changes(layers, "review", variables, is_quiet, err);
    return result < 0 ? result : 0;
}

static int refuse_name(const char *name, struct bawn_error *err)
{
    char shown[128];

    text_escape(shown, sizeof(shown), name, strlen(name), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "usage.bad_value", "--session: '%s' is no name for a session",
                    shown);
    error_hint(err,
               "take up to %d letters, digits, '.', '_' and '-'; it begins with a letter or a "
               "digit",
               LAYERS_NAME_BYTES - 1);
    return -EINVAL;
}

int session_open_layers(struct session *session, const struct launch_layer **ret_layers,
                        struct bawn_error *err)
{
    const struct session_request *request = session->request;
    const char *name = request->changes_name;
    int result;

    if (name && !layers_is_name(name))
        return refuse_name(name, err);
    if (!layers_are_needed(request->image)) {
        if (!name && !request->reviews)
            return 0;
        (void)error_set(err, EINVAL, "usage.bad_value",
                        "%s: this policy has no overlay, so there are no changes to %s",
                        name ? "--session" : "--review", name ? "keep" : "look at");
        error_hint(err, "add --overlay DIRECTORY, or leave the option out");
        return -EINVAL;
    }
    result = name ? 0 : session_name(session, false, err);
    if (result < 0)
        return result;
    session->layers = calloc(1, sizeof(*session->layers));
    if (!session->layers)
        return error_memory(err);
    result = layers_open(session->layers, request->image, name ? name : session->sid,
                         request->environ, err);
    if (result == -ENOSPC)
        error_hint(err, "'bawn ps --all' shows what sessions take on that disk, 'bawn gc' removes "
                        "what nobody needs");
    *ret_layers = session->layers->items;
    return result;
}

void session_settle_layers(struct session *session)
{
    const struct session_request *request = session->request;
    struct bawn_error err;

    if (!session->layers || session->layers->lock_fd < 0)
        return;
    if (layers_settle(session->layers, request->environ,
                      request->is_quiet || request->is_json || request->is_detached,
                      request->reviews && !request->is_detached, &err) < 0)
        session_say(session, &err);
}
