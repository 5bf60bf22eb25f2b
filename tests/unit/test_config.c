/* SPDX-License-Identifier: Apache-2.0 */
/* bawn YAML into a policy: each key, each complaint. */
#include "base/cleanup.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The document, read as the user's, is complained about exactly like this. */
static void complains_bytes(const char *text, size_t length, const char *expected)
{
    autofree char *complaints = NULL;
    struct test_policy test;

    test_policy_init(&test, false);
    (void)test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_BAWN, "p.yaml", text, length);
    (void)test_policy_finish(&test);
    complaints = test_policy_complaints(&test);
    ck_assert_str_eq(complaints, expected);
    test_policy_done(&test);
}

static void complains(const char *text, const char *expected)
{
    complains_bytes(text, strlen(text), expected);
}

/* The document, read as the user's, becomes this policy, with these complaints. */
static void becomes(const char *text, const char *expected, const char *expected_complaints)
{
    autofree char *complaints = NULL;
    autofree char *policy = NULL;
    struct test_policy test;

    test_policy_init(&test, false);
    ck_assert_int_eq(test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_BAWN, "p.yaml",
                                      text, strlen(text)),
                     0);
    ck_assert_int_eq(test_policy_finish(&test), 0);
    complaints = test_policy_complaints(&test);
    policy = test_policy_text(&test);
    ck_assert_str_eq(complaints, expected_complaints);
    ck_assert_str_eq(policy, expected);
    test_policy_done(&test);
}
/* One value by its key, as an option gives it. */
static void sets(const char *key, const char *value, const char *expected,
                 const char *expected_complaints)
{
    autofree char *complaints = NULL;
    autofree char *policy = NULL;
    struct config_source source;
    struct test_policy test;

    test_policy_init(&test, false);
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

    test_policy_init(&test, false);
    (void)test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_SANDBOXES, "old.yaml", text,
                           strlen(text));
    complaints = test_policy_complaints(&test);
    policy = test_policy_text(&test);
    ck_assert_str_eq(complaints, expected_complaints);
    ck_assert_str_eq(policy, expected);
    test_policy_done(&test);
}

START_TEST(unknown_key_names_the_nearest_one)
{
    complains("sandbox:\n"
              "  raeds: strict\n",
              "p.yaml:2:3 error config.unknown_key: unknown key sandbox.raeds\n"
              "  did you mean 'reads'?\n");
}
END_TEST

START_TEST(unknown_key_at_the_top_names_the_nearest_one)
{
    complains("sandbx: {}\n", "p.yaml:1:1 error config.unknown_key: unknown key sandbx\n"
                              "  did you mean 'sandbox'?\n");
}
END_TEST

START_TEST(unknown_key_far_from_all_lists_the_keys)
{
    complains("sandbox:\n"
              "  zzzzzzzz: 1\n",
              "p.yaml:2:3 error config.unknown_key: unknown key sandbox.zzzzzzzz\n"
              "  the keys here are: paths, deny, ask, protect, confirm, network, reads, "
              "require_os_sandbox, limits, process, devices, reopen\n");
}
END_TEST

START_TEST(unknown_key_below_network)
{
    complains("sandbox: {network: {alow: [a.example]}}\n",
              "p.yaml:1:21 error config.unknown_key: unknown key sandbox.network.alow\n"
              "  did you mean 'allow'?\n");
}
END_TEST

START_TEST(unknown_key_below_limits)
{
    complains("sandbox:\n"
              "  limits:\n"
              "    memroy: 1G\n",
              "p.yaml:3:5 error config.unknown_key: unknown key sandbox.limits.memroy\n"
              "  did you mean 'memory'?\n");
}
END_TEST

START_TEST(unknown_key_below_process)
{
    complains("sandbox: {process: {degub: true}}\n",
              "p.yaml:1:21 error config.unknown_key: unknown key sandbox.process.degub\n"
              "  did you mean 'debug'?\n");
}
END_TEST

START_TEST(unknown_key_below_env)
{
    complains("sandbox: {process: {env: {past: [A]}}}\n",
              "p.yaml:1:27 error config.unknown_key: unknown key sandbox.process.env.past\n"
              "  did you mean 'pass'?\n");
}
END_TEST

START_TEST(unknown_key_below_devices)
{
    complains("sandbox: {devices: {kmv: true}}\n",
              "p.yaml:1:21 error config.unknown_key: unknown key sandbox.devices.kmv\n"
              "  did you mean 'kvm'?\n");
}
END_TEST

START_TEST(unknown_key_of_a_path)
{
    complains("sandbox:\n"
              "  paths:\n"
              "    work:\n"
              "      rot: .\n"
              "      mode: rw\n",
              "p.yaml:4:7 error config.unknown_key: unknown key sandbox.paths.work.rot\n"
              "  did you mean 'root'?\n");
}
END_TEST

START_TEST(unknown_key_of_a_tool)
{
    complains(
        "tool_rules: {shell: {aproval_required: true}}\n",
        "p.yaml:1:22 error config.unknown_key: unknown key tool_rules.shell.aproval_required\n"
        "  did you mean 'approval_required'?\n");
}
END_TEST

START_TEST(unknown_key_with_an_empty_list_is_unknown_all_the_same)
{
    complains("sandbox: {denny: []}\n",
              "p.yaml:1:11 error config.unknown_key: unknown key sandbox.denny\n"
              "  did you mean 'deny'?\n");
}
END_TEST

START_TEST(unknown_key_with_nothing_is_unknown_all_the_same)
{
    complains("sandbox:\n"
              "  denny:\n",
              "p.yaml:2:3 error config.unknown_key: unknown key sandbox.denny\n"
              "  did you mean 'deny'?\n");
}
END_TEST

