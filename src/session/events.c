/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's end of the channel: what the session's processes tell it, and what it does then.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "session/own.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { AT_ONCE = 64, IN_ALL = 4096 };

/* How messages call each process. When one that is needed ends, the session ends. */
static const struct {
    const char *words;
    bool is_needed;
} processes[WHO_COUNT] = {
    [WHO_LAUNCHER] = {"the launcher", false},
    [WHO_KEEPER] = {"the process that cleans up after the launcher", false},
    [WHO_CALLS] = {"the process that makes the command's calls", true},
    [WHO_SCRIBE] = {"the process that writes what the command says", false},
    [WHO_WATCH] = {"the process that masks hidden names that appear", true},
    [WHO_RECORDER] = {"the process that keeps what the command says", false},
    [WHO_STAND_IN] = {"the process that watches over the limits", false},
    [WHO_NET] = {"the process that is the network", false},
    [WHO_DOOR] = {"the process that lets connections in", false},
    [WHO_ENGINE] = {"the process that keeps the network's engine", false},
    [WHO_ROOM] = {"the process that measures the layers", false},
    [WHO_VETH] = {"the process that takes the network down", true},
};

/* A process that is needed has failed: that is why the session ends, when it has ended. */
static void take_failure(struct session *session, const struct event *event)
{
    struct bawn_error said;

    if (event->who == WHO_NET)
        event_error(event, &session->net.failure);
    if (session->failure.errnum > 0 || !processes[event->who].is_needed)
        return;
    event_error(event, &said);
    (void)error_set(&session->failure, said.errnum ? said.errnum : EIO, said.code,
                    "%s has failed: %s", processes[event->who].words, said.message);
    error_hint(&session->failure, "%s", said.hint);
}

static void note_refusal(struct session *session, const struct event *event)
{
    if (!session->refusals)
        session->refusals = calloc(1, sizeof(*session->refusals));
    if (session->refusals)
        refusals_take(session->refusals, event);
}

/* Without memory they are in the log alone. */
static void count_host(struct session *session, const struct event *event)
{
    if (!session->hosts)
        session->hosts = calloc(1, sizeof(*session->hosts));
    if (session->hosts)
        hosts_take(session->hosts, event);
}

/* Where bytes go to a host each second is in the trail once, and their sum at the end. What an
 * observed command uses is for who observes it. */
static bool is_recordable(const struct session *session, const struct event *event)
{
    if (event->what == EVENT_USED)
        return false;
    return event->what != EVENT_REACHED ||
           !hosts_has_reached(session->hosts, event->texts[EVENT_PATH]);
}

static void tell(struct session *session, const struct event *event)
{
    const struct log *log = session->request->log;
    struct members_of_event members;

    if (!log && !session_tells(session))
        return;
    members_of_event(event, &members);
    if (log)
        log_members(log, event_name(event->what), members.items, members.count);
    session_record_event(session, event, &members, is_recordable(session, event));
}

/* bawn-net has no command lines: they are known here. */
static void complete(const struct session *session, struct event *event)
{
    const char *argv = NULL;

    if (event->who != WHO_NET || (event->what != EVENT_BARRED && event->what != EVENT_ASKED))
        return;
    if (event->what == EVENT_BARRED)
        event->texts[EVENT_OP] =
            strcmp(event->texts[EVENT_CALL], "lookup") == 0 ? "lookup" : "connect";
    argv = net_argv(&session->net, event->pid, event->texts[EVENT_COMM]);
    if (argv)
        event->texts[EVENT_ARGV] = argv;
}

void session_event(struct session *session, const struct event *told)
{
    struct event whole = *told;
    const struct event *event = &whole;
    struct bawn_error said;

    complete(session, &whole);
    tell(session, event);
    switch (event->what) {
    case EVENT_FAILED:
        take_failure(session, event);
        break;
    case EVENT_FULL:
        event_error(event, &said);
        session_say(session, &said);
        break;
    case EVENT_BARRED:
        note_refusal(session, event);
        count_host(session, event);
        break;
    case EVENT_REACHED:
        count_host(session, event);
        break;
    case EVENT_REFUSED:
        note_refusal(session, event);
        notes_take(&session->notes, event);
        break;
    case EVENT_ASKED:
        asks_take(session, event);
        break;
    case EVENT_GIVEN_UP:
        asks_give_up(session, event);
        break;
    case EVENT_SETTLED:
        break;
    case EVENT_STREAM:
        if (event->who == WHO_RECORDER)
            recorder_take(&session->recorder, event);
        break;
    default:
        notes_take(&session->notes, event);
        break;
    }
}

static int hear(struct session *session, unsigned most)
{
    char bytes[EVENT_BYTES];
    struct event event;
    int result = 1;

    unsigned heard = 0;

    while (result > 0 && heard < most) {
        result = event_receive(session->events_fd, bytes, &event);
        if (result > 0)
            session_event(session, &event);
        heard += result > 0;
    }
    /* SECURITY: whoever tells such a thing is not what it was. */
    if (result < 0 && session->failure.errnum == 0)
        (void)error_errno(&session->failure, -result, "read what bawn's own processes tell");
    if (result >= 0 && heard > 0)
        result = session_write_audit(session);
    return result < 0 ? result : 0;
}

void session_hear(struct session *session)
{
    if (session->events_fd >= 0)
        (void)hear(session, IN_ALL);
}

static int on_events(void *context, uint32_t events)
{
    (void)events;
    return hear(context, AT_ONCE);
}

int session_channel(struct session *session, struct bawn_error *err)
{
    int ends[2];

    if (session->channel >= 0)
        return session->channel;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_errno(err, errno, "make the channel for bawn's own processes");
    session->events_fd = ends[0];
    session->channel = ends[1];
    session->events_source = (struct loop_source){
        .fd = ends[0], .events = POLLIN, .ready = on_events, .context = session};
    if (loop_add(&session->loop, &session->events_source, err) < 0)
        return -ENOMEM;
    return session->channel;
}

int session_lost(struct session *session, enum event_who who, int wait_status)
{
    struct event event = {.what = EVENT_ENDED, .who = who, .times = 1};

    /* What it said last comes first. */
    session_hear(session);
    asks_asker_gone(session, who);
    if (wait_status != 0)
        session_event(session, &event);
    if (!processes[who].is_needed)
        return 0;
    if (session->failure.errnum == 0)
        (void)error_set(&session->failure, EIO, "run.process", "%s has ended",
                        processes[who].words);
    return -session->failure.errnum;
}
