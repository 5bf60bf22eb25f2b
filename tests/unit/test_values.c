/* SPDX-License-Identifier: Apache-2.0 */
/* bawn YAML into a policy: the value of each key, and what it means. */
#include "base/cleanup.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COMPLAINS(name, text, expected) TEST_COMPLAINS(name, FORMAT_BAWN, "p.yaml", text, expected)
#define BECOMES(name, text, expected, expected_complaints)                                         \
    TEST_BECOMES(name, FORMAT_BAWN, "p.yaml", text, expected, expected_complaints)

COMPLAINS(reads_takes_one_of_its_words, "sandbox: {reads: sometimes}\n",
          "p.yaml:1:18 error config.bad_value: sandbox.reads: 'sometimes' is not strict, dynamic "
          "or static\n")

COMPLAINS(network_mode_takes_one_of_its_words, "sandbox: {network: {mode: open}}\n",
          "p.yaml:1:27 error config.bad_value: sandbox.network.mode: 'open' is not none, proxy, "
          "isolated, veth or host\n")

COMPLAINS(
    network_unlisted_takes_one_of_its_words, "sandbox: {network: {unlisted: allow}}\n",
    "p.yaml:1:31 error config.bad_value: sandbox.network.unlisted: 'allow' is not deny or ask\n")

COMPLAINS(limits_preset_takes_one_of_its_words, "sandbox: {limits: huge}\n",
          "p.yaml:1:19 error config.bad_value: sandbox.limits.preset: 'huge' is not strict, "
          "default or none\n")

COMPLAINS(bool_takes_true_or_false, "sandbox: {process: {debug: 1}}\n",
          "p.yaml:1:28 error config.bad_value: sandbox.process.debug: '1' is not true or false\n")

COMPLAINS(count_takes_a_whole_number, "sandbox: {limits: {pids: many}}\n",
          "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: 'many' is not a whole number, "
          "1 or more\n")

COMPLAINS(count_of_zero_is_refused, "sandbox: {limits: {pids: 0}}\n",
          "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: '0' is not a whole number, 1 "
          "or more\n")

COMPLAINS(count_over_its_maximum_is_refused, "sandbox: {limits: {io_weight: 10001}}\n",
          "p.yaml:1:31 error config.bad_value: sandbox.limits.io_weight: '10001' is not a whole "
          "number, 1 or more\n")

COMPLAINS(size_takes_bytes_with_a_unit, "sandbox: {limits: {memory: lots}}\n",
          "p.yaml:1:28 error config.bad_value: sandbox.limits.memory: 'lots' is not a size such as "
          "512M or 2G\n")

COMPLAINS(size_of_zero_is_refused, "sandbox: {limits: {tmp_size: 0}}\n",
          "p.yaml:1:30 error config.bad_value: sandbox.limits.tmp_size: '0' is not a size such as "
          "512M or 2G\n")

COMPLAINS(size_that_overflows_is_refused, "sandbox: {limits: {memory: 99999999999999999999}}\n",
          "p.yaml:1:28 error config.bad_value: sandbox.limits.memory: '99999999999999999999' is "
          "not a size such as 512M or 2G\n")

COMPLAINS(percentage_takes_a_number, "sandbox: {limits: {cpu: half}}\n",
          "p.yaml:1:25 error config.bad_value: sandbox.limits.cpu: 'half' is not a percentage such "
          "as 80 or 150%\n")

COMPLAINS(time_takes_seconds_with_a_unit, "sandbox: {limits: {time: soon}}\n",
          "p.yaml:1:26 error config.bad_value: sandbox.limits.time: 'soon' is not a time such as "
          "90s, 10m or 2h\n")

COMPLAINS(port_over_65535_is_refused, "sandbox: {network: {http_proxy_port: 65536}}\n",
          "p.yaml:1:38 error config.bad_value: sandbox.network.http_proxy_port: '65536' is not a "
          "port, 1 to 65535\n")

