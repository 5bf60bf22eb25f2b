/* SPDX-License-Identifier: Apache-2.0 */
#include "config/export.h"

#include "base/json.h"
#include "base/map.h"
#include "policy/build.h"
#include "policy/decide_net.h"
#include "policy/glob.h"

#include <stdio.h>
#include <string.h>

/* A YAML scalar that reads back as the same text, whatever is in it. */
static void add_quoted(struct strbuf *out, const char *text)
{
    json_add_yaml(out, text);
}

static bool is_exported(const struct layer *layer, bool with_builtin)
{
    return with_builtin || layer->id != LAYER_BUILTIN;
}

/* The text of a rule's path that reads back as this very rule: patterns are absolute by now. */
static void add_pattern_text(struct strbuf *out, const struct path_rule *rule)
{
    autostrbuf struct strbuf escaped = {0};

    if (rule->wild) {
        add_quoted(out, rule->path);
        return;
    }
    glob_escape(&escaped, rule->path);
    if (escaped.failed)
        out->failed = true;
    else
        add_quoted(out, escaped.text);
}

static void add_suffixes(struct strbuf *out, const struct path_rule *rule)
{
    const char *between = "";

    if (!rule->suffixes)
        return;
    strbuf_add(out, ", suffixes: [");
    for (const char *const *suffix = rule->suffixes; *suffix; suffix++) {
        strbuf_add(out, between);
        add_quoted(out, *suffix);
        between = ", ";
    }
    strbuf_add(out, "]");
}

/* A name for a path that no other one has: its own, or one with a number behind it. */
static const char *free_name(struct arena *arena, struct map *taken, const char *name)
{
    const char *candidate = name ? name : "path";

    for (size_t number = 2; candidate && map_get(taken, 0, candidate, strlen(candidate)); number++)
        candidate = arena_printf(arena, "%s-%zu", name ? name : "path", number);
    if (!candidate || !map_put(taken, 0, candidate, strlen(candidate), taken))
        return NULL;
    return candidate;
}

static void export_paths(const struct policy *policy, bool with_builtin, struct strbuf *out)
{
    const char *heading = "  paths:\n";
    struct arena arena = {0};
    struct map taken = {0};

    vec_each (&policy->rules, rule) {
        const char *name;

        /* A repository is found anew by who reads it: sandbox.repository says so. */
        if ((*rule)->kind != RULE_PATH || (*rule)->link ||
            strcmp((*rule)->layer->name, LAYER_REPOSITORY) == 0 ||
            !is_exported((*rule)->layer, with_builtin))
            continue;
        name = free_name(&arena, &taken, (*rule)->name);
        if (!name) {
            out->failed = true;
            break;
        }
        strbuf_add(out, heading);
        heading = "";
        strbuf_add(out, "    ");
        add_quoted(out, name);
        strbuf_add(out, ": {root: ");
        add_quoted(out, (*rule)->path);
        strbuf_addf(out, ", mode: %s", rule_mode(*rule));
        if ((*rule)->is_new)
            strbuf_add(out, ", make: true");
        add_suffixes(out, *rule);
        if ((*rule)->max_file_bytes)
            strbuf_addf(out, ", max_file_bytes: %llu", (unsigned long long)(*rule)->max_file_bytes);
        strbuf_add(out, "}\n");
    }
    map_done(&taken);
    arena_done(&arena);
}

static void export_patterns(const struct policy *policy, bool with_builtin, struct strbuf *out)
{
    static const char *const lists[] = {"deny", "ask", "protect", "confirm"};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        bool first = true;

        vec_each (&policy->rules, rule) {
            if ((*rule)->kind != RULE_PATTERN || (*rule)->link || (*rule)->is_repeat ||
                strcmp(rule_mode(*rule), lists[i]) != 0 ||
                !is_exported((*rule)->layer, with_builtin))
                continue;
            if (first)
                strbuf_addf(out, "  %s:\n", lists[i]);
            first = false;
            strbuf_add(out, "    - ");
            add_pattern_text(out, *rule);
            strbuf_add(out, "\n");
        }
    }
}

