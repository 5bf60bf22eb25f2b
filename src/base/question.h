/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question to a person, as lines for a screen: the same wherever somebody is asked.
 *
 * SECURITY: what a command made of its names and arguments is shown with each character that
 * could hide, reorder, join or blank others escaped, over as many lines as it takes. Where
 * it does not fit, what is left out lies in the middle, and a count stands in the column of
 * the labels, where no text of the command's comes.
 */
#ifndef BASE_QUESTION_H
#define BASE_QUESTION_H

#include "base/key.h"
#include "base/strbuf.h"

#include <bawn/approve.h>

/* With less only no can be said. */
enum { QUESTION_COLS_MIN = 24, QUESTION_ROWS_MIN = 9 };

struct question_view {
    unsigned cols, rows;
    const char *sid; /* the session that it is of, or NULL: that is plain */
    unsigned more;   /* so many others wait */
    bool is_list;    /* it is one of a list, to which a key goes back */
    bool is_whole;   /* all of it, to be scrolled; else what fits */
    unsigned scroll; /* lines above the first; made to fit */
    bool is_cut;     /* set: something does not fit */
    bool is_small;   /* set: the window is too small to ask in */
};

/* At most that many lines of at most that many columns, each ended by a newline. */
void question_show(struct question_view *view, const struct bawn_notice *notice,
                   struct strbuf *out);
/* The same without a limit, and without the keys. */
void question_print(const struct bawn_notice *notice, unsigned cols, struct strbuf *out);
/* "[o]nce [s]ession ...": those that answer it. */
void question_add_keys(const struct bawn_notice *notice, struct strbuf *out);

/* Whether the key is an answer, and which. */
bool question_answer(const struct bawn_notice *notice, enum key key,
                     struct bawn_answer *ret_answer);
/* Whether it looks at more of it. */
bool question_scroll(struct question_view *view, enum key key);

/* Adds the last characters that fit; what is before them is a '<'. */
void question_add_end(struct strbuf *out, const char *text, unsigned cols);
/* Adds bytes from anywhere, escaped as above; and how many columns such text takes. */
void question_add_text(struct strbuf *out, const char *bytes);
unsigned question_columns(const char *text);

/* base/question_json.c: as programs are told, one line each. masked: without what looks like a
 * secret in the command line. */
bool question_is_net(const struct bawn_notice *notice);
void question_tell(struct strbuf *out, const char *id, const struct bawn_notice *notice,
                   bool is_masked);
void question_tell_settled(struct strbuf *out, const char *id, bool is_allowed,
                           enum bawn_answer_scope scope, const char *by);
const char *question_by(enum bawn_answer_by by);

/* The lines at their places on a cleared screen. */
void question_paint(const char *lines, struct strbuf *out);

#endif
