/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are only looked at, with sandbox.process.explain: the mounts refuse what they are
 * about, or do not, and the caller makes them itself. Where something is there outside, and the
 * rules hide it, that is told as a refusal.
 *
 * SECURITY: nothing depends on what is found here. A path that the caller changes meanwhile
 * makes the story wrong, and no more.
 */
#include "base/cleanup.h"
#include "base/path.h"
#include "supervise/call.h"
#include "supervise/identity.h"
#include "supervise/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* As the filter has it: these need nobody's leave. */
bool explain_is_told(uint64_t flags)
{
    bool changes = flags & (O_CREAT | O_TRUNC | O_ACCMODE);

    return !changes || (flags & (O_PATH | (O_TMPFILE & ~O_DIRECTORY)));
}

/* Where the caller's path leads by its words alone, from where it starts. */
static char *spell(const struct call *call)
{
    char from[LIMIT_PATH_BYTES] = "/";

    if (call->paths[0][0] != '/' &&
        (locate_path(&call->locator, call->starts[0], from) < 0 || from[0] != '/'))
        return NULL;
    return path_normalize(from, call->paths[0]);
}

/* The same behind a link at the very name, as it is inside. NULL: there is none. */
static char *follow(const struct call *call, const char *path)
{
    autoclose int fd = locate_openat2(call->locator.root_fd, path, O_PATH | O_NOFOLLOW,
                                      RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    autofree char *above = NULL;
    char text[LIMIT_PATH_BYTES];
    ssize_t length = fd < 0 ? -1 : readlinkat(fd, "", text, sizeof(text) - 1);
    const char *slash = strrchr(path, '/');

    if (length <= 0 || !slash)
        return NULL;
    text[length] = '\0';
    above = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    return above ? path_normalize(above, text) : NULL;
}

/* Whether there is something outside, for whoever started bawn. */
static bool is_outside(const struct call *call, const char *path)
{
    char buffer[GUARD_PATH_BYTES];
    struct stat st;

    identity_leave(call->identity);
    return lstat(guard_outside(call->guard, path, buffer), &st) == 0;
}

/* A directory that only leads to what is granted is there, and can be looked at. */
static bool is_hidden(const struct call *call, const char *path)
{
    enum guard_answer answer = guard_ask(call->guard, path, PATH_READ);

    return answer == GUARD_REFUSE ||
           (answer == GUARD_UNGRANTED && !locate_is_there(&call->locator, path));
}

/* What is below the real home, say, and not in the private one. Processes and devices are the
 * sandbox's own by their nature. */
static bool is_covered(const struct call *call, const char *path)
{
    return guard_is_private(call->guard, path) && !path_is_below(path, "/proc") &&
           !path_is_below(path, "/dev") && !locate_is_there(&call->locator, path);
}

int explain_perform(struct call *call)
{
    autofree char *path = spell(call);

    for (unsigned hops = 0; path && hops <= LIMIT_SYMLINKS; hops++) {
        char *next;

        if (is_hidden(call, path)) {
            if (is_outside(call, path))
                report_refusal(call, path, locate_is_there(&call->locator, path) ? EACCES : ENOENT);
            return 0;
        }
        if (is_covered(call, path)) {
            if (is_outside(call, path))
                report_refusal(call, path, ENOENT);
            return 0;
        }
        observe_use(call, path);
        next = follow(call, path);
        if (!next)
            observe_through(call, path);
        free(path);
        path = next;
    }
    return 0;
}
