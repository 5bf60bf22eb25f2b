/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of a session: made before the launch, watched while it runs, told at the end. */
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mutant.h"
#include "base/text.h"
#include "kernel/disk.h"
#include "kernel/usage.h"
#include "session/breach.h"
#include "session/output.h"
#include "session/own.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WATCH_MS = 250, GRACE_MS = 2000, SAY_MS = 1000 };

static bool is_counted(const struct session *session)
{
    return session->group->kind != CGROUP_NONE;
}

/* Nothing that runs needs it. */
static int on_keeper(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;

    (void)events;
    return aide_reap(&session->keeper.aide, &status) ? session_lost(session, WHO_KEEPER, status)
                                                     : 0;
}

int session_keep(struct session *session, struct bawn_error *err)
{
    int result = 0;

    if (!session->keeper.page)
        result = keeper_start(&session->keeper, err);
    if (result == 0 && !session->keeper.aide.loop)
        result = aide_watch(&session->keeper.aide, &session->loop, on_keeper, session, err);
    if (result == 0 && session->group == &session->own_group) {
        session->keeper.page->group = session->own_group;
        session->group = &session->keeper.page->group;
    }
    return result;
}

/* What somebody asked for by name holds, or nothing is run; with best effort it is said. */
static int refuse_unheld(const struct session *session, struct bawn_error *err)
{
    const struct image_limits *limits = &session->request->image->limits;
    static const char *const names[] = {
        "pids",          "memory_high",    "memory",      "cpu",         "io_weight",
        "io_read_bytes", "io_write_bytes", "io_read_ops", "io_write_ops"};
    uint32_t missing = limits->demanded & ~session->group->held;
    struct bawn_error said = {0};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(missing & 1U << i))
            continue;
        if (limits->is_wish) {
            (void)error_set(&said, ENOTSUP, "limit.not_held", "not held here: sandbox.limits.%s",
                            names[i]);
            session_say(session, &said);
            continue;
        }
        (void)error_set(err, ENOTSUP, "limit.not_held",
                        "sandbox.limits.%s: the control groups of this host cannot hold it",
                        names[i]);
        error_hint(err, "leave the limit out, or go on without it: --best-effort");
        return -ENOTSUP;
    }
    return 0;
}

/* Whether containers may run inside, and see control groups. */
static bool shows_groups(const struct image *image)
{
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (step->step == STEP_CGROUP)
            return true;
    }
    return false;
}

static int make_group(struct session *session, struct bawn_error *err)
{
    const struct image *image = session->request->image;
    char name[CGROUP_NAME_BYTES];
    int result = session_keep(session, err);

    if (result == 0)
        result = cgroup_name(name, err);
    if (result == 0)
        result = cgroup_new(session->group, image->limits.cgroup, name, &session->limits, err);
    if (result == 0)
        result = refuse_unheld(session, err);
    if (result == 0 && shows_groups(image))
        result = cgroup_delegate(session->group, image->host_uid, image->host_gid, err);
    session->request->is_stale = result < 0;
    return result;
}

bool session_wants_group(const struct session *session)
{
    const struct image_limits *limits = &session->request->image->limits;

    return limits->cgroup != CGROUP_NONE && LAYER("cgroup") &&
           (limits->pids | limits->memory_high | limits->memory | limits->cpu_percent |
            limits->io_weight | limits->io_read_bytes | limits->io_write_bytes |
            limits->io_read_ops | limits->io_write_ops);
}

int session_limit(struct session *session, struct bawn_error *err)
{
    const struct image *image = session->request->image;
    const struct image_limits *limits = &image->limits;

    session->limits = (struct cgroup_limits){.pids = limits->pids,
                                             .memory_high = limits->memory_high,
                                             .memory = limits->memory,
                                             .cpu_percent = limits->cpu_percent,
                                             .io_weight = limits->io_weight,
                                             .io_read_bytes = limits->io_read_bytes,
                                             .io_write_bytes = limits->io_write_bytes,
                                             .io_read_ops = limits->io_read_ops,
                                             .io_write_ops = limits->io_write_ops};
    /* As it is now: another one may be mounted there than when the plan was made. */
    if (limits->io_read_bytes | limits->io_write_bytes | limits->io_read_ops | limits->io_write_ops)
        disk_find(image_string(image, image->workspace), &session->limits.disk);
    /* In v2 the sandbox is born in its group. In v1 it is moved, and there is time for that. */
    return session_wants_group(session) && limits->cgroup != CGROUP_V1 ? make_group(session, err)
                                                                       : 0;
}