COMPLAINS(password_of_a_proxy_is_refused_and_not_told,
          "sandbox: {network: {upstream_proxy: 'http://me:secret@p.example:3128'}}\n",
          "p.yaml:1:37 error config.bad_value: sandbox.network.upstream_proxy: 'the value' is not "
          "http://HOST:PORT; a login is in ~/.config/bawn/proxy-login\n")

COMPLAINS(suffix_of_a_proxy_has_stars, "sandbox: {network: {upstream_no_proxy: [.corp.example]}}\n",
          "p.yaml:1:41 error config.bad_value: sandbox.network.upstream_no_proxy: '.corp.example': "
          "write *.NAME for what is below a name, and **.NAME for the name itself, too\n")

COMPLAINS(port_zero_is_refused, "sandbox: {network: {socks_proxy_port: 0}}\n",
          "p.yaml:1:39 error config.bad_value: sandbox.network.socks_proxy_port: '0' is not a "
          "port, 1 to 65535\n")

COMPLAINS(profile_takes_a_word, "profile: \"\"\n",
          "p.yaml:1:10 error config.bad_value: profile: '' is not a word\n")

COMPLAINS(mode_of_a_path_takes_one_of_its_words,
          "sandbox: {paths: {work: {root: ., mode: write}}}\n",
          "p.yaml:1:41 error config.bad_value: sandbox.paths.work.mode: 'write' is not ro, rw, "
          "overlay, private, copy, ask or deny\n")

COMPLAINS(max_file_bytes_takes_a_size,
          "sandbox: {paths: {work: {root: ., mode: ro, max_file_bytes: big}}}\n",
          "p.yaml:1:61 error config.bad_value: sandbox.paths.work.max_file_bytes: 'big' is not a "
          "size such as 512K or 2M\n")

COMPLAINS(suffix_starts_with_a_dot,
          "sandbox: {paths: {work: {root: ., mode: ro, suffixes: [md, ., .a/b]}}}\n",
          "p.yaml:1:56 error config.bad_value: sandbox.paths.work.suffixes: 'md' is not a suffix "
          "such as .md\n"
          "p.yaml:1:60 error config.bad_value: sandbox.paths.work.suffixes: '.' is not a suffix "
          "such as .md\n"
          "p.yaml:1:63 error config.bad_value: sandbox.paths.work.suffixes: '.a/b' is not a suffix "
          "such as .md\n")

COMPLAINS(path_without_root_is_refused, "sandbox: {paths: {work: {mode: rw}}}\n",
          "p.yaml:1:19 error config.missing_key: sandbox.paths.work: there is no 'root'\n"
          "  write work: {root: PATH, mode: ro}\n")

COMPLAINS(path_without_mode_is_refused,
          "sandbox:\n"
          "  paths:\n"
          "    work:\n"
          "      root: .\n",
          "p.yaml:3:5 error config.missing_key: sandbox.paths.work: there is no 'mode'\n"
          "  write work: {root: PATH, mode: ro}\n")

COMPLAINS(path_without_anything_is_refused, "sandbox: {paths: {work: {}}}\n",
          "p.yaml:1:19 error config.missing_key: sandbox.paths.work: there is no 'root'\n"
          "  write work: {root: PATH, mode: ro}\n")

COMPLAINS(
    bare_tilde_gets_a_hint, "sandbox: {paths: {work: {root: ~, mode: rw}}}\n",
    "p.yaml:1:32 error config.bad_type: sandbox.paths.work.root: expected a string, found nothing\n"
    "  a bare ~ means nothing in YAML: write '~/' for your home\n")

COMPLAINS(bare_tilde_in_a_list_gets_a_hint, "sandbox: {deny: [~]}\n",
          "p.yaml:1:18 error config.bad_type: sandbox.deny: expected a string, found nothing\n"
          "  a bare ~ means nothing in YAML: write '~/' for your home\n")

COMPLAINS(home_of_another_user_is_refused, "sandbox: {paths: {work: {root: ~bob/x, mode: rw}}}\n",
          "p.yaml:1:19 error config.bad_path: sandbox.paths: '~bob/x': ~ stands for your own home "
          "only: write ~/...\n")

