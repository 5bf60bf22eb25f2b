/* SPDX-License-Identifier: Apache-2.0 */
/* What a program or a model that was refused is told. The texts are an interface: golden tests. */
#ifndef POLICY_MESSAGE_H
#define POLICY_MESSAGE_H

#include "base/strbuf.h"
#include "policy/decide.h"
#include "policy/decide_net.h"

enum message_op { MESSAGE_READ, MESSAGE_WRITE, MESSAGE_EXEC };

/* Makes the lists of readable paths, writable paths and hosts that refusals end with. */
int message_summarize(struct policy *policy);

/* The text for a decision on a path, as it was asked for; nothing when it is allowed. Returns the
 * code. */
const char *message_path(const struct policy *policy, enum message_op op, const char *asked,
                         const struct path_decision *decision, bool is_readable,
                         struct strbuf *out);

/* The text for a path that cannot be resolved. */
void message_unresolved(const struct policy *policy, enum message_op op, const char *asked,
                        const char *why, struct strbuf *out);

/* The text for what an outer sandbox refuses, or that which the asker is in; refusal is what it
 * does, as "denies it". Both return the code. */
const char *message_outer(const struct policy *policy, enum message_op op, const char *asked,
                          const char *refusal, struct strbuf *out);
const char *message_net_outer(const struct policy *policy, const char *asked, const char *refusal,
                              struct strbuf *out);
/* Which one that is: "the outer sandbox". */
const char *message_around(const struct policy *policy);

/* The same in a few words. */
const char *message_net_why(const struct net_decision *decision, struct strbuf *out);
const char *message_net(const struct policy *policy, const char *asked,
                        const struct net_decision *decision, struct strbuf *out);

const char *message_suffix(const char *asked, const char *const *suffixes, struct strbuf *out);
const char *message_size(const char *asked, uint64_t size_bytes, uint64_t max_bytes,
                         struct strbuf *out);

/* How vectors, "check" and "why" name what decided: "paths.work", "deny **.env", "default"... */
void message_label(const struct path_decision *decision, struct strbuf *out);
void message_rule_label(const struct path_rule *rule, struct strbuf *out);
void message_net_rule_label(const struct net_rule *rule, struct strbuf *out);
void message_net_label(const struct policy *policy, const struct net_decision *decision,
                       struct strbuf *out);

#endif