START_TEST(key_with_a_dot_is_no_key_further_down)
{
    complains("sandbox.reads: static\n"
              "sandbox: {network.mode: host}\n",
              "p.yaml:1:1 error config.unknown_key: unknown key sandbox.reads\n"
              "  the keys here are: paths, deny, ask, protect, confirm, network, reads, "
              "require_os_sandbox, limits, process, devices, reopen\n"
              "p.yaml:2:11 error config.unknown_key: unknown key sandbox.network.mode\n"
              "  the keys here are: allow, ask, deny, mode, unlisted, allow_local_binding, "
              "http_proxy_port, socks_proxy_port, authz_port, hosts, unix_sockets, publish, "
              "host_ports\n");
}
END_TEST

START_TEST(key_of_the_manual_is_no_key)
{
    complains("\"tool_rules.*\": {shell: \"rm *\"}\n",
              "p.yaml:1:1 error config.unknown_key: unknown key tool_rules.*\n");
}
END_TEST

START_TEST(names_of_objects_are_unknown_keys)
{
    complains("toString: 1\n"
              "__proto__: {a: b}\n"
              "sandbox: {constructor: x, hasOwnProperty: y}\n",
              "p.yaml:1:1 error config.unknown_key: unknown key toString\n"
              "  the keys here are: version, sandbox, tool_rules, profile, lock, presets, tools\n"
              "p.yaml:2:1 error config.unknown_key: unknown key __proto__\n"
              "  the keys here are: version, sandbox, tool_rules, profile, lock, presets, tools\n"
              "p.yaml:3:11 error config.unknown_key: unknown key sandbox.constructor\n"
              "  the keys here are: paths, deny, ask, protect, confirm, network, reads, "
              "require_os_sandbox, limits, process, devices, reopen\n"
              "p.yaml:3:27 error config.unknown_key: unknown key sandbox.hasOwnProperty\n"
              "  the keys here are: paths, deny, ask, protect, confirm, network, reads, "
              "require_os_sandbox, limits, process, devices, reopen\n");
}
END_TEST

START_TEST(empty_key_is_unknown)
{
    complains("\"\": 1\n",
              "p.yaml:1:1 error config.unknown_key: unknown key \n"
              "  the keys here are: version, sandbox, tool_rules, profile, lock, presets, tools\n");
}
END_TEST

START_TEST(key_of_another_case_is_unknown)
{
    complains("Sandbox: {}\n", "p.yaml:1:1 error config.unknown_key: unknown key Sandbox\n"
                               "  did you mean 'sandbox'?\n");
}
END_TEST

START_TEST(name_of_a_path_may_be_anything)
{
    becomes("sandbox:\n"
            "  paths:\n"
            "    __proto__: {root: /x, mode: rw}\n"
            "    toString: {root: /y, mode: ro}\n"
            "    \"a.b c\": {root: /z, mode: ask}\n",
            "path rw /x\n"
            "path ro /y\n"
            "path ask /z\n",
            "");
}
END_TEST

START_TEST(sandbox_is_a_map)
{
    complains("sandbox: [a]\n",
              "p.yaml:1:10 error config.bad_type: sandbox: expected a map, found a list\n");
}
END_TEST

START_TEST(sandbox_is_not_a_word)
{
    complains("sandbox: strict\n",
              "p.yaml:1:10 error config.bad_type: sandbox: expected a map, found a string\n");
}
END_TEST

START_TEST(paths_is_a_map)
{
    complains("sandbox: {paths: [a]}\n", "p.yaml:1:18 error config.bad_type: sandbox.paths: "
                                         "expected a map of names, found a list\n");
}
END_TEST

START_TEST(one_path_is_a_map)
{
    complains("sandbox: {paths: {work: /x}}\n",
              "p.yaml:1:25 error config.bad_type: sandbox.paths.work: expected a map such as "
              "{root: ., mode: rw}, found a string\n");
}
END_TEST

START_TEST(root_is_a_string)
{
    complains("sandbox: {paths: {work: {root: [a], mode: rw}}}\n",
              "p.yaml:1:32 error config.bad_type: sandbox.paths.work.root: expected a string, "
              "found a list\n");
}
END_TEST

START_TEST(mode_is_a_string)
{
    complains("sandbox: {paths: {work: {root: a, mode: {}}}}\n",
              "p.yaml:1:41 error config.bad_type: sandbox.paths.work.mode: expected a string, "
              "found a map\n");
}
END_TEST

START_TEST(suffixes_is_a_list)
{
    complains("sandbox: {paths: {work: {root: a, mode: rw, suffixes: .md}}}\n",
              "p.yaml:1:55 error config.bad_type: suffixes: expected a list, found a string\n");
}
END_TEST

START_TEST(deny_is_a_list)
{
    complains("sandbox: {deny: \"*.key\"}\n",
              "p.yaml:1:17 error config.bad_type: sandbox.deny: expected a list, found a string\n");
}
END_TEST

START_TEST(deny_holds_strings)
{
    complains(
        "sandbox: {deny: [[a], {b: c}, true, ~]}\n",
        "p.yaml:1:18 error config.bad_type: sandbox.deny: expected a string, found a list\n"
        "p.yaml:1:23 error config.bad_type: sandbox.deny: expected a string, found a map\n"
        "p.yaml:1:31 error config.bad_type: sandbox.deny: expected a string, found true or false\n"
        "p.yaml:1:37 error config.bad_type: sandbox.deny: expected a string, found nothing\n"
        "  a bare ~ means nothing in YAML: write '~/' for your home\n");
}
END_TEST

