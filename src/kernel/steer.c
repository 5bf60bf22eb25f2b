/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/steer.h"

#include "kernel/sys.h"
#include "steer_rules.h"
#include "wire/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif

enum {
    LOOPBACK_INDEX = 1, /* of a new namespace */
    BACKLOG = 4096,
    OPTIONS = SOCK_CLOEXEC | SOCK_NONBLOCK,
};

/* To all addresses by the loopback, from its own. */
struct route {
    struct nlmsghdr head;
    struct rtmsg route;
    struct nlattr out;
    uint32_t out_index;
    struct nlattr source;
    unsigned char source_address[16];
};
#define ROUTE_BYTES(address) (offsetof(struct route, source_address) + sizeof(address))
#define ROUTE(family_of, scope, number, ...)                                                       \
    {                                                                                              \
        .head = {.nlmsg_len = ROUTE_BYTES(((unsigned char[]){__VA_ARGS__})),                       \
                 .nlmsg_type = RTM_NEWROUTE,                                                       \
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL,                         \
                 .nlmsg_seq = (number)},                                                           \
        .route = {.rtm_family = (family_of),                                                       \
                  .rtm_table = RT_TABLE_LOCAL,                                                     \
                  .rtm_protocol = RTPROT_BOOT,                                                     \
                  .rtm_scope = (scope),                                                            \
                  .rtm_type = RTN_LOCAL},                                                          \
        .out = {.nla_len = sizeof(struct nlattr) + sizeof(uint32_t), .nla_type = RTA_OIF},         \
        .out_index = LOOPBACK_INDEX,                                                               \
        .source = {.nla_len = sizeof(struct nlattr) + sizeof((unsigned char[]){__VA_ARGS__}),      \
                   .nla_type = RTA_PREFSRC},                                                       \
        .source_address = {__VA_ARGS__},                                                           \
    }

/* What the kernel answers is an error: it was told not to say that all is well. */
static int ask_kernel(int protocol, const void *bytes, size_t size)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[256];
    } answer;
    long sock = sys_bare(SYS_socket, AF_NETLINK, SOCK_RAW | OPTIONS, protocol, 0);
    long result = sock;

    if (sock >= 0)
        result = sys_bare(SYS_write, sock, (long)(uintptr_t)bytes, (long)size, 0);
    if (result >= 0 && result != (long)size)
        result = -EIO;
    if (result >= 0) {
        result = sys_bare(SYS_read, sock, (long)(uintptr_t)&answer, sizeof(answer), 0);
        if (result == -EAGAIN)
            result = 0;
        else if (result >= (long)sizeof(answer.head) + (long)sizeof(answer.error.error))
            result = answer.error.error;
        else if (result >= 0)
            result = -EPROTO;
    }
    if (sock >= 0)
        (void)sys_bare(SYS_close, sock, 0, 0, 0);
    return (int)result;
}

/* A socket option that is a number. */
static long set_option(long sock, int level, int name)
{
    const int one = 1;

    return sys_bare5(SYS_setsockopt, sock, level, name, (long)(uintptr_t)&one, sizeof(one));
}

/* Adds the socket, bound. */
static long add_bound(struct steer *steer, int type, int level, int option,
                      const struct sockaddr *address, size_t size)
{
    long sock = sys_bare(SYS_socket, address->sa_family, type | OPTIONS, 0, 0);
    long result = sock;

    if (sock < 0)
        return sock;
    steer->listeners[steer->count++] = (int)sock;
    /* One address may have both families' sockets. */
    if (address->sa_family == AF_INET6)
        result = set_option(sock, IPPROTO_IPV6, IPV6_V6ONLY);
    if (result >= 0)
        result = set_option(sock, level, option);
    if (result >= 0)
        result = sys_bare(SYS_bind, sock, (long)(uintptr_t)address, (long)size, 0);
    return result < 0 ? result : sock;
}

static long add_stream(struct steer *steer, int level, int option, const struct sockaddr *address,
                       size_t size)
{
    long sock = add_bound(steer, SOCK_STREAM, level, option, address, size);

    return sock < 0 ? sock : sys_bare(SYS_listen, sock, BACKLOG, 0, 0);
}

static int listen_v4(struct steer *steer)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(NET_PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    long result =
        add_stream(steer, IPPROTO_IP, IP_TRANSPARENT, (struct sockaddr *)&address, sizeof(address));

    address.sin_port = htons(NET_DNS_PORT);
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    if (result >= 0)
        result = add_bound(steer, SOCK_DGRAM, IPPROTO_IP, IP_PKTINFO, (struct sockaddr *)&address,
                           sizeof(address));
    return result < 0 ? (int)result : 0;
}

static int listen_v6(struct steer *steer)
{
    struct sockaddr_in6 address = {
        .sin6_family = AF_INET6, .sin6_port = htons(NET_PORT), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    long result = add_stream(steer, IPPROTO_IPV6, IPV6_TRANSPARENT, (struct sockaddr *)&address,
                             sizeof(address));

    address.sin6_port = htons(NET_DNS_PORT);
    address.sin6_addr = (struct in6_addr)IN6ADDR_ANY_INIT;
    if (result >= 0)
        result = add_bound(steer, SOCK_DGRAM, IPPROTO_IPV6, IPV6_RECVPKTINFO,
                           (struct sockaddr *)&address, sizeof(address));
    return result < 0 ? (int)result : 0;
}

/* Where the kernel, or its administrator, has no IPv6 there is none inside either. */
static bool has_no_v6(int result)
{
    return result == -EAFNOSUPPORT || result == -EOPNOTSUPP || result == -EACCES ||
           result == -ENODEV || result == -EADDRNOTAVAIL || result == -EINVAL;
}

static int failed(struct steer *steer, const char *doing, int result)
{
    if (result < 0)
        steer->doing = doing;
    return result;
}

int steer_make(struct steer *steer)
{
    static const struct route v4 = ROUTE(AF_INET, RT_SCOPE_HOST, 1, 127, 0, 0, 1);
    static const struct route v6 =
        ROUTE(AF_INET6, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    int result;

    steer->count = 0;
    result = failed(steer, "make every address local",
                    ask_kernel(NETLINK_ROUTE, &v4, v4.head.nlmsg_len));
    if (result == 0)
        result = failed(steer, "steer connections by nf_tables",
                        ask_kernel(NETLINK_NETFILTER, steer_rules, sizeof(steer_rules)));
    if (result == 0)
        result = failed(steer, "listen", listen_v4(steer));
    if (result < 0)
        return result;
    result = ask_kernel(NETLINK_ROUTE, &v6, v6.head.nlmsg_len);
    if (has_no_v6(result))
        return 0;
    if (result == 0)
        result = listen_v6(steer);
    return failed(steer, "listen with IPv6", result);
}
