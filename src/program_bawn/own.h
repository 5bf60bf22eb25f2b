/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the launcher's command line share. */
#ifndef PROGRAM_BAWN_OWN_H
#define PROGRAM_BAWN_OWN_H

#include "base/strbuf.h"
#include "launch/launch.h"
#include "program_bawn/plans.h"
#include "session/record.h"
#include "session/registry.h"
#include "verbs/verb.h"
#include "wire/control.h"
#include "wire/image.h"

struct given_variables {
    char **items;
    size_t count, size;
};

/* A command line that this program answers itself. */
struct front {
    char **argv; /* all of it, ended by NULL */
    char **environ;
    struct options options;           /* of the verb; its words are what is behind them */
    struct given_variables variables; /* of the command, where --env gives one a value */
    bool json, quiet;
    bool has_dashes; /* "--" stood before the words */
    int plan_fd;     /* given by whoever made the plan; else -EBADF */
    int owner_fd;    /* given by whoever starts the session and talks to it; else -EBADF */
};

/* Everything that reads policy text is another program; returns when it cannot be started. */
int cold_exec(const struct front *front, struct bawn_error *err);

/* A compiled plan that was made for this very command line. */
struct kept {
    const struct image *image;       /* NULL: none */
    struct launch_skeleton skeleton; /* of its root; the path is "" where there is none */
    const struct front *front;
    const char *bytes; /* the file, mapped */
    int fd;
};
void cache_find(const struct front *front, struct kept *ret_kept);
/* Whether the host is as it was when the plan was made. context: struct kept */
bool cache_holds(void *context);
/* Where the plan of this command line is kept. To be asked before anything is tried with it, for
 * that may take rights from us which the next start has. */
struct place_kept {
    struct plans plans;
    struct strbuf key;
    char name[64]; /* "": nowhere */
};
void cache_locate(const struct front *front, struct place_kept *ret_place);
void cache_place_done(struct place_kept *place);
#define autoplace __attribute__((cleanup(cache_place_done)))
/* Keeps it for the next time. Failing to is no error. */
void cache_store(struct place_kept *place, const struct image *image);
void cache_forget(const struct front *front);

/* Maps and checks an image in a sealed memory file. */
int plan_map(int fd, const struct image **ret_image, struct bawn_error *err);

/* Prints an error as every verb of bawn does; returns STATUS_FAILED. */
int front_fail(const struct front *front, const struct bawn_error *err);

/* Prints a document of one verb, and frees it. Returns the status: 0, or that of a failure. */
int front_print(struct strbuf *text);

/* The verbs. Each returns the status to end with, or a negative errno. */
int front_run(struct front *front, struct bawn_error *err);
int front_shell(struct front *front, struct bawn_error *err);
int front_ps(struct front *front, struct bawn_error *err);
int front_status(struct front *front, struct bawn_error *err);
int front_metrics(struct front *front, struct bawn_error *err);
int front_stop(struct front *front, struct bawn_error *err);
int front_attach(struct front *front, struct bawn_error *err);
int front_exec(struct front *front, struct bawn_error *err);

/* A connection to a running session. */
struct link {
    struct registry registry;
    char sid[SID_BYTES];
    int sock;
};
/* word: a SID or its beginning, or NULL for the only session. */
int link_open(struct link *link, const struct front *front, const char *word,
              struct bawn_error *err);
void link_close(struct link *link);
/* The session ended without a word. Returns -EPIPE. */
int link_refuse_gone(const struct link *link, struct bawn_error *err);
int link_refuse_answer(const struct link *link, struct bawn_error *err);
#define autolink __attribute__((cleanup(link_close)))
int link_send(const struct link *link, struct control_message *message, struct bawn_error *err);
/* Awaits one answer; kinds that are not wanted are an error. bytes has room for size, or is NULL.
 * An error that the session reports becomes ours. *ret_fd (may be NULL) is a descriptor that
 * came. */
int link_await(const struct link *link, enum control_kind wanted, struct control_message *message,
               void *bytes, size_t size, int *ret_fd, struct bawn_error *err);
/* The first word, or NULL. */
const char *front_sid(const struct front *front);
/* --cols and --rows: 0 where they are not given. */
int front_size(const struct front *front, struct winsize *ret_size, struct bawn_error *err);
/* The status to end with, for a wait status. */
int front_status_of(int wait_status);
/* Takes the record of the session from the registry. */
int link_record(const struct link *link, struct record *ret_record, char **ret_text,
                struct bawn_error *err);
/* What metrics say, as members of a JSON object, or for people. */
void metrics_as_json(struct strbuf *out, const struct control_metrics *metrics);
void metrics_as_text(struct strbuf *out, const struct control_metrics *metrics);
/* "3 s", "12 min", "2 h 5 min", "4 d" */
void put_duration(struct strbuf *out, uint64_t seconds);

#endif
