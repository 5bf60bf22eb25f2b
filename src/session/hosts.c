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

enum { TOLD_MOST = 8 };

static void copy_text(char *room, size_t size, const char *text)
{
    text_escape(room, size, text, strlen(text), TEXT_ONE_LINE);
}

static struct host_count *find(struct hosts *hosts, const char *host)
{
    struct host_count *count;

    for (unsigned i = 0; i < hosts->count; i++) {
        if (strcmp(hosts->counts[i].sum.host, host) == 0)
            return &hosts->counts[i];
    }
    if (hosts->count == HOSTS_MOST)
        return &hosts->others;
    count = &hosts->counts[hosts->count++];
    (void)snprintf(count->sum.host, sizeof(count->sum.host), "%s", host);
    return count;
}

void hosts_take(struct hosts *hosts, const struct event *event)
{
    char host[CONTROL_HOST_BYTES];
    struct host_count *count;

    copy_text(host, sizeof(host), event->texts[EVENT_PATH]);
    count = find(hosts, host);
    if (event->what == EVENT_REACHED) {
        count->sum.connections += event->times;
        count->sum.sent += event->sent;
        count->sum.received += event->received;
        count->sum.uncounted += event->uncounted;
        return;
    }
    if (count->sum.refused == 0 && count != &hosts->others) {
        copy_text(count->why, sizeof(count->why), event->texts[EVENT_MESSAGE]);
        copy_text(count->hint, sizeof(count->hint), event->texts[EVENT_HINT]);
    }
    count->sum.refused += event->times;
}

const struct control_host *hosts_row(const struct hosts *hosts, unsigned i)
{
    if (!hosts || i > hosts->count)
        return NULL;
    if (i < hosts->count)
        return &hosts->counts[i].sum;
    return hosts->others.sum.connections || hosts->others.sum.refused ? &hosts->others.sum : NULL;
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

/* A line for each of the first; most commands that are refused something are refused one host. */
void session_tell_hosts(const struct session *session)
{
    const struct hosts *hosts = session->hosts;
    unsigned told = 0, refused = 0;

    for (unsigned i = 0; hosts && i < hosts->count; i++) {
        const struct host_count *count = &hosts->counts[i];
        struct bawn_error said = {0};

        if (count->sum.refused == 0)
            continue;
        refused++;
        if (told == TOLD_MOST)
            continue;
        told++;
        (void)error_set(&said, EACCES, "run.host", "%s was refused: %s", count->sum.host,
                        count->why);
        error_hint(&said, "%s", count->hint);
        session_say(session, &said);
    }
    if (refused > told || (hosts && hosts->others.sum.refused)) {
        struct bawn_error said = {0};

        (void)error_set(&said, EACCES, "run.host", "refused more hosts than these");
        error_hint(&said, "--debug-log FILE has all of them");
        session_say(session, &said);
    }
}
