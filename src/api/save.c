/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that a person gave, kept in a policy file. */
#include "api/store.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/report.h"
#include "base/text.h"
#include "config/config.h"
#include "config/diff.h"
#include "config/edit.h"
#include "config/expand.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/message.h"
#include "policy/network.h"
#include "policy/ruleword.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * How it works: the file is read, the policy is loaded as it is, each rule is put
 * into the text, and the policy is loaded once more with the new text in place of
 * the file. Only if every rule then has its effect, and opens nothing that was not
 * confirmed, the file is replaced. All of it happens first without writing: who is
 * refused leaves no directory behind. Then it happens again under a lock, with
 * what is in the file by then.
 */
struct bawn_saved {
    char *file;
    char *diff;
    char **lines;
    size_t count;
    bool is_written;
    bool is_approved;
};

struct saver {
    const struct bawn_load *load;
    enum bawn_scope scope;
    const struct bawn_rule *rules;
    size_t count;
    unsigned flags;
    bool forgets;
    struct store store;
    struct bawn_policy *before;
    struct bawn_policy *after;
    struct strbuf text; /* the new one */
    struct bawn_saved *saved;
    struct bawn_report *report;
    struct bawn_error *err;
};

/* One rule, ready to be written. */
struct wish {
    struct saver *saver;
    const struct bawn_rule *rule;
    const struct rule_word *word;
    const char *path; /* of a path: absolute */
    struct edit_rule edit;
};

const char *bawn_rule_word(enum bawn_rule_kind kind)
{
    const struct rule_word *word = rule_word(kind);

    return word ? word->word : NULL;
}

enum bawn_rule_kind bawn_rule_kind(const char *word)
{
    enum bawn_rule_kind kind = 0;

    while (kind < BAWN_RULE_KINDS && strcmp(rule_word(kind)->word, word) != 0)
        kind++;
    return kind;
}

void bawn_saved_free(struct bawn_saved *saved)
{
    if (!saved)
        return;
    for (size_t i = 0; saved->lines && i < saved->count; i++)
        free(saved->lines[i]);
    free(saved->lines);
    free(saved->file);
    free(saved->diff);
    free(saved);
}

const char *bawn_saved_file(const struct bawn_saved *saved)
{
    return saved->file;
}

const char *bawn_saved_diff(const struct bawn_saved *saved)
{
    return saved->diff;
}

const char *bawn_saved_lines(const struct bawn_saved *saved, size_t index)
{
    return index < saved->count ? saved->lines[index] : "";
}

bool bawn_saved_is_written(const struct bawn_saved *saved)
{
    return saved->is_written;
}

bool bawn_saved_is_approved(const struct bawn_saved *saved)
{
    return saved->is_approved;
}

/* What a path in the file stands for; NULL where it is none. */
static const char *expand(const struct saver *saver, const char *text)
{
    const char *wrong;

    return expand_path(&saver->before->policy, saver->store.base, text, &wrong);
}

static bool is_same_path(void *context, const char *text)
{
    const struct wish *wish = context;
    const char *path = expand(wish->saver, text);

    return path && strcmp(path, wish->path) == 0;
}

static bool is_same_pattern(void *context, const char *text)
{
    const struct wish *wish = context;
    struct policy *policy = &wish->saver->before->policy;
    const char *base = wish->saver->store.base;
    const char *wrong;
    bool wild[2];
    const char *one = expand_pattern(policy, base, text, &wild[0], &wrong);
    const char *other = expand_pattern(policy, base, wish->rule->text, &wild[1], &wrong);

    return one && other && wild[0] == wild[1] && strcmp(one, other) == 0;
}

/* A path as the file should have it: from the project or the home on, where it is in that. */
static const char *spell_path(const struct wish *wish)
{
    const struct saver *saver = wish->saver;
    struct policy *policy = &saver->before->policy;
    const char *path = wish->path;
    const char *base = saver->store.base;
    bool is_project = saver->scope == BAWN_SCOPE_PROJECT || saver->scope == BAWN_SCOPE_LOCAL;
    const char *spelled = NULL;
    const char *read;

    if (is_project && strcmp(base, "/") != 0 && path_is_below(path, base))
        spelled = arena_printf(&policy->arena, ".%s", path + strlen(base));
    else if (policy_is_in_home(policy, path))
        spelled = arena_printf(&policy->arena, "~%s", path + strlen(policy->home));
    read = spelled ? expand(saver, spelled) : NULL;
    return read && strcmp(read, path) == 0 ? spelled : path;
}

