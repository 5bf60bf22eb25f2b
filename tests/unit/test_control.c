/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between a session and its clients: what is broken is refused, and leaks nothing. */
#include "lib/test.h"
#include "wire/control.h"
#include "wire/strings.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int pair[2];

static void open_pair(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
}

static size_t count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count;
}

static struct control_message message_of(enum control_kind kind)
{
    return (struct control_message){.version = CONTROL_VERSION, .kind = (uint32_t)kind};
}

static int receive(struct control_message *message, char *bytes, size_t room, size_t *ret_size)
{
    int fds[CONTROL_FDS];
    int result = control_receive(pair[1], message, bytes, room, ret_size, fds);

    for (int i = 0; i < CONTROL_FDS; i++) {
        if (fds[i] >= 0)
            (void)close(fds[i]);
    }
    return result;
}

START_TEST(a_command_arrives_as_it_was_sent)
{
    struct control_message sent = message_of(CONTROL_EXEC), got;
    char *argv[] = {(char[]){"a"}, (char[]){""}, (char[]){"c d"}, NULL};
    char *envp[] = {(char[]){"X=1"}, NULL};
    struct control_strings strings;
    char *bytes, room[256];
    size_t size;

    open_pair();
    sent.job = 7;
    ck_assert_int_eq(control_strings_join(&sent, argv, envp, &bytes, &size), 0);
    ck_assert_int_eq(control_send(pair[0], &sent, bytes, size, pair, 2), 0);
    free(bytes);
    ck_assert_int_eq(receive(&got, room, sizeof(room), &size), 0);
    ck_assert_uint_eq(got.job, 7);
    ck_assert_int_eq(control_strings_split(&got, room, size, &strings), 0);
    ck_assert_str_eq(strings.argv[0], "a");
    ck_assert_str_eq(strings.argv[1], "");
    ck_assert_str_eq(strings.argv[2], "c d");
    ck_assert_ptr_null(strings.argv[3]);
    ck_assert_str_eq(strings.envp[0], "X=1");
    ck_assert_ptr_null(strings.envp[1]);
    free(strings.argv);
}
END_TEST

/* args, envs and the bytes behind them, which must not fit together. */
static const struct {
    uint32_t args, envs;
    const char *bytes;
    size_t size;
} broken[] = {
    {0, 0, "", 1},               /* no command */
    {1, 0, "", 0},               /* nothing there */
    {1, 0, "abc", 3},            /* not ended */
    {2, 0, "abc", 4},            /* one is missing */
    {1, 0, "a\0b", 4},           /* one too many */
    {1, 1, "a", 2},              /* no variable */
    {UINT32_MAX, 2, "a\0b", 4},  /* more than there can be */
    {1, UINT32_MAX, "a\0b", 4},  /* the sum wraps */
    {STRINGS_MAX, 1, "a\0b", 4}, /* one more than allowed */
};

START_TEST(strings_that_do_not_fit_are_refused)
{
    struct control_message message = message_of(CONTROL_EXEC);
    struct control_strings strings = {0};
    char bytes[16] = {0};

    message.args = broken[_i].args;
    message.envs = broken[_i].envs;
    memcpy(bytes, broken[_i].bytes, broken[_i].size);
    ck_assert_int_eq(control_strings_split(&message, bytes, broken[_i].size, &strings), -EPROTO);
    ck_assert_ptr_null(strings.argv);
}
END_TEST

START_TEST(a_message_of_another_version_or_kind_is_refused)
{
    struct control_message message = message_of(CONTROL_COUNT);

    open_pair();
    ck_assert_int_eq(control_send(pair[0], &message, NULL, 0, NULL, 0), 0);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPROTO);
    message = message_of(CONTROL_STOP);
    message.version++;
    ck_assert_int_eq(control_send(pair[0], &message, NULL, 0, NULL, 0), 0);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPROTO);
}
END_TEST

