/* SPDX-License-Identifier: Apache-2.0 */
#include "config/foreign.h"

#include "base/path.h"
#include "base/strbuf.h"
#include "config/expand.h"
#include "policy/build.h"

#include <errno.h>
#include <string.h>

/* "//x" is an old way to write "/x". */
static const char *one_slash(const char *text)
{
    return strncmp(text, "//", 2) == 0 ? text + 1 : text;
}

int foreign_imply(const struct foreign *foreign, enum setting_id id, const char *value,
                  struct origin origin)
{
    const struct config_source *source = foreign->source;
    const struct setting *setting = &source->policy->settings[id];
    uint64_t number;

    if (source->layer->authority == AUTHORITY_PROJECT)
        return 0;
    /* What the same file says outright is not loosened, whatever order its keys have. */
    if (setting->is_set && setting->layer == source->layer && setting_parse(id, value, &number) &&
        setting_strictness(id, setting->number) >= setting_strictness(id, number))
        return 0;
    return policy_set(source->policy, source->layer, id, value, origin, source->report);
}

int foreign_meaningless(const struct foreign *foreign, const struct node *node, const char *key)
{
    report_add(foreign->source->report, BAWN_NOTE, "config.meaningless", node->key_origin,
               "%s means nothing to bawn and is left out", key);
    return 0;
}

int foreign_unsupported(const struct foreign *foreign, const struct node *node, const char *key)
{
    report_add(foreign->source->report, BAWN_WARNING, "config.unsupported", node->key_origin,
               "%s has no counterpart in bawn: what it would allow stays refused", key);
    return 0;
}

int foreign_unheld(const struct foreign *foreign, const struct node *node, const char *key)
{
    if (node->kind == NODE_BOOL && strcmp(node->text, "false") == 0)
        return 0;
    report_add(foreign->source->report, BAWN_WARNING, "config.unheld", node->key_origin,
               "%s has no counterpart in bawn: bawn does not forbid what it would forbid", key);
    return 0;
}

/* An entry of a path list: a string, or {path, literal: true}. */
static const char *entry_path(const struct foreign *foreign, const struct node *node,
                              const char *key, bool *ret_literal)
{
    static const char *const known[] = {"path", "literal"};
    const struct node *path;

    *ret_literal = false;
    if (node->kind != NODE_MAP)
        return source_text(foreign->source, node, key);
    for (const struct node *child = node->first; child; child = child->next) {
        if (strcmp(child->key, "literal") == 0 && child->kind == NODE_BOOL)
            *ret_literal = strcmp(child->text, "true") == 0;
        else if (strcmp(child->key, "literal") == 0)
            source_wrong_type(foreign->source, child, "literal", "true or false");
        else if (strcmp(child->key, "path") != 0)
            source_unknown_key(foreign->source, child, child->key, known, 2);
    }
    path = node_get(node, "path");
    if (path)
        return source_text(foreign->source, path, key);
    report_add(foreign->source->report, BAWN_ERROR, "config.missing_key", node->origin,
               "%s: an entry without 'path'", key);
    return NULL;
}

/* A name without a slash and without wildcards: in a grant it is the one in the base. */
static bool is_bare_name(const char *text)
{
    size_t length = strcspn(text, "/*?[");

    return length > 0 && !strchr("~$!", *text) && strcmp(text, "..") != 0 &&
           text[length + strspn(text + length, "/")] == '\0';
}

