/* SPDX-License-Identifier: Apache-2.0 */
#include "session/notes.h"

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

/* Programs that are of no use without it. */
static bool is_tracer(const char *name)
{
    static const char *const tracers[] = {"gdb",    "gdbserver", "lldb",  "lldb-server",
                                          "ltrace", "rr",        "strace"};

    for (size_t i = 0; i < sizeof(tracers) / sizeof(tracers[0]); i++) {
        if (strcmp(name, tracers[i]) == 0)
            return true;
    }
    return false;
}

/* Where nobody is told of the call, the command's name has to do. "": it was not that. */
static const char *guess_tracer(const struct session *session)
{
    const char *path = session->request->argv ? session->request->argv[0] : "";
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return session->launch.notify_fd < 0 && !(session->request->image->flags & IMAGE_MAY_TRACE) &&
                   is_tracer(name)
               ? name
               : "";
}

/* The program itself says nothing of it, or blames a debugger that is not there. One that does well
 * without is left alone; a debugger may end with 0 whatever it could not do. */
static void tell_trace(const struct session *session, bool has_failed)
{
    const char *tracer = session->notes.tracer;
    struct bawn_error said = {0};

    if (!*tracer && has_failed)
        tracer = guess_tracer(session);
    if (!*tracer || (!has_failed && !is_tracer(tracer)))
        return;
    (void)error_set(&said, EPERM, "run.trace", "%s wanted to trace a process, and bawn refused",
                    tracer);
    error_hint(&said, "--debug allows it. A program built with a leak checker traces itself at its "
                      "end: ASAN_OPTIONS=detect_leaks=0 turns that off");
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
static void tell_gitfiles(const struct session *session)
{
    const struct notes *notes = &session->notes;
    char line[GITFILE_BYTES];

    for (unsigned i = 0; i < notes->gitfile_count; i++) {
        const char *path = notes->gitfiles[i];
        struct bawn_error said = {0};

        if (!read_gitfile(path, line))
            continue;
        (void)error_set(&said, EPERM, "run.gitfile", "the command wrote %s: %s", path, line);
        error_hint(&said, "before you use git there, look at the config where it leads");
        session_say(session, &said);
    }
    if (notes->has_more_gitfiles) {
        struct bawn_error said = {0};

        (void)error_set(&said, EPERM, "run.gitfile", "the command wrote more files .git");
        error_hint(&said, "find them with 'find . -name .git -type f'");
        session_say(session, &said);
    }
}

void notes_take(struct notes *notes, const struct event *event)
{
    const char *path = event->texts[EVENT_PATH];

    if (event->what == EVENT_REFUSED && strcmp(event->texts[EVENT_CALL], "ptrace") == 0 &&
        !notes->tracer[0])
        (void)snprintf(notes->tracer, sizeof(notes->tracer), "%s", event->texts[EVENT_COMM]);
    if (event->what != EVENT_GITFILE)
        return;
    if (path[0] && strlen(path) < NOTES_PATH_BYTES && notes->gitfile_count < NOTES_GITFILES)
        (void)stpcpy(notes->gitfiles[notes->gitfile_count++], path);
    else
        notes->has_more_gitfiles = true;
}

void session_tell_notes(struct session *session, bool has_failed)
{
    session_hear(session);
    tell_trace(session, has_failed);
    tell_gitfiles(session);
}
