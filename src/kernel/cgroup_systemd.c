/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group below a scope that the user's systemd manager delegates to us.
 *
 * How it works: an ordinary login has no right to move processes between the
 * groups of the system. Its manager is asked, over D-Bus, to put this process in
 * a scope of its own (StartTransientUnit with Delegate). There the process goes
 * one level down, since a group with processes hands out no controllers, and the
 * session's group is made beside it. The scope ends with the last process in it.
 *
 * Only as much D-Bus is spoken as two calls and their replies take. The manager's
 * own socket needs no Hello; the session bus does.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/cgroup_part.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    BUS_LIMIT_MS = 5000,
    BUS_CALL_BYTES = 1024,
    BUS_REPLY_BYTES = 16384,
    BUS_FIXED_BYTES = 16, /* of every header, with the length of its fields */
};

enum message_type { MESSAGE_CALL = 1, MESSAGE_RETURN = 2, MESSAGE_ERROR = 3 };
enum header_field {
    FIELD_PATH = 1,
    FIELD_INTERFACE,
    FIELD_MEMBER,
    FIELD_DESTINATION = 6,
    FIELD_SIGNATURE = 8
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const char byte_order = 'l';
#else
static const char byte_order = 'B';
#endif

/* A message that is being written. What does not fit is noticed once, when it is sent. */
struct message {
    char bytes[BUS_CALL_BYTES];
    size_t used;
    bool is_full;
};

static void put(struct message *message, const void *bytes, size_t size)
{
    if (size > sizeof(message->bytes) - message->used) {
        message->is_full = true;
        return;
    }
    memcpy(message->bytes + message->used, bytes, size);
    message->used += size;
}

static void put_padding(struct message *message, size_t alignment)
{
    static const char zeros[8];

    put(message, zeros, -message->used & (alignment - 1));
}

static void put_byte(struct message *message, char value)
{
    put(message, &value, 1);
}

static void put_u32(struct message *message, uint32_t value)
{
    put_padding(message, 4);
    put(message, &value, sizeof(value));
}

static void put_string(struct message *message, const char *text)
{
    put_u32(message, (uint32_t)strlen(text));
    put(message, text, strlen(text) + 1);
}

static void put_signature(struct message *message, const char *signature)
{
    put_byte(message, (char)strlen(signature));
    put(message, signature, strlen(signature) + 1);
}

/* Room for a length that is known later. Returns where it is. */
static size_t begin_length(struct message *message)
{
    put_u32(message, 0);
    return message->used - 4;
}

static void end_length(struct message *message, size_t at, size_t start)
{
    uint32_t length = (uint32_t)(message->used - start);

    if (!message->is_full)
        memcpy(message->bytes + at, &length, sizeof(length));
}

static void put_field(struct message *message, enum header_field field, const char *signature,
                      const char *value)
{
    put_padding(message, 8);
    put_byte(message, (char)field);
    put_signature(message, signature);
    if (signature[0] == 'g')
        put_signature(message, value);
    else
        put_string(message, value);
}

/* What a call is to: the rest is its body. */
struct call {
    const char *destination, *path, *interface, *member;
    const char *signature; /* NULL: no body */
};

static void put_header(struct message *message, const struct call *call, uint32_t serial)
{
    size_t fields;

    *message = (struct message){0};
    put_byte(message, byte_order);
    put_byte(message, MESSAGE_CALL);
    put_byte(message, 0);
    put_byte(message, 1);
    put_u32(message, 0); /* length of the body, at 4 */
    put_u32(message, serial);
    fields = begin_length(message);
    put_field(message, FIELD_PATH, "o", call->path);
    put_field(message, FIELD_INTERFACE, "s", call->interface);
    put_field(message, FIELD_MEMBER, "s", call->member);
    put_field(message, FIELD_DESTINATION, "s", call->destination);
    if (call->signature)
        put_field(message, FIELD_SIGNATURE, "g", call->signature);
    end_length(message, fields, fields + 4);
    put_padding(message, 8);
}

/* The name and the type of one (sv); the value follows. */
static void put_property(struct message *message, const char *name, const char *signature)
{
    put_padding(message, 8);
    put_string(message, name);
    put_signature(message, signature);
}

/* A scope with this process in it, delegated to us. */
static void put_start_unit(struct message *message, uint32_t serial, const char *unit)
{
    static const struct call call = {"org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                     "org.freedesktop.systemd1.Manager", "StartTransientUnit",
                                     "ssa(sv)a(sa(sv))"};
    size_t body, properties;

    put_header(message, &call, serial);
    body = message->used;
    put_string(message, unit);
    put_string(message, "fail");
    properties = begin_length(message);
    put_padding(message, 8);
    put_property(message, "Description", "s");
    put_string(message, "bawn session");
    put_property(message, "Delegate", "b");
    put_u32(message, 1);
    put_property(message, "CollectMode", "s");
    put_string(message, "inactive-or-failed");
    put_property(message, "PIDs", "au");
    put_u32(message, sizeof(uint32_t));
    put_u32(message, (uint32_t)getpid());
    /* The padding before the first element of an array does not count. */
    end_length(message, properties, (properties + 4 + 7) & ~(size_t)7);
    put_u32(message, 0);
    put_padding(message, 8);
    end_length(message, 4, body);
}

static void put_hello(struct message *message, uint32_t serial)
{
    static const struct call call = {"org.freedesktop.DBus", "/org/freedesktop/DBus",
                                     "org.freedesktop.DBus", "Hello", NULL};

    put_header(message, &call, serial);
}

/* A connection, and until when its owner may answer. */
struct bus {
    int fd;
    int64_t end_ms;
};

static int bus_send(const struct bus *bus, const void *bytes, size_t size)
{
    ssize_t sent = send(bus->fd, bytes, size, MSG_NOSIGNAL);

    /* A new socket has room for far more than a call. */
    return sent < 0 ? -errno : (size_t)sent < size ? -EAGAIN : 0;
}

static int bus_receive(const struct bus *bus, char *bytes, size_t size)
{
    size_t used = 0;

    while (used < size) {
        struct pollfd ready = {.fd = bus->fd, .events = POLLIN};
        int64_t left = bus->end_ms - clock_ms();
        ssize_t got;

        if (left <= 0 || poll(&ready, 1, (int)left) == 0)
            return -ETIMEDOUT;
        got = recv(bus->fd, bytes + used, size - used, MSG_DONTWAIT);
        if (got == 0)
            return -ECONNRESET;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        if (got > 0)
            used += (size_t)got;
    }
    return 0;
}

/* The uid in decimal, its digits in hex: "1001" is "31303031". */
static int bus_authenticate(const struct bus *bus)
{
    char uid[16], line[96], answer[128] = "";
    size_t used = 1, count = 0;
    int r;

    (void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
    line[0] = '\0';
    used += (size_t)snprintf(line + used, sizeof(line) - used, "AUTH EXTERNAL ");
    for (const char *digit = uid; *digit; digit++)
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%02x", (unsigned)*digit);
    used += (size_t)snprintf(line + used, sizeof(line) - used, "\r\n");
    r = bus_send(bus, line, used);
    do {
        if (r == 0 && count == sizeof(answer))
            r = -EPROTO;
        if (r == 0)
            r = bus_receive(bus, answer + count, 1);
        if (r < 0)
            return r;
    } while (answer[count++] != '\n');
    if (count < 3 || strncmp(answer, "OK ", 3) != 0)
        return -EACCES;
    return bus_send(bus, "BEGIN\r\n", 7);
}

/* Waits for the reply to the call that was sent; signals are passed over. */
static int bus_reply(const struct bus *bus, struct bawn_error *err)
{
    char head[BUS_FIXED_BYTES], rest[BUS_REPLY_BYTES];

    for (;;) {
        uint32_t body, fields;
        size_t start;
        int r = bus_receive(bus, head, sizeof(head));

        if (r < 0)
            return error_errno(err, -r, "wait for systemd");
        memcpy(&body, head + 4, sizeof(body));
        memcpy(&fields, head + 12, sizeof(fields));
        if (head[0] != byte_order || fields > sizeof(rest) || body > sizeof(rest))
            return error_errno(err, EPROTO, "read the reply of systemd");
        start = ((size_t)fields + 7) & ~(size_t)7;
        if (start + body >= sizeof(rest))
            return error_errno(err, EMSGSIZE, "read the reply of systemd");
        r = bus_receive(bus, rest, start + body);
        if (r < 0)
            return error_errno(err, -r, "wait for systemd");
        rest[start + body] = '\0';
        if (head[1] == MESSAGE_RETURN)
            return 0;
        if (head[1] == MESSAGE_ERROR)
            return error_set(err, EACCES, "cgroup.systemd", "systemd refuses a scope: %s",
                             body > 4 ? rest + start + 4 : "no reason given");
    }
}

/* SECURITY: the directory comes from the environment: who listens there must be us or root. */
static int bus_connect(const char *runtime, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", runtime, name);
    struct ucred peer;
    socklen_t size = sizeof(peer);
    autoclose int fd = -EBADF;

    if (length < 0 || (size_t)length >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -errno;
    return peer.uid == geteuid() || peer.uid == 0 ? take_fd(&fd) : -EPERM;
}

static int call_start_unit(const struct bus *bus, bool is_session_bus, const char *unit,
                           struct bawn_error *err)
{
    struct message message;
    int r = bus_authenticate(bus);

    if (r == 0 && is_session_bus) {
        put_hello(&message, 1);
        r = bus_send(bus, message.bytes, message.used);
        if (r == 0)
            r = bus_reply(bus, err);
        if (r < 0)
            return r;
    }
    put_start_unit(&message, 2, unit);
    if (r == 0)
        r = message.is_full ? -EMSGSIZE : bus_send(bus, message.bytes, message.used);
    if (r < 0)
        return error_errno(err, -r, "talk to systemd");
    return bus_reply(bus, err);
}

static int start_unit(const char *unit, int64_t end_ms, struct bawn_error *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct bus bus = {.end_ms = end_ms};
    autoclose int fd = -EBADF;
    bool is_session_bus = false;

    if (!runtime || runtime[0] != '/')
        return error_set(err, ENOENT, "cgroup.systemd",
                         "ask systemd for a scope: XDG_RUNTIME_DIR is not set");
    fd = bus_connect(runtime, "systemd/private");
    if (fd < 0) {
        fd = bus_connect(runtime, "bus");
        is_session_bus = true;
    }
    if (fd < 0)
        return error_errno(err, -fd, "connect to systemd in %s", runtime);
    bus.fd = fd;
    return call_start_unit(&bus, is_session_bus, unit, err);
}

/* The reply says that a job is queued: it is done when we are in the scope. */
static int await_scope(struct cgroup_places *places, const char *unit, int64_t end_ms,
                       struct bawn_error *err)
{
    struct timespec pause = {.tv_nsec = 500000};

    for (;;) {
        int r = cgroup_places_read(places, 1U << TREE_V2, err);
        const char *base = strrchr(places->trees[TREE_V2].path, '/');

        if (r < 0)
            return r;
        if (base && strcmp(base + 1, unit) == 0)
            return 0;
        if (clock_ms() >= end_ms)
            return error_errno(err, ETIMEDOUT, "wait for the scope %s", unit);
        (void)nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000)
            pause.tv_nsec *= 2;
    }
}

/* Out of the way of the controllers, and these switched on. */
static int prepare_scope(const char *scope, const struct cgroup_limits *limits)
{
    autoclose int fd = open(scope, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r;

    if (fd < 0 || (mkdirat(fd, "supervisor", 0755) < 0 && errno != EEXIST))
        return -errno;
    r = cgroup_write(fd, "supervisor/cgroup.procs", "0");
    if (r == 0)
        r = cgroup_write(fd, "cgroup.subtree_control", "+memory +pids");
    if (r == 0 && limits->cpu_percent)
        (void)cgroup_write(fd, "cgroup.subtree_control", "+cpu");
    if (r == 0 && (limits->io_weight || cgroup_has_rates(limits)))
        (void)cgroup_write(fd, "cgroup.subtree_control", "+io");
    return r;
}

int cgroup_systemd_new(struct cgroup *group, const char *name, const struct cgroup_limits *limits,
                       struct bawn_error *err)
{
    struct cgroup_places places = {0};
    const char *scope = places.trees[TREE_V2].path;
    char unit[CGROUP_NAME_BYTES + 16];
    int64_t end_ms = clock_ms() + BUS_LIMIT_MS;
    int r;

    if (snprintf(unit, sizeof(unit), "%s.scope", name) >= (int)sizeof(unit))
        return error_errno(err, ENAMETOOLONG, "name the scope %s", name);
    r = start_unit(unit, end_ms, err);
    if (r == 0)
        r = await_scope(&places, unit, end_ms, err);
    if (r < 0)
        return r;
    r = prepare_scope(scope, limits);
    if (r == 0)
        r = cgroup_v2_new_in(group, scope, name, limits);
    return r < 0 ? error_errno(err, -r, "make a control group in the scope %s", unit) : 0;
}
