/* SPDX-License-Identifier: Apache-2.0 */
#include "config/node.h"

#include <string.h>

const char *node_kind_word(enum node_kind kind)
{
    static const char *const words[] = {
        [NODE_NULL] = "nothing",    [NODE_BOOL] = "true or false", [NODE_NUMBER] = "a number",
        [NODE_STRING] = "a string", [NODE_LIST] = "a list",        [NODE_MAP] = "a map",
    };

    return words[kind];
}

const struct node *node_get(const struct node *map, const char *key)
{
    if (map->kind != NODE_MAP)
        return NULL;
    for (const struct node *child = map->first; child; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}
