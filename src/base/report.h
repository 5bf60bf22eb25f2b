/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting complaints: each has a place, a text and a remedy. */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include "base/strbuf.h"

#include <bawn/report.h>
#include <stdbool.h>

/* A place in a policy: a file, or an option as it was typed (then line is 0). */
struct origin {
    const char *file; /* NULL: no place */
    unsigned line;
    unsigned column;
};

struct bawn_report *report_new(void);

/* Adds a complaint. text is a printf format. report may be NULL. */
__attribute__((format(printf, 5, 6))) void report_add(struct bawn_report *report,
                                                      enum bawn_severity severity, const char *code,
                                                      struct origin origin, const char *format,
                                                      ...);

/* Adds the remedy to the complaint that was added last. */
__attribute__((format(printf, 2, 3))) void report_hint(struct bawn_report *report,
                                                       const char *format, ...);

/* One complaint as a JSON object. */
void report_add_json(struct strbuf *out, const struct bawn_complaint *complaint);

bool report_has_errors(const struct bawn_report *report);

/* Copies the first error into err. Returns -EINVAL, or -ENOMEM when complaints were lost. */
int report_to_error(const struct bawn_report *report, struct bawn_error *err);

#endif
