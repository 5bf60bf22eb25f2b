/* SPDX-License-Identifier: Apache-2.0 */
#include "session/terminal_keys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { END_BYTES = 2 /* kept free in to_master for the end of file */ };

size_t keys_room(const struct terminal *terminal)
{
    return terminal->to_master_count < sizeof(terminal->to_master) - END_BYTES
               ? sizeof(terminal->to_master) - END_BYTES - terminal->to_master_count
               : 0;
}

void keys_flush(struct terminal *terminal)
{
    ssize_t count = write(terminal->master_fd, terminal->to_master, terminal->to_master_count);

    if (count < 0 && errno != EAGAIN && errno != EINTR)
        count = (ssize_t)terminal->to_master_count;
    if (count <= 0)
        return;
    terminal->to_master_count -= (size_t)count;
    memmove(terminal->to_master, terminal->to_master + count, terminal->to_master_count);
}

void keys_put_end(struct terminal *terminal)
{
    struct termios inside;
    char end;

    if (tcgetattr(terminal->master_fd, &inside) < 0 || inside.c_cc[VEOF] == _POSIX_VDISABLE)
        return;
    end = (char)inside.c_cc[VEOF];
    terminal->to_master[terminal->to_master_count++] = end;
    /* The first one hands over the line that was begun, the next one ends. */
    if (inside.c_lflag & ICANON && terminal->is_line_started)
        terminal->to_master[terminal->to_master_count++] = end;
}

static bool has_line(const struct terminal *terminal)
{
    struct pollfd in = {.fd = terminal->read_fd, .events = POLLIN};

    return poll(&in, 1, 0) > 0 && in.revents == POLLIN;
}

static char end_key(const struct terminal *terminal)
{
    struct termios inside;

    return tcgetattr(terminal->master_fd, &inside) < 0 ? 0 : (char)inside.c_cc[VEOF];
}

void keys_knock(struct terminal *terminal)
{
    char key = end_key(terminal);

    terminal->has_knocked = true;
    if (terminal->slave_fd >= 0)
        (void)!write(terminal->master_fd, &key, 1);
}

void keys_begin(struct terminal *terminal)
{
    size_t room;

    if (terminal->has_knocked)
        (void)tcflush(terminal->slave_fd, TCIFLUSH);
    terminal->has_knocked = false;
    while ((room = keys_room(terminal)) > 0 && has_line(terminal)) {
        char *at = terminal->to_master + terminal->to_master_count;
        ssize_t count = read(terminal->read_fd, at, room);

        if (count < 0)
            return;
        if (count == 0)
            keys_put_end(terminal);
        terminal->to_master_count += (size_t)count;
        terminal->is_line_started = count > 0 && at[count - 1] != '\n';
    }
}

static void look_for_stop(const struct terminal *terminal, const char *keys, size_t count)
{
    struct termios inside;

    if (terminal->asked_to_stop && memchr(keys, terminal->saved.c_cc[VSUSP], count) &&
        tcgetattr(terminal->master_fd, &inside) == 0 && inside.c_lflag & ISIG &&
        inside.c_cc[VSUSP] == terminal->saved.c_cc[VSUSP])
        terminal->asked_to_stop(terminal->context);
}

void keys_read(struct terminal *terminal)
{
    size_t room = keys_room(terminal);
    char *at = terminal->to_master + terminal->to_master_count;
    ssize_t count = read(terminal->read_fd, at, room);

    if (count > 0 && terminal->leave_key) {
        const char *key = memchr(at, terminal->leave_key, (size_t)count);

        if (key) {
            terminal->to_master_count += (size_t)(key - at);
            loop_end(terminal->loop);
            return;
        }
    }
    if (count > 0) {
        terminal->to_master_count += (size_t)count;
        terminal->has_typed = true;
        terminal->is_line_started = at[count - 1] != '\r' && at[count - 1] != '\n';
        look_for_stop(terminal, at, (size_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        terminal->is_input_ended = true;
        keys_put_end(terminal);
    }
}
