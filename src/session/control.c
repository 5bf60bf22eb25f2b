/* SPDX-License-Identifier: Apache-2.0 */
/* Who may connect, and what is done with each kind of message. */
#include "session/control.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/process.h"
#include "kernel/sys.h"
#include "session/output.h"
#include "wire/packet.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

void control_answer(struct client *client, const struct control_message *message, const void *bytes,
                    size_t size, int fd)
{
    struct control_message whole = *message;

    whole.version = CONTROL_VERSION;
    /* One that takes no answer for so long that the socket is full is not waited for. */
    if (client->fd >= 0 && control_send(client->fd, &whole, bytes, size, &fd, fd >= 0 ? 1 : 0) < 0)
        (void)shutdown(client->fd, SHUT_RDWR);
}

void control_refuse(struct client *client, uint32_t job, const struct bawn_error *error)
{
    struct control_message message = {.kind = CONTROL_FAILED, .job = job, .value = error->errnum};

    control_answer(client, &message, error, sizeof(*error), -EBADF);
}

/* Disconnects: its commands are hung up, and killed after a while. */
static void drop(struct client *client)
{
    struct session *session = client->control->session;

    if (client->fd < 0)
        return;
    loop_remove(&session->loop, &client->source);
    (void)close(take_fd(&client->fd));
    if (client->viewer)
        output_detach(client->viewer);
    client->viewer = NULL;
    client->awaits_end = false;
    control_hang_up(client);
    if (client->answers) {
        client->answers = false;
        asks_client_gone(session);
    }
    if (!client->is_owner)
        return;
    session->has_ended = true;
    session->wait_status = SIGKILL;
    loop_end(&session->loop);
}

/* Refuses one that would stay where too many do. */
static bool is_crowded(struct client *client, uint32_t job)
{
    struct bawn_error error = {0};

    if (client - client->control->clients < CONTROL_STAYING_MAX)
        return false;
    (void)error_set(&error, EUSERS, "session.busy", "the session has %d clients already",
                    CONTROL_STAYING_MAX);
    error_hint(&error, "wait until one of them ends, or stop the session");
    control_refuse(client, job, &error);
    return true;
}

static int handle_exec(struct client *client, const struct control_message *message, size_t size,
                       const int fds[CONTROL_FDS])
{
    return is_crowded(client, message->job) ? 0 : control_exec(client, message, size, fds);
}

static int handle_signal(struct client *client, const struct control_message *message, size_t size,
                         const int fds[CONTROL_FDS])
{
    (void)size;
    (void)fds;
    return control_signal(client, message);
}

static int kill_all(void *context)
{
    const struct control *control = context;

    launch_kill(&control->session->launch);
    return 0;
}

static int handle_stop(struct client *client, const struct control_message *message, size_t size,
                       const int fds[CONTROL_FDS])
{
    struct control *control = client->control;
    struct session *session = control->session;
    bool is_idle = !session->request->argv && control_job_count(control) == 0;

    (void)size;
    (void)fds;
    if (message->value < 0 || message->value > CONTROL_GRACE_MAX_MS)
        return -EPROTO;
    client->awaits_end = true;
    session_ask_to_end(session);
    loop_set_timer(&session->loop, &control->stop, is_idle ? 0 : message->value, 0, kill_all,
                   control);
    return 0;
}

static int handle_metrics(struct client *client, const struct control_message *message, size_t size,
                          const int fds[CONTROL_FDS])
{
    struct control_message answer = {.kind = CONTROL_METRICS, .job = message->job};
    struct bawn_metrics metrics = {0};
    const struct session *session = client->control->session;

    (void)size;
    (void)fds;
    session_measure(session, &metrics);
    answer.flags = (session->witness_fd >= 0 ? CONTROL_STARTING : 0) |
                   (session->request->is_proven && !(session->request->image->flags & IMAGE_PARTIAL)
                        ? CONTROL_PROVEN
                        : 0);
    metrics.jobs = control_job_count(client->control);
    metrics.viewers = output_viewers(session->output) - (session->recorder.viewer != NULL);
    control_answer(client, &answer, &metrics, sizeof(metrics), -EBADF);
    return 0;
}

