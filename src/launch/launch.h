/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled plan into a running sandbox: pid 1 is confined and waits for commands. */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "base/limits.h"
#include "kernel/cgroup.h"
#include "kernel/facts.h"
#include "kernel/steer.h"
#include "kernel/veth.h"
#include "launch/sync.h"
#include "wire/image.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

/* A command for pid 1. Strings are borrowed. */
struct launch_command {
    uint32_t job;
    uint32_t flags; /* enum exec_flag */
    const char *cwd;
    char *const *argv;              /* ended by NULL */
    char *const *envp;              /* ended by NULL */
    int fds[3];                     /* its standard streams; ignored where flags say terminal */
    int witness_fd;                 /* with EXEC_WITNESS */
    int further[LIMIT_FURTHER_FDS]; /* descriptors of ours that it gets under the same numbers */
    unsigned further_count;
    struct termios state; /* of its terminal, if it has one */
    struct winsize size;
};

/* A directory that root_skeleton filled; known by its number, for whose sake somebody holds it
 * open. */
struct launch_skeleton {
    char path[LIMIT_PATH_BYTES];
    uint64_t dev, ino;
};

/* Where what is written to an overlay goes: a directory with "upper" and "work", known by its
 * number, for whose sake somebody holds it open. */
struct launch_layer {
    char path[LIMIT_PATH_BYTES];
    uint64_t dev, ino;
    unsigned mode; /* of "upper" when it was opened */
};

struct launch_request {
    const struct image *image;
    const struct launch_layer *layers; /* one for each STEP_OVERLAY, in their order; NULL: what is
                                        * written there goes with the sandbox */
    const struct launch_skeleton *skeleton; /* or NULL */
    /* NULL, or started as soon as pid 1 is confined, without waiting for a word from here. With
     * IMAGE_VETH or IMAGE_ENGINE NULL: that network is made afterwards. */
    const struct launch_command *first;
    const char *hidden; /* a directory of the host's that no tree shows, though no plan knew that it
                         * would be there; or NULL */
    bool is_proof;      /* a set-up that is looked at more closely, once for each kind of sandbox */
    char **own_argv;    /* the launcher's arguments, which pid 1 forgets; or NULL */
    int cgroup_fd;      /* a cgroup v2 directory to be born in, or -EBADF */
    bool is_delegated;  /* that is the sandbox's own to arrange; see cgroup_delegate */
    /* NULL, or called while pid 1 makes the sandbox: makes its control groups and returns how many
     * doors they have, which launch_start closes. */
    int (*make_groups)(void *context, int doors[CGROUP_PATHS], struct bawn_error *err);
    void *groups_context;
    /* NULL, or asked while pid 1 makes the sandbox: whether the image may be used. If not, no
     * command is started, and launch_start returns the negative errno. */
    int (*holds)(void *context, struct bawn_error *err);
    void *holds_context;
    /* Before the first command is sent in, and when nothing speaks against it; may be NULL. */
    int (*begins)(void *context, struct bawn_error *err);
    /* When that was sent, and pid 1 still has to do: time that costs nobody anything; may be NULL.
     */
    void (*spares)(void *context);
    void *begins_context; /* of both */
};

/* A running sandbox, seen from outside. */
struct launch {
    pid_t pid;
    int pidfd;
    int sock;                       /* to pid 1 */
    int notify_fd;                  /* -EBADF: nothing is notified */
    int root_fd;                    /* O_PATH of the root inside */
    int user_ns, mount_ns;          /* of the sandbox; -EBADF: the image does not need them */
    int listeners[STEER_LISTENERS]; /* of the sandbox's network, if it is filtered */
    unsigned listener_count;
    int diag_fd;      /* tells of its sockets; -EBADF: nobody does */
    int route_fd;     /* changes its routes; -EBADF: nobody does */
    int rules_fd;     /* with IMAGE_ENGINE: adds to what steer_refuse is about */
    struct veth veth; /* with IMAGE_VETH: its way out */
    bool is_deaf; /* pid 1 has let a message wait for too long: the next one is not waited for */
};
/* Nothing is open yet. */
#define LAUNCH_NONE                                                                                \
    {                                                                                              \
        .pidfd = -EBADF, .sock = -EBADF, .notify_fd = -EBADF, .root_fd = -EBADF,                   \
        .user_ns = -EBADF, .mount_ns = -EBADF, .diag_fd = -EBADF, .route_fd = -EBADF,              \
        .rules_fd = -EBADF, .veth = {                                                              \
            .table_fd = -EBADF                                                                     \
        }                                                                                          \
    }

enum { COVER_MOST = 128 };

/* Whether it knows how to start that backend. */
bool launch_can_start(enum backend_id id);

int launch_start(const struct launch_request *request, struct launch *ret_launch,
                 struct bawn_error *err);

/* Kills everything inside. Needs nothing of pid 1, whatever was done to it. */
void launch_kill(const struct launch *launch);
/* The same, and waits for pid 1. */
void launch_end(struct launch *launch);
void launch_close(struct launch *launch);

/* Both go by way of pid 1, and wait for it only for a moment: -EAGAIN. */
int launch_exec(struct launch *launch, const struct launch_command *command,
                struct bawn_error *err);
int launch_signal(struct launch *launch, uint32_t job, int signal, struct bawn_error *err);
/* The same for the command of the run; before it says who has the keys of its terminal. */
int launch_signal_front(struct launch *launch, enum in_front front, int signal);

/* Covers up to COVER_MOST names in a sandbox that runs, each by something empty that nobody can
 * read; what is not there (any more) is left out, and what is covered already: is_new says which
 * were not. They are relative to its root. Needs nothing of those inside. */
int launch_cover(const struct launch *launch, const struct image *image, char *const *targets,
                 size_t count, bool *is_new, struct bawn_error *err);

/* The environment of a command: what the image passes on of the caller's, and what it sets.
 * Free with environ_free. */
int launch_environ(const struct image *image, char *const *caller, char ***ret_environ,
                   struct bawn_error *err);

#endif
