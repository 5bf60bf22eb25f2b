/* SPDX-License-Identifier: Apache-2.0 */
#include "base/question.h"

#include "base/redact.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_COLS = 9,
    FIELDS = 6,
    KEYS_WORDS = 10,
    PLAIN_MOST = 0x7e,
};

struct range {
    uint32_t first, last;
    unsigned columns;
};

/* Characters that take as many columns as is said here wherever they stand. Not the scripts that
 * run to the left, no marks that join others, no blanks but the one, no pictures. */
static const struct range shown_ranges[] = {
    {' ', PLAIN_MOST, 1}, {0xa1, 0xac, 1},     {0xae, 0x2ff, 1},      {0x370, 0x377, 1},
    {0x37a, 0x37f, 1},    {0x384, 0x482, 1},   {0x48a, 0x52f, 1},     {0x531, 0x556, 1},
    {0x561, 0x587, 1},    {0x10d0, 0x10fa, 1}, {0x1e00, 0x1fff, 1},   {0x2010, 0x2027, 1},
    {0x2030, 0x205e, 1},  {0x2070, 0x209c, 1}, {0x20a0, 0x20bf, 1},   {0x2100, 0x214f, 1},
    {0x2190, 0x21ff, 1},  {0x2200, 0x22ff, 1}, {0x2500, 0x259f, 1},   {0x3001, 0x3029, 2},
    {0x3041, 0x3096, 2},  {0x309d, 0x30ff, 2}, {0x3400, 0x4dbf, 2},   {0x4e00, 0x9ffc, 2},
    {0xac00, 0xd7a3, 2},  {0xff01, 0xff60, 2}, {0x20000, 0x2fa1d, 2},
};

/* 0: it is escaped. */
static unsigned columns_of(uint32_t rune)
{
    for (size_t i = 0; i < sizeof(shown_ranges) / sizeof(*shown_ranges); i++) {
        if (rune >= shown_ranges[i].first && rune <= shown_ranges[i].last)
            return shown_ranges[i].columns;
    }
    return 0;
}

static void add_bytes(struct strbuf *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t rune = 0;
        size_t used = text_decode(bytes + i, length - i, &rune);

        if (used == 0) {
            strbuf_addf(out, "\\x%02x", (unsigned char)bytes[i]);
            used = 1;
        } else if (rune == '\\') {
            strbuf_add(out, "\\\\");
        } else if (columns_of(rune) > 0 && !text_is_deceptive(rune)) {
            strbuf_add_bytes(out, bytes + i, used);
        } else if (rune == '\n') {
            strbuf_add(out, "\\n");
        } else if (rune == '\t') {
            strbuf_add(out, "\\t");
        } else {
            strbuf_addf(out, rune < 0x80 ? "\\x%02x" : "\\u{%x}", rune);
        }
        i += used;
    }
}

void question_add_text(struct strbuf *out, const char *bytes)
{
    add_bytes(out, bytes, strlen(bytes));
}

/* One character of text that was escaped: its columns. */
static unsigned step(const char *text, size_t *ret_used)
{
    uint32_t rune = 0;

    *ret_used = text_decode(text, strlen(text), &rune);
    return columns_of(rune);
}

unsigned question_columns(const char *text)
{
    unsigned columns = 0;
    size_t used;

    for (; *text; text += used) {
        columns += step(text, &used);
        if (used == 0)
            return columns;
    }
    return columns;
}

void question_add_end(struct strbuf *out, const char *text, unsigned cols)
{
    unsigned columns = question_columns(text);
    bool is_cut = columns > cols;
    size_t used;

    for (; *text && columns + is_cut > cols; text += used) {
        columns -= step(text, &used);
        if (used == 0)
            return;
    }
    if (is_cut && cols > 0)
        strbuf_add(out, "<");
    strbuf_add(out, text);
}

/* As a shell would read it. */
static void add_quoted(struct strbuf *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    size_t length = strlen(word);

    if (length > 0 && strspn(word, plain) == length) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add(out, "'");
    while (*word) {
        size_t run = strcspn(word, "'");

        add_bytes(out, word, run);
        word += run;
        if (*word) {
            strbuf_add(out, "'\\''");
            word++;
        }
    }
    strbuf_add(out, "'");
}

