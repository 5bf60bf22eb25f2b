/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the dialogue share. */
#ifndef PROGRAM_CHANGES_INTERACTIVE_OWN_H
#define PROGRAM_CHANGES_INTERACTIVE_OWN_H

#include "overlay/pieces.h"
#include "program_changes/interactive.h"

/* The pieces of one change that are asked about. */
struct talk {
    struct dialogue *dialogue;
    struct pieces pieces;
    size_t count, at;
    size_t previous, next; /* that are not decided; TALK_NONE */
    struct bawn_error *err;
};
#define TALK_NONE SIZE_MAX

/* An answer without its newline; NULL: there are no more. */
const char *talk_read(struct talk *talk);
/* Prints; colours are ours. */
enum talk_colour { TALK_PROMPT, TALK_HEADER, TALK_HELP, TALK_PLAIN };
void talk_colour(const struct talk *talk, enum talk_colour colour);
void talk_refuse(const char *text);
/* The hunk that is asked about; NULL: it is none. */
struct hunk *talk_hunk(const struct talk *talk);

/* The keys: see struct talk_key. */
enum talk_result { TALK_GOES_ON, TALK_ENDED };
struct talk_key {
    char letter;
    const char *help;
    const char *refusal;                             /* where it is not there */
    bool (*is_there)(const struct talk *talk);       /* NULL: always */
    int (*act)(struct talk *talk, const char *rest); /* enum talk_result, or -errno */
};
/* By its letter; the one for help where there is none. */
const struct talk_key *talk_find_key(char letter);
void talk_put_keys(const struct talk *talk);

/* Lets somebody edit a hunk: an enum talk_result, or -errno. */
int edit_hunk(struct talk *talk);

#endif
