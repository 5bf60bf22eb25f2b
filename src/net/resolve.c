/* SPDX-License-Identifier: Apache-2.0 */
#include "net/resolve.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "net/resolve_own.h"
#include "net/vet.h"
#include "policy/explain.h"
#include "policy/message.h"
#include "policy/network.h"
#include "policy/proxy.h"
#include "wire/net.h"

#include <stdlib.h>
#include <string.h>

enum {
    CLASS_INTERNET = 1,
    LASTS_SECONDS = 30,
    TELL_EVERY_MS = 1000,
    ADDRESSES_MOST = 16, /* in one answer */
};

struct resolver *resolver_new(struct hub *hub, const struct policy *policy, struct lookups *lookups,
                              struct names *names, struct event_sender *events,
                              struct bawn_error *err)
{
    struct resolver *resolver = calloc(1, sizeof(*resolver));

    if (!resolver) {
        (void)error_memory(err);
        return NULL;
    }
    *resolver = (struct resolver){
        .hub = hub, .policy = policy, .lookups = lookups, .names = names, .events = events};
    if (table_init(&resolver->told, RESOLVE_TOLD, err) < 0) {
        free(resolver);
        return NULL;
    }
    return resolver;
}

void resolver_set_who(struct resolver *resolver, struct who *who)
{
    resolver->who = who;
}

static void end_question(struct question *question)
{
    struct resolver *resolver = question->resolver;

    *(question->before ? &question->before->after : &resolver->questions) = question->after;
    if (question->after)
        question->after->before = question->before;
    resolver->question_count--;
    if (question->lookup)
        lookup_cancel(question->lookup);
    who_cancel(&question->who);
    free(question);
}

void resolve_forget(struct resolver *resolver, const struct stream *stream)
{
    struct question *next;

    for (struct question *question = resolver->questions; question; question = next) {
        next = question->after;
        if (question->asker.stream == stream)
            end_question(question);
    }
}

void resolver_free(struct resolver *resolver)
{
    if (!resolver)
        return;
    while (resolver->oldest)
        resolve_close_stream(resolver->oldest);
    while (resolver->questions)
        end_question(resolver->questions);
    for (size_t i = 0; i < resolver->door_count; i++)
        hub_remove(resolver->hub, &resolver->doors[i].source);
    table_done(&resolver->told);
    free(resolver);
}

static void reply(const struct asker *asker, const struct dns_query *query,
                  const struct dns_answer *answer)
{
    uint8_t bytes[DNS_ANSWER_MAX];
    size_t limit = asker->stream ? DNS_ANSWER_MAX : dns_udp_limit(query);
    size_t size = dns_write_answer(query, answer, limit, bytes);

    if (asker->stream)
        resolve_send_stream(asker->stream, bytes, size);
    else
        resolve_send_datagram(asker, bytes, size);
}

static void reply_code(const struct asker *asker, const struct dns_query *query, enum dns_code code)
{
    reply(asker, query, &(struct dns_answer){.code = code});
}

static void reply_address(const struct asker *asker, const struct dns_query *query,
                          const uint8_t v4[static 4], const uint8_t v6[static 16])
{
    reply(asker, query,
          &(struct dns_answer){.lasts_seconds = LASTS_SECONDS,
                               .addresses = query->type == DNS_AAAA ? v6 : v4,
                               .address_count = 1});
}

/* Whether a refusal of this name was told just now. */
static bool was_told(struct resolver *resolver, const char *name)
{
    const struct told *told = (struct told *)table_find(&resolver->told, name);

    return told && clock_ms() - told->at_ms < TELL_EVERY_MS;
}

/* The same; if not, it is now. */
static bool is_told(struct resolver *resolver, const char *name)
{
    struct told *told = (struct told *)table_find(&resolver->told, name);
    int64_t now = clock_ms();

    if (was_told(resolver, name))
        return true;
    if (!told && resolver->told.count < RESOLVE_TOLD)
        told = &resolver->tellings[resolver->told.count];
    else if (!told)
        told = (struct told *)resolver->told.oldest;
    if (told->entry.name)
        table_remove(&resolver->told, &told->entry);
    told->at_ms = now;
    told->entry.name = told->name;
    memmove(told->name, name, strlen(name) + 1);
    table_put(&resolver->told, &told->entry);
    return false;
}

