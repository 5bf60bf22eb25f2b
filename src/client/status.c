/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of sessions: their records, and what they answer. */
#include "base/cleanup.h"
#include "base/error.h"
#include "client/client.h"
#include "session/record.h"
#include "wire/packet.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* The caller gets a pointer to the first member, which is also one to the whole. */
struct status {
    struct bawn_status shown;
    struct record record;
    struct bawn_metrics metrics;
    const char *cgroups[CGROUP_PATHS + 1];
    char *text; /* of the record */
    struct strbuf not_enforced;
};

int client_measure(struct bawn_session *session, struct client_heard *ret_heard,
                   struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_METRICS};
    int result = client_ask(session, &message, CONTROL_METRICS, ret_heard, err);

    if (result == 0)
        packet_drop_fds(&ret_heard->fd, 1);
    return result;
}

int bawn_session_metrics(struct bawn_session *session, struct bawn_metrics *ret_metrics,
                         size_t size, struct bawn_error *err)
{
    struct client_heard heard = {0};
    int result = client_measure(session, &heard, err);

    if (result < 0)
        return result;
    memset(ret_metrics, 0, size);
    memcpy(ret_metrics, &heard.metrics,
           size < sizeof(heard.metrics) ? size : sizeof(heard.metrics));
    return 0;
}

int bawn_session_may_auto_allow(struct bawn_session *session, struct bawn_error *err)
{
    struct client_heard heard = {0};
    int result = client_measure(session, &heard, err);

    return result < 0 ? result : (heard.message.flags & CONTROL_PROVEN) != 0;
}

void bawn_status_free(struct bawn_status *status)
{
    while (status) {
        struct status *whole = (struct status *)status;

        status = status->next;
        free(whole->text);
        strbuf_done(&whole->not_enforced);
        free(whole);
    }
}

/* One of which nothing is known. */
static struct status *status_new(void)
{
    struct status *status = calloc(1, sizeof(*status));

    if (status)
        status->shown = (struct bawn_status){.sid = status->record.sid,
                                             .backend = status->record.backend,
                                             .enforcement = status->record.enforcement,
                                             .not_enforced = "",
                                             .command = status->record.command,
                                             .workspace = status->record.workspace,
                                             .cgroups = status->cgroups,
                                             .record = ""};
    return status;
}

/* Takes the text of a record. False: it is none, or there is no memory for it. */
static bool status_fill(struct status *status, char **text)
{
    struct bawn_status *shown = &status->shown;
    struct record *record = &status->record;
    size_t count = 0;

    record->not_enforced = &status->not_enforced;
    if (!record_read(*text, record) || status->not_enforced.failed) {
        *record = (struct record){0};
        strbuf_done(&status->not_enforced);
        return false;
    }
    /* Without the end of its line. */
    strrchr(*text, '}')[1] = '\0';
    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        if (record->cgroups[i][0])
            status->cgroups[count++] = record->cgroups[i];
    }
    shown->record = status->text = take_ptr(text);
    if (status->not_enforced.text)
        shown->not_enforced = status->not_enforced.text;
    shown->started = record->started;
    shown->pid = record->pid;
    shown->is_detached = record->is_detached;
    shown->has_terminal = record->has_terminal;
    return true;
}

/* The next of the list, or its first. */
static int list_add(struct bawn_status ***last, struct record *record, struct bawn_error *err)
{
    struct status *status = status_new();

    if (!status || !status_fill(status, &record->text)) {
        bawn_status_free(status ? &status->shown : NULL);
        return error_memory(err);
    }
    **last = &status->shown;
    *last = &status->shown.next;
    return 0;
}

/* Whose day is over goes with those that were killed. */
static void sweep(void)
{
    autokept struct kept_place kept = {.fd = -EBADF};

    if (kept_open(&kept, false, NULL) == 0)
        kept_sweep(&kept);
}

int bawn_session_list(struct bawn_status **ret_list, struct bawn_error *err)
{
    autorecords struct record_list list = {0};
    struct registry registry = {.fd = -EBADF};
    struct bawn_status **last = ret_list;
    int result = registry_open(&registry, environ, false, err);

    sweep();
    *ret_list = NULL;
    if (result == -ENOENT)
        return 0;
    if (result < 0)
        return result;
    result = record_list_read(&registry, &list, err);
    if (list.records.count == 0)
        (void)rmdir(registry.path);
    registry_close(&registry);
    vec_each (&list.records, record) {
        if (result == 0)
            result = list_add(&last, record, err);
    }
    if (result == 0)
        return (int)list.records.count;
    bawn_status_free(*ret_list);
    *ret_list = NULL;
    return result;
}

