/* SPDX-License-Identifier: Apache-2.0 */
/* Why a question was answered as it was. */
#include "policy/explain.h"

#include "base/json.h"
#include "policy/build.h"
#include "policy/proxy.h"
#include "policy/ruleword.h"
#include "policy/told.h"

#include <string.h>

static const char *const op_words[] = {
    [MESSAGE_READ] = "read", [MESSAGE_WRITE] = "write", [MESSAGE_EXEC] = "exec"};

static enum path_op path_op(enum message_op op)
{
    return op == MESSAGE_WRITE ? PATH_WRITE : PATH_READ;
}

static const char *story_word(const struct path_story *story)
{
    return story->is_socket ? "connect" : op_words[story->op];
}

static const char *verdict_word(enum access access)
{
    return access == ACCESS_DENY ? "deny" : access == ACCESS_ASK ? "ask" : "allow";
}

void explain_origin(const struct layer *layer, struct origin origin, struct strbuf *out)
{
    strbuf_add_escaped(out, origin.file ? origin.file : layer->name);
    if (origin.line)
        strbuf_addf(out, ":%u:%u", origin.line, origin.column);
}

/* Of which sandbox an answer is: it is said only where there may be two. */
static void add_sandbox(const struct policy *policy, struct strbuf *out)
{
    if (policy->told.cwd)
        strbuf_add(out, "  sandbox:   the one that this command is in\n");
}

static void put_sandbox(const struct policy *policy, struct strbuf *out)
{
    if (policy->told.cwd)
        json_put_string(out, "sandbox", "this");
}

/* What a sandbox around another one refuses is not known in it. */
static void add_around(const struct policy *policy, enum access access, struct strbuf *out)
{
    if (policy->told.is_around && access < ACCESS_DENY)
        strbuf_add(out, "  around:    another sandbox, which may refuse more\n");
}

/* Where a rule is; who reads a compiled plan knows only whose it is. */
static void add_place(const struct path_rule *rule, struct strbuf *out)
{
    if (rule->origin.file) {
        strbuf_add(out, "at ");
        explain_origin(rule->layer, rule->origin, out);
        return;
    }
    strbuf_add(out, "'");
    message_rule_label(rule, out);
    strbuf_addf(out, "' (%s)", rule->layer->name ? rule->layer->name : "policy");
}

/* Who asks inside can change nothing, but somebody can tell whoever can. */
static void add_outside(const struct policy *policy, struct strbuf *out)
{
    strbuf_add(out, policy->told.cwd ? "outside, " : "");
}

static bool is_for_outside(const struct path_decision *decision, const struct path_rule *rule)
{
    return decision->access < ACCESS_ASK ||
           !(rule && (rule->kind == RULE_SEALED || rule->layer->authority == AUTHORITY_ORG));
}

void explain_path_remedy(const struct policy *policy, const struct path_story *story,
                         struct strbuf *out)
{
    static const struct path_decision ungranted = {.access = ACCESS_DENY,
                                                   .reason = DECIDED_BY_DEFAULT};
    const struct path_decision *decision = story->is_covered ? &ungranted : story->decision;
    const struct path_rule *rule = decision->rule;
    const struct refused_path refused = {.op = path_op(story->op),
                                         .is_socket = story->is_socket,
                                         .path = story->resolved,
                                         .decision = decision};
    struct rule_advice advice;
    const char *none = rule_for_path(policy, &refused, false, &advice);

    if (story->is_moved) {
        char buffer[TOLD_PATH_BYTES];

        strbuf_add(out, "nothing is here: the workspace is shown at ");
        strbuf_add_escaped(out, told_inside(policy, policy->workspace, buffer));
        return;
    }
    if (is_for_outside(decision, rule))
        add_outside(policy, out);
    if (decision->access < ACCESS_ASK) {
        strbuf_add(out, "to refuse it, add the path to sandbox.deny");
        strbuf_add(out,
                   story->op == MESSAGE_WRITE ? ", or to sandbox.protect for writes only" : "");
    } else if (rule && rule->kind == RULE_SEALED) {
        strbuf_add(out, "nothing: a sandbox cannot change the policy it runs under");
    } else if (rule && rule->layer->authority == AUTHORITY_ORG) {
        strbuf_add(out, "only the org policy can change it: the rule ");
        add_place(rule, out);
    } else if (rule && !advice.reopens && rule->layer->id != LAYER_BUILTIN) {
        strbuf_add(out, "change the rule ");
        add_place(rule, out);
        /* A grant of what a pattern matches is only as specific as the pattern, and loses. */
        if (none)
            strbuf_add(out, rule->wild || rule->link ? "" : ", or add one for a path below");
        else
            strbuf_add(out, ", or save one for this path: ");
    } else if (none) {
        strbuf_add(out, none);
    } else if (story->is_socket) {
        strbuf_add(out, "list it in the user or org policy: ");
    } else if (policy->told.cwd) {
        strbuf_addf(out, "start the sandbox with --%s '", story->op == MESSAGE_WRITE ? "rw" : "ro");
        strbuf_add_escaped(out, story->resolved);
        strbuf_add(out, "', or run: ");
    } else {
        strbuf_addf(out, "add --%s '", story->op == MESSAGE_WRITE ? "rw" : "ro");
        strbuf_add_escaped(out, story->resolved);
        strbuf_add(out, "', or save it: ");
    }
    if (!none)
        rule_command(&advice, out);
}

