/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts that a command reached, and those that it was refused: counted from events, told at the
 * end. */
#ifndef SESSION_HOSTS_H
#define SESSION_HOSTS_H

#include "base/limits.h"
#include "wire/event.h"

enum { HOSTS_MOST = 64, HOSTS_NAME_BYTES = LIMIT_HOST_BYTES + 8, HOSTS_TEXT_BYTES = 256 };

struct host_count {
    char host[HOSTS_NAME_BYTES]; /* with its port; a name alone where only the name was asked for */
    uint64_t connections, sent, received, refused;
    char why[HOSTS_TEXT_BYTES];  /* of the first refusal */
    char hint[HOSTS_TEXT_BYTES]; /* what would have allowed it */
};

struct hosts {
    struct host_count counts[HOSTS_MOST]; /* in the order in which they came */
    unsigned count;
    struct host_count others; /* all that there was no room for, without a name */
};

void hosts_take(struct hosts *hosts, const struct event *event);

struct session;
/* Names those that were refused. */
void session_tell_hosts(const struct session *session);

#endif