COMPLAINS(unknown_variable_is_refused, "sandbox: {paths: {work: {root: $NOPE/x, mode: rw}}}\n",
          "p.yaml:1:19 error config.bad_path: sandbox.paths: '$NOPE/x': no such variable: HOME, "
          "WORKSPACE, XDG_CONFIG_HOME and the like can be used\n")

COMPLAINS(dotdot_inside_a_path_is_refused, "sandbox: {paths: {work: {root: a/../b, mode: rw}}}\n",
          "p.yaml:1:19 error config.bad_path: sandbox.paths: 'a/../b': '..' can only stand in "
          "front of a relative path\n")

COMPLAINS(empty_path_is_refused, "sandbox: {paths: {work: {root: \"\", mode: rw}}}\n",
          "p.yaml:1:19 error config.bad_path: sandbox.paths: '': an empty path\n")

COMPLAINS(unclosed_class_is_refused, "sandbox: {deny: [\"a[b\"]}\n",
          "p.yaml:1:18 error config.bad_path: sandbox.deny: 'a[b': a [ without its ]\n")

COMPLAINS(negated_pattern_is_refused, "sandbox: {deny: [\"!a\"]}\n",
          "p.yaml:1:18 error config.bad_path: sandbox.deny: '!a': a pattern cannot be negated: "
          "give the path a mode of its own in sandbox.paths\n")

COMPLAINS(proc_of_the_host_cannot_be_granted, "sandbox: {paths: {p: {root: /proc, mode: ro}}}\n",
          "p.yaml:1:19 error config.host_proc: sandbox.paths: '/proc': the host's /proc cannot be "
          "granted\n"
          "  the sandbox has a /proc of its own; take the rule out\n")

COMPLAINS(host_with_a_scheme_is_refused, "sandbox: {network: {allow: [\"https://a.example\"]}}\n",
          "p.yaml:1:29 error config.bad_host: sandbox.network.allow: 'https://a.example': a host "
          "has no scheme and no path\n")

COMPLAINS(every_host_cannot_be_allowed, "sandbox: {network: {allow: [\"*\"]}}\n",
          "p.yaml:1:29 error config.bad_host: sandbox.network.allow: '*': a * can only stand for "
          "whole labels in front: *.example or **.example\n"
          "  to be asked about every host, set sandbox.network: true\n")

COMPLAINS(every_host_cannot_be_denied_by_a_star, "sandbox: {network: {deny: [\"*\"]}}\n",
          "p.yaml:1:28 error config.bad_host: sandbox.network.deny: '*': a * can only stand for "
          "whole labels in front: *.example or **.example\n"
          "  to deny every host, set sandbox.network: false\n")

COMPLAINS(address_in_an_odd_form_is_refused,
          "sandbox: {network: {deny: [127.1, 0x7f.0.0.1, 2130706433]}}\n",
          "p.yaml:1:28 error config.bad_host: sandbox.network.deny: '127.1': not an address in its "
          "usual form, and a name does not end in a number\n"
          "p.yaml:1:35 error config.bad_host: sandbox.network.deny: '0x7f.0.0.1': not an address "
          "in its usual form, and a name does not end in a number\n"
          "p.yaml:1:47 error config.bad_host: sandbox.network.deny: '2130706433': not an address "
          "in its usual form, and a name does not end in a number\n")

#define BEHIND                                                                                     \
    "behind the host there can be opaque, ech=allow and by=PROGRAM, each after one blank\n"
