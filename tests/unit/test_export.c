/* SPDX-License-Identifier: Apache-2.0 */
/* A policy back into text: golden, and read again. */
#include "base/cleanup.h"
#include "config/export.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

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
#define FLAGS(text)                                                                                \
    {                                                                                              \
        LAYER_FLAGS, AUTHORITY_USER, (text)                                                        \
    }

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void load(struct test_policy *test, const struct document *documents, size_t count)
{
    test_policy_init(test);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(test_policy_load(test, documents[i].id, documents[i].authority,
                                          FORMAT_UNKNOWN, layer_word(documents[i].id),
                                          documents[i].text, strlen(documents[i].text)),
                         0);
    ck_assert_int_eq(test_policy_finish(test), 0);
    ck_assert(!report_has_errors(test->report));
}

static char *export(const struct test_policy *test)
{
    struct strbuf out = {0};

    export_bawn(&test->policy, false, &out);
    return strbuf_take(&out);
}

/* The documents are exported as this text, which loads and is exported alike. */
static void exports_of(const struct document *documents, size_t count, const char *expected)
{
    struct document again = ORG(NULL);
    autofree char *second = NULL;
    autofree char *first = NULL;
    struct test_policy test;

    load(&test, documents, count);
    first = export(&test);
    test_policy_done(&test);
    ck_assert_str_eq(first, expected);
    again.text = first;
    load(&test, &again, 1);
    second = export(&test);
    test_policy_done(&test);
    ck_assert_str_eq(second, first);
}

#define exports(expected, ...)                                                                     \
    exports_of((struct document[]){__VA_ARGS__}, COUNT(((struct document[]){__VA_ARGS__})),        \
               (expected))

START_TEST(empty_policy_is_its_version)
{
    exports("version: 1\n", USER(""));
}
END_TEST

START_TEST(names_of_paths_are_kept_and_made_unlike)
{
    exports("version: 1\n"
            "sandbox:\n"
            "  reads: static\n"
            "  paths:\n"
            "    \"work\": {root: \"/a\", mode: rw}\n"
            "    \"path\": {root: \"/b\", mode: ro}\n"
            "    \"work-2\": {root: \"/c\", mode: ask}\n"
            "    \"path-2\": {root: \"/d\", mode: rw}\n",
            ORG("sandbox: {paths: {work: {root: /a, mode: rw}, path: {root: /b, mode: ro}}}\n"),
            USER("sandbox: {paths: {work: {root: /c, mode: ask}}}\n"),
            FLAGS("{\"filesystem\": {\"allowWrite\": [\"/d\"]}, \"network\": {}}"));
}
END_TEST

START_TEST(upstream_proxy_is_exported)
{
    exports("version: 1\n"
            "sandbox:\n"
            "  network:\n"
            "    upstream_proxy: \"http://p.example:3128\"\n"
            "    upstream_no_proxy:\n"
            "      - \"**.b.example\"\n",
            USER("sandbox: {network: {upstream_proxy: 'http://p.example:3128', "
                 "upstream_no_proxy: ['**.b.example']}}\n"));
}
END_TEST

START_TEST(last_value_of_a_key_is_exported)
{
    exports("version: 1\n"
            "sandbox:\n"
            "  network:\n"
            "    hosts:\n"
            "      \"a.example\": \"10.0.0.1\"\n" /* the org pinned it */
            "  process:\n"
            "    env:\n"
            "      set:\n"
            "        \"B\": \"x\"\n"
            "        \"A\": \"2\"\n",
            ORG("sandbox: {process: {env: {set: {A: 1, B: x}}}, network: {hosts: {a.example: "
                "10.0.0.1}}}\n"),
            USER("sandbox: {process: {env: {set: {A: 2}}}, network: {hosts: {a.example: "
                 "10.0.0.2}}}\n"));
}
END_TEST

START_TEST(denied_tool_stays_denied)
{
    exports("version: 1\n"
            "tool_rules:\n"
            "  \"shell\":\n"
            "    approval_required: false\n"
            "    deny:\n"
            "      - \"*\"\n",
            USER("{\"permissions\": {\"allow\": [\"Bash\"], \"deny\": [\"Bash\"]}}"));
}
END_TEST

