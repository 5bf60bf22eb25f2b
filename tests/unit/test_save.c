/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that are saved through the library, and the rule that a refusal needs. Each case has a
 * home, an org and a workspace of its own. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char root[TEST_DIR_BYTES];
static char org[TEST_DIR_BYTES + 8];

static void set_up(void)
{
    struct bawn_error err;

    test_make_dir(root, "save");
    (void)snprintf(org, sizeof(org), "%s/org", root);
    ck_assert_int_eq(chdir(root), 0);
    ck_assert_int_eq(file_make_dirs("home/.config/bawn", &err), 0);
    ck_assert_int_eq(file_make_dirs("work", &err), 0);
    ck_assert_int_eq(file_make_dirs("org", &err), 0);
}

static void put(const char *file, const char *text)
{
    ck_assert_int_eq(file_write(AT_FDCWD, file, text, strlen(text), NULL), 0);
}

static char *get(const char *file)
{
    char *text = NULL;
    size_t length;

    ck_assert_int_eq(file_read(AT_FDCWD, file, 4096, &text, &length, NULL), 0);
    return text;
}

static struct bawn_load *new_load(void)
{
    struct bawn_load *load = NULL;
    char home[128];
    const char *environment[] = {home, NULL};

    (void)snprintf(home, sizeof(home), "HOME=%s/home", root);
    ck_assert_int_eq(bawn_load_new(&load, NULL), 0);
    ck_assert_int_eq(bawn_load_environ(load, environment, NULL), 0);
    ck_assert_int_eq(bawn_load_workspace(load, "work", NULL), 0);
    load->org_dir = org;
    load->no_profile = true; /* in it /tmp is private, and so is all of this */
    return load;
}

#define USER_FILE "home/.config/bawn/policy.yaml"

static int save(enum bawn_scope scope, struct bawn_rule rule, unsigned flags,
                struct bawn_error *ret_err)
{
    struct bawn_load *load = new_load();
    int r;

    *ret_err = (struct bawn_error){0};
    r = bawn_policy_save(load, scope, &rule, 1, flags, NULL, NULL, ret_err);
    bawn_load_free(load);
    return r;
}

START_TEST(what_the_org_denies_or_locks_is_not_saved)
{
    static const struct {
        struct bawn_rule rule;
        const char *code, *says;
    } rows[] = {
        {{BAWN_RULE_READ, "/srv/held/x"}, "save.no_effect", "/org/policy.yaml:2:10"},
        {{BAWN_RULE_WRITE, "/srv/held"}, "save.no_effect", "/org/policy.yaml:2:10"},
        {{BAWN_RULE_HOST, "bad.example:443"}, "save.no_effect", "/org/policy.yaml:3:33"},
        {{BAWN_RULE_HOST, "*.bad.example"}, "save.no_effect", "/org/policy.yaml:3:33"},
        {{BAWN_RULE_PROTECT, "x"}, "policy.locked", "/org/policy.yaml:4:8"},
    };

    put("org/policy.yaml", "sandbox:\n  deny: [/srv/held]\n"
                           "  network: {mode: proxy, deny: [\"**.bad.example\"]}\n"
                           "lock: [sandbox.protect]\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bawn_error err;

        ck_assert_int_lt(save(BAWN_SCOPE_USER, rows[i].rule, BAWN_SAVE_REOPEN, &err), 0);
        ck_assert_str_eq(err.code, rows[i].code);
        ck_assert_msg(strstr(err.message, rows[i].says), "row %zu: %s", i, err.message);
        ck_assert_int_eq(access(USER_FILE, F_OK), -1);
    }
}
END_TEST

START_TEST(the_org_may_turn_the_network_off_for_all)
{
    struct bawn_error err;

    put("org/policy.yaml", "sandbox: {network: false}\n");
    ck_assert_int_eq(
        save(BAWN_SCOPE_USER, (struct bawn_rule){BAWN_RULE_HOST, "a.example"}, 0, &err), -EACCES);
    ck_assert_str_eq(err.code, "save.no_effect");
}
END_TEST