COMPLAINS(word_behind_a_host_is_one_of_three,
          "sandbox:\n"
          "  network:\n"
          "    allow:\n"
          "      - a.example opague\n"
          "      - a.example  opaque\n"
          "      - 'a.example '\n"
          "      - a.example ech\n"
          "      - a.example host=b.example\n"
          "      - a.example,opaque\n",
          "p.yaml:4:9 error config.bad_value: sandbox.network.allow: opague: " BEHIND
          "p.yaml:5:9 error config.bad_value: sandbox.network.allow:  opaque: " BEHIND
          "p.yaml:6:9 error config.bad_value: sandbox.network.allow: : " BEHIND
          "p.yaml:7:9 error config.bad_value: sandbox.network.allow: ech: " BEHIND
          "p.yaml:8:9 error config.bad_value: sandbox.network.allow: host=b.example: " BEHIND
          "p.yaml:9:9 error config.bad_host: sandbox.network.allow: 'a.example,opaque': a host "
          "name has letters, digits, - and . only (no scheme, no path)\n")

COMPLAINS(word_behind_a_host_has_its_values,
          "sandbox:\n"
          "  network:\n"
          "    ask:\n"
          "      - a.example opaque=yes\n"
          "      - a.example ech=true\n"
          "      - a.example by=git\n"
          "      - a.example by=/usr/../bin/git\n"
          "      - a.example opaque ech=allow opaque\n"
          "      - {host: a.example, opaque: 1, ech: [allow], by: /}\n",
          "p.yaml:4:9 error config.bad_value: sandbox.network.ask: opaque: write true or false\n"
          "p.yaml:5:9 error config.bad_value: sandbox.network.ask: ech: write allow or deny\n"
          "p.yaml:6:9 error config.bad_value: sandbox.network.ask: by: write the whole path of a "
          "program, such as /usr/bin/git\n"
          "p.yaml:7:9 error config.bad_value: sandbox.network.ask: by: '..' can only stand in "
          "front of a relative path\n"
          "p.yaml:8:9 error config.bad_value: sandbox.network.ask: opaque: stands twice\n"
          "p.yaml:9:35 error config.bad_type: sandbox.network.ask: opaque: expected true or false, "
          "found a number\n"
          "p.yaml:9:43 error config.bad_type: sandbox.network.ask: ech: expected a string, found a "
          "list\n"
          "p.yaml:9:56 error config.bad_value: sandbox.network.ask: by: write the whole path of a "
          "program, such as /usr/bin/git\n")

COMPLAINS(map_of_a_host_has_a_host_and_known_keys,
          "sandbox: {network: {allow: [{opaque: true}, {host: a.example, opaqe: true}, [a.example],"
          " {host: a.example opaque}]}}\n",
          "p.yaml:1:29 error config.missing_key: sandbox.network.allow: there is no 'host'\n"
          "  write {host: NAME:PORT, opaque: true}\n"
          "p.yaml:1:63 error config.unknown_key: unknown key sandbox.network.allow: opaqe\n"
          "  did you mean 'opaque'?\n"
          "p.yaml:1:77 error config.bad_type: sandbox.network.allow: expected a string, found a "
          "list\n"
          "p.yaml:1:90 error config.bad_host: sandbox.network.allow: 'a.example opaque': a host "
          "name has letters, digits, - and . only (no scheme, no path)\n")

COMPLAINS(denial_has_no_words,
          "sandbox: {network: {deny: [a.example opaque, {host: a.example, ech: deny}, a.example "
          "by=/bin/x]}}\n",
          "p.yaml:1:28 error config.bad_value: sandbox.network.deny: opaque: a denial refuses the "
          "host, whatever would be said to it\n"
          "p.yaml:1:69 error config.bad_value: sandbox.network.deny: ech: a denial refuses the "
          "host, whatever would be said to it\n"
          "p.yaml:1:76 error config.bad_value: sandbox.network.deny: by: a denial is for every "
          "program: a copy of one would get around it\n")

