/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's terminal while a command has one of its own inside: bytes go back
 * and forth, the size follows, and the state it had comes back whatever happens.
 *
 * How it works: one buffer each way, never more. What does not fit is not read,
 * so that the side that writes too much waits. The user's terminal is opened
 * anew for this, since O_NONBLOCK on the descriptor that was given would reach
 * everybody who shares it, the user's shell too.
 *
 *              input                         master
 *   user's ---- read_fd --> to_master --> .------------.
 *   terminal <- write_fd --- to_user <--- | master_fd  | <--> the command
 *              output                     '------------'
 *
 * The terminal is taken (raw) only while our process group is in its
 * foreground. In the background the output goes on and no key is read. Whether
 * it is our turn again is looked at when SIGCONT comes, and now and then, since
 * not every shell sends it to a job that runs (bash does not).
 *
 * Where the keys may be somebody else's, as in `bawn run ... | less`, the
 * terminal waits: it is not touched until terminal_claim says that the command
 * wants keys. SECURITY: it is claimed only in its ordinary state, with echo and
 * whole lines. In any other a program has it, as a pager does, and sudo that asks
 * for a password; the command waits until that program is done.
 *
 * The caller:
 * - calls terminal_resize at SIGWINCH and terminal_resume at SIGCONT;
 * - at SIGTSTP calls terminal_suspend, then raise(SIGSTOP), then
 *   terminal_resume;
 * - leaves SIGTTIN and SIGTTOU at their default, unblocked;
 * - calls terminal_stop on every way out, those by SIGTERM, SIGHUP and SIGINT
 *   too, and prints nothing of its own before.
 * Nothing can be done about kill -9 of bawn itself: the terminal stays raw, as
 * after kill -9 of any editor, until the shell's own `stty sane` or `reset`.
 */
#ifndef SESSION_TERMINAL_H
#define SESSION_TERMINAL_H

#include "base/loop.h"
#include "session/drawn.h"
#include "session/modes.h"

#include <stddef.h>
#include <sys/ioctl.h>
#include <termios.h>

struct terminal {
    int fd;                /* the user's terminal, borrowed; -EBADF: keys are not read */
    int out_fd;            /* where output goes, borrowed: the user's terminal too */
    int master_fd;         /* of the sandbox's terminal, borrowed */
    int read_fd, write_fd; /* the same as fd and out_fd, opened anew */
    int turn_fd;           /* a timer, for the background */
    int slave_fd;          /* held, so that the terminal inside lives while nobody has it open */
    struct winsize fixed;  /* columns, rows: not 0 where the command's size is not the user's. Set
                            * before the start */
    struct termios saved;
    struct modes modes;
    /* How long a terminal that takes no byte is waited for in terminal_stop. Lower it before, when
     * the end cannot wait. */
    int patience_ms;
    bool does_write_wait;         /* write_fd is the user's own and blocks */
    bool waits;                   /* the keys are left alone. May be set before the start */
    bool has_knocked;             /* waiting: who polls for keys has been woken up */
    bool is_claimed;              /* waiting: the command wants keys, which are another program's */
    void (*taken)(void *context); /* the keys are the command's now: called when it waited, and
                                   * nobody is in terminal_claim. Set it after the start */
    void (*asked_to_stop)(void *context); /* the key that stops a command was typed, and the
                                           * terminal inside acts on it. The same; or NULL */
    void *context;
    bool is_shared; /* another program writes to it, too: how output is shown stays. May be set
                       before the start */
    bool is_raw;    /* we changed its state, saved is what it was */
    bool is_away;   /* in the background, or no keys are wanted */
    bool is_held;   /* no key is read for now */
    bool is_suspended;
    bool is_lent;         /* somebody else draws and reads keys */
    bool keeps_drawn;     /* what is drawn on the other screen is kept. Set it after the start */
    struct drawn drawn;   /* for that */
    bool is_cut;          /* what was read last ends within a character */
    bool has_left_modes;  /* the terminal is without what modes says */
    bool is_input_ended;  /* the user's terminal is gone: the command was sent an end of file */
    bool is_output_lost;  /* the user's terminal takes no more: output is thrown away */
    bool is_master_ended; /* nobody inside has the terminal open; not an error */
    bool has_typed;       /* a key was read. The caller clears it */
    bool is_line_started; /* the last key sent did not end a line */
    char leave_key;       /* ends the loop and is not passed on; 0: none. Set it after the start */
    struct loop *loop;    /* NULL: not started, or stopped */
    struct loop_source input, turn, output, master;
    char to_master[4096];
    size_t to_master_count;
    char to_user[16384];
    size_t to_user_count, to_user_sent;
};

/* What a new terminal is set to: as the user's is. 0 or a negative errno. */
int terminal_read_state(int fd, struct termios *ret_state, struct winsize *ret_size);

/* Whether somebody else, the shell mostly, has the terminal now. */
bool terminal_is_background(int fd);

/* Puts in what of a size is given, not 0. */
void terminal_fix_size(struct winsize *size, const struct winsize *fixed);

/* A size was given, and there is no terminal that could have it. Returns -ENOTTY. */
int terminal_refuse_size(struct bawn_error *err);

/*
 * Makes the user's terminal raw, gives its size to the sandbox's, and relays
 * in the loop until terminal_stop. fd is -EBADF where keys are another's, as
 * in `bawn run ... | less`. master_fd becomes O_NONBLOCK.
 */
int terminal_start(struct terminal *terminal, struct loop *loop, int fd, int out_fd, int master_fd,
                   struct bawn_error *err);
void terminal_resize(struct terminal *terminal);
/* A program that draws is not told that its screen was gone, but by a size that changed. */
void terminal_ask_to_redraw(const struct terminal *terminal);
/* Gives the terminal back until terminal_resume, which takes it if it is ours to take. */
void terminal_suspend(struct terminal *terminal);
void terminal_resume(struct terminal *terminal);

/*
 * Lends the screen and the keys: what the command says waits, what was typed ahead is thrown
 * away, and the other screen is there to be drawn on. False: it is not ours now. read_fd and
 * terminal_write_patiently are the borrower's then. terminal_take_back puts the command's
 * screen back as it was; or has it drawn again by the command, if is_resized, or if it was too
 * much to be kept.
 */
bool terminal_can_lend(const struct terminal *terminal);
bool terminal_lend(struct terminal *terminal);
void terminal_take_back(struct terminal *terminal, bool is_resized);

enum terminal_claim {
    CLAIM_TAKEN,
    CLAIM_LATER,      /* when another program is done: taken is called */
    CLAIM_BACKGROUND, /* the terminal is not ours to take */
};
enum terminal_claim terminal_claim(struct terminal *terminal);
/* Waits from now on. */
void terminal_wait(struct terminal *terminal);
/* Reads no key, or does again: one that stops a command would be lost before that goes on. */
void terminal_hold(struct terminal *terminal, bool is_held);
/* No key will come: the command gets an end of file. */
void terminal_end_input(struct terminal *terminal);

/* Writes out what the command still said, then gives the terminal back as it was. Does
 * nothing when it was not started. */
void terminal_stop(struct terminal *terminal);

#endif
