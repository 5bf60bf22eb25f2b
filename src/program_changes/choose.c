/* SPDX-License-Identifier: Apache-2.0 */
/* Which session is meant, and which of its paths. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "overlay/named.h"
#include "program_changes/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_none(struct bawn_error *err)
{
    (void)error_set(err, ESRCH, "changes.none", "no session has changes");
    error_hint(err, "'bawn run --overlay . -- COMMAND' keeps what the command changes apart");
    return -ESRCH;
}

int refuse_unknown(const char *word, struct bawn_error *err)
{
    char shown[128];

    text_escape(shown, sizeof(shown), word, strlen(word), TEXT_ONE_LINE);
    (void)error_set(err, ESRCH, "changes.unknown", "no session '%s' has changes", shown);
    error_hint(err, "'bawn ps --all' lists the sessions that have");
    return -ESRCH;
}

static bool is_within(const struct store_place *place, const char *dir, const char *file)
{
    autofree char *text = NULL;
    size_t length;

    return file_read(place->fd, file, LIMIT_PATH_BYTES, &text, &length, NULL) == 0 &&
           path_is_below(dir, text);
}

/* Whether the directory lies in the session's workspace, or in one of its trees. */
static bool is_about(const struct store_place *place, const char *name, const char *dir)
{
    char path[LAYERS_NAME_BYTES + 32];
    bool is_here;

    (void)snprintf(path, sizeof(path), "%s/" LAYERS_WORKSPACE, name);
    is_here = is_within(place, dir, path);
    for (unsigned i = 0; !is_here && i < LAYERS_TREES_MAX; i++) {
        (void)snprintf(path, sizeof(path), "%s/%u/" LAYERS_PATH, name, i);
        if (faccessat(place->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
            break;
        is_here = is_within(place, dir, path);
    }
    return is_here;
}

static bool is_empty(int dir_fd, const char *path)
{
    int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    unsigned count = 0;

    if (!dir && fd >= 0)
        (void)close(fd);
    while (dir && count <= 2 && readdir(dir))
        count++;
    if (dir)
        (void)closedir(dir);
    return dir && count <= 2; /* . and .. */
}

/* Whether something is in a layer of it. What all was applied of has nothing left. */
static bool has_something(const struct store_place *place, const char *name)
{
    char path[LAYERS_NAME_BYTES + 32];

    for (unsigned i = 0; i < LAYERS_TREES_MAX; i++) {
        (void)snprintf(path, sizeof(path), "%s/%u/" LAYERS_UPPER, name, i);
        if (faccessat(place->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
            return false;
        if (!is_empty(place->fd, path))
            return true;
    }
    return false;
}

/* Some of them, as a list. */
static void put_names(struct strbuf *out, const char *const *names, size_t count)
{
    enum { SHOWN = 8 };

    for (size_t i = 0; i < count && i < SHOWN; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "", names[i]);
    if (count > SHOWN)
        strbuf_addf(out, ", and %zu more", count - SHOWN);
}

static int refuse_many(const char *const *names, size_t count, struct bawn_error *err)
{
    autostrbuf struct strbuf list = {0};

    put_names(&list, names, count);
    (void)error_set(err, EINVAL, "changes.ambiguous",
                    "which session? These have changes to this directory: %s",
                    list.text ? list.text : "");
    error_hint(err, "name one of them; 'bawn ps --all' tells more about each");
    return -EINVAL;
}

static int refuse_elsewhere(const struct store_names *names, struct bawn_error *err)
{
    autostrbuf struct strbuf list = {0};

    put_names(&list, (const char *const *)names->list.items, names->list.count);
    (void)error_set(err, ESRCH, "changes.elsewhere", "no session has changes to this directory");
    error_hint(err, "name the session; these have changes elsewhere: %s",
               list.text ? list.text : "");
    return -ESRCH;
}

/* The only one of this directory; of several the only one that has something. */
static int find_default(const struct store_place *place, const struct store_names *names,
                        const char **ret_name, struct bawn_error *err)
{
    autofree char *here = getcwd(NULL, 0);
    VEC(const char *) near = {0};
    const char *only = NULL;
    size_t count = 0;
    int result = 0;

    for (size_t i = 0; here && i < names->list.count; i++) {
        if (is_about(place, names->list.items[i], here) && !vec_push(&near, names->list.items[i]))
            result = error_memory(err);
    }
    for (size_t i = 0; i < near.count; i++) {
        if (near.count > 1 && !has_something(place, near.items[i]))
            continue;
        only = near.items[i];
        count++;
    }
    if (result == 0 && near.count == 0)
        result = refuse_elsewhere(names, err);
    else if (result == 0 && count != 1)
        result = refuse_many(near.items, near.count, err);
    *ret_name = only;
    vec_done(&near);
    return result;
}

int choose_session(struct request *request, struct bawn_error *err)
{
    autostorenames struct store_names names = {0};
    const char *word = request->word_count > 0 ? request->words[0] : NULL;
    bool is_path =
        request->takes_paths && request->options.is_ended && request->options.ended_at == 0;
    const char *name = NULL;
    int result = store_place_open(&request->place, err);

    if (result == -ENOENT && err->errnum == 0)
        return refuse_none(err);
    if (result == 0)
        result = store_list(&request->place, &names, err);
    if (result < 0)
        return result;
    if (names.list.count == 0)
        return refuse_none(err);
    if (word && !is_path && store_has(&request->place, word)) {
        name = word;
        request->words++;
        request->word_count--;
    } else {
        result = find_default(&request->place, &names, &name, err);
        if (result < 0)
            return word && !is_path && !strchr(word, '/') ? refuse_unknown(word, err) : result;
    }
    (void)snprintf(request->store.name, sizeof(request->store.name), "%s", name);
    return 0;
}

void wanted_done(struct wanted *wanted)
{
    vec_each (&wanted->paths, path)
        free(*path);
    vec_done(&wanted->paths);
}

static bool is_in_a_tree(const struct store *store, const char *path)
{
    for (size_t i = 0; i < store->count; i++) {
        if (path_is_below(path, store->trees[i].path) || path_is_below(store->trees[i].path, path))
            return true;
    }
    return false;
}

/* Whether there is something by that name, in a tree or in its layer. */
static bool is_there(const struct store *store, const char *path)
{
    struct stat status;

    if (lstat(path, &status) == 0)
        return true;
    for (size_t i = 0; i < store->count; i++) {
        const struct store_tree *tree = &store->trees[i];
        const char *rest = path + strlen(strcmp(tree->path, "/") == 0 ? "" : tree->path);

        if (path_is_below(path, tree->path) && *rest &&
            named_find(tree->upper_fd, rest + 1, &status) == 0 && status.st_mode)
            return true;
    }
    return false;
}

static int refuse_path(const struct store *store, const char *word, struct bawn_error *err)
{
    char shown[512];

    text_escape(shown, sizeof(shown), word, strlen(word), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "changes.outside",
                    "'%s' is neither a session nor a path in an overlay of session %s", shown,
                    store->name);
    error_hint(err, "its overlays are of %s%s; 'bawn ps --all' lists the sessions",
               store->count > 0 ? store->trees[0].path : "nothing",
               store->count > 1 ? " and others" : "");
    return -EINVAL;
}

/* As 'bawn diff' names it: from the top of an overlay on. NULL: there is nothing by that name. */
static char *find_in_trees(const struct store *store, const char *word)
{
    for (size_t i = 0; *word != '/' && i < store->count; i++) {
        autofree char *path = path_normalize(store->trees[i].path, word);

        if (path && path_is_below(path, store->trees[i].path) && is_there(store, path))
            return take_ptr(&path);
    }
    return NULL;
}

int wanted_read(const struct request *request, struct wanted *ret_wanted, struct bawn_error *err)
{
    autofree char *here = getcwd(NULL, 0);

    for (size_t i = 0; i < request->word_count; i++) {
        const char *word = request->words[i];
        autofree char *path = NULL;

        if (!*word) {
            (void)error_set(err, EINVAL, "usage.bad_value", "a path is empty");
            error_hint(err, "leave it out to mean everything");
            return -EINVAL;
        }
        path = here || *word == '/' ? path_normalize(here ? here : "/", word) : NULL;
        if (!path)
            return error_errno(err, errno ? errno : ENOENT, "find out where a path begins");
        if (!is_in_a_tree(&request->store, path) || !is_there(&request->store, path)) {
            free(path);
            path = find_in_trees(&request->store, word);
        }
        if (!path)
            return refuse_path(&request->store, word, err);
        if (!vec_push(&ret_wanted->paths, path))
            return error_memory(err);
        (void)take_ptr(&path);
    }
    return 0;
}
