/* SPDX-License-Identifier: Apache-2.0 */
/* The limits that each process carries with it. */
#ifndef KERNEL_RLIMIT_H
#define KERNEL_RLIMIT_H

#include <bawn/error.h>
#include <stdint.h>

/* 0: as it is. */
struct rlimit_values {
    uint64_t open_files;
    uint64_t file_size;
    /* Where no control group holds pids. Counts the processes of this user in its user namespace:
     * set it inside one. */
    uint64_t processes;
};

/* Sets both the soft and the hard limit; in a user namespace what is lower already stays so. Core
 * files are off, whatever the values are. Address space is never limited: language runtimes reserve
 * terabytes. Safe between clone and exec. */
int rlimit_apply(const struct rlimit_values *values, struct bawn_error *err);

#endif
