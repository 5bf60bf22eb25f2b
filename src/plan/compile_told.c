/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox is told of its own rules, so that 'bawn why' inside can answer about it: an image
 * with rules and nothing else.
 *
 * SECURITY: the command reads all of it. It has what the command can find out by trying: what is
 * shown or private, what is held there, and which hosts it reaches. A denial of the user's is left
 * out where it names something that the command does not see: there the name itself would tell of
 * the host, and the answer is no without it, by default or by whoever makes calls for the command.
 * Files of the policy, variables, the proxy outside and what goes past it are never in it.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "base/path.h"
#include "plan/compiler.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "wire/rules.h"

#include <string.h>

/* Each string once: reasons and names repeat. */
static uint32_t tell_string(void *context, const char *text)
{
    struct compiler *told = context;
    size_t length = strlen(text);
    /* Where it is, as a pointer; 0 is "". */
    uintptr_t at = (uintptr_t)map_get(&told->made, 0, text, length);

    if (at || !length)
        return (uint32_t)at;
    text = arena_strndup(&told->arena, text, length);
    at = text ? compiler_string(told, text) : 0;
    if (!text || !map_put(&told->made, 0, text, length, (void *)at)) /* NOLINT */
        told->parts[PART_STRINGS].failed = true;
    return (uint32_t)at;
}

/* The directory that a rule's path is in; of a pattern the last that it names. */
static void cut_to_place(const struct path_rule *rule, char place[LIMIT_PATH_BYTES])
{
    const char *cursor = rule->path;
    const char *name;
    size_t length;
    size_t used = 0;

    while ((name = path_next(&cursor, &length)) && used + 1 + length < LIMIT_PATH_BYTES) {
        const char *rest = cursor;
        size_t ignored;

        if (rule->wild ? memchr(name, '*', length) || memchr(name, '?', length) ||
                             memchr(name, '[', length) || memchr(name, '\\', length)
                       : !path_next(&rest, &ignored))
            break;
        place[used++] = '/';
        memcpy(place + used, name, length);
        used += length;
    }
    place[used] = '\0';
    if (used == 0)
        memcpy(place, "/", 2);
}

/* Whether something of the host is shown at a path, or may be when somebody was asked. */
static bool is_shown(const struct path_decision *read)
{
    return read->access != ACCESS_PRIVATE && read->access != ACCESS_DENY &&
           read->reason != DECIDED_BY_SKELETON;
}

struct grant {
    const char *path;
    size_t length;
    bool is_private;
};

/* What is asked again and again: the lists have a thousand entries, and a policy a few grants. */
struct telling {
    const struct policy *policy;
    VEC(struct grant) grants;
    char place[LIMIT_PATH_BYTES]; /* the last one */
    struct path_decision around;  /* on reading it */
};

static bool add_grant(struct telling *telling, const char *path, bool is_private)
{
    struct grant grant = {.path = path, .length = strlen(path), .is_private = is_private};

    return vec_push(&telling->grants, grant);
}

static bool find_grants(struct telling *telling)
{
    vec_each (&telling->policy->rules, rule) {
        if ((*rule)->kind == RULE_PATH && (*rule)->read < ACCESS_ASK &&
            !add_grant(telling, (*rule)->path, (*rule)->read == ACCESS_PRIVATE))
            return false;
    }
    vec_each (&telling->policy->items, item) {
        if (item->list == LIST_NETWORK_UNIX_SOCKETS && !add_grant(telling, item->value, false))
            return false;
    }
    return true;
}

static bool is_within(const char *path, size_t length, const char *dir, size_t dir_length)
{
    return dir_length <= length && memcmp(path, dir, dir_length) == 0 &&
           (path[dir_length] == '/' || path[dir_length] == '\0' || dir_length == 1);
}

/* Whether something is granted at a path or below it; *ret_nearest is the last grant around it. */
static bool is_granted_below(const struct telling *telling, const char *path,
                             const struct grant **ret_nearest)
{
    size_t length = strlen(path);
    size_t best = 0;

    *ret_nearest = NULL;
    vec_each (&telling->grants, grant) {
        if (is_within(grant->path, grant->length, path, length))
            return true;
        if (grant->length > best && is_within(path, length, grant->path, grant->length)) {
            best = grant->length;
            *ret_nearest = grant;
        }
    }
    return false;
}

