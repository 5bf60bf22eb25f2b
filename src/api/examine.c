/* SPDX-License-Identifier: Apache-2.0 */
/* What of a policy would have no effect in silence. */
#include "api/assembly.h"
#include "base/error.h"
#include "base/path.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/explain.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* With those above it. */
static bool make_directory(const char *path)
{
    char made[LIMIT_PATH_BYTES];

    for (size_t i = 1; i < sizeof(made); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(made, path, i);
        made[i] = '\0';
        if (mkdir(made, 0777) < 0 && errno != EEXIST)
            return false;
        if (path[i] == '\0')
            return true;
    }
    return false;
}

static void refuse_missing(struct assembly *assembly, const struct path_rule *rule)
{
    report_add(assembly->report, BAWN_ERROR, "policy.missing_path", rule->origin, "there is no %s",
               rule->path);
    if (strchr(rule->path, ':'))
        report_hint(assembly->report,
                    "bawn shows a path where it is on the host: give the path alone, without ':'");
    else if (rule->write == ACCESS_OVERLAY)
        report_hint(assembly->report, "mend the path, or make the directory yourself");
    else if (rule->write < ACCESS_ASK)
        report_hint(assembly->report, "mend the path; --rw-new makes a directory there");
    else
        report_hint(assembly->report, "mend the path");
}

static void refuse_new(struct assembly *assembly, const struct path_rule *rule)
{
    report_add(assembly->report, BAWN_ERROR, "policy.new_in_overlay", rule->origin,
               "%s would be made on the host, and with sandbox.overlay_all nothing changes there",
               rule->path);
    report_hint(assembly->report, "leave it out, or make the directory yourself");
}

static int refuse_making(struct assembly *assembly, const struct path_rule *rule)
{
    int r = error_errno(assembly->err, errno, "make %s", rule->path);

    error_hint(assembly->err, "%s asks for this directory: make it yourself, or take that line out",
               rule->origin.file ? rule->origin.file : rule->layer->name);
    return r;
}

/* A missing path on the command line is an error. A run makes the directories that it is to make.
 */
int assembly_examine_missing(struct assembly *assembly)
{
    vec_each (&assembly->policy->rules, each) {
        const struct path_rule *rule = *each;

        if ((rule->layer->id != LAYER_FLAGS && !rule->is_new) || rule->kind != RULE_PATH ||
            rule->link || rule->read > ACCESS_OVERLAY ||
            view_look(assembly->view, rule->path) != LOOK_ABSENT)
            continue;
        if (!rule->is_new) {
            refuse_missing(assembly, rule);
        } else if (policy_number(assembly->policy, SETTING_OVERLAY_ALL)) {
            /* A preset's the command makes itself. */
            if (rule->layer->id != LAYER_BUILTIN)
                refuse_new(assembly, rule);
        } else if (assembly->load->makes) {
            assembly->view->is_past = true;
            if (!make_directory(rule->path))
                return refuse_making(assembly, rule);
        }
    }
    return 0;
}

/* A workspace that is one of the private trees, such as /tmp, is empty inside: worth a word. */
static int examine_workspace(struct assembly *assembly)
{
    struct path_decision decisions[PATH_OP_COUNT];
    const struct path_decision *read = &decisions[PATH_READ];

    if (decide_path(assembly->policy, assembly->policy->workspace, decisions) < 0)
        return error_memory(assembly->err);
    if (read->access != ACCESS_PRIVATE || !read->rule)
        return 0;
    report_add(assembly->report, BAWN_WARNING, "load.private_workspace", read->rule->origin,
               "the workspace %s is private in this policy: inside it is empty",
               assembly->policy->workspace);
    report_hint(assembly->report, "work in a directory below it, or name it with --rw");
    return 0;
}

/* In a file it is for all that the file is for; but who asks for it now means this run. */
static void examine_layer_size(struct assembly *assembly)
{
    const struct setting *setting = &assembly->policy->settings[SETTING_LIMITS_LAYER_SIZE];

    if (!setting->is_set || setting->layer->id < LAYER_ENVIRONMENT)
        return;
    vec_each (&assembly->policy->rules, rule) {
        if ((*rule)->write == ACCESS_OVERLAY)
            return;
    }
    report_add(assembly->report, BAWN_WARNING, "load.no_layers", setting->origin,
               "%s has no effect: there is no overlay",
               setting_table[SETTING_LIMITS_LAYER_SIZE].key);
    report_hint(assembly->report, "leave it out, or add --overlay DIRECTORY");
}

/* The overlay of the user's that a path lies in, if the user named one. */
static const struct path_rule *overlay_around(const struct policy *policy, const char *path)
{
    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_PATH && (*rule)->write == ACCESS_OVERLAY && !(*rule)->is_repeat &&
            (*rule)->layer->authority >= AUTHORITY_USER && path_is_below(path, (*rule)->path) &&
            strcmp(path, (*rule)->path) != 0)
            return *rule;
    }
    return NULL;
}

/* The more specific grant wins: what is written there is written for real, in the middle of what
 * the user wants kept apart. */
static int examine_overlays(struct assembly *assembly)
{
    const struct policy *policy = assembly->policy;
    struct path_decision decisions[PATH_OP_COUNT];

    vec_each (&policy->rules, rule) {
        const struct path_rule *around =
            (*rule)->kind == RULE_PATH && (*rule)->write == ACCESS_ALLOW
                ? overlay_around(policy, (*rule)->path)
                : NULL;

        if (!around)
            continue;
        if (decide_path(policy, (*rule)->path, decisions) < 0)
            return error_memory(assembly->err);
        if (decisions[PATH_WRITE].access != ACCESS_ALLOW || decisions[PATH_WRITE].rule != *rule)
            continue;
        report_add(
            assembly->report, BAWN_WARNING, "policy.rw_in_overlay", around->origin,
            "%s is written for real, though it lies in the overlay %s: another rule grants it",
            (*rule)->path, around->path);
        report_hint(assembly->report, "name it as an overlay, too; sandbox.overlay_all: true makes "
                                      "overlays of all grants");
    }
    return 0;
}

int assembly_examine(struct assembly *assembly)
{
    int r = examine_workspace(assembly);

    if (r == 0)
        r = examine_overlays(assembly);

    examine_layer_size(assembly);
    if (r == 0 && explain_lost(assembly->policy, assembly->report) < 0)
        r = error_memory(assembly->err);
    return r;
}
