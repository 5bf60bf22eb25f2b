/* SPDX-License-Identifier: Apache-2.0 */
/* The man pages and the shell completions, made from the tables at build time. */
#ifndef PROGRAM_POLICY_DOCGEN_H
#define PROGRAM_POLICY_DOCGEN_H

#include "program_policy/verb.h"

void docgen_man(struct strbuf *out);
void docgen_policy(struct strbuf *out);
void docgen_bash(struct strbuf *out);
void docgen_zsh(struct strbuf *out);
void docgen_fish(struct strbuf *out);

/* Whether the group belongs to several verbs: told once, not under each. */
bool docgen_is_shared(const struct option_group *group);

/* An entry of a list in a man page. */
struct roff_entry {
    const char *name;
    const char *text;
};

/* The first line of a man page. */
void roff_title(struct strbuf *out, const char *name, unsigned section, const char *manual);

/* Text on one line, as typed. */
void roff_literal(struct strbuf *out, const char *text);

/* Text in paragraphs, broken between words. */
void roff_prose(struct strbuf *out, const char *text);

/* A list of names, each with its text below it. */
void roff_entries(struct strbuf *out, const struct roff_entry *entries, size_t count);

#endif
