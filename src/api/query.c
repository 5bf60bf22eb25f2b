/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a loaded policy: resolve, decide, and say why. Nothing here changes the policy. */
#include "api/api.h"
#include "api/outer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "policy/decide.h"
#include "policy/decide_net.h"
#include "policy/explain.h"
#include "policy/message.h"
#include "policy/reach.h"
#include "policy/ruleword.h"
#include "policy/told.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct bawn_decision {
    enum bawn_verdict verdict;
    char code[48];
    char *text;
    char *rule;
    char *file;
    unsigned line;
    unsigned column;
    char *target;
};

void bawn_decision_free(struct bawn_decision *decision)
{
    if (!decision)
        return;
    free(decision->text);
    free(decision->rule);
    free(decision->file);
    free(decision->target);
    free(decision);
}

enum bawn_verdict bawn_decision_verdict(const struct bawn_decision *decision)
{
    return decision->verdict;
}

const char *bawn_decision_code(const struct bawn_decision *decision)
{
    return decision->code;
}

const char *bawn_decision_text(const struct bawn_decision *decision)
{
    return decision->text;
}

const char *bawn_decision_rule(const struct bawn_decision *decision)
{
    return decision->rule;
}

const char *bawn_decision_file(const struct bawn_decision *decision)
{
    return decision->file;
}

unsigned bawn_decision_line(const struct bawn_decision *decision)
{
    return decision->line;
}

unsigned bawn_decision_column(const struct bawn_decision *decision)
{
    return decision->column;
}

const char *bawn_decision_target(const struct bawn_decision *decision)
{
    return decision->target;
}

static enum bawn_verdict verdict_of(enum access access)
{
    return access == ACCESS_DENY ? BAWN_DENY : access == ACCESS_ASK ? BAWN_ASK : BAWN_ALLOW;
}

int decision_give(enum bawn_verdict verdict, const char *code, struct strbuf *text,
                  struct strbuf *rule, const struct origin *origin, const char *target,
                  struct bawn_decision **ret_decision, struct bawn_error *err)
{
    struct bawn_decision *decision = calloc(1, sizeof(*decision));

    if (!decision)
        return error_memory(err);
    decision->verdict = verdict;
    (void)snprintf(decision->code, sizeof(decision->code), "%s", code);
    decision->text = strbuf_take(text);
    decision->rule = strbuf_take(rule);
    decision->file = strdup(origin && origin->file ? origin->file : "");
    decision->target = strdup(target);
    decision->line = origin ? origin->line : 0;
    decision->column = origin ? origin->column : 0;
    if (!decision->text || !decision->rule || !decision->file || !decision->target) {
        bawn_decision_free(decision);
        return error_memory(err);
    }
    *ret_decision = decision;
    return (int)verdict;
}

static enum message_op message_op(enum bawn_operation operation)
{
    /* Connecting to a socket file takes the right to write it. */
    return operation == BAWN_WRITE || operation == BAWN_CONNECT ? MESSAGE_WRITE
           : operation == BAWN_EXEC                             ? MESSAGE_EXEC
                                                                : MESSAGE_READ;
}

static int resolve(const struct policy *policy, const char *path, char ret_path[LIMIT_PATH_BYTES],
                   struct bawn_error *err)
{
    return resolve_path(policy, told_start(policy), path, &view_passing, ret_path, err);
}

/* Whether no answer can be given at all: a senseless question, or short memory. */
static bool is_unanswerable(const struct bawn_error *why)
{
    return why->errnum == EINVAL || why->errnum == ENOMEM;
}

/* A path that leads nowhere is refused, not an error: the program inside would be refused too. */
static int decide_unresolved(const struct policy *policy, enum bawn_operation operation,
                             const char *path, const struct bawn_error *why,
                             struct bawn_decision **ret_decision, struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};
    autostrbuf struct strbuf rule = {0};

    if (is_unanswerable(why)) {
        if (err)
            *err = *why;
        return -why->errnum;
    }
    if (!ret_decision)
        return BAWN_DENY;
    message_unresolved(policy, message_op(operation), path, why->message, &text);
    strbuf_addf(&rule, "unresolved %s", why->code);
    return decision_give(BAWN_DENY, why->code, &text, &rule, NULL, path, ret_decision, err);
}