static int look_around(struct telling *telling, const struct path_rule *rule)
{
    struct path_decision decisions[PATH_OP_COUNT];
    char place[LIMIT_PATH_BYTES];
    int r;

    cut_to_place(rule, place);
    if (strcmp(place, telling->place) == 0)
        return 0;
    r = decide_path(telling->policy, place, decisions);
    telling->around = decisions[PATH_READ];
    memcpy(telling->place, place, sizeof(place));
    return r;
}

/* What the kernel makes has the same names everywhere. */
static bool is_kernels(const char *path)
{
    return path_is_below(path, "/dev") || path_is_below(path, "/proc");
}

/* Where everybody knows that a policy may be. */
static bool is_usual_place(const char *path)
{
    return strstr(path, "/.config/bawn") || strstr(path, "/.cache/bawn") ||
           strstr(path, "/.local/state/bawn") || path_is_below(path, "/etc/bawn");
}

/* Whether an entry of the lists is void where it is: nothing of the host is there. */
static bool is_void(const struct policy *policy, const struct path_rule *rule,
                    const struct grant *grant)
{
    return !rule->wild && grant && grant->is_private &&
           (rule->kind == RULE_PROTECTED || policy_is_in_home(policy, grant->path));
}

/* Whether a question would never be asked: another rule about this very path denies it. */
static bool is_overruled(const struct telling *telling, const struct path_rule *rule)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return rule->read == ACCESS_ASK && !rule->wild &&
           decide_path(telling->policy, rule->path, decisions) == 0 &&
           decisions[PATH_READ].access == ACCESS_DENY;
}

/* Whether the answers are the same without a rule: then its name is none of the command's business,
 * or of no use. */
static int is_left_out(struct telling *telling, const struct path_rule *rule, bool *ret_is)
{
    bool is_listed = rule->kind == RULE_SECRET || rule->kind == RULE_PROTECTED;
    bool is_sealed = rule->kind == RULE_SEALED;
    bool is_public = rule->layer->authority == AUTHORITY_BUILTIN && !rule->link && !is_sealed;
    const struct grant *nearest;
    int r;

    *ret_is = false;
    if (!LAYER("told"))
        return 0;
    /* What grants, asks or only protects is told. */
    if ((rule->read < ACCESS_DENY && !is_listed && !is_sealed && !is_overruled(telling, rule)) ||
        (is_sealed && is_usual_place(rule->path)) || is_kernels(rule->path) ||
        is_granted_below(telling, rule->path, &nearest))
        return 0;
    *ret_is = is_listed && is_void(telling->policy, rule, nearest);
    if (is_public || *ret_is)
        return 0;
    r = look_around(telling, rule);
    *ret_is = r == 0 && !is_shown(&telling->around);
    return r;
}

/* The link or the pattern that a denial was found by, if nobody inside sees that one, is none of
 * the command's business either; that there was one decides what re-opens it. */
static int hide_link(const struct policy *policy, struct path_rule *rule)
{
    const struct path_rule link = {.path = rule->link,
                                   .wild = rule->link && strpbrk(rule->link, "*?[")};
    struct path_decision decisions[PATH_OP_COUNT];
    char place[LIMIT_PATH_BYTES];
    int r;

    if (!rule->link || rule->read < ACCESS_DENY)
        return 0;
    cut_to_place(&link, place);
    r = decide_path(policy, place, decisions);
    if (r == 0 && !is_shown(&decisions[PATH_READ]))
        rule->spelled = rule->path;
    if (r == 0)
        r = decide_path(policy, rule->link, decisions);
    if (r == 0 && !is_shown(&decisions[PATH_READ]))
        rule->link = rule->path;
    return r;
}

static int tell_rules(struct compiler *told, struct telling *telling)
{
    const struct policy *policy = telling->policy;

    vec_each (&policy->rules, each) {
        struct path_rule rule = **each;
        struct image_words words;
        struct image_rule entry;
        bool is_out;
        int r = is_left_out(telling, *each, &is_out);

        if (r == 0 && !is_out)
            r = hide_link(policy, &rule);
        if (r < 0)
            return r;
        if (is_out)
            continue;
        entry = rules_pack(&rule, tell_string, told);
        words = rules_pack_words(&rule, tell_string, told);
        compiler_add(told, PART_RULES, &entry, sizeof(entry));
        compiler_add(told, PART_WORDS, &words, sizeof(words));
    }
    return 0;
}

