/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/veth.h"

#include "base/cleanup.h"
#include "kernel/route.h"
#include "kernel/steer.h"
#include "veth_rules.h"
#include "wire/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TRIES = 32,         /* in each of the places where free addresses are looked for */
    V6_BITS = 96,       /* of the network that a pair has in IPv6 */
    NAME_DIGITS_AT = 4, /* of NET_VETH_NAME */
    OURS = 1,
    THEIRS = 2 /* which of the four addresses is whose */
};

static const char inside_name[] = "eth0";

/* In IPv6, private ones with the four of IPv4 in them: one pair alone has those. */
static struct route_range address_v6(uint32_t subnet, unsigned char whose)
{
    struct route_range range = {
        .family = AF_INET6, .bits = V6_BITS, .address = {0xfd, 'b', 'a', 'w', 'n', [15] = whose}};
    const uint32_t bytes = htonl(subnet);

    memcpy(range.address + 8, &bytes, sizeof(bytes));
    return range;
}

/* The host has no way to this address but that to all others. */
static bool is_free(int sock, struct route_range address)
{
    unsigned prefix = 1;
    int result = route_find(sock, &address, &prefix);

    return result == 0 ? prefix == 0 : result == -ENETUNREACH;
}

static bool is_subnet_free(int sock, uint32_t subnet)
{
    bool all = true;

    for (uint32_t i = 0; all && i < 4; i++)
        all = is_free(sock, route_v4(subnet + i, 32));
    return all;
}

/* A setting of one family's, for an interface. */
static int set_family(int sock, unsigned index, uint16_t family, uint16_t what, const void *value,
                      size_t size)
{
    const struct ifinfomsg body = {.ifi_index = (int)index};
    struct route_message message;
    uint32_t spec, inet;

    route_begin(&message, RTM_NEWLINK, 0, &body, sizeof(body));
    spec = route_open_nest(&message, IFLA_AF_SPEC);
    inet = route_open_nest(&message, family);
    route_add(&message, what, value, size);
    route_close_nest(&message, inet);
    route_close_nest(&message, spec);
    return route_ask(sock, &message, NULL);
}

/* No address of IPv6 comes by itself, not even one that holds on this link alone. */
static int keep_v6_still(int sock, unsigned index)
{
    static const uint8_t none = IN6_ADDR_GEN_MODE_NONE;
    int result = set_family(sock, index, AF_INET6, IFLA_INET6_ADDR_GEN_MODE, &none, sizeof(none));

    /* There is no IPv6 at all. */
    return result == -EAFNOSUPPORT ? 0 : result;
}

/* What comes from it is passed on, whatever new interfaces do here. */
static int let_forward(int sock, unsigned index)
{
    const struct {
        struct nlattr head;
        uint32_t value;
    } forwards = {{sizeof(forwards), IPV4_DEVCONF_FORWARDING}, 1};

    return set_family(sock, index, AF_INET, IFLA_INET_CONF, &forwards, sizeof(forwards));
}

static int bring_up(int sock, unsigned index)
{
    const struct ifinfomsg body = {
        .ifi_index = (int)index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct route_message message;

    route_begin(&message, RTM_NEWLINK, 0, &body, sizeof(body));
    return route_ask(sock, &message, NULL);
}

static void add_end(struct route_message *message, const char *name, uint32_t mtu)
{
    route_add(message, IFLA_IFNAME, name, strlen(name) + 1);
    if (mtu)
        route_add_u32(message, IFLA_MTU, mtu);
}

static int make_pair(int sock, const char *name, uint32_t mtu, int inside_ns)
{
    static const char kind[] = "veth";
    const struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
    struct route_message message;
    uint32_t info, data, peer;

    route_begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
    add_end(&message, name, mtu);
    info = route_open_nest(&message, IFLA_LINKINFO);
    route_add(&message, IFLA_INFO_KIND, kind, sizeof(kind) - 1);
    data = route_open_nest(&message, IFLA_INFO_DATA);
    peer = route_open_nest(&message, VETH_INFO_PEER);
    route_add_bytes(&message, &body, sizeof(body));
    add_end(&message, inside_name, mtu);
    route_add_u32(&message, IFLA_NET_NS_FD, (uint32_t)inside_ns);
    route_close_nest(&message, peer);
    route_close_nest(&message, data);
    route_close_nest(&message, info);
    return route_ask(sock, &message, NULL);
}

/* Rules, with this name. */
static int send_rules(int sock, unsigned char *bytes, size_t size, const char *name)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
    } answer = {0};
    unsigned char *at = bytes;
    ssize_t got;

    while ((at = memmem(at, (size_t)(bytes + size - at), NET_VETH_NAME, sizeof(NET_VETH_NAME) - 1)))
        memcpy(at, name, sizeof(NET_VETH_NAME) - 1);
    if (send(sock, bytes, size, 0) < 0)
        return -errno;
    got = recv(sock, &answer, sizeof(answer), MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN ? 0 : -errno;
    return got >= (ssize_t)sizeof(answer) && answer.error.error < 0 ? answer.error.error : -EPROTO;
}

