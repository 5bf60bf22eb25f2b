/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a running session share. */
#ifndef SESSION_OWN_H
#define SESSION_OWN_H

#include "base/loop.h"
#include "kernel/cgroup.h"
#include "launch/launch.h"
#include "session/asks.h"
#include "session/audit.h"
#include "session/hosts.h"
#include "session/keeper.h"
#include "session/net.h"
#include "session/notes.h"
#include "session/recorder.h"
#include "session/refusals.h"
#include "session/registry.h"
#include "session/relay.h"
#include "session/room.h"
#include "session/scribe.h"
#include "session/server.h"
#include "session/session.h"
#include "session/terminal.h"
#include "wire/control.h"

#include <signal.h>

struct control;
struct copies;
struct layers;
struct output;
struct prompt;

/* session/pause.c */
struct pause {
    bool is_asked;      /* we are to stop, and the command was asked to */
    bool is_stopped;    /* the command is, as far as was told */
    bool is_over;       /* all is asked to end: nobody stops any more */
    bool is_continuing; /* what of a stop is told now is over */
    int after_rest;     /* the signal that the command gets when the timer rings */
    struct loop_timer timer;
};

struct session {
    struct session_request *request;
    struct cgroup *group; /* own_group, or the keeper's */
    struct cgroup own_group;
    struct keeper keeper;
    struct cgroup_limits limits;
    struct launch launch;
    struct server server;
    struct loop loop;
    struct loop_source sync_source, notify_source, signal_source, witness_source, events_source;
    int channel, events_fd; /* where its processes tell events, and where they are read; -EBADF */
    struct notes notes;
    struct audit audit;
    struct feed feed;
    char sid[SID_BYTES]; /* its name, or "": none yet */
    int watch_fd;        /* of inotify, for the watcher; -EBADF: nothing hidden can appear */
    struct aide watcher;
    struct aide veth_guard; /* takes the network mode veth down, whoever is killed */
    struct aide engine;     /* waits for the program that leads out, and ends it */
    int engine_log;         /* what that program says; -EBADF: there is none */
    struct net net;
    struct hosts *hosts;       /* NULL: none was named yet */
    struct refusals *refusals; /* the same */
    struct asks *asks;         /* NULL: nobody has asked, or wants to be */
    struct prompt *prompt;     /* NULL: the same, or nobody is asked on the terminal */
    int signal_fd;
    sigset_t signals_before;      /* those that were blocked */
    struct loop_timer deaf_timer; /* rings when pid 1 passes no signals on */
    struct terminal terminal;
    struct pause pause;
    struct aide stand_in; /* watches over the limits while we are stopped */
    struct relays relays;
    struct scribe *scribe;    /* NULL: no stream is written for the command */
    int keys_fd, screen_fd;   /* the user's terminal: which of our streams it is */
    int master_fd;            /* of the sandbox's terminal, or -EBADF */
    int pipe_fd;              /* what a detached command without a terminal says, or -EBADF */
    int witness_fd;           /* hangs up when a detached command runs, or ends; or -EBADF */
    bool has_terminal;        /* a detached command has one */
    bool has_host_terminal;   /* a stream is one of the host's: what is there counts later, too */
    struct output *output;    /* of a detached command */
    struct recorder recorder; /* keeps it */
    struct copies *copies;    /* NULL: the sandbox has none */
    struct layers *layers;    /* NULL: it has no overlays */
    struct room_watch room;   /* of these */
    struct control *control;  /* NULL: not to be reached yet */
    struct loop_timer register_timer;
    char registry[REGISTRY_PATH_BYTES]; /* where the command would see it */
    bool is_unlisted;                   /* it is not to be found by others */
    int64_t started_ms;
    uint64_t memory_peak, threads_peak; /* where they are measured, not counted */
    bool has_ended;
    bool is_timed_out, is_over_memory, is_pool_full;
    int wait_status;
    struct bawn_error failure; /* of the last steps of the set-up */
    int exec_errno;            /* why the command could not be started */
};

/* The limits: before the launch, while it runs, and afterwards. */
int session_limit(struct session *session, struct bawn_error *err);
bool session_wants_group(const struct session *session);
int session_make_groups(void *context, int doors[CGROUP_PATHS], struct bawn_error *err);
void session_set_clock(struct session *session);
/* Says which limit was hit, and with --stats what was used. */
void session_account(struct session *session);
/* What has to be said at the end of what was told; has_failed: the command did. */
void session_tell_notes(struct session *session, bool has_failed);
void session_unlimit(struct session *session);
void session_measure(const struct session *session, struct bawn_metrics *metrics);

/* Starts the keeper, if there is none yet. */
int session_keep(struct session *session, struct bawn_error *err);

/* Before the launch: *ret_hidden is the registry where a tree of the sandbox's shows it, or NULL.
 */
int session_hide_registry(struct session *session, const char **ret_hidden, struct bawn_error *err);
/* Lets others find the session and connect to it: at once, or when it has lived for a moment. */
int session_publish(struct session *session, struct bawn_error *err);

/* A detached session: where its streams go, whether its command runs, and the one report. */
int session_detach_streams(struct session *session, struct launch_command *command,
                           struct bawn_error *err);
