/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of a new plan, beside the start that waits for it.
 *
 * How it works: a copy of the launcher makes the sandbox that is tried, and writes
 * the plan meanwhile; it tells how that ended, keeps the plan, tells that, and tidies up. The
 * launcher makes the sandbox of the command meanwhile; before it sends the command
 * in it waits for the first word, and before it ends for the second. The copy has
 * nothing of the caller's open: where there is an init to reap it, it may outlive the launcher by
 * some milliseconds.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/process.h"
#include "program_bawn/own.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROOF_SOCK, PROOF_PLANS, PROOF_FDS };

struct proof_word {
    bool is_kept; /* as far as it can be; else this is about the proof */
    int result;
    struct bawn_error error;
};

static void tell(const struct proof_word *word)
{
    (void)send(PROOF_SOCK, word, sizeof(*word), MSG_NOSIGNAL);
}

struct writing {
    struct place_kept *place;
    const struct image *image;
};

static void write_meanwhile(void *context)
{
    const struct writing *writing = context;

    cache_write(writing->place, writing->image);
}

static _Noreturn void proof_main(struct place_kept *place, const struct image *image, int sock)
{
    const int fds[PROOF_FDS] = {sock, place->plans.fd};
    bool is_kept = *place->name;
    const struct session_proving proving = {
        .spares = write_meanwhile, .context = &(struct writing){.place = place, .image = image}};
    struct launch launch;
    struct proof_word word = {0};

    if (!process_withdraw("bawn: proof") || !process_keep_fds(fds, is_kept ? PROOF_FDS : 1))
        _exit(1);
    place->plans.fd = PROOF_PLANS;
    word.result = session_prove(image, &proving, &launch, &word.error);
    /* Of these addresses the host has one pair: the sandbox of the command may need the same. */
    if (image->flags & IMAGE_VETH) {
        launch_end(&launch);
        launch_close(&launch);
    }
    tell(&word);
    cache_store(place, word.result == 0);
    word.is_kept = true;
    tell(&word);
    if (word.result == 0)
        cache_tidy(place, image);
    launch_end(&launch);
    _exit(0);
}

int proof_start(struct proof *proof, const struct place_kept *place,
                struct session_request *request, struct bawn_error *err)
{
    struct place_kept own = *place;
    int pair[2];
    pid_t pid;

    *proof = (struct proof){.request = request, .sock = -EBADF};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(err, errno, "socketpair");
    pid = process_split(-EBADF, NULL);
    if (pid == 0)
        proof_main(&own, request->image, pair[1]);
    if (pid > 0)
        process_keep_off(pid);
    (void)close(pair[1]);
    proof->sock = pair[0];
    proof->pid = pid;
    return pid < 0 ? error_errno(err, errno, "start a process that proves the plan") : 0;
}

/* Whether there was one more. */
static bool hear(const struct proof *proof, struct proof_word *ret_word)
{
    ssize_t length;

    do
        length = recv(proof->sock, ret_word, sizeof(*ret_word), 0);
    while (length < 0 && errno == EINTR);
    return length == (ssize_t)sizeof(*ret_word);
}

int proof_holds(void *context, struct bawn_error *err)
{
    const struct proof *proof = context;
    struct proof_word word;

    if (!hear(proof, &word) || word.is_kept)
        return error_set(err, EPIPE, "run.not_proven",
                         "the process that proves the plan ended without a word");
    if (word.result < 0 && err)
        *err = word.error;
    proof->request->is_proven = word.result == 0;
    return word.result;
}

/* The inode number that the kernel gives the first pid namespace, on every machine: there pid 1 is
 * an init. */
static bool orphans_are_reaped(void)
{
    enum { INITIAL_PID_NS = 0xeffffffcU };
    struct stat status;

    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL_PID_NS;
}

void proof_finish(struct proof *proof)
{
    struct proof_word word = {0};

    if (proof->sock < 0)
        return;
    while (!word.is_kept && hear(proof, &word))
        ;
    (void)close(take_fd(&proof->sock));
    /* Where nobody may reap orphans (pid 1 of many containers) it would stay as a zombie. */
    (void)waitpid(proof->pid, NULL, __WALL | (orphans_are_reaped() ? WNOHANG : 0));
}
