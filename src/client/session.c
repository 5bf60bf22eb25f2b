/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a session: what is said and heard on it. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "wire/packet.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { KNOWN_MS = 20 };

int client_new(int *sock, pid_t launcher, const char *sid, struct bawn_session **ret_session,
               struct bawn_error *err)
{
    struct bawn_session *session = calloc(1, sizeof(*session));

    if (!session)
        return error_memory(err);
    session->sock = take_fd(sock);
    session->launcher = launcher;
    session->awaits_end = launcher > 0;
    (void)snprintf(session->sid, sizeof(session->sid), "%s", sid);
    *ret_session = session;
    return 0;
}

int bawn_session_open(const char *sid, struct bawn_session **ret_session, struct bawn_error *err)
{
    struct registry registry = {.fd = -EBADF};
    char found[SID_BYTES];
    bool is_stopped = false;
    autoclose int sock = registry_connect_user(environ, sid, &registry, found, &is_stopped, err);
    int result = sock < 0 ? sock : client_new(&sock, 0, found, ret_session, err);

    registry_close(&registry);
    if (result == 0 && !is_stopped)
        (*ret_session)->heard_ms = clock_ms();
    return result;
}

void bawn_session_close(struct bawn_session *session)
{
    if (!session)
        return;
    (void)close(session->sock);
    while (session->launcher > 0 && waitpid(session->launcher, NULL, 0) < 0 && errno == EINTR)
        ;
    vec_each (&session->shown, shown) {
        if (shown->fd >= 0)
            (void)close(shown->fd);
    }
    vec_each (&session->ended, ended)
        free(ended->error);
    vec_done(&session->shown);
    vec_done(&session->ended);
    free(session);
}

const char *bawn_session_sid(const struct bawn_session *session)
{
    return session->sid;
}

int bawn_session_fd(const struct bawn_session *session)
{
    return session->sock;
}

int client_refuse_gone(const struct bawn_session *session, struct bawn_error *err)
{
    (void)error_set(err, EPIPE, "session.gone", "%s%sthe session has ended", session->sid,
                    session->sid[0] ? ": " : "");
    error_hint(err, "'bawn ps' lists those that run");
    return -EPIPE;
}

int client_refuse_answer(const struct bawn_session *session, struct bawn_error *err)
{
    (void)error_set(err, EPROTO, "session.protocol",
                    "%s%sthe session's answer makes no sense: it may be of another version of bawn",
                    session->sid, session->sid[0] ? ": " : "");
    error_hint(err, "end it with the bawn that started it, and start it anew");
    return -EPROTO;
}

static int refuse_stopped(const struct bawn_session *session, pid_t launcher,
                          struct bawn_error *err)
{
    (void)error_set(err, EAGAIN, "session.stopped", "%s: the session is stopped and answers nobody",
                    session->sid);
    error_hint(err,
               "go on with it ('fg' in the shell that started it, or 'kill -CONT %d'), or end "
               "it with 'bawn stop'",
               (int)launcher);
    return -EAGAIN;
}

int client_tell(const struct bawn_session *session, struct control_message *message,
                const char *bytes, size_t size, const int *fds, struct bawn_error *err)
{
    /* Who answered just now need not be looked at: that takes longer than to send. */
    bool is_known = session->heard_ms && clock_ms() - session->heard_ms < KNOWN_MS;
    pid_t stopped = is_known ? 0 : registry_stopped(session->sock);
    int result;

    if (stopped && message->kind != CONTROL_STOP)
        return refuse_stopped(session, stopped, err);
    message->version = CONTROL_VERSION;
    result = control_send(session->sock, message, bytes, size, fds, fds ? CONTROL_FDS : 0);
    if (stopped && result == 0)
        (void)kill(stopped, SIGCONT);
    if (result == -EPIPE || result == -ECONNRESET)
        return client_refuse_gone(session, err);
    return result < 0 ? error_errno(err, -result, "speak to session%s%s",
                                    session->sid[0] ? " " : "", session->sid)
                      : 0;
}

/* What is behind a message: only some kinds have something. */
static bool take_behind(const struct bawn_session *session, size_t size, struct client_heard *heard)
{
    switch (heard->message.kind) {
    case CONTROL_FAILED:
        return error_take(&session->behind.error, size, &heard->error) < 0;
    case CONTROL_METRICS:
        heard->metrics = session->behind.metrics;
        return size == sizeof(heard->metrics);
    case CONTROL_HOSTS:
        heard->host_count = control_hosts_count(session->behind.hosts, size);
        return heard->host_count >= 0;
    case CONTROL_ASKED:
        return event_unpack(session->behind.event, size, &heard->event) == 0;
    default:
        return size == 0;
    }
}

