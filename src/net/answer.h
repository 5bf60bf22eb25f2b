/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a server's answer in HTTP/1, as a proxy passes it on. */
#ifndef NET_ANSWER_H
#define NET_ANSWER_H

#include "base/strbuf.h"

enum { ANSWER_HEAD_MAX = 65536 };

/*
 * Reads the head of an answer. Returns 1; 0 when more bytes are needed; -EBADMSG
 * when it is none.
 */
int answer_read(const char *bytes, size_t size, int *ret_status, size_t *ret_head_bytes);

/* The head as it goes on to the client: the connection ends with it. */
void answer_write(const char *bytes, size_t head_bytes, struct strbuf *out);

#endif
