/* SPDX-License-Identifier: Apache-2.0 */
/* The "sandbox" and "permissions" parts of Claude Code's settings.json; its other parts are not
 * bawn's business. */
#include "config/expand.h"
#include "config/foreign.h"
#include "policy/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int load_enabled(const struct foreign *foreign, const struct node *node, const char *key)
{
    bool value;

    if (foreign_read_bool(foreign, node, key, &value) && !value)
        report_add(foreign->source->report, BAWN_NOTE, "config.enabled", node->origin,
                   "%s is false there; bawn holds the boundaries all the same", key);
    return 0;
}

static int set_bool(const struct foreign *foreign, const struct node *node, const char *key,
                    enum setting_id id)
{
    const struct config_source *source = foreign->source;
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value))
        return 0;
    return policy_set(source->policy, source->layer, id, node->text, node->origin, source->report);
}

static int load_fail_if_unavailable(const struct foreign *foreign, const struct node *node,
                                    const char *key)
{
    return set_bool(foreign, node, key, SETTING_REQUIRE_OS_SANDBOX);
}

static int load_unsandboxed(const struct foreign *foreign, const struct node *node, const char *key)
{
    return set_bool(foreign, node, key, SETTING_PROCESS_UNSANDBOXED);
}

static int load_excluded(const struct foreign *foreign, const struct node *node, const char *key)
{
    return source_set_each(foreign->source, node, key, "sandbox.process.excluded_commands");
}

static int add_tool(const struct foreign *foreign, const struct node *node, enum list_id list,
                    const char *tool, const char *value, enum access access)
{
    const struct config_source *source = foreign->source;
    struct arena *arena = &source->policy->arena;
    struct item item = {.list = list,
                        .key = arena_strdup(arena, tool),
                        .value = arena_strdup(arena, value),
                        .access = access,
                        .layer = source->layer,
                        .origin = node->origin};

    if (!item.key || !item.value)
        return -ENOMEM;
    /* A permission that a project gives is no boundary: dropping it only means asking. */
    if (source->layer->authority == AUTHORITY_PROJECT && access == ACCESS_ALLOW)
        return 0;
    return policy_add_item(source->policy, &item, source->report);
}

static int load_auto_allow(const struct foreign *foreign, const struct node *node, const char *key)
{
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value))
        return 0;
    return add_tool(foreign, node, LIST_TOOL_RULES, "shell", "shell",
                    value ? ACCESS_ALLOW : ACCESS_ASK);
}

/* Only the managed file may allow hosts: a lock, when that file says so. */
static int load_managed_domains(const struct foreign *foreign, const struct node *node,
                                const char *key)
{
    if (node->kind != NODE_BOOL || strcmp(node->text, "true") != 0 ||
        foreign->source->layer->authority != AUTHORITY_ORG)
        return foreign_unheld(foreign, node, key);
    return config_set(foreign->source, "lock", "sandbox.network.allow", node->origin);
}

static int load_block_reads(const struct foreign *foreign, const struct node *node, const char *key)
{
    const struct config_source *source = foreign->source;
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value) || !value)
        return 0;
    return policy_set(source->policy, source->layer, SETTING_READS, "strict", node->origin,
                      source->report);
}

static const struct foreign_row sandbox_rows[] = {
    {"enabled", load_enabled},
    {"enabledPlatforms", foreign_meaningless},
    {"failIfUnavailable", load_fail_if_unavailable},
    {"autoAllowBashIfSandboxed", load_auto_allow},
    {"allowUnsandboxedCommands", load_unsandboxed},
    {"excludedCommands", load_excluded},
    {"network.allowManagedDomainsOnly", load_managed_domains},
    {"filesystem.allowManagedReadPathsOnly", foreign_unheld},
    {NULL, NULL},
};

/* A rule such as "Read(./.env)", taken apart. */
struct permission {
    char tool[64];
    char *specifier; /* in the policy's arena; "" when there is none */
};

static const char *parse_permission(struct arena *arena, const char *text, struct permission *ret)
{
    const char *open = strchr(text, '(');
    size_t tool = open ? (size_t)(open - text) : strlen(text);
    size_t length;

    if (tool == 0 || tool >= sizeof(ret->tool))
        return "a rule is Tool or Tool(specifier)";
    memcpy(ret->tool, text, tool);
    ret->tool[tool] = '\0';
    if (ret->tool[strcspn(ret->tool, " )")])
        return "a rule is Tool or Tool(specifier)";
    length = open ? strlen(open + 1) : 1;
    if (length == 0 || (open && open[length] != ')'))
        return "a ( without its )";
    ret->specifier = arena_strndup(arena, open ? open + 1 : "", length - 1);
    return NULL;
}

