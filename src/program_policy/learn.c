/* SPDX-License-Identifier: Apache-2.0 */
/* bawn learn: runs a command, looks what it uses, and proposes the rules that it lacks. */
#include "program_policy/learn.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

struct lesson {
    const struct options *options;
    struct output *output;
    struct bawn_learned *learned;
    struct bawn_load *load; /* the policy as it is */
    enum bawn_scope scope;
    struct proposal proposal;
    struct bawn_saved *saved;
    int status; /* of the command */
};

static void lesson_done(struct lesson *lesson)
{
    proposal_done(&lesson->proposal);
    bawn_learned_free(lesson->learned);
    if (lesson->saved)
        bawn_saved_free(lesson->saved);
    if (lesson->load)
        bawn_load_free(lesson->load);
}

/* What is shown must be seen before it is answered, and must not mix with what the command said. */
static void say(struct strbuf *text)
{
    if (text->text && !text->failed)
        (void)fputs(text->text, stderr);
    (void)fflush(stderr);
    strbuf_done(text);
}

static void say_error(const struct bawn_error *err)
{
    (void)fprintf(stderr, "bawn: %s\n", err->message);
    if (*err->hint)
        (void)fprintf(stderr, "hint: %s\n", err->hint);
    (void)fflush(stderr);
}

/* Of --net the mode isolated is for learning: what was reached then is what is proposed. */
static bool is_for_learning(const struct option_given *given)
{
    return given->option->id == OPTION_KEY && strcmp(given->option->name, "net") == 0 &&
           strcmp(given->value, "isolated") == 0;
}

static int load_current(struct lesson *lesson, bool *ret_reaches, struct bawn_error *err)
{
    struct options kept = {0};
    int r = 0;

    *ret_reaches = false;
    vec_each (&lesson->options->given, given) {
        *ret_reaches = *ret_reaches || is_for_learning(given);
        if (r == 0 && !is_for_learning(given) && !vec_push(&kept.given, *given))
            r = error_memory(err);
    }
    if (r == 0)
        r = load_collect(&kept, &lesson->load, err);
    options_done(&kept);
    return r;
}

/* A policy that cannot be read is refused before anything runs. */
static int check_policy(struct lesson *lesson, struct bawn_error *err)
{
    autopolicy struct bawn_policy *policy = NULL;
    autoreport struct bawn_report *report = NULL;
    int r = bawn_policy_load(lesson->load, &policy, &report, err);

    if (r < 0)
        return load_refuse(lesson->output, report, "policy", r, err);
    load_note(lesson->output, report);
    output_flush(lesson->output);
    return 0;
}

static void say_what_happens(const struct lesson *lesson, bool reaches)
{
    if (lesson->output->quiet || lesson->output->json)
        return;
    (void)fprintf(stderr,
                  "bawn: learning: the command can read your files and this host, except secrets "
                  "and what rules deny.\n"
                  "bawn: It writes where the policy lets it. %s\n",
                  reaches ? "It reaches every public host."
                          : "Hosts that are not allowed are refused and noted.");
    (void)fflush(stderr);
}

static int save(struct lesson *lesson, unsigned flags, const struct bawn_rule *rules, size_t count,
                struct bawn_saved **ret_saved, struct bawn_error *err)
{
    autoreport struct bawn_report *report = NULL;
    int r =
        bawn_policy_save(lesson->load, lesson->scope, rules, count, flags, ret_saved, &report, err);

    return r < 0 ? load_refuse(lesson->output, report, "learn", r, err) : r;
}

/* What would be saved, as it is proposed now. */
static int preview(struct lesson *lesson, struct bawn_error *err)
{
    if (lesson->saved)
        bawn_saved_free(lesson->saved);
    lesson->saved = NULL;
    return save(lesson, BAWN_SAVE_DRY_RUN, lesson->proposal.rules.items,
                lesson->proposal.rules.count, &lesson->saved, err);
}

/* A rule that cannot be saved does not keep the others from it. */
static int drop_unsavable(struct lesson *lesson, struct bawn_error *err)
{
    struct proposal kept = {0};
    size_t count = lesson->proposal.rules.count;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct bawn_rule *rule = &lesson->proposal.rules.items[i];
        autosaved struct bawn_saved *saved = NULL;
        struct bawn_error why = {0};

        if (save(lesson, BAWN_SAVE_DRY_RUN, rule, 1, &saved, &why) == 0)
            r = proposal_add(&kept, rule->kind, rule->text, lesson->proposal.reasons.items[i]);
        else if (!lesson->output->json)
            say_error(&why);
        strbuf_done(&lesson->output->complaints);
    }
    proposal_done(&lesson->proposal);
    lesson->proposal = kept;
    return r < 0 ? error_memory(err) : 0;
}

