/* SPDX-License-Identifier: Apache-2.0 */
/* bawn YAML into a policy: each key, each complaint. */
#include "base/cleanup.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COMPLAINS(name, text, expected) TEST_COMPLAINS(name, FORMAT_BAWN, "p.yaml", text, expected)
#define BECOMES(name, text, expected, expected_complaints)                                         \
    TEST_BECOMES(name, FORMAT_BAWN, "p.yaml", text, expected, expected_complaints)

/* One value by its key, as an option gives it. */
static void sets(const char *key, const char *value, const char *expected,
                 const char *expected_complaints)
{
    autofree char *complaints = NULL;
    autofree char *policy = NULL;
    struct config_source source;
    struct test_policy test;

    test_policy_init(&test);
    source = (struct config_source){
        .policy = &test.policy,
        .layer = policy_add_layer(&test.policy, LAYER_FLAGS, AUTHORITY_USER, "flags", NULL, NULL),
        .file = "command line",
        .base = TEST_WORKSPACE,
        .report = test.report};
    ck_assert_int_eq(config_set(&source, key, value, (struct origin){.file = "--set"}), 0);
    complaints = test_policy_complaints(&test);
    policy = test_policy_text(&test);
    ck_assert_str_eq(complaints, expected_complaints);
    ck_assert_str_eq(policy, expected);
    test_policy_done(&test);
}

/* Which format a document is taken for. */
static enum config_format tells(const char *text)
{
    struct config_document document = {.file = "f"};
    struct bawn_report *report = report_new();

    if (config_parse(&document, FORMAT_UNKNOWN, text, strlen(text), report) < 0)
        document.format = FORMAT_UNKNOWN;
    config_document_done(&document);
    bawn_report_free(report);
    return document.format;
}
/* The older form, alone. */
static void old_becomes(const char *text, const char *expected, const char *expected_complaints)
{
    autofree char *complaints = NULL;
    autofree char *policy = NULL;
    struct test_policy test;

    test_policy_init(&test);
    (void)test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_SANDBOXES, "old.yaml", text,
                           strlen(text));
    complaints = test_policy_complaints(&test);
    policy = test_policy_text(&test);
    ck_assert_str_eq(complaints, expected_complaints);
    ck_assert_str_eq(policy, expected);
    test_policy_done(&test);
}

COMPLAINS(unknown_key_names_the_nearest_one,
          "sandbox:\n"
          "  raeds: strict\n",
          "p.yaml:2:3 error config.unknown_key: unknown key sandbox.raeds\n"
          "  did you mean 'reads'?\n")

COMPLAINS(unknown_key_at_the_top_names_the_nearest_one, "sandbx: {}\n",
          "p.yaml:1:1 error config.unknown_key: unknown key sandbx\n"
          "  did you mean 'sandbox'?\n")

COMPLAINS(unknown_key_far_from_all_lists_the_keys,
          "sandbox:\n"
          "  zzzzzzzz: 1\n",
          "p.yaml:2:3 error config.unknown_key: unknown key sandbox.zzzzzzzz\n"
          "  the keys here are: paths, deny, ask, protect, confirm, network, ask_timeout, reads, "
          "require_os_sandbox, limits, process, devices, workspace_mount, home, repository, late, "
          "overlay_all, "
          "reopen\n")

COMPLAINS(unknown_key_below_network, "sandbox: {network: {alow: [a.example]}}\n",
          "p.yaml:1:21 error config.unknown_key: unknown key sandbox.network.alow\n"
          "  did you mean 'allow'?\n")

COMPLAINS(unknown_key_below_limits,
          "sandbox:\n"
          "  limits:\n"
          "    memroy: 1G\n",
          "p.yaml:3:5 error config.unknown_key: unknown key sandbox.limits.memroy\n"
          "  did you mean 'memory'?\n")

COMPLAINS(unknown_key_below_process, "sandbox: {process: {degub: true}}\n",
          "p.yaml:1:21 error config.unknown_key: unknown key sandbox.process.degub\n"
          "  did you mean 'debug'?\n")

COMPLAINS(unknown_key_below_env, "sandbox: {process: {env: {past: [A]}}}\n",
          "p.yaml:1:27 error config.unknown_key: unknown key sandbox.process.env.past\n"
          "  did you mean 'pass'?\n")