static void tell_refusal(struct resolver *resolver, const struct host *host,
                         const struct net_decision *decision, const char *label,
                         const struct net_answer *who)
{
    autostrbuf struct strbuf why = {0}, hint = {0};
    struct event event = {
        .what = EVENT_BARRED,
        .verdict = decision->access == ACCESS_ASK ? VERDICT_ASK : VERDICT_DENY,
        .texts = {[EVENT_CALL] = "lookup", [EVENT_PATH] = host->name, [EVENT_RULE] = label}};

    if (is_told(resolver, host->name))
        return;
    event.texts[EVENT_CODE] = message_net_why(decision, &why);
    explain_net_remedy(resolver->policy, decision, host->name, &hint);
    event.texts[EVENT_MESSAGE] = why.text;
    event.texts[EVENT_HINT] = hint.text;
    if (who) {
        event.pid = who->pid;
        event.texts[EVENT_COMM] = who->comm;
        event.texts[EVENT_EXE] = who->exe;
    }
    event_send(resolver->events, event);
}

/* SECURITY: no REFUSED, though that is what it is: musl would wait for somebody else to answer.
 * who may be NULL. */
static void refuse(struct resolver *resolver, const struct asker *asker,
                   const struct dns_query *query, const struct host *host,
                   const struct net_decision *decision, const struct net_answer *who)
{
    autostrbuf struct strbuf label = {0}, text = {0};
    struct dns_answer answer = {.code = DNS_NO_NAME,
                                .reason =
                                    decision->reason == NET_BY_RULE ? DNS_BLOCKED : DNS_PROHIBITED};

    message_net_label(resolver->policy, decision, &label);
    strbuf_addf(&text, "bawn: %s", label.text ? label.text : "");
    answer.text = text.text;
    tell_refusal(resolver, host, decision, label.text, who);
    reply(asker, query, &answer);
}

/* Where nobody leads connections to us, the name's own addresses that lead somewhere. */
static void reply_found(const struct asker *asker, const struct dns_query *query,
                        const struct lookup_answer *found)
{
    uint8_t addresses[ADDRESSES_MOST * sizeof(struct in6_addr)];
    struct dns_answer answer = {.lasts_seconds = LASTS_SECONDS, .addresses = addresses};
    bool wants_v4 = query->type == DNS_A;
    size_t size = wants_v4 ? sizeof(struct in_addr) : sizeof(struct in6_addr);

    for (size_t i = 0; i < found->count; i++) {
        const struct host *one = &found->addresses[i];

        if (host_is_v4(one) == wants_v4 && answer.address_count < ADDRESSES_MOST)
            memcpy(addresses + size * answer.address_count++,
                   one->address + sizeof(one->address) - size, size);
    }
    reply(asker, query, &answer);
}

static bool is_routed(const struct resolver *resolver)
{
    return network_is_routed(resolver->policy);
}

/* A question that waits. NULL: there is no room. */
static struct question *keep(struct resolver *resolver, const struct asker *asker,
                             const struct dns_query *query, const struct host *host)
{
    bool has_room = resolver->question_count < RESOLVE_QUESTIONS;
    struct question *question = has_room ? malloc(sizeof(*question)) : NULL;

    if (!question)
        return NULL;
    *question = (struct question){.resolver = resolver,
                                  .asker = *asker,
                                  .query = *query,
                                  .host = *host,
                                  .after = resolver->questions};
    if (question->after)
        question->after->before = question;
    resolver->questions = question;
    resolver->question_count++;
    return question;
}

/* Who sent the datagram, and where to. */
static bool find_ends(const struct asker *asker, struct net_ends *ret_ends)
{
    *ret_ends = (struct net_ends){.protocol = IPPROTO_UDP, .server_port = NET_DNS_PORT};
    if (asker->has_local_v6)
        memcpy(ret_ends->server, &asker->local_v6.ipi6_addr, sizeof(struct in6_addr));
    else if (asker->has_local_v4)
        memcpy(ret_ends->server, &asker->local_v4, sizeof(struct in_addr));
    return who_put_client(ret_ends, &asker->peer);
}

