/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it works: the message may be split over records, and a record over
 * packets. So the records that have come are put together first; the message is
 * read when it is whole. Whatever two readers could understand differently
 * (an extension twice, two names, bytes behind the end) makes it broken.
 */
#include "net/hello.h"

#include "net/reader.h"

#include <stdio.h>
#include <string.h>

enum {
    RECORD_HANDSHAKE = 22,
    RECORD_BYTES_MAX = 16384,
    RECORD_HEADER = 5,
    MESSAGE_HEADER = 4,
    CLIENT_HELLO = 1,
    RANDOM_BYTES = 32,
    SESSION_ID_MAX = 32,
    EXTENSIONS_MAX = 64,
    EXTENSION_NAME = 0,
    EXTENSION_HIDDEN = 0xfe0d,
    NAME_IS_HOST = 0,
};

struct message {
    uint8_t bytes[MESSAGE_HEADER + HELLO_BYTES_MAX];
    size_t size;
};

/* Puts the message together. HELLO_WHOLE when it is complete. */
static enum hello_state join_records(struct reader *reader, struct message *message)
{
    while (reader->left > 0) {
        struct reader header = *reader;
        uint32_t type = reader_number(&header, 1);
        uint32_t major = header.left ? reader_number(&header, 1) : 3;
        uint32_t length;
        size_t wanted, here;
        const uint8_t *bytes;

        if (type != RECORD_HANDSHAKE || major != 3)
            return message->size ? HELLO_BROKEN : HELLO_FOREIGN;
        (void)reader_number(&header, 1);
        length = reader_number(&header, 2);
        if (header.is_short)
            return HELLO_MORE;
        if (length == 0 || length > RECORD_BYTES_MAX)
            return HELLO_BROKEN;
        here = header.left < length ? header.left : length;
        bytes = reader_take(&header, here);
        wanted = sizeof(message->bytes) - message->size;
        if (here > wanted)
            return HELLO_BROKEN;
        memcpy(message->bytes + message->size, bytes, here);
        message->size += here;
        if (message->size >= MESSAGE_HEADER) {
            struct reader start = reader_of(message->bytes, MESSAGE_HEADER);
            uint32_t kind = reader_number(&start, 1);
            size_t whole = MESSAGE_HEADER + (size_t)reader_number(&start, 3);

            if (kind != CLIENT_HELLO || whole > sizeof(message->bytes) || message->size > whole)
                return HELLO_BROKEN;
            /* The record must end with the message, or another one follows before an answer. */
            if (message->size == whole)
                return here == length ? HELLO_WHOLE : HELLO_BROKEN;
        }
        if (here < length)
            return HELLO_MORE;
        *reader = header;
    }
    return HELLO_MORE;
}

/* One name, of a host. */
static bool read_name(struct reader extension, char name[static LIMIT_HOST_BYTES])
{
    struct reader list = reader_part(&extension, 2);
    uint32_t kind = reader_number(&list, 1);
    struct reader text = reader_part(&list, 2);
    char target[LIMIT_HOST_BYTES + 8];
    struct host host;

    if (text.is_short || extension.left || list.left || kind != NAME_IS_HOST)
        return false;
    if (text.left == 0 || text.left >= LIMIT_HOST_BYTES || memchr(text.at, '\0', text.left))
        return false;
    (void)snprintf(target, sizeof(target), "%.*s:443", (int)text.left, (const char *)text.at);
    if (host_parse_target(target, &host) || host.kind != HOST_NAME)
        return false;
    memcpy(name, host.name, LIMIT_HOST_BYTES);
    return true;
}

static bool read_extensions(struct reader list, struct hello *hello)
{
    uint16_t seen[EXTENSIONS_MAX];
    size_t count = 0;

    while (list.left > 0 && !list.is_short) {
        uint16_t type = (uint16_t)reader_number(&list, 2);
        struct reader extension = reader_part(&list, 2);

        if (extension.is_short || count == EXTENSIONS_MAX)
            return false;
        for (size_t i = 0; i < count; i++)
            if (seen[i] == type)
                return false;
        seen[count++] = type;
        if (type == EXTENSION_HIDDEN)
            hello->hides_name = true;
        if (type == EXTENSION_NAME && !read_name(extension, hello->name))
            return false;
    }
    return !list.is_short;
}

static bool read_message(const struct message *message, struct hello *hello)
{
    struct reader reader =
        reader_of(message->bytes + MESSAGE_HEADER, message->size - MESSAGE_HEADER);
    uint32_t version = reader_number(&reader, 2);
    struct reader session, suites, methods, extensions;

    (void)reader_take(&reader, RANDOM_BYTES);
    session = reader_part(&reader, 1);
    suites = reader_part(&reader, 2);
    methods = reader_part(&reader, 1);
    if (reader.is_short || version >> 8 != 3 || session.left > SESSION_ID_MAX)
        return false;
    if (suites.left < 2 || suites.left % 2 || methods.left < 1)
        return false;
    if (reader.left == 0) /* before TLS 1.2 there may be none */
        return true;
    extensions = reader_part(&reader, 2);
    return !reader.is_short && reader.left == 0 && read_extensions(extensions, hello);
}

enum hello_state hello_read(const void *bytes, size_t size, struct hello *ret_hello)
{
    struct reader reader = reader_of(bytes, size);
    struct message message;
    enum hello_state state;

    message.size = 0;
    *ret_hello = (struct hello){0};
    state = join_records(&reader, &message);
    if (state != HELLO_WHOLE)
        return state;
    if (read_message(&message, ret_hello))
        return HELLO_WHOLE;
    *ret_hello = (struct hello){0};
    return HELLO_BROKEN;
}
