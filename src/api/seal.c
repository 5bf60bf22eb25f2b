/* SPDX-License-Identifier: Apache-2.0 */
/* The policy's own files, and the places where others would be looked for: unwritable inside. */
#include "api/assembly.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/passwd.h"
#include "base/places.h"
#include "policy/build.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int add_sealed(struct assembly *assembly, const struct layer *layer, const char *path,
                      enum access read, bool is_link)
{
    struct path_rule rule = {.kind = RULE_SEALED,
                             .path = assembly_keep(assembly, path),
                             .spelled = "policy file",
                             .read = read,
                             .write = ACCESS_DENY,
                             .is_repeat = is_link,
                             .layer = layer};

    return rule.path && policy_add_rule(assembly->policy, &rule, assembly->report) == 0
               ? 0
               : error_memory(assembly->err);
}

static int seal_path(struct assembly *assembly, const struct layer *layer, const char *path,
                     bool is_link)
{
    return add_sealed(assembly, layer, path, ACCESS_UNSET, is_link);
}

/* SECURITY: a socket under a read-only mount can be connected to. */
static int hide_path(struct assembly *assembly, const struct layer *layer, const char *path)
{
    return add_sealed(assembly, layer, path, ACCESS_DENY, false);
}

/* A place, and every link on the way to it: whoever changes one of those changes what is read. */
static int seal_way(struct assembly *assembly, const struct layer *layer, const char *path,
                    enum access read)
{
    char resolved[LIMIT_PATH_BYTES];
    struct link_notes notes;
    int r = add_sealed(assembly, layer, path, read, false);

    link_notes_init(&notes, &assembly->view->links);
    (void)resolve_path(NULL, "/", path, &notes.looker, resolved, NULL);
    for (const char *link = NULL; r == 0 && (link = link_notes_next(&notes, link));)
        r = seal_path(assembly, layer, link, true);
    link_notes_done(&notes);
    return r;
}

static int seal_place(struct assembly *assembly, const struct layer *layer, const char *path)
{
    return seal_way(assembly, layer, path, ACCESS_UNSET);
}

/* A directory of configuration, with its files: they may be links to elsewhere. */
static int seal_config(struct assembly *assembly, const struct layer *layer, const char *dir)
{
    static const char *const names[] = {"", "/" PLACES_POLICY, "/" PLACES_APPROVED};
    char path[LIMIT_PATH_BYTES];
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(names[0]); i++)
        r = seal_place(assembly, layer,
                       assembly_path(path, "%.4000s/" PLACES_CONFIG "%s", dir, names[i]));
    return r;
}

/*
 * What is trusted whatever variables say: the configuration, the compiled
 * plans and what is kept of sessions, in the home that the user database names.
 * SECURITY: every sandbox of the user's has these rules, so that none can ever
 * write there, or read what others said; the launcher looks nowhere else. The homes
 * that are kept are there, too: of these a sandbox sees its own alone, at another
 * place.
 */
static int seal_trusted(struct assembly *assembly, const struct layer *own, const char *home)
{
    char path[LIMIT_PATH_BYTES];
    int r = seal_config(assembly, own, assembly_path(path, "%.4000s/" PLACES_CONFIG_USUAL, home));

    if (r == 0)
        r = seal_place(assembly, own, assembly_path(path, "%.4000s/" PLACES_CACHE, home));
    return r < 0 ? r
                 : seal_way(assembly, own, assembly_path(path, "%.4000s/" PLACES_STATE, home),
                            ACCESS_DENY);
}

static int seal_trusted_places(struct assembly *assembly)
{
    const struct layer *own = policy_add_layer(assembly->policy, LAYER_BUILTIN, AUTHORITY_ORG,
                                               "policy files", NULL, NULL);
    char usual[LIMIT_PATH_BYTES] = "";
    char home[LIMIT_PATH_BYTES];
    int r = own ? seal_path(assembly, own, assembly->load->org_dir, false)
                : error_memory(assembly->err);

    if (r == 0 && view_usual_home(assembly->view, usual))
        r = seal_trusted(assembly, own, usual);
    if (r == 0 && passwd_home(getuid(), home) && strcmp(home, usual) != 0)
        r = seal_trusted(assembly, own, home);
    return r;
}

/* Whoever reaches a control socket controls its session. */
static int hide_sessions(struct assembly *assembly, const struct layer *own)
{
    const char *runtime = view_variable(assembly->view, "XDG_RUNTIME_DIR");
    char path[PLACES_SESSIONS_BYTES];
    int r = 0;

    for (enum places_sessions i = 0; r == 0 && i < SESSIONS_COUNT; i++)
        if (places_sessions(runtime, i, path))
            r = hide_path(assembly, own, path);
    return r;
}

/* Where variables have it; the next bawn may have others. */
static int seal_named(struct assembly *assembly, const struct layer *own)
{
    const struct config_places *config = &assembly->config;
    char path[LIMIT_PATH_BYTES];
    int r = seal_config(
        assembly, own, assembly_path(path, "%.4000s/" PLACES_CONFIG_USUAL, assembly->policy->home));

    if (r == 0 && *config->user)
        r = seal_config(assembly, own, config->user);
    if (r == 0 && *config->project)
        r = seal_config(assembly, own, config->project);
    return r;
}

/* SECURITY: what a sandbox can write, it can use to widen the next one. The files that were read
 * are sealed, and the places where others would be looked for. */
int assembly_seal(struct assembly *assembly)
{
    const struct layer *own = policy_add_layer(assembly->policy, LAYER_BUILTIN, AUTHORITY_BUILTIN,
                                               "policy files", NULL, NULL);
    int r = own ? seal_trusted_places(assembly) : error_memory(assembly->err);

    if (r == 0)
        r = seal_named(assembly, own);
    if (r == 0)
        r = hide_sessions(assembly, own);
    for (size_t i = 0; r == 0 && i < assembly->policy->layers.count; i++) {
        const struct layer *layer = assembly->policy->layers.items[i];

        if (layer->file && *layer->file == '/')
            r = seal_place(assembly, own, layer->file);
    }
    return r;
}
