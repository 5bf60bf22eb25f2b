/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/rules.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "policy/build.h"
#include "policy/message.h"
#include "policy/proxy.h"

#include <errno.h>
#include <string.h>

enum {
    IS_WILD = 1,
    IS_REPEAT = 2,
    IS_READ_ONLY = 4,
    IS_ONLY_DIR = 8,
    IS_KEPT = 16,
};
enum { NAME_BYTES = 48 }; /* of a rule's path, what is not in the image: the names of its nodes */
enum {
    IS_OPAQUE = 1,
    TAKES_ECH = 2,
};

static uint32_t pack_string(const char *text, rules_string string, void *context)
{
    return text ? string(context, text) : 0;
}

struct image_rule rules_pack(const struct path_rule *rule, rules_string string, void *context)
{
    return (struct image_rule){
        .path = pack_string(rule->path, string, context),
        .spelled = pack_string(rule->spelled, string, context),
        .name = pack_string(rule->name, string, context),
        .link = pack_string(rule->link, string, context),
        .kind = (uint8_t)rule->kind,
        .read = (uint8_t)rule->read,
        .write = (uint8_t)rule->write,
        .flags = (uint8_t)((rule->wild ? IS_WILD : 0) | (rule->is_repeat ? IS_REPEAT : 0) |
                           (rule->read_only ? IS_READ_ONLY : 0) |
                           (rule->only_dir ? IS_ONLY_DIR : 0) | (rule->is_kept ? IS_KEPT : 0)),
        .authority = (uint8_t)rule->layer->authority,
        .order = (uint16_t)rule->layer->order,
    };
}

/* "" is no suffix: none has a slash, and what they were is told by what is between these. */
struct image_words rules_pack_words(const struct path_rule *rule, rules_string string,
                                    void *context)
{
    autostrbuf struct strbuf suffixes = {0};
    struct image_words words = {.reason = pack_string(rule->reason, string, context),
                                .max_file_bytes = rule->max_file_bytes};

    for (const char *const *suffix = rule->suffixes; suffix && *suffix; suffix++)
        strbuf_addf(&suffixes, "%s/", *suffix);
    /* A list without an entry allows nothing. */
    if (rule->suffixes && !suffixes.length)
        strbuf_add(&suffixes, "/");
    words.suffixes = pack_string(suffixes.text, string, context);
    return words;
}

struct image_layer rules_pack_layer(const struct layer *layer, rules_string string, void *context)
{
    return (struct image_layer){.name = pack_string(layer->name, string, context),
                                .id = (uint8_t)layer->id,
                                .authority = (uint8_t)layer->authority,
                                .order = (uint16_t)layer->order};
}

struct image_net_rule rules_pack_net(const struct net_rule *rule, rules_string string,
                                     void *context)
{
    return (struct image_net_rule){
        .spelled = pack_string(rule->spelled, string, context),
        .by = pack_string(rule->by, string, context),
        .verdict = (uint8_t)rule->verdict,
        .flags = (uint8_t)((rule->opaque ? IS_OPAQUE : 0) | (rule->ech ? TAKES_ECH : 0)),
        .authority = (uint8_t)rule->layer->authority,
        .order = (uint16_t)rule->layer->order,
    };
}

bool rules_keep_list(enum list_id list)
{
    return list == LIST_NETWORK_HOSTS || list == LIST_NETWORK_HOST_PORTS ||
           list == LIST_NETWORK_PUBLISH || list == LIST_NETWORK_UPSTREAM_NO_PROXY ||
           list == LIST_NETWORK_UNIX_SOCKETS;
}

struct image_item rules_pack_item(const struct item *item, rules_string string, void *context)
{
    return (struct image_item){
        .key = pack_string(item->key, string, context),
        .value = pack_string(item->value, string, context),
        .list = (uint8_t)item->list,
        .authority = (uint8_t)item->layer->authority,
        .order = (uint16_t)item->layer->order,
    };
}

/* Rules of one speaker share a layer; only its rank and its place in the order count. */
static const struct layer *find_layer(struct policy *policy, unsigned authority, unsigned order)
{
    struct layer *layer;

    vec_each (&policy->layers, known) {
        if ((*known)->authority == authority && (*known)->order == order)
            return *known;
    }
    layer = arena_new(&policy->arena, struct layer);
    if (!layer)
        return NULL;
    layer->authority = authority;
    /* Which file it was is not told: a rule that is not built in is somebody's own. */
    layer->id = authority == AUTHORITY_BUILTIN ? LAYER_BUILTIN : LAYER_POLICY;
    layer->order = order;
    return vec_push(&policy->layers, layer) ? layer : NULL;
}

