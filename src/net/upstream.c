/* SPDX-License-Identifier: Apache-2.0 */
#include "net/upstream.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/strbuf.h"
#include "net/upstream_socket.h"
#include "policy/netrule.h"

#include <ares.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    DATAGRAM_CHANNELS = 8,
    STREAM_CHANNELS = 2,
    CHANNELS = DATAGRAM_CHANNELS + STREAM_CHANNELS,
    CHANNEL_QUESTIONS = 64, /* until it has been without any */
    TRY_MS = 1500,          /* a second try waits twice as long */
    TRIES = 2,
    DEADLINE_MS = 5000, /* in all, whatever resolv.conf says */
    ANSWER_BYTES = 1232,
};

struct socket {
    struct channel *channel;
    struct hub_source source;
    struct socket *next;
};

struct channel {
    struct upstream *upstream;
    ares_channel ares;
    bool is_stream;
    bool is_set;     /* its servers are those of the upstream */
    unsigned inside; /* calls of c-ares that have not returned */
    size_t asked;    /* since it was without questions */
    size_t running;  /* questions that c-ares has */
    size_t awaited;  /* of these, those that somebody waits for */
    struct socket *sockets;
    struct hub_timer timer;
};

struct upstream {
    struct hub *hub;
    uint16_t server_port;
    struct resolv_conf conf;
    char *servers; /* as c-ares reads them */
    int deadline_ms;
    bool has_library, is_ending;
    struct channel channels[CHANNELS];
};

struct query {
    struct channel *channel;
    void (*done)(void *context, const struct upstream_answer *answer); /* NULL: nobody waits */
    void *context;
    struct hub_timer deadline;
};

static void settle(struct channel *channel);

/* c-ares may close the socket, and with it the source, before it returns. */
static void on_socket(void *context, uint32_t events)
{
    const struct socket *socket = context;
    struct channel *channel = socket->channel;
    int fd = socket->source.fd;

    channel->inside++;
    ares_process_fd(channel->ares, events & ~(uint32_t)EPOLLOUT ? fd : ARES_SOCKET_BAD,
                    events & EPOLLOUT ? fd : ARES_SOCKET_BAD);
    channel->inside--;
    settle(channel);
}