/* Who reads what a sandbox is told knows whose rule it is, and not where it stands. */
static void add_origin(const struct layer *layer, struct origin origin, struct strbuf *out)
{
    if (!origin.file && !layer->name)
        return;
    strbuf_add(out, origin.file ? " at " : ", from ");
    explain_origin(layer, origin, out);
}

static void add_rule_text(const struct path_rule *rule, struct strbuf *out)
{
    message_rule_label(rule, out);
    if (rule->kind == RULE_PATH) {
        strbuf_addf(out, " (%s ", rule_mode(rule));
        strbuf_add_escaped(out, rule->path);
        strbuf_add(out, ")");
    }
    if (rule->link && strcmp(rule->link, rule->path) != 0) {
        strbuf_add(out, ", reached through the link ");
        strbuf_add_escaped(out, rule->link);
    }
    add_origin(rule->layer, rule->origin, out);
    if (rule->reason)
        strbuf_addf(out, ": %s", rule->reason);
}

/* Every rule that had a say but the one that decided. */
static void add_others(const struct tree_answer *answer, enum path_op op,
                       const struct path_rule *winner, enum bawn_format format, struct strbuf *out)
{
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        const struct path_rule *rule = answer->best[class][op].rule;

        if (!rule || rule == winner)
            continue;
        if (format == BAWN_FORMAT_TEXT) {
            strbuf_addf(out, "  also:      %s by ",
                        access_word(op == PATH_READ ? rule->read : rule->write));
            add_rule_text(rule, out);
            if (class == CLASS_PROJECT)
                strbuf_add(out, " (a project may only narrow, unless it is approved)");
            strbuf_add(out, "\n");
        } else {
            autostrbuf struct strbuf label = {0};

            message_rule_label(rule, &label);
            json_open(out, NULL, '{');
            json_put_text(out, "rule", &label);
            json_put_string(out, "says", access_word(op == PATH_READ ? rule->read : rule->write));
            json_put_string(out, "file", rule->origin.file);
            json_put_uint(out, "line", rule->origin.line);
            json_put_uint(out, "column", rule->origin.column);
            json_close(out, '}');
        }
    }
}

static void path_text(const struct policy *policy, const struct path_story *story,
                      const struct tree_answer *answer, struct strbuf *out)
{
    const struct path_decision *decision = story->decision;
    const char *shown = story->shown ? story->shown : story->resolved;

    strbuf_addf(out, "%s: %s ", verdict_word(decision->access), story_word(story));
    strbuf_add_escaped(out, shown);
    if (decision->access == ACCESS_OVERLAY || decision->access == ACCESS_PRIVATE)
        strbuf_addf(out, " (%s)", access_word(decision->access));
    strbuf_add(out, "\n");
    add_sandbox(policy, out);
    if (strcmp(story->asked, shown) != 0) {
        strbuf_add(out, "  asked:     ");
        strbuf_add_escaped(out, story->asked);
        strbuf_add(out, "\n");
    }
    if (story->is_moved) {
        char buffer[TOLD_PATH_BYTES];

        strbuf_add(out, "  decided:   nothing is here: the workspace is shown at ");
        strbuf_add_escaped(out, told_inside(policy, policy->workspace, buffer));
        strbuf_add(out, "\n");
        return;
    }
    strbuf_add(out, "  decided:   ");
    if (decision->socket) {
        message_label(decision, out);
        add_origin(decision->socket->layer, decision->socket->origin, out);
    } else if (decision->rule)
        add_rule_text(decision->rule, out);
    else if (decision->reason == DECIDED_BY_SKELETON)
        strbuf_add(out, "no rule; the directory only leads to what is granted below it");
    else if (story->op == MESSAGE_WRITE && decision->reason == DECIDED_BY_DEFAULT)
        strbuf_add(out, "no rule grants it, and writes are denied by default");
    else
        strbuf_addf(out, "no rule names it; reads: %s",
                    setting_table[SETTING_READS].words[policy_number(policy, SETTING_READS)]);
    strbuf_add(out, "\n");
    if (decision->reason == DECIDED_BY_READ)
        strbuf_add(out, "  because:   what cannot be read cannot be written\n");
    add_others(answer, path_op(story->op), decision->rule, BAWN_FORMAT_TEXT, out);
    add_around(policy, decision->access, out);
    strbuf_add(out, "  to change: ");
    explain_path_remedy(policy, story, out);
    strbuf_add(out, "\n");
}

