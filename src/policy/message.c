/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/message.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "policy/build.h"
#include "policy/network.h"
#include "policy/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_AT_MOST = 12 };

/* The workspace first, then what people wrote, then the profile; whole trees before what is deep.
 */
struct candidate {
    const char *path;
    int rank;
    size_t depth;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *left = a;
    const struct candidate *right = b;

    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    return strcmp(left->path, right->path);
}

static bool is_covered(const struct candidate *candidates, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (path_is_below(path, candidates[i].path))
            return true;
    return false;
}

static const char *summarize(struct policy *policy, struct candidate *candidates, size_t count)
{
    autostrbuf struct strbuf out = {0};
    size_t kept = 0;
    size_t more = 0;

    qsort(candidates, count, sizeof(*candidates), compare_candidates);
    for (size_t i = 0; i < count; i++) {
        if (is_covered(candidates, kept, candidates[i].path))
            continue;
        if (kept == LISTED_AT_MOST) {
            more++;
            continue;
        }
        candidates[kept++] = candidates[i];
        strbuf_add(&out, kept > 1 ? ", " : "");
        strbuf_add_escaped(&out, candidates[kept - 1].path);
    }
    if (more)
        strbuf_addf(&out, " and %zu more", more);
    if (kept == 0)
        strbuf_add(&out, "none");
    return out.failed ? NULL : arena_strdup(&policy->arena, out.text);
}

static const char *summarize_paths(struct policy *policy, enum path_op op)
{
    autofree struct candidate *candidates = calloc(policy->rules.count + 1, sizeof(*candidates));
    char buffer[TOLD_PATH_BYTES];
    size_t count = 0;

    if (!candidates)
        return NULL;
    vec_each (&policy->rules, rule) {
        struct path_decision decisions[PATH_OP_COUNT];

        if ((*rule)->kind != RULE_PATH || (*rule)->link)
            continue;
        if (decide_path(policy, (*rule)->path, decisions) < 0)
            return NULL;
        if (decisions[op].access >= ACCESS_ASK || decisions[op].reason != DECIDED_BY_RULE)
            continue;
        candidates[count].path = told_inside(policy, (*rule)->path, buffer);
        if (candidates[count].path == buffer)
            candidates[count].path = arena_strdup(&policy->arena, buffer);
        if (!candidates[count].path)
            return NULL;
        candidates[count].depth = path_depth((*rule)->path);
        candidates[count++].rank = strcmp((*rule)->path, policy->workspace) == 0 ? 0
                                   : (*rule)->layer->id != LAYER_BUILTIN         ? 1
                                                                                 : 2;
    }
    return summarize(policy, candidates, count);
}

static const char *summarize_hosts(struct policy *policy)
{
    autostrbuf struct strbuf out = {0};
    size_t count = 0;
    size_t more = 0;

    if (network_is_routed(policy)) {
        strbuf_addf(&out, "all that have public%s addresses",
                    network_routes_v6(policy) ? "" : " IPv4");
        return out.failed ? NULL : arena_strdup(&policy->arena, out.text);
    }
    if (policy_number(policy, SETTING_NETWORK_MODE) == NETWORK_ISOLATED) {
        strbuf_add(&out, "all public ones but those that are denied");
        count++;
    }
    vec_each (&policy->net_rules, rule) {
        if ((*rule)->verdict != NET_ALLOW || (*rule)->by)
            continue;
        if (count == LISTED_AT_MOST) {
            more++;
            continue;
        }
        strbuf_add(&out, count++ ? ", " : "");
        strbuf_add_escaped(&out, (*rule)->spelled);
    }
    if (more)
        strbuf_addf(&out, " and %zu more", more);
    if (count == 0)
        strbuf_add(&out, "none");
    return out.failed ? NULL : arena_strdup(&policy->arena, out.text);
}

