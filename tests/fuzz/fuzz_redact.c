/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets masked in any text: a token that is planted in it never comes through. */
#include "base/redact.h"
#include "fuzz/fuzz.h"

#define SECRET "q0w1e2r3t4y5u6i7o8p9a0s1"

static void check(struct strbuf *out, size_t length)
{
    fuzz_require(!out->failed && out->text);
    fuzz_require(!strstr(out->text, SECRET));
    /* Each mask stands for a byte or more. */
    fuzz_require(out->length <= length * strlen(REDACT_MASK));
    strbuf_done(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = fuzz_lines_begin(data, size);
    struct redact_words words = {.next = REDACT_NOTHING};
    struct strbuf planted = {0};
    struct strbuf out = {0};
    const char *line;

    while ((line = fuzz_line(&lines))) {
        strbuf_addf(&planted, "%s ghp_" SECRET " %s", line, line);
        redact_text(&out, planted.text);
        check(&out, planted.length);
        redact_word(&words, &out, planted.text);
        check(&out, planted.length);
        strbuf_done(&planted);
    }
    fuzz_lines_end(&lines);
    return 0;
}
