/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that is stopped and continued, as a job of the user's shell.
 *
 * How it works: pid 1 leads the session on the command's terminal as a shell
 * does, so that the kernel stops the command where it would outside: at Ctrl-Z,
 * and when it reads keys that it does not have. Pid 1 tells, and we stop by the
 * same signal, with our whole process group if a key was typed, as that does
 * outside. The user's shell sees it, and what it continues us with continues the
 * command.
 *
 *   Ctrl-Z --> command stops --> SYNC_STOPPED --> terminal given back, we stop
 *   fg     --> SIGCONT for us --> terminal taken --> SIGCONT for the command
 *
 * The command is in front of its terminal exactly while we have the user's. It is
 * not from the start where the keys may be another's (terminal.waits): what it
 * wants keys with stops it then, and we claim them.
 */
#include "session/own.h"
#include "session/prompt.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
    ASK_MS = 500,  /* for a command that puts its screen in order before it stops */
    REST_MS = 100, /* between a stop that nobody would see, and going on */
};

static bool has_keys(const struct session *session)
{
    return session->terminal.loop && session->terminal.fd >= 0;
}

/* Tells the command what it is told once the stop is over: SIGCONT, or nothing. */
static void go_on(struct session *session, int signal)
{
    enum in_front front = !has_keys(session)        ? FRONT_SAME
                          : session->terminal.waits ? FRONT_NOBODY
                                                    : FRONT_COMMAND;

    session->pause.is_continuing = launch_signal_front(&session->launch, front, signal) == 0;
    terminal_hold(&session->terminal, session->pause.is_continuing);
    session->terminal.has_typed = false;
    if (signal == SIGCONT)
        session->pause.is_stopped = false;
}

/* Whether it did: the kernel does not stop a group that no shell would continue. KERNEL: a signal
 * that stops takes a SIGCONT away that came before it. */
static bool stop_by(int signal, bool is_everybody)
{
    static const struct timespec now;
    sigset_t stops, continues, before;

    sigemptyset(&stops);
    sigaddset(&stops, signal);
    sigemptyset(&continues);
    sigaddset(&continues, SIGCONT);
    (void)kill(is_everybody ? 0 : getpid(), signal);
    (void)sigprocmask(SIG_UNBLOCK, &stops, &before);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return sigtimedwait(&continues, NULL, &now) == SIGCONT;
}

static int on_rested(void *context)
{
    struct session *session = context;

    go_on(session, session->pause.after_rest);
    return 0;
}

/* SECURITY: not at once, for a command may stop itself as often as it likes. */
static void rest(struct session *session, int after)
{
    session->pause.after_rest = after;
    loop_set_timer(&session->loop, &session->pause.timer, REST_MS, 0, on_rested, session);
}

/* In the background the command gets no keys, and is stopped when it wants some. Not before we have
 * heard why we go on: it may be to end. */
void session_resume(struct session *session)
{
    prompt_hide(session);
    terminal_resume(&session->terminal);
    if (has_keys(session) && session->terminal.is_away) {
        terminal_wait(&session->terminal);
        rest(session, SIGCONT);
    } else {
        go_on(session, SIGCONT);
    }
    prompt_look(session);
}

/*
 * A key stops all of our group, and so does a read from the background. SECURITY:
 * what a command does by itself stops nobody outside but us.
 */
static bool is_for_group(const struct session *session, int signal)
{
    bool wants_keys = signal == SIGTTIN || signal == SIGTTOU;

    return session->terminal.has_typed || (wants_keys && session->terminal.waits);
}

static bool has_come_forward(const struct session *session, int signal)
{
    return (signal == SIGTTIN || signal == SIGTTOU) && session->terminal.waits &&
           !terminal_is_background(session->terminal.fd);
}

/* signal is what the command was stopped by. */
static void stop_with(struct session *session, int signal, bool is_everybody)
{
    bool has_stopped;

    session->pause.is_asked = false;
    prompt_hide(session);
    terminal_suspend(&session->terminal);
    session_stand_in(session);
    /* It may have been brought to the foreground meanwhile, by a shell that knows it as running. */
    has_stopped = has_come_forward(session, signal) ||
                  stop_by(signal == SIGSTOP ? SIGTSTP : signal, is_everybody);
    session_take_back(session);
    if (has_stopped) {
        /* What came meanwhile is there before the command goes on, as outside. */
        for (int i = 0; i < NSIG; i++)
            (void)session_hear_signal(session, 0);
        session_resume(session);
        return;
    }
    terminal_resume(&session->terminal);
    /* A read from the background fails where nobody is stopped for it. */
    if ((signal == SIGTTIN || signal == SIGTTOU) && has_keys(session) && session->terminal.waits) {
        session->terminal.waits = false;
        terminal_end_input(&session->terminal);
    }
    rest(session, signal == SIGSTOP ? 0 : SIGCONT);
}

/* It has not stopped: it does now. */
static int on_unheard(void *context)
{
    struct session *session = context;

    (void)launch_signal(&session->launch, 0, SIGSTOP, NULL);
    stop_with(session, SIGTSTP, false);
    return 0;
}

void session_asked_to_stop(struct session *session)
{
    struct pause *pause = &session->pause;

    if (pause->is_asked || pause->is_over)
        return;
    pause->is_asked = true;
    (void)launch_signal(&session->launch, 0, SIGTSTP, NULL);
    loop_set_timer(&session->loop, &pause->timer, session->request->argv ? ASK_MS : 0, 0,
                   on_unheard, session);
}

void session_command_stopped(struct session *session, int signal)
{
    struct pause *pause = &session->pause;
    bool wants_keys = signal == SIGTTIN || signal == SIGTTOU;
    enum terminal_claim claim = CLAIM_BACKGROUND;

    /* Stopped before it was told to go on. */
    if (pause->is_continuing)
        return;
    pause->is_stopped = true;
    loop_stop_timer(&session->loop, &pause->timer);
    if (pause->is_over) {
        rest(session, SIGCONT);
        return;
    }
    if (pause->is_asked) {
        stop_with(session, SIGTSTP, false); /* others of our group were told when we were */
        return;
    }
    /* SECURITY: without keys of the user's it is none of the user's shell's business. */
    if (!has_keys(session))
        return;
    if (wants_keys && session->terminal.waits)
        claim = terminal_claim(&session->terminal);
    if (claim == CLAIM_TAKEN)
        go_on(session, SIGCONT);
    else if (claim == CLAIM_BACKGROUND)
        stop_with(session, signal, is_for_group(session, signal));
}

void session_wake_command(struct session *session, bool is_hang_up)
{
    if (session->pause.is_stopped || is_hang_up)
        go_on(session, SIGCONT);
}

void session_signal_passed_on(struct session *session, const struct sync_message *message)
{
    if (message->job != 0 || (message->value != SIGCONT && message->value != 0))
        return;
    session->pause.is_continuing = false;
    terminal_hold(&session->terminal, false);
}

static int on_half_stopped(void *context)
{
    go_on(context, SIGCONT);
    return 0;
}

/* KERNEL: a child of vfork that is stopped before its exec keeps its parent from stopping, and from
 * anything else. Outside that is for good, unless no shell is there and the key does nothing. */
void session_stop_typed(void *context)
{
    struct session *session = context;

    if (session->pause.timer.at_ms == 0)
        loop_set_timer(&session->loop, &session->pause.timer, ASK_MS, 0, on_half_stopped, session);
}

void session_keys_taken(void *context)
{
    go_on(context, SIGCONT);
}
