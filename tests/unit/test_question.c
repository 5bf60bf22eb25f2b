/* SPDX-License-Identifier: Apache-2.0 */
/* Questions as they are shown to a person, the keys that answer them, and screens drawn again. */
#include "base/question.h"
#include "base/text.h"
#include "lib/test.h"
#include "session/drawn.h"

#include <stdint.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof(*(array)))

static const char *const plain_argv[] = {"touch", "package.json", NULL};

static struct bawn_notice plain_notice(void)
{
    return (struct bawn_notice){.kind = BAWN_NOTICE_ASKED,
                                .id = 1,
                                .ms_left = 299000,
                                .pid = 4242,
                                .op = "write",
                                .path = "/home/u/web/package.json",
                                .call = "openat",
                                .rule = "ask /home/u/web",
                                .comm = "touch",
                                .exe = "/usr/bin/touch",
                                .argv = plain_argv,
                                .grant = "write /home/u/web/package.json",
                                .grant_tree = "write /home/u/web"};
}

static void expect(const char *shown, const char *expected)
{
    ck_assert_msg(strcmp(shown, expected) == 0, "shown:\n%s\nexpected:\n%s", shown, expected);
}

START_TEST(all_of_it_is_shown_where_it_fits)
{
    struct bawn_notice notice = plain_notice();
    struct question_view view = {.cols = 80, .rows = 24, .more = 2};
    autostrbuf struct strbuf out = {0};

    question_show(&view, &notice, &out);
    expect(out.text, "bawn asks: if nobody answers, no in 4:59, 2 more wait\n"
                     "process  /usr/bin/touch, pid 4242\n"
                     "command  touch package.json\n"
                     "wants    to write /home/u/web/package.json\n"
                     "why      ask /home/u/web; by openat\n"
                     "rule     bawn policy save --scope project|user write "
                     "/home/u/web/package.json\n"
                     "with [d] write all of /home/u/web\n"
                     "[o]nce [s]ession [d]irectory [p]roject [a]lways [n]o [N]ever [q]uiet\n");
    ck_assert(!view.is_cut && !view.is_small);
}
END_TEST

START_TEST(in_40_by_10_the_wish_has_its_beginning_and_its_end)
{
    char path[600];
    struct bawn_notice notice = plain_notice();
    struct question_view view = {.cols = 40, .rows = 10};
    autostrbuf struct strbuf out = {0};

    memset(path, 'a', sizeof(path));
    path[0] = '/';
    (void)snprintf(path + 500, sizeof(path) - 500, "/id_ed25519");
    notice.path = path;
    question_show(&view, &notice, &out);
    ck_assert(view.is_cut);
    ck_assert_ptr_nonnull(strstr(out.text, "\nwants    to write /aaa"));
    ck_assert_ptr_nonnull(strstr(out.text, "/id_ed25519\n"));
    ck_assert_ptr_nonnull(strstr(out.text, "\n +15     "));
    ck_assert_ptr_nonnull(strstr(out.text, "[v]iew"));
}
END_TEST

/* Each line of what is shown, for the checks below. */
static void check_fits(const char *text, const struct question_view *view)
{
    unsigned rows = 0;

    for (; *text; rows++) {
        size_t length = strcspn(text, "\n");
        char line[4096];

        ck_assert_uint_lt(length, sizeof(line));
        memcpy(line, text, length);
        line[length] = '\0';
        ck_assert_msg(question_columns(line) <= view->cols, "%u columns: %s", view->cols, line);
        for (size_t i = 0; i < length; i++)
            ck_assert_msg((unsigned char)line[i] >= ' ' && line[i] != 0x7f, "a control: %s", line);
        text += length + 1;
    }
    ck_assert_msg(rows <= view->rows, "%u lines in %u", rows, view->rows);
}

static const char *const hostile[] = {
    "/x\033[2J\033[Hwants    to read /etc/motd",
    "/x\nwants    to read /etc/motd\n[o]nce",
    "/x\r\b\b\b\t\v\f\a",
    "/\342\200\256gpj.exe",            /* right to left */
    "/a\342\200\213b\357\273\277c",    /* of no width */
    "/a\315\217\314\201\343\205\244b", /* marks that join, a blank of Hangul */
    "/\327\220\330\247",               /* scripts that run to the left */
    "/\360\237\230\200\357\270\217",   /* pictures */
    "/\302\233\062J\302\205\302\240x", /* C1 controls, another blank */
    "/\377\376\200\300\257",           /* no UTF-8 */
    "/\344\270\255\346\226\207.txt",   /* of two columns */
    "/back\\x1bslash",
};

