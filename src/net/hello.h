/* SPDX-License-Identifier: Apache-2.0 */
/* The first message of a TLS client: the name of the server that it wants. */
#ifndef NET_HELLO_H
#define NET_HELLO_H

#include "policy/netrule.h"

enum hello_state {
    HELLO_MORE,    /* so far it may be one: come again with more bytes */
    HELLO_WHOLE,   /* read */
    HELLO_FOREIGN, /* not TLS */
    HELLO_BROKEN,  /* TLS, but not a first message that can be trusted to mean one thing */
};

enum { HELLO_BYTES_MAX = 16384 }; /* of the message, without the headers of its records */

struct hello {
    char name[LIMIT_HOST_BYTES]; /* as host_parse_target makes it; "" when it names none */
    bool hides_name;             /* Encrypted Client Hello, or what only looks like it */
};

/* Reads all that has come so far. */
enum hello_state hello_read(const void *bytes, size_t size, struct hello *ret_hello);

#endif
