/* SPDX-License-Identifier: Apache-2.0 */
/* bawn status: one session, all that is known of it. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "verbs_session/own.h"

#include <string.h>

static void put_line(struct strbuf *out, const char *name, const char *value)
{
    autofree char *shown = text_escape_new(value, strlen(value), TEXT_ONE_LINE);

    strbuf_addf(out, "%-12s ", name);
    strbuf_add(out, shown ? shown : "");
    strbuf_add(out, "\n");
}

static void as_text(struct strbuf *out, const struct bawn_status *status)
{
    put_line(out, "session", status->sid);
    put_line(out, "state", status->state);
    put_line(out, "backend", status->backend[0] ? status->backend : "-");
    strbuf_addf(out, "%-12s %d\n", "launcher", status->pid);
    put_line(out, "command", status->command[0] ? status->command : "-");
    put_line(out, "workspace", status->workspace);
    put_line(out, "enforced", status->enforcement);
    put_line(out, "mode", status->is_detached ? "detached" : "attached");
    put_line(out, "terminal", status->has_terminal ? "yes" : "no");
    for (const char *const *path = status->cgroups; *path; path++)
        put_line(out, "cgroup", *path);
    metrics_as_text(out, status->metrics, NULL);
}

/* The record with what is known beyond it as further members. */
static void as_json(struct strbuf *out, const struct bawn_status *status)
{
    const char *end = strrchr(status->record, '}');

    strbuf_add_bytes(out, status->record, end ? (size_t)(end - status->record) : 0);
    json_put_string(out, "state", status->state);
    json_put_bool(out, "auto_allow", status->may_auto_allow);
    if (status->metrics) {
        json_open(out, "metrics", '{');
        metrics_as_json(out, status->metrics);
        json_close(out, '}');
    } else {
        json_put_string(out, "metrics", NULL);
    }
}

/* Nothing is known of it: the members are there, so that whoever reads them needs no case more. */
static void as_nulls(struct strbuf *out, const char *state)
{
    static const char *const names[] = {"sid",         "backend",    "pid",
                                        "command",     "auto_allow", "workspace",
                                        "enforcement", "metrics",    NULL};

    json_open(out, NULL, '{');
    json_put_string(out, "state", state);
    for (const char *const *name = names; *name; name++)
        json_put_string(out, *name, NULL);
}

/* As data, a session that is not to be reached is an answer too. */
static int print_json(const struct bawn_status *status, const struct bawn_error *err)
{
    bool is_error = status->state && strcmp(status->state, "error") == 0;
    struct strbuf out = {0};
    int result;

    if (status->record[0])
        as_json(&out, status);
    else
        as_nulls(&out, status->state);
    if (is_error)
        json_put_error(&out, err, NULL);
    json_close(&out, '}');
    result = front_print(&out);
    return is_error ? STATUS_FAILED : result;
}

int front_status(struct front *front, struct bawn_error *err)
{
    autostatus struct bawn_status *status = NULL;
    struct strbuf out = {0};
    int result = bawn_session_status(front_sid(front), &status, err);

    if (status && front->json)
        return print_json(status, err);
    if (result < 0 || !status)
        return result;
    as_text(&out, status);
    return front_print(&out);
}
