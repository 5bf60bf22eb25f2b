/* SPDX-License-Identifier: Apache-2.0 */
/* One rule into the text of a bawn policy, or out of it. Every other byte stays as it is. */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include "base/report.h"
#include "base/strbuf.h"

/*
 * How it works: the text is read into nodes, which know the bytes that they
 * are. What is missing is put in behind the last thing of its section, in the
 * way that the text has of indenting and of writing lists. Then the new text is
 * read again: it must say what the old one said, and the rule; else it is refused.
 * So a spot that was chosen badly costs a message, and never a rule.
 */
struct edit_rule {
    const char *key;   /* of a list: "sandbox.deny"; or EDIT_PATHS */
    const char *value; /* the entry; of a path its root */
    const char *mode;  /* of a path; NULL for entries of lists */
    /* Whether an entry says the same in other words; NULL: the same text does. */
    bool (*is_same)(void *context, const char *text);
    void *context;
};
#define EDIT_PATHS "sandbox.paths"

struct edit_text {
    const char *file; /* for complaints */
    const char *text;
    size_t length;
};

/*
 * 1 with the new text; 0 where nothing is to be changed; a negative errno where it cannot
 * be done, with a complaint that has the place and, in its hint, what to write by hand.
 * A path that the text gives mode ro, or asks about, gets the wider mode in its place: two entries
 * for one path would leave the stricter in force.
 */
int edit_add(const struct edit_text *old, const struct edit_rule *rule, struct strbuf *ret_text,
             struct bawn_report *report);
int edit_remove(const struct edit_text *old, const struct edit_rule *rule, struct strbuf *ret_text,
                struct bawn_report *report);

#endif
