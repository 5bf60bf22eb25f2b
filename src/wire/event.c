/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/event.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

/* What need not be known is told only while no more than this waits to be read. */
enum { WAITING_BYTES = 64 * 1024, EXE_BYTES = 1024 };

struct head {
    uint32_t version, what, who, verdict;
    int32_t pid, errnum;
    uint32_t times, lost;
    uint64_t sent, received;
    uint32_t uncounted, reserved;
    uint64_t number;
};

/* With the final zero. */
static const size_t text_bytes[EVENT_TEXTS] = {
    [EVENT_COMM] = 16,
    [EVENT_CALL] = 32,
    [EVENT_PATH] = EVENT_PATH_BYTES,
    [EVENT_RULE] = LIMIT_PATH_BYTES,
    [EVENT_CODE] = sizeof(((struct bawn_error *)0)->code),
    [EVENT_MESSAGE] = sizeof(((struct bawn_error *)0)->message),
    [EVENT_HINT] = sizeof(((struct bawn_error *)0)->hint),
    [EVENT_EXE] = EXE_BYTES,
    [EVENT_ARGV] = EVENT_ARGV_BYTES,
    [EVENT_OP] = 16,
    [EVENT_GRANT] = EVENT_GRANT_BYTES,
    [EVENT_GRANT_TREE] = EVENT_GRANT_BYTES,
};
_Static_assert(sizeof(struct head) + 16 + 32 + EVENT_PATH_BYTES + LIMIT_PATH_BYTES +
                       sizeof(struct bawn_error) + EXE_BYTES + EVENT_ARGV_BYTES + 16 +
                       2 * EVENT_GRANT_BYTES <=
                   EVENT_BYTES,
               "the largest event fits");

size_t event_pack(const struct event *event, char bytes[static EVENT_BYTES])
{
    struct head head = {.version = EVENT_VERSION,
                        .what = event->what,
                        .who = event->who,
                        .verdict = event->verdict,
                        .pid = event->pid,
                        .errnum = event->errnum,
                        .times = event->times,
                        .lost = event->lost,
                        .sent = event->sent,
                        .received = event->received,
                        .uncounted = event->uncounted,
                        .number = event->number};
    size_t size = sizeof(head);

    memcpy(bytes, &head, sizeof(head));
    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        const char *text = event->texts[i] ? event->texts[i] : "";
        size_t length = strnlen(text, text_bytes[i] - 1);

        memcpy(bytes + size, text, length);
        bytes[size + length] = '\0';
        size += length + 1;
    }
    return size;
}

int event_unpack(const char *bytes, size_t size, struct event *ret_event)
{
    struct head head;
    size_t at = sizeof(head);

    if (size < sizeof(head))
        return -EPROTO;
    memcpy(&head, bytes, sizeof(head));
    if (head.version != EVENT_VERSION || head.what >= EVENT_COUNT || head.who >= WHO_COUNT ||
        head.verdict >= VERDICT_COUNT || head.pid < 0 || head.errnum < 0 || head.times == 0)
        return -EPROTO;
    *ret_event = (struct event){.what = head.what,
                                .who = head.who,
                                .verdict = head.verdict,
                                .pid = head.pid,
                                .errnum = head.errnum,
                                .times = head.times,
                                .lost = head.lost,
                                .sent = head.sent,
                                .received = head.received,
                                .uncounted = head.uncounted,
                                .number = head.number};
    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        size_t length = strnlen(bytes + at, size - at);

        if (length == size - at || length >= text_bytes[i])
            return -EPROTO;
        ret_event->texts[i] = bytes + at;
        at += length + 1;
    }
    return at == size ? 0 : -EPROTO;
}

/* Those that are few whatever a command does. */
static bool must_be_known(uint32_t what)
{
    return what == EVENT_GITFILE || what == EVENT_FULL || what == EVENT_FAILED ||
           what == EVENT_UNTOLD || what == EVENT_GIVEN_UP;
}

static bool has_room(const struct event_sender *sender)
{
    int waiting = 0;

    return ioctl(sender->sock, SIOCOUTQ, &waiting) == 0 && waiting < WAITING_BYTES;
}

/* Of one that is waited for a little, since there are few and each counts: the reader is idle while
 * a command runs. Where it has failed once, it is not tried again before something got through. */
