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
#include "session/own.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { WATCH_FD, ROOT_FD, USER_FD, MOUNT_FD, KEPT_FDS };

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
    struct event_sender *events;
};

static int cover(void *context, char *const *targets, size_t count, bool *is_new,
                 struct bawn_error *err)
{
    const struct watcher *watcher = context;

    return launch_cover(&watcher->launch, watcher->image, targets, count, is_new, err);
}

static void report(void *context, const struct event *event)
{
    const struct watcher *watcher = context;

    event_send(watcher->events, *event);
}

static int serve(struct watcher *watcher, struct bawn_error *err)
{
    struct late_options options = {.image = watcher->image,
                                   .root_fd = ROOT_FD,
                                   .fd = WATCH_FD,
                                   .cover = cover,
                                   .cover_most = COVER_MOST,
                                   .report = report,
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
 * Holds:    the caller's rights; the sandbox's root and namespaces, inotify.
 * Must:     mask what appears, until it is killed; say why it cannot.
 * Mustn't:  outlive the launcher, or keep a descriptor whose end somebody waits for.
 */
static int watch_names(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct watcher watcher = {
        .image = context,
        .launch = {.root_fd = ROOT_FD, .user_ns = USER_FD, .mount_ns = MOUNT_FD},
        .events = events};
    int result = serve(&watcher, err);

    if (!err->hint[0])
        error_hint(err, "somebody outside made or moved something that the policy hides: bawn "
                        "ended the sandbox, because the command could have read it");
    return result;
}

static int on_watcher(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;

    (void)events;
    return aide_reap(&session->watcher, &status) ? session_lost(session, WHO_WATCH, status) : 0;
}

int session_watch_names(struct session *session, struct bawn_error *err)
{
    struct aide_work work = {.who = WHO_WATCH,
                             .fds = {[WATCH_FD] = session->watch_fd,
                                     [ROOT_FD] = session->launch.root_fd,
                                     [USER_FD] = session->launch.user_ns,
                                     [MOUNT_FD] = session->launch.mount_ns},
                             .count = KEPT_FDS,
                             .dies_with_us = true,
                             .run = watch_names,
                             .context = (void *)(uintptr_t)session->request->image};
    int result;

    if (session->watch_fd < 0)
        return 0;
    result = session_channel(session, err);
    if (result >= 0)
        result = aide_start(&session->watcher, &work, result, err);
    (void)close(take_fd(&session->watch_fd));
    return result < 0 ? result
                      : aide_watch(&session->watcher, &session->loop, on_watcher, session, err);
}
