/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a protocol, read from front to back. What is not there sticks: it is checked once, at
 * the end, and until then every read gives 0 or nothing. */
#ifndef NET_READER_H
#define NET_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
    const uint8_t *at;
    size_t left;
    bool is_short; /* more was asked for than there was */
};

static inline struct reader reader_of(const void *bytes, size_t size)
{
    return (struct reader){.at = bytes, .left = size};
}

/* The next bytes, or NULL. */
static inline const uint8_t *reader_take(struct reader *reader, size_t size)
{
    const uint8_t *bytes = reader->at;

    if (reader->is_short || size > reader->left) {
        reader->is_short = true;
        return NULL;
    }
    reader->at += size;
    reader->left -= size;
    return bytes;
}

/* A number of 1 to 4 bytes, the highest first. */
static inline uint32_t reader_number(struct reader *reader, size_t size)
{
    const uint8_t *bytes = reader_take(reader, size);
    uint32_t number = 0;

    for (size_t i = 0; bytes && i < size; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* What follows a length of so many bytes: a reader of that part alone. */
static inline struct reader reader_part(struct reader *reader, size_t length_bytes)
{
    size_t size = reader_number(reader, length_bytes);
    const uint8_t *bytes = reader_take(reader, size);

    return bytes ? reader_of(bytes, size) : (struct reader){.is_short = true};
}

#endif
