/* SPDX-License-Identifier: Apache-2.0 */
/* A socket that is handed in: that the bar alone keeps it with its server, whatever else fails. */
#include "lib/test.h"
#include "supervise/handed.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ANSWER_MS = 700, LOCKED = 44 };

static uint64_t net_before;

/* A network of its own, in which anybody may set filters. */
static void enter(void)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    net_before = handed_net(sock);
    (void)close(sock);
    ck_assert_int_eq(unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET), 0);
    sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(ioctl(sock, SIOCSIFFLAGS, &loopback), 0);
    (void)close(sock);
}

static struct sockaddr_storage address_of(int family)
{
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;

    if (family == AF_INET)
        ((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)&address)->sin6_addr = loopback;
    return address;
}

static int serve(int family, struct sockaddr_storage *ret_address)
{
    socklen_t size = sizeof(*ret_address);
    int sock = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *ret_address = address_of(family);
    ck_assert_int_eq(bind(sock, (struct sockaddr *)ret_address, size), 0);
    ck_assert_int_eq(listen(sock, 4), 0);
    ck_assert_int_eq(getsockname(sock, (struct sockaddr *)ret_address, &size), 0);
    return sock;
}

/* 0: it is connected, within the time that any answer takes. */
static int reach(int sock, const struct sockaddr_storage *address)
{
    struct pollfd ready = {.fd = sock, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof(error);

    (void)fcntl(sock, F_SETFL, O_NONBLOCK);
    if (connect(sock, (const struct sockaddr *)address, sizeof(*address)) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return -errno;
    if (poll(&ready, 1, ANSWER_MS) != 1)
        return -ETIMEDOUT;
    (void)getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &size);
    return -error;
}

/* Connected, barred, and known to work. */
static int make_handed(int family, const struct sockaddr_storage *server, int listener)
{
    int sock = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char byte = 'x';
    int other;

    ck_assert_int_eq(reach(sock, server), 0);
    other = accept(listener, NULL, NULL);
    ck_assert_int_ge(other, 0);
    ck_assert_int_eq(handed_bar(sock, server), 0);
    ck_assert_int_eq((int)send(other, &byte, 1, 0), 1);
    (void)fcntl(sock, F_SETFL, 0);
    ck_assert_int_eq((int)recv(sock, &byte, 1, 0), 1);
    (void)close(other);
    return sock;
}

static void take_off(int sock)
{
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

    ck_assert_int_eq(connect(sock, &nowhere, sizeof(nowhere)), 0);
}

static const int families[] = {AF_INET, AF_INET6};

START_TEST(a_barred_socket_that_is_connected_elsewhere_hears_no_answer)
{
    struct sockaddr_storage server, elsewhere;
    int listener, other, sock;

    enter();
    listener = serve(families[_i], &server);
    other = serve(families[_i], &elsewhere);
    sock = make_handed(families[_i], &server, listener);
    take_off(sock);
    ck_assert_int_eq(reach(sock, &elsewhere), -ETIMEDOUT);
    take_off(sock);
    /* It was not because it could not be connected any more. */
    ck_assert_int_eq(reach(sock, &server), 0);
    (void)close(other);
}
END_TEST

START_TEST(a_barred_socket_that_listens_answers_nobody)
{
    struct sockaddr_storage server, own;
    socklen_t size = sizeof(own);
    int listener, sock;
    int client = socket(families[_i], SOCK_STREAM | SOCK_CLOEXEC, 0);

    enter();
    (void)close(client);
    client = socket(families[_i], SOCK_STREAM | SOCK_CLOEXEC, 0);
    listener = serve(families[_i], &server);
    sock = make_handed(families[_i], &server, listener);
    take_off(sock);
    ck_assert_int_eq(listen(sock, 4), 0);
    ck_assert_int_eq(getsockname(sock, (struct sockaddr *)&own, &size), 0);
    if (families[_i] == AF_INET)
        ((struct sockaddr_in *)&own)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)&own)->sin6_addr =
            ((const struct sockaddr_in6 *)&server)->sin6_addr;
    ck_assert_int_eq(reach(client, &own), -ETIMEDOUT);
}
END_TEST

