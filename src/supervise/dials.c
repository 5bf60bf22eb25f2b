/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/dials.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "supervise/answer.h"
#include "supervise/handed.h"
#include "supervise/sharers.h"
#include "supervise/wait.h"
#include "wire/net.h"
#include "wire/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    TICK_MS = 20,       /* how often those that wait are looked at */
    ANSWER_MS = 120000, /* for bawn-net: a name, and several addresses */
    AT_ONCE_MS = 3000,  /* where the caller does not wait; it may have to be started */
    ANSWERS_AT_ONCE = 32,
};

void dials_init(struct dials *dials, const struct supervisor_options *options,
                struct callers *callers)
{
    bool hands_over = options->image->flags & IMAGE_HANDS_OVER;

    *dials = (struct dials){.notify_fd = options->notify_fd,
                            .sock = hands_over ? options->dial_fd : -EBADF,
                            .net = options->net,
                            .init = options->init_pid,
                            .callers = callers};
}

static void drop(struct dial *dial)
{
    cleanup_close(&dial->inside);
    cleanup_close(&dial->host);
    cleanup_close(&dial->status_fd);
    dial->inside = dial->host = dial->status_fd = -EBADF;
}

void dials_done(struct dials *dials)
{
    for (size_t i = 0; i < dials->count; i++)
        drop(&dials->items[i]);
    free(dials->items);
    dials->items = NULL;
    dials->count = 0;
}

static int keep(struct dials *dials, struct dial *dial, bool *ret_kept)
{
    if (!dials->items)
        dials->items = calloc(DIALS_MAX, sizeof(*dials->items));
    if (!dials->items || dials->count == DIALS_MAX)
        return -EAGAIN;
    dials->items[dials->count++] = *dial;
    dial->inside = dial->host = dial->status_fd = -EBADF;
    *ret_kept = true;
    return 0;
}

/* How long the caller waits, at most. */
static void set_limit(struct dial *dial)
{
    struct timeval limit = {0};
    socklen_t size = sizeof(limit);

    dial->is_timed = getsockopt(dial->inside, SOL_SOCKET, SO_SNDTIMEO, &limit, &size) == 0 &&
                     (limit.tv_sec || limit.tv_usec);
    dial->until_ms =
        dial->is_timed ? clock_ms() + limit.tv_sec * 1000 + (limit.tv_usec + 999) / 1000 : 0;
}

/*
 * For no longer than a tick of the kernel's, though the socket waits. KERNEL: inside
 * most connections are made before connect(2) looks whether they are.
 */
static int connect_briefly(const struct dial *dial)
{
    const struct timeval brief = {.tv_usec = 1};
    struct timeval its = {0};
    socklen_t size = sizeof(its);
    int r;

    if (dial->waits &&
        (getsockopt(dial->inside, SOL_SOCKET, SO_SNDTIMEO, &its, &size) < 0 ||
         setsockopt(dial->inside, SOL_SOCKET, SO_SNDTIMEO, &brief, sizeof(brief)) < 0))
        return -errno;
    r = connect(dial->inside, (const struct sockaddr *)&dial->to, dial->to_bytes) < 0 ? -errno : 0;
    if (dial->waits)
        (void)setsockopt(dial->inside, SOL_SOCKET, SO_SNDTIMEO, &its, sizeof(its));
    return r;
}

static bool is_under_way(int result)
{
    return result == -EINPROGRESS || result == -EALREADY || result == -EINTR;
}

/* Connects the caller's own socket. */
static int connect_inside(struct dial *dial, bool *ret_waits)
{
    int r = connect_briefly(dial);

    *ret_waits = dial->waits && is_under_way(r);
    if (*ret_waits) {
        dial->is_asked = false;
        set_limit(dial);
    }
    return r == -EINTR ? -EINPROGRESS : r;
}

static bool is_loopback(const struct sockaddr_in6 *to)
{
    return IN6_IS_ADDR_LOOPBACK(&to->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&to->sin6_addr) ||
           IN6_IS_ADDR_V4MAPPED(&to->sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&to->sin6_addr);
}

