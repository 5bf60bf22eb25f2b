/* SPDX-License-Identifier: Apache-2.0 */
/* The clients: what they say in lines, and what each has been told. */
#include "approvals/own.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* With so little poll says that a pipe can be written, and it is not waited for. */
enum { WRITE_BYTES = 4096, GREET_MS = 10000 };

void peers_drop(struct peer *peer)
{
    struct approvals *approvals = peer->approvals;
    bool was_greeted = peer->is_greeted;
    bool is_parent;

    if (!peer->number)
        return;
    is_parent = approvals->request->uses_stdio;
    loop_remove(&approvals->loop, &peer->in);
    loop_remove(&approvals->loop, &peer->out);
    if (!is_parent)
        (void)close(peer->in_fd);
    free(peer->line);
    strbuf_done(&peer->said);
    vec_done(&peer->told);
    *peer = (struct peer){.number = 0};
    if (is_parent)
        loop_end(&approvals->loop);
    if (was_greeted)
        approvals_attend(approvals);
}

struct peer *peers_find(struct approvals *approvals, uint64_t number)
{
    for (size_t i = 0; i < SERVED_CLIENTS; i++)
        if (approvals->peers[i].number == number)
            return &approvals->peers[i];
    return NULL;
}

bool peers_any(const struct approvals *approvals)
{
    for (size_t i = 0; i < SERVED_CLIENTS; i++)
        if (approvals->peers[i].number && approvals->peers[i].is_greeted)
            return true;
    return false;
}

void peer_say(struct peer *peer, const struct strbuf *line)
{
    if (line->failed)
        peer->is_ending = true;
    else
        strbuf_add_bytes(&peer->said, line->text, line->length);
}

static size_t waiting(const struct peer *peer)
{
    return peer->said.length - peer->said_at;
}

/* The first of what it knows that is over. */
static bool tell_over(struct peer *peer)
{
    vec_each (&peer->told, told) {
        if (!told->is_settled)
            continue;
        tell_settled(&peer->said, told);
        /* In their order: the oldest are first. */
        peer->told.count--;
        memmove(told, told + 1,
                (size_t)(peer->told.items + peer->told.count - told) * sizeof(*told));
        return true;
    }
    return false;
}

static bool tell_one_session(struct peer *peer)
{
    for (size_t i = 0; i < SERVED_SESSIONS; i++) {
        const struct served *session = &peer->approvals->sessions[i];
        __auto_type known = &peer->known[i];

        if (known->generation == session->generation)
            continue;
        if (known->generation) {
            tell_session(&peer->said, known->sid, NULL);
            known->generation = 0;
            return true;
        }
        strbuf_add(&peer->said, session->line);
        known->generation = session->generation;
        memcpy(known->sid, session->sid, sizeof(known->sid));
        return true;
    }
    return false;
}

static bool tell_one_question(struct peer *peer)
{
    const struct question *next = NULL;
    const struct served *from = NULL;
    struct told told = {0};

    if (peer->told.count >= SERVED_TOLD)
        return false;
    for (size_t i = 0; i < SERVED_SESSIONS; i++) {
        const struct served *session = &peer->approvals->sessions[i];

        vec_each (&session->questions, question) {
            if (question->serial > peer->serial && (!next || question->serial < next->serial)) {
                next = question;
                from = session;
            }
        }
    }
    if (!next)
        return false;
    told.serial = next->serial;
    (void)snprintf(told.id, sizeof(told.id), "%s:%u", from->sid, next->id);
    if (!vec_push(&peer->told, told))
        return false;
    strbuf_add_bytes(&peer->said, next->line, next->length);
    peer->serial = next->serial;
    return true;
}

/* Tells what there is, while it reads. What ended comes before what begins. */
static void fill(struct peer *peer)
{
    while (peer->is_greeted && !peer->is_ending && waiting(peer) < SERVED_ENOUGH &&
           (tell_over(peer) || tell_one_session(peer) || tell_one_question(peer)))
        ;
    peer->is_ending |= peer->said.failed;
}

static void arm(struct peer *peer)
{
    peer->out.events = waiting(peer) > 0 ? POLLOUT : 0;
    peer->in.events = waiting(peer) < SERVED_ENOUGH && !peer->is_ending ? POLLIN : 0;
}

void peers_tell(struct approvals *approvals)
{
    for (size_t i = 0; i < SERVED_CLIENTS; i++) {
        struct peer *peer = &approvals->peers[i];

        if (!peer->number)
            continue;
        fill(peer);
        arm(peer);
    }
}

void peers_settled(struct approvals *approvals, const struct question *question,
                   const struct told *end)
{
    for (size_t i = 0; i < SERVED_CLIENTS; i++) {
        vec_each (&approvals->peers[i].told, told) {
            if (told->serial != question->serial)
                continue;
            *told = *end;
            told->serial = question->serial;
        }
    }
}

