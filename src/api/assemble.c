/* SPDX-License-Identifier: Apache-2.0 */
/* All layers into one policy. */
#include "api/assembly.h"
#include "api/git_identity.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/places.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "policy/build.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * How it works: the documents of all layers are read first, because any of
 * them may name the profile and presets, which come before them all. Then the
 * built-in layer is made, then each document in reading order, then BAWN_*
 * variables and flags. Last, rules whose paths lead through symbolic links
 * are added again at the place they lead to (links.c).
 */

const char *assembly_keep(struct assembly *assembly, const char *text)
{
    return arena_strdup(&assembly->policy->arena, text);
}

const char *assembly_path(char out[LIMIT_PATH_BYTES], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(out, LIMIT_PATH_BYTES, format, args);
    va_end(args);
    return out;
}

/* Whether somebody asks what the policy would be with another text in the file. */
static bool is_instead(const struct assembly *assembly, const char *file)
{
    const char *path = assembly->load->instead.path;

    return path && strcmp(path, file) == 0;
}

static int add_document(struct assembly *assembly, enum layer_id id, const char *file,
                        const char *base, const char *format, const char *text, size_t length)
{
    struct pending pending = {.id = id,
                              .base = assembly_keep(assembly, base),
                              .authority = id == LAYER_ORG       ? AUTHORITY_ORG
                                           : id == LAYER_PROJECT ? AUTHORITY_PROJECT
                                           : id == LAYER_LOCAL   ? AUTHORITY_PROJECT
                                                                 : AUTHORITY_USER};

    hash_text(text, length, pending.sha256);
    if (pending.authority == AUTHORITY_PROJECT &&
        (approvals_has(assembly->approvals, file, pending.sha256) ||
         (is_instead(assembly, file) && assembly->load->instead.is_approved)))
        pending.authority = AUTHORITY_APPROVED;
    pending.document.file = assembly_keep(assembly, file);
    if (!pending.document.file || !pending.base)
        return error_memory(assembly->err);
    /* A document that cannot be read is a complaint; the others are still read, to complain too. */
    if (config_parse(&pending.document, format ? config_format_find(format) : FORMAT_UNKNOWN, text,
                     length, assembly->report) < 0) {
        config_document_done(&pending.document);
        return 0;
    }
    if (vec_push(&assembly->documents, pending))
        return 0;
    config_document_done(&pending.document);
    return error_memory(assembly->err);
}

/* Whether a policy file in a usual place is simply not there. A link that leads nowhere is no
 * absent file but one that we cannot read. Of a file with another ending its author believes that
 * we read it. */
static bool is_absent(const struct assembly *assembly, const char *path)
{
    size_t stem = strlen(path) - strlen(".yaml");
    char other[LIMIT_PATH_BYTES + 64];

    if (view_look(assembly->view, path) != LOOK_ABSENT)
        return false;
    if (strcmp(path + stem, ".yaml") == 0) {
        (void)snprintf(other, sizeof(other), "%.*s.yml", (int)stem, path);
        if (view_look(assembly->view, other) != LOOK_ABSENT) {
            report_add(assembly->report, BAWN_ERROR, "load.wrong_name", (struct origin){0},
                       "bawn does not read %s: a policy file is named .yaml", other);
            report_hint(assembly->report, "rename it, or move it away");
        }
    }
    return true;
}

/*
 * The path that a file goes by: absolute, and without links but for its own
 * name and its folder's. SECURITY: an approval is for the file at this path, so
 * that a project cannot borrow another one's by linking to it.
 */
static char *name_file(struct view *view, const char *path)
{
    autofree char *folder = NULL;
    autofree char *above = NULL;
    autofree char *copy = NULL;
    char real[LIMIT_PATH_BYTES];
    char cwd[LIMIT_PATH_BYTES];
    const char *name;
    char *named = NULL;

    copy = path_normalize(*path != '/' && view_cwd(cwd) ? cwd : "/", path);
    name = copy ? strrchr(copy, '/') : NULL;
    if (!name)
        return NULL;
    folder = strndup(copy, (size_t)(name - copy));
    above = folder && strrchr(folder, '/')
                ? strndup(folder, (size_t)(strrchr(folder, '/') - folder))
                : NULL;
    if (!above || resolve_path(NULL, "/", *above ? above : "/", &view->links, real, NULL) < 0)
        return strdup(copy);
    return asprintf(&named, "%s%s", strcmp(real, "/") == 0 ? "" : real, copy + strlen(above)) < 0
               ? NULL
               : named;
}