static void path_json(const struct policy *policy, const struct path_story *story,
                      const struct tree_answer *answer, struct strbuf *out)
{
    const struct path_decision *decision = story->decision;
    autostrbuf struct strbuf label = {0};
    autostrbuf struct strbuf remedy = {0};
    const struct path_rule *rule = decision->rule;

    message_label(decision, &label);
    explain_path_remedy(policy, story, &remedy);
    json_open(out, NULL, '{');
    json_put_string(out, "verdict", verdict_word(decision->access));
    put_sandbox(policy, out);
    json_put_string(out, "operation", story_word(story));
    json_put_string(out, "asked", story->asked);
    json_put_string(out, "target", story->shown ? story->shown : story->resolved);
    json_put_string(out, "access", access_word(decision->access));
    json_put_text(out, "rule", &label);
    json_put_string(out, "layer", rule ? rule->layer->name : NULL);
    json_put_string(out, "file", rule ? rule->origin.file : NULL);
    json_put_uint(out, "line", rule ? rule->origin.line : 0);
    json_put_uint(out, "column", rule ? rule->origin.column : 0);
    json_put_string(out, "reason", rule ? rule->reason : NULL);
    json_open(out, "also", '[');
    if (!story->is_moved)
        add_others(answer, path_op(story->op), rule, BAWN_FORMAT_JSON, out);
    json_close(out, ']');
    json_put_text(out, "to_change", &remedy);
    if (policy->told.cwd)
        json_put_bool(out, "around", policy->told.is_around);
    json_close(out, '}');
    strbuf_add(out, "\n");
}

/* What can be done about what this sandbox does, though its rules allow it as far as they are told.
 */
static const char *remedy_here(const char *does)
{
    if (strcmp(does, "does not show it") == 0)
        return "it was not there outside when the sandbox started: make it, then start again";
    if (strcmp(does, "shows it read-only") == 0)
        return "nothing: it is read-only outside as well, or the sandbox's own";
    return "a rule that is not told inside says so: outside, 'bawn why' names it";
}

/* No rule has a say in these. */
static void refused_by_no_rule(const struct policy *policy, const struct path_story *story,
                               enum bawn_format format, struct strbuf *out)
{
    if (format == BAWN_FORMAT_JSON) {
        json_open(out, NULL, '{');
        json_put_string(out, "verdict", "deny");
        put_sandbox(policy, out);
        json_put_string(out, "operation", story_word(story));
        json_put_string(out, "asked", story->asked);
        json_put_string(out,
                        !story->outer      ? "unresolved"
                        : policy->told.cwd ? "here"
                                           : "outer",
                        story->outer ? story->outer : story->unresolved);
        json_close(out, '}');
        strbuf_add(out, "\n");
        return;
    }
    strbuf_addf(out, "deny: %s ", story_word(story));
    strbuf_add_escaped(out, story->asked);
    strbuf_add(out, "\n");
    add_sandbox(policy, out);
    if (story->outer)
        strbuf_addf(
            out, "  decided:   %s %s\n  to change: %s\n", message_around(policy), story->outer,
            policy->told.cwd ? remedy_here(story->outer) : "start the outer sandbox with more");
    else
        strbuf_addf(out, "  decided:   the path cannot be resolved: %s\n", story->unresolved);
}

int explain_path(const struct policy *policy, const struct path_story *story,
                 enum bawn_format format, struct strbuf *out)
{
    struct tree_answer answer;
    int r;

    if (story->outer || !story->resolved) {
        refused_by_no_rule(policy, story, format, out);
        return 0;
    }
    r = pathtree_ask(&policy->tree, story->resolved, &answer);
    if (r < 0)
        return r;
    if (format == BAWN_FORMAT_TEXT)
        path_text(policy, story, &answer, out);
    else
        path_json(policy, story, &answer, out);
    return 0;
}

