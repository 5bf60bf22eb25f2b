/* SPDX-License-Identifier: Apache-2.0 */
/* srt settings: what each key becomes, and what they mean together. */
#include "base/cleanup.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COMPLAINS(name, text, expected) TEST_COMPLAINS(name, FORMAT_SRT, "srt.json", text, expected)
#define BECOMES(name, text, expected, expected_complaints)                                         \
    TEST_BECOMES(name, FORMAT_SRT, "srt.json", text, expected, expected_complaints)

/* What the settings say of an operation on a path. */
static const char *says(const char *text, enum path_op op, const char *path)
{
    struct test_policy test;
    const char *access;

    test_policy_init(&test);
    ck_assert_int_eq(test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_SRT, "srt.json",
                                      text, strlen(text)),
                     0);
    ck_assert_int_eq(test_policy_finish(&test), 0);
    ck_assert(!report_has_errors(test.report));
    access = test_policy_access(&test, op, path);
    test_policy_done(&test);
    return access;
}

/* The same for HOST:PORT. */
static const char *connects(const char *text, const char *target)
{
    struct test_policy test;
    const char *access;

    test_policy_init(&test);
    ck_assert_int_eq(test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_SRT, "srt.json",
                                      text, strlen(text)),
                     0);
    ck_assert_int_eq(test_policy_finish(&test), 0);
    access = test_policy_connect(&test, target);
    test_policy_done(&test);
    return access;
}

BECOMES(empty_settings_open_reads, "{}", "sandbox.reads = static\n", "")

BECOMES(required_lists_that_are_empty_grant_nothing,
        "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": "
        "{\"denyRead\": [], \"allowWrite\": [], \"denyWrite\": []}}",
        "sandbox.reads = static\n", "")

BECOMES(null_lists_grant_nothing,
        "{\"network\": {\"allowedDomains\": null}, \"filesystem\": {\"allowWrite\": null}}",
        "sandbox.reads = static\n", "")

BECOMES(allowed_domains_are_allowed_and_others_denied,
        "{\"network\": {\"allowedDomains\": [\"a.example\", \"*.b.example\", \"localhost\", "
        "\"127.0.0.1:80\", \"[::1]:80\"]}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "allow host a.example\n"
        "allow host *.b.example\n"
        "allow host localhost\n"
        "allow host 127.0.0.1:80\n"
        "allow host [::1]:80\n",
        "")

BECOMES(denied_domains_are_denied,
        "{\"network\": {\"deniedDomains\": [\"x.example\", \"10.0.0.0/8\"]}}",
        "sandbox.reads = static\n"
        "deny host x.example\n"
        "deny host 10.0.0.0/8\n",
        "")

BECOMES(star_denied_becomes_no_network, "{\"network\": {\"deniedDomains\": [\"*\"]}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = none\n",
        "")

BECOMES(all_domains_become_asking, "{\"network\": {\"allowAllDomains\": true}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = ask\n",
        "srt.json:1:33 warning config.any_host: '*' becomes 'ask about each host': bawn does not "
        "allow every host at once\n")

BECOMES(strict_allowlist_denies_the_unlisted, "{\"network\": {\"strictAllowlist\": true}}",
        "sandbox.reads = static\n"
        "sandbox.network.unlisted = deny\n",
        "")

BECOMES(strict_allowlist_is_stricter_than_all_domains,
        "{\"network\": {\"strictAllowlist\": true, \"allowAllDomains\": true}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = deny\n",
        "srt.json:1:58 warning config.any_host: '*' becomes 'ask about each host': bawn does not "
        "allow every host at once\n")

BECOMES(key_order_opens_nothing,
        "{\"network\": {\"deniedDomains\": [\"*\"], \"allowedDomains\": [\"a.example\"]}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = none\n"
        "allow host a.example\n",
        "")

BECOMES(network_switches,
        "{\"network\": {\"allowUnixSockets\": [\"/run/a.sock\"], \"allowAllUnixSockets\": false, "
        "\"allowLocalBinding\": true, \"httpProxyPort\": 3128, \"socksProxyPort\": 1080}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.allow_local_binding = true\n"
        "sandbox.network.http_proxy_port = 3128\n"
        "sandbox.network.socks_proxy_port = 1080\n"
        "sandbox.network.unix_sockets /run/a.sock\n"
        "sandbox.network.host_ports 3128\n"
        "sandbox.network.host_ports 1080\n",
        "")