START_TEST(literal_denial_is_escaped)
{
    exports("version: 1\n"
            "sandbox:\n"
            "  reads: static\n"
            "  protect:\n"
            "    - \"/x\\\\*\\\\[\"\n",
            USER("{\"filesystem\": {\"denyWrite\": [{\"path\": \"/x*[\", \"literal\": true}]}}"));
}
END_TEST

START_TEST(odd_characters_are_escaped)
{
    exports("version: 1\n"
            "sandbox:\n"
            "  paths:\n"
            "    \"a\\\"b\": {root: \"/n\\nl\", mode: rw}\n"
            "  deny:\n"
            "    - \"/\\u001b\\u0085\\u2028\\u202e\\ufeff\"\n"
            "    - \"/\\uffff\"\n"
            "    - \"/\\U000e0041\"\n",
            USER("sandbox:\n"
                 "  paths: {\"a\\\"b\": {root: \"/n\\nl\", mode: rw}}\n"
                 "  deny: [\"/\\e\\N\\L\\u202e\\ufeff\", \"/\\uffff\", \"/\\U000E0041\"]\n"));
}
END_TEST

START_TEST(every_section_is_exported)
{
    exports("version: 1\n"
            "profile: \"strict\"\n"
            "lock:\n"
            "  - \"sandbox.reads\"\n"
            "tools:\n"
            "  - \"read\"\n"
            "sandbox:\n"
            "  reads: strict\n"
            "  paths:\n"
            "    \"w\": {root: \"/w\", mode: overlay, suffixes: [\".md\"], max_file_bytes: 1024}\n"
            "  deny:\n"
            "    - \"/w/**/.env\"\n"
            "  ask:\n"
            "    - \"/home/u/a\"\n"
            "  protect:\n"
            "    - \"/b\"\n"
            "  confirm:\n"
            "    - \"/w/c\"\n"
            "  network:\n"
            "    mode: proxy\n"
            "    unlisted: ask\n"
            "    allow:\n"
            "      - \"a.example\"\n"
            "    deny:\n"
            "      - \"**.b.example:443\"\n"
            "    host_ports:\n"
            "      - \"80\"\n"
            "  limits:\n"
            "    pids: 10\n"
            "  process:\n"
            "    debug: true\n"
            "    env:\n"
            "      pass:\n"
            "        - \"PATH\"\n"
            "  devices:\n"
            "    kvm: true\n"
            "tool_rules:\n"
            "  \"shell\":\n"
            "    approval_required: true\n"
            "    ask:\n"
            "      - \"git push *\"\n",
            ORG("profile: strict\n"
                "lock: [sandbox.reads]\n"
                "tools: [read]\n"
                "sandbox:\n"
                "  reads: strict\n"
                "  paths: {w: {root: ., mode: overlay, suffixes: [.md], max_file_bytes: 1K}}\n"
                "  deny: [.env]\n"
                "  ask: [~/a]\n"
                "  protect: [/b]\n"
                "  confirm: [./c]\n"
                "  network: {mode: proxy, unlisted: ask, allow: [a.example], deny: "
                "[\"**.b.example:443\"], host_ports: [80]}\n"
                "  limits: {pids: 10}\n"
                "  process: {debug: true, env: {pass: [PATH]}}\n"
                "  devices: {kvm: true}\n"
                "tool_rules: {shell: {approval_required: true, ask: [\"git push *\"]}}\n"));
}
END_TEST

START_TEST(words_of_hosts_are_exported)
{
    exports("version: 1\n"
            "sandbox:\n"
            "  network:\n"
            "    mode: proxy\n"
            "    proxy_env: false\n"
            "    allow:\n"
            "      - \"a.example:22 opaque ech=allow by=/opt/my tool\"\n"
            "      - \"b.example ech=allow\"\n"
            "    ask:\n"
            "      - \"c.example opaque\"\n",
            USER("sandbox: {network: {mode: proxy, proxy_env: false, allow: [{host: "
                 "\"a.example:22\", opaque: true, ech: allow, by: /opt/my tool}, {host: b.example, "
                 "ech: allow}], ask: [c.example opaque]}}\n"));
}
END_TEST

