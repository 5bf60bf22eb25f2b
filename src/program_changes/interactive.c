/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "program_changes/interactive_own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dialogue_done(struct dialogue *dialogue)
{
    free(dialogue->answer);
    free(dialogue->dir);
    dialogue->answer = dialogue->dir = NULL;
}

void talk_colour(const struct talk *talk, enum talk_colour colour)
{
    static const char *const colours[] = {[TALK_PROMPT] = "\033[1;34m",
                                          [TALK_HEADER] = "\033[1m",
                                          [TALK_HELP] = "\033[1;31m",
                                          [TALK_PLAIN] = "\033[m"};

    if (talk->dialogue->show.has_colours)
        (void)fputs(colours[colour], stdout);
}

void talk_refuse(const char *text)
{
    autofree char *shown = text_escape_new(text, strlen(text), TEXT_ONE_LINE);

    (void)fflush(stdout);
    (void)fprintf(stderr, "%s\n", shown ? shown : "");
}

const char *talk_read(struct talk *talk)
{
    struct dialogue *dialogue = talk->dialogue;
    ssize_t length;

    (void)fflush(stdout);
    length = getline(&dialogue->answer, &dialogue->answer_size, stdin);
    if (length < 0)
        return NULL;
    dialogue->answer[strcspn(dialogue->answer, "\r\n")] = '\0';
    return dialogue->answer;
}

struct hunk *talk_hunk(const struct talk *talk)
{
    size_t hunk = pieces_hunk(&talk->pieces, talk->at);

    return hunk == SIZE_MAX ? NULL : &talk->pieces.hunks.list.items[hunk];
}

/* What is undecided around what is asked about. */
static void look_around(struct talk *talk)
{
    talk->count = pieces_count(&talk->pieces);
    if (talk->at >= talk->count)
        talk->at = 0;
    talk->previous = talk->next = TALK_NONE;
    for (size_t i = 0; i < talk->count; i++) {
        if (*pieces_use(&talk->pieces, i) != HUNK_UNDECIDED)
            continue;
        if (i < talk->at)
            talk->previous = i;
        else if (i > talk->at && talk->next == TALK_NONE)
            talk->next = i;
    }
}

static bool is_decided(struct talk *talk)
{
    return talk->previous == TALK_NONE && talk->next == TALK_NONE &&
           *pieces_use(&talk->pieces, talk->at) != HUNK_UNDECIDED;
}

static int show_piece(struct talk *talk)
{
    autostrbuf struct strbuf text = {0};
    int r = pieces_show(&talk->pieces, talk->at, &talk->dialogue->show, &text);

    if (r < 0)
        return error_memory(talk->err);
    (void)fputs(text.text ? text.text : "", stdout);
    return 0;
}

static void put_question(const struct talk *talk)
{
    static const char *const questions[] = {
        [PIECE_HUNK] = "this hunk",
        [PIECE_MODE] = "this mode change",
        [PIECE_ATTRIBUTES] = "these attributes",
        [PIECE_ADDITION] = "this addition",
        [PIECE_DELETION] = "this deletion",
        [PIECE_MOVE] = "this move",
        [PIECE_REPLACEMENT] = "this replacement",
        [PIECE_CHANGE] = "this change",
    };

    talk_colour(talk, TALK_PROMPT);
    (void)printf("(%zu/%zu) Take %s [", talk->at + 1, talk->count,
                 questions[pieces_kind(&talk->pieces, talk->at)]);
    talk_put_keys(talk);
    (void)fputs("]?", stdout);
    talk_colour(talk, TALK_PLAIN);
    (void)fputs(" ", stdout);
}

static int ask_once(struct talk *talk)
{
    const struct talk_key *key;
    const char *answer;
    int r = show_piece(talk);

    if (r < 0)
        return r;
    put_question(talk);
    answer = talk_read(talk);
    if (!answer) {
        talk->dialogue->has_quit = true;
        return TALK_ENDED;
    }
    if (!*answer)
        return TALK_GOES_ON;
    key = talk_find_key(*answer);
    if (key->is_there && !key->is_there(talk)) {
        talk_refuse(key->refusal);
        return TALK_GOES_ON;
    }
    return key->act(talk, answer + 1);
}

static int ask_all(struct talk *talk)
{
    (void)fputs(talk->pieces.head ? talk->pieces.head : "", stdout);
    for (;;) {
        int r;

        look_around(talk);
        if (talk->count == 0)
            return 0;
        r = is_decided(talk) ? TALK_ENDED : ask_once(talk);
        if (r == TALK_ENDED)
            (void)puts("");
        if (r != TALK_GOES_ON)
            return r < 0 ? r : 0;
    }
}

/* A name of what is asked about, for a terminal. */
static int refuse_together(const struct apply_asked *asked)
{
    autofree char *why = NULL;

    if (asprintf(&why, "what was chosen of %s does not fit together: it is left",
                 asked->change->path) < 0) {
        why = NULL;
        return -ENOMEM;
    }
    talk_refuse(why);
    return APPLY_LEAVE;
}

int dialogue_choose(void *context, const struct apply_asked *asked, struct apply_part *ret_part,
                    struct bawn_error *err)
{
    struct talk talk = {.dialogue = context, .err = err};
    int r;

    if (talk.dialogue->has_quit)
        return APPLY_LEAVE;
    r = pieces_make(asked, &talk.dialogue->show, talk.dialogue->has_many, &talk.pieces, err);
    if (r == 0)
        r = ask_all(&talk);
    if (r == 0) {
        r = pieces_conclude(&talk.pieces, asked, ret_part);
        if (r == -EINVAL)
            r = refuse_together(asked);
        if (r == -ENOMEM)
            (void)error_memory(err);
    }
    pieces_done(&talk.pieces);
    return r;
}
