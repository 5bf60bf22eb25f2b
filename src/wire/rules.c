/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/rules.h"

#include "base/error.h"
#include "policy/build.h"

#include <errno.h>

enum {
    IS_WILD = 1,
    IS_REPEAT = 2,
    IS_READ_ONLY = 4,
    IS_ONLY_DIR = 8,
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
        .flags =
            (uint8_t)((rule->wild ? IS_WILD : 0) | (rule->is_repeat ? IS_REPEAT : 0) |
                      (rule->read_only ? IS_READ_ONLY : 0) | (rule->only_dir ? IS_ONLY_DIR : 0)),
        .authority = (uint8_t)rule->layer->authority,
        .order = (uint16_t)rule->layer->order,
    };
}

/* Rules of one speaker share a layer; only its rank and its place in the order count. */
static const struct layer *find_layer(struct policy *policy, const struct image_rule *rule)
{
    struct layer *layer;

    vec_each (&policy->layers, known) {
        if ((*known)->authority == rule->authority && (*known)->order == rule->order)
            return *known;
    }
    layer = arena_new(&policy->arena, struct layer);
    if (!layer)
        return NULL;
    layer->authority = rule->authority;
    layer->order = rule->order;
    return vec_push(&policy->layers, layer) ? layer : NULL;
}

/* None is empty. */
static const char *unpack_string(const struct image *image, uint32_t at)
{
    return at ? image_string(image, at) : NULL;
}

static int unpack_rule(const struct image *image, const struct image_rule *from,
                       struct policy *policy, struct bawn_error *err)
{
    const struct layer *layer;
    struct path_rule *rule;

    if (from->authority >= AUTHORITY_COUNT || from->kind > RULE_SEALED ||
        from->read > ACCESS_DENY || from->write > ACCESS_DENY || !from->path)
        return error_set(err, EBADMSG, "image.bad_rule", "the compiled policy has an unknown rule");
    layer = find_layer(policy, from);
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
        .layer = layer,
    };
    if (!vec_push(&policy->rules, rule))
        return error_memory(err);
    return pathtree_add(&policy->tree, &policy->arena, rule, err);
}

int rules_unpack(const struct image *image, struct policy *policy, struct bawn_error *err)
{
    struct setting *reads = &policy->settings[SETTING_READS];

    if (image->reads > READS_STATIC)
        return error_set(err, EBADMSG, "image.bad_rule", "the compiled policy has an unknown mode");
    policy->workspace = image_string(image, image->workspace);
    policy->home = image_string(image, image->home);
    reads->is_set = true;
    reads->number = image->reads;
    image_each (image, PART_RULES, struct image_rule, rule) {
        int r = unpack_rule(image, rule, policy, err);

        if (r < 0)
            return r;
    }
    return 0;
}