/* A walk that judges each link on the way. */
struct judged_walk {
    struct looker looker;
    const struct policy *policy;
    struct path_decision write; /* the strictest */
    int failure;
};

static enum look look_host(void *context, const char *path, char *target, size_t target_size)
{
    (void)context;
    return view_passing.look(view_passing.context, path, target, target_size);
}

static void judge_link(void *context, const char *link, const char *rest)
{
    struct judged_walk *walk = context;
    char buffer[TOLD_PATH_BYTES];
    const char *outside = told_outside(walk->policy, link, buffer);
    int r = outside ? decide_through(walk->policy, outside, rest, &walk->write) : 0;

    if (r < 0)
        walk->failure = r;
}

/* Resolves a path and decides on it; -EREMOTE with *ret_why when it cannot be resolved. */
static int judge_file(const struct policy *policy, const char *path, bool is_socket,
                      char ret_resolved[LIMIT_PATH_BYTES],
                      struct path_decision ret_decisions[PATH_OP_COUNT], struct bawn_error *ret_why)
{
    struct judged_walk walk = {.looker = {.look = look_host, .follows = judge_link},
                               .policy = policy};
    int r;

    walk.looker.context = &walk;
    r = resolve_path(policy, told_start(policy), path, &walk.looker, ret_resolved, ret_why);
    if (r < 0)
        return -EREMOTE;
    r = told_decide(policy, ret_resolved, ret_decisions);
    if (r == 0 && is_socket)
        r = told_decide_socket(policy, ret_resolved, &ret_decisions[PATH_WRITE]);
    if (r == 0)
        r = walk.failure;
    if (r == 0 && ret_decisions[PATH_WRITE].only_dir) {
        char target[LIMIT_PATH_BYTES];

        if (look_host(NULL, ret_resolved, target, sizeof(target)) != LOOK_DIRECTORY)
            decide_no_dir(&ret_decisions[PATH_WRITE]);
    }
    if (r == 0 && walk.write.access > ret_decisions[PATH_WRITE].access)
        ret_decisions[PATH_WRITE] = walk.write;
    return r;
}

/* What the sandbox around has against what the policy does not deny: another one than the policy's,
 * or the very one. In a private place there is nothing of what is outside. */
static const char *outer_refusal(const struct policy *policy, enum bawn_operation operation,
                                 const char *resolved,
                                 const struct path_decision decisions[PATH_OP_COUNT])
{
    enum access write = decisions[PATH_WRITE].access;
    enum access access =
        message_op(operation) == MESSAGE_WRITE ? write : decisions[PATH_READ].access;

    if (access == ACCESS_DENY)
        return NULL;
    if (!policy->told.cwd)
        return access == ACCESS_PRIVATE ? NULL : outer_refuses_path(operation, resolved);
    /* Until somebody has answered, what is asked about is refused there. What may be a directory
     * alone is refused to whoever would make something else. */
    return access == ACCESS_ASK || decisions[PATH_WRITE].only_dir
               ? NULL
               : outer_refuses_here(operation, resolved,
                                    access == ACCESS_PRIVATE && write == ACCESS_PRIVATE);
}

static const char *outer_refusal_of_host(const struct policy *policy, const struct host *host,
                                         const struct net_asker *asker)
{
    struct net_decision decision;

    decide_net_by(policy, host, asker, &decision);
    return decision.access == ACCESS_DENY ? NULL : outer_refuses_host(host, policy->told.cwd);
}

static int give_outer(const struct policy *policy, const char *code, struct strbuf *text,
                      const char *target, struct bawn_decision **ret_decision,
                      struct bawn_error *err)
{
    autostrbuf struct strbuf rule = {0};

    if (!ret_decision)
        return BAWN_DENY;
    strbuf_add(&rule, policy->told.cwd ? "this sandbox" : "outer sandbox");
    return decision_give(BAWN_DENY, code, text, &rule, NULL, target, ret_decision, err);
}

static int decide_file(const struct policy *policy, enum bawn_operation operation, const char *path,
                       struct bawn_decision **ret_decision, struct bawn_error *err)
{
    enum message_op op = message_op(operation);
    struct path_decision decisions[PATH_OP_COUNT];
    const struct path_decision *decision = &decisions[op == MESSAGE_WRITE ? PATH_WRITE : PATH_READ];
    autostrbuf struct strbuf text = {0};
    autostrbuf struct strbuf rule = {0};
    char resolved[LIMIT_PATH_BYTES];
    struct bawn_error why;
    const char *refusal;
    const char *code;
    int r = judge_file(policy, path, operation == BAWN_CONNECT, resolved, decisions, &why);

