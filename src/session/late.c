/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are hidden and appear while the command runs.
 *
 * How it works: a process of its own sees and masks them, outside of the sandbox
 * and of its limits. The command can give it much to do; the launcher, which
 * keeps the time and moves what is typed, is not held up by that. SECURITY: a
 * failure of that process, and its end, end the session.
 */
#include "supervise/late.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/process.h"
#include "session/own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { PIPE_FD, WATCH_FD, ROOT_FD, USER_FD, MOUNT_FD, KEPT_FDS, ABOVE_ALL = 32 };

int session_open_watch(struct session *session, struct bawn_error *err)
{
    if (image_count(session->request->image, PART_WATCHES) == 0)
        return 0;
    session->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (session->watch_fd >= 0)
        return 0;
    (void)error_errno(err, errno, "watch for hidden names that appear: inotify");
    error_hint(err, "end programs that watch files, or as root raise "
                    "fs.inotify.max_user_instances");
    return -err->errnum;
}

/* What the process knows. */
struct watcher {
    const struct image *image;
    struct launch launch;
};

static int cover(void *context, char *const *targets, size_t count, struct bawn_error *err)
{
    const struct watcher *watcher = context;

    return launch_cover(&watcher->launch, watcher->image, targets, count, err);
}

static void tell_full(void *context, const char *path)
{
    struct bawn_error said = {0};

    (void)context;
    (void)error_set(&said, 0, "run.watches",
                    "%s: too many directories to watch for what patterns hide", path);
    error_hint(&said, "what others make under such a name in the directories that are not watched "
                      "can be read; grant a smaller tree, or deny directories by name");
    (void)!write(PIPE_FD, &said, sizeof(said));
}

static int serve(struct watcher *watcher, struct bawn_error *err)
{
    struct late_options options = {.image = watcher->image,
                                   .root_fd = ROOT_FD,
                                   .fd = WATCH_FD,
                                   .cover = cover,
                                   .cover_most = COVER_MOST,
                                   .tell_full = tell_full,
                                   .context = watcher};
    struct pollfd ready = {.fd = WATCH_FD, .events = POLLIN};
    struct late *late = NULL;
    int result = late_new(&options, &late, err);

    while (result == 0) {
        if (poll(&ready, 1, -1) > 0)
            result = late_serve(late, err);
    }
    late_free(late);
    return result;
}

/*
 * Holds:    the caller's rights; the sandbox's root and namespaces, inotify, the pipe.
 * Must:     mask what appears, until it is killed; say why it cannot.
 * Mustn't:  outlive the launcher, or keep a descriptor whose end somebody waits for.
 */
_Noreturn static void watch_names(const struct session *session, int pipe_fd, pid_t launcher)
{
    struct watcher watcher = {
        .image = session->request->image,
        .launch = {.root_fd = ROOT_FD, .user_ns = USER_FD, .mount_ns = MOUNT_FD}};
    int fds[KEPT_FDS] = {[PIPE_FD] = pipe_fd,
                         [WATCH_FD] = session->watch_fd,
                         [ROOT_FD] = session->launch.root_fd,
                         [USER_FD] = session->launch.user_ns,
                         [MOUNT_FD] = session->launch.mount_ns};
    struct bawn_error said = {0};
    bool is_good = true;

    for (int i = 0; i < KEPT_FDS; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ABOVE_ALL);
        is_good &= fds[i] >= 0;
    }
    if (!is_good || !process_withdraw(fds, KEPT_FDS, "bawn: watch") ||
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != launcher)
        _exit(1);
    (void)serve(&watcher, &said);
    if (!said.hint[0])
        error_hint(&said,
                   "somebody outside made or moved something that is hidden: the sandbox was "
                   "ended, for the command could have read it");
    (void)!write(PIPE_FD, &said, sizeof(said));
    _exit(1);
}

static int on_watcher(void *context, uint32_t events)
{
    struct session *session = context;
    struct bawn_error said = {0};
    ssize_t got = read(session->watch_fd, &said, sizeof(said));

    (void)events;
    if (got < 0 && errno == EINTR)
        return 0;
    if (got == (ssize_t)sizeof(said) && said.errnum == 0) {
        session_say(session, &said);
        return 0;
    }
    session->failure = said;
    if (got != (ssize_t)sizeof(said))
        (void)error_set(&session->failure, EIO, "run.watcher",
                        "the process that masks hidden names that appear has ended");
    return -EIO;
}

int session_watch_names(struct session *session, struct bawn_error *err)
{
    pid_t launcher = getpid();
    int ends[2];

    if (session->watch_fd < 0)
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    session->watcher_pid = fork();
    if (session->watcher_pid == 0)
        watch_names(session, ends[1], launcher);
    (void)close(ends[1]);
    (void)close(session->watch_fd);
    session->watch_fd = ends[0];
    if (session->watcher_pid < 0)
        return error_errno(err, errno, "start the process that masks hidden names that appear");
    session->watch_source = (struct loop_source){
        .fd = session->watch_fd, .events = POLLIN, .ready = on_watcher, .context = session};
    return loop_add(&session->loop, &session->watch_source, err);
}

void session_end_watch(struct session *session)
{
    if (session->watcher_pid <= 0)
        return;
    (void)kill(session->watcher_pid, SIGKILL);
    while (waitpid(session->watcher_pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
}
