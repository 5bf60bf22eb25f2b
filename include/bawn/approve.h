/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of a running session want and a rule asks about: being asked, and answering. */
#ifndef BAWN_APPROVE_H
#define BAWN_APPROVE_H

#include <bawn/save.h>
#include <bawn/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A connection over which a person, or a program in its place, is asked. While it is open
 * commands of the session that meet a rule that says ask wait for an answer; the
 * first answer counts, whoever gives it. When the last such connection closes, and no terminal
 * is there to ask on, the answer to all that wait is no.
 *
 *     bawn_approver_open(NULL, &approver, &err);
 *     for (;;) {
 *         poll bawn_approver_fd(approver)
 *         while (bawn_approver_next(approver, &notice, &err) > 0)
 *             if (notice->kind == BAWN_NOTICE_ASKED)
 *                 bawn_approver_answer(approver, notice->id, &answer, &err);
 *     }
 *
 * One approver is for one thread at a time.
 */
struct bawn_approver;

/* As bawn_session_open. */
BAWN_API int bawn_approver_open(const char *sid, struct bawn_approver **ret_approver,
                                struct bawn_error *err);
BAWN_API void bawn_approver_close(struct bawn_approver *approver);

/* The session's whole name. */
BAWN_API const char *bawn_approver_sid(const struct bawn_approver *approver);

/* A descriptor that is readable when bawn_approver_next may have something. */
BAWN_API int bawn_approver_fd(const struct bawn_approver *approver);

enum bawn_notice_kind {
    BAWN_NOTICE_ASKED,   /* a question */
    BAWN_NOTICE_SETTLED, /* it needs no answer any more: id, is_allowed, scope, by */
    BAWN_NOTICE_ALL,     /* these were all that waited when the connection was made */
};

/* For how much an answer holds. */
enum bawn_answer_scope {
    BAWN_ANSWER_ONCE,
    BAWN_ANSWER_SESSION,      /* the same thing again, while the session lasts */
    BAWN_ANSWER_SESSION_TREE, /* all in the directory that it is in, where grant_tree is not "" */
};

/* How a question ended. */
enum bawn_answer_by {
    BAWN_BY_TERMINAL,
    BAWN_BY_CLIENT,
    BAWN_BY_TIME,   /* nobody answered */
    BAWN_BY_NOBODY, /* the last who could have is gone */
    BAWN_GIVEN_UP,  /* nobody waits for it any more */
};

/* Only the library makes this struct: later versions may add members at the end. SECURITY: the
 * texts are what the command made of them, as raw bytes: escape what is shown. */
struct bawn_notice {
    enum bawn_notice_kind kind;
    unsigned id;
    /* Of a question. */
    int ms_left;             /* then the answer is no */
    int pid;                 /* of the process that wants it, as the host has it; 0: unknown */
    const char *op;          /* "read", "write", "exec", "connect", "bind" */
    const char *path;        /* what it wants, as it sees it: a path, or HOST:PORT */
    const char *call;        /* by which system call, or which protocol */
    const char *rule;        /* which rule asks, as 'bawn check' names it */
    const char *comm;        /* the name that the process has given itself */
    const char *exe;         /* its program; "": unknown */
    const char *const *argv; /* its command line; ended by NULL */
    /* The rule that would allow it in later sessions, "read /x": a word of 'bawn policy save' and
     * what it is about on the host; "": none of the user's can. The same for its directory. */
    const char *grant;
    const char *grant_tree;
    /* Of what is settled. */
    bool is_allowed;
    enum bawn_answer_scope scope;
    enum bawn_answer_by by;
};

/* The next notice, without waiting: 1, with *ret_notice, which is the library's until the next
 * call; 0: there is none now. -EPIPE: the session has ended. */
BAWN_API int bawn_approver_next(struct bawn_approver *approver,
                                const struct bawn_notice **ret_notice, struct bawn_error *err);

enum { BAWN_ANSWER_SAVE = 1 };

struct bawn_answer {
    bool is_allowed;
    enum bawn_answer_scope scope;
    /* BAWN_ANSWER_SAVE: for later sessions too, in the file of that scope. The session saves grant
     * or, with BAWN_ANSWER_SESSION_TREE, grant_tree; of a no what denies the same. That it cannot
     * be saved is said where the session was started. */
    unsigned flags;
    enum bawn_scope saved_in;
};

/* A question that is settled already is no failure: BAWN_NOTICE_SETTLED tells of it. */
BAWN_API int bawn_approver_answer(struct bawn_approver *approver, unsigned id,
                                  const struct bawn_answer *answer, struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