int foreign_grant(const struct foreign *foreign, const struct node *node, const char *base,
                  const char *mode, const char *text, const char *key)
{
    const struct config_source *source = foreign->source;
    struct path_rule rule = {.origin = node->origin};
    const char *wrong;
    const char *path;
    bool wild;

    (void)rule_set_mode(&rule, mode);
    path =
        is_bare_name(text) ? arena_printf(&source->policy->arena, "./%s", text) : one_slash(text);
    if (!path)
        return -ENOMEM;
    path = expand_pattern(source->policy, base, path, &wild, &wrong);
    if (!path && !wrong)
        return -ENOMEM;
    if (!path) {
        report_add(source->report, BAWN_ERROR, "config.bad_path", node->origin, "%s: '%s': %s", key,
                   text, wrong);
        return 0;
    }
    if (wild) {
        report_add(source->report, BAWN_WARNING, "config.pattern_grant", node->origin,
                   "%s: '%s' grants nothing: only whole directories and files can be granted", key,
                   text);
        report_hint(source->report, "name the directory instead of a pattern");
        return 0;
    }
    return source_add_path(source, &rule, path, key);
}

static int each_path(const struct foreign *foreign, const struct node *node, const char *key,
                     const char *mode, const struct path_rule *denial)
{
    const struct config_source *source = foreign->source;
    int r = 0;

    if (!source_is_list(source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        bool literal;
        const char *text = entry_path(foreign, child, key, &literal);
        struct path_rule rule = {0};

        if (!text)
            continue;
        text = one_slash(text);
        if (!mode)
            rule = *denial;
        else
            (void)rule_set_mode(&rule, mode);
        rule.origin = child->origin;
        if (literal)
            r = source_add_path(source, &rule, text, key);
        else if (mode)
            r = foreign_grant(foreign, child, source->base, mode, text, key);
        else
            r = source_add_pattern(source, &rule, source->base, text, key);
    }
    return r;
}

static int load_allow_write(const struct foreign *foreign, const struct node *node, const char *key)
{
    return each_path(foreign, node, key, "rw", NULL);
}

/* Whether allowWrite names a path or one above it. */
static bool is_writable_too(const struct foreign *foreign, const struct node *entry)
{
    const struct node *list =
        foreign->filesystem ? node_get(foreign->filesystem, "allowWrite") : NULL;
    struct policy *policy = foreign->source->policy;
    const char *base = foreign->source->base;
    const char *wrong;
    const char *path;
    bool wild;

    if (!list || list->kind != NODE_LIST || entry->kind != NODE_STRING)
        return false;
    path = expand_pattern(policy, base, one_slash(entry->text), &wild, &wrong);
    for (const struct node *child = list->first; path && !wild && child; child = child->next) {
        const char *root = child->kind == NODE_STRING
                               ? expand_pattern(policy, base, one_slash(child->text), &wild, &wrong)
                               : NULL;

        if (root && !wild && path_is_below(path, root))
            return true;
        wild = false;
    }
    return false;
}

/* There, reading again what denyRead hid says nothing of writing. */
static int load_allow_read(const struct foreign *foreign, const struct node *node, const char *key)
{
    int r = 0;

    if (!source_is_list(foreign->source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        struct node alone = *child;
        struct node list = {.kind = NODE_LIST, .origin = node->origin, .first = &alone};

        alone.next = NULL;
        r = each_path(foreign, &list, key, is_writable_too(foreign, child) ? "rw" : "ro", NULL);
    }
    return r;
}

static int load_deny_read(const struct foreign *foreign, const struct node *node, const char *key)
{
    struct path_rule denial = {.kind = RULE_PATTERN, .read = ACCESS_DENY, .write = ACCESS_DENY};

    return each_path(foreign, node, key, NULL, &denial);
}

static int load_deny_write(const struct foreign *foreign, const struct node *node, const char *key)
{
    struct path_rule denial = {.kind = RULE_PATTERN, .read = ACCESS_UNSET, .write = ACCESS_DENY};

    return each_path(foreign, node, key, NULL, &denial);
}

int foreign_host(const struct foreign *foreign, const struct node *node, unsigned verdict,
                 const char *host)
{
    const struct config_source *source = foreign->source;
    const struct net_rule rule = {
        .verdict = verdict, .layer = source->layer, .origin = node->origin};
    bool everything = strcmp(host, "*") == 0;
    int r;

    if (everything && verdict == NET_DENY)
        return policy_set(source->policy, source->layer, SETTING_NETWORK_MODE, "none", node->origin,
                          source->report);
    if (verdict != NET_DENY) {
        r = foreign_imply(foreign, SETTING_NETWORK_MODE, "proxy", node->origin);
        if (r == 0 && (foreign->asks_unlisted || everything))
            r = foreign_imply(foreign, SETTING_NETWORK_UNLISTED, "ask", node->origin);
        if (r < 0)
            return r;
    }
    if (everything) {
        report_add(source->report, BAWN_WARNING, "config.any_host", node->origin,
                   "'*' becomes 'ask about each host': bawn does not allow every host at once");
        return 0;
    }
    return policy_add_net(source->policy, &rule, host, source->report);
}

static int each_host(const struct foreign *foreign, const struct node *node, const char *key,
                     unsigned verdict)
{
    int r = 0;

    if (!source_is_list(foreign->source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        const char *text = source_text(foreign->source, child, key);

        if (text)
            r = foreign_host(foreign, child, verdict, text);
    }
    return r;
}

static int load_allowed_domains(const struct foreign *foreign, const struct node *node,
                                const char *key)
{
    return each_host(foreign, node, key, NET_ALLOW);
}

static int load_denied_domains(const struct foreign *foreign, const struct node *node,
                               const char *key)
{
    return each_host(foreign, node, key, NET_DENY);
}

bool foreign_read_bool(const struct foreign *foreign, const struct node *node, const char *key,
                       bool *ret_value)
{
    if (node->kind != NODE_BOOL) {
        source_wrong_type(foreign->source, node, key, "true or false");
        return false;
    }
    *ret_value = strcmp(node->text, "true") == 0;
    return true;
}

static int load_strict_allowlist(const struct foreign *foreign, const struct node *node,
                                 const char *key)
{
    const struct config_source *source = foreign->source;
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value) || !value)
        return 0;
    return policy_set(source->policy, source->layer, SETTING_NETWORK_UNLISTED, "deny", node->origin,
                      source->report);
}

static int load_all_domains(const struct foreign *foreign, const struct node *node, const char *key)
{
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value) || !value)
        return 0;
    return foreign_host(foreign, node, NET_ALLOW, "*");
}

