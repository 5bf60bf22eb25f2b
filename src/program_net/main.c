/* SPDX-License-Identifier: Apache-2.0 */
/* bawn-net: the network of one session. See wire/net.h for how the launcher starts it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "net/approval.h"
#include "net/datagrams.h"
#include "net/gate.h"
#include "net/handover.h"
#include "net/inlet.h"
#include "net/lookup.h"
#include "net/names.h"
#include "net/resolve.h"
#include "net/who.h"
#include "policy/build.h"
#include "policy/publish.h"
#include "program_net/confine.h"
#include "wire/event.h"
#include "wire/image.h"
#include "wire/net.h"
#include "wire/rules.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTENERS_MAX = 32, SAID_BEFORE = 2 };

struct program {
    struct hub hub;
    struct policy policy;
    struct event_sender events;
    struct names *names;
    struct lookups *lookups;
    struct resolver *resolver;
    struct who who;
    struct approvals approvals;
    uint32_t ask_seconds;
    struct hub_source control;
    struct gate gate;
    struct inlet inlet;
    struct handovers handovers;
    struct datagrams *datagrams;      /* NULL: they do not come to us */
    int listeners, published, wishes; /* how many descriptors of each */
};

/* Behind the listeners are the published ones and, if there are any, the door; then that for
 * handovers, if there is one; then events. */
static int first_published(const struct program *program)
{
    return NET_LISTENER_FD + program->listeners;
}

static int first_wish(const struct program *program)
{
    return first_published(program) + program->published + (program->published > 0);
}

/* Every descriptor that there may be is for connections. */
static size_t raise_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return 256;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur > INT32_MAX ? INT32_MAX : (size_t)files.rlim_cur;
}

/* The rules, whose strings stay in the image. */
static int read_rules(struct program *program, struct bawn_error *err)
{
    struct stat st;
    const struct image *image;
    int result;

    if (fstat(NET_IMAGE_FD, &st) < 0)
        return error_errno(err, errno, "the image");
    image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, NET_IMAGE_FD, 0);
    if (image == MAP_FAILED)
        return error_errno(err, errno, "map the image");
    result = image_check(image, (size_t)st.st_size, err);
    if (result < 0)
        return result;
    who_init(&program->who, &program->hub, NET_CONTROL_FD, image);
    program->ask_seconds = image->ask_seconds;
    return rules_unpack_net(image, &program->policy, err);
}

/* A resolv.conf that may have changed is worth a look. */
static void look(void *context)
{
    const uint32_t kind = NET_LOOK;

    (void)context;
    (void)send(NET_CONTROL_FD, &kind, sizeof(kind), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The launcher's word, or its end. */
static void hear_launcher(void *context, uint32_t events)
{
    struct program *program = context;
    struct net_message message;
    ssize_t got = recv(NET_CONTROL_FD, &message, sizeof(message) - 1, MSG_DONTWAIT);

    (void)events;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        hub_end(&program->hub);
    if (got < (ssize_t)sizeof(message.kind))
        return;
    if (message.kind == NET_WHO)
        who_take(&program->who, &message, (size_t)got);
    if (message.kind == NET_VERDICT)
        approvals_take(&program->approvals, &message, (size_t)got);
    ((char *)&message)[got] = '\0';
    if (message.kind == NET_RESOLV)
        lookups_take_resolv(program->lookups, message.text);
    if (message.kind == NET_LOGIN && strlen(message.text) < sizeof(program->gate.login)) {
        memmove(program->gate.login, message.text, strlen(message.text) + 1);
        explicit_bzero(&message, sizeof(message));
    }
}

static int make_parts(struct program *program, struct bawn_error *err)
{
    int result = hub_init(&program->hub, err);

    if (result < 0)
        return result;
    program->names = names_new(NAMES_MAX, err);
    if (!program->names)
        return -ENOMEM;
    program->lookups = lookups_new(&program->hub, &program->policy, look, NULL, NET_DNS_PORT, err);
    if (!program->lookups)
        return -ENOMEM;
    program->resolver = resolver_new(&program->hub, &program->policy, program->lookups,
                                     program->names, &program->events, err);
    if (!program->resolver)
        return -ENOMEM;
    resolver_set_who(program->resolver, &program->who);
    return approvals_init(&program->approvals, &program->hub, &program->policy, &program->events,
                          program->ask_seconds, err);
}

/* What a descriptor is for: see wire/net.h. */
static int listen_at(struct program *program, int fd, struct bawn_error *err)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(int), address_bytes = sizeof(address);
    struct host at = {0};
    int type = 0;

    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &address_bytes) < 0)
        return error_errno(err, errno, "listener %d", fd);
    host_from_address(&address, &at);
    if (type == SOCK_STREAM)
        return gate_listen(&program->gate, fd, err);
    if (type == SOCK_DGRAM && at.port == NET_DNS_PORT)
        return resolve_serve_udp(program->resolver, fd, err);
    if (!program->datagrams)
        program->datagrams = datagrams_new(&program->gate, err);
    if (!program->datagrams)
        return -ENOMEM;
    return type == SOCK_RAW ? datagrams_answer_by(program->datagrams, fd, err)
                            : datagrams_serve(program->datagrams, fd, err);
}

