/* SPDX-License-Identifier: Apache-2.0 */
/* The first message of a TLS client: the name is found however it is split, and what could be read
 * in two ways is broken. */
#include "lib/test.h"
#include "net/hello.h"

#include <check.h>
#include <string.h>

enum { BYTES = 70000 };

/* A message that is being written. */
struct text {
    uint8_t bytes[BYTES];
    size_t size;
};

static void add(struct text *text, const void *bytes, size_t size)
{
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static void number(struct text *text, uint32_t value, size_t bytes)
{
    while (bytes-- > 0)
        text->bytes[text->size++] = (uint8_t)(value >> 8 * bytes);
}

static void part(struct text *text, const struct text *inner, size_t length_bytes)
{
    number(text, (uint32_t)inner->size, length_bytes);
    add(text, inner->bytes, inner->size);
}

static void extension(struct text *list, uint32_t type, const struct text *content)
{
    number(list, type, 2);
    part(list, content, 2);
}

static void name(struct text *list, const char *host, size_t length)
{
    static struct text entry, names;

    entry.size = names.size = 0;
    number(&entry, 0, 1);
    number(&entry, (uint32_t)length, 2);
    add(&entry, host, length);
    part(&names, &entry, 2);
    extension(list, 0, &names);
}

/* A message with these extensions. */
static void message(struct text *out, const struct text *extensions)
{
    static struct text body;

    body.size = 0;
    number(&body, 0x0303, 2);
    for (int i = 0; i < 32; i++)
        number(&body, (uint32_t)i, 1);
    number(&body, 0, 1);
    number(&body, 4, 2);
    number(&body, 0x1a1a1301, 4); /* the first is one of those that mean nothing */
    number(&body, 1, 1);
    number(&body, 0, 1);
    if (extensions)
        part(&body, extensions, 2);
    out->size = 0;
    number(out, 1, 1);
    part(out, &body, 3);
}

/* In records of at most so many bytes. */
static void records(struct text *out, const struct text *inner, size_t most)
{
    out->size = 0;
    for (size_t at = 0; at < inner->size; at += most) {
        size_t size = inner->size - at < most ? inner->size - at : most;

        number(out, 0x160301, 3);
        number(out, (uint32_t)size, 2);
        add(out, inner->bytes + at, size);
    }
}

static struct text list, whole, out, content;

static void begin(void)
{
    list.size = content.size = 0;
}

static enum hello_state read_it(struct hello *hello, size_t most)
{
    message(&whole, &list);
    records(&out, &whole, most);
    return hello_read(out.bytes, out.size, hello);
}

START_TEST(the_name_is_found_however_it_is_split)
{
    static const size_t sizes[] = {1, 2, 3, 7, 50, 16384};
    struct hello hello;

    begin();
    extension(&list, 0x1a1a, &content);
    name(&list, "Api.Example.org", 15);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        ck_assert_int_eq(read_it(&hello, sizes[i]), HELLO_WHOLE);
        ck_assert_str_eq(hello.name, "api.example.org");
        ck_assert(!hello.hides_name);
        for (size_t size = 0; size < out.size; size++)
            ck_assert_int_eq(hello_read(out.bytes, size, &hello), HELLO_MORE);
    }
}
END_TEST

START_TEST(a_message_may_name_nobody)
{
    struct hello hello;

    begin();
    ck_assert_int_eq(read_it(&hello, 16384), HELLO_WHOLE);
    ck_assert_str_eq(hello.name, "");
    message(&whole, NULL);
    records(&out, &whole, 16384);
    ck_assert_int_eq(hello_read(out.bytes, out.size, &hello), HELLO_WHOLE);
    ck_assert_str_eq(hello.name, "");
}
END_TEST

START_TEST(a_hidden_name_is_told)
{
    struct hello hello;

    begin();
    name(&list, "front.example", 13);
    extension(&list, 0xfe0d, &content);
    ck_assert_int_eq(read_it(&hello, 16384), HELLO_WHOLE);
    ck_assert_str_eq(hello.name, "front.example");
    ck_assert(hello.hides_name);
}
END_TEST

