/* SPDX-License-Identifier: Apache-2.0 */
#include "config/edit.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "config/edit_same.h"
#include "config/node.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 4, KEY_BYTES = 32, NAME_BYTES = 48 };

/* The keys on the way to a rule, the outermost first. */
struct key_way {
    char keys[KEYS_MAX][KEY_BYTES];
    size_t count;
};

struct editor {
    const struct edit_text *old;
    const struct edit_rule *rule;
    struct bawn_report *report;
    struct arena arena;
    struct node *root;
    struct key_way way;
    const char *newline;
    size_t step;           /* how much deeper a map is than the one around it */
    size_t dash_step;      /* the same of a list */
    bool is_removal;       /* for complaints */
    size_t from, to;       /* the bytes that are replaced */
    struct strbuf with;    /* by these */
    char name[NAME_BYTES]; /* of a path that is put in */
};

static void add_spaces(struct strbuf *out, size_t count)
{
    while (count-- > 0)
        strbuf_add(out, " ");
}

/* A scalar that reads back as this very string: plain where that is beyond doubt. */
static void add_scalar(struct strbuf *out, const char *text, bool in_flow)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
    bool has_port = false;
    size_t length = strspn(text, plain);

    if (text[length] == ':' && !in_flow && isdigit((unsigned char)text[length + 1])) {
        has_port = true;
        length += 1 + strspn(text + length + 1, "0123456789");
    }
    /* A number would be no string, nor would a time of day; nor would these words. */
    if (text[length] == '\0' && (*text == '/' || isalpha((unsigned char)*text)) &&
        strcmp(text, "true") != 0 && strcmp(text, "false") != 0 && strcasecmp(text, "null") != 0 &&
        (!has_port || strchr(text, '.')))
        strbuf_add(out, text);
    else
        json_add_yaml(out, text);
}

/* The rule as one line that could stand in any policy: "sandbox: {deny: [x]}". */
static void add_by_hand(const struct editor *editor, struct strbuf *out)
{
    const struct edit_rule *rule = editor->rule;

    for (size_t i = 0; i < editor->way.count; i++)
        strbuf_addf(out, "%s%s: ", i ? "{" : "", editor->way.keys[i]);
    if (rule->mode) {
        strbuf_addf(out, "{%s: {root: ", *editor->name ? editor->name : "NAME");
        add_scalar(out, rule->value, true);
        strbuf_addf(out, ", mode: %s}}", rule->mode);
    } else {
        strbuf_add(out, "[");
        add_scalar(out, rule->value, true);
        strbuf_add(out, "]");
    }
    for (size_t i = 1; i < editor->way.count; i++)
        strbuf_add(out, "}");
}

static int refuse(struct editor *editor, struct origin origin, const char *why)
{
    autostrbuf struct strbuf by_hand = {0};

    if (!origin.line)
        origin = (struct origin){editor->old->file, 1, 1};
    report_add(editor->report, BAWN_ERROR, "edit.unsafe", origin, "no rule can be %s here: %s",
               editor->is_removal ? "taken out" : "put in", why);
    add_by_hand(editor, &by_hand);
    if (by_hand.text && !by_hand.failed)
        report_hint(editor->report, "edit the file by hand; the rule is %s", by_hand.text);
    return -EINVAL;
}

static size_t line_start(const struct editor *editor, size_t at)
{
    while (at > 0 && editor->old->text[at - 1] != '\n')
        at--;
    return at;
}

/* Behind the line that something ends in; a text of several lines may end with one. */
static size_t line_end(const struct editor *editor, size_t at)
{
    const char *text = editor->old->text;

    if (at > 0 && text[at - 1] == '\n')
        return at;
    while (at < editor->old->length && text[at] != '\n')
        at++;
    return at + (at < editor->old->length);
}