/* What bawn-net is asked; false: it would have nothing to say. */
static bool write_wish(const struct dial *dial, struct net_wish *ret_wish)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    *ret_wish =
        (struct net_wish){.number = dial->call, .family = dial->to.ss_family, .waits = dial->waits};
    if (dial->to.ss_family == AF_INET && dial->to_bytes >= sizeof(v4)) {
        memcpy(&v4, &dial->to, sizeof(v4));
        memcpy(ret_wish->address, &v4.sin_addr, sizeof(v4.sin_addr));
        ret_wish->port = ntohs(v4.sin_port);
        return ret_wish->address[0] != 127 && ret_wish->address[0] != 0;
    }
    if (dial->to.ss_family == AF_INET6 && dial->to_bytes >= sizeof(v6)) {
        memcpy(&v6, &dial->to, sizeof(v6));
        memcpy(ret_wish->address, &v6.sin6_addr, sizeof(v6.sin6_addr));
        ret_wish->port = ntohs(v6.sin6_port);
        return !is_loopback(&v6);
    }
    return false;
}

/* Neither bound nor connected, nor being so. */
static bool is_new(int sock)
{
    struct sockaddr_storage own = {0};
    socklen_t size = sizeof(own);
    struct sockaddr_in v4;

    if (handed_state(sock) != TCP_CLOSE || getsockname(sock, (struct sockaddr *)&own, &size) < 0)
        return false;
    memcpy(&v4, &own, sizeof(v4));
    return v4.sin_port == 0; /* where that of IPv6 is, too */
}

static struct caller *caller_of(const struct dials *dials, const struct dial *dial)
{
    return callers_find(dials->callers, dial->tid, dial->call);
}

/* Whether the socket is nobody's but the caller's, by this one descriptor. */
static bool is_alone(const struct dials *dials, const struct dial *dial)
{
    struct stat st;

    return fstat(dial->inside, &st) == 0 &&
           !sharers_are(caller_of(dials, dial), dial->at, st.st_ino, dials->init);
}

static bool has_family(int sock, int family)
{
    int domain = 0;
    socklen_t size = sizeof(domain);

    return getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == family;
}

