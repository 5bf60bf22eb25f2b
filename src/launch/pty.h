/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal of the sandbox's own, made by pid 1 from the devpts inside.
 *
 * All of it runs after the confinement, between fork and exec too: system
 * calls only, no allocation, no lock. Each returns 0 or a negative errno.
 */
#ifndef LAUNCH_PTY_H
#define LAUNCH_PTY_H

#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

/* Both are close-on-exec, and the terminal becomes nobody's controlling one. */
int pty_open(int *ret_master, int *ret_slave);

/* How the terminal is before anybody reads it: done before the command starts, so that it never
 * sees a size of 0 by 0. Either may be NULL. */
int pty_set(int slave, const struct termios *state, const struct winsize *size);

/* In pid 1: it leads a session already, and gets this terminal for it. */
int pty_lead(int slave);

/*
 * In the child, before exec: a session of its own with this terminal, or with
 * EXEC_LED a group in that of pid 1, in front unless EXEC_BACK. The terminal
 * also becomes the standard streams that flags (enum exec_flag) names. The
 * others must be in place already, and slave must be none of them.
 */
int pty_take(int slave, unsigned flags);

/* In pid 1: the group gets the keys of the terminal that is led, or pid 1, for nobody else. What
 * the group gave to another one, which lives, stays there. */
void pty_front(int slave, pid_t group, bool is_front);

#endif
