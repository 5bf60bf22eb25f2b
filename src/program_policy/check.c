/* SPDX-License-Identifier: Apache-2.0 */
/* bawn check: questions to a policy, answered in a line or a status. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "program_policy/load.h"

#include <errno.h>
#include <string.h>

/* The words of the first argument, in the order of enum check. */
static const char *const words[] = {"read",    "write",  "exec", "connect",
                                    "resolve", "suffix", "size", NULL};
enum check {
    CHECK_READ,
    CHECK_WRITE,
    CHECK_EXEC,
    CHECK_CONNECT,
    CHECK_RESOLVE,
    CHECK_SUFFIX,
    CHECK_SIZE,
};

struct checker {
    enum check check;
    uint64_t size_bytes; /* CHECK_SIZE */
    const char *by;      /* CHECK_CONNECT: the program that would; NULL: any */
    struct bawn_policy *policy;
    struct output *output;
    enum bawn_verdict strictest;
};

static int decide(const struct checker *checker, const char *what, struct bawn_decision **ret,
                  struct bawn_error *err)
{
    switch (checker->check) {
    case CHECK_READ:
    case CHECK_RESOLVE: /* a path that cannot be reached leads nowhere */
        return bawn_decide(checker->policy, BAWN_READ, what, ret, err);
    case CHECK_WRITE:
        return bawn_decide(checker->policy, BAWN_WRITE, what, ret, err);
    case CHECK_EXEC:
        return bawn_decide(checker->policy, BAWN_EXEC, what, ret, err);
    case CHECK_CONNECT:
        if (checker->by)
            return bawn_decide_by(checker->policy, checker->by, what, ret, err);
        return bawn_decide(checker->policy, BAWN_CONNECT, what, ret, err);
    case CHECK_SUFFIX:
        return bawn_check_suffix(checker->policy, what, ret, err);
    case CHECK_SIZE:
        return bawn_check_size(checker->policy, what, checker->size_bytes, ret, err);
    }
    return error_set(err, EINVAL, "usage.bad_word", "check: no such operation");
}

static const char *verdict_word(enum bawn_verdict verdict)
{
    return verdict == BAWN_ALLOW ? "allow" : verdict == BAWN_ASK ? "ask" : "deny";
}

static void print_json(const struct checker *checker, const char *what,
                       const struct bawn_decision *decision)
{
    struct strbuf *out = &checker->output->text;

    json_open(out, NULL, '{');
    json_put_string(out, "verdict", verdict_word(bawn_decision_verdict(decision)));
    json_put_string(out, "code", bawn_decision_code(decision));
    if (bawn_policy_is_inside(checker->policy))
        json_put_string(out, "sandbox", "this");
    json_put_string(out, "operation", words[checker->check]);
    json_put_string(out, "what", what);
    json_put_string(out, "target", bawn_decision_target(decision));
    json_put_string(out, "rule", bawn_decision_rule(decision));
    json_put_string(out, "file", bawn_decision_file(decision));
    json_put_uint(out, "line", bawn_decision_line(decision));
    json_put_uint(out, "column", bawn_decision_column(decision));
    json_put_string(out, "text", bawn_decision_text(decision));
    json_close(out, '}');
}

/* "(rule RULE, FILE:LINE)" */
static void print_origin(struct strbuf *out, const struct bawn_decision *decision, const char *more)
{
    const char *rule = bawn_decision_rule(decision);
    const char *file = bawn_decision_file(decision);

    strbuf_add(out, *rule ? " (rule " : " (by default");
    strbuf_add_escaped(out, rule);
    if (*file) {
        strbuf_add(out, ", ");
        strbuf_add_escaped(out, file);
    }
    if (*file && bawn_decision_line(decision) > 0)
        strbuf_addf(out, ":%u", bawn_decision_line(decision));
    strbuf_addf(out, ")%s%s\n", more && *more ? ", " : "", more ? more : "");
}

static void print_text(const struct checker *checker, const struct bawn_decision *decision)
{
    struct strbuf *out = &checker->output->text;
    enum bawn_verdict verdict = bawn_decision_verdict(decision);
    const char *text = bawn_decision_text(decision);
    autofree char *shown = text_escape_new(text, strlen(text), TEXT_LINES);

    if (verdict == BAWN_DENY && shown && *shown) {
        strbuf_addf(out, "%s\n", shown);
        return;
    }
    if (checker->check == CHECK_RESOLVE) {
        strbuf_add_escaped(out, bawn_decision_target(decision));
        strbuf_add(out, "\n");
        return;
    }
    if (checker->output->colour)
        strbuf_addf(out, "\033[%dm%s\033[0m", verdict == BAWN_ALLOW ? 32 : 33,
                    verdict_word(verdict));
    else
        strbuf_add(out, verdict_word(verdict));
    strbuf_addf(out, " %s ", words[checker->check]);
    strbuf_add_escaped(out, bawn_decision_target(decision));
    print_origin(out, decision, verdict == BAWN_ALLOW ? shown : NULL);
}

