/* SPDX-License-Identifier: Apache-2.0 */
#include "session/net.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/program.h"
#include "policy/publish.h"
#include "policy/setting.h"
#include "session/login.h"
#include "session/own.h"
#include "supervise/handed.h"

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

/* The listeners, those that are published, and the door. */
_Static_assert(NET_LISTENER_FD + STEER_LISTENERS + LIMIT_PORTS + 1 <= AIDE_FDS,
               "bawn-net gets all of them");

static const char no_program[] = "run.no_net";

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

/* SECURITY: it is in this process no longer than that takes. */
static void tell_login(struct session *session)
{
    struct net_message message = {.kind = NET_LOGIN};
    struct bawn_error why = {0};
    int length = login_read(session->request->environ, message.text, NET_LOGIN_BYTES, &why);

    if (length < 0)
        session_say(session, &why);
    else if (length > 0)
        (void)send(session->net.control_fd, &message,
                   offsetof(struct net_message, text) + (size_t)length,
                   MSG_NOSIGNAL | MSG_DONTWAIT);
    explicit_bzero(&message, sizeof(message));
}

static void note_caller(struct net *net, const struct net_answer *answer)
{
    struct net_caller *caller = &net->callers[net->next_caller++ % NET_CALLERS];
    autoclose int proc_fd = -EBADF;
    char path[32];

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)answer->pid);
    proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    caller->pid = answer->pid;
    memcpy(caller->comm, answer->comm, sizeof(caller->comm));
    event_read_argv(proc_fd, caller->argv);
}

const char *net_argv(const struct net *net, int32_t pid, const char *comm)
{
    for (unsigned i = 1; i <= NET_CALLERS; i++) {
        const struct net_caller *caller = &net->callers[(net->next_caller - i) % NET_CALLERS];

        if (pid > 0 && caller->pid == pid && strncmp(caller->comm, comm, NET_COMM_BYTES) == 0)
            return caller->argv;
    }
    return NULL;
}

