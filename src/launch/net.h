/* SPDX-License-Identifier: Apache-2.0 */
/* A network namespace with its loopback up, and the ids and counts of the user namespace, made
 * while the set-up does other things. */
#ifndef LAUNCH_NET_H
#define LAUNCH_NET_H

#include "kernel/steer.h"
#include "wire/image.h"

#include <bawn/error.h>
#include <stdint.h>
#include <sys/types.h>

struct net_maker {
    pid_t pid;
    int sock;     /* in the namespace */
    int spare_fd; /* see stage_setup: written to when the maker is all but done */
    const struct image *image;
    uint32_t has_ids;  /* a futex */
    uint32_t is_ready; /* another */
    int ids_errnum, errnum, loopback_errnum, steer_errnum, counts_errnum;
    struct steer
        steer; /* with IMAGE_STEERS, IMAGE_VETH or IMAGE_ENGINE, and after net_end: what it made */
};

/* Each is called once, and the maker stays where it is until after net_end. SECURITY: before that
 * somebody with all capabilities shares our memory. */
int net_begin(struct net_maker *maker, const struct image *image, int spare_fd,
              struct bawn_error *err);
/* Where they are the caller's own: until they are mapped. 0, or a negative errno. */
int net_await_ids(struct net_maker *maker);
int net_join(struct net_maker *maker, struct bawn_error *err);
int net_end(struct net_maker *maker, struct bawn_error *err);
/* A core is free again: that of the maker or, where there is none, from the beginning. */
void net_tell_spare(int spare_fd);

#endif
