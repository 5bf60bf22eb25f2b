/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times commands from vfork to exit, in turn: noise of the machine meets all of them alike.
 *
 *     bench_spawn ROUNDS AT_ONCE COMMAND... [,, COMMAND...]...
 *
 * Prints one line for each command: its failures, and the nanoseconds of every round. With AT_ONCE
 * above 1 a round is that many of the same command at once, until the last has ended. In front of a
 * command may stand: @every=N (only each Nth round), @before=SCRIPT (run by sh, not timed),
 * @input=FILE (opened anew as descriptor 3).
 */
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { COMMANDS_MAX = 32, ROUNDS_MAX = 100000, AT_ONCE_MAX = 1000, INPUT_FD = 3 };

struct command {
    char **argv;
    char *before;
    const char *input;
    uint64_t every;
    uint64_t *times_ns;
    size_t count;
    size_t failures;
};

static uint64_t now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static _Noreturn void fail(const char *what)
{
    (void)fprintf(stderr, "bench_spawn: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static pid_t start(const struct command *command)
{
    pid_t pid = vfork();

    if (pid == 0) {
        if (command->input) {
            int fd = openat(AT_FDCWD, command->input, O_RDONLY);

            if (fd < 0 || (fd != INPUT_FD && dup2(fd, INPUT_FD) < 0))
                _exit(126);
        }
        (void)execve(command->argv[0], command->argv, environ);
        _exit(127);
    }
    if (pid < 0)
        fail("vfork");
    return pid;
}

static void prepare(const struct command *command)
{
    static char shell[] = "/bin/sh";
    static char option[] = "-c";
    char *argv[] = {shell, option, command->before, NULL};
    struct command script = {.argv = argv};
    int status;

    if (command->before && (waitpid(start(&script), &status, 0) < 0 || status != 0))
        fail(command->before);
}

static void run_round(struct command *command, size_t at_once)
{
    uint64_t begin;
    int status;

    prepare(command);
    begin = now_ns();
    for (size_t i = 0; i < at_once; i++)
        (void)start(command);
    for (size_t i = 0; i < at_once; i++) {
        if (wait(&status) < 0)
            fail("wait");
        if (status != 0)
            command->failures++;
    }
    command->times_ns[command->count++] = now_ns() - begin;
}

static bool take_word(struct command *command, char *word)
{
    if (strncmp(word, "@every=", 7) == 0)
        return text_parse_count(word + 7, ROUNDS_MAX, &command->every) && command->every > 0;
    if (strncmp(word, "@before=", 8) == 0)
        command->before = word + 8;
    else if (strncmp(word, "@input=", 7) == 0)
        command->input = word + 7;
    else
        return false;
    return true;
}

/* Cuts the arguments at each ",,"; returns how many commands they are. */
static size_t split(char **args, uint64_t rounds, struct command commands[COMMANDS_MAX])
{
    size_t count = 0;

    while (*args) {
        struct command *command = &commands[count++];

        if (count > COMMANDS_MAX)
            return 0;
        *command = (struct command){.every = 1};
        while (*args && take_word(command, *args))
            args++;
        command->argv = args;
        command->times_ns = calloc(rounds, sizeof(*command->times_ns));
        if (!*args || !command->times_ns)
            return 0;
        while (*args && strcmp(*args, ",,") != 0)
            args++;
        if (*args)
            *args++ = NULL;
    }
    return count;
}

static void print(const struct command *command, FILE *results)
{
    (void)fprintf(results, "%zu", command->failures);
    for (size_t i = 0; i < command->count; i++)
        (void)fprintf(results, " %llu", (unsigned long long)command->times_ns[i]);
    (void)fprintf(results, "\n");
}

/* The results are ours; what the commands say is nobody's. */
static FILE *take_streams(void)
{
    int fd = dup(STDOUT_FILENO);
    int null = openat(AT_FDCWD, "/dev/null", O_RDWR);
    FILE *results = fd < 0 ? NULL : fdopen(fd, "w");

    if (!results || null < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
        dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        fail("streams");
    (void)close(null);
    return results;
}

int main(int argc, char **argv)
{
    static struct command commands[COMMANDS_MAX];
    uint64_t rounds = 0;
    uint64_t at_once = 0;
    size_t count = 0;
    FILE *results;

    if (argc > 3 && text_parse_count(argv[1], ROUNDS_MAX, &rounds) &&
        text_parse_count(argv[2], AT_ONCE_MAX, &at_once) && rounds > 0 && at_once > 0)
        count = split(argv + 3, rounds, commands);
    if (count == 0) {
        (void)fprintf(stderr, "usage: bench_spawn ROUNDS AT_ONCE COMMAND... [,, COMMAND...]...\n");
        return EXIT_FAILURE;
    }
    results = take_streams();
    for (uint64_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            if (round % commands[i].every == 0)
                run_round(&commands[i], at_once);
        }
    }
    for (size_t i = 0; i < count; i++) {
        print(&commands[i], results);
        free(commands[i].times_ns);
    }
    return fclose(results) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
