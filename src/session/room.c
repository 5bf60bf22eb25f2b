/* SPDX-License-Identifier: Apache-2.0 */
#include "session/room.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/layers.h"
#include "base/places.h"
#include "kernel/nameless.h"
#include "kernel/process.h"
#include "kernel/sys.h"
#include "policy/setting.h"
#include "session/breach.h"
#include "session/layers.h"
#include "session/own.h"

#include <errno.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WATCH_MS = 250,
    LATE_MS = 1000,
    SLOW_MS = 30000,
    LATE_TIMES = 10, /* a walk that nothing speaks for takes at most this part of the time */
    SLOW_TIMES = 50,
    FULL_BYTES = 1 << 20,
};

static uint64_t disk_bytes(const struct statfs *disk, uint64_t blocks)
{
    return blocks * (uint64_t)(disk->f_frsize ? disk->f_frsize : disk->f_bsize);
}

/* What the caller may write. */
static uint64_t usable(const struct statfs *disk)
{
    return disk_bytes(disk, geteuid() == 0 ? disk->f_bfree : disk->f_bavail);
}

/* KERNEL: these count what is written before it is on the disk. */
static bool counts_at_once(const struct statfs *disk)
{
    switch ((unsigned long)disk->f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case F2FS_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

static bool is_watched(const struct session *session)
{
    return session->layers && session->request->image->limits.layer_size > 0;
}

bool session_watches_room(const struct session *session)
{
    return is_watched(session);
}

static void look_at_disk(struct session *session)
{
    struct room_watch *room = &session->room;
    struct statfs disk;
    uint64_t free;

    if (fstatfs(session->layers->dir_fd, &disk) < 0)
        return;
    free = disk_bytes(&disk, disk.f_bfree);
    if (free < room->free)
        room->lost += room->free - free;
    room->free = free;
}

static uint64_t measure_nameless(const struct session *session, bool *ret_is_full)
{
    const struct image *image = session->request->image;
    const char *places[LAYERS_TREES_MAX];
    size_t count = 0;

    image_each (image, PART_MOUNTS, struct image_mount, step) {
        const char *target = image_string(image, step->target);

        if (step->step == STEP_OVERLAY && count < LAYERS_TREES_MAX)
            places[count++] = *target ? target : ".";
    }
    return nameless_measure(session->launch.pid, session->launch.root_fd, places, count,
                            ret_is_full);
}

static _Noreturn void measure_closed(int dir_fd, struct room *room)
{
    struct room all;

    if (process_enter_own_users() && room_measure(dir_fd, 0, &all) == 0)
        *room = all;
    _exit(0);
}

/*
 * While no sandbox is there whose rights could be taken. SECURITY: a command may leave directories
 * closed, to hide from the next run what it has written.
 */
static int measure_all(int dir_fd, struct room *ret_room)
{
    struct room *shared;
    pid_t pid;
    int r = room_measure(dir_fd, 0, ret_room);

    if (r < 0 || ret_room->unread == 0 || geteuid() == 0)
        return r;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return -ENOMEM;
    *shared = *ret_room;
    pid = process_split(-EBADF, NULL);
    if (pid == 0)
        measure_closed(dir_fd, shared);
    while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    *ret_room = *shared;
    (void)munmap(shared, sizeof(*shared));
    return 0;
}

/* With enough it stops when it is more than that. */
static void measure(const struct session *session, int dir_fd, uint64_t enough,
                    struct room_report *report)
{
    struct room room;
    uint64_t left = enough;
    bool is_full = false;

    report->bytes = session->launch.pid > 0 ? measure_nameless(session, &is_full) : 0;
    if (enough)
        left = enough > report->bytes ? enough - report->bytes : 1;
    if (room_measure(dir_fd, left, &room) < 0)
        return;
    report->bytes += room.layers;
    report->is_deep = room.deep > 0 || is_full;
    report->is_done = true;
}

/* In a process that does nothing else. Where something fails the walk sees less. */
static void take_rights(int users_fd)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    if (geteuid() != 0)
        (void)setns(users_fd, CLONE_NEWUSER);
}

enum { PIDFD, DIR_FD, ROOT_FD, USERS_FD, FDS };

static int measure_apart(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct session *session = context;

    (void)events;
    session->launch.root_fd = ROOT_FD;
    take_rights(USERS_FD);
    measure(session, DIR_FD, session->room.limit, session->room.report);
    return session->room.report->is_done
               ? 0
               : error_set(err, ENOMEM, "layers.unmeasured", "the layers were not measured");
}

static struct aide_work work_of(const struct session *session)
{
    return (struct aide_work){.who = WHO_ROOM,
                              .fds = {[PIDFD] = session->launch.pidfd,
                                      [DIR_FD] = session->layers->dir_fd,
                                      [ROOT_FD] = session->launch.root_fd,
                                      [USERS_FD] = session->launch.user_ns},
                              .count = FDS,
                              .dies_with_us = true,
                              .context = (void *)(uintptr_t)session};
}

static void begin(struct room_watch *room)
{
    room->began_ms = clock_ms();
    room->pending = room->lost;
    room->lost = 0;
    *room->report = (struct room_report){0};
}

/* What came of it. True: it is too much. */
static bool judge(struct room_watch *room)
{
    struct room_report report = *room->report;

    room->measured_ms = clock_ms();
    room->took_ms = room->measured_ms - room->began_ms;
    if (!report.is_done) {
        room->lost += room->pending;
        return false;
    }
    if (room->limit == 0)
        room->limit = report.bytes + room->share;
    /* What nobody can look at counts as what the disk has lost. */
    room->is_over =
        report.bytes > room->limit || (report.is_deep && room->held + room->pending > room->limit);
    room->held = report.bytes;
    room->is_deep = report.is_deep;
    return room->is_over;
}

static bool is_due(const struct room_watch *room)
{
    int64_t since = clock_ms() - room->measured_ms;
    int64_t late = room->took_ms * LATE_TIMES, slow = room->took_ms * SLOW_TIMES;

    if (room->limit == 0)
        return since >= room->took_ms;
    return (room->held + room->lost > room->limit && since >= room->took_ms) ||
           (room->tells_late && since >= (late > LATE_MS ? late : LATE_MS)) ||
           since >= (slow > SLOW_MS ? slow : SLOW_MS);
}

static int on_measured(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;

    (void)events;
    if (!aide_reap(&session->room.aide, &status))
        return 0;
    if (judge(&session->room))
        launch_kill(&session->launch);
    return status ? session_lost(session, WHO_ROOM, status) : 0;
}

static bool share_report(struct room_watch *room)
{
    void *page;

    if (room->report)
        return true;
    page = mmap(NULL, sizeof(*room->report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                0);
    room->report = page == MAP_FAILED ? NULL : page;
    return room->report;
}

/* SECURITY: whoever fills the table of processes does not keep us from it: then it is done here. */
static void measure_here(struct session *session)
{
    begin(&session->room);
    measure(session, session->layers->dir_fd, session->room.limit, session->room.report);
    if (judge(&session->room))
        launch_kill(&session->launch);
}

void session_check_room(struct session *session)
{
    struct room_watch *room = &session->room;
    struct aide_work work;

    if (!is_watched(session) || room->is_over)
        return;
    look_at_disk(session);
    if (room->aide.pid || !is_due(room) || !share_report(room))
        return;
    begin(room);
    work = work_of(session);
    work.run = measure_apart;
    if (aide_start(&room->aide, &work, session->channel, NULL) < 0) {
        room->lost += room->pending;
        measure_here(session);
        return;
    }
    if (aide_watch(&room->aide, &session->loop, on_measured, session, NULL) == 0)
        return;
    aide_end(&room->aide, -1);
    if (judge(room))
        launch_kill(&session->launch);
}

/* While the launcher is stopped, another one does all of it, and wakes it when it is over. */
static int stand_in(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct session *session = context;
    struct room_watch *room = &session->room;
    pid_t launcher = getppid();

    (void)events;
    (void)err;
    session->launch.pidfd = PIDFD;
    session->launch.root_fd = ROOT_FD;
    session->layers->dir_fd = DIR_FD;
    take_rights(USERS_FD);
    for (;;) {
        look_at_disk(session);
        if (is_due(room))
            measure_here(session);
        if (room->is_over)
            break;
        (void)poll(NULL, 0, WATCH_MS);
    }
    room->report->is_over = true;
    (void)kill(launcher, SIGCONT);
    return 0;
}

void session_stand_in_room(struct session *session)
{
    struct room_watch *room = &session->room;
    struct aide_work work;

    if (!is_watched(session) || room->is_over || !share_report(room))
        return;
    if (room->aide.pid) {
        aide_end(&room->aide, 0);
        room->lost += room->pending;
    }
    *room->report = (struct room_report){0};
    work = work_of(session);
    work.run = stand_in;
    (void)aide_start(&room->stand_in, &work, -EBADF, NULL);
}

void session_take_back_room(struct session *session)
{
    struct room_watch *room = &session->room;

    aide_end(&room->stand_in, 0);
    if (!room->report || !room->report->is_over)
        return;
    room->is_over = true;
    room->held = room->report->bytes;
    room->is_deep = room->report->is_deep;
}

static int refuse_closed(const char *name, struct bawn_error *err)
{
    (void)error_set(
        err, EACCES, "layers.closed",
        "session %s has directories in its layers that are closed to bawn: nobody knows "
        "how much is in them",
        name);
    error_hint(err, "'bawn discard %s' removes it; or set no sandbox.limits.layer_size", name);
    return -EACCES;
}

int session_open_room(struct session *session, struct bawn_error *err)
{
    struct room_watch *room = &session->room;
    uint64_t limit = session->request->image->limits.layer_size;
    struct statfs disk;
    struct room now;

    if (!is_watched(session))
        return 0;
    if (fstatfs(session->layers->dir_fd, &disk) < 0)
        return error_errno(err, errno, "look at the disk of ~/" PLACES_CHANGES);
    room->free = disk_bytes(&disk, disk.f_bfree);
    room->tells_late = !counts_at_once(&disk);
    room->measured_ms = clock_ms();
    if (limit == LAYER_SIZE_SHARE) {
        /* Nobody has to wait for a walk over what was there. */
        room->share = usable(&disk) / 2;
        room->limit = session->layers->is_new ? room->share : 0;
        return 0;
    }
    room->limit = limit;
    if (session->layers->is_new)
        return 0;
    if (measure_all(session->layers->dir_fd, &now) < 0)
        return error_memory(err);
    if (now.unread > 0)
        return refuse_closed(session->layers->name, err);
    room->held = now.layers;
    room->took_ms = clock_ms() - room->measured_ms;
    return now.layers > limit
               ? breach_refuse_layers(&(struct breach_layers){.session = session->layers->name,
                                                              .limit = limit,
                                                              .held = now.layers},
                                      err)
               : 0;
}

void session_explain_room(struct session *session, struct bawn_error *ret_said)
{
    const struct room_watch *room = &session->room;
    uint64_t now = session_measure_room(session);

    /* Files without a name are gone by now. */
    breach_explain_layers(&(struct breach_layers){.session = session->layers->name,
                                                  .limit = room->limit,
                                                  .held = now > room->held ? now : room->held,
                                                  .is_share = room->share > 0,
                                                  .is_deep = room->is_deep},
                          ret_said);
}

static void tell(struct session *session, const struct bawn_error *said)
{
    session_tell(session, "limit", MEMBER_TEXT("code", said->code),
                 MEMBER_TEXT("message", said->message), MEMBER_TEXT("hint", said->hint));
    session_say(session, said);
}

/* What a short command wrote nobody has measured yet. */
static void tell_late(struct session *session)
{
    struct room_watch *room = &session->room;
    struct bawn_error said = {0};

    if (!is_watched(session) || !session->has_ended || room->is_over || room->limit == 0)
        return;
    look_at_disk(session);
    if (!room->tells_late && room->held + room->lost <= room->limit)
        return;
    if (session_measure_room(session) <= room->limit)
        return;
    session_explain_room(session, &said);
    tell(session, &said);
}

static void tell_full(struct session *session)
{
    struct bawn_error said = {0};
    struct statfs disk;
    bool has_files;

    if (fstatfs(session->layers->dir_fd, &disk) < 0)
        return;
    has_files = disk.f_files == 0 || disk.f_ffree > 0;
    if (usable(&disk) >= FULL_BYTES && has_files)
        return;
    (void)error_set(&said, ENOSPC, "disk.full",
                    "the disk that ~/" PLACES_CHANGES " is on is full (%s): what the command wrote "
                    "into an overlay then failed",
                    has_files ? "no room is left" : "no more files can be made");
    error_hint(&said,
               "'bawn ps --all' shows what sessions take, 'bawn gc' removes what nobody needs");
    tell(session, &said);
}

void session_tell_room(struct session *session)
{
    aide_end(&session->room.aide, 0);
    if (!session->layers || session->layers->lock_fd < 0)
        return;
    tell_late(session);
    tell_full(session);
}

uint64_t session_measure_room(struct session *session)
{
    struct room room;
    uint64_t bytes = 0;
    bool is_full;

    if (!session->layers)
        return 0;
    if (session->launch.pid > 0)
        bytes = measure_nameless(session, &is_full);
    return measure_all(session->layers->dir_fd, &room) == 0 ? bytes + room.layers : bytes;
}