int client_hear(struct bawn_session *session, struct client_heard *ret_heard,
                struct bawn_error *err)
{
    int fds[CONTROL_FDS];
    size_t size = 0;
    int result = control_receive(session->sock, &ret_heard->message, &session->behind,
                                 sizeof(session->behind), &size, fds);

    ret_heard->fd = -EBADF;
    if (result == -EPIPE)
        return client_refuse_gone(session, err);
    if (result == -EPROTO)
        return client_refuse_answer(session, err);
    if (result < 0)
        return error_errno(err, -result, "hear from session%s%s", session->sid[0] ? " " : "",
                           session->sid);
    session->heard_ms = clock_ms();
    ret_heard->fd = take_fd(&fds[0]);
    packet_drop_fds(fds, CONTROL_FDS);
    if (take_behind(session, size, ret_heard))
        return 0;
    packet_drop_fds(&ret_heard->fd, 1);
    return client_refuse_answer(session, err);
}

static struct client_ended *find_ended(struct bawn_session *session, uint32_t job)
{
    vec_each (&session->ended, ended) {
        if (ended->job == job)
            return ended;
    }
    return NULL;
}

static struct client_shown *find_shown(struct bawn_session *session, uint32_t job)
{
    vec_each (&session->shown, shown) {
        if (shown->job == job)
            return shown;
    }
    return NULL;
}

static int note_end(struct bawn_session *session, const struct client_heard *heard,
                    struct bawn_error *err)
{
    struct client_shown *shown = find_shown(session, heard->message.job);
    struct client_ended ended = {.job = heard->message.job, .value = heard->message.value};

    /* Its terminal will not come. */
    if (shown && shown->fd < 0)
        *shown = session->shown.items[--session->shown.count];
    /* One job has one end: a session that tells of more would fill our memory. */
    if (find_ended(session, ended.job))
        return client_refuse_answer(session, err);
    if (heard->message.kind == CONTROL_FAILED) {
        ended.error = malloc(sizeof(*ended.error));
        if (!ended.error)
            return error_memory(err);
        *ended.error = heard->error;
    }
    if (vec_push(&session->ended, ended))
        return 0;
    free(ended.error);
    return error_memory(err);
}

static bool is_job(const struct bawn_session *session, int job)
{
    return job >= 0 && (uint32_t)job <= session->last_job && (job > 0 || session->awaits_end);
}

/* Keeps what was said about a job until somebody asks. */
static int note(struct bawn_session *session, struct client_heard *heard, struct bawn_error *err)
{
    struct client_shown *shown = find_shown(session, heard->message.job);
    uint32_t kind = heard->message.kind;
    int result = 0;

    if (!is_job(session, (int)heard->message.job))
        result = client_refuse_answer(session, err);
    else if (kind == CONTROL_EXITED || kind == CONTROL_FAILED)
        result = note_end(session, heard, err);
    else if (kind != CONTROL_STARTED)
        result = client_refuse_answer(session, err);
    else if (shown && shown->fd < 0)
        shown->fd = take_fd(&heard->fd);
    packet_drop_fds(&heard->fd, 1);
    return result;
}

static int hear_and_note(struct bawn_session *session, struct bawn_error *err)
{
    struct client_heard heard = {0};
    int result = client_hear(session, &heard, err);

    return result < 0 ? result : note(session, &heard, err);
}

int client_ask(struct bawn_session *session, struct control_message *message,
               enum control_kind wanted, struct client_heard *ret_heard, struct bawn_error *err)
{
    int result = client_tell(session, message, NULL, 0, NULL, err);

    while (result == 0) {
        bool is_about_a_job;

        *ret_heard = (struct client_heard){0};
        result = client_hear(session, ret_heard, err);
        if (result < 0 || ret_heard->message.kind == wanted)
            break;
        is_about_a_job = ret_heard->message.job > 0 && ret_heard->message.job <= session->last_job;
        if (ret_heard->message.kind != CONTROL_FAILED || is_about_a_job) {
            result = note(session, ret_heard, err);
            continue;
        }
        packet_drop_fds(&ret_heard->fd, 1);
        result = -ret_heard->error.errnum;
        if (err)
            *err = ret_heard->error;
    }
    return result;
}

