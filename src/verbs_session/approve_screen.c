/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn approve on a terminal: a list, and one of its questions at a time.
 *
 * How it works: the terminal is raw and on its other screen while we are in front. It is
 * given back on every way out, and before we stop. An answer is given only where the whole
 * question is shown, never in the list.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/error.h"
#include "base/question.h"
#include "verbs_session/approve_own.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

enum { GUARD_MS = 300, ID_COLS = 11, OP_COLS = 8, TIME_COLS = 6, SAID_BYTES = 160, DRAW_MS = 1000 };

#define SCREEN_ENTER "\033[?1049h\033[?25l" KEY_BEGIN
#define SCREEN_LEAVE KEY_LEAVE "\033[m\033[?25h\033[?1049l"

struct screen {
    const char *sid; /* NULL: all sessions */
    struct waiting waiting;
    struct loop loop;
    struct loop_source keys_source, signal_source;
    struct loop_timer tick, look, escape;
    struct key_reader keys;
    struct termios saved;
    int signals;
    bool is_taken, has_colour, is_dirty;
    int end_signal; /* what we were told to end by */
    bool is_over;
    char chosen[32]; /* the id of the question that the mark is on */
    bool is_open;    /* it is shown whole */
    int64_t guard_ms;
    struct question_view view;
    char said[SAID_BYTES]; /* below the list */
};

static void put(const char *text, size_t length)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    while (length > 0) {
        ssize_t count = write(STDOUT_FILENO, text, length);

        if (count > 0) {
            text += count;
            length -= (size_t)count;
        } else if (errno == EAGAIN) {
            if (poll(&out, 1, DRAW_MS) <= 0)
                return;
        } else if (errno != EINTR) {
            return;
        }
    }
}

/* Where it is taken already, the shell may have changed it. */
static bool take(struct screen *screen)
{
    struct termios raw;

    /* In the background the kernel stops us here, until it is our turn. */
    if (!screen->is_taken && tcgetattr(STDIN_FILENO, &screen->saved) < 0)
        return false;
    raw = screen->saved;
    cfmakeraw(&raw);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) < 0)
        return false;
    screen->is_taken = screen->is_dirty = true;
    put(SCREEN_ENTER, strlen(SCREEN_ENTER));
    return true;
}

static void give_back(struct screen *screen)
{
    if (!screen->is_taken)
        return;
    put(SCREEN_LEAVE, strlen(SCREEN_LEAVE));
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &screen->saved);
    screen->is_taken = false;
}

static size_t find_chosen(const struct screen *screen)
{
    for (size_t i = 0; i < screen->waiting.questions.count; i++)
        if (strcmp(screen->waiting.questions.items[i]->id, screen->chosen) == 0)
            return i;
    return SIZE_MAX;
}

static struct waiting_question *chosen(const struct screen *screen)
{
    size_t index = find_chosen(screen);

    return index == SIZE_MAX ? NULL : screen->waiting.questions.items[index];
}

static void choose(struct screen *screen, size_t index)
{
    size_t count = screen->waiting.questions.count;

    screen->chosen[0] = '\0';
    if (count == 0)
        return;
    (void)snprintf(screen->chosen, sizeof(screen->chosen), "%s",
                   screen->waiting.questions.items[index < count ? index : count - 1]->id);
}

static void add_row(const struct screen *screen, struct waiting_question *question, unsigned cols,
                    struct strbuf *out)
{
    bool is_chosen = strcmp(question->id, screen->chosen) == 0;
    int left_s = waiting_notice(question)->ms_left / 1000;
    autostrbuf struct strbuf path = {0};
    autostrbuf struct strbuf row = {0};
    const unsigned before = 2 + ID_COLS + OP_COLS;
    unsigned room = cols > before + TIME_COLS ? cols - before - TIME_COLS : 0;

    question_add_text(&path, question->notice.path);
    strbuf_addf(&row, "%s%-*.*s%-*.*s", is_chosen ? "> " : "  ", ID_COLS, ID_COLS - 1, question->id,
                OP_COLS, OP_COLS - 1, question->notice.op);
    if (path.text && !path.failed)
        question_add_end(&row, path.text, room);
    for (unsigned used = row.text ? question_columns(row.text) : 0; used < before + room; used++)
        strbuf_add(&row, " ");
    strbuf_addf(&row, " %2d:%02d", left_s / 60, left_s % 60);
    if (is_chosen && screen->has_colour)
        strbuf_addf(out, "\033[7m%s\033[m\n", row.text ? row.text : "");
    else
        strbuf_addf(out, "%s\n", row.text ? row.text : "");
}