int message_summarize(struct policy *policy)
{
    if (policy_number(policy, SETTING_READS) == READS_STATIC)
        policy->readable = "/ (but for secrets)";
    else
        policy->readable = summarize_paths(policy, PATH_READ);
    policy->writable = summarize_paths(policy, PATH_WRITE);
    policy->hosts = summarize_hosts(policy);
    return policy->readable && policy->writable && policy->hosts ? 0 : -ENOMEM;
}

static void add_start(struct strbuf *out, enum message_op op, const char *asked)
{
    static const char *const verbs[] = {
        [MESSAGE_READ] = "read", [MESSAGE_WRITE] = "write to", [MESSAGE_EXEC] = "execute"};

    strbuf_addf(out, "Cannot %s '", verbs[op]);
    strbuf_add_escaped(out, asked);
    strbuf_add(out, "'");
}

static void add_end(const struct policy *policy, enum message_op op, struct strbuf *out)
{
    if (op == MESSAGE_WRITE)
        strbuf_addf(out, "\nWritable paths: %s", policy->writable);
    else
        strbuf_addf(out, "\nReadable paths: %s", policy->readable);
}

enum refusal { OUTSIDE, READ_ONLY, DENIED, SECRET, PROTECTED, GUARDED, POLICY_FILE, APPROVAL };

static enum refusal refusal_of(enum message_op op, const struct path_decision *decision,
                               bool is_readable)
{
    const struct path_rule *rule = decision->rule;

    if (decision->access == ACCESS_ASK)
        return APPROVAL;
    if (rule && rule->kind == RULE_SECRET)
        return SECRET;
    if (rule && rule->kind == RULE_PROTECTED)
        return PROTECTED;
    if (rule && rule->kind == RULE_SEALED)
        return POLICY_FILE;
    if (rule && rule->read == ACCESS_UNSET)
        return GUARDED;
    if (op == MESSAGE_WRITE && is_readable && (!rule || rule->read_only))
        return READ_ONLY;
    return rule ? DENIED : OUTSIDE;
}

/* The one file in a private home that the host has a part in: see config/gitconfig.h. */
static bool is_gitconfig(const struct policy *policy, const char *path)
{
    size_t length = strlen(policy->home);

    return strncmp(path, policy->home, length) == 0 && strcmp(path + length, "/.gitconfig") == 0;
}

/* What a place of the command's own is. */
static const char *say_own(const struct policy *policy, const struct path_decision *decision,
                           const char *path)
{
    if (decision->rule && rule_is_copy(decision->rule))
        return "a copy: the host's file stays as it is, unless --write-back is given";
    if (is_gitconfig(policy, path))
        return "the command's own: of the host there are at most settings of git that run nothing";
    return decision->rule && decision->rule->is_kept
               ? "kept for this workspace: nothing of the host is there"
               : "private: nothing of the host is there";
}

const char *message_path(const struct policy *policy, enum message_op op, const char *asked,
                         const struct path_decision *decision, bool is_readable, struct strbuf *out)
{
    static const char *const codes[][3] = {
        [OUTSIDE] = {"read.outside", "write.outside", "exec.outside"},
        [READ_ONLY] = {"read.read_only", "write.read_only", "exec.read_only"},
        [DENIED] = {"read.denied", "write.denied", "exec.denied"},
        [SECRET] = {"read.secret", "write.secret", "exec.secret"},
        [PROTECTED] = {"read.protected", "write.protected", "exec.protected"},
        [GUARDED] = {"read.protected", "write.protected", "exec.protected"},
        [POLICY_FILE] = {"read.policy_file", "write.policy_file", "exec.policy_file"},
        [APPROVAL] = {"read.ask", "write.ask", "exec.ask"},
    };
    static const char *const allowed[] = {"read.allowed", "write.allowed", "exec.allowed"};
    enum refusal refusal;

    if (decision->access == ACCESS_PRIVATE)
        strbuf_add(out, say_own(policy, decision, asked));
    if (decision->access < ACCESS_ASK)
        return allowed[op];
    refusal = refusal_of(op, decision, is_readable);
    add_start(out, op, asked);
    switch (refusal) {
    case OUTSIDE:
        strbuf_add(out, ": path is outside sandbox.");
        break;
    case READ_ONLY:
        strbuf_add(out, ": path is read-only.");
        break;
    case DENIED:
        strbuf_add(out, ": path is denied by policy.");
        break;
    case SECRET:
        strbuf_addf(out, ": path is secret (%s).", decision->rule->reason);
        break;
    case PROTECTED:
        strbuf_addf(out, ": path is protected (%s).", decision->rule->reason);
        break;
    case GUARDED:
        strbuf_add(out, ": path is protected by policy.");
        break;
    case POLICY_FILE:
        strbuf_add(out, ": path is a policy file of this sandbox.");
        break;
    case APPROVAL:
        strbuf_add(out, " without approval.");
        break;
    }
    add_end(policy, op, out);
    return codes[refusal][op];
}