/* How far a place is indented; SIZE_MAX where anything but blanks stands before it. */
static size_t indent_of(const struct editor *editor, size_t at)
{
    size_t start = line_start(editor, at);

    for (size_t i = start; i < at; i++)
        if (editor->old->text[i] != ' ')
            return SIZE_MAX;
    return at - start;
}

static bool is_block(const struct node *node)
{
    return (node->kind == NODE_LIST || node->kind == NODE_MAP) && !node->is_flow && node->first;
}

static const struct node *last_of(const struct node *node)
{
    const struct node *last = node->first;

    while (last && last->next)
        last = last->next;
    return last;
}

static size_t content_end(const struct node *node)
{
    while (is_block(node))
        node = last_of(node);
    return node->end;
}

/* Nothing at all behind a key: no "null" and no "~". */
static bool is_nothing(const struct node *node)
{
    return node->kind == NODE_NULL && node->start == node->end;
}

/* How the text indents: as it does first. */
static void learn_style(struct editor *editor, const struct node *map)
{
    for (const struct node *child = map->first; child; child = child->next) {
        size_t column;
        size_t inner;

        if (map->kind != NODE_MAP || map->is_flow || !is_block(child))
            continue;
        column = indent_of(editor, child->key_start);
        inner = indent_of(editor, child->kind == NODE_MAP ? child->first->key_start : child->start);
        if (column != SIZE_MAX && inner != SIZE_MAX && inner >= column && inner - column <= 16) {
            if (child->kind == NODE_LIST && editor->dash_step == SIZE_MAX)
                editor->dash_step = inner - column;
            else if (child->kind == NODE_MAP && !editor->step && inner > column)
                editor->step = inner - column;
        }
        learn_style(editor, child);
    }
}

static bool split_key(struct key_way *way, const char *key)
{
    for (;;) {
        size_t length = strcspn(key, ".");

        if (way->count == KEYS_MAX || length >= KEY_BYTES)
            return false;
        memcpy(way->keys[way->count], key, length);
        way->keys[way->count++][length] = '\0';
        if (!key[length])
            return true;
        key += length + 1;
    }
}

/* Reads the old text. */
static int editor_init(struct editor *editor, const struct edit_text *old,
                       const struct edit_rule *rule, struct bawn_report *report)
{
    const char *newline = memchr(old->text, '\n', old->length);

    *editor = (struct editor){
        .old = old, .rule = rule, .report = report, .dash_step = SIZE_MAX, .newline = "\n"};
    if (!split_key(&editor->way, rule->key))
        return refuse(editor, (struct origin){0}, "there is no such key");
    if (!text_is_utf8(old->text, old->length))
        return refuse(editor, (struct origin){0}, "the file is not UTF-8");
    if (!text_is_utf8(rule->value, strlen(rule->value)))
        return refuse(editor, (struct origin){0}, "the rule is not UTF-8, and YAML has no bytes");
    editor->root = node_from_yaml(&editor->arena, old->file, old->text, old->length, report);
    if (!editor->root)
        return -EINVAL;
    if (newline && newline > old->text && newline[-1] == '\r')
        editor->newline = "\r\n";
    learn_style(editor, editor->root);
    if (!editor->step)
        editor->step = 2;
    if (editor->dash_step == SIZE_MAX)
        editor->dash_step = editor->step;
    return 0;
}

static void editor_done(struct editor *editor)
{
    arena_done(&editor->arena);
    strbuf_done(&editor->with);
}

static bool is_same_value(const struct editor *editor, const struct node *node)
{
    const struct edit_rule *rule = editor->rule;

    if ((node->kind != NODE_STRING && node->kind != NODE_NUMBER) || !node->text)
        return false;
    return strcmp(node->text, rule->value) == 0 ||
           (rule->is_same && rule->is_same(rule->context, node->text));
}

/* Whether an entry of a list, or one of the paths by its root, is what the rule is about. */
static bool is_about(const struct editor *editor, const struct node *entry)
{
    const struct node *root = editor->rule->mode ? node_get(entry, "root") : entry;

    return root && is_same_value(editor, root);
}

