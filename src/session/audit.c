/* SPDX-License-Identifier: Apache-2.0 */
#include "session/audit.h"

#include "backend/backend.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "policy/setting.h"
#include "session/own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FORMAT = 1,
    DETAIL_BYTES = 4 * 1024 * 1024, /* behind that events are only counted */
    COUNT_MS = 60 * 1000,           /* and told so often */
    SOON_MS = 25,
    SWEEPS = 128, /* of so many sessions one looks after old trails */
};

static bool is_recorded(const struct session *session)
{
    return session->audit.fd >= 0;
}

bool session_tells(const struct session *session)
{
    return is_recorded(session) || session->feed.fd >= 0;
}

/* Without memory what waits is lost, too. */
static void drop_failed(struct audit *audit)
{
    if (!audit->waiting.failed)
        return;
    audit->lost += audit->next.count - audit->written.count;
    audit->next = audit->written;
    strbuf_done(&audit->waiting);
}

/* The record waits; what was lost before is in it. */
static void put_record(struct audit *audit, const char *body)
{
    autostrbuf struct strbuf line = {0};
    struct chain after;

    chain_open(&audit->next, &line);
    strbuf_addf(&line, ", %s", body);
    if (audit->lost)
        json_put_uint(&line, "lost_before", audit->lost);
    chain_seal(&audit->next, &line, &after);
    if (!line.failed)
        strbuf_add_bytes(&audit->waiting, line.text, line.length);
    if (line.failed || audit->waiting.failed) {
        audit->lost++;
        drop_failed(audit);
        return;
    }
    audit->next = after;
    audit->lost = 0;
}

static void make_body(struct strbuf *out, const char *event, const struct member *members,
                      size_t count)
{
    char now[MEMBERS_TIME_BYTES];

    members_time(now);
    json_put_string(out, "time", now);
    json_put_string(out, "event", event);
    members_as_json(out, members, count, false);
}

static void tell(struct session *session, const char *event, const struct member *members,
                 size_t count, bool is_last)
{
    autostrbuf struct strbuf body = {0};

    if (!session_tells(session))
        return;
    make_body(&body, event, members, count);
    if (body.failed) {
        session->audit.lost++;
        return;
    }
    if (is_recorded(session))
        put_record(&session->audit, body.text);
    feed_put(&session->feed, body.text, is_last);
}

void session_record(struct session *session, const char *event, const struct member *members,
                    size_t count)
{
    tell(session, event, members, count, false);
}

/* How many of each there were that have no record of their own. */
static void put_counts(struct session *session)
{
    struct audit *audit = &session->audit;
    struct member members[EVENT_COUNT];
    autostrbuf struct strbuf body = {0};
    size_t count = 0;

    for (uint32_t what = 0; what < EVENT_COUNT; what++) {
        if (audit->only[what])
            members[count++] =
                (struct member){.name = event_name(what), .number = &audit->only[what]};
    }
    audit->counted_ms = clock_ms();
    if (count == 0)
        return;
    make_body(&body, "counts", members, count);
    if (!body.failed)
        put_record(audit, body.text);
    memset(audit->only, 0, sizeof(audit->only));
}

static void count_only(struct session *session, const struct event *event)
{
    struct audit *audit = &session->audit;

    if (audit->counted_ms == 0)
        audit->counted_ms = clock_ms();
    audit->only[event->what] += (uint64_t)event->times + event->lost;
    if (clock_ms() - audit->counted_ms >= COUNT_MS)
        put_counts(session);
}

void session_record_event(struct session *session, const struct event *event,
                          const struct members_of_event *members, bool is_recordable)
{
    autostrbuf struct strbuf body = {0};
    struct audit *audit = &session->audit;

    if (!session_tells(session))
        return;
    make_body(&body, event_name(event->what), members->items, members->count);
    if (body.failed) {
        audit->lost++;
        return;
    }
    feed_put(&session->feed, body.text, false);
    if (!is_recorded(session) || !is_recordable)
        return;
    if (audit->bytes + audit->waiting.length > DETAIL_BYTES && event->what != EVENT_FAILED &&
        event->what != EVENT_ENDED && event->what != EVENT_UNTOLD)
        count_only(session, event);
    else
        put_record(audit, body.text);
}

static int fail(struct session *session, int errnum)
{
    struct audit *audit = &session->audit;
    struct bawn_error said = {0};
    bool is_first = audit->failure.errnum == 0;

    (void)error_set(&audit->failure, errnum, "audit.write", "the audit trail cannot be written: %s",
                    strerror(errnum));
    if (audit->is_required) {
        error_hint(&audit->failure,
                   "the policy says 'audit: required', so bawn ended the command. Make room for %s",
                   audit->place.path);
        session->failure = audit->failure;
        /* SECURITY: whoever called us may go on for a while. */
        if (session->launch.pidfd >= 0)
            launch_kill(&session->launch);
        return -errnum;
    }
    error_hint(&audit->failure,
               "the command goes on without a record. Make room for %s; with "
               "'audit: required' bawn would have ended it",
               audit->place.path);
    said = audit->failure;
    if (is_first)
        session_say(session, &said);
    return 0;
}

