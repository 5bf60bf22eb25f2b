/* SPDX-License-Identifier: Apache-2.0 */
/* The user's keys, on their way to a command's terminal. */
#ifndef SESSION_TERMINAL_KEYS_H
#define SESSION_TERMINAL_KEYS_H

#include "session/terminal.h"

/* How many more are held until the command reads. */
size_t keys_room(const struct terminal *terminal);
/* Reads keys, of which one may end the loop. */
void keys_read(struct terminal *terminal);
/*
 * There are keys, which may be another's. A command that reads them is stopped for
 * that; but one that waits for them by poll would never read. So its terminal is
 * made readable, by an end of file that it never gets to see.
 */
void keys_knock(struct terminal *terminal);
/* Before the terminal is taken, while the command is stopped: takes back the knock, and reads lines
 * that were typed so far: of an end of file only the kernel knows. */
void keys_begin(struct terminal *terminal);
/* A terminal has no end of file but the key that means it. */
void keys_put_end(struct terminal *terminal);
/* Hands on what the command's terminal takes. */
void keys_flush(struct terminal *terminal);

#endif