static const struct node *find_entry(const struct editor *editor, const struct node *target)
{
    for (const struct node *entry = target->first; entry; entry = entry->next)
        if (is_about(editor, entry))
            return entry;
    return NULL;
}

/* A name for a path that none in the map has: from the last name of its root. */
static void choose_name(struct editor *editor, const struct node *paths)
{
    const char *base = strrchr(editor->rule->value, '/');
    char stem[NAME_BYTES - 12];
    size_t length = 0;

    base = base ? base + 1 : editor->rule->value;
    for (; *base && length < sizeof(stem) - 1; base++) {
        if (isalnum((unsigned char)*base))
            stem[length++] = *base;
        else if (length > 0 && stem[length - 1] != '-')
            stem[length++] = '-';
    }
    while (length > 0 && stem[length - 1] == '-')
        length--;
    stem[length] = '\0';
    if (!isalpha((unsigned char)*stem))
        (void)snprintf(stem, sizeof(stem), "path");
    (void)snprintf(editor->name, sizeof(editor->name), "%s", stem);
    for (unsigned number = 2; paths && node_get(paths, editor->name); number++)
        (void)snprintf(editor->name, sizeof(editor->name), "%s-%u", stem, number);
}

static void add_path_flow(struct editor *editor)
{
    strbuf_addf(&editor->with, "%s: {root: ", editor->name);
    add_scalar(&editor->with, editor->rule->value, true);
    strbuf_addf(&editor->with, ", mode: %s}", editor->rule->mode);
}

/* The rule itself and the keys around it from one on, in brackets. */
static void add_flow(struct editor *editor, size_t depth)
{
    struct strbuf *out = &editor->with;

    for (size_t i = depth; i < editor->way.count; i++)
        strbuf_addf(out, "%s%s: ", i > depth ? "{" : "", editor->way.keys[i]);
    strbuf_add(out, editor->rule->mode ? "{" : "[");
    if (editor->rule->mode)
        add_path_flow(editor);
    else
        add_scalar(out, editor->rule->value, true);
    strbuf_add(out, editor->rule->mode ? "}" : "]");
    for (size_t i = depth + 1; i < editor->way.count; i++)
        strbuf_add(out, "}");
}

/* The entry alone as lines; dash is what stands before the value of a list. */
static void add_entry_lines(struct editor *editor, size_t indent, const char *dash)
{
    add_spaces(&editor->with, indent);
    if (editor->rule->mode) {
        add_path_flow(editor);
    } else {
        strbuf_add(&editor->with, dash);
        add_scalar(&editor->with, editor->rule->value, false);
    }
    strbuf_add(&editor->with, editor->newline);
}

/* The keys from one on, and the rule below them, as lines. */
static void add_lines(struct editor *editor, size_t depth, size_t indent)
{
    bool is_list = !editor->rule->mode;

    for (; depth < editor->way.count; depth++) {
        add_spaces(&editor->with, indent);
        strbuf_addf(&editor->with, "%s:%s", editor->way.keys[depth], editor->newline);
        indent += is_list && depth + 1 == editor->way.count ? editor->dash_step : editor->step;
    }
    add_entry_lines(editor, indent, "- ");
}

/* Lines are put in at the start of a line, which may have to be begun. */
static void begin_lines(struct editor *editor, size_t at)
{
    editor->from = editor->to = at;
    if (at == editor->old->length && at > 0 && editor->old->text[at - 1] != '\n')
        strbuf_add(&editor->with, editor->newline);
}

/* Something more in brackets: behind the last thing in them. */
static void begin_flow(struct editor *editor, const struct node *node)
{
    const struct node *last = last_of(node);

    editor->from = editor->to = last ? last->end : node->start + 1;
    if (last)
        strbuf_add(&editor->with, ", ");
}