/* What was written of it; where that stays the next record cannot follow. */
static void take_back(struct audit *audit)
{
    if (ftruncate(audit->fd, (off_t)audit->bytes) < 0)
        (void)close(take_fd(&audit->fd));
}

/* All of it, or nothing. */
static int append(struct audit *audit)
{
    size_t done = 0;

    while (done < audit->waiting.length) {
        ssize_t written =
            write(audit->fd, audit->waiting.text + done, audit->waiting.length - done);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int errnum = written < 0 ? errno : ENOSPC;

            take_back(audit);
            return -errnum;
        }
        done += (size_t)written;
    }
    return 0;
}

static int put_head(const struct audit *audit)
{
    char head[CHAIN_HEAD_BYTES + 1];
    ssize_t written;

    chain_put_head(&audit->next, head);
    do
        written = pwrite(audit->head_fd, head, CHAIN_HEAD_BYTES, 0);
    while (written < 0 && errno == EINTR);
    return written == CHAIN_HEAD_BYTES ? 0 : written < 0 ? -errno : -ENOSPC;
}

int session_write_audit(struct session *session)
{
    struct audit *audit = &session->audit;
    int result;

    if (is_recorded(session) && audit->is_required && audit->lost > 0)
        return fail(session, ENOMEM);
    if (!is_recorded(session) || audit->waiting.length == 0)
        return 0;
    result = append(audit);
    if (result == 0) {
        result = put_head(audit);
        if (result < 0)
            take_back(audit);
    }
    if (result == 0) {
        audit->bytes += audit->waiting.length;
        audit->written = audit->next;
    } else {
        audit->lost += audit->next.count - audit->written.count;
        audit->next = audit->written;
    }
    audit->waiting.length = 0;
    return result < 0 ? fail(session, -result) : 0;
}

static int on_time(void *context)
{
    return session_write_audit(context);
}

void session_write_soon(struct session *session)
{
    if (is_recorded(session) && session->audit.timer.at_ms == 0)
        loop_set_timer(&session->loop, &session->audit.timer, SOON_MS, 0, on_time, session);
}

static void put_start(struct session *session)
{
    const struct session_request *request = session->request;
    const struct image *image = request->image;
    uint64_t format = FORMAT, pid = (uint64_t)getpid(), uid = image->caller_uid;
    const char *notes[MEMBERS_WORDS + 2];
    char plan[24];
    size_t count = 0;
    const struct member members[] = {
        MEMBER_NUMBER("format", &format),
        MEMBER_TEXT("id", session->audit.id),
        MEMBER_TEXT("bawn", BAWN_VERSION),
        MEMBER_TEXT("kernel", image->release),
        MEMBER_NUMBER("uid", &uid),
        MEMBER_NUMBER("launcher", &pid),
        MEMBER_TEXT("kind", request->is_detached     ? "detached"
                            : request->owner_fd >= 0 ? "library"
                                                     : "run"),
        MEMBER_COMMAND("argv", (const char *const *)(uintptr_t)request->argv),
        MEMBER_TEXT("workspace", image_string(image, image->workspace)),
        MEMBER_TEXT("cwd", image_string(image, image->cwd)),
        MEMBER_TEXT("policy", image->policy_hash),
        MEMBER_TEXT("plan", plan),
        MEMBER_TEXT("backend", backend_row(image->backend)->name),
        MEMBER_TEXT("network", setting_table[SETTING_NETWORK_MODE].words[image->network_mode]),
        MEMBER_TEXT("audit", setting_table[SETTING_AUDIT].words[image->audit]),
        MEMBER_TEXT("enforcement", image_enforcement(image)),
        MEMBER_WORDS("not_enforced", notes),
        MEMBER_TEXT("proven", request->is_proven ? "yes" : "no"),
    };

    (void)snprintf(plan, sizeof(plan), "%016llx", (unsigned long long)image->nonce);
    image_each (image, PART_NOTES, uint32_t, note) {
        if (count <= MEMBERS_WORDS)
            notes[count++] = image_string(image, *note);
    }
    notes[count] = NULL;
    session->audit.has_begun = true;
    session_record(session, "start", members, sizeof(members) / sizeof(members[0]));
}

