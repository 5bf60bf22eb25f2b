/* SPDX-License-Identifier: Apache-2.0 */
/* What a command said, printed: as it is, as data, or safe for a terminal. */
#ifndef VERBS_SESSION_SHOWN_H
#define VERBS_SESSION_SHOWN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SHOWN_BYTES = 16384, /* at once, at most */
    SHOWN_REST = 64,     /* what may be the beginning of something that was not read whole */
};

enum shown_as {
    SHOWN_RAW,
    SHOWN_JSON, /* one line: {"output": "..."} */
    SHOWN_SAFE, /* colours stay; what else a terminal would obey is shown as \xNN */
};

struct shown {
    enum shown_as as;
    char rest[SHOWN_REST];
    size_t rest_length;
    bool has_colour; /* one was left on, perhaps */
};

/* False: it cannot be written. */
bool shown_put(struct shown *shown, const char *bytes, size_t length);
/* Nothing more comes. */
bool shown_end(struct shown *shown);

#endif
