/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of bawn-changes share. */
#ifndef PROGRAM_CHANGES_OWN_H
#define PROGRAM_CHANGES_OWN_H

#include "program_changes/store.h"
#include "verbs/verb.h"

struct request {
    struct options options;
    const char *const *words; /* behind the name of the session */
    size_t word_count;
    bool json, quiet;
    bool takes_paths; /* behind "--" there is no name */
    int lock_fd;      /* given by the launcher that settles; else -EBADF */
    struct store_place place;
    struct store store; /* the session; of discard the one at hand */
};

/* Which session is meant: the first word, where there is such a session, else the only one of this
 * directory. What is left of the words are paths. */
int refuse_unknown(const char *word, struct bawn_error *err);
int choose_session(struct request *request, struct bawn_error *err);

/* The changes of a tree that are wanted. */
struct found {
    struct store_tree *tree;
    struct overlay_tree overlay;
    struct changes changes;
};
struct findings {
    struct found items[LAYERS_TREES_MAX];
    size_t count;
};
/* Those of the whole session. */
int find_changes(struct store *store, struct findings *ret_findings, struct bawn_error *err);
bool findings_are_none(const struct findings *findings);
void findings_done(struct findings *findings);
#define autofindings __attribute__((cleanup(findings_done)))

/* Paths that were named, as absolute ones; each must lie in a tree of the session. */
struct wanted {
    VEC(char *) paths;
};
int wanted_read(const struct request *request, struct wanted *ret_wanted, struct bawn_error *err);
/* Whether a change is at or below one of them, or there are none. */
bool wanted_has(const struct wanted *wanted, const struct overlay_tree *tree,
                const struct change *change);
void wanted_done(struct wanted *wanted);
#define autowanted __attribute__((cleanup(wanted_done)))

/* Finishes an apply that was broken off, or takes it back. Needs the lock. */
int recover(const struct request *request, struct bawn_error *err);

/* Looks at what a command left, if nobody has yet: finishes what was interrupted, and notes the
 * files below the changes as they are now. Needs the lock. */
int settle(struct request *request, struct bawn_error *err);

/* The verbs: each returns a status or a negative errno. */
int recover_run(struct request *request, struct bawn_error *err);
int settle_run(struct request *request, struct bawn_error *err);
int diff_run(struct request *request, struct bawn_error *err);
int apply_run(struct request *request, struct bawn_error *err);
int discard_run(struct request *request, struct bawn_error *err);
int undo_run(struct request *request, struct bawn_error *err);
int review_run(struct request *request, struct bawn_error *err);
int gc_run(struct request *request, struct bawn_error *err);
/* For 'bawn rm', which says it all: discards those that there are. */
int remove_run(struct request *request, struct bawn_error *err);

/* "14 files changed, 2 deleted"; "" for nothing. */
void put_summary(struct strbuf *out, const struct findings *findings);

/* Whether what goes to standard output may have colours. */
bool wants_colour(void);

/* Writes to standard output. A reader who has gone is no failure. */
int print(struct strbuf *text);

#endif
