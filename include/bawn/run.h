/* SPDX-License-Identifier: Apache-2.0 */
/* Starting commands inside the boundaries of a plan. */
#ifndef BAWN_RUN_H
#define BAWN_RUN_H

#include <bawn/plan.h>
#include <bawn/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the calling program by the launcher, which carries out the compiled plan, or with -1 has
 * one made. args are those of a bawn command line, its name first, ended by NULL. Returns only when
 * it fails. */
BAWN_API int bawn_launcher_exec(int plan_fd, char *const *args, struct bawn_error *err);

/*
 * Starts the sandbox of the plan, and command in it. The command is job 0, and the session
 * ends with it. Without a command (NULL) the sandbox waits for bawn_session_exec. Returns when
 * the sandbox is ready. Refuses what this host cannot enforce, as bawn_plan_compile does. The
 * launcher is a program of its own, so that a program with threads can start one at any time.
 */
BAWN_API int bawn_run_start(const struct bawn_plan *plan, const struct bawn_command *command,
                            struct bawn_session **ret_session, struct bawn_error *err);

/*
 * All of it in one call: runs argv with the policy that 'bawn run -C dir' would use
 * (dir NULL: the working directory), on this program's own streams and environment, and
 * waits for its end. It asks nobody. The status is as in bawn_session_wait. It drops warnings
 * about the policy: for them, or for another policy, use bawn_policy_load and bawn_run_start.
 */
BAWN_API int bawn_run(const char *dir, const char *const *argv, int *ret_status,
                      struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