static int refuse_text(const struct wish *wish, const char *wrong, struct bawn_error *err)
{
    if (!wrong)
        return error_memory(err);
    return error_set(err, EINVAL, "save.bad_rule", "%s '%s': %s", wish->word->word,
                     wish->rule->text, wrong);
}

static int prepare(struct saver *saver, const struct bawn_rule *rule, struct wish *ret_wish)
{
    const char *wrong = NULL;

    *ret_wish = (struct wish){.saver = saver, .rule = rule, .word = rule_word(rule->kind)};
    if (!ret_wish->word)
        return error_set(saver->err, EINVAL, "save.bad_rule", "there is no rule of kind %d",
                         (int)rule->kind);
    if (!*rule->text || strlen(rule->text) >= LIMIT_PATH_BYTES)
        return refuse_text(ret_wish, *rule->text ? "too long" : "nothing is named", saver->err);
    ret_wish->edit = (struct edit_rule){.key = ret_wish->word->key,
                                        .value = rule->text,
                                        .mode = ret_wish->word->mode,
                                        .context = ret_wish};
    if (ret_wish->word->takes == TAKES_PATTERN)
        ret_wish->edit.is_same = is_same_pattern;
    if (ret_wish->word->takes != TAKES_PATH)
        return 0;
    ret_wish->path =
        expand_path(&saver->before->policy, saver->before->policy.workspace, rule->text, &wrong);
    if (!ret_wish->path)
        return refuse_text(ret_wish, wrong, saver->err);
    ret_wish->edit.value = spell_path(ret_wish);
    ret_wish->edit.is_same = is_same_path;
    return is_same_path(ret_wish, ret_wish->edit.value)
               ? 0
               : refuse_text(ret_wish, "no policy can name this path", saver->err);
}

/* Keeps the lines that an edit put in, or took out. */
static int keep_lines(struct saver *saver, size_t index, const struct strbuf *old,
                      const struct strbuf *new)
{
    struct diff_text before = {"", old->text ? old->text : "", old->length};
    struct diff_text after = {"", new->text ? new->text : "", new->length};
    char mark = saver->forgets ? '-' : '+';
    autostrbuf struct strbuf diff = {0};
    struct strbuf lines = {0};

    diff_unified(&before, &after, &diff);
    for (const char *line = diff.text; line && *line;) {
        size_t length = strcspn(line, "\n");

        if (*line == mark && strncmp(line, "+++ ", 4) != 0 && strncmp(line, "--- ", 4) != 0) {
            strbuf_add_bytes(&lines, line + 1, length - 1);
            strbuf_add(&lines, "\n");
        }
        line += length + (line[length] == '\n');
    }
    free(saver->saved->lines[index]);
    saver->saved->lines[index] = diff.failed ? NULL : strbuf_take(&lines);
    strbuf_done(&lines);
    return saver->saved->lines[index] ? 0 : error_memory(saver->err);
}

/* One rule into the text, or out of it. */
static int edit_text(struct saver *saver, const struct wish *wish, size_t index)
{
    struct edit_text old = {saver->store.path, saver->text.text ? saver->text.text : "",
                            saver->text.length};
    autostrbuf struct strbuf new = {0};
    int r = saver->forgets ? edit_remove(&old, &wish->edit, &new, saver->report)
                           : edit_add(&old, &wish->edit, &new, saver->report);

    if (r == 0 && saver->forgets) {
        (void)error_set(saver->err, ENOENT, "save.no_such_rule", "%s has no rule '%s %s'",
                        saver->store.path, wish->word->word, wish->rule->text);
        error_hint(saver->err, "'bawn policy show' tells which file a rule is in");
        return -ENOENT;
    }
    if (r < 0)
        return r == -ENOMEM ? error_memory(saver->err) : report_to_error(saver->report, saver->err);
    if (r == 0) {
        *saver->saved->lines[index] = '\0';
        return 0;
    }
    r = keep_lines(saver, index, &saver->text, &new);
    strbuf_done(&saver->text);
    saver->text = new;
    new = (struct strbuf){0};
    return r;
}

static const struct layer *find_layer(const struct saver *saver)
{
    vec_each (&saver->before->policy.layers, layer) {
        if ((*layer)->file && strcmp((*layer)->file, saver->store.path) == 0)
            return *layer;
    }
    return NULL;
}

/* Whether a file says nothing at all. */
static bool is_blank(const struct store *store)
{
    struct config_document document = {.file = store->path};
    bool blank = config_parse(&document, FORMAT_BAWN, store->text, store->length, NULL) == 0 &&
                 document.root->kind == NODE_NULL;

    config_document_done(&document);
    return blank;
}

