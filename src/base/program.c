/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program.h"

#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "installed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char program_places[] = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool program_next(const char **places, const char *name, char ret_path[LIMIT_PATH_BYTES])
{
    while (**places) {
        size_t length = strcspn(*places, ":");
        int used = snprintf(ret_path, LIMIT_PATH_BYTES, "%.*s/%s", (int)length, *places, name);

        *places += length + ((*places)[length] == ':');
        /* A relative place in PATH depends on the working directory: leave it out. */
        if (used > 0 && used < LIMIT_PATH_BYTES && ret_path[0] == '/' && is_program(ret_path))
            return true;
    }
    return false;
}

int program_become(const char *name, char *const *argv, char *const *variables)
{
    static const char *const places[] = {"", "../libexec/bawn/"};
    char self[LIMIT_PATH_BYTES];
    char path[LIMIT_PATH_BYTES + 64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
        (void)snprintf(path, sizeof(path), "%.*s/%s%s", (int)(slash - self), self, places[i], name);
        (void)execve(path, argv, variables);
    }
    (void)snprintf(path, sizeof(path), "%s/%s", BAWN_LIBEXECDIR, name);
    (void)execve(path, argv, variables);
    return -errno;
}

/* The directory that has all of a program which is installed for one user: that around "bin", if
 * what the program's link leads to is in it too. ~/.local and the like have more than programs. */
static bool find_prefix(const char *path, const char *target, char prefix[LIMIT_PATH_BYTES])
{
    const char *name;

    (void)snprintf(prefix, LIMIT_PATH_BYTES, "%s", path);
    path_cut_name(prefix);
    name = strrchr(prefix, '/');
    if (!name || strcmp(name, "/bin") != 0)
        return false;
    path_cut_name(prefix);
    name = strrchr(prefix, '/');
    return name && (path_depth(prefix) > 2 || name[1] == '.') && strcmp(name, "/.local") != 0 &&
           path_is_below(target, prefix);
}

static void suggest(const char *path, const char *preset, struct bawn_error *err)
{
    char target[PATH_MAX];
    char prefix[LIMIT_PATH_BYTES];
    char shown[2][2 * LIMIT_PATH_BYTES];
    const char *before = preset ? "--preset " : "";
    const char *between = preset ? ", or " : "";

    if (!realpath(path, target))
        (void)snprintf(target, sizeof(target), "%s", path);
    preset = preset ? preset : "";
    if (find_prefix(path, target, prefix)) {
        text_escape(shown[0], sizeof(shown[0]), prefix, strlen(prefix), TEXT_ONE_LINE);
        error_hint(err, "%s%s%s--ro %s", before, preset, between, shown[0]);
        return;
    }
    (void)snprintf(prefix, sizeof(prefix), "%s", path);
    path_cut_name(prefix);
    path_cut_name(target);
    text_escape(shown[0], sizeof(shown[0]), prefix, strlen(prefix), TEXT_ONE_LINE);
    text_escape(shown[1], sizeof(shown[1]), target, strlen(target), TEXT_ONE_LINE);
    if (strcmp(prefix, target) == 0)
        error_hint(err, "%s%s%s--ro %s", before, preset, between, shown[0]);
    else
        error_hint(err, "%s%s%s--ro %s --ro %s", before, preset, between, shown[0], shown[1]);
}

int program_refuse(const char *name, const char *path, const char *preset, struct bawn_error *err)
{
    char shown[2][2 * LIMIT_PATH_BYTES];

    text_escape(shown[0], sizeof(shown[0]), name, strlen(name), TEXT_ONE_LINE);
    text_escape(shown[1], sizeof(shown[1]), path, strlen(path), TEXT_ONE_LINE);
    (void)error_set(err, ENOENT, "exec.not_shown", "%s is %s, which this policy does not show",
                    shown[0], shown[1]);
    suggest(path, preset, err);
    return -ENOENT;
}
