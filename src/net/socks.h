/* SPDX-License-Identifier: Apache-2.0 */
/* SOCKS 5, 4 and 4a as a server reads them: where the client wants to go. */
#ifndef NET_SOCKS_H
#define NET_SOCKS_H

#include "policy/netrule.h"

enum socks_state {
    SOCKS_MORE,   /* come again with more bytes */
    SOCKS_WHOLE,  /* read */
    SOCKS_BROKEN, /* not SOCKS: close */
};

enum socks_command { SOCKS_CONNECT = 1, SOCKS_BIND = 2, SOCKS_UDP = 3 };

/* What is answered, as SOCKS 5 numbers it. */
enum socks_answer {
    SOCKS_GRANTED = 0,
    SOCKS_FAILED = 1,
    SOCKS_REFUSED = 2, /* by the rules */
    SOCKS_NO_NETWORK = 3,
    SOCKS_NO_HOST = 4,
    SOCKS_NO_LISTENER = 5,
    SOCKS_NO_COMMAND = 7,
    SOCKS_NO_ADDRESS = 8,
};

enum { SOCKS_GREETING_MAX = 2 + 255, SOCKS_REQUEST_MAX = 1024, SOCKS_ANSWER_BYTES = 10 };

struct socks_request {
    uint8_t version; /* 4 or 5 */
    uint8_t command; /* enum socks_command, or another number */
    struct host to;  /* with its port */
    /* Why there is nobody of that name, or NULL: a request that is read well, and refused. */
    const char *wrong;
};

/* The greeting of SOCKS 5. *ret_used: its bytes; *ret_is_open: whether it takes a server that wants
 * no password. */
enum socks_state socks_read_greeting(const void *bytes, size_t size, size_t *ret_used,
                                     bool *ret_is_open);

/* The request: behind the greeting, or the first bytes of SOCKS 4. */
enum socks_state socks_read_request(const void *bytes, size_t size, size_t *ret_used,
                                    struct socks_request *ret_request);

/* Writes the answer to a request; returns its bytes. */
size_t socks_write_answer(uint8_t version, enum socks_answer answer,
                          uint8_t out[static SOCKS_ANSWER_BYTES]);

#endif