int session_make_groups(void *context, int doors[CGROUP_PATHS], struct bawn_error *err)
{
    struct session *session = context;
    int result = make_group(session, err);

    return result < 0 ? result : cgroup_open_doors(session->group, doors, err);
}

void session_unlimit(struct session *session)
{
    if (!is_counted(session))
        return;
    (void)cgroup_remove(session->group, NULL);
    cgroup_close(session->group);
}

static int64_t elapsed_ms(const struct session *session)
{
    return clock_ms() - session->started_ms;
}

/*
 * The time is up: the commands are asked to end, and after a while everything
 * is made to. SECURITY: not by pid 1 and not by group: a command joins others,
 * and holds up what it can.
 */
static void check_time(struct session *session)
{
    int64_t limit = (int64_t)session->request->image->limits.time_ms;
    int64_t over = elapsed_ms(session) - limit;

    if (limit == 0 || over < 0)
        return;
    if (over >= GRACE_MS)
        launch_kill(&session->launch);
    else if (!session->is_timed_out)
        session_ask_to_end(session);
    session->is_timed_out = true;
}

static void check_memory(struct session *session)
{
    uint64_t limit = session->limits.memory;
    struct usage usage;

    if (is_counted(session) || limit == 0 ||
        usage_measure(session->launch.pid, USAGE_MEMORY, &usage, NULL) < 0)
        return;
    if (usage.memory_bytes > session->memory_peak)
        session->memory_peak = usage.memory_bytes;
    if (usage.threads > session->threads_peak)
        session->threads_peak = usage.threads;
    if (usage.memory_bytes <= limit)
        return;
    session->is_over_memory = true;
    launch_kill(&session->launch);
}

static int on_tick(void *context)
{
    check_time(context);
    check_memory(context);
    session_check_room(context);
    return 0;
}

/* SECURITY: a command that stops itself stops us. What else runs inside is watched meanwhile. Time
 * that is over only wakes us up, again and again, should we not be stopped yet: the rest is said
 * and done as always. */
static int stand_in(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct session *session = context;
    pid_t launcher = getppid();
    uint64_t time_ms = session->request->image->limits.time_ms;

    (void)events;
    (void)err;
    session->launch.pidfd = 0;
    do {
        (void)poll(NULL, 0, WATCH_MS);
        check_memory(session);
        if (session->is_over_memory || (time_ms && elapsed_ms(session) >= (int64_t)time_ms))
            (void)kill(launcher, SIGCONT);
    } while (!session->is_over_memory);
    return -ENOMEM;
}

/* Time, or memory that is sampled. */
static bool watches(const struct session *session)
{
    return session->request->image->limits.time_ms ||
           (!is_counted(session) && session->limits.memory > 0);
}

void session_stand_in(struct session *session)
{
    struct aide_work work = {.who = WHO_STAND_IN,
                             .fds = {session->launch.pidfd},
                             .count = 1,
                             .dies_with_us = true,
                             .run = stand_in,
                             .context = session};

    if (watches(session))
        (void)aide_start(&session->stand_in, &work, -EBADF, NULL);
    session_stand_in_room(session);
}

void session_take_back(struct session *session)
{
    int status = 0;

    if (session->stand_in.pid && aide_reap(&session->stand_in, &status) && status != 0)
        session->is_over_memory = true;
    aide_end(&session->stand_in, 0);
    session_take_back_room(session);
}

void session_set_clock(struct session *session)
{
    uint64_t time_ms = session->request->image->limits.time_ms;

    if (watches(session) || session_watches_room(session))
        loop_set_clock(&session->loop, time_ms && time_ms < WATCH_MS ? (int)time_ms : WATCH_MS,
                       WATCH_MS, on_tick, session);
}

