/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms in which changes are shown share. */
#ifndef OVERLAY_SHOW_OWN_H
#define OVERLAY_SHOW_OWN_H

#include "overlay/content.h"
#include "overlay/hunks.h"
#include "overlay/show.h"

#include <stdint.h>

struct show_sum {
    size_t all, added, deleted, moved, barred;
    size_t lines_added, lines_deleted;
};

struct show {
    const struct show_options *options;
    const struct show_tree *at;     /* the tree that is shown */
    bool has_many;                  /* trees */
    const struct show_tree *placed; /* whose place in a repository of git's is known */
    char *place;                    /* "" is its top; NULL: there is none */
    struct strbuf *out;
    FILE *file; /* that takes what is in out from time to time, or NULL */
    struct show_sum sum;
    size_t lines_compared;                 /* line by line, of all files so far */
    uint64_t bytes_compared, bytes_hashed; /* the same */
    struct bawn_error *err;
};

/* A form. Each takes one change, 0 or -errno. */
int show_line(struct show *show, const struct change *change);
int show_stat(struct show *show, const struct change *change);
int show_text(struct show *show, const struct change *change);
int show_patch(struct show *show, const struct change *change);
int show_json(struct show *show, const struct change *change);

/* Before the first and after the last change. */
void show_stat_sum(struct show *show);
int show_patch_remarks(struct show *show, const struct change *change);

/* Adds a change in words, without a newline. */
void show_add_words(struct show *show, const struct change *change);
/* Why it is never applied; NULL: it may be. */
const char *show_reason(const struct change *change);
const char *show_type(unsigned mode);

/* A path as it is shown, bytes as they are: NULL when out of memory. The caller frees it. */
char *show_name(struct show *show, const char *path);
void show_add_name(struct show *show, const char *path, unsigned mode);

/* Gives what is in out to the file. */
int show_flush(struct show *show);

/* Whether git knows of such a thing: its mode there, or 0. */
unsigned show_git_mode(unsigned mode);
/* Whether git keeps it for itself: it takes no patch of such a path. */
bool show_is_gits(const char *path);
/* Whether a patch says all of it. */
bool show_is_whole(const struct show *show, const struct change *change);

/* The two sides of a change of a file or link. What has no mode is not there. */
struct pair {
    const char *old_path, *new_path; /* below the tree; the same, or a move */
    struct content before, after;
};
int pair_read(struct show *show, const char *old_path, const char *new_path, size_t limit,
              struct pair *ret_pair);
void pair_done(struct pair *pair);
#define autopair __attribute__((cleanup(pair_done)))

/* How many lines came and went. False: it is binary, or has too many. -errno in ret_result. */
bool pair_count(struct show *show, const struct pair *pair, size_t *ret_added, size_t *ret_deleted,
                int *ret_result);

/* Writes a pair as git does: header, and what differs. */
int pair_add(struct show *show, const struct pair *pair);
void show_hunk(struct show *show, const struct hunk *hunk);

/* Whether both have the same bytes. */
bool pair_is_same(const struct pair *pair);
/* Where the texts of a pair differ: 1; 0: they do not, or one is no text, or has too many lines. */
int pair_find_hunks(struct show *show, const struct pair *pair, struct hunks *ret_hunks);
/* Its parts: the names, other modes, and that the bytes differ. */
void pair_add_head(struct show *show, const struct pair *pair, bool has_lines);
void pair_add_modes(struct show *show, const struct pair *pair);
int pair_add_words(struct show *show, const struct pair *pair);

#endif
