/* SPDX-License-Identifier: Apache-2.0 */
/* A network namespace with its loopback up, made while the set-up does other things. */
#ifndef LAUNCH_NET_H
#define LAUNCH_NET_H

#include <bawn/error.h>
#include <stdint.h>
#include <sys/types.h>

struct net_maker {
    pid_t pid;
    int pidfd;
    uint32_t is_ready; /* a futex */
    int errnum;
    _Alignas(16) char stack[16384];
};

/* Each may be called once; net_join also after a failure of the work between them. */
int net_begin(struct net_maker *maker, struct bawn_error *err);
int net_join(struct net_maker *maker, struct bawn_error *err);

#endif