    if (r == -EREMOTE)
        return decide_unresolved(policy, operation, path, &why, ret_decision, err);
    if (r < 0)
        return error_memory(err);
    refusal = outer_refusal(policy, operation, resolved, decisions);
    if (refusal) {
        code = message_outer(policy, op, path, refusal, &text);
        return give_outer(policy, code, &text, resolved, ret_decision, err);
    }
    if (!ret_decision)
        return (int)verdict_of(decision->access);
    code = message_path(policy, op, decision->access == ACCESS_PRIVATE ? resolved : path, decision,
                        decisions[PATH_READ].access < ACCESS_ASK, &text);
    message_label(decision, &rule);
    return decision_give(verdict_of(decision->access), code, &text, &rule,
                         decision->socket ? &decision->socket->origin
                         : decision->rule ? &decision->rule->origin
                                          : NULL,
                         resolved, ret_decision, err);
}

/* What there is to know of a connection that is allowed. */
static void tell_proxy(const struct policy *policy, const struct net_decision *decision,
                       const struct host *host, struct strbuf *text)
{
    autostrbuf struct strbuf proxy = {0};

    if (decision->access == ACCESS_ALLOW && explain_net_proxy(policy, decision, host, &proxy))
        strbuf_addf(text, "through the proxy %s", proxy.text ? proxy.text : "");
}

static int decide_connect(const struct bawn_policy *policy, const struct net_asker *asker,
                          const char *target, struct bawn_decision **ret_decision,
                          struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};
    autostrbuf struct strbuf rule = {0};
    struct net_decision decision;
    const struct origin *origin;
    char shown[LIMIT_HOST_BYTES + 16];
    struct host host;
    const char *refusal;
    const char *wrong;
    const char *code;

    if (ret_decision)
        *ret_decision = NULL;
    if (strncmp(target, "unix:@", 6) == 0) {
        error_set(err, EINVAL, "network.bad_target",
                  "target '%s': no sandbox reaches abstract sockets of the host", target);
        error_hint(err, "abstract sockets that are made inside need no rule");
        return -EINVAL;
    }
    if (strncmp(target, "unix:", 5) == 0)
        return decide_file(&policy->policy, BAWN_CONNECT, target + 5, ret_decision, err);
    wrong = host_parse_target(target, &host);
    if (wrong)
        return error_set(err, EINVAL, "network.bad_target", "target '%s': %s", target, wrong);
    decide_net_by(&policy->policy, &host, asker, &decision);
    (void)snprintf(shown, sizeof(shown), strchr(host.name, ':') ? "[%s]:%u" : "%s:%u", host.name,
                   host.port);
    refusal = outer_refusal_of_host(&policy->policy, &host, asker);
    if (refusal) {
        code = message_net_outer(&policy->policy, target, refusal, &text);
        return give_outer(&policy->policy, code, &text, shown, ret_decision, err);
    }
    if (!ret_decision)
        return (int)verdict_of(decision.access);
    code = message_net(&policy->policy, target, &decision, &text);
    tell_proxy(&policy->policy, &decision, &host, &text);
    message_net_label(&policy->policy, &decision, &rule);
    origin = decision.rule ? &decision.rule->origin : decision.item ? &decision.item->origin : NULL;
    return decision_give(verdict_of(decision.access), code, &text, &rule, origin, shown,
                         ret_decision, err);
}

/* A caller's number that is no operation must not be answered as a read. */
static int check_operation(enum bawn_operation operation, struct bawn_error *err)
{
    if ((unsigned)operation <= BAWN_CONNECT)
        return 0;
    return error_set(err, EINVAL, "query.bad_operation", "there is no operation %d",
                     (int)operation);
}

int bawn_decide(const struct bawn_policy *policy, enum bawn_operation operation, const char *what,
                struct bawn_decision **ret_decision, struct bawn_error *err)
{
    int r = check_operation(operation, err);

