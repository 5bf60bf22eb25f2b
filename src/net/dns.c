/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns.h"

#include "base/text.h"
#include "net/reader.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum {
    HEADER_BYTES = 12,
    NAME_BYTES_MAX = 255,
    LABEL_BYTES_MAX = 63,
    IS_ANSWER = 0x8000,
    KIND_OF_QUERY = 0x7800,
    IS_CUT = 0x0200,
    WANTS_RECURSION = 0x0100,
    HAS_RECURSION = 0x0080,
    TYPE_EXTENSION = 41,
    OPTION_REASON = 15,
    NAME_AT_QUESTION = 0xc000 | HEADER_BYTES,
    EXTENSION_BYTES = 11,
    REASON_BYTES_MAX = 200,
};

/*
 * A name label by label; no pointers: a question has nothing before it to point
 * to. What is no name of a host leaves "".
 */
static bool read_name(struct reader *reader, char name[static LIMIT_HOST_BYTES])
{
    const uint8_t *start = reader->at;
    bool is_host = true;
    size_t length = 0;

    for (;;) {
        uint32_t size = reader_number(reader, 1);
        const uint8_t *label = reader_take(reader, size);

        if (reader->is_short || size > LABEL_BYTES_MAX || reader->at - start > NAME_BYTES_MAX)
            return false;
        if (size == 0)
            break;
        if (length > 0 && is_host)
            name[length++] = '.';
        for (size_t i = 0; i < size && is_host; i++) {
            is_host = (isalnum(label[i]) || label[i] == '-' || label[i] == '_') &&
                      length < LIMIT_HOST_BYTES - 1;
            if (is_host)
                name[length++] = (char)tolower(label[i]);
        }
    }
    name[is_host ? length : 0] = '\0';
    return true;
}

/* The one record that may come with a question. */
static bool read_extension(struct reader *reader, struct dns_query *query)
{
    uint32_t root = reader_number(reader, 1);
    uint32_t type = reader_number(reader, 2);

    query->takes_bytes = (uint16_t)reader_number(reader, 2);
    (void)reader_number(reader, 4);
    (void)reader_part(reader, 2);
    query->has_extension = true;
    return !reader->is_short && root == 0 && type == TYPE_EXTENSION;
}

int dns_read_query(const void *bytes, size_t size, struct dns_query *ret_query)
{
    struct reader reader = reader_of(bytes, size);
    struct dns_query *query = ret_query;
    uint32_t flags, questions, answers, authorities, more;

    memset(query, 0, sizeof(*query));
    query->id = (uint16_t)reader_number(&reader, 2);
    flags = reader_number(&reader, 2);
    questions = reader_number(&reader, 2);
    answers = reader_number(&reader, 2);
    authorities = reader_number(&reader, 2);
    more = reader_number(&reader, 2);
    /* An answer to an answer would go on for ever. */
    if (reader.is_short || flags & IS_ANSWER)
        return -EBADMSG;
    query->wants_recursion = flags & WANTS_RECURSION;
    if (flags & KIND_OF_QUERY)
        return DNS_NOT_DONE;
    if (questions != 1 || answers || authorities || more > 1 || !read_name(&reader, query->name))
        return DNS_BAD_FORM;
    query->type = (uint16_t)reader_number(&reader, 2);
    query->class = (uint16_t)reader_number(&reader, 2);
    if (reader.is_short)
        return DNS_BAD_FORM;
    query->question_bytes = (size_t)(reader.at - (const uint8_t *)bytes) - HEADER_BYTES;
    memcpy(query->question, (const uint8_t *)bytes + HEADER_BYTES, query->question_bytes);
    if ((more && !read_extension(&reader, query)) || reader.left) {
        query->has_extension = false;
        return DNS_BAD_FORM;
    }
    return 0;
}

size_t dns_udp_limit(const struct dns_query *query)
{
    if (!query->has_extension || query->takes_bytes < DNS_UDP_BYTES)
        return DNS_UDP_BYTES;
    return query->takes_bytes < DNS_UDP_MAX ? query->takes_bytes : DNS_UDP_MAX;
}

struct writer {
    uint8_t *out;
    size_t size;
};

static void write_number(struct writer *writer, uint32_t number, size_t bytes)
{
    while (bytes-- > 0)
        writer->out[writer->size++] = (uint8_t)(number >> 8 * bytes);
}

static void write_bytes(struct writer *writer, const void *bytes, size_t size)
{
    if (size > 0)
        memcpy(writer->out + writer->size, bytes, size);
    writer->size += size;
}

static void write_extension(struct writer *writer, const struct dns_answer *answer, size_t room)
{
    size_t text = answer->text ? strnlen(answer->text, REASON_BYTES_MAX) : 0;
    size_t option = answer->reason ? 6 + text : 0;

    if (option > room)
        option = 0;
    write_number(writer, 0, 1);
    write_number(writer, TYPE_EXTENSION, 2);
    write_number(writer, DNS_UDP_MAX, 2);
    write_number(writer, 0, 4);
    write_number(writer, (uint32_t)option, 2);
    if (option == 0)
        return;
    write_number(writer, OPTION_REASON, 2);
    write_number(writer, (uint32_t)(2 + text), 2);
    write_number(writer, answer->reason, 2);
    write_bytes(writer, answer->text, text);
}

