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
#include "base/file.h"
#include "base/mutant.h"
#include "base/text.h"
#include "kernel/sys.h"
#include "program_bawn/own.h"
#include "wire/control.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

extern char **environ;

/* See the other program's main: a closed stream would be taken by the next file opened. */
static bool streams_fill(void)
{
    struct pollfd streams[3] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
    bool is_filled = true;

    if (poll(streams, 3, 0) <= 0)
        return true;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* KERNEL: poll says the same of one with O_PATH, which is open, and refused later. */
        if ((streams[fd].revents & POLLNVAL) && fcntl(fd, F_GETFD) < 0)
            is_filled &= file_open_null(O_RDONLY, NULL) == fd && fcntl(fd, F_SETFD, 0) == 0;
    }
    return is_filled;
}

enum { FD_MOST = 255 };

static void close_between(int below, int above)
{
    if (above - below > 1)
        (void)sys_close_range((unsigned)below + 1, (unsigned)above - 1, 0);
}

/* What somebody left open is not for the sandbox: all but the streams, and what was named. */
static void close_inherited(const struct front *front)
{
    int named[3 + LIMIT_FURTHER_FDS] = {front->plan_fd, front->owner_fd, front->events_fd};
    unsigned count = 3 + front->further_count;
    int last = STDERR_FILENO;

    if (!LAYER("fds"))
        return;
    memcpy(named + 3, front->further, front->further_count * sizeof(*named));
    for (;;) {
        int next = INT_MAX;

        for (unsigned i = 0; i < count; i++)
            next = named[i] > last && named[i] < next ? named[i] : next;
        if (next == INT_MAX)
            break;
        close_between(last, next);
        last = next;
    }
    (void)sys_close_range((unsigned)last + 1, ~0U, 0);
}

/* --fd: which descriptors the command gets, too. */
static int take_further(struct front *front, struct bawn_error *err)
{
    vec_each (&front->options.given, given) {
        uint64_t fd = 0;
        char shown[64];

        if (given->option->id != OPTION_FD)
            continue;
        if (!text_parse_count(given->value, FD_MOST, &fd) || fd <= STDERR_FILENO ||
            fcntl((int)fd, F_GETFD) < 0 || (int)fd == front->plan_fd ||
            (int)fd == front->owner_fd) {
            text_escape(shown, sizeof(shown), given->value, strlen(given->value), TEXT_ONE_LINE);
            (void)error_set(err, EBADF, "usage.bad_value",
                            "--fd: '%s' is no descriptor that is open", shown);
            error_hint(err, "give its number, from 3 to %d: bawn run --fd 3 -- COMMAND 3<FILE",
                       FD_MOST);
            return -EBADF;
        }
        if (front->further_count == LIMIT_FURTHER_FDS)
            return error_set(err, E2BIG, "usage.bad_value", "--fd: more than %d",
                             LIMIT_FURTHER_FDS);
        front->further[front->further_count++] = (int)fd;
    }
    return 0;
}

/* --events: where somebody wants to be told what happens. A standard stream may be it. */
static int take_events(struct front *front, struct bawn_error *err)
{
    const char *value = options_value(&front->options, OPTION_EVENTS);
    uint64_t fd = 0;
    char shown[64];

    if (!value)
        return 0;
    if (text_parse_count(value, FD_MOST, &fd) && fd > STDIN_FILENO && (int)fd != front->plan_fd &&
        (int)fd != front->owner_fd && fcntl((int)fd, F_GETFD) >= 0) {
        front->events_fd = (int)fd;
        for (unsigned i = 0; i < front->further_count; i++)
            value = front->further[i] == (int)fd ? NULL : value;
        if (value)
            return 0;
        return error_set(err, EINVAL, "usage.bad_value",
                         "--events and --fd: the command does not get the descriptor for events");
    }
    text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
    (void)error_set(err, EBADF, "usage.bad_value", "--events: '%s' is no descriptor that is open",
                    shown);
    error_hint(err, "give its number: bawn run --events 3 -- COMMAND 3>FILE");
    return -EBADF;
}

