/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an overlay session changed, shown to a person or as a patch.
 *
 * SECURITY: names and contents were chosen by a command that nobody trusts. All forms but the patch
 * are safe for a terminal: what is no plain character is escaped, the colours are ours. A patch has
 * its bytes as they are, and is for a file or for git.
 */
#ifndef OVERLAY_SHOW_H
#define OVERLAY_SHOW_H

#include "base/strbuf.h"
#include "overlay/changes.h"

#include <stdio.h>

struct show_tree {
    const struct overlay_tree *tree;
    const struct changes *changes; /* of this tree */
};

enum show_form {
    SHOW_LIST,  /* a line for each */
    SHOW_STAT,  /* with how many lines came and went, and a sum */
    SHOW_TEXT,  /* the lines themselves, as git shows them */
    SHOW_PATCH, /* for `git apply`; what git cannot express is named in lines with "#" before it all
                 */
    SHOW_JSON,  /* an array */
};

/*
 * Names are below the tree if there is one, else below "/": a patch is applied there. Except for
 * the list and JSON the caller has called git_libgit2_init. What is barred is shown with the
 * reason, and is not in a patch.
 */
struct show_options {
    enum show_form form;
    bool has_colours; /* of SHOW_TEXT */
    bool is_watched;  /* a person looks: nothing that moves the cursor, in a patch neither */
};

/* Into memory, or file by file. 0 or -errno. */
int show_add(const struct show_tree *trees, size_t count, const struct show_options *options,
             struct strbuf *out, struct bawn_error *err);
int show_print(const struct show_tree *trees, size_t count, const struct show_options *options,
               FILE *out, struct bawn_error *err);

#endif