static bool ask(const struct dials *dials, const struct dial *dial)
{
    struct net_wish wish;

    return dials->sock >= 0 && dials->count < DIALS_MAX && write_wish(dial, &wish) &&
           wish.port != NET_DNS_PORT && has_family(dial->inside, dial->to.ss_family) &&
           is_new(dial->inside) && is_alone(dials, dial) &&
           send(dials->sock, &wish, sizeof(wish), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(wish);
}

int dials_connect(struct dials *dials, struct dial *dial, bool *ret_kept)
{
    bool waits;
    int r;

    if (ask(dials, dial)) {
        dial->is_asked = true;
        dial->is_cloexec = caller_fd_is_cloexec(caller_of(dials, dial), dial->at);
        dial->until_ms = clock_ms() + (dial->waits ? ANSWER_MS : AT_ONCE_MS);
        return keep(dials, dial, ret_kept);
    }
    r = connect_inside(dial, &waits);
    return waits ? keep(dials, dial, ret_kept) : r;
}

int dials_wait(struct dials *dials, struct dial *dial, bool *ret_kept)
{
    int r = handed_settle(dial->inside);

    if (r != -EINPROGRESS)
        return r;
    if (!dial->waits)
        return -EALREADY;
    set_limit(dial);
    dial->is_asked = false;
    return keep(dials, dial, ret_kept);
}

/* Answers it; what is last takes its place. */
static void end(struct dials *dials, struct dial *dial, int result)
{
    answer_value(dials->notify_fd, dial->call, result);
    drop(dial);
    *dial = dials->items[--dials->count];
}

/* Whether the caller's descriptor is still the socket that it wanted to connect: another thread may
 * have closed it, and opened something else. */
static bool is_in_place(const struct dials *dials, const struct dial *dial)
{
    autoclose int now = -EBADF;
    struct stat its, ours;

    now = caller_take_fd(caller_of(dials, dial), dial->at);
    return now >= 0 && fstat(now, &its) == 0 && fstat(dial->inside, &ours) == 0 &&
           its.st_ino == ours.st_ino && its.st_dev == ours.st_dev;
}

/* Puts the host's socket in the place of the caller's. */
static int hand_in(const struct dials *dials, const struct dial *dial)
{
    if (!is_in_place(dials, dial))
        return -EBADF;
    handed_copy_options(dial->inside, dial->host);
    return answer_put_fd(dials->notify_fd, dial->call, dial->host, dial->at, dial->is_cloexec);
}

/* The host's socket is there, or stays where it is. result: what connect says of it. */
static void end_handed(struct dials *dials, struct dial *dial, int result)
{
    bool fails =
        result < 0 && result != -EINPROGRESS && result != -EINTR && result != -WAIT_RESTART;
    int r = dial->host < 0 || fails ? 0 : hand_in(dials, dial);

    end(dials, dial, r < 0 ? r : result);
}

/* Looks at the socket that is waited for. True: it was answered. */
static bool look(struct dials *dials, struct dial *dial)
{
    bool waits = false;
    int r;

    if (dial->host >= 0)
        r = handed_settle(dial->host);
    else if (handed_net(dial->inside) != dials->net)
        r = handed_settle(dial->inside);
    else
        r = connect_inside(dial, &waits);
    if (waits || r == -EINPROGRESS)
        return false;
    end_handed(dials, dial, r);
    return true;
}

static void relay(struct dials *dials, struct dial *dial)
{
    bool waits;
    int r = connect_inside(dial, &waits);

    if (!waits)
        end(dials, dial, r);
}

/* All that bawn-net was asked: nobody answers. */
static void relay_all(struct dials *dials)
{
    for (size_t i = dials->count; i-- > 0;) {
        if (dials->items[i].is_asked)
            relay(dials, &dials->items[i]);
    }
}

static bool read_server(const struct net_handover *answer, struct sockaddr_storage *ret_server)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(answer->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(answer->port)};

    memset(ret_server, 0, sizeof(*ret_server));
    if (answer->family == AF_INET) {
        memcpy(&v4.sin_addr, answer->address, sizeof(v4.sin_addr));
        memcpy(ret_server, &v4, sizeof(v4));
    } else {
        memcpy(&v6.sin6_addr, answer->address, sizeof(v6.sin6_addr));
        memcpy(ret_server, &v6, sizeof(v6));
    }
    return answer->family == AF_INET || answer->family == AF_INET6;
}

/* A socket of the host's came for it. */
static void take_hand(struct dials *dials, struct dial *dial, const struct net_handover *answer,
                      int *host)
{
    if (!handed_is_tcp(*host) || handed_net(*host) == dials->net ||
        !has_family(*host, dial->to.ss_family) || answer->family != dial->to.ss_family ||
        !read_server(answer, &dial->server)) {
        relay(dials, dial);
        return;
    }
    /* SECURITY: before anybody inside has it. Who cannot bar one cannot bar the next. */
    if (handed_bar(*host, &dial->server) < 0) {
        dials->sock = -EBADF;
        relay_all(dials);
        return;
    }
    dial->host = take_fd(host);
    if (!dial->waits) {
        end_handed(dials, dial, -EINPROGRESS);
        return;
    }
    dial->is_asked = false;
    set_limit(dial);
    (void)look(dials, dial);
}

static void take(struct dials *dials, const struct net_handover *answer, int *host)
{
    for (size_t i = 0; i < dials->count; i++) {
        struct dial *dial = &dials->items[i];

        if (!dial->is_asked || dial->call != answer->number)
            continue;
        if (answer->way == NET_HAND && *host >= 0)
            take_hand(dials, dial, answer, host);
        else if (answer->way == NET_ERROR && answer->errnum > 0)
            end(dials, dial, -answer->errnum);
        else
            relay(dials, dial);
        return;
    }
}

