/* SPDX-License-Identifier: Apache-2.0 */
/* One process for all of it: signals, new sessions, new clients. */
#include "approvals/own.h"
#include "approvals/rules.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "kernel/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

enum { TICK_MS = 1000 };

void approvals_say(struct approvals *approvals, struct strbuf *line)
{
    int result = line->failed ? -ENOMEM : file_put(STDOUT_FILENO, line->text, line->length);

    /* SECURITY: what cannot be written down is not answered either. */
    if (result < 0)
        approvals->failed = result;
}

void approvals_complain(const struct approvals *approvals, const struct bawn_error *error)
{
    autostrbuf struct strbuf line = {0};

    if (approvals->request->json)
        json_add_error(&line, error, NULL);
    else
        strbuf_addf(&line, "bawn: %s", error->message);
    if (!approvals->request->json && error->hint[0])
        strbuf_addf(&line, "\nhint: %s", error->hint);
    strbuf_add(&line, "\n");
    if (!line.failed)
        (void)file_put(STDERR_FILENO, line.text, line.length);
}

/* Sessions are connected to only while somebody can answer: else they would wait for nobody. */
void approvals_attend(struct approvals *approvals)
{
    bool attends = approvals->rules || peers_any(approvals);
    struct bawn_error error = {0};

    if (attends == approvals->attends)
        return;
    approvals->attends = attends;
    if (!attends) {
        place_unmark(&approvals->place);
        sessions_leave(approvals);
        return;
    }
    /* Without it sessions that begin just now may say no too early. */
    if (!*approvals->sid && place_mark(&approvals->place, &error) < 0)
        approvals_complain(approvals, &error);
    sessions_look(approvals);
}

static int on_tick(void *context)
{
    struct approvals *approvals = context;

    peers_tick(approvals);
    if (approvals->misses)
        sessions_look(approvals);
    return approvals->failed;
}

/* A session came, or went. */
static int on_watch(void *context, uint32_t events)
{
    struct approvals *approvals = context;
    char bytes[4096] __attribute__((aligned(8)));

    (void)events;
    while (read(approvals->watch_fd, bytes, sizeof(bytes)) > 0)
        ;
    sessions_look(approvals);
    return approvals->failed;
}

