/* SPDX-License-Identifier: Apache-2.0 */
#include "session/terminal.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "session/terminal_keys.h"
#include "session/terminal_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 10000,
    SUSPEND_MS = 500,
    SETTLE_MS = 20, /* for the rest of a sequence that was begun */
    SETTLE_TIMES = 20,
    TURN_MS = 200, /* how often a job in the background looks whether it still is */
    /* More than a terminal inside can hold: what comes later was said after the command's end. */
    DRAIN_BYTES_MAX = 256 * 1024,
};

int terminal_read_state(int fd, struct termios *ret_state, struct winsize *ret_size)
{
    if (tcgetattr(fd, ret_state) < 0 || ioctl(fd, TIOCGWINSZ, ret_size) < 0)
        return -errno;
    return 0;
}

bool terminal_is_background(int fd)
{
    pid_t group = tcgetpgrp(fd);

    /* -1: not our controlling terminal; 0: the group is of another pid namespace. Nobody would
     * stop us there. */
    return group > 0 && group != getpgrp();
}

static void flush_user(struct terminal *terminal)
{
    size_t pending = terminal->to_user_count - terminal->to_user_sent;
    ssize_t written = 0;

    if (pending && !terminal->is_output_lost)
        written = terminal_write(terminal, terminal->to_user + terminal->to_user_sent, pending);
    if (written > 0)
        terminal->to_user_sent += (size_t)written;
    else if (written < 0 && written != -EAGAIN)
        terminal->is_output_lost = true;
    if (terminal->is_output_lost || terminal->to_user_sent == terminal->to_user_count)
        terminal->to_user_count = terminal->to_user_sent = 0;
}

/* The user's terminal puts them in itself, as the one inside has. */
static void leave_out_returns(struct terminal *terminal)
{
    const char *from = terminal->to_user;
    const char *end = from + terminal->to_user_count;
    char *to = terminal->to_user;

    for (; from < end; from++) {
        if (*from != '\r' || from + 1 == end || from[1] != '\n')
            *to++ = *from;
    }
    terminal->to_user_count = (size_t)(to - terminal->to_user);
}

/* Reads what the command said; to_user is empty. Returns false when there is nothing now. */
static bool read_master(struct terminal *terminal)
{
    ssize_t count;

    do
        count = read(terminal->master_fd, terminal->to_user, sizeof(terminal->to_user));
    while (count < 0 && errno == EINTR);
    if (count > 0) {
        terminal->to_user_count = (size_t)count;
        modes_scan(&terminal->modes, terminal->to_user, (size_t)count);
        terminal->is_cut = drawn_is_cut(terminal->to_user, (size_t)count);
        if (terminal->keeps_drawn)
            drawn_take(&terminal->drawn, terminal->to_user, (size_t)count,
                       modes_is_full_screen(&terminal->modes));
        if (!terminal->is_raw || terminal->is_shared)
            leave_out_returns(terminal);
        return true;
    }
    if (count == 0 || errno != EAGAIN)
        terminal->is_master_ended = true;
    return false;
}

/* A source without events leaves the loop: a hang-up would be told again and again. */
static int watch(struct terminal *terminal, struct loop_source *source, uint32_t events)
{
    if (events == 0)
        loop_remove(terminal->loop, source);
    if (events == 0 || (source->is_added && source->events == events))
        return 0;
    source->events = events;
    return loop_add(terminal->loop, source, NULL);
}

static int watch_all(struct terminal *terminal)
{
    bool can_relay = !terminal->is_suspended && !terminal->is_lent && !terminal->is_master_ended;
    bool has_keys =
        can_relay && terminal->fd >= 0 && !terminal->is_input_ended && !terminal->is_held;
    bool looks_later = terminal->waits ? terminal->is_claimed : terminal->is_away;
    bool looks_now = terminal->waits ? !terminal->has_knocked : keys_room(terminal) > 0;
    uint32_t master = 0;
    int result;

    if (can_relay && terminal->to_user_count == 0)
        master |= POLLIN;
    if (can_relay && terminal->to_master_count)
        master |= POLLOUT;
    result = watch(terminal, &terminal->master, master);
    if (result == 0)
        result = watch(
            terminal, &terminal->output,
            terminal->to_user_count && !terminal->is_suspended && !terminal->is_lent ? POLLOUT : 0);
    if (result == 0)
        result = watch(terminal, &terminal->turn, has_keys && looks_later ? POLLIN : 0);
    if (result == 0)
        result =
            watch(terminal, &terminal->input, has_keys && !looks_later && looks_now ? POLLIN : 0);
    return result;
}

