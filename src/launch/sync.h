/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the launcher outside and pid 1 inside say to each other, over one
 * SOCK_SEQPACKET pair that is made before the clone. A message is one struct
 * sync_message, with descriptors beside it and, for SYNC_EXEC, the strings
 * behind it. Any other point than the one awaited, a short message or an early
 * end is a failure that names what was awaited.
 */
#ifndef LAUNCH_SYNC_H
#define LAUNCH_SYNC_H

#include "base/limits.h"
#include "wire/packet.h"

#include <bawn/error.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <termios.h>

enum sync_point {
    SYNC_MAPPED,  /* out -> in: the id maps are written; carries the id-mapped trees */
    SYNC_JOIN,    /* out -> in: carries the doors of the control groups to join */
    SYNC_READY,   /* in -> out: confined; carries a fd of the root, the namespaces (where
                     names are watched for), further listeners, what tells of the sockets inside
                     and what changes its routes and rules (value is enum ready_fd), and the notify fd
                     (if   any) */
    SYNC_FAILED,  /* in -> out: set-up failed; carries struct bawn_error behind it */
    SYNC_EXEC,    /* out -> in: start a command; carries its descriptors and strings */
    SYNC_STARTED, /* in -> out: a command with a terminal begins; carries the terminal's master */
    SYNC_NOEXEC,  /* in -> out: the command could not be started: value is the errno, flags what
                     could not be done: enum noexec */
    SYNC_EXITED,  /* in -> out: the command ended: value is its wait status */
    SYNC_STOPPED, /* in -> out: the command of the run was stopped, by the signal value; told again
                     only when SIGCONT, or 0, was passed on */
    SYNC_SIGNAL,  /* out -> in: value is a signal for the command's group, or 0; flags who has the
                     terminal's keys before: enum in_front */
    SYNC_SIGNALLED, /* in -> out: it was passed on */
    SYNC_PROVE,     /* out -> in: try to break out; answered by SYNC_PROVED */
    SYNC_PROVED,    /* in -> out: value is 0, or which attempt got through */
    SYNC_COUNT,
};

enum {
    SYNC_FDS = PACKET_FDS_MAX,   /* beside one message, at most */
    SYNC_BYTES_MAX = 128 * 1024, /* behind one message: arguments and environment of a command */
};

struct sync_message {
    uint32_t point;
    uint32_t job; /* chosen by the launcher; the command of the run is 0 */
    int32_t value;
    uint32_t flags; /* SYNC_EXEC: enum exec_flag; SYNC_SIGNAL: enum in_front; SYNC_EXITED: how many
                       are left, or 0 */
    uint32_t is_full; /* SYNC_EXITED: the private places had no room left */
    uint32_t further; /* SYNC_EXEC: how many descriptors come last that are no streams; SYNC_READY:
                         how many are listeners */
    int32_t numbers[LIMIT_FURTHER_FDS]; /* which numbers those have */
    uint32_t args, envs;                /* SYNC_EXEC: strings behind the message: cwd, args, envs */
    struct termios state;               /* SYNC_EXEC with a terminal: how it starts */
    struct winsize size;
};

enum ready_fd { READY_DIAG = 1, READY_ROUTE = 2, READY_RULES = 4 };

enum noexec { NOEXEC_EXEC, NOEXEC_STREAMS, NOEXEC_CWD };

/* Which of the command's three streams are its own terminal, and more. */
enum exec_flag {
    EXEC_TTY_0 = 1,
    EXEC_TTY_1 = 2,
    EXEC_TTY_2 = 4,
    EXEC_TTY = 7,
    EXEC_OWN = 8,   /* the streams are those that pid 1 was born with: none come with the message */
    EXEC_ENDS = 16, /* the sandbox ends with this command */
    EXEC_WITNESS = 32, /* a descriptor comes last that nobody else has: closed by the exec */
    /* Pid 1 leads the session on the command's terminal, as a shell does: the command can be
     * stopped, and reads or sets the terminal only while it is in front. */
    EXEC_LED = 64,
    EXEC_BACK = 128, /* it is not in front from the start */
};

/* Of a command that is led. */
enum in_front {
    FRONT_SAME,
    FRONT_COMMAND, /* the command, unless it has given the terminal to a group of its own */
    FRONT_NOBODY,  /* pid 1, unless the same */
};

/* fds may be NULL. Returns 0 or a negative errno. */
int sync_send(int sock, const struct sync_message *message, const void *bytes, size_t size,
              const int *fds, size_t fd_count, struct bawn_error *err);

/* Receives one message; *size is room in bytes, then what came. Descriptors that came are in fds,
 * -EBADF the rest; on failure all are closed. -EPIPE: the other side is gone. */
int sync_receive(int sock, struct sync_message *message, void *bytes, size_t *size,
                 int fds[SYNC_FDS], struct bawn_error *err);

const char *sync_word(enum sync_point point);

#endif