static int load_local_binding(const struct foreign *foreign, const struct node *node,
                              const char *key)
{
    const struct config_source *source = foreign->source;
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value))
        return 0;
    return policy_set(source->policy, source->layer, SETTING_NETWORK_LOCAL_BINDING, node->text,
                      node->origin, source->report);
}

static int load_port(const struct foreign *foreign, const struct node *node, const char *key)
{
    const struct config_source *source = foreign->source;

    if (node->kind != NODE_NUMBER) {
        source_wrong_type(source, node, key, "a port");
        return 0;
    }
    return policy_set(source->policy, source->layer,
                      strstr(key, "socks") ? SETTING_NETWORK_SOCKS_PROXY_PORT
                                           : SETTING_NETWORK_HTTP_PROXY_PORT,
                      node->text, node->origin, source->report);
}

static int load_unix_sockets(const struct foreign *foreign, const struct node *node,
                             const char *key)
{
    const struct config_source *source = foreign->source;
    int r = 0;

    if (!source_is_list(source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        const char *text = source_text(source, child, key);

        if (text)
            r = config_set(source, "sandbox.network.unix_sockets", one_slash(text), child->origin);
    }
    return r;
}

/* Something that opens wide when true, and that bawn opens by name only. */
static int load_wide(const struct foreign *foreign, const struct node *node, const char *key)
{
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value) || !value)
        return 0;
    return foreign_unsupported(foreign, node, key);
}

