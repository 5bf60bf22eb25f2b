/* SPDX-License-Identifier: Apache-2.0 */
#include "net/who.h"

#include "wire/rules.h"

#include <netinet/in.h>
#include <string.h>

void who_init(struct who *who, struct hub *hub, int control_fd, const struct image *image)
{
    *who = (struct who){.hub = hub, .control_fd = control_fd};
    who->program_count = rules_programs(image, who->programs);
}

static bool put_end(const struct sockaddr_storage *address, unsigned char bytes[16],
                    uint16_t *ret_port, uint16_t *ret_family)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    *ret_family = address->ss_family;
    if (address->ss_family == AF_INET) {
        memcpy(&v4, address, sizeof(v4));
        memcpy(bytes, &v4.sin_addr, sizeof(v4.sin_addr));
        *ret_port = ntohs(v4.sin_port);
    } else if (address->ss_family == AF_INET6) {
        memcpy(&v6, address, sizeof(v6));
        memcpy(bytes, &v6.sin6_addr, sizeof(v6.sin6_addr));
        *ret_port = ntohs(v6.sin6_port);
    } else {
        return false;
    }
    return true;
}

bool who_put_client(struct net_ends *ends, const struct sockaddr_storage *address)
{
    return put_end(address, ends->client, &ends->client_port, &ends->family);
}

bool who_put_server(struct net_ends *ends, const struct sockaddr_storage *address)
{
    return put_end(address, ends->server, &ends->server_port, &ends->family);
}

static bool find_ends(int accepted, struct net_ends *ret_ends)
{
    struct sockaddr_storage peer = {0}, local = {0};
    socklen_t size = sizeof(peer);

    *ret_ends = (struct net_ends){.protocol = IPPROTO_TCP};
    if (getpeername(accepted, (struct sockaddr *)&peer, &size) < 0)
        return false;
    size = sizeof(local);
    return getsockname(accepted, (struct sockaddr *)&local, &size) == 0 &&
           who_put_client(ret_ends, &peer) && who_put_server(ret_ends, &local);
}

void who_cancel(struct who_request *request)
{
    struct who *who = request->who;

    if (!who)
        return;
    hub_stop_timer(who->hub, &request->timer);
    *(request->before ? &request->before->next : &who->first) = request->next;
    *(request->next ? &request->next->before : &who->end) = request->before;
    request->who = NULL;
}

static void finish(struct who_request *request, const struct net_answer *answer)
{
    who_cancel(request);
    request->done(request->context, answer);
}

static void ring(void *context)
{
    static const struct net_answer unknown = {.kind = NET_WHO};

    finish(context, &unknown);
}

static void add(struct who *who, struct who_request *request)
{
    request->who = who;
    request->number = ++who->last;
    request->next = NULL;
    request->before = who->end;
    *(who->end ? &who->end->next : &who->first) = request;
    who->end = request;
}

/* ends NULL: there is nothing to be asked about. */
static void ask(struct who *who, struct who_request *request, const struct net_ends *ends,
                bool wants_programs)
{
    struct net_question question = {.kind = NET_WHO, .wants_programs = wants_programs};
    bool is_sent = false;

    add(who, request);
    question.number = request->number;
    if (ends) {
        question.ends = *ends;
        is_sent = send(who->control_fd, &question, sizeof(question), MSG_DONTWAIT | MSG_NOSIGNAL) ==
                  sizeof(question);
    }
    hub_set_timer(who->hub, &request->timer, is_sent ? WHO_MS : 0, ring, request);
}

void who_ask(struct who *who, struct who_request *request, int accepted, bool wants_programs)
{
    struct net_ends ends;

    ask(who, request, find_ends(accepted, &ends) ? &ends : NULL, wants_programs);
}

void who_ask_ends(struct who *who, struct who_request *request, const struct net_ends *ends,
                  bool wants_programs)
{
    ask(who, request, ends, wants_programs);
}

void who_take(struct who *who, const void *packet, size_t size)
{
    struct net_answer answer;

    if (size != sizeof(answer))
        return;
    memcpy(&answer, packet, sizeof(answer));
    answer.comm[sizeof(answer.comm) - 1] = '\0';
    answer.exe[sizeof(answer.exe) - 1] = '\0';
    if (answer.kind != NET_WHO || answer.number > who->last)
        return;
    while (who->first && who->first->number < answer.number)
        ring(who->first);
    if (who->first && who->first->number == answer.number)
        finish(who->first, &answer);
}

bool who_is_by(void *programs, const struct net_rule *rule)
{
    const struct who_programs *known = programs;

    for (unsigned i = 0; i < known->who->program_count; i++) {
        if (strcmp(known->who->programs[i], rule->by) == 0)
            return known->programs >> i & 1;
    }
    return false;
}
