/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the dialogue: those of git, in one table that the question and the help read. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "program_changes/interactive_own.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_LINES = 20, RANGE_WIDTH = 20, SUMMARY_WIDTH = 80 };

static void decide(struct talk *talk, size_t index, enum hunk_use use)
{
    *pieces_use(&talk->pieces, index) = use;
}

/* On to the next that is undecided, from the top again behind the last. */
static int go_on(struct talk *talk)
{
    talk->at = talk->next == TALK_NONE ? 0 : talk->next;
    return TALK_GOES_ON;
}

static int take(struct talk *talk, const char *rest)
{
    (void)rest;
    decide(talk, talk->at, HUNK_TAKEN);
    return go_on(talk);
}

static int leave(struct talk *talk, const char *rest)
{
    (void)rest;
    decide(talk, talk->at, HUNK_LEFT);
    return go_on(talk);
}

/* Of this one and those behind it, those that are undecided. */
static int decide_rest(struct talk *talk, enum hunk_use use)
{
    for (; talk->at < talk->count; talk->at++)
        if (*pieces_use(&talk->pieces, talk->at) == HUNK_UNDECIDED)
            decide(talk, talk->at, use);
    return TALK_GOES_ON;
}

static int take_rest(struct talk *talk, const char *rest)
{
    (void)rest;
    return decide_rest(talk, HUNK_TAKEN);
}

static int leave_rest(struct talk *talk, const char *rest)
{
    (void)rest;
    return decide_rest(talk, HUNK_LEFT);
}

static int quit(struct talk *talk, const char *rest)
{
    (void)rest;
    talk->dialogue->has_quit = true;
    return TALK_ENDED;
}

static bool has_next_undecided(const struct talk *talk)
{
    return talk->next != TALK_NONE;
}

static bool has_next(const struct talk *talk)
{
    return talk->at + 1 < talk->count;
}

static bool has_previous_undecided(const struct talk *talk)
{
    return talk->previous != TALK_NONE;
}

static bool has_previous(const struct talk *talk)
{
    return talk->at > 0;
}

static bool has_others(const struct talk *talk)
{
    return talk->count > 1;
}

static bool can_split(const struct talk *talk)
{
    const struct hunk *hunk = talk_hunk(talk);

    return hunk && hunk_parts(hunk) > 1;
}

static bool can_edit(const struct talk *talk)
{
    return talk_hunk(talk) != NULL;
}

static int go_next_undecided(struct talk *talk, const char *rest)
{
    (void)rest;
    talk->at = talk->next;
    return TALK_GOES_ON;
}

static int go_next(struct talk *talk, const char *rest)
{
    (void)rest;
    talk->at++;
    return TALK_GOES_ON;
}

static int go_previous_undecided(struct talk *talk, const char *rest)
{
    (void)rest;
    talk->at = talk->previous;
    return TALK_GOES_ON;
}

static int go_previous(struct talk *talk, const char *rest)
{
    (void)rest;
    talk->at--;
    return TALK_GOES_ON;
}

/* Where it is, and its first line that changes. */
static void add_summary(struct strbuf *out, const struct hunk *hunk)
{
    size_t first = 0;

    strbuf_addf(out, " -%zu,%zu +%zu,%zu ", hunk->old_start + (hunk->old_count > 0),
                hunk->old_count, hunk->new_start + (hunk->new_count > 0), hunk->new_count);
    while (out->length < RANGE_WIDTH && !out->failed)
        strbuf_add(out, " ");
    while (first < hunk->line_count && hunk->lines[first].sign == ' ')
        first++;
    if (first < hunk->line_count) {
        const struct hunk_line *line = &hunk->lines[first];

        strbuf_add_bytes(out, &line->sign, 1);
        strbuf_add_bytes(out, line->bytes, line->length - !hunk_line_mark(line));
    }
}

static int put_summary_line(struct talk *talk, size_t index)
{
    static const char marks[] = {[HUNK_UNDECIDED] = ' ', [HUNK_TAKEN] = '+', [HUNK_LEFT] = '-'};
    size_t hunk = pieces_hunk(&talk->pieces, index);
    autostrbuf struct strbuf line = {0};
    char shown[SUMMARY_WIDTH + 1];

    if (hunk == SIZE_MAX)
        strbuf_add(&line, index == 0 && has_others(talk) ? " the mode" : " the content");
    else
        add_summary(&line, &talk->pieces.hunks.list.items[hunk]);
    if (line.failed)
        return error_memory(talk->err);
    (void)text_escape(shown, sizeof(shown), line.text, line.length, TEXT_ONE_LINE);
    (void)printf("%c%2zu: %s\n", marks[*pieces_use(&talk->pieces, index)], index + 1, shown);
    return 0;
}

/* Lists some: the index behind them, or -errno. */
static ssize_t list_some(struct talk *talk, size_t first)
{
    size_t end = first + SHOWN_LINES < talk->count ? first + SHOWN_LINES : talk->count;

    for (size_t i = first; i < end; i++)
        if (put_summary_line(talk, i) < 0)
            return -ENOMEM;
    return (ssize_t)end;
}

static void go_to_number(struct talk *talk, const char *text)
{
    char why[128];
    uint64_t number;

    if (!text_parse_count(text, 1 << 30, &number)) {
        (void)snprintf(why, sizeof(why), "Invalid number: '%.80s'", text);
        talk_refuse(why);
    } else if (number == 0 || number > talk->count) {
        (void)snprintf(why, sizeof(why), "Sorry, only %zu hunk%s available.", talk->count,
                       talk->count == 1 ? "" : "s");
        talk_refuse(why);
    } else {
        talk->at = (size_t)number - 1;
    }
}

