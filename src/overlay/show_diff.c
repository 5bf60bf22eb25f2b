/* SPDX-License-Identifier: Apache-2.0 */
/* The two sides of a file, as git writes them. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "overlay/entry.h"
#include "overlay/show_own.h"

#include <git2/buffer.h>
#include <git2/diff.h>
#include <git2/errors.h>
#include <git2/odb.h>
#include <git2/oid.h>
#include <git2/patch.h>
#include <string.h>
#include <sys/stat.h>

/* More is compared as a whole: what differs line by line may take the square of their number. */
enum {
    DIFF_BYTES = 8 * 1024 * 1024,
    DIFF_BYTES_ALL = 256 * 1024 * 1024,
    HASH_BYTES = 256 * 1024 * 1024,
    HASH_BYTES_ALL = 1024 * 1024 * 1024,
    DIFF_LINES = 100000,      /* of both sides of a file, from the first that differs to the last */
    DIFF_LINES_ALL = 3000000, /* of all files */
};

#define COLOUR_BOLD  "\033[1m"
#define COLOUR_HUNK  "\033[36m"
#define COLOUR_ADD   "\033[32m"
#define COLOUR_TAKE  "\033[31m"
#define COLOUR_PLAIN "\033[m"

static void free_patch(git_patch **patch)
{
    git_patch_free(*patch);
}
#define autopatch __attribute__((cleanup(free_patch)))

static int git_trouble(struct show *show, const char *path)
{
    const git_error *error = git_error_last();

    return error_set(show->err, EIO, "overlay.show", "compare %s: %s", path,
                     error && error->message ? error->message : "libgit2 says no");
}

static int read_side(struct show *show, int root_fd, const char *path, size_t limit,
                     struct content *ret_content)
{
    int result = path ? content_read(root_fd, path, limit, ret_content) : 0;

    return result < 0 ? error_errno(show->err, -result, "read %s", path) : 0;
}

int pair_read(struct show *show, const char *old_path, const char *new_path, size_t limit,
              struct pair *ret_pair)
{
    const struct overlay_tree *tree = show->at->tree;
    struct pair pair = {.old_path = old_path ? old_path : new_path,
                        .new_path = new_path ? new_path : old_path};
    int result = read_side(show, tree->lower_fd, old_path, limit, &pair.before);

    if (result == 0)
        result = read_side(show, tree->upper_fd, new_path, limit, &pair.after);
    if (result < 0)
        pair_done(&pair);
    else
        *ret_pair = pair;
    return result;
}

void pair_done(struct pair *pair)
{
    content_done(&pair->before);
    content_done(&pair->after);
}

static bool is_there(const struct content *content)
{
    return show_git_mode(content->mode) != 0;
}

static bool is_large(const struct content *content)
{
    return is_there(content) && (!content->bytes || content->length > DIFF_BYTES);
}

static size_t count_lines(const char *bytes, size_t length)
{
    const char *end = bytes + length;
    size_t count = 1;

    while (bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        bytes++;
        count++;
    }
    return count;
}

/* How many lines there are from the first that differs to the last. */
static size_t count_compared(const struct pair *pair)
{
    const char *one = pair->before.bytes;
    const char *other = pair->after.bytes;
    size_t length = pair->before.length;
    size_t other_length = pair->after.length;

    if (!one || !other)
        return 0;
    while (length && other_length && *one == *other) {
        one++;
        other++;
        length--;
        other_length--;
    }
    while (length && other_length && one[length - 1] == other[other_length - 1]) {
        length--;
        other_length--;
    }
    return count_lines(one, length) + count_lines(other, other_length);
}

static bool is_whole(struct show *show, const struct pair *pair)
{
    size_t count;

    if (is_large(&pair->before) || is_large(&pair->after))
        return true;
    show->bytes_compared += pair->before.length + pair->after.length;
    if (show->bytes_compared > DIFF_BYTES_ALL)
        return true;
    count = count_compared(pair);
    show->lines_compared += count < DIFF_LINES ? count : 0;
    return count >= DIFF_LINES || show->lines_compared > DIFF_LINES_ALL;
}

bool pair_is_same(const struct pair *pair)
{
    return is_there(&pair->before) && is_there(&pair->after) && pair->before.bytes &&
           pair->after.bytes && pair->before.length == pair->after.length &&
           memcmp(pair->before.bytes, pair->after.bytes, pair->after.length) == 0;
}