/* SECURITY: the command may have filled what nobody reads. It does not hold us up: whoever waits
 * for the end gets it, and all that is left is taken away. KERNEL: where POLLOUT is told, a pipe
 * has room for PIPE_BUF. */
static void say_text(const struct session *session, const char *text, size_t length)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};

    /* A detached command with a terminal has none of our streams. */
    if (session->output && session->has_terminal) {
        output_say(session->output, text);
        return;
    }
    while (length > 0 && poll(&room, 1, SAY_MS) > 0) {
        ssize_t said = write(STDERR_FILENO, text, length < PIPE_BUF ? length : PIPE_BUF);

        if (said <= 0)
            return;
        text += said;
        length -= (size_t)said;
    }
}

__attribute__((format(printf, 2, 3))) static void say(const struct session *session,
                                                      const char *format, ...)
{
    char text[PIPE_BUF];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (length > 0 && length < (int)sizeof(text))
        say_text(session, text, (size_t)length);
}

static void tell_breach(struct session *session, const struct cgroup_metrics *metrics)
{
    enum breach breach =
        is_counted(session)
            ? breach_find(NULL, metrics)
            : breach_find_measured(session->is_over_memory ? session->memory_peak : 0,
                                   session->threads_peak, &session->limits);
    struct bawn_error said = {0};

    if (session->is_timed_out) {
        (void)error_set(&said, ETIME, "limit.time", "the time limit of %llu s was reached",
                        (unsigned long long)session->request->image->limits.time_ms / 1000);
        error_hint(&said, "raise it with --timeout or sandbox.limits.time");
    } else if (session->room.is_over) {
        session_explain_room(session, &said);
    } else if (breach == BREACH_MEMORY || breach == BREACH_PIDS) {
        breach_explain(breach, &session->limits, &said);
    } else if (session->is_pool_full) {
        breach_explain_full(session->request->image, &said);
    }
    if (said.errnum == 0)
        return;
    session_tell(session, "limit", MEMBER_TEXT("code", said.code),
                 MEMBER_TEXT("message", said.message), MEMBER_TEXT("hint", said.hint));
    session_say(session, &said);
}

/* Why the command may have failed. */
static void tell_refusals(const struct session *session)
{
    const char *id = session->audit.fd >= 0 ? session->audit.id : NULL;
    autostrbuf struct strbuf out = {0};

    if (session->request->is_quiet || session->request->report_fd >= 0)
        return;
    if (session->request->is_json)
        refusals_as_json(&out, session->refusals, id);
    else
        refusals_as_text(&out, session->refusals, id);
    if (out.text && !out.failed)
        say_text(session, out.text, out.length);
}

static void tell_host_stats(const struct session *session)
{
    autostrbuf struct strbuf out = {0};

    hosts_as_text(&out, session->hosts);
    if (out.text && !out.failed)
        say_text(session, out.text, out.length);
}

static void tell_stats_as_json(struct session *session, uint64_t cpu_usec, uint64_t memory)
{
    autostrbuf struct strbuf out = {0};

    json_open(&out, NULL, '{');
    json_put_uint(&out, "elapsed_ms", (uint64_t)elapsed_ms(session));
    json_put_uint(&out, "cpu_usec", cpu_usec);
    json_put_uint(&out, "memory_peak", memory);
    json_put_bool(&out, "sampled", !is_counted(session));
    if (session->layers)
        json_put_uint(&out, "layers_bytes", session_measure_room(session));
    hosts_as_json(&out, session->hosts);
    json_close(&out, '}');
    strbuf_add(&out, "\n");
    if (!out.failed)
        say_text(session, out.text, out.length);
}

