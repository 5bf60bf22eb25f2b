/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a command's terminal: the user's, or what was asked for. */
#include "base/error.h"
#include "session/terminal.h"

#include <errno.h>

void terminal_fix_size(struct winsize *size, const struct winsize *fixed)
{
    if (fixed->ws_col)
        size->ws_col = fixed->ws_col;
    if (fixed->ws_row)
        size->ws_row = fixed->ws_row;
}

int terminal_refuse_size(struct bawn_error *err)
{
    (void)error_set(
        err, ENOTTY, "run.no_terminal",
        "--cols, --rows: the command has no terminal, because no standard stream is one");
    error_hint(err, "leave them out, start bawn on a terminal, or start the command with --detach");
    return -ENOTTY;
}

/* The size that the command's terminal is to have. */
static bool read_size(const struct terminal *terminal, struct winsize *size)
{
    if (ioctl(terminal->out_fd, TIOCGWINSZ, size) < 0)
        return false;
    terminal_fix_size(size, &terminal->fixed);
    return true;
}

void terminal_resize(struct terminal *terminal)
{
    struct winsize size;

    if (terminal->loop && read_size(terminal, &size))
        (void)ioctl(terminal->master_fd, TIOCSWINSZ, &size);
}

void terminal_ask_to_redraw(const struct terminal *terminal)
{
    struct winsize size;

    if (!read_size(terminal, &size) || size.ws_row < 2)
        return;
    size.ws_row--;
    (void)ioctl(terminal->master_fd, TIOCSWINSZ, &size);
}
