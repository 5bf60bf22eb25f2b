/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of events for a program: never waited for, and bounded. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "session/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
    WAITING_BYTES = 256 * 1024,
    END_BYTES = 16 * 1024, /* of these for the last object */
    END_MS = 500,          /* for a reader who is slow, at the end */
};

static int refuse(int fd, const char *why, struct bawn_error *err)
{
    (void)error_set(err, EBADF, "usage.bad_value", "--events %d: %s", fd, why);
    error_hint(err, "give the number of a descriptor that is open for writing: bawn run --events 3 "
                    "-- COMMAND 3>FILE");
    return -EBADF;
}

int feed_open(struct feed *feed, int fd, struct bawn_error *err)
{
    int flags = fcntl(fd, F_GETFL);
    struct stat status;
    char path[32];
    int own = -EBADF;

    if (flags < 0 || fstat(fd, &status) < 0 || (flags & O_PATH))
        return refuse(fd, "it is not open", err);
    if ((flags & O_ACCMODE) == O_RDONLY)
        return refuse(fd, "it is open for reading alone", err);
    feed->is_socket = S_ISSOCK(status.st_mode);
    feed->may_wait = !S_ISREG(status.st_mode) && !feed->is_socket;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    /* KERNEL: that no write waits is a matter of the open file, which others have too: a pipe and a
     * terminal are opened anew. A file is not, for its offset is the caller's. */
    if (feed->may_wait)
        own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0)
        own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    else
        feed->may_wait = false;
    if (own < 0)
        return error_errno(err, errno, "use descriptor %d for events", fd);
    feed->fd = own;
    return 0;
}

static ssize_t write_some(const struct feed *feed, const char *bytes, size_t length)
{
    struct pollfd room = {.fd = feed->fd, .events = POLLOUT};
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before;
    ssize_t written;
    int errnum;

    if (feed->is_socket)
        return send(feed->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (feed->may_wait && (poll(&room, 1, 0) <= 0 || !(room.revents & POLLOUT))) {
        errno = room.revents & (POLLERR | POLLNVAL) ? EPIPE : EAGAIN;
        return -1;
    }
    /* Whoever read it may be gone. Of the signal a command must inherit nothing. */
    (void)sigaction(SIGPIPE, &ignored, &before);
    written = write(feed->fd, bytes, feed->may_wait && length > PIPE_BUF ? PIPE_BUF : length);
    errnum = errno;
    (void)sigaction(SIGPIPE, &before, NULL);
    errno = errnum;
    return written;
}

static void watch(struct feed *feed, bool is_waiting);

/* As much as there is room for. */
static void flush(struct feed *feed)
{
    size_t done = 0;

    while (feed->fd >= 0 && done < feed->waiting.length) {
        ssize_t written = write_some(feed, feed->waiting.text + done, feed->waiting.length - done);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN)
            break;
        /* Nobody reads it any more, or it takes no more: that is no reason to end. */
        if (written <= 0) {
            watch(feed, false);
            (void)close(take_fd(&feed->fd));
            return;
        }
        done += (size_t)written;
    }
    if (done > 0) {
        memmove(feed->waiting.text, feed->waiting.text + done, feed->waiting.length - done);
        feed->waiting.length -= done;
    }
    watch(feed, feed->waiting.length > 0);
}

static int on_room(void *context, uint32_t events)
{
    (void)events;
    flush(context);
    return 0;
}

static void watch(struct feed *feed, bool is_waiting)
{
    if (is_waiting == feed->source.is_added || !feed->loop)
        return;
    feed->source = (struct loop_source){.fd = feed->fd,
                                        .events = POLLOUT,
                                        .ready = on_room,
                                        .context = feed,
                                        .is_added = feed->source.is_added};
    if (is_waiting)
        (void)loop_add(feed->loop, &feed->source, NULL);
    else
        loop_remove(feed->loop, &feed->source);
}

void feed_put(struct feed *feed, const char *body, bool is_last)
{
    autostrbuf struct strbuf line = {0};
    size_t most = is_last ? WAITING_BYTES : WAITING_BYTES - END_BYTES;

    if (feed->fd < 0)
        return;
    json_open(&line, NULL, '{');
    json_put_uint(&line, "seq", feed->count + 1);
    strbuf_addf(&line, ", %s", body);
    if (feed->lost)
        json_put_uint(&line, "lost_before", feed->lost);
    json_close(&line, '}');
    strbuf_add(&line, "\n");
    if (line.failed || feed->waiting.length + line.length > most) {
        feed->lost++;
        return;
    }
    strbuf_add_bytes(&feed->waiting, line.text, line.length);
    if (feed->waiting.failed)
        return;
    feed->count++;
    feed->lost = 0;
    flush(feed);
}

void feed_end(struct feed *feed)
{
    int64_t until = clock_ms() + END_MS;

    flush(feed);
    while (feed->fd >= 0 && feed->waiting.length > 0 && clock_ms() < until) {
        struct pollfd room = {.fd = feed->fd, .events = POLLOUT};

        if (poll(&room, 1, (int)(until - clock_ms())) > 0)
            flush(feed);
    }
    watch(feed, false);
    strbuf_done(&feed->waiting);
}