void message_unresolved(const struct policy *policy, enum message_op op, const char *asked,
                        const char *why, struct strbuf *out)
{
    add_start(out, op, asked);
    strbuf_addf(out, ": path cannot be resolved (%s).", why);
    add_end(policy, op, out);
}

const char *message_around(const struct policy *policy)
{
    if (!policy->told.cwd)
        return "the outer sandbox";
    return policy->told.is_around ? "this sandbox, or one around it," : "this sandbox";
}

const char *message_outer(const struct policy *policy, enum message_op op, const char *asked,
                          const char *refusal, struct strbuf *out)
{
    static const char *const codes[] = {"read.outer", "write.outer", "exec.outer"};
    static const char *const here[] = {"read.here", "write.here", "exec.here"};

    add_start(out, op, asked);
    strbuf_addf(out, ": %s %s.", message_around(policy), refusal);
    return (policy->told.cwd ? here : codes)[op];
}

const char *message_net_outer(const struct policy *policy, const char *asked, const char *refusal,
                              struct strbuf *out)
{
    strbuf_add(out, "Cannot connect to '");
    strbuf_add_escaped(out, asked);
    strbuf_addf(out, "': %s %s.", message_around(policy), refusal);
    return policy->told.cwd ? "network.here" : "network.outer";
}

static const char *net_code(const struct net_decision *decision)
{
    if (decision->access == ACCESS_ALLOW)
        return "network.allowed";
    if (decision->reason == NET_BY_MODE)
        return "network.disabled";
    if (decision->access == ACCESS_ASK)
        return "network.ask";
    if (decision->reason == NET_BY_SPECIAL || decision->reason == NET_BY_ROUTE)
        return "network.special_address";
    return decision->reason == NET_BY_UNLISTED ? "network.unlisted" : "network.denied";
}

const char *message_net_why(const struct net_decision *decision, struct strbuf *out)
{
    if (decision->reason == NET_BY_MODE)
        strbuf_add(out, "there is no network");
    else if (decision->access == ACCESS_ASK)
        strbuf_add(out, "it needs approval");
    else if (decision->reason == NET_BY_SPECIAL)
        strbuf_addf(out, "%s addresses must be listed by address", decision->special);
    else if (decision->reason == NET_BY_ROUTE)
        strbuf_addf(out, "this network does not reach %s addresses", decision->special);
    else
        strbuf_add(out, decision->reason == NET_BY_UNLISTED ? "the host is not allowed"
                                                            : "the policy denies the host");
    return net_code(decision);
}

