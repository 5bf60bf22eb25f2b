/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of a client inside, and the one to the server that it wants.
 *
 * How it works: a connection is at one stage, and each stage is a file. Whatever happens
 * to it (bytes, room, a deadline, an answer) lets its stage take a step, which goes as far
 * as it can.
 *
 *     ask       what a client of the proxy wants: HTTP, CONNECT, SOCKS
 *     reach     the rules decide; the name is looked up; the server is dialled
 *     approve   a person is asked, where the rules say so
 *     parent    a proxy outside, if all go through one, is asked for a tunnel
 *     opening   the first bytes of a tunnel must name the host that was decided on
 *     exchange  one request of HTTP and its answer
 *     kept      what remains of both connections for the next one
 *     tunnel    bytes pass both ways
 *     refuse    the client is told why not, or is reset
 *
 * SECURITY: no byte of the client goes on before its stage is exchange or tunnel.
 */
#ifndef NET_CONNECTION_H
#define NET_CONNECTION_H

#include "net/approval.h"
#include "net/dial.h"
#include "net/flow.h"
#include "net/gate.h"
#include "net/http.h"
#include "net/socks.h"
#include "net/who.h"
#include "policy/decide_net.h"

struct lookup;

enum stage {
    STAGE_ASK,
    STAGE_REACH,
    STAGE_APPROVE,
    STAGE_PARENT,
    STAGE_OPENING,
    STAGE_EXCHANGE,
    STAGE_KEPT, /* answered; whoever holds it last goes on with it */
    STAGE_TUNNEL,
    STAGE_REFUSED,  /* it is not known yet who is */
    STAGE_UNHEARD,  /* refused; the first byte tells whether it would understand an answer */
    STAGE_FAREWELL, /* the last answer goes out */
    STAGE_OVER,
};

enum way { WAY_PROXY /* which is not known yet */, WAY_HTTP, WAY_CONNECT, WAY_SOCKS, WAY_DIRECT };

/* What the session is told of it. */
struct refusal {
    enum event_verdict verdict;
    struct strbuf rule, why, hint;
    struct strbuf text; /* for the client, without the hint */
};

struct connection {
    struct gate *gate;
    struct connection *next, **link; /* among all of the gate */
    enum stage stage;
    enum way way;
    bool is_granted; /* it was told that it has its tunnel */
    bool has_greeted;
    bool speaks_http;
    bool is_shut;    /* nothing more goes to the client */
    bool is_reached; /* there is a server to tell of */
    uint8_t socks_version;
    unsigned depth; /* of calls that still use it */
    struct end client, server;
    struct hub_timer timer;
    struct strbuf held; /* what the client has said, and has not gone on */
    struct host to;
    struct net_decision decision;
    struct who_request who;
    /* Of what a person is asked about. */
    struct approval_request approval;
    struct net_decision question; /* the rule that asks */
    struct host *asked;           /* an address of its name; NULL: the host that it wants; owned */
    char *approved;               /* "name:port" that was allowed for this connection; owned */
    unsigned unheld;              /* so often nobody seemed to have the client's end */
    unsigned unnamed;             /* so often nobody knew whose it is */
    struct refusal refusal;
    struct lookup *lookup;
    struct dial dial;
    struct flow up, down; /* to the server, to the client */
    struct strbuf errand; /* what a proxy outside is asked for; its answer is in answer */
    /* Of an exchange. */
    struct http_body body;
    struct strbuf answer;    /* the head, as far as it has come */
    unsigned interim;        /* answers before the last one */
    struct http_body chunks; /* of the answer, if it has any */
    bool is_head, upgrades, is_answered, is_up_over;
    /* Of those that are kept behind one. */
    bool keeps_client, keeps_server; /* as far as is known by now */
    bool is_kept;                    /* this is not the first request */
    bool is_server_kept;             /* it has answered all that it was asked */
    size_t asked_bytes; /* of the request, held until a server that was kept has answered */
};

