/* SPDX-License-Identifier: Apache-2.0 */
/* One trapped call: what was asked for, whether it may be, and what becomes of it. */
#ifndef SUPERVISE_CALL_H
#define SUPERVISE_CALL_H

#include "supervise/guard.h"
#include "supervise/locate.h"
#include "supervise/questions.h"
#include "supervise/supervise.h"

#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

struct call;
struct dials;
struct identity;

/* SECURITY: a file with one of these is run by others with the rights of its owner, who is the
 * caller: on the host, long after the sandbox. chmod refuses them by the filter. */
enum { CALL_SET_ID = 06000 };

/* Where a system call has its parts; -1: it has none such. */
struct call_kind {
    int number;
    const char *name;
    signed char dirs[2]; /* a path without one starts in the current directory; with no path it is
                            what the call is about */
    signed char paths[2];
    signed char text; /* the target of a symbolic link, the name of an attribute */
    /* Takes more from the caller's memory; may be NULL. */
    int (*prepare)(struct call *call);
    int (*perform)(struct call *call);
};

struct call {
    const struct supervisor_options *options;
    const struct guard *guard;
    struct reports *reports;
    struct questions *questions;
    struct identity *identity;
    struct caller *caller;
    const struct seccomp_notif *notif;
    const struct call_kind *kind;
    struct locator locator;
    int starts[2]; /* O_PATH, owned; -EBADF for absolute paths */
    char paths[2][LIMIT_PATH_BYTES];
    int second; /* a negative errno: what is wrong with the second path, once the first is found */
    char text[LIMIT_PATH_BYTES];
    mode_t own_umask;             /* the supervisor's */
    bool has_umask;               /* the caller's is in effect instead */
    struct open_how how;          /* of opens */
    const struct location *named; /* what is opened has this name; NULL: none that counts */
    unsigned char *value;         /* of an attribute, or an address; owned */
    size_t value_size;            /* of an address */
    int socket;                   /* the caller's, owned */
    int domain;                   /* of the socket */
    uint64_t size_limit;          /* of files, the caller's */
    /* The outcome, besides what perform returns: a descriptor to hand over, or one whose opening
     * must wait, which is done elsewhere. */
    int fd; /* owned */
    bool must_wait;
    bool is_ours;      /* it opens nothing, and needs nobody's rights */
    bool is_continued; /* the caller makes it itself */
    bool is_told;      /* it is only looked at, and the caller makes it */
    bool is_kept;      /* it is answered later, or by somebody else */
    bool is_reading;   /* an open that changes nothing, held all the same: sandbox.late */
    /* The link with a hidden name that was met, or "". */
    char hidden[LIMIT_PATH_BYTES + NAME_MAX + 2];
    struct dials *dials;
};

static inline int call_int(const struct call *call, int index)
{
    return (int)call->notif->data.args[index];
}

/* 0, or -EACCES when the rules do not let the location be written (read). Says nothing yet. */
int call_judge(const struct call *call, const struct location *at, enum path_op op);
/* The same for anything that is open; is_anchored: it was reached from the root. */
int call_judge_object(const struct call *call, int fd, const char *path, bool is_anchored,
                      enum path_op op);

/* SECURITY: what the supervisor opens in /proc it opens with its own rights over the processes
 * inside, and as one of the host's. It opens nothing there that is not the caller's own, but for
 * what a process may write of another's: -EACCES. Nor does it for openat2: -ENOSYS, for whoever
 * uses that knows kernels without it, and openat is for the kernel itself unless it writes. */
int call_judge_proc(const struct call *call, int fd, const char *path);

/* Whether it came in as a stream, and has no name by which rules could be about it. */
bool call_is_nameless_stream(const struct call *call, const char *path, const struct stat *st);

/* What is made from here on is made with the caller's umask. */
int call_take_umask(struct call *call);

/* The decision that a call about this path was refused by. False: none, but what the call would do.
 */