START_TEST(reads_is_a_single_value)
{
    complains("sandbox: {reads: [strict]}\n", "p.yaml:1:18 error config.bad_type: sandbox.reads: "
                                              "expected a single value, found a list\n");
}
END_TEST

START_TEST(network_is_a_map_or_true_or_false)
{
    complains("sandbox: {network: 5}\n", "p.yaml:1:20 error config.bad_type: sandbox.network: "
                                         "expected true, false or a map, found a number\n");
}
END_TEST

START_TEST(network_allow_is_a_list)
{
    complains("sandbox: {network: {allow: a.example}}\n",
              "p.yaml:1:28 error config.bad_type: sandbox.network.allow: expected a list, found a "
              "string\n");
}
END_TEST

START_TEST(network_hosts_is_a_map)
{
    complains(
        "sandbox: {network: {hosts: [a]}}\n",
        "p.yaml:1:28 error config.bad_type: sandbox.network.hosts: expected a map, found a list\n");
}
END_TEST

START_TEST(a_pinned_address_is_a_string)
{
    complains("sandbox: {network: {hosts: {a.example: [10.0.0.1]}}}\n",
              "p.yaml:1:40 error config.bad_type: a.example: expected a string, found a list\n");
}
END_TEST

START_TEST(limits_is_a_map)
{
    complains("sandbox: {limits: [strict]}\n",
              "p.yaml:1:19 error config.bad_type: sandbox.limits: expected a map, found a list\n");
}
END_TEST

START_TEST(process_is_a_map)
{
    complains("sandbox: {process: true}\n", "p.yaml:1:20 error config.bad_type: sandbox.process: "
                                            "expected a map, found true or false\n");
}
END_TEST

START_TEST(env_is_a_map)
{
    complains(
        "sandbox: {process: {env: [PATH]}}\n",
        "p.yaml:1:26 error config.bad_type: sandbox.process.env: expected a map, found a list\n");
}
END_TEST

START_TEST(env_set_is_a_map)
{
    complains("sandbox: {process: {env: {set: [A]}}}\n",
              "p.yaml:1:32 error config.bad_type: sandbox.process.env.set: expected a map, found a "
              "list\n");
}
END_TEST

START_TEST(devices_is_a_map)
{
    complains(
        "sandbox: {devices: /dev/kvm}\n",
        "p.yaml:1:20 error config.bad_type: sandbox.devices: expected a map, found a string\n");
}
END_TEST

START_TEST(tools_is_a_list)
{
    complains("tools: shell\n",
              "p.yaml:1:8 error config.bad_type: tools: expected a list, found a string\n");
}
END_TEST

START_TEST(tool_rules_is_a_map)
{
    complains(
        "tool_rules: [shell]\n",
        "p.yaml:1:13 error config.bad_type: tool_rules: expected a map of tools, found a list\n");
}
END_TEST

START_TEST(one_tool_is_a_map)
{
    complains("tool_rules: {shell: ask}\n",
              "p.yaml:1:21 error config.bad_type: shell: expected a map such as "
              "{approval_required: true}, found a string\n");
}
END_TEST

START_TEST(approval_required_is_true_or_false)
{
    complains("tool_rules: {shell: {approval_required: \"true\"}}\n",
              "p.yaml:1:41 error config.bad_type: tool_rules.shell.approval_required: expected "
              "true or false, found a string\n");
}
END_TEST

START_TEST(commands_of_a_tool_are_a_list)
{
    complains("tool_rules: {shell: {deny: \"rm *\"}}\n",
              "p.yaml:1:28 error config.bad_type: tool_rules.shell.deny: expected a list, found a "
              "string\n");
}
END_TEST

START_TEST(lock_is_a_list)
{
    complains("lock: sandbox\n",
              "p.yaml:1:7 error config.bad_type: lock: expected a list, found a string\n");
}
END_TEST

START_TEST(presets_is_a_list)
{
    complains("presets: git\n",
              "p.yaml:1:10 error config.bad_type: presets: expected a list, found a string\n");
}
END_TEST

START_TEST(reads_takes_one_of_its_words)
{
    complains("sandbox: {reads: sometimes}\n", "p.yaml:1:18 error config.bad_value: sandbox.reads: "
                                               "'sometimes' is not strict, dynamic or static\n");
}
END_TEST

START_TEST(network_mode_takes_one_of_its_words)
{
    complains("sandbox: {network: {mode: open}}\n",
              "p.yaml:1:27 error config.bad_value: sandbox.network.mode: 'open' is not none, "
              "proxy, isolated, veth or host\n");
}
END_TEST

START_TEST(network_unlisted_takes_one_of_its_words)
{
    complains("sandbox: {network: {unlisted: allow}}\n",
              "p.yaml:1:31 error config.bad_value: sandbox.network.unlisted: 'allow' is not deny "
              "or ask\n");
}
END_TEST

START_TEST(limits_preset_takes_one_of_its_words)
{
    complains("sandbox: {limits: huge}\n",
              "p.yaml:1:19 error config.bad_value: sandbox.limits.preset: 'huge' is not strict, "
              "default or none\n");
}
END_TEST

START_TEST(bool_takes_true_or_false)
{
    complains(
        "sandbox: {process: {debug: 1}}\n",
        "p.yaml:1:28 error config.bad_value: sandbox.process.debug: '1' is not true or false\n");
}
END_TEST

START_TEST(count_takes_a_whole_number)
{
    complains("sandbox: {limits: {pids: many}}\n",
              "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: 'many' is not a whole "
              "number, 1 or more\n");
}
END_TEST

