/* SPDX-License-Identifier: Apache-2.0 */
#include "session/prompt.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/question.h"
#include "session/own.h"
#include "session/terminal_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    GUARD_MS = 300, /* without a key, before one counts */
    TICK_MS = 500,
    PATIENCE_MS = 1000,
    LINE_BYTES = 64,
    ARGV_WORDS = 256,
};

#define CURSOR_HIDE "\033[?25l"
#define CURSOR_SHOW "\033[?25h"

enum how { SHOWN_NOT, SHOWN_ON_SCREEN, SHOWN_IN_LINES };

struct prompt {
    struct session *session;
    enum how how;
    uint32_t id; /* of the question that is shown */
    int tty;     /* of SHOWN_IN_LINES; else -EBADF */
    struct loop_source source;
    struct loop_timer tick, escape;
    int64_t guard_ms; /* until then no key counts */
    struct key_reader keys;
    struct question_view view;
    bool is_resized;
    bool is_silenced; /* the user wants to be asked no more */
    char line[LINE_BYTES];
    size_t line_count;
    struct bawn_notice notice;
    char argv[EVENT_ARGV_BYTES];
    const char *words[ARGV_WORDS + 1];
};

/* Where it is not known what a terminal does at the sequence for the other screen. */
static bool has_other_screen(const struct session *session)
{
    static const char *const without[] = {"",      "dumb",  "linux", "unknown", "ansi",
                                          "vt100", "vt102", "vt220", "cons25"};
    const char *term = environ_get(session->request->environ, "TERM");

    for (size_t i = 0; term && i < sizeof(without) / sizeof(*without); i++)
        if (strcmp(term, without[i]) == 0)
            return false;
    return term;
}