START_TEST(a_dry_run_says_what_would_be_written)
{
    struct bawn_rule rules[] = {{BAWN_RULE_DENY, "a"}, {BAWN_RULE_DENY, "b"}};
    struct bawn_load *load = new_load();
    struct bawn_saved *saved = NULL;
    struct bawn_error err = {0};

    put(USER_FILE, "sandbox: {deny: [a]} # c\n");
    ck_assert_msg(bawn_policy_save(load, BAWN_SCOPE_USER, rules, 2, BAWN_SAVE_DRY_RUN, &saved, NULL,
                                   &err) == 0,
                  "%s", err.message);
    ck_assert_str_eq(bawn_saved_lines(saved, 0), "");
    ck_assert_str_eq(bawn_saved_lines(saved, 1), "sandbox: {deny: [a, b]} # c\n");
    ck_assert(!bawn_saved_is_written(saved));
    ck_assert(text_ends_with(bawn_saved_file(saved), USER_FILE));
    bawn_saved_free(saved);
    bawn_load_free(load);
    {
        autofree char *text = get(USER_FILE);

        ck_assert_str_eq(text, "sandbox: {deny: [a]} # c\n");
    }
}
END_TEST

START_TEST(the_org_s_file_is_for_all_to_read)
{
    struct bawn_error err;
    struct stat st;

    ck_assert_msg(save(BAWN_SCOPE_ORG, (struct bawn_rule){BAWN_RULE_DENY, "*.pem"}, 0, &err) == 0,
                  "%s", err.message);
    ck_assert_int_eq(stat("org/policy.yaml", &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0644);
}
END_TEST

START_TEST(a_number_that_is_no_kind_or_scope_is_refused)
{
    struct bawn_error err;

    ck_assert_int_eq(
        save(BAWN_SCOPE_USER, (struct bawn_rule){(enum bawn_rule_kind)99, "x"}, 0, &err), -EINVAL);
    ck_assert_int_eq(
        save(BAWN_SCOPE_PROJECT, (struct bawn_rule){(enum bawn_rule_kind)99, "x"}, 0, &err),
        -EINVAL);
    ck_assert_int_eq(save((enum bawn_scope)9, (struct bawn_rule){BAWN_RULE_DENY, "x"}, 0, &err),
                     -EINVAL);
    ck_assert_int_eq(bawn_rule_kind("nonsense"), BAWN_RULE_KINDS);
    for (enum bawn_rule_kind kind = 0; kind < BAWN_RULE_KINDS; kind++)
        ck_assert_int_eq(bawn_rule_kind(bawn_rule_word(kind)), kind);
    ck_assert_ptr_null(bawn_rule_word(BAWN_RULE_KINDS));
}
END_TEST

/* What a refusal becomes: "WORD TEXT", with "!" where it is on a list; or the code. */
static void check_rule(const struct bawn_policy *policy, enum bawn_operation operation,
                       const char *what, bool directory, const char *expected)
{
    enum bawn_rule_kind kind;
    autofree char *text = NULL;
    struct bawn_error err = {0};
    char shown[512];
    bool reopens;

    if (bawn_policy_rule_for(policy, operation, what, directory, &kind, &text, &reopens, &err) < 0)
        (void)snprintf(shown, sizeof(shown), "%s", err.code);
    else
        (void)snprintf(shown, sizeof(shown), "%s%s %s", reopens ? "!" : "", bawn_rule_word(kind),
                       text);
    ck_assert_msg(strcmp(shown, expected) == 0, "%s: %s, not %s (%s)", what, shown, expected,
                  err.message);
}

START_TEST(a_refusal_becomes_the_one_rule_that_allows_it)
{
    struct bawn_load *load = new_load();
    struct bawn_policy *policy = NULL;
    struct bawn_error err = {0};
    char home[128];
    char config[160];
    char secret[160];
    char expected[180];

    (void)snprintf(home, sizeof(home), "%s/home", root);
    (void)snprintf(config, sizeof(config), "%s/.config", home);
    (void)snprintf(secret, sizeof(secret), "%s/.ssh/id", home);
    put("org/policy.yaml", "sandbox: {deny: [/srv/held]}\n");
    put(USER_FILE, "sandbox:\n  paths: {d: {root: /srv/d, mode: ro}}\n  deny: [/srv/no]\n"
                   "  network: {mode: proxy, deny: [bad.example]}\n");
    ck_assert_msg(bawn_policy_load(load, &policy, NULL, &err) == 0, "%s", err.message);
    check_rule(policy, BAWN_READ, "/srv/a/b", false, "read /srv/a/b");
    check_rule(policy, BAWN_READ, "/srv/a/b", true, "read /srv/a");
    check_rule(policy, BAWN_EXEC, "/srv/a/b", false, "read /srv/a/b");
    check_rule(policy, BAWN_WRITE, "/srv/d/x", false, "write /srv/d/x");
    check_rule(policy, BAWN_READ, "/srv/d/x", false, "rule.allowed");
    check_rule(policy, BAWN_READ, "/srv/held/x", false, "rule.none");
    check_rule(policy, BAWN_READ, "/srv/no/x", false, "rule.none");
    (void)snprintf(expected, sizeof(expected), "%s/" USER_FILE, root);
    check_rule(policy, BAWN_WRITE, expected, false, "rule.none");
    /* Never all of it, never a home, never what holds a secret. */
    check_rule(policy, BAWN_WRITE, "/", false, "rule.none");
    check_rule(policy, BAWN_READ, "/a", true, "read /a");
    check_rule(policy, BAWN_READ, home, false, "rule.none");
    check_rule(policy, BAWN_READ, root, false, "rule.none");
    check_rule(policy, BAWN_READ, config, false, "rule.none");
    (void)snprintf(expected, sizeof(expected), "read %s/x", home);
    check_rule(policy, BAWN_READ, expected + 5, true, expected);
    (void)snprintf(expected, sizeof(expected), "!read %s", secret);
    check_rule(policy, BAWN_READ, secret, true, expected);
    check_rule(policy, BAWN_CONNECT, "a.example:443", false, "host a.example:443");
    check_rule(policy, BAWN_CONNECT, "bad.example:443", false, "rule.none");
    check_rule(policy, BAWN_CONNECT, "127.0.0.1:8080", false, "host-port 8080");
    check_rule(policy, BAWN_CONNECT, "unix:/srv/s", false, "socket /srv/s");
    bawn_policy_free(policy);
    bawn_load_free(load);
}
END_TEST

/* Each of those rules, saved, allows what was refused: one way to say it, and it is true. */
START_TEST(the_rule_that_is_proposed_has_its_effect)
{
    static const struct {
        enum bawn_operation operation;
        const char *what;
    } rows[] = {{BAWN_READ, "/srv/a/b"},          {BAWN_WRITE, "/srv/a/b"},
                {BAWN_CONNECT, "a.example:443"},  {BAWN_CONNECT, "[2001:db8::1]:80"},
                {BAWN_CONNECT, "127.0.0.1:8080"}, {BAWN_CONNECT, "unix:/srv/s"},
                {BAWN_CONNECT, "10.1.2.3:22"},    {BAWN_READ, "/srv/$WORKSPACE_DASHED-/x y"}};

    put(USER_FILE, "sandbox:\n  network: {mode: proxy}\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bawn_load *load = new_load();
        struct bawn_policy *policy = NULL;
        struct bawn_rule rule = {0};
        autofree char *text = NULL;
        struct bawn_error err = {0};
        bool reopens;

        ck_assert_int_eq(bawn_policy_load(load, &policy, NULL, &err), 0);
        ck_assert_msg(bawn_policy_rule_for(policy, rows[i].operation, rows[i].what, false,
                                           &rule.kind, &text, &reopens, &err) == 0,
                      "%s: %s", rows[i].what, err.message);
        bawn_policy_free(policy);
        rule.text = text;
        ck_assert_msg(bawn_policy_save(load, BAWN_SCOPE_USER, &rule, 1, 0, NULL, NULL, &err) == 0,
                      "%s: %s", rows[i].what, err.message);
        ck_assert_int_eq(bawn_policy_load(load, &policy, NULL, &err), 0);
        ck_assert_int_eq(bawn_decide(policy, rows[i].operation, rows[i].what, NULL, &err),
                         BAWN_ALLOW);
        bawn_policy_free(policy);
        bawn_load_free(load);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("save");
    TCase *group = tcase_create("save");

    tcase_add_checked_fixture(group, set_up, NULL);
    tcase_add_test(group, what_the_org_denies_or_locks_is_not_saved);
    tcase_add_test(group, the_org_may_turn_the_network_off_for_all);
    tcase_add_test(group, a_dry_run_says_what_would_be_written);
    tcase_add_test(group, the_org_s_file_is_for_all_to_read);
    tcase_add_test(group, a_number_that_is_no_kind_or_scope_is_refused);
    tcase_add_test(group, a_refusal_becomes_the_one_rule_that_allows_it);
    tcase_add_test(group, the_rule_that_is_proposed_has_its_effect);
    suite_add_tcase(suite, group);
    return test_run(suite, "save");
}