BECOMES(words_of_a_host_in_both_forms,
        "sandbox:\n"
        "  network:\n"
        "    allow:\n"
        "      - {host: \"a.example:22\", opaque: true, ech: allow, by: /usr/bin//git}\n"
        "      - {by: /opt/my tool, host: 10.0.0.0/8}\n"
        "      - {opaque: false, ech: deny, host: \"[2001:db8::1]:80\"}\n"
        "      - b.example:22 by=/opt/my opaque tool\n"
        "      - \"*.b.example ech=allow opaque=true\"\n"
        "    ask: [c.example opaque, c.example ech=deny opaque=false]\n"
        "    deny: [{host: d.example}]\n",
        "sandbox.network.mode = proxy\n"
        "allow host a.example:22 opaque ech=allow by=/usr/bin/git\n"
        "allow host 10.0.0.0/8 by=/opt/my tool\n"
        "allow host [2001:db8::1]:80\n"
        "allow host b.example:22 by=/opt/my opaque tool\n"
        "allow host *.b.example opaque ech=allow\n"
        "ask host c.example opaque\n"
        "ask host c.example\n"
        "deny host d.example\n",
        "")

COMPLAINS(pin_takes_a_plain_name, "sandbox: {network: {hosts: {\"*.a.example\": 10.0.0.1}}}\n",
          "p.yaml:1:29 error config.bad_value: sandbox.network.hosts: '*.a.example': only a plain "
          "name can be pinned\n")

COMPLAINS(
    pin_takes_an_address, "sandbox: {network: {hosts: {a.example: b.example}}}\n",
    "p.yaml:1:29 error config.bad_value: sandbox.network.hosts: 'a.example': not an IP address\n")

COMPLAINS(host_port_takes_a_port, "sandbox: {network: {host_ports: [http]}}\n",
          "p.yaml:1:34 error config.bad_value: sandbox.network.host_ports: 'http': not a port\n")

COMPLAINS(publish_takes_an_address_and_one_or_two_ports,
          "sandbox: {network: {publish: [\"80:\", \"0\", \"1:2:3\", \"99999:1\", \"::1:80\"]}}\n",
          "p.yaml:1:31 error config.bad_value: sandbox.network.publish: '80:': not "
          "[ADDRESS:]PORT[:PORT]\n"
          "p.yaml:1:38 error config.bad_value: sandbox.network.publish: '0': not "
          "[ADDRESS:]PORT[:PORT]\n"
          "p.yaml:1:43 error config.bad_value: sandbox.network.publish: '1:2:3': not "
          "[ADDRESS:]PORT[:PORT]\n"
          "p.yaml:1:52 error config.bad_value: sandbox.network.publish: '99999:1': not "
          "[ADDRESS:]PORT[:PORT]\n"
          "p.yaml:1:63 error config.bad_value: sandbox.network.publish: '::1:80': not "
          "[ADDRESS:]PORT[:PORT]\n")

COMPLAINS(ipv6_is_not_bawn_nets, "sandbox: {network: {mode: isolated, ipv6: true}}\n",
          "p.yaml:1:43 error policy.ipv6: sandbox.network.ipv6: only the mode veth, and the mode "
          "isolated with sandbox.network.engine: slirp4netns or pasta, have it; in this mode "
          "bawn-net reaches IPv6 hosts by the rules, as it does IPv4 ones\n")

COMPLAINS(ipv6_is_not_the_hosts, "sandbox: {network: {mode: host, engine: pasta, ipv6: true}}\n",
          "p.yaml:1:54 error policy.ipv6: sandbox.network.ipv6: only the mode veth, and the mode "
          "isolated with sandbox.network.engine: slirp4netns or pasta, have it; the mode host has "
          "what the host has\n")

BECOMES(ipv6_of_an_engine, "sandbox: {network: {mode: isolated, engine: pasta, ipv6: true}}\n",
        "sandbox.network.mode = isolated\n"
        "sandbox.network.engine = pasta\n"
        "sandbox.network.ipv6 = true\n",
        "")

BECOMES(ipv6_is_moot_without_a_network,
        "sandbox: {network: {mode: none, engine: pasta, ipv6: true}}\n",
        "sandbox.network.mode = none\n"
        "sandbox.network.engine = pasta\n"
        "sandbox.network.ipv6 = true\n",
        "")

