/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what is told arrives as it was told, what is broken is none, and nobody waits. */
#include "lib/test.h"
#include "wire/event.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_BYTES = 64 }; /* in front of the texts */

static const struct event whole = {.what = EVENT_REFUSED,
                                   .who = WHO_CALLS,
                                   .verdict = VERDICT_ASK,
                                   .pid = 4711,
                                   .errnum = EACCES,
                                   .times = 3,
                                   .lost = 2,
                                   .texts = {"sh", "openat", "/w/a\n\xff", "ask *.md", "run.x",
                                             "what: why", "do this", "/usr/bin/dash"}};

static struct event_sender sender;
static int reader;

static void open_pair(void)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    reader = pair[0];
    sender = (struct event_sender){.sock = pair[1], .who = WHO_WATCH};
}

static void same(const struct event *got, const struct event *told)
{
    ck_assert_uint_eq(got->what, told->what);
    ck_assert_uint_eq(got->who, told->who);
    ck_assert_uint_eq(got->verdict, told->verdict);
    ck_assert_int_eq(got->pid, told->pid);
    ck_assert_int_eq(got->errnum, told->errnum);
    ck_assert_uint_eq(got->times, told->times);
    ck_assert_uint_eq(got->lost, told->lost);
    for (size_t i = 0; i < EVENT_TEXTS; i++)
        ck_assert_str_eq(got->texts[i], told->texts[i] ? told->texts[i] : "");
}

START_TEST(an_event_arrives_as_it_was_told)
{
    static const struct event least = {.times = 1};
    char bytes[EVENT_BYTES];
    struct event got;

    ck_assert_int_eq(event_unpack(bytes, event_pack(&whole, bytes), &got), 0);
    same(&got, &whole);
    ck_assert_int_eq(event_unpack(bytes, event_pack(&least, bytes), &got), 0);
    same(&got, &least);
}
END_TEST

START_TEST(texts_that_are_too_long_are_cut)
{
    static char text[2 * EVENT_BYTES];
    struct event told = {.times = 1};
    char bytes[EVENT_BYTES];
    struct event got;
    size_t size;

    memset(text, 'x', sizeof(text) - 1);
    for (size_t i = 0; i < EVENT_TEXTS; i++)
        told.texts[i] = text;
    size = event_pack(&told, bytes);
    ck_assert_uint_le(size, EVENT_BYTES);
    ck_assert_int_eq(event_unpack(bytes, size, &got), 0);
    ck_assert_uint_eq(strlen(got.texts[EVENT_PATH]), EVENT_PATH_BYTES - 1);
    ck_assert_uint_eq(strlen(got.texts[EVENT_COMM]), 15);
}
END_TEST

/* Each one is broken in one place. */
static void breaks(size_t at, uint32_t value)
{
    char bytes[EVENT_BYTES];
    size_t size = event_pack(&whole, bytes);
    struct event got;

    memcpy(bytes + at, &value, sizeof(value));
    ck_assert_msg(event_unpack(bytes, size, &got) == -EPROTO, "%u at %zu", value, at);
}

START_TEST(a_head_that_makes_no_sense_is_refused)
{
    breaks(0, EVENT_VERSION + 1);
    breaks(4, EVENT_COUNT);
    breaks(8, WHO_COUNT);
    breaks(12, VERDICT_COUNT);
    breaks(16, UINT32_MAX); /* a negative pid */
    breaks(20, UINT32_MAX);
    breaks(24, 0); /* never */
    breaks(4, UINT32_MAX);
}
END_TEST

START_TEST(texts_that_are_cut_too_many_or_too_long_are_refused)
{
    char bytes[2 * EVENT_BYTES];
    size_t size = event_pack(&whole, bytes);
    struct event got;

    for (size_t less = 0; less < size; less++)
        ck_assert_int_eq(event_unpack(bytes, less, &got), -EPROTO);
    bytes[size] = '\0';
    ck_assert_int_eq(event_unpack(bytes, size + 1, &got), -EPROTO);
    /* One text swallows the zero behind it. */
    for (size_t i = HEAD_BYTES; i < size; i++) {
        char was = bytes[i];

        if (was != '\0')
            continue;
        bytes[i] = 'x';
        ck_assert_int_eq(event_unpack(bytes, size, &got), -EPROTO);
        bytes[i] = was;
    }
    /* A program's name of more than 15 bytes. */
    memmove(bytes + HEAD_BYTES + 20, bytes + HEAD_BYTES, size - HEAD_BYTES);
    memset(bytes + HEAD_BYTES, 'x', 20);
    ck_assert_int_eq(event_unpack(bytes, size + 20, &got), -EPROTO);
}
END_TEST