START_TEST(names_that_are_none_are_broken)
{
    static const char *const names[] = {"",     "a b",       "127.0.0.1",        "[::1]", "a..b",
                                        "a\nb", "*.example", "\xc3\xa4.example", "::1"};
    char with_nul[] = "a.example\0.b";
    struct hello hello;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        begin();
        name(&list, names[i], strlen(names[i]));
        ck_assert_msg(read_it(&hello, 16384) == HELLO_BROKEN, "%s", names[i]);
        ck_assert_str_eq(hello.name, "");
    }
    begin();
    name(&list, with_nul, sizeof(with_nul) - 1);
    ck_assert_int_eq(read_it(&hello, 16384), HELLO_BROKEN);
}
END_TEST

START_TEST(what_two_readers_could_read_differently_is_broken)
{
    struct hello hello;

    begin(); /* a name twice */
    name(&list, "a.example", 9);
    name(&list, "b.example", 9);
    ck_assert_int_eq(read_it(&hello, 16384), HELLO_BROKEN);
    begin(); /* two names in one list */
    number(&content, 24, 2);
    for (int i = 0; i < 2; i++) {
        number(&content, 0, 1);
        number(&content, 9, 2);
        add(&content, "a.example", 9);
    }
    extension(&list, 0, &content);
    ck_assert_int_eq(read_it(&hello, 16384), HELLO_BROKEN);
    begin(); /* bytes behind the end of the message */
    name(&list, "a.example", 9);
    message(&whole, &list);
    number(&whole, 0, 1);
    records(&out, &whole, 16384);
    ck_assert_int_eq(hello_read(out.bytes, out.size, &hello), HELLO_BROKEN);
    begin(); /* a length that leads out of the list */
    name(&list, "a.example", 9);
    list.bytes[3]++;
    ck_assert_int_eq(read_it(&hello, 16384), HELLO_BROKEN);
    begin(); /* an empty record, and one of another kind in the middle */
    name(&list, "a.example", 9);
    (void)read_it(&hello, 20);
    out.bytes[25] = 23;
    ck_assert_int_eq(hello_read(out.bytes, out.size, &hello), HELLO_BROKEN);
    ck_assert_int_eq(hello_read("\x16\x03\x01\0\0", 5, &hello), HELLO_BROKEN);
}
END_TEST

START_TEST(what_is_too_long_is_broken_and_not_waited_for)
{
    struct hello hello;

    begin();
    number(&whole, 0, 0);
    whole.size = 0;
    number(&whole, 1, 1);
    number(&whole, HELLO_BYTES_MAX + 1, 3);
    records(&out, &whole, 16384);
    ck_assert_int_eq(hello_read(out.bytes, out.size, &hello), HELLO_BROKEN);
    ck_assert_int_eq(hello_read("\x16\x03\x01\x40\x01", 5, &hello), HELLO_BROKEN);
}
END_TEST

START_TEST(other_protocols_are_foreign_from_the_first_byte)
{
    static const char *const texts[] = {"GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\x80\x2e\x01",
                                        "\x16\x02", "PRI * HTTP/2.0\r\n"};
    struct hello hello;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        ck_assert_int_eq(hello_read(texts[i], strlen(texts[i]), &hello), HELLO_FOREIGN);
    ck_assert_int_eq(hello_read("S", 1, &hello), HELLO_FOREIGN);
    ck_assert_int_eq(hello_read("\x16", 1, &hello), HELLO_MORE);
    ck_assert_int_eq(hello_read("", 0, &hello), HELLO_MORE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hello");
    TCase *tests = tcase_create("hello");

    suite_add_tcase(suite, tests);
    tcase_add_test(tests, the_name_is_found_however_it_is_split);
    tcase_add_test(tests, a_message_may_name_nobody);
    tcase_add_test(tests, a_hidden_name_is_told);
    tcase_add_test(tests, names_that_are_none_are_broken);
    tcase_add_test(tests, what_two_readers_could_read_differently_is_broken);
    tcase_add_test(tests, what_is_too_long_is_broken_and_not_waited_for);
    tcase_add_test(tests, other_protocols_are_foreign_from_the_first_byte);
    return test_run(suite, "hello");
}
