/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are hidden and appear while the command runs: seen and masked by the launcher. */
#include "supervise/late.h"
#include "base/error.h"
#include "session/own.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>

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

static int cover(void *context, char *const *targets, size_t count, struct bawn_error *err)
{
    const struct session *session = context;

    return launch_cover(&session->launch, session->request->image, targets, count, err);
}

static void tell_full(void *context, const char *path)
{
    struct bawn_error said = {0};

    (void)error_set(&said, ENOSPC, "run.watches",
                    "%s: too many directories to watch for what patterns hide", path);
    error_hint(&said, "what others make under such a name from now on, in directories that are not "
                      "watched, can be read; grant a smaller tree, or deny directories by name");
    session_say(context, &said);
}

/* SECURITY: what may be seen though it is hidden ends the session. Once more, for what was looked
 * at may have been moved away meanwhile. */
static int on_watch(void *context, uint32_t events)
{
    struct session *session = context;
    int result = late_serve(session->late, &session->failure);

    (void)events;
    return result;
}

int session_watch_names(struct session *session, struct bawn_error *err)
{
    struct late_options options = {.image = session->request->image,
                                   .root_fd = session->launch.root_fd,
                                   .fd = session->watch_fd,
                                   .cover = cover,
                                   .cover_most = COVER_MOST,
                                   .tell_full = tell_full,
                                   .context = session};
    int result;

    if (session->watch_fd < 0)
        return 0;
    result = late_new(&options, &session->late, err);
    if (result < 0)
        return result;
    session->watch_source = (struct loop_source){
        .fd = session->watch_fd, .events = POLLIN, .ready = on_watch, .context = session};
    return loop_add(&session->loop, &session->watch_source, err);
}
