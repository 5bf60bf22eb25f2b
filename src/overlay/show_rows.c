/* SPDX-License-Identifier: Apache-2.0 */
/* A line or an object for each change: with how many lines came and went, and as JSON. */
#include "base/json.h"
#include "overlay/show_own.h"

enum { STAT_BYTES = 8 * 1024 * 1024 };

static void count_kind(struct show_sum *sum, const struct change *change)
{
    /* A directory goes with all that was in it. */
    sum->all += change->kind == CHANGE_DELETED && change->inside > 0 ? change->inside : 1;
    sum->added += change->kind == CHANGE_ADDED && !change->from;
    if (change->kind == CHANGE_DELETED)
        sum->deleted += change->inside > 0 ? change->inside : 1;
    sum->moved += change->from != NULL;
    sum->barred += change->bar != CHANGE_FREE;
}

/* How many lines, or in words why that cannot be told. */
static int add_count(struct show *show, const struct change *change)
{
    autopair struct pair pair = {0};
    const char *old_path = change->kind == CHANGE_ADDED ? NULL : change->path;
    const char *new_path = change->kind == CHANGE_DELETED ? NULL : change->path;
    size_t added;
    size_t deleted;
    int result = pair_read(show, old_path, new_path, STAT_BYTES, &pair);
    bool has_lines;

    if (result < 0)
        return result;
    has_lines = pair_count(show, &pair, &added, &deleted, &result);
    if (pair.before.errnum || pair.after.errnum)
        strbuf_add(show->out, "cannot be read");
    else if (has_lines)
        strbuf_addf(show->out, "+%zu -%zu", added, deleted);
    else
        strbuf_addf(show->out, "%lld -> %lld bytes", (long long)pair.before.size,
                    (long long)pair.after.size);
    show->sum.lines_added += added;
    show->sum.lines_deleted += deleted;
    return result;
}

int show_stat(struct show *show, const struct change *change)
{
    const struct stat *status = change->kind == CHANGE_DELETED ? &change->before : &change->after;
    const char *reason = show_reason(change);
    int result = 0;

    if (change->is_moved)
        return 0;
    count_kind(&show->sum, change);
    strbuf_add(show->out, " ");
    if (change->from) {
        show_add_name(show, change->from, 0);
        strbuf_add(show->out, " -> ");
    }
    show_add_name(show, change->path, status->st_mode);
    strbuf_add(show->out, " | ");
    if (reason)
        strbuf_addf(show->out, "never applied: %s", reason);
    else if (change->from)
        strbuf_add(show->out, "moved");
    else if (show_git_mode(change->before.st_mode) || show_git_mode(change->after.st_mode))
        result = add_count(show, change);
    else
        strbuf_addf(show->out, "%s%s", show_type(status->st_mode),
                    change->kind == CHANGE_DELETED ? ", deleted" : "");
    if (change->inside > 0)
        strbuf_addf(show->out, " with %zu %s", change->inside,
                    change->inside == 1 ? "file" : "files");
    strbuf_add(show->out, "\n");
    return result;
}

static void add_sum(struct show *show, size_t count, const char *word)
{
    if (count)
        strbuf_addf(show->out, ", %zu %s", count, word);
}

void show_stat_sum(struct show *show)
{
    const struct show_sum *sum = &show->sum;

    strbuf_addf(show->out, " %zu %s changed", sum->all, sum->all == 1 ? "file" : "files");
    add_sum(show, sum->added, "added");
    add_sum(show, sum->deleted, "deleted");
    add_sum(show, sum->moved, "moved");
    add_sum(show, sum->barred, "never applied");
    strbuf_addf(show->out, ", %zu lines added, %zu lines deleted\n", sum->lines_added,
                sum->lines_deleted);
}

static void put_status(struct strbuf *out, const char *key, const struct stat *status)
{
    char mode[8];

    if (!status->st_mode) {
        json_put_string(out, key, NULL);
        return;
    }
    (void)snprintf(mode, sizeof(mode), "%04o", status->st_mode & 07777);
    json_open(out, key, '{');
    json_put_string(out, "type", show_type(status->st_mode));
    json_put_string(out, "mode", mode);
    json_put_uint(out, "size", (uint64_t)status->st_size);
    json_close(out, '}');
}

static void put_what(struct strbuf *out, const struct change *change)
{
    static const char *const words[] = {"content", "mode", "attributes", "times"};

    json_open(out, "what", '[');
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (change->what & 1U << i)
            json_put_string(out, NULL, words[i]);
    json_close(out, ']');
}

int show_json(struct show *show, const struct change *change)
{
    static const char *const kinds[] = {"added", "changed", "deleted", "replaced"};
    static const char *const bars[] = {"", "device", "socket", "set-id", "unreadable"};
    struct strbuf *out = show->out;

    json_open(out, NULL, '{');
    json_put_string(out, "path", change->path);
    json_put_string(out, "tree", show->at->tree->path);
    json_put_string(out, "kind", kinds[change->kind]);
    put_what(out, change);
    put_status(out, "before", &change->before);
    put_status(out, "after", &change->after);
    if (S_ISDIR(change->before.st_mode) && change->kind != CHANGE_CHANGED)
        json_put_uint(out, "files", change->inside);
    if (change->from)
        json_put_string(out, "from", change->from);
    if (change->is_moved)
        json_put_bool(out, "moved", true);
    if (change->bar != CHANGE_FREE) {
        json_put_string(out, "bar", bars[change->bar]);
        json_put_string(out, "reason", show_reason(change));
    }
    json_close(out, '}');
    return 0;
}