START_TEST(count_of_zero_is_refused)
{
    complains("sandbox: {limits: {pids: 0}}\n",
              "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: '0' is not a whole number, "
              "1 or more\n");
}
END_TEST

START_TEST(count_over_its_maximum_is_refused)
{
    complains("sandbox: {limits: {io_weight: 10001}}\n",
              "p.yaml:1:31 error config.bad_value: sandbox.limits.io_weight: '10001' is not a "
              "whole number, 1 or more\n");
}
END_TEST

START_TEST(size_takes_bytes_with_a_unit)
{
    complains("sandbox: {limits: {memory: lots}}\n",
              "p.yaml:1:28 error config.bad_value: sandbox.limits.memory: 'lots' is not a size "
              "such as 512M or 2G\n");
}
END_TEST

START_TEST(size_of_zero_is_refused)
{
    complains("sandbox: {limits: {tmp_size: 0}}\n",
              "p.yaml:1:30 error config.bad_value: sandbox.limits.tmp_size: '0' is not a size such "
              "as 512M or 2G\n");
}
END_TEST

START_TEST(size_that_overflows_is_refused)
{
    complains("sandbox: {limits: {memory: 99999999999999999999}}\n",
              "p.yaml:1:28 error config.bad_value: sandbox.limits.memory: '99999999999999999999' "
              "is not a size such as 512M or 2G\n");
}
END_TEST

START_TEST(percentage_takes_a_number)
{
    complains("sandbox: {limits: {cpu: half}}\n",
              "p.yaml:1:25 error config.bad_value: sandbox.limits.cpu: 'half' is not a percentage "
              "such as 80 or 150%\n");
}
END_TEST

START_TEST(time_takes_seconds_with_a_unit)
{
    complains("sandbox: {limits: {time: soon}}\n",
              "p.yaml:1:26 error config.bad_value: sandbox.limits.time: 'soon' is not a time such "
              "as 90s, 10m or 2h\n");
}
END_TEST

START_TEST(port_over_65535_is_refused)
{
    complains("sandbox: {network: {http_proxy_port: 65536}}\n",
              "p.yaml:1:38 error config.bad_value: sandbox.network.http_proxy_port: '65536' is not "
              "a port, 1 to 65535\n");
}
END_TEST

START_TEST(port_zero_is_refused)
{
    complains("sandbox: {network: {socks_proxy_port: 0}}\n",
              "p.yaml:1:39 error config.bad_value: sandbox.network.socks_proxy_port: '0' is not a "
              "port, 1 to 65535\n");
}
END_TEST

START_TEST(profile_takes_a_word)
{
    complains("profile: \"\"\n", "p.yaml:1:10 error config.bad_value: profile: '' is not a word\n");
}
END_TEST

START_TEST(mode_of_a_path_takes_one_of_its_words)
{
    complains("sandbox: {paths: {work: {root: ., mode: write}}}\n",
              "p.yaml:1:41 error config.bad_value: sandbox.paths.work.mode: 'write' is not ro, rw, "
              "overlay, private, ask or deny\n");
}
END_TEST

START_TEST(max_file_bytes_takes_a_size)
{
    complains("sandbox: {paths: {work: {root: ., mode: ro, max_file_bytes: big}}}\n",
              "p.yaml:1:61 error config.bad_value: sandbox.paths.work.max_file_bytes: 'big' is not "
              "a size such as 512K or 2M\n");
}
END_TEST

START_TEST(suffix_starts_with_a_dot)
{
    complains("sandbox: {paths: {work: {root: ., mode: ro, suffixes: [md, ., .a/b]}}}\n",
              "p.yaml:1:56 error config.bad_value: suffixes: 'md' is not a suffix such as .md\n"
              "p.yaml:1:60 error config.bad_value: suffixes: '.' is not a suffix such as .md\n"
              "p.yaml:1:63 error config.bad_value: suffixes: '.a/b' is not a suffix such as .md\n");
}
END_TEST

START_TEST(path_without_root_is_refused)
{
    complains("sandbox: {paths: {work: {mode: rw}}}\n",
              "p.yaml:1:19 error config.missing_key: sandbox.paths.work: there is no 'root'\n"
              "  write work: {root: PATH, mode: ro}\n");
}
END_TEST

START_TEST(path_without_mode_is_refused)
{
    complains("sandbox:\n"
              "  paths:\n"
              "    work:\n"
              "      root: .\n",
              "p.yaml:3:5 error config.missing_key: sandbox.paths.work: there is no 'mode'\n"
              "  write work: {root: PATH, mode: ro}\n");
}
END_TEST

START_TEST(path_without_anything_is_refused)
{
    complains("sandbox: {paths: {work: {}}}\n",
              "p.yaml:1:19 error config.missing_key: sandbox.paths.work: there is no 'root'\n"
              "  write work: {root: PATH, mode: ro}\n");
}
END_TEST

START_TEST(bare_tilde_gets_a_hint)
{
    complains("sandbox: {paths: {work: {root: ~, mode: rw}}}\n",
              "p.yaml:1:32 error config.bad_type: sandbox.paths.work.root: expected a string, "
              "found nothing\n"
              "  a bare ~ means nothing in YAML: write '~/' for your home\n");
}
END_TEST

START_TEST(bare_tilde_in_a_list_gets_a_hint)
{
    complains("sandbox: {deny: [~]}\n",
              "p.yaml:1:18 error config.bad_type: sandbox.deny: expected a string, found nothing\n"
              "  a bare ~ means nothing in YAML: write '~/' for your home\n");
}
END_TEST

