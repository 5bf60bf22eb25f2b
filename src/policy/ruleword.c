/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/ruleword.h"

#include "base/path.h"
#include "policy/build.h"

#include <stdio.h>
#include <string.h>

static const struct rule_word words[BAWN_RULE_KINDS] = {
    [BAWN_RULE_READ] = {"read", "sandbox.paths", "ro", true, TAKES_PATH},
    [BAWN_RULE_WRITE] = {"write", "sandbox.paths", "rw", true, TAKES_PATH},
    [BAWN_RULE_DENY] = {"deny", "sandbox.deny", NULL, false, TAKES_PATTERN},
    [BAWN_RULE_ASK] = {"ask", "sandbox.ask", NULL, false, TAKES_PATTERN},
    [BAWN_RULE_PROTECT] = {"protect", "sandbox.protect", NULL, false, TAKES_PATTERN},
    [BAWN_RULE_CONFIRM] = {"confirm", "sandbox.confirm", NULL, false, TAKES_PATTERN},
    [BAWN_RULE_HOST] = {"host", "sandbox.network.allow", NULL, true, TAKES_HOST},
    [BAWN_RULE_ASK_HOST] = {"ask-host", "sandbox.network.ask", NULL, false, TAKES_HOST},
    [BAWN_RULE_DENY_HOST] = {"deny-host", "sandbox.network.deny", NULL, false, TAKES_HOST},
    [BAWN_RULE_HOST_PORT] = {"host-port", "sandbox.network.host_ports", NULL, true, TAKES_PORT},
    [BAWN_RULE_SOCKET] = {"socket", "sandbox.network.unix_sockets", NULL, true, TAKES_PATH},
    [BAWN_RULE_REOPEN] = {"reopen", "sandbox.reopen", NULL, true, TAKES_ENTRY},
    [BAWN_RULE_PRESET] = {"preset", "presets", NULL, true, TAKES_ENTRY},
};

const struct rule_word *rule_word(enum bawn_rule_kind kind)
{
    return (unsigned)kind < BAWN_RULE_KINDS ? &words[kind] : NULL;
}

const char *rule_too_wide(const struct policy *policy, const char *path)
{
    if (strcmp(path, "/") == 0)
        return "that is everything: grant what is needed, one by one";
    if (path_is_below(policy->home, path))
        return "that is a whole home: grant what is needed of it, one by one";
    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_SECRET && !(*rule)->wild && strcmp((*rule)->path, path) != 0 &&
            path_is_below((*rule)->path, path))
            return "a secret is in it: grant what is needed of it, one by one";
    }
    return NULL;
}

const char *rule_for_path(const struct policy *policy, const struct refused_path *refused,
                          bool directory, struct rule_advice *ret_advice)
{
    const struct path_decision *decision = refused->decision;
    const struct path_rule *rule = decision->rule;
    bool is_listed = rule && (rule->kind == RULE_SECRET || rule->kind == RULE_PROTECTED);
    const char *wide;

    *ret_advice = (struct rule_advice){.kind = refused->is_socket          ? BAWN_RULE_SOCKET
                                               : refused->op == PATH_WRITE ? BAWN_RULE_WRITE
                                                                           : BAWN_RULE_READ,
                                       .reopens = is_listed};
    if (decision->access < ACCESS_ASK)
        return "it is allowed";
    if (rule && rule->kind == RULE_SEALED)
        return "a sandbox cannot change the policy it runs under";
    if (rule && rule->layer->authority == AUTHORITY_ORG)
        return "only the org policy can change it";
    /* A profile is built in: it is not changed but overruled. A lack of a grant is no rule. */
    if (rule && !is_listed && rule->layer->id != LAYER_BUILTIN &&
        !(refused->op == PATH_WRITE && rule->read_only))
        return "a rule says so: change that one";
    wide = rule_too_wide(policy, refused->path);
    if (wide)
        return wide;
    (void)snprintf(ret_advice->text, sizeof(ret_advice->text), "%s", refused->path);
    if (directory && !is_listed && !refused->is_socket) {
        path_cut_name(ret_advice->text);
        if (rule_too_wide(policy, ret_advice->text))
            (void)snprintf(ret_advice->text, sizeof(ret_advice->text), "%s", refused->path);
    }
    return NULL;
}

const char *rule_for_host(const struct net_decision *decision, const char *asked,
                          const struct host *target, struct rule_advice *ret_advice)
{
    bool is_loopback = decision->special && strcmp(decision->special, "loopback") == 0;

    *ret_advice = (struct rule_advice){.kind = BAWN_RULE_HOST};
    if (decision->access == ACCESS_ALLOW)
        return "it is allowed";
    if (decision->reason == NET_BY_MODE)
        return "there is no network: set sandbox.network.mode to proxy (--net proxy)";
    if (decision->reason == NET_BY_ROUTE)
        return "no route leads there";
    if (decision->rule && decision->rule->verdict == NET_DENY)
        return "a denial always wins: take the host out of sandbox.network.deny";
    if (decision->rule && decision->rule->layer->authority == AUTHORITY_ORG)
        return "only the org policy can change it";
    if (decision->for_program)
        return "a rule for one program names it: take 'by' out to open the host to all";
    if (decision->reason == NET_BY_SPECIAL && is_loopback && target) {
        ret_advice->kind = BAWN_RULE_HOST_PORT;
        (void)snprintf(ret_advice->text, sizeof(ret_advice->text), "%u", target->port);
        return NULL;
    }
    (void)snprintf(ret_advice->text, sizeof(ret_advice->text), "%s", asked);
    return NULL;
}

void rule_command(const struct rule_advice *advice, struct strbuf *out)
{
    autostrbuf struct strbuf shown = {0};

    strbuf_addf(out, "bawn policy save %s%s '", advice->reopens ? "--reopen " : "",
                words[advice->kind].word);
    strbuf_add_escaped(&shown, advice->text);
    /* SECURITY: names are others' to choose, and people paste what they read into a shell. */
    for (const char *at = shown.text; at && *at; at++) {
        if (*at == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_add_bytes(out, at, 1);
    }
    strbuf_add(out, "'");
    out->failed = out->failed || shown.failed;
}