static void tell_who(struct net *net, const struct net_question *question)
{
    struct net_answer answer;

    clients_answer(&net->clients, question, &answer);
    if (answer.pid > 0)
        note_caller(net, &answer);
    /* Who does not read what it asked for does without. */
    (void)send(net->control_fd, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int on_control(void *context, uint32_t events)
{
    struct session *session = context;
    struct net *net = &session->net;
    union {
        uint32_t kind;
        struct net_message message;
        struct net_question question;
    } said;
    ssize_t got = recv(net->control_fd, &said, sizeof(said), MSG_DONTWAIT);

    if (got >= (ssize_t)sizeof(said.kind) && said.kind == NET_LOOK && look_at_resolv(net))
        tell_resolv(net);
    if (got == (ssize_t)sizeof(said.question) && said.kind == NET_WHO)
        tell_who(net, &said.question);
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
    for (unsigned i = 0; i < session->net.published_count; i++)
        loop_remove(&session->loop, &session->net.published_sources[i]);
    loop_remove(&session->loop, &session->net.wishes_source);
}

/* Holds:   the caller's rights, the listeners, the plan.
 * Must:    become bawn-net, which confines itself. */
static int become_net(void *context, struct event_sender *events, struct bawn_error *err)
{
    const struct session *session = context;
    char count[16], published[16];
    char name[] = "bawn-net", wishes[] = "0";
    char *argv[] = {name, count, published, wishes, NULL};
    char *variables[] = {NULL};
    int result;

    (void)events;
    (void)snprintf(count, sizeof(count), "%u", session->launch.listener_count);
    (void)snprintf(published, sizeof(published), "%u", session->net.published_count);
    wishes[0] = session->net.wishes_fd < 0 ? '0' : '1';
    result = program_become(name, argv, variables);
    if (result != -ENOENT)
        return error_errno(err, -result, "start bawn-net");
    (void)error_set(err, ENOENT, no_program, "bawn-net is not installed (Debian: bawn)");
    error_hint(err, "it belongs beside bawn-policy: install bawn again");
    return result;
}

static bool is_missing(const struct net *net)
{
    return strcmp(net->failure.code, no_program) == 0;
}

static void tell_end(struct session *session)
{
    const struct bawn_error *why = &session->net.failure;
    struct bawn_error said = {0};

    if (is_missing(&session->net))
        (void)error_set(&said, ENOENT, no_program, "the command has no network: %s", why->message);
    else
        (void)error_set(&said, EIO, "run.net_gone",
                        "the command has no network any more: bawn-net ended %u times%s%s",
                        session->net.starts, why->message[0] ? ", at last because of: " : "",
                        why->message);
    error_hint(&said, "%s", why->hint[0] ? why->hint : "--debug-log FILE tells what happened");
    session_say(session, &said);
}

static void close_published(struct net *net)
{
    while (net->published_count > 0)
        (void)close(take_fd(&net->published[--net->published_count]));
}

static int give_up(struct session *session)
{
    forget_listeners(session);
    while (session->launch.listener_count > 0)
        (void)close(take_fd(&session->launch.listeners[--session->launch.listener_count]));
    close_published(&session->net);
    if (session->net.wishes_fd >= 0)
        (void)close(take_fd(&session->net.wishes_fd));
    tell_end(session);
    return 0;
}

static int wait_for_clients(struct session *session, struct bawn_error *err);

/* Nobody answers what bawn-net was asked before it ended. */
static void tell_gone(const struct net *net)
{
    const struct net_handover gone = {.way = NET_GONE};

    if (net->wishes_fd >= 0)
        (void)send(net->wishes_fd, &gone, sizeof(gone), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int on_ended(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;

    (void)events;
    if (!aide_reap(&session->net.aide, &status))
        return 0;
    drop_control(session);
    tell_gone(&session->net);
    (void)session_lost(session, WHO_NET, status ? status : 1);
    if (is_missing(&session->net) || session->net.starts >= STARTS_MOST)
        return give_up(session);
    return wait_for_clients(session, &session->failure);
}

/* The descriptors of bawn-net, as wire/net.h has them. */
static void list_fds(const struct session *session, int image_fd, int control_fd, int door_fd,
                     struct aide_work *work)
{
    const struct net *net = &session->net;

    work->fds[NET_IMAGE_FD] = image_fd;
    work->fds[NET_CONTROL_FD] = control_fd;
    work->count = NET_LISTENER_FD;
    for (unsigned i = 0; i < session->launch.listener_count; i++)
        work->fds[work->count++] = session->launch.listeners[i];
    for (unsigned i = 0; i < net->published_count; i++)
        work->fds[work->count++] = net->published[i];
    if (door_fd >= 0)
        work->fds[work->count++] = door_fd;
    if (net->wishes_fd >= 0)
        work->fds[work->count++] = net->wishes_fd;
}

static int start(struct session *session, struct bawn_error *err)
{
    struct net *net = &session->net;
    struct aide_work work = {.who = WHO_NET,
                             .group = session->group,
                             .dies_with_us = true,
                             .run = become_net,
                             .context = session};
    autoclose int image_fd = copy_image(session->request->image, err);
    autoclose int far_end = -EBADF, door_fd = -EBADF;
    int channel = session_channel(session, err);
    int ends[2];

    if (image_fd < 0 || channel < 0)
        return image_fd < 0 ? image_fd : channel;
    if (net->published_count && door_start(session, &door_fd, err) < 0)
        return -err->errnum;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_errno(err, errno, "make a socket for bawn-net");
    net->control_fd = ends[0];
    far_end = ends[1];
    net->resolv_size = SIZE_MAX;
    (void)look_at_resolv(net);
    tell_resolv(net);
    if (session->request->image->upstream_proxy)
        tell_login(session);
    list_fds(session, image_fd, far_end, door_fd, &work);
    return aide_start(&net->aide, &work, channel, err);
}

/* Somebody inside wants the network, or somebody outside a port of it. */
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

static int await_client(struct session *session, int fd, struct loop_source *source,
                        struct bawn_error *err)
{
    *source =
        (struct loop_source){.fd = fd, .events = POLLIN, .ready = on_client, .context = session};
    return loop_add(&session->loop, source, err);
}

static int wait_for_clients(struct session *session, struct bawn_error *err)
{
    struct net *net = &session->net;
    int result = 0;

    for (unsigned i = 0; result == 0 && i < session->launch.listener_count; i++)
        result = await_client(session, session->launch.listeners[i], &net->sources[i], err);
    for (unsigned i = 0; result == 0 && i < net->published_count; i++)
        result = await_client(session, net->published[i], &net->published_sources[i], err);
    if (result == 0 && net->wishes_fd >= 0)
        result = await_client(session, net->wishes_fd, &net->wishes_source, err);
    return result;
}

/* A socket of the host's at the address of an entry. */
static int listen_at(const char *text, struct bawn_error *err)
{
    struct published published;
    struct sockaddr_storage address;
    const int one = 1;
    autoclose int sock = -EBADF;
    socklen_t size;

    if (publish_parse(text, &published))
        return error_set(err, EBADMSG, "image.bad_rule", "the compiled policy has a bad port");
    size = host_address(published.at.address, published.at.port, &address);
    sock = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        bind(sock, (struct sockaddr *)&address, size) < 0 || listen(sock, SOMAXCONN) < 0) {
        (void)error_errno(err, errno, "publish %s", text);
        if (err->errnum == EADDRINUSE)
            error_hint(err,
                       "another program has that port of the host: name another one, as in "
                       "--publish OTHER:%u",
                       published.inside);
        return -err->errnum;
    }
    return take_fd(&sock);
}

int session_listen(struct session *session, struct bawn_error *err)
{
    const struct image *image = session->request->image;
    struct net *net = &session->net;

    if (!(image->flags & IMAGE_STEERS))
        return 0;
    image_each (image, PART_ITEMS, struct image_item, item) {
        int sock;

        if (item->list != LIST_NETWORK_PUBLISH || net->published_count == LIMIT_PORTS)
            continue;
        sock = listen_at(image_string(image, item->value), err);
        if (sock < 0)
            return sock;
        net->published[net->published_count++] = sock;
    }
    return 0;
}

/* The way by which sockets of the host's come in. */
static int open_handovers(struct session *session, struct bawn_error *err)
{
    struct net *net = &session->net;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return error_errno(err, errno, "make a socket for handovers");
    net->dial_fd = ends[0];
    net->wishes_fd = ends[1];
    net->number = handed_net(session->launch.listeners[0]);
    return 0;
}

int session_open_net(struct session *session, struct bawn_error *err)
{
    int result = 0;

    if (session->launch.listener_count > 0) {
        clients_init(&session->net.clients, &session->launch, session->request->image);
        if (session->request->image->flags & IMAGE_HANDS_OVER)
            result = open_handovers(session, err);
    }
    return result < 0 ? result : wait_for_clients(session, err);
}

void session_close_net(struct session *session)
{
    forget_listeners(session);
    drop_control(session);
    aide_end(&session->net.aide, END_MS);
    aide_end(&session->net.door, 0);
    /* Who waits for the end may want the ports. */
    close_published(&session->net);
    cleanup_close(&session->net.dial_fd);
    cleanup_close(&session->net.wishes_fd);
    session->net.dial_fd = session->net.wishes_fd = -EBADF;
}
