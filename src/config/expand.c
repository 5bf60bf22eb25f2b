/* SPDX-License-Identifier: Apache-2.0 */
#include "config/expand.h"

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/scratch.h"
#include "base/strbuf.h"
#include "policy/glob.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* What "~" or "$NAME" in front stands for; the text behind it goes to *ret_rest. */
static const char *find_place(const struct policy *policy, const char *text, const char **ret_rest,
                              const char **ret_wrong)
{
    size_t length;
    const char *name;

    if (*text == '~') {
        if (text[1] != '/' && text[1] != '\0') {
            *ret_wrong = "~ stands for your own home only: write ~/...";
            return NULL;
        }
        *ret_rest = text + 1;
        return policy->home;
    }
    name = text + 1 + (text[1] == '{');
    length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    *ret_rest = name + length;
    if (text[1] == '{' && *(*ret_rest)++ != '}') {
        *ret_wrong = "a ${ without its }";
        return NULL;
    }
    if (**ret_rest != '/' && **ret_rest != '\0') {
        *ret_wrong = "behind a variable there can only be a /";
        return NULL;
    }
    for (const struct place *place = policy->places; place->name; place++)
        if (strlen(place->name) == length && strncmp(place->name, name, length) == 0)
            return place->path;
    *ret_wrong = "no such variable: HOME, WORKSPACE, XDG_CONFIG_HOME and the like can be used";
    return NULL;
}

static bool starts_with_dotdot(const char *text)
{
    return strcmp(text, "..") == 0 || strncmp(text, "../", 3) == 0;
}

/* Whether ".." stands anywhere but in front. */
static bool has_inner_dotdot(const char *text)
{
    while (strncmp(text, "../", 3) == 0)
        text += 3;
    return strcmp(text, "..") != 0 && path_has_dotdot(text);
}

/* Splits the text into the directory it starts from and the rest. */
static const char *find_base(const struct policy *policy, const char *base, const char *text,
                             const char **ret_rest, const char **ret_wrong)
{
    *ret_rest = text;
    if (*text == '\0') {
        *ret_wrong = "an empty path";
        return NULL;
    }
    if (has_inner_dotdot(text)) {
        *ret_wrong = "'..' can only stand in front of a relative path";
        return NULL;
    }
    if (*text == '~' || *text == '$')
        return find_place(policy, text, ret_rest, ret_wrong);
    return *text == '/' ? "/" : base;
}

/* The workspace's path as one name, as agents name what they keep of a project: each character but
 * letters and digits is a '-', and of a long name there is the beginning. */
static void add_dashed(struct strbuf *out, const char *path)
{
    enum { LONGEST = 200 };
    size_t start = out->length;

    for (; *path && out->length - start < LONGEST; path++) {
        unsigned char byte = (unsigned char)*path;

        if (byte < 0x80)
            strbuf_add_bytes(out, isalnum(byte) ? path : "-", 1);
        else if (byte >= 0xc0) /* two units of UTF-16, or one */
            strbuf_add(out, byte >= 0xf0 ? "--" : "-");
    }
}

/* Everything behind the first name; a whole name may stand for the workspace. */
static void add_rest(struct strbuf *out, const struct policy *policy, const char *rest)
{
    static const char dashed[] = "$WORKSPACE_DASHED";
    size_t length;
    const char *name;

    while ((name = path_next(&rest, &length))) {
        strbuf_add(out, "/");
        if (length == sizeof(dashed) - 1 && memcmp(name, dashed, length) == 0)
            add_dashed(out, policy->workspace);
        else
            strbuf_add_bytes(out, name, length);
    }
}

const char *expand_path(struct policy *policy, const char *base, const char *text,
                        const char **ret_wrong)
{
    autofree char *path = NULL;
    autostrbuf struct strbuf joined = {0};
    const char *rest;

    *ret_wrong = NULL;
    base = find_base(policy, base, text, &rest, ret_wrong);
    if (!base)
        return NULL;
    strbuf_add(&joined, base);
    add_rest(&joined, policy, rest);
    if (joined.failed)
        return NULL;
    path = path_normalize("/", joined.text);
    if (!path) {
        *ret_wrong = errno == ENOMEM ? NULL : "longer than a path can be";
        return NULL;
    }
    return arena_strdup(&policy->arena, path);
}

