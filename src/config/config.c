/* SPDX-License-Identifier: Apache-2.0 */
/* Which format a document has, and handing it to that format's loader. */
#include "config/config.h"

#include "config/packed.h"
#include "config/source.h"
#include "policy/build.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const struct {
    const char *name;
    enum config_format format;
} formats[] = {
    {"bawn", FORMAT_BAWN},
    {"sandboxes", FORMAT_SANDBOXES},
    {"claude", FORMAT_CLAUDE},
    {"srt", FORMAT_SRT},
};

enum config_format config_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(name, formats[i].name) == 0)
            return formats[i].format;
    return FORMAT_UNKNOWN;
}

static bool looks_like_json(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length && isspace((unsigned char)text[i]))
        i++;
    return i < length && text[i] == '{';
}

/* A JSON document with "sandbox" or "permissions" is Claude Code's, one with "network" or
 * "filesystem" at the top is srt's. */
static enum config_format tell_json(const struct node *root)
{
    static const char *const srt_keys[] = {"network", "filesystem", "credentials"};

    if (node_get(root, "sandbox") || node_get(root, "permissions"))
        return FORMAT_CLAUDE;
    for (size_t i = 0; i < sizeof(srt_keys) / sizeof(srt_keys[0]); i++)
        if (node_get(root, srt_keys[i]))
            return FORMAT_SRT;
    return FORMAT_UNKNOWN;
}

int config_parse(struct config_document *document, enum config_format format, const char *text,
                 size_t length, struct bawn_report *report)
{
    bool is_json = format == FORMAT_CLAUDE || format == FORMAT_SRT ||
                   (format == FORMAT_UNKNOWN && looks_like_json(text, length));

    document->root = is_json
                         ? node_from_json(&document->arena, document->file, text, length, report)
                         : node_from_yaml(&document->arena, document->file, text, length, report);
    document->format = format;
    if (!document->root)
        return -EINVAL;
    if (format == FORMAT_UNKNOWN && is_json)
        document->format = tell_json(document->root);
    else if (format == FORMAT_UNKNOWN)
        document->format = node_get(document->root, "sandboxes") ? FORMAT_SANDBOXES : FORMAT_BAWN;
    if (document->format != FORMAT_UNKNOWN)
        return 0;
    report_add(report, BAWN_ERROR, "config.format", document->root->origin,
               "neither Claude Code settings nor srt settings");
    report_hint(report, "say which with --format claude or --format srt");
    return -EINVAL;
}

void config_document_done(struct config_document *document)
{
    arena_done(&document->arena);
    document->root = NULL;
}

int config_load(const struct config_source *source, const struct config_document *document)
{
    switch (document->format) {
    case FORMAT_SANDBOXES:
        return format_sandboxes_load(source, document->root);
    case FORMAT_CLAUDE:
        return format_claude_load(source, document->root);
    case FORMAT_SRT:
        return format_srt_load(source, document->root);
    default:
        return format_bawn_load(source, document->root);
    }
}

/* What follows the place that a path starts with, and the place; NULL when it starts with none. */
static const char *behind_place(const struct policy *policy, const char *text,
                                const struct place **ret_place)
{
    const char *name = *text == '~' ? "HOME" : text + 1;
    size_t length = *text == '~' ? strlen(name) : strcspn(name, "/");

    if (*text != '~' && *text != '$')
        return NULL;
    for (const struct place *place = policy->places; place->name; place++) {
        if (strlen(place->name) == length && strncmp(place->name, name, length) == 0) {
            *ret_place = place;
            return *text == '~' ? text + 1 : name + length;
        }
    }
    return NULL;
}

/*
 * Adds an entry at its path, and at a second path where there is one. A secret
 * below a variable gets one at the usual place, because some programs ignore the
 * variable. A name that is protected at any depth gets one in the workspace's top,
 * so that bawn follows a link of that name.
 */
static int add_entry(const struct config_source *source, const struct path_rule *rule,
                     const char *text)
{
    struct policy *policy = source->policy;
    struct path_rule repeat = *rule;
    const struct place *place = NULL;
    const char *rest = behind_place(policy, text, &place);
    const char *again = NULL;
    int r = source_add_pattern(source, rule, "/", text, "path");

    if (rest && place->usual)
        again = arena_printf(&policy->arena, "%s%s", place->usual, rest);
    else if (rule->kind == RULE_PROTECTED && !rule->only_dir && strncmp(text, "/**/", 4) == 0)
        again = arena_printf(&policy->arena, "$WORKSPACE/%s", text + 4);
    else
        return r;
    if (r < 0 || !again)
        return r < 0 ? r : -ENOMEM;
    repeat.is_repeat = true;
    return source_add_pattern(source, &repeat, "/", again, "path");
}

static int read_entry(const struct config_source *source, enum rule_kind kind,
                      const struct node *entry)
{
    const struct node *path = node_get(entry, "path");
    const struct node *why = node_get(entry, "why");
    const struct node *only = node_get(entry, "only");
    struct path_rule rule = {.kind = kind,
                             .read = kind == RULE_SECRET ? ACCESS_DENY : ACCESS_UNSET,
                             .write = ACCESS_DENY,
                             .origin = entry->origin};

    if (!path || !why || !path->text || !why->text) {
        report_add(source->report, BAWN_ERROR, "config.missing_key", entry->origin,
                   "an entry has a path and a why");
        return 0;
    }
    if (only && (kind != RULE_PROTECTED || !only->text || strcmp(only->text, "directory") != 0)) {
        report_add(source->report, BAWN_ERROR, "config.bad_value", entry->origin,
                   "'only' of a protected entry is 'directory'");
        return 0;
    }
    if (only) {
        rule.only_dir = true;
        rule.write = ACCESS_UNSET;
    }
    rule.reason = arena_strdup(&source->policy->arena, why->text);
    rule.spelled = arena_strdup(&source->policy->arena, path->text);
    if (!rule.reason || !rule.spelled)
        return -ENOMEM;
    return add_entry(source, &rule, path->text);
}

int config_read_list(const struct config_source *source, enum rule_kind kind, const char *bytes,
                     size_t length)
{
    const char *key = kind == RULE_SECRET ? "secrets" : "protected";
    struct arena arena = {0};
    const struct node *root = node_unpack(&arena, source->file, bytes, length);
    const struct node *list = root ? node_get(root, key) : NULL;
    /* SECURITY: without it there would be a policy with rules missing. */
    int r = root ? 0 : -ENOMEM;

    if (root && (!list || list->kind != NODE_LIST))
        report_add(source->report, BAWN_ERROR, "config.missing_key", root->origin,
                   "the list '%s' is not there", key);
    for (const struct node *entry = list ? list->first : NULL; entry && r == 0; entry = entry->next)
        r = read_entry(source, kind, entry);
    arena_done(&arena);
    return r;
}

const struct node *config_profile(const struct config_document *document)
{
    const struct node *node =
        document->format == FORMAT_BAWN ? node_get(document->root, "profile") : NULL;

    return node && node->kind == NODE_STRING ? node : NULL;
}

/* The first item of a top-level list of a bawn document, or NULL. */
static const struct node *first_of(const struct config_document *document, const char *key)
{
    const struct node *node =
        document->format == FORMAT_BAWN ? node_get(document->root, key) : NULL;

    return node && node->kind == NODE_LIST ? node->first : NULL;
}

const struct node *config_presets(const struct config_document *document)
{
    return first_of(document, "presets");
}

const struct node *config_locks(const struct config_document *document)
{
    return first_of(document, "lock");
}
