/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in layer: the profile, the lists, the presets. */
#include "api/assembly.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "policy/build.h"

#include <errno.h>
#include <stdio.h>

static int load_builtin(struct assembly *assembly, const struct builtin_file *file,
                        const char *name, enum authority authority)
{
    struct config_document document = {.file = file->name};
    struct config_source source = {.policy = assembly->policy,
                                   .file = file->name,
                                   .base = assembly->policy->workspace,
                                   .report = assembly->report};
    int r;

    source.layer = policy_add_layer(assembly->policy, LAYER_BUILTIN, authority, name, NULL, NULL);
    if (!source.layer)
        return error_memory(assembly->err);
    r = config_parse(&document, FORMAT_BAWN, file->text, file->length, assembly->report);
    if (r == 0)
        r = config_load(&source, &document);
    config_document_done(&document);
    return r == -ENOMEM ? error_memory(assembly->err) : 0;
}

static int load_lists(struct assembly *assembly)
{
    static const struct {
        const char *name;
        enum rule_kind kind;
    } lists[] = {{"secrets", RULE_SECRET}, {"protected", RULE_PROTECTED}};
    struct config_source source = {
        .policy = assembly->policy, .base = "/", .report = assembly->report};

    source.layer = policy_add_layer(assembly->policy, LAYER_BUILTIN, AUTHORITY_BUILTIN,
                                    "built-in lists", NULL, NULL);
    if (!source.layer)
        return error_memory(assembly->err);
    for (size_t i = 0; i < 2; i++) {
        const struct builtin_file *file = builtin_find("", lists[i].name);

        source.file = file->name;
        if (config_read_list(&source, lists[i].kind, file->text, file->length) < 0)
            return error_memory(assembly->err);
    }
    return 0;
}

/* The profile that the strongest word names: flags, environment, then documents, the last first. */
static const char *pick_profile(const struct assembly *assembly, struct origin *ret_origin)
{
    const struct bawn_load *load = assembly->load;
    const char *profile = "default";
    const char *variable = load->isolated ? NULL : view_variable(assembly->view, "BAWN_PROFILE");

    *ret_origin = (struct origin){0};
    vec_each (&assembly->documents, pending) {
        const struct node *named = config_profile(&pending->document);

        if (!named || pending->authority == AUTHORITY_PROJECT)
            continue;
        profile = named->text;
        *ret_origin = named->origin;
    }
    if (load->profile || (variable && *variable))
        *ret_origin = (struct origin){.file = load->profile ? "--profile" : "BAWN_PROFILE"};
    if (load->profile)
        return load->profile;
    return variable && *variable ? variable : profile;
}

/* A profile or preset that is none. */
static void complain_builtin(struct assembly *assembly, const char *folder, const char *what,
                             const char *name, struct origin origin)
{
    autostrbuf struct strbuf hint = {0};

    report_add(assembly->report, BAWN_ERROR, "policy.no_such_builtin", origin, "%s '%s'", what,
               name);
    builtin_hint(folder, name, &hint);
    if (hint.text && !hint.failed)
        report_hint(assembly->report, "%s", hint.text);
}

static int load_preset(struct assembly *assembly, const char *name, enum authority authority,
                       struct origin origin)
{
    const struct builtin_file *file = builtin_find("presets", name);
    char layer[80];

    if (!file) {
        complain_builtin(assembly, "presets", "presets: there is no preset", name, origin);
        return 0;
    }
    (void)snprintf(layer, sizeof(layer), "preset %s", name);
    return load_builtin(assembly, file, layer, authority);
}

static int load_presets(struct assembly *assembly)
{
    int r = 0;

    vec_each (&assembly->documents, pending) {
        const struct node *node = config_presets(&pending->document);

        for (; r == 0 && node && pending->authority != AUTHORITY_PROJECT; node = node->next)
            if (node->kind == NODE_STRING)
                r = load_preset(assembly, node->text, pending->authority, node->origin);
    }
    vec_each (&assembly->load->presets, preset) {
        if (r == 0)
            r = load_preset(assembly, *preset, AUTHORITY_USER, (struct origin){.file = "--preset"});
    }
    return r;
}

int assembly_load_builtins(struct assembly *assembly)
{
    struct origin origin;
    const char *profile = pick_profile(assembly, &origin);
    const struct builtin_file *file = builtin_find("profiles", profile);
    char name[80];
    int r = 0;

    if (!file) {
        complain_builtin(assembly, "profiles", "there is no profile", profile, origin);
        return 0;
    }
    (void)snprintf(name, sizeof(name), "profile %s", profile);
    if (!assembly->load->no_profile)
        r = load_builtin(assembly, file, name, AUTHORITY_BUILTIN);
    if (r == 0 && !assembly->load->no_lists)
        r = load_lists(assembly);
    return r == 0 ? load_presets(assembly) : r;
}