static bool awaits_room(const struct event_sender *sender, uint32_t what)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    unsigned pauses = what == EVENT_USED && sender->lost == 0 ? 50 : 0;

    while (!has_room(sender)) {
        if (pauses-- == 0)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

void event_send(struct event_sender *sender, struct event event)
{
    char bytes[EVENT_BYTES];

    if (sender->sock < 0)
        return;
    event.who = sender->who;
    event.lost += sender->lost;
    event.times = event.times ? event.times : 1;
    if ((must_be_known(event.what) || awaits_room(sender, event.what)) &&
        send(sender->sock, bytes, event_pack(&event, bytes), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        sender->lost = 0;
    else
        sender->lost = event.lost + event.times;
}

bool event_ask(const struct event_sender *sender, struct event event)
{
    char bytes[EVENT_BYTES];

    event.who = sender->who;
    event.times = 1;
    return sender->sock >= 0 && has_room(sender) &&
           send(sender->sock, bytes, event_pack(&event, bytes), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

void event_send_rest(struct event_sender *sender)
{
    if (sender->lost > 0)
        event_send(sender, (struct event){.what = EVENT_UNTOLD});
}

void event_send_error(struct event_sender *sender, enum event_what what,
                      const struct bawn_error *error)
{
    event_send(sender, (struct event){.what = what,
                                      .errnum = error->errnum,
                                      .texts = {[EVENT_CODE] = error->code,
                                                [EVENT_MESSAGE] = error->message,
                                                [EVENT_HINT] = error->hint}});
}

int event_receive(int sock, char bytes[static EVENT_BYTES], struct event *ret_event)
{
    ssize_t got;
    int result;

    /* With MSG_TRUNC the size is that of the packet, whatever the room. */
    do
        got = recv(sock, bytes, EVENT_BYTES, MSG_DONTWAIT | MSG_TRUNC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? 0 : -errno;
    if (got > EVENT_BYTES)
        return -EPROTO;
    result = event_unpack(bytes, (size_t)got, ret_event);
    return result < 0 ? result : 1;
}

void event_error(const struct event *event, struct bawn_error *ret_error)
{
    (void)error_set(ret_error, event->errnum, event->texts[EVENT_CODE], "%s",
                    event->texts[EVENT_MESSAGE]);
    error_hint(ret_error, "%s", event->texts[EVENT_HINT]);
}

void event_read_argv(int proc_fd, char ret_argv[static EVENT_ARGV_BYTES])
{
    autoclose int fd = proc_fd < 0 ? -EBADF : openat(proc_fd, "cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, ret_argv, EVENT_ARGV_BYTES - 1);
    size_t length = got > 0 ? (size_t)got : 0;

    while (length > 0 && ret_argv[length - 1] == '\0')
        length--;
    ret_argv[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        if (ret_argv[i] == EVENT_ARGV_END)
            ret_argv[i] = '?';
        else if (ret_argv[i] == '\0')
            ret_argv[i] = EVENT_ARGV_END;
    }
}

void event_split_argv(const char *argv, char copy[static EVENT_ARGV_BYTES], const char **ret_words,
                      size_t most)
{
    char *rest = copy;
    size_t count = 0;

    (void)snprintf(copy, EVENT_ARGV_BYTES, "%s", argv);
    while (*argv && rest && count < most)
        ret_words[count++] = strsep(&rest, (char[]){EVENT_ARGV_END, '\0'});
    ret_words[count] = NULL;
}

const char *event_name(uint32_t what)
{
    static const char *const names[EVENT_COUNT] = {
        [EVENT_REFUSED] = "refused",   [EVENT_GITFILE] = "gitfile", [EVENT_MASKED] = "masked",
        [EVENT_FULL] = "full",         [EVENT_LIMIT] = "limit",     [EVENT_STREAM] = "stream",
        [EVENT_FAILED] = "failed",     [EVENT_BARRED] = "barred",   [EVENT_REACHED] = "reached",
        [EVENT_ENDED] = "ended",       [EVENT_UNTOLD] = "untold",   [EVENT_ASKED] = "asked",
        [EVENT_GIVEN_UP] = "given_up", [EVENT_SETTLED] = "settled", [EVENT_USED] = "used"};

    return names[what];
}

const char *event_who_name(uint32_t who)
{
    static const char *const names[WHO_COUNT] = {
        [WHO_LAUNCHER] = "launcher", [WHO_KEEPER] = "keeper", [WHO_CALLS] = "calls",
        [WHO_SCRIBE] = "scribe",     [WHO_WATCH] = "watch",   [WHO_RECORDER] = "recorder",
        [WHO_STAND_IN] = "stand-in", [WHO_NET] = "net",       [WHO_DOOR] = "door",
        [WHO_VETH] = "veth",         [WHO_ENGINE] = "engine", [WHO_ROOM] = "room"};

    return names[who];
}

const char *event_verdict_name(uint32_t verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_ALLOW] = "allow", [VERDICT_ASK] = "ask", [VERDICT_DENY] = "deny"};

    return names[verdict];
}
