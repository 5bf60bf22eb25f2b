/* SPDX-License-Identifier: Apache-2.0 */
/* What bawn learn shows: rules, why they are proposed, and what is not. */
#include "base/cleanup.h"
#include "base/text.h"
#include "program_policy/learn.h"

#include <errno.h>
#include <string.h>

enum { REFUSED_SHOWN = 8 };

void proposal_done(struct proposal *proposal)
{
    vec_each (&proposal->rules, rule)
        free((char *)rule->text);
    vec_done(&proposal->rules);
    vec_done(&proposal->reasons);
}

int proposal_add(struct proposal *proposal, enum bawn_rule_kind kind, const char *text,
                 const struct bawn_evidence *reason)
{
    struct bawn_rule rule = {.kind = kind, .text = strdup(text)};

    if (rule.text && vec_push(&proposal->rules, rule)) {
        if (vec_push(&proposal->reasons, reason))
            return 0;
        proposal->rules.count--;
    }
    free((char *)rule.text);
    return -ENOMEM;
}

void learn_add_reason(struct strbuf *out, const struct bawn_rule *rule,
                      const struct bawn_evidence *reason)
{
    if (!reason) {
        strbuf_add(out, "yours");
        return;
    }
    strbuf_addf(out, "used %llu time%s", (unsigned long long)reason->uses,
                reason->uses == 1 ? "" : "s");
    if (*reason->program) {
        strbuf_add(out, " by ");
        strbuf_add_escaped(out, reason->program);
    }
    if (reason->paths > 1)
        strbuf_addf(out, ", %zu paths", reason->paths);
    if (strcmp(reason->first, rule->text) != 0) {
        strbuf_add(out, ", first ");
        strbuf_add_escaped(out, reason->first);
    }
}

/* The last of the lines that a rule put in: "" where it put in none. */
static const char *last_line(const struct bawn_saved *saved, size_t index, size_t *ret_length)
{
    const char *line = bawn_saved_lines(saved, index);

    *ret_length = strcspn(line, "\n");
    while (line[*ret_length] == '\n' && line[*ret_length + 1]) {
        line += *ret_length + 1;
        *ret_length = strcspn(line, "\n");
    }
    return line;
}

/* The rule that a line of the diff is of, and not yet shown; or SIZE_MAX. */
static size_t rule_of(const struct proposal *proposal, const struct bawn_saved *saved,
                      const bool *shown, const char *line, size_t length)
{
    for (size_t i = 0; i < proposal->rules.count; i++) {
        size_t last_length;
        const char *last = last_line(saved, i, &last_length);

        if (!shown[i] && last_length == length && length > 0 && memcmp(last, line, length) == 0)
            return i;
    }
    return SIZE_MAX;
}

static void add_shown(struct strbuf *out, const char *bytes, size_t length)
{
    autofree char *shown = text_escape_new(bytes, length, TEXT_LINES);

    if (shown)
        strbuf_add(out, shown);
    out->failed = out->failed || !shown;
}

static void add_rest(struct strbuf *out, const struct proposal *proposal, const bool *shown)
{
    for (size_t i = 0; i < proposal->rules.count; i++) {
        const struct bawn_rule *rule = &proposal->rules.items[i];

        if (shown[i])
            continue;
        strbuf_addf(out, "  %s ", bawn_rule_word(rule->kind));
        strbuf_add_escaped(out, rule->text);
        strbuf_add(out, ": ");
        learn_add_reason(out, rule, proposal->reasons.items[i]);
        strbuf_add(out, "\n");
    }
}

void learn_add_diff(struct strbuf *out, const struct proposal *proposal,
                    const struct bawn_saved *saved)
{
    autofree bool *shown = calloc(proposal->rules.count + 1, sizeof(*shown));
    const char *line = bawn_saved_diff(saved);

    if (!shown) {
        out->failed = true;
        return;
    }
    for (size_t number = 0; *line; number++) {
        size_t length = strcspn(line, "\n");
        size_t rule = SIZE_MAX;

        add_shown(out, line, length);
        /* The first two name the file. */
        if (number > 1 && *line == '+')
            rule = rule_of(proposal, saved, shown, line + 1, length - 1);
        if (rule != SIZE_MAX) {
            shown[rule] = true;
            strbuf_add(out, "  # ");
            learn_add_reason(out, &proposal->rules.items[rule], proposal->reasons.items[rule]);
        }
        strbuf_add(out, "\n");
        line += length + (line[length] == '\n');
    }
    add_rest(out, proposal, shown);
}

void learn_add_refused(struct strbuf *out, const struct bawn_learned *learned)
{
    const struct bawn_unlearned *refused;
    size_t count = 0;

    while (bawn_learned_refused(learned, count))
        count++;
    if (count > 0)
        strbuf_add(out, "bawn: not proposed:\n");
    for (size_t i = 0; i < count && i < REFUSED_SHOWN; i++) {
        refused = bawn_learned_refused(learned, i);
        strbuf_addf(out, "  %s ", refused->operation);
        strbuf_add_escaped(out, refused->what);
        strbuf_add(out, " (");
        strbuf_add_escaped(out, refused->why);
        strbuf_add(out, ")");
        if (*refused->program) {
            strbuf_add(out, " by ");
            strbuf_add_escaped(out, refused->program);
        }
        strbuf_add(out, "\n");
    }
    if (count > REFUSED_SHOWN)
        strbuf_addf(out, "  and %zu more: 'bawn audit' has them\n", count - REFUSED_SHOWN);
    if (bawn_learned_left_out(learned) > 0)
        strbuf_addf(out, "bawn: %llu more uses were only counted: there was no room for them\n",
                    (unsigned long long)bawn_learned_left_out(learned));
}
