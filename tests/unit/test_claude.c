/* SPDX-License-Identifier: Apache-2.0 */
/* Claude Code's settings: what each key and each permission becomes. */
#include "base/cleanup.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COMPLAINS(name, text, expected)                                                            \
    TEST_COMPLAINS(name, FORMAT_CLAUDE, "settings.json", text, expected)
#define BECOMES(name, text, expected, expected_complaints)                                         \
    TEST_BECOMES(name, FORMAT_CLAUDE, "settings.json", text, expected, expected_complaints)

BECOMES(no_sandbox_part_sets_nothing, "{\"model\": \"x\", \"hooks\": {}}", "", "")

BECOMES(sandbox_opens_reads_but_for_what_is_denied, "{\"sandbox\": {}}", "sandbox.reads = static\n",
        "")

BECOMES(null_parts_set_nothing, "{\"sandbox\": null, \"permissions\": null}", "", "")

BECOMES(enabled_true_needs_no_word, "{\"sandbox\": {\"enabled\": true}}",
        "sandbox.reads = static\n", "")

BECOMES(enabled_false_is_noted, "{\"sandbox\": {\"enabled\": false}}", "sandbox.reads = static\n",
        "settings.json:1:25 note config.enabled: sandbox.enabled is false there; bawn holds the "
        "boundaries all the same\n")

BECOMES(fail_if_unavailable_is_require_os_sandbox, "{\"sandbox\": {\"failIfUnavailable\": true}}",
        "sandbox.reads = static\n"
        "sandbox.require_os_sandbox = true\n",
        "")

BECOMES(auto_allow_bash_true_allows_the_shell,
        "{\"sandbox\": {\"autoAllowBashIfSandboxed\": true}}",
        "sandbox.reads = static\n"
        "tool_rules.shell allow\n",
        "")

BECOMES(auto_allow_bash_false_asks_before_the_shell,
        "{\"sandbox\": {\"autoAllowBashIfSandboxed\": false}}",
        "sandbox.reads = static\n"
        "tool_rules.shell ask\n",
        "")

BECOMES(allow_unsandboxed_commands_is_a_setting,
        "{\"sandbox\": {\"allowUnsandboxedCommands\": false}}",
        "sandbox.reads = static\n"
        "sandbox.process.allow_unsandboxed = false\n",
        "")

BECOMES(excluded_commands_are_a_list,
        "{\"sandbox\": {\"excludedCommands\": [\"docker *\", \"git\"]}}",
        "sandbox.reads = static\n"
        "sandbox.process.excluded_commands docker *\n"
        "sandbox.process.excluded_commands git\n",
        "")

BECOMES(
    weaker_switches_are_refused_when_true,
    "{\"sandbox\": {\"enableWeakerNestedSandbox\": true, \"enableWeakerNetworkIsolation\": false}}",
    "sandbox.reads = static\n",
    "settings.json:1:14 warning config.weaker: bawn refuses sandbox.enableWeakerNestedSandbox: it "
    "has no weaker sandbox, not even inside a container. Where it cannot make a wall, it runs "
    "nothing\n"
    "  run 'bawn doctor' inside: it says what the container must allow; --best-effort goes on "
    "without single rules, and says which\n")

BECOMES(keys_without_meaning_here_are_noted,
        "{\"sandbox\": {\"enabledPlatforms\": [\"linux\"], \"ignoreViolations\": {}, \"ripgrep\": "
        "{\"command\": \"rg\"}, \"bwrapPath\": \"/x\", \"socatPath\": \"/y\", "
        "\"allowAppleEvents\": true}}",
        "sandbox.reads = static\n",
        "settings.json:1:14 note config.meaningless: sandbox.enabledPlatforms means nothing to "
        "bawn and is left out\n"
        "settings.json:1:45 note config.meaningless: sandbox.ignoreViolations means nothing to "
        "bawn and is left out\n"
        "settings.json:1:69 note config.meaningless: sandbox.ripgrep means nothing to bawn and is "
        "left out\n"
        "settings.json:1:99 note config.meaningless: sandbox.bwrapPath means nothing to bawn and "
        "is left out\n"
        "settings.json:1:118 note config.meaningless: sandbox.socatPath means nothing to bawn and "
        "is left out\n"
        "settings.json:1:137 note config.meaningless: sandbox.allowAppleEvents means nothing to "
        "bawn and is left out\n")

BECOMES(allow_write_grants_reading_and_writing,
        "{\"sandbox\": {\"filesystem\": {\"allowWrite\": [\"/abs\", \"//abs2\", \"~/x\", \"rel\", "
        "\"./here\", \".\"]}}}",
        "sandbox.reads = static\n"
        "path rw /abs\n"
        "path rw /abs2\n"
        "path rw /home/u/x\n"
        "path rw /w/rel\n"
        "path rw /w/here\n"
        "path rw /w\n",
        "")

BECOMES(allow_write_drops_a_final_double_star,
        "{\"sandbox\": {\"filesystem\": {\"allowWrite\": [\"/a/**\", \"/b/\"]}}}",
        "sandbox.reads = static\n"
        "path rw /a\n"
        "path rw /b\n",
        "")