/* NULL: it still runs, or is none of ours. */
static struct status *read_ended(const struct kept_place *kept, const char *sid)
{
    autoclose int dir_fd = kept_enter(kept, sid);
    struct status *status = NULL;
    autofree char *text = NULL;
    struct kept_end end;

    if (dir_fd < 0 || !kept_look(dir_fd, &end) || end.state == KEPT_RUNNING)
        return NULL;
    text = kept_record(dir_fd);
    status = text ? status_new() : NULL;
    if (!status || !status_fill(status, &text) || strcmp(status->record.sid, sid) != 0) {
        bawn_status_free(status ? &status->shown : NULL);
        return NULL;
    }
    status->shown.state = end.state == KEPT_ENDED ? "ended" : "lost";
    status->shown.exit_status = end.state == KEPT_ENDED ? end.status : 0;
    status->shown.ended = end.ended;
    return status;
}

/* In its place: oldest first. */
static void list_insert(struct bawn_status **list, struct status *status)
{
    while (*list && (*list)->started <= status->shown.started)
        list = &(*list)->next;
    status->shown.next = *list;
    *list = &status->shown;
}

int bawn_session_list_ended(struct bawn_status **ret_list, struct bawn_error *err)
{
    autonames struct registry_names names = {0};
    autokept struct kept_place kept = {.fd = -EBADF};
    int result = kept_open(&kept, false, err);
    int count = 0;

    *ret_list = NULL;
    if (result == -ENOENT)
        return 0;
    if (result == 0)
        result = kept_list(&kept, &names, err);
    vec_each (&names.sids, sid) {
        struct status *status = result < 0 ? NULL : read_ended(&kept, *sid);

        if (!status)
            continue;
        list_insert(ret_list, status);
        count++;
    }
    return result < 0 ? result : count;
}

static int read_record(const struct registry *registry, const struct bawn_session *session,
                       struct status *status, struct bawn_error *err)
{
    autofree char *text = NULL;
    int result = registry_read(registry, session->sid, &text, err);

    if (result == -ENOENT)
        return client_refuse_gone(session, err);
    if (result == 0 && !status_fill(status, &text))
        result =
            error_set(err, EPROTO, "session.record", "%s: its record cannot be read", session->sid);
    return result;
}

static int ask(struct bawn_session *session, struct status *status, struct bawn_error *err)
{
    struct client_heard heard = {0};
    int result = client_measure(session, &heard, err);

    if (result < 0)
        return result;
    status->metrics = heard.metrics;
    status->shown.metrics = &status->metrics;
    status->shown.state = heard.message.flags & CONTROL_STARTING ? "starting" : "running";
    status->shown.may_auto_allow = heard.message.flags & CONTROL_PROVEN;
    return 0;
}

/* For a session that did not answer. Its record is still there if its launcher and its keeper were
 * both killed. */
static void note_silence(const struct registry *registry, const char *sid, int result,
                         struct status *status)
{
    struct bawn_status *shown = &status->shown;
    autofree char *left = NULL;

    if (result != -ESRCH)
        shown->state = result == -EPIPE ? "stopped" : "error";
    if (!status->text && sid[0] && registry->fd >= 0 &&
        registry_read(registry, sid, &left, NULL) == 0 && status_fill(status, &left) &&
        !shown->state)
        shown->state = "stopped";
}

int bawn_session_status(const char *sid, struct bawn_status **ret_status, struct bawn_error *err)
{
    struct registry registry = {.fd = -EBADF};
    struct bawn_session *session = NULL;
    struct status *status = status_new();
    char found[SID_BYTES] = "";
    bool is_stopped;
    autoclose int sock = registry_connect_user(environ, sid, &registry, found, &is_stopped, err);
    int result = sock < 0 ? sock : client_new(&sock, 0, found, &session, err);
    /* Which one is meant must be clear before anything is said of it. */
    bool is_clear = result == 0 || (result == -ESRCH && sid);

    *ret_status = NULL;
    if (!status) {
        result = error_memory(err);
        is_clear = false;
    }
    if (result == 0)
        result = read_record(&registry, session, status, err);
    if (result == 0)
        result = ask(session, status, err);
    if (result < 0 && is_clear)
        note_silence(&registry, found, result, status);
    bawn_session_close(session);
    registry_close(&registry);
    if (is_clear)
        *ret_status = &status->shown;
    else
        free(status);
    return result;
}
