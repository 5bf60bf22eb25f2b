/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that clients start in a running sandbox. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/error.h"
#include "session/control.h"
#include "session/stream.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

enum { HANG_UP_MS = 2000 };

static struct job *find_job(struct control *control, uint32_t number)
{
    for (size_t i = 0; i < CONTROL_JOBS_MAX; i++) {
        if (control->jobs[i].number == number)
            return &control->jobs[i];
    }
    return NULL;
}

size_t control_job_count(const struct control *control)
{
    size_t count = 0;

    for (size_t i = 0; i < CONTROL_JOBS_MAX; i++)
        count += control->jobs[i].number != 0;
    return count;
}

/* SECURITY: into a terminal of the host's a program could type; and what has to be relayed, the
 * client relays. */
static int look_at_streams(struct session *session, const int fds[CONTROL_FDS],
                           int given[CONTROL_FDS], struct scribe **scribe, struct bawn_error *err)
{
    const struct image *image = session->request->image;
    int channel;

    for (int i = 0; i < CONTROL_FDS; i++) {
        int kind = stream_judge(fds[i], i, image, server_streams(&session->server), err);

        given[i] = fds[i];
        if (kind == STREAM_WRITTEN && !*scribe)
            *scribe = scribe_new(image, err);
        if (kind == STREAM_WRITTEN)
            kind = given[i] = *scribe ? scribe_add(*scribe, i, fds[i], err) : -ENOMEM;
        else if (kind > STREAM_PASSES)
            return error_set(err, EINVAL, "run.stream", "standard stream %d is %s", i,
                             kind == STREAM_TERMINAL ? "a terminal" : "a socket of the network");
        if (kind < 0)
            return kind;
    }
    if (!*scribe)
        return 0;
    channel = session_channel(session, err);
    return channel < 0 ? channel : scribe_start(*scribe, channel, err);
}

/* Those whose pipes nobody has open any more. */
static void reap_scribes(struct control *control)
{
    struct scribe **place = &control->scribes;

    while (*place) {
        struct scribe *scribe = *place;

        if (!scribe_has_ended(scribe, false)) {
            place = &scribe->next;
            continue;
        }
        *place = scribe->next;
        scribe_free(scribe);
    }
}

/* Others inside may still write. */
static void leave_scribe(struct control *control, struct scribe *scribe)
{
    if (scribe) {
        scribe_handed_in(scribe);
        scribe->next = control->scribes;
        control->scribes = scribe;
    }
    reap_scribes(control);
}

static void end_job(struct control *control, struct job *job)
{
    leave_scribe(control, job->scribe);
    job->scribe = NULL;
    job->number = 0;
}

static struct job *new_job(struct client *client, uint32_t name)
{
    struct control *control = client->control;
    struct job *job = find_job(control, 0);

    if (!job)
        return NULL;
    do
        control->last_job++;
    while (control->last_job == 0 || find_job(control, control->last_job));
    *job = (struct job){
        .control = control, .number = control->last_job, .name = name, .client = client};
    return job;
}

/* Where the trail is required it has the command before that runs. */
static int record_exec(struct session *session, const struct job *job, char *const *argv,
                       struct bawn_error *err)
{
    uint64_t number = job->number;
    int result;

    session_tell(session, "exec", MEMBER_NUMBER("job", &number),
                 MEMBER_COMMAND("argv", (const char *const *)(uintptr_t)argv));
    session_write_soon(session);
    result = session->audit.is_required ? session_write_audit(session) : 0;
    if (result < 0)
        *err = session->failure;
    return result;
}

static void record_exited(struct session *session, const struct job *job, int wait_status)
{
    uint64_t number = job->number;
    uint64_t status = (uint64_t)session_status_of(wait_status);

    session_tell(session, "exited", MEMBER_NUMBER("job", &number),
                 MEMBER_NUMBER("status", &status));
    session_write_soon(session);
}

static int start(struct client *client, const struct control_message *message,
                 const struct control_strings *strings, const int fds[CONTROL_FDS],
                 struct scribe **scribe, struct bawn_error *err)
{
    struct session *session = client->control->session;
    const struct image *image = session->request->image;
    struct launch_command command = {.flags = message->flags & CONTROL_TTY,
                                     .cwd = image_string(image, image->cwd),
                                     .argv = strings->argv,
                                     .fds = {fds[0], fds[1], fds[2]},
                                     .state = message->state,
                                     .size = message->size};
    char **variables = NULL;
    struct job *job = new_job(client, message->job);
    int result;

    if (!job)
        return error_set(err, EAGAIN, "session.jobs", "more than %d commands at a time",
                         CONTROL_JOBS_MAX);
    command.job = job->number;
    result = launch_environ(image, strings->envp, &variables, err);
    command.envp = variables;
    if (result == 0)
        result = record_exec(session, job, strings->argv, err);
    if (result == 0)
        result = launch_exec(&session->launch, &command, err);
    if (result < 0)
        job->number = 0;
    else
        job->scribe = *scribe;
    if (job->scribe)
        scribe_handed_in(take_ptr(scribe));
    environ_free(variables);
    return result;
}

