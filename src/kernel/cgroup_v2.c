/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of the unified hierarchy.
 *
 * How it works: a child gets the controllers that its parent's subtree_control
 * names, and a parent with processes of its own (ours, mostly) can name none. So
 * the levels above are asked, up to the mount point. Switching controllers on
 * there is left alone: it would outlive the session, for every group below.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/cgroup_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CPU_PERIOD_USEC = 100000, GROUPS_INSIDE = 1000, DEPTH_INSIDE = 32 };

/* Where the processes of a delegated group are: it cannot have both them and controllers for
 * others. */
#define SETTLED "init"

/* Whether a process of ours can be in a new child of this group, with memory and pids. */
static int hands_out(const char *path)
{
    char file[CGROUP_PATH_BYTES + 32], text[256];
    int r;

    (void)snprintf(file, sizeof(file), "%s/cgroup.subtree_control", path);
    r = cgroup_read(-EBADF, file, text, sizeof(text));
    if (r < 0)
        return r;
    if (!cgroup_list_has(text, " \n", "memory") || !cgroup_list_has(text, " \n", "pids"))
        return -ENOENT;
    /* Moving between two groups takes the right to write here, to the one above both. */
    (void)snprintf(file, sizeof(file), "%s/cgroup.procs", path);
    return access(file, W_OK) < 0 ? -errno : 0;
}

static int set_memory(struct cgroup *group, const struct cgroup_limits *limits)
{
    int r = cgroup_limit(group, 0, CGROUP_MEMORY_HIGH, "memory.high", limits->memory_high);

    if (r < 0 || !limits->memory)
        return r;
    r = cgroup_limit(group, 0, CGROUP_MEMORY, "memory.max", limits->memory);
    if (r < 0)
        return r;
    /* Without these memory goes on in swap, and one process is lost instead of the command. The
     * first is missing where the kernel keeps no account of swap. */
    (void)cgroup_write(group->fds[0], "memory.swap.max", "0");
    return cgroup_write(group->fds[0], "memory.oom.group", "1");
}

/* These come and go with what the group above hands out. */
static void set_shares(struct cgroup *group, const struct cgroup_limits *limits)
{
    char text[64];

    if (limits->cpu_percent) {
        (void)snprintf(text, sizeof(text), "%llu %d",
                       (unsigned long long)limits->cpu_percent * (CPU_PERIOD_USEC / 100),
                       CPU_PERIOD_USEC);
        if (cgroup_write(group->fds[0], "cpu.max", text) == 0)
            group->held |= CGROUP_CPU;
    }
    if (limits->io_weight) {
        (void)snprintf(text, sizeof(text), "default %llu", (unsigned long long)limits->io_weight);
        if (cgroup_write(group->fds[0], "io.weight", text) == 0)
            group->held |= CGROUP_IO_WEIGHT;
    }
}

/* KERNEL: what is written later counts for the group that wrote it where memory is counted, too, as
 * it is here, and where the file system knows of groups. */
static void set_rates(struct cgroup *group, const struct cgroup_limits *limits)
{
    const struct {
        const char *name;
        uint64_t value;
        unsigned held;
    } rates[] = {
        {"rbps", limits->io_read_bytes, CGROUP_IO_READ_BYTES},
        {"riops", limits->io_read_ops, CGROUP_IO_READ_OPS},
        {"wbps", limits->io_write_bytes, limits->disk.counts_writes ? CGROUP_IO_WRITE_BYTES : 0},
        {"wiops", limits->io_write_ops, limits->disk.counts_writes ? CGROUP_IO_WRITE_OPS : 0},
    };
    char text[192];
    size_t used =
        (size_t)snprintf(text, sizeof(text), "%u:%u", limits->disk.major, limits->disk.minor);
    unsigned held = 0;

    if (!cgroup_has_rates(limits))
        return;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        if (!rates[i].value)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, " %s=%llu", rates[i].name,
                                 (unsigned long long)rates[i].value);
        held |= rates[i].held;
    }
    if (cgroup_write(group->fds[0], "io.max", text) == 0)
        group->held |= held;
}

int cgroup_v2_new_in(struct cgroup *group, const char *parent, const char *name,
                     const struct cgroup_limits *limits)
{
    int r = cgroup_make(group, 0, parent, name);

    if (r == 0)
        r = cgroup_limit(group, 0, CGROUP_PIDS, "pids.max", limits->pids);
    if (r == 0)
        r = set_memory(group, limits);
    if (r == 0) {
        set_shares(group, limits);
        set_rates(group, limits);
    } else {
        (void)cgroup_remove(group, NULL);
    }
    return r;
}

int cgroup_v2_new(struct cgroup *group, const char *name, const struct cgroup_limits *limits,
                  struct bawn_error *err)
{
    struct cgroup_places places;
    struct cgroup_place *place = &places.trees[TREE_V2];
    int r = cgroup_places_read(&places, 1U << TREE_V2, err);
    int refused = 0;

