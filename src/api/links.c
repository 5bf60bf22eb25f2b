/* SPDX-License-Identifier: Apache-2.0 */
/* Rules whose paths lead through symbolic links: they hold at both ends. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/scratch.h"
#include "base/strbuf.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/glob.h"
#include "policy/message.h"

#include <errno.h>
#include <string.h>

/*
 * How it works: a rule on ~/.ssh must hold for /data/dotfiles/ssh when that is
 * where ~/.ssh leads, so it is added there again as an alias. A denial always
 * is. A grant is only when every link on the way lies where the command cannot
 * write: a link that it can make or replace must not carry a grant to a place
 * of its choice.
 */
struct alias {
    const struct path_rule *rule;
    char *path;              /* where it leads */
    struct link_notes links; /* on the way */
};

struct follower {
    struct policy *policy;
    struct view *view;
    VEC(struct alias) aliases;
    struct map judged; /* links, and whether they can be changed */
    struct map plain;  /* directories that no link leads to */
};

const char *links_literal_prefix(const char *pattern, struct strbuf *ret_prefix)
{
    const char *cursor = pattern;
    const char *rest = pattern;
    scratch char text[LIMIT_PATH_BYTES];
    const char *name;
    size_t length;

    while ((name = path_next(&cursor, &length))) {
        enum glob_kind kind;
        size_t text_length;

        if (length >= sizeof(text) || glob_classify(name, length, text, &text_length, &kind) ||
            kind != GLOB_LITERAL)
            break;
        strbuf_add(ret_prefix, "/");
        strbuf_add_bytes(ret_prefix, text, text_length);
        rest = cursor;
    }
    return rest;
}

/* The rule's path with its literal part replaced by where that leads. */
static char *join_alias(const struct path_rule *rule, const char *resolved, const char *rest)
{
    struct strbuf joined = {0};
    bool is_root = strcmp(resolved, "/") == 0 && *rest;

    if (rule->wild)
        glob_escape(&joined, is_root ? "" : resolved);
    else
        strbuf_add(&joined, is_root ? "" : resolved);
    strbuf_add(&joined, rest);
    return strbuf_take(&joined);
}

static size_t dir_length(const char *path)
{
    return (size_t)(strrchr(path, '/') - path);
}

/* Most rules are about names in the same few directories: then the name alone is looked at. */
static bool stays(const struct follower *follower, const char *path)
{
    const struct looker *looker = &follower->view->links;
    scratch char target[LIMIT_PATH_BYTES];

    return map_get(&follower->plain, 0, path, dir_length(path)) &&
           looker->look(looker->context, path, target, sizeof(target)) != LOOK_LINK;
}

/* Resolving has its own way with what is in /proc, and with /dev/fd. */
static bool note_plain(struct follower *follower, const char *path)
{
    char *dir;

    if (path_is_below(path, "/proc") || path_is_below(path, "/dev"))
        return true;
    dir = arena_strndup(&follower->policy->arena, path, dir_length(path));
    return dir && map_put(&follower->plain, 0, dir, strlen(dir), dir);
}

/* Finds out where a rule leads; notes it when that is elsewhere. */
static int find_alias(struct follower *follower, const struct path_rule *rule)
{
    autostrbuf struct strbuf start = {0};
    const char *rest = "";
    scratch char resolved[LIMIT_PATH_BYTES];
    struct alias alias = {.rule = rule};
    struct link_notes notes;
    int r;

    /* A link that is sealed for its own sake says nothing of what else lies where it leads. */
    if (rule->kind == RULE_SEALED && rule->is_repeat)
        return 0;
    if (rule->wild)
        rest = links_literal_prefix(rule->path, &start);
    else
        strbuf_add(&start, rule->path);
    if (start.failed)
        return -ENOMEM;
    if (start.length == 0 || stays(follower, start.text))
        return 0;
    link_notes_init(&notes, &follower->view->links);
    r = resolve_path(NULL, "/", start.text, &notes.looker, resolved, NULL);
    alias.links = notes;
    if (r < 0 || strcmp(resolved, start.text) == 0) {
        link_notes_done(&alias.links);
        return r < 0 || note_plain(follower, start.text) ? 0 : -ENOMEM;
    }
    alias.path = join_alias(rule, resolved, rest);
    if (alias.path && !alias.links.links.failed && vec_push(&follower->aliases, alias))
        return 0;
    free(alias.path);
    link_notes_done(&alias.links);
    return -ENOMEM;
}

/* Whether a rule widens: an unapproved project's never does. */
static bool is_grant(const struct path_rule *rule)
{
    return rule->read != ACCESS_UNSET && rule->read < ACCESS_ASK &&
           rule->layer->authority != AUTHORITY_PROJECT;
}

enum judgement { FIXED, CHANGEABLE };
static const enum judgement judgements[] = {FIXED, CHANGEABLE};

/* Whether the command could change a link: by the rules as they are, or by a grant that other links
 * would carry. Many rules lead through the same few links: each is judged once. */