/* Label by label. Names of hosts have no dot at an end. */
static bool encode_name(const char *name, struct writer *writer)
{
    while (*name) {
        size_t label = strcspn(name, ".");

        if (label == 0 || label > LABEL_BYTES_MAX || writer->size + label + 2 > NAME_BYTES_MAX)
            return false;
        write_number(writer, (uint32_t)label, 1);
        write_bytes(writer, name, label);
        name += label + (name[label] == '.');
    }
    write_number(writer, 0, 1);
    return true;
}

/* What the records of an answer hold, of the same size each. */
struct records {
    const uint8_t *bytes;
    size_t size, count;
    uint8_t name[NAME_BYTES_MAX];
};

static void find_records(const struct dns_query *query, const struct dns_answer *answer,
                         struct records *ret)
{
    struct writer writer = {.out = ret->name};

    ret->bytes = answer->addresses;
    ret->size = query->type == DNS_AAAA ? 16 : 4;
    ret->count = answer->address_count;
    if (!answer->name)
        return;
    ret->bytes = ret->name;
    ret->count = encode_name(answer->name, &writer);
    ret->size = writer.size;
}

size_t dns_write_answer(const struct dns_query *query, const struct dns_answer *answer,
                        size_t limit, uint8_t out[static DNS_ANSWER_MAX])
{
    struct writer writer = {.size = 0};
    struct records records;
    size_t fixed =
        HEADER_BYTES + query->question_bytes + (query->has_extension ? EXTENSION_BYTES : 0);
    size_t room = (limit < DNS_ANSWER_MAX ? limit : DNS_ANSWER_MAX) - fixed;
    size_t count;
    uint32_t flags;

    find_records(query, answer, &records);
    count = room / (12 + records.size);
    if (count > records.count)
        count = records.count;
    flags = IS_ANSWER | HAS_RECURSION | (query->wants_recursion ? WANTS_RECURSION : 0) |
            (count < records.count ? IS_CUT : 0) | answer->code;

    writer.out = out;
    write_number(&writer, query->id, 2);
    write_number(&writer, flags, 2);
    write_number(&writer, query->question_bytes ? 1 : 0, 2);
    write_number(&writer, (uint32_t)count, 2);
    write_number(&writer, 0, 2);
    write_number(&writer, query->has_extension ? 1 : 0, 2);
    write_bytes(&writer, query->question, query->question_bytes);
    for (size_t i = 0; i < count; i++) {
        write_number(&writer, NAME_AT_QUESTION, 2);
        write_number(&writer, query->type, 2);
        write_number(&writer, query->class, 2);
        write_number(&writer, answer->lasts_seconds, 4);
        write_number(&writer, (uint32_t)records.size, 2);
        write_bytes(&writer, records.bytes + i * records.size, records.size);
    }
    if (query->has_extension)
        write_extension(&writer, answer, room - count * (12 + records.size));
    return writer.size;
}

/* "1.2.0.192" is 192.0.2.1. */
static bool reverse_v4(const char *name, size_t length, struct host *ret_address)
{
    char text[sizeof("255.255.255.255")] = "";
    size_t end = length, written = 0;

    if (length >= sizeof(text))
        return false;
    while (end > 0) {
        size_t start = end;

        while (start > 0 && name[start - 1] != '.')
            start--;
        if (written > 0)
            text[written++] = '.';
        memcpy(text + written, name + start, end - start);
        written += end - start;
        end = start > 0 ? start - 1 : 0;
    }
    return host_parse_address(text, ret_address);
}

/* A digit and a dot for each four bits, the last first. */
static bool reverse_v6(const char *name, size_t length, struct host *ret_address)
{
    char text[sizeof("0000:0000:0000:0000:0000:0000:0000:0000")] = "";
    size_t written = 0;

    if (length != 63)
        return false;
    for (size_t i = 0; i < 32; i++) {
        if (!isxdigit((unsigned char)name[62 - 2 * i]) || (i < 31 && name[61 - 2 * i] != '.'))
            return false;
        if (i > 0 && i % 4 == 0)
            text[written++] = ':';
        text[written++] = name[62 - 2 * i];
    }
    return host_parse_address(text, ret_address);
}

bool dns_reverse(const char *name, struct host *ret_address)
{
    static const char v4[] = ".in-addr.arpa", v6[] = ".ip6.arpa";
    size_t length = strlen(name);

    if (text_ends_with(name, v4))
        return reverse_v4(name, length - (sizeof(v4) - 1), ret_address);
    return text_ends_with(name, v6) && reverse_v6(name, length - (sizeof(v6) - 1), ret_address);
}