int bawn_session_wait(struct bawn_session *session, int job, int *ret_status,
                      struct bawn_error *err)
{
    struct client_ended *ended;
    autofree struct bawn_error *error = NULL;
    int value, result = 0;

    if (!is_job(session, job))
        return error_set(err, EINVAL, "session.job", "%d: no job of this session", job);
    while (!(ended = find_ended(session, (uint32_t)job)) && result == 0)
        result = hear_and_note(session, err);
    if (!ended)
        return result;
    error = ended->error;
    value = ended->value;
    *ended = session->ended.items[--session->ended.count];
    if (!error) {
        *ret_status = WIFSIGNALED(value) ? 128 + WTERMSIG(value) : WEXITSTATUS(value);
        return 0;
    }
    if (err)
        *err = *error;
    return -error->errnum;
}

int bawn_session_terminal(struct bawn_session *session, int job, struct bawn_error *err)
{
    uint32_t number = job > 0 ? (uint32_t)job : 0;
    struct client_shown *shown;
    int fd, result = 0;

    while ((shown = find_shown(session, number)) && shown->fd < 0 && result == 0)
        result = hear_and_note(session, err);
    if (result < 0)
        return result;
    if (!shown)
        return error_set(err, ENOTTY, "session.no_terminal",
                         "%d: the job has no terminal, was not run, or its terminal was given away",
                         job);
    fd = shown->fd;
    *shown = session->shown.items[--session->shown.count];
    return fd;
}

/* An event that was noted and not told. */
static enum bawn_event find_event(struct bawn_session *session, int *ret_job)
{
    vec_each (&session->shown, shown) {
        if (shown->fd < 0 || shown->is_told)
            continue;
        shown->is_told = true;
        *ret_job = (int)shown->job;
        return BAWN_EVENT_STARTED;
    }
    vec_each (&session->ended, ended) {
        if (ended->is_told)
            continue;
        ended->is_told = true;
        *ret_job = (int)ended->job;
        return BAWN_EVENT_ENDED;
    }
    return BAWN_EVENT_NONE;
}

int bawn_session_next(struct bawn_session *session, int *ret_job, struct bawn_error *err)
{
    struct pollfd said = {.fd = session->sock, .events = POLLIN};
    enum bawn_event event = find_event(session, ret_job);

    while (event == BAWN_EVENT_NONE && poll(&said, 1, 0) > 0) {
        int result = hear_and_note(session, err);

        if (result < 0)
            return result;
        event = find_event(session, ret_job);
    }
    return (int)event;
}

int bawn_session_signal(struct bawn_session *session, int job, int signal, struct bawn_error *err)
{
    struct control_message message = {
        .kind = CONTROL_SIGNAL, .job = (uint32_t)job, .value = signal};

    if (job < 0 || (uint32_t)job > session->last_job || signal <= 0 || signal >= NSIG)
        return error_set(err, EINVAL, "session.job", "%d: no job of this session, or no signal",
                         job);
    return client_tell(session, &message, NULL, 0, NULL, err);
}

int bawn_session_stop(struct bawn_session *session, int grace_ms, struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_STOP, .value = grace_ms};
    int result;

    if (grace_ms < 0 || grace_ms > CONTROL_GRACE_MAX_MS)
        return error_set(err, EINVAL, "session.grace", "%d ms: not from 0 to %d", grace_ms,
                         CONTROL_GRACE_MAX_MS);
    result = client_tell(session, &message, NULL, 0, NULL, err);
    session->awaits_end |= result == 0;
    return result;
}

int bawn_session_attach(struct bawn_session *session, const struct winsize *size,
                        bool *ret_has_terminal, struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_ATTACH};
    struct client_heard heard = {0};
    int result;

    if (session->is_attached)
        return error_set(err, EALREADY, "session.attach", "the session is attached already");
    if (size)
        message.size = *size;
    result = client_ask(session, &message, CONTROL_ATTACHED, &heard, err);
    if (result == 0 && heard.fd < 0)
        result = client_refuse_answer(session, err);
    if (result < 0)
        return result;
    session->awaits_end = session->is_attached = true;
    *ret_has_terminal = heard.message.flags & CONTROL_TTY;
    return heard.fd;
}

int bawn_session_resize(struct bawn_session *session, const struct winsize *size,
                        struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_RESIZE, .size = *size};

    if (!session->is_attached)
        return error_set(err, EINVAL, "session.attach", "the session is not attached");
    return client_tell(session, &message, NULL, 0, NULL, err);
}