COMPLAINS(unknown_key_below_devices, "sandbox: {devices: {kmv: true}}\n",
          "p.yaml:1:21 error config.unknown_key: unknown key sandbox.devices.kmv\n"
          "  did you mean 'kvm'?\n")

COMPLAINS(unknown_key_of_a_path,
          "sandbox:\n"
          "  paths:\n"
          "    work:\n"
          "      rot: .\n"
          "      mode: rw\n",
          "p.yaml:4:7 error config.unknown_key: unknown key sandbox.paths.work.rot\n"
          "  did you mean 'root'?\n")

COMPLAINS(unknown_key_of_a_tool, "tool_rules: {shell: {aproval_required: true}}\n",
          "p.yaml:1:22 error config.unknown_key: unknown key tool_rules.shell.aproval_required\n"
          "  did you mean 'approval_required'?\n")

COMPLAINS(unknown_key_with_an_empty_list_is_unknown_all_the_same, "sandbox: {denny: []}\n",
          "p.yaml:1:11 error config.unknown_key: unknown key sandbox.denny\n"
          "  did you mean 'deny'?\n")

COMPLAINS(unknown_key_with_nothing_is_unknown_all_the_same,
          "sandbox:\n"
          "  denny:\n",
          "p.yaml:2:3 error config.unknown_key: unknown key sandbox.denny\n"
          "  did you mean 'deny'?\n")

COMPLAINS(key_with_a_dot_is_no_key_further_down,
          "sandbox.reads: static\n"
          "sandbox: {network.mode: host}\n",
          "p.yaml:1:1 error config.unknown_key: unknown key sandbox.reads\n"
          "  write a key below another as a map: sandbox: {reads: ...}\n"
          "p.yaml:2:11 error config.unknown_key: unknown key sandbox.network.mode\n"
          "  write a key below another as a map: sandbox: {reads: ...}\n")

COMPLAINS(key_of_the_manual_is_no_key, "\"tool_rules.*\": {shell: \"rm *\"}\n",
          "p.yaml:1:1 error config.unknown_key: unknown key tool_rules.*\n"
          "  write a key below another as a map: sandbox: {reads: ...}\n")

COMPLAINS(
    names_of_objects_are_unknown_keys,
    "toString: 1\n"
    "__proto__: {a: b}\n"
    "sandbox: {constructor: x, hasOwnProperty: y}\n",
    "p.yaml:1:1 error config.unknown_key: unknown key toString\n"
    "  the keys here are: version, sandbox, tool_rules, profile, audit, lock, presets, tools\n"
    "p.yaml:2:1 error config.unknown_key: unknown key __proto__\n"
    "  the keys here are: version, sandbox, tool_rules, profile, audit, lock, presets, tools\n"
    "p.yaml:3:11 error config.unknown_key: unknown key sandbox.constructor\n"
    "  the keys here are: paths, deny, ask, protect, confirm, network, ask_timeout, reads, "
    "require_os_sandbox, limits, process, devices, workspace_mount, home, repository, late, "
    "overlay_all, "
    "reopen\n"
    "p.yaml:3:27 error config.unknown_key: unknown key sandbox.hasOwnProperty\n"
    "  the keys here are: paths, deny, ask, protect, confirm, network, ask_timeout, reads, "
    "require_os_sandbox, limits, process, devices, workspace_mount, home, repository, late, "
    "overlay_all, "
    "reopen\n")

COMPLAINS(
    empty_key_is_unknown, "\"\": 1\n",
    "p.yaml:1:1 error config.unknown_key: unknown key \n"
    "  the keys here are: version, sandbox, tool_rules, profile, audit, lock, presets, tools\n")

COMPLAINS(key_of_another_case_is_unknown, "Sandbox: {}\n",
          "p.yaml:1:1 error config.unknown_key: unknown key Sandbox\n"
          "  did you mean 'sandbox'?\n")

BECOMES(name_of_a_path_may_be_anything,
        "sandbox:\n"
        "  paths:\n"
        "    __proto__: {root: /x, mode: rw}\n"
        "    toString: {root: /y, mode: ro}\n"
        "    \"a.b c\": {root: /z, mode: ask}\n",
        "path rw /x\n"
        "path ro /y\n"
        "path ask /z\n",
        "")