/* Nothing that is known of who asks changes it. */
static void on_named(void *context, const struct net_answer *answer)
{
    struct question *question = context;
    struct resolver *resolver = question->resolver;
    struct asker asker = question->asker;
    struct dns_query query = question->query;
    struct host host = question->host;
    struct net_decision decision = question->decision;

    end_question(question);
    refuse(resolver, &asker, &query, &host, &decision, answer);
}

/* When it is known who asks; before the answer, which may be the end of who asked. Where it would
 * be told to nobody, at once. */
static void refuse_known(struct resolver *resolver, const struct asker *asker,
                         const struct dns_query *query, const struct host *host,
                         const struct net_decision *decision,
                         void (*done)(void *context, const struct net_answer *answer))
{
    bool wants_programs = done != on_named;
    bool is_asked = resolver->who && (wants_programs || !was_told(resolver, host->name));
    struct question *question = is_asked ? keep(resolver, asker, query, host) : NULL;
    struct net_ends ends;

    if (!question) {
        refuse(resolver, asker, query, host, decision, NULL);
        return;
    }
    question->decision = *decision;
    question->who = (struct who_request){.done = done, .context = question};
    if (asker->stream)
        who_ask(resolver->who, &question->who, asker->fd, wants_programs);
    else
        who_ask_ends(resolver->who, &question->who, find_ends(asker, &ends) ? &ends : NULL,
                     wants_programs);
}

static void on_lookup(void *context, const struct lookup_answer *answer)
{
    static const enum dns_code codes[] = {
        [LOOKUP_NO_NAME] = DNS_NO_NAME, [LOOKUP_NO_ADDRESS] = DNS_OK, [LOOKUP_FAILED] = DNS_FAILED};
    struct question *question = context;
    struct resolver *resolver = question->resolver;
    struct asker asker = question->asker;
    struct dns_query query = question->query;
    struct host host = question->host;
    struct name_addresses own;

    question->lookup = NULL;
    end_question(question);
    if (answer->end == LOOKUP_BARRED)
        refuse_known(resolver, &asker, &query, &host, &answer->decision, on_named);
    else if (answer->end != LOOKUP_FOUND && answer->end != LOOKUP_ASKS)
        reply_code(&asker, &query, codes[answer->end]);
    else if (is_routed(resolver))
        reply_found(&asker, &query, answer);
    else if (!names_give(resolver->names, host.name, &own))
        reply_code(&asker, &query, DNS_FAILED);
    else
        reply_address(&asker, &query, own.v4, own.v6);
}

static void look_up(struct resolver *resolver, const struct asker *asker,
                    const struct dns_query *query, const struct host *host)
{
    struct question *question = keep(resolver, asker, query, host);
    struct lookup *lookup;

    if (!question) {
        reply_code(asker, query, DNS_FAILED);
    } else if (lookup_start(resolver->lookups, host, on_lookup, question, &lookup, NULL) < 0) {
        end_question(question);
        reply_code(asker, query, DNS_FAILED);
    } else if (lookup) {
        question->lookup = lookup;
    }
}

/* Nobody here looks it up: who connects to it is led to a proxy that does; or somebody is asked
 * about it then. SECURITY: who chooses a name says something with it, so that one which nobody has
 * allowed yet is told to nobody outside. */
static void give_unseen(struct resolver *resolver, const struct asker *asker,
                        const struct dns_query *query, const struct host *host)
{
    struct name_addresses own;

    if (query->type != DNS_A && query->type != DNS_AAAA)
        reply_code(asker, query, DNS_OK);
    else if (names_give(resolver->names, host->name, &own))
        reply_address(asker, query, own.v4, own.v6);
    else
        reply_code(asker, query, DNS_FAILED);
}

/* The policy allows the name. */
static void give(struct resolver *resolver, const struct asker *asker,
                 const struct dns_query *query, const struct host *host)
{
    if (query->type != DNS_A && query->type != DNS_AAAA)
        reply_code(asker, query, DNS_OK);
    else if (proxy_serves(resolver->policy, host) && !lookup_is_pinned(resolver->lookups, host))
        give_unseen(resolver, asker, query, host);
    else
        look_up(resolver, asker, query, host);
}

