/* SPDX-License-Identifier: Apache-2.0 */
/* What tells a process from a later one with the same number. */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* When a process started, in ticks since boot; pid 0: the calling one. 0: there is none of that
 * number, or none that can be seen. */
uint64_t process_start(pid_t pid);

#endif
