/* SPDX-License-Identifier: Apache-2.0 */
/* bawn apply and undo: takes what a session changed, and gives it back. */
#include "overlay/apply.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "policy/glob.h"
#include "program_changes/interactive.h"
#include "program_changes/own.h"
#include "program_changes/protected.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 20 };

static enum apply_conflicts conflicts_of(const struct request *request)
{
    const char *word = options_value(&request->options, OPTION_CONFLICTS);

    if (!word)
        return APPLY_REFUSE;
    return strcmp(word, "mine") == 0     ? APPLY_MINE
           : strcmp(word, "theirs") == 0 ? APPLY_THEIRS
                                         : APPLY_MERGE;
}

/* What is selected: absolute paths, and patterns. */
struct selection {
    struct arena arena;
    VEC(const char *) words;
};

static void selection_done(struct selection *selection)
{
    arena_done(&selection->arena);
    vec_done(&selection->words);
}

static int refuse_empty(const char *what, struct bawn_error *err)
{
    (void)error_set(err, EINVAL, "usage.bad_value", "%s: nothing is named", what);
    error_hint(err, "leave it out to take everything");
    return -EINVAL;
}

static int select_all(const struct request *request, const struct wanted *wanted,
                      struct selection *selection, struct bawn_error *err)
{
    vec_each (&wanted->paths, path) {
        autostrbuf struct strbuf literal = {0};
        const char *kept;

        glob_escape(&literal, *path);
        kept = literal.failed ? NULL : arena_strdup(&selection->arena, literal.text);
        if (!kept || !vec_push(&selection->words, kept))
            return error_memory(err);
    }
    vec_each (&request->options.given, given) {
        const char *glob = given->value;

        if (given->option->id != OPTION_FILE)
            continue;
        if (!*glob)
            return refuse_empty("--file", err);
        /* As in .gitignore: a name alone is found at any depth. */
        if (!strchr(glob, '/'))
            glob = arena_printf(&selection->arena, "**/%s", glob);
        if (!glob || !vec_push(&selection->words, glob))
            return error_memory(err);
    }
    return 0;
}

/* What came of an apply or undo, or would. */
struct outcome {
    const struct store *store;
    const struct apply_result *result;
    bool is_undo, is_dry;
};

/* Nothing is done when something is in the way. */
static const char *fate_word(const struct outcome *outcome, enum apply_fate fate)
{
    static const char *const planned[] = {
        [APPLY_DONE] = "apply",        [APPLY_MERGED] = "merge",  [APPLY_LEFT] = "left",
        [APPLY_CONFLICT] = "conflict", [APPLY_BARRED] = "never",  [APPLY_PROTECTED] = "protected",
        [APPLY_FAILED] = "failed",     [APPLY_PARTLY] = "partly",
    };
    bool is_done = !outcome->is_dry && outcome->result->refused == 0;

    switch (fate) {
    case APPLY_DONE:
        if (outcome->is_undo)
            return is_done ? "taken back" : "take back";
        return is_done ? "applied" : planned[fate];
    case APPLY_MERGED:
        return is_done ? "merged" : planned[fate];
    case APPLY_PARTLY:
        return is_done ? "applied in part" : planned[fate];
    default:
        return planned[fate];
    }
}

static const char *tree_path(const struct store *store, unsigned number)
{
    for (size_t i = 0; i < store->count; i++) {
        if (store->trees[i].number == number)
            return store->trees[i].path;
    }
    return "";
}

/* As it is. */
static void put_bytes(struct strbuf *out, const struct store *store, const struct apply_item *item)
{
    strbuf_add(out, tree_path(store, item->tree));
    if (*item->path) {
        strbuf_add(out, "/");
        strbuf_add(out, item->path);
    }
}

static void put_path(struct strbuf *out, const struct store *store, const struct apply_item *item)
{
    autostrbuf struct strbuf path = {0};

    put_bytes(&path, store, item);
    strbuf_add_escaped(out, path.text ? path.text : "");
    out->failed |= path.failed;
}

static bool is_refused(const struct apply_item *item)
{
    return item->fate >= APPLY_CONFLICT;
}

/* What to do, in the words of this command. */
static const char *hint_of(const struct outcome *outcome, const struct apply_item *item)
{
    switch (item->fate) {
    case APPLY_CONFLICT:
        if (outcome->is_undo)
            return "to keep what was written since, save it elsewhere; --force takes it back all "
                   "the same";
        return "'bawn diff' shows the session's; --conflicts mine, theirs or merge decides";
    case APPLY_BARRED:
        return "--skip-unfit leaves it behind, and takes the rest";
    case APPLY_PROTECTED:
        return "programs run it with your rights: look at it with 'bawn diff', then 'bawn "
               "apply --protected' takes it, too; or name other paths";
    default:
        return item->hint;
    }
}

