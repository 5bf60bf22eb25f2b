/* SPDX-License-Identifier: Apache-2.0 */
/* What git needs of the repository that the workspace belongs to, where that lies outside of it. */
#include "api/assembly.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/glob.h"
#include "policy/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * How it works: the work tree around the workspace can be read, or "commit -a"
 * would take the rest of it for deleted; what git keeps can be written, but for
 * what runs code or leads elsewhere. These are rules of the profile: who grants or denies
 * more says so, and is heard. What is granted already stays as it is.
 */
struct granting {
    struct assembly *assembly;
    const struct layer *layer;
    const char *mode; /* as the workspace's: rw, overlay or ro */
};

enum { WORKTREES_MAX = 512 };

static int add_rule(struct granting *granting, struct path_rule rule, const char *path)
{
    struct policy *policy = granting->assembly->policy;

    rule.path = rule.spelled = assembly_keep(granting->assembly, path);
    rule.layer = granting->layer;
    rule.origin = policy->settings[SETTING_REPOSITORY].origin;
    return rule.path ? policy_add_found(policy, &rule, granting->assembly->err)
                     : error_memory(granting->assembly->err);
}

/* Whether somebody grants or refuses it already: 1 or 0. */
static int is_granted(const struct granting *granting, const char *path, const char *mode)
{
    const enum path_op op = strcmp(mode, "ro") == 0 ? PATH_READ : PATH_WRITE;
    struct path_decision decisions[PATH_OP_COUNT];

    if (decide_path(granting->assembly->policy, path, decisions) < 0)
        return error_memory(granting->assembly->err);
    return decisions[op].access == ACCESS_ALLOW || decisions[op].access == ACCESS_OVERLAY ||
           decide_refuses(&decisions[op], op);
}

static int grant(struct granting *granting, const char *name, const char *path, const char *mode)
{
    struct path_rule rule = {.kind = RULE_PATH, .name = name};
    int r = is_granted(granting, path, mode);

    if (r != 0)
        return r < 0 ? r : 0;
    (void)rule_set_mode(&rule, mode);
    return add_rule(granting, rule, path);
}

static int protect(struct granting *granting, const char *dir, const char *name, const char *why)
{
    struct path_rule rule = {.kind = RULE_PROTECTED,
                             .write = ACCESS_DENY,
                             .reason = why,
                             .wild = strchr(name, '*') != NULL};
    autostrbuf struct strbuf path = {0};

    if (rule.wild)
        glob_escape(&path, dir);
    else
        strbuf_add(&path, dir);
    strbuf_addf(&path, "/%s", name);
    return path.failed ? error_memory(granting->assembly->err)
                       : add_rule(granting, rule, path.text);
}

/* What git runs or obeys in one of its directories. */
static int protect_git_dir(struct granting *granting, const char *dir, const char *place)
{
    static const struct {
        const char *name, *why;
    } held[] = {{"hooks", "git runs hooks"},
                {"config", "git config names programs that git runs"},
                {"config.worktree", "git config names programs that git runs"},
                {"commondir", "names the repository whose hooks and config count"},
                {"gitdir", "names the directory of the worktree"},
                {"info/attributes", "chooses the filters and drivers that git runs"}};
    char name[64];
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(held) / sizeof(held[0]); i++) {
        (void)snprintf(name, sizeof(name), "%s%s", place, held[i].name);
        r = protect(granting, dir, name, held[i].why);
    }
    return r;
}

/* The entries of the built-in list for any .git, by the path: no preset re-opens these. */
static int protect_all(struct granting *granting, const struct repository *found)
{
    static const char *const places[] = {"", "worktrees/*/", "modules/**/",
                                         "worktrees/*/modules/**/"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(places) / sizeof(places[0]); i++)
        r = protect_git_dir(granting, found->common_dir, places[i]);
    /* Once more by name: what is there is held by a mount, too. */
    if (r == 0 && strcmp(found->git_dir, found->common_dir) != 0)
        r = protect_git_dir(granting, found->git_dir, "");
    return r;
}

/* What is another work tree's alone. A rebase that goes on there may run commands. */
static int protect_others(struct granting *granting, const char *dir)
{
    static const char *const names[] = {"HEAD",      "index",      "rebase-merge", "rebase-apply",
                                        "sequencer", "MERGE_HEAD", "BISECT_START", "BISECT_LOG"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(names[0]); i++)
        r = protect(granting, dir, names[i], "belongs to another work tree");
    return r;
}

/* The linked work trees but ours. Not all that they have is held: "git gc" shortens the log of
 * each, and locks it for that. Returns 1 where there are too many. */