COMPLAINS(
    a_port_inside_is_published_or_the_hosts,
    "sandbox: {network: {host_ports: [9000], publish: [\"80:9000\"]}}\n",
    "p.yaml:1:51 error policy.ports: sandbox.network.publish: 80:9000: port 9000 inside is the "
    "host's, by sandbox.network.host_ports\n")

BECOMES(publish_forms,
        "sandbox: {network: {publish: [\"80\", \"81:82\", \"127.0.0.2:83\", \"[::1]:84:85\", "
        "\"0.0.0.0:86:87\"]}}\n",
        "sandbox.network.mode = proxy\n"
        "sandbox.network.publish 80\n"
        "sandbox.network.publish 81:82\n"
        "sandbox.network.publish 127.0.0.2:83\n"
        "sandbox.network.publish [::1]:84:85\n"
        "sandbox.network.publish 0.0.0.0:86:87\n",
        "")

COMPLAINS(
    env_names_are_names,
    "sandbox: {process: {env: {pass: [A=B, 1A, \"*\", A*B], deny: [\"A B\"], set: {A*: x}}}}\n",
    "p.yaml:1:34 error config.bad_value: sandbox.process.env.pass: 'A=B': not the name of an "
    "environment variable\n"
    "p.yaml:1:39 error config.bad_value: sandbox.process.env.pass: '1A': not the name of an "
    "environment variable\n"
    "p.yaml:1:43 error config.bad_value: sandbox.process.env.pass: '*': passing every variable "
    "would pass on your secrets: name those that are needed\n"
    "p.yaml:1:48 error config.bad_value: sandbox.process.env.pass: 'A*B': not the name of an "
    "environment variable\n"
    "p.yaml:1:61 error config.bad_value: sandbox.process.env.deny: 'A B': not the name of an "
    "environment variable\n"
    "p.yaml:1:75 error config.bad_value: sandbox.process.env.set: 'A*': not the name of an "
    "environment variable\n")

COMPLAINS(
    loader_variables_are_never_set, "sandbox: {process: {env: {set: {LD_PRELOAD: x.so}}}}\n",
    "p.yaml:1:33 error config.bad_value: sandbox.process.env.set: 'LD_PRELOAD': makes programs "
    "run code of somebody's choice: it is never set\n")

COMPLAINS(tools_are_those_there_are, "tools: [raed]\n",
          "p.yaml:1:9 error config.bad_value: tools: 'raed': no such tool: there are read, write, "
          "list_files and shell\n")

COMPLAINS(version_is_one, "version: 2\n",
          "p.yaml:1:10 error config.version: version: this bawn reads version 1\n"
          "  a newer bawn may be needed for this file\n")

COMPLAINS(version_is_a_number, "version: \"1\"\n",
          "p.yaml:1:10 error config.version: version: this bawn reads version 1\n"
          "  a newer bawn may be needed for this file\n")

COMPLAINS(reopen_takes_an_entry_of_the_lists, "sandbox: {reopen: [~/.nothing]}\n",
          "p.yaml:1:20 error policy.no_such_entry: sandbox.reopen: '~/.nothing' is not an entry of "
          "the built-in lists\n"
          "  'bawn policy show --builtin' prints them\n")

COMPLAINS(lock_is_for_the_org, "lock: [sandbox.reads]\n",
          "p.yaml:1:8 error policy.lock_not_org: lock: only an org policy can lock keys\n")

COMPLAINS(lock_takes_a_key_that_exists, "lock: [sandbox.raeds]\n",
          "p.yaml:1:8 error config.bad_value: lock: 'sandbox.raeds': no such key\n")

COMPLAINS(
    all_complaints_are_made_at_once,
    "version: 3\n"
    "sandbox:\n"
    "  reads: x\n"
    "  deny: [\"\"]\n"
    "  zzzz: 1\n",
    "p.yaml:1:10 error config.version: version: this bawn reads version 1\n"
    "  a newer bawn may be needed for this file\n"
    "p.yaml:3:10 error config.bad_value: sandbox.reads: 'x' is not strict, dynamic or static\n"
    "p.yaml:4:10 error config.bad_path: sandbox.deny: '': an empty path\n"
    "p.yaml:5:3 error config.unknown_key: unknown key sandbox.zzzz\n"
    "  the keys here are: paths, deny, ask, protect, confirm, network, ask_timeout, reads, "
    "require_os_sandbox, limits, process, devices, workspace_mount, home, repository, late, "
    "overlay_all, "
    "reopen\n")