/* veth->table_fd owns them. */
static int load_rules(struct veth *veth, const char *name)
{
    autoclose int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    _Alignas(NLMSG_ALIGNTO) unsigned char v4[sizeof(veth_v4)], both[sizeof(veth_both)];
    int result;

    if (sock < 0)
        return -errno;
    memcpy(v4, veth_v4, sizeof(v4));
    memcpy(both, veth_both, sizeof(both));
    result = veth->has_v6 ? send_rules(sock, both, sizeof(both), name)
                          : send_rules(sock, v4, sizeof(v4), name);
    if (result == 0)
        veth->table_fd = take_fd(&sock);
    return result;
}

static int failed(struct veth *veth, const char *doing, int result)
{
    if (result < 0)
        veth->doing = doing;
    return result;
}

/* Of a pair that is being made. */
struct making {
    const struct veth *veth;
    const char *name;
    int inside_fd;
};

/* The host's own addresses need no rule here: what comes for one of them goes no further. */
static int refuse_own(void *context, const struct route_range *own)
{
    const struct making *making = context;
    _Alignas(NLMSG_ALIGNTO) unsigned char bytes[sizeof(veth_one_v6)];
    int result;

    if (own->family != AF_INET6)
        return 0;
    memcpy(bytes, veth_one_v6, sizeof(bytes));
    if (!steer_put_range(bytes, sizeof(bytes), own))
        return -EINVAL;
    result = send_rules(making->veth->table_fd, bytes, sizeof(bytes), making->name);
    if (result == 0)
        result = route_prohibit(making->inside_fd, own);
    /* Two interfaces have it. */
    return result == -EEXIST ? 0 : result;
}

static int close_v6(struct veth *veth, const char *name, int inside_fd)
{
    struct making making = {veth, name, inside_fd};
    int result = failed(veth, "refuse IPv6 addresses that are not public",
                        route_prohibit_special(inside_fd, AF_INET6));

    return result < 0 ? result
                      : failed(veth, "refuse the host's networks of IPv6",
                               route_each_own(refuse_own, &making));
}

/* An address of one end. */
static int add_v6(struct veth *veth, int sock, unsigned index, uint32_t subnet, unsigned char whose)
{
    const struct route_range address = address_v6(subnet, whose);

    return veth->has_v6
               ? failed(veth, "add an address of IPv6", route_add_address(sock, index, &address))
               : 0;
}

static int set_up_ours(struct veth *veth, int sock, uint32_t subnet)
{
    const struct route_range ours = route_v4(subnet + OURS, VETH_BITS);
    int result =
        failed(veth, "give the host's end an address", route_add_address(sock, veth->index, &ours));

    if (result == 0)
        result =
            failed(veth, "keep IPv6 from configuring itself", keep_v6_still(sock, veth->index));
    if (result == 0)
        result = add_v6(veth, sock, veth->index, subnet, OURS);
    if (result == 0)
        result = failed(veth, "let the host's end forward", let_forward(sock, veth->index));
    return result < 0 ? result
                      : failed(veth, "bring the host's end up", bring_up(sock, veth->index));
}

static int set_up_theirs(struct veth *veth, int sock, uint32_t subnet)
{
    const struct route_range ours = route_v4(subnet + OURS, VETH_BITS);
    const struct route_range theirs = route_v4(subnet + THEIRS, VETH_BITS);
    const struct route_range ours_v6 = address_v6(subnet, OURS);
    unsigned index = 0;
    int result = failed(veth, "find the other end", route_find_index(sock, inside_name, &index));

    if (result == 0)
        result =
            failed(veth, "give the other end an address", route_add_address(sock, index, &theirs));
    if (result == 0)
        result = failed(veth, "keep IPv6 from configuring itself", keep_v6_still(sock, index));
    if (result == 0)
        result = failed(veth, "refuse addresses that are not public",
                        route_prohibit_special(sock, AF_INET));
    if (result == 0)
        result = add_v6(veth, sock, index, subnet, THEIRS);
    if (result == 0)
        result = failed(veth, "bring the other end up", bring_up(sock, index));
    if (result == 0)
        result = failed(veth, "add a route", route_add_default(sock, index, &ours));
    if (result == 0 && veth->has_v6)
        result = failed(veth, "add a route of IPv6", route_add_default(sock, index, &ours_v6));
    return result;
}

