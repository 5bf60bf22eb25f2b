/* SPDX-License-Identifier: Apache-2.0 */
/* What a command used, as rules to propose. */
#include "api/api.h"
#include "api/learned.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/message.h"
#include "policy/ruleword.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * How it works: each event is kept as it came, bounded. To propose, the policy as it is is asked
 * about each path: what it grants is nothing new, what a list or a rule refuses stays
 * refused and is named. Of the rest, first what presets for toolchains cover
 * becomes the preset, then the paths are folded (policy/learned.h).
 */
enum { UNLEARNED_MAX = 16 };

/* One question about all that was used. */
struct proposer {
    struct bawn_learned *learned;
    const struct bawn_policy *policy; /* as it is */
    struct learned_paths wanted;      /* what it does not grant */
    struct bawn_error *err;
};

static int unlearn(struct proposer *proposer, const char *operation, const char *what,
                   const char *why, const char *program, uint64_t uses)
{
    struct bawn_learned *learned = proposer->learned;
    struct bawn_unlearned unlearned = {.operation = operation, .uses = uses};

    if (learned->unlearned.count == UNLEARNED_MAX) {
        learned->left_out += uses;
        return 0;
    }
    unlearned.what = strdup(what);
    unlearned.why = strdup(why);
    unlearned.program = strdup(program);
    if (unlearned.what && unlearned.why && unlearned.program &&
        vec_push(&learned->unlearned, unlearned))
        return 0;
    free((char *)unlearned.what);
    free((char *)unlearned.why);
    free((char *)unlearned.program);
    return error_memory(proposer->err);
}

static int propose(struct proposer *proposer, enum bawn_rule_kind kind, const char *text,
                   const struct bawn_evidence *evidence)
{
    struct bawn_learned *learned = proposer->learned;
    struct bawn_rule rule = {.kind = kind, .text = strdup(text)};
    struct bawn_evidence kept = *evidence;

    kept.program = strdup(evidence->program);
    kept.first = strdup(evidence->first);
    if (rule.text && kept.program && kept.first && vec_push(&learned->rules, rule)) {
        if (vec_push(&learned->evidence, kept))
            return 0;
        learned->rules.count--;
    }
    free((char *)rule.text);
    free((char *)kept.program);
    free((char *)kept.first);
    return error_memory(proposer->err);
}

/* Directories of the system, of which nothing is proposed to be written. */
static bool is_system(const char *path)
{
    static const char *const places[] = {"/usr",   "/etc",   "/bin",    "/sbin", "/lib",
                                         "/lib32", "/lib64", "/libx32", "/boot", "/nix"};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (path_is_below(path, places[i]))
            return true;
    return false;
}

/* Places of the kernel's, and those whose content is nobody's to grant. */
static bool is_fleeting(const struct policy *policy, const char *path)
{
    static const char *const places[] = {"/proc", "/sys", "/dev", "/run"};
    char cache[LIMIT_PATH_BYTES];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (path_is_below(path, places[i]))
            return true;
    (void)snprintf(cache, sizeof(cache), "%.4000s/.cache", policy->home);
    return path_is_below(path, cache);
}

/* SECURITY: whether a directory may be granted as a whole because of what was used in it. */
static bool may_grant_dir(void *context, const char *dir)
{
    static const char *const holders[] = {"/.config", "/.local", "/.local/share", "/.local/state",
                                          "/.cache"};
    const struct policy *policy = context;
    size_t home = strlen(policy->home);
    size_t depth = path_depth(dir);

    if (depth < 2 || rule_too_wide(policy, dir) || path_is_below(policy->workspace, dir) ||
        is_fleeting(policy, dir))
        return false;
    /* /home/NAME, /var/lib, /usr/share. */
    if (depth == 2 && (path_is_below(dir, "/home") || path_is_below(dir, "/var") || is_system(dir)))
        return false;
    for (size_t i = 0; i < sizeof(holders) / sizeof(holders[0]); i++)
        if (policy_is_in_home(policy, dir) && strcmp(dir + home, holders[i]) == 0)
            return false;
    return true;
}