/* The key below "sandbox.SECTION.", or NULL when it is elsewhere. */
static const char *key_in(const char *key, const char *section)
{
    size_t length = strlen(section);

    return strncmp(key, section, length) == 0 && !strchr(key + length, '.') ? key + length : NULL;
}

static void export_settings(const struct policy *policy, bool with_builtin, const char *section,
                            const char *indent, struct strbuf *out)
{
    for (enum setting_id id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &policy->settings[id];
        const char *key = key_in(setting_table[id].key, section);

        if (!key || !setting->is_set || !is_exported(setting->layer, with_builtin))
            continue;
        strbuf_addf(out, "%s%s: ", indent, key);
        if (setting_table[id].type == VALUE_TEXT || setting_table[id].type == VALUE_PLACE ||
            setting_table[id].type == VALUE_PROXY)
            add_quoted(out, setting->text);
        else
            strbuf_add(out, setting->text);
        strbuf_add(out, "\n");
    }
}

/* Whether a later layer gives the same key of a map another value. */
static bool is_replaced(const struct policy *policy, const struct item *item, bool with_builtin)
{
    if (!item->key)
        return false;
    for (const struct item *later = item + 1; later < policy->items.items + policy->items.count;
         later++)
        if (later->list == item->list && is_exported(later->layer, with_builtin) &&
            strcmp(later->key, item->key) == 0)
            return true;
    return false;
}

static void export_lists(const struct policy *policy, bool with_builtin, const char *section,
                         const char *indent, struct strbuf *out)
{
    for (enum list_id list = 0; list < LIST_COUNT; list++) {
        const char *key = key_in(list_table[list].key, section);
        bool first = true;

        if (!key || list == LIST_TOOL_RULES || list == LIST_COMMAND_RULES || list == LIST_PRESETS)
            continue;
        vec_each (&policy->items, item) {
            if (item->list != list || item->is_implied || !is_exported(item->layer, with_builtin) ||
                is_replaced(policy, item, with_builtin))
                continue;
            if (first)
                strbuf_addf(out, "%s%s:\n", indent, key);
            first = false;
            strbuf_addf(out, "%s  %s", indent, item->key ? "" : "- ");
            if (item->key) {
                add_quoted(out, item->key);
                strbuf_add(out, ": ");
            }
            add_quoted(out, item->value);
            strbuf_add(out, "\n");
        }
    }
}

/* Whether another rule for the same host says what may be said: in one layer the laxer would. */
static bool is_outranked(const struct policy *policy, const struct net_rule *rule,
                         bool with_builtin)
{
    const struct host *host = &rule->host;

    vec_each (&policy->net_rules, at) {
        const struct net_rule *other = *at;

        if (other->verdict == rule->verdict && other->host.kind == host->kind &&
            other->host.port == host->port && other->host.prefix_bits == host->prefix_bits &&
            strcmp(other->host.name, host->name) == 0 && !other->by && !rule->by &&
            other->layer->authority != AUTHORITY_PROJECT &&
            is_exported(other->layer, with_builtin) && decide_net_outranks(other, rule))
            return true;
    }
    return false;
}

static void export_hosts(const struct policy *policy, bool with_builtin, struct strbuf *out)
{
    for (unsigned verdict = NET_ALLOW; verdict <= NET_DENY; verdict++) {
        bool first = true;

        vec_each (&policy->net_rules, rule) {
            autostrbuf struct strbuf text = {0};

            if ((unsigned)(*rule)->verdict != verdict ||
                !is_exported((*rule)->layer, with_builtin) ||
                is_outranked(policy, *rule, with_builtin))
                continue;
            if (first)
                strbuf_addf(out, "    %s:\n", net_verdict_word(*rule));
            first = false;
            strbuf_add(out, "      - ");
            net_rule_words(*rule, &text);
            add_quoted(out, text.text ? text.text : "");
            strbuf_add(out, "\n");
            out->failed = out->failed || text.failed;
        }
    }
}

/* A section only where something is in it. */
static void add_section(struct strbuf *out, const char *heading, struct strbuf *body)
{
    if (body->length) {
        strbuf_add(out, heading);
        strbuf_add(out, body->text);
    }
    out->failed = out->failed || body->failed;
    strbuf_done(body);
}