static void hint_unread(struct assembly *assembly, const char *path, int errnum, bool must_exist)
{
    const char *slash = strrchr(path, '/');

    if (must_exist)
        report_hint(assembly->report, "name a policy file that can be read");
    else if (errnum == -ENOTDIR && slash)
        report_hint(assembly->report,
                    "%.*s is no directory, and so holds no policy: remove it, or move it away",
                    (int)(slash - path), path);
    else
        report_hint(assembly->report,
                    "mend the file or move it away: bawn cannot hold a policy that it cannot read");
}

/* Reads a file into a document. One that nobody named may be missing. */
static int add_file(struct assembly *assembly, enum layer_id id, const char *path, const char *base,
                    const char *format, bool must_exist)
{
    autofree char *text = NULL;
    autofree char *named = NULL;
    struct bawn_error err;
    size_t length;
    int r;

    if (is_instead(assembly, path))
        return add_document(assembly, id, path, base, format, assembly->load->instead.text,
                            assembly->load->instead.length);
    r = view_read(assembly->view, path, LIMIT_CONFIG_BYTES, &text, &length, &err);
    if (r == -ENOENT && !must_exist && is_absent(assembly, path))
        return 0;
    if (r < 0) {
        report_add(assembly->report, BAWN_ERROR, err.code, (struct origin){0}, "%s", err.message);
        hint_unread(assembly, path, r, must_exist);
        return 0;
    }
    named = name_file(assembly->view, path);
    return named ? add_document(assembly, id, named, base, format, text, length)
                 : error_memory(assembly->err);
}

/* The project of a file that somebody would make: its folder need not be there yet. */
static bool find_instead(const struct assembly *assembly, const char *folder, const char *file,
                         char ret_dir[LIMIT_PATH_BYTES])
{
    const char *path = assembly->load->instead.path;
    char end[64];

    (void)snprintf(end, sizeof(end), "/%s/%s", folder, file);
    if (!path || !text_ends_with(path, end) || strlen(path) == strlen(end))
        return false;
    (void)snprintf(ret_dir, LIMIT_PATH_BYTES, "%.*s", (int)(strlen(path) - strlen(end)), path);
    return path_is_below(assembly->policy->workspace, ret_dir);
}

static int add_project(struct assembly *assembly)
{
    static const struct {
        const char *folder;
        const char *files[2];
        const char *format;
    } kinds[] = {{".claude", {"settings.json", "settings.local.json"}, "claude"},
                 {".bawn", {"policy.yaml", "local.yaml"}, "bawn"}};
    const struct policy *policy = assembly->policy;
    char dir[LIMIT_PATH_BYTES];
    char path[LIMIT_PATH_BYTES + 64];
    int r = 0;

    for (size_t kind = 0; kind < 2; kind++) {
        if (kind == 0 && !assembly->load->claude)
            continue;
        if (!load_find_project(assembly->view, policy->workspace, policy->home, kinds[kind].folder,
                               dir) &&
            !find_instead(assembly, kinds[kind].folder, kinds[kind].files[0], dir) &&
            !find_instead(assembly, kinds[kind].folder, kinds[kind].files[1], dir))
            continue;
        for (size_t i = 0; r == 0 && i < 2; i++) {
            (void)snprintf(path, sizeof(path), "%s/%s/%s", dir, kinds[kind].folder,
                           kinds[kind].files[i]);
            r = add_file(assembly, i == 0 ? LAYER_PROJECT : LAYER_LOCAL, path, dir,
                         kinds[kind].format, false);
        }
    }
    return r;
}

