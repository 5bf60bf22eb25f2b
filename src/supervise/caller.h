/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread whose call is answered, read from outside: its memory, its
 * directories, its umask. All of it is only worth something when the
 * notification is still valid after the last of these reads: ids are reused.
 */
#ifndef SUPERVISE_CALLER_H
#define SUPERVISE_CALLER_H

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread that called lately; kept, for it is likely to call again. A dead thread's descriptors
 * fail for good, so that a reused id is never mistaken for it. */
struct caller {
    int notify_fd;
    uint64_t call; /* id of the notification */
    pid_t tid;     /* 0: nobody yet */
    uint64_t used; /* a larger number is later */
    int proc_fd;   /* this and the next are opened when they are needed: many calls need neither */
    int status_fd;
    int process_fd; /* a pidfd; only of a first thread, whose id is its own as long as it lives */
};

enum { CALLERS_KNOWN = 16 };

struct callers {
    int notify_fd;
    struct caller known[CALLERS_KNOWN];
    uint64_t used;
};

/* Its ids as the sandbox's own /proc names them. */
struct caller_ids {
    pid_t tgid, tid;
};

void callers_init(struct callers *callers, int notify_fd);
void callers_done(struct callers *callers);

/* Who makes a call; what is known of a thread with the same id is kept, and asked anew if that
 * thread is dead. Borrowed, until CALLERS_KNOWN others have called. */
struct caller *callers_find(struct callers *callers, pid_t tid, uint64_t call);

/* All return 0 or a negative errno. */
int caller_read(struct caller *caller, uint64_t address, void *bytes, size_t size);
/* A path as the kernel takes it: -EFAULT, -ENAMETOOLONG. */
int caller_read_path(struct caller *caller, uint64_t address, char path[static LIMIT_PATH_BYTES]);
int caller_umask(struct caller *caller, mode_t *ret_umask);

/* The name of its program, as the kernel keeps it. */
enum { CALLER_NAME_BYTES = 16 };
int caller_name(struct caller *caller, char name[static CALLER_NAME_BYTES]);

/* Signals that wait for a thread and that it does not block. */
struct caller_signals {
    uint64_t own;    /* sent to it */
    uint64_t shared; /* sent to its process */
    pid_t group, thread;
};
/* Its status in /proc, borrowed; and what that says, also when the caller is another by now. */
int caller_status(struct caller *caller);
int caller_signals(int status_fd, struct caller_signals *ret_signals);
/* Whether all its other threads block one of the signals that wait for the whole process. */
bool caller_is_only_taker(const struct caller_signals *signals);
int caller_ids(struct caller *caller, struct caller_ids *ret_ids);
/* Device number of its controlling terminal; -ENXIO: it has none that is the sandbox's own. */
int caller_tty(struct caller *caller, dev_t *ret_device);

/* How it has a descriptor open, as the flags of open: -EBADF unless that is the file held by
 * object, an O_PATH descriptor of ours. */
int caller_fd_flags(struct caller *caller, int fd, int object);

/* Whether it has the descriptor open as O_PATH. */
bool caller_fd_is_path(struct caller *caller, int fd);

/* A second descriptor of what it has open. */
int caller_take_fd(struct caller *caller, int fd);
/* Whether exec closes it. */
bool caller_fd_is_cloexec(struct caller *caller, int fd);
/* Its directory in /proc, borrowed. */
int caller_proc(struct caller *caller);
/* Who started it; 0: somebody who is not seen from here. */
pid_t caller_parent(struct caller *caller);

/* Its user and mount namespace; and what it may, with ids as they are in the reader's. */
int caller_open_users(struct caller *caller);
int caller_open_mounts(struct caller *caller);
struct caller_rights {
    uid_t uid;
    gid_t gid;
    mode_t umask;
};
int caller_rights(struct caller *caller, struct caller_rights *ret_rights);

/* O_PATH of where its relative paths start: dir_fd is a descriptor of its, or AT_FDCWD. */
int caller_open_dir(struct caller *caller, int dir_fd);
/* Whether its network is the supervisor's. */
bool caller_shares_net(struct caller *caller);
/* Whether a descriptor of a network namespace is of the one that the caller is in. */
bool caller_is_in_net(struct caller *caller, int net_fd);

#endif