static void export_tool(const struct policy *policy, bool with_builtin, const struct item *tool,
                        struct strbuf *out)
{
    static const enum access lists[] = {ACCESS_ALLOW, ACCESS_ASK, ACCESS_DENY};

    enum access strictest = ACCESS_UNSET;

    strbuf_add(out, "  ");
    add_quoted(out, tool->key);
    strbuf_add(out, ":\n");
    vec_each (&policy->items, item) {
        if (item->list == LIST_TOOL_RULES && strcmp(item->key, tool->key) == 0 &&
            is_exported(item->layer, with_builtin) && item->access > strictest)
            strictest = item->access;
    }
    if (strictest != ACCESS_UNSET)
        strbuf_addf(out, "    approval_required: %s\n",
                    strictest == ACCESS_ALLOW ? "false" : "true");
    for (size_t i = 0; i < 3; i++) {
        bool first = true;

        vec_each (&policy->items, item) {
            if (item->list != LIST_COMMAND_RULES || item->access != lists[i] ||
                strcmp(item->key, tool->key) != 0 || !is_exported(item->layer, with_builtin))
                continue;
            if (first)
                strbuf_addf(out, "    %s:\n", access_word(lists[i]));
            first = false;
            strbuf_add(out, "      - ");
            add_quoted(out, item->value);
            strbuf_add(out, "\n");
        }
    }
}

static void export_tools(const struct policy *policy, bool with_builtin, struct strbuf *out)
{
    const struct item *items = policy->items.items;
    const char *heading = "tool_rules:\n";

    for (size_t i = 0; i < policy->items.count; i++) {
        bool seen = false;

        if ((items[i].list != LIST_TOOL_RULES && items[i].list != LIST_COMMAND_RULES) ||
            !is_exported(items[i].layer, with_builtin))
            continue;
        for (size_t j = 0; j < i && !seen; j++)
            seen = (items[j].list == LIST_TOOL_RULES || items[j].list == LIST_COMMAND_RULES) &&
                   is_exported(items[j].layer, with_builtin) &&
                   strcmp(items[j].key, items[i].key) == 0;
        if (seen)
            continue;
        strbuf_add(out, heading);
        heading = "";
        export_tool(policy, with_builtin, &items[i], out);
    }
}

void export_bawn(const struct policy *policy, bool with_builtin, struct strbuf *out)
{
    static const char *const sections[][3] = {
        {"sandbox.limits.", "  limits:\n", "    "},
        {"sandbox.process.", "  process:\n", "    "},
        {"sandbox.devices.", "  devices:\n", "    "},
    };
    struct strbuf sandbox = {0};
    struct strbuf body = {0};

    strbuf_add(out, "version: 1\n");
    export_settings(policy, with_builtin, "", "", out);
    export_lists(policy, with_builtin, "", "", out);
    export_settings(policy, with_builtin, "sandbox.", "  ", &sandbox);
    export_paths(policy, with_builtin, &sandbox);
    export_patterns(policy, with_builtin, &sandbox);
    export_lists(policy, with_builtin, "sandbox.", "  ", &sandbox);
    export_settings(policy, with_builtin, "sandbox.network.", "    ", &body);
    export_hosts(policy, with_builtin, &body);
    export_lists(policy, with_builtin, "sandbox.network.", "    ", &body);
    add_section(&sandbox, "  network:\n", &body);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        export_settings(policy, with_builtin, sections[i][0], sections[i][2], &body);
        export_lists(policy, with_builtin, sections[i][0], sections[i][2], &body);
        if (i == 1) {
            struct strbuf env = {0};

            export_lists(policy, with_builtin, "sandbox.process.env.", "      ", &env);
            add_section(&body, "    env:\n", &env);
        }
        add_section(&sandbox, sections[i][1], &body);
    }
    add_section(out, "sandbox:\n", &sandbox);
    export_tools(policy, with_builtin, out);
}

