/* SPDX-License-Identifier: Apache-2.0 */
/* Complaints about a policy, each with the place it is about. */
#ifndef BAWN_REPORT_H
#define BAWN_REPORT_H

#include <bawn/error.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bawn_severity {
    BAWN_NOTE,    /* worth knowing; the policy means what it says */
    BAWN_WARNING, /* something in the policy has no effect, or less than it seems */
    BAWN_ERROR,   /* the policy is refused */
};

/* Borrowed from the report: valid until it is freed. */
struct bawn_complaint {
    enum bawn_severity severity;
    const char *code; /* a stable word, e.g. "config.unknown_key" */
    const char *file; /* NULL when no file is meant */
    unsigned line;    /* 1-based; 0 when unknown */
    unsigned column;
    const char *text;
    const char *hint; /* "" when there is none */
};

struct bawn_report;

BAWN_API void bawn_report_free(struct bawn_report *report);
BAWN_API size_t bawn_report_count(const struct bawn_report *report);
/* NULL past the end. Complaints come in the order they were found. */
BAWN_API const struct bawn_complaint *bawn_report_get(const struct bawn_report *report,
                                                      size_t index);

/* All complaints: one "FILE:LINE:COLUMN: severity: text" each, or a JSON array.
 * Free with free(). NULL when out of memory. */
BAWN_API char *bawn_report_print(const struct bawn_report *report, enum bawn_format format);

#ifdef __cplusplus
}
#endif
#endif
