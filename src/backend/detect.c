/* SPDX-License-Identifier: Apache-2.0 */
/* Which backends can be used here: ours by the features they need, others by running them. */
#include "backend/backend.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/probe_program.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BACKEND_LIMIT_MS = 5000 };

enum { RUN_BWRAP, RUN_BWRAP_VERSION, RUN_PODMAN, RUN_DOCKER, RUN_COUNT };

__attribute__((format(printf, 2, 3))) static void refuse(struct backend_fact *backend,
                                                         const char *format, ...)
{
    char reason[2 * sizeof(backend->reason)];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    text_escape(backend->reason, sizeof(backend->reason), reason, strlen(reason), TEXT_ONE_LINE);
}

static void judge_needs(const struct host_facts *facts, struct backend_fact *backend,
                        const struct backend_need *needs)
{
    char reason[64];

    for (const struct backend_need *need = needs; need->name; need++) {
        const struct feature_fact *fact = &facts->features[need->feature];

        if (fact->available)
            continue;
        if (fact->errnum)
            refuse(backend, "needs %s (%s: %s)", need->name, fact->step,
                   strerror_r(fact->errnum, reason, sizeof(reason)));
        else
            refuse(backend, "needs %s", need->name);
        return;
    }
    backend->available = true;
}

/* The first line, made printable. */
static void first_line(const struct program *program, enum program_stream stream, char *out,
                       size_t size)
{
    const char *text = program->output[stream];

    text_escape(out, size, text, strcspn(text, "\n"), TEXT_ONE_LINE);
}

/* The last line that is not empty: warnings come first, what it failed of last. */
static void last_line(const struct program *program, enum program_stream stream, char *out,
                      size_t size)
{
    const char *text = program->output[stream];
    size_t end = program->length[stream], start;

    while (end > 0 && text[end - 1] == '\n')
        end--;
    for (start = end; start > 0 && text[start - 1] != '\n';)
        start--;
    text_escape(out, size, text + start, end - start, TEXT_ONE_LINE);
}

static void judge_bwrap(struct backend_fact *backend, const struct program *programs)
{
    const struct program *tried = &programs[RUN_BWRAP];
    const struct program *version = &programs[RUN_BWRAP_VERSION];
    static const char word[] = "bubblewrap ";
    char line[128];

    if (!tried->argv[0]) {
        refuse(backend, "not installed");
        return;
    }
    if (program_succeeded(version)) {
        first_line(version, PROGRAM_STDOUT, line, sizeof(line));
        (void)snprintf(backend->version, sizeof(backend->version), "%.63s",
                       strncmp(line, word, strlen(word)) == 0 ? line + strlen(word) : line);
    }
    backend->available = program_succeeded(tried);
    if (backend->available)
        return;
    last_line(tried, PROGRAM_STDERR, line, sizeof(line));
    if (!tried->ended)
        refuse(backend, "bubblewrap is installed but did not finish a trial run in 5 s");
    else
        refuse(backend, "does not work here: %s", line);
}

/* 0, or why the daemon's socket cannot be used. */
static int docker_socket_errno(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/var/run/docker.sock"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int errnum = fd < 0 ? errno : 0;

    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        errnum = errno;
    if (fd >= 0)
        (void)close(fd);
    return errnum;
}

static void judge_docker(struct backend_fact *backend, const struct program *tried)
{
    if (!tried->argv[0]) {
        refuse(backend, "not installed");
        return;
    }
    backend->available = program_succeeded(tried);
    if (backend->available)
        first_line(tried, PROGRAM_STDOUT, backend->version, sizeof(backend->version));
    else if (!tried->ended)
        refuse(backend, "docker is installed but its daemon did not answer in 5 s");
    else if (docker_socket_errno() == EACCES)
        refuse(backend, "docker is installed but this user may not use its daemon");
    else
        refuse(backend, "docker is installed but its daemon does not answer");
}

static void judge_podman(struct backend_fact *backend, const struct program *tried)
{
    char line[128];

    if (!tried->argv[0]) {
        refuse(backend, "not installed");
        return;
    }
    last_line(tried, PROGRAM_STDERR, line, sizeof(line));
    backend->available = program_succeeded(tried);
    if (backend->available)
        first_line(tried, PROGRAM_STDOUT, backend->version, sizeof(backend->version));
    else if (!tried->ended)
        refuse(backend, "podman is installed but did not answer in 5 s");
    else
        refuse(backend, "podman is installed but does not work here: %s", line);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    (void)remove(path);
    return 0;
}

/*
 * podman makes its whole store when it is first asked anything: in a directory of
 * ours, which goes again, not in the user's home. Left to itself it would also make
 * locks in /dev/shm and /etc, and ask systemd for a scope.
 */
