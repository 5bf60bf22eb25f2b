/* SPDX-License-Identifier: Apache-2.0 */
/* What tells a process from a later one with the same number, and how a process of our own
 * begins. */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* By a signal, as Ctrl-Z does. */
bool process_is_stopped(pid_t pid);

/* When a process started, in ticks since boot; pid 0: the calling one. 0: there is none of that
 * number, or none that can be seen. */
uint64_t process_start(pid_t pid);

/* In how many pid namespaces a process has a number, from that of /proc down to its own; pid 0: the
 * calling one. 0: as above. And, from the same look, whether it is stopped. */
unsigned process_depth(pid_t pid, bool *ret_stopped);
/* Whether it is as many for ourselves. */
bool process_is_at(unsigned depth);

/* Its directory in /proc, for good: what is read there later is of this process, or fails. */
int process_open(pid_t pid);
/* Of that directory: its threads, or NULL. */
DIR *process_threads(int dir_fd);
/* Calls found for each child that one of its threads has made, until it says no. False: it did. */
bool process_children(int dir_fd, const char *thread, bool (*found)(void *context, pid_t child),
                      void *context);

/* Who is at the other end of a socket, if it is of our user or root's: a pidfd, and its number.
 * What was found out by that number counts only if the process is still there afterwards. */
int process_peer(int sock, pid_t *ret_pid);
bool process_is_there(int pidfd);

/* The pid namespace of a process, as a file; zeros when it cannot be told. Without a pidfd it is
 * looked up by number. */
struct stat process_namespace(int pidfd, pid_t pid);
/* Whether who is at the other end of a socket is as above, and in that pid namespace. SECURITY:
 * what runs in a sandbox of an ordinary user has the same uid, and another namespace; who cannot be
 * told is refused. */
bool process_peer_is_in(int sock, const struct stat *ns);

/* A copy of this process, as fork(), but no signal tells of its end: a handler or waitpid(-1) of
 * the calling program does not meet it, and SIGCHLD that is ignored does not reap it. Reap it with
 * __WALL. No atfork handlers run. With ret_pidfd it is born in the control group, if group_fd is
 * one. */
pid_t process_split(int group_fd, int *ret_pidfd);

/* Keeps a child that was just made, with all that it starts, off the core of its parent, who goes
 * on, if there is another one. KERNEL: else they may wait for their turn there, though others are
 * idle. For what ends soon. */
void process_keep_off(pid_t pid);

/* In a child: keeps these descriptors, which become 0, 1... and stay open over an exec, and closes
 * all others. False: errno says why. */
enum { PROCESS_FDS = 48 };
bool process_keep_fds(const int *fds, unsigned count);

/* In a child: away from the terminal and its signals, with a name and a session of its own. */
bool process_withdraw(const char *title);

/* Enters a user namespace of our own, as its root: there we may look into all that is ours. */
bool process_enter_own_users(void);

#endif
