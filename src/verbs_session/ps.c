/* SPDX-License-Identifier: Apache-2.0 */
/* bawn ps: the sessions that run, and those that have ended. */
#include "base/json.h"
#include "verbs_session/own.h"

#include <string.h>
#include <time.h>

static void put_mode(struct strbuf *out, const struct bawn_status *status)
{
    if (!status->ended)
        strbuf_add(out, status->is_detached ? "detached" : "attached");
    else if (strcmp(status->state, "lost") == 0)
        strbuf_add(out, "lost");
    else
        strbuf_addf(out, "exit %d", status->exit_status);
}

static void put_row(struct strbuf *out, const struct bawn_status *status)
{
    struct strbuf age = {0}, mode = {0};
    uint64_t now = (uint64_t)time(NULL);

    put_duration(&age, now > status->started ? now - status->started : 0);
    put_mode(&mode, status);
    strbuf_addf(out, "%-8s %-8d %-10s %-9s %-12s ", status->sid, status->pid,
                mode.text ? mode.text : "", status->enforcement, age.text ? age.text : "");
    strbuf_addf(out, "%s\n", status->command[0] ? status->command : "-");
    strbuf_done(&age);
    strbuf_done(&mode);
}

/* The record, and with --all what is known beyond it as further members. */
static void put_json(struct strbuf *out, const struct bawn_status *status, bool all)
{
    autostrbuf struct strbuf text = {0};
    const char *end = strrchr(status->record, '}');

    if (!all) {
        json_put_raw(out, NULL, status->record);
        return;
    }
    strbuf_add_bytes(&text, status->record, end ? (size_t)(end - status->record) : 0);
    json_put_string(&text, "state", status->ended ? status->state : "running");
    if (status->ended && strcmp(status->state, "ended") == 0)
        json_put_uint(&text, "status", (uint64_t)status->exit_status);
    if (status->ended)
        json_put_uint(&text, "ended", status->ended);
    json_close(&text, '}');
    if (text.failed)
        out->failed = true;
    else
        json_put_raw(out, NULL, text.text);
}

static int as_json(struct strbuf *out, const struct bawn_status *list, bool all,
                   struct bawn_error *err)
{
    int result = 0;

    json_open(out, NULL, '{');
    json_open(out, "sessions", '[');
    for (; list; list = list->next)
        put_json(out, list, all);
    json_close(out, ']');
    if (all)
        result = changes_put(out, true, err);
    json_close(out, '}');
    return result;
}

static int as_text(struct strbuf *out, const struct bawn_status *list, bool all, bool is_quiet,
                   struct bawn_error *err)
{
    int result;

    if (list)
        strbuf_addf(out, "%-8s %-8s %-10s %-9s %-12s %s\n", "SID", "PID", "MODE", "ENFORCED", "AGE",
                    "COMMAND");
    for (const struct bawn_status *status = list; status; status = status->next)
        put_row(out, status);
    result = all ? changes_put(out, false, err) : 0;
    if (result == 0 && !list && !is_quiet)
        strbuf_add(out,
                   all ? "no session is running, and none is kept\n" : "no session is running\n");
    return result;
}

int front_ps(struct front *front, struct bawn_error *err)
{
    bool all = options_has(&front->options, OPTION_ALL);
    autostatus struct bawn_status *list = NULL;
    struct bawn_status **last = &list;
    struct strbuf out = {0};
    int result = all ? bawn_session_list_ended(&list, err) : 0;

    while (*last)
        last = &(*last)->next;
    if (result >= 0)
        result = bawn_session_list(last, err);
    if (result < 0)
        return result;
    result =
        front->json ? as_json(&out, list, all, err) : as_text(&out, list, all, front->quiet, err);
    if (result < 0) {
        strbuf_done(&out);
        return result;
    }
    return front_print(&out);
}
