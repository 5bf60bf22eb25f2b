/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process inside has the other end of a connection.
 *
 * How it works: the kernel tells the number of the client's socket (sock_diag,
 * asked for this one connection), and /proc which processes of the sandbox have a
 * socket of that number open. A socket need not be its maker's alone: it is
 * inherited, and sent from one to another.
 *
 * SECURITY: what is found is who has the socket now. Who made it may have ended, may
 * be another program by now (exec), or may have sent it away. A descriptor that
 * moves from one process to another meanwhile, or is on its way in a message,
 * is seen nowhere. So this names a program for those who read a log, and can narrow
 * what a program gets; it is no wall against two programs that work together.
 */
#ifndef KERNEL_WHO_H
#define KERNEL_WHO_H

#include "wire/net.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WHO_PROCESSES = 4096, WHO_DESCRIPTORS = 16384 };

/* The number of the client's socket. diag_fd: see struct steer. -ENOENT: it is closed; other
 * errors: the kernel does not tell. */
int who_socket(int diag_fd, const struct net_ends *ends, uint64_t *ret_number);

/*
 * Calls found for each process of a sandbox that has the socket open, with its
 * directory in /proc, until it says no. init is the sandbox's pid 1, which is ours and
 * not looked at. 0: all were looked at; -EACCES: not all can be; -E2BIG: there is more to
 * look at than the limits above.
 */
int who_has(pid_t init, uint64_t number, bool (*found)(void *context, pid_t pid, int dir_fd),
            void *context);

/* A process by its directory in /proc: the name it has given itself, and its program's path as it
 * is inside. "": it is gone. */
void who_name(int dir_fd, char comm[static NET_COMM_BYTES], char exe[static NET_EXE_BYTES]);

/* A program. user is who the command is to the host. */
struct who_program {
    dev_t device;
    ino_t inode;
    /* The command cannot write it: it is on a mount for reading only, and if it has further names,
     * which may lie elsewhere, it is not the user's to write. */
    bool is_held;
};
/* Of a file that is open. */
bool who_file(int fd, uid_t user, struct who_program *ret_program);
/* That a process runs. False: it cannot be seen, or is gone. */
bool who_program(int dir_fd, uid_t user, struct who_program *ret_program);

/* The directory in /proc of a process's parent. */
int who_parent(int dir_fd, pid_t *ret_pid);

#endif
