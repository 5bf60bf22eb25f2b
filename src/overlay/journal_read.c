/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a journal. It is our own, and the store is the user's alone: one that does not read is
 * damaged, and nothing is done by it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "overlay/journal.h"
#include "overlay/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { JOURNAL_BYTES = 512 * 1024 * 1024 };

static bool next_unsigned(char **line, unsigned *ret_number)
{
    uint64_t number;

    if (!words_next_number(line, &number) || number > UINT32_MAX)
        return false;
    *ret_number = (unsigned)number;
    return true;
}

static bool next_bool(char **line, bool *ret_value)
{
    unsigned number;

    if (!next_unsigned(line, &number) || number > 1)
        return false;
    *ret_value = number;
    return true;
}

static bool next_text(struct journal *journal, char **line, const char **ret_text)
{
    const char *word = words_next(line);

    *ret_text = word ? arena_strdup(&journal->arena, word) : NULL;
    return *ret_text != NULL;
}

static bool next_mode(char **line, mode_t *ret_mode)
{
    return next_unsigned(line, ret_mode);
}

static bool read_tree(struct journal *journal, char *line)
{
    struct journal_tree tree = {.fd = -EBADF};

    return next_unsigned(&line, &tree.number) && words_next_number(&line, &tree.ino) &&
           next_text(journal, &line, &tree.path) && vec_push(&journal->trees, tree);
}

static bool read_op(struct journal *journal, char *line)
{
    struct journal_op op = {.digest = ""};
    unsigned keep;
    uint64_t ino, size;

    if (!next_unsigned(&line, &op.number) || !next_unsigned(&line, &op.tree) ||
        !next_text(journal, &line, &op.path) || !next_bool(&line, &op.has_new) ||
        !next_bool(&line, &op.has_old) || !next_unsigned(&line, &keep) || keep > JOURNAL_COPY ||
        !next_text(journal, &line, &op.fetched) || !next_mode(&line, &op.old.st_mode) ||
        !words_next_number(&line, &ino) || !words_next_number(&line, &size) ||
        !words_next_time(&line, &op.old.st_mtim) || !next_text(journal, &line, &op.shape) ||
        op.number != journal->ops.count)
        return false;
    op.keep = (enum journal_keep)keep;
    op.old.st_ino = ino;
    op.old.st_size = (off_t)size;
    return vec_push(&journal->ops, op);
}

static bool read_dir(struct journal *journal, char *line)
{
    struct journal_dir dir = {0};

    return next_unsigned(&line, &dir.number) && next_unsigned(&line, &dir.tree) &&
           next_text(journal, &line, &dir.path) && words_next_number(&line, &dir.ino) &&
           next_mode(&line, &dir.old_mode) && next_mode(&line, &dir.new_mode) &&
           next_bool(&line, &dir.has_new_times) && words_next_time(&line, &dir.old_times[0]) &&
           words_next_time(&line, &dir.old_times[1]) && words_next_time(&line, &dir.new_times[0]) &&
           words_next_time(&line, &dir.new_times[1]) &&
           next_text(journal, &line, &dir.old_attributes) &&
           next_text(journal, &line, &dir.new_attributes) && vec_push(&journal->dirs, dir);
}

static bool read_take(struct journal *journal, char *line)
{
    struct journal_take take = {0};

    return next_unsigned(&line, &take.tree) && next_text(journal, &line, &take.path) &&
           next_text(journal, &line, &take.kept) && next_mode(&line, &take.mode) &&
           vec_push(&journal->takes, take);
}

static bool read_index(struct journal *journal, char *line)
{
    struct journal_index index = {0};

    return next_unsigned(&line, &index.tree) && next_text(journal, &line, &index.before) &&
           next_text(journal, &line, &index.after) && vec_push(&journal->indexes, index);
}

static bool read_staged(struct journal *journal, char *line)
{
    unsigned number;
    struct journal_op *op;

    if (!next_unsigned(&line, &number) || number >= journal->ops.count)
        return false;
    op = &journal->ops.items[number];
    return words_next_number(&line, &op->new_ino) && next_mode(&line, &op->new_mode) &&
           next_text(journal, &line, &op->digest);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the others in the table */
static bool read_commit(struct journal *journal, char *line)
{
    (void)line;
    return journal->is_committed = true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the others in the table */
static bool read_abort(struct journal *journal, char *line)
{
    (void)line;
    return journal->is_aborted = true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the others in the table */
static bool read_placed(struct journal *journal, char *line)
{
    (void)line;
    return journal->is_placed = true;
}

static const struct {
    const char *word;
    bool (*read)(struct journal *journal, char *line);
} lines[] = {
    {"tree", read_tree},     {"op", read_op},       {"dir", read_dir},
    {"take", read_take},     {"index", read_index}, {"staged", read_staged},
    {"commit", read_commit}, {"abort", read_abort}, {"placed", read_placed},
};

static bool read_line(struct journal *journal, char *line)
{
    const char *word = words_next(&line);

    for (size_t i = 0; word && i < sizeof(lines) / sizeof(lines[0]); i++)
        if (strcmp(word, lines[i].word) == 0)
            return lines[i].read(journal, line);
    return false;
}

static bool read_first(struct journal *journal, char *line)
{
    const char *word = line ? words_next(&line) : NULL, *id = word ? words_next(&line) : NULL;

    if (!id || strlen(id) != sizeof(journal->id) - 1 || strspn(id, "0123456789abcdef") != 16)
        return false;
    journal->verb = strcmp(word, "undo") == 0 ? JOURNAL_UNDO : JOURNAL_APPLY;
    memcpy(journal->id, id, sizeof(journal->id));
    return journal->verb == JOURNAL_UNDO || strcmp(word, "apply") == 0;
}

static int read_all(struct journal *journal, const char *name, char *text, struct bawn_error *err)
{
    char *line;
    bool is_good = read_first(journal, words_line(&text));

    while (is_good && (line = words_line(&text)))
        is_good = read_line(journal, line);
    if (is_good)
        return 0;
    (void)error_set(err, EBADMSG, "apply.journal_damaged", "%s in the store does not read", name);
    error_hint(err, "files named .bawn-apply-* in the trees of the session are what it speaks of");
    return -EBADMSG;
}

int journal_read(struct journal *journal, int store_fd, const char *name, struct bawn_error *err)
{
    autofree char *text = NULL;
    const char *end;
    size_t length, whole;
    char dir[JOURNAL_NAME_BYTES];
    int r;

    *journal = (struct journal){.store_fd = store_fd, .dir_fd = -EBADF, .file_fd = -EBADF};
    r = file_read(store_fd, name, JOURNAL_BYTES, &text, &length, err);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    end = strrchr(text, '\n');
    whole = end ? (size_t)(end - text) + 1 : 0;
    r = read_all(journal, name, text, err);
    if (r < 0)
        return r;
    (void)snprintf(dir, sizeof(dir), "journal-%s", journal->id);
    journal->dir_fd = openat(store_fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (journal->dir_fd < 0 && errno != ENOENT)
        return error_errno(err, errno, "open %s", dir);
    journal->file_fd = openat(store_fd, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    /* Half a line that was being written is no line, and none is to be joined to it. */
    if (journal->file_fd < 0 || (whole < length && ftruncate(journal->file_fd, (off_t)whole) < 0))
        return error_errno(err, errno, "open %s", name);
    return 1;
}
