/* SPDX-License-Identifier: Apache-2.0 */
/* bawn status: one session, all that is known of it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "front/own.h"

#include <errno.h>
#include <string.h>

static void put_line(struct strbuf *out, const char *name, const char *value)
{
    autofree char *shown = text_escape_new(value, strlen(value), TEXT_ONE_LINE);

    strbuf_addf(out, "%-12s ", name);
    strbuf_add(out, shown ? shown : "");
    strbuf_add(out, "\n");
}

static void as_text(struct strbuf *out, const struct record *record,
                    const struct control_metrics *metrics)
{
    put_line(out, "session", record->sid);
    strbuf_addf(out, "%-12s %d\n", "launcher", (int)record->pid);
    put_line(out, "command", record->command[0] ? record->command : "-");
    put_line(out, "workspace", record->workspace);
    put_line(out, "enforced", record->enforcement);
    put_line(out, "mode", record->is_detached ? "detached" : "attached");
    put_line(out, "terminal", record->has_terminal ? "yes" : "no");
    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        if (record->cgroups[i][0])
            put_line(out, "cgroup", record->cgroups[i]);
    }
    metrics_as_text(out, metrics);
}

/* The record with the measurements as one more member. */
static void as_json(struct strbuf *out, const char *text, const struct control_metrics *metrics)
{
    const char *end = strrchr(text, '}');

    strbuf_add_bytes(out, text, end ? (size_t)(end - text) : 0);
    json_open(out, "metrics", '{');
    metrics_as_json(out, metrics);
    json_close(out, '}');
    json_close(out, '}');
}

int front_status(struct front *front, struct bawn_error *err)
{
    autolink struct link link = {.registry.fd = -EBADF, .sock = -EBADF};
    autofree struct record *record = calloc(1, sizeof(*record));
    struct control_message message = {.kind = CONTROL_METRICS};
    struct control_metrics metrics = {0};
    autofree char *text = NULL;
    struct strbuf out = {0};
    int result;

    if (!record)
        return error_memory(err);
    result = link_open(&link, front, front_sid(front), err);
    if (result == 0)
        result = link_record(&link, record, &text, err);
    if (result == 0)
        result = link_send(&link, &message, err);
    if (result == 0)
        result = link_await(&link, CONTROL_METRICS, &message, &metrics, sizeof(metrics), NULL, err);
    if (result < 0 || !text)
        return result;
    if (front->json)
        as_json(&out, text, &metrics);
    else
        as_text(&out, record, &metrics);
    return front_print(&out);
}