START_TEST(nobody_takes_the_bar_off)
{
    struct sockaddr_storage server;
    int listener, sock;
    int zero = 0;

    enter();
    listener = serve(AF_INET, &server);
    sock = make_handed(AF_INET, &server, listener);
    ck_assert_int_eq(setsockopt(sock, SOL_SOCKET, SO_DETACH_FILTER, &zero, sizeof(zero)), -1);
    ck_assert_int_eq(errno, EPERM);
    ck_assert_int_eq(setsockopt(sock, SOL_SOCKET, LOCKED, &zero, sizeof(zero)), -1);
    ck_assert_int_eq(errno, EPERM);
    ck_assert_int_lt(handed_bar(sock, &server), 0);
}
END_TEST

START_TEST(what_connect_says_is_told_as_the_kernel_would)
{
    struct sockaddr_storage server, gone;
    int listener, sock;

    enter();
    listener = serve(AF_INET, &server);
    sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(reach(sock, &server), 0);
    ck_assert_int_eq(handed_settle(sock), 0);
    ck_assert_int_eq(handed_settle(sock), -EISCONN);
    ck_assert_int_eq(handed_settle(listener), -EISCONN);
    (void)close(sock);
    (void)close(serve(AF_INET, &gone));
    sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(sock, (struct sockaddr *)&gone, sizeof(gone));
    (void)usleep(ANSWER_MS * 100);
    ck_assert_int_eq(handed_settle(sock), -ECONNREFUSED);
    /* SECURITY: and it is not connected once more by that. */
    ck_assert_int_eq(handed_settle(sock), -ECONNABORTED);
}
END_TEST

START_TEST(a_socket_is_known_by_its_network_and_kind)
{
    int inside, datagrams, pair[2];

    enter();
    inside = socket(AF_INET6, SOCK_STREAM, 0);
    datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ck_assert(handed_is_tcp(inside) && !handed_is_tcp(datagrams) && !handed_is_tcp(pair[0]));
    ck_assert(!handed_is_tcp(0x7fff));
    ck_assert(handed_net(inside) && handed_net(inside) == handed_net(datagrams));
    ck_assert(handed_net(inside) != net_before && net_before);
    ck_assert_uint_eq(handed_net(0x7fff), 0);
}
END_TEST

START_TEST(options_are_those_of_the_client)
{
    int from, to;
    int yes = 1, bytes = 30000, got = 0;
    struct linger linger = {1, 7}, its = {0};
    socklen_t size = sizeof(int), linger_bytes = sizeof(linger);

    enter();
    from = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    to = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)), 0);
    ck_assert_int_eq(setsockopt(from, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    ck_assert_int_eq(setsockopt(from, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
    handed_copy_options(from, to);
    ck_assert_int_eq(getsockopt(to, IPPROTO_TCP, TCP_NODELAY, &got, &size), 0);
    ck_assert_int_ne(got, 0);
    ck_assert_int_eq(getsockopt(to, SOL_SOCKET, SO_LINGER, &its, &linger_bytes), 0);
    ck_assert(its.l_onoff == 1 && its.l_linger == 7);
    ck_assert_int_eq(getsockopt(to, SOL_SOCKET, SO_RCVBUF, &got, &size), 0);
    ck_assert_int_eq(got, 2 * bytes);
    ck_assert(fcntl(to, F_GETFL) & O_NONBLOCK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handed");
    TCase *all = tcase_create("handed");

    tcase_add_loop_test(all, a_barred_socket_that_is_connected_elsewhere_hears_no_answer, 0, 2);
    tcase_add_loop_test(all, a_barred_socket_that_listens_answers_nobody, 0, 2);
    tcase_add_test(all, nobody_takes_the_bar_off);
    tcase_add_test(all, what_connect_says_is_told_as_the_kernel_would);
    tcase_add_test(all, a_socket_is_known_by_its_network_and_kind);
    tcase_add_test(all, options_are_those_of_the_client);
    suite_add_tcase(suite, all);
    return test_run(suite, "handed");
}