static int propose(struct lesson *lesson, struct bawn_error *err)
{
    struct bawn_error first = {0};
    int r = bawn_learned_propose(lesson->learned, lesson->load, err);

    for (size_t i = 0; r == 0 && i < bawn_learned_count(lesson->learned); i++) {
        const struct bawn_rule *rule = &bawn_learned_rules(lesson->learned)[i];

        r = proposal_add(&lesson->proposal, rule->kind, rule->text,
                         bawn_learned_evidence(lesson->learned, i));
        if (r < 0)
            r = error_memory(err);
    }
    if (r < 0 || lesson->proposal.rules.count == 0)
        return r;
    if (preview(lesson, &first) == 0)
        return 0;
    *err = first;
    /* Then none can be: somebody has to read that file first. */
    if (strcmp(first.code, "save.unapproved") == 0)
        return -first.errnum;
    r = drop_unsavable(lesson, err);
    return r == 0 && lesson->proposal.rules.count > 0 ? preview(lesson, err) : r;
}

static void show(const struct lesson *lesson)
{
    autostrbuf struct strbuf out = {0};

    /* The terminal shows ^C, and no more. */
    if (lesson->status == 128 + SIGINT && isatty(STDERR_FILENO))
        strbuf_add(&out, "\n");
    if (lesson->proposal.rules.count == 0)
        strbuf_add(&out, "bawn: learned: nothing that the policy lacks\n");
    else
        learn_add_diff(&out, &lesson->proposal, lesson->saved);
    learn_add_refused(&out, lesson->learned);
    say(&out);
}

