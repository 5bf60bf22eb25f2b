/* SPDX-License-Identifier: Apache-2.0 */
/* An answer for later sessions: bawn-policy puts the rule into the file that was chosen. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/program.h"
#include "session/asks.h"
#include "session/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_BYTES = 1024, END_MS = 5000 };

/* What bawn-policy is started with. */
struct save {
    struct session *session;
    const char *scope;
    char word[16];
    char text[LIMIT_PATH_BYTES];
};

/* Holds:   the caller's rights.
 * Must:    become bawn-policy, which says on its error output why it could not. */
static int become_policy(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct save *save = context;
    const struct session *session = save->session;
    const struct image *image = session->request->image;
    char workspace[LIMIT_PATH_BYTES];
    char scope[16];
    char *argv[] = {(char[]){"bawn"},
                    (char[]){"policy"},
                    (char[]){"save"},
                    (char[]){"--quiet"},
                    (char[]){"--scope"},
                    scope,
                    (char[]){"-C"},
                    workspace,
                    save->word,
                    save->text,
                    NULL};

    (void)events;
    (void)snprintf(scope, sizeof(scope), "%s", save->scope);
    (void)snprintf(workspace, sizeof(workspace), "%s", image_string(image, image->workspace));
    return error_errno(err, -program_become("bawn-policy", argv, session->request->environ),
                       "start bawn-policy");
}

static void say_unsaved(const struct session *session, const char *why)
{
    struct bawn_error said = {0};

    (void)error_set(&said, EIO, "ask.unsaved",
                    "the answer holds for this session, but could not be kept: %s", why);
    error_hint(&said, "'bawn policy save' keeps a rule");
    session_say(session, &said);
}

static int on_ended(void *context, uint32_t events)
{
    struct saver *saver = context;
    char said[SAID_BYTES] = "";
    int status = 0;
    ssize_t got;

    (void)events;
    if (!aide_reap(&saver->aide, &status))
        return 0;
    got = read(saver->said_fd, said, sizeof(said) - 1);
    said[got > 0 ? got : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    (void)close(take_fd(&saver->said_fd));
    if (status != 0)
        say_unsaved(saver->session, *said ? said : "bawn-policy failed");
    return 0;
}

/* The word and the text of the rule; false: there is none. */
static bool choose_rule(const struct ask *ask, const struct ask_answer *answer, struct save *save)
{
    const char *grant =
        ask->event.texts[answer->scope == ASK_SESSION_TREE ? EVENT_GRANT_TREE : EVENT_GRANT];
    const char *space = strchr(grant, ' ');
    const char *word = NULL;

    if (!space || (size_t)(space - grant) >= sizeof(save->word))
        return false;
    (void)snprintf(save->word, sizeof(save->word), "%.*s", (int)(space - grant), grant);
    (void)snprintf(save->text, sizeof(save->text), "%s", space + 1);
    if (answer->is_allowed)
        return true;
    if (strncmp(save->word, "host", 4) == 0)
        word = strcmp(save->word, "host") == 0 ? "deny-host" : NULL;
    /* In a pattern they mean something else. */
    else if (!strpbrk(save->text, "*?[]\\!{}"))
        word = strcmp(save->word, "write") == 0 ? "protect" : "deny";
    if (word)
        (void)snprintf(save->word, sizeof(save->word), "%s", word);
    return word;
}

static int start(struct saver *saver, struct save *save, struct bawn_error *err)
{
    struct aide_work work = {
        .who = WHO_LAUNCHER, .run = become_policy, .context = save, .count = 3};
    autoclose int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    autoclose int said = -EBADF;
    int ends[2];
    int result;

    if (null_fd < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return error_errno(err, errno, "make a pipe for bawn-policy");
    saver->said_fd = ends[0];
    said = ends[1];
    work.fds[0] = work.fds[1] = null_fd;
    work.fds[2] = said;
    result = aide_start(&saver->aide, &work, -EBADF, err);
    if (result == 0)
        result = aide_watch(&saver->aide, &save->session->loop, on_ended, saver, err);
    else
        (void)close(take_fd(&saver->said_fd));
    return result;
}

void asks_save(struct session *session, const struct ask *ask, const struct ask_answer *answer)
{
    static const char *const scopes[] = {[BAWN_SCOPE_USER] = "user",
                                         [BAWN_SCOPE_PROJECT] = "project",
                                         [BAWN_SCOPE_LOCAL] = "local",
                                         [BAWN_SCOPE_ORG] = "org"};
    struct save save = {.session = session, .scope = scopes[answer->saved - 1]};
    struct saver *saver = NULL;
    struct bawn_error why = {0};

    for (unsigned i = 0; i < ASKS_SAVERS && !saver; i++)
        if (session->asks->savers[i].aide.pid == 0)
            saver = &session->asks->savers[i];
    if (!choose_rule(ask, answer, &save)) {
        say_unsaved(session, "no rule of yours can say that");
        return;
    }
    if (!saver) {
        say_unsaved(session, "too many rules are being saved just now");
        return;
    }
    saver->session = session;
    if (start(saver, &save, &why) < 0)
        say_unsaved(session, why.message);
}

void asks_end_savers(struct session *session)
{
    for (unsigned i = 0; i < ASKS_SAVERS; i++) {
        struct saver *saver = &session->asks->savers[i];
        struct pollfd ended = {.fd = saver->aide.pidfd, .events = POLLIN};

        if (saver->aide.pid == 0)
            continue;
        /* It takes no longer than a moment; what it says still counts. */
        (void)poll(&ended, 1, END_MS);
        (void)on_ended(saver, POLLIN);
        aide_end(&saver->aide, 0);
    }
}
