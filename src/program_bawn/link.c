/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a running session, as the verbs use it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "program_bawn/own.h"
#include "wire/packet.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

const char *front_sid(const struct front *front)
{
    return front->options.words.count > 0 ? front->options.words.items[0] : NULL;
}

int front_status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int read_length(const struct front *front, enum option_id id, const char *name,
                       unsigned short *ret_length, struct bawn_error *err)
{
    const char *value = options_value(&front->options, id);
    uint64_t length = 0;
    char shown[64];

    if (value && (!text_parse_count(value, UINT16_MAX, &length) || length == 0)) {
        text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
        (void)error_set(err, EINVAL, "usage.bad_value", "--%s: '%s' is no number from 1 to %d",
                        name, shown, UINT16_MAX);
        error_hint(err, "write a number such as 80");
        return -EINVAL;
    }
    *ret_length = (unsigned short)length;
    return 0;
}

int front_size(const struct front *front, struct winsize *ret_size, struct bawn_error *err)
{
    int result = read_length(front, OPTION_COLS, "cols", &ret_size->ws_col, err);

    return result < 0 ? result : read_length(front, OPTION_ROWS, "rows", &ret_size->ws_row, err);
}

int link_open(struct link *link, const struct front *front, const char *word,
              struct bawn_error *err)
{
    link->sock = registry_connect_user(front->environ, word, &link->registry, link->sid, err);
    return link->sock < 0 ? link->sock : 0;
}

void link_close(struct link *link)
{
    registry_close(&link->registry);
    if (link->sock >= 0)
        (void)close(link->sock);
}

int link_refuse_gone(const struct link *link, struct bawn_error *err)
{
    (void)error_set(err, EPIPE, "session.gone", "%s: the session has ended", link->sid);
    error_hint(err, "'bawn ps' lists those that run");
    return -EPIPE;
}

int link_refuse_answer(const struct link *link, struct bawn_error *err)
{
    (void)error_set(err, EPROTO, "session.protocol",
                    "%s: the session's answer makes no sense: it may be of another version of bawn",
                    link->sid);
    error_hint(err, "end it with the bawn that started it, and start it anew");
    return -EPROTO;
}

int link_send(const struct link *link, struct control_message *message, struct bawn_error *err)
{
    int result;

    message->version = CONTROL_VERSION;
    result = control_send(link->sock, message, NULL, 0, NULL, 0);
    if (result == -EPIPE || result == -ECONNRESET)
        return link_refuse_gone(link, err);
    return result < 0 ? error_errno(err, -result, "speak to session %s", link->sid) : 0;
}

int link_await(const struct link *link, enum control_kind wanted, struct control_message *message,
               void *bytes, size_t size, int *ret_fd, struct bawn_error *err)
{
    char room[sizeof(struct bawn_error) + sizeof(struct control_metrics)];
    int fds[CONTROL_FDS];
    size_t length = 0;
    int result = control_receive(link->sock, message, room, sizeof(room), &length, fds);

    if (result == -EPIPE)
        return link_refuse_gone(link, err);
    if (result == -EPROTO)
        return link_refuse_answer(link, err);
    if (result < 0)
        return error_errno(err, -result, "hear from session %s", link->sid);
    if (ret_fd)
        *ret_fd = take_fd(&fds[0]);
    packet_drop_fds(fds, CONTROL_FDS);
    if (message->kind == CONTROL_FAILED)
        result = error_take(room, length, err);
    if (result < 0)
        return result;
    if (message->kind != wanted || length != size)
        return link_refuse_answer(link, err);
    if (size)
        memcpy(bytes, room, size);
    return 0;
}

int link_record(const struct link *link, struct record *ret_record, char **ret_text,
                struct bawn_error *err)
{
    autofree char *text = NULL;
    int result = registry_read(&link->registry, link->sid, &text, err);

    if (result == -ENOENT)
        return link_refuse_gone(link, err);
    if (result < 0)
        return result;
    if (!record_read(text, ret_record))
        return error_set(err, EPROTO, "session.record", "%s: its record cannot be read", link->sid);
    *ret_text = take_ptr(&text);
    return 0;
}

void put_duration(struct strbuf *out, uint64_t seconds)
{
    if (seconds < 60)
        strbuf_addf(out, "%llu s", (unsigned long long)seconds);
    else if (seconds < 3600)
        strbuf_addf(out, "%llu min", (unsigned long long)seconds / 60);
    else if (seconds < 86400)
        strbuf_addf(out, "%llu h %llu min", (unsigned long long)seconds / 3600,
                    (unsigned long long)seconds / 60 % 60);
    else
        strbuf_addf(out, "%llu d %llu h", (unsigned long long)seconds / 86400,
                    (unsigned long long)seconds / 3600 % 24);
}
