/* SPDX-License-Identifier: Apache-2.0 */
/* Which session is meant, and which of its paths. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "program_changes/own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Whether the directory lies in one of the session's trees. */
static bool is_about(const struct store_place *place, const char *name, const char *dir)
{
    for (unsigned i = 0; i < LAYERS_TREES_MAX; i++) {
        autofree char *text = NULL;
        char path[LAYERS_NAME_BYTES + 32];
        size_t length;

        (void)snprintf(path, sizeof(path), "%s/%u/" LAYERS_PATH, name, i);
        if (file_read(place->fd, path, LIMIT_PATH_BYTES, &text, &length, NULL) < 0)
            return false;
        if (path_is_below(dir, text))
            return true;
    }
    return false;
}

static int refuse_many(const struct store_names *names, struct bawn_error *err)
{
    autostrbuf struct strbuf list = {0};
    enum { SHOWN = 8 };

    for (size_t i = 0; i < names->list.count && i < SHOWN; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", names->list.items[i]);
    if (names->list.count > SHOWN)
        strbuf_addf(&list, ", and %zu more", names->list.count - SHOWN);
    (void)error_set(err, EINVAL, "changes.ambiguous", "which session? These have changes: %s",
                    list.text ? list.text : "");
    error_hint(err, "name one of them; 'bawn ps --all' tells more about each");
    return -EINVAL;
}

/* The only one; or the only one of this directory. */
static const char *find_default(const struct store_place *place, const struct store_names *names)
{
    autofree char *here = getcwd(NULL, 0);
    const char *only = NULL;

    if (names->list.count == 1)
        return names->list.items[0];
    for (size_t i = 0; here && i < names->list.count; i++) {
        if (!is_about(place, names->list.items[i], here))
            continue;
        if (only)
            return NULL;
        only = names->list.items[i];
    }
    return only;
}

int choose_session(struct request *request, struct bawn_error *err)
{
    autostorenames struct store_names names = {0};
    const char *word = request->word_count > 0 ? request->words[0] : NULL;
    const char *name = NULL;
    int result = store_place_open(&request->place, err);

    if (result == -ENOENT && err->errnum == 0)
        return refuse_none(err);
    if (result == 0)
        result = store_list(&request->place, &names, err);
    if (result < 0)
        return result;
    if (word && store_has(&request->place, word)) {
        name = word;
        request->words++;
        request->word_count--;
    } else {
        name = find_default(&request->place, &names);
    }
    if (!name && word && names.list.count > 0 && !strchr(word, '/'))
        return refuse_unknown(word, err);
    if (!name)
        return names.list.count == 0 ? refuse_none(err) : refuse_many(&names, err);
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

int wanted_read(const struct request *request, struct wanted *ret_wanted, struct bawn_error *err)
{
    autofree char *here = getcwd(NULL, 0);

    for (size_t i = 0; i < request->word_count; i++) {
        const char *word = request->words[i];
        char *path = NULL;

        if (!*word) {
            (void)error_set(err, EINVAL, "usage.bad_value", "a path is empty");
            error_hint(err, "leave it out to mean everything");
            return -EINVAL;
        }
        path = here || *word == '/' ? path_normalize(here ? here : "/", word) : NULL;

        if (!path)
            return error_errno(err, errno ? errno : ENOENT, "find out where a path begins");
        if (!vec_push(&ret_wanted->paths, path)) {
            free(path);
            return error_memory(err);
        }
        if (!is_in_a_tree(&request->store, path))
            return refuse_path(&request->store, word, err);
    }
    return 0;
}