/* Takes a final "/", "/." or "/" and stars away: a tree is what a rule is about anyway. */
static void trim_tail(struct strbuf *pattern)
{
    for (;;) {
        size_t length = pattern->length;

        if (length > 1 && pattern->text[length - 1] == '/')
            pattern->length -= 1;
        else if (length > 2 && strcmp(pattern->text + length - 3, "/**") == 0)
            pattern->length -= 3;
        else
            return;
        pattern->text[pattern->length] = '\0';
    }
}

static bool is_dots(const char *name, size_t length)
{
    return (length == 1 && name[0] == '.') || (length == 2 && name[0] == '.' && name[1] == '.');
}

/* The pattern without wildcards, unescaped; false when it has some, or something is wrong. */
static bool literal_form(const char *pattern, struct strbuf *out, const char **ret_wrong)
{
    scratch char text[LIMIT_PATH_BYTES];
    const char *component;
    bool literal = true;
    size_t length;

    length = strcspn(pattern, "*?[\\");
    /* Mostly: and the dots of a normal path are gone. */
    if (length < LIMIT_PATH_BYTES && pattern[length] == '\0') {
        strbuf_add_bytes(out, pattern, length);
        return true;
    }
    if (strlen(pattern) >= LIMIT_PATH_BYTES) {
        *ret_wrong = "longer than a path can be";
        return false;
    }
    while ((component = path_next(&pattern, &length))) {
        enum glob_kind kind;
        size_t text_length;

        *ret_wrong = glob_classify(component, length, text, &text_length, &kind);
        if (!*ret_wrong && kind == GLOB_LITERAL && is_dots(text, text_length))
            *ret_wrong = "an escaped '.' or '..' names nothing";
        if (*ret_wrong)
            return false;
        literal = literal && kind == GLOB_LITERAL;
        strbuf_add_bytes(out, "/", 1);
        strbuf_add_bytes(out, text, text_length);
    }
    if (out->length == 0)
        strbuf_add(out, "/");
    return literal;
}

const char *expand_pattern(struct policy *policy, const char *base, const char *text,
                           bool *ret_wild, const char **ret_wrong)
{
    autostrbuf struct strbuf pattern = {0};
    autostrbuf struct strbuf literal = {0};
    autofree char *normal = NULL;
    const char *rest;
    size_t first;

    *ret_wrong = NULL;
    if (*text == '!') {
        *ret_wrong =
            "a pattern cannot be negated: give the path a mode of its own in sandbox.paths";
        return NULL;
    }
    base = find_base(policy, base, text, &rest, ret_wrong);
    if (!base)
        return NULL;
    /* SECURITY: a directory that has a * in its name must not turn into a wildcard. */
    glob_escape(&pattern, base);
    first = strcspn(rest, "/");
    if (rest == text && *text != '/' && strcmp(text, ".") != 0 && !starts_with_dotdot(text) &&
        rest[first + strspn(rest + first, "/")] == '\0')
        strbuf_add(&pattern, "/**"); /* no slash inside: at any depth */
    strbuf_add(&pattern, "/");
    strbuf_add(&pattern, rest);
    if (pattern.failed)
        return NULL;
    normal = path_normalize("/", pattern.text);
    if (!normal) {
        *ret_wrong = errno == ENOMEM ? NULL : "longer than a path can be";
        return NULL;
    }
    strbuf_done(&pattern);
    strbuf_add(&pattern, normal);
    if (pattern.failed)
        return NULL;
    trim_tail(&pattern);
    *ret_wild = !literal_form(pattern.length ? pattern.text : "/", &literal, ret_wrong);
    if (*ret_wrong || literal.failed)
        return NULL;
    return arena_strdup(&policy->arena, *ret_wild ? pattern.text : literal.text);
}
