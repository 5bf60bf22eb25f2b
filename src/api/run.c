/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and starting the launcher. */
#include "api/api.h"
#include "api/launcher.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "installed.h"

#include <bawn/run.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* SECURITY: never looked for in PATH, which a project may have set. Beside the program that runs
 * (a build, or /usr/bin), where it was installed, else nowhere. */
static int find(const char *const *places, const char *installed, char out[LIMIT_PATH_BYTES])
{
    char self[LIMIT_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    for (; slash && *places; places++) {
        (void)snprintf(out, LIMIT_PATH_BYTES, "%.*s/%.30s", (int)(slash - self), self, *places);
        if (access(out, X_OK) == 0)
            return 0;
    }
    (void)snprintf(out, LIMIT_PATH_BYTES, "%s", installed);
    return access(out, X_OK) == 0 ? 0 : -ENOENT;
}

int launcher_find(char out[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    static const char *const places[] = {"bawn", "../bin/bawn", "../../bin/bawn", NULL};

    if (find(places, BAWN_BINDIR "/bawn", out) == 0)
        return 0;
    return error_set(err, ENOENT, "run.no_launcher", "the launcher is not installed: %s", out);
}

int launcher_find_git(char out[LIMIT_PATH_BYTES], struct bawn_error *err)
{
    static const char *const places[] = {"bawn-git", "../libexec/bawn/bawn-git", NULL};

    if (find(places, BAWN_LIBEXECDIR "/bawn-git", out) == 0)
        return 0;
    return error_set(err, ENOENT, "plan.no_git_reader", "%s is not installed (Debian: bawn-git)",
                     out);
}

int bawn_launcher_exec(int plan_fd, char *const *args, struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES];
    char option[32];
    autofree char **given = NULL;
    size_t count = 0;
    int r = launcher_find(path, err);

    if (r < 0)
        return r;
    while (args[count])
        count++;
    given = calloc(count + 2, sizeof(*given));
    if (!given || count == 0)
        return error_memory(err);
    (void)snprintf(option, sizeof(option), "--plan-fd=%d", plan_fd);
    given[0] = args[0];
    given[1] = option;
    memcpy(given + 2, args + 1, (count - 1) * sizeof(*given));
    if (plan_fd >= 0 && fcntl(plan_fd, F_SETFD, 0) < 0)
        return error_errno(err, errno, "keep the compiled plan open");
    (void)execv(path, plan_fd >= 0 ? given : (char **)args);
    return error_errno(err, errno, "start %s", path);
}