static int make_files(struct session *session, struct bawn_error *err)
{
    struct audit *audit = &session->audit;
    int result = -EEXIST;

    for (int i = 0; i < 4 && result == -EEXIST; i++) {
        result = session_name(session, i > 0, err);
        if (result < 0)
            return result;
        ledger_make_id(session->sid, audit->id);
        result = ledger_make(&audit->place, audit->id, &audit->fd, &audit->head_fd);
    }
    return result < 0 ? error_errno(err, -result, "make an audit trail in %s", audit->place.path)
                      : 0;
}

static int open_files(struct session *session, struct bawn_error *err)
{
    struct audit *audit = &session->audit;
    int result = ledger_open_place(&audit->place, true, err);

    if (result == 0)
        result = make_files(session, err);
    /* The oldest may be in the way. */
    if (result == -ENOSPC || result == -EDQUOT) {
        ledger_sweep(&audit->place);
        result = make_files(session, err);
    }
    return result;
}

/* It has an ID also where nothing is recorded: for the stream. */
static void name_it(struct session *session)
{
    if (session_name(session, false, NULL) == 0)
        ledger_make_id(session->sid, session->audit.id);
}

int session_require_audit(struct session *session, struct bawn_error *err)
{
    struct audit *audit = &session->audit;
    int result;

    if (session->request->image->audit != AUDIT_REQUIRED)
        return 0;
    audit->is_required = true;
    result = open_files(session, err);
    if (result < 0) {
        audit->failure = *err;
        (void)error_set(err, -result, "audit.place", "nothing can be recorded: %s",
                        audit->failure.message);
        error_hint(err, "the policy says 'audit: required', so nothing is run without a record; %s",
                   audit->failure.hint);
        return result;
    }
    put_start(session);
    result = session_write_audit(session);
    if (result < 0)
        *err = session->failure;
    return result;
}

void session_prepare_audit(struct session *session)
{
    if (session->request->image->audit == AUDIT_ON)
        (void)open_files(session, &session->audit.failure);
}

static void tell_unrecorded(struct session *session)
{
    struct audit *audit = &session->audit;
    struct bawn_error said = {0};

    (void)error_set(&said, audit->failure.errnum, "audit.place", "this run is not recorded: %s",
                    audit->failure.message);
    error_hint(&said, "%s; or say that nothing is to be recorded: --set audit=off",
               audit->failure.hint);
    audit->failure = said;
    session_say(session, &said);
}

void session_begin_audit(struct session *session)
{
    session->feed.loop = &session->loop;
    if (session->audit.is_required)
        return;
    if (session->audit.failure.errnum)
        tell_unrecorded(session);
    if (!is_recorded(session))
        name_it(session);
    put_start(session);
}

/* The sandbox never began: the files are empty. */
static void forget(struct audit *audit)
{
    if (audit->fd >= 0 && audit->written.count == 0)
        ledger_remove(&audit->place, audit->id);
}

/* Whoever lists them does, too. */
static void look_after_old(const struct session *session)
{
    if (session->audit.place.dir_fd >= 0 && clock_usec() % SWEEPS == 0)
        ledger_sweep(&session->audit.place);
}

/* What went to each host. */
static void put_traffic(struct session *session)
{
    const struct control_host *row;

    for (unsigned i = 0; (row = hosts_row(session->hosts, i)); i++) {
        const struct member members[] = {
            MEMBER_TEXT("path", *row->host ? row->host : "further hosts"),
            MEMBER_NUMBER("connections", &row->connections),
            MEMBER_NUMBER("sent", &row->sent),
            MEMBER_NUMBER("received", &row->received),
            MEMBER_NUMBER("refused", row->refused ? &row->refused : NULL),
            MEMBER_NUMBER("uncounted", row->uncounted ? &row->uncounted : NULL),
        };

        /* Those that were refused have their records. */
        if (row->connections > 0)
            session_record(session, "traffic", members, sizeof(members) / sizeof(members[0]));
    }
}

int session_end_audit(struct session *session, int status, const struct bawn_error *error)
{
    uint64_t code = (uint64_t)status;
    uint64_t elapsed = (uint64_t)(clock_ms() - session->started_ms);
    const struct member members[] = {
        MEMBER_NUMBER("status", &code),
        MEMBER_NUMBER("elapsed_ms", &elapsed),
        MEMBER_TEXT("code", error && error->errnum ? error->code : NULL),
        MEMBER_TEXT("message", error && error->errnum ? error->message : NULL),
    };
    int result;

    if (!session->audit.has_begun)
        forget(&session->audit);
    if (!session_tells(session) || !session->audit.has_begun)
        return 0;
    put_counts(session);
    put_traffic(session);
    tell(session, "end", members, sizeof(members) / sizeof(members[0]), true);
    result = session_write_audit(session);
    look_after_old(session);
    feed_end(&session->feed);
    return result;
}