static bool is_any_asked(const struct dials *dials)
{
    for (size_t i = 0; i < dials->count; i++)
        if (dials->items[i].is_asked)
            return true;
    return false;
}

static void hear(struct dials *dials)
{
    for (unsigned i = 0; i == 0 || (i < ANSWERS_AT_ONCE && is_any_asked(dials)); i++) {
        struct net_handover answer = {0};
        struct iovec parts[2] = {{.iov_base = &answer, .iov_len = sizeof(answer)}};
        int host = -EBADF;
        ssize_t got = packet_receive(dials->sock, parts, &host, 1);

        if (got == -EAGAIN)
            return;
        if (got == 0 && answer.way != NET_GONE)
            take(dials, &answer, &host);
        packet_drop_fds(&host, 1);
        if (got == -EPIPE)
            dials->sock = -EBADF;
        if (got < 0 || answer.way == NET_GONE)
            relay_all(dials);
        if (got < 0)
            return;
    }
}

static int open_status(const struct dials *dials, const struct dial *dial)
{
    char path[32];
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)dial->tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    /* SECURITY: as long as its call waits, the id is still its own. */
    if (fd >= 0 && !answer_is_wanted(dials->notify_fd, dial->call)) {
        (void)close(fd);
        fd = -ESRCH;
    }
    return fd;
}

/* The kernel interrupts who waits for so long only; else it may make the call anew. */
static void interrupt(struct dials *dials, struct dial *dial)
{
    int r;

    if (dial->status_fd < 0)
        dial->status_fd = open_status(dials, dial);
    r = dial->status_fd < 0 ? 0 : wait_interruption(dial->status_fd, &dial->seen);
    if (r < 0)
        end_handed(dials, dial, dial->is_timed ? -EINTR : r);
}

/* Who is gone, who has waited long enough, who is interrupted. */
static void tick(struct dials *dials, struct dial *dial)
{
    bool is_late = dial->until_ms && clock_ms() >= dial->until_ms;

    if (!answer_is_wanted(dials->notify_fd, dial->call))
        end(dials, dial, 0);
    else if (is_late && dial->is_asked && dial->waits)
        end(dials, dial, -ETIMEDOUT);
    else if (is_late && dial->is_asked)
        relay(dials, dial);
    else if (is_late)
        end_handed(dials, dial, -EINPROGRESS);
    else if (dial->waits)
        interrupt(dials, dial);
}

static int awaited(const struct dial *dial)
{
    if (dial->is_asked)
        return -1;
    return dial->host >= 0 ? dial->host : dial->inside;
}

size_t dials_await(const struct dials *dials, struct pollfd *ret_polled, int *ret_timeout_ms)
{
    *ret_timeout_ms = dials->count ? TICK_MS : -1;
    if (dials->sock < 0 && !dials->count)
        return 0;
    ret_polled[0] = (struct pollfd){.fd = dials->sock, .events = POLLIN};
    for (size_t i = 0; i < dials->count; i++)
        ret_polled[1 + i] = (struct pollfd){.fd = awaited(&dials->items[i]), .events = POLLOUT};
    return 1 + dials->count;
}

/* From the last to the first: one that is answered gives its place to one that was looked at. */
void dials_go_on(struct dials *dials, const struct pollfd *polled, size_t count)
{
    int64_t now = clock_ms();
    bool is_due = now - dials->ticked_ms >= TICK_MS;

    if (is_due)
        dials->ticked_ms = now;
    for (size_t i = count; i-- > 1;) {
        if (polled[i].revents && look(dials, &dials->items[i - 1]))
            continue;
        if (is_due)
            tick(dials, &dials->items[i - 1]);
    }
    if (count && polled[0].revents)
        hear(dials);
}