static int make_patch(struct show *show, const struct pair *pair, bool is_binary,
                      git_patch **ret_patch)
{
    git_diff_options options;
    bool has_old = is_there(&pair->before);
    bool has_new = is_there(&pair->after);

    if (git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION) < 0)
        return git_trouble(show, pair->new_path);
    options.flags = GIT_DIFF_SHOW_BINARY;
    if (is_binary)
        options.flags |= GIT_DIFF_FORCE_BINARY;
    if (S_ISLNK(pair->after.mode) || S_ISLNK(pair->before.mode))
        options.flags |= GIT_DIFF_FORCE_TEXT;
    /* The names are written by us. */
    if (git_patch_from_buffers(ret_patch, has_old ? pair->before.bytes : NULL,
                               has_old ? pair->before.length : 0, "x",
                               has_new ? pair->after.bytes : NULL, has_new ? pair->after.length : 0,
                               "x", &options) < 0)
        return git_trouble(show, pair->new_path);
    return 0;
}

static bool is_binary_patch(const git_patch *patch)
{
    return git_patch_get_delta(patch)->flags & GIT_DIFF_FLAG_BINARY;
}

bool pair_count(struct show *show, const struct pair *pair, size_t *ret_added, size_t *ret_deleted,
                int *ret_result)
{
    autopatch git_patch *patch = NULL;

    *ret_added = *ret_deleted = 0;
    *ret_result = 0;
    if (pair_is_same(pair))
        return true;
    if (is_whole(show, pair))
        return false;
    *ret_result = make_patch(show, pair, false, &patch);
    if (*ret_result < 0 || is_binary_patch(patch))
        return false;
    if (git_patch_line_stats(NULL, ret_added, ret_deleted, patch) < 0)
        *ret_result = git_trouble(show, pair->new_path);
    return true;
}

static bool is_raw(const struct show *show)
{
    return show->options->form == SHOW_PATCH;
}

static void add_colour(struct show *show, const char *colour)
{
    if (show->options->has_colours && !is_raw(show))
        strbuf_add(show->out, colour);
}

/* As git quotes a name: in quotes, with C's escapes, if there is anything to escape. */
static void add_quoted(struct strbuf *out, const char *prefix, const char *name)
{
    static const char letters[] = "abtnvfr";
    bool has_quotes = false;

    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        has_quotes |= *at < ' ' || *at >= 0x7f || *at == '"' || *at == '\\';
    strbuf_addf(out, "%s%s", has_quotes ? "\"" : "", prefix);
    for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
        if (*at == '"' || *at == '\\')
            strbuf_addf(out, "\\%c", *at);
        else if (*at >= '\a' && *at <= '\r')
            strbuf_addf(out, "\\%c", letters[*at - '\a']);
        else if (*at < ' ' || *at >= 0x7f)
            strbuf_addf(out, "\\%03o", *at);
        else
            strbuf_addf(out, "%c", *at);
    }
    strbuf_add(out, has_quotes ? "\"" : "");
}

/* A name with "a/" or "b/" before it. */
static void add_side(struct show *show, const char *prefix, const char *path)
{
    autofree char *name = show_name(show, path);

    if (!name) {
        show->out->failed = true;
    } else if (is_raw(show)) {
        add_quoted(show->out, prefix, name);
    } else {
        strbuf_add(show->out, prefix);
        strbuf_add_escaped(show->out, name);
    }
}

static unsigned shown_mode(const struct show *show, const struct content *content)
{
    return is_raw(show) || S_ISLNK(content->mode) ? show_git_mode(content->mode) : content->mode;
}

static void add_modes(struct show *show, const struct pair *pair)
{
    unsigned before = shown_mode(show, &pair->before);
    unsigned after = shown_mode(show, &pair->after);

    if (!is_there(&pair->before))
        strbuf_addf(show->out, "new file mode %06o\n", after);
    else if (!is_there(&pair->after))
        strbuf_addf(show->out, "deleted file mode %06o\n", before);
    else if (before != after)
        strbuf_addf(show->out, "old mode %06o\nnew mode %06o\n", before, after);
}

static void add_names(struct show *show, const struct pair *pair)
{
    strbuf_add(show->out, "diff --git ");
    add_side(show, "a/", pair->old_path);
    strbuf_add(show->out, " ");
    add_side(show, "b/", pair->new_path);
    strbuf_add(show->out, "\n");
}

static void add_header(struct show *show, const struct pair *pair)
{
    add_colour(show, COLOUR_BOLD);
    add_names(show, pair);
    add_modes(show, pair);
    if (pair->old_path != pair->new_path) {
        strbuf_add(show->out, "similarity index 100%\nrename from ");
        add_side(show, "", pair->old_path);
        strbuf_add(show->out, "\nrename to ");
        add_side(show, "", pair->new_path);
        strbuf_add(show->out, "\n");
    }
    add_colour(show, COLOUR_PLAIN);
}

