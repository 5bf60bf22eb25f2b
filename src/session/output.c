/* SPDX-License-Identifier: Apache-2.0 */
#include "session/output.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PIECE_BYTES = 16 * 1024, END_PATIENCE_MS = 1000 };

struct viewer {
    struct output *output;
    int fd; /* -EBADF: a free slot */
    struct loop_source source;
    uint64_t seen;         /* bytes, counted as written */
    struct viewer **owner; /* where somebody keeps it; NULL there when it is gone */
    char keys[OUTPUT_KEYS_BYTES];
    size_t key_count;
};

struct output {
    struct loop *loop;
    struct loop_source source;
    bool is_terminal, is_ended;
    uint64_t written; /* bytes since the beginning */
    char ring[OUTPUT_RING_BYTES];
    struct viewer viewers[OUTPUT_VIEWERS_MAX];
};

size_t output_viewers(const struct output *output)
{
    size_t count = 0;

    for (size_t i = 0; output && i < OUTPUT_VIEWERS_MAX; i++)
        count += output->viewers[i].fd >= 0;
    return count;
}

static void watch(struct output *output, struct loop_source *source, uint32_t events)
{
    if (events == 0) {
        loop_remove(output->loop, source);
        return;
    }
    source->events = events;
    (void)loop_add(output->loop, source, NULL);
}

/* Whether a piece more overwrites nothing that a viewer has yet to see. */
static bool has_room(const struct output *output)
{
    for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++) {
        const struct viewer *viewer = &output->viewers[i];

        if (viewer->fd >= 0 && output->written - viewer->seen + PIECE_BYTES > OUTPUT_RING_BYTES)
            return false;
    }
    return true;
}

static void watch_all(struct output *output)
{
    bool has_keys = false;

    for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++) {
        struct viewer *viewer = &output->viewers[i];
        uint32_t events = 0;

        if (viewer->fd < 0)
            continue;
        has_keys = has_keys || viewer->key_count > 0;
        if (viewer->key_count < sizeof(viewer->keys))
            events |= POLLIN;
        if (viewer->seen < output->written)
            events |= POLLOUT;
        watch(output, &viewer->source, events);
    }
    watch(output, &output->source,
          output->is_ended ? 0U : (has_room(output) ? POLLIN : 0U) | (has_keys ? POLLOUT : 0U));
}

void output_detach(struct viewer *viewer)
{
    if (viewer->fd < 0)
        return;
    loop_remove(viewer->output->loop, &viewer->source);
    (void)close(take_fd(&viewer->fd));
    viewer->key_count = 0;
    *viewer->owner = NULL;
    watch_all(viewer->output);
}

/* False: the viewer is gone. */
static bool show(struct viewer *viewer)
{
    struct output *output = viewer->output;

    while (viewer->seen < output->written) {
        size_t at = (size_t)(viewer->seen % OUTPUT_RING_BYTES);
        size_t length = (size_t)(output->written - viewer->seen);
        ssize_t sent;

        if (length > OUTPUT_RING_BYTES - at)
            length = OUTPUT_RING_BYTES - at;
        sent = send(viewer->fd, output->ring + at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN;
        viewer->seen += (uint64_t)sent;
    }
    return true;
}

static void show_all(struct output *output)
{
    for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++) {
        if (output->viewers[i].fd >= 0 && !show(&output->viewers[i]))
            output_detach(&output->viewers[i]);
    }
}

/* False when there is nothing now, or no more. */
static bool take_in(struct output *output)
{
    size_t at = (size_t)(output->written % OUTPUT_RING_BYTES);
    size_t room = OUTPUT_RING_BYTES - at < PIECE_BYTES ? OUTPUT_RING_BYTES - at : PIECE_BYTES;
    ssize_t count;

    do
        count = read(output->source.fd, output->ring + at, room);
    while (count < 0 && errno == EINTR);
    if (count > 0) {
        output->written += (uint64_t)count;
        return true;
    }
    output->is_ended = count == 0 || errno != EAGAIN;
    return false;
}

static void type_keys(struct output *output, struct viewer *viewer)
{
    ssize_t count;

    if (viewer->key_count == 0)
        return;
    count = write(output->source.fd, viewer->keys, viewer->key_count);
    if (count < 0 && errno != EAGAIN && errno != EINTR)
        count = (ssize_t)viewer->key_count;
    if (count <= 0)
        return;
    viewer->key_count -= (size_t)count;
    memmove(viewer->keys, viewer->keys + count, viewer->key_count);
}