START_TEST(a_message_that_is_cut_or_too_long_is_refused)
{
    struct control_message message = message_of(CONTROL_STOP);
    char room[8];
    size_t size;

    open_pair();
    ck_assert_int_eq(send(pair[0], &message, sizeof(message) - 1, 0), sizeof(message) - 1);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPROTO);
    message = message_of(CONTROL_STOP);
    ck_assert_int_eq(control_send(pair[0], &message, "123456789", 9, NULL, 0), 0);
    ck_assert_int_eq(receive(&message, room, sizeof(room), &size), -EPROTO);
    message = message_of(CONTROL_STOP);
    ck_assert_int_eq(control_send(pair[0], &message, "12345678", 8, NULL, 0), 0);
    ck_assert_int_eq(receive(&message, room, sizeof(room), &size), 0);
    ck_assert_uint_eq(size, 8);
}
END_TEST

START_TEST(the_end_of_the_other_side_is_told)
{
    struct control_message message;

    open_pair();
    (void)close(pair[0]);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPIPE);
}
END_TEST

START_TEST(the_last_word_is_heard_though_something_was_left_unread)
{
    struct control_message message = message_of(CONTROL_EXITED);

    open_pair();
    ck_assert_int_eq(control_send(pair[0], &message, NULL, 0, NULL, 0), 0);
    message = message_of(CONTROL_RESIZE);
    ck_assert_int_eq(control_send(pair[1], &message, NULL, 0, NULL, 0), 0);
    (void)close(pair[0]);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), 0);
    ck_assert_uint_eq(message.kind, CONTROL_EXITED);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPIPE);
}
END_TEST

/* Sends count descriptors beside a message, more than control_send would. */
static void send_many(const struct control_message *message, size_t count)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int) * 200)];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)message, sizeof(*message)};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_SPACE(sizeof(int) * count)};

    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int) * count),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS};
    for (size_t i = 0; i < count; i++)
        memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &pair[0], sizeof(int));
    ck_assert_int_eq(sendmsg(pair[0], &header, 0), sizeof(*message));
}

START_TEST(more_descriptors_than_wanted_are_refused_and_closed)
{
    struct control_message message = message_of(CONTROL_EXEC);
    size_t before;

    open_pair();
    before = count_fds();
    for (size_t count = CONTROL_FDS + 1; count <= 200; count += 49) {
        send_many(&message, count);
        ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPROTO);
        message = message_of(CONTROL_EXEC);
    }
    ck_assert_uint_eq(count_fds(), before);
    send_many(&message, CONTROL_FDS);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), 0);
}
END_TEST

START_TEST(a_broken_message_leaves_no_descriptor_behind)
{
    struct control_message message = message_of(CONTROL_COUNT);
    size_t before;

    open_pair();
    before = count_fds();
    ck_assert_int_eq(control_send(pair[0], &message, NULL, 0, pair, 2), 0);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPROTO);
    message = message_of(CONTROL_EXEC);
    ck_assert_int_eq(control_send(pair[0], &message, "12", 2, pair, 2), 0);
    ck_assert_int_eq(receive(&message, NULL, 0, NULL), -EPROTO);
    ck_assert_uint_eq(count_fds(), before);
}
END_TEST

