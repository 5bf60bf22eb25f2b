/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to nodes: jansson reads the values, a walk over the same text finds where each one stands.
 */
#include "base/cleanup.h"
#include "base/limits.h"
#include "config/node.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/*
 * How it works: jansson checks the syntax strictly and decodes, but does not
 * say where a value was. The text is valid by then, so the second walk only
 * has to skip white space, strings and scalars, in step with the decoded tree.
 */
struct json_reader {
    struct arena *arena;
    const char *file;
    const char *at;
    const char *end;
    const char *line_start;
    unsigned line;
    size_t nodes;
    struct bawn_report *report;
};

static struct origin json_origin(const struct json_reader *reader)
{
    return (struct origin){reader->file, reader->line,
                           (unsigned)(reader->at - reader->line_start) + 1};
}

/* Moves over white space and the commas and colons between values. */
static void json_skip(struct json_reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n,:", *reader->at)) {
        if (*reader->at++ == '\n') {
            reader->line++;
            reader->line_start = reader->at;
        }
    }
}

static void json_skip_string(struct json_reader *reader)
{
    for (reader->at++; reader->at < reader->end && *reader->at != '"'; reader->at++)
        if (*reader->at == '\\')
            reader->at++;
    reader->at++;
}

static struct node *json_value(struct json_reader *reader, json_t *value, unsigned depth);

static bool json_children(struct json_reader *reader, struct node *parent, json_t *value,
                          unsigned depth)
{
    struct node **tail = &parent->first;
    void *member = json_object_iter(value);
    size_t index = 0;

    reader->at++;
    for (json_skip(reader); reader->at < reader->end && !strchr("]}", *reader->at);
         json_skip(reader)) {
        struct origin key_origin = json_origin(reader);
        const char *key = NULL;
        json_t *item;
        struct node *child;

        if (parent->kind == NODE_MAP) {
            key = arena_strdup(reader->arena, json_object_iter_key(member));
            item = json_object_iter_value(member);
            member = json_object_iter_next(value, member);
            json_skip_string(reader);
            json_skip(reader);
        } else {
            item = json_array_get(value, index++);
        }
        child = json_value(reader, item, depth + 1);
        if (!child || (parent->kind == NODE_MAP && !key))
            return false;
        child->key = key;
        child->key_origin = key_origin;
        *tail = child;
        tail = &child->next;
    }
    reader->at++;
    return true;
}

static bool json_scalar(struct json_reader *reader, struct node *node, json_t *value)
{
    const char *start = reader->at;

    if (json_is_string(value)) {
        json_skip_string(reader);
        node->text = arena_strdup(reader->arena, json_string_value(value));
    } else {
        while (reader->at < reader->end && !strchr(" \t\r\n,:]}", *reader->at))
            reader->at++;
        node->text = arena_strndup(reader->arena, start, (size_t)(reader->at - start));
    }
    return node->text != NULL;
}

static struct node *json_value(struct json_reader *reader, json_t *value, unsigned depth)
{
    static const enum node_kind kinds[] = {
        [JSON_OBJECT] = NODE_MAP,     [JSON_ARRAY] = NODE_LIST,  [JSON_STRING] = NODE_STRING,
        [JSON_INTEGER] = NODE_NUMBER, [JSON_REAL] = NODE_NUMBER, [JSON_TRUE] = NODE_BOOL,
        [JSON_FALSE] = NODE_BOOL,     [JSON_NULL] = NODE_NULL,
    };
    struct node *node = arena_new(reader->arena, struct node);
    bool ok;

    if (!node)
        return NULL;
    json_skip(reader);
    node->kind = kinds[json_typeof(value)];
    node->origin = json_origin(reader);
    if (depth > LIMIT_CONFIG_DEPTH || ++reader->nodes > LIMIT_CONFIG_NODES) {
        report_add(reader->report, BAWN_ERROR, "config.too_large", node->origin,
                   "nested deeper than %d, or more than %d values", LIMIT_CONFIG_DEPTH,
                   LIMIT_CONFIG_NODES);
        return NULL;
    }
    if (node->kind == NODE_MAP || node->kind == NODE_LIST)
        ok = json_children(reader, node, value, depth);
    else
        ok = json_scalar(reader, node, value);
    return ok ? node : NULL;
}

struct node *node_from_json(struct arena *arena, const char *file, const char *text, size_t length,
                            struct bawn_report *report)
{
    struct json_reader reader = {.arena = arena,
                                 .file = file,
                                 .at = text,
                                 .end = text + length,
                                 .line_start = text,
                                 .line = 1,
                                 .report = report};
    json_error_t error;
    struct node *root;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

    if (!value) {
        report_add(report, BAWN_ERROR, "config.syntax",
                   (struct origin){file, error.line > 0 ? (unsigned)error.line : 1,
                                   error.column > 0 ? (unsigned)error.column : 1},
                   "not JSON: %s", error.text);
        return NULL;
    }
    root = json_value(&reader, value, 0);
    json_decref(value);
    if (!root && !report_has_errors(report))
        report_add(report, BAWN_ERROR, "system", (struct origin){.file = file}, "out of memory");
    return root;
}
