/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user of the terminal is asked (session/asks.h).
 *
 * How it works: where the command's terminal is relayed to the user's, the screen and the
 * keys are borrowed for a question and one key answers it. Where the keys may be another
 * program's, as in `bawn run ... | tee log`, and on a terminal that knows no other screen, the
 * question is printed on the controlling terminal, and a line answers. Either only while our
 * process group is in the foreground and, for lines, nobody else has the terminal in a state
 * of its own. Elsewhere nobody is asked here.
 *
 * SECURITY: what was typed ahead is thrown away, and no key counts before a moment without
 * one has passed: what was meant for the command answers nothing. Whatever ends a question
 * without a word of the user's is a no.
 */
#ifndef SESSION_PROMPT_H
#define SESSION_PROMPT_H

#include <stdbool.h>

struct session;

/* With the first question: whoever can be asked here will be. */
void prompt_open(struct session *session);
/* A question came or went, or the terminal is ours again: shows the one that is to be answered
 * next, or none. */
void prompt_look(struct session *session);
/* Puts the command's screen back, until prompt_look. */
void prompt_hide(struct session *session);
void prompt_resize(struct session *session);
/* We were told to end: no, if one is shown. */
void prompt_refuse(struct session *session);
void prompt_done(struct session *session);

#endif