START_TEST(descriptors_that_come_do_not_outlive_an_exec)
{
    struct control_message message = message_of(CONTROL_EXEC);
    int fds[CONTROL_FDS];

    open_pair();
    ck_assert_int_eq(control_send(pair[0], &message, NULL, 0, pair, 2), 0);
    ck_assert_int_eq(control_receive(pair[1], &message, NULL, 0, NULL, fds), 0);
    ck_assert_int_ge(fds[0], 0);
    ck_assert_int_eq(fcntl(fds[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(fds[2], -EBADF);
}
END_TEST

START_TEST(a_command_line_that_is_too_long_is_not_sent)
{
    struct control_message message = message_of(CONTROL_EXEC);
    char *long_word = malloc(CONTROL_BYTES_MAX + 1);
    char *argv[] = {long_word, NULL};
    char *envp[] = {NULL};
    char *bytes;
    size_t size;

    memset(long_word, 'x', CONTROL_BYTES_MAX);
    long_word[CONTROL_BYTES_MAX] = '\0';
    ck_assert_int_eq(control_strings_join(&message, argv, envp, &bytes, &size), -E2BIG);
    long_word[CONTROL_BYTES_MAX - 1] = '\0';
    ck_assert_int_eq(control_strings_join(&message, argv, envp, &bytes, &size), 0);
    ck_assert_uint_eq(size, CONTROL_BYTES_MAX);
    open_pair();
    ck_assert_int_eq(control_send(pair[0], &message, bytes, size, NULL, 0), 0);
    free(bytes);
    free(long_word);
}
END_TEST

START_TEST(hosts_arrive_as_they_were_sent)
{
    struct control_message message = message_of(CONTROL_HOSTS);
    struct control_host sent[CONTROL_HOSTS_MAX] = {0}, got[CONTROL_HOSTS_MAX] = {0};
    size_t size;

    for (size_t i = 0; i < CONTROL_HOSTS_MAX; i++) {
        memset(sent[i].host, 'a', sizeof(sent[i].host) - 1);
        sent[i].sent = i;
    }
    open_pair();
    ck_assert_int_eq(control_send(pair[0], &message, sent, sizeof(sent), NULL, 0), 0);
    ck_assert_int_eq(receive(&message, (char *)got, sizeof(got), &size), 0);
    ck_assert_int_eq(control_hosts_count(got, size), CONTROL_HOSTS_MAX);
    ck_assert_mem_eq(got, sent, sizeof(sent));
    ck_assert_int_eq(control_hosts_count(got, 0), 0);
}
END_TEST

START_TEST(hosts_that_are_cut_too_many_or_without_an_end_are_refused)
{
    struct control_host hosts[CONTROL_HOSTS_MAX + 1] = {0};

    for (size_t cut = 1; cut < sizeof(hosts[0]); cut++)
        ck_assert_int_eq(control_hosts_count(hosts, 2 * sizeof(hosts[0]) - cut), -EPROTO);
    ck_assert_int_eq(control_hosts_count(hosts, sizeof(hosts)), -EPROTO);
    memset(hosts[1].host, 'a', sizeof(hosts[1].host));
    ck_assert_int_eq(control_hosts_count(hosts, sizeof(hosts[0])), 1);
    ck_assert_int_eq(control_hosts_count(hosts, 2 * sizeof(hosts[0])), -EPROTO);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control");
    TCase *tcase = tcase_create("control");

    tcase_add_test(tcase, a_command_arrives_as_it_was_sent);
    tcase_add_loop_test(tcase, strings_that_do_not_fit_are_refused, 0,
                        sizeof(broken) / sizeof(broken[0]));
    tcase_add_test(tcase, a_message_of_another_version_or_kind_is_refused);
    tcase_add_test(tcase, a_message_that_is_cut_or_too_long_is_refused);
    tcase_add_test(tcase, the_end_of_the_other_side_is_told);
    tcase_add_test(tcase, the_last_word_is_heard_though_something_was_left_unread);
    tcase_add_test(tcase, a_broken_message_leaves_no_descriptor_behind);
    tcase_add_test(tcase, more_descriptors_than_wanted_are_refused_and_closed);
    tcase_add_test(tcase, descriptors_that_come_do_not_outlive_an_exec);
    tcase_add_test(tcase, a_command_line_that_is_too_long_is_not_sent);
    tcase_add_test(tcase, hosts_arrive_as_they_were_sent);
    tcase_add_test(tcase, hosts_that_are_cut_too_many_or_without_an_end_are_refused);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "control");
}
