/* SPDX-License-Identifier: Apache-2.0 */
/* What to load: collected from the caller, and where its files are. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/places.h"
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

int bawn_load_new(struct bawn_load **ret_load, struct bawn_error *err)
{
    struct bawn_load *load = calloc(1, sizeof(*load));

    if (!load)
        return error_memory(err);
    load->org_dir = PLACES_ORG;
    load->claude_dir = "/etc/claude-code";
    load->environ = environ_copy((const char *const *)environ);
    load->workspace = strdup(".");
    if (!load->environ || !load->workspace) {
        bawn_load_free(load);
        return error_memory(err);
    }
    *ret_load = load;
    return 0;
}

void bawn_load_free(struct bawn_load *load)
{
    if (!load)
        return;
    vec_each (&load->steps, step) {
        free(step->name);
        free(step->value);
        free(step->extra);
    }
    vec_done(&load->steps);
    vec_each (&load->presets, preset)
        free(*preset);
    vec_done(&load->presets);
    environ_free(load->environ);
    free(load->workspace);
    free(load->profile);
    free(load);
}

static int replace_text(char **text, const char *value, struct bawn_error *err)
{
    char *copy = strdup(value);

    if (!copy)
        return error_memory(err);
    free(*text);
    *text = copy;
    return 0;
}

int bawn_load_workspace(struct bawn_load *load, const char *dir, struct bawn_error *err)
{
    return replace_text(&load->workspace, dir, err);
}

int bawn_load_environ(struct bawn_load *load, const char *const *variables, struct bawn_error *err)
{
    char **copy = environ_copy(variables);

    if (!copy)
        return error_memory(err);
    environ_free(load->environ);
    load->environ = copy;
    return 0;
}

void bawn_load_isolated(struct bawn_load *load, bool isolated)
{
    load->isolated = isolated;
}

void bawn_load_matches(struct bawn_load *load, bool matches)
{
    load->matches = matches;
}

void bawn_load_make(struct bawn_load *load, bool makes)
{
    load->makes = makes;
}

void bawn_load_at_once(struct bawn_load *load, bool at_once)
{
    load->at_once = at_once;
}

void bawn_load_claude(struct bawn_load *load, bool claude)
{
    load->claude = claude;
}

static int find_builtin(const char *folder, const char *kind, const char *name,
                        struct bawn_error *err)
{
    autostrbuf struct strbuf hint = {0};

    if (builtin_find(folder, name))
        return 0;
    error_set(err, EINVAL, "policy.no_such_builtin", "there is no %s '%s'", kind, name);
    builtin_hint(folder, name, &hint);
    if (hint.text && !hint.failed)
        error_hint(err, "%s", hint.text);
    return -EINVAL;
}

int bawn_load_profile(struct bawn_load *load, const char *name, struct bawn_error *err)
{
    int r = find_builtin("profiles", "profile", name, err);

    return r < 0 ? r : replace_text(&load->profile, name, err);
}

int bawn_load_preset(struct bawn_load *load, const char *name, struct bawn_error *err)
{
    autofree char *copy = NULL;
    int r = find_builtin("presets", "preset", name, err);

    if (r < 0)
        return r;
    copy = strdup(name);
    if (!copy || !vec_push(&load->presets, copy))
        return error_memory(err);
    copy = NULL;
    return 0;
}

/* Takes the strings of the step. One that could not be copied is short memory: a format that went
 * missing would be guessed. */
static int add_step(struct bawn_load *load, struct load_step step, bool has_extra,
                    struct bawn_error *err)
{
    if (step.name && step.value && (step.extra || !has_extra) && vec_push(&load->steps, step))
        return 0;
    free(step.name);
    free(step.value);
    free(step.extra);
    return error_memory(err);
}

static int check_format(const char *format, struct bawn_error *err)
{
    if (!format || config_format_find(format) != FORMAT_UNKNOWN)
        return 0;
    error_set(err, EINVAL, "config.format", "there is no format '%s'", format);
    error_hint(err, "there are bawn, claude, srt and sandboxes");
    return -EINVAL;
}

int bawn_load_file(struct bawn_load *load, const char *path, const char *format,
                   struct bawn_error *err)
{
    int r = check_format(format, err);

    return r < 0 ? r
                 : add_step(load,
                            (struct load_step){.kind = LOAD_FILE,
                                               .name = strdup(path),
                                               .value = strdup(""),
                                               .extra = format ? strdup(format) : NULL},
                            format != NULL, err);
}