/* None is empty. */
static const char *unpack_string(const struct image *image, uint32_t at)
{
    return at ? image_string(image, at) : NULL;
}

static int bad_rule(struct bawn_error *err)
{
    return error_set(err, EBADMSG, "image.bad_rule", "the compiled policy has an unknown rule");
}

/* ".c/.h/", or "/" for none. */
static const char *const *unpack_suffixes(const char *text, struct arena *arena)
{
    size_t count = 0;
    const char **suffixes;

    for (const char *at = text; (at = strchr(at, '/')); at++)
        count++;
    suffixes = arena_alloc(arena, (count + 1) * sizeof(*suffixes));
    count = 0;
    for (const char *at = text, *end; suffixes && (end = strchr(at, '/')); at = end + 1) {
        if (end == at)
            continue;
        suffixes[count] = arena_strndup(arena, at, (size_t)(end - at));
        if (!suffixes[count++])
            return NULL;
    }
    if (suffixes)
        suffixes[count] = NULL;
    return suffixes;
}

static bool unpack_words(const struct image *image, size_t number, struct arena *arena,
                         struct path_rule *rule)
{
    const struct image_words *words = image_part(image, PART_WORDS);

    if (number >= image_count(image, PART_WORDS))
        return true;
    rule->reason = unpack_string(image, words[number].reason);
    rule->max_file_bytes = words[number].max_file_bytes;
    if (words[number].suffixes)
        rule->suffixes = unpack_suffixes(image_string(image, words[number].suffixes), arena);
    return !words[number].suffixes || rule->suffixes;
}

static int unpack_rule(const struct image *image, const struct image_rule *from,
                       struct policy *policy, struct bawn_error *err)
{
    const struct image_rule *first = image_part(image, PART_RULES);
    const struct layer *layer;
    struct path_rule *rule;

    if (from->authority >= AUTHORITY_COUNT || from->kind > RULE_SEALED ||
        from->read > ACCESS_DENY || from->write > ACCESS_DENY || !from->path)
        return bad_rule(err);
    layer = find_layer(policy, from->authority, from->order);
    rule = arena_new(&policy->arena, struct path_rule);
    if (!layer || !rule)
        return error_memory(err);
    *rule = (struct path_rule){
        .kind = from->kind,
        .path = image_string(image, from->path),
        .spelled = image_string(image, from->spelled ? from->spelled : from->path),
        .name = unpack_string(image, from->name),
        .link = unpack_string(image, from->link),
        .read = from->read,
        .write = from->write,
        .wild = from->flags & IS_WILD,
        .is_repeat = from->flags & IS_REPEAT,
        .read_only = from->flags & IS_READ_ONLY,
        .only_dir = from->flags & IS_ONLY_DIR,
        .is_kept = from->flags & IS_KEPT,
        .layer = layer,
    };
    if (!unpack_words(image, (size_t)(from - first), &policy->arena, rule) ||
        !vec_push(&policy->rules, rule))
        return error_memory(err);
    return pathtree_add(&policy->tree, &policy->arena, rule, err);
}

static void unpack_setting(struct policy *policy, enum setting_id id, uint64_t number)
{
    policy->settings[id].is_set = true;
    policy->settings[id].number = number;
}

/* Where the image names them; find_layer makes those that it does not. */
static int unpack_layers(const struct image *image, struct policy *policy, struct bawn_error *err)
{
    image_each (image, PART_LAYERS, struct image_layer, from) {
        struct layer *layer = arena_new(&policy->arena, struct layer);

        if (from->authority >= AUTHORITY_COUNT || from->id > LAYER_FLAGS)
            return bad_rule(err);
        if (!layer)
            return error_memory(err);
        *layer = (struct layer){.id = from->id,
                                .authority = from->authority,
                                .order = from->order,
                                .name = unpack_string(image, from->name)};
        if (!vec_push(&policy->layers, layer))
            return error_memory(err);
    }
    return 0;
}

int rules_unpack(const struct image *image, struct policy *policy, struct bawn_error *err)
{
    int r;

    if (image->reads > READS_STATIC)
        return error_set(err, EBADMSG, "image.bad_rule", "the compiled policy has an unknown mode");
    policy->workspace = image_string(image, image->workspace);
    policy->home = image_string(image, image->home);
    unpack_setting(policy, SETTING_READS, image->reads);
    if (!pathtree_reserve(&policy->tree, &policy->arena, image_count(image, PART_RULES),
                          sizeof(struct path_rule) + NAME_BYTES))
        return error_memory(err);
    r = unpack_layers(image, policy, err);
    image_each (image, PART_RULES, struct image_rule, rule) {
        if (r == 0)
            r = unpack_rule(image, rule, policy, err);
    }
    return r;
}

