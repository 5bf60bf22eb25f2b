/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who else has a socket of the caller's.
 *
 * How it works: a descriptor that was copied, inherited or put in a set of epoll stays what it was
 * when another socket takes the caller's place. So the tables of the caller, its parent
 * and its children are looked at, where such a thing comes from. A socket that was sent to a
 * stranger is not found: whoever sends one that is not connected yet keeps none.
 */
#ifndef SUPERVISE_SHARERS_H
#define SUPERVISE_SHARERS_H

#include "supervise/caller.h"

/* Whether the socket of this number, which the caller has as fd, is known otherwise; also when that
 * cannot be seen. init is pid 1 inside, which has none. */
bool sharers_are(struct caller *caller, int fd, uint64_t number, pid_t init);

#endif
