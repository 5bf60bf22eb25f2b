/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/journal.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "overlay/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define JOURNAL_NAME "journal"
#define JOURNAL_LAST "journal.last"

void journal_step(const struct journal *journal)
{
    if (journal->step)
        journal->step(journal->step_context);
}

const char *journal_new_name(const struct journal *journal, const struct journal_op *op,
                             char room[static JOURNAL_NAME_BYTES])
{
    (void)snprintf(room, JOURNAL_NAME_BYTES, ".bawn-apply-%s-%u", journal->id, op->number);
    return room;
}

const char *journal_old_name(const struct journal *journal, const struct journal_op *op,
                             char room[static JOURNAL_NAME_BYTES])
{
    (void)snprintf(room, JOURNAL_NAME_BYTES, ".bawn-apply-%s-%u-old", journal->id, op->number);
    return room;
}

const char *journal_kept_name(const struct journal *journal, const char *word, unsigned number,
                              char room[static JOURNAL_NAME_BYTES])
{
    (void)snprintf(room, JOURNAL_NAME_BYTES, "journal-%s/%s-%u", journal->id, word, number);
    return room;
}

static int open_own_dir(struct journal *journal, struct bawn_error *err)
{
    char name[JOURNAL_NAME_BYTES];

    (void)snprintf(name, sizeof(name), "journal-%s", journal->id);
    journal->dir_fd =
        openat(journal->store_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return journal->dir_fd < 0 ? error_errno(err, errno, "open %s", name) : 0;
}

int journal_init(struct journal *journal, int store_fd, enum journal_verb verb,
                 struct bawn_error *err)
{
    uint64_t mark;

    *journal =
        (struct journal){.verb = verb, .store_fd = store_fd, .dir_fd = -EBADF, .file_fd = -EBADF};
    if (getrandom(&mark, sizeof(mark), 0) != (ssize_t)sizeof(mark))
        return error_errno(err, errno, "getrandom");
    (void)snprintf(journal->id, sizeof(journal->id), "%016llx", (unsigned long long)mark);
    return 0;
}

int journal_create(struct journal *journal, struct bawn_error *err)
{
    char name[JOURNAL_NAME_BYTES];

    (void)snprintf(name, sizeof(name), "journal-%s", journal->id);
    if (mkdirat(journal->store_fd, name, 0700) < 0)
        return error_errno(err, errno, "create %s", name);
    return open_own_dir(journal, err);
}

void journal_done(struct journal *journal)
{
    vec_each (&journal->trees, tree)
        if (tree->fd >= 0)
            close(tree->fd);
    vec_done(&journal->trees);
    vec_done(&journal->ops);
    vec_done(&journal->dirs);
    vec_done(&journal->takes);
    vec_done(&journal->indexes);
    if (journal->dir_fd >= 0)
        close(journal->dir_fd);
    if (journal->file_fd >= 0)
        close(journal->file_fd);
    named_memo_done(&journal->memo);
    arena_done(&journal->arena);
    journal->dir_fd = journal->file_fd = -EBADF;
}

static void add_op(struct strbuf *out, const struct journal_op *op)
{
    strbuf_add(out, "op ");
    words_add_number(out, op->number);
    words_add_number(out, op->tree);
    words_add(out, op->path);
    words_add_number(out, op->has_new);
    words_add_number(out, op->has_old);
    words_add_number(out, op->keep);
    words_add(out, op->fetched);
    words_add_number(out, op->old.st_mode);
    words_add_number(out, op->old.st_ino);
    words_add_number(out, (uint64_t)op->old.st_size);
    words_add_time(out, op->old.st_mtim);
    words_add(out, op->shape);
    strbuf_add(out, "\n");
}

static void add_dir(struct strbuf *out, const struct journal_dir *dir)
{
    strbuf_add(out, "dir ");
    words_add_number(out, dir->number);
    words_add_number(out, dir->tree);
    words_add(out, dir->path);
    words_add_number(out, dir->ino);
    words_add_number(out, dir->old_mode);
    words_add_number(out, dir->new_mode);
    words_add_number(out, dir->has_new_times);
    for (size_t i = 0; i < 2; i++)
        words_add_time(out, dir->old_times[i]);
    for (size_t i = 0; i < 2; i++)
        words_add_time(out, dir->new_times[i]);
    words_add(out, dir->old_attributes);
    words_add(out, dir->new_attributes);
    strbuf_add(out, "\n");
}

static void add_layer(struct strbuf *out, const struct journal *journal)
{
    vec_each (&journal->takes, take) {
        strbuf_add(out, "take ");
        words_add_number(out, take->tree);
        words_add(out, take->path);
        words_add(out, take->kept);
        words_add_number(out, take->mode);
        strbuf_add(out, "\n");
    }
    vec_each (&journal->indexes, index) {
        strbuf_add(out, "index ");
        words_add_number(out, index->tree);
        words_add(out, index->before);
        words_add(out, index->after);
        strbuf_add(out, "\n");
    }
}

static int put_line(struct journal *journal, const struct strbuf *text, struct bawn_error *err)
{
    int r;

    if (text->failed)
        return error_memory(err);
    r = file_put(journal->file_fd, text->text, text->length);
    return r < 0 ? error_errno(err, -r, "write the journal") : 0;
}

int journal_write(struct journal *journal, struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};
    int r;

    strbuf_add(&text, journal->verb == JOURNAL_APPLY ? "apply " : "undo ");
    words_add(&text, journal->id);
    strbuf_add(&text, "\n");
    vec_each (&journal->trees, tree) {
        strbuf_add(&text, "tree ");
        words_add_number(&text, tree->number);
        words_add_number(&text, tree->ino);
        words_add(&text, tree->path);
        strbuf_add(&text, "\n");
    }
    vec_each (&journal->ops, op)
        add_op(&text, op);
    vec_each (&journal->dirs, dir)
        add_dir(&text, dir);
    add_layer(&text, journal);
    if (text.failed)
        return error_memory(err);
    journal_step(journal);
    r = file_replace(journal->store_fd, JOURNAL_NAME, text.text, text.length, 0600, NULL, err);
    if (r < 0)
        return r;
    journal->file_fd =
        openat(journal->store_fd, JOURNAL_NAME, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    return journal->file_fd < 0 ? error_errno(err, errno, "open the journal") : 0;
}

int journal_add_staged(struct journal *journal, const struct journal_op *op, struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};

    strbuf_add(&text, "staged ");
    words_add_number(&text, op->number);
    words_add_number(&text, op->new_ino);
    words_add_number(&text, op->new_mode);
    words_add(&text, op->digest);
    strbuf_add(&text, "\n");
    return put_line(journal, &text, err);
}

