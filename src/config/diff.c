/* SPDX-License-Identifier: Apache-2.0 */
#include "config/diff.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

/*
 * How it works: lines that both texts begin and end with are set aside. Of what is left the
 * longest common sequence is found in a table; where that would be too large, all of it counts as
 * changed. Edits here add a few lines, so that hardly ever happens, and the result is right
 * anyhow.
 */
enum { CONTEXT = 3, TABLE_MAX = 4 * 1024 * 1024 };

struct line {
    const char *text;
    size_t length; /* with its newline, if it has one */
};

struct step {
    char mark; /* ' ', '-' or '+' */
    struct line line;
};

struct differ {
    VEC(struct line) old;
    VEC(struct line) new;
    VEC(struct step) steps;
    struct strbuf *out;
};

#define split_lines(lines, from, failed)                                                           \
    do {                                                                                           \
        const char *at_ = (from)->text;                                                            \
        size_t left_ = (from)->length;                                                             \
        while (left_ > 0) {                                                                        \
            const char *end_ = memchr(at_, '\n', left_);                                           \
            size_t length_ = end_ ? (size_t)(end_ - at_) + 1 : left_;                              \
            struct line line_ = {at_, length_};                                                    \
            if (!vec_push(lines, line_)) {                                                         \
                (failed) = true;                                                                   \
                break;                                                                             \
            }                                                                                      \
            at_ += length_;                                                                        \
            left_ -= length_;                                                                      \
        }                                                                                          \
    } while (0)

static bool is_equal(const struct line *a, const struct line *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static void add_step(struct differ *differ, char mark, struct line line)
{
    struct step step = {mark, line};

    if (!vec_push(&differ->steps, step))
        differ->out->failed = true;
}

/* The lines [a, a_end) of the old text against [b, b_end) of the new one. */
static void compare(struct differ *differ, size_t a, size_t a_end, size_t b, size_t b_end)
{
    const struct line *old = differ->old.items;
    const struct line *new = differ->new.items;
    size_t rows = a_end - a + 1;
    size_t columns = b_end - b + 1;
    autofree uint32_t *table = NULL;

    if (rows <= TABLE_MAX / columns)
        table = calloc(rows * columns, sizeof(*table));
    for (size_t i = rows - 1; table && i-- > 0;) {
        for (size_t j = columns - 1; j-- > 0;) {
            uint32_t down = table[(i + 1) * columns + j];
            uint32_t right = table[i * columns + j + 1];

            table[i * columns + j] = is_equal(&old[a + i], &new[b + j])
                                         ? table[(i + 1) * columns + j + 1] + 1
                                     : down > right ? down
                                                    : right;
        }
    }
    for (size_t i = 0, j = 0; a + i < a_end || b + j < b_end;) {
        bool has_old = a + i < a_end;
        bool has_new = b + j < b_end;

        if (table && has_old && has_new && is_equal(&old[a + i], &new[b + j])) {
            add_step(differ, ' ', old[a + i]);
            i++;
            j++;
        } else if (has_old && (!has_new || !table ||
                               table[(i + 1) * columns + j] >= table[i * columns + j + 1])) {
            add_step(differ, '-', old[a + i++]);
        } else {
            add_step(differ, '+', new[b + j++]);
        }
    }
}

static void make_steps(struct differ *differ)
{
    const struct line *old = differ->old.items;
    const struct line *new = differ->new.items;
    size_t a_end = differ->old.count;
    size_t b_end = differ->new.count;
    size_t start = 0;

    while (start < a_end && start < b_end && is_equal(&old[start], &new[start]))
        add_step(differ, ' ', old[start++]);
    while (a_end > start && b_end > start && is_equal(&old[a_end - 1], &new[b_end - 1])) {
        a_end--;
        b_end--;
    }
    compare(differ, start, a_end, start, b_end);
    for (; old && a_end < differ->old.count; a_end++)
        add_step(differ, ' ', old[a_end]);
}

/* The end of the hunk that starts with the change at first: behind its last change. */
static size_t hunk_end(const struct differ *differ, size_t first)
{
    size_t last = first;

    for (size_t i = first; i < differ->steps.count && i - last <= 2 * (size_t)CONTEXT; i++)
        if (differ->steps.items[i].mark != ' ')
            last = i;
    return last + 1;
}

/* "12", "12,3"; a range of no lines has the number of the line before it. */
static void add_range(struct strbuf *out, char mark, size_t before, size_t count)
{
    strbuf_addf(out, "%c%zu", mark, count ? before + 1 : before);
    if (count != 1)
        strbuf_addf(out, ",%zu", count);
}

static void add_hunk(const struct differ *differ, size_t from, size_t to, size_t old_before,
                     size_t new_before)
{
    struct strbuf *out = differ->out;
    size_t old_count = 0;
    size_t new_count = 0;

    for (size_t i = from; i < to; i++) {
        old_count += differ->steps.items[i].mark != '+';
        new_count += differ->steps.items[i].mark != '-';
    }
    strbuf_add(out, "@@ ");
    add_range(out, '-', old_before, old_count);
    strbuf_add(out, " ");
    add_range(out, '+', new_before, new_count);
    strbuf_add(out, " @@\n");
    for (size_t i = from; i < to; i++) {
        const struct step *step = &differ->steps.items[i];

        strbuf_add_bytes(out, &step->mark, 1);
        strbuf_add_bytes(out, step->line.text, step->line.length);
        if (step->line.text[step->line.length - 1] != '\n')
            strbuf_add(out, "\n\\ No newline at end of file\n");
    }
}

static void add_hunks(const struct differ *differ)
{
    size_t old_before = 0;
    size_t new_before = 0;
    size_t counted = 0;

    for (size_t i = 0; i < differ->steps.count;) {
        size_t from;
        size_t to;

        if (differ->steps.items[i].mark == ' ') {
            i++;
            continue;
        }
        from = i > CONTEXT ? i - CONTEXT : 0;
        if (from < counted)
            from = counted;
        to = hunk_end(differ, i);
        to = to + CONTEXT < differ->steps.count ? to + CONTEXT : differ->steps.count;
        for (; counted < from; counted++) {
            old_before++;
            new_before++;
        }
        add_hunk(differ, from, to, old_before, new_before);
        for (; counted < to; counted++) {
            old_before += differ->steps.items[counted].mark != '+';
            new_before += differ->steps.items[counted].mark != '-';
        }
        i = to;
    }
}

void diff_unified(const struct diff_text *old, const struct diff_text *new, struct strbuf *out)
{
    struct differ differ = {.out = out};

    if (old->length == new->length && memcmp(old->text, new->text, old->length) == 0)
        return;
    split_lines(&differ.old, old, out->failed);
    split_lines(&differ.new, new, out->failed);
    make_steps(&differ);
    strbuf_add(out, "--- ");
    strbuf_add_escaped(out, old->name);
    strbuf_add(out, "\n+++ ");
    strbuf_add_escaped(out, new->name);
    strbuf_add(out, "\n");
    add_hunks(&differ);
    vec_done(&differ.old);
    vec_done(&differ.new);
    vec_done(&differ.steps);
}
