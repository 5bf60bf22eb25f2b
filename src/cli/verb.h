/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs as a tree of rows: dispatch, the help, the man page and the completions read it. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "base/strbuf.h"
#include "cli/rows.h"

#include <bawn/query.h>
#include <stdbool.h>

enum {
    STATUS_OK = 0,       /* done; allowed */
    STATUS_DENIED = 1,   /* check, why: the policy denies it */
    STATUS_FINDINGS = 1, /* lint, doctor: something is to be mended; approve: declined */
    STATUS_ASK = 2,      /* check, why: the policy asks */
    STATUS_FAILED = 125, /* bad use, bad input, or a failure of bawn */
};

/* What a verb says. Verbs fill it; main alone writes to the standard streams. */
struct output {
    bool json;
    bool quiet;
    bool colour;              /* standard output is a terminal that wants it */
    unsigned width;           /* columns that text for people is wrapped at */
    struct strbuf text;       /* for standard output */
    struct strbuf notes;      /* for standard error: complaints that are no failure of the verb */
    char *const *args;        /* the whole command line */
    struct strbuf complaints; /* why a policy was refused, as a JSON array; else empty */
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
    /* Returns a status, or a negative errno. NULL when there are verbs below. */
    int (*run)(const struct options *options, struct output *output, struct bawn_error *err);
};

/* The whole tree, and its leaves. */
extern const struct verb verb_bawn;
extern const struct verb verb_run;
extern const struct verb verb_shell;
extern const struct verb verb_ps;
extern const struct verb verb_status;
extern const struct verb verb_stop;
extern const struct verb verb_attach;
extern const struct verb verb_exec;
extern const struct verb verb_metrics;
extern const struct verb verb_check;
extern const struct verb verb_why;
extern const struct verb verb_plan;
extern const struct verb verb_detect;
extern const struct verb verb_doctor;
extern const struct verb verb_policy;
extern const struct verb verb_policy_approve;
extern const struct verb verb_help;

/* One document; the line ends whether the text said so or not. */
int output_write(int fd, struct strbuf *text);
/* Writes the notes now: another program takes over. */
void output_flush(struct output *output);

/* The last word of its name. */
const char *verb_word(const struct verb *verb);

/* How the library prints for this output. */
enum bawn_format output_format(const struct output *output);

/* The status of check and why for a verdict. */
int verdict_status(enum bawn_verdict verdict);

/* The verb of that word below another; NULL, and *err with the nearest one, when there is none. */
const struct verb *verb_find(const struct verb *above, const char *word, struct bawn_error *err);

#endif