BECOMES(allow_write_by_pattern_grants_nothing,
        "{\"sandbox\": {\"filesystem\": {\"allowWrite\": [\"src/*.c\"]}}}",
        "sandbox.reads = static\n",
        "settings.json:1:44 warning config.pattern_grant: sandbox.filesystem.allowWrite: 'src/*.c' "
        "grants nothing: only whole directories and files can be granted\n"
        "  name the directory instead of a pattern\n")

BECOMES(deny_write_leaves_reads,
        "{\"sandbox\": {\"filesystem\": {\"denyWrite\": [\"Makefile\", \"/abs\", \"ci/*.yml\"]}}}",
        "sandbox.reads = static\n"
        "protect wild /w/**/Makefile\n"
        "protect /abs\n"
        "protect wild /w/ci/*.yml\n",
        "")

BECOMES(
    deny_read_denies_both,
    "{\"sandbox\": {\"filesystem\": {\"denyRead\": [\"~/private\", \"**/*.pem\", \"//etc/x\"]}}}",
    "sandbox.reads = static\n"
    "deny /home/u/private\n"
    "deny wild /w/**/*.pem\n"
    "deny /etc/x\n",
    "")

BECOMES(allow_read_grants_reading,
        "{\"sandbox\": {\"filesystem\": {\"allowRead\": [\"~/private/ok\"]}}}",
        "sandbox.reads = static\n"
        "path ro /home/u/private/ok\n",
        "")

BECOMES(
    literal_entry_is_no_pattern,
    "{\"sandbox\": {\"filesystem\": {\"denyRead\": [{\"path\": \"/a[b]*\", \"literal\": true}], "
    "\"denyWrite\": [{\"path\": \"rel*\", \"literal\": true}], \"allowWrite\": [{\"path\": "
    "\"/c?\", \"literal\": true}], \"allowRead\": [{\"path\": \"~/d*\", \"literal\": true}]}}}",
    "sandbox.reads = static\n"
    "deny /a[b]*\n"
    "protect /w/rel*\n"
    "path rw /c?\n"
    "path ro /home/u/d*\n",
    "")

BECOMES(entry_that_is_not_literal_is_a_pattern,
        "{\"sandbox\": {\"filesystem\": {\"denyRead\": [{\"path\": \"/a*\", \"literal\": false}, "
        "{\"path\": \"/b*\"}]}}}",
        "sandbox.reads = static\n"
        "deny wild /a*\n"
        "deny wild /b*\n",
        "")

BECOMES(empty_and_missing_lists_grant_nothing,
        "{\"sandbox\": {\"filesystem\": {\"allowWrite\": [], \"denyRead\": null}}}",
        "sandbox.reads = static\n", "")

BECOMES(filesystem_disabled_opens_nothing, "{\"sandbox\": {\"filesystem\": {\"disabled\": true}}}",
        "sandbox.reads = static\n",
        "settings.json:1:29 warning config.unsupported: sandbox.filesystem.disabled has no "
        "counterpart in bawn: what it would allow stays refused\n")

BECOMES(managed_reads_only_has_no_counterpart,
        "{\"sandbox\": {\"filesystem\": {\"allowManagedReadPathsOnly\": true}}}",
        "sandbox.reads = static\n",
        "settings.json:1:29 warning config.unheld: sandbox.filesystem.allowManagedReadPathsOnly "
        "has no counterpart in bawn: bawn does not forbid what it would forbid\n")

BECOMES(git_config_is_not_opened, "{\"sandbox\": {\"filesystem\": {\"allowGitConfig\": true}}}",
        "sandbox.reads = static\n",
        "settings.json:1:29 warning config.unsupported: sandbox.filesystem.allowGitConfig has no "
        "counterpart in bawn: what it would allow stays refused\n")

BECOMES(allowed_domains_are_allowed_and_others_asked_about,
        "{\"sandbox\": {\"network\": {\"allowedDomains\": [\"a.example\", \"*.b.example:443\"]}}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = ask\n"
        "allow host a.example\n"
        "allow host *.b.example:443\n",
        "")

BECOMES(denied_domains_are_denied,
        "{\"sandbox\": {\"network\": {\"deniedDomains\": [\"ads.example\"]}}}",
        "sandbox.reads = static\n"
        "deny host ads.example\n",
        "")

BECOMES(star_allowed_becomes_asking, "{\"sandbox\": {\"network\": {\"allowedDomains\": [\"*\"]}}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = ask\n",
        "settings.json:1:45 warning config.any_host: '*' becomes 'ask about each host': bawn does "
        "not allow every host at once\n")

BECOMES(star_denied_becomes_no_network,
        "{\"sandbox\": {\"network\": {\"deniedDomains\": [\"*\"]}}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = none\n",
        "")

BECOMES(strict_allowlist_denies_the_unlisted,
        "{\"sandbox\": {\"network\": {\"allowedDomains\": [\"a.example\"], \"strictAllowlist\": "
        "true}}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = deny\n"
        "allow host a.example\n",
        "")

BECOMES(strict_allowlist_before_the_list_holds_too,
        "{\"sandbox\": {\"network\": {\"strictAllowlist\": true, \"allowedDomains\": "
        "[\"a.example\"]}}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = deny\n"
        "allow host a.example\n",
        "")

