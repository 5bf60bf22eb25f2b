/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy's rules in an image: one way to write them, one to read them.
 * Whoever reads them decides by the policy's own code, so nothing that counts
 * for a decision, or names it, may be left out.
 */
#ifndef WIRE_RULES_H
#define WIRE_RULES_H

#include "policy/model.h"
#include "wire/image.h"
#include "wire/net.h"

/* Keeps a string of the image; "" is 0. */
typedef uint32_t (*rules_string)(void *context, const char *text);

struct image_rule rules_pack(const struct path_rule *rule, rules_string string, void *context);
/* What is said of a rule, and by whom: for an image that explains. */
struct image_words rules_pack_words(const struct path_rule *rule, rules_string string,
                                    void *context);
struct image_layer rules_pack_layer(const struct layer *layer, rules_string string, void *context);
struct image_net_rule rules_pack_net(const struct net_rule *rule, rules_string string,
                                     void *context);
struct image_item rules_pack_item(const struct item *item, rules_string string, void *context);
/* Whether the image has the entries of this list. */
bool rules_keep_list(enum list_id list);

/* Rules, places and what is asked of all reads, into an empty policy, whose strings are the
 * image's. policy_done also after a failure. */
int rules_unpack(const struct image *image, struct policy *policy, struct bawn_error *err);

/* All that decide_net asks, likewise. */
int rules_unpack_net(const struct image *image, struct policy *policy, struct bawn_error *err);
/* What decide_socket asks besides rules, of a policy whose rules are unpacked. */
int rules_unpack_sockets(const struct image *image, struct policy *policy, struct bawn_error *err);

/* The programs that rules are for, each once, in the order of the rules. Who speaks of one by a
 * number means this order. A rule for a program that finds no room holds for none. */
unsigned rules_programs(const struct image *image, const char *ret_paths[static NET_PROGRAMS]);

#endif
