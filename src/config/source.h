/* SPDX-License-Identifier: Apache-2.0 */
/* What the loaders of all formats share: complaints about types, and adding rules. */
#ifndef CONFIG_SOURCE_H
#define CONFIG_SOURCE_H

#include "config/config.h"
#include "config/keys.h"
#include "config/node.h"

/* Each format's loader. */
int format_bawn_load(const struct config_source *source, const struct node *root);
int format_sandboxes_load(const struct config_source *source, const struct node *root);
int format_claude_load(const struct config_source *source, const struct node *root);
int format_srt_load(const struct config_source *source, const struct node *root);

/* "KEY: expected a list, found a string". */
void source_wrong_type(const struct config_source *source, const struct node *node, const char *key,
                       const char *expected);

/* "unknown key KEY", with the nearest of the known ones. */
void source_unknown_key(const struct config_source *source, const struct node *node,
                        const char *key, const char *const *known, size_t count);

/* The text of a scalar; complains and returns NULL when it is none. */
const char *source_text(const struct config_source *source, const struct node *node,
                        const char *key);

/* True for a list and for nothing at all, which is an empty list; complains about others. */
bool source_is_list(const struct config_source *source, const struct node *node, const char *key);

/* One value by its key. -ENOENT when no key takes a plain value by that name. */
int source_set_value(const struct config_source *source, const char *key, const char *value,
                     struct origin origin);

/* One value of a list, or of a map with its item_key. */
int source_add_item(const struct config_source *source, enum list_id list, const char *item_key,
                    const char *value, struct origin origin);

/* One rule of a list of hosts, as text: the host, and words behind it. */
int source_add_host(const struct config_source *source, const struct host_list *list,
                    const char *text, struct origin origin);

/* A whole list of hosts: an entry is text, or a map. */
int source_load_hosts(const struct config_source *source, const struct host_list *list,
                      const struct node *node);

/* "network: false", "network: true" and "limits: strict" are short for a setting or two. */
int source_set_shorthand(const struct config_source *source, const struct node *node,
                         const char *key);

/* Every string of a list as a value of a bawn key. key is what the file calls the list. */
int source_set_each(const struct config_source *source, const struct node *node, const char *key,
                    const char *bawn_key);

/* Adds a rule for a pattern; rule gives kind, access and origin. */
int source_add_pattern(const struct config_source *source, const struct path_rule *rule,
                       const char *base, const char *text, const char *key);

/* One entry of sandbox.paths: a map with root, mode and the rest. where and root_word are what the
 * file calls the section and the root. */
int source_load_path(const struct config_source *source, const struct node *node, const char *where,
                     const char *root_word);

/* Adds a rule for a literal path; rule gives kind, access and origin. */
int source_add_path(const struct config_source *source, const struct path_rule *rule,
                    const char *text, const char *key);

#endif