/* SECURITY: who saves one rule has not read the others. What a project brought along is not
 * approved by the way. */
static int settle_approval(struct saver *saver)
{
    const struct layer *layer = find_layer(saver);

    if (saver->scope != BAWN_SCOPE_PROJECT && saver->scope != BAWN_SCOPE_LOCAL)
        return 0;
    saver->saved->is_approved =
        !layer || layer->authority != AUTHORITY_PROJECT || is_blank(&saver->store);
    for (size_t i = 0; i < saver->count && !saver->saved->is_approved && !saver->forgets; i++) {
        if (!rule_word(saver->rules[i].kind)->widens)
            continue;
        (void)error_set(saver->err, EACCES, "save.unapproved",
                        "%s: you have not approved this file, and '%s' would approve all of it",
                        saver->store.path, rule_word(saver->rules[i].kind)->word);
        error_hint(saver->err,
                   "read it, then 'bawn policy approve %s'; or save for yourself alone: "
                   "--scope user",
                   saver->store.path);
        return -EACCES;
    }
    return 0;
}

static int load_after(struct saver *saver)
{
    struct bawn_load load = *saver->load;
    struct bawn_report *report = NULL;
    int r;

    load.makes = load.matches = false;
    load.instead = (struct load_instead){.path = saver->store.path,
                                         .text = saver->text.text ? saver->text.text : "",
                                         .length = saver->text.length,
                                         .is_approved = saver->saved->is_approved};
    r = bawn_policy_load(&load, &saver->after, &report, saver->err);
    if (r < 0 && report) {
        bawn_report_free(saver->report);
        saver->report = report;
        return r;
    }
    bawn_report_free(report);
    return r;
}

/* The built-in entry that a rule would open, or NULL. */
static const struct path_rule *find_listed(const struct wish *wish, const char *path)
{
    const struct policy *policy = &wish->saver->before->policy;
    struct path_decision decisions[PATH_OP_COUNT];
    struct tree_answer answer;

    if (pathtree_ask(&policy->tree, path, &answer) < 0)
        return NULL;
    decide_answer(policy, &answer, decisions);
    for (enum path_op op = 0; op < PATH_OP_COUNT; op++) {
        const struct path_rule *listed = answer.best[CLASS_LISTED][op].rule;

        if (op == PATH_WRITE && wish->rule->kind == BAWN_RULE_READ)
            continue;
        if (listed && (listed->kind == RULE_SECRET || decisions[op].access >= ACCESS_ASK))
            return listed;
    }
    return NULL;
}

/* SECURITY: a secret is opened only by who says so, and its very path. */
static int check_listed(const struct wish *wish)
{
    struct saver *saver = wish->saver;
    const struct path_rule *listed = NULL;
    autofree char *resolved = NULL;
    int r = 0;

    if (saver->flags & BAWN_SAVE_REOPEN)
        return 0;
    if (wish->path)
        r = bawn_resolve(saver->before, wish->path, &resolved, saver->err);
    if (r < 0)
        return r;
    if (resolved)
        listed = find_listed(wish, resolved);
    if (!listed && wish->path)
        listed = find_listed(wish, wish->path);
    if (!listed && wish->rule->kind != BAWN_RULE_REOPEN)
        return 0;
    (void)error_set(
        saver->err, EACCES, "save.listed", "%s %s: '%s' is on the built-in list of %s%s%s",
        wish->word->word, wish->rule->text, listed ? listed->spelled : wish->rule->text,
        !listed                       ? "secrets or of protected paths"
        : listed->kind == RULE_SECRET ? "secrets"
                                      : "protected paths",
        listed && listed->reason ? ": " : "", listed && listed->reason ? listed->reason : "");
    error_hint(saver->err, "if every command may have it, say so with --reopen");
    return -EACCES;
}

/* What to ask for, to see whether a rule on hosts counts; "" where that cannot be asked. */
static void host_target(const char *rule, char ret_target[LIMIT_HOST_BYTES + 16])
{
    char text[LIMIT_HOST_BYTES + 64];
    size_t length = strcspn(rule, " ");
    struct host host;
    bool is_v6;

    *ret_target = '\0';
    if (length >= sizeof(text))
        return;
    memcpy(text, rule, length);
    text[length] = '\0';
    if (strstr(rule, " by=") || host_parse_rule(text, &host))
        return;
    is_v6 = host.kind == HOST_ADDRESS && !host_is_v4(&host);
    (void)snprintf(ret_target, LIMIT_HOST_BYTES + 16, "%s%s%s%s:%u",
                   host.kind == HOST_SUBDOMAINS ? "x." : "", is_v6 ? "[" : "", host.name,
                   is_v6 ? "]" : "", host.port ? host.port : 443U);
}

