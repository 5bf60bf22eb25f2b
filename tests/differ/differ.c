/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes file calls that a seed chooses, and tells of each what it gave: see differ.py.
 *
 *     differ [outside UID GID WRITABLE] MODE SEED STEPS DIR
 *
 * DIR is absolute, and all that is changed lies below it. Outside of a sandbox nothing but the
 * directory WRITABLE can be written.
 *
 * Modes: alone, protected, processes, threads, race, restarted, interrupted.
 */
#include "differ/actor.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDES = 4, AROUND = 6, STORE_FD = 900, BETWEEN_SIGNALS_US = 150 };

struct side {
    struct actor actor;
    unsigned steps;
    pthread_t thread;
    pid_t pid;
    char base[ARGUMENT_BYTES];
};

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(100);
}

/* Out of the way of those that calls get. */
static int put_away(int fd, int number)
{
    if (fd < 0 || dup3(fd, number, O_CLOEXEC) < 0)
        give_up("descriptor");
    close(fd);
    return number;
}

/* A directory inside others, in which nothing can be made: ".." leads to one of them. It may be
 * there already. */
static void base_make(struct side *side, const char *dir, const char *name)
{
    (void)snprintf(side->base, sizeof(side->base), "%s/%s", dir, name);
    if (mkdir(side->base, 0755) < 0 && errno != EEXIST)
        give_up(side->base);
    for (int i = 0; i < AROUND; i++) {
        size_t used = strlen(side->base);

        (void)snprintf(side->base + used, sizeof(side->base) - used, "/z");
        if (mkdir(side->base, 0755) < 0 && errno != EEXIST)
            give_up(side->base);
    }
    for (int i = 0; i < AROUND; i++) {
        side->base[strlen(side->base) - 2] = '\0';
        if (chmod(side->base, 0555) < 0)
            give_up(side->base);
    }
    for (int i = 0; i < AROUND; i++)
        memcpy(side->base + strlen(side->base), "/z", 3);
}

static void side_init(struct side *side, const char *dir, uint64_t seed, int number)
{
    side->actor.root = dir;
    side->actor.random = seed * 1000003 + (uint64_t)number;
    side->actor.base = side->base;
    side->actor.base_fd =
        put_away(open(side->base, O_PATH | O_DIRECTORY | O_CLOEXEC), STORE_FD + 2 * number);
    side->actor.log_fd =
        number == 0 ? 1 : put_away(memfd_create("log", 0), STORE_FD + 2 * number + 1);
    for (int i = 0; i < SLOTS; i++)
        side->actor.fds[i] = -1;
}

