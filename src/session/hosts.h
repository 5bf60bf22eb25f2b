/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts that a command reached, and those that it was refused: counted from events, told at the
 * end. */
#ifndef SESSION_HOSTS_H
#define SESSION_HOSTS_H

#include "base/strbuf.h"
#include "wire/control.h"
#include "wire/event.h"

/* The last row of an answer is for the others. */
enum { HOSTS_MOST = CONTROL_HOSTS_MAX - 1 };

struct hosts {
    struct control_host counts[HOSTS_MOST]; /* in the order in which they came; a name without a
                                               port was only looked up */
    unsigned count;
    struct control_host others; /* all that there was no room for, without a name */
};

/* Whether connections to it were counted already. */
bool hosts_has_reached(const struct hosts *hosts, const char *name);
void hosts_take(struct hosts *hosts, const struct event *event);

/* In their order, and then the others where there are some; NULL: no more. hosts may be NULL, and
 * has none then. */
const struct control_host *hosts_row(const struct hosts *hosts, unsigned i);
/* All of them together, without a name. */
struct control_host hosts_sum(const struct hosts *hosts);
/* A line for each that was reached. */
void hosts_as_text(struct strbuf *out, const struct hosts *hosts);
/* As the member "hosts" of an object. */
void hosts_as_json(struct strbuf *out, const struct hosts *hosts);

#endif
