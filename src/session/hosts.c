/* SPDX-License-Identifier: Apache-2.0 */
#include "session/hosts.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "session/own.h"
#include "session/peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void copy_text(char *room, size_t size, const char *text)
{
    text_escape(room, size, text, strlen(text), TEXT_ONE_LINE);
}

static struct control_host *find(struct hosts *hosts, const char *host)
{
    struct control_host *count;

    for (unsigned i = 0; i < hosts->count; i++) {
        if (strcmp(hosts->counts[i].host, host) == 0)
            return &hosts->counts[i];
    }
    if (hosts->count == HOSTS_MOST)
        return &hosts->others;
    count = &hosts->counts[hosts->count++];
    (void)snprintf(count->host, sizeof(count->host), "%s", host);
    return count;
}

void hosts_take(struct hosts *hosts, const struct event *event)
{
    char host[CONTROL_HOST_BYTES];
    struct control_host *count;

    copy_text(host, sizeof(host), event->texts[EVENT_PATH]);
    count = find(hosts, host);
    if (event->what == EVENT_REACHED) {
        count->connections += event->times;
        count->sent += event->sent;
        count->received += event->received;
        count->uncounted += event->uncounted;
        return;
    }
    count->refused += event->times;
}

bool hosts_has_reached(const struct hosts *hosts, const char *name)
{
    char host[CONTROL_HOST_BYTES];

    copy_text(host, sizeof(host), name);
    for (unsigned i = 0; hosts && i < hosts->count; i++) {
        if (strcmp(hosts->counts[i].host, host) == 0)
            return hosts->counts[i].connections > 0;
    }
    return hosts && hosts->count == HOSTS_MOST && hosts->others.connections > 0;
}

const struct control_host *hosts_row(const struct hosts *hosts, unsigned i)
{
    if (!hosts || i > hosts->count)
        return NULL;
    if (i < hosts->count)
        return &hosts->counts[i];
    return hosts->others.connections || hosts->others.refused ? &hosts->others : NULL;
}

struct control_host hosts_sum(const struct hosts *hosts)
{
    const struct control_host *row;
    struct control_host sum = {0};

    for (unsigned i = 0; (row = hosts_row(hosts, i)); i++) {
        sum.connections += row->connections;
        sum.sent += row->sent;
        sum.received += row->received;
        sum.refused += row->refused;
        sum.uncounted += row->uncounted;
    }
    return sum;
}

static struct bawn_peer as_peer(const struct control_host *row)
{
    return (struct bawn_peer){.host = row->host,
                              .connections = row->connections,
                              .sent = row->sent,
                              .received = row->received,
                              .refused = row->refused,
                              .uncounted = row->uncounted};
}

void hosts_as_text(struct strbuf *out, const struct hosts *hosts)
{
    const struct control_host *row;

    for (unsigned i = 0; (row = hosts_row(hosts, i)); i++) {
        const struct bawn_peer peer = as_peer(row);

        if (peer.connections == 0)
            continue;
        strbuf_addf(out, "bawn: %s: ", peer_name(&peer));
        peer_traffic(out, &peer);
        strbuf_add(out, "\n");
    }
}

void hosts_as_json(struct strbuf *out, const struct hosts *hosts)
{
    const struct control_host *row;

    json_open(out, "hosts", '[');
    for (unsigned i = 0; (row = hosts_row(hosts, i)); i++) {
        const struct bawn_peer peer = as_peer(row);

        peer_as_json(out, &peer);
    }
    json_close(out, ']');
}
