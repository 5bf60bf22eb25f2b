/* SPDX-License-Identifier: Apache-2.0 */
/* What a command may read while it is observed, so that it goes on past the first thing that the
 * policy hides: sandbox.process.observe. */
#include "api/assembly.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/report.h"
#include "policy/build.h"
#include "policy/home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * How it works: reads are static, as far as nobody stronger says otherwise, and the home
 * stays the sandbox's own, so that programs write there as in any run. What is in the real one
 * is shown in it, read-only. SECURITY: these are rules of the profile, the weakest there are:
 * they open no secret and nothing that anybody denies.
 */
/* Root's trees are given their ids one by one, and PACKET_FDS_MAX is for all of them. What is not
 * shown is refused, and told when it is looked for. */
enum { ENTRIES_MAX = 150 };

struct observing {
    struct assembly *assembly;
    const struct layer *layer;
    size_t count;
};

static bool is_observed(const struct policy *policy)
{
    return policy_number(policy, SETTING_PROCESS_OBSERVE) != 0;
}

/* In the name of who observes. Where that is locked or refused it stays as it is. */
static int set(struct assembly *assembly, enum setting_id id, const char *text)
{
    const struct setting *observe = &assembly->policy->settings[SETTING_PROCESS_OBSERVE];
    struct bawn_report *unheard = report_new();
    int r = unheard
                ? policy_set(assembly->policy, observe->layer, id, text, observe->origin, unheard)
                : -ENOMEM;

    bawn_report_free(unheard);
    return r < 0 ? error_memory(assembly->err) : 0;
}

/* A workspace that is shown elsewhere needs a root of the sandbox's own: then only the home is
 * lent.
 */
static int lend_reads(struct assembly *assembly)
{
    struct policy *policy = assembly->policy;
    struct setting before = policy->settings[SETTING_READS];
    int r = set(assembly, SETTING_READS, "static");

    assembly->lends_home = r == 0 && policy_number(policy, SETTING_READS) == READS_STATIC;
    if (policy->settings[SETTING_WORKSPACE_MOUNT].is_set)
        policy->settings[SETTING_READS] = before;
    return r;
}

int assembly_observe(struct assembly *assembly)
{
    const struct setting *mode = &assembly->policy->settings[SETTING_NETWORK_MODE];
    int r;

    if (!is_observed(assembly->policy))
        return 0;
    r = lend_reads(assembly);
    /* A network that nobody may use tells who wanted to. */
    if (r == 0 && policy_number(assembly->policy, SETTING_NETWORK_MODE) == NETWORK_NONE &&
        (!mode->is_set || mode->layer->authority == AUTHORITY_BUILTIN))
        r = set(assembly, SETTING_NETWORK_MODE, "proxy");
    return r;
}

static bool has_rule(const struct policy *policy, const char *path)
{
    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_PATH && strcmp((*rule)->path, path) == 0)
            return true;
    }
    return false;
}

/* Directories of which programs make new entries: they stay the sandbox's own. */
static bool holds_many(const char *name)
{
    static const char *const names[] = {".config", ".local", ".local/share", ".local/state"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The sandbox has its own of these, see git_identity.c. */
static bool is_made(const char *name)
{
    return strcmp(name, ".gitconfig") == 0 || strcmp(name, ".config/git") == 0;
}

static int show(struct observing *observing, const char *path)
{
    struct policy *policy = observing->assembly->policy;
    struct path_rule rule = {.kind = RULE_PATH,
                             .name = OBSERVED_RULE,
                             .layer = observing->layer,
                             .origin = policy->settings[SETTING_PROCESS_OBSERVE].origin};

    (void)rule_set_mode(&rule, "ro");
    rule.path = rule.spelled = assembly_keep(observing->assembly, path);
    observing->count++;
    return rule.path ? policy_add_found(policy, &rule, observing->assembly->err)
                     : error_memory(observing->assembly->err);
}

static int show_entries(struct observing *observing, const char *dir);

static int show_entry(struct observing *observing, const char *dir, const char *name)
{
    const struct policy *policy = observing->assembly->policy;
    char path[LIMIT_PATH_BYTES];
    struct stat status;
    const char *rest;
    int length = snprintf(path, sizeof(path), "%s/%s", dir, name);

    if (length < 0 || (size_t)length >= sizeof(path) || has_rule(policy, path) ||
        !view_stat(observing->assembly->view, path, &status) ||
        (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode)))
        return 0;
    rest = path + strlen(policy->home) + 1;
    if (is_made(rest))
        return 0;
    return S_ISDIR(status.st_mode) && holds_many(rest) ? show_entries(observing, path)
                                                       : show(observing, path);
}

static int show_entries(struct observing *observing, const char *dir)
{
    DIR *entries = view_open_dir(observing->assembly->view, AT_FDCWD, dir, dir);
    const struct dirent *entry;
    int r = 0;

    /* What cannot be listed is hidden, and told when it is looked for. */
    while (r == 0 && entries && observing->count < ENTRIES_MAX && (entry = readdir(entries))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = show_entry(observing, dir, entry->d_name);
    }
    if (entries)
        (void)closedir(entries);
    return r;
}

int assembly_observe_home(struct assembly *assembly)
{
    struct policy *policy = assembly->policy;
    struct observing observing = {.assembly = assembly};

    if (!assembly->lends_home)
        return 0;
    /* Mount points would stay behind in one that is kept. */
    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_PATH && (*rule)->read == ACCESS_PRIVATE && !(*rule)->is_kept &&
            (*rule)->layer->authority == AUTHORITY_BUILTIN &&
            strcmp((*rule)->path, policy->home) == 0)
            observing.layer = (*rule)->layer;
    }
    return observing.layer ? show_entries(&observing, policy->home) : 0;
}
