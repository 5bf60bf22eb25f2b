/* SPDX-License-Identifier: Apache-2.0 */
#include "session/refusals.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/redact.h"
#include "base/text.h"

#include <string.h>

static void put_text(char room[static REFUSALS_TEXT_BYTES], const char *text)
{
    autostrbuf struct strbuf masked = {0};

    redact_text(&masked, text);
    if (masked.text && !masked.failed)
        text_escape(room, REFUSALS_TEXT_BYTES, masked.text, masked.length, TEXT_ONE_LINE);
    else
        *room = '\0';
}

/* A rule is named once, however many paths it is about. Where none decided, the path tells. */
static bool is_same(const struct refused *one, const struct refused *other, bool is_host)
{
    bool by_rule = !is_host && *other->rule && strcmp(other->rule, "default") != 0;

    return strcmp(one->op, other->op) == 0 && strcmp(one->rule, other->rule) == 0 &&
           (by_rule || strcmp(one->path, other->path) == 0);
}

static struct refused *find(struct refusals *refusals, const struct refused *wanted, bool is_host)
{
    struct refused *oldest = &refusals->items[0];

    for (unsigned i = 0; i < refusals->count; i++) {
        struct refused *item = &refusals->items[i];

        if (is_same(item, wanted, is_host))
            return item;
        if (item->last < oldest->last)
            oldest = item;
    }
    if (refusals->count < REFUSALS_KEPT)
        return &refusals->items[refusals->count++];
    refusals->dropped++;
    *oldest = (struct refused){.times = 0};
    return oldest;
}

/* Git tells an errno, and not that there is a way; and of what it writes beside, an option for one
 * path would not be enough. */
static const char *find_hint(const struct event *event)
{
    const char *path = event->texts[EVENT_PATH];

    if (event->what == EVENT_REFUSED && strncmp(event->texts[EVENT_COMM], "git", 3) == 0 &&
        strncmp(event->texts[EVENT_RULE], "protect", 7) == 0 && strstr(path, "/.git") &&
        !text_ends_with(path, "/config") && !text_ends_with(path, "/.gitmodules"))
        return "do it outside; a worktree or submodule that is there can be worked in";
    return event->texts[EVENT_HINT];
}

void refusals_take(struct refusals *refusals, const struct event *event)
{
    bool is_host = event->what == EVENT_BARRED;
    const char *const *texts = event->texts;
    struct refused new = {.times = event->times, .last = ++refusals->events};
    struct refused *item;

    /* What is said of tracing is in session/notes.c. */
    if (strcmp(texts[EVENT_OP], "trace") == 0)
        return;
    text_escape(new.op, sizeof(new.op), is_host ? "connect" : texts[EVENT_OP],
                strlen(is_host ? "connect" : texts[EVENT_OP]), TEXT_ONE_LINE);
    put_text(new.path, texts[EVENT_PATH]);
    put_text(new.rule, texts[is_host ? EVENT_MESSAGE : EVENT_RULE]);
    put_text(new.hint, find_hint(event));
    item = find(refusals, &new, is_host);
    new.times += item->times;
    new.has_others = item->times && (item->has_others || strcmp(item->path, new.path) != 0);
    /* A count that comes later tells of no caller, and of no other path. */
    if (item->times && event->pid == 0 && !is_host)
        item->times = new.times;
    else
        *item = new;
}

/* The latest that are not among the first: in the order in which they came. */
static unsigned choose(const struct refusals *refusals,
                       const struct refused *ret[static REFUSALS_TOLD])
{
    unsigned count = 0;

    for (unsigned n = 0; n < REFUSALS_TOLD && n < refusals->count; n++) {
        const struct refused *latest = NULL;

        for (unsigned i = 0; i < refusals->count; i++) {
            const struct refused *item = &refusals->items[i];

            if ((!latest || item->last > latest->last) &&
                (count == 0 || item->last < ret[count - 1]->last))
                latest = item;
        }
        ret[count++] = latest;
    }
    for (unsigned i = 0; i < count / 2; i++) {
        const struct refused *swapped = ret[i];

        ret[i] = ret[count - 1 - i];
        ret[count - 1 - i] = swapped;
    }
    return count;
}

/* Of a hint that begins with an option that alone; others whole. */
static void add_hint(struct strbuf *out, const char *hint)
{
    const char *end = NULL;

    if (strncmp(hint, "add --", 6) != 0) {
        strbuf_addf(out, "\n    to change: %s", hint);
        return;
    }
    for (const char *at = hint; (at = strstr(at, "', or ")); at++)
        end = at;
    strbuf_add(out, "\n    allow with: ");
    strbuf_add_bytes(out, hint + 4, end ? (size_t)(end - hint) - 3 : strlen(hint) - 4);
}

static void add_item(struct strbuf *out, const struct refused *item)
{
    strbuf_addf(out, "  %s %s", item->op, item->path);
    if (*item->rule)
        strbuf_addf(out, " (%s)", item->rule);
    strbuf_add(out, item->has_others ? ", and others before by the same rule" : "");
    if (*item->hint)
        add_hint(out, item->hint);
    strbuf_add(out, "\n");
}

void refusals_as_text(struct strbuf *out, const struct refusals *refusals, const char *id)
{
    const struct refused *told[REFUSALS_TOLD] = {NULL};
    unsigned count = refusals ? choose(refusals, told) : 0;
    unsigned long long more;

    if (count == 0)
        return;
    more = refusals->count - count + refusals->dropped;
    strbuf_addf(out,
                count + more == 1 ? "bawn: 1 thing was refused:\n"
                                  : "bawn: %llu things were refused:\n",
                count + more);
    for (unsigned i = 0; i < count; i++)
        add_item(out, told[i]);
    if (more > 0)
        strbuf_addf(out, "  and before that %llu more", more);
    if (more > 0 && id)
        strbuf_addf(out, ": 'bawn audit %s' lists all", id);
    strbuf_add(out, more > 0 ? "\n" : "");
}

void refusals_as_json(struct strbuf *out, const struct refusals *refusals, const char *id)
{
    const struct refused *told[REFUSALS_TOLD] = {NULL};
    unsigned count = refusals ? choose(refusals, told) : 0;

    if (count == 0)
        return;
    json_open(out, NULL, '{');
    json_open(out, "refused", '[');
    for (unsigned i = 0; i < count; i++) {
        json_open(out, NULL, '{');
        json_put_string(out, "op", told[i]->op);
        json_put_string(out, "path", told[i]->path);
        json_put_string(out, "rule", told[i]->rule);
        json_put_uint(out, "times", told[i]->times);
        json_put_string(out, "allow", *told[i]->hint ? told[i]->hint : NULL);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_put_uint(out, "more", refusals->count - count + refusals->dropped);
    json_put_string(out, "audit", id);
    json_close(out, '}');
    strbuf_add(out, "\n");
}