static int on_connection(void *context, uint32_t events)
{
    struct approvals *approvals = context;
    int fd = accept4(approvals->place.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    /* SECURITY: the socket is not to be found inside, but one could be handed in. */
    if (fd >= 0 &&
        (!process_peer_is_in(fd, &approvals->own_ns) || peers_add(approvals, fd, fd, NULL) < 0))
        (void)close(fd);
    return 0;
}

static void say_rules(struct approvals *approvals, const char *word)
{
    autostrbuf struct strbuf line = {0};
    const char *path = approvals->request->rules_path;
    size_t count = rules_count(approvals->rules);

    if (approvals->request->quiet)
        return;
    if (approvals->request->json) {
        json_open(&line, NULL, '{');
        json_put_string(&line, "event", word);
        json_put_string(&line, "file", path);
        json_put_uint(&line, "rules", count);
        json_close(&line, '}');
    } else {
        strbuf_addf(&line, "%s ", strcmp(word, "rules") == 0 ? "answering by" : "read anew:");
        strbuf_add_escaped(&line, path);
        strbuf_addf(&line, " (%zu rule%s)", count, count == 1 ? "" : "s");
    }
    strbuf_add(&line, "\n");
    approvals_say(approvals, &line);
}

static void say_listening(struct approvals *approvals)
{
    autostrbuf struct strbuf line = {0};

    if (approvals->request->quiet)
        return;
    if (approvals->request->json) {
        json_open(&line, NULL, '{');
        json_put_string(&line, "event", "listening");
        json_put_string(&line, "socket", approvals->place.path);
        json_close(&line, '}');
    } else {
        strbuf_addf(&line, "listening on %s", approvals->place.path);
    }
    strbuf_add(&line, "\n");
    approvals_say(approvals, &line);
}

static void load_anew(struct approvals *approvals)
{
    struct bawn_error error = {0};

    if (answer_load(approvals, &error) == 0) {
        say_rules(approvals, "reloaded");
        return;
    }
    approvals_complain(approvals, &error);
    (void)error_set(&error, EINVAL, "supervise.rules", "the rules stay as they were");
    error_hint(&error, "mend the file, and send SIGHUP again");
    approvals_complain(approvals, &error);
}

static int on_signal(void *context, uint32_t events)
{
    struct approvals *approvals = context;
    struct signalfd_siginfo info;

    (void)events;
    if (read(approvals->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return 0;
    if (info.ssi_signo == SIGHUP && approvals->rules)
        load_anew(approvals);
    else
        loop_end(&approvals->loop);
    return approvals->failed;
}

static int watch_signals(struct approvals *approvals, struct bawn_error *err)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    approvals->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (approvals->signal_fd < 0)
        return error_errno(err, errno, "wait for signals");
    approvals->signal_source = (struct loop_source){
        .fd = approvals->signal_fd, .events = POLLIN, .ready = on_signal, .context = approvals};
    return loop_add(&approvals->loop, &approvals->signal_source, err);
}

/* A session is there when it has got its name. */
static int watch_sessions(struct approvals *approvals, struct bawn_error *err)
{
    char path[64];

    approvals->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", approvals->place.sessions_fd);
    if (approvals->watch_fd < 0 ||
        inotify_add_watch(approvals->watch_fd, path, IN_MOVED_TO | IN_ONLYDIR) < 0)
        return error_errno(err, errno, "watch %s", approvals->place.sessions);
    approvals->watch_source = (struct loop_source){
        .fd = approvals->watch_fd, .events = POLLIN, .ready = on_watch, .context = approvals};
    return loop_add(&approvals->loop, &approvals->watch_source, err);
}

static int listen_there(struct approvals *approvals, struct bawn_error *err)
{
    int result = place_listen(&approvals->place, approvals->request->socket_path, err);

    if (result < 0)
        return result;
    approvals->listen_source = (struct loop_source){.fd = approvals->place.listen_fd,
                                                    .events = POLLIN,
                                                    .ready = on_connection,
                                                    .context = approvals};
    result = loop_add(&approvals->loop, &approvals->listen_source, err);
    if (result == 0)
        say_listening(approvals);
    return result;
}

/* The one session that is meant: its whole name. */
static int find_session(struct approvals *approvals, struct bawn_error *err)
{
    struct bawn_session *session = NULL;
    int result = bawn_session_open(approvals->request->sid, &session, err);

    if (result < 0)
        return result;
    (void)snprintf(approvals->sid, sizeof(approvals->sid), "%s", bawn_session_sid(session));
    bawn_session_close(session);
    return 0;
}

static int start(struct approvals *approvals, struct bawn_error *err)
{
    const struct approvals_request *request = approvals->request;
    int result = request->rules_path ? answer_load(approvals, err) : 0;

    if (result == 0 && request->sid)
        result = find_session(approvals, err);
    if (result == 0)
        result = watch_signals(approvals, err);
    if (result == 0)
        result = place_open(&approvals->place, err);
    if (result == 0)
        result = watch_sessions(approvals, err);
    if (result == 0 && request->uses_socket)
        result = listen_there(approvals, err);
    if (result == 0 && request->uses_stdio)
        result = peers_add(approvals, STDIN_FILENO, STDOUT_FILENO, err);
    if (result < 0)
        return result;
    loop_set_timer(&approvals->loop, &approvals->tick, TICK_MS, TICK_MS, on_tick, approvals);
    if (request->rules_path)
        say_rules(approvals, "rules");
    approvals_attend(approvals);
    return 0;
}

static void finish(struct approvals *approvals)
{
    save_done(approvals);
    peers_done(approvals);
    sessions_leave(approvals);
    loop_stop_timer(&approvals->loop, &approvals->tick);
    place_done(&approvals->place);
    answer_done(approvals);
    if (approvals->watch_fd >= 0)
        (void)close(approvals->watch_fd);
    if (approvals->signal_fd >= 0)
        (void)close(approvals->signal_fd);
    loop_done(&approvals->loop);
    free(approvals);
}

int approvals_serve(const struct approvals_request *request, struct bawn_error *err)
{
    struct approvals *approvals = calloc(1, sizeof(*approvals));
    int result;

    if (!approvals)
        return error_memory(err);
    approvals->request = request;
    approvals->place = (struct place){
        .sessions_fd = -EBADF, .dir_fd = -EBADF, .listen_fd = -EBADF, .mark_fd = -EBADF};
    approvals->watch_fd = approvals->signal_fd = -EBADF;
    approvals->own_ns = process_namespace(-EBADF, getpid());
    result = loop_init(&approvals->loop, err);
    if (result == 0)
        result = start(approvals, err);
    if (result == 0)
        result = loop_run(&approvals->loop, -1, err);
    if (result == 0)
        result = approvals->failed;
    if (approvals->failed < 0)
        (void)error_errno(err, -approvals->failed, "write standard output");
    finish(approvals);
    return result;
}