static int input_ready(void *context, uint32_t events)
{
    struct terminal *terminal = context;

    (void)events;
    if (terminal->waits) {
        keys_knock(terminal);
        return watch_all(terminal);
    }
    /* Stopped by SIGSTOP and continued by `bg`: the keys are the shell's now. */
    terminal->is_away = terminal_is_background(terminal->fd);
    if (terminal->is_away)
        return watch_all(terminal);
    keys_read(terminal);
    if (terminal->to_master_count)
        keys_flush(terminal);
    return watch_all(terminal);
}

static int output_ready(void *context, uint32_t events)
{
    struct terminal *terminal = context;

    (void)events;
    flush_user(terminal);
    return watch_all(terminal);
}

static int master_ready(void *context, uint32_t events)
{
    struct terminal *terminal = context;

    if (events & POLLOUT && terminal->to_master_count)
        keys_flush(terminal);
    if (events & ~(uint32_t)POLLOUT && terminal->to_user_count == 0 && read_master(terminal))
        flush_user(terminal);
    return watch_all(terminal);
}

/* Whether a program has set it as it likes its keys. */
static bool is_anothers(const struct terminal *terminal)
{
    struct termios now;

    if (terminal->is_raw || tcgetattr(terminal->fd, &now) < 0)
        return false;
    return (now.c_lflag & (ICANON | ECHO)) != (ICANON | ECHO);
}

static int turn_ready(void *context, uint32_t events)
{
    struct terminal *terminal = context;
    uint64_t times;

    (void)events;
    if (read(terminal->turn_fd, &times, sizeof(times)) != sizeof(times))
        return 0;
    if (terminal->waits && terminal_claim(terminal) == CLAIM_TAKEN)
        terminal->taken(terminal->context);
    else if (!terminal->waits && !terminal_is_background(terminal->fd))
        terminal_resume(terminal);
    return 0;
}

static int take(struct terminal *terminal)
{
    struct termios raw;

    terminal->is_away = terminal->fd < 0 || terminal->waits || terminal_is_background(terminal->fd);
    if (terminal->is_away)
        return 0;
    /* Where it is ours still (SIGSTOP gave us no chance) the shell may have put our own raw state
     * back: that is not what the user had. */
    if (!terminal->is_raw && tcgetattr(terminal->fd, &terminal->saved) < 0)
        return -errno;
    raw = terminal->saved;
    cfmakeraw(&raw);
    if (terminal->is_shared)
        raw.c_oflag = terminal->saved.c_oflag;
    if (tcsetattr(terminal->fd, TCSANOW, &raw) < 0)
        return -errno;
    terminal->is_raw = true;
    return 0;
}

/* Not with TCSADRAIN: a terminal that takes nothing would keep us here. What was written has been
 * through the old state already. */
static void give_back(struct terminal *terminal)
{
    if (!terminal->is_raw || terminal_is_background(terminal->fd))
        return;
    (void)tcsetattr(terminal->fd, TCSANOW, &terminal->saved);
    terminal->is_raw = false;
}

/* KERNEL: it rests until it is read, so that it costs nothing in the foreground. */
static int open_turn(void)
{
    static const struct itimerspec often = {.it_value.tv_nsec = TURN_MS * 1000000L,
                                            .it_interval.tv_nsec = TURN_MS * 1000000L};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    if (fd >= 0)
        (void)timerfd_settime(fd, 0, &often, NULL);
    return fd;
}

