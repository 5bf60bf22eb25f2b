/* SPDX-License-Identifier: Apache-2.0 */
/* One rule about a host: as text, "a.example:22 opaque", or as a map with the same words. */
#include "base/path.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/source.h"
#include "policy/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const known[] = {"host", "opaque", "ech", "by"};
enum word { WORD_HOST, WORD_OPAQUE, WORD_ECH, WORD_BY };

/* A rule while it is read. */
struct host_rule {
    const struct config_source *source;
    const char *key; /* the list that it is in */
    struct net_rule rule;
    bool is_wrong; /* and a complaint says so */
};

static void complain(struct host_rule *host, struct origin origin, const char *word,
                     const char *wrong)
{
    report_add(host->source->report, BAWN_ERROR, "config.bad_value", origin, "%s: %s: %s",
               host->key, word, wrong);
    host->is_wrong = true;
}

static int set_by(struct host_rule *host, const char *value, struct origin origin)
{
    const char *wrong = NULL;

    if (*value != '/' || strcmp(value, "/") == 0) {
        complain(host, origin, "by", "write the whole path of a program, such as /usr/bin/git");
        return 0;
    }
    host->rule.by = expand_path(host->source->policy, "/", value, &wrong);
    if (wrong)
        complain(host, origin, "by", wrong);
    return host->rule.by || wrong ? 0 : -ENOMEM;
}

/* One word of a rule with its value. */
static int set_word(struct host_rule *host, enum word word, const char *value, struct origin origin)
{
    bool is_on = word == WORD_OPAQUE ? strcmp(value, "true") == 0 : strcmp(value, "allow") == 0;
    bool is_off = word == WORD_OPAQUE ? strcmp(value, "false") == 0 : strcmp(value, "deny") == 0;

    if (host->rule.verdict == NET_DENY) {
        complain(host, origin, known[word],
                 word == WORD_BY
                     ? "a denial is for every program: a copy of one would get around it"
                     : "a denial refuses the host, whatever would be said to it");
        return 0;
    }
    if (word == WORD_BY)
        return set_by(host, value, origin);
    if (!is_on && !is_off)
        complain(host, origin, known[word],
                 word == WORD_OPAQUE ? "write true or false" : "write allow or deny");
    else if (word == WORD_OPAQUE)
        host->rule.opaque = is_on;
    else
        host->rule.ech = is_on;
    return 0;
}

static int add(struct host_rule *host, const char *name)
{
    return host->is_wrong
               ? 0
               : policy_add_net(host->source->policy, &host->rule, name, host->source->report);
}

static struct host_rule start(const struct config_source *source, const struct host_list *list,
                              struct origin origin)
{
    return (struct host_rule){
        .source = source,
        .key = list->key,
        .rule = {.verdict = list->verdict, .layer = source->layer, .origin = origin}};
}

/* A word behind the host. Since a path may have blanks, by= takes all the rest. */
static int read_word(struct host_rule *host, const char **text, unsigned *given)
{
    size_t length = strcspn(*text, " ");
    size_t name = strcspn(*text, "= ");
    struct origin origin = host->rule.origin;
    enum word word = WORD_OPAQUE;
    const char *value;

    while (word < COUNT(known) &&
           (strlen(known[word]) != name || strncmp(*text, known[word], name) != 0))
        word++;
    if (word == COUNT(known) || (word != WORD_OPAQUE && (*text)[name] != '=')) {
        complain(host, origin, *text,
                 "behind the host there can be opaque, ech=allow and by=PROGRAM, each after one "
                 "blank");
        return 0;
    }
    if (*given & 1U << word) {
        complain(host, origin, known[word], "stands twice");
        return 0;
    }
    *given |= 1U << word;
    if (word == WORD_BY)
        length = strlen(*text);
    value = arena_strndup(&host->source->policy->arena, *text + name + 1,
                          name < length ? length - name - 1 : 0);
    *text += length;
    if (!value)
        return -ENOMEM;
    return set_word(host, word, name < length ? value : "true", origin);
}

int source_add_host(const struct config_source *source, const struct host_list *list,
                    const char *text, struct origin origin)
{
    struct host_rule host = start(source, list, origin);
    const char *rest = text + strcspn(text, " ");
    const char *name = arena_strndup(&source->policy->arena, text, (size_t)(rest - text));
    unsigned given = 0;
    int r = name ? 0 : -ENOMEM;

    while (r == 0 && !host.is_wrong && *rest == ' ') {
        rest++;
        r = read_word(&host, &rest, &given);
    }
    return r == 0 ? add(&host, name) : r;
}

/* One key of a rule that is a map. */
static int load_key(struct host_rule *host, const struct node *node, const char **ret_name)
{
    char full[128];
    const char *text;
    enum word word = 0;

    while (word < COUNT(known) && strcmp(node->key, known[word]) != 0)
        word++;
    (void)snprintf(full, sizeof(full), "%s: %.40s", host->key, node->key);
    if (word == COUNT(known)) {
        source_unknown_key(host->source, node, full, known, COUNT(known));
        host->is_wrong = true;
        return 0;
    }
    if (word == WORD_OPAQUE && node->kind != NODE_BOOL) {
        source_wrong_type(host->source, node, full, "true or false");
        host->is_wrong = true;
        return 0;
    }
    text = word == WORD_OPAQUE ? node->text : source_text(host->source, node, full);
    if (!text)
        host->is_wrong = true;
    else if (word == WORD_HOST)
        *ret_name = text;
    else
        return set_word(host, word, text, node->origin);
    return 0;
}

static int load_map(const struct config_source *source, const struct host_list *list,
                    const struct node *node)
{
    struct host_rule host = start(source, list, node->origin);
    const char *name = NULL;
    int r = 0;

    for (const struct node *child = node->first; child && r == 0; child = child->next)
        r = load_key(&host, child, &name);
    if (r == 0 && !name && !host.is_wrong) {
        report_add(source->report, BAWN_ERROR, "config.missing_key", node->origin,
                   "%s: there is no 'host'", list->key);
        report_hint(source->report, "write {host: NAME:PORT, opaque: true}");
        return 0;
    }
    return r == 0 ? add(&host, name) : r;
}

int source_load_hosts(const struct config_source *source, const struct host_list *list,
                      const struct node *node)
{
    int r = 0;

    if (!source_is_list(source, node, list->key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        const char *text = NULL;

        if (child->kind == NODE_MAP)
            r = load_map(source, list, child);
        else if ((text = source_text(source, child, list->key)))
            r = source_add_host(source, list, text, child->origin);
    }
    return r;
}