static bool is_below_name(const char *name, const char *domain)
{
    size_t length = strlen(name);
    size_t end = strlen(domain);

    return length >= end && strcmp(name + length - end, domain) == 0 &&
           (length == end || name[length - end - 1] == '.');
}

/* A denial of names that nothing opens in any case says nothing but the name. */
static bool is_idle_denial(const struct policy *policy, const struct net_rule *denial)
{
    if (denial->verdict != NET_DENY || denial->host.kind == HOST_ADDRESS ||
        policy_number(policy, SETTING_NETWORK_MODE) != NETWORK_PROXY ||
        policy_number(policy, SETTING_NETWORK_UNLISTED) == UNLISTED_ASK)
        return false;
    vec_each (&policy->net_rules, rule) {
        if ((*rule)->verdict != NET_DENY && (is_below_name((*rule)->host.name, denial->host.name) ||
                                             is_below_name(denial->host.name, (*rule)->host.name)))
            return false;
    }
    /* What is said against localhost holds for ports of the host's. */
    return !is_below_name("localhost", denial->host.name);
}

/* Where a name is pinned to decides only by what rules say of that address. */
static bool needs_pins(const struct policy *policy)
{
    vec_each (&policy->net_rules, rule) {
        if ((*rule)->verdict != NET_ALLOW && (*rule)->host.kind == HOST_ADDRESS)
            return true;
    }
    return false;
}

static bool is_told_item(const struct policy *policy, const struct item *item)
{
    return item->list == LIST_NETWORK_HOST_PORTS || item->list == LIST_NETWORK_UNIX_SOCKETS ||
           (item->list == LIST_NETWORK_HOSTS && needs_pins(policy));
}

static void tell_network(struct compiler *told, const struct policy *policy)
{
    vec_each (&policy->net_rules, rule) {
        struct image_net_rule entry;

        if (is_idle_denial(policy, *rule))
            continue;
        entry = rules_pack_net(*rule, tell_string, told);
        compiler_add(told, PART_NET_RULES, &entry, sizeof(entry));
    }
    vec_each (&policy->items, item) {
        struct image_item entry;

        if (!is_told_item(policy, item))
            continue;
        entry = rules_pack_item(item, tell_string, told);
        compiler_add(told, PART_ITEMS, &entry, sizeof(entry));
    }
}

static void tell_head(struct compiler *told, const struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;
    struct image *head = &told->head;

    memcpy(head->magic, image_magic, sizeof(image_magic));
    memcpy(head->version, compiler->head.version, sizeof(head->version));
    head->flags = compiler->head.flags & IMAGE_AROUND;
    head->workspace = tell_string(told, plan->policy->workspace);
    head->workspace_at = tell_string(told, plan_workspace_at(plan));
    head->home = tell_string(told, plan->policy->home);
    head->reads = compiler->head.reads;
    head->network_mode = compiler->head.network_mode;
    head->network_unlisted = compiler->head.network_unlisted;
    head->network_engine = compiler->head.network_engine;
    head->network_ipv6 = compiler->head.network_ipv6;
}

int compile_told(struct compiler *compiler)
{
    const struct policy *policy = compiler->input->plan->policy;
    struct compiler told = {.input = compiler->input, .err = compiler->err};
    struct telling telling = {.policy = policy};
    autofree struct image *image = NULL;
    int r;

    strbuf_add_bytes(&told.parts[PART_STRINGS], "", 1);
    tell_head(&told, compiler);
    vec_each (&policy->layers, layer) {
        struct image_layer entry = rules_pack_layer(*layer, tell_string, &told);

        compiler_add(&told, PART_LAYERS, &entry, sizeof(entry));
    }
    tell_network(&told, policy);
    r = find_grants(&telling) && tell_rules(&told, &telling) == 0 ? compiler_join(&told, &image)
                                                                  : error_memory(compiler->err);
    vec_done(&telling.grants);
    compiler_done(&told);
    if (r < 0 || !image || image->size > TOLD_BYTES_MAX)
        return r;
    strbuf_add_bytes(&compiler->parts[PART_TOLD], (const char *)image, image->size);
    compiler->head.parts[PART_TOLD].count = (uint32_t)image->size;
    return 0;
}
