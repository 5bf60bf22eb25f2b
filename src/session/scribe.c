/* SPDX-License-Identifier: Apache-2.0 */
#include "session/scribe.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STREAMS = 3,
    SOCK_FD = 0,  /* in the process; then pipe and file of each way */
    ABOVE_FD = 3, /* away from streams */
    PIPE_BYTES = 256 * 1024,
    PATIENCE_MS = 10000,
};

struct way {
    int from, to; /* from -1: ended */
    int stream;
};

struct word {
    int32_t errnum, stream;
    bool is_last;
};

struct work {
    struct way ways[STREAMS];
    int count;
    struct word word;
    struct event_sender *events;
    char bytes[PIPE_BYTES];
};

static int refuse_stream(int errnum, int stream, struct bawn_error *err)
{
    (void)error_errno(err, errnum, "write what the command says to standard stream %d", stream);
    error_hint(err,
               errnum == EFBIG
                   ? "the rest of the output is lost; sandbox.limits.file_size may be the limit"
                   : "the rest of the output is lost: redirect it elsewhere");
    return -errnum;
}

static void give_up(struct work *work, struct way *way, int errnum)
{
    struct bawn_error said = {0};

    /* Whoever writes on is told by the pipe. */
    (void)close(way->from);
    way->from = -1;
    if (errnum == 0)
        return;
    (void)refuse_stream(errnum, way->stream, &said);
    event_send_error(work->events, EVENT_STREAM, &said);
    if (work->word.errnum != 0)
        return;
    work->word.errnum = errnum;
    work->word.stream = way->stream;
}

/* Returns how much it has moved; 0: the way has ended, or nothing is there. SECURITY: whoever is
 * inside may open the pipe again and take what was said, but nobody waits for that here. */
static size_t copy(struct work *work, struct way *way, size_t most)
{
    ssize_t count = read(way->from, work->bytes, most < PIPE_BYTES ? most : PIPE_BYTES);
    ssize_t written = 0;

    for (ssize_t at = 0; at < count; at += written) {
        written = write(way->to, work->bytes + at, (size_t)(count - at));
        if (written > 0)
            continue;
        give_up(work, way, written < 0 ? errno : EIO);
        return 0;
    }
    if (count == 0 || (count < 0 && errno != EAGAIN))
        give_up(work, way, count < 0 ? errno : 0);
    return count > 0 ? (size_t)count : 0;
}

/* What is there now, and no more: somebody may write without end. */
static void write_all(struct work *work)
{
    for (int i = 0; i < work->count; i++) {
        struct way *way = &work->ways[i];
        int left = 0;

        if (way->from >= 0)
            (void)ioctl(way->from, FIONREAD, &left);
        while (left > 0) {
            size_t moved = copy(work, way, (size_t)left);

            left = moved ? left - (int)moved : 0;
        }
    }
}