static void on_known(void *context, const struct net_answer *answer)
{
    struct question *question = context;
    struct resolver *resolver = question->resolver;
    struct asker asker = question->asker;
    struct dns_query query = question->query;
    struct host host = question->host;
    struct net_decision decision = question->decision;
    struct who_programs programs = {.who = resolver->who, .programs = answer->programs};
    struct net_asker program = {.is_by = who_is_by, .context = &programs};

    end_question(question);
    switch (decide_net_lookup_by(resolver->policy, &host, &program)) {
    case ACCESS_ALLOW:
        give(resolver, &asker, &query, &host);
        break;
    case ACCESS_ASK:
        give_unseen(resolver, &asker, &query, &host);
        break;
    default:
        refuse(resolver, &asker, &query, &host, &decision, answer);
        break;
    }
}

/* Unless a rule for who asks allows it. */
static void refuse_unless_by(struct resolver *resolver, const struct asker *asker,
                             const struct dns_query *query, const struct host *host,
                             const struct net_decision *decision)
{
    bool has_programs = resolver->who && resolver->who->program_count > 0;

    refuse_known(resolver, asker, query, host, decision, has_programs ? on_known : on_named);
}

static void take_judged(struct resolver *resolver, const struct asker *asker,
                        const struct dns_query *query, const struct host *host)
{
    struct net_decision decision;

    switch (vet_name(resolver->policy, host, &decision)) {
    case ACCESS_ALLOW:
        give(resolver, asker, query, host);
        break;
    case ACCESS_ASK:
        give_unseen(resolver, asker, query, host);
        break;
    default:
        refuse_unless_by(resolver, asker, query, host, &decision);
        break;
    }
}

static void take_name(struct resolver *resolver, const struct asker *asker,
                      const struct dns_query *query, const struct host *host)
{
    static const uint8_t loopback_v4[4] = {127, 0, 0, 1}, loopback_v6[16] = {[15] = 1};
    bool is_local =
        strcmp(host->name, "localhost") == 0 || text_ends_with(host->name, ".localhost");
    bool is_address = query->type == DNS_A || query->type == DNS_AAAA;

    if (is_local && is_address)
        reply_address(asker, query, loopback_v4, loopback_v6);
    else if (is_local)
        reply_code(asker, query, DNS_OK);
    else
        take_judged(resolver, asker, query, host);
}

/* Programs look for the names of addresses by themselves: no rule is about that, and nobody outside
 * is asked. An address that stands for a name has that name. */
static void reply_pointer(struct resolver *resolver, const struct asker *asker,
                          const struct dns_query *query)
{
    char name[LIMIT_HOST_BYTES] = "localhost";
    struct host address;
    bool is_known = dns_reverse(query->name, &address) &&
                    (strcmp(address.name, "127.0.0.1") == 0 || strcmp(address.name, "::1") == 0 ||
                     names_find(resolver->names, &address, name));

    if (is_known)
        reply(asker, query, &(struct dns_answer){.lasts_seconds = LASTS_SECONDS, .name = name});
    else
        reply_code(asker, query, DNS_NO_NAME);
}

bool resolve_ask(struct resolver *resolver, const struct asker *asker, const void *bytes,
                 size_t size)
{
    struct dns_query query;
    struct host host;
    int code = dns_read_query(bytes, size, &query);

    if (code < 0)
        return false;
    if (code > 0)
        reply_code(asker, &query, (enum dns_code)code);
    else if (query.class != CLASS_INTERNET)
        reply_code(asker, &query, DNS_NOT_DONE);
    else if (query.type == DNS_PTR)
        reply_pointer(resolver, asker, &query);
    /* What no host is called, or what would be an address to somebody, is not there. */
    else if (host_parse_rule(query.name, &host) || host.kind != HOST_NAME)
        reply_code(asker, &query, DNS_NO_NAME);
    else
        take_name(resolver, asker, &query, &host);
    return true;
}
