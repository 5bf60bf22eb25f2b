/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of one component against a slow matcher written from the description alone. */
#include "config/expand.h"
#include "fuzz/fuzz.h"
#include "lib/policy.h"
#include "policy/glob.h"

/*
 * The first line is the pattern, the others are names. Both are cut so that the
 * slow matcher, which tries everything, ends.
 */
enum { PATTERN_BYTES = 48, NAME_BYTES = 32, STEPS = 20000 };

struct slow {
    unsigned steps;
    bool gave_up;
};

/* One element of a class, which may be escaped. */
static unsigned char class_byte(const char **at)
{
    if (**at == '\\')
        ++*at;
    return (unsigned char)*(*at)++;
}

/* Behind the ] of the class that starts at [, and whether a byte is in it; NULL: never closed. */
static const char *slow_class(const char *at, const char *end, unsigned char byte, bool *ret_in)
{
    bool negated = false;
    bool in = false;
    bool first = true;

    at++;
    if (at < end && (*at == '!' || *at == '^')) {
        negated = true;
        at++;
    }
    while (at < end && (*at != ']' || first)) {
        unsigned char low;
        unsigned char high;

        first = false;
        if (*at == '\\' && at + 1 == end)
            return NULL;
        low = high = class_byte(&at);
        if (at + 1 < end && *at == '-' && at[1] != ']') {
            at++;
            if (*at == '\\' && at + 1 == end)
                return NULL;
            high = class_byte(&at);
        }
        in = in || (byte >= low && byte <= high);
    }
    *ret_in = in != negated;
    return at < end ? at + 1 : NULL;
}

static bool slow_match(struct slow *slow, const char *pattern, const char *pattern_end,
                       const char *name, const char *name_end)
{
    bool in;

    if (slow->gave_up || ++slow->steps > STEPS) {
        slow->gave_up = true;
        return false;
    }
    if (pattern == pattern_end)
        return name == name_end;
    switch (*pattern) {
    case '*':
        for (const char *rest = name; rest <= name_end; rest++)
            if (slow_match(slow, pattern + 1, pattern_end, rest, name_end))
                return true;
        return false;
    case '?':
        return name < name_end && slow_match(slow, pattern + 1, pattern_end, name + 1, name_end);
    case '[':
        if (name == name_end)
            return false;
        pattern = slow_class(pattern, pattern_end, (unsigned char)*name, &in);
        return pattern && in && slow_match(slow, pattern, pattern_end, name + 1, name_end);
    case '\\':
        pattern++;
        break;
    default:
        break;
    }
    return name < name_end && *pattern == *name &&
           slow_match(slow, pattern + 1, pattern_end, name + 1, name_end);
}

/* Whether every [ is closed and every \ escapes something. */
static bool is_pattern(const char *at, const char *end)
{
    bool in;

    while (at && at < end) {
        if (*at == '[') {
            at = slow_class(at, end, 0, &in);
        } else if (*at == '\\') {
            if (++at == end)
                return false;
            at++;
        } else {
            at++;
        }
    }
    return at;
}

static bool fast_match(enum glob_kind kind, const char *text, size_t length, const char *name,
                       size_t name_length)
{
    switch (kind) {
    case GLOB_LITERAL:
        return length == name_length && memcmp(text, name, length) == 0;
    case GLOB_SUFFIX:
        return length <= name_length && memcmp(text, name + name_length - length, length) == 0;
    case GLOB_GENERAL:
        return glob_match(text, length, name, name_length);
    case GLOB_ANY_DEPTH:
        return true;
    }
    return false;
}

static void check_component(const char *pattern, size_t length, struct fuzz_lines *lines)
{
    char text[PATTERN_BYTES + 1];
    enum glob_kind kind = GLOB_LITERAL;
    size_t text_length = 0;
    const char *wrong = glob_classify(pattern, length, text, &text_length, &kind);
    const char *name;

    fuzz_require(!wrong == is_pattern(pattern, pattern + length));
    if (wrong)
        return;
    fuzz_require(text_length <= length && text[text_length] == '\0');
    while ((name = fuzz_line(lines))) {
        struct slow slow = {0};
        size_t name_length = strnlen(name, NAME_BYTES);
        bool expected = slow_match(&slow, pattern, pattern + length, name, name + name_length);
        bool found = fast_match(kind, text, text_length, name, name_length);

        if (!slow.gave_up)
            fuzz_require(expected == found);
        if (kind != GLOB_ANY_DEPTH)
            fuzz_require(found == glob_match(pattern, length, name, name_length));
    }
}

/* A result is absolute and normalized, and means the same when it is written out again. */
static void check_expanded(struct test_policy *test, const char *path, bool wild)
{
    char again_text[3 * LIMIT_PATH_BYTES];
    size_t used = 0;
    const char *wrong;
    const char *again;
    bool again_wild;

    fuzz_require(fuzz_is_normal(path) && strlen(path) < LIMIT_PATH_BYTES);
    fuzz_require(!wild || !pathtree_check(path));
    for (const char *byte = path; *byte; byte++) {
        if (!wild && strchr("*?[\\", *byte))
            again_text[used++] = '\\';
        again_text[used++] = *byte;
    }
    again_text[used] = '\0';
    if (used >= LIMIT_PATH_BYTES)
        return;
    again = expand_pattern(&test->policy, "/elsewhere", again_text, &again_wild, &wrong);
    fuzz_require(again && again_wild == wild && strcmp(again, path) == 0);
}

static void check_expand(const char *text)
{
    struct test_policy test;
    const char *wrong;
    const char *path;
    bool wild = false;

    test_policy_init(&test);
    path = expand_pattern(&test.policy, "/w/a*[b\\", text, &wild, &wrong);
    fuzz_require(path || wrong);
    if (path)
        check_expanded(&test, path, wild);
    path = expand_path(&test.policy, "/w/a*[b\\", text, &wrong);
    fuzz_require(path || wrong);
    if (path) {
        fuzz_require(fuzz_is_normal(path) && strlen(path) < LIMIT_PATH_BYTES);
        fuzz_require(expand_path(&test.policy, "/", path, &wrong) &&
                     strcmp(expand_path(&test.policy, "/", path, &wrong), path) == 0);
    }
    test_policy_done(&test);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = fuzz_lines_begin(data, size);
    const char *pattern = fuzz_line(&lines);

    check_expand(pattern);
    if (!strchr(pattern, '/'))
        check_component(pattern, strnlen(pattern, PATTERN_BYTES), &lines);
    fuzz_lines_end(&lines);
    return 0;
}
