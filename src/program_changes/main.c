/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-changes: shows, takes and drops what sessions with overlays changed.
 *
 *     bawn-changes [--lock-fd=N] VERB [OPTION]... [ARGUMENT]...
 *
 * 'bawn' becomes this program for its verbs diff, apply, discard, undo and gc, and
 * starts it with "settle NAME" when a command has ended, with "recover NAME"
 * before another one goes on with what is there, and with "remove NAME..." for its
 * verb rm. It is a program of its own because it needs libgit2, which is slow to load.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "program_changes/own.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/global.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

static const struct verb verb_settle = {
    .name = "settle",
    .arguments = "NAME",
    .min_args = 1,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&verb_options, NULL},
};

static const struct verb verb_recover = {
    .name = "recover",
    .arguments = "NAME",
    .min_args = 1,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&verb_options, NULL},
};

static const struct verb verb_review = {
    .name = "review",
    .arguments = "NAME",
    .min_args = 1,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&verb_options, NULL},
};

static const struct verb verb_remove = {
    .name = "remove",
    .arguments = "NAME...",
    .min_args = 1,
    .max_args = ARGS_ANY,
    .groups = (const struct option_group *const[]){&verb_options, NULL},
};

static const struct {
    const struct verb *verb;
    int (*run)(struct request *request, struct bawn_error *err);
} verbs[] = {{&verb_settle, settle_run}, {&verb_recover, recover_run}, {&verb_diff, diff_run},
             {&verb_apply, apply_run},   {&verb_discard, discard_run}, {&verb_undo, undo_run},
             {&verb_review, review_run}, {&verb_gc, gc_run},           {&verb_remove, remove_run}};

static int show_error(const struct request *request, const struct bawn_error *err)
{
    struct strbuf out = {0};

    if (request->json) {
        json_add_error(&out, err, NULL);
        strbuf_add(&out, "\n");
        (void)print(&out);
        return STATUS_FAILED;
    }
    (void)fprintf(stderr, "bawn: %s\n", err->message);
    if (err->hint[0])
        (void)fprintf(stderr, "hint: %s\n", err->hint);
    return STATUS_FAILED;
}

int print(struct strbuf *text)
{
    bool failed = text->failed;

    if (!failed && text->length > 0)
        failed =
            fwrite(text->text, 1, text->length, stdout) != text->length || fflush(stdout) == EOF;
    strbuf_done(text);
    return failed && errno != EPIPE ? STATUS_FAILED : STATUS_OK;
}

/* Options of bawn itself, before the verb, and the launcher's. */
static char **skip_options(struct request *request, char **args)
{
    static const char lock[] = "--lock-fd=";
    uint64_t fd = 0;

    for (; *args; args++) {
        if (strcmp(*args, "--json") == 0)
            request->json = true;
        else if (strcmp(*args, "--quiet") == 0 || strcmp(*args, "-q") == 0)
            request->quiet = true;
        else if (strncmp(*args, lock, sizeof(lock) - 1) == 0 &&
                 text_parse_count(*args + sizeof(lock) - 1, 1 << 20, &fd) &&
                 fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0)
            request->lock_fd = (int)fd;
        else
            break;
    }
    return args;
}

static int run_verb(struct request *request, char **args, struct bawn_error *err)
{
    struct options *options = &request->options;

    args = skip_options(request, args);
    for (size_t i = 0; *args && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const struct verb *verb = verbs[i].verb;
        int used;

        if (strcmp(*args, verb->name) != 0)
            continue;
        used = options_parse(options, verb->groups, args + 1, false, "bawn", err);
        if (used < 0)
            return used;
        for (args += 1 + used; *args; args++) {
            if (!vec_push(&options->words, *args))
                return error_memory(err);
        }
        request->json |= options_has(options, OPTION_JSON);
        request->quiet |= options_has(options, OPTION_QUIET);
        if (options->words.count < verb->min_args)
            break;
        request->words = options->words.items;
        request->word_count = options->words.count;
        return verbs[i].run(request, err);
    }
    (void)error_set(err, EINVAL, "usage.wrong_program", "this program knows no such verb");
    error_hint(err, "bawn starts it where it needs it");
    return -EINVAL;
}

int main(int argc, char **argv)
{
    struct request request = {
        .lock_fd = -EBADF, .place = {.fd = -EBADF}, .store = {.dir_fd = -EBADF, .lock_fd = -EBADF}};
    struct bawn_error err = {0};
    int status;

    if (argc < 1 || getauxval(AT_SECURE))
        return STATUS_FAILED;
    (void)signal(SIGPIPE, SIG_IGN);
    if (git_libgit2_init() < 0)
        return STATUS_FAILED;
    status = run_verb(&request, argv + 1, &err);
    if (status < 0)
        status = show_error(&request, &err);
    store_close(&request.store);
    store_place_close(&request.place);
    options_done(&request.options);
    (void)git_libgit2_shutdown();
    return status;
}
