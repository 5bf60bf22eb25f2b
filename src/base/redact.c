/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include "base/mutant.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '-';
}

static size_t letters(const char *text)
{
    size_t length = 0;

    while (is_letter(text[length]))
        length++;
    return length;
}

/* Tokens that say by their beginning what they are. The beginning stays. */
static const struct {
    const char *beginning;
    size_t least; /* letters behind it */
} shapes[] = {
    {"github_pat_", 20}, {"ghp_", 20},      {"gho_", 20},     {"ghu_", 20},     {"ghs_", 20},
    {"ghr_", 20},        {"glpat-", 16},    {"xoxa-", 8},     {"xoxb-", 8},     {"xoxc-", 8},
    {"xoxd-", 8},        {"xoxe-", 8},      {"xoxo-", 8},     {"xoxp-", 8},     {"xoxr-", 8},
    {"xoxs-", 8},        {"sk-", 16},       {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16},
    {"AKIA", 16},        {"ASIA", 16},      {"AIza", 30},     {"npm_", 30},     {"pypi-", 30},
    {"hf_", 30},         {"dckr_pat_", 20},
};

/* How much of the text is a token that stands there; *ret_kept of it may be shown. 0: none. */
static size_t find_token(const char *text, size_t *ret_kept)
{
    size_t length = letters(text);

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        size_t begin = strlen(shapes[i].beginning);

        if (length >= begin + shapes[i].least && strncmp(text, shapes[i].beginning, begin) == 0) {
            *ret_kept = begin;
            return length;
        }
    }
    return 0;
}

/* Three parts with dots between them, of which the first is an object in base64. */
static size_t find_jwt(const char *text)
{
    size_t first = strncmp(text, "eyJ", 3) == 0 ? letters(text) : 0;
    size_t second = first >= 10 && text[first] == '.' ? letters(text + first + 1) : 0;
    size_t length = first + 1 + second;

    if (second < 4)
        return 0;
    return text[length] == '.' ? length + 1 + letters(text + length + 1) : length;
}

/* -----BEGIN PRIVATE KEY-----, to its end or to that of the text. */
static size_t find_block(const char *text)
{
    const char *end;

    if (strncmp(text, "-----BEGIN ", 11) != 0)
        return 0;
    end = strstr(text + 11, "-----END ");
    end = end ? strstr(end + 9, "-----") : NULL;
    return end ? (size_t)(end - text) + 5 : strlen(text);
}

/* A part of a name, as 'api' and 'key' of X-Api-Key. */
static bool is_secret_part(const char *part, size_t length)
{
    static const char *const whole[] = {"key", "keys",   "auth", "pass",          "pat",
                                        "jwt", "cookie", "sig",  "authorization", "signature"};
    static const char *const within[] = {"token",  "secret",     "password",   "passwd",
                                         "apikey", "credential", "passphrase", "accesskey"};

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        if (strlen(whole[i]) == length && strncasecmp(part, whole[i], length) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++) {
        size_t size = strlen(within[i]);

        for (size_t at = 0; at + size <= length; at++) {
            if (strncasecmp(part + at, within[i], size) == 0)
                return true;
        }
    }
    return false;
}

/* Whether a value of this name is a secret: DB_PASSWORD, x-api-key, accessToken. */
static bool is_secret_name(const char *name, size_t length)
{
    size_t begin = 0;

    for (size_t at = 0; at <= length; at++) {
        bool is_hump = at > begin && at < length && isupper((unsigned char)name[at]) &&
                       islower((unsigned char)name[at - 1]);

        if (at < length && name[at] != '_' && name[at] != '-' && !is_hump)
            continue;
        if (is_secret_part(name + begin, at - begin))
            return true;
        begin = is_hump ? at : at + 1;
    }
    return is_secret_part(name, length);
}

static bool is_name(const char *name, size_t length, const char *words)
{
    for (; *words; words += strlen(words) + 1) {
        if (strlen(words) == length && strncasecmp(name, words, length) == 0)
            return true;
    }
    return false;
}

/* Of these the value is the rest of the line: "Authorization: Bearer X", "Cookie: a=1; b=2". */
static bool takes_line(const char *name, size_t length)
{
    return is_name(name, length, "authorization\0proxy-authorization\0cookie\0set-cookie\0");
}

/* How long the value is that begins there. */
static size_t value_length(const char *value, bool takes_rest, bool takes_all)
{
    if (takes_all)
        return strlen(value);
    if (*value == '"' || *value == '\'') {
        const char *end = strchr(value + 1, *value);

        return end ? (size_t)(end - value) + 1 : strlen(value);
    }
    return strcspn(value, takes_rest ? "\r\n\"'" : " \t\r\n\"'&;,|<>)}]");
}

