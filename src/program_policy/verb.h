/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs as a tree: dispatch, the help, the man page and the completions read it. */
#ifndef PROGRAM_POLICY_VERB_H
#define PROGRAM_POLICY_VERB_H

#include "base/strbuf.h"
#include "verbs/verb.h"

#include <bawn/query.h>
#include <stdbool.h>

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

/* The whole tree, and the leaves that this program answers. */
extern const struct verb verb_bawn;
extern const struct verb verb_check;
extern const struct verb verb_why;
extern const struct verb verb_plan;
extern const struct verb verb_detect;
extern const struct verb verb_doctor;
extern const struct verb verb_gen;
extern const struct verb verb_learn;
extern const struct verb verb_supervise;
extern const struct verb verb_policy;
extern const struct verb verb_policy_approve;
extern const struct verb verb_policy_save;
extern const struct verb verb_policy_forget;
extern const struct verb verb_help;

/* For run and shell: makes the plan, and becomes bawn with it. */
int run_with_plan(const struct options *options, struct output *output, struct bawn_error *err);

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
