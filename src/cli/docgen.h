/* SPDX-License-Identifier: Apache-2.0 */
/* The man page and the shell completions, made from the tables at build time. */
#ifndef CLI_DOCGEN_H
#define CLI_DOCGEN_H

#include "cli/verb.h"

void docgen_man(struct strbuf *out);
void docgen_bash(struct strbuf *out);
void docgen_zsh(struct strbuf *out);
void docgen_fish(struct strbuf *out);

/* Whether the group belongs to several verbs: told once, not under each. */
bool docgen_is_shared(const struct option_group *group);

#endif