/* Another entry of a list that is written in lines. */
static int add_to_list(struct editor *editor, const struct node *list)
{
    size_t indent = indent_of(editor, list->start);
    size_t space = list->start + 1;
    char dash[16] = "- ";

    if (indent == SIZE_MAX)
        return refuse(editor, list->origin, "the list does not start a line");
    while (space < editor->old->length && editor->old->text[space] == ' ')
        space++;
    if (space == list->first->start && space - list->start < sizeof(dash))
        (void)snprintf(dash, sizeof(dash), "-%*s", (int)(space - list->start - 1), "");
    begin_lines(editor, line_end(editor, content_end(list)));
    add_entry_lines(editor, indent, dash);
    return 1;
}

/* Another path, written as the last one is. */
static int add_to_paths(struct editor *editor, const struct node *paths)
{
    const struct node *last = last_of(paths);
    size_t indent = indent_of(editor, paths->first->key_start);
    size_t inner = is_block(last) ? indent_of(editor, last->first->key_start) : SIZE_MAX;

    if (indent == SIZE_MAX)
        return refuse(editor, paths->origin, "the map does not start a line");
    begin_lines(editor, line_end(editor, content_end(paths)));
    if (inner == SIZE_MAX || inner <= indent) {
        add_entry_lines(editor, indent, "");
        return 1;
    }
    add_spaces(&editor->with, indent);
    strbuf_addf(&editor->with, "%s:%s", editor->name, editor->newline);
    add_spaces(&editor->with, inner);
    strbuf_add(&editor->with, "root: ");
    add_scalar(&editor->with, editor->rule->value, false);
    strbuf_add(&editor->with, editor->newline);
    add_spaces(&editor->with, inner);
    strbuf_addf(&editor->with, "mode: %s%s", editor->rule->mode, editor->newline);
    return 1;
}

/* A path that is there already, with a mode. */
static int change_path(struct editor *editor, const struct node *entry)
{
    static const char *const wider[][2] = {{"ro", "rw"}, {"ask", "ro"}, {"ask", "rw"}};
    const struct node *mode = node_get(entry, "mode");
    const char *wanted = editor->rule->mode;
    char why[128];

    if (!mode || !mode->text)
        return refuse(editor, entry->key_origin, "the path has no mode");
    for (const struct node *child = entry->first; child; child = child->next)
        if (strcmp(child->key, "root") != 0 && strcmp(child->key, "mode") != 0)
            return refuse(editor, entry->key_origin, "the file says more of this path");
    if (strcmp(mode->text, wanted) == 0 ||
        (strcmp(mode->text, "rw") == 0 && strcmp(wanted, "ro") == 0))
        return 0;
    for (size_t i = 0; i < sizeof(wider) / sizeof(wider[0]); i++) {
        if (strcmp(mode->text, wider[i][0]) != 0 || strcmp(wanted, wider[i][1]) != 0)
            continue;
        editor->from = mode->start;
        editor->to = mode->end;
        strbuf_add(&editor->with, wanted);
        return 1;
    }
    (void)snprintf(why, sizeof(why), "the path has mode %.20s, and of two the stricter counts",
                   mode->text);
    return refuse(editor, mode->origin, why);
}

/* The list or the map that the rule belongs to is there. */
static int add_to_target(struct editor *editor, const struct node *target)
{
    enum node_kind kind = editor->rule->mode ? NODE_MAP : NODE_LIST;
    const struct node *entry;
    char why[96];

    if (target->kind != kind) {
        (void)snprintf(why, sizeof(why), "expected %s, found %s", node_kind_word(kind),
                       node_kind_word(target->kind));
        return refuse(editor, target->origin, why);
    }
    entry = find_entry(editor, target);
    if (entry)
        return editor->rule->mode ? change_path(editor, entry) : 0;
    if (editor->rule->mode)
        choose_name(editor, target);
    if (is_block(target))
        return editor->rule->mode ? add_to_paths(editor, target) : add_to_list(editor, target);
    begin_flow(editor, target);
    if (editor->rule->mode)
        add_path_flow(editor);
    else
        add_scalar(&editor->with, editor->rule->value, true);
    return 1;
}

