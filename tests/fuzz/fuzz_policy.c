/* SPDX-License-Identifier: Apache-2.0 */
/* A policy document: loaded, asked, exported, loaded again. */
#include "base/cleanup.h"
#include "base/text.h"
#include "config/export.h"
#include "fuzz/fuzz.h"
#include "lib/policy.h"
#include "policy/decide.h"
#include "policy/decide_net.h"
#include "policy/explain.h"

/*
 * How it works: the same document is read as each speaker would have it read.
 * Whatever it is, nothing crashes, complaints can be shown, and questions have
 * an answer. A policy without errors also survives being exported: what was
 * printed loads without errors, answers alike and prints the same again.
 */
static const char *const questions[] = {
    "/w/.env",
    "/home/u/.ssh/id",
    "/w/a/.git/hooks/post",
    "/",
    "/w",
    "/w/src/main.c",
    "/home/u",
    "/home/u/x",
    "/etc/passwd",
    "/proc/self/status",
    "/tmp/x",
    "/usr/bin/a",
    "/w/a.key",
    "/data/x/y.md",
    "/home/u/.config/tool/x",
    "/w/..data/x",
    "/w/node_modules/a/b/c/package.json",
    "/a/b/c/d/e",
    "/srv/shared/file",
};

static const char *const targets[] = {
    "api.example.org:443", "10.1.2.3:22",        "[::1]:8080",    "example.org:443",
    "localhost:80",        "169.254.169.254:80", "a.b.example:1", "[2001:db8::1]:443",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What is shown to a person or a model is printable. */
static void check_shown(const char *text)
{
    fuzz_require(text);
    fuzz_require(text_is_utf8(text, strlen(text)));
    for (; *text; text++)
        fuzz_require((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\t');
}

static void check_report(const struct bawn_report *report, const char *file)
{
    autofree char *text = bawn_report_print(report, BAWN_FORMAT_TEXT);
    autofree char *json = bawn_report_print(report, BAWN_FORMAT_JSON);

    check_shown(text);
    check_shown(json);
    for (size_t i = 0; i < bawn_report_count(report); i++) {
        const struct bawn_complaint *complaint = bawn_report_get(report, i);

        fuzz_require(complaint->code && *complaint->code);
        fuzz_require(*complaint->text);
        if (complaint->file && strcmp(complaint->file, file) == 0)
            fuzz_require(complaint->line > 0 && complaint->column > 0);
    }
}

/* The whole story is long: it is told of a few only. */
enum { EXPLAINED = 3 };

static void ask_path(const struct test_policy *test, const char *path, bool explain)
{
    struct path_decision decisions[PATH_OP_COUNT];
    struct path_story story = {
        .op = MESSAGE_WRITE, .asked = path, .resolved = path, .decision = &decisions[PATH_WRITE]};
    autostrbuf struct strbuf out = {0};
    const struct path_rule *limits[CLASS_COUNT];
    size_t limit_count;

    fuzz_require(decide_path(&test->policy, path, decisions) == 0);
    for (enum path_op op = 0; op < PATH_OP_COUNT; op++) {
        fuzz_require(decisions[op].access != ACCESS_UNSET);
        fuzz_require(decisions[op].reason != DECIDED_BY_RULE || decisions[op].rule);
    }
    /* What cannot be read cannot be written. */
    if (decisions[PATH_READ].access >= ACCESS_ASK)
        fuzz_require(decisions[PATH_WRITE].access >= decisions[PATH_READ].access);
    fuzz_require(decide_limits(&test->policy, path, limits, &limit_count) == 0);
    if (!explain)
        return;
    fuzz_require(explain_path(&test->policy, &story, BAWN_FORMAT_TEXT, &out) == 0);
    fuzz_require(explain_path(&test->policy, &story, BAWN_FORMAT_JSON, &out) == 0);
    check_shown(out.text);
}

static void ask_net(const struct test_policy *test, const char *target, bool explain)
{
    autostrbuf struct strbuf out = {0};
    struct net_decision decision;
    struct host host;

    fuzz_require(!host_parse_target(target, &host));
    decide_net(&test->policy, &host, &decision);
    fuzz_require(decision.access == ACCESS_ALLOW || decision.access == ACCESS_ASK ||
                 decision.access == ACCESS_DENY);
    if (!explain)
        return;
    explain_net(&test->policy, target, &host, NULL, BAWN_FORMAT_TEXT, &out);
    explain_net(&test->policy, target, &host, NULL, BAWN_FORMAT_JSON, &out);
    check_shown(out.text);
}

static void ask_all(const struct test_policy *test)
{
    autostrbuf struct strbuf out = {0};
    struct bawn_report *lint = report_new();
    struct path_decision socket;

    for (size_t i = 0; i < COUNT(questions); i++)
        ask_path(test, questions[i], i < EXPLAINED);
    for (size_t i = 0; i < COUNT(targets); i++)
        ask_net(test, targets[i], i < EXPLAINED);
    fuzz_require(decide_socket(&test->policy, "/run/a.sock", &socket) == 0);
    explain_policy(&test->policy, true, BAWN_FORMAT_TEXT, &out);
    explain_policy(&test->policy, true, BAWN_FORMAT_JSON, &out);
    check_shown(out.text);
    fuzz_require(lint && explain_lint(&test->policy, lint) == 0);
    check_report(lint, "");
    bawn_report_free(lint);
}

/* One of each. Which one, the input says: all are asked in the long run. */
static void ask_shortly(const struct test_policy *test, unsigned chosen)
{
    ask_path(test, questions[chosen % COUNT(questions)], false);
    ask_net(test, targets[chosen % COUNT(targets)], false);
}

/* Two policies answer the same questions alike. */
static void check_alike(const struct test_policy *a, const struct test_policy *b)
{
    for (size_t i = 0; i < COUNT(questions); i++)
        for (enum path_op op = 0; op < PATH_OP_COUNT; op++)
            fuzz_require(test_policy_access(a, op, questions[i]) ==
                         test_policy_access(b, op, questions[i]));
    for (size_t i = 0; i < COUNT(targets); i++)
        fuzz_require(test_policy_connect(a, targets[i]) == test_policy_connect(b, targets[i]));
}

static char *export_text(const struct test_policy *test)
{
    struct strbuf out = {0};

    export_bawn(&test->policy, false, &out);
    fuzz_require(!out.failed);
    return strbuf_take(&out);
}

static void load(struct test_policy *test, const struct layer *as, enum config_format format,
                 const char *text, size_t length)
{
    test_policy_init(test);
    test_policy_lists(test);
    (void)test_policy_load(test, as->id, as->authority, format, as->file, text, length);
    (void)test_policy_finish(test);
}

static void check_export(const struct test_policy *first, const struct layer *as)
{
    static const struct layer again = {
        .id = LAYER_ORG, .authority = AUTHORITY_ORG, .file = "exported"};
    autofree char *text = export_text(first);
    autofree char *text_again = NULL;
    struct test_policy second;

    load(&second, as->authority == AUTHORITY_ORG ? &again : as, FORMAT_BAWN, text, strlen(text));
    if (report_has_errors(second.report)) {
        autofree char *complaints = test_policy_complaints(&second);

        (void)fprintf(stderr, "exported:\n%s\ncomplaints:\n%s", text, complaints);
        fuzz_require(!report_has_errors(second.report));
    }
    text_again = export_text(&second);
    if (strcmp(text, text_again) != 0) {
        (void)fprintf(stderr, "exported:\n%s\nand again:\n%s", text, text_again);
        fuzz_require(strcmp(text, text_again) == 0);
    }
    check_alike(first, &second);
    test_policy_done(&second);
}

/* The foreign formats cannot say everything, but what is printed is of that format. */
static void check_foreign_export(const struct test_policy *first, const struct layer *as)
{
    static const enum config_format formats[] = {FORMAT_CLAUDE, FORMAT_SRT};

    for (size_t i = 0; i < COUNT(formats); i++) {
        struct bawn_report *report = report_new();
        autostrbuf struct strbuf out = {0};
        struct test_policy second;

        fuzz_require(report);
        if (formats[i] == FORMAT_CLAUDE)
            export_claude(&first->policy, report, &out);
        else
            export_srt(&first->policy, report, &out);
        fuzz_require(!out.failed && out.text);
        load(&second, as, formats[i], out.text, out.length);
        if (report_has_errors(second.report)) {
            autofree char *complaints = test_policy_complaints(&second);

            (void)fprintf(stderr, "exported:\n%s\ncomplaints:\n%s", out.text, complaints);
            fuzz_require(!report_has_errors(second.report));
        }
        test_policy_done(&second);
        bawn_report_free(report);
    }
}

__attribute__((weak)) bool fuzz_is_replay;

/* By its bytes alone, so that an input always takes the same way. */
static unsigned pick(const uint8_t *data, size_t size)
{
    unsigned hash = 2166136261U;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 16777619U;
    return hash ^ hash >> 16;
}

/*
 * A replay tries all of it. A search tries each input as one speaker, and most
 * of them only to an answer or two: reading is what these targets are about,
 * and the tree of rules has one of its own.
 */
void fuzz_policy(enum config_format format, const uint8_t *data, size_t size)
{
    static const struct layer speakers[] = {
        {.id = LAYER_USER, .authority = AUTHORITY_USER, .file = "user"},
        {.id = LAYER_ORG, .authority = AUTHORITY_ORG, .file = "org"},
        {.id = LAYER_PROJECT, .authority = AUTHORITY_PROJECT, .file = "project"},
    };
    unsigned chosen = pick(data, size);
    bool tells = fuzz_is_replay || chosen % 64 == 0;

    for (size_t i = 0; i < COUNT(speakers); i++) {
        struct test_policy test;

        if (!fuzz_is_replay && i != (chosen >> 8) % COUNT(speakers))
            continue;
        load(&test, &speakers[i], format, (const char *)data, size);
        if (tells)
            check_report(test.report, speakers[i].file);
        if (tells && speakers[i].authority == AUTHORITY_USER)
            ask_all(&test);
        else
            ask_shortly(&test, chosen >> 10);
        if (tells && !report_has_errors(test.report)) {
            check_export(&test, &speakers[i]);
            if (speakers[i].authority == AUTHORITY_USER)
                check_foreign_export(&test, &speakers[i]);
        }
        test_policy_done(&test);
    }
}
