/* SPDX-License-Identifier: Apache-2.0 */
/* A line of an audit trail that anybody of the same user may have written, and its members. */
#include "base/json.h"
#include "fuzz/fuzz.h"
#include "wire/chain.h"

static void walk(const char *text, size_t size)
{
    const char *at = text;
    struct json_member member;
    struct strbuf out = {0};

    while (json_next(&at, &member)) {
        fuzz_require(member.key >= text && member.key + member.key_length < text + size);
        fuzz_require(member.value > text && member.value + member.value_length <= text + size);
        fuzz_require(member.value_length > 0 && at == member.value + member.value_length);
        json_add_word(&out, member.value, member.value_length);
    }
    strbuf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct chain before, after, head;
    uint64_t number;

    fuzz_require(text);
    memcpy(text, data, size);
    text[size] = '\0';
    chain_init(&before);
    (void)chain_check(&before, text, size, &number, &after);
    if (chain_read_head(text, size, &head))
        fuzz_require(strlen(head.hash) == CHAIN_HEX);
    walk(text, size);
    if (size > 0)
        walk(text + 1, size - 1);
    free(text);
    return 0;
}