/* The ports that the policy publishes, in its order. */
static int open_inlet(struct program *program, struct bawn_error *err)
{
    int fd = first_published(program);
    int last = fd + program->published;
    struct published port;
    int result;

    if (program->published == 0)
        return 0;
    result = inlet_init(&program->inlet, &program->gate, last, err);
    vec_each (&program->policy.items, item) {
        if (result < 0 || item->list != LIST_NETWORK_PUBLISH || fd == last)
            continue;
        if (publish_parse(item->value, &port))
            return error_set(err, EBADMSG, "image.bad_rule", "the compiled policy has a bad port");
        result = inlet_listen(&program->inlet, fd++, port.inside, err);
    }
    return result;
}

static int serve(struct program *program, struct bawn_error *err)
{
    const struct gate_parts parts = {.hub = &program->hub,
                                     .policy = &program->policy,
                                     .names = program->names,
                                     .lookups = program->lookups,
                                     .resolver = program->resolver,
                                     .events = &program->events,
                                     .who = &program->who,
                                     .approvals = &program->approvals,
                                     .fds_max = raise_files()};
    int result;

    gate_init(&program->gate, &parts);
    result = confine_net(err);
    program->control = (struct hub_source){
        .fd = NET_CONTROL_FD, .events = EPOLLIN, .ready = hear_launcher, .context = program};
    if (result == 0)
        result = hub_add(&program->hub, &program->control, err);
    /* What was said before we started: the first client may need it. */
    for (int i = 0; i < SAID_BEFORE && result == 0; i++)
        hear_launcher(program, 0);
    for (int i = 0; i < program->listeners && result == 0; i++)
        result = listen_at(program, NET_LISTENER_FD + i, err);
    if (result == 0)
        result = open_inlet(program, err);
    if (result == 0 && program->wishes)
        result = handovers_init(&program->handovers, &program->gate, first_wish(program), err);
    if (result == 0)
        result = hub_run(&program->hub, err);
    if (program->inlet.gate)
        inlet_done(&program->inlet);
    if (program->handovers.gate)
        handovers_done(&program->handovers);
    datagrams_free(program->datagrams);
    gate_done(&program->gate);
    return result;
}

static void free_parts(struct program *program)
{
    approvals_done(&program->approvals);
    if (program->resolver)
        resolver_free(program->resolver);
    if (program->lookups)
        lookups_free(program->lookups);
    if (program->names)
        names_free(program->names);
    hub_done(&program->hub);
    policy_done(&program->policy);
}

int main(int argc, char **argv)
{
    struct program *program = calloc(1, sizeof(*program));
    struct bawn_error err = {0};
    uint64_t listeners = 0, published = 0, wishes = 0;
    int result;

    if (!program || argc != 4 || !text_parse_count(argv[1], LISTENERS_MAX, &listeners) ||
        !text_parse_count(argv[2], LIMIT_PORTS, &published) ||
        !text_parse_count(argv[3], 1, &wishes)) {
        (void)fprintf(stderr, "bawn-net is started by bawn\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    program->hub.epoll = -EBADF;
    program->listeners = (int)listeners;
    program->published = (int)published;
    program->wishes = (int)wishes;
    program->events =
        (struct event_sender){.sock = first_wish(program) + program->wishes, .who = WHO_NET};
    result = read_rules(program, &err);
    if (result == 0)
        result = make_parts(program, &err);
    if (result == 0)
        result = serve(program, &err);
    if (result < 0)
        event_send_error(&program->events, EVENT_FAILED, &err);
    event_send_rest(&program->events);
    free_parts(program);
    free(program);
    return result < 0 ? 1 : 0;
}