COMPLAINS(sandbox_is_a_map, "sandbox: [a]\n",
          "p.yaml:1:10 error config.bad_type: sandbox: expected a map, found a list\n")

COMPLAINS(sandbox_is_not_a_word, "sandbox: strict\n",
          "p.yaml:1:10 error config.bad_type: sandbox: expected a map, found a string\n")

COMPLAINS(
    paths_is_a_map, "sandbox: {paths: [a]}\n",
    "p.yaml:1:18 error config.bad_type: sandbox.paths: expected a map of names, found a list\n")

COMPLAINS(one_path_is_a_map, "sandbox: {paths: {work: /x}}\n",
          "p.yaml:1:25 error config.bad_type: sandbox.paths.work: expected a map such as {root: ., "
          "mode: rw}, found a string\n")

COMPLAINS(
    root_is_a_string, "sandbox: {paths: {work: {root: [a], mode: rw}}}\n",
    "p.yaml:1:32 error config.bad_type: sandbox.paths.work.root: expected a string, found a list\n")

COMPLAINS(
    mode_is_a_string, "sandbox: {paths: {work: {root: a, mode: {}}}}\n",
    "p.yaml:1:41 error config.bad_type: sandbox.paths.work.mode: expected a string, found a map\n")

COMPLAINS(suffixes_is_a_list, "sandbox: {paths: {work: {root: a, mode: rw, suffixes: .md}}}\n",
          "p.yaml:1:55 error config.bad_type: sandbox.paths.work.suffixes: expected a list, found "
          "a string\n")

COMPLAINS(deny_is_a_list, "sandbox: {deny: \"*.key\"}\n",
          "p.yaml:1:17 error config.bad_type: sandbox.deny: expected a list, found a string\n")

COMPLAINS(
    deny_holds_strings, "sandbox: {deny: [[a], {b: c}, true, ~]}\n",
    "p.yaml:1:18 error config.bad_type: sandbox.deny: expected a string, found a list\n"
    "p.yaml:1:23 error config.bad_type: sandbox.deny: expected a string, found a map\n"
    "p.yaml:1:31 error config.bad_type: sandbox.deny: expected a string, found true or false\n"
    "p.yaml:1:37 error config.bad_type: sandbox.deny: expected a string, found nothing\n"
    "  a bare ~ means nothing in YAML: write '~/' for your home\n")

COMPLAINS(
    reads_is_a_single_value, "sandbox: {reads: [strict]}\n",
    "p.yaml:1:18 error config.bad_type: sandbox.reads: expected a single value, found a list\n")

COMPLAINS(network_is_a_map_or_true_or_false, "sandbox: {network: 5}\n",
          "p.yaml:1:20 error config.bad_type: sandbox.network: expected true, false or a map, "
          "found a number\n")

COMPLAINS(
    network_allow_is_a_list, "sandbox: {network: {allow: a.example}}\n",
    "p.yaml:1:28 error config.bad_type: sandbox.network.allow: expected a list, found a string\n")

COMPLAINS(
    network_hosts_is_a_map, "sandbox: {network: {hosts: [a]}}\n",
    "p.yaml:1:28 error config.bad_type: sandbox.network.hosts: expected a map, found a list\n")

COMPLAINS(a_pinned_address_is_a_string, "sandbox: {network: {hosts: {a.example: [10.0.0.1]}}}\n",
          "p.yaml:1:40 error config.bad_type: sandbox.network.hosts.a.example: expected a string, "
          "found a list\n")

COMPLAINS(limits_is_a_map, "sandbox: {limits: [strict]}\n",
          "p.yaml:1:19 error config.bad_type: sandbox.limits: expected a map, found a list\n")

COMPLAINS(
    process_is_a_map, "sandbox: {process: true}\n",
    "p.yaml:1:20 error config.bad_type: sandbox.process: expected a map, found true or false\n")

COMPLAINS(env_is_a_map, "sandbox: {process: {env: [PATH]}}\n",
          "p.yaml:1:26 error config.bad_type: sandbox.process.env: expected a map, found a list\n")

