/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document as bytes that need no parser. The build packs the built-in lists: their YAML is half
 * of all that is read for a plan, and always the same.
 */
#ifndef CONFIG_PACKED_H
#define CONFIG_PACKED_H

#include "base/strbuf.h"
#include "config/node.h"

void node_pack(const struct node *node, struct strbuf *out);

/* The tree as it was; its texts stay in the bytes, which must outlive it. NULL: these are no packed
 * document, or there is no memory. */
struct node *node_unpack(struct arena *arena, const char *file, const char *bytes, size_t length);

#endif