    if (r < 0)
        return r;
    if (!place->path[0])
        return error_set(err, ENOENT, "cgroup.absent", "make a control group: no cgroup2 mount");
    for (size_t level = 0; level < CGROUP_LEVELS; level++) {
        r = hands_out(place->path);
        if (r == 0)
            r = cgroup_v2_new_in(group, place->path, name, limits);
        if (r == 0)
            return 0;
        /* Tell the refusal of a group above rather than that this one hands out nothing. */
        if (refused == 0 || refused == -ENOENT)
            refused = r;
        if (!cgroup_place_up(place))
            break;
    }
    return error_errno(err, -refused, "make a control group with memory and pids");
}

/* Each by itself: one that cannot be had keeps no other away. */
static void hand_out_all(int fd)
{
    char text[256], word[sizeof(text) + 1];
    const char *name = text;

    if (cgroup_read(fd, "cgroup.controllers", text, sizeof(text)) < 0)
        return;
    for (size_t length; *(name += strspn(name, " \n")); name += length) {
        length = strcspn(name, " \n");
        (void)snprintf(word, sizeof(word), "+%.*s", (int)length, name);
        (void)cgroup_write(fd, "cgroup.subtree_control", word);
    }
}

/* What whoever has a group must own of it, by the kernel's documentation. */
static int give(int fd, uid_t uid, gid_t gid)
{
    static const char *const files[] = {"cgroup.procs", "cgroup.subtree_control", "cgroup.threads"};

    if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH) < 0)
        return -errno;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (fchownat(fd, files[i], uid, gid, 0) < 0)
            return -errno;
    }
    return 0;
}

int cgroup_delegate(struct cgroup *group, uid_t uid, gid_t gid, struct bawn_error *err)
{
    int fd = group->fds[0];
    int r = 0;

    if (group->kind != CGROUP_V2 && group->kind != CGROUP_V2_SYSTEMD)
        return 0;
    /* SECURITY: groups take memory of the kernel's, and are removed one by one. */
    (void)cgroup_write_number(fd, "cgroup.max.descendants", GROUPS_INSIDE);
    (void)cgroup_write_number(fd, "cgroup.max.depth", DEPTH_INSIDE);
    hand_out_all(fd);
    if (mkdirat(fd, "inside", 0755) < 0)
        r = -errno;
    group->inside = r == 0 ? openat(fd, "inside", O_PATH | O_DIRECTORY | O_CLOEXEC) : -EBADF;
    if (r == 0)
        r = group->inside < 0 ? -errno : give(group->inside, uid, gid);
    return r < 0 ? error_errno(err, -r, "make a control group for containers inside") : 0;
}

int cgroup_settle(const char *path, struct bawn_error *err)
{
    autoclose int fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 || mkdirat(fd, SETTLED, 0755) < 0 ? -errno : 0;

    if (r == 0)
        r = cgroup_write(fd, SETTLED "/cgroup.procs", "0");
    if (r == 0)
        hand_out_all(fd);
    return r < 0 ? error_errno(err, -r, "go to a control group below %s", path) : 0;
}

/* KERNEL(6.11): before it, who is refused counts where it is, not where the limit is. */
static uint64_t count_refused(const struct cgroup *group)
{
    char text[256];
    uint64_t count = 0;

    if (cgroup_read(group->fds[0], "pids.events", text, sizeof(text)) == 0)
        count += cgroup_field(text, "max");
    if (group->inside >= 0 &&
        cgroup_read(group->inside, SETTLED "/pids.events", text, sizeof(text)) == 0)
        count += cgroup_field(text, "max");
    return count;
}

void cgroup_v2_measure(const struct cgroup *group, struct cgroup_metrics *metrics)
{
    int fd = group->fds[0];
    char text[2048];

    metrics->pids_current = cgroup_read_number(fd, "pids.current");
    metrics->pids_peak = cgroup_read_number(fd, "pids.peak");
    metrics->memory_current = cgroup_read_number(fd, "memory.current");
    metrics->memory_peak = cgroup_read_number(fd, "memory.peak");
    metrics->memory_limit = cgroup_read_number(fd, "memory.max");
    if (cgroup_read(fd, "memory.events", text, sizeof(text)) == 0)
        metrics->oom_kills = cgroup_field(text, "oom_kill");
    metrics->pids_refused = count_refused(group);
    if (cgroup_read(fd, "cpu.stat", text, sizeof(text)) == 0) {
        metrics->cpu_usec = cgroup_field(text, "usage_usec");
        metrics->throttled_usec = cgroup_field(text, "throttled_usec");
        metrics->throttled_count = cgroup_field(text, "nr_throttled");
    }
}
