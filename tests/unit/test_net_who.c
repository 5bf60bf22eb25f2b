/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the launcher who a client is: answers find who asked, and nobody waits for ever. */
#include "lib/test.h"
#include "net/who.h"
#include "wire/image.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

static struct hub hub;
static struct who who;
static int launcher;

static void open_both(void)
{
    static struct image image; /* without a rule */
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_int_eq(hub_init(&hub, NULL), 0);
    launcher = pair[0];
    who_init(&who, &hub, pair[1], &image);
    ck_assert_uint_eq(who.program_count, 0);
}

static void close_both(void)
{
    hub_done(&hub);
    (void)close(who.control_fd);
    (void)close(launcher);
}

struct asked {
    struct who_request request;
    struct net_answer answer;
    unsigned count;
    struct who_request *cancels; /* when it is answered */
};

static void take(void *context, const struct net_answer *answer)
{
    struct asked *asked = context;

    asked->answer = *answer;
    asked->count++;
    if (asked->cancels)
        who_cancel(asked->cancels);
}

static void ask(struct asked *asked)
{
    static const struct net_ends ends = {
        .family = AF_INET, .protocol = IPPROTO_UDP, .client_port = 1234, .server_port = 53};

    *asked = (struct asked){.request = {.done = take, .context = asked}};
    who_ask_ends(&who, &asked->request, &ends, true);
}

static struct net_question hear(void)
{
    struct net_question question = {0};

    ck_assert_int_eq(recv(launcher, &question, sizeof(question), MSG_DONTWAIT), sizeof(question));
    ck_assert_uint_eq(question.kind, NET_WHO);
    return question;
}

static void answer(uint64_t number, int pid)
{
    struct net_answer said = {.kind = NET_WHO, .pid = pid, .number = number, .comm = "git"};

    who_take(&who, &said, sizeof(said));
}

START_TEST(answer_finds_who_asked)
{
    struct asked first, second;

    ask(&first);
    ask(&second);
    answer(hear().number, 11);
    ck_assert_uint_eq(first.count, 1);
    ck_assert_int_eq(first.answer.pid, 11);
    ck_assert_str_eq(first.answer.comm, "git");
    ck_assert_uint_eq(second.count, 0);
    answer(hear().number, 12);
    ck_assert_int_eq(second.answer.pid, 12);
    ck_assert_ptr_null(who.first);
    ck_assert_ptr_null(hub.timers);
}
END_TEST

START_TEST(what_is_asked_is_the_connection)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct asked asked = {.request = {.done = take, .context = &asked}};
    struct net_question question;
    int accepted;

    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ck_assert_int_eq(connect(client, (struct sockaddr *)&address, size), 0);
    accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    who_ask(&who, &asked.request, accepted, false);
    question = hear();
    ck_assert_uint_eq(question.ends.family, AF_INET6);
    ck_assert_uint_eq(question.ends.protocol, IPPROTO_TCP);
    ck_assert_uint_eq(question.ends.server_port, ntohs(address.sin6_port));
    ck_assert_mem_eq(question.ends.server, &address.sin6_addr, 16);
    ck_assert_mem_eq(question.ends.client, &address.sin6_addr, 16);
    ck_assert_int_eq(getsockname(client, (struct sockaddr *)&address, &size), 0);
    ck_assert_uint_eq(question.ends.client_port, ntohs(address.sin6_port));
    ck_assert_uint_eq(question.wants_programs, 0);
    who_cancel(&asked.request);
}
END_TEST

START_TEST(question_that_was_left_out_is_answered_by_the_next)
{
    struct asked first, second, third;

    ask(&first);
    ask(&second);
    ask(&third);
    (void)hear();
    answer(hear().number, 12);
    ck_assert_uint_eq(first.count, 1);
    ck_assert_int_eq(first.answer.pid, 0);
    ck_assert_int_eq(second.answer.pid, 12);
    ck_assert_uint_eq(third.count, 0);
    who_cancel(&third.request);
    who_cancel(&third.request);
}
END_TEST

