/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who can hold the limits of a session: a control group of our own, or systemd.
 *
 * How it works: a child makes a group, sets a memory and a pids limit in it, moves
 * itself in and ends; the group is removed again. In v2 a group that has processes
 * hands out no controllers, so the nearest group above is tried next, up to the top
 * of what is mounted: that is where a session's group would be made. No existing
 * group is changed.
 */
#include "base/cleanup.h"
#include "kernel/probe_try.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { CGROUP_LIMIT_MS = 2000, CGROUP_LEVELS = 12 };

/* The fields of one line of mountinfo that matter here; all point into the line. */
struct mount_line {
    char *root;
    char *point;
    const char *type;
    const char *options; /* of the filesystem: v1 names its controllers here */
};

/* Octal escapes (\040 for a space) become the characters they stand for. */
static void unescape(char *text)
{
    char *out = text;

    for (const char *in = text; *in; out++) {
        if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] && in[3]) {
            *out = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
            in += 4;
        } else {
            *out = *in++;
        }
    }
    *out = '\0';
}

static bool mount_line_parse(char *line, struct mount_line *ret_mount)
{
    char *fields[5] = {0};
    char *cursor = line;
    char *tail = strstr(line, " - ");

    if (!tail)
        return false;
    *tail = '\0';
    tail += 3;
    for (size_t i = 0; i < 5 && cursor; i++)
        fields[i] = strsep(&cursor, " ");
    ret_mount->root = fields[3];
    ret_mount->point = fields[4];
    ret_mount->type = strsep(&tail, " ");
    (void)strsep(&tail, " ");
    ret_mount->options = tail;
    if (!ret_mount->point || !ret_mount->options)
        return false;
    unescape(ret_mount->root);
    unescape(ret_mount->point);
    return true;
}

/* Whether word is one of the items of a list. */
static bool list_has(const char *list, const char *separators, const char *word)
{
    size_t length = strlen(word);

    for (;;) {
        size_t item = strcspn(list, separators);

        if (item == length && strncmp(list, word, length) == 0)
            return true;
        if (!list[item])
            return false;
        list += item + 1;
    }
}

/* Our group in one hierarchy, from /proc/self/cgroup: controller NULL means v2. */
static char *own_group(const char *controller)
{
    autofree char *text = probe_read("/proc/self/cgroup");
    char *cursor = text;
    char *line;

    while ((line = strsep(&cursor, "\n"))) {
        char *rest = line;
        const char *number = strsep(&rest, ":");
        const char *names = strsep(&rest, ":");

        if (!rest || !names)
            continue;
        if (controller ? list_has(names, ",", controller) : strcmp(number, "0") == 0 && !*names)
            return strdup(rest);
    }
    return NULL;
}

/*
 * The directory of our own group, NULL when it is not mounted where we can see it.
 * *ret_top is the length of the part that is the mount point.
 */
static char *own_directory(const char *controller, size_t *ret_top)
{
    autofree char *group = own_group(controller);
    autofree char *text = probe_read("/proc/self/mountinfo");
    char *cursor = text;
    char *line, *path = NULL;

    if (!group || strstr(group, "/.."))
        return NULL;
    while ((line = strsep(&cursor, "\n"))) {
        struct mount_line mount;
        size_t length;

        if (!mount_line_parse(line, &mount) ||
            strcmp(mount.type, controller ? "cgroup" : "cgroup2") != 0 ||
            (controller && !list_has(mount.options, ",", controller)))
            continue;
        length = strcmp(mount.root, "/") == 0 ? 0 : strlen(mount.root);
        if (strncmp(group, mount.root, length) != 0 || (group[length] && group[length] != '/'))
            continue;
        if (asprintf(&path, "%s%s", mount.point, strcmp(group, "/") == 0 ? "" : group + length) < 0)
            return NULL;
        *ret_top = strlen(mount.point);
        return path;
    }
    return NULL;
}

