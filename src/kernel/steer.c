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
#include <string.h>
#include <sys/socket.h>

#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif

enum {
    LOOPBACK_INDEX = 1, /* of a new namespace */
    BACKLOG = 4096,
    OPTIONS = SOCK_CLOEXEC | SOCK_NONBLOCK,
};

/* To all addresses by the loopback, from its own. KERNEL: a host's usual way may be to pace what is
 * sent (BBR), with a timer for each piece; here nothing is lost, and every kernel has reno. */
struct route {
    struct nlmsghdr head;
    struct rtmsg route;
    struct nlattr out;
    uint32_t out_index;
    struct nlattr metrics, congestion;
    char congestion_name[8];
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
        .metrics = {.nla_len = 2 * sizeof(struct nlattr) + 8, .nla_type = RTA_METRICS},            \
        .congestion = {.nla_len = sizeof(struct nlattr) + sizeof("reno"),                          \
                       .nla_type = RTAX_CC_ALGO},                                                  \
        .congestion_name = "reno",                                                                 \
        .source = {.nla_len = sizeof(struct nlattr) + sizeof((unsigned char[]){__VA_ARGS__}),      \
                   .nla_type = RTA_PREFSRC},                                                       \
        .source_address = {__VA_ARGS__},                                                           \
    }

/* One more address of the loopback. */
struct own_address {
    struct nlmsghdr head;
    struct ifaddrmsg address;
    struct nlattr local;
    unsigned char bytes[16];
};

/* What the kernel answers is an error: it was told not to say that all is well. */
static int ask_by(long sock, const void *bytes, size_t size)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[256];
    } answer = {0};
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
    return (int)result;
}

static int ask_kernel(int protocol, const void *bytes, size_t size)
{
    long sock = sys_bare(SYS_socket, AF_NETLINK, SOCK_RAW | OPTIONS, protocol, 0);
    int result = ask_by(sock, bytes, size);

    if (sock >= 0)
        (void)sys_bare(SYS_close, sock, 0, 0, 0);
    return result;
}

/* A socket option that is a number. */
static long set_option(long sock, int level, int name)
{
    const int one = 1;

    return sys_bare5(SYS_setsockopt, sock, level, name, (long)(uintptr_t)&one, sizeof(one));
}

/* At which address; AT_NAMES is IPv4's. */
enum where { AT_ANY, AT_LOOPBACK, AT_NAMES };

/* A socket to be made, with an option of its family's. */
struct place {
    int family, type;
    uint16_t port;
    enum where where;
    int level, option; /* 0: none; of IPv6 it is then for IPv4, too */
};

static const struct place v4_places[] = {
    {AF_INET, SOCK_STREAM, NET_PORT, AT_LOOPBACK, IPPROTO_IP, IP_TRANSPARENT},
    {AF_INET, SOCK_DGRAM, NET_DNS_PORT, AT_ANY, IPPROTO_IP, IP_PKTINFO},
    {AF_INET, SOCK_DGRAM, NET_PORT, AT_LOOPBACK, IPPROTO_IP, IP_TRANSPARENT},
    {AF_INET, SOCK_RAW, 0, AT_LOOPBACK, 0, 0},
};
/* KERNEL: tproxy leads to the first address of the interface, and of IPv6 that is not ::1. */
static const struct place v6_places[] = {
    {AF_INET6, SOCK_STREAM, NET_PORT, AT_ANY, IPPROTO_IPV6, IPV6_TRANSPARENT},
    {AF_INET6, SOCK_DGRAM, NET_DNS_PORT, AT_ANY, IPPROTO_IPV6, IPV6_RECVPKTINFO},
    {AF_INET6, SOCK_DGRAM, NET_PORT, AT_ANY, IPPROTO_IPV6, IPV6_TRANSPARENT},
    {AF_INET6, SOCK_RAW, 0, AT_LOOPBACK, 0, 0},
};
enum { PLACES_OF_STREAMS = 2, PLACES = 4 };
static const struct place name_places[] = {
    {AF_INET, SOCK_STREAM, NET_DNS_PORT, AT_NAMES, 0, 0},
    {AF_INET, SOCK_DGRAM, NET_DNS_PORT, AT_NAMES, IPPROTO_IP, IP_PKTINFO},
};

static const unsigned char dns_address[] = {NET_DNS_BYTES};

/* The places of a family that are made. */
struct extent {
    unsigned first, count;
};

static struct extent extent_of(const struct steer *steer)
{
    if (steer->is_plain)
        return (struct extent){1, 1}; /* names */
    return (struct extent){0, steer->takes_datagrams ? PLACES : PLACES_OF_STREAMS};
}