static void show(int fd)
{
    char bytes[65536];
    ssize_t got;
    off_t at = 0;

    while ((got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
        if (write(1, bytes, (size_t)got) != got)
            give_up("standard output");
        at += got;
    }
}

static void side_end(struct side *side)
{
    struct actor *actor = &side->actor;

    (void)umask(022);
    for (int i = 0; i < SLOTS; i++) {
        if (actor->fds[i] < 0)
            continue;
        tell(actor, "slot %d", i);
        tell_fd(actor, actor->fds[i]);
        tell_end(actor);
    }
    tell_tree(actor);
}

static void run_alone(struct side *side)
{
    if (chdir(side->base) < 0)
        give_up(side->base);
    steps_begin(&side->actor);
    steps_make(&side->actor, side->steps);
    side_end(side);
}

static void *run_thread(void *argument)
{
    struct side *side = argument;

    steps_make(&side->actor, side->steps);
    return NULL;
}

static void run_threads(struct side *sides)
{
    /* Nobody should meet the current directory, but who does must find nothing to change. */
    if (fchdir(sides[1].actor.base_fd) < 0)
        give_up(sides[1].base);
    for (int i = 1; i <= SIDES; i++)
        if (pthread_create(&sides[i].thread, NULL, run_thread, &sides[i]) != 0)
            give_up("thread");
    for (int i = 1; i <= SIDES; i++)
        (void)pthread_join(sides[i].thread, NULL);
}

static void run_processes(struct side *sides)
{
    int status;

    for (int i = 1; i <= SIDES; i++) {
        pid_t pid = fork();

        if (pid < 0)
            give_up("fork");
        if (pid > 0)
            sides[i].pid = pid;
        if (pid == 0) {
            run_alone(&sides[i]);
            _exit(0);
        }
    }
    for (int i = 1; i <= SIDES; i++)
        if (waitpid(sides[i].pid, &status, 0) < 0 || status != 0)
            (void)fprintf(stderr, "a process ended with %x\n", (unsigned)status), exit(100);
}

static void run_many(struct side *sides, const char *mode, uint64_t seed, const char *dir)
{
    bool is_race = strcmp(mode, "race") == 0;
    bool is_processes = strcmp(mode, "processes") == 0;

    for (int i = 1; i <= SIDES; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "%d", i);
        if (is_race && i > 1)
            memcpy(sides[i].base, sides[1].base, sizeof(sides[i].base));
        else
            base_make(&sides[i], dir, name);
        side_init(&sides[i], dir, seed, i);
        sides[i].actor.shares = !is_processes;
        sides[i].actor.is_racing = is_race;
        sides[i].steps = sides[0].steps;
        if (!is_processes && (i == 1 || !is_race))
            steps_begin(&sides[i].actor);
    }
    if (is_processes)
        run_processes(sides);
    else
        run_threads(sides);
    for (int i = 1; i <= SIDES; i++) {
        if (!is_processes && !is_race)
            side_end(&sides[i]);
        show(sides[i].actor.log_fd);
    }
}

static int run(const char *mode, uint64_t seed, unsigned steps, const char *dir)
{
    struct side *sides = mmap(NULL, (SIDES + 1) * sizeof(*sides), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct actor *first;

    if (sides == MAP_FAILED)
        give_up("memory");
    (void)umask(022);
    first = &sides[0].actor;
    sides[0].steps = steps;
    if (strcmp(mode, "processes") == 0 || strcmp(mode, "threads") == 0 ||
        strcmp(mode, "race") == 0) {
        run_many(sides, mode, seed, dir);
        return 0;
    }
    base_make(&sides[0], dir, "0");
    side_init(&sides[0], dir, seed, 0);
    first->wants_protected = strcmp(mode, "protected") == 0;
    first->is_retrying = strcmp(mode, "interrupted") == 0;
    first->signal_flags = first->is_retrying ? 0 : SA_RESTART;
    if (first->is_retrying || strcmp(mode, "restarted") == 0)
        first->between_us = BETWEEN_SIGNALS_US;
    actor_set_signals(first);
    run_alone(&sides[0]);
    if (first->between_us > 0)
        (void)fprintf(stderr, "interrupted %lu\n", first->interrupted);
    return 0;
}

static unsigned long number(const char *text)
{
    return strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
    bool is_outside = argc == 9 && strcmp(argv[1], "outside") == 0;
    char **words = argv + (is_outside ? 4 : 0);
    pid_t pid;
    int status;

    if ((argc != 5 && !is_outside) || words[4][0] != '/') {
        (void)fprintf(stderr, "usage: differ [outside UID GID WRITABLE] MODE SEED STEPS DIR\n");
        return 2;
    }
    /* The same descriptors, and no terminal, wherever it runs. */
    if (close_range(3, ~0U, 0) < 0)
        give_up("close_range");
    if (is_outside)
        shield_raise(argv[4], (uid_t)number(argv[2]), (gid_t)number(argv[3]));
    pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        if (setsid() < 0)
            give_up("setsid");
        _exit(run(words[1], number(words[2]), (unsigned)number(words[3]), words[4]));
    }
    if (waitpid(pid, &status, 0) != pid)
        give_up("wait");
    if (WIFSIGNALED(status))
        (void)fprintf(stderr, "killed by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