static const char *verb_of(const char *op)
{
    static const struct {
        const char *op, *words;
    } verbs[] = {{"exec", "run"}, {"connect", "connect to"}, {"bind", "listen on"}};

    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (strcmp(op, verbs[i].op) == 0)
            return verbs[i].words;
    return op;
}

/* KERNEL: a name of a process has 15 bytes. */
static bool is_named_by(const char *path, const char *comm)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return path && strncmp(comm, slash ? slash + 1 : path, strlen(comm)) == 0;
}

static void add_process(const struct bawn_notice *notice, struct strbuf *out)
{
    question_add_text(out, *notice->exe ? notice->exe : "a program that could not be looked at");
    if (notice->pid > 0)
        strbuf_addf(out, ", pid %d", notice->pid);
    if (*notice->comm && !is_named_by(notice->exe, notice->comm) &&
        !is_named_by(notice->argv[0], notice->comm)) {
        strbuf_add(out, ", calls itself ");
        add_quoted(out, notice->comm);
    }
}

static void add_argv(const struct bawn_notice *notice, struct strbuf *out)
{
    struct redact_words words = {.next = REDACT_NOTHING};

    for (const char *const *word = notice->argv; *word; word++) {
        autostrbuf struct strbuf masked = {0};

        redact_word(&words, &masked, *word);
        if (word != notice->argv)
            strbuf_add(out, " ");
        if (masked.failed)
            out->failed = true;
        else
            add_quoted(out, masked.text ? masked.text : "");
    }
    if (!*notice->argv)
        strbuf_add(out, "unknown");
}

static void add_why(const struct bawn_notice *notice, struct strbuf *out)
{
    if (*notice->rule)
        question_add_text(out, notice->rule);
    else
        strbuf_add(out, "no rule grants it");
    if (*notice->call) {
        strbuf_add(out, "; by ");
        question_add_text(out, notice->call);
    }
}

/* What [p] and [a] do. */
static void add_rule(const char *grant, struct strbuf *out)
{
    const char *space = strchr(grant, ' ');

    if (!space) {
        strbuf_add(out, "none of yours can allow it for later");
        return;
    }
    strbuf_add(out, "bawn policy save --scope project|user ");
    add_bytes(out, grant, (size_t)(space - grant));
    strbuf_add(out, " ");
    add_quoted(out, space + 1);
}

static void add_tree(const char *grant, struct strbuf *out)
{
    const char *space = strchr(grant, ' ');

    add_bytes(out, grant, space ? (size_t)(space - grant) : 0);
    strbuf_add(out, " all of ");
    add_quoted(out, space ? space + 1 : grant);
}

struct field {
    const char *label;
    struct strbuf text;
    unsigned needs; /* lines */
    unsigned given;
    bool is_end; /* in one line the end counts more */
};

enum { FIELD_PROCESS, FIELD_ARGV, FIELD_WISH, FIELD_WHY, FIELD_RULE, FIELD_TREE };

static unsigned count_lines(const char *text, unsigned cols)
{
    unsigned lines = 1;
    unsigned at = 0;
    size_t used;

    for (; *text; text += used) {
        unsigned columns = step(text, &used);

        if (used == 0)
            break;
        if (at + columns > cols) {
            lines++;
            at = 0;
        }
        at += columns;
    }
    return lines;
}

static bool fill_fields(const struct bawn_notice *notice, unsigned cols,
                        struct field fields[FIELDS])
{
    bool is_whole = true;

    fields[FIELD_PROCESS].label = "process";
    add_process(notice, &fields[FIELD_PROCESS].text);
    fields[FIELD_ARGV].label = "command";
    add_argv(notice, &fields[FIELD_ARGV].text);
    fields[FIELD_WISH].label = "wants";
    strbuf_add(&fields[FIELD_WISH].text, "to ");
    question_add_text(&fields[FIELD_WISH].text, verb_of(notice->op));
    strbuf_add(&fields[FIELD_WISH].text, " ");
    question_add_text(&fields[FIELD_WISH].text, notice->path);
    fields[FIELD_WHY].label = "why";
    add_why(notice, &fields[FIELD_WHY].text);
    fields[FIELD_RULE].label = "rule";
    fields[FIELD_RULE].is_end = true;
    add_rule(notice->grant, &fields[FIELD_RULE].text);
    if (*notice->grant_tree) {
        fields[FIELD_TREE].label = "with [d]";
        fields[FIELD_TREE].is_end = true;
        add_tree(notice->grant_tree, &fields[FIELD_TREE].text);
    }
    for (unsigned i = 0; i < FIELDS; i++) {
        is_whole &= !fields[i].text.failed;
        if (fields[i].label && fields[i].text.text)
            fields[i].needs = fields[i].given = count_lines(fields[i].text.text, cols - LABEL_COLS);
    }
    return is_whole;
}

