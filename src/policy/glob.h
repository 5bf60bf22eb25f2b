/* SPDX-License-Identifier: Apache-2.0 */
/* Matching one path component against one component of a pattern. */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * How patterns work: gitignore-like, on bytes, case-sensitive. Within a
 * component: * any bytes, ? one byte, [a-z] [!a-z] a class, \ takes the next
 * byte as it is. A component that is ** matches any number of components; that
 * is the path tree's business, not this file's.
 */
enum glob_kind {
    GLOB_LITERAL,   /* no wildcard: text holds the bytes, unescaped */
    GLOB_SUFFIX,    /* a * and then literal bytes: text holds those */
    GLOB_GENERAL,   /* anything else: text holds the pattern */
    GLOB_ANY_DEPTH, /* ** */
};

/*
 * Sorts a component and writes its text (never longer than the pattern) to
 * out, ending with NUL. Returns NULL, or what is wrong with it.
 */
const char *glob_classify(const char *pattern, size_t length, char *out, size_t *ret_length,
                          enum glob_kind *ret_kind);

/* Adds a path as a pattern that matches it alone. */
void glob_escape(struct strbuf *out, const char *path);

/* Whether a component matches a pattern that glob_classify accepted. Takes time in
 * proportion to both lengths multiplied, never more. */
bool glob_match(const char *pattern, size_t pattern_length, const char *name, size_t name_length);

#endif
