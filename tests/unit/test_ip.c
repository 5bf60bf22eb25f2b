/* SPDX-License-Identifier: Apache-2.0 */
/* Packets for a raw socket. */
#include "lib/test.h"
#include "net/ip.h"

#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET_MAX = 70000, V4_HEADS = 20 + 8, V6_HEADS = 40 + 8 };

static struct host at(const char *text, uint16_t port)
{
    struct host host;

    ck_assert(host_parse_address(text, &host));
    host.port = port;
    return host;
}

static void assert_bytes(const uint8_t *got, size_t got_bytes, const uint8_t *want, size_t size)
{
    ck_assert_uint_eq(got_bytes, size);
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(got[i] == want[i], "byte %zu is %02x, not %02x", i, got[i], want[i]);
}

/* The sum by the book: bytes in pairs, an odd one with a zero, and what is carried comes back. Of
 * what has its own checksum in it, it is 0. */
static uint16_t sum_of(uint64_t sum, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum += (uint64_t)bytes[i] << (i % 2 ? 0 : 8);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)(0xffff - sum);
}

static uint16_t sum_above(const uint8_t *packet, size_t size, unsigned protocol)
{
    bool v4 = packet[0] >> 4 == 4;
    size_t head = v4 ? 20 : 40, upper = size - head;
    uint64_t sum = protocol + upper;

    for (size_t i = v4 ? 12 : 8; i < head; i++)
        sum += (uint64_t)packet[i] << (i % 2 ? 0 : 8);
    return sum_of(sum, packet + head, upper);
}

static size_t number(const uint8_t *bytes)
{
    return (size_t)bytes[0] << 8 | bytes[1];
}

START_TEST(a_known_datagram_of_ipv4)
{
    static const uint8_t want[] = {0x45, 0,    0,    33,   0,   0,  0,    0,   64, 17,
                                   0xbf, 0xc3, 203,  0,    113, 7,  127,  0,   0,  1,
                                   0,    53,   0x82, 0x35, 0,   13, 0x7e, 0x8e};
    const struct host from = at("203.0.113.7", 53), to = at("127.0.0.1", 33333);
    uint8_t packet[IP_HEADS_MAX];

    assert_bytes(packet, ip_write_heads(&from, &to, "hello", 5, packet), want, sizeof(want));
}
END_TEST

START_TEST(a_known_datagram_of_ipv6)
{
    static const uint8_t want[] = {0x60, 0, 0, 0, 0, 11, 17, 64, 0x20, 1,  0x0d, 0xb8,
                                   0,    0, 0, 0, 0, 0,  0,  0,  0,    0,  0,    1,
                                   0,    0, 0, 0, 0, 0,  0,  0,  0,    0,  0,    0,
                                   0,    0, 0, 1, 0, 7,  0,  9,  0,    11, 0x0d, 0xab};
    const struct host from = at("2001:db8::1", 7), to = at("::1", 9);
    uint8_t packet[IP_HEADS_MAX];

    assert_bytes(packet, ip_write_heads(&from, &to, "abc", 3, packet), want, sizeof(want));
}
END_TEST

/* What a socket that is asked takes for itself. */
START_TEST(nobody_is_there_in_a_known_packet)
{
    const struct host client = at("127.0.0.1", 40000), meant = at("203.0.113.7", 9);
    const struct host client6 = at("::1", 40000), meant6 = at("2001:db8::7", 9);
    uint8_t packet[IP_NOTICE_MAX];
    size_t size = ip_write_unreachable(&client, &meant, packet);

    ck_assert_uint_eq(size, 20 + 8 + V4_HEADS);
    ck_assert_uint_eq(number(packet + 2), size);
    ck_assert_uint_eq(packet[9], IPPROTO_ICMP);
    ck_assert_mem_eq(packet + 12, "\xcb\0\x71\7\x7f\0\0\1", 8);
    ck_assert_mem_eq(packet + 20, "\3\3", 2);
    ck_assert_uint_eq(sum_of(0, packet, 20), 0);
    ck_assert_uint_eq(sum_of(0, packet + 20, size - 20), 0);
    /* What was sent is inside, the other way round. */
    ck_assert_mem_eq(packet + 28 + 12, "\x7f\0\0\1\xcb\0\x71\7", 8);
    ck_assert_uint_eq(number(packet + 48), 40000);
    ck_assert_uint_eq(number(packet + 50), 9);

    size = ip_write_unreachable(&client6, &meant6, packet);
    ck_assert_uint_eq(size, 40 + 8 + V6_HEADS);
    ck_assert_uint_eq(number(packet + 4), size - 40);
    ck_assert_uint_eq(packet[6], IPPROTO_ICMPV6);
    ck_assert_mem_eq(packet + 40, "\1\4", 2);
    ck_assert_uint_eq(sum_above(packet, size, IPPROTO_ICMPV6), 0);
    ck_assert_uint_eq(number(packet + 48 + 40), 40000);
}
END_TEST

