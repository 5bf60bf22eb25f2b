/* SPDX-License-Identifier: Apache-2.0 */
#include "net/lookup.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "net/table.h"
#include "net/upstream.h"
#include "net/vet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KNOWN_MAX = 4096,
    WAITING_MAX = 32768,
    LASTS_MIN_S = 5, /* as long as a failure does */
    LASTS_MAX_S = 300,
    LOOK_EVERY_MS = 5000,
};

/* A name that is being asked for, or what came of it. */
struct known {
    struct table_entry entry;
    struct lookups *lookups;
    struct lookup *first, *last; /* who waits */
    bool is_asked;
    unsigned tellings; /* its answer is being told: it stays */
    int64_t until_ms;
    enum lookup_end end;
    const char *failure;
    uint8_t (*addresses)[16];
    size_t count;
    char *aliases; /* NULL: it is the alias of none */
    size_t alias_bytes;
    char name[];
};

struct wish {
    struct host name;
    bool is_own; /* the policy's own: see lookup_start_own */
    bool is_approved;
    void (*done)(void *context, const struct lookup_answer *answer);
    void *context;
};

struct lookup {
    struct known *known;
    struct wish wish;
    struct lookup **own; /* set to NULL when it is done; NULL: nobody looks */
    struct lookup *before, *after;
};

struct lookups {
    struct upstream *upstream;
    const struct policy *policy;
    void (*look)(void *context);
    void *look_context;
    struct resolv_conf conf;
    int64_t looked_ms;
    struct table known;
    size_t waiting;
};

struct lookups *lookups_new(struct hub *hub, const struct policy *policy,
                            void (*look)(void *context), void *look_context, uint16_t server_port,
                            struct bawn_error *err)
{
    struct lookups *lookups = calloc(1, sizeof(*lookups));

    if (!lookups) {
        (void)error_memory(err);
        return NULL;
    }
    *lookups = (struct lookups){.policy = policy, .look = look, .look_context = look_context};
    resolv_conf_read("", &lookups->conf);
    lookups->looked_ms = clock_ms();
    lookups->upstream = upstream_new(hub, server_port, err);
    if (!lookups->upstream || table_init(&lookups->known, KNOWN_MAX, err) < 0) {
        lookups_free(lookups);
        return NULL;
    }
    return lookups;
}

static void forget(struct lookups *lookups, struct known *known)
{
    table_remove(&lookups->known, &known->entry);
    free(known->addresses);
    free(known->aliases);
    free(known);
}

static void unlink_lookup(struct lookup *lookup)
{
    struct known *known = lookup->known;

    *(lookup->before ? &lookup->before->after : &known->first) = lookup->after;
    *(lookup->after ? &lookup->after->before : &known->last) = lookup->before;
    known->lookups->waiting--;
}

void lookup_cancel(struct lookup *lookup)
{
    unlink_lookup(lookup);
    free(lookup);
}

void lookups_free(struct lookups *lookups)
{
    struct known *known;

    if (!lookups)
        return;
    upstream_free(lookups->upstream);
    while ((known = (struct known *)lookups->known.oldest)) {
        while (known->first)
            lookup_cancel(known->first);
        forget(lookups, known);
    }
    table_done(&lookups->known);
    free(lookups);
}

void lookups_take_resolv(struct lookups *lookups, const char *text)
{
    struct resolv_conf conf;

    lookups->looked_ms = clock_ms();
    resolv_conf_read(text, &conf);
    if (resolv_conf_is_same(&conf, &lookups->conf))
        return;
    lookups->conf = conf;
    upstream_set(lookups->upstream, &conf);
    /* Others may know what these did not. */
    for (struct table_entry *entry = lookups->known.oldest; entry; entry = entry->newer) {
        struct known *known = (struct known *)entry;

        if (known->count == 0)
            known->until_ms = 0;
    }
}

