/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of an audit trail: lines of JSON, each of which has the hash of the one
 * before. docs/PROTOCOL-audit.md is the whole format.
 *
 * How it works: a record begins with its number and ends with two hashes, "prev" and
 * "hash". The last one is the SHA-256 of the line's bytes before it. Who changes,
 * removes or moves a record has to write all that follow anew. The head, kept apart,
 * tells how many there are and the hash of the last: then nothing can be cut off
 * either.
 */
#ifndef WIRE_CHAIN_H
#define WIRE_CHAIN_H

#include "base/strbuf.h"

#include <stdint.h>

enum {
    CHAIN_HEX = 64, /* letters of a hash */
    CHAIN_HEAD_BYTES =
        20 + 1 + CHAIN_HEX + 1, /* a number of 20 digits, a space, a hash, a newline */
};

struct chain {
    uint64_t count;
    char hash[CHAIN_HEX + 1]; /* of the last record */
};
/* Before the first record. */
void chain_init(struct chain *chain);

/* Begins a record, which then gets its members with json_put_string and its like, but for "prev"
 * and "hash"; chain_seal ends it, and its line. */
void chain_open(const struct chain *before, struct strbuf *line);
void chain_seal(const struct chain *before, struct strbuf *line, struct chain *ret_after);

enum chain_fault {
    CHAIN_FINE,
    CHAIN_FORM,   /* it is no record */
    CHAIN_EDITED, /* its hash is not that of its bytes */
    CHAIN_ORDER,  /* it has another number than the one that comes next */
    CHAIN_PREV,   /* it does not follow the record before */
};
/* Looks at a line without its newline. *ret_number is its number, where it is a record. */
enum chain_fault chain_check(const struct chain *before, const char *line, size_t length,
                             uint64_t *ret_number, struct chain *ret_after);

void chain_put_head(const struct chain *chain, char ret_bytes[static CHAIN_HEAD_BYTES + 1]);
/* False: that is no head. */
bool chain_read_head(const char *bytes, size_t length, struct chain *ret_chain);

#endif