/* bawn's name for one of Claude Code's tools; its own name when there is none. */
static const char *tool_name(const char *tool)
{
    static const char *const names[][2] = {
        {"Bash", "shell"},        {"Read", "read"},       {"Edit", "write"},
        {"Write", "write"},       {"MultiEdit", "write"}, {"NotebookEdit", "write"},
        {"Glob", "list_files"},   {"Grep", "list_files"}, {"LS", "list_files"},
        {"NotebookRead", "read"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(tool, names[i][0]) == 0)
            return names[i][1];
    return tool;
}

/* "//x" is absolute, "/x" starts where the settings file belongs, "x" in the workspace. */
static const char *permission_path(const struct foreign *foreign, const char *specifier,
                                   const char **ret_base)
{
    *ret_base = foreign->source->policy->workspace;
    if (specifier[0] != '/')
        return specifier;
    if (specifier[1] != '/')
        *ret_base = foreign->source->base;
    return specifier + 1;
}

static int load_file_permission(const struct foreign *foreign, const struct node *node,
                                const struct permission *permission, bool writes,
                                enum access access, const char *key)
{
    const char *base;
    const char *text = permission_path(foreign, permission->specifier, &base);
    struct path_rule rule = {.kind = RULE_PATTERN,
                             .read = writes ? ACCESS_UNSET : access,
                             .write = access,
                             .origin = node->origin};

    /* A path from the root of the settings is anchored there, even without another slash. */
    if (permission->specifier[0] == '/' && permission->specifier[1] != '/') {
        text = arena_printf(&foreign->source->policy->arena, "./%s", text);
        if (!text)
            return -ENOMEM;
    }
    if (access == ACCESS_ALLOW)
        return foreign_grant(foreign, node, base, writes ? "rw" : "ro", text, key);
    return source_add_pattern(foreign->source, &rule, base, text, key);
}

/* "git commit:*" and "git commit *" are the same. */
static void command_pattern(char *specifier)
{
    size_t length = strlen(specifier);

    if (length > 2 && strcmp(specifier + length - 2, ":*") == 0)
        specifier[length - 2] = ' ';
}

static int load_permission(const struct foreign *foreign, const struct node *node, const char *text,
                           enum access access, const char *key)
{
    static const unsigned verdicts[] = {
        [ACCESS_ALLOW] = NET_ALLOW, [ACCESS_ASK] = NET_ASK, [ACCESS_DENY] = NET_DENY};
    struct permission permission;
    const char *wrong = parse_permission(&foreign->source->policy->arena, text, &permission);
    const char *tool;

    if (wrong) {
        report_add(foreign->source->report, BAWN_ERROR, "config.permission", node->origin,
                   "%s: '%s': %s", key, text, wrong);
        return 0;
    }
    if (!permission.specifier)
        return -ENOMEM;
    tool = tool_name(permission.tool);
    /* No use of the tool at all is every command denied. */
    if (!permission.specifier[0] && access == ACCESS_DENY)
        return add_tool(foreign, node, LIST_COMMAND_RULES, tool, "*", access);
    if (!permission.specifier[0])
        return add_tool(foreign, node, LIST_TOOL_RULES, tool, tool, access);
    if (strcmp(tool, "read") == 0 || strcmp(tool, "write") == 0)
        return load_file_permission(foreign, node, &permission, strcmp(tool, "write") == 0, access,
                                    key);
    if (strcmp(permission.tool, "WebFetch") == 0 &&
        strncmp(permission.specifier, "domain:", 7) == 0)
        return foreign_host(foreign, node, verdicts[access], permission.specifier + 7);
    command_pattern(permission.specifier);
    return add_tool(foreign, node, LIST_COMMAND_RULES, tool, permission.specifier, access);
}

static int each_permission(const struct foreign *foreign, const struct node *node, const char *key,
                           enum access access)
{
    int r = 0;

    if (!source_is_list(foreign->source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        const char *text = source_text(foreign->source, child, key);

        if (text)
            r = load_permission(foreign, child, text, access, key);
    }
    return r;
}

static int load_allow(const struct foreign *foreign, const struct node *node, const char *key)
{
    return each_permission(foreign, node, key, ACCESS_ALLOW);
}

static int load_ask(const struct foreign *foreign, const struct node *node, const char *key)
{
    return each_permission(foreign, node, key, ACCESS_ASK);
}

static int load_deny(const struct foreign *foreign, const struct node *node, const char *key)
{
    return each_permission(foreign, node, key, ACCESS_DENY);
}

static int load_directories(const struct foreign *foreign, const struct node *node, const char *key)
{
    int r = 0;

    if (!source_is_list(foreign->source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        const char *text = source_text(foreign->source, child, key);

        if (text)
            r = config_set_path(foreign->source, "rw", text, child->origin);
    }
    return r;
}

static const struct foreign_row permission_rows[] = {
    {"allow", load_allow},
    {"ask", load_ask},
    {"deny", load_deny},
    {"additionalDirectories", load_directories},
    {"defaultMode", foreign_meaningless},
    {"disableBypassPermissionsMode", foreign_meaningless},
    {"disableAutoMode", foreign_meaningless},
    {"blockReadsOutsideWorkingDirectories", load_block_reads},
    {NULL, NULL},
};

int format_claude_load(const struct config_source *source, const struct node *root)
{
    struct foreign foreign = {.source = source, .asks_unlisted = true};
    const struct node *sandbox = node_get(root, "sandbox");
    const struct node *permissions = node_get(root, "permissions");
    int r = 0;

    if (root->kind != NODE_MAP) {
        source_wrong_type(source, root, "settings", "an object");
        return 0;
    }
    if (sandbox && sandbox->kind == NODE_MAP) {
        foreign.filesystem = node_get(sandbox, "filesystem");
        r = foreign_imply(&foreign, SETTING_READS, "static", sandbox->origin);
        if (r == 0)
            r = foreign_load(&foreign, sandbox, "sandbox.", foreign_common, sandbox_rows);
    } else if (sandbox && sandbox->kind != NODE_NULL) {
        source_wrong_type(source, sandbox, "sandbox", "an object");
    }
    if (r == 0 && permissions && permissions->kind == NODE_MAP)
        r = foreign_load(&foreign, permissions, "permissions.", permission_rows, NULL);
    else if (permissions && permissions->kind != NODE_MAP && permissions->kind != NODE_NULL)
        source_wrong_type(source, permissions, "permissions", "an object");
    return r;
}