static int on_output(void *context, uint32_t events)
{
    struct output *output = context;

    for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++) {
        if (events & POLLOUT)
            type_keys(output, &output->viewers[i]);
        /* Nobody is left to take them: waiting for that would be waiting without rest. */
        else if (events & (POLLHUP | POLLERR))
            output->viewers[i].key_count = 0;
    }
    /* A hang-up comes unasked for. */
    if (events & ~(uint32_t)POLLOUT && has_room(output) && take_in(output))
        show_all(output);
    watch_all(output);
    return 0;
}

static int on_viewer(void *context, uint32_t events)
{
    struct viewer *viewer = context;
    struct output *output = viewer->output;
    char waste[256];
    bool is_gone = events & POLLOUT && !show(viewer);

    if (!is_gone && events & ~(uint32_t)POLLOUT) {
        size_t room = sizeof(viewer->keys) - viewer->key_count;
        ssize_t count = output->is_terminal
                            ? recv(viewer->fd, viewer->keys + viewer->key_count, room, MSG_DONTWAIT)
                            : recv(viewer->fd, waste, sizeof(waste), MSG_DONTWAIT);

        if (count > 0 && output->is_terminal) {
            viewer->key_count += (size_t)count;
            type_keys(output, viewer);
        }
        is_gone = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    }
    if (is_gone)
        output_detach(viewer);
    else
        watch_all(output);
    return 0;
}

int output_new(struct loop *loop, int fd, bool is_terminal, struct output **ret_output,
               struct bawn_error *err)
{
    struct output *output = calloc(1, sizeof(*output));

    if (!output)
        return error_memory(err);
    output->loop = loop;
    output->is_terminal = is_terminal;
    output->source = (struct loop_source){.fd = fd, .ready = on_output, .context = output};
    for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++)
        output->viewers[i].fd = -EBADF;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        free(output);
        return error_errno(err, errno, "the command's output");
    }
    watch_all(output);
    *ret_output = output;
    return 0;
}

void output_resize(struct output *output, const struct winsize *size)
{
    if (output->is_terminal && size->ws_row > 0 && size->ws_col > 0)
        (void)ioctl(output->source.fd, TIOCSWINSZ, size);
}

int output_attach(struct output *output, const struct winsize *size, struct viewer **ret_viewer,
                  struct bawn_error *err)
{
    struct viewer *viewer = NULL;
    int ends[2];

    for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++) {
        if (output->viewers[i].fd < 0)
            viewer = &output->viewers[i];
    }
    if (!viewer)
        return error_set(err, EUSERS, "session.busy", "%d are attached already",
                         OUTPUT_VIEWERS_MAX);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_errno(err, errno, "socketpair");
    *viewer = (struct viewer){
        .output = output,
        .fd = ends[0],
        .owner = ret_viewer,
        .source = {.fd = ends[0], .ready = on_viewer, .context = viewer},
        .seen = output->written > OUTPUT_RING_BYTES ? output->written - OUTPUT_RING_BYTES : 0};
    output_resize(output, size);
    watch_all(output);
    *ret_viewer = viewer;
    return ends[1];
}

static void show_patiently(struct viewer *viewer)
{
    struct pollfd out = {.fd = viewer->fd, .events = POLLOUT};

    while (viewer->fd >= 0 && viewer->seen < viewer->output->written) {
        if (poll(&out, 1, END_PATIENCE_MS) <= 0 || !show(viewer))
            output_detach(viewer);
    }
}

void output_say(struct output *output, const char *text)
{
    for (; *text && has_room(output); text++) {
        if (*text == '\n' && output->is_terminal)
            output->ring[output->written++ % OUTPUT_RING_BYTES] = '\r';
        output->ring[output->written++ % OUTPUT_RING_BYTES] = *text;
    }
    show_all(output);
    watch_all(output);
}

/* And no more than that: somebody else may have the pipe still open. */
void output_collect(struct output *output)
{
    size_t total = 0;

    if (!output)
        return;
    do {
        for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++)
            show_patiently(&output->viewers[i]);
        total += PIECE_BYTES;
    } while (!output->is_ended && total < 4 * OUTPUT_RING_BYTES && take_in(output));
}

void output_free(struct output *output)
{
    if (!output)
        return;
    output_collect(output);
    output->is_ended = true;
    for (size_t i = 0; i < OUTPUT_VIEWERS_MAX; i++) {
        show_patiently(&output->viewers[i]);
        output_detach(&output->viewers[i]);
    }
    loop_remove(output->loop, &output->source);
    free(output);
}
