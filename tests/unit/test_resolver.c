/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver of the sandbox, asked by a client on loopback, with a resolver of the test's own
 * outside. */
#include "base/clock.h"
#include "lib/policy.h"
#include "lib/stub.h"
#include "lib/test.h"
#include "net/resolve.h"
#include "policy/message.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RULES                                                                                      \
    "sandbox:\n"                                                                                   \
    "  network:\n"                                                                                 \
    "    mode: proxy\n"                                                                            \
    "    allow: ['**.example', 'only.test:443']\n"                                                 \
    "    ask: ['asked.test:443']\n"                                                                \
    "    deny: ['denied.example']\n"                                                               \
    "    hosts: {pinned.example: 10.9.9.9}\n"

enum {
    CNAME = 5,
    NS = 2,
    NULL_ = 10,
    PTR = 12,
    MX = 15,
    TXT = 16,
    SRV = 33,
    HTTPS = 65,
    ANY = 255
};

static struct stub_row rows[] = {
    {"ok.example", "A 203.0.113.10", .lasts_seconds = 60},
    {"six.example", "AAAA 2001:db8:1::6", .lasts_seconds = 60},
    {"gone.example", .code = 3},
    {"empty.example", .code = 0},
    {"failing.example", .code = 2},
    {"silent.example", .way = STUB_SILENT},
    {"mixed.example", "A 203.0.113.14 A 192.168.1.1", .lasts_seconds = 60},
    {"only.test", "A 203.0.113.17", .lasts_seconds = 60},
    {.name = NULL},
};

static struct hub hub;
static struct stub stub;
static struct test_policy test;
static struct lookups *lookups;
static struct names *names;
static struct resolver *resolver;
static struct event_sender events = {.who = WHO_NET};
static int heard, door, door_v6, client, client_v6, listener;
static struct sockaddr_in at;
static struct sockaddr_in6 at_v6;

/* What the client was answered last. */
static uint8_t got[8192];
static size_t got_bytes;
static struct sockaddr_storage got_from;

static void on_look(void *context)
{
    (void)context;
}

static int bind_to(int family, int type)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(family, type | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(family == AF_INET ? bind(fd, (const struct sockaddr *)&v4, sizeof(v4))
                                       : bind(fd, (const struct sockaddr *)&v6, sizeof(v6)),
                     0);
    return fd;
}