struct podman_trial {
    char dir[32];
    char root[48], run[48], tmp[48];
    char conf[64], variable[96];
};

/* False when there is no place for it. */
static bool podman_prepare(struct podman_trial *trial, const char *path, struct program *program)
{
    char text[256];

    (void)snprintf(trial->dir, sizeof(trial->dir), "/tmp/bawn-probe.XXXXXX");
    if (!mkdtemp(trial->dir)) {
        trial->dir[0] = '\0';
        return false;
    }
    (void)snprintf(trial->root, sizeof(trial->root), "%s/root", trial->dir);
    (void)snprintf(trial->run, sizeof(trial->run), "%s/run", trial->dir);
    (void)snprintf(trial->tmp, sizeof(trial->tmp), "%s/tmp", trial->dir);
    (void)snprintf(trial->conf, sizeof(trial->conf), "%s/containers.conf", trial->dir);
    (void)snprintf(trial->variable, sizeof(trial->variable), "CONTAINERS_CONF=%s", trial->conf);
    *program =
        (struct program){.argv = {path, "--root", trial->root, "--runroot", trial->run, "--tmpdir",
                                  trial->tmp, "info", "--format", "{{.Version.Version}}"},
                         .home = trial->dir,
                         .variable = trial->variable};
    (void)snprintf(text, sizeof(text),
                   "[engine]\n"
                   "lock_type = \"file\"\n"
                   "events_logger = \"none\"\n"
                   "cgroup_manager = \"cgroupfs\"\n"
                   "[network]\n"
                   "network_config_dir = \"%s\"\n",
                   trial->dir);
    return file_write(AT_FDCWD, trial->conf, text, strlen(text), NULL) == 0;
}

/* On a busy machine a podman that was killed may make one directory more before it is gone. */
static void podman_clean_up(const struct podman_trial *trial)
{
    struct timespec pause = {.tv_nsec = 50000000};

    for (int rounds = 0; trial->dir[0] && rounds < 20; rounds++) {
        (void)nftw(trial->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        if (access(trial->dir, F_OK) < 0)
            return;
        (void)nanosleep(&pause, NULL);
    }
}

static void probe_programs(struct host_facts *facts)
{
    char bwrap[64], podman[64], docker[64];
    struct program programs[RUN_COUNT] = {0};
    struct podman_trial trial = {0};
    bool has_place = true;

    if (program_find("bwrap", bwrap, sizeof(bwrap))) {
        /* What runs inside is bwrap itself: the one program that is known to be there. */
        programs[RUN_BWRAP] = (struct program){
            .argv = {bwrap, "--unshare-all", "--ro-bind", "/", "/", "--", bwrap, "--version"}};
        programs[RUN_BWRAP_VERSION] = (struct program){.argv = {bwrap, "--version"}};
    }
    if (program_find("podman", podman, sizeof(podman)))
        has_place = podman_prepare(&trial, podman, &programs[RUN_PODMAN]);
    if (program_find("docker", docker, sizeof(docker)))
        programs[RUN_DOCKER] =
            (struct program){.argv = {docker, "version", "--format", "{{.Server.Version}}"}};
    (void)program_run_all(programs, RUN_COUNT, BACKEND_LIMIT_MS);
    podman_clean_up(&trial);
    judge_bwrap(&facts->backends[BACKEND_BUBBLEWRAP], programs);
    if (has_place)
        judge_podman(&facts->backends[BACKEND_PODMAN], &programs[RUN_PODMAN]);
    else
        refuse(&facts->backends[BACKEND_PODMAN],
               "podman is installed but could not be tried: nothing can be written in /tmp");
    judge_docker(&facts->backends[BACKEND_DOCKER], &programs[RUN_DOCKER]);
}

void backend_detect(struct host_facts *facts, bool programs)
{
    struct backend_fact *native = &facts->backends[BACKEND_NATIVE];
    struct backend_fact *landlock = &facts->backends[BACKEND_LANDLOCK];

    memset(facts->backends, 0, sizeof(facts->backends));
    for (enum backend_id id = 0; id < BACKEND_COUNT; id++) {
        if (backend_row(id)->needs)
            judge_needs(facts, &facts->backends[id], backend_row(id)->needs);
    }
    if (native->available)
        (void)snprintf(native->version, sizeof(native->version), "%.20s %.40s", facts->sysname,
                       facts->release);
    if (landlock->available)
        (void)snprintf(landlock->version, sizeof(landlock->version), "ABI %d", facts->landlock_abi);
    if (programs)
        probe_programs(facts);
    refuse(&facts->backends[BACKEND_SEATBELT], "needs macOS");
}