static int add_id(struct show *show, const struct content *content)
{
    char hex[GIT_OID_HEXSZ + 1] = "0000000000000000000000000000000000000000";
    git_oid id;

    if (is_there(content)) {
        if (git_odb_hash(&id, content->bytes, content->length, GIT_OBJECT_BLOB) < 0)
            return git_trouble(show, "it");
        (void)git_oid_tostr(hex, sizeof(hex), &id);
    }
    strbuf_add(show->out, hex);
    return 0;
}

/* git takes a binary patch only with the names of both contents. */
static int add_index(struct show *show, const struct pair *pair)
{
    int result;

    strbuf_add(show->out, "index ");
    result = add_id(show, &pair->before);
    strbuf_add(show->out, "..");
    if (result == 0)
        result = add_id(show, &pair->after);
    if (is_there(&pair->before) && is_there(&pair->after) &&
        show_git_mode(pair->before.mode) == show_git_mode(pair->after.mode))
        strbuf_addf(show->out, " %06o", show_git_mode(pair->after.mode));
    strbuf_add(show->out, "\n");
    return result;
}

static void add_file_line(struct show *show, const char *mark, const char *prefix,
                          const struct content *content, const char *path)
{
    autofree char *name = show_name(show, path);
    bool has_blank = name && strchr(name, ' ');

    strbuf_add(show->out, mark);
    if (!is_there(content)) {
        strbuf_add(show->out, "/dev/null\n");
        return;
    }
    add_side(show, prefix, path);
    /* git ends a name that has a blank in it so. */
    strbuf_add(show->out, is_raw(show) && has_blank ? "\t\n" : "\n");
}

/* Bytes of a file; for a person without what would move the cursor. */
static void add_content(struct show *show, const char *bytes, size_t length)
{
    bool is_plain = is_raw(show) && !show->options->is_watched;
    autofree char *shown = is_plain ? NULL : text_escape_new(bytes, length, TEXT_LINES);

    if (is_plain)
        strbuf_add_bytes(show->out, bytes, length);
    else if (shown)
        strbuf_add(show->out, shown);
    else
        show->out->failed = true;
}

static void add_diff_line(struct show *show, const struct hunk_line *line)
{
    const char *mark = hunk_line_mark(line);
    const char *colour = line->sign == '+' ? COLOUR_ADD : line->sign == '-' ? COLOUR_TAKE : NULL;

    if (colour)
        add_colour(show, colour);
    strbuf_add_bytes(show->out, &line->sign, 1);
    add_content(show, line->bytes, line->length - !mark);
    if (colour)
        add_colour(show, COLOUR_PLAIN);
    strbuf_add(show->out, mark ? mark : "\n");
}

void show_hunk(struct show *show, const struct hunk *hunk)
{
    autostrbuf struct strbuf header = {0};

    hunk_add_header(hunk, &header);
    show->out->failed |= header.failed;
    add_colour(show, COLOUR_HUNK);
    if (!header.failed)
        add_content(show, header.text, header.length);
    add_colour(show, COLOUR_PLAIN);
    strbuf_add(show->out, "\n");
    for (size_t i = 0; i < hunk->line_count; i++)
        add_diff_line(show, &hunk->lines[i]);
}

static void add_file_lines(struct show *show, const struct pair *pair)
{
    add_colour(show, COLOUR_BOLD);
    add_file_line(show, "--- ", "a/", &pair->before, pair->old_path);
    add_file_line(show, "+++ ", "b/", &pair->after, pair->new_path);
    add_colour(show, COLOUR_PLAIN);
}

int pair_find_hunks(struct show *show, const struct pair *pair, struct hunks *ret_hunks)
{
    autopatch git_patch *patch = NULL;
    int result;

    if (!pair->before.bytes || !pair->after.bytes || pair_is_same(pair) || is_whole(show, pair))
        return 0;
    result = make_patch(show, pair, false, &patch);
    if (result < 0 || is_binary_patch(patch))
        return result;
    result = hunks_read(patch, ret_hunks);
    if (result < 0)
        return result == -ENOMEM ? error_memory(show->err) : git_trouble(show, pair->new_path);
    return ret_hunks->list.count > 0;
}

void pair_add_head(struct show *show, const struct pair *pair, bool has_lines)
{
    add_colour(show, COLOUR_BOLD);
    add_names(show, pair);
    add_colour(show, COLOUR_PLAIN);
    if (has_lines)
        add_file_lines(show, pair);
}

