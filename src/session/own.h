/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a running session share. */
#ifndef SESSION_OWN_H
#define SESSION_OWN_H

#include "base/loop.h"
#include "kernel/cgroup.h"
#include "launch/launch.h"
#include "session/session.h"
#include "session/terminal.h"
#include "supervise/supervise.h"

#include <time.h>

struct session {
    struct session_request *request;
    struct cgroup group;
    struct cgroup_limits limits;
    struct launch launch;
    struct supervisor *supervisor;
    struct loop loop;
    struct loop_source sync_source, notify_source, signal_source;
    int signal_fd;
    struct terminal terminal;
    int master_fd; /* of the sandbox's terminal, or -EBADF */
    struct timespec started;
    uint64_t memory_peak; /* where it is measured, not counted */
    bool has_started, has_ended;
    bool is_timed_out, is_over_memory;
    unsigned signals_sent; /* of those that end it: the second one is meant */
    int wait_status;
    int exec_errno; /* why the command could not be started */
};

/* The limits: before the launch, while it runs, and afterwards. */
int session_limit(struct session *session, struct bawn_error *err);
void session_set_clock(struct session *session);
/* Says which limit was hit, and with --stats what was used. */
void session_account(struct session *session);
void session_unlimit(struct session *session);

/* Signals of the terminal and of others, passed on to the command. */
int session_watch_signals(struct session *session, struct bawn_error *err);

/* Which streams are a terminal: enum exec_flag. Fills the state that a new one starts with. */
void session_look_at_streams(struct launch_command *command);
int session_take_terminal(struct session *session, int master_fd, struct bawn_error *err);

/* A line for the user, never mixed into a raw terminal. */
void session_say(const struct session *session, const struct bawn_error *said);

/* The status to exit with, from how the command ended. */
int session_status(const struct session *session);

#endif
