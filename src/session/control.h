/* SPDX-License-Identifier: Apache-2.0 */
/* The outside of a running session: its place in the registry, and the clients that connect. */
#ifndef SESSION_CONTROL_H
#define SESSION_CONTROL_H

#include "launch/sync.h"
#include "session/keeper.h"
#include "session/own.h"
#include "wire/control.h"

#include <sys/stat.h>

/* Those beyond the first only ask and stop: there is always room for a 'bawn stop'. */
enum { CONTROL_STAYING_MAX = 20, CONTROL_CLIENTS_MAX = 24, CONTROL_JOBS_MAX = 64 };

struct control;

struct client {
    struct control *control;
    int fd; /* -EBADF: a free slot */
    struct loop_source source;
    bool is_owner;         /* the session is its, and ends with it */
    bool awaits_end;       /* wants to know when all is gone */
    bool answers;          /* it wants to be asked */
    struct viewer *viewer; /* attached, or NULL */
};

/* A command that a client started. */
struct job {
    struct control *control;
    uint32_t number;            /* for pid 1; 0: a free slot */
    uint32_t name;              /* the client's number for it */
    struct client *client;      /* NULL: gone */
    int64_t dies_ms;            /* when it is killed, once its client is gone */
    struct scribe *scribe;      /* writes its streams, or NULL */
    struct loop_source settled; /* the scribe's answer, when the command has ended */
    int wait_status;
};

struct control {
    struct session *session;
    struct registry registry;
    char sid[SID_BYTES]; /* "": not registered */
    int dir_fd;          /* of the entry while it is being made, or -EBADF */
    int listen_fd;
    struct stat own_ns; /* the pid namespace, as a file */
    struct loop_source listen_source;
    struct client clients[CONTROL_CLIENTS_MAX];
    struct job jobs[CONTROL_JOBS_MAX];
    struct scribe *scribes; /* of jobs that have ended, while others inside still write */
    uint32_t last_job;
    struct loop_timer hang_up, stop;
    char bytes[CONTROL_BYTES_MAX];
};

int control_new(struct session *session, struct bawn_error *err);
/* A connection that is there already, and that the session ends with. */
int control_add_owner(struct control *control, int fd, struct bawn_error *err);
int control_listen(struct control *control, int fd, struct bawn_error *err);
/* Makes the entry's directory, under another name: the registry is there and stays so. */
int control_reserve(struct control *control, struct bawn_error *err);
/* Makes the entry in the registry, with the socket that clients connect to. */
int control_register(struct control *control, struct bawn_error *err);
/* Takes the entry away. */
void control_unregister(struct control *control);
/* Tells everybody how it ended, and closes. */
void control_free(struct control *control, int wait_status);

void control_answer(struct client *client, const struct control_message *message, const void *bytes,
                    size_t size, int fd);
void control_refuse(struct client *client, uint32_t job, const struct bawn_error *error);

/* A client's commands. Negative: it broke the rules. */
int control_exec(struct client *client, const struct control_message *message, size_t size,
                 const int fds[CONTROL_FDS]);
int control_signal(struct client *client, const struct control_message *message);
/* What pid 1 says about one of them. fds are taken. */
void control_job_message(struct control *control, const struct sync_message *message, int fd);
void control_hang_up(struct client *client);
/* Nobody is left inside: tells of those that have not ended by themselves. */
void control_end_jobs(struct control *control);
void control_signal_all(struct control *control, int signal);
size_t control_job_count(const struct control *control);

#endif
