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
 * A connection to a running sandbox: one that bawn_run_start made, or one that was
 * found by its name. Commands are started in it as often as wanted, many at a time:
 *
 *     bawn_session_open(NULL, &session, &err);
 *     job = bawn_session_exec(session, &command, &err);
 *     bawn_session_wait(session, job, &status, &err);
 *     bawn_session_close(session);
 *
 * One session is for one thread at a time. Where the sandbox has ended, calls fail with
 * -EPIPE ("session.gone"); where what answers is no session of this version of bawn, with
 * -EPROTO ("session.protocol").
 */
struct bawn_session;

/* Connects to a session of this user's by its name or the beginning of it; NULL: the only one.
 * -ESRCH: there is none ("session.none", "session.unknown"); -EINVAL: it may be one of several
 * ("session.ambiguous"). */
BAWN_API int bawn_session_open(const char *sid, struct bawn_session **ret_session,
                               struct bawn_error *err);

/* Ends the session if bawn_run_start made it; otherwise only the commands that were started
 * through it and still run. */
BAWN_API void bawn_session_close(struct bawn_session *session);

/* Its whole name; "" for one that bawn_run_start made. */
BAWN_API const char *bawn_session_sid(const struct bawn_session *session);

/* For bawn_command: each stream that is a terminal is replaced by one of the sandbox's own, which
 * starts with the size and the state of the first of them. bawn_session_terminal gives its other
 * side. */
enum { BAWN_COMMAND_TERMINAL = 1 };

struct bawn_command {
    const char *const *argv;    /* the program, looked for in PATH inside; ended by NULL */
    const char *const *environ; /* NULL: the caller's. The policy says what of it is passed on */
    /* Its standard streams, or -1 for none. Those of bawn_session_exec can be terminals only with
     * BAWN_COMMAND_TERMINAL; for what is no stream bawn_session_wait fails ("run.stream"). */
    int fds[3];
    /* Not 0: it gets a terminal of the sandbox's own of this size, in place of each stream that is
     * -1; bawn_session_terminal gives its other side. Only for bawn_session_exec. */
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
 * The other side of the terminal of a job that was started with one: what is written
 * is typed, what is read was shown; reading fails with EIO when nobody inside has it
 * open any more. TIOCSWINSZ on it resizes. Waits until the job is started; once for each
 * job. Returns a descriptor that is the caller's to close.
 */
BAWN_API int bawn_session_terminal(struct bawn_session *session, int job, struct bawn_error *err);

/* Sends a signal to the job's processes. */
BAWN_API int bawn_session_signal(struct bawn_session *session, int job, int signal,
                                 struct bawn_error *err);

/* Readable when bawn_session_next has something to tell. Not to be read or closed. */
BAWN_API int bawn_session_fd(const struct bawn_session *session);

enum bawn_event {
    BAWN_EVENT_NONE,
    BAWN_EVENT_STARTED, /* bawn_session_terminal will not wait for the job */
    BAWN_EVENT_ENDED,   /* bawn_session_wait will not wait for the job */
};

/*
 * For programs with a loop of their own: what has happened to which job, without
 * waiting. Each event is told once. To be asked when bawn_session_fd is readable; and
 * until there is none, after a call that waited for something else. Returns an enum
 * bawn_event, or a negative errno.
 */
BAWN_API int bawn_session_next(struct bawn_session *session, int *ret_job, struct bawn_error *err);

/* Asks all that runs in the session to end (SIGTERM), and has it killed after grace_ms, at most 10
 * minutes. Does not wait: bawn_session_wait for job 0 does, until nothing is left. */
BAWN_API int bawn_session_stop(struct bawn_session *session, int grace_ms, struct bawn_error *err);

struct winsize;

/*
 * Watches the command of a session that was started with 'bawn run --detach'. Returns a
 * stream, which is the caller's to close: the last 64 KiB of what was said come first.
 * Where the command has a terminal, *ret_has_terminal is true: what is written is typed, and
 * size (NULL: as it is) is its new size. One that does not read makes the command wait. Once
 * for each session; -ENOTTY ("session.attached") where it is not detached.
 */
BAWN_API int bawn_session_attach(struct bawn_session *session, const struct winsize *size,
                                 bool *ret_has_terminal, struct bawn_error *err);

/* Gives the terminal that is attached another size. */
BAWN_API int bawn_session_resize(struct bawn_session *session, const struct winsize *size,
                                 struct bawn_error *err);

/*
 * Whether commands may be run in the session without asking a person first: 1 only
 * where a probe inside this kind of sandbox tried to break out on this kernel and was
 * contained, and the whole policy is held. 0 where either is not so: bawn was told to go on
 * without a layer, or with --best-effort. A negative errno: the session did not answer, which
 * is no yes.
 */
BAWN_API int bawn_session_may_auto_allow(struct bawn_session *session, struct bawn_error *err);

/* What a session uses. Where nothing counts (no control group) what is not known is 0. Members may
 * be added at the end. */
struct bawn_metrics {
    uint64_t is_counted; /* by a control group; else sampled */
    uint64_t elapsed_ms;
    uint64_t pids_current, pids_peak, pids_limit; /* limit 0: none */
    uint64_t memory_current, memory_peak, memory_limit;
    uint64_t cpu_usec, throttled_usec, throttled_count;
    uint64_t oom_kills, pids_refused;
    uint64_t jobs;    /* commands started by clients */
    uint64_t viewers; /* attached clients */
};

/* size is sizeof(struct bawn_metrics) of the caller, so that members can be added. */
BAWN_API int bawn_session_metrics(struct bawn_session *session, struct bawn_metrics *ret_metrics,
                                  size_t size, struct bawn_error *err);

/* What is known of one session. Only the library makes one: members may be added at the end. What
 * is not known is "", false or 0. */
struct bawn_status {
    struct bawn_status *next; /* of a list, or NULL */
    const char *sid;          /* its name */
    /* "starting": a detached command is not running yet; "running"; "stopped": it has just ended;
     * "error": what answers is no session. NULL: nobody was asked, or there is no such session. */
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

/* All sessions of this user's, oldest first, at most 4096, as they describe themselves: none is
 * asked for its state. What was left behind by one that was killed is removed. Returns how many
 * there are; none is a NULL list. */
BAWN_API int bawn_session_list(struct bawn_status **ret_list, struct bawn_error *err);

/*
 * Asks the session of that name (as in bawn_session_open). When it does not answer that
 * is an error, and *ret_status is nevertheless what is known of it: its record if there
 * is one, with the state "stopped" or "error", or nothing at all, with the state NULL.
 * Where it is not clear which session is meant *ret_status is NULL.
 */
BAWN_API int bawn_session_status(const char *sid, struct bawn_status **ret_status,
                                 struct bawn_error *err);

/* With those that are next. */
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
