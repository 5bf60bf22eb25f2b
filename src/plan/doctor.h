/* SPDX-License-Identifier: Apache-2.0 */
/* Host facts told to people: what is there, what is missing, what that costs, what to do. */
#ifndef PLAN_DOCTOR_H
#define PLAN_DOCTOR_H

#include "kernel/facts.h"

#include <bawn/error.h>
#include <stddef.h>

enum finding_level {
    FINDING_OK,
    FINDING_NOTE, /* missing, and only some uses need it */
    FINDING_WARN, /* missing, and something works less well */
    FINDING_BAD,  /* missing, and keeps the native sandbox from full strength */
};

struct finding {
    const char *id; /* a stable word: the feature's name, or "landlock_abi" */
    enum finding_level level;
    const char *title;
    char detail[160];   /* what was seen */
    const char *costs;  /* what is lost; "" when FINDING_OK */
    const char *remedy; /* what to do, in lines as they are to be shown; "" when FINDING_OK */
};

enum { FINDINGS_MAX = FEATURE_COUNT + 1 };

/*
 * One finding per feature, in the order of enum feature. A feature that cannot
 * be there because another is missing gives none: the cause is told once. So do
 * id-mapped mounts that only root could have.
 * Returns how many there are, of which the first size are stored.
 */
size_t doctor_examine(const struct host_facts *facts, struct finding *ret_findings, size_t size);

/* "user_ns": a stable word. "user namespaces: ...": a few words for people. */
const char *facts_feature_name(enum feature feature);
const char *facts_feature_summary(enum feature feature);

/* "Operation not permitted", in English whatever the locale. */
const char *facts_error_text(int errnum);

/* The feature that this one cannot be had without; FEATURE_COUNT when there is none. */
enum feature facts_feature_needs(enum feature feature);

/* `bawn detect`: the backends, then the features. *ret_text is freed with free(). */
int host_print(const struct host_facts *facts, enum bawn_format format, char **ret_text,
               struct bawn_error *err);

/* `bawn doctor`. Returns the number of FINDING_BAD, or a negative errno. */
int doctor_print(const struct host_facts *facts, enum bawn_format format, char **ret_text,
                 struct bawn_error *err);

#endif
