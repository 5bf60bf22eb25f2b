/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a journal says, or takes it back. Each of these can be made again after it was broken
 * off anywhere: what is done shows in which thing has which name.
 */
#ifndef OVERLAY_PERFORM_H
#define OVERLAY_PERFORM_H

#include "overlay/journal.h"

/* Lets the owner into the directories that are worked in. */
int perform_open(const struct journal *journal, struct bawn_error *err);

/* What the directories that stay are given. Times belong to modes. */
enum perform_what {
    PERFORM_OLD_ATTRIBUTES,
    PERFORM_NEW_ATTRIBUTES,
    PERFORM_OLD_MODES,
    PERFORM_NEW_MODES,
};
int perform_dirs(const struct journal *journal, enum perform_what what, struct bawn_error *err);
int perform_sync_dirs(const struct journal *journal, struct bawn_error *err);

/* Before the commit a directory that somebody took away has nothing in it but what was staged:
 * there is nothing to take back. */
bool perform_may_be_gone(const struct journal *journal, int result);

/* Waits until what was staged is on the disk. Files are waited for one by one when they are staged,
 * unless they are many or in new directories. */
enum { PERFORM_SYNC_EACH = 64 };
int perform_sync(const struct journal *journal, struct bawn_error *err);

/* After the commit: puts everything new in its place, up to "placed". */
int perform_place(struct journal *journal, struct bawn_error *err);

/* After that: puts the old things away, gives directories their modes, takes what was applied out
 * of the layers, and makes the journal the last one. */
int perform_clean(struct journal *journal, struct bawn_error *err);

/* Takes everything back and gives the journal up. */
int perform_back(struct journal *journal, struct bawn_error *err);

/* All three, from a commit on; when it cannot be done it is taken back. */
int perform_all(struct journal *journal, struct bawn_error *err);

#endif
