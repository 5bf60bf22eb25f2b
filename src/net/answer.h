/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a server's answer in HTTP/1, as a proxy passes it on, and where its body ends.
 * Whatever two readers could understand differently is refused. */
#ifndef NET_ANSWER_H
#define NET_ANSWER_H

#include "net/http.h"

enum { ANSWER_HEAD_MAX = 65536 };

struct answer {
    int status;
    size_t head_bytes;
    enum http_body_kind body;
    uint64_t body_bytes;
    bool is_to_end; /* the body ends with the connection */
    bool is_old;    /* HTTP/1.0 */
    bool keeps;     /* the server says nothing against another request behind it */
};

/*
 * Reads the head of an answer; is_head: to a request of the method HEAD, whose
 * answer has no body whatever it says. Returns 1; 0 when more bytes are needed;
 * -EBADMSG when it is none.
 */
int answer_read(const char *bytes, size_t size, bool is_head, struct answer *ret_answer);

/* The head as it goes on to the client, with whether the client's connection is kept behind it. */
void answer_write(const char *bytes, const struct answer *answer, bool keeps, struct strbuf *out);

#endif