int journal_add_point(struct journal *journal, const char *point, struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};
    int r;

    strbuf_addf(&text, "%s \n", point);
    journal_step(journal);
    /* What came before is on the disk before the line that counts on it. */
    if (fdatasync(journal->file_fd) < 0)
        return error_errno(err, errno, "write the journal");
    r = put_line(journal, &text, err);
    if (r == 0 && fdatasync(journal->file_fd) < 0)
        r = error_errno(err, errno, "write the journal");
    if (r == 0 && strcmp(point, "commit") == 0)
        journal->is_committed = true;
    journal_step(journal);
    return r;
}

const struct journal_tree *journal_tree(const struct journal *journal, unsigned number)
{
    vec_each (&journal->trees, tree)
        if (tree->number == number)
            return tree;
    return NULL;
}

int journal_open_trees(struct journal *journal, struct bawn_error *err)
{
    vec_each (&journal->trees, tree) {
        struct stat st;

        if (tree->fd >= 0)
            continue;
        tree->fd = file_open_linkless(tree->path, O_PATH | O_DIRECTORY);
        if (tree->fd < 0)
            return error_errno(err, -tree->fd, "open %s", tree->path);
        if (fstat(tree->fd, &st) < 0)
            return error_errno(err, errno, "stat %s", tree->path);
        if (st.st_ino != tree->ino) {
            (void)error_set(err, ESTALE, "apply.other_tree",
                            "%s is another directory than the one that was changed", tree->path);
            error_hint(err, "put the directory back to where it was, and try again");
            return -ESTALE;
        }
    }
    return 0;
}

/* Removes what no journal speaks of. */
static void remove_others(const struct journal *journal, const char *kept_id)
{
    autonamed struct named_list names = {0};

    if (named_read(journal->store_fd, &names) < 0)
        return;
    vec_each (&names.list, name) {
        if (strncmp(*name, "journal-", 8) != 0 || (kept_id && strcmp(*name + 8, kept_id) == 0))
            continue;
        (void)named_remove(journal->store_fd, *name);
    }
}

int journal_finish(struct journal *journal, struct bawn_error *err)
{
    /* What was put away is on the disk before the journal says so. */
    (void)fsync(journal->dir_fd);
    journal_step(journal);
    if (renameat(journal->store_fd, JOURNAL_NAME, journal->store_fd, JOURNAL_LAST) < 0)
        return error_errno(err, errno, "put the journal away");
    (void)fsync(journal->store_fd);
    journal_step(journal);
    remove_others(journal, journal->verb == JOURNAL_APPLY ? journal->id : NULL);
    return 0;
}

int journal_drop(struct journal *journal, struct bawn_error *err)
{
    char name[JOURNAL_NAME_BYTES];

    journal_step(journal);
    if (unlinkat(journal->store_fd, JOURNAL_NAME, 0) < 0 && errno != ENOENT)
        return error_errno(err, errno, "remove the journal");
    (void)fsync(journal->store_fd);
    journal_step(journal);
    (void)snprintf(name, sizeof(name), "journal-%s", journal->id);
    (void)named_remove(journal->store_fd, name);
    return 0;
}