void explain_net_remedy(const struct policy *policy, const struct net_decision *decision,
                        const char *asked, struct strbuf *out)
{
    struct rule_advice advice;

    add_outside(policy, out);
    if (decision->access == ACCESS_ALLOW)
        strbuf_add(out, "to refuse it, add the host to sandbox.network.deny");
    else if (decision->reason == NET_BY_MODE && policy->net_rules.count)
        strbuf_add(out, "set sandbox.network.mode to proxy (--net proxy): hosts are listed, but "
                        "there is no network to reach them by");
    else if (decision->reason == NET_BY_MODE)
        strbuf_add(out, "set sandbox.network to true to be asked, or list hosts in "
                        "sandbox.network.allow with mode proxy");
    else if (decision->reason == NET_BY_ROUTE)
        strbuf_add(out,
                   "no rule opens it here; the mode isolated has such rules, without an engine");
    else if (decision->reason == NET_BY_SPECIAL && strcmp(decision->special, "loopback") == 0)
        strbuf_add(out, "list the port in sandbox.network.host_ports to reach it on the host");
    else if (decision->reason == NET_BY_SPECIAL)
        strbuf_add(out, "list the address itself in sandbox.network.allow, or pin a name to it in "
                        "sandbox.network.hosts");
    else if (decision->rule && decision->rule->verdict == NET_DENY)
        strbuf_add(out, "take the host out of sandbox.network.deny: a denial always wins");
    else if (decision->for_program) {
        strbuf_add(out, "'");
        message_net_rule_label(decision->for_program, out);
        strbuf_add(out, "' is for one program; take 'by' out to open the host to all");
    } else {
        (void)rule_for_host(decision, asked, NULL, &advice);
        strbuf_add(out, policy->told.cwd ? "start the sandbox with --allow-host '"
                                         : "add --allow-host '");
        strbuf_add_escaped(out, asked);
        strbuf_add(out, policy->told.cwd ? "', or run: " : "', or save it: ");
        rule_command(&advice, out);
        if (decision->access == ACCESS_ASK)
            strbuf_add(out, "; 'bawn approve' answers when it is asked about");
    }
}

/* What may be said on a connection that a rule opens, or NULL: there is none. */
static const char *net_carries(const struct net_decision *decision)
{
    const struct net_rule *rule = decision->access == ACCESS_DENY ? NULL : decision->rule;

    if (!rule)
        return NULL;
    if (rule->opaque)
        return "anything: bawn does not look at it (opaque)";
    return rule->ech ? "TLS, whose client may hide the name that it wants (ech=allow), or HTTP, "
                       "for this host"
                     : "TLS or HTTP for this host; for anything else the rule must say opaque";
}

bool explain_net_proxy(const struct policy *policy, const struct net_decision *decision,
                       const struct host *target, struct strbuf *out)
{
    struct host proxy;

    if (decision->access == ACCESS_DENY || !proxy_takes(policy, target, &proxy))
        return false;
    strbuf_addf(out, strchr(proxy.name, ':') ? "[%s]:%u" : "%s:%u", proxy.name, proxy.port);
    return true;
}

void explain_net(const struct policy *policy, const char *asked, const struct host *target,
                 const struct net_asker *asker, enum bawn_format format, struct strbuf *out)
{
    autostrbuf struct strbuf label = {0};
    autostrbuf struct strbuf remedy = {0};
    autostrbuf struct strbuf proxy = {0};
    struct net_decision decision;
    const struct origin *origin;

    decide_net_by(policy, target, asker, &decision);
    message_net_label(policy, &decision, &label);
    (void)explain_net_proxy(policy, &decision, target, &proxy);
    explain_net_remedy(policy, &decision, asked, &remedy);
    origin = decision.rule ? &decision.rule->origin : decision.item ? &decision.item->origin : NULL;
    if (format == BAWN_FORMAT_JSON) {
        json_open(out, NULL, '{');
        json_put_string(out, "verdict", verdict_word(decision.access));
        put_sandbox(policy, out);
        json_put_string(out, "operation", "connect");
        json_put_string(out, "asked", asked);
        json_put_string(out, "target", target->name);
        json_put_uint(out, "port", target->port);
        json_put_text(out, "rule", &label);
        json_put_string(out, "file", origin ? origin->file : NULL);
        json_put_uint(out, "line", origin ? origin->line : 0);
        json_put_uint(out, "column", origin ? origin->column : 0);
        json_put_string(out, "carries", net_carries(&decision));
        json_put_string(out, "through", proxy.text);
        json_put_text(out, "to_change", &remedy);
        if (policy->told.cwd)
            json_put_bool(out, "around", policy->told.is_around);
        json_close(out, '}');
        strbuf_add(out, "\n");
        return;
    }
    strbuf_addf(out, "%s: connect %s:%u\n", verdict_word(decision.access), target->name,
                target->port);
    add_sandbox(policy, out);
    strbuf_addf(out, "  decided:   %s", label.text ? label.text : "");
    if (origin && origin->file) {
        strbuf_add(out, " at ");
        strbuf_add_escaped(out, origin->file);
        if (origin->line)
            strbuf_addf(out, ":%u:%u", origin->line, origin->column);
    }
    if (net_carries(&decision))
        strbuf_addf(out, "\n  carries:   %s", net_carries(&decision));
    if (proxy.text)
        strbuf_addf(out, "\n  goes:      through the proxy %s (sandbox.network.upstream_proxy)",
                    proxy.text);
    strbuf_add(out, "\n");
    add_around(policy, decision.access, out);
    strbuf_addf(out, "  to change: %s\n", remedy.text ? remedy.text : "");
}

