/* SPDX-License-Identifier: Apache-2.0 */
/* Every key of bawn YAML: those of policy/setting.c, and those with a shape of their own. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include "policy/model.h"

/* Lists of patterns. */
struct pattern_list {
    const char *key;
    enum access read, write;
    const char *help;
};
const struct pattern_list *keys_find_patterns(const char *key);

/* Lists of hosts. */
struct host_list {
    const char *key;
    unsigned verdict;
    const char *help;
};
const struct host_list *keys_find_hosts(const char *key);

/* Calls visit with every key. */
void keys_each(void (*visit)(void *context, const char *key), void *context);

/* Whether this is a key, or one that others are below. */
bool keys_has(const char *key);

/* Whether a key takes a list of plain values. */
bool keys_is_list(const char *key);

/* Why a key that one may look for is none, or NULL. */
const char *keys_refusal(const char *key);

/* The key nearest to text, or NULL. */
const char *keys_nearest(const char *text);

#endif