/* The user's settings of Claude Code: not his own where another home was put into the project. */
static int add_claude(struct assembly *assembly)
{
    const struct policy *policy = assembly->policy;
    char path[LIMIT_PATH_BYTES];
    char base[LIMIT_PATH_BYTES];
    bool is_projects;

    assembly_path(base, "%.4000s/.claude", policy->home);
    is_projects = (!view_usual_home(assembly->view, path) || strcmp(path, policy->home) != 0) &&
                  path_is_below(base, policy->workspace);
    return add_file(assembly, is_projects ? LAYER_PROJECT : LAYER_USER,
                    assembly_path(path, "%.4000s/settings.json", base), base, "claude", false);
}

/* The files of the org, the user and the project. */
static int add_layer_files(struct assembly *assembly)
{
    const struct bawn_load *load = assembly->load;
    const struct config_places *config = &assembly->config;
    const char *workspace = assembly->policy->workspace;
    char path[LIMIT_PATH_BYTES];
    int r = 0;

    if (load->claude)
        r = add_file(assembly, LAYER_ORG,
                     assembly_path(path, "%s/managed-settings.json", load->claude_dir), workspace,
                     "claude", false);
    if (r == 0)
        r = add_file(assembly, LAYER_ORG, assembly_path(path, "%s/" PLACES_POLICY, load->org_dir),
                     workspace, "bawn", false);
    if (r == 0 && load->claude)
        r = add_claude(assembly);
    if (r == 0 && *config->user)
        r = add_file(assembly, LAYER_USER,
                     assembly_path(path, "%.4000s/" PLACES_CONFIG "/" PLACES_POLICY, config->user),
                     workspace, "bawn", false);
    if (r == 0 && *config->project)
        r = add_file(
            assembly, LAYER_PROJECT,
            assembly_path(path, "%.4000s/" PLACES_CONFIG "/" PLACES_POLICY, config->project),
            workspace, "bawn", false);
    return r == 0 ? add_project(assembly) : r;
}

/* --policy files and texts, and BAWN_POLICY before them. */
static int add_named_files(struct assembly *assembly)
{
    const struct bawn_load *load = assembly->load;
    const char *workspace = assembly->policy->workspace;
    const char *named = load->isolated ? NULL : view_variable(assembly->view, "BAWN_POLICY");
    int r = 0;

    if (named && *named)
        r = add_file(assembly, LAYER_POLICY, named, workspace, NULL, true);
    vec_each (&load->steps, step) {
        if (r == 0 && step->kind == LOAD_FILE)
            r = add_file(assembly, LAYER_POLICY, step->name, workspace, step->extra, true);
        else if (r == 0 && step->kind == LOAD_TEXT)
            r = add_document(assembly, LAYER_POLICY, step->name, workspace, step->extra,
                             step->value, step->length);
    }
    return r;
}

/* SECURITY: the org's locks must be known before the presets that users name are loaded. Locks are
 * read again, and complained about, with the rest of their document. */
static int load_locks(struct assembly *assembly)
{
    vec_each (&assembly->documents, pending) {
        const struct node *node = config_locks(&pending->document);
        const struct layer *layer;

        if (pending->authority != AUTHORITY_ORG || !node)
            continue;
        layer = policy_add_layer(assembly->policy, LAYER_ORG, AUTHORITY_ORG, "org",
                                 pending->document.file, pending->sha256);
        for (; layer && node; node = node->next) {
            struct item item = {.list = LIST_LOCK, .layer = layer, .origin = node->origin};

            item.value = node->text ? assembly_keep(assembly, node->text) : NULL;
            if (item.value && policy_add_item(assembly->policy, &item, assembly->report) < 0)
                return error_memory(assembly->err);
        }
        if (!layer)
            return error_memory(assembly->err);
    }
    return 0;
}

/* An org that has a policy wants to know what was done under it, unless it says otherwise. */
static int require_audit(struct assembly *assembly, const struct layer *layer)
{
    const struct setting *setting = &assembly->policy->settings[SETTING_AUDIT];

    if (layer->id != LAYER_ORG || (setting->is_set && setting->layer->authority == AUTHORITY_ORG))
        return 0;
    return policy_set(assembly->policy, layer, SETTING_AUDIT, "required",
                      (struct origin){.file = layer->file}, assembly->report);
}

