/* SPDX-License-Identifier: Apache-2.0 */
/* The policy's own files, and the places where others would be looked for: unwritable inside. */
#include "api/assembly.h"
#include "base/error.h"
#include "policy/build.h"
#include "session/registry.h"

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

/* A file, and every link on the way to it: whoever changes one of those changes what is read. */
static int seal_file(struct assembly *assembly, const struct layer *layer, const char *path)
{
    char resolved[LIMIT_PATH_BYTES];
    struct link_notes notes;
    int r = seal_path(assembly, layer, path, false);

    link_notes_init(&notes);
    (void)resolve_path(NULL, "/", path, &notes.looker, resolved, NULL);
    for (const char *link = NULL; r == 0 && (link = link_notes_next(&notes, link));)
        r = seal_path(assembly, layer, link, true);
    link_notes_done(&notes);
    return r;
}

/* What lies in a home where no variable says otherwise. */
static int seal_home(struct assembly *assembly, const struct layer *own, const char *home)
{
    char path[LIMIT_PATH_BYTES];
    int r = seal_path(assembly, own, assembly_path(path, "%.4000s/.config/bawn", home), false);

    return r < 0
               ? r
               : seal_path(assembly, own, assembly_path(path, "%.4000s/.cache/bawn", home), false);
}

/* Compiled plans are trusted, and whoever reaches a control socket controls its session. SECURITY:
 * the next bawn may have other variables: the usual places count whatever ours say. */
static int seal_own_places(struct assembly *assembly, const struct layer *own)
{
    char *const *variables = assembly->load->environ;
    const char *cache = environ_get(variables, "XDG_CACHE_HOME");
    const char *usual_home = assembly->policy->places->usual;
    char path[REGISTRY_PATH_BYTES];
    char plans[LIMIT_PATH_BYTES];
    int r = 0;

    if (cache && *cache == '/')
        r = seal_path(assembly, own, assembly_path(plans, "%.4000s/bawn", cache), false);
    if (r == 0)
        r = seal_home(assembly, own, assembly->policy->home);
    if (r == 0 && usual_home)
        r = seal_home(assembly, own, usual_home);
    for (unsigned i = 0; r == 0 && registry_place(variables, i, path); i++)
        r = hide_path(assembly, own, path);
    return r < 0 ? r
                 : hide_path(assembly, own,
                             assembly_path(plans, "/run/user/%u/bawn", (unsigned)getuid()));
}

/* SECURITY: what a sandbox can write, it can use to widen the next one. The files that were read
 * are sealed, and the places where others would be looked for. */
int assembly_seal(struct assembly *assembly)
{
    const struct bawn_load *load = assembly->load;
    const struct layer *own = policy_add_layer(assembly->policy, LAYER_BUILTIN, AUTHORITY_BUILTIN,
                                               "policy files", NULL, NULL);
    char config[LIMIT_PATH_BYTES];
    char path[LIMIT_PATH_BYTES];
    int r = own ? load_config_home(load, config, assembly->err) : error_memory(assembly->err);

    if (r == 0)
        r = seal_path(assembly, own, assembly_path(path, "%.4000s/bawn", config), false);
    if (r == 0)
        r = seal_path(assembly, own, assembly_path(path, "%.4000s/bawn/approved", config), false);
    if (r == 0)
        r = seal_path(assembly, own, load->org_dir, false);
    if (r == 0)
        r = seal_own_places(assembly, own);
    for (size_t i = 0; r == 0 && i < assembly->policy->layers.count; i++) {
        const struct layer *layer = assembly->policy->layers.items[i];

        if (layer->file && *layer->file == '/')
            r = seal_file(assembly, own, layer->file);
    }
    return r;
}