START_TEST(home_of_another_user_is_refused)
{
    complains("sandbox: {paths: {work: {root: ~bob/x, mode: rw}}}\n",
              "p.yaml:1:19 error config.bad_path: sandbox.paths: '~bob/x': ~ stands for your own "
              "home only: write ~/...\n");
}
END_TEST

START_TEST(unknown_variable_is_refused)
{
    complains("sandbox: {paths: {work: {root: $NOPE/x, mode: rw}}}\n",
              "p.yaml:1:19 error config.bad_path: sandbox.paths: '$NOPE/x': no such variable: "
              "HOME, WORKSPACE, XDG_CONFIG_HOME and the like can be used\n");
}
END_TEST

START_TEST(dotdot_inside_a_path_is_refused)
{
    complains("sandbox: {paths: {work: {root: a/../b, mode: rw}}}\n",
              "p.yaml:1:19 error config.bad_path: sandbox.paths: 'a/../b': '..' can only stand in "
              "front of a relative path\n");
}
END_TEST

START_TEST(empty_path_is_refused)
{
    complains("sandbox: {paths: {work: {root: \"\", mode: rw}}}\n",
              "p.yaml:1:19 error config.bad_path: sandbox.paths: '': an empty path\n");
}
END_TEST

START_TEST(unclosed_class_is_refused)
{
    complains("sandbox: {deny: [\"a[b\"]}\n",
              "p.yaml:1:18 error config.bad_path: sandbox.deny: 'a[b': a [ without its ]\n");
}
END_TEST

START_TEST(negated_pattern_is_refused)
{
    complains("sandbox: {deny: [\"!a\"]}\n",
              "p.yaml:1:18 error config.bad_path: sandbox.deny: '!a': a pattern cannot be negated: "
              "give the path a mode of its own in sandbox.paths\n");
}
END_TEST

START_TEST(proc_of_the_host_cannot_be_granted)
{
    complains("sandbox: {paths: {p: {root: /proc, mode: ro}}}\n",
              "p.yaml:1:19 error config.host_proc: sandbox.paths: '/proc': the host's /proc cannot "
              "be granted\n"
              "  the sandbox has a /proc of its own; take the rule out\n");
}
END_TEST

START_TEST(host_with_a_scheme_is_refused)
{
    complains("sandbox: {network: {allow: [\"https://a.example\"]}}\n",
              "p.yaml:1:29 error config.bad_host: sandbox.network.allow: 'https://a.example': a "
              "port is a number from 1 to 65535\n");
}
END_TEST

START_TEST(every_host_cannot_be_allowed)
{
    complains("sandbox: {network: {allow: [\"*\"]}}\n",
              "p.yaml:1:29 error config.bad_host: sandbox.network.allow: '*': a * can only stand "
              "for whole labels in front: *.example or **.example\n"
              "  to be asked about every host, set sandbox.network: true\n");
}
END_TEST

START_TEST(every_host_cannot_be_denied_by_a_star)
{
    complains("sandbox: {network: {deny: [\"*\"]}}\n",
              "p.yaml:1:28 error config.bad_host: sandbox.network.deny: '*': a * can only stand "
              "for whole labels in front: *.example or **.example\n"
              "  to deny every host, set sandbox.network: false\n");
}
END_TEST

START_TEST(address_in_an_odd_form_is_refused)
{
    complains("sandbox: {network: {deny: [127.1, 0x7f.0.0.1, 2130706433]}}\n",
              "p.yaml:1:28 error config.bad_host: sandbox.network.deny: '127.1': not an address in "
              "its usual form, and a name does not end in a number\n"
              "p.yaml:1:35 error config.bad_host: sandbox.network.deny: '0x7f.0.0.1': not an "
              "address in its usual form, and a name does not end in a number\n"
              "p.yaml:1:47 error config.bad_host: sandbox.network.deny: '2130706433': not an "
              "address in its usual form, and a name does not end in a number\n");
}
END_TEST

START_TEST(pin_takes_a_plain_name)
{
    complains("sandbox: {network: {hosts: {\"*.a.example\": 10.0.0.1}}}\n",
              "p.yaml:1:29 error config.bad_value: sandbox.network.hosts: '*.a.example': only a "
              "plain name can be pinned\n");
}
END_TEST

START_TEST(pin_takes_an_address)
{
    complains("sandbox: {network: {hosts: {a.example: b.example}}}\n",
              "p.yaml:1:29 error config.bad_value: sandbox.network.hosts: 'a.example': not an IP "
              "address\n");
}
END_TEST

START_TEST(host_port_takes_a_port)
{
    complains(
        "sandbox: {network: {host_ports: [http]}}\n",
        "p.yaml:1:34 error config.bad_value: sandbox.network.host_ports: 'http': not a port\n");
}
END_TEST

START_TEST(publish_takes_one_or_two_ports)
{
    complains("sandbox: {network: {publish: [\"80:\", \"0\", \"1:2:3\", \"99999:1\"]}}\n",
              "p.yaml:1:31 error config.bad_value: sandbox.network.publish: '80:': not PORT or "
              "HOSTPORT:PORT\n"
              "p.yaml:1:38 error config.bad_value: sandbox.network.publish: '0': not a port\n"
              "p.yaml:1:43 error config.bad_value: sandbox.network.publish: '1:2:3': not PORT or "
              "HOSTPORT:PORT\n"
              "p.yaml:1:52 error config.bad_value: sandbox.network.publish: '99999:1': not PORT or "
              "HOSTPORT:PORT\n");
}
END_TEST