int control_exec(struct client *client, const struct control_message *message, size_t size,
                 const int fds[CONTROL_FDS])
{
    struct control_strings strings = {0};
    struct bawn_error error = {0};
    struct scribe *scribe = NULL;
    int given[CONTROL_FDS];
    int result;

    if (message->job == 0 || fds[CONTROL_FDS - 1] < 0)
        return -EPROTO;
    result = control_strings_split(message, client->control->bytes, size, &strings);
    if (result < 0)
        return result;
    if (look_at_streams(client->control->session, fds, given, &scribe, &error) < 0 ||
        start(client, message, &strings, given, &scribe, &error) < 0)
        control_refuse(client, message->job, &error);
    leave_scribe(client->control, scribe);
    free(strings.argv);
    return 0;
}

int control_signal(struct client *client, const struct control_message *message)
{
    struct control *control = client->control;

    if (message->value <= 0 || message->value >= NSIG)
        return -EPROTO;
    /* Only its own; one that has just ended is no mistake. */
    for (size_t i = 0; i < CONTROL_JOBS_MAX; i++) {
        const struct job *job = &control->jobs[i];

        if (job->number && job->client == client && job->name == message->job)
            (void)launch_signal(&control->session->launch, job->number, message->value, NULL);
    }
    if (client->is_owner && message->job == 0)
        (void)launch_signal(&control->session->launch, 0, message->value, NULL);
    return 0;
}

void control_signal_all(struct control *control, int signal)
{
    for (size_t i = 0; i < CONTROL_JOBS_MAX; i++) {
        if (control->jobs[i].number)
            (void)launch_signal(&control->session->launch, control->jobs[i].number, signal, NULL);
    }
}

static int kill_orphans(void *context)
{
    struct control *control = context;
    int64_t now = clock_ms();
    int64_t next = 0;

    for (size_t i = 0; i < CONTROL_JOBS_MAX; i++) {
        const struct job *job = &control->jobs[i];

        if (!job->number || job->client)
            continue;
        if (job->dies_ms <= now)
            (void)launch_signal(&control->session->launch, job->number, SIGKILL, NULL);
        else if (next == 0 || job->dies_ms < next)
            next = job->dies_ms;
    }
    if (next > 0)
        loop_set_timer(&control->session->loop, &control->hang_up, (int)(next - now), 0,
                       kill_orphans, control);
    return 0;
}

void control_hang_up(struct client *client)
{
    struct control *control = client->control;
    bool has_jobs = false;

    for (size_t i = 0; i < CONTROL_JOBS_MAX; i++) {
        struct job *job = &control->jobs[i];

        if (!job->number || job->client != client)
            continue;
        job->client = NULL;
        job->dies_ms = clock_ms() + HANG_UP_MS;
        has_jobs = true;
        (void)launch_signal(&control->session->launch, job->number, SIGHUP, NULL);
    }
    if (has_jobs)
        (void)kill_orphans(control);
}

static void answer_end(struct job *job, int wait_status)
{
    struct control_message answer = {
        .kind = CONTROL_EXITED, .job = job->name, .value = wait_status};
    struct bawn_error error = {0};

    if (job->client && job->scribe && scribe_judge(job->scribe, &error) < 0)
        control_refuse(job->client, job->name, &error);
    else if (job->client)
        control_answer(job->client, &answer, NULL, 0, -EBADF);
}

static int on_settled(void *context, uint32_t events)
{
    struct job *job = context;
    struct control *control = job->control;

    (void)events;
    (void)scribe_hear(job->scribe);
    loop_remove(&control->session->loop, &job->settled);
    answer_end(job, job->wait_status);
    end_job(control, job);
    return 0;
}

/* Tells the end of a job only when the scribe has written all its output. */
static void end_settled(struct control *control, struct job *job, int wait_status)
{
    struct loop *loop = &control->session->loop;

    job->wait_status = wait_status;
    if (job->scribe) {
        job->settled = (struct loop_source){
            .fd = job->scribe->sock, .events = POLLIN, .ready = on_settled, .context = job};
        scribe_ask(job->scribe);
        if (loop_add(loop, &job->settled, NULL) == 0)
            return;
        (void)scribe_hear(job->scribe);
    }
    answer_end(job, wait_status);
    end_job(control, job);
}

void control_end_jobs(struct control *control)
{
    for (size_t i = 0; i < CONTROL_JOBS_MAX; i++) {
        struct job *job = &control->jobs[i];

        if (!job->number)
            continue;
        if (job->scribe)
            (void)scribe_has_ended(job->scribe, true);
        answer_end(job, job->settled.is_added ? job->wait_status : SIGKILL);
        end_job(control, job);
    }
    for (struct scribe *scribe = control->scribes; scribe; scribe = scribe->next)
        (void)scribe_has_ended(scribe, true);
    reap_scribes(control);
}

void control_job_message(struct control *control, const struct sync_message *message, int fd)
{
    struct job *job = control && message->job ? find_job(control, message->job) : NULL;
    struct control_message answer = {
        .kind = CONTROL_STARTED, .job = job ? job->name : 0, .value = message->value};
    autoclose int master = fd;
    struct bawn_error error = {0};

    if (!job)
        return;
    if (message->point == SYNC_EXITED) {
        record_exited(control->session, job, message->value);
        end_settled(control, job, message->value);
    } else if (message->point == SYNC_STARTED) {
        if (job->client)
            control_answer(job->client, &answer, NULL, 0, master);
    } else {
        (void)error_set(&error, message->value, CONTROL_NOT_RUN, "the command cannot be run");
        if (job->client)
            control_refuse(job->client, job->name, &error);
        end_job(control, job);
    }
}