COMPLAINS(
    env_set_is_a_map, "sandbox: {process: {env: {set: [A]}}}\n",
    "p.yaml:1:32 error config.bad_type: sandbox.process.env.set: expected a map, found a list\n")

COMPLAINS(devices_is_a_map, "sandbox: {devices: /dev/kvm}\n",
          "p.yaml:1:20 error config.bad_type: sandbox.devices: expected a map, found a string\n")

COMPLAINS(tools_is_a_list, "tools: shell\n",
          "p.yaml:1:8 error config.bad_type: tools: expected a list, found a string\n")

COMPLAINS(tool_rules_is_a_map, "tool_rules: [shell]\n",
          "p.yaml:1:13 error config.bad_type: tool_rules: expected a map of tools, found a list\n")

COMPLAINS(one_tool_is_a_map, "tool_rules: {shell: ask}\n",
          "p.yaml:1:21 error config.bad_type: tool_rules.shell: expected a map such as "
          "{approval_required: true}, found a string\n")

COMPLAINS(approval_required_is_true_or_false,
          "tool_rules: {shell: {approval_required: \"true\"}}\n",
          "p.yaml:1:41 error config.bad_type: tool_rules.shell.approval_required: expected true or "
          "false, found a string\n")

COMPLAINS(
    commands_of_a_tool_are_a_list, "tool_rules: {shell: {deny: \"rm *\"}}\n",
    "p.yaml:1:28 error config.bad_type: tool_rules.shell.deny: expected a list, found a string\n")

COMPLAINS(lock_is_a_list, "lock: sandbox\n",
          "p.yaml:1:7 error config.bad_type: lock: expected a list, found a string\n")

COMPLAINS(presets_is_a_list, "presets: git\n",
          "p.yaml:1:10 error config.bad_type: presets: expected a list, found a string\n")

START_TEST(option_sets_a_setting)
{
    sets("sandbox.reads", "static", "sandbox.reads = static\n", "");
}
END_TEST

START_TEST(option_adds_to_a_list)
{
    sets("sandbox.deny", "*.key", "deny wild /w/**/*.key\n", "");
    sets("sandbox.network.allow", "a.example", "allow host a.example\n", "");
    sets("sandbox.process.env.pass", "A", "sandbox.process.env.pass A\n", "");
}
END_TEST

START_TEST(option_knows_the_short_forms)
{
    sets("sandbox.network", "false", "sandbox.network.mode = none\n", "");
    sets("sandbox.network", "true",
         "sandbox.network.mode = proxy\nsandbox.network.unlisted = ask\n", "");
    sets("sandbox.network", "host", "sandbox.network.mode = host\n", "");
    sets("sandbox.limits", "strict", "sandbox.limits.preset = strict\n", "");
}
END_TEST

START_TEST(option_with_an_unknown_key_names_the_nearest_one)
{
    sets("sandbox.raeds", "static", "",
         "--set:0:0 error config.unknown_key: unknown key sandbox.raeds\n"
         "  did you mean 'sandbox.reads'?\n");
}
END_TEST

START_TEST(option_with_the_key_of_a_map_needs_a_name)
{
    sets("sandbox.process.env.set", "A=b", "",
         "--set:0:0 error config.missing_key: sandbox.process.env.set is a map: it needs a name\n"
         "  write sandbox.process.env.set.NAME=VALUE\n");
}
END_TEST

START_TEST(option_sets_an_entry_of_a_map)
{
    sets("sandbox.process.env.set.A", "b", "sandbox.process.env.set A: b\n", "");
    sets("sandbox.network.hosts.a.example", "10.0.0.1",
         "sandbox.network.hosts a.example: 10.0.0.1\n", "");
}
END_TEST

START_TEST(option_with_a_bad_value_says_what_would_be_good)
{
    sets("sandbox.limits.time", "soon", "",
         "--set:0:0 error config.bad_value: sandbox.limits.time: 'soon' is not a time such as 90s, "
         "10m or 2h\n");
}
END_TEST

