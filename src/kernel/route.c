/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/route.h"

#include "base/special.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

void route_add_bytes(struct route_message *message, const void *bytes, size_t size)
{
    /* All that is put together here is far smaller. */
    if (message->size + NLMSG_ALIGN(size) > ROUTE_MESSAGE_BYTES)
        return;
    memcpy(message->bytes + message->size, bytes, size);
    message->size += (uint32_t)NLMSG_ALIGN(size);
}

void route_begin(struct route_message *message, uint16_t type, uint16_t flags, const void *body,
                 size_t size)
{
    const struct nlmsghdr head = {
        .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags, .nlmsg_seq = 1};

    memset(message, 0, sizeof(*message));
    route_add_bytes(message, &head, sizeof(head));
    route_add_bytes(message, body, size);
}

void route_add(struct route_message *message, uint16_t type, const void *value, size_t size)
{
    struct nlattr attribute = {.nla_type = type};

    attribute.nla_len = (uint16_t)(sizeof(attribute) + size);
    route_add_bytes(message, &attribute, sizeof(attribute));
    if (size > 0)
        route_add_bytes(message, value, size);
}

void route_add_u32(struct route_message *message, uint16_t type, uint32_t value)
{
    route_add(message, type, &value, sizeof(value));
}

uint32_t route_open_nest(struct route_message *message, uint16_t type)
{
    uint32_t at = message->size;

    route_add(message, type, NULL, 0);
    return at;
}

void route_close_nest(struct route_message *message, uint32_t at)
{
    uint16_t length = (uint16_t)(message->size - at);

    memcpy(message->bytes + at, &length, sizeof(length));
}

int route_ask(int sock, struct route_message *message, unsigned *ret_prefix)
{
    _Alignas(NLMSG_ALIGNTO) char answer[4096];
    ssize_t got;

    memcpy(message->bytes, &message->size, sizeof(message->size));
    if (send(sock, message->bytes, message->size, 0) < 0)
        return -errno;
    for (;;) {
        struct nlmsghdr head;
        struct nlmsgerr error;
        struct rtmsg route;

        got = recv(sock, answer, sizeof(answer), MSG_DONTWAIT);
        if (got < (ssize_t)sizeof(head))
            return got < 0 ? -errno : -EPROTO;
        memcpy(&head, answer, sizeof(head));
        if (head.nlmsg_type == NLMSG_ERROR && got >= (ssize_t)(NLMSG_HDRLEN + sizeof(error))) {
            memcpy(&error, answer + NLMSG_HDRLEN, sizeof(error));
            return error.error;
        }
        if (head.nlmsg_type == RTM_NEWROUTE && got >= (ssize_t)(NLMSG_HDRLEN + sizeof(route)) &&
            ret_prefix) {
            memcpy(&route, answer + NLMSG_HDRLEN, sizeof(route));
            *ret_prefix = route.rtm_dst_len;
        }
    }
}

int route_open(void)
{
    int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    return sock < 0 ? -errno : sock;
}