/* connection.c. Takes the descriptor. to: where the client meant to go; NULL: to a proxy. */
void connection_start(struct gate *gate, int fd, const struct host *to);
/* Takes both: bytes pass between them, whatever they are. */
void connection_start_joined(struct gate *gate, int client_fd, int server_fd);
void connection_stop(struct connection *connection);
/* Whoever is called with a connection holds it until he returns. */
void connection_enter(struct connection *connection);
void connection_leave(struct connection *connection);
void connection_step(struct connection *connection);
void connection_set_deadline(struct connection *connection, int after_ms);
/* Reads what the client has said, up to so many bytes in all. 1: there is more; 0: not now; -1: it
 * has no more to say, or there is no room. */
int connection_hold(struct connection *connection, size_t most);
void connection_drop_held(struct connection *connection, size_t bytes);
/* Ends it, as if it had been done; or so that either side sees a reset. */
void connection_end(struct connection *connection);
void connection_reset(struct connection *connection);
/* From now on bytes pass both ways; what is held goes first. */
void connection_join(struct connection *connection);
bool connection_is_opaque(const struct connection *connection);

/* Each stage. */
void ask_step(struct connection *connection);
void reach_start(struct connection *connection);
/* Dials these, all at one port. */
void reach_dial(struct connection *connection, const struct host *addresses, size_t count,
                uint16_t port, void (*done)(void *context, int result));
/* There is a way to the server. */
void reach_arrived(struct connection *connection);
/* To this name or address, which the rules allow, through the proxy that the policy names. */
void parent_start(struct connection *connection, const struct host *target);
void parent_step(struct connection *connection);
void parent_late(struct connection *connection);
/* What was asked about was allowed. */
void reach_approved(struct connection *connection);
/* By this decision somebody must be asked, about the address in asked or the host. who: the client,
 * if it is known already, or NULL. */
void approve_start(struct connection *connection, const struct net_decision *decision,
                   const struct net_answer *who);
void approve_step(struct connection *connection);
void approve_late(struct connection *connection);
/* Whether a person has allowed this host, for this connection. */
bool approve_holds(const struct connection *connection, const struct host *host);
/* Of the server's end. */
void reach_server_ready(void *context, uint32_t events);
void opening_start(struct connection *connection);
void opening_step(struct connection *connection);
/* Passes on the request that is at the front of what is held. */
void exchange_start(struct connection *connection);
void exchange_step(struct connection *connection);
/* An answer has gone out whole: what is kept of both connections, and the next request. */
bool kept_is_worth_it(const struct connection *connection);
void kept_step(struct connection *connection);
/* Whether the next request for the same host can go to the same server. */
bool kept_has_server(struct connection *connection);
void kept_leave_server(struct connection *connection);
/* While nothing is asked of it. */
void kept_watch_server(struct connection *connection);
/* It ended without a word: asks once more, on a new connection. False: that may not be. */
bool kept_retry(struct connection *connection);
/* Another request of the same client. */
void ask_again(struct connection *connection);
void opening_again(struct connection *connection);

/* "http", "socks" or "connect": how it came. */
const char *connection_way_name(const struct connection *connection);

/* refuse.c: what the client is told, in the way it came. */
void refuse_decision(struct connection *connection, const struct net_decision *decision);
/* It was asked about, and this came of it. */
void refuse_asked(struct connection *connection, const struct net_decision *decision,
                  enum ask_end end);
/* It was let in, but what it says is not what it was let in for. */
__attribute__((format(printf, 3, 4))) void refuse_words(struct connection *connection,
                                                        const char *hint, const char *format, ...);
/* No rule is against it. */
void refuse_request(struct connection *connection, int status, const char *why);
void refuse_failed(struct connection *connection, int status, enum socks_answer answer,
                   const char *why);
void refuse_late(struct connection *connection);
/* There are as many as there can be. */
void refuse_crowd(struct connection *connection);
/* It ends before it is known who was refused. */
void refuse_end(struct connection *connection);
void unheard_step(struct connection *connection);
void farewell_step(struct connection *connection);

#endif