BECOMES(star_denied_before_an_allowed_domain_holds_too,
        "{\"sandbox\": {\"network\": {\"deniedDomains\": [\"*\"], \"allowedDomains\": "
        "[\"a.example\"]}}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = none\n"
        "sandbox.network.unlisted = ask\n"
        "allow host a.example\n",
        "")

BECOMES(unix_sockets_are_allowed_by_path,
        "{\"sandbox\": {\"network\": {\"allowUnixSockets\": [\"/run/a.sock\", \"//run/b.sock\", "
        "\"~/c.sock\"]}}}",
        "sandbox.reads = static\n"
        "sandbox.network.unix_sockets /run/a.sock\n"
        "sandbox.network.unix_sockets /run/b.sock\n"
        "sandbox.network.unix_sockets /home/u/c.sock\n",
        "")

BECOMES(all_unix_sockets_are_not_allowed,
        "{\"sandbox\": {\"network\": {\"allowAllUnixSockets\": true}}}", "sandbox.reads = static\n",
        "settings.json:1:26 warning config.unsupported: sandbox.network.allowAllUnixSockets has no "
        "counterpart in bawn: what it would allow stays refused\n")

BECOMES(local_binding_is_a_setting, "{\"sandbox\": {\"network\": {\"allowLocalBinding\": false}}}",
        "sandbox.reads = static\n"
        "sandbox.network.allow_local_binding = false\n",
        "")

BECOMES(proxy_ports_are_settings,
        "{\"sandbox\": {\"network\": {\"httpProxyPort\": 8080, \"socksProxyPort\": 1080}}}",
        "sandbox.reads = static\n"
        "sandbox.network.mode = proxy\n"
        "sandbox.network.http_proxy_port = 8080\n"
        "sandbox.network.socks_proxy_port = 1080\n"
        "sandbox.network.host_ports 8080\n"
        "sandbox.network.host_ports 1080\n",
        "")

BECOMES(what_bawn_cannot_do_on_the_network_is_said,
        "{\"sandbox\": {\"network\": {\"mitmProxy\": {}, \"parentProxy\": {}, \"tlsTerminate\": "
        "{}, \"allowManagedDomainsOnly\": true}}}",
        "sandbox.reads = static\n",
        "settings.json:1:26 warning config.unsupported: sandbox.network.mitmProxy has no "
        "counterpart in bawn: what it would allow stays refused\n"
        "settings.json:1:43 warning config.unsupported: sandbox.network.parentProxy has no "
        "counterpart in bawn: what it would allow stays refused\n"
        "settings.json:1:62 warning config.unsupported: sandbox.network.tlsTerminate has no "
        "counterpart in bawn: what it would allow stays refused\n"
        "settings.json:1:82 warning config.unheld: sandbox.network.allowManagedDomainsOnly has no "
        "counterpart in bawn: bawn does not forbid what it would forbid\n")

BECOMES(mach_lookup_is_noted, "{\"sandbox\": {\"network\": {\"allowMachLookup\": [\"x\"]}}}",
        "sandbox.reads = static\n",
        "settings.json:1:26 note config.meaningless: sandbox.network.allowMachLookup means nothing "
        "to bawn and is left out\n")

BECOMES(
    credential_files_are_denied,
    "{\"sandbox\": {\"credentials\": {\"files\": [{\"path\": \"~/.netrc\", \"mode\": \"deny\"}]}}}",
    "sandbox.reads = static\n"
    "deny /home/u/.netrc\n",
    "")

BECOMES(
    credential_variables_are_denied,
    "{\"sandbox\": {\"credentials\": {\"envVars\": [{\"name\": \"TOKEN\", \"mode\": \"deny\"}]}}}",
    "sandbox.reads = static\n"
    "sandbox.process.env.deny TOKEN\n",
    "")

BECOMES(masked_is_denied_and_said,
        "{\"sandbox\": {\"credentials\": {\"files\": [{\"path\": \"~/.x\", \"mode\": \"mask\", "
        "\"extract\": \"a(b)\", \"injectHosts\": [\"h\"]}], \"envVars\": [{\"name\": \"T\", "
        "\"mode\": \"mask\"}]}}}",
        "sandbox.reads = static\n"
        "deny /home/u/.x\n"
        "sandbox.process.env.deny T\n",
        "settings.json:1:65 warning config.mask: sandbox.credentials.files: '~/.x' is denied, not "
        "masked: bawn does not mask yet\n"
        "settings.json:1:150 warning config.mask: sandbox.credentials.envVars: 'T' is denied, not "
        "masked: bawn does not mask yet\n")

BECOMES(
    credential_without_mode_is_refused,
    "{\"sandbox\": {\"credentials\": {\"files\": [{\"path\": \"~/.x\"}]}}}",
    "sandbox.reads = static\n",
    "settings.json:1:40 error config.bad_value: sandbox.credentials.files: mode is deny or mask\n")

BECOMES(credential_without_path_is_refused,
        "{\"sandbox\": {\"credentials\": {\"files\": [{\"mode\": \"deny\"}]}}}",
        "sandbox.reads = static\n",
        "settings.json:1:40 error config.missing_key: sandbox.credentials.files: an entry needs "
        "'path' and 'mode'\n")