static void add_list(struct screen *screen, unsigned cols, unsigned rows, struct strbuf *out)
{
    const char *keys = "Enter: look and answer  q: leave";
    size_t count = screen->waiting.questions.count;
    size_t index = find_chosen(screen);
    size_t room = rows > 3 ? rows - 3 : 1;
    size_t from = index != SIZE_MAX && index >= room ? index - room + 1 : 0;
    unsigned sessions = waiting_sessions(&screen->waiting);
    char head[96];

    (void)snprintf(head, sizeof(head), "bawn approve: %zu wait%s, %u session%s", count,
                   count == 1 ? "s" : "", sessions, sessions == 1 ? "" : "s");
    strbuf_addf(out, "%.*s\n", (int)cols, head);
    for (size_t i = from; i < count && i < from + room; i++)
        add_row(screen, screen->waiting.questions.items[i], cols, out);
    question_add_end(out, screen->said, cols);
    strbuf_addf(out, "\n%.*s\n", (int)cols, count > 0 ? keys : "q: leave");
}

static void draw(struct screen *screen)
{
    struct waiting_question *question = chosen(screen);
    struct winsize size = {0};
    autostrbuf struct strbuf lines = {0};
    autostrbuf struct strbuf out = {0};

    screen->is_dirty = false;
    if (!screen->is_taken)
        return;
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    if (size.ws_col == 0)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    if (screen->is_open && question) {
        screen->view.cols = size.ws_col;
        screen->view.rows = size.ws_row;
        screen->view.sid = bawn_approver_sid(question->approver);
        screen->view.more = (unsigned)screen->waiting.questions.count - 1;
        screen->view.is_list = true;
        question_show(&screen->view, waiting_notice(question), &lines);
    } else {
        add_list(screen, size.ws_col, size.ws_row, &lines);
    }
    if (lines.failed || !lines.text)
        return;
    question_paint(lines.text, &out);
    if (!out.failed)
        put(out.text, out.length);
}

static void on_came(void *context, const struct waiting_question *question)
{
    struct screen *screen = context;

    if (find_chosen(screen) == SIZE_MAX)
        (void)snprintf(screen->chosen, sizeof(screen->chosen), "%s", question->id);
    screen->is_dirty = true;
}

/* Called when it has left the list. */
static void on_went(void *context, const struct waiting_question *question,
                    const struct bawn_notice *settled)
{
    struct screen *screen = context;
    autostrbuf struct strbuf said = {0};

    strbuf_addf(&said, "%s: ", question->id);
    waiting_add_end(&said, settled);
    (void)snprintf(screen->said, sizeof(screen->said), "%s", said.text ? said.text : "");
    if (strcmp(question->id, screen->chosen) == 0) {
        choose(screen, 0);
        /* A key that was meant for it is none for the next. */
        screen->is_open = false;
        screen->guard_ms = clock_ms() + GUARD_MS;
    }
    screen->is_dirty = true;
}

static void leave(struct screen *screen)
{
    screen->is_over = true;
    loop_end(&screen->loop);
}

static void stop(struct screen *screen)
{
    give_back(screen);
    (void)kill(getpid(), SIGSTOP);
    (void)take(screen);
    screen->guard_ms = clock_ms() + GUARD_MS;
    draw(screen);
}

static void move(struct screen *screen, int by)
{
    size_t index = find_chosen(screen);

    if (index == SIZE_MAX || (by < 0 && index == 0))
        index = 0;
    else
        index += (size_t)by;
    choose(screen, index);
    screen->said[0] = '\0';
}

static void take_list_key(struct screen *screen, enum key key)
{
    switch ((int)key) {
    case KEY_UP:
    case 'k':
        move(screen, -1);
        break;
    case KEY_DOWN:
    case 'j':
        move(screen, 1);
        break;
    case KEY_HOME:
        choose(screen, 0);
        break;
    case KEY_END:
        choose(screen, SIZE_MAX);
        break;
    case KEY_ENTER:
        screen->is_open = chosen(screen) != NULL;
        screen->view = (struct question_view){0};
        screen->guard_ms = clock_ms() + GUARD_MS;
        break;
    case 'q':
    case KEY_ESCAPE:
        leave(screen);
        break;
    default:
        break;
    }
}

static void take_answer(struct screen *screen, struct waiting_question *question,
                        const struct bawn_answer *answer)
{
    struct bawn_error err = {0};

    if (bawn_approver_answer(question->approver, question->notice.id, answer, &err) < 0)
        (void)snprintf(screen->said, sizeof(screen->said), "%.*s", SAID_BYTES - 1, err.message);
    /* That it is settled comes from the session. */
    screen->is_open = false;
    screen->guard_ms = clock_ms() + GUARD_MS;
}

static void take_open_key(struct screen *screen, enum key key)
{
    struct waiting_question *question = chosen(screen);
    struct bawn_answer answer;

    if (!question || key == 'b' || key == 'q' || key == KEY_ESCAPE)
        screen->is_open = false;
    else if (question_answer(&question->notice, key, &answer) &&
             (!answer.is_allowed || !screen->view.is_small))
        take_answer(screen, question, &answer);
    else
        (void)question_scroll(&screen->view, key);
}