BECOMES(lists_that_hold_nothing_allow_nothing,
        "sandbox:\n"
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
        "", "")

BECOMES(settings_that_hold_nothing_are_not_set,
        "sandbox: {reads: , require_os_sandbox: ~, network: {mode: null}}\n", "", "")

BECOMES(each_mode_of_a_path,
        "sandbox:\n"
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
        "")

BECOMES(
    each_start_of_a_path,
    "sandbox:\n"
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
    "p.yaml:11:5 warning config.odd_path: sandbox.paths.i: '/s*[x]' is a path, not a pattern: its "
    "* stands for itself\n"
    "  patterns go into sandbox.deny, ask, protect or confirm\n")

BECOMES(
    suffixes_and_size_of_a_path,
    "sandbox: {paths: {a: {root: /a, mode: ro, suffixes: [.md, .tar.gz], max_file_bytes: 1.5K}}}\n",
    "path ro /a suffixes .md .tar.gz max 1536\n", "")

BECOMES(empty_suffixes_allow_no_suffix,
        "sandbox:\n"
        "  paths:\n"
        "    a: {root: /a, mode: ro, suffixes: []}\n"
        "    b: {root: /b, mode: ro, suffixes: }\n"
        "    c: {root: /c, mode: ro}\n",
        "path ro /a suffixes\n"
        "path ro /b suffixes\n"
        "path ro /c\n",
        "")

BECOMES(each_list_of_patterns,
        "sandbox:\n"
        "  deny: [.env, \"/abs/*.key\"]\n"
        "  ask: [~/notes]\n"
        "  protect: [Makefile]\n"
        "  confirm: [\"docs/**\"]\n",
        "deny wild /w/**/.env\n"
        "deny wild /abs/*.key\n"
        "ask /home/u/notes\n"
        "protect wild /w/**/Makefile\n"
        "confirm /w/docs\n",
        "")

BECOMES(each_setting,
        "profile: strict\n"
        "sandbox:\n"
        "  reads: static\n"
        "  require_os_sandbox: false\n"
        "  network: {mode: host, unlisted: ask, allow_local_binding: false, http_proxy_port: 1, "
        "socks_proxy_port: 2, upstream_proxy: 'http://p.example:3128', engine: pasta, engine_path: "
        "/opt/pasta, cidr: 10.9.8.4/30, mtu: "
        "1400, authz_port: 3}\n"
        "  limits: {preset: none, pids: 1, memory_high: 2K, memory: 3M, cpu: 150%, io_weight: 4, "
        "io_read_bytes: 8M, io_write_bytes: 9K, io_read_ops: 10, io_write_ops: 11, "
        "open_files: 5, file_size: 6G, tmp_size: 7M, time: 2h}\n"
        "  process: {debug: true, map_root: true, as_root: true, containers: true, "
        "time_ns: true, allow_unsandboxed: true}\n"
        "  devices: {kvm: true}\n"
        "  workspace_mount: /place/here\n",
        "profile = strict\n"
        "sandbox.reads = static\n"
        "sandbox.require_os_sandbox = false\n"
        "sandbox.network.mode = host\n"
        "sandbox.network.unlisted = ask\n"
        "sandbox.network.allow_local_binding = false\n"
        "sandbox.network.http_proxy_port = 1\n"
        "sandbox.network.socks_proxy_port = 2\n"
        "sandbox.network.upstream_proxy = http://p.example:3128\n"
        "sandbox.network.engine = pasta\n"
        "sandbox.network.engine_path = /opt/pasta\n"
        "sandbox.network.cidr = 10.9.8.4/30\n"
        "sandbox.network.mtu = 1400\n"
        "sandbox.network.authz_port = 3\n"
        "sandbox.limits.preset = none\n"
        "sandbox.limits.pids = 1\n"
        "sandbox.limits.memory_high = 2K\n"
        "sandbox.limits.memory = 3M\n"
        "sandbox.limits.cpu = 150%\n"
        "sandbox.limits.io_weight = 4\n"
        "sandbox.limits.io_read_bytes = 8M\n"
        "sandbox.limits.io_write_bytes = 9K\n"
        "sandbox.limits.io_read_ops = 10\n"
        "sandbox.limits.io_write_ops = 11\n"
        "sandbox.limits.open_files = 5\n"
        "sandbox.limits.file_size = 6G\n"
        "sandbox.limits.tmp_size = 7M\n"
        "sandbox.limits.time = 2h\n"
        "sandbox.process.debug = true\n"
        "sandbox.process.map_root = true\n"
        "sandbox.process.as_root = true\n"
        "sandbox.process.containers = true\n"
        "sandbox.process.time_ns = true\n"
        "sandbox.process.allow_unsandboxed = true\n"
        "sandbox.devices.kvm = true\n"
        "sandbox.workspace_mount = /place/here\n"
        "sandbox.network.host_ports 1\n"
        "sandbox.network.host_ports 2\n"
        "sandbox.network.host_ports 3\n",
        "")

