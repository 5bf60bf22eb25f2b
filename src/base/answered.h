/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark of those who answer the questions of all sessions (base/places.h): while one holds it, a
 * session that nobody is connected to yet lets a question wait for a moment.
 */
#ifndef BASE_ANSWERED_H
#define BASE_ANSWERED_H

#include <bawn/error.h>

/* In the directory of the sessions, which shown names. Returns a descriptor. */
int answered_mark(int sessions_fd, const char *shown, struct bawn_error *err);
/* Closes it; the last one takes the mark away. */
void answered_unmark(int sessions_fd, int *mark_fd);

#endif
