/* SPDX-License-Identifier: Apache-2.0 */
#include "api/git_identity.h"

#include "api/launcher.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/process.h"
#include "plan/plan.h"
#include "policy/decide.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_BYTES = 256 * 1024, FILES_MAX = 2 };

struct question {
    char files[FILES_MAX][LIMIT_PATH_BYTES];
    unsigned count;
};

static bool is_shown(const struct policy *policy, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return decide_path(policy, path, decisions) < 0 || decisions[PATH_READ].access == ACCESS_ALLOW;
}

/* One of the files that git reads, if it is there and not shown as it is. */
static void add_file(struct question *question, const struct policy *policy, struct view *view,
                     const char *dir, const char *name)
{
    char *file = question->files[question->count];

    if ((size_t)snprintf(file, LIMIT_PATH_BYTES, "%s%s", dir, name) < LIMIT_PATH_BYTES &&
        !is_shown(policy, file) && view_note_file(view, file) == 0)
        question->count++;
}

/* As git looks for them, later ones over earlier ones. */
static void find_files(struct question *question, const struct policy *policy, struct view *view)
{
    const char *named = view_variable(view, "GIT_CONFIG_GLOBAL");
    const char *config = view_variable(view, "XDG_CONFIG_HOME");

    if (named) {
        if (*named == '/')
            add_file(question, policy, view, named, "");
        return;
    }
    if (config && *config == '/')
        add_file(question, policy, view, config, "/git/config");
    else
        add_file(question, policy, view, policy->home, "/.config/git/config");
    add_file(question, policy, view, policy->home, "/" PLAN_GITCONFIG);
}

static int start(const struct question *question, const struct bawn_policy *policy,
                 const char *program, int out_fd, pid_t *ret_pid, struct bawn_error *err)
{
    char home[LIMIT_PATH_BYTES + 8];
    char *variables[] = {home, NULL};
    char *args[FILES_MAX + 3] = {(char *)(uintptr_t) "bawn-git",
                                 (char *)(uintptr_t)policy->repository.git_dir};
    posix_spawn_file_actions_t actions;
    int failed;

    for (unsigned i = 0; i < question->count; i++)
        args[2 + i] = (char *)(uintptr_t)question->files[i];
    (void)snprintf(home, sizeof(home), "HOME=%s", policy->policy.home);
    failed = posix_spawn_file_actions_init(&actions);
    if (failed == 0)
        failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (failed == 0)
        failed = posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
    if (failed == 0)
        failed = posix_spawn(ret_pid, program, &actions, NULL, args, variables);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return error_errno(err, failed, "start %s", program);
    process_keep_off(*ret_pid);
    return 0;
}

/* All that comes, up to a limit; whole records only. */
static int hear(int fd, struct strbuf *answer, struct bawn_error *err)
{
    char block[4096];
    ssize_t got;

    while ((got = read(fd, block, sizeof(block))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, errno, "read git configuration");
        if (answer->length + (size_t)got > ANSWER_BYTES)
            return error_set(err, E2BIG, "plan.git_config", "git configuration: it is too long");
        strbuf_add_bytes(answer, block, (size_t)got);
    }
    if (answer->failed)
        return error_memory(err);
    if (answer->length == 0 || answer->text[answer->length - 1] != '\0')
        return error_set(err, EPROTO, "plan.git_config",
                         "git configuration: it could not be read in time");
    return 0;
}

static int ask(struct git_identity *identity, const struct question *question,
               const struct bawn_policy *policy, const char *program, struct bawn_error *err)
{
    autoclose int theirs = -EBADF;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    identity->out_fd = ends[0];
    theirs = ends[1];
    return start(question, policy, program, theirs, &identity->pid, err);
}

/* Each record is for us; the files were read by now. */
static int take(const struct strbuf *answer, struct view *view, struct git_identity *identity)
{
    const char *end = answer->text + answer->length;

    for (const char *record = answer->text; record < end; record += strlen(record) + 1) {
        char **into = *record == 't' ? &identity->text : *record == 'e' ? &identity->why : NULL;

        if (*record == 'f')
            (void)view_note_file(view, record + 1);
        if (!into || *into)
            continue;
        *into = strdup(record + 1);
        if (!*into)
            return -ENOMEM;
    }
    return 0;
}

/* Conditions of includes ask whether there is one: it is told by its HEAD. */
static void note_repository(struct view *view, const char *git_dir)
{
    char head[LIMIT_PATH_BYTES + 8];

    (void)snprintf(head, sizeof(head), "%s/HEAD", git_dir);
    if (*git_dir)
        (void)view_look(view, head);
}

/* Where a file is wrong, no plan is kept, so that each start says it again until the file is
 * mended. */
static int give_up(struct git_identity *identity, struct view *view, int r,
                   const struct bawn_error *why, struct bawn_error *err)
{
    if (r < 0 && r != -ENOMEM && !identity->why)
        identity->why = strdup(why->message);
    view->is_moving |= identity->why != NULL;
    return r == -ENOMEM || (r < 0 && !identity->why) ? error_memory(err) : 0;
}

static int begin(struct git_identity *identity, const struct bawn_policy *policy, struct view *view,
                 struct bawn_error *err)
{
    struct bawn_error why = {0};
    struct question question = {0};
    char program[LIMIT_PATH_BYTES];
    int r;

    find_files(&question, &policy->policy, view);
    if (question.count == 0)
        return 0;
    note_repository(view, policy->repository.git_dir);
    r = launcher_find_git(program, &why);
    if (r == 0) {
        r = ask(identity, &question, policy, program, &why);
        return give_up(identity, view, r, &why, err);
    }
    /* Where the program is missing, the plan says it once, and is made anew when the program is
     * there. */
    (void)view_look(view, program);
    identity->why = strdup(why.message);
    return identity->why ? 0 : error_memory(err);
}

int git_identity_new(const struct bawn_policy *policy, struct view *view,
                     struct git_identity **ret_identity, struct bawn_error *err)
{
    struct git_identity *identity = calloc(1, sizeof(*identity));
    int r = 0;

    if (!identity)
        return error_memory(err);
    identity->out_fd = -EBADF;
    if (plan_has_own_gitconfig(&policy->policy))
        r = begin(identity, policy, view, err);
    *ret_identity = identity;
    return r;
}

/* A bawn-git that still writes then fails, and ends. */
static void end(struct git_identity *identity)
{
    cleanup_close(&identity->out_fd);
    identity->out_fd = -EBADF;
    while (identity->pid && waitpid(identity->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    identity->pid = 0;
}

int git_identity_hear(struct git_identity *identity, struct view *view, struct bawn_error *err)
{
    autostrbuf struct strbuf answer = {0};
    struct bawn_error why = {0};
    int r;

    if (!identity->pid)
        return 0;
    r = hear(identity->out_fd, &answer, &why);
    end(identity);
    if (r == 0)
        r = take(&answer, view, identity);
    return give_up(identity, view, r, &why, err);
}

void git_identity_free(struct git_identity *identity)
{
    if (!identity)
        return;
    end(identity);
    free(identity->text);
    free(identity->why);
    free(identity);
}