/* With these four addresses. -EEXIST: somebody else has just taken them. */
static int make_with(struct veth *veth, int sock, int inside_fd, int inside_ns, uint32_t subnet)
{
    char name[IFNAMSIZ] = NET_VETH_NAME;
    int result;

    if (veth->has_v6 && !is_free(sock, address_v6(subnet, OURS)))
        return failed(veth, "use addresses of fd62:6177:6e00::/64, to which this host has a route",
                      -EADDRNOTAVAIL);
    (void)snprintf(name + NAME_DIGITS_AT, sizeof(name) - NAME_DIGITS_AT, "%08x", subnet);
    result = failed(veth, "make the pair", make_pair(sock, name, veth->mtu, inside_ns));
    if (result == 0)
        result = failed(veth, "find the host's end", route_find_index(sock, name, &veth->index));
    /* SECURITY: before it is up. */
    if (result == 0)
        result = failed(veth, "load the rules of nf_tables", load_rules(veth, name));
    if (result == 0 && veth->has_v6)
        result = close_v6(veth, name, inside_fd);
    if (result == 0)
        result = set_up_ours(veth, sock, subnet);
    if (result == 0)
        result = set_up_theirs(veth, inside_fd, subnet);
    if (result == 0)
        return 0;
    if (veth->index)
        veth_remove(veth->index);
    veth->index = 0;
    if (veth->table_fd >= 0)
        (void)close(take_fd(&veth->table_fd));
    return result;
}

static int make_given(struct veth *veth, int sock, int inside_fd, int inside_ns)
{
    int result = -EADDRINUSE;

    veth->doing = "use the addresses";
    if (is_subnet_free(sock, veth->subnet))
        result = make_with(veth, sock, inside_fd, inside_ns, veth->subnet);
    return result == -EEXIST ? -EADDRINUSE : result;
}

static int make_somewhere(struct veth *veth, int sock, int inside_fd, int inside_ns)
{
    /* Parts of private networks that few others use. */
    static const struct {
        uint32_t address;
        unsigned bits;
    } places[] = {{10U << 24 | 187U << 16, 16},
                  {172U << 24 | 29U << 16, 16},
                  {192U << 24 | 168U << 16 | 187U << 8, 24}};
    uint32_t start = 0;
    int result;

    if (getrandom(&start, sizeof(start), GRND_NONBLOCK) < 0)
        start = 0;
    veth->doing = "find free addresses";
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        uint32_t count = 1U << (VETH_BITS - places[i].bits);

        for (uint32_t next = 0; next < TRIES; next++) {
            uint32_t subnet = places[i].address + (start + next) % count * 4;

            if (!is_subnet_free(sock, subnet))
                continue;
            result = make_with(veth, sock, inside_fd, inside_ns, subnet);
            if (result != -EEXIST)
                return result;
        }
    }
    return -EADDRINUSE;
}

int veth_forwards(int family)
{
    autoclose int fd = openat(AT_FDCWD,
                              family == AF_INET ? "/proc/sys/net/ipv4/ip_forward"
                                                : "/proc/sys/net/ipv6/conf/all/forwarding",
                              O_RDONLY | O_CLOEXEC);
    char digit = '0';

    if (fd < 0 || read(fd, &digit, 1) != 1)
        return fd < 0 ? -errno : -EIO;
    return digit != '0';
}

int veth_make(struct veth *veth, int inside_fd)
{
    autoclose int sock = route_open();
    autoclose int inside_ns = ioctl(inside_fd, SIOCGSKNS);

    veth->index = 0;
    veth->table_fd = -EBADF;
    veth->doing = "find the sandbox's network";
    if (sock < 0)
        return sock;
    if (inside_ns < 0)
        return -errno;
    return veth->subnet ? make_given(veth, sock, inside_fd, inside_ns)
                        : make_somewhere(veth, sock, inside_fd, inside_ns);
}

void veth_remove(unsigned index)
{
    const struct ifinfomsg body = {.ifi_index = (int)index};
    autoclose int sock = route_open();
    struct route_message message;

    route_begin(&message, RTM_DELLINK, 0, &body, sizeof(body));
    if (sock >= 0)
        (void)route_ask(sock, &message, NULL);
}