BECOMES(
    credential_with_another_mode_is_refused,
    "{\"sandbox\": {\"credentials\": {\"files\": [{\"path\": \"x\", \"mode\": \"allow\"}]}}}",
    "sandbox.reads = static\n",
    "settings.json:1:62 error config.bad_value: sandbox.credentials.files: mode is deny or mask\n")

BECOMES(credential_with_an_unknown_key_is_refused,
        "{\"sandbox\": {\"credentials\": {\"files\": [{\"path\": \"x\", \"mode\": \"deny\", "
        "\"exract\": 1}]}}}",
        "sandbox.reads = static\n"
        "deny wild /w/**/x\n",
        "settings.json:1:70 error config.unknown_key: unknown key exract\n"
        "  did you mean 'extract'?\n")

BECOMES(signing_of_requests_has_no_counterpart,
        "{\"sandbox\": {\"credentials\": {\"awsPairs\": [], \"sigv4\": {}, "
        "\"allowPlaintextInject\": true}}}",
        "sandbox.reads = static\n",
        "settings.json:1:30 warning config.unsupported: sandbox.credentials.awsPairs has no "
        "counterpart in bawn: what it would allow stays refused\n"
        "settings.json:1:46 warning config.unsupported: sandbox.credentials.sigv4 has no "
        "counterpart in bawn: what it would allow stays refused\n"
        "settings.json:1:59 warning config.unsupported: sandbox.credentials.allowPlaintextInject "
        "has no counterpart in bawn: what it would allow stays refused\n")

BECOMES(ask_stays_ask,
        "{\"permissions\": {\"ask\": [\"Bash(git push *)\", \"Read(a)\", \"Edit(b)\", "
        "\"WebFetch(domain:c.example)\", \"Write\", \"mcp__x__y\"]}}",
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = ask\n"
        "ask wild /w/**/a\n"
        "confirm wild /w/**/b\n"
        "ask host c.example\n"
        "tool_rules.shell ask: git push *\n"
        "tool_rules.write ask\n"
        "tool_rules.mcp__x__y ask\n",
        "")

BECOMES(deny_of_each_kind,
        "{\"permissions\": {\"deny\": [\"Bash(rm:*)\", \"Read(./.env)\", \"Edit(b)\", "
        "\"Write(c)\", \"WebFetch(domain:d.example)\", \"Bash\"]}}",
        "deny /w/.env\n"
        "protect wild /w/**/b\n"
        "protect wild /w/**/c\n"
        "deny host d.example\n"
        "tool_rules.shell deny: rm *\n"
        "tool_rules.shell deny: *\n",
        "")

BECOMES(allow_of_each_kind,
        "{\"permissions\": {\"allow\": [\"Bash(npm test)\", \"Read(~/docs/**)\", \"Edit(src)\", "
        "\"WebFetch(domain:e.example)\", \"Bash\"]}}",
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = ask\n"
        "path ro /home/u/docs\n"
        "path rw /w/src\n"
        "allow host e.example\n"
        "tool_rules.shell allow: npm test\n"
        "tool_rules.shell allow\n",
        "")

BECOMES(
    read_permission_paths,
    "{\"permissions\": {\"deny\": [\"Read(//abs/x)\", \"Read(/from/settings)\", \"Read(/one)\", "
    "\"Read(~/x)\", \"Read(bare)\", \"Read(./here)\", \"Read(a/b)\", \"Read(**/*.env)\"]}}",
    "deny /abs/x\n"
    "deny /w/from/settings\n"
    "deny /w/one\n"
    "deny /home/u/x\n"
    "deny wild /w/**/bare\n"
    "deny /w/here\n"
    "deny /w/a/b\n"
    "deny wild /w/**/*.env\n",
    "")

BECOMES(edit_permission_paths,
        "{\"permissions\": {\"deny\": [\"Edit(//abs/x)\", \"Edit(/one)\", \"Edit(~/x)\", "
        "\"Edit(bare)\"]}}",
        "protect /abs/x\n"
        "protect /w/one\n"
        "protect /home/u/x\n"
        "protect wild /w/**/bare\n",
        "")

BECOMES(granted_permission_paths,
        "{\"permissions\": {\"allow\": [\"Edit(//abs/x)\", \"Edit(/one)\", \"Edit(~/x)\", "
        "\"Edit(./bare)\", \"Read(//abs/y)\"]}}",
        "path rw /abs/x\n"
        "path rw /w/one\n"
        "path rw /home/u/x\n"
        "path rw /w/bare\n"
        "path ro /abs/y\n",
        "")

BECOMES(grant_of_a_bare_name_is_anchored,
        "{\"permissions\": {\"allow\": [\"Edit(src)\", \"Read(docs/)\", \"Edit(.)\"]}}",
        "path rw /w/src\n"
        "path ro /w/docs\n"
        "path rw /w\n",
        "")

