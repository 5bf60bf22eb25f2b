/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled plan that something spoilt: once it is checked, nothing in it leads outside. */
#include "fuzz/fuzz.h"
#include "policy/build.h"
#include "policy/decide_net.h"
#include "supervise/guard.h"
#include "wire/rules.h"

#include <linux/filter.h>

static size_t total; /* so that every byte is really read */

static void read_string(const struct image *image, uint32_t at)
{
    total += strlen(image_string(image, at));
}

static void read_all(const struct image *image)
{
    const unsigned char *filter = image_part(image, PART_FILTER);

    read_string(image, image->workspace);
    read_string(image, image->workspace_at);
    read_string(image, image->home);
    read_string(image, image->cwd);
    for (enum image_part part = PART_SKELETON; part <= PART_MOUNTS; part++) {
        image_each (image, part, struct image_mount, mount) {
            read_string(image, mount->source);
            read_string(image, mount->target);
        }
    }
    image_each (image, PART_LANDLOCK, struct image_landlock_rule, rule)
        read_string(image, rule->path);
    image_each (image, PART_ENV, struct image_env, env) {
        read_string(image, env->name);
        read_string(image, env->value);
    }
    image_each (image, PART_DEPS, struct image_dep, dep) {
        read_string(image, dep->path);
        read_string(image, dep->text);
    }
    image_each (image, PART_NOTES, uint32_t, note)
        read_string(image, *note);
    image_each (image, PART_WORDS, struct image_words, words) {
        read_string(image, words->reason);
        read_string(image, words->suffixes);
    }
    image_each (image, PART_LAYERS, struct image_layer, layer)
        read_string(image, layer->name);
    fuzz_require(image_count(image, PART_PORTS) <= LIMIT_STEERED_PORTS);
    image_each (image, PART_PORTS, uint32_t, port)
        fuzz_require(*port > 0 && *port <= UINT16_MAX);
    for (size_t i = 0; i < image_count(image, PART_FILTER) * sizeof(uint64_t); i++)
        total += filter[i];
}

/* The supervisor's own use of it. */
static void ask(const struct image *image)
{
    static const char *const paths[] = {"/", "/work", "/work/.git/hooks/x", "/home/user/.bashrc"};
    struct bawn_error err = {0};
    struct guard guard;

    if (guard_init(&guard, image, &err) == 0) {
        for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
            total += guard_ask(&guard, paths[i], PATH_WRITE);
            total += guard_is_host_tree(&guard, paths[i]);
            total += guard_is_kept(&guard, paths[i]);
            total += guard_has_below(&guard, paths[i]);
            total += guard_is_same_below(&guard, paths[0], paths[i]);
        }
    }
    guard_done(&guard);
}

/* What bawn-net does with it. */
static void ask_net(const struct image *image)
{
    static const char *const names[] = {"a.example:443", "10.0.0.1:80", "localhost:800"};
    struct bawn_error err = {0};
    struct policy policy = {0};
    struct net_decision decision;
    struct host target;

    if (rules_unpack_net(image, &policy, &err) == 0) {
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
            fuzz_require(host_parse_target(names[i], &target) == NULL);
            decide_net(&policy, &target, &decision);
            total += decision.access;
        }
    }
    policy_done(&policy);
}

struct whole {
    struct image head;
    struct image_mount skeleton[2], mounts[2];
    struct image_landlock_rule landlock[2];
    struct image_dep deps[2];
    struct sock_filter filter[4];
    struct image_rule rules[4];
    struct image_words words[4];
    struct image_layer layers[2];
    struct image_net_rule net_rules[2];
    struct image_item items[2];
    struct image_env env[2];
    struct image_watch watches[2];
    uint32_t ports[2];
    uint32_t notes[2];
    char told[8];
    char strings[64];
};

static struct image_span span_of(size_t at, size_t count)
{
    return (struct image_span){.at = (uint32_t)at, .count = (uint32_t)count};
}