static int unpack_net_rule(const struct image *image, const struct image_net_rule *from,
                           struct policy *policy, struct bawn_error *err)
{
    struct net_rule *rule = arena_new(&policy->arena, struct net_rule);
    const struct layer *layer;

    if (from->authority >= AUTHORITY_COUNT || from->verdict > NET_DENY)
        return bad_rule(err);
    layer = find_layer(policy, from->authority, from->order);
    if (!layer || !rule)
        return error_memory(err);
    *rule = (struct net_rule){
        .verdict = from->verdict,
        .opaque = from->flags & IS_OPAQUE,
        .ech = from->flags & TAKES_ECH,
        .by = unpack_string(image, from->by),
        .spelled = image_string(image, from->spelled),
        .layer = layer,
    };
    if (host_parse_rule(rule->spelled, &rule->host))
        return bad_rule(err);
    return vec_push(&policy->net_rules, rule) && netindex_add(&policy->net_index, rule)
               ? 0
               : error_memory(err);
}

static int unpack_item(const struct image *image, const struct image_item *from,
                       struct policy *policy, struct bawn_error *err)
{
    struct item item = {.list = from->list,
                        .key = unpack_string(image, from->key),
                        .value = image_string(image, from->value)};

    if (from->authority >= AUTHORITY_COUNT || !rules_keep_list(from->list) ||
        (from->list == LIST_NETWORK_HOSTS && !item.key))
        return bad_rule(err);
    if (item.list == LIST_NETWORK_UPSTREAM_NO_PROXY && proxy_add_direct(policy, item.value) < 0)
        return bad_rule(err);
    item.layer = find_layer(policy, from->authority, from->order);
    return item.layer && vec_push(&policy->items, item) ? 0 : error_memory(err);
}

static bool unpack_proxy(const struct image *image, struct policy *policy)
{
    struct setting *setting = &policy->settings[SETTING_NETWORK_UPSTREAM_PROXY];
    struct host proxy;

    setting->text = unpack_string(image, image->upstream_proxy);
    setting->is_set = setting->text != NULL;
    return !setting->is_set || proxy_parse(setting->text, &proxy);
}

int rules_unpack_net(const struct image *image, struct policy *policy, struct bawn_error *err)
{
    int r = 0;

    if (image->network_mode > NETWORK_HOST || image->network_unlisted > UNLISTED_ASK ||
        image->network_engine > ENGINE_PASTA || image->network_ipv6 > 1 ||
        !unpack_proxy(image, policy))
        return bad_rule(err);
    unpack_setting(policy, SETTING_NETWORK_MODE, image->network_mode);
    unpack_setting(policy, SETTING_NETWORK_UNLISTED, image->network_unlisted);
    unpack_setting(policy, SETTING_NETWORK_ENGINE, image->network_engine);
    unpack_setting(policy, SETTING_NETWORK_IPV6, image->network_ipv6);
    image_each (image, PART_NET_RULES, struct image_net_rule, rule) {
        if (r == 0)
            r = unpack_net_rule(image, rule, policy, err);
    }
    image_each (image, PART_ITEMS, struct image_item, item) {
        if (r == 0)
            r = unpack_item(image, item, policy, err);
    }
    if (r == 0 && message_summarize(policy) < 0)
        r = error_memory(err);
    return r;
}

int rules_unpack_sockets(const struct image *image, struct policy *policy, struct bawn_error *err)
{
    int r = 0;

    image_each (image, PART_ITEMS, struct image_item, item) {
        if (r == 0 && item->list == LIST_NETWORK_UNIX_SOCKETS)
            r = unpack_item(image, item, policy, err);
    }
    return r;
}

unsigned rules_programs(const struct image *image, const char *ret_paths[static NET_PROGRAMS])
{
    unsigned count = 0;

    image_each (image, PART_NET_RULES, struct image_net_rule, rule) {
        const char *path = unpack_string(image, rule->by);
        unsigned i = 0;

        while (path && i < count && strcmp(ret_paths[i], path) != 0)
            i++;
        if (path && i == count && count < NET_PROGRAMS)
            ret_paths[count++] = path;
    }
    return count;
}