START_TEST(env_names_are_names)
{
    complains(
        "sandbox: {process: {env: {pass: [A=B, 1A, \"*\", A*B], deny: [\"A B\"], set: {A*: x}}}}\n",
        "p.yaml:1:34 error config.bad_value: sandbox.process.env.pass: 'A=B': not the name of an "
        "environment variable\n"
        "p.yaml:1:39 error config.bad_value: sandbox.process.env.pass: '1A': not the name of an "
        "environment variable\n"
        "p.yaml:1:48 error config.bad_value: sandbox.process.env.pass: 'A*B': not the name of an "
        "environment variable\n"
        "p.yaml:1:61 error config.bad_value: sandbox.process.env.deny: 'A B': not the name of an "
        "environment variable\n"
        "p.yaml:1:75 error config.bad_value: sandbox.process.env.set: 'A*': not the name of an "
        "environment variable\n");
}
END_TEST

START_TEST(loader_variables_are_never_set)
{
    complains("sandbox: {process: {env: {set: {LD_PRELOAD: x.so}}}}\n",
              "p.yaml:1:33 error config.bad_value: sandbox.process.env.set: 'LD_PRELOAD': the "
              "loader's variables are never set\n");
}
END_TEST

START_TEST(tools_are_those_there_are)
{
    complains("tools: [raed]\n", "p.yaml:1:9 error config.bad_value: tools: 'raed': no such tool: "
                                 "there are read, write, list_files and shell\n");
}
END_TEST

START_TEST(version_is_one)
{
    complains("version: 2\n",
              "p.yaml:1:10 error config.version: version: this bawn reads version 1\n"
              "  a newer bawn may be needed for this file\n");
}
END_TEST

START_TEST(version_is_a_number)
{
    complains("version: \"1\"\n",
              "p.yaml:1:10 error config.version: version: this bawn reads version 1\n"
              "  a newer bawn may be needed for this file\n");
}
END_TEST

START_TEST(reopen_takes_an_entry_of_the_lists)
{
    complains("sandbox: {reopen: [~/.nothing]}\n",
              "p.yaml:1:20 error policy.no_such_entry: sandbox.reopen: '~/.nothing' is not an "
              "entry of the built-in lists\n"
              "  'bawn policy show --builtin' prints them\n");
}
END_TEST

START_TEST(lock_is_for_the_org)
{
    complains("lock: [sandbox.reads]\n",
              "p.yaml:1:8 error policy.lock_not_org: lock: only an org policy can lock keys\n");
}
END_TEST

START_TEST(lock_takes_a_key_that_exists)
{
    complains("lock: [sandbox.raeds]\n",
              "p.yaml:1:8 error config.bad_value: lock: 'sandbox.raeds': no such key\n");
}
END_TEST

START_TEST(all_complaints_are_made_at_once)
{
    complains(
        "version: 3\n"
        "sandbox:\n"
        "  reads: x\n"
        "  deny: [\"\"]\n"
        "  nope: 1\n",
        "p.yaml:1:10 error config.version: version: this bawn reads version 1\n"
        "  a newer bawn may be needed for this file\n"
        "p.yaml:3:10 error config.bad_value: sandbox.reads: 'x' is not strict, dynamic or static\n"
        "p.yaml:4:10 error config.bad_path: sandbox.deny: '': an empty path\n"
        "p.yaml:5:3 error config.unknown_key: unknown key sandbox.nope\n"
        "  the keys here are: paths, deny, ask, protect, confirm, network, reads, "
        "require_os_sandbox, limits, process, devices, reopen\n");
}
END_TEST

START_TEST(lists_that_hold_nothing_allow_nothing)
{
    becomes("sandbox:\n"
            "  paths:\n"
            "  deny:\n"
            "  ask: ~\n"
            "  protect: null\n"
            "  confirm: []\n"
            "  reopen:\n"
            "  network: {allow: , ask: [], deny: ~, hosts: , unix_sockets: []}\n"
            "  limits:\n"
            "  process: {env: {pass: , set: }}\n"
            "  devices:\n"
            "tools:\n"
            "tool_rules:\n"
            "lock:\n"
            "presets:\n",
            "", "");
}
END_TEST

START_TEST(settings_that_hold_nothing_are_not_set)
{
    becomes("sandbox: {reads: , require_os_sandbox: ~, network: {mode: null}}\n", "", "");
}
END_TEST

START_TEST(each_mode_of_a_path)
{
    becomes("sandbox:\n"
            "  paths:\n"
            "    a: {root: /a, mode: ro}\n"
            "    b: {root: /b, mode: rw}\n"
            "    c: {root: /c, mode: overlay}\n"
            "    d: {root: /d, mode: private}\n"
            "    e: {root: /e, mode: ask}\n"
            "    f: {root: /f, mode: deny}\n",
            "path ro /a\n"
            "path rw /b\n"
            "path overlay /c\n"
            "path private /d\n"
            "path ask /e\n"
            "path deny /f\n",
            "");
}
END_TEST

START_TEST(each_start_of_a_path)
{
    becomes("sandbox:\n"
            "  paths:\n"
            "    a: {root: ., mode: ro}\n"
            "    b: {root: x/y, mode: ro}\n"
            "    c: {root: ../up, mode: ro}\n"
            "    d: {root: ~/x, mode: ro}\n"
            "    e: {root: \"~\", mode: ro}\n"
            "    f: {root: $WORKSPACE, mode: ro}\n"
            "    g: {root: \"${XDG_CACHE_HOME}/t\", mode: ro}\n"
            "    h: {root: //a///b/./c/, mode: ro}\n"
            "    i: {root: \"/s*[x]\", mode: ro}\n",
            "path ro /w\n"
            "path ro /w/x/y\n"
            "path ro /up\n"
            "path ro /home/u/x\n"
            "path ro /home/u\n"
            "path ro /w\n"
            "path ro /home/u/.cache/t\n"
            "path ro /a/b/c\n"
            "path ro /s*[x]\n",
            "");
}
END_TEST

