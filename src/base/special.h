/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that are not public, once for all who tell them apart; where one range is in another,
 * it comes first. Those for documentation are like public ones: nobody has them. */
#ifndef BASE_SPECIAL_H
#define BASE_SPECIAL_H

/* RANGE(a, b, c, d, bits, what) */
#define SPECIAL_V4(RANGE)                                                                          \
    RANGE(0, 0, 0, 0, 8, "unspecified")                                                            \
    RANGE(127, 0, 0, 0, 8, "loopback")                                                             \
    RANGE(169, 254, 0, 0, 16, "link-local (cloud metadata lives there)")                           \
    RANGE(10, 0, 0, 0, 8, "private")                                                               \
    RANGE(172, 16, 0, 0, 12, "private")                                                            \
    RANGE(192, 168, 0, 0, 16, "private")                                                           \
    RANGE(100, 64, 0, 0, 10, "carrier-grade NAT")                                                  \
    RANGE(192, 0, 0, 0, 24, "protocol assignments")                                                \
    RANGE(198, 18, 0, 0, 15, "benchmarking")                                                       \
    RANGE(224, 0, 0, 0, 4, "multicast")                                                            \
    RANGE(240, 0, 0, 0, 4, "reserved")

/* RANGE(a, b, c, d, e, f, g, h, bits, what): the eight numbers of an IPv6 address. None but
 * 2000::/3 are given out. IPv4-mapped ones (::ffff:0:0/96) are among the reserved ones here; who
 * takes them for IPv4 looks there. */
#define SPECIAL_V6(RANGE)                                                                          \
    RANGE(0, 0, 0, 0, 0, 0, 0, 0, 128, "unspecified")                                              \
    RANGE(0, 0, 0, 0, 0, 0, 0, 1, 128, "loopback")                                                 \
    RANGE(0, 0, 0, 0, 0, 0, 0, 0, 96, "IPv4-compatible")                                           \
    RANGE(0, 0, 0, 0, 0xffff, 0, 0, 0, 96, "translated IPv4")                                      \
    RANGE(0x64, 0xff9b, 0, 0, 0, 0, 0, 0, 96, "translated IPv4")                                   \
    RANGE(0x64, 0xff9b, 1, 0, 0, 0, 0, 0, 48, "translated IPv4")                                   \
    RANGE(0x2002, 0, 0, 0, 0, 0, 0, 0, 16, "6to4")                                                 \
    RANGE(0x2001, 0, 0, 0, 0, 0, 0, 0, 32, "Teredo")                                               \
    RANGE(0x2001, 0, 0, 0, 0, 0, 0, 0, 23, "protocol assignments")                                 \
    RANGE(0xfc00, 0, 0, 0, 0, 0, 0, 0, 7, "private")                                               \
    RANGE(0xfe80, 0, 0, 0, 0, 0, 0, 0, 10, "link-local")                                           \
    RANGE(0xfec0, 0, 0, 0, 0, 0, 0, 0, 10, "site-local")                                           \
    RANGE(0xff00, 0, 0, 0, 0, 0, 0, 0, 8, "multicast")                                             \
    RANGE(0, 0, 0, 0, 0, 0, 0, 0, 3, "reserved")                                                   \
    RANGE(0x4000, 0, 0, 0, 0, 0, 0, 0, 2, "reserved")                                              \
    RANGE(0x8000, 0, 0, 0, 0, 0, 0, 0, 1, "reserved")

/* Such an address as bytes. */
#define SPECIAL_TWO(number) (unsigned char)((number) >> 8), (unsigned char)((number)&0xff)
#define SPECIAL_V6_BYTES(a, b, c, d, e, f, g, h)                                                   \
    {                                                                                              \
        SPECIAL_TWO(a), SPECIAL_TWO(b), SPECIAL_TWO(c), SPECIAL_TWO(d), SPECIAL_TWO(e),            \
            SPECIAL_TWO(f), SPECIAL_TWO(g), SPECIAL_TWO(h)                                         \
    }

#endif
