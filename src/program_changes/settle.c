/* SPDX-License-Identifier: Apache-2.0 */
/* When a command has ended: what it changed, noted and told. */
#include "base/error.h"
#include "overlay/apply.h"
#include "overlay/base.h"
#include "program_changes/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void findings_done(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        changes_done(&findings->items[i].changes);
    findings->count = 0;
}

/* Where the caller may not write, the launcher has made the top of the layer so, too: nobody inside
 * changed that. */
static void leave_out_top(const struct overlay_tree *tree, struct changes *changes)
{
    struct change *top = changes->list.count > 0 ? &changes->list.items[0] : NULL;

    if (!top || *top->path || top->kind != CHANGE_CHANGED ||
        (top->what & ~(unsigned)CHANGE_TIMES) != CHANGE_MODE ||
        faccessat(AT_FDCWD, tree->path, W_OK, AT_EACCESS) == 0)
        return;
    changes->list.count--;
    memmove(top, top + 1, changes->list.count * sizeof(*top));
}

static int refuse_missing(const struct store *store, const struct store_tree *tree,
                          struct bawn_error *err)
{
    (void)error_errno(err, -tree->lower_fd, "open %s", tree->path);
    error_hint(err,
               "session %s has changes to this directory: put it back, or drop them with 'bawn "
               "discard %s'",
               store->name, store->name);
    return tree->lower_fd;
}

static int find_all(struct store *store, struct findings *ret_findings, struct bawn_error *err)
{
    for (size_t i = 0; i < store->count; i++) {
        struct found *found = &ret_findings->items[ret_findings->count];
        int result;

        found->tree = &store->trees[i];
        if (found->tree->lower_fd < 0)
            return refuse_missing(store, found->tree, err);
        ret_findings->count++;
        found->overlay = store_tree(found->tree);
        result = changes_find(&found->overlay, &found->changes, err);
        if (result < 0)
            return result;
        leave_out_top(&found->overlay, &found->changes);
    }
    return 0;
}

int find_changes(struct store *store, struct findings *ret_findings, struct bawn_error *err)
{
    int result = find_all(store, ret_findings, err);

    for (size_t i = 0; result == 0 && i < ret_findings->count; i++) {
        struct found *found = &ret_findings->items[i];
        struct base base;

        result = base_load(found->tree->dir_fd, &base, err);
        if (result < 0)
            return result;
        base_leave_out(&base, &found->changes);
        base_done(&base);
    }
    return result;
}

bool findings_are_none(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].changes.list.count > 0)
            return false;
    }
    return true;
}

void put_summary(struct strbuf *out, const struct findings *findings)
{
    static const char *const words[] = {[CHANGE_ADDED] = "added",
                                        [CHANGE_CHANGED] = "changed",
                                        [CHANGE_DELETED] = "deleted",
                                        [CHANGE_REPLACED] = "replaced"};
    static const enum change_kind order[] = {CHANGE_CHANGED, CHANGE_ADDED, CHANGE_REPLACED,
                                             CHANGE_DELETED};
    size_t counts[sizeof(words) / sizeof(words[0])] = {0};
    const char *what = NULL;

    for (size_t i = 0; i < findings->count; i++) {
        vec_each (&findings->items[i].changes.list, change) {
            /* A new directory is there for what is in it. */
            if (change->kind == CHANGE_DELETED && S_ISDIR(change->before.st_mode))
                counts[change->kind] += change->inside;
            else if (change->kind != CHANGE_ADDED || !S_ISDIR(change->after.st_mode))
                counts[change->kind]++;
        }
    }
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        size_t count = counts[order[i]];

        if (count == 0)
            continue;
        strbuf_addf(out, what ? ", %zu" : "%zu", count);
        if (!what)
            strbuf_add(out, count == 1 ? " file" : " files");
        what = words[order[i]];
        strbuf_addf(out, " %s", what);
    }
    if (!what && !findings_are_none(findings))
        strbuf_add(out, "directories changed");
}

static void tell(const struct request *request, const struct findings *findings)
{
    const char *name = request->store.name;
    autostrbuf struct strbuf text = {0};

    put_summary(&text, findings);
    if (!text.failed)
        (void)fprintf(stderr, "bawn: %s (bawn diff %s, bawn apply %s, bawn discard %s)\n",
                      text.text ? text.text : "", name, name, name);
}

int recover(const struct request *request, struct bawn_error *err)
{
    enum apply_recovered recovered = APPLY_NOTHING;
    int result = apply_recover(request->store.dir_fd, NULL, &recovered, err);

    if (result == 0 && recovered != APPLY_NOTHING && !request->quiet)
        (void)fprintf(stderr,
                      "bawn: an earlier 'bawn apply' or 'bawn undo' of session %s was broken "
                      "off; it was %s now\n",
                      request->store.name, recovered == APPLY_FINISHED ? "finished" : "taken back");
    return result;
}

static int note_base(const struct store *store, const struct findings *findings,
                     struct bawn_error *err)
{
    struct timespec since = {.tv_sec = (time_t)(store->began_ns / 1000000000),
                             .tv_nsec = (long)(store->began_ns % 1000000000)};
    int result = 0;

    for (size_t i = 0; result == 0 && i < findings->count; i++) {
        const struct found *found = &findings->items[i];

        result = base_note(&found->overlay, found->tree->dir_fd, &found->changes, since, err);
    }
    return result;
}

int settle(struct request *request, struct bawn_error *err)
{
    struct store *store = &request->store;
    autofindings struct findings findings = {0};
    int result;

    if (store->lock_fd < 0)
        return 0;
    result = recover(request, err);
    if (result < 0 || store->began_ns == 0)
        return result;
    result = find_all(store, &findings, err);
    if (result == 0)
        result = note_base(store, &findings, err);
    return result < 0 ? result : store_settled(store, err);
}

static bool has_undo(const struct store *store)
{
    struct apply_options options = {.dry_run = true};
    struct apply_result result = {0};
    int r = apply_undo(store->dir_fd, &options, &result, NULL);

    apply_result_done(&result);
    return r != -ENODATA;
}

int recover_run(struct request *request, struct bawn_error *err)
{
    int result = store_place_open(&request->place, err);

    if (result == 0)
        result = store_open(&request->place, request->words[0], request->lock_fd, false,
                            &request->store, err);
    return result < 0 ? result : settle(request, err);
}

int settle_run(struct request *request, struct bawn_error *err)
{
    struct store *store = &request->store;
    autofindings struct findings findings = {0};
    int result = recover_run(request, err);

    if (result == 0)
        result = find_changes(store, &findings, err);
    if (result < 0)
        return result;
    if (!findings_are_none(&findings) && !request->quiet)
        tell(request, &findings);
    return findings_are_none(&findings) && !has_undo(store)
               ? store_remove(&request->place, store, err)
               : STATUS_OK;
}
