/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a command line by the option tables. */
#include "verbs/option.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 256 }; /* how much of a word a complaint repeats */

void options_done(struct options *options)
{
    vec_done(&options->given);
    vec_done(&options->words);
}

bool options_has(const struct options *options, enum option_id id)
{
    vec_each (&options->given, given) {
        if (given->option->id == id)
            return true;
    }
    return false;
}

const char *options_value(const struct options *options, enum option_id id)
{
    vec_each (&options->given, given) {
        if (given->option->id == id)
            return given->value;
    }
    return NULL;
}

void options_drop(struct options *options, enum option_id id)
{
    size_t kept = 0;

    for (size_t i = 0; i < options->given.count; i++) {
        if (options->given.items[i].option->id != id)
            options->given.items[kept++] = options->given.items[i];
    }
    options->given.count = kept;
}

bool words_have(const char *const *words, const char *word)
{
    for (; *words; words++) {
        if (strcmp(*words, word) == 0)
            return true;
    }
    return false;
}

const char *words_nearest(const char *const *words, const char *word)
{
    size_t count = 0;

    while (words[count])
        count++;
    return text_nearest(word, words, count);
}

void words_join(struct strbuf *out, const char *const *words, const char *conjunction)
{
    for (size_t i = 0; words[i]; i++) {
        if (i > 0 && words[i + 1])
            strbuf_add(out, ", ");
        else if (i > 0)
            strbuf_addf(out, " %s ", conjunction);
        strbuf_add(out, words[i]);
    }
}

int words_refuse(const char *const *words, const char *what, const char *word,
                 struct bawn_error *err)
{
    autostrbuf struct strbuf list = {0};
    const char *nearest = words_nearest(words, word);
    char shown[SHOWN_BYTES];
    int result;

    words_join(&list, words, "or");
    if (list.failed)
        return error_memory(err);
    text_escape(shown, sizeof(shown), word, strlen(word), TEXT_ONE_LINE);
    result = error_set(err, EINVAL, "usage.bad_word", "%s: '%s' is not one of %s", what, shown,
                       list.text);
    if (nearest)
        error_hint(err, "did you mean '%s'?", nearest);
    else
        error_hint(err, "give one of %s", list.text);
    return result;
}

/* The words still to read, and how. */
struct option_reader {
    struct options *options;
    const struct option_group *const *groups;
    const char *command;
    char *const *next; /* the first argument not read yet */
    struct bawn_error *err;
};

static const struct option *find_long(const struct option_reader *reader, const char *name,
                                      size_t length)
{
    for (const struct option_group *const *group = reader->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            const struct option *option = &(*group)->rows[i];

            if (strncmp(option->name, name, length) == 0 && option->name[length] == '\0')
                return option;
        }
    }
    return NULL;
}

static const struct option *find_short(const struct option_reader *reader, char letter)
{
    for (const struct option_group *const *group = reader->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            if ((*group)->rows[i].letter == letter)
                return &(*group)->rows[i];
        }
    }
    return NULL;
}

/* The long name nearest to one that is unknown; NULL when none is near. */
static const char *nearest_long(const struct option_reader *reader, const char *name)
{
    VEC(const char *) names = {0};
    const char *nearest;

    for (const struct option_group *const *group = reader->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            if (!vec_push(&names, (*group)->rows[i].name))
                break;
        }
    }
    nearest = text_nearest(name, names.items, names.count);
    vec_done(&names);
    return nearest;
}

/* "no-net-ns": other sandboxes can be told to leave a namespace out. */
static bool is_no_namespace(const char *name)
{
    static const char *const names[] = {"no-user-ns",   "no-mount-ns", "no-pid-ns",
                                        "no-net-ns",    "no-ipc-ns",   "no-uts-ns",
                                        "no-cgroup-ns", "no-time-ns",  NULL};

    return words_have(names, name);
}

static int refuse_no_namespace(const struct option_reader *reader, const char *name)
{
    int result = error_set(reader->err, EINVAL, "usage.no_namespace",
                           "--%s: bawn leaves no namespace out: each is a part of the wall", name);

    error_hint(reader->err, "%s",
               strcmp(name, "no-net-ns") == 0
                   ? "--net host gives the command the host's network, and keeps the rest"
               : strcmp(name, "no-user-ns") == 0
                   ? "where user namespaces are refused, 'bawn doctor' tells the remedy"
                   : "grant by name what the command needs: 'bawn run --help' lists how");
    return result;
}