const char *message_net(const struct policy *policy, const char *asked,
                        const struct net_decision *decision, struct strbuf *out)
{
    if (decision->access == ACCESS_ALLOW)
        return net_code(decision);
    if (decision->reason == NET_BY_MODE) {
        strbuf_add(out, "Network access is disabled for this worker");
        return net_code(decision);
    }
    strbuf_add(out, "Cannot connect to '");
    strbuf_add_escaped(out, asked);
    if (decision->access == ACCESS_ASK)
        strbuf_add(out, "' without approval.");
    else if (decision->reason == NET_BY_SPECIAL)
        strbuf_addf(out, "': %s addresses must be listed by address.", decision->special);
    else if (decision->reason == NET_BY_ROUTE)
        strbuf_addf(out, "': this network does not reach %s addresses.", decision->special);
    else if (decision->reason == NET_BY_UNLISTED)
        strbuf_add(out, "': host is not allowed.");
    else
        strbuf_add(out, "': host is denied by policy.");
    strbuf_addf(out, "\nAllowed hosts: %s", policy->hosts);
    return net_code(decision);
}

const char *message_suffix(const char *asked, const char *const *suffixes, struct strbuf *out)
{
    const char *between = " ";

    strbuf_add(out, "Cannot access '");
    strbuf_add_escaped(out, asked);
    strbuf_add(out, "': suffix not allowed.\nAllowed suffixes:");
    for (; *suffixes; suffixes++) {
        strbuf_add(out, between);
        strbuf_add_escaped(out, *suffixes);
        between = ", ";
    }
    if (between[0] == ' ')
        strbuf_add(out, " none");
    return "suffix.not_allowed";
}

const char *message_size(const char *asked, uint64_t size_bytes, uint64_t max_bytes,
                         struct strbuf *out)
{
    strbuf_add(out, "Cannot read '");
    strbuf_add_escaped(out, asked);
    strbuf_addf(out, "': file too large (%llu bytes).\nMaximum allowed: %llu bytes",
                (unsigned long long)size_bytes, (unsigned long long)max_bytes);
    return "size.too_large";
}

void message_rule_label(const struct path_rule *rule, struct strbuf *out)
{
    switch (rule->kind) {
    case RULE_PATH:
        if (rule->name) {
            strbuf_add(out, "paths.");
            strbuf_add_escaped(out, rule->name);
            return;
        }
        strbuf_addf(out, "%s ", rule_mode(rule));
        break;
    case RULE_PATTERN:
        strbuf_addf(out, "%s ", rule_mode(rule));
        break;
    case RULE_SECRET:
        strbuf_add(out, "secret ");
        break;
    case RULE_PROTECTED:
        strbuf_add(out, "protected ");
        break;
    case RULE_SEALED:
        strbuf_add(out, "policy file");
        return;
    }
    strbuf_add_escaped(out, rule->spelled);
}

void message_label(const struct path_decision *decision, struct strbuf *out)
{
    if (decision->socket) {
        strbuf_add(out, "unix_sockets ");
        strbuf_add_escaped(out, decision->socket->value);
    } else if (decision->rule) {
        message_rule_label(decision->rule, out);
    } else {
        strbuf_add(out, decision->reason == DECIDED_BY_SKELETON ? "skeleton" : "default");
    }
}

void message_net_rule_label(const struct net_rule *rule, struct strbuf *out)
{
    autostrbuf struct strbuf words = {0};

    net_rule_words(rule, &words);
    strbuf_addf(out, "%s ", net_verdict_word(rule));
    strbuf_add_escaped(out, words.text ? words.text : "");
    out->failed = out->failed || words.failed;
}

void message_net_label(const struct policy *policy, const struct net_decision *decision,
                       struct strbuf *out)
{
    switch (decision->reason) {
    case NET_BY_RULE:
        message_net_rule_label(decision->rule, out);
        break;
    case NET_BY_MODE:
        strbuf_addf(
            out, "network %s",
            setting_table[SETTING_NETWORK_MODE].words[policy_number(policy, SETTING_NETWORK_MODE)]);
        break;
    case NET_BY_UNLISTED:
        strbuf_add(out, "unlisted");
        break;
    case NET_BY_SPECIAL:
    case NET_BY_ROUTE:
        strbuf_addf(out, "special %s", decision->special);
        break;
    case NET_BY_HOST_PORT:
        strbuf_addf(out, "host_ports %s", decision->item->value);
        break;
    }
}
