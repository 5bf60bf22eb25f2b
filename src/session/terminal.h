/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's terminal while a command has one of its own inside: bytes go back
 * and forth, the size follows, and the state it had comes back whatever happens.
 */
#ifndef SESSION_TERMINAL_H
#define SESSION_TERMINAL_H

#include "base/loop.h"

#include <termios.h>
#include <sys/ioctl.h>

struct terminal {
    int fd;        /* the user's terminal, borrowed */
    int out_fd;    /* where output goes, borrowed: the user's terminal too */
    int master_fd; /* of the sandbox's terminal, borrowed */
    struct termios saved;
    bool is_raw;
    struct loop *loop;
    struct loop_source input, master;
    char to_master[4096];
    size_t to_master_count;
    char to_user[16384];
    size_t to_user_count, to_user_sent;
    bool input_ended;
};

/* What a new terminal is set to: as the user's is. */
int terminal_read_state(int fd, struct termios *ret_state, struct winsize *ret_size);

/* Makes the user's terminal raw and relays in the loop until terminal_stop. */
int terminal_start(struct terminal *terminal, struct loop *loop, int fd, int out_fd, int master_fd,
                   struct bawn_error *err);
/* SIGWINCH came. */
void terminal_resize(struct terminal *terminal);
/* SIGTSTP/SIGCONT of ourselves. */
void terminal_suspend(struct terminal *terminal);
void terminal_resume(struct terminal *terminal);
/* Writes out what the command still said, then gives the terminal back as it was. */
void terminal_stop(struct terminal *terminal);

#endif
