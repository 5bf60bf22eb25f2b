/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of TCP that are made for callers.
 *
 * How it works: bawn-net is asked about each that leaves the sandbox's loopback (struct net_wish).
 * It knows the name behind an address and the rules. Either the caller's own socket is
 * connected, which leads to bawn-net as ever; or a socket of the host's comes, already dialled,
 * and takes the place of the caller's. Whoever waits waits here, and holds nobody up.
 *
 * Relayed is what a second descriptor or process knows, or a set of epoll: those would keep the
 * old socket. Also what is bound; what is asked for while too many wait; and all when nobody
 * answers. SECURITY: what is relayed is judged by bawn-net, so this is never wrong.
 * A caller of epoll that adds the socket while its call is held, or copies it, is its own enemy.
 */
#ifndef SUPERVISE_DIALS_H
#define SUPERVISE_DIALS_H

#include "supervise/caller.h"
#include "supervise/supervise.h"

#include <poll.h>
#include <sys/socket.h>

enum { DIALS_MAX = 256 };

struct dial {
    bool is_asked; /* of bawn-net; else a socket is waited for */
    uint64_t call; /* id of the notification */
    pid_t tid;
    int at;     /* the caller's descriptor */
    int inside; /* its socket; owned */
    int host;   /* the host's, which takes its place; owned, or -EBADF */
    bool waits; /* the caller does */
    bool is_cloexec;
    struct sockaddr_storage to, server; /* where the caller meant to go; and what was dialled */
    socklen_t to_bytes;
    int64_t until_ms; /* 0: for as long as it takes */
    bool is_timed;    /* by the caller: then it is told so */
    int status_fd;    /* the caller's, in /proc; -EBADF: not needed yet */
    unsigned seen;    /* of wait_interruption */
};

struct dials {
    int notify_fd;           /* borrowed */
    int sock;                /* to bawn-net, borrowed; -EBADF: nobody can be asked */
    uint64_t net;            /* the sandbox's: see handed_net */
    pid_t init;              /* pid 1 inside */
    struct callers *callers; /* borrowed */
    struct dial *items;
    size_t count;
    int64_t ticked_ms; /* when all were looked at */
};

void dials_init(struct dials *dials, const struct supervisor_options *options,
                struct callers *callers);
void dials_done(struct dials *dials);

/* A call to connect; what is in it is the dials' own when *ret_kept says that it is answered later.
 * Else returns what it returns. */
int dials_connect(struct dials *dials, struct dial *dial, bool *ret_kept);
/* The same for a socket of the host's that the caller has already. */
int dials_wait(struct dials *dials, struct dial *dial, bool *ret_kept);

/* What to poll for, at most DIALS_MAX + 1, and for how long; and what to do after it. */
size_t dials_await(const struct dials *dials, struct pollfd *ret_polled, int *ret_timeout_ms);
void dials_go_on(struct dials *dials, const struct pollfd *polled, size_t count);

#endif