    if (ret_decision)
        *ret_decision = NULL;
    if (r < 0)
        return r;
    if (operation == BAWN_CONNECT)
        return decide_connect(policy, NULL, what, ret_decision, err);
    if (operation == BAWN_EXEC && *what && !strchr(what, '/'))
        return decide_program(policy, what, ret_decision, err);
    return decide_file(&policy->policy, operation, what, ret_decision, err);
}

int bawn_decide_by(const struct bawn_policy *policy, const char *program, const char *target,
                   struct bawn_decision **ret_decision, struct bawn_error *err)
{
    struct by_program by;
    struct net_asker asker = {.is_by = program_is_by, .context = &by};
    int r = program_by(policy, program, &by, err);

    if (ret_decision)
        *ret_decision = NULL;
    return r < 0 ? r : decide_connect(policy, &asker, target, ret_decision, err);
}

bool bawn_can_read(const struct bawn_policy *policy, const char *path,
                   struct bawn_decision **ret_decision, struct bawn_error *err)
{
    return bawn_decide(policy, BAWN_READ, path, ret_decision, err) == BAWN_ALLOW;
}

bool bawn_can_write(const struct bawn_policy *policy, const char *path,
                    struct bawn_decision **ret_decision, struct bawn_error *err)
{
    return bawn_decide(policy, BAWN_WRITE, path, ret_decision, err) == BAWN_ALLOW;
}

bool bawn_can_exec(const struct bawn_policy *policy, const char *path,
                   struct bawn_decision **ret_decision, struct bawn_error *err)
{
    return bawn_decide(policy, BAWN_EXEC, path, ret_decision, err) == BAWN_ALLOW;
}

bool bawn_can_connect(const struct bawn_policy *policy, const char *target,
                      struct bawn_decision **ret_decision, struct bawn_error *err)
{
    return bawn_decide(policy, BAWN_CONNECT, target, ret_decision, err) == BAWN_ALLOW;
}

bool bawn_is_only_directory(const struct bawn_policy *policy, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return told_decide(&policy->policy, path, decisions) < 0 || decisions[PATH_WRITE].only_dir;
}

bool bawn_protects_below(const struct bawn_policy *policy, const char *path)
{
    return reach_refuses_below(&policy->policy, path);
}

int bawn_resolve(const struct bawn_policy *policy, const char *path, char **ret_path,
                 struct bawn_error *err)
{
    char resolved[LIMIT_PATH_BYTES];
    int r = resolve(&policy->policy, path, resolved, err);

    if (r < 0)
        return r;
    *ret_path = strdup(resolved);
    return *ret_path ? 0 : error_memory(err);
}

int bawn_reach(const struct bawn_policy *policy, const char *path, char **ret_path,
               struct bawn_error *err)
{
    struct bawn_decision *decision = NULL;
    int verdict = bawn_decide(policy, BAWN_READ, path, &decision, err);
    int r = verdict < 0 ? verdict : 0;

    if (r == 0 && !decision)
        r = error_memory(err);
    if (r == 0 && verdict == BAWN_ASK) {
        char shown[LIMIT_PATH_BYTES];

        text_escape(shown, sizeof(shown), path, strlen(path), TEXT_ONE_LINE);
        r = error_set(err, EACCES, "path.ask", "%.1000s: bawn would ask somebody first", shown);
    } else if (decision && verdict == BAWN_DENY) {
        r = error_set(err, EACCES, bawn_decision_code(decision), "%s",
                      bawn_decision_text(decision));
    } else if (decision && r == 0) {
        *ret_path = strdup(bawn_decision_target(decision));
        r = *ret_path ? 0 : error_memory(err);
    }
    bawn_decision_free(decision);
    return r;
}

/* The rules that limit a path. Returns their number; -EREMOTE when it cannot be resolved. */
static int limits_of(const struct policy *policy, const char *path, char resolved[LIMIT_PATH_BYTES],
                     const struct path_rule *rules[CLASS_COUNT], struct bawn_error *ret_why)
{
    size_t count;

    char buffer[TOLD_PATH_BYTES];
    const char *outside;

    if (resolve(policy, path, resolved, ret_why) < 0)
        return -EREMOTE;
    outside = told_outside(policy, resolved, buffer);
    return decide_limits(policy, outside ? outside : resolved, rules, &count) < 0 ? -ENOMEM
                                                                                  : (int)count;
}

