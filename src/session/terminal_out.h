/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to a user's terminal: one that takes nothing now holds nobody up. */
#ifndef SESSION_TERMINAL_OUT_H
#define SESSION_TERMINAL_OUT_H

#include "session/terminal.h"

#include <sys/types.h>

/* Where this is not allowed (after su the terminal is another user's) the descriptor itself is
 * used, with writes that a timer interrupts. */
int terminal_open_anew(int fd, int mode);
/* Once write_fd is open. */
void terminal_prepare_writes(struct terminal *terminal);

/* Returns the bytes that were taken; -EAGAIN when the terminal takes none now. */
ssize_t terminal_write(const struct terminal *terminal, const char *bytes, size_t length);
/* Until all is written, or nothing was for as long as the patience lasts. */
bool terminal_write_patiently(const struct terminal *terminal, const char *bytes, size_t length,
                              int patience_ms);

#endif
