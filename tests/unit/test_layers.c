/* SPDX-License-Identifier: Apache-2.0 */
/* Layers as files: found, read, locked, approved and sealed. Each case has a home, an org and a
 * workspace of its own below a fresh directory. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "lib/test.h"
#include "policy/build.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[TEST_DIR_BYTES];
static char org[80];
static bool bare; /* without a profile: in it /tmp is private, and so is all of this */

static void set_up(void)
{
    struct bawn_error err;

    test_make_dir(root, "layers");
    (void)snprintf(org, sizeof(org), "%s/org", root);
    ck_assert_int_eq(chdir(root), 0);
    ck_assert_int_eq(file_make_dirs("home/.config/bawn", &err), 0);
    ck_assert_int_eq(file_make_dirs("work/.bawn", &err), 0);
    ck_assert_int_eq(file_make_dirs("org", &err), 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void tear_down(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void put(const char *file, const char *text)
{
    struct bawn_error err = {0};

    ck_assert_msg(file_write(AT_FDCWD, file, text, strlen(text), &err) == 0, "%s", err.message);
}

/* What is to be loaded: the case's own files and, beside HOME, the variables given. */
static struct bawn_load *new_load(const char *workspace, const char *variable)
{
    struct bawn_load *load = NULL;
    struct bawn_error err;
    char home[128];
    const char *environment[] = {home, variable, NULL};

    (void)snprintf(home, sizeof(home), "HOME=%s/home", root);
    ck_assert_int_eq(bawn_load_new(&load, &err), 0);
    ck_assert_int_eq(bawn_load_environ(load, environment, &err), 0);
    ck_assert_int_eq(bawn_load_workspace(load, workspace, &err), 0);
    load->org_dir = org;
    load->no_profile = bare;
    return load;
}

/* Loads; the policy, or NULL with the code of the first error in code. */
static struct bawn_policy *load_policy(struct bawn_load *load, char code[48])
{
    struct bawn_policy *policy = NULL;
    struct bawn_error err = {0};

    if (bawn_policy_load(load, &policy, NULL, &err) < 0)
        (void)snprintf(code, 48, "%s", err.code);
    bawn_load_free(load);
    return policy;
}

static void expect_error(struct bawn_load *load, const char *code)
{
    char got[48] = "";

    ck_assert_ptr_null(load_policy(load, got));
    ck_assert_str_eq(got, code);
}

__attribute__((format(printf, 2, 3))) static int can_write(struct bawn_load *load,
                                                           const char *format, ...)
{
    char code[48] = "";
    char path[256];
    struct bawn_policy *policy = load_policy(load, code);
    va_list args;
    int verdict;

    ck_assert_msg(policy, "%s", code);
    va_start(args, format);
    (void)vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    verdict = bawn_decide(policy, BAWN_WRITE, path, NULL, NULL);
    bawn_policy_free(policy);
    return verdict;
}

START_TEST(a_lock_holds_for_flags_variables_and_presets)
{
    struct bawn_load *load;

    put("org/policy.yaml", "lock: [profile, presets]\nprofile: untrusted\n");
    ck_assert_int_eq(can_write(new_load("work", NULL), "%s/work/x", root), BAWN_DENY);
    load = new_load("work", NULL);
    ck_assert_int_eq(bawn_load_profile(load, "default", NULL), 0);
    expect_error(load, "policy.locked");
    load = new_load("work", NULL);
    ck_assert_int_eq(bawn_load_preset(load, "node", NULL), 0);
    expect_error(load, "policy.locked");
    expect_error(new_load("work", "BAWN_PROFILE=default"), "policy.locked");
    put("org/policy.yaml", "lock: [sandbox.paths]\n");
    put("home/.config/bawn/policy.yaml", "presets: [node]\n");
    expect_error(new_load("work", NULL), "policy.locked");
}
END_TEST

START_TEST(setting_the_profile_as_a_value_takes_it)
{
    struct bawn_load *load = new_load("work", NULL);

    ck_assert_int_eq(bawn_load_set(load, "profile", "untrusted", "--set", NULL), 0);
    ck_assert_int_eq(can_write(load, "%s/work/x", root), BAWN_DENY);
    load = new_load("work", NULL);
    ck_assert_int_lt(bawn_load_set(load, "profile", "nothing", "--set", NULL), 0);
    bawn_load_free(load);
}
END_TEST

static void approve(const char *workspace, const char *file)
{
    struct bawn_load *load = new_load(workspace, NULL);
    autofree char *text = NULL;
    struct bawn_error err = {0};
    size_t length;

    ck_assert_int_eq(file_read(-100, file, 1 << 20, &text, &length, &err), 0);
    ck_assert_msg(bawn_policy_approve(load, file, text, length, NULL, &err) == 0, "%s",
                  err.message);
    bawn_load_free(load);
}

START_TEST(an_approval_is_for_one_file_with_one_content)
{
    struct bawn_error err;

    bare = true;
    put("work/.bawn/policy.yaml", "sandbox: {paths: {x: {root: ../more, mode: rw}}}\n");
    ck_assert_int_eq(can_write(new_load("work", NULL), "%s/more/x", root), BAWN_DENY);
    approve("work", "work/.bawn/policy.yaml");
    ck_assert_int_eq(can_write(new_load("work", NULL), "%s/more/x", root), BAWN_ALLOW);
    /* Another project cannot borrow it, neither by content nor by a link. */
    ck_assert_int_eq(file_make_dirs("deep/other/.bawn", &err), 0);
    put("deep/other/.bawn/policy.yaml", "sandbox: {paths: {x: {root: ../more, mode: rw}}}\n");
    ck_assert_int_eq(can_write(new_load("deep/other", NULL), "%s/deep/more/x", root), BAWN_DENY);
    ck_assert_int_eq(unlink("deep/other/.bawn/policy.yaml"), 0);
    ck_assert_int_eq(symlink("../../../work/.bawn/policy.yaml", "deep/other/.bawn/policy.yaml"), 0);
    ck_assert_int_eq(can_write(new_load("deep/other", NULL), "%s/deep/more/x", root), BAWN_DENY);
    ck_assert_int_eq(unlink("deep/other/.bawn/policy.yaml"), 0);
    ck_assert_int_eq(rmdir("deep/other/.bawn"), 0);
    ck_assert_int_eq(symlink("../../work/.bawn", "deep/other/.bawn"), 0);
    ck_assert_int_eq(can_write(new_load("deep/other", NULL), "%s/deep/more/x", root), BAWN_DENY);
    /* And it ends when the file changes. */
    put("work/.bawn/policy.yaml", "sandbox: {paths: {x: {root: ../more, mode: rw}}} # \n");
    ck_assert_int_eq(can_write(new_load("work", NULL), "%s/more/x", root), BAWN_DENY);
}
END_TEST

START_TEST(an_approval_is_kept_where_configuration_is_linked_to)
{
    struct bawn_error err;

    bare = true;
    put("work/.bawn/policy.yaml", "sandbox: {paths: {x: {root: ../more, mode: rw}}}\n");
    ck_assert_int_eq(rename("home/.config/bawn", "dotfiles"), 0);
    ck_assert_int_eq(symlink("../../dotfiles", "home/.config/bawn"), 0);
    approve("work", "work/.bawn/policy.yaml");
    ck_assert_int_eq(access("dotfiles/approved", F_OK), 0);
    ck_assert_int_eq(can_write(new_load("work", NULL), "%s/more/x", root), BAWN_ALLOW);
    /* One that leads nowhere yet: the directory is made there. */
    ck_assert_int_eq(file_make_dirs("other", &err), 0);
    ck_assert_int_eq(unlink("home/.config/bawn"), 0);
    ck_assert_int_eq(symlink("../../other/bawn", "home/.config/bawn"), 0);
    approve("work", "work/.bawn/policy.yaml");
    ck_assert_int_eq(access("other/bawn/approved", F_OK), 0);
}
END_TEST

START_TEST(a_link_is_not_approved)
{
    struct bawn_load *load = new_load("work", NULL);
    struct bawn_error err;

    put("elsewhere.yaml", "sandbox: {}\n");
    ck_assert_int_eq(symlink("../../elsewhere.yaml", "work/.bawn/policy.yaml"), 0);
    ck_assert_int_lt(bawn_policy_approve(load, "work/.bawn/policy.yaml", "", 0, NULL, &err), 0);
    ck_assert_str_eq(err.code, "approve.link");
    bawn_load_free(load);
}
END_TEST

START_TEST(a_policy_that_cannot_be_read_is_not_skipped)
{
    static const char *const files[] = {"org/policy.yaml", "home/.config/bawn/policy.yaml",
                                        "work/.bawn/policy.yaml", "work/.bawn/local.yaml"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        ck_assert_int_eq(symlink("nowhere", files[i]), 0);
        expect_error(new_load("work", NULL), "system");
        ck_assert_int_eq(unlink(files[i]), 0);
        ck_assert_int_eq(mkfifo(files[i], 0600), 0);
        expect_error(new_load("work", NULL), "file.not_regular");
        ck_assert_int_eq(unlink(files[i]), 0);
        ck_assert_int_eq(mkdir(files[i], 0700), 0);
        expect_error(new_load("work", NULL), "file.not_regular");
        ck_assert_int_eq(rmdir(files[i]), 0);
    }
    put("home/.config/bawn/policy.yml", "sandbox: {}\n");
    expect_error(new_load("work", NULL), "load.wrong_name");
}
END_TEST

START_TEST(a_project_lifts_no_limit)
{
    char code[48] = "";
    struct bawn_policy *policy;
    struct bawn_host host = {.facts = {.memory_bytes = 1ULL << 30, .cpus = 1}};
    struct bawn_plan *plan = NULL;

    put("work/.bawn/policy.yaml",
        "sandbox: {limits: {tmp_size: 1000G, pids: 4000000, memory: 900G, cpu: 9000}}\n");
    policy = load_policy(new_load("work", NULL), code);
    ck_assert_msg(policy, "%s", code);
    host.facts.backends[BACKEND_NATIVE].available = true;
    ck_assert_int_eq(bawn_plan_new(policy, &host, &plan, NULL), 0);
    ck_assert_uint_eq(plan_limit(&plan->plan, SETTING_LIMITS_TMP_SIZE), 256ULL << 20);
    ck_assert_uint_eq(plan_limit(&plan->plan, SETTING_LIMITS_PIDS), 1024);
    ck_assert_uint_eq(plan_limit(&plan->plan, SETTING_LIMITS_MEMORY), 2ULL << 30);
    ck_assert_uint_eq(plan_limit(&plan->plan, SETTING_LIMITS_CPU), 80);
    bawn_plan_free(plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(secrets_are_where_they_usually_are_too)
{
    char code[48] = "";
    char variable[128];
    char path[128];
    struct bawn_load *load;
    struct bawn_policy *policy;

    (void)snprintf(variable, sizeof(variable), "XDG_CONFIG_HOME=%s/xdg", root);
    load = new_load("work", variable);
    ck_assert_int_eq(bawn_load_path(load, "rw", root, "--rw", NULL), 0);
    policy = load_policy(load, code);
    ck_assert_msg(policy, "%s", code);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s/gcloud/x", root, i ? "xdg" : "home/.config");
        ck_assert_int_eq(bawn_decide(policy, BAWN_READ, path, NULL, NULL), BAWN_DENY);
        (void)snprintf(path, sizeof(path), "%s/%s/bawn/x", root, i ? "xdg" : "home/.config");
        ck_assert_int_eq(bawn_decide(policy, BAWN_WRITE, path, NULL, NULL), BAWN_DENY);
    }
    bawn_policy_free(policy);
}
END_TEST

START_TEST(a_policy_named_through_a_link_is_sealed_at_both_ends)
{
    struct bawn_load *load = new_load("work", NULL);
    char code[48] = "";
    char path[128];
    struct bawn_policy *policy;
    struct bawn_error err;

    ck_assert_int_eq(file_make_dirs("work/real", &err), 0);
    put("work/real/p.yaml", "sandbox: {}\n");
    ck_assert_int_eq(symlink("real/p.yaml", "work/p.yaml"), 0);
    ck_assert_int_eq(bawn_load_file(load, "work/p.yaml", NULL, &err), 0);
    policy = load_policy(load, code);
    ck_assert_msg(policy, "%s", code);
    (void)snprintf(path, sizeof(path), "%s/work/real/p.yaml", root);
    ck_assert_int_eq(bawn_decide(policy, BAWN_WRITE, path, NULL, NULL), BAWN_DENY);
    (void)snprintf(path, sizeof(path), "%s/work/p.yaml", root);
    ck_assert_int_eq(bawn_decide(policy, BAWN_WRITE, path, NULL, NULL), BAWN_DENY);
    /* Also when the command has put another file in the place of the link. */
    ck_assert_int_eq(unlink("work/p.yaml"), 0);
    ck_assert_int_eq(bawn_decide(policy, BAWN_WRITE, path, NULL, NULL), BAWN_DENY);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(a_workspace_that_is_private_is_told)
{
    struct bawn_policy *policy = NULL;
    struct bawn_report *report = NULL;
    struct bawn_load *load = new_load("/tmp", NULL);

    ck_assert_int_eq(bawn_policy_load(load, &policy, &report, NULL), 0);
    ck_assert_uint_eq(bawn_report_count(report), 2); /* and the home of this case is in it */
    ck_assert_str_eq(bawn_report_get(report, 1)->code, "load.private_workspace");
    bawn_report_free(report);
    bawn_policy_free(policy);
    policy = NULL;
    /* Named, it is what is there. */
    ck_assert_int_eq(bawn_load_path(load, "rw", "/tmp", "--rw", NULL), 0);
    ck_assert_int_eq(bawn_policy_load(load, &policy, &report, NULL), 0);
    ck_assert_uint_eq(bawn_report_count(report), 1);
    bawn_report_free(report);
    bawn_policy_free(policy);
    bawn_load_free(load);
}
END_TEST

START_TEST(the_record_of_approvals_is_sealed_where_a_link_leads)
{
    struct bawn_error err;

    ck_assert_int_eq(file_make_dirs("work/dot", &err), 0);
    put("work/dot/approved", "");
    ck_assert_int_eq(symlink("../../../work/dot/approved", "home/.config/bawn/approved"), 0);
    ck_assert_int_eq(can_write(new_load("work", NULL), "%s/work/dot/approved", root), BAWN_DENY);
    ck_assert_int_eq(can_write(new_load("work", NULL), "%s/work/dot/other", root), BAWN_ALLOW);
}
END_TEST

START_TEST(what_the_org_puts_apart_stays_apart)
{
    bare = true;
    put("org/policy.yaml", "sandbox: {paths: {w: {root: $WORKSPACE, mode: overlay}}}\n");
    put("work/.bawn/policy.yaml", "sandbox: {paths: {x: {root: src, mode: rw}}}\n");
    approve("work", "work/.bawn/policy.yaml");
    {
        char code[48] = "";
        char path[128];
        struct bawn_policy *policy = load_policy(new_load("work", NULL), code);
        autofree char *text = NULL;

        ck_assert_msg(policy, "%s", code);
        (void)snprintf(path, sizeof(path), "%s/work/src/x", root);
        ck_assert_int_eq(bawn_explain(policy, BAWN_WRITE, path, BAWN_FORMAT_TEXT, &text, NULL), 0);
        ck_assert_ptr_nonnull(strstr(text, "(overlay)"));
        bawn_policy_free(policy);
    }
}
END_TEST

START_TEST(a_large_project_file_takes_no_longer_than_it_must)
{
    autostrbuf struct strbuf text = {0};
    struct timespec start;
    struct timespec end;
    char code[48] = "";
    struct bawn_policy *policy;

    strbuf_add(&text, "sandbox:\n  paths:\n");
    for (int i = 0; i < 20000; i++)
        strbuf_addf(&text, "    a%d: {root: /bin/a%d, mode: rw}\n", i, i);
    strbuf_add(&text, "  deny:\n");
    for (int i = 0; i < 20000; i++)
        strbuf_addf(&text, "    - 'a*b%d'\n", i);
    put("work/.bawn/policy.yaml", text.text);
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    policy = load_policy(new_load("work", NULL), code);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    ck_assert_msg(policy, "%s", code);
    bawn_policy_free(policy);
    /* A second is what it takes with sanitizers; quadratic work took minutes. */
    ck_assert_int_lt(end.tv_sec - start.tv_sec, 15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layers");
    TCase *all = tcase_create("layers");

    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, a_lock_holds_for_flags_variables_and_presets);
    tcase_add_test(all, setting_the_profile_as_a_value_takes_it);
    tcase_add_test(all, an_approval_is_for_one_file_with_one_content);
    tcase_add_test(all, an_approval_is_kept_where_configuration_is_linked_to);
    tcase_add_test(all, a_link_is_not_approved);
    tcase_add_test(all, a_policy_that_cannot_be_read_is_not_skipped);
    tcase_add_test(all, a_project_lifts_no_limit);
    tcase_add_test(all, secrets_are_where_they_usually_are_too);
    tcase_add_test(all, a_policy_named_through_a_link_is_sealed_at_both_ends);
    tcase_add_test(all, a_workspace_that_is_private_is_told);
    tcase_add_test(all, the_record_of_approvals_is_sealed_where_a_link_leads);
    tcase_add_test(all, what_the_org_puts_apart_stays_apart);
    tcase_add_test(all, a_large_project_file_takes_no_longer_than_it_must);
    tcase_set_timeout(all, 60);
    suite_add_tcase(suite, all);
    return test_run(suite, "layers");
}