/* A sandbox that is weaker inside another one. */
static int load_weaker(const struct foreign *foreign, const struct node *node, const char *key)
{
    bool value;

    if (!foreign_read_bool(foreign, node, key, &value) || !value)
        return 0;
    report_add(foreign->source->report, BAWN_WARNING, "config.weaker", node->key_origin,
               "bawn refuses %s: it has no weaker sandbox, not even inside a container. Where it "
               "cannot make a wall, it runs nothing",
               key);
    report_hint(foreign->source->report,
                "run 'bawn doctor' inside: it says what the container must allow; --best-effort "
                "goes on without single rules, and says which");
    return 0;
}

/* {path or name, mode: deny|mask, ...}: bawn has no masking, so masked is denied. */
static int load_credential(const struct foreign *foreign, const struct node *node, const char *key,
                           const char *name_key)
{
    const struct config_source *source = foreign->source;
    const struct node *name = node_get(node, name_key);
    const struct node *mode = node_get(node, "mode");
    const char *text = name ? source_text(source, name, key) : NULL;
    const char *const known[] = {name_key, "mode",       "extract",     "onExtractNoMatch",
                                 "decode", "maskClaims", "injectHosts", "maskDuplicates"};

    for (const struct node *child = node->first; child; child = child->next) {
        size_t which = 0;

        while (which < sizeof(known) / sizeof(known[0]) && child->key &&
               strcmp(child->key, known[which]) != 0)
            which++;
        if (child->key && which == sizeof(known) / sizeof(known[0]))
            source_unknown_key(source, child, child->key, known, which);
    }

    if (!text) {
        report_add(source->report, BAWN_ERROR, "config.missing_key", node->origin,
                   "%s: an entry needs '%s' and 'mode'", key, name_key);
        return 0;
    }
    if (mode && mode->text && strcmp(mode->text, "mask") == 0) {
        report_add(source->report, BAWN_WARNING, "config.mask", mode->origin,
                   "%s: '%s' is denied, not masked: bawn does not mask yet", key, text);
    } else if (!mode || !mode->text || strcmp(mode->text, "deny") != 0) {
        report_add(source->report, BAWN_ERROR, "config.bad_value",
                   mode ? mode->origin : node->origin, "%s: mode is deny or mask", key);
        return 0;
    }
    return config_set(source,
                      strcmp(name_key, "path") == 0 ? "sandbox.deny" : "sandbox.process.env.deny",
                      text, name->origin);
}