/* One list of paths of a foreign format, closed by another path unless that is NULL. */
static void export_rules(const struct policy *policy, const char *key, const char *modes,
                         const char *last, struct strbuf *out)
{
    json_open(out, key, '[');
    vec_each (&policy->rules, rule) {
        const char *found = strstr(modes, rule_mode(*rule));
        bool is_listed = (*rule)->kind == RULE_SECRET || (*rule)->kind == RULE_PROTECTED;

        if (!found || (*rule)->link || (*rule)->kind == RULE_SEALED ||
            (found != modes && found[-1] != ' '))
            continue;
        /* An any-depth entry of the built-in lists is a pattern there too. */
        if (is_listed && (*rule)->wild && strncmp((*rule)->path, "/**", 3) != 0)
            continue;
        if (!(*rule)->wild && strpbrk((*rule)->path, "*?[\\")) {
            json_open(out, NULL, '{');
            json_put_string(out, "path", (*rule)->path);
            json_put_bool(out, "literal", true);
            json_close(out, '}');
        } else {
            json_put_string(out, NULL, (*rule)->path);
        }
    }
    if (last)
        json_put_string(out, NULL, last);
    json_close(out, ']');
}

static void warn_lost(const struct policy *policy, const char *format, struct bawn_report *report)
{
    vec_each (&policy->rules, rule) {
        const char *mode = rule_mode(*rule);

        if ((*rule)->link || (*rule)->layer->id == LAYER_BUILTIN)
            continue;
        if (strcmp(mode, "overlay") == 0 || strcmp(mode, "private") == 0 ||
            strcmp(mode, "copy") == 0)
            report_add(report, BAWN_WARNING, "export.lost", (*rule)->origin,
                       "%s has no %s paths: '%s' is left out", format, mode, (*rule)->path);
        if (strcmp(format, "srt") == 0 &&
            (strcmp(mode, "ask") == 0 || strcmp(mode, "confirm") == 0))
            report_add(report, BAWN_WARNING, "export.lost", (*rule)->origin,
                       "%s cannot ask about paths: '%s' is denied there", format, (*rule)->path);
    }
    vec_each (&policy->net_rules, rule) {
        if ((*rule)->by)
            report_add(report, BAWN_WARNING, "export.lost", (*rule)->origin,
                       "%s has no hosts for one program: '%s' is left out", format,
                       (*rule)->spelled);
    }
    for (enum setting_id id = SETTING_LIMITS_PRESET; id <= SETTING_LIMITS_TIME; id++)
        if (policy->settings[id].is_set && policy->settings[id].layer->id != LAYER_BUILTIN)
            report_add(report, BAWN_WARNING, "export.lost", policy->settings[id].origin,
                       "%s has no limits: %s is left out", format, setting_table[id].key);
    if (policy_number(policy, SETTING_READS) != READS_STATIC)
        report_add(report, BAWN_WARNING, "export.reads", (struct origin){0},
                   "%s allows every read that is not denied: '/' is denied, and what is granted is "
                   "allowed again",
                   format);
}

static void export_domains(const struct policy *policy, const char *key, unsigned verdict,
                           struct strbuf *out)
{
    json_open(out, key, '[');
    vec_each (&policy->net_rules, rule) {
        const struct host *host = &(*rule)->host;
        autostrbuf struct strbuf text = {0};

        if ((unsigned)(*rule)->verdict != verdict || (*rule)->by)
            continue;
        if (host->kind == HOST_DOMAIN) {
            autostrbuf struct strbuf apex = {0};

            /* There "*.x" is the subdomains and "x" the apex. */
            strbuf_addf(&apex, "%s", host->name);
            if (host->port)
                strbuf_addf(&apex, ":%u", host->port);
            strbuf_addf(&text, "*.%s", apex.text ? apex.text : "");
            json_put_text(out, NULL, &text);
            json_put_text(out, NULL, &apex);
        } else {
            json_put_string(out, NULL, (*rule)->spelled);
        }
    }
    json_close(out, ']');
}