BECOMES(network_keys_without_counterpart_are_said,
        "{\"network\": {\"mitmProxy\": {}, \"parentProxy\": {}, \"tlsTerminate\": {}, "
        "\"deniedResolvedAddresses\": [], \"stripResponseHeaders\": [], \"refuseOpaqueTunnels\": "
        "true}}",
        "sandbox.reads = static\n",
        "srt.json:1:14 warning config.unsupported: network.mitmProxy has no counterpart in bawn: "
        "what it would allow stays refused\n"
        "srt.json:1:31 warning config.unsupported: network.parentProxy has no counterpart in bawn: "
        "what it would allow stays refused\n"
        "srt.json:1:50 warning config.unsupported: network.tlsTerminate has no counterpart in "
        "bawn: what it would allow stays refused\n"
        "srt.json:1:70 warning config.unheld: network.deniedResolvedAddresses has no counterpart "
        "in bawn: bawn does not forbid what it would forbid\n"
        "srt.json:1:101 warning config.unheld: network.stripResponseHeaders has no counterpart in "
        "bawn: bawn does not forbid what it would forbid\n"
        "srt.json:1:129 warning config.unheld: network.refuseOpaqueTunnels has no counterpart in "
        "bawn: bawn does not forbid what it would forbid\n")

BECOMES(network_keys_without_meaning_are_noted,
        "{\"network\": {\"deniedDomainReasons\": {}, \"allowMachLookup\": [], "
        "\"allowPlaintextHeaderSet\": true, \"requireHostMatch\": true}}",
        "sandbox.reads = static\n",
        "srt.json:1:14 note config.meaningless: network.deniedDomainReasons means nothing to bawn "
        "and is left out\n"
        "srt.json:1:41 note config.meaningless: network.allowMachLookup means nothing to bawn and "
        "is left out\n"
        "srt.json:1:64 note config.meaningless: network.allowPlaintextHeaderSet means nothing to "
        "bawn and is left out\n"
        "srt.json:1:97 warning config.unheld: network.requireHostMatch has no counterpart in bawn: "
        "bawn does not forbid what it would forbid\n")

BECOMES(deny_read_denies_both, "{\"filesystem\": {\"denyRead\": [\"~/.ssh\", \"*.key\"]}}",
        "sandbox.reads = static\n"
        "deny /home/u/.ssh\n"
        "deny wild /w/**/*.key\n",
        "")

BECOMES(allow_read_grants_reading, "{\"filesystem\": {\"allowRead\": [\".\", \"~/x\"]}}",
        "sandbox.reads = static\n"
        "path ro /w\n"
        "path ro /home/u/x\n",
        "")

BECOMES(allow_write_grants_both,
        "{\"filesystem\": {\"allowWrite\": [\".\", \"/tmp/x\", \"~/y/**\"]}}",
        "sandbox.reads = static\n"
        "path rw /w\n"
        "path rw /tmp/x\n"
        "path rw /home/u/y\n",
        "")

BECOMES(deny_write_leaves_reads, "{\"filesystem\": {\"denyWrite\": [\".env\", \"/abs/x\"]}}",
        "sandbox.reads = static\n"
        "protect wild /w/**/.env\n"
        "protect /abs/x\n",
        "")

BECOMES(literal_entries_are_no_patterns,
        "{\"filesystem\": {\"denyRead\": [{\"path\": \"/a*\", \"literal\": true}], \"allowRead\": "
        "[{\"path\": \"b*\", \"literal\": true}], \"allowWrite\": [{\"path\": \"/c[\", "
        "\"literal\": true}], \"denyWrite\": [{\"path\": \"~/d?\", \"literal\": true}]}}",
        "sandbox.reads = static\n"
        "deny /a*\n"
        "path ro /w/b*\n"
        "path rw /c[\n"
        "protect /home/u/d?\n",
        "")

BECOMES(filesystem_switches_open_nothing,
        "{\"filesystem\": {\"disabled\": true, \"allowGitConfig\": true}}",
        "sandbox.reads = static\n",
        "srt.json:1:17 warning config.unsupported: filesystem.disabled has no counterpart in bawn: "
        "what it would allow stays refused\n"
        "srt.json:1:35 warning config.unsupported: filesystem.allowGitConfig has no counterpart in "
        "bawn: what it would allow stays refused\n")