START_TEST(suffixes_and_size_of_a_path)
{
    becomes("sandbox: {paths: {a: {root: /a, mode: ro, suffixes: [.md, .tar.gz], max_file_bytes: "
            "1.5K}}}\n",
            "path ro /a suffixes .md .tar.gz max 1536\n", "");
}
END_TEST

START_TEST(empty_suffixes_allow_no_suffix)
{
    becomes("sandbox:\n"
            "  paths:\n"
            "    a: {root: /a, mode: ro, suffixes: []}\n"
            "    b: {root: /b, mode: ro, suffixes: }\n"
            "    c: {root: /c, mode: ro}\n",
            "path ro /a suffixes\n"
            "path ro /b suffixes\n"
            "path ro /c\n",
            "");
}
END_TEST

START_TEST(each_list_of_patterns)
{
    becomes("sandbox:\n"
            "  deny: [.env, \"/abs/*.key\"]\n"
            "  ask: [~/notes]\n"
            "  protect: [Makefile]\n"
            "  confirm: [\"docs/**\"]\n",
            "deny wild /w/**/.env\n"
            "deny wild /abs/*.key\n"
            "ask /home/u/notes\n"
            "protect wild /w/**/Makefile\n"
            "confirm /w/docs\n",
            "");
}
END_TEST

START_TEST(each_setting)
{
    becomes("profile: strict\n"
            "sandbox:\n"
            "  reads: static\n"
            "  require_os_sandbox: false\n"
            "  network: {mode: host, unlisted: ask, allow_local_binding: false, http_proxy_port: "
            "1, socks_proxy_port: 2, authz_port: 3}\n"
            "  limits: {preset: none, pids: 1, memory_high: 2K, memory: 3M, cpu: 150%, io_weight: "
            "4, open_files: 5, file_size: 6G, tmp_size: 7M, time: 2h}\n"
            "  process: {debug: true, map_root: true, as_root: true, containers: true, "
            "allow_unsandboxed: true}\n"
            "  devices: {kvm: true}\n",
            "profile = strict\n"
            "sandbox.reads = static\n"
            "sandbox.require_os_sandbox = false\n"
            "sandbox.network.mode = host\n"
            "sandbox.network.unlisted = ask\n"
            "sandbox.network.allow_local_binding = false\n"
            "sandbox.network.http_proxy_port = 1\n"
            "sandbox.network.socks_proxy_port = 2\n"
            "sandbox.network.authz_port = 3\n"
            "sandbox.limits.preset = none\n"
            "sandbox.limits.pids = 1\n"
            "sandbox.limits.memory_high = 2K\n"
            "sandbox.limits.memory = 3M\n"
            "sandbox.limits.cpu = 150%\n"
            "sandbox.limits.io_weight = 4\n"
            "sandbox.limits.open_files = 5\n"
            "sandbox.limits.file_size = 6G\n"
            "sandbox.limits.tmp_size = 7M\n"
            "sandbox.limits.time = 2h\n"
            "sandbox.process.debug = true\n"
            "sandbox.process.map_root = true\n"
            "sandbox.process.as_root = true\n"
            "sandbox.process.containers = true\n"
            "sandbox.process.allow_unsandboxed = true\n"
            "sandbox.devices.kvm = true\n",
            "");
}
END_TEST

START_TEST(each_list)
{
    becomes("presets: [git]\n"
            "tools: [read, write, list_files, shell]\n"
            "sandbox:\n"
            "  network:\n"
            "    allow: [a.example]\n"
            "    ask: [\"*.b.example\"]\n"
            "    deny: [\"**.c.example:443\", 10.0.0.0/8]\n"
            "    hosts: {db.example: 10.0.0.5}\n"
            "    unix_sockets: [/run/a.sock, ~/b.sock]\n"
            "    publish: [8080, \"9090:80\"]\n"
            "    host_ports: [5432]\n"
            "  process:\n"
            "    env: {pass: [PATH, LC_*], set: {A: b, C: 5, D: true}, deny: [TOKEN]}\n"
            "    excluded_commands: [\"docker *\"]\n"
            "  devices: {allow: [/dev/fuse], deny: [/dev/kvm]}\n",
            "allow host a.example\n"
            "ask host *.b.example\n"
            "deny host **.c.example:443\n"
            "deny host 10.0.0.0/8\n"
            "presets git\n"
            "tools read\n"
            "tools write\n"
            "tools list_files\n"
            "tools shell\n"
            "sandbox.network.hosts db.example: 10.0.0.5\n"
            "sandbox.network.unix_sockets /run/a.sock\n"
            "sandbox.network.unix_sockets /home/u/b.sock\n"
            "sandbox.network.publish 8080\n"
            "sandbox.network.publish 9090:80\n"
            "sandbox.network.host_ports 5432\n"
            "sandbox.process.env.pass PATH\n"
            "sandbox.process.env.pass LC_*\n"
            "sandbox.process.env.set A: b\n"
            "sandbox.process.env.set C: 5\n"
            "sandbox.process.env.set D: true\n"
            "sandbox.process.env.deny TOKEN\n"
            "sandbox.process.excluded_commands docker *\n"
            "sandbox.devices.allow /dev/fuse\n"
            "sandbox.devices.deny /dev/kvm\n",
            "");
}
END_TEST

