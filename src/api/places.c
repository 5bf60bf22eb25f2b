/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a path may start with: the home, the workspace, and what variables move. */
#include "api/assembly.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first path of a value that may be a list. NULL when it is the root or the home: a variable
 * that says so would open, or protect, something else than its name says. */
static char *first_path(const char *value, const char *home)
{
    autofree char *first = strndup(value, strcspn(value, ":"));
    autofree char *path = first ? path_normalize("/", first) : NULL;

    return path && strcmp(path, "/") != 0 && strcmp(path, home) != 0 ? take_ptr(&path) : NULL;
}

/* The caller's home by the user database, where HOME says otherwise. */
static const char *usual_home(struct assembly *assembly)
{
    char home[LIMIT_PATH_BYTES];

    return view_usual_home(assembly->view, home) && strcmp(home, assembly->policy->home) != 0
               ? assembly_keep(assembly, home)
               : NULL;
}

int assembly_make_places(struct assembly *assembly)
{
    static const struct {
        const char *name;
        const char *usual; /* below the home directory */
    } known[] = {
        {"XDG_CONFIG_HOME", ".config"},    {"XDG_CACHE_HOME", ".cache"},
        {"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"},
        {"XDG_RUNTIME_DIR", NULL},         {"CARGO_HOME", ".cargo"},
        {"RUSTUP_HOME", ".rustup"},        {"GOPATH", "go"},
        {"CLAUDE_CONFIG_DIR", ".claude"},  {"CODEX_HOME", ".codex"},
        {"GEMINI_CLI_HOME", "."},
    };
    const size_t count = sizeof(known) / sizeof(known[0]);
    struct policy *policy = assembly->policy;
    struct place *places = arena_alloc(&policy->arena, (count + 3) * sizeof(*places));

    if (!places)
        return error_memory(assembly->err);
    places[0] = (struct place){"HOME", policy->home, usual_home(assembly)};
    places[1] = (struct place){"WORKSPACE", policy->workspace, NULL};
    for (size_t i = 0; i < count; i++) {
        const char *value = view_variable(assembly->view, known[i].name);
        autofree char *path = NULL;
        autofree char *usual = NULL;

        if (value && *value == '/')
            path = first_path(value, policy->home);
        if (path)
            ;
        else if (known[i].usual)
            path = path_normalize(policy->home, known[i].usual);
        else if (asprintf(&path, "/run/user/%u", (unsigned)getuid()) < 0)
            path = NULL;
        if (!path)
            return error_memory(assembly->err);
        places[i + 2] = (struct place){known[i].name, assembly_keep(assembly, path), NULL};
        if (!places[i + 2].path)
            return error_memory(assembly->err);
        usual = known[i].usual ? path_normalize(policy->home, known[i].usual) : NULL;
        if (usual && strcmp(usual, path) != 0)
            places[i + 2].usual = assembly_keep(assembly, usual);
    }
    policy->places = places;
    return 0;
}