static int check_one(struct checker *checker, const char *what, struct bawn_error *err)
{
    autodecision struct bawn_decision *decision = NULL;
    int verdict;

    verdict = decide(checker, what, &decision, err);
    if (verdict < 0)
        return verdict;
    if ((enum bawn_verdict)verdict > checker->strictest)
        checker->strictest = (enum bawn_verdict)verdict;
    if (checker->output->json)
        print_json(checker, what, decision);
    else
        print_text(checker, decision);
    return 0;
}

/* The first argument, and --size and --by, which belong to one of its words. */
static int read_question(struct checker *checker, const struct options *options,
                         struct bawn_error *err)
{
    const char *operation = options->words.items[0];
    const char *size = options_value(options, OPTION_SIZE);
    int result = 0;

    checker->by = options_value(options, OPTION_BY);

    while (words[checker->check] && strcmp(words[checker->check], operation) != 0)
        checker->check++;
    if (!words[checker->check])
        return words_refuse(words, "check", operation, err);
    if (checker->check == CHECK_SIZE && !size) {
        result = error_set(err, EINVAL, "usage.missing_option", "check size: --size is missing");
        error_hint(err, "say how large the file is: --size 64K");
    } else if (checker->check != CHECK_SIZE && size) {
        result = error_set(err, EINVAL, "usage.unexpected_option",
                           "--size: only 'bawn check size' takes it");
    } else if (size && !text_parse_size(size, &checker->size_bytes)) {
        result = error_set(err, EINVAL, "usage.bad_value", "--size: not a size");
        error_hint(err, "write bytes, or a number with K, M, G or T: 200000, 64K, 1.5G");
    }
    if (result == 0 && checker->by && checker->check != CHECK_CONNECT)
        result = by_refuse("check", err);
    return result;
}

static int run_check(const struct options *options, struct output *output, struct bawn_error *err)
{
    struct checker checker = {.output = output, .strictest = BAWN_ALLOW};
    autopolicy struct bawn_policy *policy = NULL;
    size_t count = options->words.count;
    int result = read_question(&checker, options, err);

    if (result == 0)
        result = load_policy_asked(options, output, &policy, err);
    if (result < 0)
        return result;
    checker.policy = policy;
    if (output->json && count > 2)
        json_open(&output->text, NULL, '[');
    for (size_t i = 1; i < count; i++) {
        result = check_one(&checker, options->words.items[i], err);
        if (result < 0)
            return result;
    }
    if (output->json && count > 2)
        json_close(&output->text, ']');
    return verdict_status(checker.strictest);
}

static const struct option rows[] = {
    {.id = OPTION_SIZE,
     .name = "size",
     .value = "N",
     .help = "How large the file is, in bytes or as 64K, 2M, 1G. Only with 'size'."},
    BY_OPTION,
    NESTED_OPTION,
};
static const struct option_group group = {"What is asked", rows, sizeof(rows) / sizeof(rows[0])};

const struct verb verb_check = {
    .name = "check",
    .arguments = "OPERATION WHAT...",
    .summary = "ask whether the policy allows something",
    .details =
        "Answers whether a contained program may read, write or exec a path, or connect to "
        "a host (NAME:PORT, IPV4:PORT, [IPV6]:PORT or unix:/PATH). bawn looks nothing up on "
        "the network. An allowed host that is reached through sandbox.network.upstream_proxy "
        "is shown with that proxy. 'suffix' and 'size' ask about the rules for file names and file "
        "sizes "
        "that the application applies itself. 'resolve' prints the path that bawn would "
        "judge, if the program may read it.\n"
        "Inside a sandbox of bawn, check answers about that very sandbox, from what it is told of "
        "its rules (/dev/bawn) and what the kernel says there. Paths are as the command sees them, "
        "and a relative one starts in its working directory. A denial that names something which "
        "the sandbox does not show is not told: the answer is no without its name. With --nested, "
        "or an option that selects a policy, the question is about a sandbox that would be started "
        "there, and check also denies what the sandbox around it refuses. A name in a directory "
        "that is not there yet is judged by the directory.\n"
        "OPERATION is read, write, exec, connect, resolve, suffix or size.\n"
        "The exit status is 0 when all is allowed, 1 when something is denied, 2 when "
        "nothing is denied but something would be asked about.",
    .words = words,
    .fill = FILL_FILES,
    .min_args = 2,
    .max_args = ARGS_ANY,
    .groups = (const struct option_group *const[]){&group, &load_options, &verb_options, NULL},
    .run = run_check,
};
