/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/stub.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { TYPE_CNAME = 5, ANSWER_BYTES = 65535 };

struct out {
    uint8_t bytes[ANSWER_BYTES];
    size_t size;
};

static void put(struct out *out, const void *bytes, size_t size)
{
    ck_assert_uint_le(out->size + size, sizeof(out->bytes));
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

static void put_number(struct out *out, uint32_t number, size_t size)
{
    while (size-- > 0) {
        uint8_t byte = (uint8_t)(number >> 8 * size);

        put(out, &byte, 1);
    }
}

static void put_name(struct out *out, const char *name)
{
    while (*name) {
        size_t length = strcspn(name, ".");

        put_number(out, (uint32_t)length, 1);
        put(out, name, length);
        name += length + (name[length] == '.');
    }
    put_number(out, 0, 1);
}

/* Of the record before; owner is the name it belongs to. */
static bool put_record(struct out *out, const struct stub_row *row, const char *owner,
                       const char *type, const char *value, uint16_t wanted)
{
    bool is_alias = strcmp(type, "CNAME") == 0;
    uint16_t number = is_alias ? TYPE_CNAME : strcmp(type, "A") == 0 ? DNS_A : DNS_AAAA;
    struct out data = {.size = 0};

    if (is_alias)
        put_name(&data, value);
    else if (number != wanted)
        return false;
    else
        data.size = number == DNS_A ? 4 : 16;
    if (!is_alias)
        ck_assert_int_eq(inet_pton(number == DNS_A ? AF_INET : AF_INET6, value, data.bytes), 1);
    put_name(out, owner);
    put_number(out, number, 2);
    put_number(out, 1, 2);
    put_number(out, row->lasts_seconds, 4);
    put_number(out, (uint32_t)data.size, 2);
    put(out, data.bytes, data.size);
    return true;
}

static unsigned put_records(struct out *out, const struct stub_row *row, const char *name,
                            const char *records, uint16_t wanted)
{
    char type[8], value[128], owner[LIMIT_HOST_BYTES], address[32];
    unsigned count = 0;
    int used;

    (void)snprintf(owner, sizeof(owner), "%s", name);
    for (; records && sscanf(records, "%7s %127s%n", type, value, &used) == 2; records += used) {
        count += put_record(out, row, owner, type, value, wanted);
        if (strcmp(type, "CNAME") == 0)
            (void)snprintf(owner, sizeof(owner), "%s", value);
    }
    for (size_t i = 0; i < row->many; i++) {
        (void)snprintf(address, sizeof(address), "203.0.%zu.%zu", 113 + i / 250, 1 + i % 250);
        count += put_record(out, row, owner, "A", address, wanted);
    }
    return count;
}

static void write_answer(struct out *out, const struct dns_query *query, const struct stub_row *row,
                         const char *records, uint16_t id, bool is_cut)
{
    unsigned count;

    out->size = 0;
    put_number(out, id, 2);
    put_number(out, 0x8180U | (is_cut ? 0x200U : 0) | (uint32_t)row->code, 2);
    put_number(out, 1, 2);
    put_number(out, 0, 2);
    put_number(out, 0, 4);
    put(out, query->question, query->question_bytes);
    count = is_cut ? 0 : put_records(out, row, query->name, records, query->type);
    out->bytes[6] = (uint8_t)(count >> 8);
    out->bytes[7] = (uint8_t)count;
}

static struct stub_row *find_row(struct stub *stub, const char *name)
{
    struct stub_row *row = stub->rows;

    while (row->name && strcmp(row->name, name) != 0 && strcmp(row->name, "*") != 0)
        row++;
    ck_assert_msg(row->name, "%s was not to be asked for", name);
    row->times++;
    return row;
}

static const char *records_of(const struct stub_row *row)
{
    return row->then && row->times > 2 ? row->then : row->records;
}

static void mislead(int fd, const struct sockaddr *peer, socklen_t peer_bytes,
                    const struct dns_query *query, const struct stub_row *row)
{
    static const char *const lie = "A 192.0.2.66 AAAA 2001:db8::66";
    bool is_elsewhere = row->way == STUB_WRONG_PLACE;
    autoclose int elsewhere = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    static struct out out;
    uint16_t id = is_elsewhere ? query->id : (uint16_t)(query->id ^ 1);

    write_answer(&out, query, row, lie, id, false);
    ck_assert_int_gt(
        sendto(is_elsewhere ? elsewhere : fd, out.bytes, out.size, 0, peer, peer_bytes), 0);
}

static void on_udp(void *context, uint32_t events)
{
    const struct stub_end *end = context;
    struct stub *stub = end->stub;
    int fd = stub->udp[end->is_other].fd;
    struct sockaddr_in6 peer;
    socklen_t size = sizeof(peer);
    struct dns_query query;
    struct stub_row *row;
    uint8_t bytes[2048];
    static struct out out;
    ssize_t got = recvfrom(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&peer, &size);

    (void)events;
    ck_assert_int_gt(got, 0);
    ck_assert_int_eq(dns_read_query(bytes, (size_t)got, &query), 0);
    stub->ports[stub->asked % 256] = peer.sin6_port; /* where that of the other family is */
    stub->ids[stub->asked % 256] = query.id;
    stub->asked++;
    stub->other += end->is_other;
    memcpy(stub->last, query.name, sizeof(stub->last));
    row = find_row(stub, query.name);
    if (row->way == STUB_SILENT)
        return;
    if (row->way == STUB_WRONG_ID || row->way == STUB_WRONG_PLACE)
        mislead(fd, (const struct sockaddr *)&peer, size, &query, row);
    write_answer(&out, &query, row, records_of(row), query.id, row->way == STUB_CUT);
    if (row->way == STUB_RAW) {
        out.size = 2;
        put(&out, row->records, row->raw_bytes);
    }
    (void)sendto(fd, out.bytes, out.size, 0, (const struct sockaddr *)&peer, size);
}

static void end_stream(struct stub_stream *stream)
{
    hub_remove(stream->stub->hub, &stream->source);
    close(stream->source.fd);
    stream->source.fd = -1;
}

/* A question comes whole: it is on loopback, and short. */
static void on_stream(void *context, uint32_t events)
{
    struct stub_stream *stream = context;
    uint8_t head[2], bytes[2048];
    const struct stub_row *row;
    struct dns_query query;
    static struct out out;
    size_t size;

    (void)events;
    if (recv(stream->source.fd, head, 2, MSG_WAITALL) != 2) {
        end_stream(stream);
        return;
    }
    size = (size_t)head[0] << 8 | head[1];
    ck_assert_int_eq(recv(stream->source.fd, bytes, size, MSG_WAITALL), (ssize_t)size);
    ck_assert_int_eq(dns_read_query(bytes, size, &query), 0);
    stream->stub->asked_by_tcp++;
    row = find_row(stream->stub, query.name);
    write_answer(&out, &query, row, records_of(row), query.id, false);
    head[0] = (uint8_t)(out.size >> 8);
    head[1] = (uint8_t)out.size;
    (void)send(stream->source.fd, head, 2, MSG_NOSIGNAL);
    (void)send(stream->source.fd, out.bytes, out.size, MSG_NOSIGNAL);
}

static void on_tcp(void *context, uint32_t events)
{
    struct stub *stub = context;
    struct stub_stream *stream = stub->streams;

    (void)events;
    while (stream->source.is_added)
        stream++;
    ck_assert(stream < stub->streams + STUB_STREAMS);
    *stream = (struct stub_stream){
        .stub = stub, .source = {.events = EPOLLIN, .ready = on_stream, .context = stream}};
    stream->source.fd = accept4(stub->tcp.fd, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(stream->source.fd, 0);
    ck_assert_int_eq(hub_add(stub->hub, &stream->source, NULL), 0);
}

/* An address with a colon is link-local, at the interface lo. */
static int bind_to(int type, const char *address, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = 1};
    bool is_v6 = strchr(address, ':');
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(inet_pton(is_v6 ? AF_INET6 : AF_INET, address,
                               is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr),
                     1);
    if (bind(fd, is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4,
             is_v6 ? sizeof(v6) : sizeof(v4)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* One port that is free for all three. */
static bool bind_all(struct stub *stub)
{
    struct sockaddr_in at;
    socklen_t size = sizeof(at);

    stub->tcp.fd = bind_to(SOCK_STREAM, "127.0.0.1", 0);
    ck_assert_int_eq(getsockname(stub->tcp.fd, (struct sockaddr *)&at, &size), 0);
    stub->port = ntohs(at.sin_port);
    stub->udp[0].fd = bind_to(SOCK_DGRAM, "127.0.0.1", stub->port);
    stub->udp[1].fd = bind_to(SOCK_DGRAM, stub->other_at, stub->port);
    if (stub->udp[0].fd >= 0 && stub->udp[1].fd >= 0)
        return true;
    close(stub->tcp.fd);
    for (int i = 0; i < 2; i++) {
        if (stub->udp[i].fd >= 0)
            close(stub->udp[i].fd);
    }
    return false;
}

void stub_start(struct stub *stub, struct hub *hub, struct stub_row *rows, const char *other_at)
{
    *stub = (struct stub){.hub = hub, .rows = rows, .other_at = other_at};
    while (!bind_all(stub))
        ;
    ck_assert_int_eq(listen(stub->tcp.fd, 16), 0);
    for (int i = 0; i < 2; i++) {
        stub->ends[i] = (struct stub_end){.stub = stub, .is_other = i == 1};
        stub->udp[i].events = EPOLLIN;
        stub->udp[i].ready = on_udp;
        stub->udp[i].context = &stub->ends[i];
        ck_assert_int_eq(hub_add(hub, &stub->udp[i], NULL), 0);
    }
    stub->tcp.events = EPOLLIN;
    stub->tcp.ready = on_tcp;
    stub->tcp.context = stub;
    ck_assert_int_eq(hub_add(hub, &stub->tcp, NULL), 0);
}

void stub_stop(struct stub *stub)
{
    struct hub_source *const sources[] = {&stub->udp[0], &stub->udp[1], &stub->tcp};

    for (int i = 0; i < STUB_STREAMS; i++) {
        if (stub->streams[i].source.is_added)
            end_stream(&stub->streams[i]);
    }
    for (int i = 0; i < 3; i++) {
        hub_remove(stub->hub, sources[i]);
        close(sources[i]->fd);
    }
}

static void on_late(void *context)
{
    (void)context;
    ck_abort_msg("it did not end in time");
}

void stub_run(struct hub *hub, int most_ms)
{
    struct hub_timer late = {.is_set = false};

    hub->is_done = false;
    hub_set_timer(hub, &late, most_ms, on_late, NULL);
    ck_assert_int_eq(hub_run(hub, NULL), 0);
    hub_stop_timer(hub, &late);
}