static void refuse_line(struct peer *peer)
{
    struct bawn_error error = {0};

    (void)error_set(&error, EMSGSIZE, "protocol.too_long", "a line has more than %d bytes",
                    SERVED_LINE);
    error_hint(&error, "end each command with a newline");
    command_fail(peer, NULL, &error);
    peer->is_ending = true;
    peer->greets_until_ms = clock_ms() + GREET_MS;
}

/* The lines that are whole, while it reads the answers. */
static void take_lines(struct peer *peer)
{
    uint64_t number = peer->number;
    size_t at = 0;
    char *newline;

    while (peer->number == number && !peer->is_ending && waiting(peer) < SERVED_ENOUGH &&
           (newline = memchr(peer->line + at, '\n', peer->length - at))) {
        command_take(peer, peer->line + at, (size_t)(newline - peer->line) - at);
        at = (size_t)(newline - peer->line) + 1;
    }
    if (peer->number != number)
        return;
    peer->length -= at;
    memmove(peer->line, peer->line + at, peer->length);
    if (peer->length == SERVED_LINE && !memchr(peer->line, '\n', peer->length))
        refuse_line(peer);
}

static int on_writable(void *context, uint32_t events)
{
    struct peer *peer = context;
    struct approvals *approvals = peer->approvals;
    size_t length = waiting(peer) < WRITE_BYTES ? waiting(peer) : WRITE_BYTES;
    ssize_t written = 0;

    if (length > 0)
        written = write(peer->out_fd, peer->said.text + peer->said_at, length);
    if ((written < 0 && errno != EAGAIN && errno != EINTR) ||
        (length == 0 && (events & (POLLERR | POLLHUP | POLLNVAL)))) {
        peers_drop(peer);
        return 0;
    }
    if (written > 0)
        peer->said_at += (size_t)written;
    if (waiting(peer) == 0) {
        strbuf_done(&peer->said);
        peer->said_at = 0;
        if (peer->is_ending) {
            peers_drop(peer);
            return 0;
        }
    } else if (peer->said_at > SERVED_ENOUGH) {
        memmove(peer->said.text, peer->said.text + peer->said_at, waiting(peer) + 1);
        peer->said.length -= peer->said_at;
        peer->said_at = 0;
    }
    /* Commands that waited for room for their answers come first. */
    take_lines(peer);
    peers_tell(approvals);
    return approvals->failed;
}

static int on_readable(void *context, uint32_t events)
{
    struct peer *peer = context;
    struct approvals *approvals = peer->approvals;
    size_t room = SERVED_LINE - peer->length;
    ssize_t got = -1;

    /* Gone, and not heard any more: what it said last does not count. */
    if (!(events & POLLIN) || peer->is_ending) {
        peers_drop(peer);
        return 0;
    }
    /* Lines that wait for room for their answers may be all that fits. */
    if (room > 0) {
        got = read(peer->in_fd, peer->line + peer->length, room < SERVED_READ ? room : SERVED_READ);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            peers_drop(peer);
            return 0;
        }
        peer->length += got > 0 ? (size_t)got : 0;
    }
    take_lines(peer);
    peers_tell(approvals);
    return approvals->failed;
}

int peers_add(struct approvals *approvals, int in_fd, int out_fd, struct bawn_error *err)
{
    struct peer *peer = peers_find(approvals, 0);
    int result;

    if (!peer)
        return error_set(err, EUSERS, "supervise.busy", "more than %d clients", SERVED_CLIENTS);
    *peer = (struct peer){.approvals = approvals,
                          .in_fd = in_fd,
                          .out_fd = out_fd,
                          .greets_until_ms = clock_ms() + GREET_MS,
                          .line = malloc(SERVED_LINE)};
    peer->in =
        (struct loop_source){.fd = in_fd, .events = POLLIN, .ready = on_readable, .context = peer};
    peer->out = (struct loop_source){.fd = out_fd, .ready = on_writable, .context = peer};
    result = peer->line ? loop_add(&approvals->loop, &peer->in, err) : error_memory(err);
    if (result == 0)
        result = loop_add(&approvals->loop, &peer->out, err);
    if (result == 0) {
        peer->number = ++approvals->last_peer;
        return 0;
    }
    loop_remove(&approvals->loop, &peer->in);
    free(peer->line);
    *peer = (struct peer){.number = 0};
    return result;
}

void peers_tick(struct approvals *approvals)
{
    int64_t now_ms = clock_ms();

    for (size_t i = 0; i < SERVED_CLIENTS && !approvals->request->uses_stdio; i++) {
        struct peer *peer = &approvals->peers[i];

        if (peer->number && (!peer->is_greeted || peer->is_ending) &&
            now_ms >= peer->greets_until_ms)
            peers_drop(peer);
    }
}

void peers_done(struct approvals *approvals)
{
    for (size_t i = 0; i < SERVED_CLIENTS; i++)
        peers_drop(&approvals->peers[i]);
}