START_TEST(tool_rules_become_rules_of_tools_and_commands)
{
    becomes("tool_rules:\n"
            "  shell: {approval_required: true, allow: [\"git status\"], ask: [\"git push *\"], "
            "deny: [\"rm *\"]}\n"
            "  write: {approval_required: false}\n"
            "  other: ~\n",
            "tool_rules.shell ask\n"
            "tool_rules.shell allow: git status\n"
            "tool_rules.shell ask: git push *\n"
            "tool_rules.shell deny: rm *\n"
            "tool_rules.write allow\n",
            "");
}
END_TEST

START_TEST(network_false_is_no_network)
{
    becomes("sandbox: {network: false}\n", "sandbox.network.mode = none\n", "");
}
END_TEST

START_TEST(network_true_is_a_proxy_that_asks)
{
    becomes("sandbox: {network: true}\n",
            "sandbox.network.mode = proxy\n"
            "sandbox.network.unlisted = ask\n",
            "");
}
END_TEST

START_TEST(limits_word_is_a_preset)
{
    becomes("sandbox: {limits: strict}\n", "sandbox.limits.preset = strict\n", "");
}
END_TEST

START_TEST(private_proc_is_granted)
{
    becomes("sandbox: {paths: {p: {root: /proc, mode: private}}}\n", "path private /proc\n", "");
}
END_TEST

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

START_TEST(option_with_the_key_of_a_map_is_refused)
{
    sets("sandbox.process.env.set", "A=b", "",
         "--set:0:0 error config.unknown_key: unknown key sandbox.process.env.set\n"
         "  did you mean 'sandbox.process.env.set'?\n");
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
    ck_assert_str_eq(config_profile(&document), "strict");
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

START_TEST(older_form_needs_a_mode)
{
    old_becomes("sandboxes: {a: {path: x}}\n", "",
                "old.yaml:1:13 error config.missing_key: sandbox.paths.a: there is no 'mode'\n"
                "  write a: {root: PATH, mode: ro}\n");
}
END_TEST

START_TEST(older_form_needs_a_path)
{
    old_becomes("sandboxes: {a: {mode: rw}}\n", "",
                "old.yaml:1:13 error config.missing_key: sandbox.paths.a: there is no 'root'\n"
                "  write a: {root: PATH, mode: ro}\n");
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
                "old.yaml:1:16 error config.bad_type: a: expected a map such as {path: ., mode: "
                "rw}, found a string\n");
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
                "old.yaml:1:32 error config.bad_value: sandbox.paths.a.mode: 'wr' is not ro, rw, "
                "overlay, private, ask or deny\n");
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

static void add_values(Suite *suite)
{
    const TTest *const cases[] = {
        reads_takes_one_of_its_words,
        network_mode_takes_one_of_its_words,
        network_unlisted_takes_one_of_its_words,
        limits_preset_takes_one_of_its_words,
        bool_takes_true_or_false,
        count_takes_a_whole_number,
        count_of_zero_is_refused,
        count_over_its_maximum_is_refused,
        size_takes_bytes_with_a_unit,
        size_of_zero_is_refused,
        size_that_overflows_is_refused,
        percentage_takes_a_number,
        time_takes_seconds_with_a_unit,
        port_over_65535_is_refused,
        port_zero_is_refused,
        profile_takes_a_word,
        mode_of_a_path_takes_one_of_its_words,
        max_file_bytes_takes_a_size,
        suffix_starts_with_a_dot,
        path_without_root_is_refused,
        path_without_mode_is_refused,
        path_without_anything_is_refused,
        bare_tilde_gets_a_hint,
        bare_tilde_in_a_list_gets_a_hint,
        home_of_another_user_is_refused,
        unknown_variable_is_refused,
        dotdot_inside_a_path_is_refused,
        empty_path_is_refused,
        unclosed_class_is_refused,
        negated_pattern_is_refused,
        proc_of_the_host_cannot_be_granted,
        host_with_a_scheme_is_refused,
        every_host_cannot_be_allowed,
        every_host_cannot_be_denied_by_a_star,
        address_in_an_odd_form_is_refused,
        pin_takes_a_plain_name,
        pin_takes_an_address,
        host_port_takes_a_port,
        publish_takes_one_or_two_ports,
        env_names_are_names,
        loader_variables_are_never_set,
        tools_are_those_there_are,
        version_is_one,
        version_is_a_number,
        reopen_takes_an_entry_of_the_lists,
        lock_is_for_the_org,
        lock_takes_a_key_that_exists,
        all_complaints_are_made_at_once,
    };

    add_group(suite, "values", cases, COUNT(cases));
}

static void add_meaning(Suite *suite)
{
    const TTest *const cases[] = {
        lists_that_hold_nothing_allow_nothing,
        settings_that_hold_nothing_are_not_set,
        each_mode_of_a_path,
        each_start_of_a_path,
        suffixes_and_size_of_a_path,
        empty_suffixes_allow_no_suffix,
        each_list_of_patterns,
        each_setting,
        each_list,
        tool_rules_become_rules_of_tools_and_commands,
        network_false_is_no_network,
        network_true_is_a_proxy_that_asks,
        limits_word_is_a_preset,
        private_proc_is_granted,
    };

    add_group(suite, "meaning", cases, COUNT(cases));
}

static void add_command_line(Suite *suite)
{
    const TTest *const cases[] = {
        option_sets_a_setting,
        option_adds_to_a_list,
        option_knows_the_short_forms,
        option_with_an_unknown_key_names_the_nearest_one,
        option_with_the_key_of_a_map_is_refused,
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
    add_values(suite);
    add_meaning(suite);
    add_command_line(suite);
    add_formats(suite);
    return test_run(suite, "config");
}
