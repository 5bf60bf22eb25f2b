/* SPDX-License-Identifier: Apache-2.0 */
/* What a command switched on in the terminal, read from its output in pieces of every size. */
#include "lib/test.h"
#include "session/modes.h"

#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof(*(array)))

struct vector {
    const char *output;
    const char *leave; /* what brings the terminal back */
    const char *enter; /* what switches on again; NULL: not looked at */
};

static const struct vector vectors[] = {
    {"", "", ""},
    {"plain \303\251 text \342\202\254\r\n", "", ""},
    {"\033[?1049h", "\033[?1049l", "\033[?1049h"},
    {"\033[?1049h\033[?1049l", "", ""},
    {"\033[?47h", "\033[?47l", "\033[?47h"},
    {"\033[?1047h\033[?47l", "", ""},
    {"\033[?2004h", "\033[?2004l", "\033[?2004h"},
    {"\033[?25l", "\033[?25h", "\033[?25l"},
    {"\033[?25l\033[?25h", "", ""},
    {"\033[?25h", "", ""},
    {"\033[?7l", "\033[?7h", "\033[?7l"},
    {"\033[?1000h\033[?1002h\033[?1003h\033[?1006h", "\033[?1000l\033[?1002l\033[?1003l\033[?1006l",
     NULL},
    {"\033[?1000;1006;2004h", "\033[?1000l\033[?1006l\033[?2004l", NULL},
    {"\033[?1000;1006;2004h\033[?2004;1006;1000l", "", ""},
    {"\033[?1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;1004h",
     "\033[?9l\033[?1004l\033[?1l\033[?5l\033[?6l", NULL},
    /* The mode's number without its question mark is another mode; 4 is insert mode. */
    {"\033[1049h\033[25l", "", ""},
    {"\033[4h", "\033[4l", "\033[4h"},
    {"\033[?4h", "", ""},
    /* A question, no order. */
    {"\033[?1049$p\033[?2004$p", "", ""},
    {"\033[?99999999999999999999h\033[?65535h\033[?66585h", "", ""},
    /* Controls inside a sequence do not end it; ESC begins another, CAN and SUB cancel. */
    {"\033[?10\n49h", "\033[?1049l", NULL},
    {"\033[?10\033[?2004h", "\033[?2004l", NULL},
    {"\033[?1049\030h\033[?2004\032h", "", ""},
    /* In a title nothing is an order; BEL ends a title, and no other string. */
    {"\033]0;[?1049h\a", "", ""},
    {"\033]0;x\033\\\033[?25l", "\033[?25h", NULL},
    {"\033P+q\a[?25l\033\\", "", ""},
    /* Killed in the middle: what comes next must not be taken for the rest. */
    {"\033", "\030", NULL},
    {"\033[?104", "\030", NULL},
    {"\033]0;half a title", "\030", NULL},
    {"\033P\a", "\030", NULL},
    {"\033[?25l\033]0;half", "\030\033[?25h", NULL},
    /* C1 controls in UTF-8; U+009B's second byte alone is part of other characters. */
    {"\302\233?1049h", "\033[?1049l", NULL},
    {"\342\202\233?1049h", "", ""},
    {"\302\251[?1049h", "", ""},
    {"\033=", "\033>", "\033="},
    {"\033=\033>", "", ""},
    {"\033[31m", "\033[m", ""},
    {"\033[1;31mred\033[0m", "", ""},
    {"\033[31mred\033[m", "", ""},
    {"\033(0qqq", "\033(B\017", ""},
    {"\033(0qqq\033(B", "", ""},
    {"\016", "\033(B\017", ""},
    {"\033[5;10r", "\0337\033[r\0338", ""},
    {"\033[5;10r\033[r", "", ""},
    {"\033[5 q", "\033[0 q", ""},
    {"\033[5 q\033[0 q", "", ""},
    {"\033[>1u", "\033[<1u", "\033[>1u"},
    {"\033[>1u\033[>3u\033[<u", "\033[<1u", NULL},
    {"\033[>1u\033[<u", "", ""},
    {"\033[<9u", "", ""},
    {"\033[=1;1u", "\033[<1u", NULL},
    {"\033[>4;2m", "\033[>4m", "\033[>4;2m"},
    {"\033[>4;2m\033[>4m", "", ""},
    /* Reset takes all back itself. */
    {"\033[?1049h\033[?25l\033[31m\033=\033[>1u\033c", "", ""},
    {"\033[?25l\033[?1049h\033[31m\033[?1006h\033=", "\033[m\033>\033[?1006l\033[?1049l\033[?25h",
     NULL},
};

static void check_text(const struct vector *vector, size_t piece, const char *text, size_t length,
                       const char *expected)
{
    ck_assert_msg(length == strlen(expected) && memcmp(text, expected, length) == 0,
                  "vector %zu in pieces of %zu: %.*s", (size_t)(vector - vectors), piece,
                  (int)length, text);
}

START_TEST(what_was_switched_on_is_taken_back_and_no_more)
{
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        const struct vector *vector = &vectors[i];
        size_t length = strlen(vector->output);

        for (size_t piece = 1; piece <= length + 1; piece++) {
            struct modes modes = {0};
            char text[MODES_TEXT_BYTES];

            for (size_t at = 0; at < length; at += piece)
                modes_scan(&modes, vector->output + at, piece < length - at ? piece : length - at);
            check_text(vector, piece, text, modes_leave(&modes, text), vector->leave);
            if (vector->enter)
                check_text(vector, piece, text, modes_enter(&modes, text), vector->enter);
        }
    }
}
END_TEST

