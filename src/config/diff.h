/* SPDX-License-Identifier: Apache-2.0 */
/* What was changed in a text, as patch(1) reads it. */
#ifndef CONFIG_DIFF_H
#define CONFIG_DIFF_H

#include "base/strbuf.h"

struct diff_text {
    const char *name; /* "/dev/null" of one that is not there */
    const char *text;
    size_t length;
};

/* The unified form, with three lines around each change; nothing where both are the same. */
void diff_unified(const struct diff_text *old, const struct diff_text *new, struct strbuf *out);

#endif