/* Whether a line that is typed there would be ours. */
static bool is_ordinary(int tty)
{
    struct termios now;

    return tcgetpgrp(tty) == getpgrp() && tcgetattr(tty, &now) == 0 &&
           (now.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
}

static int open_tty(void)
{
    return open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool can_ask_on_screen(const struct session *session)
{
    return terminal_can_lend(&session->terminal) && has_other_screen(session);
}

static bool can_ask_in_lines(const struct session *session)
{
    autoclose int tty = open_tty();

    if (tty < 0)
        return false;
    /* Given back first, it is ordinary. */
    return terminal_can_lend(&session->terminal) ? tcgetpgrp(tty) == getpgrp() : is_ordinary(tty);
}

/* The command's terminal is not there yet, and will be in a moment. */
static bool is_early(const struct session *session)
{
    return session->has_host_terminal && !session->terminal.loop && session->master_fd < 0;
}

static bool is_there(const struct session *session)
{
    const struct prompt *prompt = session->prompt;

    if (!prompt || prompt->is_silenced)
        return false;
    return prompt->how != SHOWN_NOT || can_ask_on_screen(session) || can_ask_in_lines(session) ||
           is_early(session);
}

static void fill_notice(struct prompt *prompt, const struct ask *ask)
{
    const char *const *texts = ask->event.texts;

    event_split_argv(texts[EVENT_ARGV], prompt->argv, prompt->words, ARGV_WORDS);
    prompt->notice = (struct bawn_notice){.kind = BAWN_NOTICE_ASKED,
                                          .id = ask->id,
                                          .pid = ask->event.pid,
                                          .op = texts[EVENT_OP],
                                          .path = texts[EVENT_PATH],
                                          .call = texts[EVENT_CALL],
                                          .rule = texts[EVENT_RULE],
                                          .comm = texts[EVENT_COMM],
                                          .exe = texts[EVENT_EXE],
                                          .argv = prompt->words,
                                          .grant = texts[EVENT_GRANT],
                                          .grant_tree = texts[EVENT_GRANT_TREE]};
}

static unsigned count_waiting(const struct session *session)
{
    unsigned count = 0;

    for (unsigned i = 0; i < ASKS_WAITING; i++)
        count += session->asks->items[i].id != 0;
    return count;
}

/* Until it is written, or nothing was for a while. */
static void write_tty(int tty, const struct strbuf *text)
{
    struct pollfd out = {.fd = tty, .events = POLLOUT};
    size_t sent = 0;

    while (!text->failed && sent < text->length) {
        ssize_t count = write(tty, text->text + sent, text->length - sent);

        if (count > 0)
            sent += (size_t)count;
        else if ((errno != EAGAIN && errno != EINTR) || poll(&out, 1, PATIENCE_MS) <= 0)
            return;
    }
}

static void draw(struct prompt *prompt)
{
    struct terminal *terminal = &prompt->session->terminal;
    const struct ask *ask = asks_find(prompt->session, prompt->id);
    autostrbuf struct strbuf lines = {0};
    autostrbuf struct strbuf out = {0};
    struct winsize size = {.ws_col = 80, .ws_row = 24};

    if (!ask || prompt->how != SHOWN_ON_SCREEN)
        return;
    (void)ioctl(terminal->out_fd, TIOCGWINSZ, &size);
    prompt->view.cols = size.ws_col ? size.ws_col : 80;
    prompt->view.rows = size.ws_row ? size.ws_row : 24;
    prompt->view.more = count_waiting(prompt->session) - 1;
    prompt->notice.ms_left = (int)(ask->until_ms - clock_ms());
    question_show(&prompt->view, &prompt->notice, &lines);
    if (lines.failed || !lines.text)
        return;
    strbuf_add(&out, CURSOR_HIDE);
    question_paint(lines.text, &out);
    if (out.failed)
        return;
    (void)terminal_write_patiently(terminal, out.text, out.length, PATIENCE_MS);
}

static void print(struct prompt *prompt)
{
    const struct ask *ask = asks_find(prompt->session, prompt->id);
    autostrbuf struct strbuf out = {0};
    struct winsize size = {.ws_col = 80};
    unsigned more = count_waiting(prompt->session) - 1;
    int left;

    if (!ask)
        return;
    left = (int)((ask->until_ms - clock_ms()) / 1000);
    (void)ioctl(prompt->tty, TIOCGWINSZ, &size);
    strbuf_addf(&out, "\nbawn asks: if nobody answers, no in %d:%02d", left / 60, left % 60);
    if (more > 0)
        strbuf_addf(&out, ", %u more wait%s", more, more == 1 ? "s" : "");
    strbuf_add(&out, "\n");
    question_print(&prompt->notice, size.ws_col ? size.ws_col : 80, &out);
    question_add_keys(&prompt->notice, &out);
    strbuf_add(&out, "a letter and Enter; Enter alone is no: ");
    write_tty(prompt->tty, &out);
}

static void say_in_lines(const struct prompt *prompt, const char *said)
{
    autostrbuf struct strbuf out = {0};

    strbuf_add(&out, said);
    write_tty(prompt->tty, &out);
}

static void answer(struct prompt *prompt, const struct bawn_answer *given)
{
    struct ask_answer answer = {.is_allowed = given->is_allowed,
                                .scope = (enum ask_scope)given->scope,
                                .saved =
                                    given->flags & BAWN_ANSWER_SAVE ? (int)given->saved_in + 1 : 0,
                                .by = ASK_BY_TERMINAL};
    uint32_t id = prompt->id;

    prompt->id = 0;
    if (asks_answer(prompt->session, id, &answer) < 0)
        prompt_look(prompt->session);
}

static void refuse(struct prompt *prompt)
{
    answer(prompt, &(struct bawn_answer){.is_allowed = false});
}

/* No to this one, and to all where nobody else can answer. */
static void silence(struct prompt *prompt)
{
    prompt->is_silenced = true;
    refuse(prompt);
    asks_client_gone(prompt->session);
}

/* False: it was no key of the question's, or it is over. */
static bool take_key(struct prompt *prompt, enum key key)
{
    struct bawn_answer given;
    int64_t now_ms = clock_ms();

    if (now_ms < prompt->guard_ms) {
        prompt->guard_ms = now_ms + GUARD_MS;
        return true;
    }
    if (key == KEY_SUSPEND) {
        prompt_hide(prompt->session);
        session_asked_to_stop(prompt->session);
        return false;
    }
    if (key == KEY_ESCAPE || key == KEY_INTERRUPT || key == KEY_ENTER) {
        refuse(prompt);
        return false;
    }
    if (key == 'q') {
        silence(prompt);
        return false;
    }
    if (question_answer(&prompt->notice, key, &given) &&
        (!given.is_allowed || !prompt->view.is_small)) {
        answer(prompt, &given);
        return false;
    }
    if (key == KEY_REDRAW || question_scroll(&prompt->view, key))
        draw(prompt);
    return true;
}

static int on_escape(void *context)
{
    struct prompt *prompt = context;

    if (prompt->how == SHOWN_ON_SCREEN && key_is_open(&prompt->keys))
        (void)take_key(prompt, key_end(&prompt->keys));
    return 0;
}

/* The window is gone, or another's: it cannot be answered here. */
static void leave(struct prompt *prompt, bool is_gone)
{
    if (is_gone) {
        prompt->is_silenced = true;
        refuse(prompt);
    }
    prompt_hide(prompt->session);
    asks_client_gone(prompt->session);
}

static int on_keys(void *context, uint32_t events)
{
    struct prompt *prompt = context;
    struct terminal *terminal = &prompt->session->terminal;
    char bytes[256];
    ssize_t count;

    (void)events;
    if (terminal_is_background(terminal->fd)) {
        leave(prompt, false);
        return 0;
    }
    count = read(terminal->read_fd, bytes, sizeof(bytes));
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (count <= 0) {
        leave(prompt, true);
        return 0;
    }
    for (ssize_t i = 0; i < count; i++) {
        enum key key = key_take(&prompt->keys, bytes[i]);

        /* What was typed with the answer is for nobody. */
        if (key != KEY_NONE && !take_key(prompt, key))
            return 0;
    }
    if (key_is_open(&prompt->keys))
        loop_set_timer(&prompt->session->loop, &prompt->escape, KEY_ESCAPE_MS, 0, on_escape,
                       prompt);
    return 0;
}

static void take_line(struct prompt *prompt)
{
    const char *line = prompt->line;
    struct bawn_answer given;

    if (clock_ms() < prompt->guard_ms)
        prompt->guard_ms = clock_ms() + GUARD_MS;
    else if (!*line)
        refuse(prompt);
    else if (line[1] == '\0' && line[0] == 'q')
        silence(prompt);
    else if (line[1] == '\0' && question_answer(&prompt->notice, (enum key)line[0], &given))
        answer(prompt, &given);
    else
        say_in_lines(prompt, "one letter and Enter; Enter alone is no: ");
}

static int on_line(void *context, uint32_t events)
{
    struct prompt *prompt = context;
    char bytes[LINE_BYTES];
    ssize_t count;

    (void)events;
    if (!is_ordinary(prompt->tty)) {
        leave(prompt, false);
        return 0;
    }
    count = read(prompt->tty, bytes, sizeof(bytes));
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (count <= 0) {
        /* An end of file is a key here; the terminal may be gone, too. */
        if (count == 0 && !(events & POLLHUP))
            refuse(prompt);
        else
            leave(prompt, true);
        return 0;
    }
    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            /* A longer one is no answer, whatever it begins with. */
            if (prompt->line_count < sizeof(prompt->line) - 1)
                prompt->line[prompt->line_count++] = bytes[i];
            continue;
        }
        prompt->line[prompt->line_count] = '\0';
        prompt->line_count = 0;
        take_line(prompt);
        return 0;
    }
    return 0;
}

