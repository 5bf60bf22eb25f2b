/* SPDX-License-Identifier: Apache-2.0 */
#include "net/ip.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

enum {
    V4_BYTES = 20,
    V6_BYTES = 40,
    UDP_BYTES = 8,
    ICMP_BYTES = 8,
    HOPS = 64,
    /* ICMP: there is no such port. */
    V4_UNREACHABLE = 3,
    V4_PORT = 3,
    V6_UNREACHABLE = 1,
    V6_PORT = 4,
};

static void put_16(uint8_t *at, uint32_t number)
{
    at[0] = (uint8_t)(number >> 8);
    at[1] = (uint8_t)number;
}

/* Ones' complement, not folded yet. */
static uint32_t add_up(uint32_t sum, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (; size > 1; size -= 2, at += 2) {
        sum += (uint32_t)at[0] << 8 | at[1];
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return size ? sum + ((uint32_t)at[0] << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* What the checksum of the upper protocol counts of the lower one. */
static uint32_t add_pseudo(const struct host *from, const struct host *to, unsigned protocol,
                           size_t size)
{
    bool v4 = host_is_v4(from);
    uint32_t sum = protocol;

    sum = add_up(sum, from->address + (v4 ? 12 : 0), v4 ? 4 : 16);
    sum = add_up(sum, to->address + (v4 ? 12 : 0), v4 ? 4 : 16);
    return sum + (uint32_t)(size & 0xffff) + (uint32_t)(size >> 16);
}

/* Returns its bytes. size: of what follows. */
static size_t write_ip(const struct host *from, const struct host *to, unsigned protocol,
                       size_t size, uint8_t *out)
{
    if (host_is_v4(from)) {
        memset(out, 0, V4_BYTES);
        out[0] = 4 << 4 | V4_BYTES / 4;
        put_16(out + 2, (uint32_t)(V4_BYTES + size));
        out[8] = HOPS;
        out[9] = (uint8_t)protocol;
        memcpy(out + 12, from->address + 12, 4);
        memcpy(out + 16, to->address + 12, 4);
        put_16(out + 10, fold(add_up(0, out, V4_BYTES)));
        return V4_BYTES;
    }
    memset(out, 0, 8);
    out[0] = 6 << 4;
    put_16(out + 4, (uint32_t)size);
    out[6] = (uint8_t)protocol;
    out[7] = HOPS;
    memcpy(out + 8, from->address, 16);
    memcpy(out + 24, to->address, 16);
    return V6_BYTES;
}

size_t ip_write_heads(const struct host *from, const struct host *to, const void *payload,
                      size_t payload_bytes, uint8_t out[static IP_HEADS_MAX])
{
    size_t size = UDP_BYTES + payload_bytes;
    uint8_t *udp;
    uint16_t sum;

    if (host_is_v4(from) != host_is_v4(to) || payload_bytes > IP_DATAGRAM_MAX)
        return 0;
    udp = out + write_ip(from, to, IPPROTO_UDP, size, out);
    put_16(udp, from->port);
    put_16(udp + 2, to->port);
    put_16(udp + 4, (uint32_t)size);
    put_16(udp + 6, 0);
    sum = fold(add_up(add_up(add_pseudo(from, to, IPPROTO_UDP, size), udp, UDP_BYTES), payload,
                      payload_bytes));
    /* 0 would mean that there is none. */
    put_16(udp + 6, sum ? sum : 0xffff);
    return (size_t)(udp - out) + UDP_BYTES;
}

size_t ip_write_unreachable(const struct host *sender, const struct host *meant,
                            uint8_t out[static IP_NOTICE_MAX])
{
    bool v4 = host_is_v4(sender);
    unsigned protocol = v4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
    uint8_t original[IP_HEADS_MAX];
    size_t original_bytes = ip_write_heads(sender, meant, NULL, 0, original);
    uint8_t *icmp;
    uint32_t sum;

    if (original_bytes == 0)
        return 0;
    icmp = out + write_ip(meant, sender, protocol, ICMP_BYTES + original_bytes, out);
    memset(icmp, 0, ICMP_BYTES);
    icmp[0] = v4 ? V4_UNREACHABLE : V6_UNREACHABLE;
    icmp[1] = v4 ? V4_PORT : V6_PORT;
    memcpy(icmp + ICMP_BYTES, original, original_bytes);
    sum = v4 ? 0 : add_pseudo(meant, sender, protocol, ICMP_BYTES + original_bytes);
    put_16(icmp + 2, fold(add_up(sum, icmp, ICMP_BYTES + original_bytes)));
    return (size_t)(icmp - out) + ICMP_BYTES + original_bytes;
}
