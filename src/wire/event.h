/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a session tell its launcher.
 *
 * How it works: one SOCK_SEQPACKET pair for all of them; one packet is one
 * event: a head of a fixed size, then its texts in their order, each with its
 * zero. Nobody waits on it. What finds no room is counted, and the count comes with
 * the next event of the same process. SECURITY: what a command can bring about as
 * often as it likes never fills the room that is left for what must be known.
 */
#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include "base/limits.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENT_VERSION = 7 };

enum event_what {
    EVENT_REFUSED, /* a call of the command's: call, path, rule, verdict, errnum */
    EVENT_GITFILE, /* the command may have written this file .git: host path; "": further ones */
    EVENT_MASKED,  /* a hidden name that appeared: path inside, rule, verdict */
    EVENT_FULL,    /* not all that must be watched can be: path, error */
    EVENT_LIMIT,   /* the command waits for more than it may: call, path, errnum */
    EVENT_STREAM,  /* what the command says cannot be written any more: error */
    EVENT_FAILED,  /* who tells it ends: error */
    EVENT_BARRED,  /* a host that the command may not reach: call is the way ("connect", "http",
                      "socks", "lookup"), path is host:port, rule, verdict, message and hint;
                      who connects, where that is known */
    EVENT_REACHED, /* connections to path, host:port, since the last one: times, sent, received; of
                      so many nobody knows how much (uncounted) */
    EVENT_ENDED,   /* the launcher's own: a process has ended that should not have */
    EVENT_USED,    /* with IMAGE_OBSERVES: something of the host that no rule grants: op, call, path
                      on the host; who used it */
    EVENT_UNTOLD,  /* the last of a process: so much else was not told (lost) */
    EVENT_ASKED,   /* a call, or a connection, that a person is asked about: number, op, path, rule,
                      grant; see wire/ask.h */
    EVENT_GIVEN_UP, /* nobody waits any more for the answer to that number */
    EVENT_SETTLED,  /* the launcher's own: the answer, verdict, and whose it was: message */
    EVENT_COUNT,
};

enum event_who {
    WHO_LAUNCHER,
    WHO_KEEPER,
    WHO_CALLS,
    WHO_SCRIBE,
    WHO_WATCH,
    WHO_RECORDER,
    WHO_STAND_IN,
    WHO_NET,
    WHO_DOOR,
    WHO_VETH,
    WHO_ENGINE,
    WHO_ROOM,
    WHO_COUNT
};

enum event_verdict { VERDICT_NONE, VERDICT_ALLOW, VERDICT_ASK, VERDICT_DENY, VERDICT_COUNT };

/* Code, message and hint are an error: see struct bawn_error. */
enum event_text {
    EVENT_COMM, /* the program that made the call */
    EVENT_CALL,
    EVENT_PATH, /* raw bytes, as all of these: escape what is shown */
    EVENT_RULE, /* as 'bawn check' names it; "": no rule decided */
    EVENT_CODE,
    EVENT_MESSAGE,
    EVENT_HINT,
    EVENT_EXE,   /* the path inside of the program that made the call, where somebody looked */
    EVENT_ARGV,  /* its command line, where somebody looked: words with EVENT_ARGV_END between them
                  */
    EVENT_OP,    /* what the call was about: "read", "write", "connect", "bind", "trace", ... */
    EVENT_GRANT, /* the rule that would allow it, "read /x": a word of 'bawn policy save' and
                    what it is about on the host; "": none can be saved */
    EVENT_GRANT_TREE, /* the same for the directory that it is in; "": that may not be granted */
    EVENT_TEXTS,
};
/* SECURITY: in a word it is replaced, so that a program cannot make up further words. */
enum { EVENT_ARGV_END = 0x1f, EVENT_ARGV_BYTES = 2048 };

struct event {
    uint32_t what;                  /* enum event_what */
    uint32_t who;                   /* enum event_who: who tells it */
    uint32_t verdict;               /* enum event_verdict */
    int32_t pid;                    /* of the caller, as the host has it; 0: unknown */
    int32_t errnum;                 /* what the caller was told, or of the error; 0: none */
    uint32_t times;                 /* how often, where it stands for several; else 1 */
    uint32_t lost;                  /* what else happened in this process and was not told */
    uint32_t uncounted;             /* of EVENT_REACHED */
    uint64_t sent, received;        /* bytes of EVENT_REACHED, as the command sees them */
    uint64_t number;                /* of a question: the asker's own */
    const char *texts[EVENT_TEXTS]; /* NULL is "" */
};

enum {
    EVENT_PATH_BYTES = 2 * LIMIT_PATH_BYTES,
    EVENT_GRANT_BYTES = LIMIT_PATH_BYTES + 16,
    EVENT_BYTES = EVENT_PATH_BYTES + 2 * EVENT_GRANT_BYTES + 10 * 1024
};

/* Returns the size. What is longer than its text may be is cut. */
size_t event_pack(const struct event *event, char bytes[static EVENT_BYTES]);
/* The texts are in bytes. -EPROTO: it is no event of this version. */
int event_unpack(const char *bytes, size_t size, struct event *ret_event);

/* The end of a process that tells. */
struct event_sender {
    int sock; /* -EBADF: nobody is told */
    enum event_who who;
    uint32_t lost;
};
/* Fills in who, times where it is 0, and adds what was lost. */
void event_send(struct event_sender *sender, struct event event);
/* An event that somebody waits for the answer to. False: there is no room, and nobody heard it. */
bool event_ask(const struct event_sender *sender, struct event event);
/* When no other event will tell what was lost. */
void event_send_rest(struct event_sender *sender);
/* EVENT_FAILED and its like. */
void event_send_error(struct event_sender *sender, enum event_what what,
                      const struct bawn_error *error);

/* 1: there was one; 0: none now; -EPROTO: what came is none. */
int event_receive(int sock, char bytes[static EVENT_BYTES], struct event *ret_event);
/* The error that it carries. */
void event_error(const struct event *event, struct bawn_error *ret_error);

/* Reads the command line of a process, as it stands there now, from its directory in /proc; "": it
 * cannot be read. */
void event_read_argv(int proc_fd, char ret_argv[static EVENT_ARGV_BYTES]);

/* The words of EVENT_ARGV, at most so many, ended by NULL; they are in copy. */
void event_split_argv(const char *argv, char copy[static EVENT_ARGV_BYTES], const char **ret_words,
                      size_t most);

/* A word for each. */
const char *event_name(uint32_t what);
const char *event_who_name(uint32_t who);
const char *event_verdict_name(uint32_t verdict); /* NULL: none */

#endif