/* What would be refused of a path, and by what. False: it is not there, or nothing is. */
struct judged {
    const struct path_rule *refuses; /* a list or a rule says no */
    bool is_granted;
    bool is_own; /* the sandbox has its own there */
};

static int judge(const struct proposer *proposer, const char *path, enum path_op op,
                 struct judged *ret_judged)
{
    const struct policy *policy = &proposer->policy->policy;
    struct path_decision decisions[PATH_OP_COUNT];
    char resolved[LIMIT_PATH_BYTES];
    const struct path_rule *listed;
    struct tree_answer answer;

    *ret_judged = (struct judged){0};
    if (resolve_path(NULL, "/", path, &view_passing, resolved, NULL) < 0)
        return -ENOENT;
    if (pathtree_ask(&policy->tree, resolved, &answer) < 0)
        return -ENOMEM;
    decide_answer(policy, &answer, decisions);
    listed = answer.best[CLASS_LISTED][op].rule;
    ret_judged->is_granted = decisions[op].access == ACCESS_ALLOW ||
                             (decisions[op].rule && rule_is_copy(decisions[op].rule));
    ret_judged->is_own = decisions[op].access == ACCESS_PRIVATE;
    if (decisions[op].rule && decide_refuses(&decisions[op], op) &&
        !(op == PATH_WRITE && decisions[op].rule->read_only))
        ret_judged->refuses = decisions[op].rule;
    /* In a home of its own the command may have what the lists name, and nobody else's. */
    else if (!ret_judged->is_granted && listed &&
             (op == PATH_READ ? listed->read : listed->write) >= ACCESS_ASK)
        ret_judged->refuses = listed;
    return 0;
}

static int refuse_by_rule(struct proposer *proposer, const struct learned_path *used,
                          const struct path_rule *rule)
{
    autostrbuf struct strbuf why = {0};

    message_rule_label(rule, &why);
    if (why.failed)
        return error_memory(proposer->err);
    return unlearn(proposer, used->writes ? "write" : "read", used->path, why.text ? why.text : "",
                   used->program, used->uses);
}

/* A path inside is where the workspace is inside. */
static const char *outside(const struct policy *policy, const char *path,
                           char buffer[static LIMIT_PATH_BYTES])
{
    const struct setting *at = &policy->settings[SETTING_WORKSPACE_MOUNT];

    return at->is_set && at->text
               ? path_moved(path, at->text, policy->workspace, buffer, LIMIT_PATH_BYTES)
               : path;
}

static int want_read(struct proposer *proposer, const struct learned_path *used, const char *path)
{
    const struct policy *policy = &proposer->policy->policy;
    struct judged judged;
    struct stat status;
    int r = judge(proposer, path, PATH_READ, &judged);

    if (r < 0)
        return r == -ENOENT ? 0 : error_memory(proposer->err);
    if (judged.refuses)
        return refuse_by_rule(proposer, used, judged.refuses);
    if (judged.is_granted || strcmp(path, policy->home) == 0)
        return 0;
    if (stat(path, &status) < 0)
        return unlearn(proposer, "read", path, "gone, or it has a name that no policy can have",
                       used->program, used->uses);
    if (S_ISDIR(status.st_mode) && !may_grant_dir((void *)policy, path) &&
        !is_fleeting(policy, path))
        return unlearn(proposer, "read", path, "a whole directory that is too wide to grant",
                       used->program, used->uses);
    r = learned_add(&proposer->wanted, path, false, S_ISDIR(status.st_mode), used->program,
                    used->uses);
    return r < 0 ? error_memory(proposer->err) : 0;
}

