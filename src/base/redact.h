/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets in what is recorded and shown, masked: passwords and tokens in URLs and
 * headers, values of names that sound secret, and the shapes of well-known tokens.
 * A secret that looks like any other word is not found.
 */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include "base/strbuf.h"

#include <stdbool.h>

/* Stands for what was taken out. */
#define REDACT_MASK "[masked]"

/* Adds the text without what looks like a secret in it. */
void redact_text(struct strbuf *out, const char *text);

/* The words of one command line, in their order: what follows '--token' is a secret, too. */
enum redact_next { REDACT_NOTHING, REDACT_ALL, REDACT_PASSWORD };
struct redact_words {
    enum redact_next next; /* of the next word */
};
void redact_word(struct redact_words *words, struct strbuf *out, const char *word);

#endif
