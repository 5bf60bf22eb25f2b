/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes that run: finding them, running commands in them, watching and ending them. */
#ifndef BAWN_SESSION_H
#define BAWN_SESSION_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A connection to a running sandbox, which bawn_run_start started or bawn_session_open
 * found by its name. It can start any number of commands, many at a time:
 *
 *     bawn_session_open(NULL, &session, &err);
 *     job = bawn_session_exec(session, &command, &err);
 *     bawn_session_wait(session, job, &status, &err);
 *     bawn_session_close(session);
 *
 * One session is for one thread at a time. When the sandbox has ended, calls fail with
 * -EPIPE ("session.gone"). When something else than a session of this version of bawn
 * answers, they fail with -EPROTO ("session.protocol").
 */
struct bawn_session;

/* Connects to a session of this user by its name or the beginning of it; NULL: the only one.
 * -ESRCH: there is no such session ("session.none", "session.unknown"); -EINVAL: several match
 * ("session.ambiguous"). */
BAWN_API int bawn_session_open(const char *sid, struct bawn_session **ret_session,
                               struct bawn_error *err);

/* Ends the session if bawn_run_start made it. Otherwise ends only the commands that this
 * connection started and that still run. */
BAWN_API void bawn_session_close(struct bawn_session *session);

/* The session's whole name; "" if bawn_run_start made it. */
BAWN_API const char *bawn_session_sid(const struct bawn_session *session);

/* For bawn_command: replaces each stream that is a terminal by one terminal of the sandbox's own.
 * It starts with the size and the state of the first of these streams. bawn_session_terminal gives
 * its other side. */
enum { BAWN_COMMAND_TERMINAL = 1 };

struct bawn_command {
    const char *const *argv;    /* the program, looked for in PATH inside; ended by NULL */
    const char *const *environ; /* NULL: the caller's. The policy says which variables pass */
    /* Its standard streams, or -1 for none. For bawn_session_exec a terminal needs
     * BAWN_COMMAND_TERMINAL. If one may not be a stream, bawn_session_wait fails ("run.stream"). */
    int fds[3];
    /* Not 0: the command gets a terminal of this size, of the sandbox's own, in place of each
     * stream that is -1. bawn_session_terminal gives its other side. Only for bawn_session_exec. */
    unsigned short cols, rows;
    unsigned flags; /* BAWN_COMMAND_*. Only for bawn_session_exec */
};

/* Starts a command. Returns its job, a positive number. */
BAWN_API int bawn_session_exec(struct bawn_session *session, const struct bawn_command *command,
                               struct bawn_error *err);

/*
 * Waits until the job has ended, once for each job. The status is as in a shell: the
 * command's own, or 128+N when signal N ended it. -ENOENT, -EACCES and the like, with
 * the code "run.exec", when it could not be run.
 *
 * Job 0 is the sandbox with its own command, where bawn_run_start made it, or after
 * bawn_session_stop or bawn_session_attach. A command that could not be run has the
 * status 127 or 126 there.
 */
BAWN_API int bawn_session_wait(struct bawn_session *session, int job, int *ret_status,
                               struct bawn_error *err);

/*
 * The other side of the terminal of a job that has one. What you write is typed; what you
 * read is what the command shows. Reading fails with EIO when nobody inside has the terminal
 * open any more. TIOCSWINSZ resizes it. Waits until the job is started. Call it once for each
 * job. Returns a descriptor; the caller closes it.
 */
BAWN_API int bawn_session_terminal(struct bawn_session *session, int job, struct bawn_error *err);

/* Sends a signal to the job's processes. */
BAWN_API int bawn_session_signal(struct bawn_session *session, int job, int signal,
                                 struct bawn_error *err);

/* A descriptor that is readable when bawn_session_next has an event. Do not read or close it. */
BAWN_API int bawn_session_fd(const struct bawn_session *session);

enum bawn_event {
    BAWN_EVENT_NONE,
    BAWN_EVENT_STARTED, /* bawn_session_terminal will not wait for the job */
    BAWN_EVENT_ENDED,   /* bawn_session_wait will not wait for the job */
};

/*
 * For programs with an event loop of their own: returns the next event and its job, without
 * waiting, and each event once. Call it when bawn_session_fd is readable. After a call that
 * waited for something else, call it until it returns BAWN_EVENT_NONE. Returns an enum
 * bawn_event, or a negative errno.
 */