/* Hosts are listed for runs that have a network, too: then they count. The org's word stands. */
static void turn_on_network(struct saver *saver)
{
    struct setting *mode = &saver->after->policy.settings[SETTING_NETWORK_MODE];

    if (policy_number(&saver->after->policy, SETTING_NETWORK_MODE) != NETWORK_NONE ||
        (mode->is_set && mode->layer->authority == AUTHORITY_ORG))
        return;
    mode->is_set = true;
    mode->number = NETWORK_PROXY;
    report_add(saver->report, BAWN_WARNING, "save.no_network", (struct origin){0},
               "hosts count where there is a network, and this policy has none");
    report_hint(saver->report, "run with --net proxy, or set sandbox.network.mode to proxy");
}

/* What a rule that widens must make allowed. Returns false where there is no such question. */
static bool make_question(const struct wish *wish, enum bawn_operation *ret_operation,
                          char ret_what[LIMIT_PATH_BYTES + 8])
{
    *ret_operation = wish->rule->kind == BAWN_RULE_READ    ? BAWN_READ
                     : wish->rule->kind == BAWN_RULE_WRITE ? BAWN_WRITE
                                                           : BAWN_CONNECT;
    switch (wish->rule->kind) {
    case BAWN_RULE_READ:
    case BAWN_RULE_WRITE:
        (void)snprintf(ret_what, LIMIT_PATH_BYTES + 8, "%s", wish->path);
        return true;
    case BAWN_RULE_SOCKET:
        (void)snprintf(ret_what, LIMIT_PATH_BYTES + 8, "unix:%s", wish->path);
        return true;
    case BAWN_RULE_HOST:
        turn_on_network(wish->saver);
        host_target(wish->rule->text, ret_what);
        return *ret_what != '\0';
    case BAWN_RULE_HOST_PORT:
        turn_on_network(wish->saver);
        (void)snprintf(ret_what, LIMIT_PATH_BYTES + 8, "127.0.0.1:%s", wish->rule->text);
        return true;
    default:
        return false;
    }
}

/* Whether the policy with the rule allows what the rule is there to allow. */
static int check_effect(const struct wish *wish)
{
    struct saver *saver = wish->saver;
    struct bawn_decision *decision = NULL;
    enum bawn_operation operation;
    char what[LIMIT_PATH_BYTES + 8];
    char where[LIMIT_PATH_BYTES + 32] = "";
    int verdict;

    if (!make_question(wish, &operation, what))
        return 0;
    verdict = bawn_decide(saver->after, operation, what, &decision, saver->err);
    if (verdict < 0 || verdict == BAWN_ALLOW) {
        bawn_decision_free(decision);
        return verdict < 0 ? verdict : 0;
    }
    if (*bawn_decision_file(decision) && bawn_decision_line(decision))
        (void)snprintf(where, sizeof(where), " at %s:%u:%u", bawn_decision_file(decision),
                       bawn_decision_line(decision), bawn_decision_column(decision));
    (void)error_set(saver->err, EACCES, "save.no_effect",
                    "'%s %s' would have no effect: '%s'%s decides", wish->word->word,
                    wish->rule->text, bawn_decision_rule(decision), where);
    error_hint(saver->err, "'bawn why %s %s' tells more",
               operation == BAWN_READ    ? "read"
               : operation == BAWN_WRITE ? "write"
                                         : "connect",
               what);
    bawn_decision_free(decision);
    return -EACCES;
}

static int make_diff(struct saver *saver)
{
    const struct store *store = &saver->store;
    struct diff_text old = {store->exists ? store->path : "/dev/null", store->text, store->length};
    struct diff_text new = {store->path, saver->text.text ? saver->text.text : "",
                            saver->text.length};
    struct strbuf out = {0};

    diff_unified(&old, &new, &out);
    free(saver->saved->diff);
    saver->saved->diff = strbuf_take(&out);
    return saver->saved->diff ? 0 : error_memory(saver->err);
}

static int change_rules(struct saver *saver)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < saver->count; i++) {
        struct wish wish;

        r = prepare(saver, &saver->rules[i], &wish);
        if (r == 0 && !saver->forgets)
            r = check_listed(&wish);
        if (r == 0)
            r = edit_text(saver, &wish, i);
    }
    return r;
}

