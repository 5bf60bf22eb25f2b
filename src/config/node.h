/* SPDX-License-Identifier: Apache-2.0 */
/* A document as a tree of values that know their place, whatever its syntax was. */
#ifndef CONFIG_NODE_H
#define CONFIG_NODE_H

#include "base/arena.h"
#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>

enum node_kind { NODE_NULL, NODE_BOOL, NODE_NUMBER, NODE_STRING, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    const char *text; /* of a scalar, as it was written; without NUL bytes */
    const char *key;  /* in a map; NULL elsewhere */
    struct origin origin;
    struct origin key_origin;
    struct node *first; /* of a list or a map, in the order of the text */
    struct node *next;
    /* Of YAML: the bytes of the text that it is, and where its key starts. A list or a map that is
     * not in brackets ends with the last thing in it, not here. */
    size_t start, end;
    size_t key_start;
    bool is_flow; /* of YAML: a list or a map in brackets */
};

/*
 * Each reads one document into nodes that live in the arena. A document that
 * cannot be read is a complaint and NULL; duplicate keys and values of kinds
 * that no policy has are complaints too. An empty document is NODE_NULL.
 */
struct node *node_from_yaml(struct arena *arena, const char *file, const char *text, size_t length,
                            struct bawn_report *report);
struct node *node_from_json(struct arena *arena, const char *file, const char *text, size_t length,
                            struct bawn_report *report);

/* What people call a kind: "a list". */
const char *node_kind_word(enum node_kind kind);

/* The child of a map with this key, or NULL. */
const struct node *node_get(const struct node *map, const char *key);

#endif