/* No text of a command's stands in the column of the labels. */
static void check_labels(const char *text)
{
    static const char *const labels[] = {
        "process", "command",   "wants", "why",   "rule",  "with [d]", "         ", " +",
        "[",       "bawn asks", "proc+", "comm+", "want+", "why+",     "rule+",     "with+"};

    for (; *text; text += strcspn(text, "\n") + 1) {
        bool is_known = text[0] >= '0' && text[0] <= '9'; /* "1-6 of 14 lines" */

        for (size_t i = 0; i < ARRAY_LENGTH(labels); i++)
            is_known |= strncmp(text, labels[i], strlen(labels[i])) == 0;
        ck_assert_msg(is_known, "%.40s", text);
    }
}

START_TEST(hostile_names_neither_leave_their_place_nor_hide)
{
    for (size_t i = 0; i < ARRAY_LENGTH(hostile); i++) {
        const char *argv[] = {hostile[i], hostile[i], NULL};

        for (unsigned cols = 1; cols < 120; cols += 3) {
            for (unsigned rows = 1; rows < 30; rows += 2) {
                struct bawn_notice notice = plain_notice();
                struct question_view view = {.cols = cols, .rows = rows, .is_whole = rows % 4 == 1};
                autostrbuf struct strbuf out = {0};

                notice.path = notice.comm = notice.exe = notice.rule = hostile[i];
                notice.argv = argv;
                question_show(&view, &notice, &out);
                ck_assert(!out.failed);
                check_fits(out.text, &view);
                if (!view.is_small)
                    check_labels(out.text);
            }
        }
    }
}
END_TEST

START_TEST(what_is_no_plain_text_is_escaped)
{
    static const struct {
        const char *bytes, *shown;
    } cases[] = {
        {"a\033[2Jb", "a\\x1b[2Jb"}, {"a\nb\tc", "a\\nb\\tc"},
        {"a\\nb", "a\\\\nb"},        {"\342\200\256x", "\\u{202e}x"},
        {"e\314\201", "e\\u{301}"},  {"\343\205\244", "\\u{3164}"},
        {"\302\240", "\\u{a0}"},     {"\327\220", "\\u{5d0}"},
        {"\377", "\\xff"},           {"\303\251\344\270\255", "\303\251\344\270\255"},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        autostrbuf struct strbuf out = {0};

        question_add_text(&out, cases[i].bytes);
        expect(out.text, cases[i].shown);
    }
    ck_assert_uint_eq(question_columns("a\344\270\255"), 3);
}
END_TEST

/* What of a line is of the path. */
static void add_path(struct strbuf *seen, const char *line)
{
    size_t before = strncmp(line, "wants    to write ", 18) == 0 ? 18
                    : strncmp(line, "         ", 9) == 0         ? 9
                                                                 : 0;

    if (before > 0)
        strbuf_add_bytes(seen, line + before, strcspn(line, "\n") - before);
}

/* All of a path of 4000 bytes can be read, in any window that is large enough. */
START_TEST(a_long_path_is_all_there)
{
    char path[4000];
    struct bawn_notice notice = plain_notice();
    struct question_view view = {.cols = 40, .rows = 10, .is_whole = true};
    autostrbuf struct strbuf seen = {0};
    autostrbuf struct strbuf last = {0};

    for (size_t i = 0; i < sizeof(path) - 1; i++)
        path[i] = (char)('a' + i % 26);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    notice.path = path;
    notice.rule = "ask";
    notice.grant = notice.grant_tree = "";
    for (unsigned scroll = 0;; scroll++) {
        autostrbuf struct strbuf out = {0};

        view.scroll = scroll;
        question_show(&view, &notice, &out);
        if (view.scroll != scroll)
            break;
        check_fits(out.text, &view);
        /* The first line of the window, behind the head. */
        add_path(&seen, strchr(out.text, '\n') + 1);
        strbuf_done(&last);
        strbuf_add(&last, out.text);
    }
    /* The others of the last one; "rule" has a second line. */
    for (const char *line = strchr(strchr(last.text, '\n') + 1, '\n') + 1;
         strncmp(line, "why", 3) != 0; line = strchr(line, '\n') + 1)
        add_path(&seen, line);
    ck_assert_str_eq(seen.text, path);
}
END_TEST

START_TEST(secrets_of_a_command_line_are_masked)
{
    static const char *const argv[] = {
        "curl", "-H", "Authorization: Bearer abcdef0123456789", "--token", "hunter2hunter2", NULL};
    struct bawn_notice notice = plain_notice();
    autostrbuf struct strbuf out = {0};

    notice.argv = argv;
    question_print(&notice, 80, &out);
    ck_assert_ptr_null(strstr(out.text, "abcdef0123456789"));
    ck_assert_ptr_null(strstr(out.text, "hunter2"));
    ck_assert_ptr_nonnull(strstr(out.text, "[masked]"));
}
END_TEST

