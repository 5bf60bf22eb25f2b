/* SPDX-License-Identifier: Apache-2.0 */
/* What is said at the end of what was refused: the latest, each rule once, and no secret. */
#include "lib/test.h"
#include "session/refusals.h"

#include <check.h>
#include <string.h>

static struct refusals refusals;

static void take(const char *path, const char *rule, const char *hint, uint32_t times)
{
    struct event event = {.what = EVENT_REFUSED, .times = times, .pid = 1};

    for (int i = 0; i < EVENT_TEXTS; i++)
        event.texts[i] = "";
    event.texts[EVENT_OP] = "write";
    event.texts[EVENT_PATH] = path;
    event.texts[EVENT_RULE] = rule;
    event.texts[EVENT_HINT] = hint;
    refusals_take(&refusals, &event);
}

static void bar(const char *host)
{
    struct event event = {.what = EVENT_BARRED, .times = 1};

    for (int i = 0; i < EVENT_TEXTS; i++)
        event.texts[i] = "";
    event.texts[EVENT_PATH] = host;
    event.texts[EVENT_MESSAGE] = "the host is not allowed";
    event.texts[EVENT_HINT] = "add --allow-host 'x'";
    refusals_take(&refusals, &event);
}

static void says(const char *id, const char *wanted)
{
    autostrbuf struct strbuf out = {0};

    refusals_as_text(&out, &refusals, id);
    ck_assert_str_eq(out.text ? out.text : "", wanted);
}

START_TEST(nothing_is_said_of_nothing)
{
    autostrbuf struct strbuf out = {0};

    says("ID", "");
    refusals_as_text(&out, NULL, NULL);
    refusals_as_json(&out, NULL, NULL);
    ck_assert_ptr_null(out.text);
}
END_TEST

START_TEST(one_has_its_rule_and_what_allows_it)
{
    take("/x\x1b", "protect x", "add --rw '/x'", 1);
    says(NULL, "bawn: 1 thing was refused:\n"
               "  write /x\\x1b (protect x)\n"
               "    allow with: --rw '/x'\n");
}
END_TEST

START_TEST(hosts_and_paths_are_told_in_their_order)
{
    bar("a.example:80");
    bar("b.example:80");
    take("/x", "", "only the org can", 1);
    says(NULL, "bawn: 3 things were refused:\n"
               "  connect a.example:80 (the host is not allowed)\n"
               "    allow with: --allow-host 'x'\n"
               "  connect b.example:80 (the host is not allowed)\n"
               "    allow with: --allow-host 'x'\n"
               "  write /x\n"
               "    to change: only the org can\n");
}
END_TEST

START_TEST(a_rule_is_told_once_by_its_latest_path)
{
    take("/a/1", "protect a", "", 1);
    take("/b", "default", "", 1);
    take("/a/2", "protect a", "", 5);
    says(NULL, "bawn: 2 things were refused:\n"
               "  write /b (default)\n"
               "  write /a/2 (protect a), and others before by the same rule\n");
}
END_TEST

START_TEST(of_many_the_latest_three_are_told)
{
    char path[16];

    for (int i = 0; i < 100; i++) {
        (void)snprintf(path, sizeof(path), "/%d", i);
        take(path, "", "", 1);
    }
    says("ID", "bawn: 100 things were refused:\n"
               "  write /97\n"
               "  write /98\n"
               "  write /99\n"
               "  and before that 97 more: 'bawn audit ID' lists all\n");
}
END_TEST

START_TEST(secrets_are_masked)
{
    autostrbuf struct strbuf out = {0};

    take("/x?token=s3cret", "", "add --rw '/x?token=s3cret'", 1);
    refusals_as_json(&out, &refusals, "ID");
    ck_assert_ptr_null(strstr(out.text, "s3cret"));
    says("ID", "bawn: 1 thing was refused:\n"
               "  write /x?token=[masked]\n"
               "    allow with: --rw '/x?token=[masked]'\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusals");
    TCase *tcase = tcase_create("refusals");

    tcase_add_test(tcase, nothing_is_said_of_nothing);
    tcase_add_test(tcase, one_has_its_rule_and_what_allows_it);
    tcase_add_test(tcase, hosts_and_paths_are_told_in_their_order);
    tcase_add_test(tcase, a_rule_is_told_once_by_its_latest_path);
    tcase_add_test(tcase, of_many_the_latest_three_are_told);
    tcase_add_test(tcase, secrets_are_masked);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "refusals");
}
