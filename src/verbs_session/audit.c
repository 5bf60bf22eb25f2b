/* SPDX-License-Identifier: Apache-2.0 */
/* bawn audit: what was recorded of sessions. */
#include <bawn/audit.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "verbs_session/own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void close_audit(struct bawn_audit **audit)
{
    bawn_audit_close(*audit);
}
#define autoaudit __attribute__((cleanup(close_audit)))

static void free_trails(struct bawn_trail **list)
{
    bawn_trail_free(*list);
}
#define autotrails __attribute__((cleanup(free_trails)))

static bool is_json(const struct front *front)
{
    const char *format = options_value(&front->options, OPTION_FORMAT);

    return front->json || (format && strcmp(format, "json") == 0);
}

static void put_trail(struct strbuf *out, const struct bawn_trail *trail)
{
    bool has_ended = strcmp(trail->state, "ended") == 0;

    json_open(out, NULL, '{');
    json_put_string(out, "id", trail->id);
    json_put_string(out, "state", trail->state);
    if (has_ended)
        json_put_uint(out, "status", (uint64_t)trail->status);
    else
        json_put_string(out, "status", NULL);
    json_put_string(out, "started", trail->started);
    json_put_string(out, "command", trail->command);
    json_close(out, '}');
}

static int list(const struct front *front, struct bawn_error *err)
{
    autotrails struct bawn_trail *trails = NULL;
    int result = bawn_trail_list(&trails, err);
    struct strbuf out = {0};

    if (result < 0)
        return result;
    if (is_json(front)) {
        json_open(&out, NULL, '{');
        json_open(&out, "trails", '[');
        for (const struct bawn_trail *trail = trails; trail; trail = trail->next)
            put_trail(&out, trail);
        json_close(&out, ']');
        json_close(&out, '}');
        return front_print(&out);
    }
    if (trails)
        strbuf_addf(&out, "%-26s  %-9s %s\n", "ID", "STATE", "COMMAND");
    for (const struct bawn_trail *trail = trails; trail; trail = trail->next) {
        char state[16];

        (void)snprintf(state, sizeof(state), "exit %d", trail->status);
        strbuf_addf(&out, "%-26s  %-9s %s\n", trail->id,
                    strcmp(trail->state, "ended") == 0 ? state : trail->state,
                    trail->command[0] ? trail->command : "-");
    }
    return front_print(&out);
}

static void tell_mended(const struct front *front, const struct bawn_audit *audit)
{
    if (bawn_audit_mended(audit) > 0 && !front->quiet)
        (void)fprintf(stderr,
                      "bawn: %s: bawn was killed while it wrote the last record: what was there of "
                      "it, %llu bytes, is removed\n",
                      bawn_audit_id(audit), (unsigned long long)bawn_audit_mended(audit));
}

/* "TIME EVENT name=value..." */
static void put_record(struct strbuf *out, const char *record)
{
    struct strbuf rest = {0};
    struct json_member member;
    const char *at = record + (*record == '{');

    while (json_next(&at, &member)) {
        if (json_is(&member, "time") || json_is(&member, "event")) {
            json_add_word(out, member.value, member.value_length);
            strbuf_add(out, json_is(&member, "time") ? " " : "");
        } else if (!json_is(&member, "seq") && !json_is(&member, "prev") &&
                   !json_is(&member, "hash")) {
            strbuf_add(&rest, " ");
            strbuf_add_bytes(&rest, member.key, member.key_length);
            strbuf_add(&rest, "=");
            json_add_word(&rest, member.value, member.value_length);
        }
    }
    /* What is no record is shown all the same. */
    strbuf_add(out, out->length ? "" : record);
    strbuf_add(out, rest.text ? rest.text : "");
    out->failed = out->failed || rest.failed;
    strbuf_done(&rest);
}

static int show(const struct front *front, struct bawn_audit *audit, struct bawn_error *err)
{
    const char *record;
    int result;

    while ((result = bawn_audit_read(audit, &record, err)) > 0) {
        struct strbuf out = {0};

        if (is_json(front))
            strbuf_add(&out, record);
        else
            put_record(&out, record);
        if (front_print(&out) != 0)
            return error_errno(err, EIO, "write standard output");
    }
    return result;
}

