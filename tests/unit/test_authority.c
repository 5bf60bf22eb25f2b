/* SPDX-License-Identifier: Apache-2.0 */
/* Who may set what: the org, the user, an approved project and any project. */
#include "base/cleanup.h"
#include "lib/policy.h"
#include "lib/test.h"
#include "policy/message.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct document {
    enum layer_id id;
    enum authority authority;
    const char *text;
};

#define ORG(text)                                                                                  \
    {                                                                                              \
        LAYER_ORG, AUTHORITY_ORG, (text)                                                           \
    }
#define USER(text)                                                                                 \
    {                                                                                              \
        LAYER_USER, AUTHORITY_USER, (text)                                                         \
    }
#define PROJECT(text)                                                                              \
    {                                                                                              \
        LAYER_PROJECT, AUTHORITY_PROJECT, (text)                                                   \
    }
#define APPROVED(text)                                                                             \
    {                                                                                              \
        LAYER_PROJECT, AUTHORITY_APPROVED, (text)                                                  \
    }
#define LOCAL(text)                                                                                \
    {                                                                                              \
        LAYER_LOCAL, AUTHORITY_PROJECT, (text)                                                     \
    }
#define FLAGS(text)                                                                                \
    {                                                                                              \
        LAYER_FLAGS, AUTHORITY_USER, (text)                                                        \
    }

/* Loads the documents in order, each as a file with its layer's name. */
static void load(struct test_policy *test, const struct document *documents, size_t count)
{
    test_policy_init(test);
    test_policy_lists(test);
    for (size_t i = 0; i < count; i++) {
        const char *text = documents[i].text;

        ck_assert_int_eq(test_policy_load(test, documents[i].id, documents[i].authority,
                                          FORMAT_UNKNOWN, layer_word(documents[i].id), text,
                                          strlen(text)),
                         0);
    }
    ck_assert_int_eq(test_policy_finish(test), 0);
}

/* The documents together are complained about exactly like this. */
static void complains_of(const struct document *documents, size_t count, const char *expected)
{
    autofree char *complaints = NULL;
    struct test_policy test;

    load(&test, documents, count);
    complaints = test_policy_complaints(&test);
    ck_assert_str_eq(complaints, expected);
    test_policy_done(&test);
}

/* What they say of an operation on a path. */
static const char *says_of(const struct document *documents, size_t count, enum path_op op,
                           const char *path)
{
    struct test_policy test;
    const char *access;

    load(&test, documents, count);
    access = test_policy_access(&test, op, path);
    test_policy_done(&test);
    return access;
}

static const char *connects_of(const struct document *documents, size_t count, const char *target)
{
    struct test_policy test;
    const char *access;

    load(&test, documents, count);
    access = test_policy_connect(&test, target);
    test_policy_done(&test);
    return access;
}

/* The rule that decides about a host, in its words. */
static bool is_program(void *context, const struct net_rule *rule)
{
    return context && strcmp(context, rule->by) == 0;
}

/* program NULL: nobody knows. */
static void opens_by(const struct document *documents, size_t count, char *program,
                     const char *target, const char *expected)
{
    struct net_asker asker = {.is_by = is_program, .context = program};
    autostrbuf struct strbuf words = {0};
    struct net_decision decision;
    struct test_policy test;
    struct host host;

    load(&test, documents, count);
    ck_assert_ptr_null(host_parse_target(target, &host));
    decide_net_by(&test.policy, &host, program ? &asker : NULL, &decision);
    message_net_label(&test.policy, &decision, &words);
    ck_assert_str_eq(words.text, expected);
    test_policy_done(&test);
}

/* What is said of looking a name up, and of an address that it has. */
static const char *looks_up(const char *text, char *program, const char *name)
{
    struct net_asker asker = {.is_by = is_program, .context = program};
    struct document document = {LAYER_USER, AUTHORITY_USER, text};
    struct test_policy test;
    struct host host;
    enum access access;

    load(&test, &document, 1);
    ck_assert_ptr_null(host_parse_target(name, &host));
    access = decide_net_lookup_by(&test.policy, &host, &asker);
    if (!program)
        ck_assert_int_eq(access, decide_net_lookup(&test.policy, &host));
    test_policy_done(&test);
    return access_word(access);
}

static const char *leads_for(bool is_approved, const char *text, const char *name,
                             const char *address)
{
    struct document document = {LAYER_USER, AUTHORITY_USER, text};
    struct net_decision decision;
    struct test_policy test;
    struct host host, has;

    load(&test, &document, 1);
    ck_assert_ptr_null(host_parse_target(name, &host));
    ck_assert(host_parse_address(address, &has));
    decide_net_address(&test.policy, &host, is_approved, &has, &decision);
    test_policy_done(&test);
    return access_word(decision.access);
}

static const char *leads(const char *text, const char *name, const char *address)
{
    return leads_for(false, text, name, address);
}

/* What they make of a setting, as it was written. */
static void sets_to(const struct document *documents, size_t count, enum setting_id id,
                    const char *expected)
{
    struct test_policy test;

    load(&test, documents, count);
    if (expected)
        ck_assert_str_eq(test.policy.settings[id].text, expected);
    else
        ck_assert(!test.policy.settings[id].is_set);
    test_policy_done(&test);
}

#define complains(expected, ...)                                                                   \
    complains_of((struct document[]){__VA_ARGS__}, COUNT(((struct document[]){__VA_ARGS__})),      \
                 (expected))
#define says(op, path, ...)                                                                        \
    says_of((struct document[]){__VA_ARGS__}, COUNT(((struct document[]){__VA_ARGS__})), (op),     \
            (path))
#define connects(target, ...)                                                                      \
    connects_of((struct document[]){__VA_ARGS__}, COUNT(((struct document[]){__VA_ARGS__})),       \
                (target))
