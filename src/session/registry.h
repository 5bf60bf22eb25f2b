/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where running sessions are found: a directory of the user's alone, with one
 * directory for each session, named by its SID. In there is its record (JSON)
 * and its control socket.
 *
 * A session is made under another name (".new-PID-START") and then renamed: who
 * sees a SID sees all of it.
 */
#ifndef SESSION_REGISTRY_H
#define SESSION_REGISTRY_H

#include "base/places.h"
#include "base/vec.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SID_LENGTH = 6,
    SID_BYTES = SID_LENGTH + 1,
    REGISTRY_PATH_BYTES = PLACES_SESSIONS_BYTES,
    RECORD_BYTES_MAX = 1024 * 1024, /* a command of 128 KiB, each byte of it escaped to 6 */
};
#define REGISTRY_RECORD  "record.json"
#define REGISTRY_CHANGES "changes" /* a member of it: see struct record_facts */
#define REGISTRY_CONTROL "control"

struct registry {
    int fd; /* O_PATH */
    char path[REGISTRY_PATH_BYTES];
};

/* Opens it, at its place: see places_open_sessions. */
int registry_open(struct registry *registry, char *const *variables, bool makes,
                  struct bawn_error *err);
void registry_close(struct registry *registry);

struct registry_names {
    VEC(char *) sids; /* sorted */
};
int registry_list(const struct registry *registry, struct registry_names *names,
                  struct bawn_error *err);
/* The same of any directory (O_PATH) with names of sessions in it; other, if not NULL, is told of
 * those that are none. */
int registry_names_read(int dir_fd, const char *path, struct registry_names *names,
                        void (*other)(const void *context, const char *name), const void *context,
                        struct bawn_error *err);
void registry_names_done(struct registry_names *names);
#define autonames __attribute__((cleanup(registry_names_done)))

/* Whether the words could be a SID or the beginning of one. */
bool registry_is_sid(const char *word);

/* Opens the registry and connects to the session whose SID begins with word; NULL: to the only
 * one. Returns the socket, and whether the launcher is stopped. */
int registry_connect_user(char *const *variables, const char *word, struct registry *registry,
                          char sid[SID_BYTES], bool *ret_stopped, struct bawn_error *err);
/* The same for a SID that is known: -ECONNREFUSED: its launcher is gone; -EACCES: who listens is no
 * launcher of ours. */
int registry_connect_sid(const struct registry *registry, const char *sid);

/* The launcher that is connected to, if it is stopped: it hears nobody. 0: it is not. */
pid_t registry_stopped(int sock);

/* Reads the record of a session. Free with free(). */
int registry_read(const struct registry *registry, const char *sid, char **ret_record,
                  struct bawn_error *err);
/* Whether the changes of the session with that record are kept under that name (--session). */
bool registry_is_called(const char *record, const char *name);

/* Takes away the directory of a session, by its SID or by the name it was made under; and the
 * registry with the last one. */
void registry_remove(const struct registry *registry, const char *name);

#endif
