/* SPDX-License-Identifier: Apache-2.0 */
/* What this host can do, and what would be done for a policy on it. */
#ifndef BAWN_PLAN_H
#define BAWN_PLAN_H

#include <bawn/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the kernel and the installed programs really allow, found by trying. */
struct bawn_host;

/* Starts short-lived child processes that try each mechanism; safe in a program
 * with threads. Leaves nothing behind. */
BAWN_API int bawn_host_probe(struct bawn_host **ret_host, struct bawn_error *err);
/* The same without starting other sandboxes' programs: enough for a plan. */
BAWN_API int bawn_host_probe_kernel(struct bawn_host **ret_host, struct bawn_error *err);
/* That in two steps: a process tries while the caller goes on, and finish waits for it. Whoever has
 * started it must finish it, in the same thread; ret_host may be NULL, and so may the probe: then
 * nothing happens. */
struct bawn_probe;
BAWN_API int bawn_host_probe_start(struct bawn_probe **ret_probe, struct bawn_error *err);
BAWN_API int bawn_host_probe_finish(struct bawn_probe *probe, struct bawn_host **ret_host,
                                    struct bawn_error *err);
BAWN_API void bawn_host_free(struct bawn_host *host);

/* The backends, each with {available, version, usable, reason}, and the kernel features. available:
 * it works here; usable: bawn can start commands with it. Free this and every other text with
 * free(). */
BAWN_API int bawn_host_print(const struct bawn_host *host, enum bawn_format format, char **ret_text,
                             struct bawn_error *err);

/* Whether a command could be started on this host with any policy. */
BAWN_API bool bawn_host_can_start(const struct bawn_host *host);

/* What is missing here, what that costs, and the exact remedy. Returns how many
 * findings keep the native sandbox from full strength. */
BAWN_API int bawn_host_doctor(const struct bawn_host *host, enum bawn_format format,
                              char **ret_text, struct bawn_error *err);

/* How much of a policy the kernel would hold on this host. */
enum bawn_enforcement { BAWN_ENFORCED_NONE, BAWN_ENFORCED_PARTIAL, BAWN_ENFORCED_FULL };

/* Mounts, Landlock rules, syscall filter, network, limits and environment for one
 * policy on one host. Making it changes nothing. It borrows the policy, which must
 * outlive it, and copies what it needs of the host. */
struct bawn_plan;

BAWN_API int bawn_plan_new(const struct bawn_policy *policy, const struct bawn_host *host,
                           struct bawn_plan **ret_plan, struct bawn_error *err);
BAWN_API void bawn_plan_free(struct bawn_plan *plan);
BAWN_API enum bawn_enforcement bawn_plan_enforcement(const struct bawn_plan *plan);
BAWN_API int bawn_plan_print(const struct bawn_plan *plan, enum bawn_format format, char **ret_text,
                             struct bawn_error *err);

/* What run goes on without: limits that were chosen by name ("strict") and that this host does not
 * hold, git configuration that cannot be read. A line each; "" when there is none. */
BAWN_API int bawn_plan_left_out(const struct bawn_plan *plan, char **ret_text,
                                struct bawn_error *err);

/* For bawn_plan_compile: what cannot be enforced here is left out and noted, not refused. */
enum { BAWN_COMPILE_BEST_EFFORT = 1 };

/* What the launcher carries out, in a sealed memory file. Refuses (-ENOTSUP) what this host cannot
 * hold. */
BAWN_API int bawn_plan_compile(const struct bawn_plan *plan, unsigned flags, int *ret_fd,
                               struct bawn_error *err);
/* The same as text: each step in its order, each rule, each input. */
BAWN_API int bawn_plan_print_image(const struct bawn_plan *plan, unsigned flags, char **ret_text,
                                   struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
