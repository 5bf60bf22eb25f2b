/* SPDX-License-Identifier: Apache-2.0 */
/* What tells a process from a later one with the same number, and how a helper withdraws. */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When a process started, in ticks since boot; pid 0: the calling one. 0: there is none of that
 * number, or none that can be seen. */
uint64_t process_start(pid_t pid);

/* In how many pid namespaces a process has a number, from that of /proc down to its own; pid 0: the
 * calling one. 0: as above. */
unsigned process_depth(pid_t pid);
/* Whether it is as many for ourselves. */
bool process_is_at(unsigned depth);

/* Who is at the other end of a socket, if it is of our user or root's: a pidfd, and its number.
 * What was found out by that number counts only if the process is still there afterwards. */
int process_peer(int sock, pid_t *ret_pid);
bool process_is_there(int pidfd);

/* For a child that is to outlive signals, and to keep nothing open that somebody waits for: the
 * descriptors, all above count, become 0, 1...; a session and a name of its own. */
bool process_withdraw(const int *fds, unsigned count, const char *name);

#endif