int session_await_exec(struct session *session, struct bawn_error *err);
void session_report(struct session *session, int status, const struct bawn_error *error);

/* Signals of the terminal and of others, passed on to the command. */
int session_watch_signals(struct session *session, struct bawn_error *err);
/* The next one that came. */
int session_hear_signal(void *context, uint32_t events);

/* SIGTSTP from outside. */
void session_asked_to_stop(struct session *session);
/* Pid 1 says: the command was stopped; a signal was passed on. */
void session_command_stopped(struct session *session, int signal);
void session_signal_passed_on(struct session *session, const struct sync_message *message);
/* It was told to end: if it is stopped it goes on for that, and after a hang-up whatever of it is.
 */
void session_wake_command(struct session *session, bool is_hang_up);
/* We were stopped, and go on. */
void session_resume(struct session *session);
/* See struct terminal. */
void session_keys_taken(void *context);
void session_stop_typed(void *context);
/* While we are stopped the limits hold all the same. */
void session_stand_in(struct session *session);
void session_take_back(struct session *session);

/* As a shell has it. */
int session_status_of(int wait_status);

/* SIGTERM for every command. */
void session_ask_to_end(struct session *session);

/* Which streams are a terminal: enum exec_flag. Fills the state that a new one starts with. */
int session_look_at_streams(struct session *session, struct launch_command *command,
                            struct bawn_error *err);
/* The same of what else it is to have. */
int session_look_at_further(struct session *session, struct launch_command *command,
                            struct bawn_error *err);
/* After the launch: those that are relayed or written for it are our own again. */
void session_restore_streams(struct session *session);
/* When the command runs: pipes that are its input and output end when it closes them, not with us.
 */
void session_let_go(const struct session *session);
int session_take_terminal(struct session *session, int master_fd, struct bawn_error *err);

/* Names that are hidden and may appear while it runs: before the launch, and when the sandbox is
 * there. */
int session_open_watch(struct session *session, struct bawn_error *err);
int session_watch_names(struct session *session, struct bawn_error *err);

/* session/veth.c: when the sandbox is there, before a command is in it. */
int session_guard_veth(struct session *session, struct bawn_error *err);
/* session/engine.c: the same. */
int session_start_engine(struct session *session, struct bawn_error *err);

/* Where a process of the session's own tells its events. Made for the first one. */
int session_channel(struct session *session, struct bawn_error *err);
/* All that was told so far. */
void session_hear(struct session *session);
/* What is done with one. */
void session_event(struct session *session, const struct event *told);
/* A process of the session's own has ended before its time. Negative: so does the session, and
 * session->failure says why. */
int session_lost(struct session *session, enum event_who who, int wait_status);

/* Its name: chosen when it is first needed, or once more. */
int session_name(struct session *session, bool anew, struct bawn_error *err);

/* session/audit.c. Where the trail is required: before a command is in the sandbox. */
int session_require_audit(struct session *session, struct bawn_error *err);
/* Elsewhere: its files when there is time, and the first record when the command runs. */
void session_prepare_audit(struct session *session);
void session_begin_audit(struct session *session);
/* Whether somebody is told. */
bool session_tells(const struct session *session);
/* One thing that happened, by its name; and an event, which is only for the stream unless it is
 * recordable. */
void session_record(struct session *session, const char *event, const struct member *members,
                    size_t count);
#define session_tell(session, event, ...)                                                          \
    session_record(session, event, (const struct member[]){__VA_ARGS__},                           \
                   sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member))
void session_record_event(struct session *session, const struct event *event,
                          const struct members_of_event *members, bool is_recordable);
/* What was recorded so far is in the file afterwards. Negative: the session ends, and
 * session->failure says why. */
int session_write_audit(struct session *session);
/* In a moment. */
void session_write_soon(struct session *session);
/* The last record; error may be NULL. */
int session_end_audit(struct session *session, int status, const struct bawn_error *error);

/* Files that are copied into the sandbox (session/copies.c): before the launch, when the sandbox is
 * there, and when nobody is left in it. */
int session_note_copies(struct session *session, struct bawn_error *err);
int session_find_copies(struct session *session, struct bawn_error *err);
void session_end_copies(struct session *session);

/* Overlays: before the launch, and when nobody is left inside. */
int session_open_layers(struct session *session, const struct launch_layer **ret_layers,
                        struct bawn_error *err);
void session_settle_layers(struct session *session);

/* session/room.c: the room that layers may take. Before the launch; at each tick; and the same
 * while we are stopped. */
int session_open_room(struct session *session, struct bawn_error *err);
bool session_watches_room(const struct session *session);
void session_check_room(struct session *session);
void session_stand_in_room(struct session *session);
void session_take_back_room(struct session *session);
/* Bytes that the layers take now, and the sentence for when that is too much. */
uint64_t session_measure_room(struct session *session);
void session_explain_room(struct session *session, struct bawn_error *ret_said);
/* When nobody is left inside: what was too much in the end, and whether the disk is full. */
void session_tell_room(struct session *session);

/* A line for the user, never mixed into a raw terminal. */
void session_say(const struct session *session, const struct bawn_error *said);

#endif