BAWN_API int bawn_session_next(struct bawn_session *session, int *ret_job, struct bawn_error *err);

/* Asks all commands of the session to end (SIGTERM). The session kills them after grace_ms, which
 * is at most 10 minutes. Does not wait: bawn_session_wait for job 0 waits until nothing is left. */
BAWN_API int bawn_session_stop(struct bawn_session *session, int grace_ms, struct bawn_error *err);

struct winsize;

/*
 * Watches the command of a session that 'bawn run --detach' started. Returns a stream; the
 * caller closes it. It begins with the last 64 KiB of the command's output. Where the command
 * has a terminal, *ret_has_terminal is true: what you write is typed, and the terminal gets
 * the size given (NULL: keeps its own). A caller that does not read makes the command wait. Call it
 * once for each session. -ENOTTY ("session.attached"): the session is not detached.
 */
BAWN_API int bawn_session_attach(struct bawn_session *session, const struct winsize *size,
                                 bool *ret_has_terminal, struct bawn_error *err);

/* Gives the attached terminal another size. */
BAWN_API int bawn_session_resize(struct bawn_session *session, const struct winsize *size,
                                 struct bawn_error *err);

/*
 * Whether commands may run in the session without asking a person first. 1: bawn holds the
 * whole policy, and a probe inside this kind of sandbox failed to break out on this kernel.
 * 0: one of these is not so, because bawn runs without a layer, or with --best-effort. A
 * negative errno: the session did not answer, which is no yes.
 */
BAWN_API int bawn_session_may_auto_allow(struct bawn_session *session, struct bawn_error *err);

/* What a session uses. Without a control group, unknown values are 0. Later versions may add
 * members at the end. */
struct bawn_metrics {
    uint64_t is_counted; /* by a control group; else sampled */
    uint64_t elapsed_ms;
    uint64_t pids_current, pids_peak, pids_limit; /* limit 0: none */
    uint64_t memory_current, memory_peak, memory_limit;
    uint64_t cpu_usec, throttled_usec, throttled_count;
    uint64_t oom_kills, pids_refused;
    uint64_t jobs;    /* commands started by clients */
    uint64_t viewers; /* attached clients */
    /* The sums of what bawn_session_peers tells. */
    uint64_t net_connections, net_refused;
    uint64_t net_sent, net_received; /* bytes */
    uint64_t net_uncounted;
    /* Of a session with overlays: bytes that its layers took when they were last measured, and may
     * take; 0: not measured yet, and no limit. */
    uint64_t layers_bytes, layers_limit;
};

/* size is sizeof(struct bawn_metrics) of the caller, so that members can be added. */
BAWN_API int bawn_session_metrics(struct bawn_session *session, struct bawn_metrics *ret_metrics,
                                  size_t size, struct bawn_error *err);

/* A host that commands of a session reached or were refused, where the network mode is "proxy" or
 * "isolated". Only the library makes this struct: later versions may add members at the end. */
struct bawn_peer {
    struct bawn_peer *next; /* of a list, or NULL */
    /* Its name or address with the port, printable. Without a port: a command only asked for the
     * address of that name. "": all hosts beyond the first 64 together. */
    const char *host;
    uint64_t connections; /* those that have ended */
    uint64_t sent;        /* bytes that went on to the host */
    uint64_t received;    /* bytes that commands got from it */
    uint64_t refused;     /* how often; of a name that was only asked for, at most once a second */
    /* Of the connections those that were handed over to the command (a rule says opaque): they
     * count from their beginning, and their bytes are not in the numbers above. */
    uint64_t uncounted;
};

/*
 * Lists the hosts, in the order in which the session heard of them. Returns how many there are; the
 * list is NULL when there is none. The numbers lag a little: a connection counts when it has
 * ended, a second or so later. 'bawn run --stats' tells all of them at the end.
 */
BAWN_API int bawn_session_peers(struct bawn_session *session, struct bawn_peer **ret_list,
                                struct bawn_error *err);

/* Frees the whole list. */
BAWN_API void bawn_peer_free(struct bawn_peer *list);

/* What the library knows of one session. Only the library makes this struct: later versions may add
 * members at the end. Unknown values are "", false or 0. */