static int load_documents(struct assembly *assembly)
{
    vec_each (&assembly->documents, pending) {
        struct config_source source = {.policy = assembly->policy,
                                       .file = pending->document.file,
                                       .base = pending->base,
                                       .report = assembly->report};

        source.layer =
            policy_add_layer(assembly->policy, pending->id, pending->authority,
                             layer_word(pending->id), pending->document.file, pending->sha256);
        if (!source.layer || config_load(&source, &pending->document) < 0 ||
            require_audit(assembly, source.layer) < 0)
            return error_memory(assembly->err);
    }
    return 0;
}

/* --profile and --preset were heeded already; here they are values like others, so that a lock on
 * them holds. */
static int load_named_builtins(struct assembly *assembly)
{
    const struct bawn_load *load = assembly->load;
    const struct layer *layer;
    int r = 0;

    if (!load->profile && load->presets.count == 0)
        return 0;
    layer =
        policy_add_layer(assembly->policy, LAYER_FLAGS, AUTHORITY_USER, "command line", NULL, NULL);
    if (!layer)
        return error_memory(assembly->err);
    if (load->profile)
        r = policy_set(assembly->policy, layer, SETTING_PROFILE, load->profile,
                       (struct origin){.file = "--profile"}, assembly->report);
    vec_each (&load->presets, preset) {
        struct item item = {.list = LIST_PRESETS,
                            .value = assembly_keep(assembly, *preset),
                            .layer = layer,
                            .origin = {.file = "--preset"}};

        if (r == 0)
            r = item.value ? policy_add_item(assembly->policy, &item, assembly->report) : -ENOMEM;
    }
    return r < 0 ? error_memory(assembly->err) : 0;
}

static int load_flags(struct assembly *assembly)
{
    struct config_source source = {.policy = assembly->policy,
                                   .file = "command line",
                                   .base = assembly->policy->workspace,
                                   .report = assembly->report};
    int r = 0;

    r = load_named_builtins(assembly);
    if (r < 0)
        return r;
    vec_each (&assembly->load->steps, step) {
        struct origin origin = {.file = step->extra ? assembly_keep(assembly, step->extra) : NULL};

        if (step->kind != LOAD_SET && step->kind != LOAD_PATH)
            continue;
        if (!source.layer)
            source.layer = policy_add_layer(assembly->policy, LAYER_FLAGS, AUTHORITY_USER,
                                            "command line", NULL, NULL);
        if (!source.layer)
            return error_memory(assembly->err);
        if (r == 0 && step->kind == LOAD_SET)
            r = config_set(&source, step->name, step->value, origin);
        else if (r == 0 && step->kind == LOAD_PATH)
            r = config_set_path(&source, step->name, step->value, origin);
    }
    return r == -ENOMEM ? error_memory(assembly->err) : r;
}

static int find_places(struct assembly *assembly)
{
    const struct bawn_load *load = assembly->load;
    char home[LIMIT_PATH_BYTES];
    char store[LIMIT_PATH_BYTES] = "";
    size_t length;
    autofree char *workspace = NULL;
    int r = load_workspace(load, assembly->view, &workspace, assembly->err);

    if (r == 0)
        r = load_home(assembly->view, home, assembly->err);
    if (r == 0)
        r = load_config_places(assembly->view, workspace, &assembly->config, assembly->err);
    if (r == 0)
        r = approvals_path(&assembly->config, store, assembly->err);
    if (r < 0)
        return r;
    if (path_is_below(home, workspace) && strcmp(home, workspace) != 0 && !load->isolated)
        report_add(assembly->report, BAWN_WARNING, "load.wide_workspace", (struct origin){0},
                   "the workspace is %s: your home and those of others are in it", workspace);
    assembly->policy->workspace = assembly_keep(assembly, workspace);
    assembly->policy->home = assembly_keep(assembly, home);
    if (!assembly->policy->workspace || !assembly->policy->home)
        return error_memory(assembly->err);
    /* Without a readable record nothing is approved. */
    if (*store)
        (void)view_read(assembly->view, store, LIMIT_CONFIG_BYTES, &assembly->approvals, &length,
                        NULL);
    return assembly_make_places(assembly);
}

