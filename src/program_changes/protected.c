/* SPDX-License-Identifier: Apache-2.0 */
#include "program_changes/protected.h"

#include "base/error.h"
#include "base/path.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int add_trees(const struct store *store, struct bawn_load *load, struct bawn_error *err)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < store->count; i++)
        result = bawn_load_path(load, "rw", store->trees[i].path, "bawn apply", err);
    return result;
}

/* As if the trees of the session could be written. */
static int load_one(const struct store *store, bool is_isolated, struct bawn_policy **ret_policy,
                    struct bawn_error *err)
{
    const char *workspace = store->workspace ? store->workspace
                            : store->count   ? store->trees[0].path
                                             : "/";
    struct bawn_load *load = NULL;
    int result = bawn_load_new(&load, err);

    if (result < 0)
        return result;
    bawn_load_isolated(load, is_isolated);
    result = bawn_load_workspace(load, workspace, err);
    if (result == 0)
        result = bawn_load_profile(load, "default", err);
    if (result == 0)
        result = add_trees(store, load, err);
    if (result == 0)
        result = bawn_policy_load(load, ret_policy, NULL, err);
    bawn_load_free(load);
    return result;
}

int protected_load(const struct store *store, struct protected_paths *ret_paths,
                   struct bawn_error *err)
{
    int result = 0;

    *ret_paths = (struct protected_paths){0};
    for (int i = 0; result == 0 && i < PROTECTED_POLICIES; i++)
        result = load_one(store, i == 1, &ret_paths->policies[i], err);
    return result;
}

void protected_done(struct protected_paths *paths)
{
    for (int i = 0; i < PROTECTED_POLICIES; i++)
        bawn_policy_free(paths->policies[i]);
    map_done(&paths->known);
    arena_done(&paths->arena);
}

/* Of the first line of what a command would be told: why, if it says that in brackets. */
static const char *first_line(struct arena *arena, const char *text)
{
    size_t length = strcspn(text, "\n");
    const char *why = memmem(text, length, ": path is protected (", 21);
    const char *kept;

    if (why && length >= 2 && memcmp(text + length - 2, ").", 2) == 0) {
        length -= (size_t)(why - text) + 21 + 2;
        text = why + 21;
    }
    kept = arena_strndup(arena, text, length);
    return kept ? kept : "the policy protects it";
}

/* Where the host has a link that leads elsewhere, that other place is asked about. The link itself
 * is what is replaced. */
static bool is_elsewhere(const struct bawn_decision *decision)
{
    const char *code = bawn_decision_code(decision);

    return strcmp(code, "write.outside") == 0 || strcmp(code, "write.read_only") == 0 ||
           strcmp(code, "read.outside") == 0;
}

static const char *ask(struct protected_paths *paths, const char *path)
{
    for (int i = 0; i < PROTECTED_POLICIES; i++) {
        struct bawn_decision *decision = NULL;
        struct bawn_error err = {0};
        int verdict = bawn_decide(paths->policies[i], BAWN_WRITE, path, &decision, &err);
        const char *why = NULL;

        if (verdict != BAWN_ALLOW && !(decision && is_elsewhere(decision)))
            why = decision ? first_line(&paths->arena, bawn_decision_text(decision))
                           : first_line(&paths->arena, err.message);
        bawn_decision_free(decision);
        if (why)
            return why;
    }
    return NULL;
}

/* What root alone changes: the list is about what people have. */
static bool is_roots(const char *path)
{
    static const char *const places[] = {"/bin", "/boot", "/etc", "/lib",     "/lib32",    "/lib64",
                                         "/opt", "/sbin", "/usr", "/var/lib", "/var/spool"};

    for (size_t i = 0; geteuid() == 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        if (path_is_below(path, places[i]))
            return true;
    }
    return false;
}

/* Some names may be a directory and nothing else, and where something below is protected nothing
 * may lead elsewhere. What is asked is about what the host has there now: of a directory that may
 * come, whether something in it may be written. */
static const char *ask_as(struct protected_paths *paths, const char *path, mode_t mode)
{
    const char *why =
        is_roots(path) ? "programs of the system run or obey what is there" : ask(paths, path);
    const char *inside =
        why && S_ISDIR(mode) ? arena_printf(&paths->arena, "%s/bawn-apply", path) : NULL;

    for (int i = 0; !why && i < PROTECTED_POLICIES; i++) {
        if (!S_ISDIR(mode) && bawn_is_only_directory(paths->policies[i], path))
            why = "a program would be led elsewhere by what is no directory there";
        else if (S_ISLNK(mode) && bawn_protects_below(paths->policies[i], path))
            why = "what the link leads to would be in the place of something that is";
    }
    return inside && !is_roots(path) && !ask(paths, inside) ? NULL : why;
}

/* Each change asks about all directories above it, too: most were asked about before. */
const char *protected_why(void *context, const char *path, mode_t mode)
{
    struct protected_paths *paths = context;
    unsigned kind = S_ISDIR(mode) ? 1 : S_ISLNK(mode) ? 2 : 0;
    const char *why = map_get(&paths->known, kind, path, strlen(path));
    const char *key;

    if (why)
        return *why ? why : NULL;
    why = ask_as(paths, path, mode);
    key = arena_strdup(&paths->arena, path);
    if (key)
        (void)map_put(&paths->known, kind, key, strlen(key), (void *)(uintptr_t)(why ? why : ""));
    return why;
}
