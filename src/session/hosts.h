/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts that a command reached, and those that it was refused: counted from events, told at the
 * end. */
#ifndef SESSION_HOSTS_H
#define SESSION_HOSTS_H

#include "base/strbuf.h"
#include "wire/control.h"
#include "wire/event.h"

/* The last row of an answer is for the others. */
enum { HOSTS_MOST = CONTROL_HOSTS_MAX - 1, HOSTS_TEXT_BYTES = 256 };

struct host_count {
    struct control_host sum;     /* a name without a port: it was only looked up */
    char why[HOSTS_TEXT_BYTES];  /* of the first refusal */
    char hint[HOSTS_TEXT_BYTES]; /* what would have allowed it */
};

struct hosts {
    struct host_count counts[HOSTS_MOST]; /* in the order in which they came */
    unsigned count;
    struct host_count others; /* all that there was no room for, without a name */
};

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

struct session;
/* Names those that were refused. */
void session_tell_hosts(const struct session *session);

#endif