/* Makes one group, sets its limits and moves in. knobs: file, value, ..., NULL. */
static bool use_group(struct probe_result *result, const char *path, const char *const *knobs)
{
    int dir;

    if (mkdir(path, 0755) < 0)
        return probe_fail(result, "mkdir of a group");
    dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return probe_fail(result, "open the group");
    for (; *knobs; knobs += 2)
        if (!try_write(result, dir, knobs[0], knobs[1]))
            return false;
    return try_write(result, dir, "cgroup.procs", "0");
}

static PROBE_WORK(try_v2)
{
    static const char *const knobs[] = {"memory.max", "max", "pids.max", "max", NULL};

    return use_group(result, env->group[0], knobs);
}

static PROBE_WORK(try_v1)
{
    static const char *const memory[] = {"memory.limit_in_bytes", "-1", NULL};
    static const char *const pids[] = {"pids.max", "max", NULL};

    return use_group(result, env->group[0], memory) && use_group(result, env->group[1], pids);
}

/* Runs an attempt in new groups below these directories, and removes them again. */
static int run_in_groups(PROBE_WORK((*work)), const char *const *dirs, size_t count,
                         struct probe_result *result)
{
    struct probe_env env = {0};
    char paths[2][4200];
    int r;

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%.4095s/bawn-probe.%d", dirs[i], (int)gettid());
        env.group[i] = paths[i];
    }
    r = probe_child_run(work, &env, CGROUP_LIMIT_MS, result);
    /* The child is reaped: nothing is in them any more. */
    for (size_t i = 0; i < count; i++)
        (void)rmdir(paths[i]);
    return r;
}

/* Our own group first, then each one above. Keeps the first failure: it is the telling one. */
static int probe_v2(struct probe_result *result)
{
    size_t top = 0;
    autofree char *dir = own_directory(NULL, &top);

    if (!dir) {
        (void)probe_fail_with(result, ENOENT, "cgroup2 mount");
        return 0;
    }
    for (size_t level = 0; level < CGROUP_LEVELS; level++) {
        struct probe_result attempt = {0};
        int r = run_in_groups(try_v2, (const char *const[]){dir}, 1, &attempt);
        char *slash = strrchr(dir, '/');

        if (r < 0)
            return r;
        if (attempt.errnum == 0) {
            *result = attempt;
            return 0;
        }
        (void)probe_fail_with(result, attempt.errnum, attempt.step);
        if (!slash || (size_t)(slash - dir) < top)
            break;
        *slash = '\0';
    }
    return 0;
}

static int probe_v1(struct probe_result *result)
{
    size_t top = 0;
    autofree char *memory = own_directory("memory", &top);
    autofree char *pids = own_directory("pids", &top);

    if (!memory || !pids) {
        (void)probe_fail_with(result, ENOENT, "cgroup v1 mounts");
        return 0;
    }
    return run_in_groups(try_v1, (const char *const[]){memory, pids}, 2, result);
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
static bool manager_has_controllers(unsigned uid)
{
    size_t top = 0;
    autofree char *dir = own_directory(NULL, &top);
    autofree char *controllers = NULL;
    char path[4300];

    if (!dir)
        return false;
    (void)snprintf(path, sizeof(path),
                   "%.*s/user.slice/user-%u.slice/user@%u.service/cgroup.controllers", (int)top,
                   dir, uid, uid);
    controllers = probe_read(path);
    return controllers && list_has(controllers, " \n", "memory") &&
           list_has(controllers, " \n", "pids");
}

static bool has_systemd(unsigned uid)
{
    static const char *const sockets[] = {"systemd/private", "bus"};
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[256];

    if (!runtime || runtime[0] != '/' || !manager_has_controllers(uid))
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
    int r = probe_v2(&v2);

    if (r == 0 && v2.errnum)
        r = probe_v1(&v1);
    if (r < 0)
        return r;
    if (!v2.errnum)
        facts->cgroup = CGROUP_V2;
    else if (!v1.errnum)
        facts->cgroup = CGROUP_V1;
    else if (has_systemd(facts->uid))
        facts->cgroup = CGROUP_V2_SYSTEMD;
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