/* A key of the way is missing in a map. */
static int add_key(struct editor *editor, const struct node *map, size_t depth)
{
    size_t indent;

    if (!is_block(map)) {
        begin_flow(editor, map);
        add_flow(editor, depth);
        return 1;
    }
    indent = indent_of(editor, map->first->key_start);
    if (indent == SIZE_MAX)
        return refuse(editor, map->origin, "the section does not start a line");
    begin_lines(editor, line_end(editor, content_end(map)));
    add_lines(editor, depth, indent);
    return 1;
}

/* A key has nothing behind it: the rest goes below it. */
static int fill_key(struct editor *editor, const struct node *parent, const struct node *node,
                    size_t depth)
{
    size_t indent = indent_of(editor, node->key_start);

    if (parent->is_flow || indent == SIZE_MAX)
        return refuse(editor, node->key_origin, "nothing stands behind the key");
    begin_lines(editor, line_end(editor, node->end));
    if (depth == editor->way.count)
        add_entry_lines(editor, indent + (editor->rule->mode ? editor->step : editor->dash_step),
                        "- ");
    else
        add_lines(editor, depth, indent + editor->step);
    return 1;
}

static int plan_addition(struct editor *editor)
{
    const struct node *node = editor->root;

    choose_name(editor, NULL);
    if (is_nothing(node)) {
        begin_lines(editor, editor->old->length);
        add_lines(editor, 0, 0);
        return 1;
    }
    for (size_t depth = 0; depth < editor->way.count; depth++) {
        const struct node *child;
        char why[96];

        if (node->kind != NODE_MAP) {
            (void)snprintf(why, sizeof(why), "expected a map, found %s",
                           node_kind_word(node->kind));
            return refuse(editor, node->origin, why);
        }
        child = node_get(node, editor->way.keys[depth]);
        if (!child)
            return add_key(editor, node, depth);
        if (is_nothing(child))
            return fill_key(editor, node, child, depth + 1);
        node = child;
    }
    return add_to_target(editor, node);
}

/* Where the "-" of an entry is. Comments may stand before it. */
static size_t find_dash(const struct editor *editor, const struct node *list,
                        const struct node *entry)
{
    const char *text = editor->old->text;
    size_t at = list->start;

    for (const struct node *before = list->first; before != entry; before = before->next)
        at = line_end(editor, content_end(before));
    while (at < entry->start && text[at] != '-')
        at = text[at] == '#' ? line_end(editor, at) : at + 1;
    return at;
}

/* Of an only entry the key above goes, too, unless something is said about it. */
static size_t climb(const struct editor *editor, const struct node *const *parents, size_t count,
                    size_t from)
{
    while (count > 1 && is_block(parents[count - 1]) && !parents[count - 1]->first->next) {
        const struct node *holder = parents[count - 1];
        size_t start = line_start(editor, holder->key_start);

        if (parents[count - 2]->is_flow || indent_of(editor, holder->key_start) == SIZE_MAX ||
            memchr(editor->old->text + start, '#', from - start))
            break;
        from = start;
        count--;
    }
    return from;
}

static int remove_lines(struct editor *editor, const struct node *const *parents, size_t count,
                        const struct node *entry)
{
    const struct node *target = parents[count - 1];
    size_t at = editor->rule->mode ? entry->key_start : find_dash(editor, target, entry);

    if (indent_of(editor, at) == SIZE_MAX)
        return refuse(editor, entry->origin, "the entry does not start a line");
    editor->from = climb(editor, parents, count, line_start(editor, at));
    editor->to = line_end(editor, content_end(entry));
    return 1;
}