static void take_key(struct screen *screen, enum key key)
{
    if (key == KEY_INTERRUPT) {
        leave(screen);
        return;
    }
    if (key == KEY_SUSPEND) {
        stop(screen);
        return;
    }
    if (clock_ms() < screen->guard_ms) {
        screen->guard_ms = clock_ms() + GUARD_MS;
        return;
    }
    if (screen->is_open)
        take_open_key(screen, key);
    else
        take_list_key(screen, key);
    screen->is_dirty = true;
}

static int on_escape(void *context)
{
    struct screen *screen = context;

    if (key_is_open(&screen->keys))
        take_key(screen, key_end(&screen->keys));
    draw(screen);
    return 0;
}

static int on_keys(void *context, uint32_t events)
{
    struct screen *screen = context;
    char bytes[256];
    ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));

    (void)events;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (count <= 0) {
        leave(screen);
        return 0;
    }
    for (ssize_t i = 0; i < count && !screen->is_over; i++) {
        enum key key = key_take(&screen->keys, bytes[i]);

        if (key != KEY_NONE)
            take_key(screen, key);
    }
    if (key_is_open(&screen->keys))
        loop_set_timer(&screen->loop, &screen->escape, KEY_ESCAPE_MS, 0, on_escape, screen);
    if (!screen->is_over)
        draw(screen);
    return 0;
}

static int on_signal(void *context, uint32_t events)
{
    struct screen *screen = context;
    struct signalfd_siginfo info;

    (void)events;
    if (read(screen->signals, &info, sizeof(info)) != sizeof(info))
        return 0;
    switch (info.ssi_signo) {
    case SIGWINCH:
        draw(screen);
        break;
    case SIGTSTP:
        stop(screen);
        break;
    case SIGCONT:
        (void)take(screen);
        draw(screen);
        break;
    default:
        screen->end_signal = (int)info.ssi_signo;
        leave(screen);
    }
    return 0;
}

static int on_tick(void *context)
{
    draw(context);
    return 0;
}

/* New sessions, and the end of the only one. */
static int on_look(void *context)
{
    struct screen *screen = context;

    if (!screen->sid)
        (void)waiting_look(&screen->waiting, NULL);
    else if (waiting_sessions(&screen->waiting) == 0)
        leave(screen);
    if (screen->is_dirty)
        draw(screen);
    return 0;
}

static int watch_signals(struct screen *screen, struct bawn_error *err)
{
    static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH, SIGCONT, SIGTSTP};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        sigaddset(&set, watched[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return error_errno(err, errno, "block signals");
    screen->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (screen->signals < 0)
        return error_errno(err, errno, "signalfd");
    screen->signal_source = (struct loop_source){
        .fd = screen->signals, .events = POLLIN, .ready = on_signal, .context = screen};
    return loop_add(&screen->loop, &screen->signal_source, err);
}

static int start(struct screen *screen, struct bawn_error *err)
{
    int result = screen->sid ? waiting_open(&screen->waiting, screen->sid, err)
                             : waiting_attend(&screen->waiting, err);

    if (result == 0 && !screen->sid)
        result = waiting_look(&screen->waiting, err);
    if (result == 0)
        result = watch_signals(screen, err);
    if (result < 0)
        return result;
    if (!take(screen))
        return error_errno(err, errno, "take the terminal");
    screen->keys_source = (struct loop_source){
        .fd = STDIN_FILENO, .events = POLLIN, .ready = on_keys, .context = screen};
    result = loop_add(&screen->loop, &screen->keys_source, err);
    loop_set_timer(&screen->loop, &screen->tick, DRAW_MS, DRAW_MS, on_tick, screen);
    loop_set_timer(&screen->loop, &screen->look, APPROVE_LOOK_MS, APPROVE_LOOK_MS, on_look, screen);
    draw(screen);
    return result;
}

int approve_on_screen(const struct front *front, const char *sid, struct bawn_error *err)
{
    /* Its sessions are many. */
    static struct screen screen;
    const char *plain = environ_get(front->environ, "NO_COLOR");
    int result;

    screen = (struct screen){
        .sid = sid,
        .signals = -EBADF,
        .has_colour = !plain || !*plain,
        .waiting = {.loop = &screen.loop, .came = on_came, .went = on_went, .context = &screen}};
    result = loop_init(&screen.loop, err);
    if (result == 0)
        result = start(&screen, err);
    while (result == 0 && !screen.is_over) {
        result = loop_run(&screen.loop, APPROVE_LOOK_MS, err);
    }
    give_back(&screen);
    if (result == 0 && sid && waiting_sessions(&screen.waiting) == 0 && !front->quiet)
        (void)fprintf(stderr, "bawn: the session has ended\n");
    waiting_done(&screen.waiting);
    loop_done(&screen.loop);
    if (screen.signals >= 0)
        (void)close(screen.signals);
    return result < 0 ? result : screen.end_signal ? 128 + screen.end_signal : 0;
}
