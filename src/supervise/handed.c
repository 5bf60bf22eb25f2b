/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/handed.h"

#include "base/mutant.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>

/* Not in the headers of every libc that bawn is built with. */
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif
#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72
#endif
#ifndef TCP_NOTSENT_LOWAT
#define TCP_NOTSENT_LOWAT 25
#endif
enum { LOCKED_SEND = 1, LOCKED_RECEIVE = 2 };

bool handed_is_tcp(int sock)
{
    int domain = 0, protocol = 0;
    socklen_t size = sizeof(int);

    return getsockopt(sock, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
           protocol == IPPROTO_TCP &&
           getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           (domain == AF_INET || domain == AF_INET6);
}

uint64_t handed_net(int sock)
{
    uint64_t net = 0;
    socklen_t size = sizeof(net);

    return getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &net, &size) == 0 ? net : 0;
}

int handed_state(int sock)
{
    uint8_t state = 0; /* the first byte of struct tcp_info */
    socklen_t size = sizeof(state);

    return getsockopt(sock, IPPROTO_TCP, TCP_INFO, &state, &size) == 0 ? state : 0;
}

/* The data begins with the header of TCP. */
enum { TCP_SOURCE_PORT = 0, IPV4_SOURCE = 12, IPV6_SOURCE = 8, VERSION = 0xf0 };

#define LOAD(size, at) ((struct sock_filter){BPF_LD | (size) | BPF_ABS, 0, 0, (uint32_t)(at)})
/* Else on to the last instruction, which is so many further. */
#define DEMAND(value, last) ((struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, 0, (last), (value)})

static unsigned write_v4(struct sock_filter *code, const struct sockaddr_in *server)
{
    unsigned at = 0;

    code[at++] = LOAD(BPF_B, SKF_NET_OFF);
    code[at++] = (struct sock_filter){BPF_ALU | BPF_AND | BPF_K, 0, 0, VERSION};
    code[at++] = DEMAND(0x40, 5);
    code[at++] = LOAD(BPF_W, SKF_NET_OFF + IPV4_SOURCE);
    code[at++] = DEMAND(ntohl(server->sin_addr.s_addr), 3);
    code[at++] = LOAD(BPF_H, TCP_SOURCE_PORT);
    code[at++] = DEMAND(ntohs(server->sin_port), 1);
    return at;
}

static unsigned write_v6(struct sock_filter *code, const struct sockaddr_in6 *server)
{
    unsigned at = 0;

    code[at++] = LOAD(BPF_B, SKF_NET_OFF);
    code[at++] = (struct sock_filter){BPF_ALU | BPF_AND | BPF_K, 0, 0, VERSION};
    code[at++] = DEMAND(0x60, 11);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t word;

        memcpy(&word, &server->sin6_addr.s6_addr[4 * i], sizeof(word));
        code[at++] = LOAD(BPF_W, SKF_NET_OFF + IPV6_SOURCE + 4 * (int)i);
        code[at++] = DEMAND(ntohl(word), (uint8_t)(9 - 2 * i));
    }
    code[at++] = LOAD(BPF_H, TCP_SOURCE_PORT);
    code[at++] = DEMAND(ntohs(server->sin6_port), 1);
    return at;
}

int handed_bar(int sock, const struct sockaddr_storage *server)
{
    struct sock_filter code[16];
    struct sock_fprog program = {.filter = code};
    const int yes = 1;
    unsigned at;

    if (!LAYER("bar"))
        return 0;
    if (server->ss_family == AF_INET)
        at = write_v4(code, (const struct sockaddr_in *)server);
    else if (server->ss_family == AF_INET6)
        at = write_v6(code, (const struct sockaddr_in6 *)server);
    else
        return -EAFNOSUPPORT;
    code[at++] = (struct sock_filter){BPF_RET | BPF_K, 0, 0, UINT32_MAX};
    code[at++] = (struct sock_filter){BPF_RET | BPF_K, 0, 0, 0};
    program.len = (unsigned short)at;
    return setsockopt(sock, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ||
                   setsockopt(sock, SOL_SOCKET, SO_LOCK_FILTER, &yes, sizeof(yes)) < 0
               ? -errno
               : 0;
}

enum { OPTION_BYTES = 16 };
_Static_assert(sizeof(struct timeval) <= OPTION_BYTES, "an option is larger");

static void copy_option(int from, int to, int level, int option)
{
    char its[OPTION_BYTES] = {0}, ours[OPTION_BYTES] = {0};
    socklen_t size = sizeof(its), our_size = sizeof(ours);

    if (getsockopt(from, level, option, its, &size) == 0 &&
        getsockopt(to, level, option, ours, &our_size) == 0 && memcmp(its, ours, size) != 0)
        (void)setsockopt(to, level, option, its, size);
}

/* Only as the client has fixed them: else the kernel makes them as large as they need to be. It
 * tells twice what was set. */
static void copy_buffers(int from, int to)
{
    int locked = 0, bytes = 0;
    socklen_t size = sizeof(int);

    if (getsockopt(from, SOL_SOCKET, SO_BUF_LOCK, &locked, &size) < 0)
        return;
    if ((locked & LOCKED_SEND) && getsockopt(from, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0) {
        bytes /= 2;
        (void)setsockopt(to, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    }
    if ((locked & LOCKED_RECEIVE) && getsockopt(from, SOL_SOCKET, SO_RCVBUF, &bytes, &size) == 0) {
        bytes /= 2;
        (void)setsockopt(to, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    }
}

void handed_copy_options(int from, int to)
{
    static const struct {
        int level, option;
    } options[] = {
        {SOL_SOCKET, SO_KEEPALIVE},       {SOL_SOCKET, SO_OOBINLINE},
        {SOL_SOCKET, SO_LINGER},          {SOL_SOCKET, SO_RCVTIMEO},
        {SOL_SOCKET, SO_SNDTIMEO},        {SOL_SOCKET, SO_RCVLOWAT},
        {SOL_SOCKET, SO_PRIORITY},        {IPPROTO_TCP, TCP_NODELAY},
        {IPPROTO_TCP, TCP_CORK},          {IPPROTO_TCP, TCP_KEEPIDLE},
        {IPPROTO_TCP, TCP_KEEPINTVL},     {IPPROTO_TCP, TCP_KEEPCNT},
        {IPPROTO_TCP, TCP_LINGER2},       {IPPROTO_TCP, TCP_USER_TIMEOUT},
        {IPPROTO_TCP, TCP_NOTSENT_LOWAT}, {IPPROTO_IP, IP_TOS},
        {IPPROTO_IPV6, IPV6_TCLASS},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        copy_option(from, to, options[i].level, options[i].option);
    copy_buffers(from, to);
    (void)fcntl(to, F_SETFL, fcntl(from, F_GETFL));
}

int handed_settle(int sock)
{
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof(peer);
    int error = 0;
    socklen_t error_bytes = sizeof(error);

    switch (handed_state(sock)) {
    case TCP_SYN_SENT:
    case TCP_SYN_RECV:
        return -EINPROGRESS;
    case TCP_LISTEN:
        return -EISCONN;
    case 0:
    case TCP_CLOSE:
        (void)getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &error_bytes);
        return error ? -error : -ECONNABORTED;
    default:
        break;
    }
    /* KERNEL: by the second call the kernel knows that the client knows, too. The address does not
     * count then; it is its own. */
    if (getpeername(sock, (struct sockaddr *)&peer, &size) < 0)
        return -errno;
    return connect(sock, (struct sockaddr *)&peer, size) < 0 ? -errno : 0;
}
