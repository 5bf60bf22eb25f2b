/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Microseconds of one that nobody sets. */
static inline int64_t clock_usec(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The same in milliseconds. */
static inline int64_t clock_ms(void)
{
    return clock_usec() / 1000;
}

/* The time of day, as file systems stamp it. */
static inline struct timespec clock_wall(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

#endif
