/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a compiled plan that has rules on hosts and nothing else, as bawn-net reads it.
 *
 *     net_image proxy|isolated WORD...
 *     allow=HOST opaque=HOST ech=HOST ask=HOST ask-opaque=HOST deny=HOST pin=NAME=ADDRESS port=PORT
 *     upstream=http://HOST:PORT direct=HOST unlisted=ask patience=SECONDS
 */
#include "policy/model.h"
#include "wire/rules.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_image {
    struct image header;
    struct image_net_rule rules[64];
    struct image_item items[32];
    char strings[8192];
};

static uint32_t keep_string(void *context, const char *text)
{
    struct test_image *image = context;
    struct image_span *span = &image->header.parts[PART_STRINGS];
    uint32_t at = span->count;

    if (at + strlen(text) + 1 > sizeof(image->strings))
        exit(2);
    memcpy(image->strings + at, text, strlen(text) + 1);
    span->count += (uint32_t)strlen(text) + 1;
    return at;
}

static void add_rule(struct test_image *image, const char *kind, const char *host)
{
    const struct layer layer = {.authority = AUTHORITY_USER};
    const struct net_rule rule = {
        .spelled = host,
        .verdict = strcmp(kind, "deny") == 0      ? NET_DENY
                   : strncmp(kind, "ask", 3) == 0 ? NET_ASK
                                                  : NET_ALLOW,
        .opaque = strstr(kind, "opaque") != NULL,
        .ech = strcmp(kind, "ech") == 0,
        .layer = &layer,
    };

    image->rules[image->header.parts[PART_NET_RULES].count++] =
        rules_pack_net(&rule, keep_string, image);
}

static void add_item(struct test_image *image, enum list_id list, const char *key,
                     const char *value)
{
    const struct layer layer = {.authority = AUTHORITY_USER};
    const struct item item = {.list = list, .key = key, .value = value, .layer = &layer};

    image->items[image->header.parts[PART_ITEMS].count++] =
        rules_pack_item(&item, keep_string, image);
}

static void add_word(struct test_image *image, char *word)
{
    char *value = strchr(word, '=');
    char *second;

    if (!value)
        exit(2);
    *value++ = '\0';
    if (strcmp(word, "port") == 0) {
        add_item(image, LIST_NETWORK_HOST_PORTS, NULL, value);
    } else if (strcmp(word, "direct") == 0) {
        add_item(image, LIST_NETWORK_UPSTREAM_NO_PROXY, NULL, value);
    } else if (strcmp(word, "unlisted") == 0) {
        image->header.network_unlisted = UNLISTED_ASK;
    } else if (strcmp(word, "patience") == 0) {
        image->header.ask_seconds = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(word, "upstream") == 0) {
        image->header.upstream_proxy = keep_string(image, value);
    } else if (strcmp(word, "pin") == 0 && (second = strchr(value, '='))) {
        *second++ = '\0';
        add_item(image, LIST_NETWORK_HOSTS, value, second);
    } else {
        add_rule(image, word, value);
    }
}

int main(int argc, char **argv)
{
    static struct test_image image;
    struct image *header = &image.header;

    if (argc < 2 || argc > 64)
        return 2;
    memcpy(header->magic, image_magic, sizeof(image_magic));
    (void)snprintf(header->version, sizeof(header->version), "%s", BAWN_VERSION);
    header->size = sizeof(image);
    header->network_mode = strcmp(argv[1], "isolated") == 0 ? NETWORK_ISOLATED : NETWORK_PROXY;
    for (int part = 0; part < PART_COUNT; part++)
        header->parts[part].at = (sizeof(image.header) + 7) & ~7U;
    header->parts[PART_NET_RULES].at = offsetof(struct test_image, rules);
    header->parts[PART_ITEMS].at = offsetof(struct test_image, items);
    header->parts[PART_STRINGS].at = offsetof(struct test_image, strings);
    (void)keep_string(&image, "");
    for (int i = 2; i < argc; i++)
        add_word(&image, argv[i]);
    return fwrite(&image, sizeof(image), 1, stdout) == 1 ? 0 : 1;
}
