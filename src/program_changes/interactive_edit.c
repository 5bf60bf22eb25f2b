/* SPDX-License-Identifier: Apache-2.0 */
/* A hunk in the user's editor. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "overlay/named.h"
#include "program_changes/interactive_own.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EDIT_FILE "hunk-edit.diff"
enum { EDIT_BYTES = 64 * 1024 * 1024 };

/* SECURITY: editors obey words in the first and last five lines of a file (vim's modelines), and
 * what is edited was written by a command that nobody trusts. So there are five lines of ours at
 * either end. */
static const char before[] = "# Manual hunk edit mode -- see bottom for a quick guide.\n"
                             "#\n#\n#\n#\n";
static const char after[] =
    "# ---\n"
    "# To remove '-' lines, make them ' ' lines (context).\n"
    "# To remove '+' lines, delete them.\n"
    "# Lines starting with # will be removed.\n"
    "# If the patch applies cleanly, the edited hunk will immediately be taken.\n"
    "# If it does not apply cleanly, you will be given an opportunity to\n"
    "# edit again.  If all lines of the hunk are removed, then the edit is\n"
    "# aborted and the hunk is left unchanged.\n";

static const char *editor(void)
{
    const char *visual = getenv("VISUAL"), *plain = getenv("EDITOR");

    return visual && *visual ? visual : plain && *plain ? plain : "vi";
}

static _Noreturn void become_editor(const char *path)
{
    autofree char *words = NULL;

    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGQUIT, SIG_DFL);
    /* It may be several words. */
    if (asprintf(&words, "%s \"$@\"", editor()) >= 0)
        (void)execl("/bin/sh", "sh", "-c", words, editor(), path, (char *)NULL);
    _exit(127);
}

/* The editor's status. Ctrl-C is for it alone. */
static int run_editor(const char *path)
{
    void (*interrupted)(int) = signal(SIGINT, SIG_IGN);
    void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    int status = -1;
    pid_t pid;

    (void)fflush(stdout);
    pid = fork();
    if (pid == 0)
        become_editor(path);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void)signal(SIGINT, interrupted);
    (void)signal(SIGQUIT, quit);
    return status;
}

/* What became of the text. 1: it was edited; 0: the editor failed, which was told. */
static int edit_file(const char *path, struct strbuf *text, char **ret_edited, size_t *ret_length,
                     struct bawn_error *err)
{
    autofree char *shown = NULL;
    int r = file_write(AT_FDCWD, path, text->text, text->length, err);

    if (r < 0)
        return r;
    if (run_editor(path) != 0) {
        if (asprintf(&shown, "There was a problem with the editor '%s'.", editor()) < 0)
            shown = NULL;
        talk_refuse(shown ? shown : "There was a problem with the editor.");
        return 0;
    }
    r = file_read(AT_FDCWD, path, EDIT_BYTES, ret_edited, ret_length, err);
    return r < 0 ? r : 1;
}

/* In a directory of its own, which goes again with all that editors leave. */
static int edit_text(const struct talk *talk, struct strbuf *text, char **ret_edited,
                     size_t *ret_length)
{
    autofree char *dir = NULL, *path = NULL;
    int r;

    if (asprintf(&dir, "%s/edit.XXXXXX", talk->dialogue->dir) < 0) {
        dir = NULL;
        return error_memory(talk->err);
    }
    if (!mkdtemp(dir))
        return error_errno(talk->err, errno, "create a directory for the editor");
    if (asprintf(&path, "%s/" EDIT_FILE, dir) < 0) {
        path = NULL;
        r = error_memory(talk->err);
    } else {
        r = edit_file(path, text, ret_edited, ret_length, talk->err);
    }
    (void)named_remove(AT_FDCWD, dir);
    return r;
}

/* git's question: what is neither yes nor no is asked again, the end of all answers is no. */
static bool wants_again(struct talk *talk)
{
    for (;;) {
        const char *answer;

        talk_colour(talk, TALK_PROMPT);
        (void)fputs("Your edited hunk does not apply. Edit again (saying \"no\" discards!) [y/n]?",
                    stdout);
        talk_colour(talk, TALK_PLAIN);
        (void)fputs(" ", stdout);
        answer = talk_read(talk);
        if (!answer || tolower((unsigned char)*answer) == 'n')
            return false;
        if (tolower((unsigned char)*answer) == 'y')
            return true;
    }
}

enum edited { EDIT_GIVEN_UP, EDIT_DONE, EDIT_UNFIT };

/* One of them, or -errno. */
static int edit_once(struct talk *talk)
{
    autostrbuf struct strbuf text = {0};
    autofree char *edited = NULL;
    size_t length = 0;
    int r;

    strbuf_add(&text, before);
    hunk_add_text(talk_hunk(talk), &text);
    strbuf_add(&text, after);
    if (text.failed)
        return error_memory(talk->err);
    r = edit_text(talk, &text, &edited, &length);
    if (r <= 0)
        return r < 0 ? r : EDIT_GIVEN_UP;
    r = hunks_edit(&talk->pieces.hunks, pieces_hunk(&talk->pieces, talk->at), &talk->pieces.before,
                   edited, length);
    if (r == -ENOMEM)
        return error_memory(talk->err);
    return r < 0 ? EDIT_UNFIT : r == 1 ? EDIT_DONE : EDIT_GIVEN_UP;
}

int edit_hunk(struct talk *talk)
{
    int r = edit_once(talk);

    while (r == EDIT_UNFIT && wants_again(talk))
        r = edit_once(talk);
    if (r < 0)
        return r;
    if (r == EDIT_DONE) {
        talk_hunk(talk)->use = HUNK_TAKEN;
        talk->at = talk->next == TALK_NONE ? 0 : talk->next;
    }
    return TALK_GOES_ON;
}