static void on_timer(void *context)
{
    struct channel *channel = context;

    channel->inside++;
    ares_process_fd(channel->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    channel->inside--;
    settle(channel);
}

static void forget_socket(struct channel *channel, struct socket **at)
{
    struct socket *socket = *at;

    hub_remove(channel->upstream->hub, &socket->source);
    *at = socket->next;
    free(socket);
}

/* What cannot be watched is never ready: the question ends by its deadline. */
static void watch_socket(struct channel *channel, int fd, uint32_t events)
{
    struct socket *socket = calloc(1, sizeof(*socket));

    if (!socket)
        return;
    *socket = (struct socket){.channel = channel,
                              .source = {.fd = fd, .events = events, .ready = on_socket},
                              .next = channel->sockets};
    socket->source.context = socket;
    channel->sockets = socket;
    (void)hub_add(channel->upstream->hub, &socket->source, NULL);
}

static void on_socket_state(void *context, ares_socket_t fd, int readable, int writable)
{
    struct channel *channel = context;
    uint32_t events = (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U);
    struct socket **at = &channel->sockets;

    while (*at && (*at)->source.fd != fd)
        at = &(*at)->next;
    if (*at && events == 0)
        forget_socket(channel, at);
    else if (*at)
        (void)hub_change(channel->upstream->hub, &(*at)->source, events);
    else if (events != 0)
        watch_socket(channel, fd, events);
}

/* Only a channel without questions takes other servers. */
static void set_servers(struct channel *channel)
{
    const char *servers = channel->upstream->servers;

    if (!channel->is_set && servers)
        channel->is_set = ares_set_servers_ports_csv(channel->ares, servers) == ARES_SUCCESS;
}

/* After every call of c-ares, when the outermost has returned. */
static void settle(struct channel *channel)
{
    struct timeval wait;

    if (channel->inside > 0)
        return;
    if (channel->running == 0) {
        channel->asked = 0;
        set_servers(channel);
    }
    if (ares_timeout(channel->ares, NULL, &wait))
        hub_set_timer(channel->upstream->hub, &channel->timer,
                      (int)(wait.tv_sec * 1000 + wait.tv_usec / 1000 + 1), on_timer, channel);
    else
        hub_stop_timer(channel->upstream->hub, &channel->timer);
}

/* SECURITY: every option is set, so that c-ares asks neither the environment nor files. Names are
 * whole: nothing is added to them, nor are they aliases. */
static int open_channel(struct channel *channel, struct bawn_error *err)
{
    char lookups[] = "b";
    struct ares_options options = {
        .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS |
                 (channel->is_stream ? ARES_FLAG_USEVC : 0),
        .timeout = TRY_MS,
        .tries = TRIES,
        .ndots = 1,
        .lookups = lookups,
        .sock_state_cb = on_socket_state,
        .sock_state_cb_data = channel,
        .ednspsz = ANSWER_BYTES,
    };
    int given = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
                ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT | ARES_OPT_SERVERS | ARES_OPT_DOMAINS |
                ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_SORTLIST | ARES_OPT_NOROTATE |
                ARES_OPT_EDNSPSZ;
    int status;

#ifdef ARES_OPT_QUERY_CACHE
    /* What is known, and for how long, is decided elsewhere. */
    given |= ARES_OPT_QUERY_CACHE;
#endif
    status = ares_init_options(&channel->ares, &options, given);
    if (status != ARES_SUCCESS) {
        channel->ares = NULL;
        return error_set(err, EIO, "network.resolver", "make a channel for names: %s",
                         ares_strerror(status));
    }
    if (!upstream_socket_set(channel->ares, &channel->upstream->conf))
        return error_set(err, EIO, "network.resolver", "give c-ares its sockets");
    return 0;
}

struct upstream *upstream_new(struct hub *hub, uint16_t server_port, struct bawn_error *err)
{
    struct upstream *upstream = calloc(1, sizeof(*upstream));
    struct resolv_conf conf;
    int r = 0;

    if (!upstream) {
        (void)error_memory(err);
        return NULL;
    }
    upstream->hub = hub;
    upstream->server_port = server_port;
    upstream->has_library = ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
    if (!upstream->has_library)
        r = error_set(err, EIO, "network.resolver", "start c-ares");
    for (size_t i = 0; i < CHANNELS && r == 0; i++) {
        upstream->channels[i].upstream = upstream;
        upstream->channels[i].is_stream = i >= DATAGRAM_CHANNELS;
        r = open_channel(&upstream->channels[i], err);
    }
    if (r != 0) {
        upstream_free(upstream);
        return NULL;
    }
    resolv_conf_read("", &conf);
    upstream_set(upstream, &conf);
    return upstream;
}

void upstream_free(struct upstream *upstream)
{
    if (!upstream)
        return;
    upstream->is_ending = true;
    for (size_t i = 0; i < CHANNELS; i++) {
        struct channel *channel = &upstream->channels[i];

        if (channel->ares)
            ares_destroy(channel->ares);
        hub_stop_timer(upstream->hub, &channel->timer);
        while (channel->sockets)
            forget_socket(channel, &channel->sockets);
    }
    if (upstream->has_library)
        ares_library_cleanup();
    free(upstream->servers);
    free(upstream);
}

void upstream_set(struct upstream *upstream, const struct resolv_conf *conf)
{
    autostrbuf struct strbuf out = {0};
    unsigned seconds = conf->timeout_seconds * conf->attempts * (unsigned)conf->server_count;

    for (size_t i = 0; i < conf->server_count; i++) {
        const struct resolv_server *server = &conf->servers[i];
        char buffer[INET6_ADDRSTRLEN];
        const char *address = upstream_socket_address(server, buffer);

        if (address)
            strbuf_addf(&out, "%s%s%s%s:%u", out.length ? "," : "", server->is_v6 ? "[" : "",
                        address, server->is_v6 ? "]" : "", upstream->server_port);
    }
    if (out.length == 0)
        strbuf_addf(&out, "127.0.0.1:%u", upstream->server_port);
    upstream->conf = *conf;
    upstream->deadline_ms = seconds < DEADLINE_MS / 1000 ? (int)seconds * 1000 : DEADLINE_MS;
    free(upstream->servers);
    upstream->servers = strbuf_take(&out);
    for (size_t i = 0; i < CHANNELS; i++) {
        upstream->channels[i].is_set = false;
        settle(&upstream->channels[i]);
    }
}

static struct channel *choose_channel(struct upstream *upstream)
{
    struct channel *best = NULL;

    for (size_t i = 0; i < CHANNELS; i++) {
        struct channel *channel = &upstream->channels[i];

        if (channel->is_stream == upstream->conf.use_tcp && channel->is_set &&
            channel->asked < CHANNEL_QUESTIONS && (!best || channel->running < best->running))
            best = channel;
    }
    return best;
}

static void answer_query(struct query *query, const struct upstream_answer *answer)
{
    void (*done)(void *context, const struct upstream_answer *answer) = query->done;

    if (!done)
        return;
    query->done = NULL;
    query->channel->awaited--;
    hub_stop_timer(query->channel->upstream->hub, &query->deadline);
    if (!query->channel->upstream->is_ending)
        done(query->context, answer);
}

static void on_deadline(void *context)
{
    struct query *query = context;
    struct channel *channel = query->channel;

    answer_query(query, &(struct upstream_answer){.end = UPSTREAM_FAILED, .failure = "no answer"});
    if (channel->awaited > 0)
        return;
    channel->inside++;
    ares_cancel(channel->ares);
    channel->inside--;
    settle(channel);
}

static void read_failure(int status, struct upstream_answer *answer)
{
    static const struct {
        int status;
        enum upstream_end end;
        const char *failure;
    } table[] = {
        {ARES_ENOTFOUND, UPSTREAM_NO_NAME, "no such name"},
        {ARES_ENODATA, UPSTREAM_NO_ADDRESS, "no address"},
        {ARES_ETIMEOUT, UPSTREAM_FAILED, "no answer"},
        /* Also what is left when every resolver said that it failed. */
        {ARES_ECONNREFUSED, UPSTREAM_FAILED, "resolver failed"},
        {ARES_ESERVFAIL, UPSTREAM_FAILED, "resolver failed"},
        {ARES_EREFUSED, UPSTREAM_FAILED, "resolver failed"},
    };

    *answer = (struct upstream_answer){.end = UPSTREAM_FAILED, .failure = "lookup failed"};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].status == status) {
            answer->end = table[i].end;
            answer->failure = table[i].failure;
        }
    }
}