static long bind_place(long sock, const struct place *place)
{
    struct sockaddr_in v4 = {
        .sin_family = AF_INET,
        .sin_port = htons(place->port),
        .sin_addr = {htonl(place->where == AT_LOOPBACK ? INADDR_LOOPBACK : INADDR_ANY)}};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                              .sin6_port = htons(place->port),
                              .sin6_addr = {{{[15] = place->where == AT_LOOPBACK}}}};

    if (place->where == AT_NAMES)
        memcpy(&v4.sin_addr, dns_address, sizeof(dns_address));
    return place->family == AF_INET ? sys_bare(SYS_bind, sock, (long)(uintptr_t)&v4, sizeof(v4), 0)
                                    : sys_bare(SYS_bind, sock, (long)(uintptr_t)&v6, sizeof(v6), 0);
}

static long add_listener(struct steer *steer, const struct place *place)
{
    bool is_raw = place->type == SOCK_RAW;
    long sock =
        sys_bare(SYS_socket, place->family, place->type | OPTIONS, is_raw ? IPPROTO_RAW : 0, 0);
    long result = sock;

    if (sock < 0)
        return sock;
    steer->listeners[steer->count++] = (int)sock;
    if (place->family == AF_INET6 && place->option)
        result = set_option(sock, IPPROTO_IPV6, IPV6_V6ONLY);
    if (result >= 0 && place->option)
        result = set_option(sock, place->level, place->option);
    if (result >= 0 && !is_raw)
        result = bind_place(sock, place);
    if (result >= 0 && place->type == SOCK_STREAM)
        result = sys_bare(SYS_listen, sock, BACKLOG, 0, 0);
    return result;
}

static int add_listeners(struct steer *steer, const struct place *places, unsigned count)
{
    long result = 0;

    for (unsigned i = 0; result >= 0 && i < count; i++)
        result = add_listener(steer, &places[i]);
    return result < 0 ? (int)result : 0;
}

static int add_ports(struct steer *steer, bool has_v6)
{
    int result = 0;

    for (unsigned i = 0; result == 0 && i < steer->port_count; i++) {
        const struct place place = {
            .family = has_v6 ? AF_INET6 : AF_INET, .type = SOCK_STREAM, .port = steer->ports[i]};

        result = add_listeners(steer, &place, 1);
    }
    return result;
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

static int steer_all_ports(bool takes_datagrams)
{
    return takes_datagrams ? ask_kernel(NETLINK_NETFILTER, steer_all, sizeof(steer_all))
                           : ask_kernel(NETLINK_NETFILTER, steer_streams, sizeof(steer_streams));
}

/* Whoever planned without nf_tables found none; now there may be. */
static int use_tables(struct steer *steer)
{
    int result = steer_all_ports(steer->takes_datagrams);

    if (!steer->is_plain)
        return failed(steer, "steer connections by nf_tables", result);
    return result < 0 ? 0 : failed(steer, "do without nf_tables, which works by now", -ESTALE);
}

/* KERNEL: it answers for the namespace it was made in, wherever it is asked. Without it the network
 * works, and nobody knows which program asked for what. */
static void open_diag(struct steer *steer)
{
    steer->diag_fd =
        (int)sys_bare(SYS_socket, AF_NETLINK, SOCK_RAW | OPTIONS, NETLINK_SOCK_DIAG, 0);
}

/*
 * Where names are asked for, and its like in IPv6. A program may ask for addresses of
 * a family only if the machine has one of that family besides 127.0.0.1 and ::1
 * (getaddrinfo with AI_ADDRCONFIG).
 */
static int add_own(int family)
{
    static const unsigned char v4[] = {NET_DNS_BYTES};
    static const unsigned char v6[] = {NET_OWN_V6_BYTES};
    size_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);
    struct own_address own = {
        .head = {.nlmsg_len = (uint32_t)(offsetof(struct own_address, bytes) + size),
                 .nlmsg_type = RTM_NEWADDR,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL,
                 .nlmsg_seq = 1},
        .address = {.ifa_family = (uint8_t)family,
                    .ifa_prefixlen = (uint8_t)(size * 8),
                    .ifa_scope = RT_SCOPE_HOST,
                    .ifa_index = LOOPBACK_INDEX},
        .local = {.nla_len = (uint16_t)(sizeof(struct nlattr) + size), .nla_type = IFA_LOCAL},
    };

    memcpy(own.bytes, family == AF_INET ? v4 : v6, size);
    return ask_kernel(NETLINK_ROUTE, &own, own.head.nlmsg_len);
}

