/* SPDX-License-Identifier: Apache-2.0 */
/* bawn: finds the verb, runs it, and writes what it said. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "program_policy/help.h"
#include "program_policy/progress.h"
#include "program_policy/verb.h"

#include <bawn/bawn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 40, WIDTH_MAX = 100 };

/*
 * A standard stream that the caller closed would be taken by the next file
 * opened, and then written to. Read-only, so that writing still fails; not
 * O_CLOEXEC, as no standard stream is.
 */
static int streams_fill(struct bawn_error *err)
{
    int result = 0;

    /* Only then: a sandbox may have no null device. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && result >= 0; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        result = file_open_null(O_RDONLY, err);
        if (result == fd)
            (void)fcntl(fd, F_SETFD, 0);
    }
    return result < 0 ? result : 0;
}

static bool wants_colour(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return isatty(fd) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

static unsigned terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    uint64_t width = WIDTH_DEFAULT;

    if (!columns || !text_parse_count(columns, 10000, &width)) {
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
            width = size.ws_col;
    }
    if (width < WIDTH_MIN)
        return WIDTH_MIN;
    return width > WIDTH_MAX ? WIDTH_MAX : (unsigned)width;
}

/* Whether --json stands anywhere: errors of the parser itself follow it too. */
static bool asks_json(char *const *args)
{
    for (; *args && strcmp(*args, "--") != 0; args++) {
        if (strcmp(*args, "--json") == 0)
            return true;
    }
    return false;
}

static int check_count(const struct verb *verb, const struct options *options,
                       struct bawn_error *err)
{
    size_t count = options->words.count;
    char shown[256];
    int result;

    if (count < verb->min_args) {
        result = error_set(err, EINVAL, "usage.missing_argument", "%s: an argument is missing",
                           verb->name);
    } else if (count > verb->max_args) {
        const char *word = options->words.items[verb->max_args];

        text_escape(shown, sizeof(shown), word, strlen(word), TEXT_ONE_LINE);
        result = error_set(err, EINVAL, "usage.extra_argument", "%s: one argument too many: '%s'",
                           verb->name, shown);
    } else {
        return 0;
    }
    error_hint(err, "usage: bawn %s [OPTION]...%s%s", verb->name, verb->arguments[0] ? " " : "",
               verb->arguments);
    return result;
}

static void print_version(struct output *output)
{
    if (output->json) {
        json_open(&output->text, NULL, '{');
        json_put_string(&output->text, "version", bawn_version());
        json_close(&output->text, '}');
    } else {
        strbuf_addf(&output->text, "bawn %s\n", bawn_version());
    }
}

/* The verb that the word behind another one names. */
static const struct verb *descend(const struct verb *verb, const char *word, struct bawn_error *err)
{
    if (word)
        return verb_find(verb, word, err);
    (void)error_set(err, EINVAL, "usage.missing_verb", "%s%sa verb is missing", verb->name,
                    verb->name[0] ? ": " : "");
    error_hint(err, "'bawn%s%s --help' lists the verbs", verb->name[0] ? " " : "", verb->name);
    return NULL;
}

/* Reads the verb and its options: *ret_verb is a leaf, or one whose help is wanted. */
static int read_command(char *const *args, const struct verb **ret_verb, struct options *options,
                        struct bawn_error *err)
{
    const struct verb *verb = &verb_bawn;

    for (;;) {
        char command[64];
        int used;

        (void)snprintf(command, sizeof(command), "bawn%s%s", verb->name[0] ? " " : "", verb->name);
        used = options_parse(options, verb->groups, args, verb->verbs || verb->ends_at_word,
                             command, err);
        if (used < 0)
            return used;
        args += used;
        *ret_verb = verb;
        for (; verb->ends_at_word && *args; args++) {
            if (!vec_push(&options->words, *args))
                return error_memory(err);
        }
        if (!verb->verbs || options_has(options, OPTION_VERSION) ||
            (options_has(options, OPTION_HELP) && !*args))
            return 0;
        verb = descend(verb, *args, err);
        if (!verb)
            return -err->errnum;
        args++;
    }
}

/* Runs a verb. A verb of sessions comes here only if somebody starts bawn-policy by hand. */
static int run_verb(const struct verb *verb, const struct options *options, struct output *output,
                    struct bawn_error *err)
{
    if (verb == &verb_run || verb == &verb_shell)
        return run_with_plan(options, output, err);
    if (verb->run)
        return verb->run(options, output, err);
    (void)error_set(err, ENOSYS, "usage.wrong_program", "this program knows no sessions");
    error_hint(err, "use 'bawn' instead of this program");
    return -ENOSYS;
}

static int run_command(char *const *args, struct output *output, struct bawn_error *err)
{
    autooptions struct options options = {0};
    const struct verb *verb = NULL;
    struct progress progress = {.end_fd = -EBADF};
    int result = read_command(args, &verb, &options, err);

    if (result < 0)
        return result;
    output->json = options_has(&options, OPTION_JSON);
    output->quiet = options_has(&options, OPTION_QUIET);
    if (options_has(&options, OPTION_VERSION)) {
        print_version(output);
        return STATUS_OK;
    }
    if (options_has(&options, OPTION_HELP)) {
        help_print(verb, output);
        return STATUS_OK;
    }
    result = check_count(verb, &options, err);
    if (result < 0)
        return result;
    if (verb->busy && !output->quiet && !output->json && isatty(STDERR_FILENO))
        progress_start(&progress, verb->name, verb->busy);
    result = run_verb(verb, &options, output, err);
    progress_end(&progress);
    return result;
}

static void error_as_text(const struct bawn_error *err, struct strbuf *out)
{
    bool colour = wants_colour(STDERR_FILENO);

    strbuf_addf(out, colour ? "\033[1;31mbawn:\033[0m %s\n" : "bawn: %s\n", err->message);
    if (err->hint[0])
        strbuf_addf(out, colour ? "\033[1mhint:\033[0m %s\n" : "hint: %s\n", err->hint);
}

/* Writes all that was said; returns the status to end with. */
static int finish(int status, struct output *output, struct bawn_error *err)
{
    int result;

    /* Only now: what the verbs start must find the signal as the caller left it. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (status < 0 && output->json) {
        strbuf_done(&output->text);
        json_add_error(&output->text, err,
                       output->complaints.failed ? NULL : output->complaints.text);
    } else if (status < 0) {
        strbuf_done(&output->text);
        error_as_text(err, &output->notes);
    }
    (void)output_write(STDERR_FILENO, &output->notes);
    result = output_write(STDOUT_FILENO, &output->text);
    if (result == 0 && close(STDOUT_FILENO) < 0 && errno != EBADF)
        result = -errno;
    if (result < 0 && result != -EPIPE) {
        strbuf_done(&output->notes);
        (void)error_errno(err, -result, "write standard output");
        error_as_text(err, &output->notes);
        (void)output_write(STDERR_FILENO, &output->notes);
    }
    return status < 0 || result < 0 ? STATUS_FAILED : status;
}

/* A file that may not grow as long as it must is an error like others. */
static void block_file_size(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
    char *const *args = argc > 0 ? argv + 1 : argv;
    struct output output = {0};
    struct bawn_error err = {0};
    int status;

    status = streams_fill(&err);
    block_file_size();
    output.args = argv;
    output.json = asks_json(args);
    output.colour = wants_colour(STDOUT_FILENO);
    output.width = terminal_width();
    if (status == 0)
        status = run_command(args, &output, &err);
    if (status >= 0 && (output.text.failed || output.notes.failed))
        status = error_memory(&err);
    status = finish(status, &output, &err);
    strbuf_done(&output.text);
    strbuf_done(&output.notes);
    strbuf_done(&output.complaints);
    return status;
}