static void serve(void)
{
    socklen_t size = sizeof(at), size_v6 = sizeof(at_v6);

    door = bind_to(AF_INET, SOCK_DGRAM);
    door_v6 = bind_to(AF_INET6, SOCK_DGRAM);
    client = bind_to(AF_INET, SOCK_DGRAM);
    client_v6 = bind_to(AF_INET6, SOCK_DGRAM);
    listener = bind_to(AF_INET, SOCK_STREAM);
    ck_assert_int_eq(listen(listener, 100), 0);
    ck_assert_int_eq(getsockname(door, (struct sockaddr *)&at, &size), 0);
    ck_assert_int_eq(getsockname(door_v6, (struct sockaddr *)&at_v6, &size_v6), 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(resolve_serve_udp(resolver, door, NULL), 0);
    ck_assert_int_eq(resolve_serve_udp(resolver, door_v6, NULL), 0);
}

static void set_up(void)
{
    int ends[2];

    ck_assert_int_eq(hub_init(&hub, NULL), 0);
    stub_start(&stub, &hub, rows, "127.0.0.2");
    test_policy_init(&test);
    ck_assert_int_eq(test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_BAWN, "t.yaml",
                                      RULES, sizeof(RULES) - 1),
                     0);
    ck_assert_int_eq(test_policy_finish(&test), 0);
    ck_assert_int_eq(message_summarize(&test.policy), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    heard = ends[0];
    events.sock = ends[1];
    lookups = lookups_new(&hub, &test.policy, on_look, NULL, stub.port, NULL);
    names = names_new(NAMES_MAX, NULL);
    resolver = resolver_new(&hub, &test.policy, lookups, names, &events, NULL);
    ck_assert(lookups && names && resolver);
    serve();
}

static void tear_down(void)
{
    const int fds[] = {heard, events.sock, door, door_v6, client, client_v6, listener};

    resolver_free(resolver);
    names_free(names);
    lookups_free(lookups);
    stub_stop(&stub);
    test_policy_done(&test);
    hub_done(&hub);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        close(fds[i]);
}

/* A question as it is on the wire, with an extension. */
static size_t write_query(uint8_t *out, uint16_t id, const char *name, uint16_t type)
{
    static const uint8_t head[10] = {1, 0, 0, 1, [9] = 1};
    static const uint8_t extension[11] = {[2] = 41, [3] = 0x10};
    size_t size = 12;

    out[0] = (uint8_t)(id >> 8);
    out[1] = (uint8_t)id;
    memcpy(out + 2, head, sizeof(head));
    while (*name) {
        size_t length = strcspn(name, ".");

        out[size++] = (uint8_t)length;
        memcpy(out + size, name, length);
        size += length;
        name += length + (name[length] == '.');
    }
    out[size++] = 0;
    out[size++] = (uint8_t)(type >> 8);
    out[size++] = (uint8_t)type;
    out[size++] = 0;
    out[size++] = 1;
    memcpy(out + size, extension, sizeof(extension));
    return size + sizeof(extension);
}

static void on_client(void *context, uint32_t ready)
{
    const struct hub_source *source = context;
    socklen_t size = sizeof(got_from);
    ssize_t bytes = recvfrom(source->fd, got, sizeof(got), 0, (struct sockaddr *)&got_from, &size);

    (void)ready;
    ck_assert_int_ge(bytes, 0);
    got_bytes = (size_t)bytes;
    hub_end(&hub);
}

/* Runs until something came to the descriptor. */
static void await(int fd)
{
    struct hub_source source = {.fd = fd, .events = EPOLLIN, .ready = on_client};

    source.context = &source;
    ck_assert_int_eq(hub_add(&hub, &source, NULL), 0);
    stub_run(&hub, 8000);
    hub_remove(&hub, &source);
}

static void ask_bytes(const uint8_t *bytes, size_t size)
{
    ck_assert_int_eq(sendto(client, bytes, size, 0, (const struct sockaddr *)&at, sizeof(at)),
                     (ssize_t)size);
    await(client);
}

/* Label by label, as it is in a record: "www.example". */
static void name_text(const uint8_t *bytes, size_t size, char *out)
{
    ck_assert_uint_eq(bytes[size - 1], 0);
    ck_assert_uint_le(size, 256);
    for (size_t next = 0, i = 0; i < size - 1; i++) {
        if (i == next && i > 0)
            *out++ = '.';
        if (i == next)
            next += bytes[i] + 1U;
        else
            *out++ = (char)bytes[i];
    }
    *out = '\0';
}

/* "CODE ADDRESS ..."; a name where that was asked for. */
static const char *answer_text(void)
{
    static char text[512];
    size_t at_byte = 12, length;
    unsigned count = got[7];

    ck_assert_uint_ge(got_bytes, 12);
    ck_assert_int_eq(got[0] << 8 | got[1], 0x1234);
    ck_assert(got[2] & 0x80);
    length = (size_t)snprintf(text, sizeof(text), "%d", got[3] & 15);
    while (at_byte < got_bytes && got[at_byte])
        at_byte += got[at_byte] + 1U;
    at_byte += 5;
    for (; count > 0; count--) {
        size_t size = got[at_byte + 11];
        char address[256];

        ck_assert_uint_eq(got[at_byte + 9], 30);
        if (got[at_byte + 3] == PTR)
            name_text(got + at_byte + 12, size, address);
        else
            ck_assert_ptr_nonnull(inet_ntop(size == 4 ? AF_INET : AF_INET6, got + at_byte + 12,
                                            address, sizeof(address)));
        length += (size_t)snprintf(text + length, sizeof(text) - length, " %s", address);
        at_byte += 12 + size;
    }
    return text;
}

static const char *ask(const char *name, uint16_t type)
{
    uint8_t query[512];

    ask_bytes(query, write_query(query, 0x1234, name, type));
    return answer_text();
}

/* The extended error: "NUMBER TEXT". */
static const char *reason(void)
{
    static char text[300];
    size_t at_byte = 12;

    while (got[at_byte])
        at_byte += got[at_byte] + 1U;
    at_byte += 5 + 11;
    if (at_byte + 6 > got_bytes)
        return "none";
    (void)snprintf(text, sizeof(text), "%d %.*s", got[at_byte + 4] << 8 | got[at_byte + 5],
                   (int)(got_bytes - at_byte - 6), (const char *)got + at_byte + 6);
    return text;
}

static char event_bytes[EVENT_BYTES];

static bool hear(struct event *event)
{
    return event_receive(heard, event_bytes, event) == 1;
}

START_TEST(an_allowed_name_gets_the_address_that_stands_for_it)
{
    ck_assert_str_eq(ask("ok.example", DNS_A), "0 198.18.0.2");
    ck_assert_str_eq(ask("oK.eXample", DNS_AAAA), "0 fd53:5ec::2");
    ck_assert_str_eq(ask("six.example", DNS_A), "0 198.18.0.3");
    ck_assert_str_eq(ask("only.test", DNS_A), "0 198.18.0.4");
    ck_assert_uint_eq(stub.asked, 6);
    ck_assert_str_eq(ask("pinned.example", DNS_AAAA), "0 fd53:5ec::5");
    ck_assert_uint_eq(stub.asked, 6);
}
END_TEST

/* SECURITY: a name is a message to whoever answers for it. */
START_TEST(nobody_outside_hears_of_a_name_that_is_not_allowed)
{
    struct event event;

    ck_assert_str_eq(ask("secret.attacker.test", DNS_A), "3");
    ck_assert_str_eq(reason(), "18 bawn: unlisted");
    ck_assert(hear(&event));
    ck_assert_uint_eq(event.what, EVENT_BARRED);
    ck_assert_uint_eq(event.verdict, VERDICT_DENY);
    ck_assert_str_eq(event.texts[EVENT_CALL], "lookup");
    ck_assert_str_eq(event.texts[EVENT_PATH], "secret.attacker.test");
    ck_assert_str_eq(event.texts[EVENT_RULE], "unlisted");
    ck_assert_str_eq(event.texts[EVENT_CODE], "network.unlisted");
    ck_assert_str_eq(event.texts[EVENT_MESSAGE], "the host is not allowed");
    ck_assert_str_eq(event.texts[EVENT_HINT],
                     "add --allow-host 'secret.attacker.test', or save it: bawn policy save host "
                     "'secret.attacker.test'");
    ck_assert_str_eq(ask("denied.example", DNS_AAAA), "3");
    ck_assert_str_eq(reason(), "15 bawn: deny denied.example");
    ck_assert(hear(&event));
    for (unsigned i = 0; i < 3; i++)
        ck_assert_str_eq(ask("secret.attacker.test", (uint16_t[]){TXT, HTTPS, DNS_AAAA}[i]), "3");
    ck_assert(!hear(&event));
    ck_assert_uint_eq(stub.asked + stub.asked_by_tcp, 0);
}
END_TEST

/* Who is asked about it is asked when somebody connects to it. */
START_TEST(nobody_outside_hears_of_a_name_that_somebody_must_be_asked_about)
{
    struct event event;

    ck_assert_str_eq(ask("asked.test", DNS_A), "0 198.18.0.2");
    ck_assert_str_eq(ask("asked.test", DNS_AAAA), "0 fd53:5ec::2");
    ck_assert_str_eq(ask("asked.test", TXT), "0");
    ck_assert_str_eq(ask("asked.test", HTTPS), "0");
    ck_assert(!hear(&event));
    ck_assert_uint_eq(stub.asked + stub.asked_by_tcp, 0);
}
END_TEST

START_TEST(a_refusal_is_told_once_a_second)
{
    struct event event;
    char name[64];

    (void)ask("a.test", DNS_A);
    (void)ask("a.test", DNS_AAAA);
    ck_assert(hear(&event) && !hear(&event));
    usleep(1050000);
    (void)ask("a.test", DNS_A);
    ck_assert(hear(&event) && !hear(&event));
    /* More names than it remembers. */
    for (int i = 0; i < 600; i++) {
        (void)snprintf(name, sizeof(name), "n%d.test", i);
        (void)ask(name, DNS_A);
        ck_assert(hear(&event));
        ck_assert_str_eq(event.texts[EVENT_PATH], name);
    }
}
END_TEST

START_TEST(other_types_are_answered_without_asking)
{
    static const uint16_t types[] = {NS, CNAME, NULL_, MX, TXT, SRV, 64, HTTPS, ANY};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        ck_assert_str_eq(ask("ok.example", types[i]), "0");
        ck_assert_str_eq(ask("other.test", types[i]), "3");
    }
    ck_assert_str_eq(ask("2.0.18.198.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("_dns.resolver.arpa", 64), "3");
    ck_assert_uint_eq(stub.asked, 0);
}
END_TEST

START_TEST(an_address_that_stands_for_a_name_has_that_name)
{
    static const char v6[] =
        "2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.c.e.5.0.3.5.d.f.ip6.arpa";

    ck_assert_str_eq(ask("2.0.18.198.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("ok.example", DNS_A), "0 198.18.0.2");
    ck_assert_str_eq(ask("2.0.18.198.in-addr.arpa", PTR), "0 ok.example");
    ck_assert_str_eq(ask("2.0.18.198.IN-ADDR.arpa", PTR), "0 ok.example");
    ck_assert_str_eq(ask(v6, PTR), "0 ok.example");
    ck_assert_str_eq(ask("1.0.0.127.in-addr.arpa", PTR), "0 localhost");
    /* Of any other nobody is asked. */
    ck_assert_str_eq(ask("3.0.18.198.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("1.0.18.198.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("10.113.0.203.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("0.18.198.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("2.0.0.18.198.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("02.0.18.198.in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask(v6 + 2, PTR), "3");
    ck_assert_str_eq(ask("in-addr.arpa", PTR), "3");
    ck_assert_str_eq(ask("ok.example", PTR), "3");
    /* By another type the name of an address is no host's. */
    ck_assert_str_eq(ask("2.0.18.198.in-addr.arpa", DNS_A), "3");
}
END_TEST

START_TEST(localhost_is_the_sandbox_s_own)
{
    ck_assert_str_eq(ask("localhost", DNS_A), "0 127.0.0.1");
    ck_assert_str_eq(ask("a.LOCALHOST", DNS_AAAA), "0 ::1");
    ck_assert_str_eq(ask("localhost", MX), "0");
    ck_assert_str_eq(ask("notlocalhost", DNS_A), "3");
    ck_assert_uint_eq(stub.asked, 0);
}
END_TEST

START_TEST(what_is_outside_is_told_apart)
{
    ck_assert_str_eq(ask("gone.example", DNS_A), "3");
    ck_assert_str_eq(ask("empty.example", DNS_A), "0");
    ck_assert_str_eq(ask("failing.example", DNS_A), "2");
    ck_assert_str_eq(reason(), "none");
}
END_TEST

START_TEST(a_name_whose_addresses_are_not_allowed_is_not_there)
{
    struct event event;

    ck_assert_str_eq(ask("mixed.example", DNS_A), "3");
    ck_assert_str_eq(reason(), "18 bawn: special private");
    ck_assert(hear(&event));
    ck_assert_str_eq(event.texts[EVENT_RULE], "special private");
    ck_assert_str_eq(event.texts[EVENT_CODE], "network.special_address");
}
END_TEST

START_TEST(what_would_be_an_address_is_no_name)
{
    ck_assert_str_eq(ask("127.0.0.1", DNS_A), "3");
    ck_assert_str_eq(ask("a.example.1", DNS_A), "3");
    ck_assert_str_eq(ask("0x7f000001", DNS_A), "3");
    ck_assert_str_eq(ask("-a.example", DNS_A), "3");
    ck_assert_str_eq(ask("", DNS_A), "3");
    ck_assert_str_eq(ask("a b.example", DNS_A), "3");
    ck_assert_uint_eq(stub.asked, 0);
}
END_TEST

START_TEST(what_is_no_question_is_told_so_or_ignored)
{
    uint8_t query[512];
    size_t size = write_query(query, 0x1234, "ok.example", DNS_A);

    query[size - 12] = 3; /* the class */
    ask_bytes(query, size);
    ck_assert_str_eq(answer_text(), "4");
    (void)write_query(query, 0x1234, "ok.example", DNS_A);
    query[5] = 2;
    ask_bytes(query, size);
    ck_assert_str_eq(answer_text(), "1");
    query[2] = 0x28;
    ask_bytes(query, size);
    ck_assert_str_eq(answer_text(), "4");
    query[2] = 0x81;
    (void)sendto(client, query, size, 0, (const struct sockaddr *)&at, sizeof(at));
    (void)sendto(client, query, 5, 0, (const struct sockaddr *)&at, sizeof(at));
    (void)sendto(client, query, 0, 0, (const struct sockaddr *)&at, sizeof(at));
    ck_assert_str_eq(ask("localhost", DNS_A), "0 127.0.0.1");
    ck_assert_uint_eq(stub.asked, 0);
}
END_TEST

START_TEST(the_answer_comes_from_the_address_that_was_asked)
{
    const struct sockaddr_in *from = (const struct sockaddr_in *)&got_from;
    const struct sockaddr_in6 *from_v6 = (const struct sockaddr_in6 *)&got_from;
    uint8_t query[512];
    size_t size = write_query(query, 0x1234, "ok.example", DNS_A);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 0x3500);
    ask_bytes(query, size);
    ck_assert_str_eq(answer_text(), "0 198.18.0.2");
    ck_assert_uint_eq(from->sin_addr.s_addr, at.sin_addr.s_addr);
    ck_assert_uint_eq(from->sin_port, at.sin_port);
    ck_assert_int_gt(
        sendto(client_v6, query, size, 0, (const struct sockaddr *)&at_v6, sizeof(at_v6)), 0);
    await(client_v6);
    ck_assert_str_eq(answer_text(), "0 198.18.0.2");
    ck_assert_mem_eq(&from_v6->sin6_addr, &in6addr_loopback, sizeof(in6addr_loopback));
}
END_TEST

START_TEST(a_flood_fails_at_once_and_others_are_answered)
{
    uint8_t query[512];
    size_t size = write_query(query, 0x1234, "silent.example", DNS_A);
    int64_t start = clock_ms();

    for (int i = 0; i < 513; i++) {
        (void)sendto(client, query, size, 0, (const struct sockaddr *)&at, sizeof(at));
        /* The kernel keeps a few only. */
        if (i % 64 == 63)
            ck_assert_str_eq(ask("localhost", DNS_A), "0 127.0.0.1");
    }
    await(client);
    ck_assert_str_eq(answer_text(), "2");
    ck_assert_int_lt(clock_ms() - start, 4000);
    ck_assert_str_eq(ask("localhost", DNS_A), "0 127.0.0.1");
    ck_assert_str_eq(ask("other.test", DNS_A), "3");
    ck_assert_uint_le(stub.asked, 4);
}
END_TEST

static int connect_stream(void)
{
    struct sockaddr_in to;
    socklen_t size = sizeof(to);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&to, &size), 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    ck_assert_int_eq(resolve_take_tcp(resolver, accept4(listener, NULL, NULL, SOCK_CLOEXEC)), 0);
    return fd;
}

static size_t write_framed(uint8_t *out, const char *name, uint16_t type)
{
    size_t size = write_query(out + 2, 0x1234, name, type);

    out[0] = (uint8_t)(size >> 8);
    out[1] = (uint8_t)size;
    return 2 + size;
}

/* One answer of a stream, taken out of its frame. */
static const char *stream_answer(int fd)
{
    static uint8_t whole[sizeof(got)];
    static size_t have;
    size_t size;

    while (have < 2 || have < 2U + (size_t)(whole[0] << 8 | whole[1])) {
        await(fd);
        if (got_bytes == 0)
            return "closed";
        memcpy(whole + have, got, got_bytes);
        have += got_bytes;
    }
    size = (size_t)(whole[0] << 8 | whole[1]);
    memcpy(got, whole + 2, size);
    got_bytes = size;
    have -= 2 + size;
    memmove(whole, whole + 2 + size, have);
    return answer_text();
}

START_TEST(a_stream_asks_several_times)
{
    uint8_t bytes[2048];
    size_t size = write_framed(bytes, "ok.example", DNS_A);
    int fd = connect_stream();

    size += write_framed(bytes + size, "ok.example", DNS_AAAA);
    size += write_framed(bytes + size, "other.test", DNS_A);
    ck_assert_int_eq(send(fd, bytes, size, 0), (ssize_t)size);
    ck_assert_str_eq(stream_answer(fd), "0 198.18.0.2");
    ck_assert_str_eq(stream_answer(fd), "0 fd53:5ec::2");
    ck_assert_str_eq(stream_answer(fd), "3");
    ck_assert_str_eq(reason(), "18 bawn: unlisted");
    size = write_framed(bytes, "six.example", DNS_A);
    for (size_t i = 0; i < size; i++) {
        ck_assert_int_eq(send(fd, bytes + i, 1, 0), 1);
        if (i % 7 == 0)
            ck_assert_str_eq(ask("localhost", DNS_A), "0 127.0.0.1");
    }
    ck_assert_str_eq(stream_answer(fd), "0 198.18.0.3");
    close(fd);
    ck_assert_str_eq(ask("localhost", DNS_A), "0 127.0.0.1");
}
END_TEST

START_TEST(a_stream_with_what_is_no_question_is_closed)
{
    static const uint8_t wrong[][16] = {{0, 0}, {0xff, 0xff}, {0, 3, 1, 2, 3}};

    for (size_t i = 0; i < 3; i++) {
        int fd = connect_stream();

        ck_assert_int_eq(send(fd, wrong[i], 16, 0), 16);
        while (recv(fd, got, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
            (void)ask("localhost", DNS_A);
        close(fd);
    }
}
END_TEST

START_TEST(a_client_that_goes_is_forgotten)
{
    uint8_t bytes[512];
    size_t size = write_framed(bytes, "silent.example", DNS_A);
    struct linger reset = {.l_onoff = 1};

    for (int i = 0; i < 5; i++) {
        int fd = connect_stream();

        ck_assert_int_eq(send(fd, bytes, size, 0), (ssize_t)size);
        (void)ask("localhost", DNS_A);
        if (i % 2)
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fd);
        (void)ask("localhost", DNS_A);
    }
    ck_assert_str_eq(ask("silent.example", DNS_A), "2");
}
END_TEST

START_TEST(the_stream_that_was_not_used_for_the_longest_makes_room)
{
    uint8_t bytes[512];
    size_t size = write_framed(bytes, "localhost", DNS_A);
    int fds[65];

    for (int i = 0; i < 64; i++)
        fds[i] = connect_stream();
    ck_assert_int_eq(send(fds[0], bytes, size, 0), (ssize_t)size);
    ck_assert_str_eq(stream_answer(fds[0]), "0 127.0.0.1");
    fds[64] = connect_stream();
    ck_assert_int_eq(recv(fds[1], bytes, 1, MSG_DONTWAIT), 0);
    for (int i = 2; i < 65; i++)
        ck_assert_int_lt(recv(fds[i], bytes, 1, MSG_DONTWAIT), 0);
    (void)write_framed(bytes, "localhost", DNS_A);
    ck_assert_int_eq(send(fds[0], bytes, size, 0), (ssize_t)size);
    ck_assert_str_eq(stream_answer(fds[0]), "0 127.0.0.1");
    for (int i = 0; i < 65; i++)
        close(fds[i]);
}
END_TEST

START_TEST(a_stream_that_asks_nothing_is_closed)
{
    int64_t start = clock_ms();
    int fd = connect_stream();
    struct hub_source source = {.fd = fd, .events = EPOLLIN, .ready = on_client};

    source.context = &source;
    ck_assert_int_eq(hub_add(&hub, &source, NULL), 0);
    stub_run(&hub, 12000);
    hub_remove(&hub, &source);
    ck_assert_uint_eq(got_bytes, 0);
    ck_assert_int_ge(clock_ms() - start, 9900);
    close(fd);
}
END_TEST

START_TEST(it_ends_with_questions_that_wait)
{
    uint8_t bytes[512];
    size_t size = write_framed(bytes, "silent.example", DNS_A);
    int fd = connect_stream();

    ck_assert_int_eq(send(fd, bytes, size, 0), (ssize_t)size);
    (void)sendto(client, bytes + 2, size - 2, 0, (const struct sockaddr *)&at, sizeof(at));
    ck_assert_str_eq(ask("localhost", DNS_A), "0 127.0.0.1");
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resolver");
    TCase *tests = tcase_create("resolver");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, an_allowed_name_gets_the_address_that_stands_for_it);
    tcase_add_test(tests, nobody_outside_hears_of_a_name_that_is_not_allowed);
    tcase_add_test(tests, nobody_outside_hears_of_a_name_that_somebody_must_be_asked_about);
    tcase_add_test(tests, a_refusal_is_told_once_a_second);
    tcase_add_test(tests, other_types_are_answered_without_asking);
    tcase_add_test(tests, an_address_that_stands_for_a_name_has_that_name);
    tcase_add_test(tests, localhost_is_the_sandbox_s_own);
    tcase_add_test(tests, what_is_outside_is_told_apart);
    tcase_add_test(tests, a_name_whose_addresses_are_not_allowed_is_not_there);
    tcase_add_test(tests, what_would_be_an_address_is_no_name);
    tcase_add_test(tests, what_is_no_question_is_told_so_or_ignored);
    tcase_add_test(tests, the_answer_comes_from_the_address_that_was_asked);
    tcase_add_test(tests, a_flood_fails_at_once_and_others_are_answered);
    tcase_add_test(tests, a_stream_asks_several_times);
    tcase_add_test(tests, a_stream_with_what_is_no_question_is_closed);
    tcase_add_test(tests, a_client_that_goes_is_forgotten);
    tcase_add_test(tests, the_stream_that_was_not_used_for_the_longest_makes_room);
    tcase_add_test(tests, a_stream_that_asks_nothing_is_closed);
    tcase_add_test(tests, it_ends_with_questions_that_wait);
    suite_add_tcase(suite, tests);
    return test_run(suite, "resolver");
}