static void tell_stats(struct session *session, const struct cgroup_metrics *metrics)
{
    struct usage usage = {0};
    uint64_t cpu_usec = metrics->cpu_usec;
    uint64_t memory = metrics->memory_peak;

    if (!is_counted(session) || cpu_usec == 0) {
        (void)usage_measure(session->launch.pid, USAGE_CPU, &usage, NULL);
        cpu_usec = usage.cpu_usec;
    }
    if (!is_counted(session)) {
        memory =
            session->memory_peak > usage.memory_bytes ? session->memory_peak : usage.memory_bytes;
    }
    if (session->request->is_json) {
        tell_stats_as_json(session, cpu_usec, memory);
        return;
    }
    say(session, "bawn: %.2f s, %.2f s of CPU, %.1f MiB at most%s\n",
        (double)elapsed_ms(session) / 1000, (double)cpu_usec / 1e6, (double)memory / (1 << 20),
        is_counted(session) ? "" : " (sampled)");
    if (session->layers)
        say(session, "bawn: %.1f MiB in layers\n",
            (double)session_measure_room(session) / (1 << 20));
    tell_host_stats(session);
}

void session_measure(const struct session *session, struct bawn_metrics *metrics)
{
    struct cgroup_metrics counted = {0};
    struct usage usage = {0};
    struct control_host hosts = hosts_sum(session->hosts);

    *metrics = (struct bawn_metrics){.is_counted = is_counted(session),
                                     .elapsed_ms = (uint64_t)elapsed_ms(session),
                                     .pids_limit = session->limits.pids,
                                     .memory_limit = session->limits.memory,
                                     .net_connections = hosts.connections,
                                     .net_refused = hosts.refused,
                                     .net_sent = hosts.sent,
                                     .net_received = hosts.received,
                                     .net_uncounted = hosts.uncounted,
                                     .layers_bytes = session->room.held,
                                     .layers_limit = session->room.limit};
    if (is_counted(session)) {
        (void)cgroup_measure(session->group, &counted, NULL);
        metrics->pids_current = counted.pids_current;
        metrics->pids_peak = counted.pids_peak;
        metrics->memory_current = counted.memory_current;
        metrics->memory_peak = counted.memory_peak;
        metrics->cpu_usec = counted.cpu_usec;
        metrics->throttled_usec = counted.throttled_usec;
        metrics->throttled_count = counted.throttled_count;
        metrics->oom_kills = counted.oom_kills;
        metrics->pids_refused = counted.pids_refused;
        /* In v1 time may be counted in a hierarchy of its own. One more group at each start is too
         * much for a number that is asked for now and then. */
        if (counted.cpu_usec == 0 &&
            usage_measure(session->launch.pid, USAGE_CPU, &usage, NULL) == 0)
            metrics->cpu_usec = usage.cpu_usec;
        return;
    }
    (void)usage_measure(session->launch.pid, USAGE_CPU, &usage, NULL);
    metrics->pids_current = usage.threads;
    metrics->memory_current = usage.memory_bytes;
    metrics->memory_peak =
        session->memory_peak > usage.memory_bytes ? session->memory_peak : usage.memory_bytes;
    metrics->cpu_usec = usage.cpu_usec;
}

void session_account(struct session *session)
{
    struct cgroup_metrics metrics = {0};
    bool has_failed = session->wait_status != 0;

    /* A command that went well hit no limit that matters. */
    if (is_counted(session) && (has_failed || session->request->wants_stats))
        (void)cgroup_measure(session->group, &metrics, NULL);
    if (has_failed || session->is_timed_out)
        tell_breach(session, &metrics);
    session_tell_notes(session, has_failed);
    if (has_failed)
        tell_refusals(session);
    if (session->request->wants_stats)
        tell_stats(session, &metrics);
}

static void say_as_json(const struct session *session, const struct bawn_error *said)
{
    autostrbuf struct strbuf out = {0};

    json_add_error(&out, said, NULL);
    strbuf_add(&out, "\n");
    if (!out.failed)
        say_text(session, out.text, out.length);
}

void session_say(const struct session *session, const struct bawn_error *said)
{
    log_event(session->request->log, "said", MEMBER_TEXT("code", said->code),
              MEMBER_TEXT("text", said->message));
    /* It is in the report; and nobody reads our streams any more. */
    if (session->request->report_fd >= 0)
        return;
    if (session->request->is_json)
        say_as_json(session, said);
    else
        say(session, "bawn: %s\n%s%s%s", said->message, said->hint[0] ? "hint: " : "", said->hint,
            said->hint[0] ? "\n" : "");
}
