/* SPDX-License-Identifier: Apache-2.0 */
#include "api/deps.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_dep(struct deps *deps, struct image_dep dep, const char *path, const char *text)
{
    size_t length = strlen(path);
    struct compile_dep item = {.dep = dep,
                               .path = arena_strdup(&deps->arena, path),
                               .text = text ? arena_strdup(&deps->arena, text) : NULL};

    if (map_get(&deps->seen, dep.kind, path, length))
        return;
    if (!item.path || !vec_push(&deps->items, item) ||
        !map_put(&deps->seen, dep.kind, item.path, length, deps))
        deps->failed = true;
}

/* How a path is now: absent, or the same file, directory or kind of file. SECURITY: the plan was
 * made from how it was before; it is kept only if nothing changed since. In the workspace itself
 * something always does, and only that it is there counts. */
static void add_path(struct deps *deps, enum image_dep_kind kind, const char *path)
{
    struct image_dep dep = {.kind = (uint8_t)kind};
    const struct bawn_policy *source = deps->plan->source;
    struct stat status;

    if (lstat(path, &status) < 0) {
        dep.kind = DEP_ABSENT;
    } else {
        dep.dev = status.st_dev;
        dep.ino = status.st_ino;
        dep.mode = status.st_mode;
        dep.ctime_ns = image_time_ns(status.st_ctim);
        if (kind == DEP_GATE && !image_is_settled(dep.ctime_ns, clock_wall()))
            dep.ctime_ns = -1;
        else if (strcmp(path, source->policy.workspace) != 0)
            deps->is_moving |= !image_is_settled(dep.ctime_ns, source->since);
    }
    add_dep(deps, dep, path, NULL);
}

/*
 * A path that a rule names. Where the caller works, by itself: directories
 * there change all the time. Elsewhere by the nearest directory that exists,
 * which rarely changes and stands for all that is in it.
 */
static void add_rule_path(struct deps *deps, const char *path)
{
    const struct policy *policy = deps->plan->plan.policy;
    char dir[LIMIT_PATH_BYTES];
    struct stat status;

    /* The workspace itself comes with what is in it. */
    if (strcmp(path, policy->workspace) == 0)
        return;
    if (path_is_below(path, "/proc") || path_is_below(path, "/sys") || path_is_below(path, "/dev"))
        return;
    (void)snprintf(dir, sizeof(dir), "%s", path);
    do
        path_cut_name(dir);
    while (strcmp(dir, "/") != 0 && lstat(dir, &status) < 0);
    if (strcmp(dir, policy->workspace) == 0) {
        if (!vec_push(&deps->in_workspace, path))
            deps->failed = true;
    } else if (path_is_below(path, policy->home) || path_is_below(path, policy->workspace)) {
        add_path(deps, DEP_PLACE, path);
    } else {
        add_path(deps, DEP_DIR, dir);
    }
}

/* Names that may appear in the workspace: one look tells that none did, most of the time. */
static void add_workspace(struct deps *deps)
{
    const struct policy *policy = deps->plan->plan.policy;
    size_t gate = deps->items.count;

    add_path(deps, DEP_GATE, policy->workspace);
    if (deps->failed)
        return;
    vec_each (&deps->in_workspace, path)
        add_path(deps, DEP_PLACE, *path);
    add_path(deps, DEP_PLACE, policy->workspace);
    deps->items.items[gate].dep.behind = (uint16_t)(deps->items.count - gate - 1);
}

static bool is_shown(const struct plan *plan, const char *path)
{
    vec_each (&plan->mounts, step) {
        if ((step->kind == MOUNT_BIND || step->kind == MOUNT_OVERLAY) &&
            path_is_below(path, step->target))
            return true;
    }
    return false;
}

/* A grant that somebody asked for: it counts when it appears. Those of the profile for
 * the system are there from the beginning, and an empty place needs nothing of the host. */
static bool is_wanted(const struct policy *policy, const struct path_rule *rule)
{
    return rule->kind == RULE_PATH && rule->read != ACCESS_PRIVATE &&
           (rule->layer->authority != AUTHORITY_BUILTIN || path_is_below(rule->path, policy->home));
}

static void add_rules(struct deps *deps)
{
    const struct plan *plan = &deps->plan->plan;

    vec_each (&plan->policy->rules, at) {
        const struct path_rule *rule = *at;

        if (!rule->wild && (is_wanted(plan->policy, rule) || is_shown(plan, rule->path)))
            add_rule_path(deps, rule->path);
    }
}

/* Sockets and devices that are shown. */
static void add_nodes(struct deps *deps)
{
    vec_each (&deps->plan->plan.policy->items, item) {
        if (item->list == LIST_NETWORK_UNIX_SOCKETS || item->list == LIST_DEVICES_ALLOW)
            add_path(deps, DEP_PLACE, item->value);
    }
}

/* The program that makes plans is one of the things that they are made from. */
static void add_self(struct deps *deps)
{
    char self[LIMIT_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return;
    self[length] = '\0';
    add_path(deps, DEP_FILE, self);
}

static void add_files(struct deps *deps)
{
    const struct bawn_policy *policy = deps->plan->source;

    vec_each (&policy->policy.layers, layer) {
        if (!(*layer)->file || *(*layer)->file != '/')
            continue;
        add_path(deps, DEP_FILE, (*layer)->file);
        deps->is_moving |= access((*layer)->file, F_OK) < 0;
    }
    vec_each (&policy->looked_for, path)
        add_path(deps, DEP_FILE, *path);
}

static void add_variables(struct deps *deps)
{
    static const char *const names[] = {"HOME",          "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
                                        "XDG_DATA_HOME", "XDG_STATE_HOME",  "XDG_RUNTIME_DIR",
                                        "USER"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = environ_get(deps->plan->source->environ, names[i]);

        add_dep(deps, (struct image_dep){.kind = value ? DEP_ENV : DEP_NO_ENV}, names[i], value);
    }
}

int deps_collect(struct deps *deps, const struct bawn_plan *plan, struct bawn_error *err)
{
    *deps = (struct deps){.plan = plan};
    add_self(deps);
    add_files(deps);
    add_rules(deps);
    add_nodes(deps);
    add_variables(deps);
    add_workspace(deps);
    return deps->failed ? error_memory(err) : 0;
}

void deps_done(struct deps *deps)
{
    vec_done(&deps->items);
    vec_done(&deps->in_workspace);
    map_done(&deps->seen);
    arena_done(&deps->arena);
}
