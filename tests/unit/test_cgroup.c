/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups for real: whatever this host grants, with the kernel's own files as the witness.
 */
#include "base/cleanup.h"
#include "kernel/cgroup.h"
#include "kernel/cgroup_place.h"
#include "kernel/disk.h"
#include "kernel/probe.h"
#include "lib/doors.h"
#include "lib/test.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1024 * 1024, CHILD_LIFE_SECONDS = 20 };

static int64_t clock_usec(clockid_t clock)
{
    struct timespec now;

    ck_assert_int_eq(clock_gettime(clock, &now), 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Found out once, by the probe, before the cases fork. */
static enum cgroup_kind host_kind;

static bool has_group(const char *name)
{
    if (host_kind == CGROUP_V1 || host_kind == CGROUP_V2)
        return true;
    test_skip(name, "no control group can be had");
    return false;
}

static struct cgroup group_with(struct cgroup_limits limits)
{
    struct cgroup group;
    struct bawn_error err = {0};
    char name[CGROUP_NAME_BYTES];

    ck_assert_int_eq(cgroup_name(name, &err), 0);
    ck_assert_msg(cgroup_new(&group, host_kind, name, &limits, &err) == 0, "%s", err.message);
    return group;
}

/* A copy of this process that is in the group, from its birth where the kernel can do that. */
static pid_t fork_into(const struct cgroup *group)
{
    struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
    pid_t pid;

    if (cgroup_clone_fd(group) >= 0) {
        args.cgroup = (__u64)cgroup_clone_fd(group);
        pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    } else {
        pid = fork();
    }
    ck_assert_msg(pid >= 0, "fork into the group: %s", strerror(errno));
    if (pid == 0) {
        alarm(CHILD_LIFE_SECONDS);
        if (cgroup_clone_fd(group) < 0 && !enter_cgroup(group))
            _exit(99);
    }
    return pid;
}

static int reaped(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static void removed(struct cgroup *group)
{
    char paths[CGROUP_PATHS][CGROUP_PATH_BYTES];
    struct bawn_error err = {0};

    memcpy(paths, group->paths, sizeof(paths));
    ck_assert_msg(cgroup_remove(group, &err) == 0, "%s", err.message);
    for (size_t i = 0; i < CGROUP_PATHS; i++)
        if (paths[i][0])
            ck_assert_msg(access(paths[i], F_OK) < 0, "%s is still there", paths[i]);
}

_Noreturn static void use_memory(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(98);
    for (size_t at = 0; at < size; at += 4096)
        memory[at] = 1;
    _exit(0);
}

START_TEST(memory_above_the_limit_is_killed_inside_and_counted)
{
    struct cgroup_metrics metrics;
    struct cgroup group;
    int status;
    pid_t pid;

    if (!has_group("memory_above_the_limit_is_killed_inside_and_counted"))
        return;
    group = group_with((struct cgroup_limits){.memory = 64 * MIB});
    ck_assert_uint_eq(group.held, CGROUP_MEMORY);
    if ((pid = fork_into(&group)) == 0)
        use_memory(16 * MIB);
    ck_assert_int_eq(reaped(pid), 0);
    ck_assert_int_eq(cgroup_measure(&group, &metrics, NULL), 0);
    ck_assert_uint_eq(metrics.memory_limit, 64 * MIB);
    ck_assert_uint_eq(metrics.oom_kills, 0);

    if ((pid = fork_into(&group)) == 0)
        use_memory(160 * MIB);
    status = reaped(pid);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
    ck_assert_int_eq(cgroup_measure(&group, &metrics, NULL), 0);
    ck_assert_uint_gt(metrics.oom_kills, 0);
    /* KERNEL(5.19): v2 has a peak. */
    if (metrics.memory_peak)
        ck_assert_uint_gt(metrics.memory_peak, 60 * MIB);
    removed(&group);
}
END_TEST

START_TEST(memory_limit_kills_all_of_a_v2_group)
{
    struct cgroup group;
    pid_t other, pid;
    int status;

    if (!has_group("memory_limit_kills_all_of_a_v2_group"))
        return;
    group = group_with((struct cgroup_limits){.memory = 64 * MIB});
    if ((other = fork_into(&group)) == 0)
        for (;;)
            pause();
    if ((pid = fork_into(&group)) == 0)
        use_memory(160 * MIB);
    ck_assert(WIFSIGNALED(reaped(pid)));
    status = reaped(other);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
    removed(&group);
}
END_TEST

/* Forks until it is refused; the exit status is how many there were. */
_Noreturn static void fork_many(void)
{
    int count = 0;
    pid_t pid;

    while (count < 90 && (pid = fork()) >= 0) {
        if (pid == 0) {
            alarm(CHILD_LIFE_SECONDS);
            pause();
            _exit(0);
        }
        count++;
    }
    _exit(count < 90 && errno != EAGAIN ? 97 : count);
}

START_TEST(forks_above_the_limit_are_refused_and_counted)
{
    struct cgroup_metrics metrics;
    struct cgroup group;
    pid_t pid;

    if (!has_group("forks_above_the_limit_are_refused_and_counted"))
        return;
    group = group_with((struct cgroup_limits){.pids = 20});
    if ((pid = fork_into(&group)) == 0)
        fork_many();
    ck_assert_int_eq(WEXITSTATUS(reaped(pid)), 19);
    ck_assert_int_eq(cgroup_measure(&group, &metrics, NULL), 0);
    ck_assert_uint_eq(metrics.pids_refused, 1);
    ck_assert_uint_eq(metrics.pids_current, 19);
    if (metrics.pids_peak)
        ck_assert_uint_eq(metrics.pids_peak, 20);
    /* Outside of it nothing is refused. */
    if ((pid = fork()) == 0)
        _exit(0);
    ck_assert_int_eq(reaped(pid), 0);
    /* The 19 are in there: removal ends them. */
    removed(&group);
}
END_TEST

START_TEST(cpu_limit_slows_and_is_counted)
{
    struct cgroup_metrics metrics;
    struct cgroup group;
    struct rusage used;
    pid_t pid;
    int64_t busy;
    int status;

    if (!has_group("cpu_limit_slows_and_is_counted"))
        return;
    group = group_with((struct cgroup_limits){.cpu_percent = 5});
    if (!(group.held & CGROUP_CPU)) {
        removed(&group);
        test_skip("cpu_limit_slows_and_is_counted", "the group above hands out no cpu");
        return;
    }
    if ((pid = fork_into(&group)) == 0) {
        int64_t end = clock_usec(CLOCK_MONOTONIC) + 1500000;

        while (clock_usec(CLOCK_MONOTONIC) < end)
            ;
        _exit(0);
    }
    ck_assert_int_eq(wait4(pid, &status, 0, &used), pid);
    busy = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
           used.ru_stime.tv_usec;
    ck_assert_int_lt(busy, 400000);
    ck_assert_int_eq(cgroup_measure(&group, &metrics, NULL), 0);
    ck_assert_uint_gt(metrics.throttled_count, 0);
    ck_assert_uint_gt(metrics.throttled_usec, 0);
    removed(&group);
}
END_TEST

START_TEST(every_limit_is_in_the_files_of_the_group)
{
    static const struct {
        const char *v2, *v1, *value;
        size_t index; /* of the v1 directory */
        unsigned limit;
    } rows[] = {
        {"pids.max", "pids.max", "100\n", 1, CGROUP_PIDS},
        {"memory.max", "memory.limit_in_bytes", "134217728\n", 0, CGROUP_MEMORY},
        {"memory.high", "memory.soft_limit_in_bytes", "67108864\n", 0, 0},
        {"memory.oom.group", NULL, "1\n", 0, CGROUP_MEMORY},
        {"cpu.max", NULL, "150000 100000\n", 0, CGROUP_CPU},
        {NULL, "cpu.cfs_quota_us", "150000\n", 2, CGROUP_CPU},
        {"io.weight", NULL, "default 50\n", 0, CGROUP_IO_WEIGHT},
    };
    struct cgroup group;

    if (!has_group("every_limit_is_in_the_files_of_the_group"))
        return;
    group = group_with((struct cgroup_limits){.pids = 100,
                                              .memory_high = 64 * MIB,
                                              .memory = 128 * MIB,
                                              .cpu_percent = 150,
                                              .io_weight = 50});
    ck_assert_uint_eq(group.held & (CGROUP_PIDS | CGROUP_MEMORY), CGROUP_PIDS | CGROUP_MEMORY);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *file = host_kind == CGROUP_V2 ? rows[i].v2 : rows[i].v1;
        size_t index = host_kind == CGROUP_V2 ? 0 : rows[i].index;
        char text[64] = "";
        autoclose int fd = -EBADF;

        if (!file || (rows[i].limit && !(group.held & rows[i].limit)))
            continue;
        fd = openat(group.fds[index], file, O_RDONLY | O_CLOEXEC);
        ck_assert_msg(fd >= 0, "%s: %s", file, strerror(errno));
        ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
        ck_assert_str_eq(text, rows[i].value);
    }
    removed(&group);
}
END_TEST

START_TEST(rates_of_a_disk_are_in_the_files_of_the_group)
{
    const unsigned reads = CGROUP_IO_READ_BYTES | CGROUP_IO_READ_OPS;
    const unsigned writes = CGROUP_IO_WRITE_BYTES | CGROUP_IO_WRITE_OPS;
    struct cgroup_limits limits = {
        .io_read_bytes = MIB, .io_write_bytes = 2 * MIB, .io_read_ops = 30, .io_write_ops = 40};
    bool is_v2;
    struct cgroup group;
    char text[64], wanted[128];

    if (!has_group("rates_of_a_disk_are_in_the_files_of_the_group"))
        return;
    is_v2 = host_kind == CGROUP_V2;
    /* Without a disk nothing is asked for. */
    group = group_with(limits);
    ck_assert_uint_eq(group.held, 0);
    removed(&group);
    disk_find("/tmp", &limits.disk);
    if (!limits.disk.is_found) {
        test_skip("rates_of_a_disk_are_in_the_files_of_the_group", limits.disk.why);
        return;
    }
    group = group_with(limits);
    if (!(group.held & reads)) {
        removed(&group);
        test_skip("rates_of_a_disk_are_in_the_files_of_the_group", "no controller of disks");
        return;
    }
    ck_assert_uint_eq(group.held, is_v2 && limits.disk.counts_writes ? reads | writes : reads);
    (void)snprintf(wanted, sizeof(wanted),
                   is_v2 ? "%u:%u rbps=1048576 wbps=2097152 riops=30 wiops=40\n"
                         : "%u:%u 2097152\n",
                   limits.disk.major, limits.disk.minor);
    ck_assert_int_eq(cgroup_read(group.fds[is_v2 ? 0 : 3],
                                 is_v2 ? "io.max" : "blkio.throttle.write_bps_device", text,
                                 sizeof(text)),
                     0);
    ck_assert_str_eq(text, wanted);
    removed(&group);
}
END_TEST

START_TEST(a_disk_is_found_or_it_is_said_why_not)
{
    struct disk disk;

    disk_find("/nonexistent", &disk);
    ck_assert(!disk.is_found);
    ck_assert_str_eq(disk.why, "the workspace cannot be looked at: No such file or directory");
    disk_find("/proc", &disk);
    ck_assert(!disk.is_found);
    ck_assert_str_eq(
        disk.why, "the workspace is on a file system without one disk of its own (another kind)");
    disk_find("/", &disk);
    ck_assert(disk.is_found ? disk.major > 0 && !disk.why[0] : disk.why[0] != '\0');
}
END_TEST

START_TEST(removal_ends_what_runs_inside_and_is_quick)
{
    struct cgroup group;
    int64_t before;
    pid_t pid;
    int fds[2];
    char byte;

    if (!has_group("removal_ends_what_runs_inside_and_is_quick"))
        return;
    group = group_with((struct cgroup_limits){.pids = 50});
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    if ((pid = fork_into(&group)) == 0) {
        /* A daemon: another session, no parent, no ear for signals. */
        if (fork() > 0)
            _exit(0);
        setsid();
        signal(SIGTERM, SIG_IGN);
        (void)!write(fds[1], "x", 1);
        for (;;)
            pause();
    }
    close(fds[1]);
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    ck_assert_int_eq(reaped(pid), 0);
    before = clock_usec(CLOCK_MONOTONIC);
    removed(&group);
    ck_assert_int_lt(clock_usec(CLOCK_MONOTONIC) - before, 2000000);
    /* Its end of the pipe is closed: it is gone. */
    ck_assert_int_eq(read(fds[0], &byte, 1), 0);
    ck_assert_int_eq(group.kind, CGROUP_NONE);
    ck_assert_int_eq(cgroup_remove(&group, NULL), 0);
}
END_TEST

START_TEST(removal_takes_the_groups_that_were_nested_in_it)
{
    struct cgroup group;
    int fds[2];
    char byte;
    pid_t pid;

    if (!has_group("removal_takes_the_groups_that_were_nested_in_it"))
        return;
    group = group_with((struct cgroup_limits){.pids = 50});
    ck_assert_int_eq(mkdirat(group.fds[0], "a", 0755), 0);
    ck_assert_int_eq(mkdirat(group.fds[0], "a/b", 0755), 0);
    ck_assert_int_eq(mkdirat(group.fds[0], "a/b/c", 0755), 0);
    ck_assert_int_eq(mkdirat(group.fds[0], "d", 0755), 0);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    if ((pid = fork_into(&group)) == 0) {
        int fd = openat(group.fds[0], "a/b/c/cgroup.procs", O_WRONLY);

        (void)!write(fds[1], write(fd, "0", 1) == 1 ? "y" : "n", 1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    removed(&group);
    ck_assert(WIFSIGNALED(reaped(pid)));
}
END_TEST

START_TEST(group_of_another_is_neither_taken_nor_removed)
{
    struct cgroup_limits limits = {.pids = 50};
    struct cgroup first, second;
    struct bawn_error err = {0};
    char name[CGROUP_NAME_BYTES];

    if (!has_group("group_of_another_is_neither_taken_nor_removed"))
        return;
    first = group_with(limits);
    ck_assert_int_eq(cgroup_name(name, NULL), 0);
    ck_assert_int_eq(cgroup_new(&second, host_kind, name, &limits, &err), -EEXIST);
    ck_assert_int_eq(second.kind, CGROUP_NONE);
    ck_assert_int_eq(cgroup_remove(&second, NULL), 0);
    ck_assert_int_eq(access(first.paths[0], F_OK), 0);
    removed(&first);
}
END_TEST

START_TEST(names_that_lead_elsewhere_are_refused)
{
    static const char *const names[] = {"", ".", "..", "a/b", "../x"};
    struct cgroup_limits limits = {.pids = 50};
    struct cgroup group;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        ck_assert_int_eq(cgroup_new(&group, CGROUP_V2, names[i], &limits, NULL), -EINVAL);
}
END_TEST

START_TEST(without_the_right_to_it_no_group_is_made)
{
    struct cgroup_limits limits = {.pids = 50};
    struct bawn_error err = {0};
    struct cgroup group;
    char name[CGROUP_NAME_BYTES];

    ck_assert_int_eq(cgroup_name(name, NULL), 0);
    for (enum cgroup_kind kind = CGROUP_V1; kind <= CGROUP_V2; kind++) {
        if (kind == host_kind)
            continue;
        /* On a host where the probe found the other version this one may work too. */
        if (cgroup_new(&group, kind, name, &limits, &err) == 0) {
            ck_assert_int_eq(host_kind, CGROUP_V2);
            removed(&group);
            continue;
        }
        ck_assert_int_ne(err.errnum, 0);
        ck_assert_int_eq(group.kind, CGROUP_NONE);
        for (size_t i = 0; i < CGROUP_PATHS; i++) {
            ck_assert_int_lt(group.fds[i], 0);
            ck_assert_str_eq(group.paths[i], "");
        }
    }
}
END_TEST

/* A group beside ours, with the name of a process that is gone or not. */
static void beside(const struct cgroup *group, size_t index, const char *name, char *path)
{
    size_t length = (size_t)(strrchr(group->paths[index], '/') - group->paths[index]);

    (void)snprintf(path, CGROUP_PATH_BYTES, "%.*s/%s", (int)length, group->paths[index], name);
    ck_assert_msg(mkdir(path, 0755) == 0, "%s: %s", path, strerror(errno));
}

START_TEST(sweep_takes_empty_groups_of_the_dead_only)
{
    char dead[64], gone[CGROUP_PATH_BYTES], busy[CGROUP_PATH_BYTES], odd[CGROUP_PATH_BYTES];
    char file[CGROUP_PATH_BYTES + 16];
    struct cgroup group, occupied;
    struct stat space;
    pid_t pid;

    if (!has_group("sweep_takes_empty_groups_of_the_dead_only"))
        return;
    group = group_with((struct cgroup_limits){.pids = 50});
    /* Our own pid with another start: what a pid that was used again looks like. */
    ck_assert_int_eq(stat("/proc/self/ns/pid", &space), 0);
    (void)snprintf(dead, sizeof(dead), "bawn-%d-1-%lu", (int)getpid(), (unsigned long)space.st_ino);
    beside(&group, 0, dead, gone);
    (void)snprintf(file, sizeof(file), "%s/nested", gone);
    ck_assert_int_eq(mkdir(file, 0755), 0);
    /* Of who counts pids elsewhere. */
    (void)snprintf(dead, sizeof(dead), "bawn-%d-1-1", (int)getpid());
    beside(&group, 0, dead, odd);
    (void)snprintf(dead, sizeof(dead), "bawn-%d-2-%lu", (int)getpid(), (unsigned long)space.st_ino);
    beside(&group, 0, dead, busy);
    occupied = group;
    for (size_t i = 1; i < CGROUP_PATHS; i++)
        occupied.fds[i] = -EBADF;
    occupied.fds[0] = open(busy, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if ((pid = fork_into(&occupied)) == 0)
        for (;;)
            pause();
    /* A v1 child moves itself: wait until it has. */
    usleep(100000);
    cgroup_sweep(host_kind);
    ck_assert_int_lt(access(gone, F_OK), 0);
    ck_assert_int_eq(access(odd, F_OK), 0);
    ck_assert_int_eq(access(busy, F_OK), 0);
    ck_assert_int_eq(access(group.paths[0], F_OK), 0);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(WTERMSIG(reaped(pid)), SIGKILL);
    for (int i = 0; i < 100 && access(busy, F_OK) == 0; i++) {
        cgroup_sweep(host_kind);
        usleep(10000);
    }
    ck_assert_int_lt(access(busy, F_OK), 0);
    ck_assert_int_eq(rmdir(odd), 0);
    removed(&group);
}
END_TEST

START_TEST(name_has_the_pid_and_the_start)
{
    char name[CGROUP_NAME_BYTES], start[64];
    struct stat space;
    unsigned long long ticks = 0;
    FILE *file = fopen("/proc/self/stat", "r");
    char text[1024] = "";
    char *cursor;

    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    (void)fclose(file);
    cursor = strrchr(text, ')');
    ck_assert_int_eq(sscanf(cursor + 2,
                            "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                            "%*d %*d %llu",
                            &ticks),
                     1);
    ck_assert_int_eq(cgroup_name(name, NULL), 0);
    ck_assert_int_eq(stat("/proc/self/ns/pid", &space), 0);
    (void)snprintf(start, sizeof(start), "bawn-%d-%llu-%lu", (int)getpid(), ticks,
                   (unsigned long)space.st_ino);
    ck_assert_str_eq(name, start);
}
END_TEST

START_TEST(no_group_means_no_descriptor_and_no_measure)
{
    struct cgroup_limits limits = {.pids = 50};
    struct cgroup_metrics metrics;
    struct cgroup group;
    int doors[CGROUP_PATHS];

    ck_assert_int_eq(cgroup_new(&group, CGROUP_NONE, "x", &limits, NULL), 0);
    ck_assert_int_eq(cgroup_clone_fd(&group), -EBADF);
    ck_assert_int_eq(cgroup_open_doors(&group, doors, NULL), 0);
    ck_assert_int_eq(cgroup_measure(&group, &metrics, NULL), -ENOENT);
    ck_assert_int_eq(cgroup_remove(&group, NULL), 0);
}
END_TEST

START_TEST(place_goes_up_to_the_mount_point_and_no_further)
{
    struct cgroup_place place = {.path = "/sys/fs/cgroup/a/b", .top = strlen("/sys/fs/cgroup")};

    ck_assert(cgroup_place_up(&place));
    ck_assert_str_eq(place.path, "/sys/fs/cgroup/a");
    ck_assert(cgroup_place_up(&place));
    ck_assert_str_eq(place.path, "/sys/fs/cgroup");
    ck_assert(!cgroup_place_up(&place));
    ck_assert_str_eq(place.path, "/sys/fs/cgroup");
}
END_TEST

#define MOUNT(root, point, type, options)                                                          \
    "31 23 0:28 " root " " point " rw,relatime shared:9 - " type " " type " rw," options "\n"

START_TEST(places_come_from_what_the_kernel_says)
{
    static const struct {
        const char *groups, *mounts;
        enum cgroup_tree tree;
        const char *path;
    } rows[] = {
        {"0::/user.slice/a\n", MOUNT("/", "/sys/fs/cgroup", "cgroup2", "nsdelegate"), TREE_V2,
         "/sys/fs/cgroup/user.slice/a"},
        {"0::/\n", MOUNT("/", "/sys/fs/cgroup", "cgroup2", "x"), TREE_V2, "/sys/fs/cgroup"},
        /* A container that sees only its own part. */
        {"0::/box/one/a\n", MOUNT("/box/one", "/cg", "cgroup2", "x"), TREE_V2, "/cg/a"},
        {"0::/box/one\n", MOUNT("/box/one", "/cg", "cgroup2", "x"), TREE_V2, "/cg"},
        {"0::/box/oneself\n", MOUNT("/box/one", "/cg", "cgroup2", "x"), TREE_V2, ""},
        /* A mount of the host's, seen from a namespace of groups that begins deeper. */
        {"0::/\n", MOUNT("/../..", "/cg", "cgroup2", "x"), TREE_V2, ""},
        {"0::/../other\n", MOUNT("/", "/cg", "cgroup2", "x"), TREE_V2, ""},
        {"0::/a\n", MOUNT("/", "/my\\040groups", "cgroup2", "x"), TREE_V2, "/my groups/a"},
        {"0::/a\n", MOUNT("/", "/one", "ext4", "x") MOUNT("/", "/two", "cgroup2", "x"), TREE_V2,
         "/two/a"},
        {"4:memory:/m\n0::/a\n",
         MOUNT("/", "/c/pids", "cgroup", "pids") MOUNT("/", "/c/memory", "cgroup", "memory"),
         TREE_MEMORY, "/c/memory/m"},
        {"4:cpu,cpuacct:/x\n", MOUNT("/", "/c/cpu,cpuacct", "cgroup", "cpu,cpuacct"), TREE_CPU,
         "/c/cpu,cpuacct/x"},
        /* cpuset is not cpu. */
        {"4:cpuset:/x\n", MOUNT("/", "/c/cpuset", "cgroup", "cpuset"), TREE_CPU, ""},
        {"", "", TREE_V2, ""},
        {"0\n0:\n::\n", "31 23\n - cgroup\n - cgroup2 x\n", TREE_V2, ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        autofree char *groups = strdup(rows[i].groups);
        autofree char *mounts = strdup(rows[i].mounts);
        struct cgroup_places places;

        cgroup_places_parse(&places, TREES_ALL, groups, mounts);
        ck_assert_msg(strcmp(places.trees[rows[i].tree].path, rows[i].path) == 0, "row %zu: %s", i,
                      places.trees[rows[i].tree].path);
    }
}
END_TEST

/* The place is right when the directory says that we are in it. */
static bool lists_us(const char *place)
{
    char path[CGROUP_PATH_BYTES + 32], line[64];
    bool found = false;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/cgroup.procs", place);
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    while (fgets(line, sizeof(line), file))
        found = found || strtol(line, NULL, 10) == (long)getpid();
    (void)fclose(file);
    return found;
}

START_TEST(place_is_the_group_that_lists_this_process)
{
    struct cgroup_places all;
    bool seen = false;

    ck_assert_int_eq(cgroup_places_read(&all, TREES_ALL, NULL), 0);
    for (size_t tree = 0; tree < TREE_COUNT; tree++) {
        struct cgroup_places one;

        if (!all.trees[tree].path[0])
            continue;
        ck_assert_msg(lists_us(all.trees[tree].path), "%s", all.trees[tree].path);
        /* Asked for alone it may be found in another way. */
        ck_assert_int_eq(cgroup_places_read(&one, 1U << tree, NULL), 0);
        ck_assert_str_eq(one.trees[tree].path, all.trees[tree].path);
        ck_assert_uint_eq(one.trees[tree].top, all.trees[tree].top);
        seen = true;
    }
    if (!seen)
        test_skip("place_is_the_group_that_lists_this_process", "no control groups are mounted");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cgroup");
    TCase *cases = tcase_create("cgroup");
    static struct host_facts facts;

    if (probe_kernel(&facts, NULL) == 0)
        host_kind = facts.cgroup;
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, memory_above_the_limit_is_killed_inside_and_counted);
    /* v1 kills one process at a time. */
    if (host_kind == CGROUP_V2)
        tcase_add_test(cases, memory_limit_kills_all_of_a_v2_group);
    tcase_add_test(cases, forks_above_the_limit_are_refused_and_counted);
    tcase_add_test(cases, cpu_limit_slows_and_is_counted);
    tcase_add_test(cases, every_limit_is_in_the_files_of_the_group);
    tcase_add_test(cases, rates_of_a_disk_are_in_the_files_of_the_group);
    tcase_add_test(cases, a_disk_is_found_or_it_is_said_why_not);
    tcase_add_test(cases, removal_ends_what_runs_inside_and_is_quick);
    tcase_add_test(cases, removal_takes_the_groups_that_were_nested_in_it);
    tcase_add_test(cases, group_of_another_is_neither_taken_nor_removed);
    tcase_add_test(cases, names_that_lead_elsewhere_are_refused);
    tcase_add_test(cases, without_the_right_to_it_no_group_is_made);
    tcase_add_test(cases, sweep_takes_empty_groups_of_the_dead_only);
    tcase_add_test(cases, name_has_the_pid_and_the_start);
    tcase_add_test(cases, no_group_means_no_descriptor_and_no_measure);
    tcase_add_test(cases, place_goes_up_to_the_mount_point_and_no_further);
    tcase_add_test(cases, places_come_from_what_the_kernel_says);
    tcase_add_test(cases, place_is_the_group_that_lists_this_process);
    suite_add_tcase(suite, cases);
    return test_run(suite, "cgroup");
}