static int guard(struct steer *steer)
{
    steer->rules_fd =
        (int)sys_bare(SYS_socket, AF_NETLINK, SOCK_RAW | OPTIONS, NETLINK_NETFILTER, 0);
    return steer->has_v6 ? ask_by(steer->rules_fd, guard_both, sizeof(guard_both))
                         : ask_by(steer->rules_fd, guard_v4, sizeof(guard_v4));
}

int steer_names(struct steer *steer)
{
    int result;

    steer->count = 0;
    open_diag(steer);
    /* KERNEL: who changes things by it is asked for his rights, and who made it, too. */
    steer->route_fd = (int)sys_bare(SYS_socket, AF_NETLINK, SOCK_RAW | OPTIONS, NETLINK_ROUTE, 0);
    result = failed(steer, "open netlink", steer->route_fd < 0 ? steer->route_fd : 0);
    if (result == 0)
        result = failed(steer, "add an address for names", add_own(AF_INET));
    if (result == 0 && steer->is_guarded)
        result = failed(steer, "guard the network by nf_tables", guard(steer));
    return result < 0 ? result : failed(steer, "listen", add_listeners(steer, name_places, 2));
}

/* In bytes of a rule, where others are that stand for them. */
static bool put_bytes(unsigned char *rule, size_t rule_size, const unsigned char *stand_in,
                      const void *wanted, size_t size)
{
    unsigned char *at = memmem(rule, rule_size, stand_in, size);

    if (at)
        memcpy(at, wanted, size);
    return at != NULL;
}

static int refuse_v4(int rules_fd, const struct route_range *range)
{
    static const unsigned char any[] = {NET_ANY_BYTES};
    _Alignas(8) unsigned char bytes[sizeof(guard_one)];

    memcpy(bytes, guard_one, sizeof(bytes));
    return put_bytes(bytes, sizeof(bytes), any, range->address, sizeof(any))
               ? ask_by(rules_fd, bytes, sizeof(bytes))
               : -EINVAL;
}

bool steer_put_range(unsigned char *rules, size_t size, const struct route_range *range)
{
    static const unsigned char any[] = {NET_ANY_V6_BYTES}, any_mask[] = {NET_MASK_V6_BYTES};
    unsigned char mask[sizeof(any_mask)] = {0}, first[sizeof(any)];

    for (unsigned bit = 0; bit < range->bits; bit++)
        mask[bit / 8] |= (unsigned char)(0x80 >> bit % 8);
    for (size_t i = 0; i < sizeof(first); i++)
        first[i] = range->address[i] & mask[i];
    /* The mask first: an address may look like what stands for it. */
    return put_bytes(rules, size, any_mask, mask, sizeof(mask)) &&
           put_bytes(rules, size, any, first, sizeof(first));
}

static int refuse_v6(int rules_fd, const struct route_range *range)
{
    _Alignas(8) unsigned char bytes[sizeof(guard_one_v6)];

    memcpy(bytes, guard_one_v6, sizeof(bytes));
    return steer_put_range(bytes, sizeof(bytes), range) ? ask_by(rules_fd, bytes, sizeof(bytes))
                                                        : -EINVAL;
}

int steer_refuse(int rules_fd, const struct route_range *range)
{
    return range->family == AF_INET ? refuse_v4(rules_fd, range) : refuse_v6(rules_fd, range);
}

int steer_make(struct steer *steer)
{
    static const struct route v4 = ROUTE(AF_INET, RT_SCOPE_HOST, 1, 127, 0, 0, 1);
    static const struct route v6 =
        ROUTE(AF_INET6, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    struct extent extent = extent_of(steer);
    bool has_v6;
    int result;

    steer->count = 0;
    open_diag(steer);
    result = failed(steer, "make every address local",
                    ask_kernel(NETLINK_ROUTE, &v4, v4.head.nlmsg_len));
    if (result == 0)
        result = failed(steer, "add an address of IPv4", add_own(AF_INET));
    if (result == 0)
        result = use_tables(steer);
    if (result == 0)
        result =
            failed(steer, "listen", add_listeners(steer, v4_places + extent.first, extent.count));
    if (result < 0)
        return result;
    result = ask_kernel(NETLINK_ROUTE, &v6, v6.head.nlmsg_len);
    if (result == 0)
        result = add_own(AF_INET6);
    has_v6 = !has_no_v6(result);
    if (has_v6 && result == 0)
        result = add_listeners(steer, v6_places + extent.first, extent.count);
    else if (!has_v6)
        result = 0;
    if (result < 0)
        return failed(steer, "listen with IPv6", result);
    return failed(steer, "listen at ports", add_ports(steer, has_v6));
}
