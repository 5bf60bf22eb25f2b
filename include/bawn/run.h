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

#ifdef __cplusplus
}
#endif
#endif