static void watch(struct prompt *prompt, int fd, loop_ready ready)
{
    prompt->source =
        (struct loop_source){.fd = fd, .events = POLLIN, .ready = ready, .context = prompt};
    (void)loop_add(&prompt->session->loop, &prompt->source, NULL);
}

static bool show_on_screen(struct prompt *prompt)
{
    struct terminal *terminal = &prompt->session->terminal;

    if (!can_ask_on_screen(prompt->session) || !terminal_lend(terminal))
        return false;
    (void)terminal_write_patiently(terminal, KEY_BEGIN, strlen(KEY_BEGIN), PATIENCE_MS);
    prompt->how = SHOWN_ON_SCREEN;
    prompt->is_resized = false;
    watch(prompt, terminal->read_fd, on_keys);
    return true;
}

static bool show_in_lines(struct prompt *prompt)
{
    struct session *session = prompt->session;

    if (!can_ask_in_lines(session))
        return false;
    prompt->tty = open_tty();
    if (prompt->tty < 0)
        return false;
    terminal_suspend(&session->terminal);
    (void)tcflush(prompt->tty, TCIFLUSH);
    prompt->how = SHOWN_IN_LINES;
    watch(prompt, prompt->tty, on_line);
    return true;
}

void prompt_hide(struct session *session)
{
    struct prompt *prompt = session->prompt;

    if (!prompt || prompt->how == SHOWN_NOT)
        return;
    loop_remove(&session->loop, &prompt->source);
    loop_stop_timer(&session->loop, &prompt->escape);
    if (prompt->how == SHOWN_ON_SCREEN) {
        (void)terminal_write_patiently(&session->terminal, KEY_LEAVE CURSOR_SHOW,
                                       strlen(KEY_LEAVE CURSOR_SHOW), PATIENCE_MS);
        terminal_take_back(&session->terminal, prompt->is_resized);
    } else {
        if (prompt->id && is_ordinary(prompt->tty))
            say_in_lines(prompt, "\nbawn: it needs no answer now\n");
        (void)close(take_fd(&prompt->tty));
        terminal_resume(&session->terminal);
    }
    prompt->how = SHOWN_NOT;
    prompt->id = 0;
}

