/* SPDX-License-Identifier: Apache-2.0 */
/* Who has the other end of a connection: the kernel is asked, and /proc. */
#include "base/clock.h"
#include "kernel/sys.h"
#include "kernel/who.h"
#include "lib/test.h"
#include "session/clients.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_LIFE_SECONDS = 20 };

static int diag_fd;

static void open_diag(void)
{
    diag_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ck_assert_int_ge(diag_fd, 0);
}

static void close_diag(void)
{
    (void)close(diag_fd);
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t loopback(int family, uint16_t port, union address *ret_address)
{
    *ret_address = (union address){.any = {.sa_family = (sa_family_t)family}};
    if (family == AF_INET) {
        ret_address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ret_address->v4.sin_port = port;
        return sizeof(ret_address->v4);
    }
    ret_address->v6.sin6_addr = (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
    ret_address->v6.sin6_port = port;
    return sizeof(ret_address->v6);
}

static void put_end(const union address *address, unsigned char bytes[16], uint16_t *ret_port)
{
    if (address->any.sa_family == AF_INET)
        memcpy(bytes, &address->v4.sin_addr, 4);
    else
        memcpy(bytes, &address->v6.sin6_addr, 16);
    *ret_port =
        ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
}

/* As the server of an accepted connection has them. */
static struct net_ends ends_of(int accepted)
{
    union address peer = {0}, local = {0};
    socklen_t size = sizeof(peer);
    struct net_ends ends = {.protocol = IPPROTO_TCP};

    ck_assert_int_eq(getpeername(accepted, &peer.any, &size), 0);
    size = sizeof(local);
    ck_assert_int_eq(getsockname(accepted, &local.any, &size), 0);
    ends.family = peer.any.sa_family;
    put_end(&peer, ends.client, &ends.client_port);
    put_end(&local, ends.server, &ends.server_port);
    return ends;
}

struct pair {
    int listener, client, accepted;
};

static struct pair make_pair(int family)
{
    union address address;
    socklen_t size = loopback(family, 0, &address);
    struct pair pair = {.listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0),
                        .client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)};

    ck_assert_int_eq(bind(pair.listener, &address.any, size), 0);
    ck_assert_int_eq(listen(pair.listener, 8), 0);
    ck_assert_int_eq(getsockname(pair.listener, &address.any, &size), 0);
    ck_assert_int_eq(connect(pair.client, &address.any, size), 0);
    pair.accepted = accept4(pair.listener, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(pair.accepted, 0);
    return pair;
}

static uint64_t number_of(int fd)
{
    struct stat found;

    ck_assert_int_eq(fstat(fd, &found), 0);
    return found.st_ino;
}

static void finds_client(const struct pair *pair)
{
    struct net_ends ends = ends_of(pair->accepted);
    uint64_t number = 0;

    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), 0);
    ck_assert_uint_eq(number, number_of(pair->client));
}

START_TEST(client_of_a_connection_is_found)
{
    struct pair v4 = make_pair(AF_INET);
    struct pair other = make_pair(AF_INET);
    struct pair v6 = make_pair(AF_INET6);

    finds_client(&v4);
    finds_client(&v6);
    finds_client(&other);
}
END_TEST

/* Java and many others have one kind of socket for both. */
START_TEST(client_with_a_mapped_address_is_found)
{
    union address address;
    socklen_t size = loopback(AF_INET, 0, &address);
    struct pair pair = {.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                        .client = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    union address mapped = {.v6 = {.sin6_family = AF_INET6}};

    ck_assert_int_eq(bind(pair.listener, &address.any, size), 0);
    ck_assert_int_eq(listen(pair.listener, 8), 0);
    ck_assert_int_eq(getsockname(pair.listener, &address.any, &size), 0);
    ck_assert_int_eq(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.v6.sin6_addr), 1);
    mapped.v6.sin6_port = address.v4.sin_port;
    ck_assert_int_eq(connect(pair.client, &mapped.any, sizeof(mapped.v6)), 0);
    pair.accepted = accept4(pair.listener, NULL, NULL, SOCK_CLOEXEC);
    finds_client(&pair);
}
END_TEST

