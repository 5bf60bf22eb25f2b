/* SPDX-License-Identifier: Apache-2.0 */
/* YAML to nodes, through libyaml's events. */
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/map.h"
#include "config/node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct yaml_reader {
    yaml_parser_t parser;
    struct arena *arena;
    const char *file;
    const char *text;
    size_t length;
    struct bawn_report *report;
    struct map keys; /* scope: the map's number; to find duplicates */
    size_t maps;
    size_t nodes;
    size_t counted; /* characters, up to the byte at */
    size_t at;
    bool failed;
};

static struct origin yaml_origin(const struct yaml_reader *reader, yaml_mark_t mark)
{
    return (struct origin){reader->file, (unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

__attribute__((format(printf, 4, 5))) static void
yaml_fail(struct yaml_reader *reader, const char *code, yaml_mark_t mark, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    reader->failed = true;
    report_add(reader->report, BAWN_ERROR, code, yaml_origin(reader, mark), "%s", text);
}

/* Errors of the byte reader have an offset only. */
static yaml_mark_t yaml_mark_at(const struct yaml_reader *reader, size_t offset)
{
    yaml_mark_t mark = {.index = offset};

    for (size_t i = 0; i < offset && i < reader->length; i++) {
        mark.column = reader->text[i] == '\n' ? 0 : mark.column + 1;
        mark.line += reader->text[i] == '\n';
    }
    return mark;
}

/* The byte of a mark, which counts characters. A byte order mark in front is not counted. */
static size_t yaml_byte(struct yaml_reader *reader, yaml_mark_t mark)
{
    static const char bom[] = "\xef\xbb\xbf";

    if (reader->at == 0 || mark.index < reader->counted) {
        reader->counted = 0;
        reader->at = reader->length >= 3 && memcmp(reader->text, bom, 3) == 0 ? 3 : 0;
    }
    while (reader->counted < mark.index && reader->at < reader->length) {
        reader->at++;
        while (reader->at < reader->length && (reader->text[reader->at] & 0xc0) == 0x80)
            reader->at++;
        reader->counted++;
    }
    return reader->at;
}

static bool yaml_next(struct yaml_reader *reader, yaml_event_t *event)
{
    yaml_parser_t *parser = &reader->parser;
    yaml_mark_t mark;

    if (reader->failed)
        return false;
    if (yaml_parser_parse(parser, event))
        return true;
    mark = parser->problem_mark;
    if (parser->error == YAML_READER_ERROR)
        mark = yaml_mark_at(reader, parser->problem_offset);
    yaml_fail(reader, "config.syntax", mark, "not YAML: %s%s%s",
              parser->problem ? parser->problem : "out of memory", parser->context ? ", " : "",
              parser->context ? parser->context : "");
    return false;
}

static enum node_kind plain_kind(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    size_t digits = strspn(text, "0123456789");

    for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
        if (strcmp(text, nulls[i]) == 0)
            return NODE_NULL;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return NODE_BOOL;
    return digits && text[digits] == '\0' ? NODE_NUMBER : NODE_STRING;
}

static struct node *yaml_node(struct yaml_reader *reader, enum node_kind kind, yaml_mark_t mark)
{
    struct node *node;

    if (++reader->nodes > LIMIT_CONFIG_NODES) {
        yaml_fail(reader, "config.too_large", mark, "more than %d values in one file",
                  LIMIT_CONFIG_NODES);
        return NULL;
    }
    node = arena_new(reader->arena, struct node);
    if (!node) {
        yaml_fail(reader, "system", mark, "out of memory");
        return NULL;
    }
    node->kind = kind;
    node->origin = yaml_origin(reader, mark);
    node->start = node->end = yaml_byte(reader, mark);
    return node;
}

static struct node *yaml_scalar(struct yaml_reader *reader, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    struct node *node;

    if (event->data.scalar.tag && strcmp((const char *)event->data.scalar.tag, "!") != 0) {
        yaml_fail(reader, "config.tag", event->start_mark, "a policy has no tags (%s)",
                  (const char *)event->data.scalar.tag);
        return NULL;
    }
    if (strlen(text) != length) {
        yaml_fail(reader, "config.nul", event->start_mark, "a NUL character in a value");
        return NULL;
    }
    node = yaml_node(reader,
                     event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_kind(text)
                                                                         : NODE_STRING,
                     event->start_mark);
    if (!node)
        return NULL;
    node->text = arena_strndup(reader->arena, text, length);
    node->end = yaml_byte(reader, event->end_mark);
    if (node->text)
        return node;
    /* SECURITY: a list that ends here would be a policy with rules missing. */
    yaml_fail(reader, "system", event->start_mark, "out of memory");
    return NULL;
}

static struct node *yaml_value(struct yaml_reader *reader, const yaml_event_t *event,
                               unsigned depth);

static bool is_end(const yaml_event_t *event)
{
    return event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
}

/* Reads "KEY:" of a map; the value follows. */
static const char *yaml_key(struct yaml_reader *reader, const yaml_event_t *event, size_t map_id)
{
    const char *key = NULL;
    struct node *node;

    if (event->type != YAML_SCALAR_EVENT) {
        yaml_fail(reader, "config.key", event->start_mark, "a key must be a single word");
        return NULL;
    }
    node = event->data.scalar.anchor ? NULL : yaml_scalar(reader, event);
    if (event->data.scalar.anchor)
        yaml_fail(reader, "config.alias", event->start_mark, "a policy has no anchors");
    if (!node)
        return NULL;
    key = node->text;
    if (strlen(key) > LIMIT_KEY_BYTES) {
        yaml_fail(reader, "config.key", event->start_mark, "a key has at most %d bytes",
                  LIMIT_KEY_BYTES);
        return NULL;
    }
    if (map_get(&reader->keys, map_id, key, strlen(key))) {
        yaml_fail(reader, "config.duplicate_key", event->start_mark, "the key '%s' is here twice",
                  key);
        return NULL;
    }
    if (!map_put(&reader->keys, map_id, key, strlen(key), node)) {
        yaml_fail(reader, "system", event->start_mark, "out of memory");
        return NULL;
    }
    return key;
}

static void yaml_children(struct yaml_reader *reader, struct node *parent, unsigned depth)
{
    struct node **tail = &parent->first;
    size_t map_id = parent->kind == NODE_MAP ? ++reader->maps : 0;

    for (;;) {
        struct origin key_origin = {0};
        const char *key = NULL;
        size_t key_start = 0;
        yaml_event_t event;
        struct node *child;
        bool end;

        if (!yaml_next(reader, &event))
            return;
        end = is_end(&event);
        if (end)
            parent->end = yaml_byte(reader, event.end_mark);
        if (!end && parent->kind == NODE_MAP) {
            key_origin = yaml_origin(reader, event.start_mark);
            key_start = yaml_byte(reader, event.start_mark);
            key = yaml_key(reader, &event, map_id);
            yaml_event_delete(&event);
            if (!key || !yaml_next(reader, &event))
                return;
        }
        child = end ? NULL : yaml_value(reader, &event, depth + 1);
        yaml_event_delete(&event);
        if (!child)
            return;
        child->key = key;
        child->key_origin = key_origin;
        child->key_start = key_start;
        *tail = child;
        tail = &child->next;
    }
}

static struct node *yaml_value(struct yaml_reader *reader, const yaml_event_t *event,
                               unsigned depth)
{
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag;
    struct node *node;

    if (event->type == YAML_SCALAR_EVENT) {
        if (event->data.scalar.anchor) {
            yaml_fail(reader, "config.alias", event->start_mark, "a policy has no anchors");
            return NULL;
        }
        return yaml_scalar(reader, event);
    }
    /* SECURITY: a few aliases of aliases make a document of any size. */
    if (event->type == YAML_ALIAS_EVENT || (is_map ? (void *)event->data.mapping_start.anchor
                                                   : (void *)event->data.sequence_start.anchor)) {
        yaml_fail(reader, "config.alias", event->start_mark, "a policy has no anchors or aliases");
        return NULL;
    }
    tag = is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (tag && strcmp((const char *)tag, "!") != 0) {
        yaml_fail(reader, "config.tag", event->start_mark, "a policy has no tags (%s)",
                  (const char *)tag);
        return NULL;
    }
    if (depth > LIMIT_CONFIG_DEPTH) {
        yaml_fail(reader, "config.too_deep", event->start_mark, "nested deeper than %d",
                  LIMIT_CONFIG_DEPTH);
        return NULL;
    }
    node = yaml_node(reader, is_map ? NODE_MAP : NODE_LIST, event->start_mark);
    if (node) {
        node->is_flow = is_map ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                               : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        yaml_children(reader, node, depth);
    }
    return reader->failed ? NULL : node;
}

/* The one document of the stream. */
static struct node *yaml_document(struct yaml_reader *reader)
{
    struct node *root = NULL;
    yaml_event_t event;
    yaml_event_type_t type;

    do {
        if (!yaml_next(reader, &event))
            return NULL;
        type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT && root)
            yaml_fail(reader, "config.documents", event.start_mark, "a policy is one document");
        else if (type == YAML_SCALAR_EVENT || type == YAML_ALIAS_EVENT ||
                 type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT)
            root = yaml_value(reader, &event, 0);
        yaml_event_delete(&event);
    } while (type != YAML_STREAM_END_EVENT && !reader->failed);
    if (!root && !reader->failed)
        root = yaml_node(reader, NODE_NULL, (yaml_mark_t){0});
    return reader->failed ? NULL : root;
}

struct node *node_from_yaml(struct arena *arena, const char *file, const char *text, size_t length,
                            struct bawn_report *report)
{
    struct yaml_reader reader = {
        .arena = arena, .file = file, .text = text, .length = length, .report = report};
    struct node *root;

    if (!yaml_parser_initialize(&reader.parser)) {
        report_add(report, BAWN_ERROR, "system", (struct origin){.file = file}, "out of memory");
        return NULL;
    }
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    root = yaml_document(&reader);
    yaml_parser_delete(&reader.parser);
    map_done(&reader.keys);
    return root;
}