static int unknown_option(const struct option_reader *reader, const char *dashes, const char *name,
                          size_t length)
{
    autofree char *copy = strndup(name, length);
    char shown[SHOWN_BYTES];
    const char *nearest;
    int result;

    if (!copy)
        return error_memory(reader->err);
    if (is_no_namespace(copy))
        return refuse_no_namespace(reader, copy);
    text_escape(shown, sizeof(shown), copy, strlen(copy), TEXT_ONE_LINE);
    result = error_set(reader->err, EINVAL, "usage.unknown_option", "%s%s: '%s' has no such option",
                       dashes, shown, reader->command);
    nearest = nearest_long(reader, copy);
    if (nearest)
        error_hint(reader->err, "did you mean --%s?", nearest);
    else
        error_hint(reader->err, "'%s --help' lists the options", reader->command);
    return result;
}

static int check_value(const struct option_reader *reader, const struct option *option,
                       const char *value)
{
    char what[64];

    if (!option->words || option->open || words_have(option->words, value))
        return 0;
    (void)snprintf(what, sizeof(what), "--%s", option->name);
    return words_refuse(option->words, what, value, reader->err);
}

static int check_repeated(const struct option_reader *reader, const struct option *option)
{
    int result;

    if (!option->value || option->repeats)
        return 0;
    vec_each (&reader->options->given, given) {
        if (given->option != option)
            continue;
        result = error_set(reader->err, EINVAL, "usage.repeated_option",
                           "--%s: given more than once", option->name);
        error_hint(reader->err, "keep one --%s: it takes a single %s", option->name, option->value);
        return result;
    }
    return 0;
}

static int take_option(struct option_reader *reader, const struct option *option, const char *value)
{
    struct option_given given = {option, value};
    int result = check_repeated(reader, option);

    if (result == 0 && value)
        result = check_value(reader, option, value);
    if (result < 0)
        return result;
    return vec_push(&reader->options->given, given) ? 0 : error_memory(reader->err);
}

/* attached is the value that stood in the same argument, or NULL. */
static int take_with_value(struct option_reader *reader, const struct option *option,
                           const char *attached)
{
    int result;

    if (!attached && *reader->next)
        attached = *reader->next++;
    if (attached)
        return take_option(reader, option, attached);
    result = error_set(reader->err, EINVAL, "usage.missing_value", "--%s: its %s is missing",
                       option->name, option->value);
    error_hint(reader->err, "write --%s %s", option->name, option->value);
    return result;
}

static int read_long(struct option_reader *reader, const char *text)
{
    size_t length = strcspn(text, "=");
    const char *attached = text[length] ? text + length + 1 : NULL;
    const struct option *option = find_long(reader, text, length);
    int result;

    if (!option)
        return unknown_option(reader, "--", text, length);
    if (option->value)
        return take_with_value(reader, option, attached);
    if (!attached)
        return take_option(reader, option, NULL);
    result = error_set(reader->err, EINVAL, "usage.unexpected_value", "--%s: takes no value",
                       option->name);
    error_hint(reader->err, "write --%s alone", option->name);
    return result;
}

/* "-qC DIR", "-qCDIR": flags, then at most one option with a value. */
static int read_short(struct option_reader *reader, const char *letters)
{
    for (; *letters; letters++) {
        const struct option *option = find_short(reader, *letters);
        int result;

        if (!option)
            return unknown_option(reader, "-", letters, 1);
        if (option->value)
            return take_with_value(reader, option, letters[1] ? letters + 1 : NULL);
        result = take_option(reader, option, NULL);
        if (result < 0)
            return result;
    }
    return 0;
}

static int read_word(struct option_reader *reader, const char *word)
{
    return vec_push(&reader->options->words, word) ? 0 : error_memory(reader->err);
}

int options_parse(struct options *options, const struct option_group *const *groups,
                  char *const *args, bool stop_at_word, const char *command, struct bawn_error *err)
{
    struct option_reader reader = {options, groups, command, args, err};
    bool ended = false;

    while (*reader.next) {
        const char *text = *reader.next;
        bool is_option = !ended && text[0] == '-' && text[1] != '\0';
        int result;

        if (!is_option && stop_at_word)
            break;
        reader.next++;
        if (!is_option) {
            result = read_word(&reader, text);
        } else if (strcmp(text, "--") == 0) {
            ended = true;
            options->is_ended = true;
            options->ended_at = options->words.count;
            result = 0;
        } else if (text[1] == '-') {
            result = read_long(&reader, text + 2);
        } else {
            result = read_short(&reader, text + 1);
        }
        if (result < 0)
            return result;
    }
    return (int)(reader.next - args);
}