/* The same of what was not asked about. */
static const char *left_hint_of(const struct apply_item *item)
{
    switch (item->cause) {
    case APPLY_CONFLICT:
        return "'bawn diff' shows the session's; --conflicts mine or merge asks about it, too";
    case APPLY_BARRED:
        return "it is never taken";
    case APPLY_PROTECTED:
        return "programs run it with your rights; --protected asks about it, too";
    default:
        return item->hint;
    }
}

static void put_json(struct strbuf *out, const struct outcome *outcome)
{
    const struct apply_result *result = outcome->result;

    json_open(out, NULL, '{');
    json_put_string(out, "session", outcome->store->name);
    json_put_bool(out, "dry_run", outcome->is_dry);
    json_put_uint(out, "done", result->done);
    json_put_uint(out, "left", result->left);
    json_put_uint(out, "refused", result->refused);
    json_open(out, "paths", '[');
    vec_each (&result->items, item) {
        autostrbuf struct strbuf path = {0};

        put_bytes(&path, outcome->store, item);
        json_open(out, NULL, '{');
        json_put_text(out, "path", &path);
        json_put_string(out, "fate", fate_word(outcome, item->fate));
        if (*item->why)
            json_put_string(out, "why", item->why);
        if (is_refused(item) && *hint_of(outcome, item))
            json_put_string(out, "hint", hint_of(outcome, item));
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    strbuf_add(out, "\n");
}

/* The reasons, each hint once. */
static void put_refused(struct strbuf *out, const struct outcome *outcome)
{
    const char *last = "";
    size_t shown = 0;

    vec_each (&outcome->result->items, item) {
        bool is_left = item->fate == APPLY_LEFT && item->cause != APPLY_LEFT;
        const char *hint = is_left ? left_hint_of(item) : hint_of(outcome, item);

        if ((!is_refused(item) && !is_left) || shown++ >= SHOWN_MAX)
            continue;
        strbuf_add(out, is_left ? "bawn: left: " : "bawn: ");
        strbuf_add_escaped(out, item->why);
        strbuf_add(out, "\n");
        if (*hint && strcmp(hint, last) != 0)
            strbuf_addf(out, "hint: %s\n", hint);
        last = hint;
    }
    if (shown > SHOWN_MAX)
        strbuf_addf(out, "bawn: and %zu more\n", shown - SHOWN_MAX);
}

/* In a dry run: what would be done. */
static void put_planned(struct strbuf *out, const struct outcome *outcome)
{
    vec_each (&outcome->result->items, item) {
        if (is_refused(item))
            continue;
        strbuf_addf(out, "%-8s ", fate_word(outcome, item->fate));
        put_path(out, outcome->store, item);
        strbuf_add(out, "\n");
    }
}

static void put_done(struct strbuf *out, const struct outcome *outcome)
{
    const struct apply_result *result = outcome->result;

    if (outcome->is_undo)
        strbuf_addf(out, "took back the last apply of session %s", outcome->store->name);
    else
        strbuf_addf(out, "applied %zu change%s of session %s", result->done,
                    result->done == 1 ? "" : "s", outcome->store->name);
    if (result->in_part > 0)
        strbuf_addf(out, ", %zu of them in part", result->in_part);
    if (result->left > 0)
        strbuf_addf(out, "; %zu stay%s in the session", result->left, result->left == 1 ? "s" : "");
    strbuf_add(out, "\n");
}

/* Prints what came of it: a status. */
static int report(const struct request *request, const struct apply_result *result, bool is_undo,
                  bool is_dry)
{
    const struct outcome outcome = {
        .store = &request->store, .result = result, .is_undo = is_undo, .is_dry = is_dry};
    struct strbuf out = {0};
    autostrbuf struct strbuf notes = {0};

    if (request->json) {
        put_json(&out, &outcome);
    } else {
        put_refused(&notes, &outcome);
        if (result->refused > 0)
            strbuf_addf(&notes, "bawn: nothing was changed\n");
        if (is_dry)
            put_planned(&out, &outcome);
        else if (result->refused == 0 && !request->quiet)
            put_done(&out, &outcome);
        if (!notes.failed && notes.length > 0)
            (void)fputs(notes.text, stderr);
    }
    if (print(&out) != STATUS_OK)
        return STATUS_FAILED;
    return result->refused > 0 ? STATUS_FINDINGS : STATUS_OK;
}

static int error_none(const struct store *store, struct bawn_error *err)
{
    (void)error_set(err, ENODATA, "changes.nothing", "session %s has no changes to apply",
                    store->name);
    error_hint(err,
               "'bawn undo %s' takes back what was applied last; 'bawn discard %s' removes the "
               "session",
               store->name, store->name);
    return -ENODATA;
}

/* What the questions need to know of the session. */
static int prepare(const struct request *request, size_t tree_count, struct dialogue *dialogue,
                   struct bawn_error *err)
{
    dialogue->has_many = tree_count > 1;
    if (asprintf(&dialogue->dir, "%s/%s", request->place.path, request->store.name) < 0) {
        dialogue->dir = NULL;
        return error_memory(err);
    }
    return 0;
}

static int apply_session(struct request *request, struct apply_options *options,
                         struct protected_paths *protected, struct apply_result *ret_result,
                         struct bawn_error *err)
{
    struct apply_tree trees[LAYERS_TREES_MAX];
    autofindings struct findings findings = {0};
    int result = find_changes(&request->store, &findings, err);

    if (result == 0 && findings_are_none(&findings))
        return error_none(&request->store, err);
    if (result == 0 && !options->allow_protected)
        result = protected_load(&request->store, protected, err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < findings.count; i++)
        trees[i] = (struct apply_tree){.tree = findings.items[i].overlay,
                                       .number = findings.items[i].tree->number,
                                       .changes = &findings.items[i].changes};
    options->is_protected = options->allow_protected ? NULL : protected_why;
    options->context = protected;
    if (options->choose)
        result = prepare(request, findings.count, options->choose_context, err);
    return result < 0 ? result
                      : apply_changes(request->store.dir_fd, trees, findings.count, options,
                                      ret_result, err);
}

static int refuse_json(struct bawn_error *err)
{
    (void)error_set(err, EINVAL, "usage.contradiction", "apply: --interactive and --json");
    error_hint(err, "the questions are for people; name paths to choose without them");
    return -EINVAL;
}

/* Chooses the session, takes it for ourselves alone, and looks at what is to be looked at first. */
static int begin(struct request *request, struct bawn_error *err)
{
    int result = choose_session(request, err);

    if (result == 0)
        result =
            store_open(&request->place, request->store.name, -EBADF, false, &request->store, err);
    return result < 0 ? result : settle(request, err);
}

int apply_run(struct request *request, struct bawn_error *err)
{
    autowanted struct wanted wanted = {0};
    autoprotected struct protected_paths protected = {0};
    struct selection selection = {0};
    autodialogue struct dialogue dialogue = {
        .show = {.form = SHOW_TEXT, .has_colours = wants_colour()}};
    struct apply_options options = {
        .conflicts = conflicts_of(request),
        .skip_barred = options_has(&request->options, OPTION_SKIP),
        .allow_protected = options_has(&request->options, OPTION_PROTECTED),
        .dry_run = options_has(&request->options, OPTION_DRY_RUN),
        .choose = options_has(&request->options, OPTION_INTERACTIVE) ? dialogue_choose : NULL,
        .choose_context = &dialogue,
    };
    struct apply_result done = {0};
    int result;

    request->takes_paths = true;
    result = options.choose && request->json ? refuse_json(err) : begin(request, err);
    if (result == 0)
        result = wanted_read(request, &wanted, err);
    if (result == 0)
        result = select_all(request, &wanted, &selection, err);
    options.paths = selection.words.items;
    options.path_count = selection.words.count;
    if (result == 0)
        result = apply_session(request, &options, &protected, &done, err);
    if (result == 0 || result == -ECANCELED)
        result = report(request, &done, false, options.dry_run);
    apply_result_done(&done);
    selection_done(&selection);
    return result;
}

int undo_run(struct request *request, struct bawn_error *err)
{
    struct apply_options options = {
        .conflicts = options_has(&request->options, OPTION_FORCE) ? APPLY_MINE : APPLY_REFUSE};
    struct apply_result done = {0};
    int result = begin(request, err);

    if (result == 0 && request->word_count > 0)
        return refuse_unknown(request->words[0], err);
    if (result == 0)
        result = apply_undo(request->store.dir_fd, &options, &done, err);
    if (result == 0 || result == -ECANCELED)
        result = report(request, &done, true, false);
    apply_result_done(&done);
    return result;
}
