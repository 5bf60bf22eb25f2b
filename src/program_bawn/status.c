/* SPDX-License-Identifier: Apache-2.0 */
/* bawn status: one session, all that is known of it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "program_bawn/own.h"

#include <errno.h>
#include <string.h>

static void put_line(struct strbuf *out, const char *name, const char *value)
{
    autofree char *shown = text_escape_new(value, strlen(value), TEXT_ONE_LINE);

    strbuf_addf(out, "%-12s ", name);
    strbuf_add(out, shown ? shown : "");
    strbuf_add(out, "\n");
}

static const char state_starting[] = "starting";
static const char state_running[] = "running";
static const char state_stopped[] = "stopped";
static const char state_error[] = "error";

static void as_text(struct strbuf *out, const struct record *record, const char *state,
                    const struct control_metrics *metrics)
{
    put_line(out, "session", record->sid);
    put_line(out, "state", state);
    put_line(out, "backend", record->backend[0] ? record->backend : "-");
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

/* The record with what is known beyond it as further members. metrics may be NULL. */
static void as_json(struct strbuf *out, const char *text, const char *state, bool is_proven,
                    const struct control_metrics *metrics)
{
    const char *end = text ? strrchr(text, '}') : NULL;

    strbuf_add_bytes(out, text ? text : "", end ? (size_t)(end - text) : 0);
    json_put_string(out, "state", state);
    json_put_bool(out, "auto_allow", is_proven);
    if (metrics) {
        json_open(out, "metrics", '{');
        metrics_as_json(out, metrics);
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

/* As data, a session that is not to be reached is an answer too. text: its record, or NULL. */
static int tell_unreached(const struct link *link, const char *text, int result,
                          const struct bawn_error *error)
{
    const char *state = result == -EPIPE ? state_stopped : result == -ESRCH ? NULL : state_error;
    autofree char *left = NULL;
    autofree struct record *record = calloc(1, sizeof(*record));
    struct strbuf out = {0};
    int status;

    /* Its launcher and its keeper were both killed. */
    if (!text && link->sid[0] && link->registry.fd >= 0 && record &&
        registry_read(&link->registry, link->sid, &left, NULL) == 0 && record_read(left, record)) {
        text = left;
        state = state ? state : state_stopped;
    }
    if (text)
        as_json(&out, text, state, false, NULL);
    else
        as_nulls(&out, state);
    if (state == state_error)
        json_put_error(&out, error, NULL);
    json_close(&out, '}');
    status = front_print(&out);
    return state == state_error ? STATUS_FAILED : status;
}

static int ask(const struct link *link, struct control_message *message,
               struct control_metrics *metrics, struct bawn_error *err)
{
    int result = link_send(link, message, err);

    return result < 0
               ? result
               : link_await(link, CONTROL_METRICS, message, metrics, sizeof(*metrics), NULL, err);
}

int front_status(struct front *front, struct bawn_error *err)
{
    autolink struct link link = {.registry.fd = -EBADF, .sock = -EBADF};
    autofree struct record *record = calloc(1, sizeof(*record));
    struct control_message message = {.kind = CONTROL_METRICS};
    struct control_metrics metrics = {0};
    autofree char *text = NULL;
    struct strbuf out = {0};
    const char *state;
    int result;

    if (!record)
        return error_memory(err);
    result = link_open(&link, front, front_sid(front), err);
    /* Which one is meant must be clear before anything is said of it. */
    if (result < 0 && (result != -ESRCH || !front_sid(front)))
        return result;
    if (result == 0)
        result = link_record(&link, record, &text, err);
    if (result == 0)
        result = ask(&link, &message, &metrics, err);
    if (result < 0)
        return front->json ? tell_unreached(&link, text, result, err) : result;
    state = message.flags & CONTROL_STARTING ? state_starting : state_running;
    if (front->json) {
        as_json(&out, text, state, message.flags & CONTROL_PROVEN, &metrics);
        json_close(&out, '}');
    } else {
        as_text(&out, record, state, &metrics);
    }
    return front_print(&out);
}
