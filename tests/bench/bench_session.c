/* SPDX-License-Identifier: Apache-2.0 */
/* One more command in a running sandbox, on a kept connection, against a bare spawn: microseconds,
 * taken in turns. */
#include <bawn/bawn.h>
#include <bawn/run.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 500 };

extern char **environ;
static const char *const argv[] = {"/bin/true", NULL};
static double times[2][ROUNDS];

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *left, const void *right)
{
    double one = *(const double *)left, other = *(const double *)right;

    return (one > other) - (one < other);
}

static void spawn_bare(void)
{
    pid_t pid;

    if (posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ) != 0)
        exit(1);
    (void)waitpid(pid, NULL, 0);
}

static void spawn_inside(struct bawn_session *session, struct bawn_error *err)
{
    struct bawn_command command = {.argv = argv, .fds = {0, 1, 2}};
    int status = 1;
    int job = bawn_session_exec(session, &command, err);

    if (job < 0 || bawn_session_wait(session, job, &status, err) < 0 || status != 0) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

int main(void)
{
    struct bawn_load *load;
    struct bawn_policy *policy;
    struct bawn_host *host;
    struct bawn_plan *plan;
    struct bawn_session *session;
    struct bawn_error err = {0};
    int null = open("/dev/null", O_RDWR);

    (void)dup2(null, 0);
    if (bawn_load_new(&load, &err) < 0 || bawn_policy_load(load, &policy, NULL, &err) < 0 ||
        bawn_host_probe_kernel(&host, &err) < 0 || bawn_plan_new(policy, host, &plan, &err) < 0 ||
        bawn_run_start(plan, NULL, &session, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_us(), between;

        spawn_bare();
        between = now_us();
        spawn_inside(session, &err);
        times[0][i] = between - start;
        times[1][i] = now_us() - between;
    }
    for (int i = 0; i < 2; i++)
        qsort(times[i], ROUNDS, sizeof(times[i][0]), compare);
    (void)printf("bare spawn     min %4.0f us  median %4.0f\n", times[0][0], times[0][ROUNDS / 2]);
    (void)printf("exec inside    min %4.0f us  median %4.0f   ratio %.2f %.2f\n", times[1][0],
                 times[1][ROUNDS / 2], times[1][0] / times[0][0],
                 times[1][ROUNDS / 2] / times[0][ROUNDS / 2]);
    bawn_session_close(session);
    bawn_plan_free(plan);
    bawn_host_free(host);
    bawn_policy_free(policy);
    bawn_load_free(load);
    return 0;
}
