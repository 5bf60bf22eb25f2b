/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks which changes are to be taken, as `git add -p` does and with the same keys.
 *
 * Answers are lines of standard input; the first letter counts. Where it ends, nothing more is
 * taken.
 */
#ifndef PROGRAM_CHANGES_INTERACTIVE_H
#define PROGRAM_CHANGES_INTERACTIVE_H

#include "overlay/apply.h"
#include "overlay/show.h"

struct dialogue {
    struct show_options show;
    bool has_many; /* trees */
    char *dir;     /* where a hunk that is edited lies; no sandbox sees it */
    bool has_quit; /* all that comes is left */
    char *answer;  /* the last one */
    size_t answer_size;
};
void dialogue_done(struct dialogue *dialogue);
#define autodialogue __attribute__((cleanup(dialogue_done)))

/* Of struct apply_options. */
int dialogue_choose(void *context, const struct apply_asked *asked, struct apply_part *ret_part,
                    struct bawn_error *err);

#endif