START_TEST(families_do_not_mix_and_sizes_end)
{
    const struct host v4 = at("127.0.0.1", 1), v6 = at("::1", 1);
    static const uint8_t payload[PACKET_MAX];
    uint8_t packet[IP_NOTICE_MAX];

    ck_assert_uint_eq(ip_write_heads(&v4, &v6, "", 0, packet), 0);
    ck_assert_uint_eq(ip_write_heads(&v6, &v4, "", 0, packet), 0);
    ck_assert_uint_eq(ip_write_unreachable(&v4, &v6, packet), 0);
    ck_assert_uint_eq(ip_write_heads(&v4, &v4, payload, 65535 - V4_HEADS, packet), V4_HEADS);
    ck_assert_uint_eq(number(packet + 2), 65535);
    ck_assert_uint_eq(ip_write_heads(&v4, &v4, payload, 65536 - V4_HEADS, packet), 0);
    ck_assert_uint_eq(ip_write_heads(&v6, &v6, payload, IP_DATAGRAM_MAX, packet), V6_HEADS);
    ck_assert_uint_eq(ip_write_heads(&v6, &v6, payload, PACKET_MAX, packet), 0);
}
END_TEST

/* 0 would say that there is no checksum. */
START_TEST(a_sum_of_nothing_is_written_as_ones)
{
    const struct host from = at("203.0.113.7", 53), to = at("127.0.0.1", 33333);
    uint8_t packet[IP_HEADS_MAX], payload[2] = {0};

    ck_assert_uint_eq(ip_write_heads(&from, &to, payload, 2, packet), V4_HEADS);
    memcpy(payload, packet + 26, 2);
    ck_assert_uint_eq(ip_write_heads(&from, &to, payload, 2, packet), V4_HEADS);
    ck_assert_uint_eq(number(packet + 26), 0xffff);
}
END_TEST

static void random_host(struct host *host, bool v4)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    *host = (struct host){.kind = HOST_ADDRESS, .port = (uint16_t)random()};
    for (size_t i = 0; i < 16; i++)
        host->address[i] = (unsigned char)(random() % 4 ? random() : 0xff);
    if (v4)
        memcpy(host->address, mapped, sizeof(mapped));
    else
        host->address[0] = 0x20;
}

START_TEST(checksums_hold_for_any_datagram)
{
    static uint8_t packet[PACKET_MAX], payload[PACKET_MAX];

    srandom(1);
    for (unsigned i = 0; i < 3000; i++) {
        bool v4 = random() % 2;
        size_t size = (size_t)(random() % (i % 100 ? 200 : IP_DATAGRAM_MAX));
        uint8_t heads[IP_HEADS_MAX], notice[IP_NOTICE_MAX];
        struct host from, to;
        size_t head_bytes, notice_bytes;

        random_host(&from, v4);
        random_host(&to, v4);
        for (size_t at_byte = 0; at_byte < size; at_byte++)
            payload[at_byte] = (uint8_t)(i % 3 ? random() : 0xff);
        head_bytes = ip_write_heads(&from, &to, payload, size, heads);
        ck_assert_uint_eq(head_bytes, v4 ? V4_HEADS : V6_HEADS);
        memcpy(packet, heads, head_bytes);
        memcpy(packet + head_bytes, payload, size);
        ck_assert_uint_eq(sum_above(packet, head_bytes + size, IPPROTO_UDP), 0);
        ck_assert_uint_ne(number(packet + head_bytes - 2), 0);
        ck_assert_uint_eq(number(packet + head_bytes - 4), size + 8);
        if (v4)
            ck_assert_uint_eq(sum_of(0, packet, 20), 0);
        notice_bytes = ip_write_unreachable(&from, &to, notice);
        ck_assert_uint_eq(v4 ? sum_of(0, notice + 20, notice_bytes - 20)
                             : sum_above(notice, notice_bytes, IPPROTO_ICMPV6),
                          0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ip");
    TCase *tests = tcase_create("ip");

    tcase_add_test(tests, a_known_datagram_of_ipv4);
    tcase_add_test(tests, a_known_datagram_of_ipv6);
    tcase_add_test(tests, nobody_is_there_in_a_known_packet);
    tcase_add_test(tests, families_do_not_mix_and_sizes_end);
    tcase_add_test(tests, a_sum_of_nothing_is_written_as_ones);
    tcase_add_test(tests, checksums_hold_for_any_datagram);
    suite_add_tcase(suite, tests);
    return test_run(suite, "ip");
}
