/* SPDX-License-Identifier: Apache-2.0 */
#include "session/aide.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/process.h"
#include "kernel/sys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED_MS = 1000 };

_Static_assert(AIDE_FDS + 1 <= PROCESS_FDS, "all of an aide's are kept");

/* How a process came to be. */
struct birth {
    const struct aide_work *work;
    pid_t launcher;
    int doors[CGROUP_PATHS]; /* of its control group, where it was not born there */
    int door_count;
    struct event_sender events;
};

/* In the process. */
static int enter(struct birth *birth, struct bawn_error *err)
{
    const struct aide_work *work = birth->work;
    int fds[AIDE_FDS + 1];
    unsigned count = work->count;
    char title[16];
    int result = 0;

    for (int i = 0; result == 0 && i < birth->door_count; i++)
        result = cgroup_enter(birth->doors[i], err);
    if (result < 0)
        return result;
    memcpy(fds, work->fds, sizeof(work->fds));
    if (birth->events.sock >= 0)
        fds[count++] = birth->events.sock;
    if (!process_keep_fds(fds, count))
        return error_errno(err, errno, "keep descriptors");
    if (birth->events.sock >= 0)
        birth->events.sock = (int)work->count;
    (void)snprintf(title, sizeof(title), "bawn: %s", event_who_name(work->who));
    if (!process_withdraw(title))
        return error_errno(err, errno, "leave the terminal");
    if (work->dies_with_us &&
        (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != birth->launcher))
        return error_errno(err, ESRCH, "end with the launcher");
    return 0;
}

_Noreturn static void become(struct birth *birth)
{
    struct bawn_error said = {0};
    int result = enter(birth, &said);

    if (result == 0)
        result = birth->work->run(birth->work->context, &birth->events, &said);
    if (result < 0)
        event_send_error(&birth->events, EVENT_FAILED, &said);
    event_send_rest(&birth->events);
    _exit(result < 0);
}

int aide_start(struct aide *aide, const struct aide_work *work, int channel, struct bawn_error *err)
{
    struct birth birth = {
        .work = work, .launcher = getpid(), .events = {.sock = channel, .who = work->who}};
    int group_fd = work->group ? cgroup_clone_fd(work->group) : -EBADF;
    pid_t pid = group_fd < 0 ? -1 : process_split(group_fd, &aide->pidfd);
    int errnum;

    /* KERNEL: nobody is born in a group that is full, but whoever comes by the door is let in. */
    if (pid < 0 && work->group && work->group->kind != CGROUP_NONE)
        birth.door_count = cgroup_open_doors(work->group, birth.doors, err);
    if (birth.door_count < 0)
        return birth.door_count;
    if (pid < 0)
        pid = process_split(-EBADF, &aide->pidfd);
    if (pid == 0)
        become(&birth);
    errnum = errno;
    while (birth.door_count > 0)
        (void)close(birth.doors[--birth.door_count]);
    if (pid < 0)
        return error_errno(err, errnum, "start bawn's process '%s'", event_who_name(work->who));
    aide->pid = pid;
    return 0;
}

int aide_watch(struct aide *aide, struct loop *loop, loop_ready ended, void *context,
               struct bawn_error *err)
{
    aide->loop = loop;
    aide->source = (struct loop_source){
        .fd = aide->pidfd, .events = POLLIN, .ready = ended, .context = context};
    return loop_add(loop, &aide->source, err);
}

static bool reap(struct aide *aide, int flags, int *ret_status)
{
    int status = 0;
    pid_t pid;

    if (aide->pid == 0)
        return true;
    do
        pid = waitpid(aide->pid, &status, __WALL | flags);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return false;
    if (aide->loop)
        loop_remove(take_ptr(&aide->loop), &aide->source);
    aide->pid = 0;
    (void)close(take_fd(&aide->pidfd));
    if (ret_status)
        *ret_status = status;
    return true;
}

bool aide_reap(struct aide *aide, int *ret_status)
{
    return reap(aide, WNOHANG, ret_status);
}

void aide_end(struct aide *aide, int patience_ms)
{
    struct pollfd ended = {.fd = aide->pidfd, .events = POLLIN};

    if (aide->pid == 0)
        return;
    if (patience_ms >= 0 && poll(&ended, 1, patience_ms) <= 0) {
        (void)sys_pidfd_send_signal(aide->pidfd, SIGKILL);
        (void)poll(&ended, 1, KILLED_MS);
    }
    (void)reap(aide, patience_ms < 0 ? 0 : WNOHANG, NULL);
}
