/* SPDX-License-Identifier: Apache-2.0 */
/* The command that bawn learn observes: a 'bawn run' whose events are read here. */
#include "base/cleanup.h"
#include "base/error.h"
#include "program_policy/learn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* An event is shorter. */
enum { LINE_BYTES = 64 * 1024 };

struct watch {
    struct bawn_learned *learned;
    pid_t pid;
    int events_fd;  /* owned */
    int signals_fd; /* owned */
    sigset_t mask;  /* as it was */
    char line[LINE_BYTES];
    size_t length;
    bool is_skipping; /* the rest of a line that is too long */
};

struct words {
    VEC(char *) all;
    VEC(char *) own;
};

static void words_done(struct words *words)
{
    vec_each (&words->own, word)
        free(*word);
    vec_done(&words->own);
    vec_done(&words->all);
}

static bool add_word(struct words *words, const char *word)
{
    return vec_push(&words->all, (char *)word);
}

static bool add_option(struct words *words, const struct option_given *given)
{
    char *word = NULL;

    if (asprintf(&word, "--%s%s%s", given->option->name, given->value ? "=" : "",
                 given->value ? given->value : "") < 0)
        return false;
    if (!vec_push(&words->own, word)) {
        free(word);
        return false;
    }
    return add_word(words, word);
}

/* What is learn's own, and nothing to run. */
static bool is_own(enum option_id id)
{
    return id == OPTION_SCOPE || id == OPTION_DRY_RUN || id == OPTION_YES || id == OPTION_QUIET;
}

/* The command line of the run. What it would say of refusals is said here. */
static bool make_words(struct words *words, const struct options *options, const char *events)
{
    bool added = add_word(words, "bawn") && add_word(words, "run") && add_word(words, "--quiet") &&
                 add_word(words, events) && add_word(words, "--set=sandbox.process.observe=true");

    vec_each (&options->given, given) {
        if (added && !is_own(given->option->id))
            added = add_option(words, given);
    }
    added = added && add_word(words, "--");
    vec_each (&options->words, word)
        added = added && add_word(words, *word);
    return added && add_word(words, NULL);
}

static _Noreturn void become_run(char *const *words, const sigset_t *mask)
{
    struct bawn_error err = {0};

    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)bawn_launcher_exec(-1, words, &err);
    (void)fprintf(stderr, "bawn: %s\n", err.message);
    _exit(STATUS_FAILED);
}

static int start(struct watch *watch, const struct options *options, struct bawn_error *err)
{
    __attribute__((cleanup(words_done))) struct words words = {0};
    char events[32];
    sigset_t signals;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "make a pipe for events");
    watch->events_fd = ends[0];
    (void)snprintf(events, sizeof(events), "--events=%d", ends[1]);
    if (!make_words(&words, options, events)) {
        (void)close(ends[1]);
        return error_memory(err);
    }
    /* Blocked before there is a child: what comes between belongs to it. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &signals, &watch->mask);
    watch->signals_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    watch->pid = watch->signals_fd < 0 ? -1 : fork();
    if (watch->pid == 0) {
        (void)fcntl(ends[1], F_SETFD, 0);
        become_run(words.all.items, &watch->mask);
    }
    (void)close(ends[1]);
    return watch->pid < 0 ? error_errno(err, errno, "start the command") : 0;
}

/* A key that was typed has reached the command by itself. */
static void pass_signal(struct watch *watch)
{
    struct signalfd_siginfo info;

    while (read(watch->signals_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_code != SI_KERNEL)
            (void)kill(watch->pid, (int)info.ssi_signo);
    }
}

static void drop_signals(const struct watch *watch)
{
    struct signalfd_siginfo info;

    while (read(watch->signals_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        ;
}

static int take_bytes(struct watch *watch, const char *bytes, size_t count, struct bawn_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        if (bytes[i] != '\n') {
            watch->is_skipping = watch->is_skipping || watch->length == sizeof(watch->line);
            if (!watch->is_skipping)
                watch->line[watch->length++] = bytes[i];
            continue;
        }
        if (!watch->is_skipping)
            r = bawn_learned_take(watch->learned, watch->line, watch->length, err);
        watch->length = 0;
        watch->is_skipping = false;
    }
    return r;
}

/* Until nobody tells anything any more. */
static int listen_to(struct watch *watch, struct bawn_error *err)
{
    struct pollfd polled[] = {{.fd = watch->events_fd, .events = POLLIN},
                              {.fd = watch->signals_fd, .events = POLLIN}};
    char bytes[16 * 1024];
    int r = 0;

    for (;;) {
        ssize_t got;

        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            return error_errno(err, errno, "wait for events");
        if (polled[1].revents)
            pass_signal(watch);
        if (!polled[0].revents)
            continue;
        got = read(watch->events_fd, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return r;
        /* What was learned is lost without memory; the command goes on. */
        if (r == 0)
            r = take_bytes(watch, bytes, (size_t)got, err);
    }
}

static int await_end(const struct watch *watch, struct bawn_error *err)
{
    int status;

    while (waitpid(watch->pid, &status, 0) < 0) {
        if (errno != EINTR)
            return error_errno(err, errno, "wait for the command");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int learn_watch(const struct options *options, struct bawn_learned *learned, struct bawn_error *err)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    int r;
    int status;

    if (!watch)
        return error_memory(err);
    *watch = (struct watch){.learned = learned, .events_fd = -EBADF, .signals_fd = -EBADF};
    r = start(watch, options, err);
    if (r == 0) {
        r = listen_to(watch, err);
        status = await_end(watch, err);
        r = r < 0 ? r : status;
    }
    if (watch->events_fd >= 0)
        (void)close(watch->events_fd);
    if (watch->signals_fd >= 0) {
        /* What was typed to end the command does not end us. */
        drop_signals(watch);
        (void)close(watch->signals_fd);
        (void)sigprocmask(SIG_SETMASK, &watch->mask, NULL);
    }
    free(watch);
    return r;
}