BECOMES(grant_by_pattern_grants_nothing,
        "{\"permissions\": {\"allow\": [\"Edit(**/*.c)\", \"Read(*.md)\"]}}", "",
        "settings.json:1:28 warning config.pattern_grant: permissions.allow: '**/*.c' grants "
        "nothing: only whole directories and files can be granted\n"
        "  name the directory instead of a pattern\n"
        "settings.json:1:44 warning config.pattern_grant: permissions.allow: '*.md' grants "
        "nothing: only whole directories and files can be granted\n"
        "  name the directory instead of a pattern\n")

BECOMES(
    both_forms_of_a_command_prefix_are_the_same,
    "{\"permissions\": {\"ask\": [\"Bash(git commit:*)\", \"Bash(git commit *)\", \"Bash(git)\"]}}",
    "tool_rules.shell ask: git commit *\n"
    "tool_rules.shell ask: git commit *\n"
    "tool_rules.shell ask: git\n",
    "")

BECOMES(every_tool_that_edits_is_write,
        "{\"permissions\": {\"ask\": [\"Edit\", \"Write\", \"MultiEdit\", \"NotebookEdit\"]}}",
        "tool_rules.write ask\n"
        "tool_rules.write ask\n"
        "tool_rules.write ask\n"
        "tool_rules.write ask\n",
        "")

BECOMES(every_tool_that_looks_is_read_or_list_files,
        "{\"permissions\": {\"ask\": [\"Read\", \"NotebookRead\", \"Glob\", \"Grep\", \"LS\"]}}",
        "tool_rules.read ask\n"
        "tool_rules.read ask\n"
        "tool_rules.list_files ask\n"
        "tool_rules.list_files ask\n"
        "tool_rules.list_files ask\n",
        "")

BECOMES(empty_specifier_is_the_whole_tool, "{\"permissions\": {\"ask\": [\"Bash()\"]}}",
        "tool_rules.shell ask\n", "")

BECOMES(web_fetch_of_any_domain_asks, "{\"permissions\": {\"allow\": [\"WebFetch(domain:*)\"]}}",
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = ask\n",
        "settings.json:1:28 warning config.any_host: '*' becomes 'ask about each host': bawn does "
        "not allow every host at once\n")

BECOMES(additional_directories_are_writable,
        "{\"permissions\": {\"additionalDirectories\": [\"../other\", \"~/more\", \"/abs\"]}}",
        "path rw /other\n"
        "path rw /home/u/more\n"
        "path rw /abs\n",
        "")

BECOMES(modes_of_the_agent_are_noted,
        "{\"permissions\": {\"defaultMode\": \"acceptEdits\", \"disableBypassPermissionsMode\": "
        "\"disable\", \"disableAutoMode\": \"x\"}}",
        "",
        "settings.json:1:18 note config.meaningless: permissions.defaultMode means nothing to bawn "
        "and is left out\n"
        "settings.json:1:48 note config.meaningless: permissions.disableBypassPermissionsMode "
        "means nothing to bawn and is left out\n"
        "settings.json:1:91 note config.meaningless: permissions.disableAutoMode means nothing to "
        "bawn and is left out\n")

BECOMES(reads_outside_are_denied,
        "{\"permissions\": {\"blockReadsOutsideWorkingDirectories\": true}}",
        "sandbox.reads = strict\n", "")

COMPLAINS(unknown_key_of_the_sandbox, "{\"sandbox\": {\"enbled\": true}}",
          "settings.json:1:14 error config.unknown_key: unknown key sandbox.enbled\n"
          "  did you mean 'enabled'?\n")

COMPLAINS(unknown_key_of_the_network, "{\"sandbox\": {\"network\": {\"alowedDomains\": []}}}",
          "settings.json:1:26 error config.unknown_key: unknown key sandbox.network.alowedDomains\n"
          "  did you mean 'allowedDomains'?\n")

COMPLAINS(unknown_key_of_the_filesystem, "{\"sandbox\": {\"filesystem\": {\"denyReed\": []}}}",
          "settings.json:1:29 error config.unknown_key: unknown key sandbox.filesystem.denyReed\n"
          "  did you mean 'denyRead'?\n")

COMPLAINS(unknown_key_of_the_permissions, "{\"permissions\": {\"dney\": []}}",
          "settings.json:1:18 error config.unknown_key: unknown key permissions.dney\n"
          "  did you mean 'deny'?\n")

COMPLAINS(
    unknown_key_of_an_entry,
    "{\"sandbox\": {\"filesystem\": {\"denyRead\": [{\"path\": \"/x\", \"litteral\": true}]}}}",
    "settings.json:1:57 error config.unknown_key: unknown key litteral\n"
    "  did you mean 'literal'?\n")

COMPLAINS(unknown_key_far_from_all, "{\"sandbox\": {\"credentials\": {\"zzzzzzzz\": 1}}}",
          "settings.json:1:30 error config.unknown_key: unknown key sandbox.credentials.zzzzzzzz\n"
          "  the keys here are: files, envVars, allowPlaintextInject, awsPairs, sigv4\n")