static size_t address_bytes(int family)
{
    return family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

int route_find_index(int sock, const char *name, unsigned *ret_index)
{
    struct ifreq request = {0};

    memcpy(request.ifr_name, name, strlen(name) + 1);
    if (ioctl(sock, SIOCGIFINDEX, &request) < 0)
        return -errno;
    *ret_index = (unsigned)request.ifr_ifindex;
    return 0;
}

int route_add_address(int sock, unsigned index, const struct route_range *range)
{
    /* KERNEL: IPv6 would ask the link for seconds whether somebody else has it. */
    const struct ifaddrmsg body = {.ifa_family = (uint8_t)range->family,
                                   .ifa_prefixlen = (uint8_t)range->bits,
                                   .ifa_flags = range->family == AF_INET6 ? IFA_F_NODAD : 0,
                                   .ifa_index = index};
    struct route_message message;

    route_begin(&message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
    route_add(&message, IFA_LOCAL, range->address, address_bytes(range->family));
    route_add(&message, IFA_ADDRESS, range->address, address_bytes(range->family));
    return route_ask(sock, &message, NULL);
}

int route_add_default(int sock, unsigned index, const struct route_range *gateway)
{
    const struct rtmsg body = {.rtm_family = (uint8_t)gateway->family,
                               .rtm_table = RT_TABLE_MAIN,
                               .rtm_protocol = RTPROT_BOOT,
                               .rtm_type = RTN_UNICAST};
    struct route_message message;

    route_begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
    route_add(&message, RTA_GATEWAY, gateway->address, address_bytes(gateway->family));
    route_add_u32(&message, RTA_OIF, index);
    return route_ask(sock, &message, NULL);
}

int route_prohibit(int sock, const struct route_range *range)
{
    const struct rtmsg body = {.rtm_family = (uint8_t)range->family,
                               .rtm_dst_len = (uint8_t)range->bits,
                               .rtm_table = RT_TABLE_MAIN,
                               .rtm_protocol = RTPROT_BOOT,
                               .rtm_type = RTN_PROHIBIT};
    struct route_message message;

    route_begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
    route_add(&message, RTA_DST, range->address, address_bytes(range->family));
    return route_ask(sock, &message, NULL);
}

int route_prohibit_special(int sock, int family)
{
    static const struct route_range ranges[] = {
#define RANGE(a, b, c, d, bits, what) {AF_INET, bits, {a, b, c, d}},
        SPECIAL_V4(RANGE)
#undef RANGE
#define RANGE(a, b, c, d, e, f, g, h, bits, what)                                                  \
    {AF_INET6, bits, SPECIAL_V6_BYTES(a, b, c, d, e, f, g, h)},
            SPECIAL_V6(RANGE)
#undef RANGE
    };
    int result = 0;

    for (size_t i = 0; result == 0 && i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i].family == family)
            result = route_prohibit(sock, &ranges[i]);
    }
    return result;
}

int route_find(int sock, const struct route_range *address, unsigned *ret_bits)
{
    const struct rtmsg body = {.rtm_family = (uint8_t)address->family,
                               .rtm_dst_len = (uint8_t)(8 * address_bytes(address->family)),
                               .rtm_flags = RTM_F_FIB_MATCH};
    struct route_message message;

    route_begin(&message, RTM_GETROUTE, 0, &body, sizeof(body));
    route_add(&message, RTA_DST, address->address, address_bytes(address->family));
    return route_ask(sock, &message, ret_bits);
}

struct route_range route_v4(uint32_t address, unsigned bits)
{
    struct route_range range = {.family = AF_INET, .bits = bits};
    const uint32_t bytes = htonl(address);

    memcpy(range.address, &bytes, sizeof(bytes));
    return range;
}

/* Which addresses one of our own stands for. */
static bool find_own(const struct ifaddrs *one, struct route_range *ret_range)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6, mask;

    if (!one->ifa_addr)
        return false;
    if (one->ifa_addr->sa_family == AF_INET) {
        memcpy(&v4, one->ifa_addr, sizeof(v4));
        *ret_range = route_v4(ntohl(v4.sin_addr.s_addr), 32);
        return true;
    }
    if (one->ifa_addr->sa_family != AF_INET6)
        return false;
    memcpy(&v6, one->ifa_addr, sizeof(v6));
    *ret_range = (struct route_range){.family = AF_INET6, .bits = 128};
    memcpy(ret_range->address, &v6.sin6_addr, sizeof(v6.sin6_addr));
    if (one->ifa_netmask) {
        memcpy(&mask, one->ifa_netmask, sizeof(mask));
        ret_range->bits = 0;
        for (size_t i = 0; i < sizeof(mask.sin6_addr); i++)
            ret_range->bits += (unsigned)__builtin_popcount(mask.sin6_addr.s6_addr[i]);
    }
    return !IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr);
}

int route_each_own(int (*found)(void *context, const struct route_range *own), void *context)
{
    struct ifaddrs *all = NULL;
    int result = getifaddrs(&all) < 0 ? -errno : 0;

    for (const struct ifaddrs *one = all; one && result == 0; one = one->ifa_next) {
        struct route_range own;

        if (find_own(one, &own))
            result = found(context, &own);
    }
    freeifaddrs(all);
    return result;
}
