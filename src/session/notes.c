/* SPDX-License-Identifier: Apache-2.0 */
/* What the process that makes the command's calls has noted, told at the end of a run. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "kernel/sys.h"
#include "session/own.h"

#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { GITFILE_BYTES = 1024 };

/* The program itself says nothing of it, or blames a debugger that is not there. */
static void tell_trace(const struct session *session, const struct supervisor_notes *notes)
{
    struct bawn_error said = {0};
    char name[4 * sizeof(notes->tracer) + 1];
    size_t length = strnlen(notes->tracer, sizeof(notes->tracer));

    if (length == 0)
        return;
    text_escape(name, sizeof(name), notes->tracer, length, TEXT_ONE_LINE);
    (void)error_set(&said, EPERM, "run.trace", "%s wanted to trace a process, which is refused",
                    name);
    error_hint(&said, "--debug allows it. A program built with a leak checker does so at its end: "
                      "ASAN_OPTIONS=detect_leaks=0 does without");
    session_say(session, &said);
}

/* The first line of a file .git, which says where it leads. False: there is no such file. */
static bool read_gitfile(const char *path, char line[static GITFILE_BYTES])
{
    autoclose int fd = sys_openat2(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                                   RESOLVE_NO_SYMLINKS);
    char text[GITFILE_BYTES / 4];
    struct stat status;
    ssize_t got;

    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    got = read(fd, text, sizeof(text) - 1);
    text[got > 0 ? got : 0] = '\0';
    text_escape(line, GITFILE_BYTES, text, strcspn(text, "\n"), TEXT_ONE_LINE);
    return true;
}

/* SECURITY: git takes its config from where such a file leads, and runs the programs that it names.
 */
static void tell_gitfiles(const struct session *session, const struct supervisor_notes *notes)
{
    unsigned count = notes->gitfile_count;
    char line[GITFILE_BYTES];
    char path[NOTES_PATH_BYTES];

    for (unsigned i = 0; i < count && i < NOTES_GITFILES; i++) {
        struct bawn_error said = {0};

        (void)snprintf(path, sizeof(path), "%.*s", NOTES_PATH_BYTES - 1, notes->gitfiles[i]);
        if (!read_gitfile(path, line))
            continue;
        (void)error_set(&said, EPERM, "run.gitfile", "the command wrote %s: %s", path, line);
        error_hint(&said, "before you use git there, look at the config where it leads");
        session_say(session, &said);
    }
    if (count > NOTES_GITFILES) {
        struct bawn_error said = {0};

        (void)error_set(&said, EPERM, "run.gitfile", "the command wrote %u more files .git",
                        count - NOTES_GITFILES);
        error_hint(&said, "find them with 'find . -name .git -type f'");
        session_say(session, &said);
    }
}

void session_tell_notes(const struct session *session, bool has_failed)
{
    const struct supervisor_notes *notes = session->server.notes;

    if (!notes)
        return;
    if (has_failed)
        tell_trace(session, notes);
    tell_gitfiles(session, notes);
}
