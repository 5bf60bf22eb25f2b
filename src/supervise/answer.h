/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to notifications. A caller that is gone needs none: that is no failure. */
#ifndef SUPERVISE_ANSWER_H
#define SUPERVISE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

struct core;

/* musl takes the number of a request as an int. */
static inline int answer_request(int notify_fd, unsigned long number, void *argument)
{
#ifdef __GLIBC__
    return ioctl(notify_fd, number, argument);
#else
    return ioctl(notify_fd, (int)number, argument);
#endif
}

/* Callers and the supervisor take turns on one core, where the kernel can. */
void answer_here(int notify_fd, bool is_here);
bool answer_is_wanted(int notify_fd, uint64_t id);
/* result: what the call returns, or a negative errno. */
void answer_value(int notify_fd, uint64_t id, int64_t result);
/* SECURITY: the call is made after all, by the caller, with whatever its descriptors and its memory
 * are by then. Only where the kernel holds by itself what must be held. */
void answer_continue(int notify_fd, uint64_t id);
/*
 * KERNEL: a signal while a caller takes a descriptor ends the ioctl but not the answer, and the
 * call then returns 0. So who hands one over has all signals blocked (supervisor_new); what cannot
 * be held off (SIGSTOP) meets a window of microseconds.
 */
/* Puts a descriptor in the place of one of the caller's; the call goes on waiting. 0, or a negative
 * errno. */
int answer_put_fd(int notify_fd, uint64_t id, int fd, int at, bool is_cloexec);
/* Puts a descriptor in place and closes it here; when that cannot be, the call fails with the
 * reason. core: of the supervisor, for the thread tid; or NULL. */
void answer_fd(int notify_fd, uint64_t id, int *fd, bool is_cloexec, struct core *core, pid_t tid);

#endif
