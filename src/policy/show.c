/* SPDX-License-Identifier: Apache-2.0 */
/* The effective policy, printed: every value with its origin. */
#include "base/json.h"
#include "policy/build.h"
#include "policy/explain.h"

#include <string.h>

/* "  left column          # origin" */
static void add_line(struct strbuf *out, const char *text, const struct layer *layer,
                     struct origin origin)
{
    int pad = 46 - (int)strlen(text);

    strbuf_addf(out, "  %s%*s # ", text, pad > 0 ? pad : 1, "");
    explain_origin(layer, origin, out);
    strbuf_add(out, "\n");
}

static void json_origin(struct strbuf *out, const struct layer *layer, struct origin origin)
{
    json_put_string(out, "layer", layer->name);
    json_put_string(out, "file", origin.file);
    json_put_uint(out, "line", origin.line);
    json_put_uint(out, "column", origin.column);
}

static bool is_builtin_entry(const struct path_rule *rule)
{
    return rule->kind == RULE_SECRET || rule->kind == RULE_PROTECTED;
}

static void show_layers(const struct policy *policy, enum bawn_format format, struct strbuf *out)
{
    static const char *const who[] = {[AUTHORITY_BUILTIN] = "built-in",
                                      [AUTHORITY_PROJECT] = "project, may only narrow",
                                      [AUTHORITY_APPROVED] = "project, approved",
                                      [AUTHORITY_USER] = "user",
                                      [AUTHORITY_ORG] = "org"};

    if (format == BAWN_FORMAT_JSON)
        json_open(out, "layers", '[');
    else
        strbuf_add(out, "layers, in reading order:\n");
    vec_each (&policy->layers, layer) {
        const struct layer *one = *layer;

        if (format == BAWN_FORMAT_JSON) {
            json_open(out, NULL, '{');
            json_put_string(out, "name", one->name);
            json_put_string(out, "authority", who[one->authority]);
            json_put_string(out, "file", one->file);
            json_put_string(out, "sha256", one->sha256);
            json_close(out, '}');
            continue;
        }
        strbuf_addf(out, "  %s", one->name);
        if (one->file) {
            strbuf_add(out, " ");
            strbuf_add_escaped(out, one->file);
        }
        strbuf_addf(out, " (%s)\n", who[one->authority]);
    }
    if (format == BAWN_FORMAT_JSON)
        json_close(out, ']');
}

static void show_rule(const struct path_rule *rule, enum bawn_format format, struct strbuf *out)
{
    autostrbuf struct strbuf label = {0};
    autostrbuf struct strbuf text = {0};

    message_rule_label(rule, &label);
    if (format == BAWN_FORMAT_JSON) {
        json_open(out, NULL, '{');
        json_put_text(out, "rule", &label);
        json_put_string(out, "path", rule->path);
        json_put_bool(out, "pattern", rule->wild);
        json_put_string(out, "read", access_word(rule->read));
        json_put_string(out, "write", access_word(rule->write));
        if (rule->only_dir)
            json_put_string(out, "only", "directory");
        json_put_string(out, "link", rule->link);
        json_put_string(out, "reason", rule->reason);
        json_origin(out, rule->layer, rule->origin);
        json_close(out, '}');
        return;
    }
    if (rule->kind == RULE_PATH) {
        strbuf_addf(&text, "%-8s", rule_mode(rule));
        strbuf_add_escaped(&text, rule->path);
    } else if (rule->kind == RULE_PATTERN) {
        strbuf_addf(&text, "%-8s", rule_mode(rule));
        strbuf_add_escaped(&text, rule->spelled);
    } else {
        strbuf_add(&text, label.text ? label.text : "");
    }
    if (rule->kind == RULE_SEALED) {
        strbuf_add(&text, " ");
        strbuf_add_escaped(&text, rule->path);
    }
    if (rule->reason)
        strbuf_addf(&text, "  (%s)", rule->reason);
    add_line(out, text.text ? text.text : "", rule->layer, rule->origin);
}

static void show_rules(const struct policy *policy, bool with_builtin, enum bawn_format format,
                       struct strbuf *out)
{
    size_t secrets = 0;
    size_t protected = 0;

    if (format == BAWN_FORMAT_JSON)
        json_open(out, "paths", '[');
    else
        strbuf_add(out, "\npaths, the most specific wins:\n");
    vec_each (&policy->rules, rule) {
        if ((*rule)->is_repeat)
            continue;
        secrets += (*rule)->kind == RULE_SECRET && !(*rule)->link;
        protected += (*rule)->kind == RULE_PROTECTED && !(*rule)->link;
        if (!is_builtin_entry(*rule) || with_builtin)
            show_rule(*rule, format, out);
    }
    if (format == BAWN_FORMAT_JSON)
        json_close(out, ']');
    else if (!with_builtin && secrets + protected > 0)
        strbuf_addf(out,
                    "  and %zu secrets that cannot be read, %zu paths that cannot be written "
                    "('policy show --builtin')\n",
                    secrets, protected);
}

