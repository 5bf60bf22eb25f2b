/* SPDX-License-Identifier: Apache-2.0 */
/* Laying out help: headings, two columns, lines wrapped at the width of the terminal. */
#include "program_policy/help.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

static void add_spaces(struct strbuf *out, size_t count)
{
    strbuf_addf(out, "%*s", (int)count, "");
}

static void add_heading(struct output *output, const char *title)
{
    strbuf_addf(&output->text, output->colour ? "\n\033[1m%s:\033[0m\n" : "\n%s:\n", title);
}

/* Adds words from column on; lines after the first start at indent. Ends the line. */
static void add_wrapped(struct output *output, const char *text, size_t column, size_t indent)
{
    struct strbuf *out = &output->text;
    bool at_start = true;

    while (*text) {
        size_t length = strcspn(text, " \n");

        if (!at_start && column + 1 + length > output->width) {
            strbuf_add(out, "\n");
            add_spaces(out, indent);
            column = indent;
        } else if (!at_start) {
            strbuf_add(out, " ");
            column++;
        }
        strbuf_add_bytes(out, text, length);
        column += length;
        at_start = false;
        text += length;
        if (*text == '\n') {
            strbuf_add(out, "\n\n");
            add_spaces(out, indent);
            column = indent;
            at_start = true;
        }
        if (*text)
            text++;
    }
    strbuf_add(out, "\n");
}

/* One row of two columns; the right one starts at column right. */
static void add_row(struct output *output, const char *left, size_t right, const char *text)
{
    size_t length = strlen(left);

    strbuf_add(&output->text, left);
    if (length + 2 > right) {
        strbuf_add(&output->text, "\n");
        length = 0;
    }
    add_spaces(&output->text, right - length);
    add_wrapped(output, text, right, right);
}

static void option_left(char *out, size_t size, const struct option *option)
{
    char letter[8] = "    ";

    if (option->letter)
        (void)snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    (void)snprintf(out, size, "  %s--%s%s%s", letter, option->name, option->value ? " " : "",
                   option->value ? option->value : "");
}

void help_add_option(struct strbuf *out, const struct option *option)
{
    strbuf_add(out, option->help);
    if (!option->words)
        return;
    strbuf_add(out, option->open ? " Built in: " : " One of: ");
    words_join(out, option->words, option->open ? "and" : "or");
    strbuf_add(out, ".");
}

static void add_group(struct output *output, const struct option_group *group)
{
    size_t right = 6;
    char left[128];

    /* The widest that leaves room beside it; help of wider ones goes on the next line. */
    for (size_t i = 0; i < group->count; i++) {
        option_left(left, sizeof(left), &group->rows[i]);
        if (strlen(left) <= output->width / 3 && strlen(left) > right)
            right = strlen(left);
    }
    add_heading(output, group->title);
    for (size_t i = 0; i < group->count; i++) {
        autostrbuf struct strbuf help = {0};

        option_left(left, sizeof(left), &group->rows[i]);
        help_add_option(&help, &group->rows[i]);
        add_row(output, left, right + 2, help.failed ? group->rows[i].help : help.text);
    }
}

static void add_verbs(struct output *output, const struct verb *const *verbs)
{
    size_t right = 0;
    char left[64];

    for (size_t i = 0; verbs[i]; i++) {
        if (strlen(verb_word(verbs[i])) > right)
            right = strlen(verb_word(verbs[i]));
    }
    add_heading(output, "Verbs");
    for (size_t i = 0; verbs[i]; i++) {
        (void)snprintf(left, sizeof(left), "  %s", verb_word(verbs[i]));
        add_row(output, left, right + 4, verbs[i]->summary);
    }
}

static void add_json_words(struct strbuf *out, const char *key, const char *const *words)
{
    json_open(out, key, '[');
    for (; words && *words; words++)
        json_put_string(out, NULL, *words);
    json_close(out, ']');
}

static void add_json_option(struct strbuf *out, const struct option *option)
{
    char letter[2] = {option->letter, '\0'};

    json_open(out, NULL, '{');
    json_put_string(out, "name", option->name);
    json_put_string(out, "letter", option->letter ? letter : NULL);
    json_put_string(out, "value", option->value);
    json_put_bool(out, "repeats", option->repeats);
    json_put_string(out, "help", option->help);
    add_json_words(out, "words", option->words);
    json_close(out, '}');
}

static void add_json(struct strbuf *out, const struct verb *verb)
{
    json_open(out, NULL, '{');
    json_put_string(out, "name", verb->name);
    json_put_string(out, "arguments", verb->arguments);
    json_put_string(out, "summary", verb->summary);
    json_put_string(out, "details", verb->details);
    add_json_words(out, "words", verb->words);
    json_open(out, "options", '[');
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++)
            add_json_option(out, &(*group)->rows[i]);
    }
    json_close(out, ']');
    json_open(out, "verbs", '[');
    for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
        json_put_string(out, NULL, verb_word(verb->verbs[i]));
    json_close(out, ']');
    json_close(out, '}');
}

void help_print(const struct verb *verb, struct output *output)
{
    struct strbuf *out = &output->text;
    char usage[256];

    if (output->json) {
        add_json(out, verb);
        return;
    }
    strbuf_add(out, output->colour ? "\033[1mUsage:\033[0m " : "Usage: ");
    (void)snprintf(usage, sizeof(usage), "bawn%s%s%s%s%s", verb->name[0] ? " " : "", verb->name,
                   verb->verbs ? "" : " [OPTION]...", verb->arguments[0] ? " " : "",
                   verb->arguments);
    add_wrapped(output, usage, strlen("Usage: "), strlen("Usage: "));
    strbuf_add(out, "\n");
    add_wrapped(output, verb->details, 0, 0);
    if (verb->verbs)
        add_verbs(output, verb->verbs);
    for (const struct option_group *const *group = verb->groups; *group; group++)
        add_group(output, *group);
}

static int run_help(const struct options *options, struct output *output, struct bawn_error *err)
{
    const struct verb *verb = &verb_bawn;

    vec_each (&options->words, word) {
        verb = verb_find(verb, *word, err);
        if (!verb)
            return -err->errnum;
    }
    help_print(verb, output);
    return STATUS_OK;
}

const struct verb verb_help = {
    .name = "help",
    .arguments = "[VERB]...",
    .summary = "tell what a verb does and which options it takes",
    .details = "Prints the help of a verb, as VERB --help does. Without a verb it lists them.",
    .max_args = 2,
    .groups = (const struct option_group *const[]){&verb_options, NULL},
    .run = run_help,
};