BECOMES(each_list,
        "presets: [git]\n"
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
        "sandbox.network.mode = proxy\n"
        "deny /dev/kvm\n"
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
        "")

BECOMES(tool_rules_become_rules_of_tools_and_commands,
        "tool_rules:\n"
        "  shell: {approval_required: true, allow: [\"git status\"], ask: [\"git push *\"], deny: "
        "[\"rm *\"]}\n"
        "  write: {approval_required: false}\n"
        "  other: ~\n",
        "tool_rules.shell ask\n"
        "tool_rules.shell allow: git status\n"
        "tool_rules.shell ask: git push *\n"
        "tool_rules.shell deny: rm *\n"
        "tool_rules.write allow\n",
        "")

BECOMES(network_false_is_no_network, "sandbox: {network: false}\n", "sandbox.network.mode = none\n",
        "")

BECOMES(network_true_is_a_proxy_that_asks, "sandbox: {network: true}\n",
        "sandbox.network.mode = proxy\n"
        "sandbox.network.unlisted = ask\n",
        "")

BECOMES(limits_word_is_a_preset, "sandbox: {limits: strict}\n", "sandbox.limits.preset = strict\n",
        "")

BECOMES(private_proc_is_granted, "sandbox: {paths: {p: {root: /proc, mode: private}}}\n",
        "path private /proc\n", "")

/* Adds the cases of one group. */
static void add_group(Suite *suite, const char *name, const TTest *const *cases, size_t count)
{
    TCase *group = tcase_create(name);

    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
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
        password_of_a_proxy_is_refused_and_not_told,
        suffix_of_a_proxy_has_stars,
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
        word_behind_a_host_is_one_of_three,
        word_behind_a_host_has_its_values,
        map_of_a_host_has_a_host_and_known_keys,
        denial_has_no_words,
        pin_takes_a_plain_name,
        pin_takes_an_address,
        host_port_takes_a_port,
        publish_takes_an_address_and_one_or_two_ports,
        a_port_inside_is_published_or_the_hosts,
        ipv6_is_not_bawn_nets,
        ipv6_is_not_the_hosts,
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
        publish_forms,
        ipv6_of_an_engine,
        ipv6_is_moot_without_a_network,
        words_of_a_host_in_both_forms,
        tool_rules_become_rules_of_tools_and_commands,
        network_false_is_no_network,
        network_true_is_a_proxy_that_asks,
        limits_word_is_a_preset,
        private_proc_is_granted,
    };

    add_group(suite, "meaning", cases, COUNT(cases));
}

int main(void)
{
    Suite *suite = suite_create("values");

    add_values(suite);
    add_meaning(suite);
    return test_run(suite, "values");
}
