/* SPDX-License-Identifier: Apache-2.0 */
/* bawn ps: the sessions that run. */
#include "base/json.h"
#include "verbs_session/own.h"

#include <time.h>

static void put_row(struct strbuf *out, const struct bawn_status *status)
{
    struct strbuf age = {0};
    uint64_t now = (uint64_t)time(NULL);

    put_duration(&age, now > status->started ? now - status->started : 0);
    strbuf_addf(out, "%-8s %-8d %-10s %-9s %-12s ", status->sid, status->pid,
                status->is_detached ? "detached" : "attached", status->enforcement,
                age.text ? age.text : "");
    strbuf_addf(out, "%s\n", status->command[0] ? status->command : "-");
    strbuf_done(&age);
}

int front_ps(struct front *front, struct bawn_error *err)
{
    autostatus struct bawn_status *list = NULL;
    struct strbuf out = {0};
    int result = bawn_session_list(&list, err);

    if (result < 0)
        return result;
    if (front->json) {
        json_open(&out, NULL, '{');
        json_open(&out, "sessions", '[');
        for (const struct bawn_status *status = list; status; status = status->next)
            json_put_raw(&out, NULL, status->record);
        json_close(&out, ']');
        json_close(&out, '}');
    } else if (!list) {
        if (!front->quiet)
            strbuf_add(&out, "no session is running\n");
    } else {
        strbuf_addf(&out, "%-8s %-8s %-10s %-9s %-12s %s\n", "SID", "PID", "MODE", "ENFORCED",
                    "AGE", "COMMAND");
        for (const struct bawn_status *status = list; status; status = status->next)
            put_row(&out, status);
    }
    return front_print(&out);
}