START_TEST(a_small_window_has_no_yes)
{
    struct bawn_notice notice = plain_notice();
    struct question_view view = {.cols = 20, .rows = 5};
    autostrbuf struct strbuf out = {0};

    question_show(&view, &notice, &out);
    ck_assert(view.is_small);
    check_fits(out.text, &view);
    ck_assert_ptr_null(strstr(out.text, "[o]nce"));
}
END_TEST

START_TEST(only_what_can_be_granted_has_a_key)
{
    struct bawn_notice notice = plain_notice();
    struct bawn_answer answer;

    ck_assert(question_answer(&notice, 'o', &answer) && answer.is_allowed &&
              answer.scope == BAWN_ANSWER_ONCE && answer.flags == 0);
    ck_assert(question_answer(&notice, 's', &answer) && answer.is_allowed &&
              answer.scope == BAWN_ANSWER_SESSION && answer.flags == 0);
    ck_assert(question_answer(&notice, 'd', &answer) && answer.is_allowed &&
              answer.scope == BAWN_ANSWER_SESSION_TREE);
    ck_assert(question_answer(&notice, 'p', &answer) && answer.is_allowed &&
              answer.flags == BAWN_ANSWER_SAVE && answer.saved_in == BAWN_SCOPE_PROJECT);
    ck_assert(question_answer(&notice, 'a', &answer) && answer.is_allowed &&
              answer.flags == BAWN_ANSWER_SAVE && answer.saved_in == BAWN_SCOPE_USER);
    ck_assert(question_answer(&notice, 'n', &answer) && !answer.is_allowed &&
              answer.scope == BAWN_ANSWER_ONCE);
    ck_assert(question_answer(&notice, 'N', &answer) && !answer.is_allowed &&
              answer.scope == BAWN_ANSWER_SESSION);
    notice.grant = notice.grant_tree = "";
    ck_assert(!question_answer(&notice, 'd', &answer));
    ck_assert(!question_answer(&notice, 'p', &answer));
    ck_assert(!question_answer(&notice, 'a', &answer));
    for (int key = 0; key < 0x110; key++)
        ck_assert(!strchr("osnN", key) == !question_answer(&notice, (enum key)key, &answer) ||
                  key == 0 || key > 0x7f);
    ck_assert(!question_answer(&notice, KEY_ENTER, &answer));
    ck_assert(!question_answer(&notice, KEY_NONE, &answer));
}
END_TEST

/* The keys of some bytes, as letters; others as '.'. */
static void expect_keys(const char *bytes, const char *expected)
{
    struct key_reader keys = {0};
    char got[64] = "";
    size_t count = 0;

    for (; *bytes; bytes++) {
        enum key key = key_take(&keys, *bytes);

        if (key != KEY_NONE)
            got[count++] = key == KEY_UP             ? '^'
                           : key == KEY_PAGE_DOWN    ? 'P'
                           : key == KEY_ENTER        ? '$'
                           : key == KEY_ESCAPE       ? '!'
                           : key == KEY_INTERRUPT    ? 'C'
                           : key > ' ' && key < 0x7f ? (char)key
                                                     : '.';
    }
    if (key_is_open(&keys))
        got[count++] = key_end(&keys) == KEY_ESCAPE ? '!' : '.';
    ck_assert_str_eq(got, expected);
}

START_TEST(no_letter_comes_out_of_what_is_no_letter)
{
    expect_keys("o", "o");
    expect_keys("\r\n", "$$");
    expect_keys("\033", "!");
    expect_keys("\033\033", "!!");
    expect_keys("\033[A\033OA\033[6~", "^^P");
    expect_keys("\033[1;5A\033[15~\033[?1;2c", "...");
    /* With Alt, and a mouse: other keys. */
    expect_keys("\033o\033s", "..");
    expect_keys("\033[<0;10;10M\033[Mooos", "..s");
    /* What a terminal answers: its title, its colours, its settings. */
    expect_keys("\033]lo\033\\\033]11;rgb:o/o/o\a\033P1$ro\033\\\033_o\033\\n", "....n");
    expect_keys("\033]o\003", "C");
    expect_keys("\033[5;1R\033[?62;o\033[0n", "...");
    /* Pasted: no answer, whatever is in it. */
    expect_keys("\033[200~osdpa\r\033[A\033[201~n", ".n");
    expect_keys("\033[200~o\033[201\033[201~", ".");
    expect_keys("\033[200~ooo", "");
    /* Keys by number. */
    expect_keys("\033[111u\033[110;2u\033[99;5u\033[111;3u\033[27u", "oNC.!");
    expect_keys("\033[999999999999999999999999u", ".");
    expect_keys("\003", "C");
    expect_keys("\303\263", "..");
}
END_TEST