START_TEST(rule_that_does_not_count_is_not_exported)
{
    exports("version: 1\n"
            "sandbox:\n"
            "  network:\n"
            "    mode: proxy\n"
            "    allow:\n"
            "      - \"a.example\"\n"
            "      - \"b.example opaque\"\n"
            "      - \"a.example:22 opaque\"\n",
            ORG("sandbox: {network: {mode: proxy, allow: [a.example]}}\n"),
            USER("sandbox: {network: {allow: [a.example opaque, b.example]}}\n"),
            FLAGS("sandbox: {network: {allow: [b.example opaque, "
                  "\"a.example:22 opaque\"]}}\n"));
}
END_TEST

/* What the foreign formats make of a policy. */
static char *foreign(enum config_format format, const char *text)
{
    struct document document = USER(text);
    struct strbuf out = {0};
    struct test_policy test;

    load(&test, &document, 1);
    if (format == FORMAT_SRT)
        export_srt(&test.policy, test.report, &out);
    else
        export_claude(&test.policy, test.report, &out);
    test_policy_done(&test);
    return strbuf_take(&out);
}

START_TEST(foreign_exports_keep_ports_and_literal_names)
{
    autofree char *srt =
        foreign(FORMAT_SRT, "sandbox:\n"
                            "  reads: static\n"
                            "  paths: {a: {root: \"/a*\", mode: rw}}\n"
                            "  network: {mode: proxy, allow: [\"**.a.example:443\", "
                            "\"b.example:22 opaque\", c.example by=/bin/x]}\n");

    ck_assert_str_eq(srt, "{\n"
                          "  \"network\": {\n"
                          "    \"allowedDomains\": [\n"
                          "      \"*.a.example:443\",\n"
                          "      \"a.example:443\",\n"
                          "      \"b.example:22\"\n"
                          "    ],\n"
                          "    \"deniedDomains\": [],\n"
                          "    \"strictAllowlist\": true\n"
                          "  },\n"
                          "  \"filesystem\": {\n"
                          "    \"denyRead\": [],\n"
                          "    \"allowRead\": [\n"
                          "      {\n"
                          "        \"path\": \"/a*\",\n"
                          "        \"literal\": true\n"
                          "      }\n"
                          "    ],\n"
                          "    \"allowWrite\": [\n"
                          "      {\n"
                          "        \"path\": \"/a*\",\n"
                          "        \"literal\": true\n"
                          "      }\n"
                          "    ],\n"
                          "    \"denyWrite\": []\n"
                          "  }\n"
                          "}\n");
}
END_TEST

START_TEST(claude_export_keeps_what_is_asked)
{
    autofree char *claude =
        foreign(FORMAT_CLAUDE, "sandbox: {reads: static, ask: [/a], confirm: [/b]}\n"
                               "tool_rules: {shell: {ask: [\"git push *\"]}}\n");

    ck_assert_str_eq(claude, "{\n"
                             "  \"sandbox\": {\n"
                             "    \"enabled\": true,\n"
                             "    \"failIfUnavailable\": true,\n"
                             "    \"network\": {\n"
                             "      \"allowedDomains\": [],\n"
                             "      \"deniedDomains\": [],\n"
                             "      \"strictAllowlist\": true\n"
                             "    },\n"
                             "    \"filesystem\": {\n"
                             "      \"denyRead\": [],\n"
                             "      \"allowRead\": [],\n"
                             "      \"allowWrite\": [],\n"
                             "      \"denyWrite\": []\n"
                             "    }\n"
                             "  },\n"
                             "  \"permissions\": {\n"
                             "    \"allow\": [],\n"
                             "    \"ask\": [\n"
                             "      \"Bash(git push *)\",\n"
                             "      \"Read(//a)\",\n"
                             "      \"Edit(//a)\",\n"
                             "      \"Edit(//b)\"\n"
                             "    ],\n"
                             "    \"deny\": []\n"
                             "  }\n"
                             "}\n");
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        empty_policy_is_its_version,
        names_of_paths_are_kept_and_made_unlike,
        upstream_proxy_is_exported,
        last_value_of_a_key_is_exported,
        denied_tool_stays_denied,
        literal_denial_is_escaped,
        odd_characters_are_escaped,
        every_section_is_exported,
        words_of_hosts_are_exported,
        rule_that_does_not_count_is_not_exported,
        foreign_exports_keep_ports_and_literal_names,
        claude_export_keeps_what_is_asked,
    };
    Suite *suite = suite_create("export");
    TCase *group = tcase_create("export");

    for (size_t i = 0; i < COUNT(cases); i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
    return test_run(suite, "export");
}
