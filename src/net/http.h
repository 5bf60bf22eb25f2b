/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of HTTP/1 as a proxy reads them: where they go, where they end, and the form in which
 * one is passed on. Whatever two readers could understand differently is refused. */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include "base/strbuf.h"
#include "policy/netrule.h"

enum {
    HTTP_HEAD_MAX = 65536,
    HTTP_FIELDS_MAX = 128, /* besides those that bawn-net writes itself */
    HTTP_METHOD_MAX = 20,
};

enum http_body_kind { HTTP_NO_BODY, HTTP_LENGTH, HTTP_CHUNKED };

/* Texts point into the bytes that were read. */
struct http_request {
    const char *method, *path;
    size_t method_bytes, path_bytes;
    struct host to; /* with its port */
    bool is_connect;
    bool is_absolute; /* the target names the host, as those for a proxy do */
    bool keeps;       /* the client would like to send more behind it */
    bool upgrades;    /* to a web socket: what follows an answer 101 is no HTTP */
    enum http_body_kind body;
    uint64_t body_bytes;
    size_t head_bytes;
};

/* Name or address, and port. */
bool http_is_same_host(const struct host *a, const struct host *b);

/* Whether so far it may become one, and not another protocol that begins with letters. */
bool http_may_be_request(const char *bytes, size_t size);

/*
 * Reads the head of a request; default_port is that of a host without one.
 * Returns 1; 0 when more bytes are needed; or the negative number of the answer
 * that refuses it, with the reason in *ret_wrong.
 */
int http_read_request(const char *bytes, size_t size, uint16_t default_port,
                      struct http_request *ret_request, const char **ret_wrong);

/*
 * Whether another request may follow on the same connection to a server.
 * SECURITY: servers differ about where a body ends, and some do not see one at all.
 * Only behind what has none do all of them see the next request where we do. Those that
 * change nothing can be sent again, when the server has just ended the connection.
 */
bool http_may_follow(const struct http_request *request);

/*
 * The head as it goes on to the server: to the path alone, without what is
 * between client and proxy. Unless http_may_follow, the connection ends behind the
 * answer. So a server never sees another request that nobody judged.
 */
void http_write_request(const char *bytes, const struct http_request *request, struct strbuf *out);

/* The body of a request as it passes. */
struct http_body {
    enum http_body_kind kind;
    uint64_t left; /* of the length, or of the chunk */
    unsigned line_bytes;
    enum { CHUNK_SIZE, CHUNK_NOTE, CHUNK_LINE_END, CHUNK_DATA, CHUNK_END, CHUNK_LAST } at;
    bool has_digit, has_return;
    bool is_done;
};

void http_body_begin(struct http_body *body, const struct http_request *request);
/* How many of these bytes are the body's; fewer than there are only when it is done. -EBADMSG when
 * its chunks are broken. */
long http_body_take(struct http_body *body, const char *bytes, size_t size);

/* The status of an answer, 0 when more bytes are needed, -EBADMSG when it is none. */
int http_read_status(const char *bytes, size_t size);

#endif