COMPLAINS(key_with_a_dot_is_no_key_further_down,
          "{\"sandbox\": {\"filesystem.allowWrite\": [\"/x\"]}}",
          "settings.json:1:14 error config.unknown_key: unknown key sandbox.filesystem.allowWrite\n"
          "  the keys here are: network, filesystem, credentials, ignoreViolations, "
          "enableWeakerNestedSandbox, enableWeakerNetworkIsolation, allowAppleEvents, ripgrep, "
          "bwrapPath, socatPath, enabled, enabledPlatforms, failIfUnavailable, "
          "autoAllowBashIfSandboxed, allowUnsandboxedCommands, excludedCommands\n")

COMPLAINS(name_of_an_object_is_no_key, "{\"sandbox\": {\"__proto__\": 1, \"toString\": 2}}",
          "settings.json:1:14 error config.unknown_key: unknown key sandbox.__proto__\n"
          "  the keys here are: network, filesystem, credentials, ignoreViolations, "
          "enableWeakerNestedSandbox, enableWeakerNetworkIsolation, allowAppleEvents, ripgrep, "
          "bwrapPath, socatPath, enabled, enabledPlatforms, failIfUnavailable, "
          "autoAllowBashIfSandboxed, allowUnsandboxedCommands, excludedCommands\n"
          "settings.json:1:30 error config.unknown_key: unknown key sandbox.toString\n"
          "  the keys here are: network, filesystem, credentials, ignoreViolations, "
          "enableWeakerNestedSandbox, enableWeakerNetworkIsolation, allowAppleEvents, ripgrep, "
          "bwrapPath, socatPath, enabled, enabledPlatforms, failIfUnavailable, "
          "autoAllowBashIfSandboxed, allowUnsandboxedCommands, excludedCommands\n")

COMPLAINS(settings_are_an_object, "[]",
          "settings.json:1:1 error config.bad_type: settings: expected an object, found a list\n")

COMPLAINS(sandbox_is_an_object, "{\"sandbox\": []}",
          "settings.json:1:13 error config.bad_type: sandbox: expected an object, found a list\n")

COMPLAINS(
    permissions_is_an_object, "{\"permissions\": 5}",
    "settings.json:1:17 error config.bad_type: permissions: expected an object, found a number\n")

COMPLAINS(
    network_is_an_object, "{\"sandbox\": {\"network\": \"x\"}}",
    "settings.json:1:25 error config.bad_type: sandbox.network: expected a map, found a string\n")

COMPLAINS(paths_are_a_list, "{\"sandbox\": {\"filesystem\": {\"denyRead\": \"x\"}}}",
          "settings.json:1:41 error config.bad_type: sandbox.filesystem.denyRead: expected a list, "
          "found a string\n")

COMPLAINS(a_path_is_a_string,
          "{\"sandbox\": {\"filesystem\": {\"denyRead\": [5, null, true, []]}}}",
          "settings.json:1:45 error config.bad_type: sandbox.filesystem.denyRead: expected a "
          "string, found nothing\n"
          "settings.json:1:51 error config.bad_type: sandbox.filesystem.denyRead: expected a "
          "string, found true or false\n"
          "settings.json:1:57 error config.bad_type: sandbox.filesystem.denyRead: expected a "
          "string, found a list\n")

COMPLAINS(domains_are_a_list, "{\"sandbox\": {\"network\": {\"allowedDomains\": {}}}}",
          "settings.json:1:44 error config.bad_type: sandbox.network.allowedDomains: expected a "
          "list, found a map\n")

COMPLAINS(
    booleans_are_booleans,
    "{\"sandbox\": {\"enabled\": \"yes\", \"failIfUnavailable\": 1, \"autoAllowBashIfSandboxed\": "
    "\"true\", \"network\": {\"allowLocalBinding\": \"no\", \"allowAllUnixSockets\": 0}}}",
    "settings.json:1:25 error config.bad_type: sandbox.enabled: expected true or false, found a "
    "string\n"
    "settings.json:1:53 error config.bad_type: sandbox.failIfUnavailable: expected true or false, "
    "found a number\n"
    "settings.json:1:84 error config.bad_type: sandbox.autoAllowBashIfSandboxed: expected true or "
    "false, found a string\n"
    "settings.json:1:125 error config.bad_type: sandbox.network.allowLocalBinding: expected true "
    "or false, found a string\n"
    "settings.json:1:154 error config.bad_type: sandbox.network.allowAllUnixSockets: expected true "
    "or false, found a number\n")

COMPLAINS(port_is_a_number, "{\"sandbox\": {\"network\": {\"httpProxyPort\": \"8080\"}}}",
          "settings.json:1:43 error config.bad_type: sandbox.network.httpProxyPort: expected a "
          "port, found a string\n")

COMPLAINS(port_is_in_range,
          "{\"sandbox\": {\"network\": {\"httpProxyPort\": 70000, \"socksProxyPort\": 1.5}}}",
          "settings.json:1:43 error config.bad_value: sandbox.network.http_proxy_port: '70000' is "
          "not a port, 1 to 65535\n"
          "settings.json:1:68 error config.bad_value: sandbox.network.socks_proxy_port: '1.5' is "
          "not a port, 1 to 65535\n")

COMPLAINS(commands_are_a_list, "{\"sandbox\": {\"excludedCommands\": \"docker\"}}",
          "settings.json:1:34 error config.bad_type: sandbox.excludedCommands: expected a list, "
          "found a string\n")