/* Gives out lines: one for each, then to those that matter most. Returns whether all fit. */
static bool share_lines(struct field fields[FIELDS], unsigned lines)
{
    static const unsigned order[FIELDS] = {FIELD_WISH, FIELD_RULE,    FIELD_TREE,
                                           FIELD_ARGV, FIELD_PROCESS, FIELD_WHY};
    unsigned needs = 0;

    for (unsigned i = 0; i < FIELDS; i++)
        needs += fields[i].needs;
    if (needs <= lines)
        return true;
    for (unsigned i = 0; i < FIELDS; i++) {
        fields[i].given = fields[i].needs > 0;
        lines -= fields[i].given;
    }
    /* Beginning and end of each, then the rest. */
    for (unsigned most = 2; most > 0; most = most == 2 ? UINT32_MAX : 0) {
        for (unsigned i = 0; i < FIELDS; i++) {
            struct field *field = &fields[order[i]];

            while (lines > 0 && field->given < field->needs && field->given < most) {
                field->given++;
                lines--;
            }
        }
    }
    return false;
}

/* One line of it, from *text on. */
static void add_line(struct strbuf *out, const char *label, const char **text, unsigned cols)
{
    unsigned at = 0;
    size_t used;

    if (out)
        strbuf_addf(out, "%-*.*s", LABEL_COLS, LABEL_COLS, label);
    for (; **text; *text += used) {
        unsigned columns = step(*text, &used);

        if (used == 0 || at + columns > cols)
            break;
        at += columns;
        if (out)
            strbuf_add_bytes(out, *text, used);
    }
    if (out)
        strbuf_add(out, "\n");
}

static void add_field(struct strbuf *out, const struct field *field, unsigned cols)
{
    unsigned left_out = field->needs - field->given;
    /* The lines before what is left out. */
    unsigned head = left_out == 0       ? field->given
                    : field->given == 1 ? !field->is_end
                                        : field->given / 2;
    const char *text = field->text.text;
    char label[24];

    for (unsigned line = 0; line < field->needs; line++) {
        bool is_left_out = line >= head && line < head + left_out;

        label[0] = '\0';
        if (line == 0 && left_out > 0 && field->given == 1)
            (void)snprintf(label, sizeof(label), "%.4s+%u", field->label, left_out);
        else if (line == 0)
            (void)snprintf(label, sizeof(label), "%s", field->label);
        else if (left_out > 0 && line == head + left_out && field->given == 1)
            (void)snprintf(label, sizeof(label), "%.4s+%u", field->label, left_out);
        else if (left_out > 0 && line == head + left_out)
            (void)snprintf(label, sizeof(label), " +%u", left_out);
        add_line(is_left_out ? NULL : out, label, &text, cols);
    }
}

static void free_fields(struct field fields[FIELDS])
{
    for (unsigned i = 0; i < FIELDS; i++)
        strbuf_done(&fields[i].text);
}

/* Words, as many in a line as fit. Returns the lines. */
static unsigned add_words(struct strbuf *out, const char *const *words, unsigned cols)
{
    unsigned lines = 0, at = 0;

    for (; *words; words++) {
        unsigned columns = (unsigned)strnlen(*words, cols);

        if (at > 0 && at + 1 + columns > cols) {
            strbuf_add(out, "\n");
            at = 0;
        }
        lines += at == 0;
        strbuf_addf(out, "%s%.*s", at > 0 ? " " : "", (int)columns, *words);
        at += columns + (at > 0);
    }
    strbuf_add(out, "\n");
    return lines;
}