/* The verbs that are answered here. */
static const struct front_verb {
    const struct verb *verb;
    int (*run)(struct front *front, struct bawn_error *err);
} verbs[] = {
    {&verb_run, front_run},       {&verb_shell, front_shell},     {&verb_exec, front_exec},
    {&verb_ps, front_ps},         {&verb_status, front_status},   {&verb_stop, front_stop},
    {&verb_attach, front_attach}, {&verb_metrics, front_metrics}, {&verb_logs, front_logs},
    {&verb_wait, front_wait},     {&verb_audit, front_audit},     {&verb_approve, front_approve},
    {&verb_diff, front_changes},  {&verb_apply, front_changes},   {&verb_discard, front_changes},
    {&verb_undo, front_changes},  {&verb_gc, front_changes},      {&verb_rm, front_rm},
};

/* Parses what is behind the verb. False: the other program says what is wrong with it. */
static bool parse(struct front *front, char **args, const struct verb *verb)
{
    int used = options_parse(&front->options, verb->groups, args, verb->ends_at_word, "bawn", NULL);

    if (used < 0 || options_has(&front->options, OPTION_HELP))
        return false;
    front->has_dashes = used > 0 && strcmp(args[used - 1], "--") == 0;
    for (args += used; *args; args++) {
        if (!vec_push(&front->options.words, *args))
            return false;
    }
    front->json = front->json || options_has(&front->options, OPTION_JSON);
    front->quiet = front->quiet || options_has(&front->options, OPTION_QUIET);
    return front->options.words.count <= verb->max_args;
}

/* Options of bawn itself, before the verb. */
static char **skip_options(struct front *front, char **args)
{
    for (; *args; args++) {
        if (strcmp(*args, "--json") == 0)
            front->json = true;
        else if (strcmp(*args, "--quiet") == 0 || strcmp(*args, "-q") == 0)
            front->quiet = true;
        else
            break;
    }
    return args;
}

static int run_verb(struct front *front, char **args, struct bawn_error *err)
{
    args = skip_options(front, args);
    for (size_t i = 0; *args && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        int result;

        if (strcmp(*args, verbs[i].verb->name) != 0 || !parse(front, args + 1, verbs[i].verb))
            continue;
        result = take_further(front, err);
        if (result == 0)
            result = take_events(front, err);
        close_inherited(front);
        return result < 0 ? result : verbs[i].run(front, err);
    }
    close_inherited(front);
    return cold_exec(front, err);
}

/* Whoever started us by the library reads no text. */
static void tell_owner(const struct front *front, const struct bawn_error *err)
{
    struct control_message message = {
        .version = CONTROL_VERSION, .kind = CONTROL_FAILED, .value = err->errnum};

    (void)control_send(front->owner_fd, &message, err, sizeof(*err), NULL, 0);
}

int front_fail(const struct front *front, const struct bawn_error *err)
{
    if (front->owner_fd < 0)
        return front_show_error(front, err);
    tell_owner(front, err);
    return STATUS_FAILED;
}

/* "NAMEn", for what the library and the other program hand over. */
static bool take_number(char ***args, const char *name, int *ret_fd)
{
    size_t length = strlen(name);
    uint64_t fd;

    if (!**args || strncmp(**args, name, length) != 0)
        return true;
    if (!text_parse_count(**args + length, 1 << 20, &fd) || fd <= STDERR_FILENO)
        return false;
    *ret_fd = (int)fd;
    ++*args;
    return true;
}

int main(int argc, char **argv)
{
    struct front front = {.argv = argv,
                          .environ = environ,
                          .plan_fd = -EBADF,
                          .owner_fd = -EBADF,
                          .events_fd = -EBADF};
    char **args = argc > 0 ? argv + 1 : argv;
    struct bawn_error err = {0};
    int status;

    /* SECURITY: with rights that the caller does not have, every option would be a hole. */
    if (getauxval(AT_SECURE)) {
        (void)error_set(&err, EPERM, "run.setuid", "bawn must not be setuid or have capabilities");
        error_hint(&err, "bawn needs no rights of its own: chmod u-s,g-s and setcap -r its file");
        return front_fail(&front, &err);
    }
    if (!take_number(&args, "--plan-fd=", &front.plan_fd) ||
        !take_number(&args, "--owner-fd=", &front.owner_fd) ||
        (front.plan_fd >= 0 && front.plan_fd == front.owner_fd))
        return STATUS_FAILED;
    if (!streams_fill())
        return STATUS_FAILED;
    status = run_verb(&front, args, &err);
    /* The options end with the process: giving their memory back first is one call more. */
    return status < 0 ? front_fail(&front, &err) : status;
}