static int init(struct terminal *terminal, struct bawn_error *err)
{
    int flags = fcntl(terminal->master_fd, F_GETFL);

    if (flags < 0 || fcntl(terminal->master_fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return error_errno(err, errno, "the sandbox's terminal");
    if (!isatty(terminal->out_fd) || (terminal->fd >= 0 && !isatty(terminal->fd)))
        return error_errno(err, errno, "the user's terminal");
    terminal->write_fd = terminal_open_anew(terminal->out_fd, O_WRONLY);
    if (terminal->write_fd >= 0 && terminal->fd >= 0)
        terminal->read_fd = terminal_open_anew(terminal->fd, O_RDONLY);
    if (terminal->read_fd >= 0)
        terminal->turn_fd = open_turn();
    if (terminal->write_fd < 0 || (terminal->fd >= 0 && terminal->turn_fd < 0))
        return error_errno(err, errno, "the user's terminal");
    terminal_prepare_writes(terminal);
    /* Without it output is lost that a command writes after it closed and opened /dev/tty. */
    terminal->slave_fd = ioctl(terminal->master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return 0;
}

static void set_source(struct terminal *terminal, struct loop_source *source, int fd,
                       loop_ready ready)
{
    *source = (struct loop_source){.fd = fd, .ready = ready, .context = terminal};
}

int terminal_start(struct terminal *terminal, struct loop *loop, int fd, int out_fd, int master_fd,
                   struct bawn_error *err)
{
    int result;

    *terminal = (struct terminal){
        .fd = fd,
        .out_fd = out_fd,
        .master_fd = master_fd,
        .read_fd = -EBADF,
        .write_fd = -EBADF,
        .slave_fd = -EBADF,
        .turn_fd = -EBADF,
        .fixed = terminal->fixed,
        .waits = terminal->waits,
        .is_shared = terminal->is_shared,
        .patience_ms = PATIENCE_MS,
        .loop = loop,
    };
    result = init(terminal, err);
    if (result < 0)
        goto fail;
    set_source(terminal, &terminal->input, terminal->read_fd, input_ready);
    set_source(terminal, &terminal->turn, terminal->turn_fd, turn_ready);
    set_source(terminal, &terminal->output, terminal->write_fd, output_ready);
    set_source(terminal, &terminal->master, master_fd, master_ready);
    terminal_resize(terminal);
    result = take(terminal);
    if (result == 0)
        result = watch_all(terminal);
    if (result == 0)
        return 0;
    (void)error_errno(err, -result, "the user's terminal");
fail:
    terminal->is_master_ended = true; /* nothing was relayed: there is nothing to write out */
    terminal_stop(terminal);
    return result;
}

static void flush_patiently(struct terminal *terminal)
{
    if (!terminal->is_output_lost &&
        !terminal_write_patiently(terminal, terminal->to_user + terminal->to_user_sent,
                                  terminal->to_user_count - terminal->to_user_sent,
                                  terminal->patience_ms))
        terminal->is_output_lost = true;
    terminal->to_user_count = terminal->to_user_sent = 0;
}

static void drain(struct terminal *terminal)
{
    size_t total = 0;

    flush_patiently(terminal);
    /* KERNEL: a read of the master waits for what is on its way before it says EAGAIN. */
    while (!terminal->is_output_lost && !terminal->is_master_ended && total < DRAIN_BYTES_MAX &&
           read_master(terminal)) {
        total += terminal->to_user_count;
        flush_patiently(terminal);
    }
}

static void leave_modes(struct terminal *terminal, int patience_ms)
{
    char text[MODES_TEXT_BYTES];

    if (!terminal->has_left_modes && !terminal->is_output_lost)
        (void)terminal_write_patiently(terminal, text, modes_leave(&terminal->modes, text),
                                       patience_ms);
    terminal->has_left_modes = true;
}

/* What the command said before it was stopped: a program that draws puts the screen in order. What
 * the terminal does not take is kept. */
static void drain_for_now(struct terminal *terminal)
{
    struct pollfd out = {.fd = terminal->write_fd, .events = POLLOUT};
    size_t total = 0;

    for (;;) {
        flush_user(terminal);
        if (terminal->to_user_count > 0 && poll(&out, 1, SUSPEND_MS) <= 0)
            return;
        if (terminal->to_user_count > 0)
            continue;
        if (terminal->is_master_ended || total > DRAIN_BYTES_MAX || !read_master(terminal))
            return;
        total += terminal->to_user_count;
    }
}

void terminal_suspend(struct terminal *terminal)
{
    if (terminal->is_suspended || !terminal->loop)
        return;
    terminal->is_suspended = true;
    (void)watch_all(terminal);
    drain_for_now(terminal);
    leave_modes(terminal, SUSPEND_MS);
    give_back(terminal);
}

void terminal_resume(struct terminal *terminal)
{
    char text[MODES_TEXT_BYTES];

    if (!terminal->loop)
        return;
    terminal->is_suspended = false;
    (void)take(terminal);
    if (!terminal->is_away &&
        (terminal->has_left_modes || modes_is_full_screen(&terminal->modes))) {
        (void)terminal_write_patiently(terminal, text, modes_enter(&terminal->modes, text),
                                       SUSPEND_MS);
        terminal->has_left_modes = false;
        terminal_ask_to_redraw(terminal);
    }
    terminal_resize(terminal);
    (void)watch_all(terminal);
}

bool terminal_can_lend(const struct terminal *terminal)
{
    return terminal->loop && terminal->fd >= 0 && terminal->is_raw && !terminal->waits &&
           !terminal->is_away && !terminal->is_suspended && !terminal->is_input_ended &&
           !terminal->is_output_lost && !terminal_is_background(terminal->fd);
}

/* Up to where nothing is begun and not ended. What the terminal does not take is kept. */
static bool settle_output(struct terminal *terminal)
{
    struct pollfd in = {.fd = terminal->master_fd, .events = POLLIN};
    struct pollfd out = {.fd = terminal->write_fd, .events = POLLOUT};

    for (int i = 0; i < SETTLE_TIMES; i++) {
        flush_user(terminal);
        if (terminal->to_user_count > 0) {
            if (poll(&out, 1, SUSPEND_MS) <= 0)
                return false;
            continue;
        }
        if (terminal->is_output_lost)
            return false;
        if ((!modes_is_within(&terminal->modes) && !terminal->is_cut) ||
            terminal->is_master_ended || poll(&in, 1, SETTLE_MS) <= 0 || !read_master(terminal))
            break;
    }
    return terminal->to_user_count == 0;
}

bool terminal_lend(struct terminal *terminal)
{
    char text[MODES_TEXT_BYTES];

    if (!terminal_can_lend(terminal) || !settle_output(terminal))
        return false;
    terminal->is_lent = true;
    (void)watch_all(terminal);
    (void)tcflush(terminal->fd, TCIFLUSH);
    if (!terminal_write_patiently(terminal, text, modes_lend(&terminal->modes, text), SUSPEND_MS))
        terminal->is_output_lost = true;
    return true;
}

void terminal_take_back(struct terminal *terminal, bool is_resized)
{
    bool is_full = modes_is_full_screen(&terminal->modes);
    autostrbuf struct strbuf again = {0};
    char text[MODES_TEXT_BYTES];
    bool is_drawn;
    size_t length;

    if (!terminal->is_lent)
        return;
    is_drawn = is_full && !is_resized && drawn_again(&terminal->drawn, &again);
    if (is_full && !is_drawn) {
        strbuf_done(&again);
        strbuf_add(&again, "\033[m\033[H\033[2J");
    }
    length = modes_take_back(&terminal->modes, is_drawn, text);
    strbuf_add_bytes(&again, text, length);
    if (!again.failed && again.length > 0)
        (void)terminal_write_patiently(terminal, again.text, again.length, SUSPEND_MS);
    terminal->is_lent = false;
    if (is_full && !is_drawn)
        terminal_ask_to_redraw(terminal);
    terminal_resize(terminal);
    (void)watch_all(terminal);
}

enum terminal_claim terminal_claim(struct terminal *terminal)
{
    if (terminal_is_background(terminal->fd))
        return CLAIM_BACKGROUND;
    terminal->is_claimed = is_anothers(terminal);
    if (terminal->is_claimed) {
        (void)watch_all(terminal);
        return CLAIM_LATER;
    }
    keys_begin(terminal);
    terminal->waits = false;
    terminal_resume(terminal);
    return CLAIM_TAKEN;
}

void terminal_wait(struct terminal *terminal)
{
    terminal->waits = terminal->is_away = true;
    (void)watch_all(terminal);
}

void terminal_hold(struct terminal *terminal, bool is_held)
{
    terminal->is_held = is_held;
    if (terminal->loop)
        (void)watch_all(terminal);
}

void terminal_end_input(struct terminal *terminal)
{
    terminal->is_input_ended = true;
    keys_put_end(terminal);
    (void)watch_all(terminal);
}

static void close_own(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -EBADF;
}

void terminal_stop(struct terminal *terminal)
{
    if (!terminal->loop)
        return;
    loop_remove(terminal->loop, &terminal->input);
    loop_remove(terminal->loop, &terminal->turn);
    loop_remove(terminal->loop, &terminal->output);
    loop_remove(terminal->loop, &terminal->master);
    if (terminal->write_fd >= 0) {
        drain(terminal);
        leave_modes(terminal, terminal->patience_ms);
    }
    give_back(terminal);
    close_own(&terminal->read_fd);
    close_own(&terminal->write_fd);
    close_own(&terminal->slave_fd);
    close_own(&terminal->turn_fd);
    drawn_done(&terminal->drawn);
    terminal->loop = NULL;
}