static bool has_suffix(const char *path, const char *const *suffixes)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    for (; *suffixes; suffixes++) {
        size_t size = strlen(*suffixes);

        if (length >= size && strcmp(name + length - size, *suffixes) == 0)
            return true;
    }
    return false;
}

/* Suffix and size are the same question asked of every rule; breaks says which one is not kept. */
static int check_limits(const struct policy *policy, const char *path, uint64_t size_bytes,
                        bool (*breaks)(const struct path_rule *rule, const char *path,
                                       uint64_t size_bytes),
                        bool is_size, struct bawn_decision **ret_decision, struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};
    autostrbuf struct strbuf label = {0};
    const struct path_rule *rules[CLASS_COUNT];
    const struct path_rule *broken = NULL;
    char resolved[LIMIT_PATH_BYTES];
    const char *code = is_size ? "size.allowed" : "suffix.allowed";
    struct bawn_error why;
    int count = limits_of(policy, path, resolved, rules, &why);

    if (ret_decision)
        *ret_decision = NULL;
    if (count == -EREMOTE)
        return decide_unresolved(policy, BAWN_READ, path, &why, ret_decision, err);
    if (count < 0)
        return error_memory(err);
    for (int i = 0; i < count && !broken; i++)
        broken = breaks(rules[i], resolved, size_bytes) ? rules[i] : NULL;
    if (!ret_decision)
        return broken ? BAWN_DENY : BAWN_ALLOW;
    if (broken && is_size)
        code = message_size(path, size_bytes, broken->max_file_bytes, &text);
    else if (broken)
        code = message_suffix(path, broken->suffixes, &text);
    if (count > 0)
        message_rule_label(broken ? broken : rules[0], &label);
    return decision_give(broken ? BAWN_DENY : BAWN_ALLOW, code, &text, &label,
                         count > 0 ? &(broken ? broken : rules[0])->origin : NULL, resolved,
                         ret_decision, err);
}

static bool breaks_suffix(const struct path_rule *rule, const char *path, uint64_t size_bytes)
{
    (void)size_bytes;
    return rule->suffixes && !has_suffix(path, rule->suffixes);
}

static bool breaks_size(const struct path_rule *rule, const char *path, uint64_t size_bytes)
{
    (void)path;
    return rule->max_file_bytes && size_bytes > rule->max_file_bytes;
}

int bawn_check_suffix(const struct bawn_policy *policy, const char *path,
                      struct bawn_decision **ret_decision, struct bawn_error *err)
{
    return check_limits(&policy->policy, path, 0, breaks_suffix, false, ret_decision, err);
}

int bawn_check_size(const struct bawn_policy *policy, const char *path, uint64_t size_bytes,
                    struct bawn_decision **ret_decision, struct bawn_error *err)
{
    return check_limits(&policy->policy, path, size_bytes, breaks_size, true, ret_decision, err);
}

static int explain_host(const struct bawn_policy *policy, const struct net_asker *asker,
                        const char *what, enum bawn_format format, char **ret_text,
                        struct bawn_error *err)
{
    struct path_story story = {.op = message_op(BAWN_CONNECT), .asked = what, .is_socket = true};
    autostrbuf struct strbuf out = {0};
    struct host host;
    const char *wrong = host_parse_target(what, &host);

    if (wrong)
        return error_set(err, EINVAL, "network.bad_target", "target '%s': %s", what, wrong);
    story.outer = outer_refusal_of_host(&policy->policy, &host, asker);
    if (story.outer)
        (void)explain_path(&policy->policy, &story, format, &out);
    else
        explain_net(&policy->policy, what, &host, asker, format, &out);
    return strbuf_give(&out, ret_text, err);
}

int bawn_explain_by(const struct bawn_policy *policy, const char *program, const char *target,
                    enum bawn_format format, char **ret_text, struct bawn_error *err)
{
    struct by_program by;
    struct net_asker asker = {.is_by = program_is_by, .context = &by};
    int r = program_by(policy, program, &by, err);

    return r < 0 ? r : explain_host(policy, &asker, target, format, ret_text, err);
}

/* A path where the workspace was, were it not shown elsewhere, has no other name. */
static void set_story_path(const struct policy *policy, const char *resolved,
                           char outside[static TOLD_PATH_BYTES], struct path_story *story)
{
    const char *ruled = told_outside(policy, resolved, outside);

    story->shown = resolved;
    story->resolved = ruled ? ruled : resolved;
    story->is_moved = !ruled;
}