/* One that is good, with something in every part. */
static void make_whole(struct whole *whole)
{
    static const char strings[] = "\0/work\0.git/hooks/**\0/home/user\0usr\0*.example\0"
                                  "10.0.0.1";
    struct image *image = &whole->head;

    *whole = (struct whole){.rules = {{.path = 1, .kind = RULE_PATH, .write = ACCESS_ALLOW},
                                      {.path = 7, .kind = RULE_PROTECTED, .flags = 1, .spelled = 7},
                                      {.path = 21, .link = 1, .kind = RULE_SECRET},
                                      {.path = 1, .name = 21, .kind = RULE_PATH}},
                            .net_rules = {{.spelled = 36, .verdict = NET_ALLOW},
                                          {.spelled = 46, .verdict = NET_DENY, .by = 1}},
                            .items = {{.key = 36, .value = 46, .list = LIST_NETWORK_HOSTS},
                                      {.value = 46, .list = LIST_NETWORK_HOST_PORTS}},
                            .watches = {{.path = 1, .tree = 1}, {.path = 21, .flags = 1}},
                            .ports = {80, 65535},
                            .words = {{.reason = 7}, {.suffixes = 1, .max_file_bytes = 9}},
                            .layers = {{.name = 21, .authority = AUTHORITY_USER, .order = 1}},
                            .notes = {7, 1}};
    memcpy(whole->strings, strings, sizeof(strings));
    image->workspace = image->workspace_at = image->cwd = 1;
    image->home = 21;
    image->parts[PART_SKELETON] = span_of(offsetof(struct whole, skeleton), 2);
    image->parts[PART_MOUNTS] = span_of(offsetof(struct whole, mounts), 2);
    image->parts[PART_LANDLOCK] = span_of(offsetof(struct whole, landlock), 2);
    image->parts[PART_DEPS] = span_of(offsetof(struct whole, deps), 2);
    image->parts[PART_FILTER] = span_of(offsetof(struct whole, filter), 4);
    image->parts[PART_RULES] = span_of(offsetof(struct whole, rules), 4);
    image->parts[PART_NET_RULES] = span_of(offsetof(struct whole, net_rules), 2);
    image->parts[PART_ITEMS] = span_of(offsetof(struct whole, items), 2);
    image->parts[PART_WATCHES] = span_of(offsetof(struct whole, watches), 2);
    image->parts[PART_ENV] = span_of(offsetof(struct whole, env), 2);
    image->parts[PART_PORTS] = span_of(offsetof(struct whole, ports), 2);
    image->parts[PART_NOTES] = span_of(offsetof(struct whole, notes), 2);
    image->parts[PART_WORDS] = span_of(offsetof(struct whole, words), 4);
    image->parts[PART_LAYERS] = span_of(offsetof(struct whole, layers), 2);
    image->parts[PART_TOLD] = span_of(offsetof(struct whole, told), sizeof(whole->told));
    image->parts[PART_STRINGS] = span_of(offsetof(struct whole, strings), sizeof(whole->strings));
    /* What is compared with a constant is not what is tried here. */
    memcpy(image->magic, image_magic, sizeof(image_magic));
    (void)snprintf(image->version, sizeof(image->version), "%s", BAWN_VERSION);
    image->size = sizeof(*whole);
}

/* Three bytes each: which byte (little end first), and its new value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bawn_error err = {0};
    struct whole *whole = malloc(sizeof(*whole));

    fuzz_require(whole);
    make_whole(whole);
    fuzz_require(image_check(whole, sizeof(*whole), &err) == 0);
    for (size_t i = 0; i + 2 < size; i += 3)
        ((uint8_t *)whole)[(data[i] | (size_t)data[i + 1] << 8) % sizeof(*whole)] = data[i + 2];
    if (image_check(whole, sizeof(*whole), &err) == 0) {
        read_all(&whole->head);
        ask(&whole->head);
        ask_net(&whole->head);
    }
    free(whole);
    return 0;
}
