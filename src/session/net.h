/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of a session, where it is filtered.
 *
 * How it works: the launcher holds the listeners that the set-up made inside. When
 * somebody comes to one of them it starts the program bawn-net, which has
 * them from then on, and looks after it. SECURITY: a bawn-net that ends leaves
 * clients unanswered, never free: there is no other way out of the namespace. The next
 * client starts another one, some times; then the launcher gives the listeners
 * up, so that clients are refused instead of waiting.
 */
#ifndef SESSION_NET_H
#define SESSION_NET_H

#include "base/loop.h"
#include "kernel/steer.h"
#include "session/aide.h"
#include "session/clients.h"
#include "wire/net.h"

#include <stddef.h>

struct session;

enum { NET_CALLERS = 8 };

struct net {
    struct aide aide;
    unsigned starts;           /* how often bawn-net was */
    struct bawn_error failure; /* the last that it told */
    int control_fd;            /* to bawn-net; -EBADF: none runs */
    struct loop_source control_source;
    struct loop_source sources[STEER_LISTENERS]; /* while none runs */
    int published[LIMIT_PORTS];                  /* listeners of the host's for ports inside */
    unsigned published_count;
    struct loop_source published_sources[LIMIT_PORTS]; /* while none runs */
    struct aide door;                                  /* makes sockets inside, for them */
    int dial_fd;   /* handovers, the end of who makes calls, until it has it; or -EBADF */
    int wishes_fd; /* bawn-net's end, kept for the next one; or -EBADF */
    struct loop_source wishes_source; /* while none runs */
    uint64_t number;                  /* of the network inside: see supervise/handed.h */
    size_t resolv_size;
    struct net_message resolv; /* the host's resolv.conf, as it was told last */
    struct clients clients;
    /* Command lines of those that were asked for last: they wait then, and may be gone when what
     * became of them is told. */
    struct net_caller {
        int32_t pid;
        char comm[NET_COMM_BYTES];
        char argv[EVENT_ARGV_BYTES];
    } callers[NET_CALLERS];
    unsigned next_caller;
};

/* Before the launch: the ports that are published. */
int session_listen(struct session *session, struct bawn_error *err);
/* When the sandbox is there. */
int session_open_net(struct session *session, struct bawn_error *err);
/* The command line of a client, as event_read_argv has it; NULL: it is not known. */
const char *net_argv(const struct net *net, int32_t pid, const char *comm);
/* bawn-net says what it has not said yet, and ends. */
void session_close_net(struct session *session);

/* session/door.c: a process in the sandbox's network namespace; *ret_fd is the socket to it. */
int door_start(struct session *session, int *ret_fd, struct bawn_error *err);

#endif