static void draw(struct drawn *drawn, const char *text, bool is_full)
{
    drawn_take(drawn, text, strlen(text), is_full);
}

START_TEST(what_was_drawn_is_drawn_again_and_no_more)
{
    static const struct {
        const char *output, *again;
    } cases[] = {
        {"\033[?1049h\033[1;1Hhello\033[31mred", "\033[1;1Hhello\033[31mred"},
        {"before\033[?1049hx", "x"},
        {"\033[?1049hone\033[?1049l\033[?1049htwo", "two"},
        /* Questions to the terminal, titles, the clipboard, bells. */
        {"\033[?1049ha\033[6n\033[c\033[>c\033[?1$p\033[18t\033[>q\033[?u\005\007b", "ab"},
        {"\033[?1049ha\033]0;title\007\033]52;c;eA==\033\\\033P+q\033\\b", "ab"},
        {"\033[?1049h\033[?25l\033[?7l\0337\0338\033M\033(0q\033(B\033[2;5r\033[5 q",
         "\033[?25l\033[?7l\0337\0338\033M\033(0q\033(B\033[2;5r\033[5 q"},
        {"\033[?1049ha\033[?1047h", ""},
        {"\033[?1049ha\033[?2026hb\033[?25;1049h", "ab"},
        /* What is not ended yet. */
        {"\033[?1049ha\033[3", "a"},
        {"\033[?1049ha\033]0;half", "a"},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct drawn drawn = {0};
        autostrbuf struct strbuf out = {0};
        static const char clear[] = "\033[m\033[H\033[2J";

        draw(&drawn, cases[i].output, true);
        ck_assert(drawn_again(&drawn, &out));
        ck_assert_msg(strncmp(out.text, clear, sizeof(clear) - 1) == 0, "case %zu", i);
        ck_assert_msg(strcmp(out.text + sizeof(clear) - 1, cases[i].again) == 0, "case %zu: %s", i,
                      out.text);
        drawn_done(&drawn);
    }
}
END_TEST

START_TEST(what_is_not_known_is_not_drawn)
{
    struct drawn drawn = {0};
    autostrbuf struct strbuf out = {0};
    char many[4096];

    memset(many, 'x', sizeof(many));
    /* Where it went there was not seen. */
    draw(&drawn, "hello", true);
    ck_assert(!drawn_again(&drawn, &out));
    draw(&drawn, "\033[?1049hhello", true);
    ck_assert(drawn_again(&drawn, &out));
    /* It has left. */
    draw(&drawn, "x", false);
    ck_assert(!drawn_again(&drawn, &out));
    draw(&drawn, "\033[?1049hhello", true);
    for (unsigned i = 0; i < DRAWN_BYTES / sizeof(many) + 1; i++)
        drawn_take(&drawn, many, sizeof(many), true);
    ck_assert(!drawn_again(&drawn, &out));
    draw(&drawn, "\033[?1049h\302\233c", true);
    ck_assert(!drawn_again(&drawn, &out));
    drawn_done(&drawn);
}
END_TEST

START_TEST(characters_that_are_cut_are_seen)
{
    ck_assert(!drawn_is_cut("abc", 3));
    ck_assert(!drawn_is_cut("\303\251", 2));
    ck_assert(drawn_is_cut("a\303", 2));
    ck_assert(drawn_is_cut("\342\202", 2));
    ck_assert(!drawn_is_cut("\342\202\254", 3));
    ck_assert(drawn_is_cut("\360\237\230", 3));
    ck_assert(!drawn_is_cut("", 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("question");
    TCase *cases = tcase_create("question");

    tcase_add_test(cases, all_of_it_is_shown_where_it_fits);
    tcase_add_test(cases, in_40_by_10_the_wish_has_its_beginning_and_its_end);
    tcase_add_test(cases, hostile_names_neither_leave_their_place_nor_hide);
    tcase_add_test(cases, what_is_no_plain_text_is_escaped);
    tcase_add_test(cases, a_long_path_is_all_there);
    tcase_add_test(cases, secrets_of_a_command_line_are_masked);
    tcase_add_test(cases, a_small_window_has_no_yes);
    tcase_add_test(cases, only_what_can_be_granted_has_a_key);
    tcase_add_test(cases, no_letter_comes_out_of_what_is_no_letter);
    tcase_add_test(cases, what_was_drawn_is_drawn_again_and_no_more);
    tcase_add_test(cases, what_is_not_known_is_not_drawn);
    tcase_add_test(cases, characters_that_are_cut_are_seen);
    suite_add_tcase(suite, cases);
    return test_run(suite, "question");
}
