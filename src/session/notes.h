/* SPDX-License-Identifier: Apache-2.0 */
/* What events told that has to be said at the end of a run. */
#ifndef SESSION_NOTES_H
#define SESSION_NOTES_H

#include "wire/event.h"

enum { NOTES_GITFILES = 8, NOTES_PATH_BYTES = 1024 };

struct notes {
    char tracer[16]; /* the first program that wanted to trace another; "": none did */
    unsigned gitfile_count;
    char gitfiles[NOTES_GITFILES][NOTES_PATH_BYTES]; /* host paths */
    bool has_more_gitfiles;
};

void notes_take(struct notes *notes, const struct event *event);

#endif