START_TEST(sender_of_a_datagram_is_found)
{
    union address address, from;
    socklen_t size = loopback(AF_INET, 0, &address);
    int server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct net_ends ends = {.family = AF_INET, .protocol = IPPROTO_UDP};
    uint64_t number = 0;
    char byte;

    ck_assert_int_eq(bind(server, &address.any, size), 0);
    ck_assert_int_eq(getsockname(server, &address.any, &size), 0);
    ck_assert_int_eq(sendto(client, "x", 1, 0, &address.any, size), 1);
    ck_assert_int_eq(recvfrom(server, &byte, 1, 0, &from.any, &size), 1);
    put_end(&from, ends.client, &ends.client_port);
    put_end(&address, ends.server, &ends.server_port);
    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), 0);
    ck_assert_uint_eq(number, number_of(client));
    /* One that is connected too. */
    ck_assert_int_eq(connect(client, &address.any, size), 0);
    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), 0);
    ck_assert_uint_eq(number, number_of(client));
    (void)close(client);
    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), -ENOENT);
}
END_TEST

START_TEST(closed_client_is_unknown)
{
    struct pair pair = make_pair(AF_INET);
    struct net_ends ends = ends_of(pair.accepted);
    uint64_t number = 0;

    (void)close(pair.client);
    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), -ENOENT);
    (void)close(pair.accepted);
    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), -ENOENT);
}
END_TEST

START_TEST(listener_is_no_client)
{
    struct pair pair = make_pair(AF_INET);
    struct net_ends ends = ends_of(pair.accepted);
    uint64_t number = 0;

    /* A connection from the listener's port that there is none of. */
    ends.client_port = ends.server_port;
    ends.server_port = 9;
    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), -ENOENT);
}
END_TEST

static void send_fd(int sock, int fd)
{
    char byte = 0;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    if (sendmsg(sock, &message, 0) < 0)
        _exit(98);
}

static int receive_fd(int sock)
{
    char byte;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    int fd = -1;

    if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    return fd;
}

_Noreturn static void live_elsewhere(int sock)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    struct pair pair;

    alarm(CHILD_LIFE_SECONDS);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        _exit(77);
    if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &request) < 0)
        _exit(98);
    send_fd(sock, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    pair = make_pair(AF_INET);
    send_fd(sock, pair.accepted);
    send_fd(sock, pair.client);
    for (;;)
        pause();
}

