/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a sandbox some time after its time is up, should the launcher not have
 * done it: a process of its own, for the launcher makes calls for the command,
 * and one of them may wait as long as somebody inside likes (a file's lock) or
 * for good (a file system that hangs).
 */
#ifndef SESSION_DEADLINE_H
#define SESSION_DEADLINE_H

#include <bawn/error.h>
#include <stdint.h>
#include <sys/types.h>

/* pidfd: of the sandbox's pid 1. *ret_pid is for deadline_end. */
int deadline_start(int pidfd, uint64_t timeout_ms, pid_t *ret_pid, struct bawn_error *err);
/* When the sandbox is gone: leaves no zombie behind. 0: there is none. */
void deadline_end(pid_t pid);

#endif