START_TEST(who_is_gone_is_not_told)
{
    struct asked first, second, third;

    ask(&first);
    ask(&second);
    ask(&third);
    who_cancel(&second.request);
    first.cancels = &third.request;
    answer(second.request.number, 12);
    ck_assert_uint_eq(first.count, 1);
    ck_assert_uint_eq(second.count, 0);
    answer(third.request.number, 13);
    ck_assert_uint_eq(third.count, 0);
    ck_assert_ptr_null(who.first);
    ck_assert_ptr_null(who.end);
    ck_assert_ptr_null(hub.timers);
}
END_TEST

static void end_hub(void *context, const struct net_answer *unknown)
{
    take(context, unknown);
    hub_end(&hub);
}

/* Nobody reads what is asked, and nobody answers. */
START_TEST(nobody_waits_for_ever)
{
    static struct asked many[2000];
    struct asked last = {.request = {.done = end_hub, .context = &last}};
    int no_socket = open("/dev/null", O_RDONLY | O_CLOEXEC);

    for (size_t i = 0; i < 2000; i++)
        ask(&many[i]);
    ck_assert_uint_eq(many[1999].count, 0);
    who_ask(&who, &last.request, no_socket, true);
    ck_assert_int_eq(hub_run(&hub, NULL), 0);
    ck_assert_uint_eq(last.count, 1);
    ck_assert_uint_eq(many[0].count, 0);
    many[0].request.done = end_hub;
    hub.is_done = false;
    ck_assert_int_eq(hub_run(&hub, NULL), 0);
    ck_assert_uint_eq(many[0].count, 1);
    ck_assert_int_eq(many[0].answer.pid, 0);
    ck_assert_uint_eq(many[1999].count, 1);
}
END_TEST

START_TEST(broken_answers_are_none)
{
    struct net_answer said = {.kind = NET_WHO, .number = 7};
    struct asked asked;

    ask(&asked);
    who_take(&who, &said, sizeof(said)); /* of a question that was never asked */
    said.number = asked.request.number;
    who_take(&who, &said, sizeof(said) - 1);
    said.kind = NET_LOOK;
    who_take(&who, &said, sizeof(said));
    ck_assert_uint_eq(asked.count, 0);
    said.kind = NET_WHO;
    memset(said.comm, 'x', sizeof(said.comm));
    memset(said.exe, 'x', sizeof(said.exe));
    who_take(&who, &said, sizeof(said));
    ck_assert_uint_eq(asked.count, 1);
    ck_assert_uint_eq(strlen(asked.answer.comm), sizeof(said.comm) - 1);
    ck_assert_uint_eq(strlen(asked.answer.exe), sizeof(said.exe) - 1);
}
END_TEST

START_TEST(bits_are_programs_in_their_order)
{
    struct who_programs known = {.who = &who, .programs = 2};
    struct net_rule git = {.by = "/usr/bin/git"}, curl = {.by = "/usr/bin/curl"};
    struct net_rule other = {.by = "/usr/bin/other"};

    who.programs[0] = "/usr/bin/curl";
    who.programs[1] = "/usr/bin/git";
    who.program_count = 2;
    ck_assert(who_is_by(&known, &git));
    ck_assert(!who_is_by(&known, &curl));
    known.programs = ~UINT64_C(0);
    ck_assert(who_is_by(&known, &curl));
    ck_assert(!who_is_by(&known, &other));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net_who");
    TCase *cases = tcase_create("net_who");

    tcase_set_timeout(cases, 30);
    tcase_add_checked_fixture(cases, open_both, close_both);
    tcase_add_test(cases, answer_finds_who_asked);
    tcase_add_test(cases, what_is_asked_is_the_connection);
    tcase_add_test(cases, question_that_was_left_out_is_answered_by_the_next);
    tcase_add_test(cases, who_is_gone_is_not_told);
    tcase_add_test(cases, nobody_waits_for_ever);
    tcase_add_test(cases, broken_answers_are_none);
    tcase_add_test(cases, bits_are_programs_in_their_order);
    suite_add_tcase(suite, cases);
    return test_run(suite, "net_who");
}
