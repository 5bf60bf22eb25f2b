/* SPDX-License-Identifier: Apache-2.0 */
#include "net/socks.h"

#include "net/reader.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { KIND_V4 = 1, KIND_NAME = 3, KIND_V6 = 4, NO_PASSWORD = 0, V4_GRANTED = 90, V4_REFUSED = 91 };

enum socks_state socks_read_greeting(const void *bytes, size_t size, size_t *ret_used,
                                     bool *ret_is_open)
{
    struct reader reader = reader_of(bytes, size);
    struct reader methods;

    *ret_used = 0;
    *ret_is_open = false;
    if (size > 0 && *reader.at != 5)
        return SOCKS_BROKEN;
    (void)reader_number(&reader, 1);
    methods = reader_part(&reader, 1);
    if (methods.is_short)
        return SOCKS_MORE;
    *ret_used = (size_t)(reader.at - (const uint8_t *)bytes);
    *ret_is_open = methods.left > 0 && memchr(methods.at, NO_PASSWORD, methods.left);
    return SOCKS_WHOLE;
}

/* SECURITY: a name is what the policy calls one. What else some resolver might make of the bytes
 * does not matter: it never sees them. */
static const char *set_name(const uint8_t *name, size_t length, uint16_t port,
                            struct host *ret_host)
{
    char target[LIMIT_HOST_BYTES + 8];

    if (length == 0 || length >= LIMIT_HOST_BYTES || memchr(name, '\0', length) ||
        memchr(name, ':', length) || memchr(name, '[', length))
        return "not the name of a host";
    (void)snprintf(target, sizeof(target), "%.*s:%u", (int)length, (const char *)name, port);
    return host_parse_target(target, ret_host);
}

static const char *set_address(int family, const uint8_t *bytes, uint16_t port,
                               struct host *ret_host)
{
    char text[INET6_ADDRSTRLEN];

    if (!inet_ntop(family, bytes, text, sizeof(text)) || !host_parse_address(text, ret_host))
        return "not an address";
    ret_host->port = port;
    return port ? NULL : "a port is a number from 1 to 65535";
}

static enum socks_state read_five(struct reader *reader, struct socks_request *request)
{
    uint32_t kind;
    const uint8_t *address = NULL;
    size_t length;
    uint16_t port;

    request->command = (uint8_t)reader_number(reader, 1);
    if (reader_number(reader, 1) != 0)
        return SOCKS_BROKEN;
    kind = reader_number(reader, 1);
    if (reader->is_short)
        return SOCKS_MORE;
    if (kind != KIND_V4 && kind != KIND_NAME && kind != KIND_V6)
        return SOCKS_BROKEN;
    length = kind == KIND_V4 ? 4 : kind == KIND_V6 ? 16 : reader_number(reader, 1);
    address = reader_take(reader, length);
    port = (uint16_t)reader_number(reader, 2);
    if (reader->is_short)
        return SOCKS_MORE;
    request->wrong = kind == KIND_NAME ? set_name(address, length, port, &request->to)
                                       : set_address(kind == KIND_V4 ? AF_INET : AF_INET6, address,
                                                     port, &request->to);
    return SOCKS_WHOLE;
}

/* Text that ends with NUL. */
static const uint8_t *read_text(struct reader *reader, size_t *ret_length)
{
    const uint8_t *end = reader->is_short ? NULL : memchr(reader->at, '\0', reader->left);

    *ret_length = end ? (size_t)(end - reader->at) : 0;
    return reader_take(reader, end ? *ret_length + 1 : reader->left + 1);
}

/* 4a: an address 0.0.0.x, and the name behind the user. */
static enum socks_state read_four(struct reader *reader, struct socks_request *request)
{
    static const uint8_t nobody[3] = {0};
    const uint8_t *address, *name;
    uint16_t port;
    size_t length;

    request->command = (uint8_t)reader_number(reader, 1);
    port = (uint16_t)reader_number(reader, 2);
    address = reader_take(reader, 4);
    (void)read_text(reader, &length);
    if (reader->is_short)
        return SOCKS_MORE;
    if (memcmp(address, nobody, sizeof(nobody)) != 0 || address[3] == 0) {
        request->wrong = set_address(AF_INET, address, port, &request->to);
        return SOCKS_WHOLE;
    }
    name = read_text(reader, &length);
    if (reader->is_short)
        return SOCKS_MORE;
    request->wrong = set_name(name, length, port, &request->to);
    return SOCKS_WHOLE;
}

enum socks_state socks_read_request(const void *bytes, size_t size, size_t *ret_used,
                                    struct socks_request *ret_request)
{
    struct reader reader = reader_of(bytes, size);
    enum socks_state state;

    *ret_used = 0;
    *ret_request = (struct socks_request){.version = (uint8_t)reader_number(&reader, 1)};
    if (reader.is_short)
        return SOCKS_MORE;
    if (ret_request->version != 4 && ret_request->version != 5)
        return SOCKS_BROKEN;
    state = ret_request->version == 5 ? read_five(&reader, ret_request)
                                      : read_four(&reader, ret_request);
    if (state == SOCKS_WHOLE)
        *ret_used = (size_t)(reader.at - (const uint8_t *)bytes);
    if (state == SOCKS_MORE && size >= SOCKS_REQUEST_MAX)
        return SOCKS_BROKEN;
    return state;
}

size_t socks_write_answer(uint8_t version, enum socks_answer answer,
                          uint8_t out[static SOCKS_ANSWER_BYTES])
{
    memset(out, 0, SOCKS_ANSWER_BYTES);
    if (version == 4) {
        out[1] = answer == SOCKS_GRANTED ? V4_GRANTED : V4_REFUSED;
        return 8;
    }
    out[0] = 5;
    out[1] = (uint8_t)answer;
    out[3] = KIND_V4;
    return 10;
}