bool call_explain(const struct call *call, const char *path, struct path_decision *ret_decision);
/* Reports a refusal. Returns -errnum. */
int call_refuse(const struct call *call, const char *path, int errnum);
/* Refuses to make what is at the location: -EEXIST where it is there, -EROFS where the mount would
 * say so anyway, else -EACCES with a report. */
int call_refuse_new(const struct call *call, const struct location *at);
/* EROFS or EACCES for something that exists. */
int call_refuse_old(const struct call *call, int fd, const char *path);

/* Something that exists, and where it is. */
struct followed {
    struct location at; /* of what is open only the path, as its mounts have it */
    int object;         /* O_PATH, owned */
    struct stat st;
    bool is_open; /* it was not found by its name: the caller has it open */
    bool is_write_open;
};
#define FOLLOWED_NONE                                                                              \
    {                                                                                              \
        .at = LOCATION_NONE, .object = -EBADF                                                      \
    }
#define autofollowed __attribute__((cleanup(followed_done)))
void followed_done(struct followed *followed);

/* What the call's first path leads to. A link as its last name is followed, or is it. */
int call_follow(struct call *call, bool follows, struct followed *followed);
/* The same for what the first descriptor stands for. */
int call_follow_fd(struct call *call, struct followed *followed);

/* The table of trapped calls; NULL: none such. */
const struct call_kind *call_find(int number);

/* supervise/explain.c: whether an open with these flags is only told of; and what is told. */
bool explain_is_told(uint64_t flags);
int explain_perform(struct call *call);

/* supervise/exec.c: what is run. */
int exec_prepare(struct call *call);
int exec_perform(struct call *call);

/* supervise/read.c: whether every open is held, so that one with these flags is made here. */
bool read_is_held(const struct call *call, uint64_t flags);
/* Opens what a path without links leads to. 1: it has to be walked by hand. */
int read_plain(struct call *call);
/* Whether it was removed since it was found; path is what locate_path says. */
bool read_is_lost(const struct stat *st, const char *path);
/* Opens a file of /proc, or has it opened by a process that is like the caller. 1: the supervisor
 * may do so itself. */
int read_proc(struct call *call, const struct stat *st, const char *path);

/* How often is looked for what is replaced again and again. */
enum { OPEN_TRIES = 8 };
/* Opens something that exists and is no link. is_own: the caller has it open this way already. */
int open_object(struct call *call, int *object, const struct stat *st, const char *path,
                bool is_anchored, bool is_own);
int open_prepare(struct call *call);
int open_prepare_how(struct call *call);
int open_perform(struct call *call);
int open_perform_how(struct call *call);
int make_dir(struct call *call);
int make_prepare_node(struct call *call);
int make_node(struct call *call);
int make_symlink(struct call *call);
int make_prepare_link(struct call *call);
int make_link(struct call *call);
int bind_prepare(struct call *call);
int bind_perform(struct call *call);
/* Whether the address is that of a socket file; and whether the socket, whose domain and address
 * are known, is of another network than the caller's. */
bool bind_is_path(const struct call *call);
bool bind_is_of_other_net(const struct call *call);
int connect_prepare(struct call *call);
int connect_perform(struct call *call);
int listen_prepare(struct call *call);
int listen_perform(struct call *call);
int ioctl_prepare(struct call *call);
int ioctl_perform(struct call *call);
int call_refuse_trace(struct call *call);
int change_prepare_name(struct call *call);
int change_name(struct call *call);
int change_prepare_removal(struct call *call);
int change_remove(struct call *call);
int change_prepare_size(struct call *call);
int change_size(struct call *call);
int change_prepare_mode(struct call *call);
int change_mode(struct call *call);
int change_prepare_attribute(struct call *call);
int change_attribute(struct call *call);
int change_prepare_flags(struct call *call);
int change_flags(struct call *call);

#endif