static int load_credential_files(const struct foreign *foreign, const struct node *node,
                                 const char *key)
{
    int r = 0;

    if (!source_is_list(foreign->source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next)
        r = load_credential(foreign, child, key, "path");
    return r;
}

static int load_credential_env(const struct foreign *foreign, const struct node *node,
                               const char *key)
{
    int r = 0;

    if (!source_is_list(foreign->source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next)
        r = load_credential(foreign, child, key, "name");
    return r;
}

const struct foreign_row foreign_common[] = {
    {"network.allowedDomains", load_allowed_domains},
    {"network.deniedDomains", load_denied_domains},
    {"network.deniedDomainReasons", foreign_meaningless},
    {"network.strictAllowlist", load_strict_allowlist},
    {"network.allowAllDomains", load_all_domains},
    {"network.deniedResolvedAddresses", foreign_unheld},
    {"network.allowUnixSockets", load_unix_sockets},
    {"network.allowAllUnixSockets", load_wide},
    {"network.allowLocalBinding", load_local_binding},
    {"network.allowMachLookup", foreign_meaningless},
    {"network.httpProxyPort", load_port},
    {"network.socksProxyPort", load_port},
    {"network.mitmProxy", foreign_unsupported},
    {"network.parentProxy", foreign_unsupported},
    {"network.tlsTerminate", foreign_unsupported},
    {"network.allowPlaintextHeaderSet", foreign_meaningless},
    {"network.stripResponseHeaders", foreign_unheld},
    {"network.refuseOpaqueTunnels", foreign_unheld},
    {"network.requireHostMatch", foreign_unheld},
    {"filesystem.disabled", load_wide},
    {"filesystem.denyRead", load_deny_read},
    {"filesystem.allowRead", load_allow_read},
    {"filesystem.allowWrite", load_allow_write},
    {"filesystem.denyWrite", load_deny_write},
    {"filesystem.allowGitConfig", load_wide},
    {"credentials.files", load_credential_files},
    {"credentials.envVars", load_credential_env},
    {"credentials.allowPlaintextInject", load_wide},
    {"credentials.awsPairs", foreign_unsupported},
    {"credentials.sigv4", foreign_unsupported},
    {"ignoreViolations", foreign_meaningless},
    {"enableWeakerNestedSandbox", load_weaker},
    {"enableWeakerNetworkIsolation", load_wide},
    {"allowAppleEvents", foreign_meaningless},
    {"ripgrep", foreign_meaningless},
    {"bwrapPath", foreign_meaningless},
    {"socatPath", foreign_meaningless},
    {NULL, NULL},
};

static const struct foreign_row *find_row(const struct foreign_row *rows, const char *key)
{
    for (; rows && rows->key; rows++)
        if (strcmp(rows->key, key) == 0)
            return rows;
    return NULL;
}

/* Collects the names that may stand at the level of key; tells whether key is a section. */
static bool find_siblings(const struct foreign_row *rows, const char *key, const char *level,
                          struct arena *arena, const char **known, size_t *count, size_t size)
{
    size_t key_length = strlen(key);
    size_t level_length = strlen(level);
    bool is_section = false;

    for (; rows && rows->key; rows++) {
        const char *name;
        size_t seen = 0;

        if (strncmp(rows->key, key, key_length) == 0 && rows->key[key_length] == '.')
            is_section = true;
        if (strncmp(rows->key, level, level_length) != 0 || *count == size)
            continue;
        name =
            arena_strndup(arena, rows->key + level_length, strcspn(rows->key + level_length, "."));
        while (name && seen < *count && strcmp(known[seen], name) != 0)
            seen++;
        if (name && seen == *count)
            known[(*count)++] = name;
    }
    return is_section;
}

static int load_level(const struct foreign *foreign, const struct node *map, const char *prefix,
                      const char *level, const struct foreign_row *common,
                      const struct foreign_row *own)
{
    int r = 0;

    for (const struct node *child = map->first; child && r == 0; child = child->next) {
        autostrbuf struct strbuf key = {0};
        autostrbuf struct strbuf shown = {0};
        const struct foreign_row *row;
        const char *known[96];
        struct arena arena = {0};
        size_t count = 0;
        bool is_section;

        strbuf_addf(&key, "%s%s", level, child->key);
        strbuf_addf(&shown, "%s%s", prefix, key.text ? key.text : "");
        if (key.failed || shown.failed)
            return -ENOMEM;
        if (!key.text || !shown.text)
            return -ENOMEM;
        /* A dot in a key is part of its name: it must not pass for a key further down. */
        row = strchr(child->key, '.') ? NULL : find_row(common, key.text);
        if (!row && !strchr(child->key, '.'))
            row = find_row(own, key.text);
        if (row) {
            r = row->load(foreign, child, shown.text);
            continue;
        }
        is_section = find_siblings(common, key.text, level, &arena, known, &count, 96);
        is_section |= find_siblings(own, key.text, level, &arena, known, &count, 96);
        strbuf_add(&key, ".");
        if (!is_section)
            source_unknown_key(foreign->source, child, shown.text, known, count);
        else if (child->kind == NODE_MAP)
            r = load_level(foreign, child, prefix, key.text, common, own);
        else if (child->kind != NODE_NULL)
            source_wrong_type(foreign->source, child, shown.text, "a map");
        arena_done(&arena);
    }
    return r;
}

int foreign_load(const struct foreign *foreign, const struct node *map, const char *prefix,
                 const struct foreign_row *common, const struct foreign_row *own)
{
    return load_level(foreign, map, prefix, "", common, own);
}
