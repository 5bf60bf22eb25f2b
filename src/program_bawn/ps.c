/* SPDX-License-Identifier: Apache-2.0 */
/* bawn ps: the sessions that run. */
#include "base/json.h"
#include "program_bawn/own.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The record as it stands, without the end of its line. */
static void put_record(struct strbuf *out, const struct record *record)
{
    record->text[strcspn(record->text, "\n")] = '\0';
    json_put_raw(out, NULL, record->text);
}

static void put_row(struct strbuf *out, const struct record *record)
{
    struct strbuf age = {0};
    uint64_t now = (uint64_t)time(NULL);

    put_duration(&age, now > record->started ? now - record->started : 0);
    strbuf_addf(out, "%-8s %-8d %-10s %-9s %-12s ", record->sid, (int)record->pid,
                record->is_detached ? "detached" : "attached", record->enforcement,
                age.text ? age.text : "");
    strbuf_addf(out, "%s\n", record->command[0] ? record->command : "-");
    strbuf_done(&age);
}

int front_ps(struct front *front, struct bawn_error *err)
{
    autorecords struct record_list list = {0};
    struct registry registry = {.fd = -EBADF};
    struct strbuf out = {0};
    int result = registry_open(&registry, front->environ, false, err);

    if (result == 0) {
        result = record_list_read(&registry, &list, err);
        if (list.records.count == 0)
            (void)rmdir(registry.path);
        registry_close(&registry);
    }
    if (result < 0 && result != -ENOENT)
        return result;
    if (front->json) {
        json_open(&out, NULL, '{');
        json_open(&out, "sessions", '[');
        vec_each (&list.records, record)
            put_record(&out, record);
        json_close(&out, ']');
        json_close(&out, '}');
    } else if (list.records.count == 0) {
        if (!front->quiet)
            strbuf_add(&out, "no session is running\n");
    } else {
        strbuf_addf(&out, "%-8s %-8s %-10s %-9s %-12s %s\n", "SID", "PID", "MODE", "ENFORCED",
                    "AGE", "COMMAND");
        vec_each (&list.records, record)
            put_row(&out, record);
    }
    return front_print(&out);
}
