/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct bawn_report {
    struct arena arena;
    VEC(struct bawn_complaint) complaints;
    bool has_errors;
    bool is_full;    /* complaints were left out */
    bool takes_hint; /* the last complaint was kept */
    bool lost;       /* an allocation failed: something is missing */
};

struct bawn_report *report_new(void)
{
    return calloc(1, sizeof(struct bawn_report));
}

void bawn_report_free(struct bawn_report *report)
{
    if (!report)
        return;
    vec_done(&report->complaints);
    arena_done(&report->arena);
    free(report);
}

__attribute__((format(printf, 3, 0))) static char *
report_format(struct bawn_report *report, enum text_shape shape, const char *format, va_list args)
{
    autofree char *raw = NULL;
    autofree char *shown = NULL;

    if (vasprintf(&raw, format, args) < 0) {
        raw = NULL;
        return NULL;
    }
    shown = text_escape_new(raw, strlen(raw), shape);
    return shown ? arena_strdup(&report->arena, shown) : NULL;
}

/* Says once that something was left out. */
static void report_full(struct bawn_report *report)
{
    struct bawn_complaint more = {.severity = BAWN_NOTE,
                                  .code = "report.more",
                                  .text = "and more: only the first complaints are shown",
                                  .hint = ""};

    if (!report->is_full && !vec_push(&report->complaints, more))
        report->lost = true;
    report->is_full = true;
}

void report_add(struct bawn_report *report, enum bawn_severity severity, const char *code,
                struct origin origin, const char *format, ...)
{
    struct bawn_complaint complaint = {
        .severity = severity, .line = origin.line, .column = origin.column, .hint = ""};
    bool is_first_error;
    va_list args;

    if (!report)
        return;
    is_first_error = severity == BAWN_ERROR && !report->has_errors;
    report->has_errors = report->has_errors || severity == BAWN_ERROR;
    report->takes_hint = report->complaints.count < LIMIT_COMPLAINTS || is_first_error;
    if (report->complaints.count >= LIMIT_COMPLAINTS)
        report_full(report);
    /* Why a policy is refused is told, however many warnings came before. */
    if (!report->takes_hint)
        return;
    complaint.code = arena_strdup(&report->arena, code);
    complaint.file = origin.file ? arena_strdup(&report->arena, origin.file) : NULL;
    va_start(args, format);
    complaint.text = report_format(report, TEXT_ONE_LINE, format, args);
    va_end(args);
    if (!complaint.code || !complaint.text || (origin.file && !complaint.file) ||
        !vec_push(&report->complaints, complaint)) {
        report->lost = true;
        report->takes_hint = false;
    }
}

void report_hint(struct bawn_report *report, const char *format, ...)
{
    va_list args;
    char *hint;

    if (!report || !report->takes_hint)
        return;
    va_start(args, format);
    hint = report_format(report, TEXT_LINES, format, args);
    va_end(args);
    if (hint)
        report->complaints.items[report->complaints.count - 1].hint = hint;
}

bool report_has_errors(const struct bawn_report *report)
{
    return report->has_errors || report->lost;
}

size_t bawn_report_count(const struct bawn_report *report)
{
    return report->complaints.count;
}

const struct bawn_complaint *bawn_report_get(const struct bawn_report *report, size_t index)
{
    return index < report->complaints.count ? &report->complaints.items[index] : NULL;
}

int report_to_error(const struct bawn_report *report, struct bawn_error *err)
{
    vec_each (&report->complaints, complaint) {
        autostrbuf struct strbuf place = {0};

        if (complaint->severity != BAWN_ERROR)
            continue;
        if (complaint->file)
            strbuf_addf(&place, "%s", complaint->file);
        if (complaint->line)
            strbuf_addf(&place, ":%u:%u", complaint->line, complaint->column);
        if (place.length)
            strbuf_add(&place, ": ");
        error_set(err, EINVAL, complaint->code, "%s%s", place.text ? place.text : "",
                  complaint->text);
        if (*complaint->hint)
            error_hint(err, "%s", complaint->hint);
        return -EINVAL;
    }
    return error_memory(err);
}

static const char *severity_word(enum bawn_severity severity)
{
    static const char *const words[] = {"note", "warning", "error"};

    return words[severity];
}

static void print_text(struct strbuf *out, const struct bawn_complaint *complaint)
{
    if (complaint->file) {
        strbuf_add_escaped(out, complaint->file);
        if (complaint->line)
            strbuf_addf(out, ":%u:%u", complaint->line, complaint->column);
        strbuf_add(out, ": ");
    }
    strbuf_addf(out, "%s: %s\n", severity_word(complaint->severity), complaint->text);
    if (*complaint->hint)
        strbuf_addf(out, "hint: %s\n", complaint->hint);
}

void report_add_json(struct strbuf *out, const struct bawn_complaint *complaint)
{
    json_open(out, NULL, '{');
    json_put_string(out, "severity", severity_word(complaint->severity));
    json_put_string(out, "code", complaint->code);
    json_put_string(out, "file", complaint->file);
    json_put_uint(out, "line", complaint->line);
    json_put_uint(out, "column", complaint->column);
    json_put_string(out, "text", complaint->text);
    json_put_string(out, "hint", complaint->hint);
    json_close(out, '}');
}

char *bawn_report_print(const struct bawn_report *report, enum bawn_format format)
{
    struct strbuf out = {0};

    if (format == BAWN_FORMAT_JSON)
        json_open(&out, NULL, '[');
    vec_each (&report->complaints, complaint) {
        if (format == BAWN_FORMAT_JSON)
            report_add_json(&out, complaint);
        else
            print_text(&out, complaint);
    }
    if (format == BAWN_FORMAT_JSON)
        strbuf_add(&out, "]\n");
    return strbuf_take(&out);
}
