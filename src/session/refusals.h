/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command was refused, for the few lines at the end of one that failed: the
 * latest of them, each once, with what would allow it.
 */
#ifndef SESSION_REFUSALS_H
#define SESSION_REFUSALS_H

#include "base/strbuf.h"
#include "wire/event.h"

enum { REFUSALS_KEPT = 32, REFUSALS_TOLD = 3, REFUSALS_TEXT_BYTES = 768 };

struct refused {
    char op[16];
    char path[REFUSALS_TEXT_BYTES]; /* or a host; printable, as all of these, and masked */
    char rule[REFUSALS_TEXT_BYTES]; /* or why it was, of a host; "": no rule */
    char hint[REFUSALS_TEXT_BYTES]; /* what would allow it; "": nothing */
    uint64_t times;
    bool has_others; /* other paths before, by the same rule */
    uint64_t last;   /* counts events */
};

struct refusals {
    struct refused items[REFUSALS_KEPT]; /* the oldest makes room */
    unsigned count;
    uint64_t events;  /* so far */
    uint64_t dropped; /* items */
};

/* EVENT_REFUSED and EVENT_BARRED. */
void refusals_take(struct refusals *refusals, const struct event *event);

/* Some lines; or one document, with all that are kept. id: of the audit trail that has all of them,
 * or NULL. Nothing, where nothing was refused that could explain a failure. */
void refusals_as_text(struct strbuf *out, const struct refusals *refusals, const char *id);
void refusals_as_json(struct strbuf *out, const struct refusals *refusals, const char *id);

#endif