/* Where the home of this workspace is kept. It is made for a run, with the compiled plan. */
static int find_kept_home(struct assembly *assembly)
{
    struct policy *policy = assembly->policy;
    char path[LIMIT_PATH_BYTES];
    char name[65];
    int r;

    /* Where nobody is told of what is made, what is hidden has to be there. */
    if (assembly->load->makes && policy_number(policy, SETTING_PROCESS_CONTAINERS))
        (void)places_find_home("", true, path, NULL);
    assembly->view->is_past |= policy_number(policy, SETTING_PROCESS_CONTAINERS) ||
                               policy_number(policy, SETTING_HOME) == HOME_KEEP;
    if (policy_number(policy, SETTING_HOME) != HOME_KEEP)
        return 0;
    hash_text(policy->workspace, strlen(policy->workspace), name);
    name[32] = '\0';
    r = places_find_home(name, false, path, assembly->err);
    if (r < 0)
        return r;
    policy->kept_home = assembly_keep(assembly, path);
    return policy->kept_home ? 0 : error_memory(assembly->err);
}

static int assemble(struct assembly *assembly)
{
    int r = find_places(assembly);

    if (r == 0 && !assembly->load->isolated)
        r = add_layer_files(assembly);
    if (r == 0)
        r = add_named_files(assembly);
    if (r == 0)
        r = load_locks(assembly);
    if (r == 0)
        r = assembly_load_builtins(assembly);
    if (r == 0)
        r = load_documents(assembly);
    if (r == 0 && !assembly->load->isolated)
        r = assembly_load_variables(assembly);
    if (r == 0)
        r = load_flags(assembly);
    if (r == 0)
        r = assembly_seal(assembly);
    if (r == 0)
        r = find_kept_home(assembly);
    if (r == 0)
        r = assembly_observe(assembly);
    if (r == 0)
        r = policy_finish(assembly->policy, assembly->report, assembly->err);
    if (r == 0)
        assembly_use_outer_proxy(assembly);
    if (r == 0)
        r = assembly_grant_repository(assembly);
    if (r == 0)
        r = assembly_observe_home(assembly);
    if (r == 0)
        r = assembly_examine_missing(assembly);
    if (r == 0)
        r = links_follow(assembly->policy, assembly->view, assembly->report, assembly->err);
    if (r == 0)
        r = assembly_divide_overlays(assembly);
    if (r == 0)
        r = matches_find(assembly->policy, assembly->view, assembly->load->matches,
                         &assembly->result->linked, assembly->report, assembly->err);
    if (r == 0)
        r = assembly_examine(assembly);
    if (r == 0 && report_has_errors(assembly->report))
        r = report_to_error(assembly->report, assembly->err);
    return r;
}

int bawn_policy_load(const struct bawn_load *load, struct bawn_policy **ret_policy,
                     struct bawn_report **ret_report, struct bawn_error *err)
{
    struct assembly assembly = {.load = load, .report = report_new(), .err = err};
    int r;

    assembly.result = calloc(1, sizeof(*assembly.result));
    if (assembly.result)
        assembly.result->environ = environ_copy((const char *const *)load->environ);
    if (assembly.result && assembly.result->environ)
        assembly.view = assembly.result->view = view_new(assembly.result->environ);
    if (!assembly.report || !assembly.view) {
        r = error_memory(err);
    } else {
        assembly.policy = &assembly.result->policy;
        r = assemble(&assembly);
        assembly.result->is_at_once = load->at_once;
        if (!load->at_once)
            view_finish(assembly.view);
        else if (r == 0)
            r = git_identity_new(assembly.result, assembly.view, &assembly.result->identity, err);
    }
    vec_each (&assembly.documents, pending)
        config_document_done(&pending->document);
    vec_done(&assembly.documents);
    free(assembly.approvals);
    if (r < 0)
        bawn_policy_free(assembly.result);
    else
        *ret_policy = assembly.result;
    if (ret_report)
        *ret_report = assembly.report;
    else
        bawn_report_free(assembly.report);
    return r;
}
