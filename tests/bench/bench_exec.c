/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times /bin/true, bare and in a session through the library on one connection, in turn:
 *
 *     bench_exec SID ROUNDS
 *
 * Prints two lines, bare first: the nanoseconds of every round.
 */
#include "base/text.h"

#include <bawn/run.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ROUNDS_MAX = 100000 };

static uint64_t now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t time_bare(void)
{
    static char name[] = "/bin/true";
    char *argv[] = {name, NULL};
    uint64_t begin = now_ns();
    int status = -1;
    pid_t pid = vfork();

    if (pid == 0) {
        (void)execve(name, argv, environ);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
        return 0;
    return now_ns() - begin;
}

static uint64_t time_session(struct bawn_session *session, struct bawn_error *err)
{
    const char *const argv[] = {"/bin/true", NULL};
    struct bawn_command command = {.argv = argv, .fds = {-1, -1, -1}};
    uint64_t begin = now_ns();
    int status = -1;
    int job = bawn_session_exec(session, &command, err);

    if (job < 0 || bawn_session_wait(session, job, &status, err) < 0 || status != 0)
        return 0;
    return now_ns() - begin;
}

static void print(const uint64_t *times_ns, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        (void)printf("%s%llu", i ? " " : "", (unsigned long long)times_ns[i]);
    (void)printf("\n");
}

int main(int argc, char **argv)
{
    struct bawn_error err = {0};
    struct bawn_session *session = NULL;
    uint64_t *times_ns = NULL;
    uint64_t rounds = 0;
    uint64_t done = 0;

    if (argc != 3 || !text_parse_count(argv[2], ROUNDS_MAX, &rounds) || rounds == 0) {
        (void)fprintf(stderr, "usage: bench_exec SID ROUNDS\n");
        return EXIT_FAILURE;
    }
    times_ns = calloc(2 * rounds, sizeof(*times_ns));
    if (times_ns && bawn_session_open(argv[1], &session, &err) == 0) {
        for (; done < rounds; done++) {
            times_ns[done] = time_bare();
            times_ns[rounds + done] = time_session(session, &err);
            if (times_ns[done] == 0 || times_ns[rounds + done] == 0)
                break;
        }
        bawn_session_close(session);
    }
    if (rounds != done) {
        (void)fprintf(stderr, "bench_exec: %s\n", err.message);
    } else {
        print(times_ns, rounds);
        print(times_ns + rounds, rounds);
    }
    free(times_ns);
    return rounds == done ? EXIT_SUCCESS : EXIT_FAILURE;
}
