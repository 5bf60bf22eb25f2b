/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/show.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "overlay/entry.h"
#include "overlay/show_own.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FLUSH_BYTES = 65536 };

/* The repository of git's that a tree lies in: by that git takes the names of a patch. */
static void find_place(struct show *show)
{
    const char *tree = show->at->tree->path;
    autofree char *dir = strdup(tree);

    free(show->place);
    show->place = NULL;
    show->placed = show->at;
    while (dir && *dir) {
        autofree char *git = NULL;
        char *slash = strrchr(dir, '/');

        if (asprintf(&git, "%s/.git", dir) < 0) {
            git = NULL;
            return;
        }
        if (faccessat(AT_FDCWD, git, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
            tree += strlen(dir);
            show->place = strdup(tree + strspn(tree, "/"));
            return;
        }
        if (!slash)
            return;
        *slash = '\0';
    }
}

char *show_name(struct show *show, const char *path)
{
    char *name = NULL;
    const char *tree = show->at->tree->path;

    if (show->options->form == SHOW_PATCH && show->placed != show->at)
        find_place(show);
    if (show->options->form == SHOW_PATCH && show->place)
        return asprintf(&name, "%s%s%s", show->place, *show->place && *path ? "/" : "", path) < 0
                   ? NULL
                   : name;
    if (!show->has_many)
        return strdup(path);
    tree += strspn(tree, "/");
    if (asprintf(&name, "%s%s%s", tree, *tree && *path ? "/" : "", path) < 0)
        return NULL;
    return name;
}

void show_add_name(struct show *show, const char *path, unsigned mode)
{
    autofree char *name = show_name(show, path);

    if (!name) {
        show->out->failed = true;
        return;
    }
    strbuf_add(show->out, show->has_many ? "/" : "");
    strbuf_add_escaped(show->out, *name || show->has_many ? name : ".");
    strbuf_add(show->out, S_ISDIR(mode) && *name ? "/" : "");
}

const char *show_type(unsigned mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "file";
    case S_IFDIR:
        return "directory";
    case S_IFLNK:
        return "link";
    case S_IFIFO:
        return "FIFO";
    case S_IFSOCK:
        return "socket";
    default:
        return "device";
    }
}

const char *show_reason(const struct change *change)
{
    switch (change->bar) {
    case CHANGE_FREE:
        return NULL;
    case CHANGE_DEVICE:
        return "it is a device";
    case CHANGE_SOCKET:
        return "it is a socket";
    case CHANGE_SET_ID:
        return "it would run with the rights of its owner or group (set-id)";
    case CHANGE_UNREADABLE:
        if (change->errnum == EACCES || change->errnum == EPERM)
            return "it cannot be read by this user";
        return change->errnum == ENAMETOOLONG ? "paths in it are too long" : "it cannot be read";
    }
    return "it is not known";
}

/* What a link leads to, on one side. */
static void add_target(struct show *show, int root_fd, const char *path)
{
    autoentry struct entry entry = ENTRY_NONE;
    char target[PATH_MAX];

    if (entry_open_below(root_fd, path, &entry) < 0 || entry_read_link(&entry, target) < 0)
        strbuf_add(show->out, "?");
    else
        strbuf_add_escaped(show->out, target);
}

/* Words in brackets: "(" before the first, ", " between them. */
static void begin_word(struct show *show, unsigned *count)
{
    strbuf_add(show->out, (*count)++ ? ", " : "  (");
}

static void add_modes(struct show *show, const struct stat *before, const struct stat *after,
                      unsigned *count)
{
    begin_word(show, count);
    strbuf_addf(show->out, "mode %04o -> %04o", before->st_mode & 07777, after->st_mode & 07777);
}

static void add_what(struct show *show, const struct change *change, unsigned *count)
{
    const struct overlay_tree *tree = show->at->tree;

    if (change->what & CHANGE_CONTENT && S_ISLNK(change->after.st_mode)) {
        begin_word(show, count);
        strbuf_add(show->out, "leads to ");
        add_target(show, tree->upper_fd, change->path);
        strbuf_add(show->out, ", was ");
        add_target(show, tree->lower_fd, change->path);
    } else if (change->what & CHANGE_CONTENT && change->what & (CHANGE_MODE | CHANGE_ATTRIBUTES)) {
        begin_word(show, count);
        strbuf_add(show->out, "content");
    }
    if (change->what & CHANGE_MODE)
        add_modes(show, &change->before, &change->after, count);
    if (change->what & CHANGE_ATTRIBUTES) {
        begin_word(show, count);
        strbuf_add(show->out, "attributes");
    }
}

/* Of something new what a name does not say. */
static void add_kind(struct show *show, const struct change *change, unsigned *count)
{
    unsigned mode = change->after.st_mode;

    if (change->kind == CHANGE_REPLACED) {
        begin_word(show, count);
        strbuf_addf(show->out, "was a %s, is a %s", show_type(change->before.st_mode),
                    show_type(mode));
    } else if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode)) {
        begin_word(show, count);
        strbuf_add(show->out, show_type(mode));
    }
    if (S_ISLNK(mode)) {
        begin_word(show, count);
        strbuf_add(show->out, "leads to ");
        add_target(show, show->at->tree->upper_fd, change->path);
    } else if (S_ISREG(mode) && mode & 0111) {
        begin_word(show, count);
        strbuf_add(show->out, "executable");
    }
}

