/* SPDX-License-Identifier: Apache-2.0 */
/* bawn diff: what a session changed. */
#include "base/error.h"
#include "base/path.h"
#include "overlay/show.h"
#include "program_changes/own.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(term && strcmp(term, "dumb") == 0);
}

static enum show_form form_of(const struct request *request)
{
    if (request->json)
        return SHOW_JSON;
    if (options_has(&request->options, OPTION_PATCH))
        return SHOW_PATCH;
    if (options_has(&request->options, OPTION_STAT))
        return SHOW_STAT;
    return options_has(&request->options, OPTION_LIST) ? SHOW_LIST : SHOW_TEXT;
}

bool wanted_has(const struct wanted *wanted, const struct overlay_tree *tree,
                const struct change *change)
{
    char path[2 * LIMIT_PATH_BYTES];

    if (wanted->paths.count == 0)
        return true;
    (void)snprintf(path, sizeof(path), "%s%s%s", strcmp(tree->path, "/") == 0 ? "" : tree->path,
                   *change->path ? "/" : "", change->path);
    vec_each (&wanted->paths, one) {
        /* What was deleted as a whole is shown for a path in it, too. */
        if (path_is_below(path, *one) ||
            (change->kind == CHANGE_DELETED && path_is_below(*one, path)))
            return true;
    }
    return false;
}

/* Leaves those that are wanted. */
static size_t keep_wanted(struct findings *findings, const struct wanted *wanted)
{
    size_t left = 0;

    for (size_t i = 0; i < findings->count; i++) {
        struct found *found = &findings->items[i];
        size_t count = 0;

        vec_each (&found->changes.list, change) {
            if (wanted_has(wanted, &found->overlay, change))
                found->changes.list.items[count++] = *change;
        }
        found->changes.list.count = count;
        left += count;
    }
    return left;
}

/* Behind a pager, as git has it. NULL: there is none, and standard output is what is written to. */
static FILE *open_pager(pid_t *ret_pid)
{
    const char *pager = getenv("PAGER");
    int ends[2];
    pid_t pid;

    if (!isatty(STDOUT_FILENO) || (pager && !*pager) || pipe(ends) < 0)
        return NULL;
    pid = fork();
    if (pid == 0) {
        (void)signal(SIGPIPE, SIG_DFL);
        (void)setenv("LESS", "FRX", 0);
        (void)dup2(ends[0], STDIN_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execl("/bin/sh", "sh", "-c", pager ? pager : "less", (char *)NULL);
        _exit(127);
    }
    (void)close(ends[0]);
    if (pid < 0) {
        (void)close(ends[1]);
        return NULL;
    }
    *ret_pid = pid;
    return fdopen(ends[1], "w");
}

static int show(const struct findings *findings, const struct show_options *options,
                struct bawn_error *err)
{
    struct show_tree trees[LAYERS_TREES_MAX];
    pid_t pager = 0;
    FILE *paged = options->form == SHOW_TEXT ? open_pager(&pager) : NULL;
    FILE *out = paged ? paged : stdout;
    int result;

    for (size_t i = 0; i < findings->count; i++)
        trees[i] = (struct show_tree){.tree = &findings->items[i].overlay,
                                      .changes = &findings->items[i].changes};
    result = show_print(trees, findings->count, options, out, err);
    if (result == 0 && fflush(out) == EOF && errno != EPIPE)
        result = error_errno(err, errno, "write");
    if (paged)
        (void)fclose(paged);
    while (pager > 0 && waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        ;
    return result == -EPIPE ? 0 : result;
}

int diff_run(struct request *request, struct bawn_error *err)
{
    struct show_options options = {.form = form_of(request),
                                   .has_colours = wants_colour(),
                                   .is_watched = isatty(STDOUT_FILENO)};
    autofindings struct findings findings = {0};
    autowanted struct wanted wanted = {0};
    int result;

    request->takes_paths = true;
    result = choose_session(request, err);
    if (result == 0)
        result =
            store_open(&request->place, request->store.name, -EBADF, true, &request->store, err);
    if (result == 0)
        result = settle(request, err);
    if (result == 0)
        result = wanted_read(request, &wanted, err);
    if (result == 0)
        result = find_changes(&request->store, &findings, err);
    if (result < 0)
        return result;
    if (keep_wanted(&findings, &wanted) == 0 && options.form != SHOW_JSON) {
        if (!request->quiet)
            (void)fprintf(stderr, "bawn: session %s has no changes%s\n", request->store.name,
                          wanted.paths.count > 0 ? " there" : "");
        return STATUS_OK;
    }
    return show(&findings, &options, err);
}
