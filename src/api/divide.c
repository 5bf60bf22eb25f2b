/* SPDX-License-Identifier: Apache-2.0 */
/* Overlays over trees in which something is mounted. */
#include "api/assembly.h"
#include "base/error.h"
#include "base/mounts.h"
#include "base/path.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/message.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How it works: KERNEL: one overlay cannot show what is mounted below its tree, and the root has to
 * be a tree of the host's. So the tree itself is read-only, and each directory in it in which
 * nothing is mounted is an overlay of its own; one in which something is mounted is divided the
 * same way, from the top down. A part is a rule like that of the whole, in its layer, and it is
 * made only where that rule decides: no part wins against anybody against whom the whole would
 * lose.
 */
struct dividing {
    struct assembly *assembly;
    const struct path_rule *rule; /* of the whole */
    const char *list;
    VEC(const char *) left;    /* directories in which something is mounted, the upper ones first */
    VEC(const char *) whole;   /* those of one directory in which nothing is */
    VEC(const char *) outdone; /* grants of weaker layers that the rule outdoes */
    size_t parts;
};

enum { PARTS_MAX = 48 }; /* of all overlays together; LAYERS_TREES_MAX is for the others, too */

/* Of what the kernel makes an overlay. What else is mounted can be read. KERNEL: for root the trees
 * are mapped to other ids, which an overlay is not, and tmpfs only since 6.3. */
static bool can_be_layered(const char *type)
{
    static const char *const types[] = {"ext2", "ext3",     "ext4",  "xfs",    "btrfs",
                                        "f2fs", "bcachefs", "tmpfs", "overlay"};
    size_t count = sizeof(types) / sizeof(types[0]) - view_is_root();

    for (size_t i = 0; i < count; i++) {
        if (strcmp(types[i], type) == 0)
            return true;
    }
    return false;
}

/* What a path is in, and where something is mounted below it; "": nowhere. */
struct mounted {
    char type[32]; /* of the file system */
    char below[LIMIT_PATH_BYTES];
};

static void find_mounts(const char *list, const char *path, struct mounted *ret_mounted)
{
    struct mounts_row row;
    size_t length = 0;

    *ret_mounted = (struct mounted){0};
    while (mounts_next(&list, &row)) {
        /* Of several at one place the last one is on top. */
        if (path_is_below(path, row.point) && strlen(row.point) >= length) {
            length = strlen(row.point);
            memcpy(ret_mounted->type, row.type, sizeof(row.type));
        } else if (!*ret_mounted->below && path_is_below(row.point, path)) {
            memcpy(ret_mounted->below, row.point, sizeof(row.point));
        }
    }
}

static int add_part(struct dividing *dividing, const char *path, const char *mode,
                    const char *reason)
{
    struct assembly *assembly = dividing->assembly;
    struct path_rule part = *dividing->rule;

    (void)rule_set_mode(&part, mode);
    part.is_new = false;
    part.is_repeat = true;
    part.path = assembly_keep(assembly, path);
    part.reason = reason;
    return part.path ? policy_add_found(assembly->policy, &part, assembly->err)
                     : error_memory(assembly->err);
}

/* 1: what happens there is decided by the rule of the whole. */
static int is_decided(const struct dividing *dividing, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    if (decide_path(dividing->assembly->policy, path, decisions) < 0)
        return error_memory(dividing->assembly->err);
    return decisions[PATH_READ].access == ACCESS_ALLOW &&
           decisions[PATH_WRITE].access == ACCESS_OVERLAY &&
           decisions[PATH_READ].rule == dividing->rule &&
           decisions[PATH_WRITE].rule == dividing->rule;
}

static int sort_entry(struct dividing *dividing, const char *path)
{
    struct view *view = dividing->assembly->view;
    struct mounted mounted;
    const char *kept;
    int r;

    if (view_look(view, path) != LOOK_DIRECTORY || view_is_closed(view, path, false))
        return 0;
    find_mounts(dividing->list, path, &mounted);
    r = can_be_layered(mounted.type) ? is_decided(dividing, path) : 0;
    if (r <= 0)
        return r;
    kept = assembly_keep(dividing->assembly, path);
    if (!kept ||
        !(*mounted.below ? vec_push(&dividing->left, kept) : vec_push(&dividing->whole, kept)))
        return error_memory(dividing->assembly->err);
    return 0;
}

static int sort_entries(struct dividing *dividing, const char *path)
{
    DIR *dir = view_open_dir(dividing->assembly->view, AT_FDCWD, path, path);
    const struct dirent *entry;
    char name[LIMIT_PATH_BYTES];
    int r = 0;

    dividing->whole.count = 0;
    while (r == 0 && dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (size_t)snprintf(name, sizeof(name), "%s/%s", strcmp(path, "/") == 0 ? "" : path,
                             entry->d_name) >= sizeof(name))
            continue;
        r = sort_entry(dividing, name);
    }
    if (dir)
        (void)closedir(dir);
    return r;
}

