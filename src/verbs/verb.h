/* SPDX-License-Identifier: Apache-2.0 */
/* A verb as a row: both programs parse by it; the help, the man page and the completions print it.
 */
#ifndef VERBS_VERB_H
#define VERBS_VERB_H

#include "verbs/rows.h"

struct output;

enum {
    STATUS_OK = 0,       /* done; allowed */
    STATUS_DENIED = 1,   /* check, why: the policy denies it */
    STATUS_FINDINGS = 1, /* lint, doctor: something is to be mended; approve: declined */
    STATUS_ASK = 2,      /* check, why: the policy asks */
    STATUS_FAILED = 125, /* bad use, bad input, or a failure of bawn */
};

enum { ARGS_ANY = 1000000 };

struct verb {
    const char *name;         /* as typed after "bawn": "check", "policy lint"; "" for bawn */
    const char *arguments;    /* as the synopsis shows them, or "" */
    const char *summary;      /* one line, no full stop */
    const char *details;      /* paragraphs; "\n" ends one */
    const char *busy;         /* what takes its time, for who waits for it; or NULL */
    const char *const *words; /* what the first argument may be, ended by NULL; NULL: any */
    enum option_fill fill;    /* what a shell offers for the other arguments */
    unsigned min_args;
    unsigned max_args;
    bool ends_at_word; /* behind the first argument that is no option everything is an argument */
    const struct option_group *const *groups; /* ended by NULL */
    const struct verb *const *verbs;          /* the verbs below, ended by NULL; or NULL */
    /* Of bawn-policy: returns a status, or a negative errno. NULL when there are verbs below, and
     * for those that bawn answers itself. */
    int (*run)(const struct options *options, struct output *output, struct bawn_error *err);
};

/* Those that bawn answers itself. */
extern const struct verb verb_run;
extern const struct verb verb_shell;
extern const struct verb verb_exec;
extern const struct verb verb_ps;
extern const struct verb verb_status;
extern const struct verb verb_stop;
extern const struct verb verb_attach;
extern const struct verb verb_metrics;
extern const struct verb verb_logs;
extern const struct verb verb_audit;
extern const struct verb verb_wait;
extern const struct verb verb_approve;
extern const struct verb verb_rm;

/* Those that it leaves to bawn-changes. */
extern const struct verb verb_diff;
extern const struct verb verb_apply;
extern const struct verb verb_discard;
extern const struct verb verb_undo;
extern const struct verb verb_gc;

#endif