static int protect_linked(struct granting *granting, const struct repository *found)
{
    const char *own = strrchr(found->git_dir, '/') + 1;
    const struct dirent *entry;
    char worktrees[LIMIT_PATH_BYTES + 16];
    char path[2 * LIMIT_PATH_BYTES];
    DIR *dir;
    int r = 0;

    (void)snprintf(worktrees, sizeof(worktrees), "%s/worktrees", found->common_dir);
    dir = view_open_dir(granting->assembly->view, AT_FDCWD, worktrees, worktrees);
    for (int i = 0; r == 0 && dir && (entry = readdir(dir)); i++) {
        if (*entry->d_name == '.' || strcmp(entry->d_name, own) == 0 ||
            (size_t)snprintf(path, sizeof(path), "%s/%s", worktrees, entry->d_name) >=
                LIMIT_PATH_BYTES)
            continue;
        r = i < WORKTREES_MAX ? protect_others(granting, path) : 1;
    }
    if (dir)
        (void)closedir(dir);
    return r;
}

/* The directory that all work trees share. Who grants it himself has all of it. */
static int grant_common(struct granting *granting, const struct repository *found)
{
    int r = is_granted(granting, found->common_dir, granting->mode);

    if (r == 0) {
        r = protect_others(granting, found->common_dir);
        if (r == 0)
            r = protect_linked(granting, found);
        if (r == 0)
            r = grant(granting, "git-common", found->common_dir, granting->mode);
    }
    return r < 0 ? r : protect_all(granting, found);
}

/* The pattern of a name at any depth below a directory. */
static void name_below(struct strbuf *out, const char *dir, const char *name)
{
    glob_escape(out, dir);
    strbuf_addf(out, "/**/%s", name);
}

/* SECURITY: a name that nobody may read anywhere in the workspace is not shown around it either. */
static int repeat_refusals(struct granting *granting, const char *top)
{
    const struct policy *policy = granting->assembly->policy;
    size_t count = policy->rules.count;
    autostrbuf struct strbuf start = {0};
    int r = 0;

    name_below(&start, policy->workspace, "");
    for (size_t i = 0; r == 0 && !start.failed && i < count; i++) {
        struct path_rule rule = *policy->rules.items[i];
        autostrbuf struct strbuf path = {0};

        if (rule.kind != RULE_PATTERN || rule.read < ACCESS_ASK || !rule.wild ||
            strncmp(rule.path, start.text, start.length) != 0)
            continue;
        name_below(&path, top, rule.path + start.length);
        rule.path = path.failed ? NULL : assembly_keep(granting->assembly, path.text);
        rule.is_repeat = true;
        r = rule.path ? policy_add_found(granting->assembly->policy, &rule, granting->assembly->err)
                      : error_memory(granting->assembly->err);
    }
    return start.failed ? error_memory(granting->assembly->err) : r;
}

static int grant_all(struct granting *granting, const struct repository *found)
{
    const struct policy *policy = granting->assembly->policy;
    bool is_inside = strcmp(found->top, policy->workspace) == 0;
    int r = is_inside ? 0 : grant(granting, "repository", found->top, "ro");

    if (r == 0 && !is_inside)
        r = repeat_refusals(granting, found->top);
    if (r < 0)
        return r;
    if (strcmp(found->common_dir, found->git_dir) != 0)
        return grant_common(granting, found);
    r = grant(granting, "git-dir", found->git_dir, granting->mode);
    return r < 0 ? r : protect_all(granting, found);
}

/* SECURITY: a work tree with places of secrets in it, such as ~/.config or /etc, is no project:
 * what else is there is not on the list yet, and what git keeps of it are copies. */
static bool has_secrets(const struct policy *policy, const char *dir)
{
    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_SECRET && path_is_below((*rule)->path, dir))
            return true;
    }
    return false;
}

int assembly_grant_repository(struct assembly *assembly)
{
    struct repository *found = &assembly->result->repository;
    struct policy *policy = assembly->policy;
    struct granting granting = {.assembly = assembly};
    struct path_decision decisions[PATH_OP_COUNT];
    int r;

    if (policy_number(policy, SETTING_REPOSITORY) == REPOSITORY_NONE ||
        !repository_find(assembly->view, policy->workspace, policy->home, found) ||
        path_is_below(found->common_dir, policy->workspace))
        return 0;
    /* Where the workspace is somewhere else inside, the work tree is not around it. */
    if (policy->settings[SETTING_WORKSPACE_MOUNT].is_set &&
        strcmp(found->top, policy->workspace) != 0)
        return 0;
    if (has_secrets(policy, found->top))
        return 0;
    if (decide_path(policy, policy->workspace, decisions) < 0)
        return error_memory(assembly->err);
    if (decisions[PATH_READ].access != ACCESS_ALLOW)
        return 0;
    granting.mode = decisions[PATH_WRITE].access == ACCESS_ALLOW     ? "rw"
                    : decisions[PATH_WRITE].access == ACCESS_OVERLAY ? "overlay"
                                                                     : "ro";
    granting.layer =
        policy_add_layer(policy, LAYER_BUILTIN, AUTHORITY_BUILTIN, LAYER_REPOSITORY, NULL, NULL);
    if (!granting.layer)
        return error_memory(assembly->err);
    policy->repository = found->top;
    r = grant_all(&granting, found);
    return r == 0 && message_summarize(policy) < 0 ? error_memory(assembly->err) : r;
}
