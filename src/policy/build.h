/* SPDX-License-Identifier: Apache-2.0 */
/* Putting a policy together, layer by layer: who may set what is decided here. */
#ifndef POLICY_BUILD_H
#define POLICY_BUILD_H

#include "policy/model.h"

void policy_done(struct policy *policy);

/* Layers are added in reading order. NULL when out of memory. */
const struct layer *policy_add_layer(struct policy *policy, enum layer_id id,
                                     enum authority authority, const char *name, const char *file,
                                     const char *sha256);

/*
 * Each of these takes one value of a layer. A value that the layer may not set
 * is a complaint: an error when the key is locked, a warning when a project
 * tries to widen or a stronger layer has denied it. Returns 0 when it was
 * taken or complained about, -ENOMEM when memory is short.
 */
int policy_set(struct policy *policy, const struct layer *layer, enum setting_id id,
               const char *text, struct origin origin, struct bawn_report *report);
int policy_add_item(struct policy *policy, const struct item *item, struct bawn_report *report);

/* The rule is copied; its strings must live in the policy's arena. host is read into it. */
int policy_add_net(struct policy *policy, const struct net_rule *rule, const char *host,
                   struct bawn_report *report);

/* The rule is copied; its strings must live in the policy's arena. */
int policy_add_rule(struct policy *policy, const struct path_rule *rule,
                    struct bawn_report *report);

/* After the last layer: takes re-opened entries out and makes the rules ready to be asked. */
int policy_finish(struct policy *policy, struct bawn_report *report, struct bawn_error *err);

/* What a setting is, or what it is by default. */
/* Whether a path is the home or in it. A home that is the root is nobody's. */
bool policy_is_in_home(const struct policy *policy, const char *path);

uint64_t policy_number(const struct policy *policy, enum setting_id id);

/* After policy_finish: a rule once more, at the place its symbolic links lead to. */
int policy_add_alias(struct policy *policy, const struct path_rule *rule, const char *path,
                     struct bawn_error *err);

/* After policy_finish: a rule that was found out. It is copied, as above. */
int policy_add_found(struct policy *policy, const struct path_rule *rule, struct bawn_error *err);

/* After policy_finish: a pattern once more, as the path of a file that it matches. */
int policy_add_match(struct policy *policy, const struct path_rule *rule, const char *path,
                     struct bawn_error *err);

/* Names of access and of layers' authority, as people write them. */
const char *access_word(enum access access);
const char *layer_word(enum layer_id id);

/* "ro", "rw", "overlay", "private", "copy", "ask", "deny": fills read, write and read_only. False
 * when there is no such mode. */
bool rule_set_mode(struct path_rule *rule, const char *mode);
/* Whether it is mode copy: a file of the host's, and what is written to it stays inside. */
static inline bool rule_is_copy(const struct path_rule *rule)
{
    return rule->kind == RULE_PATH && rule->read == ACCESS_ALLOW && rule->write == ACCESS_PRIVATE;
}
/* The mode of a RULE_PATH. */
const char *rule_mode(const struct path_rule *rule);

#endif
