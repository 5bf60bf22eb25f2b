/* SPDX-License-Identifier: Apache-2.0 */
/* Becoming the program that reads policies. */
#include "base/error.h"
#include "base/limits.h"
#include "installed.h"
#include "program_bawn/own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* SECURITY: beside this program, or where it was installed; never looked for in PATH. */
int cold_exec(const struct front *front, struct bawn_error *err)
{
    static const char *const places[] = {"bawn-policy", "../libexec/bawn/bawn-policy"};
    char self[LIMIT_PATH_BYTES];
    char path[LIMIT_PATH_BYTES + 64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (front->plan_fd >= 0)
        return error_set(err, EINVAL, "run.plan", "a compiled plan is only for run and shell");
    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
        (void)snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - self), self, places[i]);
        (void)execve(path, front->argv, front->environ);
    }
    (void)execve(BAWN_LIBEXECDIR "/bawn-policy", front->argv, front->environ);
    return error_errno(err, errno, "start %s", BAWN_LIBEXECDIR "/bawn-policy");
}