START_TEST(any_bytes_are_an_event_or_none)
{
    char good[EVENT_BYTES], bytes[EVENT_BYTES];
    size_t size = event_pack(&whole, good);
    struct event got;
    unsigned seed = 1;

    for (unsigned round = 0; round < 100000; round++) {
        if (round % 3 == 0)
            memcpy(bytes, good, size);
        seed = seed * 1103515245 + 12345;
        bytes[(seed >> 8) % size] = (char)(seed >> 20);
        if (event_unpack(bytes, size, &got) < 0)
            continue;
        for (size_t i = 0; i < EVENT_TEXTS; i++)
            ck_assert(got.texts[i] >= bytes && got.texts[i] + strlen(got.texts[i]) < bytes + size);
        ck_assert_ptr_nonnull(event_name(got.what));
        ck_assert_ptr_nonnull(event_who_name(got.who));
    }
}
END_TEST

START_TEST(over_a_socket_it_has_the_name_of_who_tells_it)
{
    struct bawn_error error = {.errnum = ENOMEM, .code = "system", .message = "m", .hint = "h"};
    char bytes[EVENT_BYTES];
    struct bawn_error back;
    struct event got;

    open_pair();
    ck_assert_int_eq(event_receive(reader, bytes, &got), 0);
    event_send(&sender, whole);
    ck_assert_int_eq(event_receive(reader, bytes, &got), 1);
    ck_assert_uint_eq(got.who, WHO_WATCH);
    ck_assert_uint_eq(got.lost, whole.lost);
    event_send_error(&sender, EVENT_FAILED, &error);
    ck_assert_int_eq(event_receive(reader, bytes, &got), 1);
    ck_assert_uint_eq(got.what, EVENT_FAILED);
    event_error(&got, &back);
    ck_assert_int_eq(back.errnum, ENOMEM);
    ck_assert_str_eq(back.code, "system");
    ck_assert_str_eq(back.message, "m");
    ck_assert_str_eq(back.hint, "h");
    ck_assert_int_eq(send(sender.sock, "", 0, 0), 0);
    ck_assert_int_eq(event_receive(reader, bytes, &got), -EPROTO);
    ck_assert_int_eq(send(sender.sock, bytes, sizeof(bytes), 0), sizeof(bytes));
    ck_assert_int_eq(event_receive(reader, bytes, &got), -EPROTO);
}
END_TEST

/* What a command can bring about leaves room for what must be known. */
START_TEST(who_tells_never_waits_and_counts_what_finds_no_room)
{
    static char path[1000];
    struct event many = whole;
    struct event must = {.what = EVENT_GITFILE, .texts = {[EVENT_PATH] = path}};
    char bytes[EVENT_BYTES];
    struct event got = {0};
    unsigned arrived = 0;

    open_pair();
    memset(path, 'p', sizeof(path) - 1);
    many.texts[EVENT_PATH] = path;
    many.lost = 0;
    for (unsigned i = 0; i < 5000; i++)
        event_send(&sender, many);
    for (unsigned i = 0; i < 9; i++)
        event_send(&sender, must);
    while (event_receive(reader, bytes, &got) > 0) {
        arrived++;
        if (got.what == EVENT_GITFILE && got.lost > 0)
            ck_assert_uint_eq(got.lost, 3 * (5000 - (arrived - 1)));
    }
    ck_assert_uint_gt(arrived, 9);
    ck_assert_uint_eq(got.what, EVENT_GITFILE);
    ck_assert_uint_eq(sender.lost, 0);
    /* Nobody is there. */
    ck_assert_int_eq(close(reader), 0);
    event_send(&sender, must);
    ck_assert_uint_gt(sender.lost, 0);
}
END_TEST

static Suite *event_suite(void)
{
    Suite *suite = suite_create("event");
    TCase *all = tcase_create("event");

    tcase_add_test(all, an_event_arrives_as_it_was_told);
    tcase_add_test(all, texts_that_are_too_long_are_cut);
    tcase_add_test(all, a_head_that_makes_no_sense_is_refused);
    tcase_add_test(all, texts_that_are_cut_too_many_or_too_long_are_refused);
    tcase_add_test(all, any_bytes_are_an_event_or_none);
    tcase_add_test(all, over_a_socket_it_has_the_name_of_who_tells_it);
    tcase_add_test(all, who_tells_never_waits_and_counts_what_finds_no_room);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return test_run(event_suite(), "event");
}
