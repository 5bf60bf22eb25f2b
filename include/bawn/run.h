/* SPDX-License-Identifier: Apache-2.0 */
/* Running commands inside the boundaries of a plan. */
#ifndef BAWN_RUN_H
#define BAWN_RUN_H

#include <bawn/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the calling program by the launcher, which carries out the compiled plan. args are
 * those of a bawn command line, its name first, ended by NULL. Returns only when it fails. */
BAWN_API int bawn_launcher_exec(int plan_fd, char *const *args, struct bawn_error *err);

/*
 * A running sandbox: started here, or found by its name. Commands are started in
 * it as often as wanted, many at a time:
 *
 *     bawn_run_start(plan, NULL, &session, &err);
 *     job = bawn_session_exec(session, &command, &err);
 *     bawn_session_wait(session, job, &status, &err);
 *     bawn_session_close(session);
 *
 * One session is for one thread at a time. The launcher is a program of its own,
 * so that a host with threads can start one at any time.
 */
struct bawn_session;

struct bawn_command {
    const char *const *argv;    /* the program, looked for in PATH inside; ended by NULL */
    const char *const *environ; /* NULL: the caller's. The policy says what of it is passed on */
    /* Its standard streams, or -1 for none. Those of bawn_session_exec can be no terminals. */
    int fds[3];
    /* Not 0: it gets a terminal of the sandbox's own of this size, in place of each stream that is
     * -1; bawn_session_terminal gives its other side. Only for bawn_session_exec. */
    unsigned short cols, rows;
};

/*
 * Starts the sandbox of the plan, and command in it: job 0, with which the session
 * ends. Without a command (NULL) it waits for bawn_session_exec. Returns when it is
 * ready; what cannot be enforced here is refused as by bawn_plan_compile.
 */
BAWN_API int bawn_run_start(const struct bawn_plan *plan, const struct bawn_command *command,
                            struct bawn_session **ret_session, struct bawn_error *err);

/*
 * All of it in one call: runs argv with the policy that 'bawn run -C dir' would use
 * (dir NULL: the working directory), on this program's own streams and environment, and
 * waits for its end. Nobody is asked anything. The status is as in bawn_session_wait. Warnings
 * about the policy are left out: who wants them, or another policy, uses bawn_policy_load and
 * bawn_run_start.
 */
BAWN_API int bawn_run(const char *dir, const char *const *argv, int *ret_status,
                      struct bawn_error *err);

/* Connects to a session of this user's by its name or the beginning of it; NULL: the only one. */
BAWN_API int bawn_session_open(const char *sid, struct bawn_session **ret_session,
                               struct bawn_error *err);

/* Ends the session if bawn_run_start made it; otherwise only the commands that were started
 * through it and still run. */
BAWN_API void bawn_session_close(struct bawn_session *session);

/* Starts a command. Returns its job, a positive number. */
BAWN_API int bawn_session_exec(struct bawn_session *session, const struct bawn_command *command,
                               struct bawn_error *err);

/* Waits until the job has ended, once for each job. The status is as in a shell: the command's
 * own, or 128+N when signal N ended it. -ENOENT, -EACCES and the like when it could not be run;
 * for job 0 that is the status 127 or 126. */
BAWN_API int bawn_session_wait(struct bawn_session *session, int job, int *ret_status,
                               struct bawn_error *err);

/*
 * The other side of the terminal of a job that was started with cols and rows:
 * what is written is typed, what is read was shown; reading fails with EIO when
 * nobody inside has it open any more. TIOCSWINSZ on it resizes. Waits until the job
 * is started; once for each job. Returns a descriptor that is the caller's to close.
 */
BAWN_API int bawn_session_terminal(struct bawn_session *session, int job, struct bawn_error *err);

/*
 * Whether commands may be run in the session without asking a person first: 1 only
 * where a probe inside this kind of sandbox tried to break out on this kernel and was
 * contained, and the whole policy is held. 0 where either is not so: bawn was told to go on
 * without a layer, or with --best-effort. A negative errno: the session did not answer, which
 * is no yes.
 */
BAWN_API int bawn_session_may_auto_allow(struct bawn_session *session, struct bawn_error *err);

/* Sends a signal to the job's processes. */
BAWN_API int bawn_session_signal(struct bawn_session *session, int job, int signal,
                                 struct bawn_error *err);

/* Readable when bawn_session_wait for some job will not wait long. Not to be read or closed. */
BAWN_API int bawn_session_fd(const struct bawn_session *session);

#ifdef __cplusplus
}
#endif
#endif