static int on_tick(void *context)
{
    struct prompt *prompt = context;

    if (prompt->how == SHOWN_ON_SCREEN)
        draw(prompt);
    else if (prompt->how == SHOWN_NOT)
        prompt_look(prompt->session);
    return 0;
}

/* The next one, which no key has been meant for yet. */
static void put(struct prompt *prompt, const struct ask *ask)
{
    prompt->id = ask->id;
    prompt->keys = (struct key_reader){0};
    prompt->view = (struct question_view){0};
    prompt->line_count = 0;
    prompt->guard_ms = clock_ms() + GUARD_MS;
    fill_notice(prompt, ask);
    if (prompt->how == SHOWN_ON_SCREEN) {
        (void)tcflush(prompt->session->terminal.fd, TCIFLUSH);
        draw(prompt);
    } else {
        (void)tcflush(prompt->tty, TCIFLUSH);
        print(prompt);
    }
}

void prompt_look(struct session *session)
{
    struct prompt *prompt = session->prompt;
    const struct ask *ask = asks_first(session);

    if (!prompt)
        return;
    if (!ask || prompt->is_silenced) {
        prompt_hide(session);
        loop_stop_timer(&session->loop, &prompt->tick);
        return;
    }
    if (prompt->tick.at_ms == 0)
        loop_set_timer(&session->loop, &prompt->tick, TICK_MS, TICK_MS, on_tick, prompt);
    if (prompt->how != SHOWN_NOT && prompt->id && asks_find(session, prompt->id)) {
        draw(prompt);
        return;
    }
    /* A line would be read by the command, once its terminal is there. */
    if (is_early(session))
        return;
    if (prompt->how != SHOWN_NOT || show_on_screen(prompt) || show_in_lines(prompt))
        put(prompt, ask);
}

void prompt_resize(struct session *session)
{
    if (!session->prompt || session->prompt->how != SHOWN_ON_SCREEN)
        return;
    session->prompt->is_resized = true;
    draw(session->prompt);
}

void prompt_refuse(struct session *session)
{
    if (session->prompt && session->prompt->how != SHOWN_NOT && session->prompt->id)
        refuse(session->prompt);
}

void prompt_open(struct session *session)
{
    const struct session_request *request = session->request;

    if (session->prompt || request->asks_nobody || request->is_detached || request->owner_fd >= 0)
        return;
    session->prompt = calloc(1, sizeof(*session->prompt));
    if (!session->prompt)
        return;
    session->prompt->session = session;
    session->prompt->tty = -EBADF;
    session->asks->changed = prompt_look;
    session->asks->is_there = is_there;
}

void prompt_done(struct session *session)
{
    prompt_hide(session);
    if (!session->prompt)
        return;
    loop_stop_timer(&session->loop, &session->prompt->tick);
    if (session->asks)
        session->asks->changed = NULL;
    free(session->prompt);
    session->prompt = NULL;
}
