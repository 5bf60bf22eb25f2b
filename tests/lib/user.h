/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user at a real terminal. The test is who types and looks; a child is the
 * shell that leads the session on the terminal; the shell's child is bawn, with
 * a main loop that does what session/terminal.h asks of it; and that one's child
 * is the command, on a terminal inside.
 */
#ifndef TESTS_LIB_USER_H
#define TESTS_LIB_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

enum { USER_WAIT_MS = 8000, USER_SIDE_FD = 9 };

enum user_flag {
    USER_IN_BACKGROUND = 1, /* bawn starts as `bawn ... &` does */
    USER_CANNOT_OPEN = 2,   /* the terminal belongs to another user, as after su */
    USER_NO_KEYS = 4,       /* only output is relayed */
};

struct user {
    int master, slave;
    int shell_sock;
    int side_fd; /* what the command writes to USER_SIDE_FD */
    pid_t shell, bawn;
    struct termios before;
    char seen[4096]; /* the newest output, for user_expect */
    size_t seen_count;
};

void user_start(struct user *user, unsigned flags, const char *script);
void user_send(const struct user *user, const char *keys);
void user_pause(long ms);

/* Whatever the terminal shows next, at most size bytes; 0 when nothing comes. */
size_t user_read(const struct user *user, char *bytes, size_t size, int timeout_ms);
/* Reads until the text is shown, and forgets what came up to its end. */
void user_expect(struct user *user, const char *text);
/* All that is shown from here on, and nothing else, is text. */
void user_expect_last(struct user *user, const char *text);
/* What is shown is as `seq 1 last` says; read in pieces with a pause after each. */
void user_expect_numbers(const struct user *user, unsigned last, size_t piece, long slow_ms);
/* The command wrote text to USER_SIDE_FD. */
void user_expect_side(const struct user *user, const char *text);

/* What the shell is to do: 'f'g, 'b'g; or 't'ake the terminal, 'g'ive it, and tell bawn nothing. */
void user_order(const struct user *user, char order);
/* What the shell says next: 'S' bawn stopped, 'E' it ended. */
char user_await(const struct user *user, int *ret_status);
void user_await_raw(const struct user *user);
/* The terminal is exactly as it was. */
void user_has_state(const struct user *user);
/* A terminal or a command that takes nothing costs nothing. */
void user_sees_idle(const struct user *user, long ms);
/* bawn ends with this status, and has given the terminal back. */
void user_ends(const struct user *user, int expected_status);

#endif
