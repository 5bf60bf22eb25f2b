/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of one thing that happened, by name: the members of its object in
 * the audit trail, in the stream of events and in the debug log, which all say it in the
 * same words. Secrets are masked here, and nowhere else.
 */
#ifndef SESSION_MEMBERS_H
#define SESSION_MEMBERS_H

#include "base/strbuf.h"
#include "wire/event.h"

struct member {
    const char *name;
    /* One of these three; all NULL: it is left out. */
    const char *text; /* raw bytes */
    const uint64_t *number;
    const char *const *words; /* ended by NULL */
    bool is_command;          /* of words: those of a command line */
    bool is_private;          /* not for the debug log, which is passed around */
};

#define MEMBER_TEXT(called, value)                                                                 \
    {                                                                                              \
        .name = (called), .text = (value)                                                          \
    }
#define MEMBER_NUMBER(called, value)                                                               \
    {                                                                                              \
        .name = (called), .number = (value)                                                        \
    }
#define MEMBER_WORDS(called, value)                                                                \
    {                                                                                              \
        .name = (called), .words = (value)                                                         \
    }
#define MEMBER_COMMAND(called, value)                                                              \
    {                                                                                              \
        .name = (called), .words = (value), .is_command = true                                     \
    }

/* Texts and words that are longer are cut. */
enum { MEMBERS_TEXT_BYTES = 2048, MEMBERS_WORDS = 64 };

/* As members of an object that is open; and as " name=value" each. */
void members_as_json(struct strbuf *out, const struct member *members, size_t count,
                     bool is_public);
void members_as_text(struct strbuf *out, const struct member *members, size_t count,
                     bool is_public);

/* An event as members. */
struct members_of_event {
    struct member items[20];
    size_t count;
    uint64_t numbers[9];
    const char *words[MEMBERS_WORDS + 2];
    char argv[EVENT_ARGV_BYTES];
};
void members_of_event(const struct event *event, struct members_of_event *ret_members);

/* Now, as RFC 3339 has it, with milliseconds and in UTC. */
enum { MEMBERS_TIME_BYTES = 40 };
void members_time(char ret_time[static MEMBERS_TIME_BYTES]);

#endif
