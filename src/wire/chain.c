/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/chain.h"

#include "base/json.h"
#include "base/text.h"

#include <sha256.h>
#include <stdio.h>
#include <string.h>

#define HASH_KEY ", \"hash\": \""
#define PREV_KEY ", \"prev\": \""
#define SEQ_KEY  "{\"seq\": "
static const char record_end[] = "\"}";

static void put_hex(const uint8_t digest[static SHA256_DIGEST_LENGTH],
                    char out[static CHAIN_HEX + 1])
{
    for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void hash_bytes(const char *bytes, size_t length, char out[static CHAIN_HEX + 1])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)bytes, length);
    SHA256Final(digest, &context);
    put_hex(digest, out);
}

void chain_init(struct chain *chain)
{
    chain->count = 0;
    memset(chain->hash, '0', CHAIN_HEX);
    chain->hash[CHAIN_HEX] = '\0';
}

void chain_open(const struct chain *before, struct strbuf *line)
{
    json_open(line, NULL, '{');
    json_put_uint(line, "seq", before->count + 1);
}

void chain_seal(const struct chain *before, struct strbuf *line, struct chain *ret_after)
{
    json_put_string(line, "prev", before->hash);
    *ret_after = (struct chain){.count = before->count + 1};
    if (line->failed)
        return;
    hash_bytes(line->text, line->length, ret_after->hash);
    json_put_string(line, "hash", ret_after->hash);
    json_close(line, '}');
    strbuf_add(line, "\n");
}

/* The hash behind a key, where that stands; NULL: it does not. */
static const char *find_hash(const char *at, const char *key)
{
    size_t length = strlen(key);

    return strncmp(at, key, length) == 0 && strspn(at + length, "0123456789abcdef") >= CHAIN_HEX
               ? at + length
               : NULL;
}

static bool read_number(const char *line, uint64_t *ret_number)
{
    char digits[24];
    size_t length = strspn(line, "0123456789");

    if (length == 0 || length >= sizeof(digits))
        return false;
    memcpy(digits, line, length);
    digits[length] = '\0';
    return text_parse_count(digits, UINT64_MAX, ret_number);
}

enum chain_fault chain_check(const struct chain *before, const char *line, size_t length,
                             uint64_t *ret_number, struct chain *ret_after)
{
    const size_t end = strlen(HASH_KEY) + CHAIN_HEX + strlen(record_end);
    const size_t ends = end + strlen(PREV_KEY) + CHAIN_HEX + 1;
    const char *hash, *prev;

    *ret_number = 0;
    if (length < strlen(SEQ_KEY) + ends || memchr(line, '\0', length) ||
        strncmp(line, SEQ_KEY, strlen(SEQ_KEY)) != 0 ||
        !read_number(line + strlen(SEQ_KEY), ret_number) ||
        memcmp(line + length - strlen(record_end), record_end, strlen(record_end)) != 0)
        return CHAIN_FORM;
    hash = find_hash(line + length - end, HASH_KEY);
    prev = find_hash(line + length - ends, PREV_KEY);
    if (!hash || !prev)
        return CHAIN_FORM;
    *ret_after = (struct chain){.count = *ret_number};
    hash_bytes(line, length - end, ret_after->hash);
    if (strncmp(hash, ret_after->hash, CHAIN_HEX) != 0)
        return CHAIN_EDITED;
    if (*ret_number != before->count + 1)
        return CHAIN_ORDER;
    return strncmp(prev, before->hash, CHAIN_HEX) == 0 ? CHAIN_FINE : CHAIN_PREV;
}

void chain_put_head(const struct chain *chain, char ret_bytes[static CHAIN_HEAD_BYTES + 1])
{
    (void)snprintf(ret_bytes, CHAIN_HEAD_BYTES + 1, "%020llu %s\n",
                   (unsigned long long)chain->count, chain->hash);
}

bool chain_read_head(const char *bytes, size_t length, struct chain *ret_chain)
{
    char digits[21];

    if (length != CHAIN_HEAD_BYTES || bytes[20] != ' ' || bytes[CHAIN_HEAD_BYTES - 1] != '\n' ||
        strspn(bytes + 21, "0123456789abcdef") != CHAIN_HEX)
        return false;
    memcpy(digits, bytes, 20);
    digits[20] = '\0';
    memcpy(ret_chain->hash, bytes + 21, CHAIN_HEX);
    ret_chain->hash[CHAIN_HEX] = '\0';
    return text_parse_count(digits, UINT64_MAX, &ret_chain->count);
}
