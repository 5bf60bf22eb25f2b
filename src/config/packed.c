/* SPDX-License-Identifier: Apache-2.0 */
#include "config/packed.h"

#include "base/limits.h"

#include <stdint.h>
#include <string.h>

/* In front of each node; then come its key and its text, or its children. */
struct packed {
    uint32_t kind;
    uint32_t line, column;
    uint32_t has_key, key_line, key_column;
    uint32_t children;
};

struct unpacker {
    struct arena *arena;
    const char *file;
    const char *at, *end;
};

static bool has_children(enum node_kind kind)
{
    return kind == NODE_LIST || kind == NODE_MAP;
}

static void pack_text(struct strbuf *out, const char *text)
{
    strbuf_add_bytes(out, text, strlen(text) + 1);
}

void node_pack(const struct node *node, struct strbuf *out)
{
    struct packed head = {.kind = node->kind,
                          .line = node->origin.line,
                          .column = node->origin.column,
                          .has_key = node->key != NULL,
                          .key_line = node->key_origin.line,
                          .key_column = node->key_origin.column};

    for (const struct node *child = node->first; child; child = child->next)
        head.children++;
    strbuf_add_bytes(out, (const char *)&head, sizeof(head));
    if (node->key)
        pack_text(out, node->key);
    if (!has_children(node->kind))
        pack_text(out, node->text ? node->text : "");
    for (const struct node *child = node->first; child; child = child->next)
        node_pack(child, out);
}

static const char *unpack_text(struct unpacker *unpacker)
{
    const char *text = unpacker->at;
    const char *nul = memchr(text, '\0', (size_t)(unpacker->end - text));

    if (nul)
        unpacker->at = nul + 1;
    return nul ? text : NULL;
}

static struct node *unpack(struct unpacker *unpacker, unsigned depth)
{
    struct packed head;
    struct node *node;
    struct node **tail;

    if ((size_t)(unpacker->end - unpacker->at) < sizeof(head) || depth > LIMIT_CONFIG_DEPTH)
        return NULL;
    memcpy(&head, unpacker->at, sizeof(head));
    unpacker->at += sizeof(head);
    node = head.kind <= NODE_MAP ? arena_new(unpacker->arena, struct node) : NULL;
    if (!node)
        return NULL;
    *node = (struct node){.kind = head.kind, .origin = {unpacker->file, head.line, head.column}};
    if (head.has_key) {
        node->key = unpack_text(unpacker);
        node->key_origin = (struct origin){unpacker->file, head.key_line, head.key_column};
    }
    if (!has_children(head.kind))
        node->text = unpack_text(unpacker);
    if ((head.has_key && !node->key) || (!has_children(head.kind) && !node->text))
        return NULL;
    tail = &node->first;
    for (; head.children > 0; head.children--) {
        *tail = unpack(unpacker, depth + 1);
        if (!*tail)
            return NULL;
        tail = &(*tail)->next;
    }
    return node;
}

struct node *node_unpack(struct arena *arena, const char *file, const char *bytes, size_t length)
{
    struct unpacker unpacker = {.arena = arena, .file = file, .at = bytes, .end = bytes + length};
    struct node *root = unpack(&unpacker, 0);

    return unpacker.at == unpacker.end ? root : NULL;
}
