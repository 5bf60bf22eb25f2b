/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn: the launcher.
 *
 * Starting a command is what bawn does most, so this program is small, static
 * and reads no policy: it carries out compiled plans. For everything else, and
 * for a plan that it does not have, it becomes the other program, bawn-policy.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mutant.h"
#include "base/text.h"
#include "front/own.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

extern char **environ;

/* See the other program's main: a closed stream would be taken by the next file opened. */
static void streams_fill(void)
{
    int fd;

    do
        fd = openat(AT_FDCWD, "/dev/null", O_RDONLY | O_NOCTTY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd);
}

/* What somebody left open is not for the sandbox: all but the streams, and the plan. */
static void close_inherited(int plan_fd)
{
    unsigned keep = plan_fd > STDERR_FILENO ? (unsigned)plan_fd : STDERR_FILENO;

    if (!LAYER("fds"))
        return;
    if (keep > STDERR_FILENO + 1)
        (void)sys_close_range(STDERR_FILENO + 1, keep - 1, 0);
    (void)sys_close_range(keep + 1, ~0U, 0);
}

static bool is_verb(const char *word, const char *name)
{
    return word && strcmp(word, name) == 0;
}

/* Parses what is behind the verb. False: the other program says what is wrong with it. */
static bool parse(struct front *front, char **args, const struct option_group *const *groups)
{
    int used = options_parse(&front->options, groups, args, true, "bawn", NULL);

    if (used < 0 || options_has(&front->options, OPTION_HELP))
        return false;
    for (args += used; *args; args++) {
        if (!vec_push(&front->options.words, *args))
            return false;
    }
    front->json = options_has(&front->options, OPTION_JSON);
    front->quiet = options_has(&front->options, OPTION_QUIET);
    return true;
}

static int run_verb(struct front *front, char **args, struct bawn_error *err)
{
    static const struct option_group *const run_groups[] = {&run_options, &load_options,
                                                            &verb_options, NULL};
    bool is_shell = is_verb(args[0], "shell");

    if ((is_shell || is_verb(args[0], "run")) && parse(front, args + 1, run_groups) &&
        !(is_shell && front->options.words.count > 0))
        return front_run(front, is_shell, err);
    return cold_exec(front, err);
}

int front_fail(const struct front *front, const struct bawn_error *err)
{
    if (front->json) {
        struct strbuf out = {0};

        json_add_error(&out, err, NULL);
        (void)printf("%s\n", out.failed ? "{}" : out.text);
        strbuf_done(&out);
    } else {
        (void)fprintf(stderr, "bawn: %s\n", err->message);
        if (err->hint[0])
            (void)fprintf(stderr, "hint: %s\n", err->hint);
    }
    return STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct front front = {.argv = argv, .environ = environ, .plan_fd = -EBADF};
    char **args = argc > 0 ? argv + 1 : argv;
    struct bawn_error err = {0};
    uint64_t fd;
    int status;

    /* SECURITY: with rights that the caller does not have, every option would be a hole. */
    if (getauxval(AT_SECURE)) {
        (void)error_set(&err, EPERM, "run.setuid", "bawn must not be setuid or have capabilities");
        error_hint(&err, "bawn needs no rights of its own: chmod u-s,g-s and setcap -r its file");
        return front_fail(&front, &err);
    }
    if (*args && strncmp(*args, "--plan-fd=", 10) == 0) {
        if (!text_parse_count(*args + 10, 1 << 20, &fd) || fd <= STDERR_FILENO)
            return STATUS_FAILED;
        front.plan_fd = (int)fd;
        args++;
    }
    close_inherited(front.plan_fd);
    streams_fill();
    status = run_verb(&front, args, &err);
    if (status < 0)
        status = front_fail(&front, &err);
    options_done(&front.options);
    return status;
}
