/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person is asked while a command waits, between the session's processes.
 *
 * How it works: whoever meets a rule that says ask sends EVENT_ASKED with a number of its own, and
 * goes on with other things. The launcher finds the answer: one that holds for the session, the
 * terminal's, a client's; or no, where nobody can be asked or the time runs out. It says so with
 * struct ask_verdict: to bawn-net on its control socket, to the process that makes the calls
 * on a SEQPACKET socket of its own. Who has an answer for more than once remembers it. A question
 * that nobody waits for any more is told with EVENT_GIVEN_UP.
 *
 * SECURITY: an answer is to a number that its asker knows what it meant by. Only what the rules say
 * ask about is ever asked; what they deny stays denied, also below a directory that was allowed.
 */
#ifndef WIRE_ASK_H
#define WIRE_ASK_H

#include <stdint.h>

/* The word for running a file (EVENT_OP). A yes to that holds for the session at least: the kernel
 * then runs the file whoever calls, and nobody can tell when it has run once. */
#define ASK_EXEC "exec"

/* For how much an answer holds. */
enum ask_scope {
    ASK_ONCE,
    ASK_SESSION,      /* the same thing, while the session lasts */
    ASK_SESSION_TREE, /* all that lies in the directory in which it is */
    ASK_SCOPES,
};

/* How a question ended. */
enum ask_end {
    ASK_BY_TERMINAL,
    ASK_BY_CLIENT,
    ASK_BY_TIME,   /* nobody answered */
    ASK_BY_NOBODY, /* the last who could have is gone */
    ASK_GIVEN_UP,  /* nobody waits for it any more */
    ASK_ENDS,
};

struct ask_verdict {
    uint32_t kind;  /* NET_VERDICT (wire/net.h), on both sockets */
    uint32_t scope; /* enum ask_scope */
    uint64_t number;
    uint32_t is_allowed;
    uint32_t by; /* enum ask_end: whose answer it is; ASK_BY_NOBODY: nobody could be asked */
};

#endif
