/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.policy.save: what 'bawn policy save' does, in a process of its own, for it may wait. */
#include "approvals/own.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/program.h"
#include "kernel/process.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { PRINTED_BYTES = 256 * 1024 };

extern char **environ;

/* Holds:   the caller's rights.
 * Must:    become bawn-policy, with what it prints and nothing else of ours. */
static _Noreturn void become_policy(const struct save_request *request, int null_fd, int out_fd)
{
    const int fds[] = {null_fd, out_fd, null_fd};
    const char *argv[] = {
        "bawn",    "policy",       "save",        "--json",
        "--scope", request->scope, "-C",          request->workspace ? request->workspace : ".",
        "--",      request->word,  request->text, NULL};
    sigset_t none;

    sigemptyset(&none);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (process_keep_fds(fds, 3))
        (void)program_become("bawn-policy", (char *const *)(uintptr_t)argv, environ);
    _exit(127);
}

/* The error that it printed, or one that says that it printed none. */
static void read_error(const json_t *printed, struct bawn_error *ret_error)
{
    const json_t *error = json_object_get(printed, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    const char *hint = json_string_value(json_object_get(error, "hint"));
    const json_t *first = json_array_get(json_object_get(error, "complaints"), 0);
    const char *why = json_string_value(json_object_get(first, "text"));

    (void)error_set(ret_error, EIO, code ? code : "system", "%s%s%s",
                    message ? message : "bawn-policy failed", why ? ": " : "", why ? why : "");
    error_hint(ret_error, "%s", hint && *hint ? hint : "try 'bawn policy save' by hand");
}

static void answer(struct save *save, int status)
{
    struct peer *peer = peers_find(save->approvals, save->peer);
    json_t *printed = save->printed.failed || !save->printed.text
                          ? NULL
                          : json_loadb(save->printed.text, save->printed.length, 0, NULL);
    autostrbuf struct strbuf line = {0};
    struct bawn_error error = {0};

    if (peer && status == 0 && printed) {
        command_reply(&line, save->to);
        json_put_bool(&line, "ok", true);
        json_put_string(&line, "file", json_string_value(json_object_get(printed, "file")));
        json_put_bool(&line, "written", json_is_true(json_object_get(printed, "written")));
        json_close(&line, '}');
        strbuf_add(&line, "\n");
        peer_say(peer, &line);
    } else if (peer) {
        read_error(printed, &error);
        command_fail(peer, save->to, &error);
    }
    json_decref(printed);
}

static void finish(struct save *save)
{
    int status = -1;

    loop_remove(&save->approvals->loop, &save->source);
    (void)close(save->fd);
    while (waitpid(save->pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    answer(save, status);
    strbuf_done(&save->printed);
    free(save->to);
    *save = (struct save){.pid = 0};
}

static int on_printed(void *context, uint32_t events)
{
    struct save *save = context;
    struct approvals *approvals = save->approvals;
    char bytes[4096];
    ssize_t got = read(save->fd, bytes, sizeof(bytes));

    (void)events;
    if (got > 0 && save->printed.length < PRINTED_BYTES)
        strbuf_add_bytes(&save->printed, bytes, (size_t)got);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
        finish(save);
        peers_tell(approvals);
    }
    return 0;
}

static struct save *find_room(struct approvals *approvals)
{
    for (size_t i = 0; i < SERVED_SAVES; i++)
        if (approvals->saves[i].pid == 0)
            return &approvals->saves[i];
    return NULL;
}

int save_start(struct peer *peer, const char *to, const struct save_request *request,
               struct bawn_error *err)
{
    struct approvals *approvals = peer->approvals;
    struct save *save = find_room(approvals);
    autoclose int null_fd = file_open_null(O_RDWR, err);
    autoclose int out_fd = -EBADF;
    autofree char *name = to ? strdup(to) : NULL;
    int ends[2];
    int result;

    if (!save) {
        (void)error_set(err, EBUSY, "supervise.busy", "too many rules are being saved just now");
        error_hint(err, "wait for a reply, and try again");
        return -EBUSY;
    }
    if (null_fd < 0)
        return null_fd;
    if (to && !name)
        return error_memory(err);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "make a pipe for bawn-policy");
    out_fd = ends[1];
    *save = (struct save){.approvals = approvals, .fd = ends[0], .peer = peer->number};
    save->source =
        (struct loop_source){.fd = ends[0], .events = POLLIN, .ready = on_printed, .context = save};
    result = loop_add(&approvals->loop, &save->source, err);
    if (result == 0) {
        save->pid = process_split(-EBADF, NULL);
        if (save->pid == 0)
            become_policy(request, null_fd, out_fd);
        if (save->pid < 0)
            result = error_errno(err, errno, "start bawn-policy");
    }
    if (result < 0) {
        loop_remove(&approvals->loop, &save->source);
        (void)close(ends[0]);
        *save = (struct save){.pid = 0};
        return result;
    }
    save->to = take_ptr(&name);
    return 0;
}

void save_done(struct approvals *approvals)
{
    /* What is begun is finished; it takes no longer than a moment. */
    for (size_t i = 0; i < SERVED_SAVES; i++)
        if (approvals->saves[i].pid)
            finish(&approvals->saves[i]);
}
