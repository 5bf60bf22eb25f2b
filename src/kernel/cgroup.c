/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cgroup.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/cgroup_part.h"
#include "kernel/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SWEEP_ENTRIES = 4096 }; /* looked at in one directory */

int cgroup_write(int dir_fd, const char *file, const char *value)
{
    autoclose int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, value, strlen(value)) < 0)
        return -errno;
    return 0;
}

int cgroup_write_number(int dir_fd, const char *file, uint64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    return cgroup_write(dir_fd, file, text);
}

uint64_t cgroup_read_number(int dir_fd, const char *file)
{
    char text[32];

    return cgroup_read(dir_fd, file, text, sizeof(text)) < 0 ? 0 : strtoull(text, NULL, 10);
}

uint64_t cgroup_field(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtoull(line + length + 1, NULL, 10);
    }
    return 0;
}

int cgroup_make(struct cgroup *group, size_t index, const char *parent, const char *name)
{
    char *path = group->paths[index];
    int length = snprintf(path, CGROUP_PATH_BYTES, "%s/%s", parent, name);
    int r = 0;

    if (length < 0 || length >= CGROUP_PATH_BYTES)
        r = -ENAMETOOLONG;
    else if (mkdir(path, 0755) < 0)
        r = -errno;
    /* What was not made here is not to be removed. */
    if (r < 0) {
        path[0] = '\0';
        return r;
    }
    group->fds[index] = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return group->fds[index] < 0 ? -errno : 0;
}

int cgroup_limit(struct cgroup *group, size_t index, enum cgroup_limit limit, const char *file,
                 uint64_t value)
{
    int r;

    if (value == 0)
        return 0;
    r = cgroup_write_number(group->fds[index], file, value);
    if (r == 0)
        group->held |= limit;
    return r;
}

bool cgroup_has_rates(const struct cgroup_limits *limits)
{
    return limits->disk.is_found && (limits->io_read_bytes | limits->io_write_bytes |
                                     limits->io_read_ops | limits->io_write_ops);
}

static void group_init(struct cgroup *group)
{
    *group = (struct cgroup){.kind = CGROUP_NONE, .inside = -EBADF};
    for (size_t i = 0; i < CGROUP_PATHS; i++)
        group->fds[i] = -EBADF;
}

int cgroup_new(struct cgroup *group, enum cgroup_kind kind, const char *name,
               const struct cgroup_limits *limits, struct bawn_error *err)
{
    int r = 0;

    group_init(group);
    if (!name[0] || name[0] == '.' || strchr(name, '/'))
        return error_set(err, EINVAL, "cgroup.name", "make a control group: not a name");
    if (kind == CGROUP_V2)
        r = cgroup_v2_new(group, name, limits, err);
    else if (kind == CGROUP_V2_SYSTEMD)
        r = cgroup_systemd_new(group, name, limits, err);
    else if (kind == CGROUP_V1)
        r = cgroup_v1_new(group, name, limits, err);
    if (r == 0)
        group->kind = kind;
    return r;
}

int cgroup_clone_fd(const struct cgroup *group)
{
    if (group->kind != CGROUP_V2 && group->kind != CGROUP_V2_SYSTEMD)
        return -EBADF;
    return group->inside >= 0 ? group->inside : group->fds[0];
}

int cgroup_open_doors(const struct cgroup *group, int doors[CGROUP_PATHS], struct bawn_error *err)
{
    const char *file = group->kind == CGROUP_V1 ? "tasks" : "cgroup.procs";
    int count = 0;

    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        if (group->fds[i] < 0)
            continue;
        doors[count] = openat(group->fds[i], file, O_WRONLY | O_CLOEXEC);
        if (doors[count] < 0) {
            int errnum = errno;

            while (count > 0)
                (void)close(doors[--count]);
            return error_errno(err, errnum, "open the control group %s", group->paths[i]);
        }
        count++;
    }
    return count;
}

int cgroup_enter(int door, struct bawn_error *err)
{
    return write(door, "0", 1) < 0 ? error_errno(err, errno, "join the control group") : 0;
}