static void say(const struct work *work)
{
    (void)send(SOCK_FD, &work->word, sizeof(work->word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void serve(struct work *work)
{
    struct pollfd ready[1 + STREAMS] = {{.fd = SOCK_FD, .events = POLLIN}};
    int open;
    char asked;

    do {
        open = 0;
        for (int i = 0; i < work->count; i++) {
            ready[1 + i] = (struct pollfd){.fd = work->ways[i].from, .events = POLLIN};
            open += work->ways[i].from >= 0;
        }
        if (open == 0 || poll(ready, 1 + (nfds_t)work->count, -1) < 0)
            continue;
        for (int i = 0; i < work->count; i++) {
            if (work->ways[i].from >= 0 && ready[1 + i].revents)
                (void)copy(work, &work->ways[i], PIPE_BYTES);
        }
        if (!ready[0].revents)
            continue;
        if (recv(SOCK_FD, &asked, 1, MSG_DONTWAIT) > 0) {
            write_all(work);
            say(work);
        } else {
            ready[0].fd = -1; /* the launcher is gone */
        }
    } while (open > 0);
    work->word.is_last = true;
    say(work);
}

struct scribe *scribe_new(const struct image *image, struct bawn_error *err)
{
    struct scribe *scribe = calloc(1, sizeof(*scribe));

    if (!scribe) {
        (void)error_memory(err);
        return NULL;
    }
    scribe->image = image;
    scribe->sock = -EBADF;
    for (int i = 0; i < STREAMS; i++)
        scribe->of[i].given = scribe->of[i].from = scribe->of[i].outside = -EBADF;
    return scribe;
}

/* Where one of them is written at its end and the other is not, they are two. */
static bool are_same(int fd, int other)
{
    struct stat one, two;

    return fstat(fd, &one) == 0 && fstat(other, &two) == 0 && one.st_ino == two.st_ino &&
           one.st_dev == two.st_dev && fcntl(fd, F_GETFL) == fcntl(other, F_GETFL);
}

int scribe_add(struct scribe *scribe, int stream, int fd, struct bawn_error *err)
{
    int ends[2];

    scribe->of[stream].outside = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_FD);
    if (scribe->of[stream].outside < 0)
        return error_errno(err, errno, "keep standard stream %d", stream);
    for (int i = 0; i < STREAMS; i++) {
        if (i != stream && scribe->of[i].from >= 0 && are_same(scribe->of[i].outside, fd))
            return scribe->of[i].given;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "make a pipe");
    /* If that is too much for this user, it is only slower. */
    (void)fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
    /* When root runs bawn the command is somebody else, and may open /dev/stdout. */
    if (geteuid() == 0)
        (void)!fchown(ends[0], scribe->image->host_uid, scribe->image->host_gid);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    scribe->stream = stream;
    scribe->of[stream].from = ends[0];
    scribe->of[stream].given = ends[1];
    return ends[1];
}

static void limit(uint64_t bytes)
{
    struct rlimit now;

    if (bytes == 0 || getrlimit(RLIMIT_FSIZE, &now) < 0 || now.rlim_cur <= bytes)
        return;
    now.rlim_cur = bytes;
    (void)setrlimit(RLIMIT_FSIZE, &now);
}

/*
 * Holds:    the caller's rights; pipes to read, files to write, the socket.
 * Must:     write what comes until nobody has the pipes open, whatever ends the launcher.
 * Mustn't:  keep a descriptor whose end somebody waits for.
 */
static int work_on(void *context, struct event_sender *events, struct bawn_error *err)
{
    const struct scribe *scribe = context;
    autofree struct work *work = calloc(1, sizeof(*work));
    int next = SOCK_FD + 1;

    if (!work)
        return error_memory(err);
    work->events = events;
    for (int i = 0; i < STREAMS; i++) {
        if (scribe->of[i].from < 0)
            continue;
        work->ways[work->count++] = (struct way){.from = next, .to = next + 1, .stream = i};
        next += 2;
    }
    limit(scribe->image->limits.file_size);
    serve(work);
    return 0;
}

int scribe_start(struct scribe *scribe, int channel, struct bawn_error *err)
{
    struct aide_work work = {.who = WHO_SCRIBE, .run = work_on, .context = scribe};
    int ends[2];
    int result;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_errno(err, errno, "socketpair");
    scribe->sock = ends[0];
    work.fds[work.count++] = ends[1];
    for (int i = 0; i < STREAMS; i++) {
        if (scribe->of[i].from < 0)
            continue;
        work.fds[work.count++] = scribe->of[i].from;
        work.fds[work.count++] = scribe->of[i].outside;
    }
    result = aide_start(&scribe->aide, &work, channel, err);
    (void)close(ends[1]);
    for (int i = 0; i < STREAMS; i++) {
        if (scribe->of[i].from >= 0)
            (void)close(take_fd(&scribe->of[i].from));
    }
    return result;
}

void scribe_handed_in(struct scribe *scribe)
{
    for (int i = 0; i < STREAMS; i++) {
        if (scribe->of[i].given >= 0)
            (void)close(take_fd(&scribe->of[i].given));
        if (scribe->of[i].outside >= 0)
            (void)close(take_fd(&scribe->of[i].outside));
    }
}

void scribe_ask(struct scribe *scribe)
{
    (void)send(scribe->sock, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool scribe_hear(struct scribe *scribe)
{
    struct word word;
    ssize_t length;

    /* KERNEL: who ends with a question unread resets the connection; that is told once, and then
     * comes what it said before. */
    do
        length = recv(scribe->sock, &word, sizeof(word), 0);
    while (length < 0 && (errno == EINTR || errno == ECONNRESET));
    if (length != (ssize_t)sizeof(word)) {
        /* Somebody has ended it. */
        if (!scribe->is_done && scribe->errnum == 0)
            scribe->errnum = EPIPE;
        return false;
    }
    if (word.errnum != 0)
        scribe->stream = word.stream;
    scribe->errnum = word.errnum;
    scribe->is_done = word.is_last;
    return true;
}

void scribe_settle(struct scribe *scribe)
{
    struct pollfd answer = {.fd = scribe->sock, .events = POLLIN};

    scribe_ask(scribe);
    if (poll(&answer, 1, PATIENCE_MS) > 0)
        (void)scribe_hear(scribe);
}

bool scribe_has_ended(struct scribe *scribe, bool waits)
{
    if (scribe->aide.pid != 0 && waits) {
        while (scribe_hear(scribe))
            ;
        aide_end(&scribe->aide, -1);
    }
    return aide_reap(&scribe->aide, NULL);
}

void scribe_free(struct scribe *scribe)
{
    if (!scribe)
        return;
    scribe_handed_in(scribe);
    for (int i = 0; i < STREAMS; i++) {
        if (scribe->of[i].from >= 0)
            (void)close(scribe->of[i].from);
    }
    if (scribe->sock >= 0)
        (void)close(scribe->sock);
    free(scribe);
}

int scribe_judge(const struct scribe *scribe, struct bawn_error *err)
{
    return scribe->errnum == 0 ? 0 : refuse_stream(scribe->errnum, scribe->stream, err);
}