/* What is to be written, or the directory that it is to be made in. */
static int want_write(struct proposer *proposer, const struct learned_path *used, const char *path)
{
    const struct policy *policy = &proposer->policy->policy;
    char grant[LIMIT_PATH_BYTES];
    struct judged judged;
    struct stat status;
    int r = judge(proposer, path, PATH_WRITE, &judged);
    bool is_dir;

    if (r < 0)
        return r == -ENOENT ? 0 : error_memory(proposer->err);
    if (judged.refuses)
        return refuse_by_rule(proposer, used, judged.refuses);
    if (judged.is_granted)
        return 0;
    (void)snprintf(grant, sizeof(grant), "%s", path);
    while (stat(grant, &status) < 0 && path_depth(grant) > 0)
        path_cut_name(grant);
    is_dir = S_ISDIR(status.st_mode);
    /* The home of its own takes it, unless the file is read there, too: then it is shown. */
    if (judged.is_own) {
        vec_each (&proposer->wanted.all, wanted) {
            if (strcmp(wanted->path, path) == 0)
                wanted->writes = true;
        }
        return 0;
    }
    if (access(grant, W_OK) < 0)
        return unlearn(proposer, "write", path, "you cannot write it yourself", used->program,
                       used->uses);
    if (is_system(grant) || (is_dir && !may_grant_dir((void *)policy, grant)))
        return unlearn(proposer, "write", path, "the directory is too wide to be written",
                       used->program, used->uses);
    r = learned_add(&proposer->wanted, grant, true, is_dir, used->program, used->uses);
    return r < 0 ? error_memory(proposer->err) : 0;
}

/* The file of the command itself, where PATH leads to it. */
static bool find_command(const struct proposer *proposer, const struct bawn_load *load,
                         char ret_path[static LIMIT_PATH_BYTES])
{
    const struct bawn_learned *learned = proposer->learned;
    const char *dirs = environ_get(load->environ, "PATH");
    char buffer[LIMIT_PATH_BYTES];

    if (strchr(learned->command, '/')) {
        autofree char *path = path_normalize(learned->cwd, learned->command);

        (void)snprintf(ret_path, LIMIT_PATH_BYTES, "%s",
                       path ? outside(&proposer->policy->policy, path, buffer) : "");
        return path && strlen(path) < LIMIT_PATH_BYTES;
    }
    while (dirs && *dirs && *learned->command) {
        size_t length = strcspn(dirs, ":");

        (void)snprintf(ret_path, LIMIT_PATH_BYTES, "%.*s/%s", (int)length, dirs, learned->command);
        if (*dirs == '/' && access(ret_path, X_OK) == 0)
            return true;
        dirs += length + (dirs[length] == ':');
    }
    return false;
}

/* Nobody sees how pid 1 runs it, unless root is looking. */
static int add_command(struct proposer *proposer, const struct bawn_load *load)
{
    struct bawn_learned *learned = proposer->learned;
    char path[LIMIT_PATH_BYTES];
    const char *name;
    int r;

    if (!learned->command || !find_command(proposer, load, path))
        return 0;
    vec_each (&learned->paths.all, used) {
        if (!used->writes && strcmp(used->path, path) == 0)
            return learned_take_interpreters(learned, path, used->program);
    }
    name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    r = learned_add(&learned->paths, path, false, false, name, 1);
    return r == 0 ? learned_take_interpreters(learned, path, name) : r;
}

/* Reads first: what is written of the home depends on them. */
static int sift(struct proposer *proposer)
{
    const struct policy *policy = &proposer->policy->policy;
    char buffer[LIMIT_PATH_BYTES];
    int r = 0;

    for (int pass = 0; r == 0 && pass < 2; pass++) {
        vec_each (&proposer->learned->paths.all, used) {
            const char *path = outside(policy, used->path, buffer);

            if (r == 0 && used->writes == (pass == 1))
                r = pass ? want_write(proposer, used, path) : want_read(proposer, used, path);
        }
    }
    return r;
}

static int load_with(struct proposer *proposer, const struct bawn_load *load, const char *preset,
                     struct bawn_policy **ret_policy)
{
    struct bawn_load more = *load;
    char *presets[64];

    more.makes = more.matches = false;
    if (preset) {
        if (load->presets.count + 1 > sizeof(presets) / sizeof(presets[0]))
            return -E2BIG;
        if (load->presets.count)
            memcpy(presets, load->presets.items, load->presets.count * sizeof(*presets));
        presets[load->presets.count] = (char *)preset;
        more.presets.items = presets;
        more.presets.count = load->presets.count + 1;
    }
    return bawn_policy_load(&more, ret_policy, NULL, proposer->err);
}