static int handle_hosts(struct client *client, const struct control_message *message, size_t size,
                        const int fds[CONTROL_FDS])
{
    struct control_message answer = {.kind = CONTROL_HOSTS, .job = message->job};
    struct control_host rows[CONTROL_HOSTS_MAX];
    const struct control_host *row;
    unsigned count = 0;

    (void)size;
    (void)fds;
    while ((row = hosts_row(client->control->session->hosts, count)))
        rows[count++] = *row;
    control_answer(client, &answer, rows, count * sizeof(rows[0]), -EBADF);
    return 0;
}

static int handle_attach(struct client *client, const struct control_message *message, size_t size,
                         const int fds[CONTROL_FDS])
{
    struct session *session = client->control->session;
    struct control_message answer = {.kind = CONTROL_ATTACHED, .job = message->job};
    struct bawn_error error = {0};
    autoclose int stream = -EBADF;

    (void)size;
    (void)fds;
    if (client->viewer)
        return -EPROTO;
    if (is_crowded(client, message->job))
        return 0;
    if (!session->output) {
        (void)error_set(&error, ENOTTY, "session.attached", "the session is not detached");
        error_hint(&error, "it writes to the terminal where it was started; 'bawn exec' runs one "
                           "more command in it");
        control_refuse(client, message->job, &error);
        return 0;
    }
    stream = output_attach(session->output, &message->size, &client->viewer, &error);
    if (stream < 0) {
        control_refuse(client, message->job, &error);
        return 0;
    }
    client->awaits_end = true;
    answer.flags = session->master_fd >= 0 ? CONTROL_TTY : 0;
    control_answer(client, &answer, NULL, 0, stream);
    return 0;
}

static int handle_resize(struct client *client, const struct control_message *message, size_t size,
                         const int fds[CONTROL_FDS])
{
    (void)size;
    (void)fds;
    if (!client->viewer)
        return -EPROTO;
    output_resize(client->control->session->output, &message->size);
    return 0;
}

static int handle_wait(struct client *client, const struct control_message *message, size_t size,
                       const int fds[CONTROL_FDS])
{
    (void)size;
    (void)fds;
    if (!is_crowded(client, message->job))
        client->awaits_end = true;
    return 0;
}

static int handle_asks(struct client *client, const struct control_message *message, size_t size,
                       const int fds[CONTROL_FDS])
{
    (void)size;
    (void)fds;
    if (is_crowded(client, message->job) || asks_open(client->control->session) < 0)
        return 0;
    client->answers = true;
    asks_tell(client);
    return 0;
}

static int handle_answer(struct client *client, const struct control_message *message, size_t size,
                         const int fds[CONTROL_FDS])
{
    uint32_t scope = message->flags >> CONTROL_SCOPE_SHIFT;
    struct ask_answer answer = {.is_allowed = message->flags & CONTROL_YES,
                                .scope = (enum ask_scope)scope,
                                .saved = message->value,
                                .by = ASK_BY_CLIENT};
    struct ucred peer = {0};
    socklen_t length = sizeof(peer);

    (void)size;
    (void)fds;
    if (!client->answers || scope >= ASK_SCOPES || message->value < 0 ||
        message->value > BAWN_SCOPE_ORG + 1)
        return -EPROTO;
    if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0)
        answer.pid = peer.pid;
    /* One that was settled meanwhile: everybody was told. */
    (void)asks_answer(client->control->session, message->job, &answer);
    return 0;
}

typedef int (*handler)(struct client *client, const struct control_message *message, size_t size,
                       const int fds[CONTROL_FDS]);
