/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client says to a running session, and what the session answers.
 *
 * How it works: one SOCK_SEQPACKET connection. A message is one struct
 * control_message, for some kinds with bytes behind it and descriptors beside
 * it. A client may have many commands running; job is its own number for each,
 * and comes back with every answer about it. 0 is the command of the session.
 *
 *   client                                  session
 *   EXEC job, 3 descriptors, strings
 *                                           STARTED job, terminal  (only with a terminal)
 *                                           EXITED job, value      (a wait status), or
 *                                           FAILED job, value, error
 *   SIGNAL job, value
 *   STOP value (grace in ms)                EXITED 0, when all of the session is gone
 *   METRICS                                 METRICS, struct bawn_metrics
 *   HOSTS                                   HOSTS, struct control_host each, or nothing
 *   ATTACH size                             ATTACHED flags, a stream; later EXITED 0
 *   RESIZE size                             (none)
 *   WAIT                                    EXITED 0, when all of the session is gone
 *   ASKS                                    ASKED job, value (ms left), an event (wire/event.h),
 * for each question that waits; then ASKS; from then on ASKED and SETTLED job, flags, as they come
 *   ANSWER job, flags, value                (SETTLED, as everybody who asked)
 *
 * The job of a question is its number. Whoever said ASKS can be asked: while there is nobody,
 * the answer is no.
 *
 * Whoever breaks these rules is disconnected. A client that goes away takes its
 * commands with it.
 */
#ifndef WIRE_CONTROL_H
#define WIRE_CONTROL_H

#include <bawn/session.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <termios.h>

enum {
    CONTROL_VERSION = 5,
    CONTROL_FDS = 3,                /* beside one message, at most */
    CONTROL_BYTES_MAX = 160 * 1024, /* behind one message */
    CONTROL_GRACE_MAX_MS = 600 * 1000,
    CONTROL_HOST_BYTES = 264, /* a name of LIMIT_HOST_BYTES and a port, and its zero */
    CONTROL_HOSTS_MAX = 65,   /* behind one message */
};

enum control_kind {
    CONTROL_EXEC,
    CONTROL_SIGNAL,
    CONTROL_STOP,
    CONTROL_METRICS,
    CONTROL_ATTACH,
    CONTROL_RESIZE,
    CONTROL_STARTED,
    CONTROL_EXITED,
    CONTROL_FAILED, /* struct bawn_error behind it */
    CONTROL_ATTACHED,
    CONTROL_WAIT,
    CONTROL_HOSTS,
    CONTROL_ASKS,
    CONTROL_ASKED,
    CONTROL_ANSWER,
    CONTROL_SETTLED,
    CONTROL_COUNT,
};

/* The code of an error that is not bawn's: there is no such program inside, or it cannot be run. */
#define CONTROL_NOT_RUN "run.exec"

/* CONTROL_EXEC: bit n: stream n is to be a terminal inside. CONTROL_ATTACHED: it has one. */
enum { CONTROL_TTY = 7 };

/* CONTROL_METRICS. STARTING: the command of a detached session is not the user's program yet.
 * PROVEN: a probe found this kind of sandbox contained, and the whole policy is held. */
enum { CONTROL_STARTING = 8, CONTROL_PROVEN = 16 };

/* CONTROL_ANSWER and CONTROL_SETTLED: yes, else no; and for how much (enum ask_scope). The value of
 * an answer: where it is kept for later sessions, one more than enum bawn_scope; 0: nowhere. Of
 * what is settled: enum ask_end (wire/ask.h). */
enum { CONTROL_YES = 1, CONTROL_SCOPE_SHIFT = 4 };

struct control_message {
    uint32_t version; /* CONTROL_VERSION */
    uint32_t kind;    /* enum control_kind */
    uint32_t job;
    uint32_t flags;
    int32_t value;
    uint32_t args, envs;  /* EXEC: strings behind the message */
    struct termios state; /* EXEC with a terminal: how it starts */
    struct winsize size;
};

/* CONTROL_HOSTS: one that the commands reached, or were refused, with the sums so far. */
struct control_host {
    char host[CONTROL_HOST_BYTES]; /* with its port; "": all that there was no room for */
    uint64_t connections, sent, received, refused;
    uint64_t uncounted; /* connections that were handed over: their bytes nobody saw */
};

/* How many of them are behind a message, each with the end of its name; -EPROTO: something else
 * is. SECURITY: the names are what somebody sent; escape what is shown. */
int control_hosts_count(const struct control_host *hosts, size_t size);

/* How a terminal starts where no other one is its model. */
void control_terminal_state(struct termios *ret_state);

/* fds may be NULL. Does not wait when the socket does not. 0 or a negative errno. */
int control_send(int sock, const struct control_message *message, const void *bytes, size_t size,
                 const int *fds, size_t fd_count);

/*
 * Receives one message and checks its form. bytes has room for room bytes; *ret_size (may be NULL)
 * is what came. Descriptors that came are in fds, the rest is -EBADF; on failure all are closed.
 * -EPIPE: the other side is gone. -EPROTO: not a message of this version.
 */
int control_receive(int sock, struct control_message *message, void *bytes, size_t room,
                    size_t *ret_size, int fds[CONTROL_FDS]);

/* The strings of CONTROL_EXEC, as one block: at least one argument, none cut. */
struct control_strings {
    char **argv, **envp; /* both in one allocation: free(argv) */
};
int control_strings_split(const struct control_message *message, char *bytes, size_t size,
                          struct control_strings *ret_strings);

/* Makes that block, and counts it in message. -E2BIG: more than CONTROL_BYTES_MAX. Free with
 * free(). */
int control_strings_join(struct control_message *message, char *const *argv, char *const *envp,
                         char **ret_bytes, size_t *ret_size);

#endif