/* Moves what a policy with a preset grants out of what is wanted, or counts it. */
static size_t take_granted(struct proposer *proposer, const struct bawn_policy *with, bool takes,
                           struct bawn_evidence *evidence)
{
    struct proposer other = {.policy = with};
    struct learned_paths *wanted = &proposer->wanted;
    size_t kept = 0;
    size_t count = 0;

    for (size_t i = 0; i < wanted->all.count; i++) {
        struct learned_path *path = &wanted->all.items[i];
        struct judged judged;

        if (judge(&other, path->path, path->writes ? PATH_WRITE : PATH_READ, &judged) < 0 ||
            !judged.is_granted) {
            wanted->all.items[kept++] = *path;
            continue;
        }
        count += 1 + (path->writes ? 1U : 0U);
        evidence->paths++;
        evidence->uses += path->uses;
        if (!takes) {
            wanted->all.items[kept++] = *path;
            continue;
        }
        if (!evidence->first) {
            evidence->first = strdup(path->path);
            evidence->program = strdup(path->program);
        }
        free(path->path);
        free(path->first);
    }
    wanted->all.count = kept;
    return count;
}

/* Presets for toolchains: what one of them is for need not be listed. Those of agents open a login,
 * and are for who runs the agent to name. */
static int propose_presets(struct proposer *proposer, const struct bawn_load *load)
{
    static const char *const presets[] = {"node", "python", "rust", "go", "java", "c"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(presets) / sizeof(presets[0]); i++) {
        struct bawn_policy *with = NULL;
        struct bawn_evidence evidence = {0};

        if (proposer->wanted.all.count == 0)
            break;
        r = load_with(proposer, load, presets[i], &with);
        /* One read is a line of its own: narrower than a preset. */
        if (r == 0 && take_granted(proposer, with, false, &evidence) > 1) {
            evidence = (struct bawn_evidence){0};
            (void)take_granted(proposer, with, true, &evidence);
            r = evidence.first && evidence.program
                    ? propose(proposer, BAWN_RULE_PRESET, presets[i], &evidence)
                    : error_memory(proposer->err);
        }
        free((char *)evidence.first);
        free((char *)evidence.program);
        bawn_policy_free(with);
    }
    return r;
}

static void drop(struct learned_paths *paths, size_t index)
{
    free(paths->all.items[index].path);
    free(paths->all.items[index].first);
    paths->all.count--;
    memmove(&paths->all.items[index], &paths->all.items[index + 1],
            (paths->all.count - index) * sizeof(*paths->all.items));
}

/* Caches and places of the kernel's are only there for presets. */
static void drop_fleeting(struct proposer *proposer)
{
    struct learned_paths *wanted = &proposer->wanted;

    for (size_t i = wanted->all.count; i-- > 0;) {
        if (is_fleeting(&proposer->policy->policy, wanted->all.items[i].path))
            drop(wanted, i);
    }
}

/* A grant of a link's name grants what it leads to. */
static void drop_led_to(struct proposer *proposer)
{
    struct learned_paths *wanted = &proposer->wanted;

    for (size_t i = wanted->all.count; i-- > 0;) {
        const struct learned_path *link = &wanted->all.items[i];
        char resolved[LIMIT_PATH_BYTES];
        size_t at = 0;

        if (resolve_path(NULL, "/", link->path, &view_passing, resolved, NULL) < 0 ||
            strcmp(resolved, link->path) == 0)
            continue;
        while (at < wanted->all.count && (wanted->all.items[at].writes != link->writes ||
                                          strcmp(wanted->all.items[at].path, resolved) != 0))
            at++;
        if (at == wanted->all.count)
            continue;
        drop(wanted, at);
        i -= at < i ? 1 : 0;
    }
}

