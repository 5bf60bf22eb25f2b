/* SPDX-License-Identifier: Apache-2.0 */
/* Help for people, made from the tables. */
#ifndef PROGRAM_POLICY_HELP_H
#define PROGRAM_POLICY_HELP_H

#include "program_policy/verb.h"

/* Adds the help of a verb to output->text. */
void help_print(const struct verb *verb, struct output *output);

/* An option's help with the words it takes. */
void help_add_option(struct strbuf *out, const struct option *option);

#endif
