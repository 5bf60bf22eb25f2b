/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/hunks.h"

#include "base/cleanup.h"

#include <errno.h>
#include <git2/diff.h>
#include <git2/patch.h>
#include <string.h>

void hunks_done(struct hunks *hunks)
{
    vec_done(&hunks->list);
    arena_done(&hunks->arena);
    *hunks = (struct hunks){0};
}

/* Behind the second "@@", without the newline. */
static const char *heading_of(struct arena *arena, const char *header)
{
    const char *end = strstr(header + strspn(header, "@"), "@@");

    return end ? arena_strndup(arena, end + 2, strcspn(end + 2, "\n")) : "";
}

/* git counts from 1, and names the line before where there is none. */
static size_t start_of(int first, int count)
{
    return count > 0 ? (size_t)first - 1 : (size_t)first;
}

static int read_lines(struct git_patch *patch, size_t number, struct hunk_line *lines,
                      size_t *count)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        const git_diff_line *line;

        if (git_patch_get_line_in_hunk(&line, patch, number, i) < 0)
            return -EIO;
        /* The others say that the line before has no end. */
        if (line->origin == ' ' || line->origin == '-' || line->origin == '+')
            lines[kept++] = (struct hunk_line){line->origin, line->content, line->content_len};
    }
    *count = kept;
    return 0;
}

static int read_hunk(struct git_patch *patch, size_t number, struct hunks *hunks)
{
    const git_diff_hunk *found;
    struct hunk_line *lines;
    struct hunk hunk = {0};
    size_t count;

    if (git_patch_get_hunk(&found, &count, patch, number) < 0)
        return -EIO;
    hunk.old_start = start_of(found->old_start, found->old_lines);
    hunk.old_count = (size_t)found->old_lines;
    hunk.new_start = start_of(found->new_start, found->new_lines);
    hunk.new_count = (size_t)found->new_lines;
    hunk.heading = heading_of(&hunks->arena, found->header);
    lines = arena_alloc(&hunks->arena, (count + 1) * sizeof(*lines));
    if (!hunk.heading || !lines)
        return -ENOMEM;
    if (read_lines(patch, number, lines, &count) < 0)
        return -EIO;
    hunk.lines = lines;
    hunk.line_count = count;
    return vec_push(&hunks->list, hunk) ? 0 : -ENOMEM;
}

int hunks_read(struct git_patch *patch, struct hunks *ret_hunks)
{
    size_t count = git_patch_num_hunks(patch);
    int r = 0;

    *ret_hunks = (struct hunks){0};
    for (size_t i = 0; r == 0 && i < count; i++)
        r = read_hunk(patch, i, ret_hunks);
    if (r < 0)
        hunks_done(ret_hunks);
    return r;
}

static bool is_changed(const struct hunk *hunk, size_t index)
{
    return index < hunk->line_count && hunk->lines[index].sign != ' ';
}

size_t hunk_parts(const struct hunk *hunk)
{
    size_t count = 0;

    for (size_t i = 0; i < hunk->line_count; i++)
        count += is_changed(hunk, i) && (i == 0 || !is_changed(hunk, i - 1));
    return count;
}

/* Counts its lines on both sides. */
static void count_sides(struct hunk *hunk)
{
    hunk->old_count = hunk->new_count = 0;
    for (size_t i = 0; i < hunk->line_count; i++) {
        hunk->old_count += hunk->lines[i].sign != '+';
        hunk->new_count += hunk->lines[i].sign != '-';
    }
}

/* The lines from first to end as a hunk of their own. */
static struct hunk cut(const struct hunk *whole, size_t first, size_t end)
{
    struct hunk before = *whole, part = *whole;

    before.line_count = first;
    count_sides(&before);
    part.lines += first;
    part.line_count = end - first;
    count_sides(&part);
    part.old_start = whole->old_start + before.old_count;
    part.new_start = whole->new_start + before.new_count;
    if (first > 0)
        part.heading = "";
    return part;
}

int hunks_split(struct hunks *hunks, size_t index)
{
    const struct hunk whole = hunks->list.items[index];
    size_t parts = hunk_parts(&whole), count = hunks->list.count;
    size_t first = 0, at = 0;
    struct hunk *list;

    if (parts < 2)
        return 0;
    for (size_t i = 1; i < parts; i++)
        if (!vec_push(&hunks->list, whole))
            return -ENOMEM;
    list = hunks->list.items;
    memmove(list + index + parts, list + index + 1, (count - index - 1) * sizeof(*list));
    for (size_t i = 0; i < parts; i++) {
        size_t end;

        while (!is_changed(&whole, at))
            at++;
        while (is_changed(&whole, at))
            at++;
        /* What both have between two parts belongs to either. */
        for (end = at; end < whole.line_count && !is_changed(&whole, end);)
            end++;
        list[index + i] = cut(&whole, first, end);
        first = at;
    }
    return 0;
}

