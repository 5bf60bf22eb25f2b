/* SPDX-License-Identifier: Apache-2.0 */
/* Where the body of a request ends. Fields behind the last chunk are refused: nobody needs them in
 * a request, and servers differ about them. */
#include "net/http.h"

#include <errno.h>

enum { LINE_BYTES_MAX = 256, CHUNK_BYTES_BITS = 60 };

void http_body_begin(struct http_body *body, const struct http_request *request)
{
    *body = (struct http_body){.kind = request->body,
                               .left = request->body_bytes,
                               .is_done = request->body == HTTP_NO_BODY};
}

static int digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return -1;
}

/* The line with a chunk's size, byte by byte. */
static bool take_size(struct http_body *body, char byte)
{
    int digit = body->at == CHUNK_SIZE ? digit_of(byte) : -1;

    if (++body->line_bytes > LINE_BYTES_MAX)
        return false;
    if (digit >= 0) {
        if (body->left >> CHUNK_BYTES_BITS)
            return false;
        body->left = body->left << 4 | (uint64_t)digit;
        body->has_digit = true;
        return true;
    }
    if (byte == '\r') {
        body->at = CHUNK_LINE_END;
        return body->has_digit;
    }
    /* A note on the chunk, which means nothing. */
    if (body->at == CHUNK_SIZE && byte != ';')
        return false;
    body->at = CHUNK_NOTE;
    return body->has_digit && (byte == '\t' || (byte >= ' ' && byte < 0x7f));
}

/* CR LF, behind a chunk and behind the last one. */
static bool take_line_end(struct http_body *body, char byte)
{
    if (byte != (body->has_return ? '\n' : '\r'))
        return false;
    body->has_return = !body->has_return;
    if (body->has_return)
        return true;
    body->is_done = body->at == CHUNK_LAST;
    body->at = CHUNK_SIZE;
    body->line_bytes = 0;
    body->has_digit = false;
    return true;
}

static bool take_byte(struct http_body *body, char byte)
{
    switch (body->at) {
    case CHUNK_SIZE:
    case CHUNK_NOTE:
        return take_size(body, byte);
    case CHUNK_LINE_END:
        body->at = body->left ? CHUNK_DATA : CHUNK_LAST;
        return byte == '\n';
    case CHUNK_END:
    case CHUNK_LAST:
        return take_line_end(body, byte);
    case CHUNK_DATA:
        break;
    }
    return false;
}

static size_t take_data(struct http_body *body, size_t size)
{
    size_t taken = body->left < size ? (size_t)body->left : size;

    body->left -= taken;
    return taken;
}

long http_body_take(struct http_body *body, const char *bytes, size_t size)
{
    size_t taken = 0;

    if (body->kind == HTTP_LENGTH && !body->is_done) {
        taken = take_data(body, size);
        body->is_done = body->left == 0;
    }
    while (body->kind == HTTP_CHUNKED && !body->is_done && taken < size) {
        if (body->at == CHUNK_DATA) {
            taken += take_data(body, size - taken);
            if (body->left == 0)
                body->at = CHUNK_END;
        } else if (!take_byte(body, bytes[taken++])) {
            return -EBADMSG;
        }
    }
    return (long)taken;
}
