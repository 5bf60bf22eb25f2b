/* SPDX-License-Identifier: Apache-2.0 */
#include "session/net.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/program.h"
#include "session/own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STARTS_MOST = 4,
    END_MS = 500, /* to say what it has not said yet */
};

/* The image for a program that has no file system. */
static int copy_image(const struct image *image, struct bawn_error *err)
{
    autoclose int fd = memfd_create("bawn plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, (off_t)image->size) < 0 ||
        pwrite(fd, image, image->size, 0) != (ssize_t)image->size ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
        return error_errno(err, errno, "hand the plan to bawn-net");
    return take_fd(&fd);
}

/* Reads the host's resolv.conf. True: it is another one than what was told. One that cannot be read
 * is empty. */
static bool look_at_resolv(struct net *net)
{
    struct net_message *known = &net->resolv;
    autoclose int fd = openat(AT_FDCWD, "/etc/resolv.conf", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char text[NET_TEXT_BYTES];
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text));
    size_t size = got > 0 ? (size_t)got : 0;

    if (net->resolv_size == size && memcmp(known->text, text, size) == 0)
        return false;
    known->kind = NET_RESOLV;
    memcpy(known->text, text, size);
    net->resolv_size = size;
    return true;
}

/* If there is no room it is told when it asks again. */
static void tell_resolv(struct net *net)
{
    if (send(net->control_fd, &net->resolv, offsetof(struct net_message, text) + net->resolv_size,
             MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        net->resolv_size = SIZE_MAX;
}

static int on_control(void *context, uint32_t events)
{
    struct session *session = context;
    struct net *net = &session->net;
    struct net_message message;
    ssize_t got = recv(net->control_fd, &message, sizeof(message), MSG_DONTWAIT);

    if (got >= (ssize_t)sizeof(message.kind) && message.kind == NET_LOOK && look_at_resolv(net))
        tell_resolv(net);
    /* Its end is told by its pidfd. */
    if (got == 0 || (events & POLLHUP))
        loop_remove(&session->loop, &net->control_source);
    return 0;
}

static void drop_control(struct session *session)
{
    struct net *net = &session->net;

    loop_remove(&session->loop, &net->control_source);
    if (net->control_fd >= 0)
        (void)close(take_fd(&net->control_fd));
}

static void forget_listeners(struct session *session)
{
    for (unsigned i = 0; i < session->launch.listener_count; i++)
        loop_remove(&session->loop, &session->net.sources[i]);
}

/* Holds:   the caller's rights, the listeners, the plan.
 * Must:    become bawn-net, which confines itself. */
static int become_net(void *context, struct event_sender *events, struct bawn_error *err)
{
    const struct launch *launch = context;
    char count[16];
    char name[] = "bawn-net";
    char *argv[] = {name, count, NULL};
    char *environ[] = {NULL};
    int result;

    /* They stay open behind the exec. */
    for (int fd = 0; fd <= events->sock; fd++)
        (void)fcntl(fd, F_SETFD, 0);
    (void)snprintf(count, sizeof(count), "%u", launch->listener_count);
    result = program_become(name, argv, environ);
    (void)error_errno(err, -result, "start bawn-net");
    error_hint(err, "install bawn whole: it belongs beside bawn-policy");
    return result;
}

static int give_up(struct session *session)
{
    const struct bawn_error *why = &session->net.failure;
    struct bawn_error said = {0};

    forget_listeners(session);
    while (session->launch.listener_count > 0)
        (void)close(take_fd(&session->launch.listeners[--session->launch.listener_count]));
    (void)error_set(&said, EIO, "run.net_gone",
                    "the command has no network any more: bawn-net ended %u times%s%s",
                    session->net.starts, why->message[0] ? ", at last because of: " : "",
                    why->message);
    error_hint(&said, "%s", why->hint[0] ? why->hint : "--debug-log FILE tells what happened");
    session_say(session, &said);
    return 0;
}

static int wait_for_clients(struct session *session, struct bawn_error *err);

static int on_ended(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;

    (void)events;
    if (!aide_reap(&session->net.aide, &status))
        return 0;
    drop_control(session);
    (void)session_lost(session, WHO_NET, status ? status : 1);
    return session->net.starts < STARTS_MOST ? wait_for_clients(session, &session->failure)
                                             : give_up(session);
}

static int start(struct session *session, struct bawn_error *err)
{
    struct net *net = &session->net;
    struct launch *launch = &session->launch;
    struct aide_work work = {.who = WHO_NET,
                             .group = session->group,
                             .dies_with_us = true,
                             .run = become_net,
                             .context = launch};
    autoclose int image_fd = copy_image(session->request->image, err);
    int channel = session_channel(session, err);
    int ends[2];
    int result;

    if (image_fd < 0 || channel < 0)
        return image_fd < 0 ? image_fd : channel;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_errno(err, errno, "make a socket for bawn-net");
    net->control_fd = ends[0];
    net->resolv_size = SIZE_MAX;
    work.fds[NET_IMAGE_FD] = image_fd;
    work.fds[NET_CONTROL_FD] = ends[1];
    work.count = NET_LISTENER_FD;
    for (unsigned i = 0; i < launch->listener_count; i++)
        work.fds[work.count++] = launch->listeners[i];
    (void)look_at_resolv(net);
    tell_resolv(net);
    result = aide_start(&net->aide, &work, channel, err);
    (void)close(ends[1]);
    return result;
}

/* Somebody inside wants the network. */
static int on_client(void *context, uint32_t events)
{
    struct session *session = context;
    struct net *net = &session->net;
    int result;

    (void)events;
    forget_listeners(session);
    net->starts++;
    result = start(session, &session->failure);
    if (result == 0)
        result = aide_watch(&net->aide, &session->loop, on_ended, session, &session->failure);
    if (result < 0)
        return result;
    net->control_source = (struct loop_source){
        .fd = net->control_fd, .events = POLLIN, .ready = on_control, .context = session};
    return loop_add(&session->loop, &net->control_source, &session->failure);
}

static int wait_for_clients(struct session *session, struct bawn_error *err)
{
    int result = 0;

    for (unsigned i = 0; result == 0 && i < session->launch.listener_count; i++) {
        struct loop_source *source = &session->net.sources[i];

        *source = (struct loop_source){.fd = session->launch.listeners[i],
                                       .events = POLLIN,
                                       .ready = on_client,
                                       .context = session};
        result = loop_add(&session->loop, source, err);
    }
    return result;
}

int session_open_net(struct session *session, struct bawn_error *err)
{
    return wait_for_clients(session, err);
}

void session_close_net(struct session *session)
{
    forget_listeners(session);
    drop_control(session);
    aide_end(&session->net.aide, END_MS);
}