/* An entry in brackets goes with the comma before it, or behind it. */
static int remove_flow(struct editor *editor, const struct node *target, const struct node *entry)
{
    size_t start = editor->rule->mode ? entry->key_start : entry->start;
    const struct node *before = NULL;

    for (const struct node *node = target->first; node && node != entry; node = node->next)
        before = node;
    editor->from = before ? before->end : start;
    editor->to = entry->end;
    if (!before && entry->next)
        editor->to = editor->rule->mode ? entry->next->key_start : entry->next->start;
    else if (!before)
        editor->to = target->end - 1;
    if (memchr(editor->old->text + editor->from, '#', start - editor->from) ||
        memchr(editor->old->text + entry->end, '#',
               editor->to > entry->end ? editor->to - entry->end : 0))
        return refuse(editor, entry->origin, "a comment stands between the entries");
    return 1;
}

static int plan_removal(struct editor *editor)
{
    const struct node *parents[KEYS_MAX + 1] = {editor->root};
    const struct node *target = editor->root;
    const struct node *entry = NULL;
    const struct node *mode;
    size_t count = 1;

    choose_name(editor, NULL);
    while (target && count <= editor->way.count) {
        target = node_get(target, editor->way.keys[count - 1]);
        parents[count++] = target;
    }
    if (target && target->kind == (editor->rule->mode ? NODE_MAP : NODE_LIST))
        entry = find_entry(editor, target);
    mode = entry && editor->rule->mode ? node_get(entry, "mode") : NULL;
    if (!entry || (editor->rule->mode &&
                   (!mode || !mode->text || strcmp(mode->text, editor->rule->mode) != 0)))
        return 0;
    return is_block(target) ? remove_lines(editor, parents, count, entry)
                            : remove_flow(editor, target, entry);
}

/* The new text, which must say what the old one said, and the rule; or not the rule. */
static int finish(struct editor *editor, struct strbuf *ret_text)
{
    const struct edit_text *old = editor->old;
    struct edit_text text = *old;
    bool is_mode = !editor->is_removal && editor->to > editor->from;
    struct node *root;

    strbuf_add_bytes(ret_text, old->text, editor->from);
    if (editor->with.length)
        strbuf_add_bytes(ret_text, editor->with.text, editor->with.length);
    strbuf_add_bytes(ret_text, old->text + editor->to, old->length - editor->to);
    if (ret_text->failed || editor->with.failed)
        return -ENOMEM;
    text.text = ret_text->text ? ret_text->text : "";
    text.length = ret_text->length;
    root = node_from_yaml(&editor->arena, old->file, text.text, text.length, NULL);
    if (!root)
        return refuse(editor, editor->root->origin,
                      "the file is written in a way that bawn cannot "
                      "extend safely");
    switch (editor->is_removal ? edit_differs(root, editor->root, editor->rule, false)
                               : edit_differs(editor->root, root, editor->rule, is_mode)) {
    case EDIT_DIFFERS_BY_RULE:
        return 1;
    case EDIT_DIFFERS:
        return refuse(editor, editor->root->origin,
                      "the file is written in a way that bawn cannot "
                      "extend safely");
    default:
        return -ENOMEM;
    }
}

static int edit(const struct edit_text *old, const struct edit_rule *rule, bool is_removal,
                struct strbuf *ret_text, struct bawn_report *report)
{
    struct editor editor;
    int r = editor_init(&editor, old, rule, report);

    editor.is_removal = is_removal;
    if (r == 0)
        r = is_removal ? plan_removal(&editor) : plan_addition(&editor);
    if (r > 0)
        r = finish(&editor, ret_text);
    editor_done(&editor);
    return r;
}

int edit_add(const struct edit_text *old, const struct edit_rule *rule, struct strbuf *ret_text,
             struct bawn_report *report)
{
    return edit(old, rule, false, ret_text, report);
}

int edit_remove(const struct edit_text *old, const struct edit_rule *rule, struct strbuf *ret_text,
                struct bawn_report *report)
{
    return edit(old, rule, true, ret_text, report);
}