START_TEST(format_is_told_from_the_content)
{
    ck_assert_int_eq(tells("sandbox: {}"), FORMAT_BAWN);
    ck_assert_int_eq(tells(""), FORMAT_BAWN);
    ck_assert_int_eq(tells("sandboxes: {}"), FORMAT_SANDBOXES);
    ck_assert_int_eq(tells(" {\"sandbox\": {}}"), FORMAT_CLAUDE);
    ck_assert_int_eq(tells("{\"permissions\": {}}"), FORMAT_CLAUDE);
    ck_assert_int_eq(tells("{\"network\": {}}"), FORMAT_SRT);
    ck_assert_int_eq(tells("\n{\"filesystem\": {}}"), FORMAT_SRT);
    ck_assert_int_eq(tells("{\"credentials\": {}}"), FORMAT_SRT);
    ck_assert_int_eq(tells("{\"other\": {}}"), FORMAT_UNKNOWN);
}
END_TEST

START_TEST(formats_have_names)
{
    ck_assert_int_eq(config_format_find("bawn"), FORMAT_BAWN);
    ck_assert_int_eq(config_format_find("claude"), FORMAT_CLAUDE);
    ck_assert_int_eq(config_format_find("srt"), FORMAT_SRT);
    ck_assert_int_eq(config_format_find("sandboxes"), FORMAT_SANDBOXES);
    ck_assert_int_eq(config_format_find("yaml"), FORMAT_UNKNOWN);
}
END_TEST

START_TEST(profile_and_presets_are_known_before_loading)
{
    static const char text[] = "profile: strict\npresets: [git, node]\n";
    struct config_document document = {.file = "f"};

    ck_assert_int_eq(config_parse(&document, FORMAT_BAWN, text, strlen(text), NULL), 0);
    ck_assert_str_eq(config_profile(&document)->text, "strict");
    ck_assert_str_eq(config_presets(&document)->text, "git");
    ck_assert_str_eq(config_presets(&document)->next->text, "node");
    ck_assert_ptr_null(config_presets(&document)->next->next);
    config_document_done(&document);
}
END_TEST

START_TEST(older_form_becomes_paths)
{
    old_becomes("sandboxes:\n"
                "  work: {path: ., mode: rw}\n"
                "  docs: {path: ~/docs, mode: ro, suffixes: [.md], max_file_bytes: 1K}\n",
                "path rw /w\n"
                "path ro /home/u/docs suffixes .md max 1024\n",
                "");
}
END_TEST

START_TEST(older_form_names_the_nearest_key)
{
    old_becomes("sandboxes: {a: {pth: x, mode: rw}}\n", "",
                "old.yaml:1:17 error config.unknown_key: unknown key sandboxes.a.pth\n"
                "  did you mean 'path'?\n");
}
END_TEST

START_TEST(older_form_knows_no_root)
{
    old_becomes("sandboxes: {a: {root: x, mode: rw}}\n", "",
                "old.yaml:1:17 error config.unknown_key: unknown key sandboxes.a.root\n"
                "  the keys here are: path, mode, suffixes, max_file_bytes\n");
}
END_TEST

START_TEST(older_form_is_a_map)
{
    old_becomes("sandboxes: {a: [path, mode]}\n", "",
                "old.yaml:1:16 error config.bad_type: sandboxes.a: expected a map such as "
                "{path: ., mode: rw}, found a list\n");
}
END_TEST

START_TEST(older_form_needs_a_mode)
{
    old_becomes("sandboxes: {a: {path: x}}\n", "",
                "old.yaml:1:13 error config.missing_key: sandboxes.a: there is no 'mode'\n"
                "  write a: {path: PATH, mode: ro}\n");
}
END_TEST

START_TEST(older_form_needs_a_path)
{
    old_becomes("sandboxes: {a: {mode: rw}}\n", "",
                "old.yaml:1:13 error config.missing_key: sandboxes.a: there is no 'path'\n"
                "  write a: {path: PATH, mode: ro}\n");
}
END_TEST

START_TEST(older_form_has_one_section)
{
    old_becomes("sandbox: {}\n", "",
                "old.yaml:1:1 error config.unknown_key: unknown key sandbox\n"
                "  did you mean 'sandboxes'?\n");
}
END_TEST

START_TEST(older_form_takes_a_map)
{
    old_becomes(
        "sandboxes: [a]\n", "",
        "old.yaml:1:12 error config.bad_type: sandboxes: expected a map of names, found a list\n");
}
END_TEST