static int check_rules(struct saver *saver)
{
    int r = load_after(saver);

    for (size_t i = 0; r == 0 && i < saver->count && !saver->forgets; i++) {
        struct wish wish;

        r = prepare(saver, &saver->rules[i], &wish);
        if (r == 0)
            r = check_effect(&wish);
    }
    return r;
}

/* SECURITY: with the bytes that will be changed, not with what the file has by now: whether they
 * are approved is asked of them. */
static int load_before(struct saver *saver)
{
    struct bawn_load load = *saver->load;

    load.makes = load.matches = false;
    if (saver->store.exists)
        load.instead = (struct load_instead){
            .path = saver->store.path, .text = saver->store.text, .length = saver->store.length};
    bawn_report_free(saver->report);
    saver->report = NULL;
    return bawn_policy_load(&load, &saver->before, &saver->report, saver->err);
}

/* A store that is open: the whole of it. */
static int change_store(struct saver *saver, bool writes)
{
    int r = load_before(saver);

    /* Complaints about what was there already are not of this. */
    if (r == 0) {
        bawn_report_free(saver->report);
        saver->report = report_new();
        strbuf_add_bytes(&saver->text, saver->store.text, saver->store.length);
        r = saver->report && !saver->text.failed ? change_rules(saver) : error_memory(saver->err);
    }
    if (r == 0)
        r = settle_approval(saver);
    if (r == 0)
        r = check_rules(saver);
    if (r == 0)
        r = make_diff(saver);
    if (r < 0 || !writes || !*saver->saved->diff)
        return r;
    r = store_write(&saver->store, saver->text.text ? saver->text.text : "", saver->text.length,
                    saver->err);
    saver->saved->is_written = r == 0;
    if (r == 0 && saver->saved->is_approved)
        r = bawn_policy_approve(saver->load, saver->store.path, saver->text.text,
                                saver->text.length, NULL, saver->err);
    return r;
}

static int change(struct saver *saver, bool writes)
{
    int r = store_open(&saver->store, saver->load, saver->scope, writes, saver->err);

    if (r == 0) {
        free(saver->saved->file);
        saver->saved->file = strdup(saver->store.path);
        r = saver->saved->file ? change_store(saver, writes) : error_memory(saver->err);
    }
    store_done(&saver->store);
    bawn_policy_free(saver->before);
    bawn_policy_free(saver->after);
    strbuf_done(&saver->text);
    saver->before = saver->after = NULL;
    saver->text = (struct strbuf){0};
    return r;
}

static struct bawn_saved *saved_new(size_t count)
{
    struct bawn_saved *saved = calloc(1, sizeof(*saved));

    if (!saved)
        return NULL;
    saved->count = count;
    saved->lines = calloc(count + 1, sizeof(*saved->lines));
    for (size_t i = 0; saved->lines && i < count; i++) {
        saved->lines[i] = strdup("");
        if (!saved->lines[i])
            count = 0;
    }
    if (saved->lines && count == saved->count)
        return saved;
    bawn_saved_free(saved);
    return NULL;
}

static int run_saver(struct saver *saver, struct bawn_saved **ret_saved,
                     struct bawn_report **ret_report)
{
    int r;

    if (ret_report)
        *ret_report = NULL;
    saver->saved = saved_new(saver->count);
    if (!saver->saved)
        return error_memory(saver->err);
    r = change(saver, false);
    if (r == 0 && !(saver->flags & BAWN_SAVE_DRY_RUN) && *saver->saved->diff)
        r = change(saver, true);
    if (r == 0 && ret_saved)
        *ret_saved = take_ptr(&saver->saved);
    bawn_saved_free(saver->saved);
    if (ret_report)
        *ret_report = saver->report;
    else
        bawn_report_free(saver->report);
    return r;
}

int bawn_policy_save(const struct bawn_load *load, enum bawn_scope scope,
                     const struct bawn_rule *rules, size_t count, unsigned flags,
                     struct bawn_saved **ret_saved, struct bawn_report **ret_report,
                     struct bawn_error *err)
{
    struct saver saver = {
        .load = load, .scope = scope, .rules = rules, .count = count, .flags = flags, .err = err};

    return run_saver(&saver, ret_saved, ret_report);
}

int bawn_policy_forget(const struct bawn_load *load, enum bawn_scope scope,
                       const struct bawn_rule *rules, size_t count, unsigned flags,
                       struct bawn_saved **ret_saved, struct bawn_report **ret_report,
                       struct bawn_error *err)
{
    struct saver saver = {.load = load,
                          .scope = scope,
                          .rules = rules,
                          .count = count,
                          .flags = flags,
                          .forgets = true,
                          .err = err};

    return run_saver(&saver, ret_saved, ret_report);
}