START_TEST(socket_made_in_a_namespace_tells_of_that_one)
{
    struct net_ends ends;
    uint64_t number = 0;
    int sockets[2];
    int inside, accepted, client;
    pid_t pid;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    if ((pid = fork()) == 0)
        live_elsewhere(sockets[1]);
    (void)close(sockets[1]);
    inside = receive_fd(sockets[0]);
    if (inside < 0) {
        test_skip("socket_made_in_a_namespace_tells_of_that_one", "no user namespace");
        return;
    }
    accepted = receive_fd(sockets[0]);
    client = receive_fd(sockets[0]);
    ends = ends_of(accepted);
    ck_assert_int_eq(who_socket(inside, &ends, &number), 0);
    ck_assert_uint_eq(number, number_of(client));
    ck_assert_int_eq(who_socket(diag_fd, &ends, &number), -ENOENT);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* The tree of a sandbox: what be does runs as a child of its pid 1. */
static pid_t start_tree(void (*be)(int fd, int ready), int fd, unsigned awaited)
{
    int ready[2];
    pid_t init;

    ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
    if ((init = fork()) == 0) {
        (void)setpgid(0, 0);
        alarm(CHILD_LIFE_SECONDS);
        if (fork() == 0) {
            alarm(CHILD_LIFE_SECONDS);
            be(fd, ready[1]);
            _exit(98);
        }
        for (;;)
            pause();
    }
    (void)setpgid(init, init);
    (void)close(ready[1]);
    for (char byte; awaited > 0; awaited--)
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    return init;
}

static void end_tree(pid_t init)
{
    ck_assert_int_eq(kill(-init, SIGKILL), 0);
    ck_assert_int_eq(waitpid(init, NULL, 0), init);
}

_Noreturn static void rest(int ready)
{
    (void)!write(ready, "x", 1);
    for (;;)
        pause();
}

struct found {
    pid_t pids[8];
    unsigned count, most;
};

static bool note(void *context, pid_t pid, int dir_fd)
{
    struct found *found = context;

    (void)dir_fd;
    found->pids[found->count++] = pid;
    return found->count < found->most;
}

static struct found find(pid_t init, int fd, unsigned most, int expected)
{
    struct found found = {.most = most};

    ck_assert_int_eq(who_has(init, number_of(fd), note, &found), expected);
    return found;
}

static void be_alone(int fd, int ready)
{
    (void)fd;
    rest(ready);
}

static void be_two(int fd, int ready)
{
    (void)fd;
    if (fork() == 0)
        rest(ready);
    rest(ready);
}

START_TEST(every_process_that_has_it_is_found)
{
    struct pair pair = make_pair(AF_INET);
    pid_t init = start_tree(be_two, pair.client, 2);
    struct found found = find(init, pair.client, 8, 0);

    ck_assert_uint_eq(found.count, 2);
    ck_assert_int_ne(found.pids[0], found.pids[1]);
    ck_assert_int_ne(found.pids[0], init);
    ck_assert_uint_eq(find(init, pair.client, 1, 0).count, 1);
    end_tree(init);
}
END_TEST

static void have_closed(int fd, int ready)
{
    (void)close(fd);
    rest(ready);
}

START_TEST(who_has_closed_it_is_not_found)
{
    struct pair pair = make_pair(AF_INET);
    pid_t init = start_tree(have_closed, pair.client, 1);

    ck_assert_uint_eq(find(init, pair.client, 8, 0).count, 0);
    end_tree(init);
}
END_TEST

struct thread_work {
    int fd, ready;
};

static void *keep_in_own_table(void *context)
{
    const struct thread_work *work = context;

    if (unshare(CLONE_FILES) < 0)
        _exit(98);
    rest(work->ready);
}

/* The process as a whole has closed it. */
static void hide_in_thread(int fd, int ready)
{
    static struct thread_work work;
    pthread_t thread;
    char byte;
    int own[2];

    if (pipe(own) < 0)
        _exit(98);
    work = (struct thread_work){.fd = fd, .ready = own[1]};
    if (pthread_create(&thread, NULL, keep_in_own_table, &work) != 0 || read(own[0], &byte, 1) != 1)
        _exit(98);
    (void)close(fd);
    rest(ready);
}

START_TEST(table_of_a_thread_is_looked_at)
{
    struct pair pair = make_pair(AF_INET);
    pid_t init = start_tree(hide_in_thread, pair.client, 1);

    ck_assert_uint_eq(find(init, pair.client, 8, 0).count, 1);
    end_tree(init);
}
END_TEST

static void *outlive_the_first(void *context)
{
    const struct thread_work *work = context;

    (void)usleep(100000);
    rest(work->ready);
}

static void end_first_thread(int fd, int ready)
{
    static struct thread_work work;
    pthread_t thread;

    work = (struct thread_work){.fd = fd, .ready = ready};
    if (pthread_create(&thread, NULL, outlive_the_first, &work) != 0)
        _exit(98);
    pthread_exit(NULL);
}

START_TEST(process_without_its_first_thread_is_looked_at)
{
    struct pair pair = make_pair(AF_INET);
    pid_t init = start_tree(end_first_thread, pair.client, 1);

    ck_assert_uint_eq(find(init, pair.client, 8, 0).count, 1);
    end_tree(init);
}
END_TEST

static void hide(int fd, int ready)
{
    (void)fd;
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    rest(ready);
}

START_TEST(process_that_cannot_be_looked_at_is_told)
{
    struct pair pair = make_pair(AF_INET);
    pid_t init = start_tree(hide, pair.client, 1);

    ck_assert_uint_eq(find(init, pair.client, 8, -EACCES).count, 0);
    end_tree(init);
}
END_TEST

static void have_many(int fd, int ready)
{
    const struct rlimit more = {.rlim_cur = WHO_DESCRIPTORS + 64, .rlim_max = WHO_DESCRIPTORS + 64};
    int last = 0;

    (void)setrlimit(RLIMIT_NOFILE, &more);
    (void)close(fd);
    while (last < WHO_DESCRIPTORS && last >= 0)
        last = dup(0);
    if (last < 0)
        _exit(98);
    rest(ready);
}

static void have_some(int fd, int ready)
{
    int last = 0;

    while (last >= 0 && last < 500)
        last = dup(0);
    /* Behind all others. */
    if (last < 0 || dup2(fd, 900) < 0 || close(fd) < 0)
        _exit(98);
    rest(ready);
}

START_TEST(work_has_an_end)
{
    struct pair pair = make_pair(AF_INET);
    struct rlimit limit;
    pid_t init;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < WHO_DESCRIPTORS + 64) {
        test_skip("work_has_an_end", "too few descriptors");
        return;
    }
    init = start_tree(have_many, pair.client, 1);
    ck_assert_uint_eq(find(init, pair.client, 8, -E2BIG).count, 0);
    end_tree(init);
}
END_TEST