static void add_range(struct strbuf *out, char sign, size_t start, size_t count)
{
    strbuf_addf(out, " %c%zu", sign, count > 0 ? start + 1 : start);
    if (count != 1)
        strbuf_addf(out, ",%zu", count);
}

void hunk_add_header(const struct hunk *hunk, struct strbuf *out)
{
    strbuf_add(out, "@@");
    add_range(out, '-', hunk->old_start, hunk->old_count);
    add_range(out, '+', hunk->new_start, hunk->new_count);
    strbuf_addf(out, " @@%s", hunk->heading);
}

const char *hunk_line_mark(const struct hunk_line *line)
{
    bool has_end = line->length > 0 && line->bytes[line->length - 1] == '\n';

    return has_end ? NULL : "\n\\ No newline at end of file\n";
}

void hunk_add_text(const struct hunk *hunk, struct strbuf *out)
{
    hunk_add_header(hunk, out);
    strbuf_add(out, "\n");
    for (size_t i = 0; i < hunk->line_count; i++) {
        const struct hunk_line *line = &hunk->lines[i];
        const char *mark = hunk_line_mark(line);

        strbuf_add_bytes(out, &line->sign, 1);
        strbuf_add_bytes(out, line->bytes, line->length);
        strbuf_add(out, mark ? mark : "");
    }
}

/* A place in a text, and the number of the line there. */
struct cursor {
    const char *at, *end;
    size_t line;
};

static struct cursor cursor_of(const struct merge_text *text)
{
    return (struct cursor){.at = text->bytes, .end = text->bytes + text->length};
}

/* The line there, which is passed; its length is 0 at the end. */
static struct hunk_line next_line(struct cursor *cursor)
{
    size_t left = (size_t)(cursor->end - cursor->at);
    const char *end = left > 0 ? memchr(cursor->at, '\n', left) : NULL;
    struct hunk_line line = {.bytes = cursor->at,
                             .length = end ? (size_t)(end + 1 - cursor->at) : left};

    cursor->at += line.length;
    cursor->line += line.length > 0;
    return line;
}

/* Passes the lines before that one: false where the text ends earlier. */
static bool skip_to(struct cursor *cursor, size_t line)
{
    while (cursor->line < line)
        if (next_line(cursor).length == 0)
            return false;
    return cursor->line == line;
}

/* A text in the making: nothing follows a line without end. */
static bool add_bytes(struct strbuf *out, const char *bytes, size_t length)
{
    if (length > 0 && out->length > 0 && out->text[out->length - 1] != '\n')
        return false;
    strbuf_add_bytes(out, bytes, length);
    return !out->failed;
}

/* The core: its lines, and where it begins in the text. */
static struct hunk core_of(const struct hunk *hunk)
{
    size_t first = 0, end = hunk->line_count;

    while (first < end && !is_changed(hunk, first))
        first++;
    while (end > first && !is_changed(hunk, end - 1))
        end--;
    return cut(hunk, first, end);
}

static bool add_core(struct strbuf *out, struct cursor *cursor, const struct hunk *hunk)
{
    const struct hunk core = core_of(hunk);
    const char *from = cursor->at;

    if (core.line_count == 0)
        return true;
    if (!skip_to(cursor, core.old_start) || !add_bytes(out, from, (size_t)(cursor->at - from)))
        return false;
    for (size_t i = 0; i < core.line_count; i++)
        if (core.lines[i].sign != '-' && !add_bytes(out, core.lines[i].bytes, core.lines[i].length))
            return false;
    return skip_to(cursor, core.old_start + core.old_count);
}

/* With all that are taken, or with all of them. */
static int compose(const struct hunks *hunks, bool takes_all, const struct merge_text *before,
                   struct strbuf *out)
{
    struct cursor cursor = cursor_of(before);

    vec_each (&hunks->list, hunk)
        if ((takes_all || hunk->use == HUNK_TAKEN) && !add_core(out, &cursor, hunk))
            return out->failed ? -ENOMEM : -EINVAL;
    if (!add_bytes(out, cursor.at, (size_t)(cursor.end - cursor.at)))
        return out->failed ? -ENOMEM : -EINVAL;
    return 0;
}