static const handler handlers[CONTROL_COUNT] = {
    [CONTROL_EXEC] = handle_exec,     [CONTROL_SIGNAL] = handle_signal,
    [CONTROL_STOP] = handle_stop,     [CONTROL_METRICS] = handle_metrics,
    [CONTROL_ATTACH] = handle_attach, [CONTROL_RESIZE] = handle_resize,
    [CONTROL_WAIT] = handle_wait,     [CONTROL_HOSTS] = handle_hosts,
    [CONTROL_ASKS] = handle_asks,     [CONTROL_ANSWER] = handle_answer,
};

static int on_client(void *context, uint32_t events)
{
    struct client *client = context;
    struct control *control = client->control;
    struct control_message message = {0};
    int fds[CONTROL_FDS];
    size_t size = 0;
    int result =
        control_receive(client->fd, &message, control->bytes, sizeof(control->bytes), &size, fds);

    (void)events;
    if (result == -EAGAIN)
        return 0;
    if (result == 0) {
        result =
            handlers[message.kind] ? handlers[message.kind](client, &message, size, fds) : -EPROTO;
        packet_drop_fds(fds, CONTROL_FDS);
    }
    if (result < 0)
        drop(client);
    return 0;
}

/*
 * SECURITY: the user that started the session, or root; and from outside: what
 * runs in a sandbox of an ordinary user has the same uid. The socket is not to
 * be found inside, but one could be handed in.
 */
static bool may_connect(const struct control *control, int fd)
{
    return process_peer_is_in(fd, &control->own_ns);
}

static struct client *free_client(struct control *control)
{
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        if (control->clients[i].fd < 0)
            return &control->clients[i];
    }
    return NULL;
}

static int add_client(struct control *control, int fd, bool is_owner, struct bawn_error *err)
{
    struct client *client = free_client(control);
    int result;

    if (!client)
        return error_set(err, EUSERS, "session.busy", "more than %d clients", CONTROL_CLIENTS_MAX);
    *client = (struct client){
        .control = control,
        .fd = fd,
        .is_owner = is_owner,
        .awaits_end = is_owner,
        .source = {.fd = fd, .events = POLLIN, .ready = on_client, .context = client}};
    result = loop_add(&control->session->loop, &client->source, err);
    /* Still the caller's. */
    if (result < 0)
        client->fd = -EBADF;
    return result;
}

static int on_connection(void *context, uint32_t events)
{
    struct control *control = context;
    int fd = accept4(control->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd >= 0 && (!may_connect(control, fd) || add_client(control, fd, false, NULL) < 0))
        (void)close(fd);
    return 0;
}

int control_add_owner(struct control *control, int fd, struct bawn_error *err)
{
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return error_errno(err, errno, "take the owner's connection");
    return add_client(control, fd, true, err);
}

int control_new(struct session *session, struct bawn_error *err)
{
    struct control *control = calloc(1, sizeof(*control));

    if (!control)
        return error_memory(err);
    control->session = session;
    control->registry.fd = -EBADF;
    control->dir_fd = -EBADF;
    control->listen_fd = -EBADF;
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
        control->clients[i].fd = -EBADF;
    session->control = control;
    return 0;
}

int control_listen(struct control *control, int fd, struct bawn_error *err)
{
    control->listen_fd = fd;
    control->own_ns = process_namespace(-EBADF, getpid());
    control->listen_source = (struct loop_source){
        .fd = fd, .events = POLLIN, .ready = on_connection, .context = control};
    return loop_add(&control->session->loop, &control->listen_source, err);
}

void control_free(struct control *control, int wait_status)
{
    struct control_message ended = {.kind = CONTROL_EXITED, .value = wait_status};

    if (!control)
        return;
    control_end_jobs(control);
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct client *client = &control->clients[i];

        if (client->fd < 0)
            continue;
        if (client->awaits_end)
            control_answer(client, &ended, NULL, 0, -EBADF);
        (void)close(client->fd);
    }
    if (control->listen_fd >= 0)
        (void)close(control->listen_fd);
    registry_close(&control->registry);
    free(control);
}