/* A grant that loses its read has lost, even where its write happens to agree; but a project's
 * narrows where it makes a tree read-only. */
static bool has_effect(const struct path_rule *rule,
                       const struct path_decision decisions[PATH_OP_COUNT])
{
    return decisions[PATH_READ].rule == rule ||
           (decisions[PATH_WRITE].rule == rule &&
            (rule->read == ACCESS_UNSET || rule->write < ACCESS_ASK ||
             rule->layer->authority == AUTHORITY_PROJECT));
}

static bool is_wish(const struct path_rule *rule)
{
    return rule->layer->authority == AUTHORITY_PROJECT && rule->read < ACCESS_ASK && !rule->wild &&
           !rule->link;
}

int explain_lost(const struct policy *policy, struct bawn_report *report)
{
    vec_each (&policy->rules, each) {
        const struct path_rule *rule = *each;
        struct path_decision decisions[PATH_OP_COUNT];
        autostrbuf struct strbuf label = {0};

        if (!is_wish(rule))
            continue;
        if (decide_path(policy, rule->path, decisions) < 0)
            return -1;
        if (has_effect(rule, decisions))
            continue;
        message_rule_label(rule, &label);
        report_add(report, BAWN_WARNING, "policy.widens", rule->origin,
                   "%s has no effect: a project may only narrow what the user allows", label.text);
        if (rule->layer->file)
            report_hint(report, "read the file, then approve it with 'bawn policy approve %s'",
                        rule->layer->file);
    }
    return 0;
}

static int lint_rule(const struct policy *policy, const struct path_rule *rule,
                     struct bawn_report *report)
{
    struct path_decision decisions[PATH_OP_COUNT];
    const struct path_rule *other;
    autostrbuf struct strbuf label = {0};
    autostrbuf struct strbuf other_label = {0};
    autostrbuf struct strbuf where = {0};

    if (decide_path(policy, rule->path, decisions) < 0)
        return -1;
    if (has_effect(rule, decisions))
        return 0;
    other = decisions[PATH_READ].rule ? decisions[PATH_READ].rule : decisions[PATH_WRITE].rule;
    if (!other)
        return 0;
    message_rule_label(rule, &label);
    message_rule_label(other, &other_label);
    explain_origin(other->layer, other->origin, &where);
    report_add(report, BAWN_WARNING, "policy.shadowed", rule->origin,
               "%s has no effect: %s at %s decides for '%s'", label.text, other_label.text,
               where.text, rule->path);
    return 0;
}

static void lint_net_rule(const struct net_rule *rule, struct bawn_report *report)
{
    bool is_wide = rule->host.kind == HOST_SUBDOMAINS || rule->host.kind == HOST_DOMAIN ||
                   (rule->host.kind == HOST_ADDRESS && rule->host.prefix_bits < 128);
    autostrbuf struct strbuf label = {0};

    if (!rule->opaque || !is_wide)
        return;
    message_net_rule_label(rule, &label);
    report_add(report, BAWN_WARNING, "policy.wide_opaque", rule->origin,
               "%s: bawn does not look at what the command says to any of these hosts", label.text);
    report_hint(report, "name the one host, with its port, that speaks neither TLS nor HTTP");
}

int explain_lint(const struct policy *policy, struct bawn_report *report)
{
    vec_each (&policy->net_rules, rule)
        lint_net_rule(*rule, report);
    vec_each (&policy->rules, rule) {
        if ((*rule)->layer->id == LAYER_BUILTIN || (*rule)->wild || (*rule)->link || is_wish(*rule))
            continue;
        if (lint_rule(policy, *rule, report) < 0)
            return -1;
    }
    return 0;
}
