/* SPDX-License-Identifier: Apache-2.0 */
/* Becoming the program that reads policies. */
#include "base/error.h"
#include "base/program.h"
#include "installed.h"
#include "program_bawn/own.h"

#include <errno.h>

int cold_exec(const struct front *front, struct bawn_error *err)
{
    int result;

    if (front->plan_fd >= 0)
        return error_set(err, EINVAL, "run.plan", "a compiled plan is only for run and shell");
    result = program_become("bawn-policy", front->argv, front->environ);
    return error_errno(err, -result, "start %s", BAWN_LIBEXECDIR "/bawn-policy");
}

int front_changes(struct front *front, struct bawn_error *err)
{
    int result = program_become("bawn-changes", front->argv, front->environ);

    (void)error_errno(err, -result, "start %s", BAWN_LIBEXECDIR "/bawn-changes");
    error_hint(err, "it comes with bawn (Debian: package bawn-git)");
    return result;
}