struct bawn_status {
    struct bawn_status *next; /* of a list, or NULL */
    const char *sid;          /* its name */
    /* "starting": a detached command is not running yet; "running"; "stopped": it has just ended;
     * "error": something else than a session answers. NULL: the library did not ask, or there is no
     * such session. */
    const char *state;
    const char *backend;        /* what holds it: "native" */
    const char *enforcement;    /* "full", or "partial" where something is not held */
    const char *not_enforced;   /* what is not held, a line each, printable */
    const char *command;        /* one line, printable, cut when it is long; "": none */
    const char *workspace;      /* its path as it is: not made printable */
    const char *const *cgroups; /* directories of its control groups, ended by NULL */
    const char *record;         /* what it wrote of itself, a JSON object; "": there is none */
    const struct bawn_metrics *metrics; /* what it uses; NULL: it did not tell */
    uint64_t started;                   /* seconds since 1970 */
    int pid;                            /* of its launcher */
    bool is_detached, has_terminal;
    bool may_auto_allow; /* as bawn_session_may_auto_allow */
    int exit_status;     /* of one that has ended: what 'bawn run' would have ended with */
    uint64_t ended;      /* when: seconds since 1970; 0: it has not */
};

/* Lists all sessions of this user by their records, oldest first, at most 4096. Asks none of them
 * for its state. Removes what a killed session left behind. Returns how many there are; the list is
 * NULL when there is none. */
BAWN_API int bawn_session_list(struct bawn_status **ret_list, struct bawn_error *err);

/*
 * Asks the session of that name (as in bawn_session_open). If the session does not answer,
 * the call fails, but *ret_status still has what is known: the session's record with the state
 * "stopped" or "error", or, without a record, nothing and the state NULL. If several sessions
 * match, *ret_status is NULL.
 */
BAWN_API int bawn_session_status(const char *sid, struct bawn_status **ret_status,
                                 struct bawn_error *err);

/* Frees the whole list. */
BAWN_API void bawn_status_free(struct bawn_status *status);

/*
 * What is kept of sessions that were started with 'bawn run --detach': while they run, and for a
 * day after their end. In what follows a name is looked for among the sessions that run, and then
 * among those that are kept; NULL is the only one.
 */

/* Those that have ended, oldest first, as bawn_session_list. The state is "ended", with exit_status
 * and ended; or "lost" where bawn was killed and nobody knows. */
BAWN_API int bawn_session_list_ended(struct bawn_status **ret_list, struct bawn_error *err);

struct bawn_ended {
    char sid[16]; /* its whole name */
    int status;   /* what 'bawn run' would have ended with */
};

/*
 * Waits until a session has ended, detached or not, for at most timeout_ms; -1: for as long as it
 * takes. -ETIMEDOUT ("session.timeout"): it still runs. -ENODATA ("session.lost"): bawn was killed,
 * and the command with it. ret_ended->sid is set as soon as it is known, also where the call fails.
 */
BAWN_API int bawn_session_await(const char *sid, int timeout_ms, struct bawn_ended *ret_ended,
                                struct bawn_error *err);

/* The output of a detached command. */
struct bawn_log;

/* -ENODATA ("session.not_kept"): the session runs, but nothing of it is kept. */
BAWN_API int bawn_log_open(const char *sid, struct bawn_log **ret_log, struct bawn_error *err);
BAWN_API void bawn_log_close(struct bawn_log *log);

/* Goes on with the last lines of what was said so far, instead of the oldest that is kept. */
BAWN_API int bawn_log_tail(struct bawn_log *log, uint64_t lines, struct bawn_error *err);

/* Reads on. SECURITY: bytes as the command wrote them, with whatever a terminal may obey. Returns
 * how many; 0: nothing more was said so far. */
BAWN_API int bawn_log_read(struct bawn_log *log, void *bytes, size_t size, struct bawn_error *err);

/* How many bytes before those that were read last are missing, for they are no longer kept. */
BAWN_API uint64_t bawn_log_dropped(const struct bawn_log *log);

/* Waits until there may be more to read: 1. 0: nothing more will come. */
BAWN_API int bawn_log_wait(struct bawn_log *log, struct bawn_error *err);

struct bawn_log_state {
    const char *sid;
    const char *state; /* "running", "ended", "lost" */
    int status;        /* of one that has ended; else 0 */
    int errnum; /* why what was said is not kept to its end; ENODATA: that was asked for; 0: it is
                 */
};
BAWN_API void bawn_log_state(struct bawn_log *log, struct bawn_log_state *ret_state);

#ifdef __cplusplus
}
#endif
#endif