static void show_json(const struct lesson *lesson)
{
    const struct bawn_unlearned *refused;
    autostrbuf struct strbuf out = {0};

    json_open(&out, NULL, '{');
    json_put_uint(&out, "status", (uint64_t)lesson->status);
    json_put_string(&out, "file", lesson->saved ? bawn_saved_file(lesson->saved) : NULL);
    json_put_bool(&out, "saved", lesson->saved && bawn_saved_is_written(lesson->saved));
    json_open(&out, "rules", '[');
    for (size_t i = 0; i < lesson->proposal.rules.count; i++) {
        const struct bawn_rule *rule = &lesson->proposal.rules.items[i];
        const struct bawn_evidence *reason = lesson->proposal.reasons.items[i];

        json_open(&out, NULL, '{');
        json_put_string(&out, "word", bawn_rule_word(rule->kind));
        json_put_string(&out, "text", rule->text);
        json_put_uint(&out, "uses", reason->uses);
        json_put_uint(&out, "paths", reason->paths);
        json_put_string(&out, "program", reason->program);
        json_put_string(&out, "first", reason->first);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_open(&out, "not_proposed", '[');
    for (size_t i = 0; (refused = bawn_learned_refused(lesson->learned, i)); i++) {
        json_open(&out, NULL, '{');
        json_put_string(&out, "operation", refused->operation);
        json_put_string(&out, "what", refused->what);
        json_put_string(&out, "why", refused->why);
        json_put_string(&out, "program", refused->program);
        json_put_uint(&out, "uses", refused->uses);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_put_uint(&out, "left_out", bawn_learned_left_out(lesson->learned));
    json_put_string(&out, "diff", lesson->saved ? bawn_saved_diff(lesson->saved) : "");
    json_close(&out, '}');
    strbuf_add(&out, "\n");
    say(&out);
}

static int accept(struct lesson *lesson, struct bawn_error *err)
{
    struct bawn_saved *saved = NULL;
    autostrbuf struct strbuf out = {0};
    int r =
        save(lesson, 0, lesson->proposal.rules.items, lesson->proposal.rules.count, &saved, err);

    if (r < 0)
        return r;
    bawn_saved_free(lesson->saved);
    lesson->saved = saved;
    if (lesson->output->quiet || lesson->output->json)
        return 0;
    strbuf_add(&out, "bawn: saved in ");
    strbuf_add_escaped(&out, bawn_saved_file(saved));
    strbuf_add(&out, "\n");
    say(&out);
    return 0;
}

/* a, e or r; r where nobody answers. */
static char ask(const struct lesson *lesson)
{
    autostrbuf struct strbuf out = {0};
    char answer[64] = "";

    for (;;) {
        strbuf_add(&out, "Save this in ");
        strbuf_add_escaped(&out, bawn_saved_file(lesson->saved));
        strbuf_add(&out, "? accept, edit or reject [a/e/R] ");
        /* What was typed before the question is no answer. */
        (void)tcflush(STDIN_FILENO, TCIFLUSH);
        say(&out);
        if (!fgets(answer, sizeof(answer), stdin) || *answer == '\n')
            return 'r';
        for (const char *word = "accept\0edit\0reject\0"; *word; word += strlen(word) + 1) {
            size_t length = strcspn(answer, "\n");

            if (length > 0 && strncmp(answer, word, length) == 0)
                return *word;
        }
    }
}

/* An editor's rules that cannot be saved are said, and asked about again as they were. */
static int edit(struct lesson *lesson)
{
    struct bawn_error why = {0};
    struct proposal before = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < lesson->proposal.rules.count; i++)
        r = proposal_add(&before, lesson->proposal.rules.items[i].kind,
                         lesson->proposal.rules.items[i].text, lesson->proposal.reasons.items[i]);
    if (r < 0) {
        proposal_done(&before);
        return r;
    }
    r = learn_edit(&lesson->proposal, &why);
    if (r > 0)
        r = preview(lesson, &why) < 0 ? -why.errnum : 1;
    if (r < 0) {
        output_flush(lesson->output);
        say_error(&why);
        proposal_done(&lesson->proposal);
        lesson->proposal = before;
        (void)preview(lesson, &why);
        return lesson->saved ? 1 : -ENOMEM;
    }
    proposal_done(&before);
    return r;
}

static int settle(struct lesson *lesson, struct bawn_error *err)
{
    for (;;) {
        char key = ask(lesson);
        int r = key == 'e' ? edit(lesson) : 0;

        if (key == 'a')
            return accept(lesson, err);
        if (r < 0)
            return error_memory(err);
        if (r == 0) {
            (void)fprintf(stderr, "bawn: nothing was saved\n");
            return 0;
        }
        show(lesson);
    }
}

/* The command has ended: shows what it used, and asks. */
static int conclude(struct lesson *lesson, struct bawn_error *err)
{
    bool saves = options_has(lesson->options, OPTION_YES);
    bool only_shows = options_has(lesson->options, OPTION_DRY_RUN);
    bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !lesson->output->json;
    int r = propose(lesson, err);
    bool has_rules = lesson->proposal.rules.count > 0;

    if (r < 0)
        return r;
    if (!lesson->output->json)
        show(lesson);
    if (has_rules && saves)
        r = accept(lesson, err);
    else if (has_rules && asks && !only_shows)
        r = settle(lesson, err);
    else if (has_rules && !only_shows && !lesson->output->quiet && !lesson->output->json)
        (void)fprintf(stderr, "bawn: nothing was saved: there is no terminal to ask on\n"
                              "hint: add --save\n");
    if (r == 0 && lesson->output->json)
        show_json(lesson);
    return r;
}

static int run_learn(const struct options *options, struct output *output, struct bawn_error *err)
{
    __attribute__((cleanup(lesson_done))) struct lesson lesson = {
        .options = options, .output = output, .scope = BAWN_SCOPE_PROJECT};
    const char *scope = options_value(options, OPTION_SCOPE);
    bool reaches;
    int r = 0;

    if (options_has(options, OPTION_YES) && options_has(options, OPTION_DRY_RUN))
        return error_set(err, EINVAL, "usage.contradiction", "learn: --save and --dry-run");
    if (scope)
        lesson.scope = load_scope(scope);
    r = load_current(&lesson, &reaches, err);
    if (r == 0)
        r = check_policy(&lesson, err);
    if (r == 0)
        r = bawn_learned_new(&lesson.learned, err);
    if (r < 0)
        return r;
    say_what_happens(&lesson, reaches);
    lesson.status = learn_watch(options, lesson.learned, err);
    if (lesson.status < 0 || !bawn_learned_has_started(lesson.learned, lesson.status))
        return lesson.status;
    r = conclude(&lesson, err);
    return r < 0 ? r : lesson.status;
}

static const struct option rows[] = {
    LOAD_SCOPE_ROW("project"),
    {.id = OPTION_YES,
     .name = "save",
     .help = "Save what is proposed without asking. Needed where there is no terminal."},
    {.id = OPTION_DRY_RUN, .name = "dry-run", .help = "Show what is proposed, and save nothing."},
    {.id = OPTION_BEST_EFFORT,
     .name = "best-effort",
     .help = "Run even where this host cannot enforce a rule, and say which."},
};
static const struct option_group group = {"How", rows, sizeof(rows) / sizeof(rows[0])};

const struct verb verb_learn = {
    .name = "learn",
    .arguments = "[--] COMMAND [ARGUMENT]...",
    .summary = "run a command, look what it uses, and propose the rules that it lacks",
    .details =
        "The command runs as with 'bawn run', with the same boundaries but for reading: it can "
        "read this host and what is in your home, except secrets and what rules deny. So let it be "
        "a command that you would run without bawn. It writes where the policy lets it; a write "
        "elsewhere is refused and noted. A host that the policy does not allow is refused and "
        "noted; with --net isolated the command reaches every public host, and bawn notes "
        "which.\n"
        "Then bawn shows the rules that would let 'bawn run' do the same, as a diff of the "
        "project's policy file: each with how often it was used, by which program and what was "
        "seen "
        "first. Four files or more of one directory become the directory, and what a preset for a "
        "toolchain covers becomes the preset. No rule opens a secret, a home as a whole or what a "
        "rule refuses: bawn names those. What was only looked at, and not opened, run or "
        "entered, needs no rule.\n"
        "On a terminal you accept, edit the rules in $VISUAL or $EDITOR, or reject. Elsewhere bawn "
        "saves nothing unless you give --save. What bawn says goes to standard error; with --json "
        "it "
        "is one document in one line. The exit status is the command's; 125 also when what "
        "was to be saved could not be.",
    .fill = FILL_FILES,
    .min_args = 1,
    .max_args = ARGS_ANY,
    .ends_at_word = true,
    .groups = (const struct option_group *const[]){&group, &load_options, &verb_options, NULL},
    .run = run_learn,
};