int bawn_explain(const struct bawn_policy *policy, enum bawn_operation operation, const char *what,
                 enum bawn_format format, char **ret_text, struct bawn_error *err)
{
    autostrbuf struct strbuf out = {0};
    char resolved[LIMIT_PATH_BYTES];
    char outside[TOLD_PATH_BYTES];
    struct path_story story = {.op = message_op(operation), .asked = what};
    struct path_decision decisions[PATH_OP_COUNT];
    struct bawn_error why;
    int r = check_operation(operation, err);

    if (r < 0)
        return r;
    if (operation == BAWN_CONNECT && strncmp(what, "unix:", 5) == 0) {
        story.asked = what + 5;
        story.is_socket = true;
    } else if (operation == BAWN_CONNECT) {
        return explain_host(policy, NULL, what, format, ret_text, err);
    }
    r = judge_file(&policy->policy, story.asked, operation == BAWN_CONNECT, resolved, decisions,
                   &why);
    if (r == -EREMOTE && is_unanswerable(&why)) {
        if (err)
            *err = why;
        return -why.errnum;
    }
    if (r == -EREMOTE)
        story.unresolved = why.message;
    else if (r < 0)
        return error_memory(err);
    else
        set_story_path(&policy->policy, resolved, outside, &story);
    story.decision = &decisions[story.op == MESSAGE_WRITE ? PATH_WRITE : PATH_READ];
    if (story.resolved)
        story.outer = outer_refusal(&policy->policy, operation, resolved, decisions);
    if (explain_path(&policy->policy, &story, format, &out) < 0)
        return error_memory(err);
    return strbuf_give(&out, ret_text, err);
}

static int give_rule(const char *none, enum access access, const struct rule_advice *advice,
                     enum bawn_rule_kind *ret_kind, char **ret_text, bool *ret_reopens,
                     struct bawn_error *err)
{
    if (none)
        return error_set(err, access < ACCESS_ASK ? EEXIST : EACCES,
                         access < ACCESS_ASK ? "rule.allowed" : "rule.none", "%s", none);
    *ret_kind = advice->kind;
    *ret_reopens = advice->reopens;
    *ret_text = strdup(advice->text);
    return *ret_text ? 0 : error_memory(err);
}

int bawn_policy_rule_for(const struct bawn_policy *policy, enum bawn_operation operation,
                         const char *what, bool directory, enum bawn_rule_kind *ret_kind,
                         char **ret_text, bool *ret_reopens, struct bawn_error *err)
{
    bool is_socket = operation == BAWN_CONNECT && strncmp(what, "unix:", 5) == 0;
    struct path_decision decisions[PATH_OP_COUNT];
    char resolved[LIMIT_PATH_BYTES];
    char buffer[TOLD_PATH_BYTES];
    const char *outside;
    struct refused_path refused = {.is_socket = is_socket};
    struct net_decision connect;
    struct rule_advice advice;
    struct host host;
    const char *none;
    int r = check_operation(operation, err);

    if (r < 0)
        return r;
    if (operation == BAWN_CONNECT && !is_socket) {
        none = host_parse_target(what, &host);
        if (none)
            return error_set(err, EINVAL, "network.bad_target", "target '%s': %s", what, none);
        decide_net(&policy->policy, &host, &connect);
        none = rule_for_host(&connect, what, &host, &advice);
        return give_rule(none, connect.access, &advice, ret_kind, ret_text, ret_reopens, err);
    }
    r = judge_file(&policy->policy, is_socket ? what + 5 : what, is_socket, resolved, decisions,
                   err);
    if (r < 0)
        return r == -EREMOTE ? -EACCES : error_memory(err);
    outside = told_outside(&policy->policy, resolved, buffer);
    refused.path = outside ? outside : resolved;
    refused.op = message_op(operation) == MESSAGE_WRITE ? PATH_WRITE : PATH_READ;
    refused.decision = &decisions[refused.op];
    none = rule_for_path(&policy->policy, &refused, directory, &advice);
    return give_rule(none, refused.decision->access, &advice, ret_kind, ret_text, ret_reopens, err);
}