static const char *without_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

static int go_to(struct talk *talk, const char *rest)
{
    size_t shown = talk->at > SHOWN_LINES / 2 ? talk->at - SHOWN_LINES / 2 : 0;

    rest = without_blanks(rest);
    while (!*rest) {
        ssize_t end = list_some(talk, shown);

        if (end < 0)
            return (int)end;
        shown = (size_t)end;
        (void)printf("go to which hunk%s? ", shown < talk->count ? " (<ret> to see more)" : "");
        rest = talk_read(talk);
        if (!rest)
            return TALK_GOES_ON;
        rest = without_blanks(rest);
    }
    go_to_number(talk, rest);
    return TALK_GOES_ON;
}

/* Without colours, as it is shown. */
static bool matches(struct talk *talk, size_t index, const regex_t *regex)
{
    const struct show_options options = {.form = SHOW_TEXT};
    autostrbuf struct strbuf text = {0};

    return pieces_show(&talk->pieces, index, &options, &text) == 0 && text.text &&
           regexec(regex, text.text, 0, NULL, 0) == 0;
}

static void find(struct talk *talk, const regex_t *regex)
{
    for (size_t i = 0; i < talk->count; i++) {
        size_t index = (talk->at + i) % talk->count;

        if (matches(talk, index, regex)) {
            talk->at = index;
            return;
        }
    }
    talk_refuse("No hunk matches the given pattern");
}

static int search(struct talk *talk, const char *rest)
{
    regex_t regex;
    int r;

    if (!*rest) {
        (void)fputs("search for regex? ", stdout);
        rest = talk_read(talk);
        if (!rest || !*rest)
            return TALK_GOES_ON;
    }
    r = regcomp(&regex, rest, REG_EXTENDED | REG_NOSUB | REG_NEWLINE);
    if (r != 0) {
        char words[128], why[256];

        (void)regerror(r, &regex, words, sizeof(words));
        (void)snprintf(why, sizeof(why), "Malformed search regexp %.80s: %s", rest, words);
        talk_refuse(why);
        return TALK_GOES_ON;
    }
    find(talk, &regex);
    regfree(&regex);
    return TALK_GOES_ON;
}

static int split(struct talk *talk, const char *rest)
{
    size_t parts = hunk_parts(talk_hunk(talk));

    (void)rest;
    if (hunks_split(&talk->pieces.hunks, pieces_hunk(&talk->pieces, talk->at)) < 0)
        return error_memory(talk->err);
    talk_colour(talk, TALK_HEADER);
    (void)printf("Split into %zu hunks.", parts);
    talk_colour(talk, TALK_PLAIN);
    (void)puts("");
    return TALK_GOES_ON;
}

static int edit(struct talk *talk, const char *rest)
{
    (void)rest;
    return edit_hunk(talk);
}

static int help(struct talk *talk, const char *rest);

static const struct talk_key keys[] = {
    {'y', "take this hunk", NULL, NULL, take},
    {'n', "leave this hunk in the session", NULL, NULL, leave},
    {'q', "quit; take neither this hunk nor any of the remaining ones", NULL, NULL, quit},
    {'a', "take this hunk and all later hunks in the file", NULL, NULL, take_rest},
    {'d', "take neither this hunk nor any of the later hunks in the file", NULL, NULL, leave_rest},
    {'j', "leave this hunk undecided, see next undecided hunk", "No next hunk", has_next_undecided,
     go_next_undecided},
    {'J', "leave this hunk undecided, see next hunk", "No next hunk", has_next, go_next},
    {'k', "leave this hunk undecided, see previous undecided hunk", "No previous hunk",
     has_previous_undecided, go_previous_undecided},
    {'K', "leave this hunk undecided, see previous hunk", "No previous hunk", has_previous,
     go_previous},
    {'g', "select a hunk to go to", "No other hunks to goto", has_others, go_to},
    {'/', "search for a hunk matching the given regex", "No other hunks to search", has_others,
     search},
    {'s', "split the current hunk into smaller hunks", "Sorry, cannot split this hunk", can_split,
     split},
    {'e', "manually edit the current hunk", "Sorry, cannot edit this hunk", can_edit, edit},
    {'?', "print help", NULL, NULL, help},
};
enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

static bool is_there(const struct talk *talk, const struct talk_key *key)
{
    return !key->is_there || key->is_there(talk);
}

static int help(struct talk *talk, const char *rest)
{
    (void)rest;
    talk_colour(talk, TALK_HELP);
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (is_there(talk, &keys[i]))
            (void)printf("%c - %s\n", keys[i].letter, keys[i].help);
    talk_colour(talk, TALK_PLAIN);
    return TALK_GOES_ON;
}

/* Of the keys that exist as small letters only, git takes the large ones, too. */
const struct talk_key *talk_find_key(char letter)
{
    char small = (char)tolower((unsigned char)letter);

    for (size_t i = 0; i < KEY_COUNT; i++)
        if (keys[i].letter == letter || (keys[i].letter == small && strchr("ynqad", small)))
            return &keys[i];
    return &keys[KEY_COUNT - 1];
}

void talk_put_keys(const struct talk *talk)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (is_there(talk, &keys[i]))
            (void)printf("%s%c", i > 0 ? "," : "", keys[i].letter);
}