/* What is run once can be run while the session lasts: see wire/ask.h. */
static bool can_be_once(const struct bawn_notice *notice)
{
    return strcmp(notice->op, "exec") != 0;
}

static void choose_keys(const struct question_view *view, const struct bawn_notice *notice,
                        const char *words[KEYS_WORDS + 1])
{
    unsigned count = 0;

    if (can_be_once(notice))
        words[count++] = "[o]nce";
    words[count++] = "[s]ession";
    if (*notice->grant_tree)
        words[count++] = "[d]irectory";
    if (*notice->grant) {
        words[count++] = "[p]roject";
        words[count++] = "[a]lways";
    }
    words[count++] = "[n]o";
    words[count++] = "[N]ever";
    if (view && view->is_cut)
        words[count++] = "[v]iew";
    if (view)
        words[count++] = view->is_list ? "[b]ack" : "[q]uiet";
    words[count] = NULL;
}

void question_add_keys(const struct bawn_notice *notice, struct strbuf *out)
{
    const char *words[KEYS_WORDS + 1];

    choose_keys(NULL, notice, words);
    (void)add_words(out, words, UINT32_MAX);
}

static void add_head(const struct question_view *view, const struct bawn_notice *notice,
                     struct strbuf *out)
{
    char text[128], of[40] = "", more[32] = "";
    unsigned left = notice->ms_left > 0 ? (unsigned)notice->ms_left / 1000 : 0;

    if (view->sid)
        (void)snprintf(of, sizeof(of), " for %.16s", view->sid);
    if (view->more > 0)
        (void)snprintf(more, sizeof(more), ", %u more wait%s", view->more,
                       view->more == 1 ? "s" : "");
    (void)snprintf(text, sizeof(text), "bawn asks%s: if nobody answers, no in %u:%02u%s", of,
                   left / 60, left % 60, more);
    if (strlen(text) > view->cols)
        (void)snprintf(text, sizeof(text), "bawn asks%s: no in %u:%02u%s", of, left / 60, left % 60,
                       more);
    strbuf_addf(out, "%.*s\n", (int)view->cols, text);
}

/* A window of all lines. Returns how many there are. */
static unsigned add_window(struct strbuf *out, const char *lines, unsigned from, unsigned count)
{
    unsigned line = 0;

    for (; *lines; line++) {
        size_t length = strcspn(lines, "\n") + 1;

        if (line >= from && line < from + count)
            strbuf_add_bytes(out, lines, length);
        lines += length;
    }
    return line;
}

