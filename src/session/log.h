/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug log: what bawn does and decides at the start and the end of a run,
 * and what its processes tell meanwhile (wire/event.h), for reports of bugs. One
 * line for each event, written at once. Of programs no more than their names and
 * what they were refused is told, and of variables nothing: such reports are passed
 * around.
 */
#ifndef SESSION_LOG_H
#define SESSION_LOG_H

#include "session/members.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>

struct log {
    int fd; /* -EBADF: nothing is logged */
    bool is_json;
};

/* Appends to the file; "-" is standard error. */
int log_open(struct log *log, const char *path, bool is_json, struct bawn_error *err);

/* event: a word. Then members: log_event(log, "end", MEMBER_TEXT("status", text)). Without a log it
 * costs nothing but the call. */
void log_members(const struct log *log, const char *event, const struct member *members,
                 size_t count);
#define log_event(log, event, ...)                                                                 \
    log_members(log, event, (const struct member[]){__VA_ARGS__},                                  \
                sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member))

#endif
