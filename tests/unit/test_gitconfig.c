/* SPDX-License-Identifier: Apache-2.0 */
/* Git configuration for inside: which keys, and that values stay values. */
#include "config/gitconfig.h"
#include "lib/test.h"

START_TEST(what_runs_code_or_names_files_is_not_listed)
{
    static const char *const keys[] = {
        "core.editor",
        "core.pager",
        "core.fsmonitor",
        "core.hookspath",
        "core.sshcommand",
        "core.askpass",
        "core.gitproxy",
        "core.attributesfile",
        "core.excludesfile",
        "core.worktree",
        "alias.st",
        "alias.user.name",
        "credential.helper",
        "user.signingkey",
        "commit.gpgsign",
        "gpg.program",
        "url.x.insteadof",
        "include.path",
        "includeif.x.path",
        "init.templatedir",
        "commit.template",
        "sequence.editor",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "merge.x.driver",
        "filter.x.clean",
        "http.proxy",
        "http.x.extraheader",
        "safe.directory",
        "submodule.x.update",
        "remote.x.url",
        "interactive.difffilter",
        "protocol.ext.allow",
        "pager.log",
        "",
        "user",
        "user.",
        "user.name.x",
        "color.",
        "color..",
        "color.x.",
        "color.a b",
        "color.a\n[core]",
        "color.diff\"].x",
        "advice.",
        "advice.X",
        "xuser.name",
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct strbuf out = {0};

        ck_assert_msg(!gitconfig_is_listed(keys[i]), "%s", keys[i]);
        gitconfig_add(&out, keys[i], "x");
        ck_assert_ptr_null(out.text);
    }
}
END_TEST

START_TEST(a_value_is_one_value_whatever_is_in_it)
{
    static const struct {
        const char *key, *value, *text;
    } rows[] = {
        {"user.name", "Ada", "[user]\n\tname = \"Ada\"\n"},
        {"user.name", NULL, "[user]\n\tname = \"true\"\n"},
        {"user.name", "", "[user]\n\tname = \"\"\n"},
        {"user.name", "a\n[core]\n\teditor=x", "[user]\n\tname = \"a\\n[core]\\n\teditor=x\"\n"},
        {"user.email", "\"]#;\\", "[user]\n\temail = \"\\\"]#;\\\\\"\n"},
        {"user.email", "a\\\n\\\"b\r", "[user]\n\temail = \"a\\\\\\n\\\\\\\"b\r\"\n"},
        {"color.ui", " \t#x ", "[color]\n\tui = \" \t#x \"\n"},
        {"color.diff.meta", "bold", "[color \"diff\"]\n\tmeta = \"bold\"\n"},
        {"advice.detachedhead", "false", "[advice]\n\tdetachedhead = \"false\"\n"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf out = {0};

        gitconfig_add(&out, rows[i].key, rows[i].value);
        ck_assert_str_eq(out.text, rows[i].text);
        strbuf_done(&out);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gitconfig");
    TCase *group = tcase_create("gitconfig");

    tcase_add_test(group, what_runs_code_or_names_files_is_not_listed);
    tcase_add_test(group, a_value_is_one_value_whatever_is_in_it);
    suite_add_tcase(suite, group);
    return test_run(suite, "gitconfig");
}