void pair_add_modes(struct show *show, const struct pair *pair)
{
    add_colour(show, COLOUR_BOLD);
    add_modes(show, pair);
    add_colour(show, COLOUR_PLAIN);
}

static int add_hunks(struct show *show, const struct pair *pair, git_patch *patch)
{
    autohunks struct hunks hunks = {0};
    int result = hunks_read(patch, &hunks);

    if (result < 0)
        return result == -ENOMEM ? error_memory(show->err) : git_trouble(show, pair->new_path);
    if (hunks.list.count > 0)
        add_file_lines(show, pair);
    vec_each (&hunks.list, hunk)
        show_hunk(show, hunk);
    return 0;
}

/* Of what libgit2 writes only the content: it knows neither names nor modes. */
static int add_binary_patch(struct show *show, const struct pair *pair, git_patch *patch)
{
    static const char begin[] = "GIT binary patch\n";
    git_buf text = GIT_BUF_INIT;
    const char *found = NULL;

    if (git_patch_to_buf(&text, patch) == 0)
        found = memmem(text.ptr, text.size, begin, strlen(begin));
    if (found)
        strbuf_add_bytes(show->out, found, text.size - (size_t)(found - text.ptr));
    git_buf_dispose(&text);
    return found ? 0 : git_trouble(show, pair->new_path);
}

static int add_size(struct show *show, const char *word, int root_fd, const char *path,
                    const struct content *content)
{
    char hex[CONTENT_HEX + 1] = "";
    /* SECURITY: a file of holes is as long as it says, and one file may have many names. */
    bool is_hashed =
        is_there(content) && content->size <= HASH_BYTES && show->bytes_hashed <= HASH_BYTES_ALL;
    int result = is_hashed ? content_hash(root_fd, path, content->size, hex) : 0;

    if (result < 0 && !entry_is_own_fault(-result))
        return error_errno(show->err, -result, "read %s", path);
    show->bytes_hashed += is_hashed ? (uint64_t)content->size : 0;
    if (is_there(content))
        strbuf_addf(show->out, "  %s: %lld bytes%s%s\n", word, (long long)content->size,
                    !is_hashed    ? ""
                    : result == 0 ? ", SHA-256 "
                                  : ", cannot be read",
                    hex);
    return 0;
}

int pair_add_words(struct show *show, const struct pair *pair)
{
    int result;

    strbuf_add(show->out, "Binary files ");
    if (is_there(&pair->before))
        add_side(show, "a/", pair->old_path);
    else
        strbuf_add(show->out, "/dev/null");
    strbuf_add(show->out, " and ");
    if (is_there(&pair->after))
        add_side(show, "b/", pair->new_path);
    else
        strbuf_add(show->out, "/dev/null");
    strbuf_add(show->out, " differ\n");
    if (is_raw(show))
        return 0;
    result = add_size(show, "before", show->at->tree->lower_fd, pair->old_path, &pair->before);
    if (result == 0)
        result = add_size(show, "after", show->at->tree->upper_fd, pair->new_path, &pair->after);
    return result;
}

static int add_both(struct show *show, const struct pair *pair)
{
    autopatch git_patch *patch = NULL;
    bool is_one;
    bool can_patch = (!is_there(&pair->before) || pair->before.bytes) &&
                     (!is_there(&pair->after) || pair->after.bytes);
    int result = 0;

    add_header(show, pair);
    if (pair_is_same(pair) || pair->old_path != pair->new_path)
        return 0;
    is_one = is_whole(show, pair);
    if (!can_patch || (is_one && !is_raw(show)))
        return pair_add_words(show, pair);
    if (is_raw(show))
        result = add_index(show, pair);
    if (result == 0 && pair->before.length + pair->after.length > 0)
        result = make_patch(show, pair, is_one, &patch);
    if (result < 0 || !patch)
        return result;
    if (!is_binary_patch(patch))
        return add_hunks(show, pair, patch);
    return is_raw(show) ? add_binary_patch(show, pair, patch) : pair_add_words(show, pair);
}

int pair_add(struct show *show, const struct pair *pair)
{
    struct pair one = *pair;
    bool has_old = is_there(&pair->before);
    bool has_new = is_there(&pair->after);
    int result = 0;

    if (has_old && has_new && (pair->before.mode ^ pair->after.mode) & S_IFMT) {
        /* A file and a link: one goes, the other comes. */
        one.after = (struct content){0};
        result = add_both(show, &one);
        one.after = pair->after;
        one.before = (struct content){0};
    }
    if (result == 0 && (has_old || has_new))
        result = add_both(show, &one);
    return result;
}