BECOMES(filesystem_switches_that_are_false_are_silent,
        "{\"filesystem\": {\"disabled\": false, \"allowGitConfig\": false}}",
        "sandbox.reads = static\n", "")

BECOMES(credentials_are_denied,
        "{\"credentials\": {\"files\": [{\"path\": \"~/.aws/credentials\", \"mode\": \"deny\"}], "
        "\"envVars\": [{\"name\": \"AWS_SECRET_ACCESS_KEY\", \"mode\": \"deny\"}]}}",
        "sandbox.reads = static\n"
        "deny /home/u/.aws/credentials\n"
        "sandbox.process.env.deny AWS_SECRET_ACCESS_KEY\n",
        "")

BECOMES(
    top_level_keys_without_meaning_are_noted,
    "{\"ignoreViolations\": {\"*\": []}, \"allowPty\": true, \"mandatoryDenySearchDepth\": 3, "
    "\"ripgrep\": {}, \"seccomp\": {}, \"bwrapPath\": \"/x\", \"socatPath\": \"/y\", "
    "\"javaAgentJarPath\": \"z\", \"windows\": {}, \"allowAppleEvents\": true}",
    "sandbox.reads = static\n",
    "srt.json:1:2 note config.meaningless: ignoreViolations means nothing to bawn and is left out\n"
    "srt.json:1:33 note config.meaningless: allowPty means nothing to bawn and is left out\n"
    "srt.json:1:51 note config.meaningless: mandatoryDenySearchDepth means nothing to bawn and is "
    "left out\n"
    "srt.json:1:82 note config.meaningless: ripgrep means nothing to bawn and is left out\n"
    "srt.json:1:97 note config.meaningless: seccomp means nothing to bawn and is left out\n"
    "srt.json:1:112 note config.meaningless: bwrapPath means nothing to bawn and is left out\n"
    "srt.json:1:131 note config.meaningless: socatPath means nothing to bawn and is left out\n"
    "srt.json:1:150 note config.meaningless: javaAgentJarPath means nothing to bawn and is left "
    "out\n"
    "srt.json:1:175 note config.meaningless: windows means nothing to bawn and is left out\n"
    "srt.json:1:190 note config.meaningless: allowAppleEvents means nothing to bawn and is left "
    "out\n")

BECOMES(
    top_level_keys_without_counterpart_are_said,
    "{\"git\": {\"safeDirectories\": []}, \"enableWeakerNestedSandbox\": true, "
    "\"enableWeakerNetworkIsolation\": true}",
    "sandbox.reads = static\n",
    "srt.json:1:2 warning config.unsupported: git has no counterpart in bawn: what it would allow "
    "stays refused\n"
    "srt.json:1:34 warning config.weaker: bawn refuses enableWeakerNestedSandbox: it has no weaker "
    "sandbox, not even inside a container. Where it cannot make a wall, it runs nothing\n"
    "  run 'bawn doctor' inside: it says what the container must allow; --best-effort goes on "
    "without single rules, and says which\n"
    "srt.json:1:69 warning config.unsupported: enableWeakerNetworkIsolation has no counterpart in "
    "bawn: what it would allow stays refused\n")

COMPLAINS(settings_are_an_object, "[]",
          "srt.json:1:1 error config.bad_type: srt settings: expected an object, found a list\n")

COMPLAINS(null_is_no_settings, "null",
          "srt.json:1:1 error config.bad_type: srt settings: expected an object, found nothing\n")

COMPLAINS(unknown_key_names_the_nearest_one, "{\"netwrok\": {}}",
          "srt.json:1:2 error config.unknown_key: unknown key netwrok\n"
          "  did you mean 'network'?\n")

COMPLAINS(unknown_key_below_a_section, "{\"filesystem\": {\"denyReads\": []}}",
          "srt.json:1:17 error config.unknown_key: unknown key filesystem.denyReads\n"
          "  did you mean 'denyRead'?\n")