COMPLAINS(permissions_are_a_list, "{\"permissions\": {\"allow\": \"Read\"}}",
          "settings.json:1:27 error config.bad_type: permissions.allow: expected a list, found a "
          "string\n")

COMPLAINS(
    permission_has_a_form,
    "{\"permissions\": {\"deny\": [\"\", \"(x)\", \"Bash(x\", \"Bash(x)y\"]}}",
    "settings.json:1:27 error config.permission: permissions.deny: '': a rule is Tool or "
    "Tool(specifier)\n"
    "settings.json:1:31 error config.permission: permissions.deny: '(x)': a rule is Tool or "
    "Tool(specifier)\n"
    "settings.json:1:38 error config.permission: permissions.deny: 'Bash(x': a ( without its )\n"
    "settings.json:1:48 error config.permission: permissions.deny: 'Bash(x)y': a ( without its )\n")

COMPLAINS(
    permission_with_a_bad_host,
    "{\"permissions\": {\"allow\": [\"WebFetch(domain:https://x)\", \"WebFetch(domain:)\"]}}",
    "settings.json:1:28 error config.bad_host: sandbox.network.allow: 'https://x': a host has no "
    "scheme and no path\n"
    "settings.json:1:58 error config.bad_host: sandbox.network.allow: '': there is no host in it\n")

COMPLAINS(permission_with_a_bad_pattern, "{\"permissions\": {\"deny\": [\"Read(a[b)\"]}}",
          "settings.json:1:27 error config.bad_path: permissions.deny: 'a[b': a [ without its ]\n")

COMPLAINS(entry_needs_a_path,
          "{\"sandbox\": {\"filesystem\": {\"denyRead\": [{\"literal\": true}]}}}",
          "settings.json:1:42 error config.missing_key: sandbox.filesystem.denyRead: an entry "
          "without 'path'\n")

COMPLAINS(
    literal_is_true_or_false,
    "{\"sandbox\": {\"filesystem\": {\"denyRead\": [{\"path\": \"/x*\", \"literal\": \"true\"}]}}}",
    "settings.json:1:69 error config.bad_type: literal: expected true or false, found a string\n")

COMPLAINS(places_are_found_on_any_line,
          "{\n"
          "  \"model\": \"a \\\"quoted\\\" {word}\",\n"
          "  \"sandbox\": {\n"
          "    \"network\": {\"allowedDomains\": [\"a.example\",\n"
          "      \"b c\"]}\n"
          "  }\n"
          "}\n",
          "settings.json:5:7 error config.bad_host: sandbox.network.allow: 'b c': a host name has "
          "letters, digits, - and . only (no scheme, no path)\n")

COMPLAINS(empty_file_is_not_json, "",
          "settings.json:1:1 error config.syntax: not JSON: unexpected token near end of file\n")

COMPLAINS(truncated_json_is_refused, "{\"sandbox\": {\"network\": {\"allowedDomains\": [\"a\"",
          "settings.json:1:47 error config.syntax: not JSON: ']' expected near end of file\n")

COMPLAINS(
    duplicate_key_is_refused,
    "{\"sandbox\": {},\n"
    " \"sandbox\": {}}",
    "settings.json:2:10 error config.syntax: not JSON: duplicate object key near '\"sandbox\"'\n")

COMPLAINS(trailing_comma_is_refused, "{\"sandbox\": {},}",
          "settings.json:1:16 error config.syntax: not JSON: string or '}' expected near '}'\n")

COMPLAINS(comment_is_refused,
          "// no\n"
          "{}",
          "settings.json:1:1 error config.syntax: not JSON: invalid token near '/'\n")

COMPLAINS(second_document_is_refused, "{} {}",
          "settings.json:1:4 error config.syntax: not JSON: end of file expected near '{'\n")

COMPLAINS(escaped_nul_is_refused,
          "{\"sandbox\": {\"filesystem\": {\"denyRead\": [\"a\\u0000b\"]}}}",
          "settings.json:1:51 error config.syntax: not JSON: \\u0000 is not allowed without "
          "JSON_ALLOW_NUL near '\"a\\u0000b\"'\n")

COMPLAINS(lone_surrogate_is_refused,
          "{\"sandbox\": {\"filesystem\": {\"denyRead\": [\"\\ud800\"]}}}",
          "settings.json:1:49 error config.syntax: not JSON: invalid Unicode '\\uD800' near "
          "'\"\\ud800\"'\n")

COMPLAINS(nested_too_deep_is_refused,
          "{\"x\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
          "settings.json:1:39 error config.too_large: nested deeper than 32, or more than 400000 "
          "values\n")

COMPLAINS(
    nul_byte_is_refused, "{\"sandbox\": {}}\000",
    "settings.json:1:16 error config.syntax: not JSON: end of file expected near end of file\n")

COMPLAINS(byte_that_is_not_utf8_is_refused, "{\"x\": \"\377\"}",
          "settings.json:1:7 error config.syntax: not JSON: unable to decode byte 0xff near '\"'\n")

/* Adds the cases of one group. */
static void add_group(Suite *suite, const char *name, const TTest *const *cases, size_t count)
{
    TCase *group = tcase_create(name);

    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
}

