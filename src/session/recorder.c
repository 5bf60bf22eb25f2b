/* SPDX-License-Identifier: Apache-2.0 */
#include "session/recorder.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "session/output.h"
#include "session/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STREAM_FD = 0, /* of the process */
    DIR_FD = 1,
    /* 2 is the end with its lock: whoever asks is told to wait until all is written. */
    PIECE_BYTES = 64 * 1024,
    END_MS = 5000, /* for what is left to be written at the end */
};

/* What it writes. */
struct work {
    uint64_t half;                  /* how long a file becomes */
    uint64_t at;                    /* bytes since the beginning */
    uint64_t left;                  /* room in this file */
    int fd;                         /* of this file, or -EBADF */
    char names[2][KEPT_NAME_BYTES]; /* this file, and the one before; "": none */
    char bytes[PIECE_BYTES];
};

static int begin_file(struct work *work)
{
    char name[KEPT_NAME_BYTES];
    int fd;

    (void)snprintf(name, sizeof(name), KEPT_OUTPUT "%llu", (unsigned long long)work->at);
    fd = kept_open_file(DIR_FD, name, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return fd;
    if (work->names[1][0])
        (void)unlinkat(DIR_FD, work->names[1], 0);
    memcpy(work->names[1], work->names[0], sizeof(name));
    memcpy(work->names[0], name, sizeof(name));
    if (work->fd >= 0)
        (void)close(work->fd);
    work->fd = fd;
    work->left = work->half;
    return 0;
}

static int put(struct work *work, const char *bytes, size_t length)
{
    while (length > 0) {
        int result = work->left == 0 ? begin_file(work) : 0;
        ssize_t written;

        if (result < 0)
            return result;
        written = write(work->fd, bytes, length < work->left ? length : (size_t)work->left);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written < 0)
            continue;
        bytes += written;
        length -= (size_t)written;
        work->left -= (uint64_t)written;
        work->at += (uint64_t)written;
    }
    return 0;
}

/*
 * Holds:    the stream, the directory, and the lock on the end.
 * Must:     write what comes until the stream ends, whatever ends the launcher.
 * Mustn't:  keep the command waiting when it can write no more: it ends.
 */
static int work_on(void *context, struct event_sender *events, struct bawn_error *err)
{
    const struct session *session = context;
    autofree struct work *work = calloc(1, sizeof(*work));
    struct bawn_error said = {0};
    int result = 0;
    ssize_t got;

    if (!work)
        return error_memory(err);
    work->half = session->request->log_bytes / 2;
    work->fd = -EBADF;
    while (result == 0 &&
           ((got = read(STREAM_FD, work->bytes, PIECE_BYTES)) > 0 || (got < 0 && errno == EINTR)))
        result = got > 0 ? put(work, work->bytes, (size_t)got) : 0;
    if (result == 0)
        return 0;
    (void)error_errno(&said, -result, "keep what the command says");
    event_send_error(events, EVENT_STREAM, &said);
    return 0;
}

void recorder_take(struct recorder *recorder, const struct event *event)
{
    if (recorder->failure.errnum == 0)
        event_error(event, &recorder->failure);
}

int recorder_reserve(struct session *session, const char *sid, const char *record, size_t length)
{
    struct recorder *recorder = &session->recorder;
    struct bawn_error *err = &recorder->failure;
    int result;

    if (recorder->kept.fd < 0 && err->errnum == 0 && kept_open(&recorder->kept, true, err) == 0)
        kept_sweep(&recorder->kept);
    if (err->errnum != 0)
        return 0;
    result = kept_make(&recorder->kept, sid, record, length, &recorder->entry, err);
    if (result == 0)
        memcpy(recorder->sid, sid, sizeof(recorder->sid));
    return result == -EEXIST ? result : 0;
}

void recorder_forget(struct recorder *recorder)
{
    if (!recorder->sid[0])
        return;
    kept_remove(&recorder->kept, recorder->sid);
    recorder->sid[0] = '\0';
    (void)close(take_fd(&recorder->entry.dir_fd));
    (void)close(take_fd(&recorder->entry.end_fd));
}

/* Nothing that runs needs it. */
static int on_end(void *context, uint32_t events)
{
    struct session *session = context;
    struct recorder *recorder = &session->recorder;
    int status = 0;

    (void)events;
    if (!aide_reap(&recorder->aide, &status))
        return 0;
    (void)session_lost(session, WHO_RECORDER, status);
    if (recorder->failure.errnum == 0)
        (void)error_set(&recorder->failure, EPIPE, "session.kept",
                        "the process that keeps what the command says was ended");
    return 0;
}

static int start(struct session *session, struct bawn_error *err)
{
    struct recorder *recorder = &session->recorder;
    struct aide_work work = {.who = WHO_RECORDER, .run = work_on, .context = session};
    struct winsize size = {0};
    int channel = session_channel(session, err);
    autoclose int stream =
        channel < 0 ? channel : output_attach(session->output, &size, &recorder->viewer, err);
    int result;

    if (stream < 0)
        return stream;
    work.fds[work.count++] = stream;
    work.fds[work.count++] = recorder->entry.dir_fd;
    work.fds[work.count++] = recorder->entry.end_fd;
    result = aide_start(&recorder->aide, &work, channel, err);
    if (result < 0) {
        output_detach(recorder->viewer);
        return result;
    }
    return aide_watch(&recorder->aide, &session->loop, on_end, session, err);
}

void recorder_start(struct session *session)
{
    struct recorder *recorder = &session->recorder;

    if (!recorder->sid[0] || !session->output)
        return;
    if (session->request->log_bytes > 0)
        (void)start(session, &recorder->failure);
    else
        kept_put_end(&recorder->entry, KEPT_RUNNING, 0, ENODATA);
}

void recorder_end(struct session *session, int status)
{
    struct recorder *recorder = &session->recorder;
    int64_t began;

    if (!recorder->sid[0])
        return;
    began = clock_ms();
    aide_end(&recorder->aide, END_MS);
    session_hear(session);
    if (clock_ms() - began >= END_MS && recorder->failure.errnum == 0)
        (void)error_errno(&recorder->failure, ETIMEDOUT, "keep what the command says");
    /* Whom nobody was told of nobody asks for. */
    if (session->request->report_fd >= 0)
        recorder_forget(recorder);
    else
        kept_put_end(&recorder->entry, KEPT_ENDED, status,
                     session->request->log_bytes > 0 ? recorder->failure.errnum : ENODATA);
}