static void show_settings(const struct policy *policy, enum bawn_format format, struct strbuf *out)
{
    if (format == BAWN_FORMAT_JSON)
        json_open(out, "settings", '[');
    else
        strbuf_add(out, "\nsettings:\n");
    for (enum setting_id id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &policy->settings[id];
        autostrbuf struct strbuf text = {0};

        if (!setting->is_set)
            continue;
        if (format == BAWN_FORMAT_JSON) {
            json_open(out, NULL, '{');
            json_put_string(out, "key", setting_table[id].key);
            json_put_string(out, "value", setting->text);
            json_origin(out, setting->layer, setting->origin);
            json_close(out, '}');
            continue;
        }
        strbuf_addf(&text, "%s: ", setting_table[id].key);
        strbuf_add_escaped(&text, setting->text);
        add_line(out, text.text ? text.text : "", setting->layer, setting->origin);
    }
    if (format == BAWN_FORMAT_JSON) {
        json_close(out, ']');
    } else if (!policy->settings[SETTING_READS].is_set) {
        strbuf_addf(out, "  sandbox.reads: %s  (by default)\n",
                    setting_table[SETTING_READS].words[policy_number(policy, SETTING_READS)]);
    }
}

static void show_net(const struct policy *policy, enum bawn_format format, struct strbuf *out)
{
    if (format == BAWN_FORMAT_JSON)
        json_open(out, "hosts", '[');
    else if (policy->net_rules.count)
        strbuf_add(out, "\nhosts, a denial always wins:\n");
    vec_each (&policy->net_rules, rule) {
        autostrbuf struct strbuf words = {0};
        autostrbuf struct strbuf text = {0};

        if (format == BAWN_FORMAT_JSON) {
            json_open(out, NULL, '{');
            json_put_string(out, "verdict", net_verdict_word(*rule));
            json_put_string(out, "host", (*rule)->spelled);
            json_put_bool(out, "opaque", (*rule)->opaque);
            json_put_string(out, "ech", (*rule)->ech ? "allow" : "deny");
            json_put_string(out, "by", (*rule)->by);
            json_origin(out, (*rule)->layer, (*rule)->origin);
            json_close(out, '}');
            continue;
        }
        net_rule_words(*rule, &words);
        strbuf_addf(&text, "%-6s", net_verdict_word(*rule));
        strbuf_add_escaped(&text, words.text ? words.text : "");
        add_line(out, text.text ? text.text : "", (*rule)->layer, (*rule)->origin);
    }
    if (format == BAWN_FORMAT_JSON)
        json_close(out, ']');
}

static void show_items(const struct policy *policy, enum bawn_format format, struct strbuf *out)
{
    if (format == BAWN_FORMAT_JSON)
        json_open(out, "lists", '[');
    else if (policy->items.count)
        strbuf_add(out, "\nlists:\n");
    vec_each (&policy->items, item) {
        bool is_tool = item->list == LIST_TOOL_RULES || item->list == LIST_COMMAND_RULES;
        autostrbuf struct strbuf text = {0};

        if (format == BAWN_FORMAT_JSON) {
            json_open(out, NULL, '{');
            json_put_string(out, "list", list_table[item->list].key);
            json_put_string(out, "key", item->key);
            json_put_string(out, "value", item->value);
            json_put_string(out, "says", is_tool ? access_word(item->access) : NULL);
            json_origin(out, item->layer, item->origin);
            json_close(out, '}');
            continue;
        }
        strbuf_addf(&text, "%s: ", is_tool ? "tool_rules" : list_table[item->list].key);
        if (item->key)
            strbuf_add_escaped(&text, item->key);
        strbuf_add(&text, is_tool ? ": " : item->key ? "=" : "");
        if (is_tool)
            strbuf_addf(&text, "%s ", access_word(item->access));
        if (item->list != LIST_TOOL_RULES)
            strbuf_add_escaped(&text, item->value);
        add_line(out, text.text ? text.text : "", item->layer, item->origin);
    }
    if (format == BAWN_FORMAT_JSON)
        json_close(out, ']');
}

void explain_policy(const struct policy *policy, bool with_builtin, enum bawn_format format,
                    struct strbuf *out)
{
    if (format == BAWN_FORMAT_JSON) {
        json_open(out, NULL, '{');
        json_put_string(out, "workspace", policy->workspace);
        json_put_string(out, "home", policy->home);
        json_put_string(out, "reads",
                        setting_table[SETTING_READS].words[policy_number(policy, SETTING_READS)]);
    } else {
        strbuf_add(out, "workspace: ");
        strbuf_add_escaped(out, policy->workspace);
        strbuf_add(out, "\n\n");
    }
    show_layers(policy, format, out);
    show_rules(policy, with_builtin, format, out);
    show_settings(policy, format, out);
    show_net(policy, format, out);
    show_items(policy, format, out);
    if (format == BAWN_FORMAT_JSON) {
        json_close(out, '}');
        strbuf_add(out, "\n");
    }
}