static void export_common(const struct policy *policy, bool asks, struct strbuf *out)
{
    bool is_static = policy_number(policy, SETTING_READS) == READS_STATIC;

    json_open(out, "network", '{');
    export_domains(policy, "allowedDomains", NET_ALLOW, out);
    export_domains(policy, "deniedDomains", NET_DENY, out);
    if (policy->settings[SETTING_NETWORK_LOCAL_BINDING].is_set)
        json_put_bool(out, "allowLocalBinding",
                      policy_number(policy, SETTING_NETWORK_LOCAL_BINDING) != 0);
    if (policy_number(policy, SETTING_NETWORK_UNLISTED) == UNLISTED_DENY)
        json_put_bool(out, "strictAllowlist", true);
    json_close(out, '}');
    json_open(out, "filesystem", '{');
    /* There everything is read that is not denied. */
    export_rules(policy, "denyRead", asks ? "deny" : "deny ask", is_static ? NULL : "/", out);
    export_rules(policy, "allowRead", "ro rw", NULL, out);
    export_rules(policy, "allowWrite", "rw", NULL, out);
    export_rules(policy, "denyWrite", asks ? "protect" : "protect confirm", NULL, out);
    json_close(out, '}');
}

static void add_document(struct strbuf *out, const struct strbuf *document)
{
    if (document->failed)
        out->failed = true;
    else
        json_add_pretty(out, document->text);
}

void export_srt(const struct policy *policy, struct bawn_report *report, struct strbuf *out)
{
    autostrbuf struct strbuf document = {0};

    warn_lost(policy, "srt", report);
    json_open(&document, NULL, '{');
    export_common(policy, false, &document);
    json_close(&document, '}');
    add_document(out, &document);
}

static void add_permission(struct strbuf *out, const char *tool, const struct strbuf *specifier)
{
    autostrbuf struct strbuf text = {0};

    strbuf_addf(&text, "%s(%s)", tool, specifier->text ? specifier->text : "");
    text.failed = text.failed || specifier->failed;
    json_put_text(out, NULL, &text);
}

static void export_permissions(const struct policy *policy, const char *key, enum access access,
                               struct strbuf *out)
{
    json_open(out, key, '[');
    vec_each (&policy->items, item) {
        bool is_shell = item->key && strcmp(item->key, "shell") == 0;
        autostrbuf struct strbuf command = {0};

        strbuf_add(&command, item->value);
        if (item->access == access && item->list == LIST_COMMAND_RULES)
            add_permission(out, is_shell ? "Bash" : item->key, &command);
        else if (item->access == access && item->list == LIST_TOOL_RULES)
            json_put_string(out, NULL, is_shell ? "Bash" : item->key);
    }
    vec_each (&policy->rules, rule) {
        autostrbuf struct strbuf path = {0};

        if ((*rule)->link || access != ACCESS_ASK || (*rule)->write != ACCESS_ASK)
            continue;
        strbuf_addf(&path, "/%s", (*rule)->path);
        if ((*rule)->read == ACCESS_ASK)
            add_permission(out, "Read", &path);
        add_permission(out, "Edit", &path);
    }
    vec_each (&policy->net_rules, rule) {
        autostrbuf struct strbuf domain = {0};

        if (access != ACCESS_ASK || (*rule)->verdict != NET_ASK || (*rule)->by)
            continue;
        strbuf_addf(&domain, "domain:%s", (*rule)->spelled);
        add_permission(out, "WebFetch", &domain);
    }
    json_close(out, ']');
}

void export_claude(const struct policy *policy, struct bawn_report *report, struct strbuf *ret_text)
{
    autostrbuf struct strbuf document = {0};
    struct strbuf *out = &document;

    warn_lost(policy, "Claude Code", report);
    json_open(out, NULL, '{');
    json_open(out, "sandbox", '{');
    json_put_bool(out, "enabled", true);
    if (policy_number(policy, SETTING_REQUIRE_OS_SANDBOX))
        json_put_bool(out, "failIfUnavailable", true);
    export_common(policy, true, out);
    json_close(out, '}');
    json_open(out, "permissions", '{');
    export_permissions(policy, "allow", ACCESS_ALLOW, out);
    export_permissions(policy, "ask", ACCESS_ASK, out);
    export_permissions(policy, "deny", ACCESS_DENY, out);
    json_close(out, '}');
    json_close(out, '}');
    add_document(ret_text, &document);
}