static int begin(const struct front *front, struct bawn_audit *audit, struct bawn_error *err)
{
    const char *value = options_value(&front->options, OPTION_TAIL);
    uint64_t records = 0;
    char shown[64];

    if (!value)
        return 0;
    if (text_parse_count(value, UINT32_MAX, &records))
        return bawn_audit_tail(audit, records, err);
    text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "usage.bad_value", "--tail: '%s' is no number of records", shown);
    error_hint(err, "write a number such as 20");
    return -EINVAL;
}

static void put_proof(const struct front *front, const char *id,
                      const struct bawn_audit_proof *proof, struct strbuf *out)
{
    if (is_json(front)) {
        json_open(out, NULL, '{');
        json_put_string(out, "id", id);
        json_put_bool(out, "whole", proof->is_whole);
        json_put_uint(out, "records", proof->records);
        json_put_string(out, "fault", proof->fault);
        if (proof->record)
            json_put_uint(out, "record", proof->record);
        else
            json_put_string(out, "record", NULL);
        json_put_string(out, "words", proof->words);
        json_close(out, '}');
    } else if (proof->is_whole) {
        strbuf_addf(out, "%s: %llu records, as they were written%s%s", id,
                    (unsigned long long)proof->records, proof->words ? "; " : "",
                    proof->words ? proof->words : "");
    } else {
        strbuf_addf(out, "%s: not as it was written: %s", id, proof->words);
    }
    strbuf_add(out, "\n");
}

/* Adds to *is_wrong. */
static int verify(const struct front *front, const char *id, bool *is_wrong, struct bawn_error *err)
{
    autoaudit struct bawn_audit *audit = NULL;
    struct bawn_audit_proof proof = {0};
    struct strbuf out = {0};
    int result = bawn_audit_open(id, &audit, err);

    if (result == 0)
        result = bawn_audit_verify(audit, &proof, err);
    if (result < 0)
        return result;
    tell_mended(front, audit);
    put_proof(front, bawn_audit_id(audit), &proof, &out);
    *is_wrong = *is_wrong || !proof.is_whole;
    return front_print(&out) == 0 ? 0 : error_errno(err, EIO, "write standard output");
}

static int verify_all(const struct front *front, bool *is_wrong, struct bawn_error *err)
{
    static const struct bawn_audit_proof gone = {.fault = "removed",
                                                 .words = "the whole trail was removed"};
    autotrails struct bawn_trail *trails = NULL;
    autotrails struct bawn_trail *removed = NULL;
    int result = bawn_trail_list(&trails, err);

    if (result >= 0)
        result = bawn_trail_list_removed(&removed, err);
    for (const struct bawn_trail *trail = removed; result >= 0 && trail; trail = trail->next) {
        struct strbuf out = {0};

        put_proof(front, trail->id, &gone, &out);
        *is_wrong = true;
        result = front_print(&out) == 0 ? 0 : error_errno(err, EIO, "write standard output");
    }
    for (const struct bawn_trail *trail = trails; result >= 0 && trail; trail = trail->next) {
        result = verify(front, trail->id, is_wrong, err);
        /* It grew old meanwhile. */
        if (result == -ESRCH)
            result = 0;
    }
    return result < 0 ? result : 0;
}

int front_audit(struct front *front, struct bawn_error *err)
{
    const char *id = front_sid(front);
    autoaudit struct bawn_audit *audit = NULL;
    bool is_wrong = false;
    int result;

    if (options_has(&front->options, OPTION_VERIFY)) {
        result = id ? verify(front, id, &is_wrong, err) : verify_all(front, &is_wrong, err);
        return result < 0 ? result : is_wrong ? STATUS_FINDINGS : STATUS_OK;
    }
    if (!id && !options_has(&front->options, OPTION_TAIL) &&
        !options_has(&front->options, OPTION_FOLLOW))
        return list(front, err);
    result = bawn_audit_open(id, &audit, err);
    if (result == 0)
        tell_mended(front, audit);
    if (result == 0)
        result = begin(front, audit, err);
    if (result == 0)
        result = show(front, audit, err);
    while (result == 0 && options_has(&front->options, OPTION_FOLLOW) &&
           (result = bawn_audit_wait(audit, err)) > 0)
        result = show(front, audit, err);
    return result < 0 ? result : STATUS_OK;
}
