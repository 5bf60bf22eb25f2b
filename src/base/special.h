/* SPDX-License-Identifier: Apache-2.0 */
/* IPv4 addresses that are not public, once for all who tell them apart: RANGE(a, b, c, d, bits,
 * what). */
#ifndef BASE_SPECIAL_H
#define BASE_SPECIAL_H

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

#endif