int cgroup_measure(const struct cgroup *group, struct cgroup_metrics *ret_metrics,
                   struct bawn_error *err)
{
    *ret_metrics = (struct cgroup_metrics){0};
    if (group->kind == CGROUP_NONE)
        return error_set(err, ENOENT, "cgroup.none", "measure the control group: there is none");
    if (group->kind == CGROUP_V1)
        cgroup_v1_measure(group, ret_metrics);
    else
        cgroup_v2_measure(group, ret_metrics);
    return 0;
}

int cgroup_remove(struct cgroup *group, struct bawn_error *err)
{
    int failed = 0;

    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        int r = group->paths[i][0] ? cgroup_remove_tree(group->paths[i], group->fds[i], true) : 0;

        if (r == 0)
            group->paths[i][0] = '\0';
        else
            failed = error_errno(err, -r, "remove the control group %s", group->paths[i]);
    }
    if (failed == 0) {
        cgroup_close(group);
        group->kind = CGROUP_NONE;
        group->held = 0;
    }
    return failed;
}

void cgroup_close(struct cgroup *group)
{
    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        if (group->fds[i] >= 0)
            close(take_fd(&group->fds[i]));
    }
    if (group->inside >= 0)
        close(take_fd(&group->inside));
}

/* In which pids are counted; 0: unknown. */
static unsigned long long own_pid_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) < 0 ? 0 : (unsigned long long)st.st_ino;
}

int cgroup_name(char name[CGROUP_NAME_BYTES], struct bawn_error *err)
{
    uint64_t start = process_start(0);

    if (start == 0)
        return error_set(err, ENOENT, "cgroup.name",
                         "name the control group: /proc/self/stat cannot be read");
    (void)snprintf(name, CGROUP_NAME_BYTES, "bawn-%d-%llu-%llu", (int)getpid(),
                   (unsigned long long)start, own_pid_space());
    return 0;
}

/* Whether it is the name of a group whose maker is gone. Whoever counts pids in another namespace
 * cannot be found by his. */
static bool is_orphan(const char *name, unsigned long long space)
{
    unsigned long long pid, start;
    char *end;

    if (strncmp(name, "bawn-", 5) != 0 || name[5] < '1' || name[5] > '9')
        return false;
    pid = strtoull(name + 5, &end, 10);
    if (pid > INT32_MAX || *end != '-' || end[1] < '1' || end[1] > '9')
        return false;
    start = strtoull(end + 1, &end, 10);
    if (*end != '-' || strtoull(end + 1, &end, 10) != space || *end)
        return false;
    return process_start((pid_t)pid) != start;
}

/* SECURITY: nothing is killed here, whatever a name says. */
static void sweep_directory(const char *path)
{
    unsigned long long space = own_pid_space();
    DIR *dir = opendir(path);
    const struct dirent *entry;

    if (!dir)
        return;
    for (size_t i = 0; i < SWEEP_ENTRIES && (entry = readdir(dir)); i++) {
        char child[CGROUP_PATH_BYTES + 256];
        struct stat st;

        if (entry->d_type != DT_DIR || !is_orphan(entry->d_name, space) ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            st.st_uid != geteuid())
            continue;
        (void)snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        (void)cgroup_remove_tree(child, -EBADF, false);
    }
    closedir(dir);
}

void cgroup_sweep(enum cgroup_kind kind)
{
    struct cgroup_places places;
    struct cgroup_place *place = &places.trees[TREE_V2];

    if (kind == CGROUP_NONE || cgroup_places_read(&places, TREES_ALL, NULL) < 0)
        return;
    if (kind == CGROUP_V1) {
        for (size_t tree = TREE_MEMORY; tree < TREE_COUNT; tree++)
            if (places.trees[tree].path[0])
                sweep_directory(places.trees[tree].path);
        return;
    }
    for (size_t level = 0; place->path[0] && level < CGROUP_LEVELS; level++) {
        sweep_directory(place->path);
        if (!cgroup_place_up(place))
            break;
    }
}