void show_add_words(struct show *show, const struct change *change)
{
    const char *reason = show_reason(change);
    const struct change *from = change->from ? changes_at(show->at->changes, change->from) : NULL;
    unsigned count = 0;

    strbuf_addf(show->out, "%c  ", change->from ? 'R' : "AMDT"[change->kind]);
    if (change->from) {
        show_add_name(show, change->from, 0);
        strbuf_add(show->out, " -> ");
    }
    show_add_name(show, change->path,
                  change->kind == CHANGE_DELETED ? change->before.st_mode : change->after.st_mode);
    if (from && (from->before.st_mode ^ change->after.st_mode) & 07777)
        add_modes(show, &from->before, &change->after, &count);
    else if (change->kind == CHANGE_CHANGED)
        add_what(show, change, &count);
    else if (change->kind != CHANGE_DELETED && !change->from)
        add_kind(show, change, &count);
    if (change->inside > 0) {
        begin_word(show, &count);
        strbuf_addf(show->out, "%s%zu %s", change->kind == CHANGE_DELETED ? "" : "with ",
                    change->inside, change->inside == 1 ? "file" : "files");
    }
    strbuf_add(show->out, count ? ")" : "");
    if (reason)
        strbuf_addf(show->out, "  [never applied: %s]", reason);
}

int show_line(struct show *show, const struct change *change)
{
    if (!change->is_moved) {
        show_add_words(show, change);
        strbuf_add(show->out, "\n");
    }
    return 0;
}

unsigned show_git_mode(unsigned mode)
{
    if (S_ISLNK(mode))
        return 0120000;
    return S_ISREG(mode) ? mode & S_IXUSR ? 0100755 : 0100644 : 0;
}

/* A directory is in a patch by what is in it. */
static bool has_more_below(const struct show *show, const struct change *change)
{
    const struct change *next = change + 1;
    size_t length = strlen(change->path);

    return next < show->at->changes->list.items + show->at->changes->list.count &&
           strncmp(next->path, change->path, length) == 0 && next->path[length] == '/';
}

bool show_is_gits(const char *path)
{
    for (const char *at = path; (at = strcasestr(at, ".git")); at++) {
        if ((at == path || at[-1] == '/') && (at[4] == '/' || !at[4]))
            return true;
    }
    return false;
}

bool show_is_whole(const struct show *show, const struct change *change)
{
    unsigned mode = change->after.st_mode;

    if (change->bar != CHANGE_FREE || show_is_gits(change->path))
        return false;
    if (change->kind == CHANGE_DELETED)
        return S_ISDIR(change->before.st_mode) || show_git_mode(change->before.st_mode);
    if (change->kind == CHANGE_CHANGED)
        return show_git_mode(mode) && !(change->what & CHANGE_ATTRIBUTES) &&
               (!(change->what & CHANGE_MODE) ||
                show_git_mode(mode) != show_git_mode(change->before.st_mode));
    return S_ISDIR(mode) ? has_more_below(show, change) : show_git_mode(mode) != 0;
}

int show_flush(struct show *show)
{
    struct strbuf *out = show->out;

    if (out->failed)
        return error_memory(show->err);
    if (!show->file || !out->length)
        return 0;
    if (fwrite(out->text, 1, out->length, show->file) != out->length)
        return error_errno(show->err, errno ? errno : EIO, "write");
    out->length = 0;
    return 0;
}

typedef int show_one(struct show *show, const struct change *change);

static int show_each(struct show *show, const struct show_tree *trees, size_t count, show_one *one)
{
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        const struct changes *changes = trees[i].changes;

        show->at = &trees[i];
        for (size_t j = 0; j < changes->list.count && result == 0; j++) {
            result = one(show, &changes->list.items[j]);
            /* JSON looks back for where a comma goes. */
            if (result == 0 && show->out->length > FLUSH_BYTES && one != show_json)
                result = show_flush(show);
        }
    }
    return result;
}

static int show_all(struct show *show, const struct show_tree *trees, size_t count)
{
    static show_one *const forms[] = {
        [SHOW_LIST] = show_line,   [SHOW_STAT] = show_stat, [SHOW_TEXT] = show_text,
        [SHOW_PATCH] = show_patch, [SHOW_JSON] = show_json,
    };
    enum show_form form = show->options->form;
    int result = 0;

    show->has_many = count > 1;
    if (form == SHOW_PATCH)
        result = show_each(show, trees, count, show_patch_remarks);
    if (form == SHOW_JSON)
        json_open(show->out, NULL, '[');
    if (result == 0)
        result = show_each(show, trees, count, forms[form]);
    if (form == SHOW_STAT)
        show_stat_sum(show);
    if (form == SHOW_JSON) {
        json_close(show->out, ']');
        strbuf_add(show->out, "\n");
    }
    free(show->place);
    return result < 0 ? result : show_flush(show);
}

int show_add(const struct show_tree *trees, size_t count, const struct show_options *options,
             struct strbuf *out, struct bawn_error *err)
{
    struct show show = {.options = options, .out = out, .err = err};

    return show_all(&show, trees, count);
}

int show_print(const struct show_tree *trees, size_t count, const struct show_options *options,
               FILE *out, struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};
    struct show show = {.options = options, .out = &text, .file = out, .err = err};
    int result = show_all(&show, trees, count);

    if (result == 0 && fflush(out) != 0)
        result = error_errno(err, errno, "write");
    return result;
}