int bawn_load_text(struct bawn_load *load, const char *name, const char *text, size_t length,
                   const char *format, struct bawn_error *err)
{
    int r = check_format(format, err);
    char *copy;

    if (r < 0)
        return r;
    copy = malloc(length + 1);
    if (copy) {
        if (length)
            memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return add_step(load,
                    (struct load_step){.kind = LOAD_TEXT,
                                       .name = strdup(name),
                                       .value = copy,
                                       .length = length,
                                       .extra = format ? strdup(format) : NULL},
                    format != NULL, err);
}

int bawn_load_set(struct bawn_load *load, const char *key, const char *value, const char *origin,
                  struct bawn_error *err)
{
    /* These two are needed before any layer is made. */
    if (strcmp(key, "profile") == 0)
        return bawn_load_profile(load, value, err);
    if (strcmp(key, "presets") == 0)
        return bawn_load_preset(load, value, err);
    return add_step(load,
                    (struct load_step){.kind = LOAD_SET,
                                       .name = strdup(key),
                                       .value = strdup(value),
                                       .extra = origin ? strdup(origin) : NULL},
                    origin != NULL, err);
}

int bawn_load_path(struct bawn_load *load, const char *mode, const char *path, const char *origin,
                   struct bawn_error *err)
{
    return add_step(load,
                    (struct load_step){.kind = LOAD_PATH,
                                       .name = strdup(mode),
                                       .value = strdup(path),
                                       .extra = origin ? strdup(origin) : NULL},
                    origin != NULL, err);
}

/* Links taken out as far as the path exists; the rest stays as it is. */
static int resolve_dir(struct view *view, const char *path, char ret_path[LIMIT_PATH_BYTES],
                       struct bawn_error *err)
{
    return resolve_path(NULL, "/", path, &view->links, ret_path, err);
}

int load_workspace(const struct bawn_load *load, struct view *view, char **ret_path,
                   struct bawn_error *err)
{
    const char *name = load->workspace;
    bool is_cwd = strcmp(name, ".") == 0;
    int r = view_workspace(view, name, ret_path);

    if (r == 0)
        return 0;
    (void)error_errno(err, -r, "%s%s", is_cwd ? "the working directory" : "workspace ",
                      is_cwd ? "" : name);
    error_hint(err, "name a directory that is there and that you may enter%s",
               is_cwd ? ": cd, or --workspace" : "");
    return r;
}

int load_home(struct view *view, char ret_home[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    const char *home = view_variable(view, "HOME");

    if (home && *home == '/')
        return resolve_dir(view, home, ret_home, err);
    if ((!home || !*home) && view_usual_home(view, ret_home))
        return 0;
    error_set(err, EINVAL, "load.home", "HOME is not an absolute path");
    error_hint(err, "set HOME to your home directory: bawn looks for secrets there");
    return -EINVAL;
}

/* The place that is sealed in every sandbox of the user's; "" where nobody knows his home. */
static int usual_config(struct view *view, char ret_dir[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    char home[LIMIT_PATH_BYTES];
    autofree char *path = NULL;

    *ret_dir = '\0';
    if (!view_usual_home(view, home))
        return 0;
    path = path_normalize(home, PLACES_CONFIG_USUAL);
    return path ? resolve_dir(view, path, ret_dir, err) : error_memory(err);
}

int load_config_places(struct view *view, const char *workspace, struct config_places *ret_places,
                       struct bawn_error *err)
{
    const char *config = view_variable(view, "XDG_CONFIG_HOME");
    char usual[LIMIT_PATH_BYTES];
    char home[LIMIT_PATH_BYTES];
    autofree char *path = NULL;
    int r = load_home(view, home, err);

    *ret_places = (struct config_places){0};
    if (r == 0)
        r = usual_config(view, usual, err);
    if (r < 0)
        return r;
    /* The XDG rules: a relative path is as good as none. */
    path = config && *config == '/' ? strdup(config) : path_normalize(home, PLACES_CONFIG_USUAL);
    r = path ? resolve_dir(view, path, ret_places->user, err) : error_memory(err);
    if (r < 0 || strcmp(ret_places->user, usual) == 0 ||
        !path_is_below(ret_places->user, workspace))
        return r;
    memcpy(ret_places->project, ret_places->user, sizeof(ret_places->user));
    memcpy(ret_places->user, usual, sizeof(usual));
    return 0;
}

bool load_find_project(struct view *view, const char *workspace, const char *home, const char *name,
                       char ret_dir[LIMIT_PATH_BYTES])
{
    (void)snprintf(ret_dir, LIMIT_PATH_BYTES, "%s", workspace);
    for (;;) {
        char candidate[LIMIT_PATH_BYTES + 64];
        enum look look;
        char *slash;

        (void)snprintf(candidate, sizeof(candidate), "%s/%s", strcmp(ret_dir, "/") ? ret_dir : "",
                       name);
        look = view_look(view, candidate);
        if (look != LOOK_ABSENT && look != LOOK_UNKNOWN)
            return true;
        slash = strrchr(ret_dir, '/');
        if (!slash || slash == ret_dir || strcmp(ret_dir, home) == 0)
            return false;
        *slash = '\0';
        /* The home directory is where projects are, not a project. */
        if (strcmp(ret_dir, home) == 0)
            return false;
    }
}
