/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and the addresses that may be dialled for them.
 *
 * How it works: what the policy pins a name to is its answer. Any other name is asked for
 * upstream, both families at once and once for all who want it at the same time, and
 * what came is kept as long as it says, within bounds. SECURITY: also what says that it lasts no
 * time at all lasts a while. Who looked a name up and then connects dials what was vetted then;
 * a second answer does not come in between.
 */
#ifndef NET_LOOKUP_H
#define NET_LOOKUP_H

#include "net/hub.h"
#include "policy/decide_net.h"

enum lookup_end {
    LOOKUP_FOUND,
    LOOKUP_NO_NAME,    /* there is none of this name */
    LOOKUP_NO_ADDRESS, /* there is, but it has no address */
    LOOKUP_FAILED,     /* nobody knows */
    LOOKUP_BARRED,     /* there are addresses, and rules are against them */
    LOOKUP_ASKS,       /* there are, and somebody must be asked about one of them */
};

struct lookup_answer {
    enum lookup_end end;
    const struct host *addresses; /* vetted, with the port of the name; dial in this order */
    size_t count;
    const char *failure; /* NULL, or why there is none: a word or two */
    /* Of LOOKUP_BARRED and LOOKUP_ASKS: the rule; else it is not set. */
    struct net_decision decision;
    struct host asked; /* of LOOKUP_ASKS: the first that it is about, with the port of the name */
};

struct lookups;
struct lookup;

/* policy is borrowed. look asks for the host's resolv.conf as it is now: what comes of it comes to
 * lookups_take_resolv, some time or never. server_port is 53, but for tests. */
struct lookups *lookups_new(struct hub *hub, const struct policy *policy,
                            void (*look)(void *context), void *look_context, uint16_t server_port,
                            struct bawn_error *err);
/* Nobody is answered any more. */
void lookups_free(struct lookups *lookups);

/*
 * Looks up a name, which is no address and not localhost. With port 0 the answer tells
 * whether it can be reached at some port. done is called once, perhaps before this
 * returns: *ret_lookup is then NULL, and not written after done. It is not called
 * when this fails: -EBUSY when there are too many.
 */
int lookup_start(struct lookups *lookups, const struct host *name,
                 void (*done)(void *context, const struct lookup_answer *answer), void *context,
                 struct lookup **ret_lookup, struct bawn_error *err);
/* The same for a name that the policy itself connects to, not the command: wherever it leads.
 * SECURITY: for nothing that a client has said. */
int lookup_start_own(struct lookups *lookups, const struct host *name,
                     void (*done)(void *context, const struct lookup_answer *answer), void *context,
                     struct lookup **ret_lookup, struct bawn_error *err);
/* The same for a name that a person was asked about, and has allowed: with its port. */
int lookup_start_approved(struct lookups *lookups, const struct host *name,
                          void (*done)(void *context, const struct lookup_answer *answer),
                          void *context, struct lookup **ret_lookup, struct bawn_error *err);
/* Whether the policy says what the name's address is. */
bool lookup_is_pinned(const struct lookups *lookups, const struct host *name);
/* done is not called any more. */
void lookup_cancel(struct lookup *lookup);

/* The host's resolv.conf came. */
void lookups_take_resolv(struct lookups *lookups, const char *text);

#endif