/*
 * A name with a value behind it: how much of both, and in *ret_kept how much of that is no secret.
 * is_begin: it stands where a word of a command line begins, and is all of it.
 */
static size_t find_pair(const char *text, bool is_begin, size_t *ret_kept)
{
    size_t name = letters(text);
    size_t at = name;
    size_t length;
    bool has_line;

    if (name == 0)
        return 0;
    at += text[at] == '"' || text[at] == '\''; /* "password": "x" */
    at += strspn(text + at, " ");
    if ((text[at] != '=' && text[at] != ':') || !is_secret_name(text, name) ||
        strncmp(text + at, "://", 3) == 0)
        return 0;
    has_line = text[at] == ':' && takes_line(text, name);
    at++;
    at += strspn(text + at, " ");
    length = value_length(text + at, has_line, is_begin);
    if (length == 0)
        return 0;
    *ret_kept = at;
    return at + length;
}

/* "Bearer X", "Basic X". */
static size_t find_scheme(const char *text, size_t *ret_kept)
{
    size_t name = letters(text);
    size_t length;

    if (!is_name(text, name, "bearer\0basic\0") || text[name] != ' ')
        return 0;
    length = strspn(text + name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_-.~+/=");
    *ret_kept = name + 1;
    return length >= 8 ? name + 1 + length : 0;
}

enum { LONG_USER = 16 };

/* Behind "://": who logs in, and by what. */
static size_t find_login(const char *text, size_t *ret_kept)
{
    size_t authority = strcspn(text, "/?# \t\r\n\"'<>");
    const char *at = memrchr(text, '@', authority);
    const char *colon = at ? memchr(text, ':', (size_t)(at - text)) : NULL;

    if (!at || at == text)
        return 0;
    *ret_kept = colon ? (size_t)(colon - text) + 1 : 0;
    /* A user who is called like that is a token. */
    if (!colon && at - text < LONG_USER)
        return 0;
    return (size_t)(at - text) > *ret_kept ? (size_t)(at - text) : 0;
}

/* How much of the text has to be masked from here on; 0: nothing. is_first: see find_pair. */
static size_t find_secret(const char *text, size_t at, bool is_first, size_t *ret_kept)
{
    bool is_begin = at == 0 || !is_letter(text[at - 1]);
    size_t length = 0;

    *ret_kept = 0;
    if (at >= 3 && strncmp(text + at - 3, "://", 3) == 0)
        length = find_login(text + at, ret_kept);
    if (length == 0)
        length = find_block(text + at);
    if (length == 0 && (is_begin || is_first)) {
        length = find_token(text + at, ret_kept);
        if (length == 0)
            length = find_jwt(text + at);
        if (length == 0)
            length = find_pair(text + at, is_first, ret_kept);
        if (length == 0)
            length = find_scheme(text + at, ret_kept);
    }
    return length;
}

static void redact(struct strbuf *out, const char *text, bool is_word)
{
    size_t dashes = strspn(text, "-");
    size_t at = 0;
    size_t said = 0;

    while (text[at] && LAYER("words")) {
        size_t kept;
        size_t length = find_secret(text, at, is_word && at <= dashes, &kept);

        if (length == 0) {
            at++;
            continue;
        }
        strbuf_add_bytes(out, text + said, at + kept - said);
        strbuf_add(out, REDACT_MASK);
        at += length;
        said = at;
    }
    strbuf_add(out, text + said);
}

void redact_text(struct strbuf *out, const char *text)
{
    redact(out, text, false);
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1];
}

/* What the word says of the next one. */
static enum redact_next judge_option(const char *word)
{
    size_t dashes = strspn(word, "-");
    const char *name = word + dashes;

    if (!is_option(word) || strchr(name, '='))
        return REDACT_NOTHING;
    if ((dashes == 1 && strcmp(name, "u") == 0) ||
        is_name(name, strlen(name), "user\0proxy-user\0"))
        return REDACT_PASSWORD;
    return dashes == 2 && is_secret_name(name, strlen(name)) ? REDACT_ALL : REDACT_NOTHING;
}

void redact_word(struct redact_words *words, struct strbuf *out, const char *word)
{
    enum redact_next is = words->next;
    const char *colon = strchr(word, ':');

    words->next = REDACT_NOTHING;
    if (!LAYER("words"))
        is = REDACT_NOTHING;
    if (is == REDACT_ALL && *word && !is_option(word)) {
        strbuf_add(out, REDACT_MASK);
        return;
    }
    if (is == REDACT_PASSWORD && colon && colon[1] && !strstr(word, "://")) {
        strbuf_add_bytes(out, word, (size_t)(colon - word) + 1);
        strbuf_add(out, REDACT_MASK);
        return;
    }
    words->next = judge_option(word);
    redact(out, word, true);
}
