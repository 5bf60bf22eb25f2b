/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/route.h"

#include "base/special.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
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

int route_prohibit(int sock, uint32_t address, unsigned bits)
{
    const struct rtmsg body = {.rtm_family = AF_INET,
                               .rtm_dst_len = (unsigned char)bits,
                               .rtm_table = RT_TABLE_MAIN,
                               .rtm_protocol = RTPROT_BOOT,
                               .rtm_type = RTN_PROHIBIT};
    struct route_message message;

    route_begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
    route_add_u32(&message, RTA_DST, htonl(address));
    return route_ask(sock, &message, NULL);
}

int route_prohibit_special(int sock)
{
    static const struct {
        uint32_t address;
        unsigned bits;
    } ranges[] = {
#define RANGE(a, b, c, d, bits, what)                                                              \
    {(uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (d), bits},
        SPECIAL_V4(RANGE)
#undef RANGE
    };
    int result = 0;

    for (size_t i = 0; result == 0 && i < sizeof(ranges) / sizeof(ranges[0]); i++)
        result = route_prohibit(sock, ranges[i].address, ranges[i].bits);
    return result;
}

int route_find(int sock, uint32_t address, unsigned *ret_bits)
{
    const struct rtmsg body = {
        .rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_flags = RTM_F_FIB_MATCH};
    struct route_message message;

    route_begin(&message, RTM_GETROUTE, 0, &body, sizeof(body));
    route_add_u32(&message, RTA_DST, htonl(address));
    return route_ask(sock, &message, ret_bits);
}