int hunks_compose(const struct hunks *hunks, const struct merge_text *before,
                  struct merge_text *ret_text)
{
    autostrbuf struct strbuf out = {0};
    int r = compose(hunks, false, before, &out);

    if (r < 0)
        return r;
    ret_text->length = out.length;
    ret_text->bytes = strbuf_take(&out);
    return ret_text->bytes ? 0 : -ENOMEM;
}

/* Without the lines that are comments, each with its end. */
static char *without_comments(struct arena *arena, const char *edited, size_t length,
                              size_t *ret_length)
{
    char *text = arena_alloc(arena, length + 2);
    struct cursor cursor = {.at = edited, .end = edited + length};
    size_t kept = 0;

    if (!text)
        return NULL;
    for (struct hunk_line line; (line = next_line(&cursor)).length > 0;) {
        if (*line.bytes == '#')
            continue;
        memcpy(text + kept, line.bytes, line.length);
        kept += line.length;
    }
    if (kept > 0 && text[kept - 1] != '\n')
        text[kept++] = '\n';
    *ret_length = kept;
    return text;
}

/* Editors take blanks away at the ends of lines: an empty one is one that both have. */
static bool read_edited_line(struct hunk_line *line)
{
    if (*line->bytes == '\n' || (*line->bytes == '\r' && line->length == 2)) {
        line->sign = ' ';
        return true;
    }
    line->sign = *line->bytes;
    line->bytes++;
    line->length--;
    return line->sign == ' ' || line->sign == '-' || line->sign == '+';
}

static int read_edited(struct arena *arena, const char *text, size_t length, struct hunk *hunk)
{
    struct cursor cursor = {.at = text, .end = text + length};
    struct hunk_line *lines;
    size_t count = 0;

    while (next_line(&cursor).length > 0)
        ;
    lines = arena_alloc(arena, (cursor.line + 1) * sizeof(*lines));
    if (!lines)
        return -ENOMEM;
    cursor = (struct cursor){.at = text, .end = text + length};
    if (*text == '@')
        (void)next_line(&cursor);
    for (struct hunk_line line; (line = next_line(&cursor)).length > 0;) {
        if (*line.bytes == '\\' && count > 0 && !hunk_line_mark(&lines[count - 1])) {
            lines[count - 1].length--;
            continue;
        }
        if (!read_edited_line(&line))
            return -EINVAL;
        lines[count++] = line;
    }
    hunk->lines = lines;
    hunk->line_count = count;
    count_sides(hunk);
    return 0;
}

static bool has_old_side(const struct hunk *hunk, struct cursor cursor)
{
    for (size_t i = 0; i < hunk->line_count; i++) {
        const struct hunk_line *wanted = &hunk->lines[i];
        struct hunk_line line;

        if (wanted->sign == '+')
            continue;
        line = next_line(&cursor);
        if (line.length != wanted->length || memcmp(line.bytes, wanted->bytes, line.length) != 0)
            return false;
    }
    return true;
}

/* Finds its lines where the hunk was: some at its ends may be gone. */
static bool find_place(const struct hunk *was, const struct merge_text *before, struct hunk *hunk)
{
    struct cursor cursor = cursor_of(before);

    if (hunk->old_count > was->old_count || (hunk->old_count == 0 && was->old_count > 0) ||
        !skip_to(&cursor, was->old_start))
        return false;
    for (size_t shift = 0; shift <= was->old_count - hunk->old_count; shift++) {
        if (has_old_side(hunk, cursor)) {
            hunk->old_start = was->old_start + shift;
            hunk->new_start = was->new_start + shift;
            return true;
        }
        (void)next_line(&cursor);
    }
    return false;
}

int hunks_edit(struct hunks *hunks, size_t index, const struct merge_text *before,
               const char *edited, size_t length)
{
    const struct hunk was = hunks->list.items[index];
    autostrbuf struct strbuf tried = {0};
    struct hunk hunk = was;
    char *text = without_comments(&hunks->arena, edited, length, &length);
    int r;

    if (!text)
        return -ENOMEM;
    if (length == 0)
        return 0;
    r = read_edited(&hunks->arena, text, length, &hunk);
    if (r < 0)
        return r;
    if (!find_place(&was, before, &hunk))
        return -EINVAL;
    hunks->list.items[index] = hunk;
    r = compose(hunks, true, before, &tried);
    if (r < 0)
        hunks->list.items[index] = was;
    return r < 0 ? r : 1;
}