static unsigned count_newlines(const char *text)
{
    unsigned count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* All, from where it was scrolled to, and which lines these are. */
static void add_whole(struct question_view *view, const struct field fields[FIELDS], unsigned lines,
                      struct strbuf *out)
{
    autostrbuf struct strbuf all = {0};
    unsigned count;

    for (unsigned i = 0; i < FIELDS; i++)
        if (fields[i].label)
            add_field(&all, &fields[i], view->cols - LABEL_COLS);
    if (all.failed || !all.text) {
        out->failed = true;
        return;
    }
    count = count_newlines(all.text);
    if (view->scroll + lines > count)
        view->scroll = count > lines ? count - lines : 0;
    (void)add_window(out, all.text, view->scroll, lines);
    strbuf_addf(out, "%u-%u of %u lines\n", view->scroll + 1,
                view->scroll + lines < count ? view->scroll + lines : count, count);
}

static void show_small(const struct question_view *view, struct strbuf *out)
{
    static const char *const words[] = {"bawn",    "asks:", "make", "the", "window",
                                        "larger,", "or",    "[n]o", NULL};
    autostrbuf struct strbuf text = {0};

    (void)add_words(&text, words, view->cols);
    if (text.text)
        (void)add_window(out, text.text, 0, view->rows);
}

void question_show(struct question_view *view, const struct bawn_notice *notice, struct strbuf *out)
{
    struct field fields[FIELDS] = {0};
    const char *words[KEYS_WORDS + 1];
    autostrbuf struct strbuf keys = {0};
    unsigned lines;

    view->is_small = view->cols < QUESTION_COLS_MIN || view->rows < QUESTION_ROWS_MIN;
    if (view->is_small) {
        show_small(view, out);
        return;
    }
    if (!fill_fields(notice, view->cols, fields))
        out->failed = true;
    view->is_cut = true; /* there must be room for its key */
    choose_keys(view, notice, words);
    lines = view->rows - 1;
    lines -= add_words(&keys, words, view->cols);
    view->is_cut = !share_lines(fields, lines);
    if (!view->is_cut) {
        strbuf_done(&keys);
        choose_keys(view, notice, words);
        (void)add_words(&keys, words, view->cols);
    }
    add_head(view, notice, out);
    if (view->is_cut && view->is_whole) {
        for (unsigned i = 0; i < FIELDS; i++)
            fields[i].given = fields[i].needs;
        add_whole(view, fields, lines - 1, out);
    } else {
        for (unsigned i = 0; i < FIELDS; i++)
            if (fields[i].label)
                add_field(out, &fields[i], view->cols - LABEL_COLS);
    }
    if (!keys.failed)
        strbuf_add(out, keys.text);
    out->failed |= keys.failed;
    free_fields(fields);
}

void question_print(const struct bawn_notice *notice, unsigned cols, struct strbuf *out)
{
    struct field fields[FIELDS] = {0};

    if (cols < QUESTION_COLS_MIN)
        cols = QUESTION_COLS_MIN;
    if (!fill_fields(notice, cols, fields))
        out->failed = true;
    for (unsigned i = 0; i < FIELDS; i++)
        if (fields[i].label && fields[i].text.text)
            add_field(out, &fields[i], cols - LABEL_COLS);
    free_fields(fields);
}

bool question_answer(const struct bawn_notice *notice, enum key key, struct bawn_answer *ret_answer)
{
    *ret_answer = (struct bawn_answer){.is_allowed = true};
    switch ((int)key) {
    case 'o':
        return can_be_once(notice);
    case 's':
        ret_answer->scope = BAWN_ANSWER_SESSION;
        return true;
    case 'd':
        ret_answer->scope = BAWN_ANSWER_SESSION_TREE;
        return *notice->grant_tree;
    case 'p':
    case 'a':
        ret_answer->scope = BAWN_ANSWER_SESSION;
        ret_answer->flags = BAWN_ANSWER_SAVE;
        ret_answer->saved_in = key == 'p' ? BAWN_SCOPE_PROJECT : BAWN_SCOPE_USER;
        return *notice->grant;
    case 'N':
        ret_answer->is_allowed = false;
        ret_answer->scope = BAWN_ANSWER_SESSION;
        return true;
    case 'n':
        ret_answer->is_allowed = false;
        return true;
    default:
        return false;
    }
}

bool question_scroll(struct question_view *view, enum key key)
{
    unsigned page = view->rows > QUESTION_ROWS_MIN ? view->rows - QUESTION_ROWS_MIN + 1 : 1;
    unsigned by = 0;
    bool is_down = true;

    if (!view->is_cut)
        return false;
    if (key == 'v') {
        view->is_whole = !view->is_whole;
        view->scroll = 0;
        return true;
    }
    if (key == KEY_UP || key == 'k' || key == KEY_PAGE_UP || key == KEY_HOME)
        is_down = false;
    else if (key != KEY_DOWN && key != 'j' && key != KEY_PAGE_DOWN && key != KEY_END && key != ' ')
        return false;
    by = key == KEY_HOME || key == KEY_END                          ? UINT16_MAX
         : key == KEY_PAGE_UP || key == KEY_PAGE_DOWN || key == ' ' ? page
                                                                    : 1;
    if (!view->is_whole)
        view->is_whole = true;
    else if (is_down)
        view->scroll += by;
    else
        view->scroll -= by < view->scroll ? by : view->scroll;
    return true;
}

void question_paint(const char *lines, struct strbuf *out)
{
    strbuf_add(out, "\033[m");
    for (unsigned row = 1; *lines; row++) {
        size_t length = strcspn(lines, "\n");
        const char *next = lines + length + (lines[length] == '\n');

        /* What was there goes first: after a full line that would be its last character. */
        strbuf_addf(out, "\033[%u;1H\033[%s", row, *next ? "K" : "J");
        strbuf_add_bytes(out, lines, length);
        lines = next;
    }
}
