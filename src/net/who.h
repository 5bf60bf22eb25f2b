/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program has the other end of a connection: asked of the launcher, who can look.
 *
 * How it works: a request is embedded in whoever asks, so that asking takes no memory. The
 * launcher answers in order, and may leave a question out: then an answer to a
 * later one is the answer to this one too, which is that nobody knows. So it is when no
 * answer comes in time. As long as a question waits the client has to be left as
 * it is: the kernel tells nothing of a socket that was reset.
 */
#ifndef NET_WHO_H
#define NET_WHO_H

#include "net/hub.h"
#include "policy/decide_net.h"
#include "wire/net.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct image;

enum { WHO_MS = 1000 };

struct who {
    struct hub *hub;
    int control_fd;
    uint64_t last;                   /* number of the last question */
    struct who_request *first, *end; /* in the order of the questions */
    const char *programs[NET_PROGRAMS];
    unsigned program_count; /* 0: no rule is for one program */
};

/* Embedded in its owner. */
struct who_request {
    struct who *who; /* NULL: nothing is asked */
    /* Called once, and not before who_ask has returned. answer->pid 0: nobody knows. */
    void (*done)(void *context, const struct net_answer *answer);
    void *context;
    uint64_t number;
    struct who_request *next, *before;
    struct hub_timer timer;
};

/* Strings are the image's. */
void who_init(struct who *who, struct hub *hub, int control_fd, const struct image *image);

/* The client of a connection that was accepted; done and context are set. wants_programs: it will
 * be asked by which rules for one program it goes. */
void who_ask(struct who *who, struct who_request *request, int accepted, bool wants_programs);
/* The same of ends that are known: the sender of a datagram. NULL: they are not. */
void who_ask_ends(struct who *who, struct who_request *request, const struct net_ends *ends,
                  bool wants_programs);
/* Fills one end of struct net_ends. False: it is of neither family. */
bool who_put_client(struct net_ends *ends, const struct sockaddr_storage *address);
bool who_put_server(struct net_ends *ends, const struct sockaddr_storage *address);
/* Nobody is told any more. Also when nothing is asked. */
void who_cancel(struct who_request *request);

/* A packet of the launcher's of the kind NET_WHO. */
void who_take(struct who *who, const void *packet, size_t size);

/* For decide_net_by: the programs that an answer tells of. */
struct who_programs {
    const struct who *who;
    uint64_t programs;
};
bool who_is_by(void *programs, const struct net_rule *rule);

#endif
