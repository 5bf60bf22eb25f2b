/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/observe.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "policy/home.h"
#include "supervise/call.h"
#include "supervise/identity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRS_MAX = 512, DIR_SLOTS = 1024, NAMES_MAX = 64 };
_Static_assert(DIRS_MAX < DIR_SLOTS, "a search ends");

struct observed_dir {
    char *first; /* the path that was seen first in it; owned. NULL: none */
    size_t length;
    uint64_t names[NAMES_MAX]; /* by their hashes */
    unsigned name_count;
    uint32_t untold;
};

struct observed {
    struct observed_dir dirs[DIR_SLOTS];
    unsigned count;
    uint32_t lost; /* names and directories that there was no room for */
};

static bool is_use(const struct call *call)
{
    static const char *const uses[] = {"open", "openat", "openat2", "execve", "execveat", "chdir"};

    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        if (strcmp(call->kind->name, uses[i]) == 0)
            return true;
    return false;
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ULL;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ULL;
    return hash ^ hash >> 32;
}

static void tell(struct reports *reports, const struct call *call, const char *path, uint32_t times,
                 uint32_t lost)
{
    char name[CALLER_NAME_BYTES] = "";
    char argv[EVENT_ARGV_BYTES] = "";
    struct event event = {
        .what = EVENT_USED,
        .verdict = VERDICT_ALLOW,
        .times = times,
        .lost = lost,
        .texts = {
            [EVENT_COMM] = name, [EVENT_ARGV] = argv, [EVENT_OP] = "read", [EVENT_PATH] = path}};

    if (call) {
        event.pid = (int32_t)call->notif->pid;
        event.texts[EVENT_CALL] = call->kind->name;
        (void)caller_name(call->caller, name);
        event_read_argv(caller_proc(call->caller), argv);
    }
    reports->report(reports->context, &event);
}

/* The directory that a path is in; NULL: there is no room for it. */
static struct observed_dir *dir_of(struct observed *observed, const char *path, size_t length)
{
    size_t at = hash_of(path, length) % DIR_SLOTS;
    struct observed_dir *dir = &observed->dirs[at];

    for (; dir->first; dir = &observed->dirs[at]) {
        if (dir->length == length && memcmp(dir->first, path, length) == 0)
            return dir;
        at = (at + 1) % DIR_SLOTS;
    }
    if (observed->count == DIRS_MAX)
        return NULL;
    dir->first = strdup(path);
    dir->length = length;
    observed->count += dir->first != NULL;
    return dir->first ? dir : NULL;
}

static bool knows(const struct observed_dir *dir, uint64_t name)
{
    for (unsigned i = 0; i < dir->name_count; i++)
        if (dir->names[i] == name)
            return true;
    return false;
}

static void note(const struct call *call, const char *path)
{
    struct reports *reports = call->reports;
    const char *name = strrchr(path, '/');
    struct observed_dir *dir;
    uint64_t hash;

    if (!reports->observed)
        reports->observed = calloc(1, sizeof(*reports->observed));
    if (!reports->observed || !name)
        return;
    dir = dir_of(reports->observed, path, (size_t)(name - path) + 1);
    hash = hash_of(name, strlen(name));
    if (dir && knows(dir, hash)) {
        dir->untold++;
    } else if (dir && dir->name_count < NAMES_MAX) {
        dir->names[dir->name_count++] = hash;
        tell(reports, call, path, 1, 0);
    } else {
        reports->observed->lost++;
    }
}

static bool is_observed(const struct call *call)
{
    return (call->guard->image->flags & IMAGE_OBSERVES) && call->reports->report && is_use(call);
}

/* Whether it can be read only because the command is observed. */
static bool is_lent(const struct path_decision *read)
{
    if (read->access != ACCESS_ALLOW)
        return false;
    return read->reason == DECIDED_BY_DEFAULT ||
           (read->reason == DECIDED_BY_RULE && read->rule->name &&
            read->rule->layer->authority == AUTHORITY_BUILTIN &&
            strcmp(read->rule->name, OBSERVED_RULE) == 0);
}

void observe_use(const struct call *call, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];
    char buffer[GUARD_PATH_BYTES];
    const char *outside = guard_outside(call->guard, path, buffer);

    if (is_observed(call) && decide_path(&call->guard->policy, outside, decisions) == 0 &&
        is_lent(&decisions[PATH_READ]) && locate_is_there(&call->locator, path))
        note(call, outside);
}

void observe_through(const struct call *call, const char *path)
{
    autoclose int fd = -EBADF;
    char real[LIMIT_PATH_BYTES];
    struct stat status;

    if (!is_observed(call))
        return;
    fd = locate_openat2(call->locator.root_fd, path, O_PATH,
                        RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    if (fd < 0 || locate_path(&call->locator, fd, real) < 0 || strcmp(real, path) == 0)
        return;
    observe_use(call, real);
    /* By a link of the real home, which is in the sandbox's own only while it is observed. */
    identity_leave(call->identity);
    if (guard_is_private(call->guard, path) && path_is_below(path, call->guard->policy.home) &&
        lstat(path, &status) == 0)
        note(call, path);
}

void observe_done(struct reports *reports)
{
    struct observed *observed = reports->observed;

    for (unsigned i = 0; observed && i < DIR_SLOTS; i++) {
        const struct observed_dir *dir = &observed->dirs[i];

        if (dir->first && (dir->untold || observed->lost)) {
            tell(reports, NULL, dir->first, dir->untold, observed->lost);
            observed->lost = 0;
        }
        free(observed->dirs[i].first);
    }
    free(observed);
    reports->observed = NULL;
}
