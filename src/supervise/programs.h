/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that rules of the network are for, and which of them a process is.
 *
 * How it works: a process is a program if its executable, or that of one of
 * its ancestors inside, is the very file that the program's path leads to in the
 * sandbox: git connects by a program that it starts. A script is not its interpreter:
 * a rule for one matches nothing.
 *
 * SECURITY: it counts only as far as the command cannot write what runs: the named file, the
 * links that lead to it, and each program from it down to the process are on mounts
 * for reading only. So a program of the command's own making gets nothing, even if
 * it has git start it. What this does not hold: the command chooses what the named
 * program is told (its options, its environment, what its loader loads, its
 * standard input) and which other programs of the host it starts. A rule for one
 * program keeps all others from a host by accident, and makes it visible when they try; it
 * is no wall against a command that wants to get there.
 */
#ifndef SUPERVISE_PROGRAMS_H
#define SUPERVISE_PROGRAMS_H

#include "kernel/who.h"
#include "wire/image.h"

struct programs {
    const struct image *image;
    int root_fd; /* of the sandbox */
    pid_t init;  /* its pid 1 */
    const char *paths[NET_PROGRAMS];
    unsigned count;
    /* Each as it is now; a number of 0 is none. */
    struct who_program files[NET_PROGRAMS];
};

void programs_init(struct programs *programs, const struct image *image, int root_fd, pid_t init);
/* Looks where the paths lead. */
void programs_find(struct programs *programs);
/* Which of them a process is, by its directory in /proc: bit 0 is the first. */
uint64_t programs_of(const struct programs *programs, pid_t pid, int dir_fd);

#endif