static void add_sandbox(Suite *suite)
{
    const TTest *const cases[] = {
        no_sandbox_part_sets_nothing,
        sandbox_opens_reads_but_for_what_is_denied,
        null_parts_set_nothing,
        enabled_true_needs_no_word,
        enabled_false_is_noted,
        fail_if_unavailable_is_require_os_sandbox,
        auto_allow_bash_true_allows_the_shell,
        auto_allow_bash_false_asks_before_the_shell,
        allow_unsandboxed_commands_is_a_setting,
        excluded_commands_are_a_list,
        weaker_switches_are_refused_when_true,
        keys_without_meaning_here_are_noted,
    };

    add_group(suite, "sandbox", cases, COUNT(cases));
}

static void add_filesystem(Suite *suite)
{
    const TTest *const cases[] = {
        allow_write_grants_reading_and_writing,
        allow_write_drops_a_final_double_star,
        allow_write_by_pattern_grants_nothing,
        deny_write_leaves_reads,
        deny_read_denies_both,
        allow_read_grants_reading,
        literal_entry_is_no_pattern,
        entry_that_is_not_literal_is_a_pattern,
        empty_and_missing_lists_grant_nothing,
        filesystem_disabled_opens_nothing,
        managed_reads_only_has_no_counterpart,
        git_config_is_not_opened,
    };

    add_group(suite, "filesystem", cases, COUNT(cases));
}

static void add_network(Suite *suite)
{
    const TTest *const cases[] = {
        allowed_domains_are_allowed_and_others_asked_about,
        denied_domains_are_denied,
        star_allowed_becomes_asking,
        star_denied_becomes_no_network,
        strict_allowlist_denies_the_unlisted,
        strict_allowlist_before_the_list_holds_too,
        star_denied_before_an_allowed_domain_holds_too,
        unix_sockets_are_allowed_by_path,
        all_unix_sockets_are_not_allowed,
        local_binding_is_a_setting,
        proxy_ports_are_settings,
        what_bawn_cannot_do_on_the_network_is_said,
        mach_lookup_is_noted,
    };

    add_group(suite, "network", cases, COUNT(cases));
}

static void add_credentials(Suite *suite)
{
    const TTest *const cases[] = {
        credential_files_are_denied,
        credential_variables_are_denied,
        masked_is_denied_and_said,
        credential_without_mode_is_refused,
        credential_without_path_is_refused,
        credential_with_another_mode_is_refused,
        credential_with_an_unknown_key_is_refused,
        signing_of_requests_has_no_counterpart,
    };

    add_group(suite, "credentials", cases, COUNT(cases));
}

static void add_permissions(Suite *suite)
{
    const TTest *const cases[] = {
        ask_stays_ask,
        deny_of_each_kind,
        allow_of_each_kind,
        read_permission_paths,
        edit_permission_paths,
        granted_permission_paths,
        grant_of_a_bare_name_is_anchored,
        grant_by_pattern_grants_nothing,
        both_forms_of_a_command_prefix_are_the_same,
        every_tool_that_edits_is_write,
        every_tool_that_looks_is_read_or_list_files,
        empty_specifier_is_the_whole_tool,
        web_fetch_of_any_domain_asks,
        additional_directories_are_writable,
        modes_of_the_agent_are_noted,
        reads_outside_are_denied,
    };

    add_group(suite, "permissions", cases, COUNT(cases));
}

static void add_complaints(Suite *suite)
{
    const TTest *const cases[] = {
        unknown_key_of_the_sandbox,
        unknown_key_of_the_network,
        unknown_key_of_the_filesystem,
        unknown_key_of_the_permissions,
        unknown_key_of_an_entry,
        unknown_key_far_from_all,
        key_with_a_dot_is_no_key_further_down,
        name_of_an_object_is_no_key,
        settings_are_an_object,
        sandbox_is_an_object,
        permissions_is_an_object,
        network_is_an_object,
        paths_are_a_list,
        a_path_is_a_string,
        domains_are_a_list,
        booleans_are_booleans,
        port_is_a_number,
        port_is_in_range,
        commands_are_a_list,
        permissions_are_a_list,
        permission_has_a_form,
        permission_with_a_bad_host,
        permission_with_a_bad_pattern,
        entry_needs_a_path,
        literal_is_true_or_false,
        places_are_found_on_any_line,
    };

    add_group(suite, "complaints", cases, COUNT(cases));
}

static void add_json(Suite *suite)
{
    const TTest *const cases[] = {
        empty_file_is_not_json,
        truncated_json_is_refused,
        duplicate_key_is_refused,
        trailing_comma_is_refused,
        comment_is_refused,
        second_document_is_refused,
        escaped_nul_is_refused,
        lone_surrogate_is_refused,
        nested_too_deep_is_refused,
        nul_byte_is_refused,
        byte_that_is_not_utf8_is_refused,
    };

    add_group(suite, "json", cases, COUNT(cases));
}

int main(void)
{
    Suite *suite = suite_create("claude");

    add_sandbox(suite);
    add_filesystem(suite);
    add_network(suite);
    add_credentials(suite);
    add_permissions(suite);
    add_complaints(suite);
    add_json(suite);
    return test_run(suite, "claude");
}
