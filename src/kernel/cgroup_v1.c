/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of the v1 hierarchies: one directory for each controller that has something to limit. */
#include "base/error.h"
#include "kernel/cgroup_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { V1_MEMORY, V1_PIDS, V1_CPU, V1_BLKIO, CPU_PERIOD_USEC = 100000 };

/* One hierarchy may have several controllers: then the directory is there already. */
static int make_or_share(struct cgroup *group, size_t index, const char *parent, const char *name)
{
    char path[CGROUP_PATH_BYTES + CGROUP_NAME_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", parent, name);
    for (size_t other = 0; other < index; other++) {
        if (group->fds[other] < 0 || strcmp(group->paths[other], path) != 0)
            continue;
        group->fds[index] = fcntl(group->fds[other], F_DUPFD_CLOEXEC, 3);
        return group->fds[index] < 0 ? -errno : 0;
    }
    return cgroup_make(group, index, parent, name);
}

static int set_memory(struct cgroup *group, const struct cgroup_limits *limits)
{
    int r;

    /* Only a wish in v1: it is not noted in held. */
    if (limits->memory_high)
        (void)cgroup_write_number(group->fds[V1_MEMORY], "memory.soft_limit_in_bytes",
                                  limits->memory_high);
    r = cgroup_limit(group, V1_MEMORY, CGROUP_MEMORY, "memory.limit_in_bytes", limits->memory);
    if (r < 0 || !limits->memory)
        return r;
    /* Memory and swap together: no swap. Missing where the kernel keeps no account of it. */
    (void)cgroup_write_number(group->fds[V1_MEMORY], "memory.memsw.limit_in_bytes", limits->memory);
    return 0;
}

static void set_cpu(struct cgroup *group, const struct cgroup_places *places, const char *name,
                    uint64_t percent)
{
    const char *parent = places->trees[TREE_CPU].path;

    if (percent && parent[0] && make_or_share(group, V1_CPU, parent, name) == 0)
        (void)cgroup_limit(group, V1_CPU, CGROUP_CPU, "cpu.cfs_quota_us",
                           percent * (CPU_PERIOD_USEC / 100));
}

/* KERNEL: a write that is not direct is done later, by the kernel itself, which is in no group: the
 * limits on writing are only a wish in v1, and not noted in held. */
static void set_rates(struct cgroup *group, const struct cgroup_places *places, const char *name,
                      const struct cgroup_limits *limits)
{
    const struct {
        const char *file;
        uint64_t value;
        unsigned held;
    } knobs[] = {
        {"blkio.throttle.read_bps_device", limits->io_read_bytes, CGROUP_IO_READ_BYTES},
        {"blkio.throttle.read_iops_device", limits->io_read_ops, CGROUP_IO_READ_OPS},
        {"blkio.throttle.write_bps_device", limits->io_write_bytes, 0},
        {"blkio.throttle.write_iops_device", limits->io_write_ops, 0},
    };
    const char *parent = places->trees[TREE_BLKIO].path;
    char text[96];

    if (!cgroup_has_rates(limits) || !parent[0] || make_or_share(group, V1_BLKIO, parent, name) < 0)
        return;
    for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
        (void)snprintf(text, sizeof(text), "%u:%u %llu", limits->disk.major, limits->disk.minor,
                       (unsigned long long)knobs[i].value);
        if (knobs[i].value && cgroup_write(group->fds[V1_BLKIO], knobs[i].file, text) == 0)
            group->held |= knobs[i].held;
    }
}

int cgroup_v1_new(struct cgroup *group, const char *name, const struct cgroup_limits *limits,
                  struct bawn_error *err)
{
    unsigned wanted = 1U << TREE_MEMORY | 1U << TREE_PIDS;
    struct cgroup_places places;
    int r;

    if (limits->cpu_percent)
        wanted |= 1U << TREE_CPU;
    if (cgroup_has_rates(limits))
        wanted |= 1U << TREE_BLKIO;
    r = cgroup_places_read(&places, wanted, err);
    if (r < 0)
        return r;
    if (!places.trees[TREE_MEMORY].path[0] || !places.trees[TREE_PIDS].path[0])
        return error_set(err, ENOENT, "cgroup.absent",
                         "make a control group: no cgroup mounts with memory and pids");
    r = make_or_share(group, V1_MEMORY, places.trees[TREE_MEMORY].path, name);
    if (r == 0)
        r = make_or_share(group, V1_PIDS, places.trees[TREE_PIDS].path, name);
    if (r == 0)
        r = set_memory(group, limits);
    if (r == 0)
        r = cgroup_limit(group, V1_PIDS, CGROUP_PIDS, "pids.max", limits->pids);
    if (r == 0) {
        set_cpu(group, &places, name, limits->cpu_percent);
        set_rates(group, &places, name, limits);
        return 0;
    }
    (void)cgroup_remove(group, NULL);
    return error_errno(err, -r, "make a control group with memory and pids");
}

void cgroup_v1_measure(const struct cgroup *group, struct cgroup_metrics *metrics)
{
    int memory = group->fds[V1_MEMORY];
    int pids = group->fds[V1_PIDS];
    int cpu = group->fds[V1_CPU];
    char text[2048];

    metrics->memory_current = cgroup_read_number(memory, "memory.usage_in_bytes");
    metrics->memory_peak = cgroup_read_number(memory, "memory.max_usage_in_bytes");
    metrics->memory_limit = cgroup_read_number(memory, "memory.limit_in_bytes");
    /* No limit is the largest number of whole pages. */
    if (metrics->memory_limit > INT64_MAX - (1 << 20))
        metrics->memory_limit = 0;
    if (cgroup_read(memory, "memory.oom_control", text, sizeof(text)) == 0)
        metrics->oom_kills = cgroup_field(text, "oom_kill");
    metrics->pids_current = cgroup_read_number(pids, "pids.current");
    metrics->pids_peak = cgroup_read_number(pids, "pids.peak");
    if (cgroup_read(pids, "pids.events", text, sizeof(text)) == 0)
        metrics->pids_refused = cgroup_field(text, "max");
    if (cpu >= 0 && cgroup_read(cpu, "cpu.stat", text, sizeof(text)) == 0) {
        metrics->throttled_usec = cgroup_field(text, "throttled_time") / 1000;
        metrics->throttled_count = cgroup_field(text, "nr_throttled");
    }
    /* There where cpu and cpuacct are one hierarchy. */
    if (cpu >= 0)
        metrics->cpu_usec = cgroup_read_number(cpu, "cpuacct.usage") / 1000;
}