/* What brings the terminal back does so: after it, there is nothing to bring back. */
START_TEST(leaving_leaves_nothing)
{
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        struct modes modes = {0};
        char text[MODES_TEXT_BYTES];

        modes_scan(&modes, vectors[i].output, strlen(vectors[i].output));
        modes_scan(&modes, text, modes_leave(&modes, text));
        ck_assert_msg(modes_leave(&modes, text) == 0, "vector %zu", i);
    }
}
END_TEST

START_TEST(everything_at_once_has_room)
{
    static const char all[] =
        "\033[?9;1000;1001;1002;1003;1004;1005;1006;1015;1016;2004;2026;1;5;6h"
        "\033[4h\033[?47;1047;1049h\033[?7;25l\033=\033[31m\033(0\033[2;3r"
        "\033[5 q\033[>4;2m\033]";
    struct modes modes = {0};
    char text[MODES_TEXT_BYTES];
    size_t length;

    for (int i = 0; i < 300; i++)
        modes_scan(&modes, "\033[>65535u", 9);
    modes_scan(&modes, all, sizeof(all) - 1);
    ck_assert_uint_lt(modes_lend(&modes, text), MODES_TEXT_BYTES - 1);
    ck_assert_uint_lt(modes_take_back(&modes, false, text), MODES_TEXT_BYTES - 1);
    length = modes_leave(&modes, text);
    ck_assert_uint_gt(length, 100);
    modes_scan(&modes, text, length);
    ck_assert_uint_eq(modes_leave(&modes, text), 0);
}
END_TEST

/* Lent and taken back, a terminal is as it was; between, nothing of the command's holds. */
START_TEST(what_is_lent_comes_back)
{
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        struct modes modes = {0}, seen = {0};
        char text[MODES_TEXT_BYTES], before[MODES_TEXT_BYTES], after[MODES_TEXT_BYTES];
        size_t length;

        modes_scan(&modes, vectors[i].output, strlen(vectors[i].output));
        if (modes_is_within(&modes))
            continue;
        seen = modes;
        modes_scan(&seen, text, modes_lend(&modes, text));
        ck_assert_msg(modes_is_full_screen(&seen), "vector %zu", i);
        ck_assert_msg(!seen.has_keypad && !seen.has_other_keys && !seen.has_colour &&
                          !seen.has_charset && !seen.has_region,
                      "vector %zu", i);
        modes_scan(&seen, text, modes_take_back(&modes, false, text));
        ck_assert_msg(modes_is_full_screen(&seen) == modes_is_full_screen(&modes), "vector %zu", i);
        /* Colours and character sets come back with the cursor, where the screen is ours. */
        seen.has_colour = modes.has_colour;
        seen.has_charset = modes.has_charset;
        length = modes_leave(&modes, before);
        ck_assert_msg(length == modes_leave(&seen, after) && memcmp(before, after, length) == 0,
                      "vector %zu", i);
    }
}
END_TEST

START_TEST(the_screen_is_ours_only_where_it_was_not_the_commands)
{
    struct modes modes = {0};
    char text[MODES_TEXT_BYTES];

    text[modes_lend(&modes, text)] = '\0';
    ck_assert_ptr_nonnull(strstr(text, "\033[?1049h"));
    text[modes_take_back(&modes, false, text)] = '\0';
    ck_assert_ptr_nonnull(strstr(text, "\033[?1049l"));
    modes_scan(&modes, "\033[?1049h\033[3;9r", 14);
    text[modes_lend(&modes, text)] = '\0';
    ck_assert_ptr_null(strstr(text, "1049"));
    text[modes_take_back(&modes, false, text)] = '\0';
    ck_assert_ptr_null(strstr(text, "1049"));
    ck_assert_ptr_nonnull(strstr(text, "\033[3;9r"));
    /* Drawn again it has its region, and the cursor would move. */
    text[modes_take_back(&modes, true, text)] = '\0';
    ck_assert_ptr_null(strstr(text, "r"));
}
END_TEST

/* Any bytes at all: only bounds and an end that brings the terminal back are asked for. */
START_TEST(noise_is_survived)
{
    static const char alphabet[] = "\033[?;:0123456789hlmruq >=<(c]P\\\a\030\302\233\217x";
    uint32_t seed = 12345;
    struct modes modes = {0};
    char text[MODES_TEXT_BYTES];

    for (int i = 0; i < 300000; i++) {
        seed = seed * 1664525 + 1013904223;
        modes_scan(&modes, &alphabet[(seed >> 16) % (sizeof(alphabet) - 1)], 1);
        if (i % 50 == 0) {
            struct modes copy = modes;

            modes_scan(&copy, text, modes_leave(&copy, text));
            ck_assert_uint_eq(modes_leave(&copy, text), 0);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("modes");
    TCase *cases = tcase_create("modes");

    tcase_set_timeout(cases, 20);
    tcase_add_test(cases, what_was_switched_on_is_taken_back_and_no_more);
    tcase_add_test(cases, leaving_leaves_nothing);
    tcase_add_test(cases, everything_at_once_has_room);
    tcase_add_test(cases, what_is_lent_comes_back);
    tcase_add_test(cases, the_screen_is_ours_only_where_it_was_not_the_commands);
    tcase_add_test(cases, noise_is_survived);
    suite_add_tcase(suite, cases);
    return test_run(suite, "modes");
}
