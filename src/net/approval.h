/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that a person is asked about (wire/ask.h).
 *
 * How it works: a request is embedded in whoever waits. All of one program that want the same host
 * and port at the same time wait for one question, which the launcher hears as EVENT_ASKED and
 * answers with NET_VERDICT. An answer for the session is kept here, so many as there is room for:
 * the launcher still knows those that were forgotten. A no for once is kept for a moment, so that
 * who tries again and again does not ask again and again. A question that nobody waits for any more
 * is given up. SECURITY: an answer is for the name or address and the port that the question told,
 * and for nothing that the rules deny. No answer in time is no.
 */
#ifndef NET_APPROVAL_H
#define NET_APPROVAL_H

#include "net/hub.h"
#include "net/table.h"
#include "net/tally.h"
#include "policy/decide_net.h"
#include "wire/ask.h"
#include "wire/event.h"
#include "wire/net.h"

enum {
    APPROVALS_WAITING = 64,   /* different questions; further ones are not asked */
    APPROVALS_A_SECOND = 64,  /* further ones are asked in the next */
    APPROVALS_KEPT = 512,     /* answers for the session */
    APPROVALS_NO_MS = 1000,   /* so long the same is not asked again after a no */
    APPROVALS_GRACE_MS = 5000 /* after the launcher's patience: its answer was lost */
};

struct approval {
    bool is_allowed;
    enum ask_end by; /* whose answer it is, or why there is none */
};

struct approval_kept {
    struct table_entry entry; /* first of all */
    struct approval answer;
    int64_t until_ms; /* 0: for the session */
    char host[TALLY_HOST_BYTES];
};

struct approval_question;

struct approvals {
    struct hub *hub;
    struct event_sender *events;
    const struct policy *policy;
    int patience_ms; /* of the launcher */
    uint64_t last;   /* number of the last question */
    int64_t second_ms;
    unsigned told; /* in that second */
    struct approval_question *first;
    unsigned question_count;
    size_t request_count;
    struct table kept;
    struct approval_kept answers[APPROVALS_KEPT];
};

/* Embedded in its owner. */
struct approval_request {
    struct approval_question *question; /* NULL: nothing is asked */
    /* Called once, and not before approval_ask has returned. */
    void (*done)(void *context, const struct approval *answer);
    void *context;
    struct approval_request *next, **link;
};

/* What the question says. */
struct approval_asked {
    const struct host *host; /* with its port */
    const struct net_decision *decision;
    const char *way;              /* "http", ...: a text that stays */
    const struct net_answer *who; /* NULL: not known */
};

/* All are borrowed. ask_seconds: how long the launcher waits for somebody to answer. */
int approvals_init(struct approvals *approvals, struct hub *hub, const struct policy *policy,
                   struct event_sender *events, uint32_t ask_seconds, struct bawn_error *err);
/* Nobody is told any more. */
void approvals_done(struct approvals *approvals);

/* The answer that holds now, if there is one. */
bool approval_find(struct approvals *approvals, const struct host *host,
                   struct approval *ret_answer);
/* Whether somebody has been asked about the host, whoever wants it. */
bool approval_is_asked(const struct approvals *approvals, const struct host *host);
/* done and context are set. False: too many are asked about, and nothing waits. */
bool approval_ask(struct approvals *approvals, struct approval_request *request,
                  const struct approval_asked *asked);
/* Nobody is told any more. Also when nothing is asked. */
void approval_cancel(struct approval_request *request);

/* A packet of the launcher's of the kind NET_VERDICT. */
void approvals_take(struct approvals *approvals, const void *packet, size_t size);

#endif
