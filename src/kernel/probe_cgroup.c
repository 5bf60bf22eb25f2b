/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who can hold the limits of a session: a control group of our own, or systemd.
 *
 * How it works: a group is made, where that is allowed; a child sets a memory and a
 * pids limit in it, moves itself in and ends; the group is removed again. In v2 a group that has
 * processes hands out no controllers, so the nearest group above is tried next, up to the top of
 * what is mounted: that is where a session's group would be made. No existing group is changed.
 */
#include "base/cleanup.h"
#include "kernel/cgroup_part.h"
#include "kernel/probe_try.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

enum { CGROUP_LIMIT_MS = 10000 };

/* Sets a group's limits and moves in. knobs: file, value, ..., NULL. */
static bool use_group(struct probe_result *result, const char *path, const char *const *knobs)
{
    int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return probe_fail(result, "open the group");
    for (; *knobs; knobs += 2)
        if (!try_write(result, dir, knobs[0], knobs[1]))
            return false;
    return true;
}

static PROBE_WORK(try_v2)
{
    static const char *const knobs[] = {"memory.max",   "max", "pids.max", "max",
                                        "cgroup.procs", "0",   NULL};

    return use_group(result, env->group[0], knobs);
}

static PROBE_WORK(try_v1)
{
    static const char *const memory[] = {"memory.limit_in_bytes", "-1", "tasks", "0", NULL};
    static const char *const pids[] = {"pids.max", "max", "tasks", "0", NULL};

    return use_group(result, env->group[0], memory) && use_group(result, env->group[1], pids);
}

enum { LEFT_SECONDS = 10 };

/* What probes left that were killed: nobody else knows of it. */
static void remove_left(const char *dir_path)
{
    static const char name[] = "bawn-probe.";
    DIR *dir = opendir(dir_path);
    const struct dirent *entry;
    struct stat st;

    while (dir && (entry = readdir(dir))) {
        long tid = strncmp(entry->d_name, name, sizeof(name) - 1) == 0
                       ? strtol(entry->d_name + sizeof(name) - 1, NULL, 10)
                       : 0;

        if (tid > 0 && kill((pid_t)tid, 0) < 0 && errno == ESRCH &&
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtime + LEFT_SECONDS < time(NULL))
            (void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
    }
    if (dir)
        (void)closedir(dir);
}

/* Runs an attempt in new groups below these directories, and removes them again. */
static int run_in_groups(PROBE_WORK((*work)), const char *const *dirs, size_t count,
                         struct probe_result *result)
{
    struct probe_env env = {0};
    char paths[2][CGROUP_PATH_BYTES + 32];
    size_t made = 0;
    int r = 0;

    for (; made < count; made++) {
        remove_left(dirs[made]);
        (void)snprintf(paths[made], sizeof(paths[made]), "%s/bawn-probe.%d", dirs[made],
                       (int)gettid());
        /* It is there already where two controllers are one hierarchy. */
        if (mkdir(paths[made], 0755) < 0 && errno != EEXIST) {
            (void)probe_fail(result, "mkdir of a group");
            break;
        }
        env.group[made] = paths[made];
    }
    if (made == count)
        r = probe_child_run(work, &env, CGROUP_LIMIT_MS, result);
    /* The child is reaped: nothing is in them any more. */
    while (made > 0)
        (void)rmdir(paths[--made]);
    return r;
}

/* Our own group first, then each one above. Keeps the first failure: it is the telling one. */
static int probe_v2(struct cgroup_place place, struct probe_result *result)
{
    if (!place.path[0]) {
        (void)probe_fail_with(result, ENOENT, "cgroup2 mount");
        return 0;
    }
    for (size_t level = 0; level < CGROUP_LEVELS; level++) {
        struct probe_result attempt = {0};
        int r = run_in_groups(try_v2, (const char *const[]){place.path}, 1, &attempt);

        if (r < 0)
            return r;
        if (attempt.errnum == 0) {
            *result = attempt;
            return 0;
        }
        (void)probe_fail_with(result, attempt.errnum, attempt.step);
        if (!cgroup_place_up(&place))
            break;
    }
    return 0;
}

static int probe_v1(const struct cgroup_places *places, struct probe_result *result)
{
    const char *const dirs[] = {places->trees[TREE_MEMORY].path, places->trees[TREE_PIDS].path};

    if (!dirs[0][0] || !dirs[1][0]) {
        (void)probe_fail_with(result, ENOENT, "cgroup v1 mounts");
        return 0;
    }
    return run_in_groups(try_v1, dirs, 2, result);
}

static bool socket_answers(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);

    return fd >= 0 && length > 0 && (size_t)length < sizeof(address.sun_path) &&
           connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

/* Whether the user's systemd was given both controllers by the system's. */
static bool manager_has_controllers(const struct cgroup_place *place, unsigned uid)
{
    autofree char *controllers = NULL;
    char path[CGROUP_PATH_BYTES + 128];

    if (!place->path[0])
        return false;
    (void)snprintf(path, sizeof(path),
                   "%.*s/user.slice/user-%u.slice/user@%u.service/cgroup.controllers",
                   (int)place->top, place->path, uid, uid);
    controllers = probe_read(path);
    return controllers && cgroup_list_has(controllers, " \n", "memory") &&
           cgroup_list_has(controllers, " \n", "pids");
}

static bool has_systemd(const struct cgroup_place *place, unsigned uid)
{
    static const char *const sockets[] = {"systemd/private", "bus"};
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[256];

    if (!runtime || runtime[0] != '/' || !manager_has_controllers(place, uid))
        return false;
    for (size_t i = 0; i < sizeof(sockets) / sizeof(*sockets); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", runtime, sockets[i]);
        if (socket_answers(path))
            return true;
    }
    return false;
}

int probe_cgroup(struct host_facts *facts)
{
    struct feature_fact *fact = &facts->features[FEATURE_CGROUP];
    struct probe_result v1 = {0}, v2 = {0};
    const struct probe_result *telling = &v2;
    struct cgroup_places places;
    int r;

    /* Without /proc no place is known: the attempts say so. */
    (void)cgroup_places_read(&places, TREES_ALL, NULL);
    r = probe_v2(places.trees[TREE_V2], &v2);
    if (r == 0 && v2.errnum)
        r = probe_v1(&places, &v1);
    if (r < 0)
        return r;
    if (!v2.errnum)
        facts->cgroup = CGROUP_V2;
    else if (!v1.errnum)
        facts->cgroup = CGROUP_V1;
    else if (has_systemd(&places.trees[TREE_V2], facts->uid))
        facts->cgroup = CGROUP_V2_SYSTEMD;
    facts->is_hasty |= v1.errnum == ETIMEDOUT || v2.errnum == ETIMEDOUT;
    fact->available = facts->cgroup != CGROUP_NONE;
    if (fact->available)
        return 0;
    /* Where the controllers are in v1, what v2 says is beside the point. */
    if (v1.errnum != ENOENT)
        telling = &v1;
    fact->errnum = telling->errnum;
    (void)snprintf(fact->step, sizeof(fact->step), "%s", telling->step);
    return 0;
}
