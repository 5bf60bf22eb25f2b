/* SPDX-License-Identifier: Apache-2.0 */
#include "session/server.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/process.h"
#include "kernel/sys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTIFY_FD, ROOT_FD, KEPT_FDS, END_MS = 1000 };

/*
 * Holds:    the caller's rights; the listener of the filter, the sandbox's root.
 * Must:     answer until nobody is left inside, in the sandbox's control groups.
 * Mustn't:  keep a descriptor whose end somebody waits for.
 */
_Noreturn static void serve(struct supervisor_options options, const int *doors, int count)
{
    struct pollfd ready = {.fd = NOTIFY_FD, .events = POLLIN};
    struct supervisor *supervisor = NULL;
    int fds[KEPT_FDS] = {[NOTIFY_FD] = options.notify_fd, [ROOT_FD] = options.root_fd};
    int result = 0;

    for (int i = 0; result == 0 && i < count; i++)
        result = cgroup_enter(doors[i], NULL);
    if (result < 0 || !process_withdraw(fds, KEPT_FDS, "bawn: calls"))
        _exit(1);
    options.notify_fd = NOTIFY_FD;
    options.root_fd = ROOT_FD;
    result = supervisor_new(&options, &supervisor, NULL);
    while (result == 0) {
        if (poll(&ready, 1, -1) > 0)
            result = supervisor_serve(supervisor, (uint32_t)ready.revents, NULL);
    }
    _exit(result == -EPIPE ? 0 : 1);
}

/* Memory that both see. */
struct shared {
    struct supervisor_notes notes;
    struct streams streams;
};

static int share(struct server *server, struct bawn_error *err)
{
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        return error_errno(err, errno, "share memory with the process that makes the calls");
    memcpy(&shared->streams, &server->early, sizeof(server->early));
    server->notes = &shared->notes;
    server->streams = &shared->streams;
    return 0;
}

struct streams *server_streams(struct server *server)
{
    return server->streams ? server->streams : &server->early;
}

/* A fork. */
static long split(struct server *server, int group_fd)
{
    struct clone_args args = {
        .flags = CLONE_PIDFD, .pidfd = (__u64)(uintptr_t)&server->pidfd, .exit_signal = SIGCHLD};

    return sys_clone3(&args, group_fd);
}

int server_start(struct server *server, const struct cgroup *group,
                 const struct supervisor_options *options, struct bawn_error *err)
{
    int doors[CGROUP_PATHS];
    int count = 0;
    int group_fd = cgroup_clone_fd(group);
    struct supervisor_options shared = *options;
    int errnum;
    long pid;

    if (share(server, err) < 0)
        return -ENOMEM;
    shared.notes = server->notes;
    shared.streams = server->streams;
    pid = group_fd < 0 ? -1 : split(server, group_fd);
    /* KERNEL: nobody is born in a group that is full, but whoever comes by the door is let in. */
    if (pid < 0 && group->kind != CGROUP_NONE)
        count = cgroup_open_doors(group, doors, err);
    if (count < 0)
        return count;
    if (pid < 0)
        pid = split(server, -EBADF);
    if (pid == 0)
        serve(shared, doors, count);
    errnum = errno;
    while (count > 0)
        (void)close(doors[--count]);
    if (pid < 0)
        return error_errno(err, errnum, "start the process that makes the command's calls");
    server->pid = (pid_t)pid;
    return 0;
}

int server_reap(struct server *server)
{
    int status = 0;

    if (server->pid == 0 || waitpid(server->pid, &status, __WALL | WNOHANG) != server->pid)
        return 0;
    server->pid = 0;
    (void)close(take_fd(&server->pidfd));
    return status;
}

void server_end(struct server *server)
{
    struct pollfd ended = {.fd = server->pidfd, .events = POLLIN};

    if (server->pid == 0)
        return;
    if (poll(&ended, 1, END_MS) == 0) {
        (void)sys_pidfd_send_signal(server->pidfd, SIGKILL);
        (void)poll(&ended, 1, END_MS);
    }
    (void)server_reap(server);
}