/* A command that connects all the time, and has much to look at. */
START_TEST(questions_take_a_part_of_each_second)
{
    struct pair pair = make_pair(AF_INET);
    struct net_question question = {.kind = NET_WHO, .ends = ends_of(pair.accepted)};
    struct launch launch = {.diag_fd = diag_fd, .root_fd = -EBADF};
    static const struct image image; /* without a rule */
    struct clients clients;
    struct net_answer answer;
    unsigned known = 0;
    int64_t began;

    launch.pid = start_tree(have_some, pair.client, 1);
    clients_init(&clients, &launch, &image);
    began = clock_usec();
    for (unsigned i = 0; i < 5000; i++) {
        question.number = i;
        clients_answer(&clients, &question, &answer);
        ck_assert_uint_eq(answer.number, i);
        known += answer.pid != 0;
    }
    ck_assert_uint_ge(known, 1);
    ck_assert_uint_lt(known, 5000);
    /* Twice a tenth of a second, if a second ends meanwhile. */
    ck_assert_int_lt(clock_usec() - began, 900000);
    (void)usleep(1100000);
    clients_answer(&clients, &question, &answer);
    ck_assert_int_ne(answer.pid, 0);
    ck_assert_str_eq(answer.comm, "test_who");
    ck_assert_uint_eq(answer.programs, 0);
    end_tree(launch.pid);
}
END_TEST

/* 0: all is as it should be. */
static int looks_at_files(const char *dir)
{
    struct sys_mount_attr read_only = {.attr_set = SYS_MOUNT_RDONLY};
    struct who_program file;
    struct stat found;
    int fd = openat(AT_FDCWD, dir, O_PATH | O_CLOEXEC);

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return 77;
    if (fchdir(fd) < 0 || stat("one", &found) < 0)
        return 1;
    if (!who_file(open("one", O_PATH | O_CLOEXEC), found.st_uid, &file) || file.is_held)
        return 2;
    if (mount(dir, dir, NULL, MS_BIND, NULL) < 0 || chdir(dir) < 0 ||
        sys_mount_setattr(AT_FDCWD, dir, 0, &read_only) < 0)
        return 3;
    if (!who_file(open("one", O_PATH | O_CLOEXEC), found.st_uid, &file) || !file.is_held ||
        file.inode != found.st_ino || file.device != found.st_dev)
        return 4;
    /* Its other name may lie where the command writes. */
    if (!who_file(open("two", O_PATH | O_CLOEXEC), found.st_uid, &file) || file.is_held)
        return 5;
    if (!who_file(open("two", O_PATH | O_CLOEXEC), found.st_uid + 1, &file) || !file.is_held)
        return 6;
    if (!who_file(open("open", O_PATH | O_CLOEXEC), found.st_uid + 1, &file) || file.is_held)
        return 7;
    return who_file(open(".", O_PATH | O_CLOEXEC), found.st_uid, &file) ? 8 : 0;
}