COMPLAINS(key_of_claude_code_is_unknown, "{\"sandbox\": {}, \"permissions\": {}}",
          "srt.json:1:2 error config.unknown_key: unknown key sandbox\n"
          "  the keys here are: network, filesystem, credentials, ignoreViolations, "
          "enableWeakerNestedSandbox, enableWeakerNetworkIsolation, allowAppleEvents, ripgrep, "
          "bwrapPath, socatPath, allowPty, mandatoryDenySearchDepth, seccomp, javaAgentJarPath, "
          "git, windows\n"
          "srt.json:1:17 error config.unknown_key: unknown key permissions\n"
          "  the keys here are: network, filesystem, credentials, ignoreViolations, "
          "enableWeakerNestedSandbox, enableWeakerNetworkIsolation, allowAppleEvents, ripgrep, "
          "bwrapPath, socatPath, allowPty, mandatoryDenySearchDepth, seccomp, javaAgentJarPath, "
          "git, windows\n")

COMPLAINS(section_is_a_map, "{\"network\": []}",
          "srt.json:1:13 error config.bad_type: network: expected a map, found a list\n")

COMPLAINS(
    list_is_a_list, "{\"filesystem\": {\"allowWrite\": \"x\"}}",
    "srt.json:1:31 error config.bad_type: filesystem.allowWrite: expected a list, found a string\n")

COMPLAINS(
    bad_host_is_refused,
    "{\"network\": {\"allowedDomains\": [\"https://x.example\", \"a b\", \"\"]}}",
    "srt.json:1:33 error config.bad_host: sandbox.network.allow: 'https://x.example': a host has "
    "no scheme and no path\n"
    "srt.json:1:54 error config.bad_host: sandbox.network.allow: 'a b': a host name has letters, "
    "digits, - and . only (no scheme, no path)\n"
    "srt.json:1:61 error config.bad_host: sandbox.network.allow: '': there is no host in it\n")

COMPLAINS(bad_pattern_is_refused,
          "{\"filesystem\": {\"denyRead\": [\"[a\", \"a\\\\\", \"\", \"a/../b\"]}}",
          "srt.json:1:30 error config.bad_path: filesystem.denyRead: '[a': a [ without its ]\n"
          "srt.json:1:36 error config.bad_path: filesystem.denyRead: 'a\\': a \\ at the end "
          "escapes nothing\n"
          "srt.json:1:43 error config.bad_path: filesystem.denyRead: '': an empty path\n"
          "srt.json:1:47 error config.bad_path: filesystem.denyRead: 'a/../b': '..' can only stand "
          "in front of a relative path\n")

COMPLAINS(environment_name_is_a_name,
          "{\"credentials\": {\"envVars\": [{\"name\": \"A B\", \"mode\": \"deny\"}]}}",
          "srt.json:1:39 error config.bad_value: sandbox.process.env.deny: 'A B': not the name of "
          "an environment variable\n")

COMPLAINS(proc_of_the_host_cannot_be_granted, "{\"filesystem\": {\"allowRead\": [\"/proc\"]}}",
          "srt.json:1:31 error config.host_proc: filesystem.allowRead: '/proc': the host's /proc "
          "cannot be granted\n"
          "  the sandbox has a /proc of its own; take the rule out\n")

START_TEST(reads_are_open_and_writes_are_not)
{
    ck_assert_str_eq(says("{}", PATH_READ, "/etc/passwd"), "allow");
    ck_assert_str_eq(says("{}", PATH_WRITE, "/w/x"), "deny");
}
END_TEST

START_TEST(a_denied_read_inside_an_allowed_one_is_denied)
{
    static const char text[] =
        "{\"filesystem\": {\"denyRead\": [\"/\", \"/w/secret\"], \"allowRead\": [\"/w\"]}}";

    ck_assert_str_eq(says(text, PATH_READ, "/etc/passwd"), "deny");
    ck_assert_str_eq(says(text, PATH_READ, "/w/x"), "allow");
    ck_assert_str_eq(says(text, PATH_READ, "/w/secret/x"), "deny");
}
END_TEST

