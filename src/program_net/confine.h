/* SPDX-License-Identifier: Apache-2.0 */
/* What bawn-net gives up before it hears anybody. */
#ifndef PROGRAM_NET_CONFINE_H
#define PROGRAM_NET_CONFINE_H

#include <bawn/error.h>

/*
 * confine_net - from now on it can talk, and nothing else
 *
 * Holds:    the descriptors that it was started with, and what it has made of them.
 * Must:     keep to memory, sockets of IP, pipes and epoll.
 * Mustn't:  open a file, start a program or a process, signal or look into another one.
 */
int confine_net(struct bawn_error *err);

#endif