static void tell(const struct lookups *lookups, const struct wish *wish, const struct known *known)
{
    const uint8_t(*addresses)[16] = (const uint8_t(*)[16])known->addresses;
    struct lookup_answer answer = {.end = known->end, .failure = known->failure};
    autofree struct host *allowed = known->count ? calloc(known->count, sizeof(*allowed)) : NULL;

    if (known->count > 0 && !allowed) {
        answer.end = LOOKUP_FAILED;
        answer.failure = "out of memory";
    } else if (known->aliases && !wish->is_own &&
               vet_aliases(lookups->policy, &wish->name, known->aliases, known->alias_bytes,
                           &answer.decision)) {
        answer.end = LOOKUP_BARRED;
        answer.failure = "alias not allowed";
    } else if (known->count > 0) {
        answer.count =
            wish->is_own ? vet_none(addresses, known->count, wish->name.port, allowed)
                         : vet_addresses(lookups->policy, &wish->name, wish->is_approved, addresses,
                                         known->count, allowed, &answer.asked, &answer.decision);
        answer.addresses = allowed;
        answer.end = answer.count                           ? LOOKUP_FOUND
                     : answer.decision.access == ACCESS_ASK ? LOOKUP_ASKS
                                                            : LOOKUP_BARRED;
        answer.failure = answer.count ? NULL : "address not allowed";
    }
    wish->done(wish->context, &answer);
}

/* Who is told may look up others, and cancel those that wait here. */
static void tell_all(struct known *known)
{
    struct lookup *lookup;

    known->tellings++;
    while ((lookup = known->first)) {
        unlink_lookup(lookup);
        if (lookup->own)
            *lookup->own = NULL;
        tell(known->lookups, &lookup->wish, known);
        free(lookup);
    }
    known->tellings--;
}

static void keep(struct known *known, const struct upstream_answer *answer)
{
    static const enum lookup_end ends[] = {[UPSTREAM_FOUND] = LOOKUP_FOUND,
                                           [UPSTREAM_NO_NAME] = LOOKUP_NO_NAME,
                                           [UPSTREAM_NO_ADDRESS] = LOOKUP_NO_ADDRESS,
                                           [UPSTREAM_FAILED] = LOOKUP_FAILED};
    unsigned lasts = answer->lasts_seconds;

    lasts = lasts < LASTS_MIN_S ? LASTS_MIN_S : lasts > LASTS_MAX_S ? LASTS_MAX_S : lasts;
    known->until_ms = clock_ms() + (int64_t)lasts * 1000;
    known->end = ends[answer->end];
    known->failure = answer->failure;
    if (answer->count == 0)
        return;
    known->addresses = malloc(answer->count * sizeof(*known->addresses));
    if (!known->addresses) {
        known->end = LOOKUP_FAILED;
        known->failure = "out of memory";
        return;
    }
    memcpy(known->addresses, answer->addresses, answer->count * sizeof(*known->addresses));
    known->count = answer->count;
}

/* SECURITY: what could not be kept could not be vetted. */
static void keep_aliases(struct known *known, const struct upstream_answer *answer)
{
    if (known->count == 0 || answer->alias_bytes == 0)
        return;
    known->aliases = malloc(answer->alias_bytes);
    if (!known->aliases) {
        known->count = 0;
        known->end = LOOKUP_FAILED;
        known->failure = "out of memory";
        return;
    }
    memcpy(known->aliases, answer->aliases, answer->alias_bytes);
    known->alias_bytes = answer->alias_bytes;
}

static void on_answer(void *context, const struct upstream_answer *answer)
{
    struct known *known = context;

    known->is_asked = false;
    keep(known, answer);
    keep_aliases(known, answer);
    tell_all(known);
}

/* SECURITY: a flood of names makes others be forgotten, and no more than that. */
static bool make_room(struct lookups *lookups)
{
    struct table_entry *entry = lookups->known.oldest;

    if (lookups->known.count < KNOWN_MAX)
        return true;
    while (entry && (((struct known *)entry)->is_asked || ((struct known *)entry)->tellings > 0))
        entry = entry->newer;
    if (!entry)
        return false;
    forget(lookups, (struct known *)entry);
    return true;
}

static struct known *add_known(struct lookups *lookups, const char *name)
{
    size_t bytes = strlen(name) + 1;
    struct known *known = make_room(lookups) ? calloc(1, sizeof(*known) + bytes) : NULL;

    if (!known)
        return NULL;
    memcpy(known->name, name, bytes);
    known->entry.name = known->name;
    known->lookups = lookups;
    table_put(&lookups->known, &known->entry);
    return known;
}