START_TEST(a_denied_write_inside_an_allowed_one_is_denied)
{
    static const char text[] =
        "{\"filesystem\": {\"allowWrite\": [\".\"], \"denyWrite\": [\"*.lock\", \"ci\"]}}";

    ck_assert_str_eq(says(text, PATH_WRITE, "/w/a/x"), "allow");
    ck_assert_str_eq(says(text, PATH_WRITE, "/w/a/x.lock"), "deny");
    ck_assert_str_eq(says(text, PATH_READ, "/w/a/x.lock"), "allow");
    ck_assert_str_eq(says(text, PATH_WRITE, "/w/a/ci/x"), "deny");
}
END_TEST

START_TEST(a_literal_denial_denies_that_name_only)
{
    static const char text[] =
        "{\"filesystem\": {\"allowWrite\": [\"/w\"], \"denyWrite\": [{\"path\": \"/w/a*\", "
        "\"literal\": true}]}}";

    ck_assert_str_eq(says(text, PATH_WRITE, "/w/a*"), "deny");
    ck_assert_str_eq(says(text, PATH_WRITE, "/w/ab"), "allow");
}
END_TEST

START_TEST(hosts_that_are_not_listed_are_denied)
{
    static const char text[] = "{\"network\": {\"allowedDomains\": [\"*.a.example\"], "
                               "\"deniedDomains\": [\"bad.a.example\"]}}";

    ck_assert_str_eq(connects(text, "x.a.example:443"), "allow");
    ck_assert_str_eq(connects(text, "bad.a.example:443"), "deny");
    ck_assert_str_eq(connects(text, "a.example:443"), "deny");
    ck_assert_str_eq(connects(text, "b.example:443"), "deny");
    ck_assert_str_eq(connects("{}", "a.example:443"), "deny");
}
END_TEST

START_TEST(denied_domain_wins_over_all_domains)
{
    static const char text[] =
        "{\"network\": {\"allowAllDomains\": true, \"deniedDomains\": [\"bad.example\"]}}";

    ck_assert_str_eq(connects(text, "bad.example:443"), "deny");
    ck_assert_str_eq(connects(text, "good.example:443"), "ask");
    ck_assert_str_eq(connects(text, "127.0.0.1:443"), "deny");
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

static void add_keys(Suite *suite)
{
    const TTest *const cases[] = {
        empty_settings_open_reads,
        required_lists_that_are_empty_grant_nothing,
        null_lists_grant_nothing,
        allowed_domains_are_allowed_and_others_denied,
        denied_domains_are_denied,
        star_denied_becomes_no_network,
        all_domains_become_asking,
        strict_allowlist_denies_the_unlisted,
        strict_allowlist_is_stricter_than_all_domains,
        key_order_opens_nothing,
        network_switches,
        network_keys_without_counterpart_are_said,
        network_keys_without_meaning_are_noted,
        deny_read_denies_both,
        allow_read_grants_reading,
        allow_write_grants_both,
        deny_write_leaves_reads,
        literal_entries_are_no_patterns,
        filesystem_switches_open_nothing,
        filesystem_switches_that_are_false_are_silent,
        credentials_are_denied,
        top_level_keys_without_meaning_are_noted,
        top_level_keys_without_counterpart_are_said,
    };

    add_group(suite, "keys", cases, COUNT(cases));
}

static void add_complaints(Suite *suite)
{
    const TTest *const cases[] = {
        settings_are_an_object,
        null_is_no_settings,
        unknown_key_names_the_nearest_one,
        unknown_key_below_a_section,
        key_of_claude_code_is_unknown,
        section_is_a_map,
        list_is_a_list,
        bad_host_is_refused,
        bad_pattern_is_refused,
        environment_name_is_a_name,
        proc_of_the_host_cannot_be_granted,
    };

    add_group(suite, "complaints", cases, COUNT(cases));
}

static void add_meaning(Suite *suite)
{
    const TTest *const cases[] = {
        reads_are_open_and_writes_are_not,
        a_denied_read_inside_an_allowed_one_is_denied,
        a_denied_write_inside_an_allowed_one_is_denied,
        a_literal_denial_denies_that_name_only,
        hosts_that_are_not_listed_are_denied,
        denied_domain_wins_over_all_domains,
    };

    add_group(suite, "meaning", cases, COUNT(cases));
}

int main(void)
{
    Suite *suite = suite_create("srt");

    add_keys(suite);
    add_complaints(suite);
    add_meaning(suite);
    return test_run(suite, "srt");
}
