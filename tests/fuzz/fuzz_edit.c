/* SPDX-License-Identifier: Apache-2.0 */
/* A rule put into a policy file and taken out of it: nothing else changes. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "config/diff.h"
#include "config/edit.h"
#include "fuzz/fuzz.h"

/*
 * How it works: the first line is a rule, "KEY VALUE" or "MODE ROOT"; the rest is
 * the file. Where the rule is put in, the new text is the old one with bytes put
 * in at one place, or with another mode at one place; so every comment is there.
 * It parses, a second time changes nothing, and who takes the rule out again
 * has a file that says what the old one said.
 */
static const char *const keys[] = {
    "sandbox.deny",          "sandbox.ask",    "sandbox.protect",     "sandbox.network.allow",
    "sandbox.network.deny",  "sandbox.reopen", "sandbox.network.ask", "sandbox.confirm",
    "sandbox.network.hosts", "presets"};
static const char *const modes[] = {"ro", "rw", "ask", "deny"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool read_rule(char *line, struct edit_rule *rule)
{
    rule->value = fuzz_split(line);
    if (!rule->value || !*rule->value)
        return false;
    for (size_t i = 0; i < COUNT(modes); i++)
        if (strcmp(line, modes[i]) == 0) {
            rule->key = EDIT_PATHS;
            rule->mode = modes[i];
        }
    for (size_t i = 0; i < COUNT(keys); i++)
        if (strcmp(line, keys[i]) == 0)
            rule->key = keys[i];
    return rule->key != NULL;
}

/* The new text is the old one with something put in at one place. Where that is a mode, it takes
 * the place of another, which is no comment. */
static void check_bytes(const struct edit_text *old, const struct strbuf *new, bool may_replace)
{
    size_t start = 0;
    size_t end = 0;
    size_t shorter = old->length < new->length ? old->length : new->length;

    while (start < shorter && old->text[start] == new->text[start])
        start++;
    while (end < shorter - start &&
           old->text[old->length - 1 - end] == new->text[new->length - 1 - end])
        end++;
    fuzz_require(may_replace || start + end == old->length);
    fuzz_require(!memchr(old->text + start, '#', old->length - start - end));
}

static bool parses(const char *text, size_t length)
{
    struct config_document document = {.file = "new"};
    int r = config_parse(&document, FORMAT_BAWN, text, length, NULL);

    config_document_done(&document);
    return r == 0;
}

static void check_added(const struct edit_text *old, const struct edit_rule *rule,
                        const struct strbuf *added)
{
    struct edit_text new = {"new", added->text, added->length};
    struct diff_text before = {"a", old->text, old->length};
    struct diff_text after = {"b", added->text, added->length};
    autostrbuf struct strbuf again = {0};
    autostrbuf struct strbuf back = {0};
    autostrbuf struct strbuf diff = {0};

    fuzz_require(added->length > 0);
    fuzz_require(parses(added->text, added->length));
    check_bytes(old, added, rule->mode != NULL);
    fuzz_require(edit_add(&new, rule, &again, NULL) == 0);
    diff_unified(&before, &after, &diff);
    fuzz_require(!diff.failed && diff.length > 0);
    /* It may be refused, for a comment that stands in between. */
    if (edit_remove(&new, rule, &back, NULL) == 1)
        fuzz_require(parses(back.text ? back.text : "", back.length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = fuzz_lines_begin(data, size);
    struct edit_rule rule = {0};
    char *line = fuzz_line(&lines);

    if (line && read_rule(line, &rule) && lines.next) {
        size_t skipped = (size_t)(lines.next - lines.text);
        struct edit_text old = {"old", (const char *)data + skipped, size - skipped};
        autostrbuf struct strbuf added = {0};
        autostrbuf struct strbuf removed = {0};
        int r = edit_add(&old, &rule, &added, NULL);

        if (r == 1)
            check_added(&old, &rule, &added);
        else
            fuzz_require(r == 0 || r == -EINVAL);
        r = edit_remove(&old, &rule, &removed, NULL);
        fuzz_require(r == 0 || r == 1 || r == -EINVAL);
        if (r == 1)
            fuzz_require(removed.length < old.length &&
                         parses(removed.text ? removed.text : "", removed.length));
    }
    fuzz_lines_end(&lines);
    return 0;
}
