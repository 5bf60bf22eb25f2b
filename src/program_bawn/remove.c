/* SPDX-License-Identifier: Apache-2.0 */
/* bawn rm: removes all that is kept of sessions that have ended. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/layers.h"
#include "base/places.h"
#include "base/program.h"
#include "base/text.h"
#include "kernel/process.h"
#include "program_bawn/own.h"
#include "session/kept.h"

#include <bawn/session.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct removal {
    struct front *front;
    struct kept_place kept;
    int changes_fd; /* a negative errno: nothing has changes */
    struct bawn_status *running;
};

static void removal_done(struct removal *removal)
{
    kept_close(&removal->kept);
    cleanup_close(&removal->changes_fd);
    bawn_status_free(removal->running);
}

static int removal_open(struct removal *removal, struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES];
    int result = kept_open(&removal->kept, false, err);

    if (result == -ENOENT && err->errnum == 0)
        result = 0;
    if (result == 0) {
        removal->changes_fd = places_open_changes(false, path, err);
        if (removal->changes_fd < 0 && err->errnum != 0)
            result = removal->changes_fd;
    }
    if (result == 0)
        result = bawn_session_list(&removal->running, err);
    return result < 0 ? result : 0;
}

static int refuse_running(const char *name, struct bawn_error *err)
{
    (void)error_set(err, EBUSY, "session.running", "session %s runs: nothing was removed", name);
    error_hint(err, "'bawn stop %s' ends it", name);
    return -EBUSY;
}

/* Whether it has changes, or a negative errno: they are in use. */
static int has_changes(const struct removal *removal, const char *name, struct bawn_error *err)
{
    autoclose int fd =
        removal->changes_fd < 0 || !layers_is_name(name)
            ? -1
            : openat(removal->changes_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return 0;
    if (!layers_is_in_use(fd))
        return 1;
    (void)error_set(err, EBUSY, "changes.busy",
                    "session %s is in use by another bawn: nothing was removed", name);
    error_hint(err, "'bawn ps' lists what runs, and 'bawn stop' ends it");
    return -EBUSY;
}

/* The same of what is kept of a detached one. */
static int is_kept(const struct removal *removal, const char *name, struct bawn_error *err)
{
    autoclose int fd = removal->kept.fd < 0 ? -ENOENT : kept_enter(&removal->kept, name);
    struct kept_end end;

    if (fd < 0)
        return 0;
    if (kept_look(fd, &end) && end.state == KEPT_RUNNING)
        return refuse_running(name, err);
    return 1;
}

/* Whether something is kept of detached ones whose changes are kept under that name. */
static int are_kept(const struct removal *removal, const char *name, struct bawn_error *err)
{
    autonames struct registry_names called = {0};
    int result = removal->kept.fd < 0 ? 0 : kept_called(&removal->kept, name, &called, err);

    vec_each (&called.sids, sid) {
        if (result >= 0)
            result = is_kept(removal, *sid, err);
    }
    return result;
}

static int look_at(const struct removal *removal, const char *name, struct bawn_error *err)
{
    char shown[128];
    int kept, called, changes;

    for (const struct bawn_status *one = removal->running; one; one = one->next) {
        if (strcmp(one->sid, name) == 0)
            return refuse_running(name, err);
    }
    kept = is_kept(removal, name, err);
    called = kept < 0 ? kept : are_kept(removal, name, err);
    changes = called < 0 ? called : has_changes(removal, name, err);
    if (changes < 0)
        return changes;
    if (kept + called + changes > 0)
        return 0;
    text_escape(shown, sizeof(shown), name, strlen(name), TEXT_ONE_LINE);
    (void)error_set(err, ESRCH, "session.unknown", "nothing is kept of a session '%s'", shown);
    error_hint(err, "'bawn ps --all' lists what is kept");
    return -ESRCH;
}

static _Noreturn void become(const struct front *front)
{
    size_t count = front->options.words.count, at = 0;
    char **argv = calloc(count + 4, sizeof(*argv));

    if (!argv)
        _exit(STATUS_FAILED);
    argv[at++] = (char *)(uintptr_t) "bawn-changes";
    if (front->json)
        argv[at++] = (char *)(uintptr_t) "--json";
    argv[at++] = (char *)(uintptr_t) "remove";
    for (size_t i = 0; i < count; i++)
        argv[at++] = (char *)(uintptr_t)front->options.words.items[i];
    (void)program_become("bawn-changes", argv, front->environ);
    _exit(127);
}

/* It knows what an apply that was broken off has in a tree. What fails it says itself. */
static int discard(const struct removal *removal, struct bawn_error *err)
{
    int status = 0;
    pid_t pid;

    if (removal->changes_fd < 0)
        return 0;
    pid = process_split(-EBADF, NULL);
    if (pid == 0)
        become(removal->front);
    if (pid < 0)
        return error_errno(err, errno, "start bawn-changes");
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) != 127)
        return WEXITSTATUS(status);
    return error_set(err, EIO, "changes.failed", "bawn-changes could not be run");
}

static int print_removed(const struct front *front)
{
    struct strbuf out = {0};
    const char *between = "removed ";

    if (front->json) {
        json_open(&out, NULL, '{');
        json_open(&out, "removed", '[');
        vec_each (&front->options.words, word)
            json_put_string(&out, NULL, *word);
        json_close(&out, ']');
        json_close(&out, '}');
    } else if (!front->quiet) {
        vec_each (&front->options.words, word) {
            strbuf_addf(&out, "%s%s", between, *word);
            between = ", ";
        }
        strbuf_add(&out, "\n");
    }
    return front_print(&out);
}

/* The output and the end of a detached one, and of those whose changes are kept under that name. */
static void remove_kept(const struct removal *removal, const char *name)
{
    autonames struct registry_names called = {0};

    if (removal->kept.fd < 0)
        return;
    (void)kept_called(&removal->kept, name, &called, NULL);
    vec_each (&called.sids, sid)
        kept_remove(&removal->kept, *sid);
    kept_remove(&removal->kept, name);
}

int front_rm(struct front *front, struct bawn_error *err)
{
    __attribute__((cleanup(removal_done))) struct removal removal = {
        .front = front, .kept = {.fd = -EBADF}, .changes_fd = -EBADF};
    int result = 0;

    if (front->options.words.count == 0) {
        (void)error_set(err, EINVAL, "usage.missing_argument", "rm: which session?");
        error_hint(err, "'bawn ps --all' lists what is kept");
        return -EINVAL;
    }
    result = removal_open(&removal, err);
    vec_each (&front->options.words, word)
        result = result < 0 ? result : look_at(&removal, *word, err);
    if (result == 0)
        result = discard(&removal, err);
    if (result != 0)
        return result;
    vec_each (&front->options.words, word)
        remove_kept(&removal, *word);
    return print_removed(front);
}