/* Asks for a name that is not known, or not any more. */
static int ask(struct known *known, struct bawn_error *err)
{
    struct lookups *lookups = known->lookups;
    int64_t now = clock_ms();
    int r;

    if (now - lookups->looked_ms >= LOOK_EVERY_MS) {
        lookups->looked_ms = now;
        lookups->look(lookups->look_context);
    }
    free(take_ptr(&known->addresses));
    free(take_ptr(&known->aliases));
    known->count = 0;
    known->until_ms = 0;
    known->is_asked = true;
    r = upstream_ask(lookups->upstream, known->name, on_answer, known, err);
    if (r < 0)
        known->is_asked = false;
    return r;
}

static int wait_for(struct known *known, const struct wish *wish, struct lookup **ret_lookup,
                    struct bawn_error *err)
{
    struct lookups *lookups = known->lookups;
    struct lookup *lookup = lookups->waiting < WAITING_MAX ? calloc(1, sizeof(*lookup)) : NULL;
    int r;

    if (!lookup)
        return error_set(err, EBUSY, "network.lookups", "too many wait for names");
    *lookup = (struct lookup){.known = known, .wish = *wish, .own = &lookup, .before = known->last};
    *(known->last ? &known->last->after : &known->first) = lookup;
    known->last = lookup;
    lookups->waiting++;
    r = known->is_asked ? 0 : ask(known, err);
    if (!lookup)
        return r;
    lookup->own = NULL;
    if (r < 0)
        lookup_cancel(lookup);
    else
        *ret_lookup = lookup;
    return r;
}

/* What the policy pins a name to. */
static size_t find_pins(const struct policy *policy, const char *name, uint8_t (*addresses)[16])
{
    size_t count = 0;

    vec_each (&policy->items, item) {
        struct host address;

        if (item->list == LIST_NETWORK_HOSTS && count < UPSTREAM_ADDRESSES &&
            strcasecmp(item->key, name) == 0 && host_parse_address(item->value, &address))
            memcpy(addresses[count++], address.address, sizeof(address.address));
    }
    return count;
}

bool lookup_is_pinned(const struct lookups *lookups, const struct host *name)
{
    uint8_t addresses[UPSTREAM_ADDRESSES][16];

    return find_pins(lookups->policy, name->name, addresses) > 0;
}

static int start(struct lookups *lookups, const struct wish *wish, struct lookup **ret_lookup,
                 struct bawn_error *err)
{
    const char *name = wish->name.name;
    uint8_t addresses[UPSTREAM_ADDRESSES][16];
    struct known pinned = {.addresses = addresses};
    struct known *known;

    *ret_lookup = NULL;
    pinned.count = find_pins(lookups->policy, name, addresses);
    if (pinned.count > 0) {
        tell(lookups, wish, &pinned);
        return 0;
    }
    known = (struct known *)table_find(&lookups->known, name);
    if (!known)
        known = add_known(lookups, name);
    if (!known)
        return error_set(err, EBUSY, "network.lookups", "too many names are being looked up");
    table_use(&lookups->known, &known->entry);
    if (known->tellings == 0 && (known->is_asked || clock_ms() >= known->until_ms))
        return wait_for(known, wish, ret_lookup, err);
    known->tellings++;
    tell(lookups, wish, known);
    known->tellings--;
    return 0;
}

int lookup_start(struct lookups *lookups, const struct host *name,
                 void (*done)(void *context, const struct lookup_answer *answer), void *context,
                 struct lookup **ret_lookup, struct bawn_error *err)
{
    const struct wish wish = {.name = *name, .done = done, .context = context};

    return start(lookups, &wish, ret_lookup, err);
}

int lookup_start_own(struct lookups *lookups, const struct host *name,
                     void (*done)(void *context, const struct lookup_answer *answer), void *context,
                     struct lookup **ret_lookup, struct bawn_error *err)
{
    const struct wish wish = {.name = *name, .is_own = true, .done = done, .context = context};

    return start(lookups, &wish, ret_lookup, err);
}

int lookup_start_approved(struct lookups *lookups, const struct host *name,
                          void (*done)(void *context, const struct lookup_answer *answer),
                          void *context, struct lookup **ret_lookup, struct bawn_error *err)
{
    const struct wish wish = {.name = *name, .is_approved = true, .done = done, .context = context};

    return start(lookups, &wish, ret_lookup, err);
}