static void make_file(const char *dir, const char *name, const char *other, mode_t mode)
{
    char path[TEST_DIR_BYTES + 16], more[TEST_DIR_BYTES + 16];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    (void)close(fd);
    (void)snprintf(more, sizeof(more), "%s/%s", dir, other ? other : "");
    if (other)
        ck_assert_int_eq(link(path, more), 0);
}

START_TEST(program_is_held_where_nobody_can_write_it)
{
    char dir[TEST_DIR_BYTES];
    int status;
    pid_t pid;

    test_make_dir(dir, "held");
    make_file(dir, "one", NULL, 0755);
    make_file(dir, "two", "second", 0755);
    make_file(dir, "open", "opened", 0775);
    if ((pid = fork()) == 0)
        _exit(looks_at_files(dir));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (WEXITSTATUS(status) == 77) {
        test_skip("program_is_held_where_nobody_can_write_it", "no user namespace");
        return;
    }
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(parent_and_program_are_told)
{
    struct pair pair = make_pair(AF_INET);
    pid_t init = start_tree(be_alone, pair.client, 1);
    struct found found = find(init, pair.client, 8, 0);
    struct who_program its, own;
    struct stat exe;
    char path[64], comm[NET_COMM_BYTES], shown[NET_EXE_BYTES];
    pid_t parent = 0;
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)found.pids[0]);
    fd = open(path, O_PATH | O_CLOEXEC);
    who_name(fd, comm, shown);
    ck_assert_str_eq(comm, "test_who");
    ck_assert_ptr_nonnull(strstr(shown, "/test_who"));
    ck_assert_int_ge(who_parent(fd, &parent), 0);
    ck_assert_int_eq(parent, init);
    ck_assert_int_eq(stat("/proc/self/exe", &exe), 0);
    ck_assert(who_program(fd, geteuid(), &its));
    ck_assert_uint_eq(its.inode, exe.st_ino);
    ck_assert(who_file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), geteuid(), &own));
    ck_assert_uint_eq(its.device, own.device);
    end_tree(init);
    /* Its child may take a moment longer. */
    for (int i = 0; i < 500 && who_program(fd, geteuid(), &its); i++)
        (void)usleep(10000);
    ck_assert(!who_program(fd, geteuid(), &its));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("who");
    TCase *cases = tcase_create("who");

    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, open_diag, close_diag);
    tcase_add_test(cases, client_of_a_connection_is_found);
    tcase_add_test(cases, client_with_a_mapped_address_is_found);
    tcase_add_test(cases, sender_of_a_datagram_is_found);
    tcase_add_test(cases, closed_client_is_unknown);
    tcase_add_test(cases, listener_is_no_client);
    tcase_add_test(cases, socket_made_in_a_namespace_tells_of_that_one);
    tcase_add_test(cases, every_process_that_has_it_is_found);
    tcase_add_test(cases, who_has_closed_it_is_not_found);
    tcase_add_test(cases, table_of_a_thread_is_looked_at);
    tcase_add_test(cases, process_without_its_first_thread_is_looked_at);
    /* Root looks at everybody. */
    if (geteuid() != 0)
        tcase_add_test(cases, process_that_cannot_be_looked_at_is_told);
    tcase_add_test(cases, work_has_an_end);
    tcase_add_test(cases, questions_take_a_part_of_each_second);
    tcase_add_test(cases, program_is_held_where_nobody_can_write_it);
    tcase_add_test(cases, parent_and_program_are_told);
    suite_add_tcase(suite, cases);
    return test_run(suite, "who");
}