static bool read_address(const struct ares_addrinfo_node *node, uint8_t out[16])
{
    if (node->ai_family == AF_INET && node->ai_addrlen == sizeof(struct sockaddr_in)) {
        host_put_v4(out, &((const struct sockaddr_in *)node->ai_addr)->sin_addr);
        return true;
    }
    if (node->ai_family == AF_INET6 && node->ai_addrlen == sizeof(struct sockaddr_in6)) {
        memcpy(out, &((const struct sockaddr_in6 *)node->ai_addr)->sin6_addr, 16);
        return true;
    }
    return false;
}

/* The names that it leads to, of both families. False: there is no room for them. */
static bool read_aliases(const struct ares_addrinfo *found, char aliases[static UPSTREAM_ALIASES],
                         struct upstream_answer *answer)
{
    for (const struct ares_addrinfo_cname *one = found->cnames; one; one = one->next) {
        size_t bytes = one->name ? strlen(one->name) + 1 : 0;

        if (bytes > UPSTREAM_ALIASES - answer->alias_bytes)
            return false;
        if (bytes)
            memcpy(aliases + answer->alias_bytes, one->name, bytes);
        answer->alias_bytes += bytes;
    }
    answer->aliases = aliases;
    return true;
}

/* SECURITY: addresses that are left out would not be vetted, so none are. */
static void read_found(const struct ares_addrinfo *found, uint8_t (*addresses)[16],
                       char aliases[static UPSTREAM_ALIASES], struct upstream_answer *answer)
{
    int lasts = 0;

    *answer = (struct upstream_answer){.end = UPSTREAM_FOUND,
                                       .addresses = (const uint8_t(*)[16])addresses};
    for (const struct ares_addrinfo_node *node = found->nodes; node; node = node->ai_next) {
        if (answer->count == UPSTREAM_ADDRESSES || !read_address(node, addresses[answer->count])) {
            *answer =
                (struct upstream_answer){.end = UPSTREAM_FAILED, .failure = "too many addresses"};
            return;
        }
        if (answer->count++ == 0 || node->ai_ttl < lasts)
            lasts = node->ai_ttl;
    }
    answer->lasts_seconds = lasts > 0 ? (unsigned)lasts : 0;
    if (answer->count == 0)
        read_failure(ARES_ENODATA, answer);
    else if (!read_aliases(found, aliases, answer))
        *answer = (struct upstream_answer){.end = UPSTREAM_FAILED, .failure = "too many aliases"};
}

static void on_answer(void *context, int status, int timeouts, struct ares_addrinfo *found)
{
    struct query *query = context;
    uint8_t addresses[UPSTREAM_ADDRESSES][16];
    char aliases[UPSTREAM_ALIASES];
    struct upstream_answer answer;

    (void)timeouts;
    if (status == ARES_SUCCESS && found)
        read_found(found, addresses, aliases, &answer);
    else
        read_failure(status, &answer);
    if (found)
        ares_freeaddrinfo(found);
    query->channel->running--;
    answer_query(query, &answer);
    free(query);
}

int upstream_ask(struct upstream *upstream, const char *name,
                 void (*done)(void *context, const struct upstream_answer *answer), void *context,
                 struct bawn_error *err)
{
    struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC, .ai_flags = ARES_AI_CANONNAME};
    struct channel *channel = choose_channel(upstream);
    char whole[LIMIT_HOST_BYTES + 1];
    struct query *query;

    if (!channel)
        return error_set(err, EBUSY, "network.lookups", "too many names are being looked up");
    query = calloc(1, sizeof(*query));
    if (!query)
        return error_memory(err);
    *query = (struct query){.channel = channel, .done = done, .context = context};
    (void)snprintf(whole, sizeof(whole), "%s.", name);
    hub_set_timer(upstream->hub, &query->deadline, upstream->deadline_ms, on_deadline, query);
    channel->asked++;
    channel->running++;
    channel->awaited++;
    channel->inside++;
    ares_getaddrinfo(channel->ares, whole, NULL, &hints, on_answer, query);
    channel->inside--;
    settle(channel);
    return 0;
}
