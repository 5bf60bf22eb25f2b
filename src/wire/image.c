/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/image.h"

#include "base/error.h"
#include "base/limits.h"
#include "policy/setting.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>

/* The last letter is the layout: images are kept, and read by whatever bawn of this version comes
 * next. */
const char image_magic[8] = "bawnimH";

static const size_t part_sizes[PART_COUNT] = {
    [PART_SKELETON] = sizeof(struct image_mount),
    [PART_MOUNTS] = sizeof(struct image_mount),
    [PART_RULES] = sizeof(struct image_rule),
    [PART_NET_RULES] = sizeof(struct image_net_rule),
    [PART_ITEMS] = sizeof(struct image_item),
    [PART_LANDLOCK] = sizeof(struct image_landlock_rule),
    [PART_FILTER] = sizeof(struct sock_filter),
    [PART_ENV] = sizeof(struct image_env),
    [PART_DEPS] = sizeof(struct image_dep),
    [PART_WATCHES] = sizeof(struct image_watch),
    [PART_PORTS] = sizeof(uint32_t),
    [PART_NOTES] = sizeof(uint32_t),
    [PART_WORDS] = sizeof(struct image_words),
    [PART_LAYERS] = sizeof(struct image_layer),
    [PART_TOLD] = 1,
    [PART_STRINGS] = 1,
};

static bool has_string(const struct image *image, uint32_t at)
{
    return at < image_count(image, PART_STRINGS);
}

static bool parts_fit(const struct image *image, size_t size)
{
    for (int i = 0; i < PART_COUNT; i++) {
        const struct image_span *span = &image->parts[i];

        if (span->at % 8 != 0 || span->at < sizeof(*image) || span->at > size ||
            span->count > (size - span->at) / part_sizes[i])
            return false;
    }
    return true;
}

static bool strings_fit(const struct image *image)
{
    uint32_t length = image_count(image, PART_STRINGS);
    bool fit = length > 0 && *image_string(image, length - 1) == '\0' &&
               *image_string(image, 0) == '\0' && has_string(image, image->workspace) &&
               has_string(image, image->workspace_at) && has_string(image, image->home) &&
               has_string(image, image->cwd) && has_string(image, image->upstream_proxy) &&
               has_string(image, image->engine_path);

    if (!fit)
        return false;
    for (enum image_part part = PART_SKELETON; part <= PART_MOUNTS; part++) {
        image_each (image, part, struct image_mount, mount)
            fit = fit && mount->step < STEP_COUNT && has_string(image, mount->source) &&
                  has_string(image, mount->target);
    }
    image_each (image, PART_RULES, struct image_rule, rule)
        fit = fit && has_string(image, rule->path) && has_string(image, rule->spelled) &&
              has_string(image, rule->name) && has_string(image, rule->link);
    image_each (image, PART_NET_RULES, struct image_net_rule, rule)
        fit = fit && has_string(image, rule->spelled) && has_string(image, rule->by);
    image_each (image, PART_ITEMS, struct image_item, item)
        fit = fit && has_string(image, item->key) && has_string(image, item->value);
    image_each (image, PART_LANDLOCK, struct image_landlock_rule, rule)
        fit = fit && has_string(image, rule->path);
    image_each (image, PART_ENV, struct image_env, env)
        fit = fit && has_string(image, env->name) && has_string(image, env->value);
    image_each (image, PART_DEPS, struct image_dep, dep)
        fit = fit && has_string(image, dep->path) && has_string(image, dep->text);
    image_each (image, PART_WATCHES, struct image_watch, watch)
        fit = fit && has_string(image, watch->path) && has_string(image, watch->tree);
    image_each (image, PART_NOTES, uint32_t, note)
        fit = fit && has_string(image, *note);
    image_each (image, PART_WORDS, struct image_words, words)
        fit = fit && has_string(image, words->reason) && has_string(image, words->suffixes);
    image_each (image, PART_LAYERS, struct image_layer, layer)
        fit = fit && has_string(image, layer->name);
    return fit;
}

static bool ports_fit(const struct image *image)
{
    bool fit = image_count(image, PART_PORTS) <= LIMIT_STEERED_PORTS;

    image_each (image, PART_PORTS, uint32_t, port)
        fit = fit && *port > 0 && *port <= UINT16_MAX;
    return fit;
}

int image_check(const void *bytes, size_t size, struct bawn_error *err)
{
    const struct image *image = bytes;

    if (size < sizeof(*image) || memcmp(image->magic, image_magic, sizeof(image_magic)) != 0 ||
        image->size != size || memchr(image->version, 0, sizeof(image->version)) == NULL ||
        memchr(image->release, 0, sizeof(image->release)) == NULL ||
        memchr(image->policy_hash, 0, sizeof(image->policy_hash)) == NULL ||
        image->audit > AUDIT_OFF || image->network_mode > NETWORK_HOST ||
        strcmp(image->version, BAWN_VERSION) != 0 || !parts_fit(image, size) ||
        !strings_fit(image) || !ports_fit(image))
        return error_set(err, EBADMSG, "image.bad", "compiled plan: not one of this version");
    return 0;
}

bool image_covers(const struct image *image, const struct image_mount *step, const char *path)
{
    const char *target = image_string(image, step->target);
    size_t length = strlen(target);

    if ((step->flags & STEP_ON_SHELF) || step->step == STEP_POOL || step->step == STEP_DIR ||
        step->step == STEP_FILE || step->step == STEP_SYMLINK || step->step == STEP_TEXT ||
        step->step == STEP_TOLD || step->step == STEP_COPY || step->step == STEP_PIN ||
        step->step == STEP_CLOSE || step->step == STEP_AGAIN)
        return false;
    return length == 0 ||
           (strncmp(path, target, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

bool image_needs_spaces(const struct image *image)
{
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (step->step == STEP_COPY || step->step == STEP_OVERLAY)
            return true;
    }
    return image_count(image, PART_WATCHES) > 0;
}

const char *image_enforcement(const struct image *image)
{
    return image->flags & IMAGE_PARTIAL ? "partial" : "full";
}
