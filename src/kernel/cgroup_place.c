/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cgroup_place.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "kernel/probe_try.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum {
    GROUPS_BYTES = 4096, /* of /proc/self/cgroup */
    ROOT_INODE = 1,      /* of a cgroup filesystem that is mounted whole */
};
#define INITIAL_NAMESPACE 0xEFFFFFFBU /* the inode of the first cgroup namespace, fixed */

/* The fields of one line of mountinfo that matter here; all point into the line. */
struct mount_line {
    const char *root;
    const char *point;
    const char *type;
    const char *options; /* of the filesystem: v1 names its controllers here */
};

static const char *const tree_controllers[TREE_COUNT] = {
    [TREE_MEMORY] = "memory", [TREE_PIDS] = "pids", [TREE_CPU] = "cpu", [TREE_BLKIO] = "blkio"};

static bool mount_line_parse(char *line, struct mount_line *ret_mount)
{
    char *fields[5] = {0};
    char *cursor = line;
    char *tail = strstr(line, " - cgroup");

    if (!tail)
        return false;
    *tail = '\0';
    tail += 3;
    for (size_t i = 0; i < 5 && cursor; i++)
        fields[i] = strsep(&cursor, " ");
    ret_mount->type = strsep(&tail, " ");
    (void)strsep(&tail, " ");
    ret_mount->options = tail;
    if (!fields[4] || !ret_mount->options)
        return false;
    text_unescape_octal(fields[3]);
    text_unescape_octal(fields[4]);
    ret_mount->root = fields[3];
    ret_mount->point = fields[4];
    return true;
}

int cgroup_read(int dir_fd, const char *file, char *text, size_t size)
{
    autoclose int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

    if (got < 0)
        return -errno;
    text[got] = '\0';
    return 0;
}

bool cgroup_list_has(const char *list, const char *separators, const char *word)
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

/* Our group in each hierarchy, pointing into the text of /proc/self/cgroup. */
static void own_groups(char *text, const char *groups[TREE_COUNT])
{
    char *line;

    while ((line = strsep(&text, "\n"))) {
        char *rest = line;
        const char *number = strsep(&rest, ":");
        const char *names = strsep(&rest, ":");

        /* A group outside our cgroup namespace is shown as /.. and has no path. */
        if (!rest || strncmp(rest, "/..", 3) == 0)
            continue;
        if (strcmp(number, "0") == 0 && !*names)
            groups[TREE_V2] = rest;
        for (size_t tree = TREE_MEMORY; tree < TREE_COUNT; tree++)
            if (cgroup_list_has(names, ",", tree_controllers[tree]))
                groups[tree] = rest;
    }
}

/* The directory of a group in a mount, when the mount shows it. */
static void place_in_mount(struct cgroup_place *place, const struct mount_line *mount,
                           const char *group)
{
    size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    int length;

    if (strncmp(group, mount->root, root) != 0 || (group[root] && group[root] != '/'))
        return;
    length = snprintf(place->path, sizeof(place->path), "%s%s", mount->point,
                      strcmp(group, "/") == 0 ? "" : group + root);
    place->top = strlen(mount->point);
    if (length < 0 || (size_t)length >= sizeof(place->path))
        place->path[0] = '\0';
}

/* Whether this mount shows the tree. */
static bool mount_is(const struct mount_line *mount, size_t tree)
{
    const char *controller = tree_controllers[tree];

    return controller ? strcmp(mount->type, "cgroup") == 0 &&
                            cgroup_list_has(mount->options, ",", controller)
                      : strcmp(mount->type, "cgroup2") == 0;
}

void cgroup_places_parse(struct cgroup_places *ret_places, unsigned wanted, char *groups_text,
                         char *mounts)
{
    const char *groups[TREE_COUNT] = {0};
    char *line;

    *ret_places = (struct cgroup_places){0};
    own_groups(groups_text, groups);
    while ((line = strsep(&mounts, "\n"))) {
        struct mount_line mount;

        if (!mount_line_parse(line, &mount))
            continue;
        for (size_t tree = 0; tree < TREE_COUNT; tree++)
            if ((wanted & 1U << tree) && groups[tree] && !ret_places->trees[tree].path[0] &&
                mount_is(&mount, tree))
                place_in_mount(&ret_places->trees[tree], &mount, groups[tree]);
    }
}

/*
 * Where nearly every system has them, without mountinfo, which costs a microsecond or more for each
 * mount of the host. The initial cgroup namespace and a mount of the hierarchy's root (inode 1),
 * one for each tree: then the paths of /proc/self/cgroup begin there. False: nothing is sure.
 */
static bool usual_places(struct cgroup_places *places, unsigned wanted, char *groups_text)
{
    static const char *const points[TREE_COUNT] = {
        [TREE_V2] = "/sys/fs/cgroup",          [TREE_MEMORY] = "/sys/fs/cgroup/memory",
        [TREE_PIDS] = "/sys/fs/cgroup/pids",   [TREE_CPU] = "/sys/fs/cgroup/cpu",
        [TREE_BLKIO] = "/sys/fs/cgroup/blkio",
    };
    const char *groups[TREE_COUNT] = {0};
    dev_t devices[TREE_COUNT] = {0};
    struct stat st;

    if (stat("/proc/self/ns/cgroup", &st) < 0 || st.st_ino != INITIAL_NAMESPACE)
        return false;
    own_groups(groups_text, groups);
    for (size_t tree = 0; tree < TREE_COUNT; tree++) {
        struct mount_line mount = {.root = "/", .point = points[tree]};
        struct statfs fs;

        if (!(wanted & 1U << tree))
            continue;
        if (!groups[tree] || statfs(points[tree], &fs) < 0 || stat(points[tree], &st) < 0 ||
            st.st_ino != ROOT_INODE ||
            fs.f_type != (tree == TREE_V2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC))
            return false;
        devices[tree] = st.st_dev;
        for (size_t other = 0; other < tree; other++)
            if (devices[other] == st.st_dev)
                return false;
        place_in_mount(&places->trees[tree], &mount, groups[tree]);
    }
    return true;
}

int cgroup_places_read(struct cgroup_places *ret_places, unsigned wanted, struct bawn_error *err)
{
    char groups[GROUPS_BYTES], again[GROUPS_BYTES];
    autofree char *mounts = NULL;
    int r = cgroup_read(AT_FDCWD, "/proc/self/cgroup", groups, sizeof(groups));

    *ret_places = (struct cgroup_places){0};
    if (r < 0)
        return error_errno(err, -r, "read our control groups from /proc");
    memcpy(again, groups, sizeof(again));
    if (usual_places(ret_places, wanted, groups))
        return 0;
    mounts = probe_read("/proc/self/mountinfo");
    if (!mounts)
        return error_errno(err, errno, "read the mounts from /proc");
    cgroup_places_parse(ret_places, wanted, again, mounts);
    return 0;
}

bool cgroup_place_up(struct cgroup_place *place)
{
    char *slash = strrchr(place->path, '/');

    if (!slash || (size_t)(slash - place->path) < place->top)
        return false;
    *slash = '\0';
    return true;
}
