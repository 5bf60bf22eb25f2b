/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages of a launch share. */
#ifndef LAUNCH_OWN_H
#define LAUNCH_OWN_H

#include "launch/launch.h"

/*
 * stage_setup - the first process in the new namespaces makes the sandbox
 *
 * Holds:    all capabilities in the new user namespace, none outside; the sync socket.
 * Must:     build the root, pivot, and confine itself, in this order, and say SYNC_READY.
 * Mustn't:  run anything of the caller's, follow a link of the host, or leave a descriptor open.
 * Ends:     by becoming pid 1 (stage_init), or by SYNC_FAILED with the error and _exit.
 */
/* spare_fd: an eventfd that is written to when a core is free again, or -EBADF. */
_Noreturn void stage_setup(const struct launch_request *request, int sock, int spare_fd);

/* Says SYNC_FAILED, at any time before a command runs, and ends. */
_Noreturn void stage_fail(int sock, const struct bawn_error *err);

/*
 * stage_init - pid 1: starts commands on request, and reaps
 *
 * Holds:    no capability; the sync socket; the streams it was born with, until the first command.
 * Must:     pass on signals, report each command's end.
 * Mustn't:  allocate, open a file of the sandbox's but for /proc at the end, end before the
 * launcher says so, or wait for anything that a command can hold up, a child of its own too. Ends:
 * when the launcher is gone, or with a command that was marked EXEC_ENDS.
 */
_Noreturn void stage_init(int sock, const struct image *image);

/*
 * stage_command - becomes the user's program
 *
 * Holds:    what pid 1 holds: the sync socket, until the exec. Shares pid 1's memory until then,
 *           while pid 1 goes on.
 * Must:     take its streams, terminal, directory and signals, then exec.
 * Mustn't:  write to any memory but its stack, errno not excepted; be waited for, for whoever is
 *           inside may stop it.
 * Ends:     by exec, or by SYNC_NOEXEC with the reason, and _exit.
 */
struct stage_command {
    int sock;
    uint32_t job;
    const char *cwd;
    char **argv, **envp;
    int fds[3];
    int slave_fd; /* of its own terminal, or -EBADF */
    int further[LIMIT_FURTHER_FDS],
        numbers[LIMIT_FURTHER_FDS]; /* what else it gets, and under which numbers */
    unsigned further_count;
    uint32_t flags;   /* enum exec_flag */
    const char *path; /* where programs are looked for */
};
_Noreturn void stage_command(const struct stage_command *given);

/* Whether the launcher writes the id maps: for others than the caller's own id only it can. */
bool ids_are_from_outside(const struct image *image);
/* Else: one each, which anybody in a user namespace of his own may write. The descriptors are
 * closed with all others of the set-up. Leaves errno alone. Returns 0 or a negative errno. */
int ids_map_own(const struct image *image);
/* Writes them, opens the trees that get other owners, and sends SYNC_MAPPED. */
int ids_map(const struct launch_request *request, const struct launch *launch,
            struct bawn_error *err);

/* Into a second user namespace, in which the mounts of the first are locked. */
int nest_enter(const struct image *image, struct bawn_error *err);

/* Empties the bounding set of capabilities: the one part of this that can be done early. */
int confine_bounds(const struct image *image, struct bawn_error *err);
/* Capabilities, securebits, no_new_privs, Landlock, the filter: no way back. *ret_notify_fd is the
 * filter's listener, or -EBADF. */
int confine(const struct image *image, int *ret_notify_fd, struct bawn_error *err);

/* Tries to break out of where it runs: NULL, or what it could do. port is one that the launcher
 * listens on. */
const char *prove_contained(const struct image *image, uint16_t port, pid_t launcher);

#endif