START_TEST(older_form_takes_maps)
{
    old_becomes("sandboxes: {a: /x}\n", "",
                "old.yaml:1:16 error config.bad_type: sandboxes.a: expected a map such as {path: "
                "., mode: rw}, found a string\n");
}
END_TEST

START_TEST(older_form_may_be_empty)
{
    old_becomes("sandboxes:\n", "", "");
}
END_TEST

START_TEST(older_form_complains_of_modes)
{
    old_becomes("sandboxes: {a: {path: x, mode: wr}}\n", "",
                "old.yaml:1:32 error config.bad_value: sandboxes.a.mode: 'wr' is not ro, rw, "
                "overlay, private, copy, ask or deny\n");
}
END_TEST

/* Adds the cases of one group. */
static void add_group(Suite *suite, const char *name, const TTest *const *cases, size_t count)
{
    TCase *group = tcase_create(name);

    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
}

static void add_unknown(Suite *suite)
{
    const TTest *const cases[] = {
        unknown_key_names_the_nearest_one,
        unknown_key_at_the_top_names_the_nearest_one,
        unknown_key_far_from_all_lists_the_keys,
        unknown_key_below_network,
        unknown_key_below_limits,
        unknown_key_below_process,
        unknown_key_below_env,
        unknown_key_below_devices,
        unknown_key_of_a_path,
        unknown_key_of_a_tool,
        unknown_key_with_an_empty_list_is_unknown_all_the_same,
        unknown_key_with_nothing_is_unknown_all_the_same,
        key_with_a_dot_is_no_key_further_down,
        key_of_the_manual_is_no_key,
        names_of_objects_are_unknown_keys,
        empty_key_is_unknown,
        key_of_another_case_is_unknown,
        name_of_a_path_may_be_anything,
    };

    add_group(suite, "unknown", cases, COUNT(cases));
}

static void add_types(Suite *suite)
{
    const TTest *const cases[] = {
        sandbox_is_a_map,
        sandbox_is_not_a_word,
        paths_is_a_map,
        one_path_is_a_map,
        root_is_a_string,
        mode_is_a_string,
        suffixes_is_a_list,
        deny_is_a_list,
        deny_holds_strings,
        reads_is_a_single_value,
        network_is_a_map_or_true_or_false,
        network_allow_is_a_list,
        network_hosts_is_a_map,
        a_pinned_address_is_a_string,
        limits_is_a_map,
        process_is_a_map,
        env_is_a_map,
        env_set_is_a_map,
        devices_is_a_map,
        tools_is_a_list,
        tool_rules_is_a_map,
        one_tool_is_a_map,
        approval_required_is_true_or_false,
        commands_of_a_tool_are_a_list,
        lock_is_a_list,
        presets_is_a_list,
    };

    add_group(suite, "types", cases, COUNT(cases));
}

static void add_command_line(Suite *suite)
{
    const TTest *const cases[] = {
        option_sets_a_setting,
        option_adds_to_a_list,
        option_knows_the_short_forms,
        option_with_an_unknown_key_names_the_nearest_one,
        option_with_the_key_of_a_map_needs_a_name,
        option_sets_an_entry_of_a_map,
        option_with_a_bad_value_says_what_would_be_good,
    };

    add_group(suite, "command_line", cases, COUNT(cases));
}

static void add_formats(Suite *suite)
{
    const TTest *const cases[] = {
        format_is_told_from_the_content,
        formats_have_names,
        profile_and_presets_are_known_before_loading,
        older_form_becomes_paths,
        older_form_names_the_nearest_key,
        older_form_knows_no_root,
        older_form_is_a_map,
        older_form_needs_a_mode,
        older_form_needs_a_path,
        older_form_has_one_section,
        older_form_takes_a_map,
        older_form_takes_maps,
        older_form_may_be_empty,
        older_form_complains_of_modes,
    };

    add_group(suite, "formats", cases, COUNT(cases));
}

int main(void)
{
    Suite *suite = suite_create("config");

    add_unknown(suite);
    add_types(suite);
    add_command_line(suite);
    add_formats(suite);
    return test_run(suite, "config");
}
