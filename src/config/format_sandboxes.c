/* SPDX-License-Identifier: Apache-2.0 */
/* The older "sandboxes: {NAME: {path, mode}}" form: named trees, read-only or writable. */
#include "base/text.h"
#include "config/source.h"
#include "policy/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One sandbox is the same as one of sandbox.paths, with "path" for "root". */
static int load_sandbox(const struct config_source *source, const struct node *node)
{
    static const char *const known[] = {"path", "mode", "suffixes", "max_file_bytes"};
    static const char *const as[] = {"root", "mode", "suffixes", "max_file_bytes"};
    struct node children[4];
    struct node renamed = *node;
    struct node **tail = &renamed.first;
    char full[256];

    /* What is none is told so. */
    if (node->kind != NODE_MAP)
        return source_load_path(source, node, "sandboxes", "path");
    renamed.first = NULL;
    for (const struct node *child = node->first; child; child = child->next) {
        size_t which = 0;

        while (which < 4 && strcmp(child->key, known[which]) != 0)
            which++;
        if (which == 4) {
            (void)snprintf(full, sizeof(full), "sandboxes.%s.%s", node->key, child->key);
            source_unknown_key(source, child, full, known, 4);
            return 0;
        }
        children[which] = *child;
        children[which].key = as[which];
        children[which].next = NULL;
        *tail = &children[which];
        tail = &children[which].next;
    }
    return source_load_path(source, &renamed, "sandboxes", "path");
}

int format_sandboxes_load(const struct config_source *source, const struct node *root)
{
    static const char *const known[] = {"sandboxes"};
    int r = 0;

    if (root->kind == NODE_NULL)
        return 0;
    if (root->kind != NODE_MAP) {
        source_wrong_type(source, root, "a policy", "a map with the key 'sandboxes'");
        return 0;
    }
    for (const struct node *section = root->first; section && r == 0; section = section->next) {
        if (strcmp(section->key, "sandboxes") != 0) {
            source_unknown_key(source, section, section->key, known, 1);
        } else if (section->kind == NODE_MAP) {
            for (const struct node *child = section->first; child && r == 0; child = child->next)
                r = load_sandbox(source, child);
        } else if (section->kind != NODE_NULL) {
            source_wrong_type(source, section, section->key, "a map of names");
        }
    }
    return r;
}