#define opens(target, expected, ...) opens_for(NULL, target, expected, __VA_ARGS__)
#define opens_for(program, target, expected, ...)                                                  \
    opens_by((struct document[]){__VA_ARGS__}, COUNT(((struct document[]){__VA_ARGS__})),          \
             (program), (target), (expected))
#define sets(id, expected, ...)                                                                    \
    sets_to((struct document[]){__VA_ARGS__}, COUNT(((struct document[]){__VA_ARGS__})), (id),     \
            (expected))

START_TEST(project_may_not_name_a_profile)
{
    complains("project:1:10 warning policy.widens: profile has no effect: a project may only "
              "narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("profile: static\n"));
}
END_TEST

START_TEST(project_may_not_open_reads)
{
    complains("project:1:18 warning policy.widens: sandbox.reads has no effect: a project may only "
              "narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("sandbox: {reads: static}\n"));
}
END_TEST

START_TEST(project_may_close_reads)
{
    complains("", USER("sandbox: {reads: static}\n"), PROJECT("sandbox: {reads: strict}\n"));
}
END_TEST

START_TEST(project_may_not_drop_the_os_sandbox)
{
    complains("project:1:31 warning policy.widens: sandbox.require_os_sandbox has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("sandbox: {require_os_sandbox: false}\n"));
}
END_TEST

START_TEST(project_may_require_the_os_sandbox)
{
    complains("", USER("sandbox: {require_os_sandbox: false}\n"),
              PROJECT("sandbox: {require_os_sandbox: true}\n"));
}
END_TEST

START_TEST(project_may_not_open_the_network)
{
    complains("project:1:20 warning policy.widens: sandbox.network.mode has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:20 warning policy.widens: sandbox.network.unlisted has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("sandbox: {network: true}\n"));
}
END_TEST

START_TEST(project_may_close_the_network)
{
    complains("", USER("sandbox: {network: true}\n"), PROJECT("sandbox: {network: false}\n"));
}
END_TEST

START_TEST(project_may_narrow_the_network_by_a_word)
{
    complains("", USER("sandbox: {network: {mode: host}}\n"),
              PROJECT("sandbox: {network: {mode: proxy}}\n"));
}
END_TEST

START_TEST(project_may_not_name_a_proxy)
{
    complains("project:1:38 warning policy.widens: sandbox.network.http_proxy_port has no effect: "
              "a project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:62 warning policy.widens: sandbox.network.socks_proxy_port has no effect: "
              "a project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:80 warning policy.widens: sandbox.network.authz_port has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("sandbox: {network: {http_proxy_port: 8080, socks_proxy_port: 1080, "
                      "authz_port: 1}}\n"));
}
END_TEST

START_TEST(project_may_not_choose_an_upstream_proxy)
{
    complains(
        "project:1:37 warning policy.upstream_proxy: sandbox.network.upstream_proxy has no "
        "effect: only the user and the org choose what connections go through\n"
        "project:1:82 warning policy.upstream_proxy: sandbox.network.upstream_no_proxy has no "
        "effect: only the user and the org choose what connections go through\n",
        PROJECT("sandbox: {network: {upstream_proxy: 'http://p.example:3128', "
                "upstream_no_proxy: [a.example]}}\n"));
}
END_TEST

START_TEST(approved_project_may_not_either)
{
    complains("project:1:37 warning policy.upstream_proxy: sandbox.network.upstream_proxy has no "
              "effect: only the user and the org choose what connections go through\n",
              APPROVED("sandbox: {network: {upstream_proxy: 'http://p.example:3128'}}\n"));
}
END_TEST

START_TEST(user_chooses_an_upstream_proxy)
{
    complains("", USER("sandbox: {network: {upstream_proxy: 'http://p.example:3128', "
                       "upstream_no_proxy: [a.example, '**.b.example', 10.0.0.0/8]}}\n"));
}
END_TEST

START_TEST(project_may_forbid_local_binding)
{
    complains("", PROJECT("sandbox: {network: {allow_local_binding: false}}\n"));
}
END_TEST

START_TEST(project_may_not_allow_local_binding)
{
    complains("project:1:42 warning policy.widens: sandbox.network.allow_local_binding has no "
              "effect: a project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              USER("sandbox: {network: {allow_local_binding: false}}\n"),
              PROJECT("sandbox: {network: {allow_local_binding: true}}\n"));
}
END_TEST

START_TEST(project_may_lower_a_limit)
{
    complains("", USER("sandbox: {limits: {pids: 100, memory: 1G, time: 10m, cpu: 100}}\n"),
              PROJECT("sandbox: {limits: {pids: 50, memory: 512M, time: 60, cpu: 50%}}\n"));
}
END_TEST

START_TEST(project_may_not_raise_a_limit)
{
    complains("project:1:26 warning policy.widens: sandbox.limits.pids has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:39 warning policy.widens: sandbox.limits.memory has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:49 warning policy.widens: sandbox.limits.time has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:58 warning policy.widens: sandbox.limits.cpu has no effect: a project may "
              "only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              USER("sandbox: {limits: {pids: 100, memory: 1G, time: 10m, cpu: 100}}\n"),
              PROJECT("sandbox: {limits: {pids: 101, memory: 2G, time: 1h, cpu: 101%}}\n"));
}
END_TEST

START_TEST(project_may_set_a_limit_that_nobody_set)
{
    complains("", PROJECT("sandbox: {limits: {pids: 100, tmp_size: 1M}}\n"));
}
END_TEST

START_TEST(local_may_not_raise_what_the_project_set)
{
    complains("local:1:26 warning policy.widens: sandbox.limits.pids has no effect: a project may "
              "only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve local'\n",
              PROJECT("sandbox: {limits: {pids: 100}}\n"),
              LOCAL("sandbox: {limits: {pids: 200}}\n"));
}
END_TEST

START_TEST(project_may_choose_a_stricter_preset_only)
{
    complains("local:1:19 warning policy.widens: sandbox.limits.preset has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve local'\n",
              PROJECT("sandbox: {limits: strict}\n"), LOCAL("sandbox: {limits: none}\n"));
}
END_TEST

START_TEST(project_may_not_switch_on_what_opens)
{
    complains("project:1:28 warning policy.widens: sandbox.process.debug has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:44 warning policy.widens: sandbox.process.map_root has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:59 warning policy.widens: sandbox.process.as_root has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:77 warning policy.widens: sandbox.process.containers has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:102 warning policy.widens: sandbox.process.allow_unsandboxed has no "
              "effect: a project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:124 warning policy.widens: sandbox.devices.kvm has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("sandbox: {process: {debug: true, map_root: true, as_root: true, containers: "
                      "true, allow_unsandboxed: true}, devices: {kvm: true}}\n"));
}
END_TEST

START_TEST(project_may_switch_off_what_opens)
{
    complains(
        "", USER("sandbox: {process: {debug: true, containers: true}, devices: {kvm: true}}\n"),
        PROJECT("sandbox: {process: {debug: false, containers: false}, devices: {kvm: false}}\n"));
}
END_TEST

START_TEST(project_may_not_allow_a_host)
{
    complains("project:1:29 warning policy.widens: sandbox.network.allow has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("sandbox: {network: {allow: [a.example]}}\n"));
}
END_TEST

START_TEST(project_may_deny_and_ask_about_hosts)
{
    complains("", PROJECT("sandbox: {network: {deny: [a.example], ask: [b.example]}}\n"));
}
END_TEST

START_TEST(project_may_not_add_to_lists_that_open)
{
    complains("project:1:11 warning policy.widens: presets has no effect: a project may only "
              "narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:2:9 warning policy.widens: tools has no effect: a project may only narrow "
              "what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:4:21 warning policy.widens: sandbox.network.hosts has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:4:58 warning policy.widens: sandbox.network.unix_sockets has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:4:77 warning policy.widens: sandbox.network.publish has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:4:95 warning policy.widens: sandbox.network.host_ports has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:5:26 warning policy.widens: sandbox.process.env.pass has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:5:36 warning policy.widens: sandbox.process.env.set has no effect: a "
              "project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:5:64 warning policy.widens: sandbox.process.excluded_commands has no "
              "effect: a project may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:6:21 warning policy.widens: sandbox.devices.allow has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("presets: [git]\n"
                      "tools: [shell]\n"
                      "sandbox:\n"
                      "  network: {hosts: {a.example: 10.0.0.1}, unix_sockets: [/run/x], publish: "
                      "[80], host_ports: [80]}\n"
                      "  process: {env: {pass: [A], set: {B: c}}, excluded_commands: [git]}\n"
                      "  devices: {allow: [/dev/kvm]}\n"));
}
END_TEST

START_TEST(project_may_add_to_lists_that_close)
{
    complains("", PROJECT("sandbox:\n"
                          "  process: {env: {deny: [TOKEN]}}\n"
                          "  devices: {deny: [/dev/kvm]}\n"));
}
END_TEST

START_TEST(project_may_not_reopen)
{
    complains("project:1:20 warning policy.widens: sandbox.reopen has no effect: a project may "
              "only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("sandbox: {reopen: [~/.ssh]}\n"));
}
END_TEST

START_TEST(project_may_not_lock)
{
    complains("project:1:8 error policy.lock_not_org: lock: only an org policy can lock keys\n",
              PROJECT("lock: [sandbox.reads]\n"));
}
END_TEST

START_TEST(project_may_not_allow_commands)
{
    complains("project:1:22 warning policy.widens: tool_rules has no effect: a project may only "
              "narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n"
              "project:1:56 warning policy.widens: tool_rules.* has no effect: a project may only "
              "narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("tool_rules: {shell: {approval_required: false, allow: [\"git *\"]}}\n"));
}
END_TEST

START_TEST(project_may_ask_about_and_deny_commands)
{
    complains("", PROJECT("tool_rules: {shell: {approval_required: true, ask: [\"git *\"], deny: "
                          "[\"rm *\"]}}\n"));
}
END_TEST

START_TEST(claude_settings_of_a_project_do_not_open_reads)
{
    complains("", PROJECT("{\"sandbox\": {\"enabled\": true}}"));
}
END_TEST

START_TEST(claude_settings_of_a_project_do_not_open_the_network)
{
    complains("project:1:45 warning policy.widens: sandbox.network.allow has no effect: a project "
              "may only narrow what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              PROJECT("{\"sandbox\": {\"network\": {\"allowedDomains\": [\"a.example\"]}}}"));
}
END_TEST

START_TEST(approved_project_may_widen)
{
    complains("", APPROVED("sandbox:\n"
                           "  reads: static\n"
                           "  network: {mode: proxy, allow: [a.example]}\n"
                           "  process: {env: {pass: [A]}}\n"));
}
END_TEST

START_TEST(approved_project_may_not_reopen)
{
    complains("project:1:20 warning policy.reopen: sandbox.reopen has no effect: only the user and "
              "the org re-open built-in entries\n",
              APPROVED("sandbox: {reopen: [~/.ssh]}\n"));
}
END_TEST

START_TEST(user_may_reopen)
{
    complains("", USER("sandbox: {reopen: [~/.ssh]}\n"));
}
END_TEST

START_TEST(org_may_reopen)
{
    complains("", ORG("sandbox: {reopen: [~/.ssh, \"/**/*.key\"]}\n"));
}
END_TEST

START_TEST(name_that_is_no_entry_cannot_be_reopened)
{
    complains("user:1:20 error policy.no_such_entry: sandbox.reopen: '~/.shh' is not an entry of "
              "the built-in lists\n"
              "  'bawn policy show --builtin' prints them\n",
              USER("sandbox: {reopen: [~/.shh]}\n"));
}
END_TEST

START_TEST(denial_of_the_org_cannot_be_reopened_by_the_user)
{
    complains("user:2:10 warning policy.denied_above: sandbox.reads has no effect: org:2:10 says "
              "strict, and only the org layer can change that\n"
              "user:3:23 warning policy.denied_above: sandbox.require_os_sandbox has no effect: "
              "org:3:23 says true, and only the org layer can change that\n"
              "user:4:19 warning policy.denied_above: sandbox.network.mode has no effect: org:4:19 "
              "says none, and only the org layer can change that\n"
              "user:4:47 warning policy.denied_above: sandbox.network.allow_local_binding has no "
              "effect: org:4:46 says false, and only the org layer can change that\n",
              ORG("sandbox:\n"
                  "  reads: strict\n"
                  "  require_os_sandbox: true\n"
                  "  network: {mode: none, allow_local_binding: false}\n"),
              USER("sandbox:\n"
                   "  reads: static\n"
                   "  require_os_sandbox: false\n"
                   "  network: {mode: proxy, allow_local_binding: true}\n"));
}
END_TEST

START_TEST(value_of_the_org_that_denies_nothing_can_be_changed)
{
    complains("", ORG("sandbox: {reads: dynamic, limits: {pids: 10}}\n"),
              USER("sandbox: {reads: static, limits: {pids: 20}}\n"));
}
END_TEST

START_TEST(denial_of_the_user_can_be_changed_by_an_option)
{
    complains("", USER("sandbox: {network: false}\n"), FLAGS("sandbox: {network: true}\n"));
}
END_TEST

START_TEST(denial_of_the_user_cannot_be_changed_by_an_approved_project)
{
    complains("project:1:20 warning policy.denied_above: sandbox.network.mode has no effect: "
              "user:1:20 says none, and only the user layer can change that\n",
              USER("sandbox: {network: false}\n"), APPROVED("sandbox: {network: true}\n"));
}
END_TEST

START_TEST(lock_holds_for_a_setting)
{
    complains("user:1:18 error policy.locked: sandbox.reads is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n",
              ORG("lock: [sandbox.reads]\n"
                  "sandbox: {reads: dynamic}\n"),
              USER("sandbox: {reads: strict}\n"));
}
END_TEST

START_TEST(lock_holds_for_all_below_it)
{
    complains("user:2:19 error policy.locked: sandbox.network.mode is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:2:34 error policy.locked: sandbox.network.allow is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:2:61 error policy.locked: sandbox.network.unix_sockets is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n",
              ORG("lock: [sandbox.network]\n"),
              USER("sandbox:\n"
                   "  network: {mode: proxy, allow: [a.example], unix_sockets: [/run/x]}\n"));
}
END_TEST

START_TEST(lock_holds_for_paths_and_patterns)
{
    complains("user:2:11 error policy.locked: sandbox.paths is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:3:10 error policy.locked: sandbox.deny is locked by org:1:23\n"
              "  take it out here, or ask whoever keeps org to unlock it\n",
              ORG("lock: [sandbox.paths, sandbox.deny]\n"),
              USER("sandbox:\n"
                   "  paths: {a: {root: /a, mode: rw}}\n"
                   "  deny: [b]\n"
                   "  ask: [c]\n"));
}
END_TEST

START_TEST(lock_holds_for_tool_rules)
{
    complains("user:1:22 error policy.locked: tool_rules is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:1:55 error policy.locked: tool_rules.* is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n",
              ORG("lock: [tool_rules]\n"),
              USER("tool_rules: {shell: {approval_required: false, deny: [x]}}\n"));
}
END_TEST

START_TEST(lock_does_not_hold_for_a_longer_name)
{
    complains("", ORG("lock: [sandbox.limits.memory]\n"),
              USER("sandbox: {limits: {memory_high: 1G}}\n"));
}
END_TEST

START_TEST(lock_does_not_hold_for_the_org)
{
    complains("", ORG("lock: [sandbox.reads]\n"
                      "sandbox: {reads: strict}\n"));
}
END_TEST

START_TEST(lock_holds_for_srt_settings)
{
    complains("user:1:32 error policy.locked: sandbox.paths is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:1:52 error policy.locked: sandbox.deny is locked by org:1:23\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:1:91 error policy.locked: sandbox.network.allow is locked by org:1:37\n"
              "  take it out here, or ask whoever keeps org to unlock it\n",
              ORG("lock: [sandbox.paths, sandbox.deny, sandbox.network.allow]\n"),
              USER("{\"filesystem\": {\"allowWrite\": [\"/x\"], \"denyRead\": [\"/y\"]}, "
                   "\"network\": {\"allowedDomains\": [\"a.example\"]}}"));
}
END_TEST

START_TEST(lock_holds_for_claude_settings)
{
    complains("user:1:44 error policy.locked: sandbox.paths is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:1:79 error policy.locked: tool_rules.* is locked by org:1:36\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:1:99 error policy.locked: sandbox.ask is locked by org:1:23\n"
              "  take it out here, or ask whoever keeps org to unlock it\n"
              "user:1:137 error policy.locked: sandbox.paths is locked by org:1:8\n"
              "  take it out here, or ask whoever keeps org to unlock it\n",
              ORG("lock: [sandbox.paths, sandbox.ask, tool_rules]\n"),
              USER("{\"sandbox\": {\"filesystem\": {\"allowWrite\": [\"/x\"]}}, \"permissions\": "
                   "{\"allow\": [\"Bash(x)\"], \"ask\": [\"Read(y)\"], \"additionalDirectories\": "
                   "[\"/z\"]}}"));
}
END_TEST

START_TEST(lock_takes_a_key_that_exists)
{
    complains("org:1:8 error config.bad_value: lock: 'sandbox.raeds': no such key\n"
              "org:1:23 error config.bad_value: lock: 'nope': no such key\n"
              "org:1:29 error config.bad_value: lock: 'sandbox.paths.work': no such key\n",
              ORG("lock: [sandbox.raeds, nope, sandbox.paths.work]\n"));
}
END_TEST

START_TEST(path_that_a_project_grants_is_not_granted)
{
    ck_assert_str_eq(
        says(PATH_READ, "/a/x", PROJECT("sandbox: {paths: {a: {root: /a, mode: rw}}}\n")), "deny");
    ck_assert_str_eq(
        says(PATH_WRITE, "/a/x", PROJECT("sandbox: {paths: {a: {root: /a, mode: rw}}}\n")), "deny");
    ck_assert_str_eq(
        says(PATH_WRITE, "/a/x", APPROVED("sandbox: {paths: {a: {root: /a, mode: rw}}}\n")),
        "allow");
}
END_TEST

START_TEST(path_that_a_project_denies_is_denied)
{
    ck_assert_str_eq(says(PATH_READ, "/a/x", USER("sandbox: {paths: {a: {root: /a, mode: rw}}}\n"),
                          PROJECT("sandbox: {deny: [/a]}\n")),
                     "deny");
    ck_assert_str_eq(says(PATH_READ, "/a/x",
                          USER("sandbox: {paths: {a: {root: /a/x, mode: rw}}}\n"),
                          PROJECT("sandbox: {deny: [/a]}\n")),
                     "deny");
}
END_TEST

START_TEST(path_that_a_project_protects_stays_readable)
{
    ck_assert_str_eq(says(PATH_READ, "/a/x", USER("sandbox: {paths: {a: {root: /a, mode: rw}}}\n"),
                          PROJECT("sandbox: {protect: [/a/x]}\n")),
                     "allow");
    ck_assert_str_eq(says(PATH_WRITE, "/a/x", USER("sandbox: {paths: {a: {root: /a, mode: rw}}}\n"),
                          PROJECT("sandbox: {protect: [/a/x]}\n")),
                     "deny");
}
END_TEST

START_TEST(path_that_the_org_denies_stays_denied)
{
    ck_assert_str_eq(says(PATH_READ, "/a/x", ORG("sandbox: {deny: [/a]}\n"),
                          USER("sandbox: {paths: {a: {root: /a/x, mode: rw}}}\n")),
                     "deny");
    ck_assert_str_eq(says(PATH_READ, "/a/x", ORG("sandbox: {ask: [/a]}\n"),
                          USER("sandbox: {paths: {a: {root: /a/x, mode: rw}}}\n")),
                     "ask");
}
END_TEST

START_TEST(path_that_the_user_denies_is_not_opened_by_an_approved_project)
{
    ck_assert_str_eq(says(PATH_READ, "/a/x", USER("sandbox: {deny: [/a]}\n"),
                          APPROVED("sandbox: {paths: {a: {root: /a/x, mode: rw}}}\n")),
                     "deny");
}
END_TEST

START_TEST(secret_is_opened_by_naming_it_in_a_user_layer_only)
{
    ck_assert_str_eq(
        says(PATH_READ, "/home/u/.ssh/id", USER("sandbox: {paths: {h: {root: ~/, mode: rw}}}\n")),
        "deny");
    ck_assert_str_eq(says(PATH_READ, "/home/u/.ssh/id",
                          USER("sandbox: {paths: {s: {root: ~/.ssh, mode: ro}}}\n")),
                     "allow");
    ck_assert_str_eq(says(PATH_READ, "/home/u/.ssh/id",
                          USER("sandbox: {paths: {s: {root: ~/.ssh/id, mode: ro}}}\n")),
                     "allow");
    ck_assert_str_eq(says(PATH_READ, "/home/u/.ssh/id",
                          APPROVED("sandbox: {paths: {s: {root: ~/.ssh, mode: ro}}}\n")),
                     "deny");
    ck_assert_str_eq(says(PATH_READ, "/home/u/.ssh/id",
                          PROJECT("sandbox: {paths: {s: {root: ~/.ssh, mode: ro}}}\n")),
                     "deny");
}
END_TEST

START_TEST(reopened_secret_is_an_ordinary_path)
{
    ck_assert_str_eq(says(PATH_READ, "/home/u/.ssh/id", USER("sandbox: {reads: static}\n")),
                     "deny");
    ck_assert_str_eq(
        says(PATH_READ, "/home/u/.ssh/id", USER("sandbox: {reads: static, reopen: [~/.ssh]}\n")),
        "allow");
    ck_assert_str_eq(says(PATH_READ, "/home/u/.ssh/id", USER("sandbox: {reads: static}\n"),
                          PROJECT("sandbox: {reopen: [~/.ssh]}\n")),
                     "deny");
}
END_TEST

START_TEST(protected_path_stays_unwritable_below_a_grant)
{
    ck_assert_str_eq(
        says(PATH_WRITE, "/w/.git/hooks/x", USER("sandbox: {paths: {w: {root: ., mode: rw}}}\n")),
        "deny");
    ck_assert_str_eq(
        says(PATH_READ, "/w/.git/hooks/x", USER("sandbox: {paths: {w: {root: ., mode: rw}}}\n")),
        "allow");
    ck_assert_str_eq(
        says(PATH_WRITE, "/w/.git/config", USER("sandbox: {paths: {w: {root: ., mode: rw}}}\n")),
        "allow");
}
END_TEST

START_TEST(host_that_anybody_denies_is_denied)
{
    ck_assert_str_eq(
        connects("a.example:443", USER("sandbox: {network: {mode: proxy, allow: [a.example]}}\n")),
        "allow");
    ck_assert_str_eq(connects("a.example:443",
                              USER("sandbox: {network: {mode: proxy, allow: [a.example]}}\n"),
                              PROJECT("sandbox: {network: {deny: [a.example]}}\n")),
                     "deny");
    ck_assert_str_eq(connects("a.example:443",
                              ORG("sandbox: {network: {deny: [\"**.example\"]}}\n"),
                              USER("sandbox: {network: {mode: proxy, allow: [a.example]}}\n")),
                     "deny");
}
END_TEST

START_TEST(host_that_a_project_asks_about_is_asked_about)
{
    ck_assert_str_eq(connects("a.example:443",
                              USER("sandbox: {network: {mode: proxy, allow: [a.example]}}\n"),
                              PROJECT("sandbox: {network: {ask: [a.example]}}\n")),
                     "ask");
    ck_assert_str_eq(connects("b.example:443",
                              USER("sandbox: {network: {mode: proxy, allow: [a.example]}}\n"),
                              PROJECT("sandbox: {network: {ask: [b.example]}}\n")),
                     "deny");
}
END_TEST

#define NET(lists) "sandbox: {network: {mode: proxy, " lists "}}\n"

START_TEST(flags_are_those_of_the_most_specific_rule)
{
    static const char text[] =
        NET("allow: ['**.ex.test opaque', git.ex.test, 'git.ex.test:22 opaque', "
            "'*.ex.test ech=allow', '10.0.0.0/8 opaque', 10.1.0.0/16]");

    opens("ex.test:443", "allow **.ex.test opaque", USER(text));
    opens("www.ex.test:443", "allow *.ex.test ech=allow", USER(text));
    opens("git.ex.test:443", "allow git.ex.test", USER(text));
    opens("git.ex.test:22", "allow git.ex.test:22 opaque", USER(text));
    opens("10.2.0.1:22", "allow 10.0.0.0/8 opaque", USER(text));
    opens("10.1.0.1:22", "allow 10.1.0.0/16", USER(text));
}
END_TEST

START_TEST(flags_of_one_layer_are_merged)
{
    opens("a.test:1", "allow a.test opaque", USER(NET("allow: [a.test, 'a.test opaque', a.test]")));
    opens("a.test:1", "allow a.test opaque",
          USER(NET("allow: ['a.test opaque', a.test, 'a.test ech=allow']")));
    opens("a.test:1", "ask a.test", USER(NET("allow: ['a.test opaque'], ask: [a.test]")));
}
END_TEST

START_TEST(flags_of_the_later_layer_count)
{
    opens("a.test:1", "allow a.test opaque", USER(NET("allow: [a.test]")),
          FLAGS(NET("allow: ['a.test opaque']")));
    opens("a.test:1", "allow a.test", USER(NET("allow: ['a.test opaque']")),
          FLAGS(NET("allow: [a.test]")));
}
END_TEST

START_TEST(flags_of_the_stricter_speaker_count)
{
    opens("a.test:1", "allow a.test", ORG(NET("allow: [a.test]")),
          USER(NET("allow: ['a.test opaque']")));
    opens("a.test:1", "allow a.test ech=allow", ORG(NET("allow: ['a.test opaque']")),
          USER(NET("allow: ['a.test ech=allow']")));
    opens("a.test:1", "allow a.test", USER(NET("allow: [a.test]")),
          APPROVED(NET("allow: ['a.test opaque']")));
    /* Not of the profile: it is only a default. */
    opens("a.test:1", "allow a.test opaque",
          {LAYER_BUILTIN, AUTHORITY_BUILTIN, NET("allow: [a.test]")},
          USER(NET("allow: ['a.test opaque']")));
    opens("a.test:1", "allow a.test",
          {LAYER_BUILTIN, AUTHORITY_BUILTIN, NET("allow: ['a.test opaque']")},
          USER(NET("allow: [a.test]")));
}
END_TEST

START_TEST(question_of_a_project_opens_no_more_than_the_user_does)
{
    opens("a.test:1", "ask a.test", USER(NET("allow: [a.test]")),
          PROJECT("sandbox: {network: {ask: ['a.test opaque ech=allow']}}\n"));
    complains("project:1:27 warning policy.widens: opaque has no effect: a project may only narrow "
              "what the user allows\n"
              "  read the file, then approve it with 'bawn policy approve project'\n",
              USER(NET("allow: [a.test]")),
              PROJECT("sandbox: {network: {ask: ['a.test opaque']}}\n"));
    /* The org's question is the org's word. */
    opens("a.test:1", "ask **.test", ORG(NET("ask: ['**.test']")),
          USER(NET("allow: ['a.test opaque']")));
}
END_TEST

START_TEST(rule_for_a_program_opens_nothing_while_nobody_tells_the_program)
{
    static const char text[] = NET("allow: ['a.test by=/usr/bin/git', 'b.test by=/x', '*.c.test'], "
                                   "ask: ['b.test by=/x', 'c.c.test by=/x']");

    opens("a.test:1", "unlisted", USER(text));
    opens("b.test:1", "unlisted", USER(text));
    opens("c.c.test:1", "allow *.c.test", USER(text));
}
END_TEST

START_TEST(rule_for_a_program_counts_when_that_program_asks)
{
    static const char text[] = NET("allow: ['a.test by=/usr/bin/git', 'b.test by=/x', '*.c.test', "
                                   "'d.test by=/x', d.test, '*.d.test by=/x'], "
                                   "ask: ['b.test by=/x', 'c.c.test by=/x'], deny: [e.d.test]");
    char git[] = "/usr/bin/git", x[] = "/x";

    opens_for(git, "a.test:1", "allow a.test by=/usr/bin/git", USER(text));
    opens_for(x, "a.test:1", "unlisted", USER(text));
    opens_for(x, "b.test:1", "ask b.test by=/x", USER(text));
    opens_for(git, "b.test:1", "unlisted", USER(text));
    opens_for(x, "c.c.test:1", "ask c.c.test by=/x", USER(text));
    opens_for(git, "c.c.test:1", "allow *.c.test", USER(text));
    opens_for(git, "d.test:1", "allow d.test", USER(text));
    opens_for(x, "f.d.test:1", "allow *.d.test by=/x", USER(text));
    opens_for(x, "e.d.test:1", "deny e.d.test", USER(text));
    opens_for(git, "a.test:1", "deny **.test", USER(text),
              PROJECT("sandbox: {network: {deny: ['**.test']}}\n"));
}
END_TEST

/* What is said of rules for so many programs, two for each. */
static char *complaints_about_programs(unsigned count)
{
    autostrbuf struct strbuf text = {0};
    struct test_policy test;
    char *complaints;

    strbuf_add(&text, "sandbox: {network: {mode: proxy, allow: [a.test");
    for (unsigned i = 0; i < count; i++)
        strbuf_addf(&text, ", 'a.test by=/p%u', 'b.test by=/p%u'", i, i);
    strbuf_add(&text, "]}}\n");
    load(&test, &(struct document){LAYER_USER, AUTHORITY_USER, text.text}, 1);
    complaints = test_policy_complaints(&test);
    test_policy_done(&test);
    return complaints;
}

START_TEST(programs_that_rules_are_for_are_so_many_at_most)
{
    char *few = complaints_about_programs(LIMIT_PROGRAMS);
    char *many = complaints_about_programs(LIMIT_PROGRAMS + 1);

    ck_assert_str_eq(few, "");
    ck_assert_ptr_nonnull(strstr(many, "error policy.programs: by: more than 64 programs"));
    free(few);
    free(many);
}
END_TEST

/* A name of many is something that is said; one name alone is not. */
START_TEST(name_that_a_rule_for_a_program_spells_out_may_be_looked_up)
{
    static const char text[] = NET("allow: ['a.test by=/x', '*.b.test by=/x', 'c.test:22 by=/x']");
    char x[] = "/x";

    ck_assert_str_eq(looks_up(text, NULL, "a.test:1"), "allow");
    ck_assert_str_eq(looks_up(text, NULL, "c.test:1"), "allow");
    ck_assert_str_eq(looks_up(text, NULL, "any.b.test:1"), "deny");
    ck_assert_str_eq(looks_up(text, x, "any.b.test:1"), "allow");
    ck_assert_str_eq(looks_up(text, NULL, "d.test:1"), "deny");
}
END_TEST

START_TEST(question_about_one_program_is_none_about_the_others)
{
    static const char text[] = NET("allow: ['**.a.test'], ask: ['b.a.test by=/x', 'c.test by=/x']");
    char x[] = "/x";

    ck_assert_str_eq(looks_up(text, NULL, "b.a.test:1"), "allow");
    ck_assert_str_eq(leads(text, "b.a.test:1", "192.0.1.1"), "allow");
    ck_assert_str_eq(looks_up(text, NULL, "c.test:1"), "ask");
    opens_for(x, "b.a.test:1", "ask b.a.test by=/x", USER(text));
    opens("b.a.test:1", "allow **.a.test", USER(text));
}
END_TEST

START_TEST(address_that_a_rule_gives_to_a_program_is_no_name_for_others)
{
    static const char text[] = NET("allow: ['a.test by=/x', b.test, '10.0.0.1 by=/x', 10.0.0.2]");

    ck_assert_str_eq(leads(text, "a.test:1", "192.0.1.1"), "allow");
    ck_assert_str_eq(leads(text, "a.test:1", "10.0.0.2"), "allow");
    ck_assert_str_eq(leads(text, "b.test:1", "10.0.0.2"), "allow");
    ck_assert_str_eq(leads(text, "a.test:1", "10.0.0.1"), "deny");
    ck_assert_str_eq(leads(text, "b.test:1", "10.0.0.1"), "deny");
    ck_assert_str_eq(leads(text, "c.test:1", "10.0.0.2"), "deny");
}
END_TEST

/* A person said yes to the name, and to nothing else. */
START_TEST(who_approves_a_name_approves_no_address)
{
    static const char text[] = "sandbox:\n  network:\n    mode: proxy\n    unlisted: ask\n"
                               "    ask: ['10.0.0.0/8', ask.test]\n"
                               "    deny: ['203.0.113.0/24', deny.test]\n"
                               "    hosts: {pinned.test: 10.0.0.7, private.test: 192.168.0.7}\n";

    ck_assert_str_eq(leads(text, "a.test:1", "192.0.1.1"), "ask");
    ck_assert_str_eq(leads_for(true, text, "a.test:1", "192.0.1.1"), "allow");
    ck_assert_str_eq(leads_for(true, text, "ask.test:1", "192.0.1.1"), "allow");
    ck_assert_str_eq(leads_for(true, text, "a.test:1", "10.0.0.7"), "ask");
    ck_assert_str_eq(leads_for(true, text, "a.test:1", "192.168.0.7"), "deny");
    ck_assert_str_eq(leads_for(true, text, "a.test:1", "127.0.0.1"), "deny");
    ck_assert_str_eq(leads_for(true, text, "a.test:1", "169.254.169.254"), "deny");
    ck_assert_str_eq(leads_for(true, text, "a.test:1", "203.0.113.1"), "deny");
    ck_assert_str_eq(leads_for(true, text, "deny.test:1", "192.0.1.1"), "deny");
    /* The policy itself says where these lead. */
    ck_assert_str_eq(leads_for(true, text, "pinned.test:1", "10.0.0.7"), "allow");
    ck_assert_str_eq(leads_for(true, text, "private.test:1", "192.168.0.7"), "allow");
    ck_assert_str_eq(leads_for(true, text, "pinned.test:1", "10.0.0.8"), "ask");
}
END_TEST

START_TEST(value_that_was_refused_is_not_set)
{
    sets(SETTING_READS, NULL, PROJECT("sandbox: {reads: static}\n"));
    sets(SETTING_READS, "strict", ORG("sandbox: {reads: strict}\n"),
         USER("sandbox: {reads: static}\n"));
    sets(SETTING_READS, "dynamic", ORG("lock: [sandbox.reads]\nsandbox: {reads: dynamic}\n"),
         FLAGS("sandbox: {reads: static}\n"));
    sets(SETTING_LIMITS_PIDS, "50", USER("sandbox: {limits: {pids: 100}}\n"),
         PROJECT("sandbox: {limits: {pids: 50}}\n"), LOCAL("sandbox: {limits: {pids: 60}}\n"));
    sets(SETTING_NETWORK_MODE, "proxy", USER("sandbox: {network: false}\n"),
         FLAGS("sandbox: {network: true}\n"));
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

static void add_project_settings(Suite *suite)
{
    const TTest *const cases[] = {
        project_may_not_name_a_profile,
        project_may_not_open_reads,
        project_may_close_reads,
        project_may_not_drop_the_os_sandbox,
        project_may_require_the_os_sandbox,
        project_may_not_open_the_network,
        project_may_close_the_network,
        project_may_narrow_the_network_by_a_word,
        project_may_not_name_a_proxy,
        project_may_not_choose_an_upstream_proxy,
        approved_project_may_not_either,
        user_chooses_an_upstream_proxy,
        project_may_forbid_local_binding,
        project_may_not_allow_local_binding,
        project_may_lower_a_limit,
        project_may_not_raise_a_limit,
        project_may_set_a_limit_that_nobody_set,
        local_may_not_raise_what_the_project_set,
        project_may_choose_a_stricter_preset_only,
        project_may_not_switch_on_what_opens,
        project_may_switch_off_what_opens,
    };

    add_group(suite, "project_settings", cases, COUNT(cases));
}

static void add_project_lists(Suite *suite)
{
    const TTest *const cases[] = {
        project_may_not_allow_a_host,
        project_may_deny_and_ask_about_hosts,
        project_may_not_add_to_lists_that_open,
        project_may_add_to_lists_that_close,
        project_may_not_reopen,
        project_may_not_lock,
        project_may_not_allow_commands,
        project_may_ask_about_and_deny_commands,
        claude_settings_of_a_project_do_not_open_reads,
        claude_settings_of_a_project_do_not_open_the_network,
        approved_project_may_widen,
        approved_project_may_not_reopen,
        user_may_reopen,
        org_may_reopen,
        name_that_is_no_entry_cannot_be_reopened,
    };

    add_group(suite, "project_lists", cases, COUNT(cases));
}

static void add_org(Suite *suite)
{
    const TTest *const cases[] = {
        denial_of_the_org_cannot_be_reopened_by_the_user,
        value_of_the_org_that_denies_nothing_can_be_changed,
        denial_of_the_user_can_be_changed_by_an_option,
        denial_of_the_user_cannot_be_changed_by_an_approved_project,
        lock_holds_for_a_setting,
        lock_holds_for_all_below_it,
        lock_holds_for_paths_and_patterns,
        lock_holds_for_tool_rules,
        lock_does_not_hold_for_a_longer_name,
        lock_does_not_hold_for_the_org,
        lock_holds_for_srt_settings,
        lock_holds_for_claude_settings,
        lock_takes_a_key_that_exists,
    };

    add_group(suite, "org", cases, COUNT(cases));
}

static void add_answers(Suite *suite)
{
    const TTest *const cases[] = {
        path_that_a_project_grants_is_not_granted,
        path_that_a_project_denies_is_denied,
        path_that_a_project_protects_stays_readable,
        path_that_the_org_denies_stays_denied,
        path_that_the_user_denies_is_not_opened_by_an_approved_project,
        secret_is_opened_by_naming_it_in_a_user_layer_only,
        reopened_secret_is_an_ordinary_path,
        protected_path_stays_unwritable_below_a_grant,
        host_that_anybody_denies_is_denied,
        host_that_a_project_asks_about_is_asked_about,
        flags_are_those_of_the_most_specific_rule,
        flags_of_one_layer_are_merged,
        flags_of_the_later_layer_count,
        flags_of_the_stricter_speaker_count,
        question_of_a_project_opens_no_more_than_the_user_does,
        rule_for_a_program_opens_nothing_while_nobody_tells_the_program,
        rule_for_a_program_counts_when_that_program_asks,
        programs_that_rules_are_for_are_so_many_at_most,
        name_that_a_rule_for_a_program_spells_out_may_be_looked_up,
        question_about_one_program_is_none_about_the_others,
        address_that_a_rule_gives_to_a_program_is_no_name_for_others,
        who_approves_a_name_approves_no_address,
        value_that_was_refused_is_not_set,
    };

    add_group(suite, "answers", cases, COUNT(cases));
}

int main(void)
{
    Suite *suite = suite_create("authority");

    add_project_settings(suite);
    add_project_lists(suite);
    add_org(suite);
    add_answers(suite);
    return test_run(suite, "authority");
}