static int propose_paths(struct proposer *proposer)
{
    int r;

    drop_fleeting(proposer);
    drop_led_to(proposer);
    r = learned_fold(&proposer->wanted, may_grant_dir, (void *)&proposer->policy->policy);
    if (r < 0)
        return error_memory(proposer->err);
    vec_each (&proposer->wanted.all, path) {
        struct bawn_evidence evidence = {.program = path->program,
                                         .first = path->first ? path->first : path->path,
                                         .uses = path->uses,
                                         .paths = path->paths};

        if (r == 0)
            r = propose(proposer, path->writes ? BAWN_RULE_WRITE : BAWN_RULE_READ, path->path,
                        &evidence);
    }
    proposer->learned->left_out += proposer->wanted.left_out;
    return r;
}

/* Whether a name was looked up for a connection that was seen itself. */
static bool is_asked_with_port(const struct bawn_learned *learned, const struct use *lookup)
{
    size_t length = strlen(lookup->what);

    vec_each (&learned->hosts, host) {
        if (!host->is_lookup && strncmp(host->what, lookup->what, length) == 0 &&
            host->what[length] == ':')
            return true;
    }
    return false;
}

static int propose_host(struct proposer *proposer, const struct bawn_policy *policy,
                        const struct use *host)
{
    struct bawn_evidence evidence = {
        .program = host->program, .first = host->what, .uses = host->uses, .paths = 1};
    struct bawn_error why = {0};
    enum bawn_rule_kind kind;
    autofree char *target = NULL;
    autofree char *text = NULL;
    bool reopens = false;
    int r;

    if (asprintf(&target, "%s%s", host->what, host->is_lookup ? ":443" : "") < 0) {
        target = NULL;
        return error_memory(proposer->err);
    }
    r = bawn_policy_rule_for(policy, BAWN_CONNECT, target, false, &kind, &text, &reopens, &why);
    if (r == -EEXIST)
        return 0;
    if (r < 0 || reopens)
        return unlearn(proposer, "connect", host->what, why.message, host->program, host->uses);
    /* Who only looked a name up may have wanted any port. */
    return propose(proposer, kind, host->is_lookup && kind == BAWN_RULE_HOST ? host->what : text,
                   &evidence);
}

static int propose_hosts(struct proposer *proposer, const struct bawn_load *load)
{
    struct load_step observe = {.kind = LOAD_SET,
                                .name = (char *)"sandbox.process.observe",
                                .value = (char *)"true",
                                .extra = (char *)"bawn learn"};
    struct bawn_load more = *load;
    struct bawn_policy *policy = NULL;
    int r;

    if (proposer->learned->hosts.count == 0)
        return 0;
    more.steps.items = calloc(load->steps.count + 1, sizeof(*more.steps.items));
    if (!more.steps.items)
        return error_memory(proposer->err);
    if (load->steps.count)
        memcpy(more.steps.items, load->steps.items, load->steps.count * sizeof(*more.steps.items));
    more.steps.items[more.steps.count++] = observe;
    r = load_with(proposer, &more, NULL, &policy);
    free(more.steps.items);
    vec_each (&proposer->learned->hosts, host) {
        if (r == 0 && !(host->is_lookup && is_asked_with_port(proposer->learned, host)))
            r = propose_host(proposer, policy, host);
    }
    bawn_policy_free(policy);
    return r;
}

int bawn_learned_propose(struct bawn_learned *learned, const struct bawn_load *load,
                         struct bawn_error *err)
{
    struct bawn_policy *policy = NULL;
    struct proposer proposer = {.learned = learned, .err = err};
    int r = load_with(&proposer, load, NULL, &policy);

    proposer.policy = policy;
    if (r == 0 && add_command(&proposer, load) < 0)
        r = error_memory(err);
    if (r == 0)
        r = sift(&proposer);
    if (r == 0)
        r = propose_presets(&proposer, load);
    if (r == 0)
        r = propose_paths(&proposer);
    if (r == 0)
        r = propose_hosts(&proposer, load);
    learned_done(&proposer.wanted);
    bawn_policy_free(policy);
    return r;
}
