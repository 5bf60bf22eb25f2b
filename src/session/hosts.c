/* SPDX-License-Identifier: Apache-2.0 */
#include "session/hosts.h"

#include "base/error.h"
#include "base/text.h"
#include "session/own.h"

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
    char host[HOSTS_NAME_BYTES];
    struct host_count *count;

    copy_text(host, sizeof(host), event->texts[EVENT_PATH]);
    count = find(hosts, host);
    if (event->what == EVENT_REACHED) {
        count->connections += event->times;
        count->sent += event->sent;
        count->received += event->received;
        return;
    }
    if (count->refused == 0 && count != &hosts->others) {
        copy_text(count->why, sizeof(count->why), event->texts[EVENT_MESSAGE]);
        copy_text(count->hint, sizeof(count->hint), event->texts[EVENT_HINT]);
    }
    count->refused += event->times;
}

/* A line for each of the first; most commands that are refused something are refused one host. */
void session_tell_hosts(const struct session *session)
{
    const struct hosts *hosts = session->hosts;
    unsigned told = 0, refused = 0;

    for (unsigned i = 0; hosts && i < hosts->count; i++) {
        const struct host_count *count = &hosts->counts[i];
        struct bawn_error said = {0};

        if (count->refused == 0)
            continue;
        refused++;
        if (told == TOLD_MOST)
            continue;
        told++;
        (void)error_set(&said, EACCES, "run.host", "%s was refused: %s", count->host, count->why);
        error_hint(&said, "%s", count->hint);
        session_say(session, &said);
    }
    if (refused > told || (hosts && hosts->others.refused)) {
        struct bawn_error said = {0};

        (void)error_set(&said, EACCES, "run.host", "refused more hosts than these");
        error_hint(&said, "--debug-log FILE has all of them");
        session_say(session, &said);
    }
}
