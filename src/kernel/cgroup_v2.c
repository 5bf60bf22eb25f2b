/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of the unified hierarchy.
 *
 * How it works: a child gets the controllers that its parent's subtree_control
 * names, and a parent with processes of its own (ours, mostly) can name none. So
 * the levels above are asked, up to the mount point. Switching controllers on
 * there is left alone: it would outlive the session, for every group below.
 */
#include "base/error.h"
#include "kernel/cgroup_part.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CPU_PERIOD_USEC = 100000 };

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

int cgroup_v2_new_in(struct cgroup *group, const char *parent, const char *name,
                     const struct cgroup_limits *limits)
{
    int r = cgroup_make(group, 0, parent, name);

    if (r == 0)
        r = cgroup_limit(group, 0, CGROUP_PIDS, "pids.max", limits->pids);
    if (r == 0)
        r = set_memory(group, limits);
    if (r == 0)
        set_shares(group, limits);
    else
        (void)cgroup_remove(group, NULL);
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
        /* That a group hands out nothing is no news where one above it refuses us. */
        if (refused == 0 || refused == -ENOENT)
            refused = r;
        if (!cgroup_place_up(place))
            break;
    }
    return error_errno(err, -refused, "make a control group with memory and pids");
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
    if (cgroup_read(fd, "pids.events", text, sizeof(text)) == 0)
        metrics->pids_refused = cgroup_field(text, "max");
    if (cgroup_read(fd, "cpu.stat", text, sizeof(text)) == 0) {
        metrics->cpu_usec = cgroup_field(text, "usage_usec");
        metrics->throttled_usec = cgroup_field(text, "throttled_usec");
        metrics->throttled_count = cgroup_field(text, "nr_throttled");
    }
}