static void tell_many(const struct dividing *dividing, const char *path)
{
    struct bawn_report *report = dividing->assembly->report;

    report_add(
        report, BAWN_WARNING, "policy.many_overlays", dividing->rule->origin,
        "%s can only be read: something is mounted in it, and there are no overlays left for "
        "the %zu directories in it",
        path, dividing->whole.count);
    report_hint(report, "at most %d are made; name the directories that the command is to write",
                PARTS_MAX);
}

/* A directory becomes overlays as a whole, or not at all: which ones there are depends on no order.
 */
static int divide(struct dividing *dividing, const char *path)
{
    int r = sort_entries(dividing, path);

    if (r < 0)
        return r;
    if (dividing->parts + dividing->whole.count > PARTS_MAX) {
        tell_many(dividing, path);
        return 0;
    }
    dividing->parts += dividing->whole.count;
    vec_each (&dividing->whole, part) {
        if (r == 0)
            r = add_part(dividing, *part, "overlay", NULL);
    }
    return r;
}

static int compare_paths(const void *a, const void *b)
{
    const char *one = *(const char *const *)a;
    const char *other = *(const char *const *)b;
    size_t depth = path_depth(one);
    size_t other_depth = path_depth(other);

    return depth != other_depth ? (depth < other_depth ? -1 : 1) : strcmp(one, other);
}

/* A stronger layer's overlay stands against weaker grants further down, and so do its parts: that
 * is looked for before there are any. */
static int find_outdone(struct dividing *dividing)
{
    const struct policy *policy = dividing->assembly->policy;

    dividing->outdone.count = 0;
    vec_each (&policy->rules, each) {
        const struct path_rule *rule = *each;
        struct path_decision decisions[PATH_OP_COUNT];

        if (rule->kind != RULE_PATH || rule->write != ACCESS_ALLOW ||
            !path_is_below(rule->path, dividing->rule->path))
            continue;
        if (decide_path(policy, rule->path, decisions) < 0)
            return error_memory(dividing->assembly->err);
        if (decisions[PATH_WRITE].access == ACCESS_OVERLAY &&
            decisions[PATH_WRITE].rule == dividing->rule &&
            !vec_push(&dividing->outdone, rule->path))
            return error_memory(dividing->assembly->err);
    }
    return 0;
}

static int cover_outdone(struct dividing *dividing)
{
    int r = 0;

    vec_each (&dividing->outdone, path) {
        struct path_decision decisions[PATH_OP_COUNT];

        if (r == 0 && decide_path(dividing->assembly->policy, *path, decisions) < 0)
            r = error_memory(dividing->assembly->err);
        if (r == 0 && decisions[PATH_WRITE].access == ACCESS_ALLOW)
            r = add_part(dividing, *path, "overlay", NULL);
    }
    return r;
}

static int divide_all(struct dividing *dividing)
{
    int r = divide(dividing, dividing->rule->path);

    for (size_t i = 0; r == 0 && i < dividing->left.count; i++) {
        qsort(dividing->left.items + i, dividing->left.count - i, sizeof(const char *),
              compare_paths);
        r = divide(dividing, dividing->left.items[i]);
    }
    dividing->left.count = 0;
    return r;
}

static const char *explain(struct assembly *assembly, const struct path_rule *rule,
                           const struct mounted *mounted)
{
    char text[LIMIT_PATH_BYTES + 64];

    if (strcmp(rule->path, "/") == 0)
        return "each directory in it is an overlay of its own";
    report_add(assembly->report, BAWN_WARNING, "policy.divided_overlay", rule->origin,
               "%s is mounted in %s: there each directory with nothing mounted in it is an "
               "overlay of its own; files beside such directories can only be read",
               mounted->below, rule->path);
    report_hint(assembly->report, "name the directories that the command is to write");
    (void)snprintf(text, sizeof(text), "%s is mounted in it", mounted->below);
    return assembly_keep(assembly, text);
}

int assembly_divide_overlays(struct assembly *assembly)
{
    struct policy *policy = assembly->policy;
    struct dividing dividing = {.assembly = assembly};
    size_t count = policy->rules.count;
    struct mounted mounted;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct path_rule *rule = policy->rules.items[i];

        if (rule->kind != RULE_PATH || rule->wild || rule->write != ACCESS_OVERLAY ||
            view_look(assembly->view, rule->path) != LOOK_DIRECTORY)
            continue;
        dividing.list = view_mounts(assembly->view, rule->path);
        dividing.rule = rule;
        find_mounts(dividing.list, rule->path, &mounted);
        if (!*mounted.below && strcmp(rule->path, "/") != 0)
            continue;
        r = find_outdone(&dividing);
        if (r == 0)
            r = divide_all(&dividing);
        if (r == 0)
            r = add_part(&dividing, rule->path, "ro", explain(assembly, rule, &mounted));
        if (r == 0)
            r = cover_outdone(&dividing);
    }
    vec_done(&dividing.left);
    vec_done(&dividing.whole);
    vec_done(&dividing.outdone);
    return r == 0 && policy->rules.count > count && message_summarize(policy) < 0
               ? error_memory(assembly->err)
               : r;
}