static bool is_changeable(struct follower *follower, const char *link)
{
    size_t length = strlen(link);
    struct path_decision decisions[PATH_OP_COUNT];
    const enum judgement *known = map_get(&follower->judged, 0, link, length);
    bool changeable;

    if (known)
        return *known == CHANGEABLE;
    changeable = decide_path(follower->policy, link, decisions) < 0 ||
                 decisions[PATH_WRITE].access == ACCESS_ALLOW;
    for (size_t i = 0; !changeable && i < follower->aliases.count; i++) {
        const struct alias *other = &follower->aliases.items[i];

        changeable = is_grant(other->rule) && other->rule->write == ACCESS_ALLOW &&
                     path_is_below(link, other->path);
    }
    /* The key belongs to an alias or to the notes of an item, which may go first: keep a copy. */
    link = arena_strdup(&follower->policy->arena, link);
    if (!link || !map_put(&follower->judged, 0, link, length, (void *)&judgements[changeable]))
        return true;
    return changeable;
}

static int add_alias(struct follower *follower, const struct alias *alias,
                     struct bawn_report *report, struct bawn_error *err)
{
    const struct path_rule *rule = alias->rule;
    bool grants = is_grant(rule);

    for (const char *link = NULL; grants && (link = link_notes_next(&alias->links, link));) {
        autostrbuf struct strbuf label = {0};

        if (!is_changeable(follower, link))
            continue;
        message_rule_label(rule, &label);
        report_add(report, BAWN_WARNING, "policy.changeable_link", rule->origin,
                   "%s: bawn does not follow the link '%s': it leads elsewhere, and the command "
                   "can change it",
                   label.text ? label.text : "", link);
        report_hint(report, "name the target itself: '%s'", alias->path);
        return 0;
    }
    return policy_add_alias(follower->policy, rule, alias->path, err);
}

/* Nobody is shown what a link leads to that the command can make lead elsewhere. */
static void drop_item(struct follower *follower, size_t index, const char *link,
                      struct bawn_report *report)
{
    struct policy *policy = follower->policy;
    const struct item *item = &policy->items.items[index];

    report_add(report, BAWN_WARNING, "policy.changeable_link", item->origin,
               "%s: '%s': bawn does not follow the link '%s': it leads elsewhere, and the command "
               "can change it",
               list_table[item->list].key, item->value, link);
    report_hint(report, "name the place itself");
    policy->items.count--;
    memmove(&policy->items.items[index], &policy->items.items[index + 1],
            (policy->items.count - index) * sizeof(*item));
}

/* Sockets and devices are listed by the name people know; the kernel ends where its links lead.
 * Returns how many are left where it was. */
static int follow_item(struct follower *follower, size_t index, struct bawn_report *report)
{
    struct policy *policy = follower->policy;
    struct item item = policy->items.items[index];
    bool is_denial = item.list == LIST_DEVICES_DENY;
    char resolved[LIMIT_PATH_BYTES];
    struct link_notes notes;
    const char *link = NULL;
    int r = 1;

    if (item.list != LIST_NETWORK_UNIX_SOCKETS && item.list != LIST_DEVICES_ALLOW && !is_denial)
        return 1;
    link_notes_init(&notes, &follower->view->links);
    if (resolve_path(NULL, "/", item.value, &notes.looker, resolved, NULL) == 0 &&
        strcmp(resolved, item.value) != 0) {
        while (!is_denial && (link = link_notes_next(&notes, link)) &&
               !is_changeable(follower, link))
            ;
        item.value = arena_strdup(&policy->arena, resolved);
        if (link) {
            drop_item(follower, index, link, report);
            r = 0;
        } else if (!item.value || !vec_push(&policy->items, item)) {
            r = -ENOMEM;
        }
    }
    link_notes_done(&notes);
    return r;
}

static int follow_items(struct follower *follower, struct bawn_report *report,
                        struct bawn_error *err)
{
    size_t left = follower->policy->items.count;
    size_t i = 0;

    for (; left > 0; left--) {
        int r = follow_item(follower, i, report);

        if (r < 0)
            return error_memory(err);
        i += (size_t)r;
    }
    return 0;
}

int links_follow(struct policy *policy, struct view *view, struct bawn_report *report,
                 struct bawn_error *err)
{
    struct follower follower = {.policy = policy, .view = view};
    size_t count = policy->rules.count;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = find_alias(&follower, policy->rules.items[i]);
    if (r < 0)
        error_memory(err);
    /* Denials first, so that grants are judged with all of them in place. */
    for (int pass = 0; r == 0 && pass < 2; pass++) {
        for (size_t i = 0; r == 0 && i < follower.aliases.count; i++) {
            const struct alias *alias = &follower.aliases.items[i];

            if ((alias->rule->write == ACCESS_ALLOW || alias->rule->read == ACCESS_ALLOW) ==
                (pass == 1))
                r = add_alias(&follower, alias, report, err);
        }
    }
    if (r == 0)
        r = follow_items(&follower, report, err);
    if (r == 0 && follower.aliases.count && message_summarize(policy) < 0)
        r = error_memory(err);
    vec_each (&follower.aliases, alias) {
        free(alias->path);
        link_notes_done(&alias->links);
    }
    vec_done(&follower.aliases);
    map_done(&follower.judged);
    map_done(&follower.plain);
    return r;
}
