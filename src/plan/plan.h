/* SPDX-License-Identifier: Apache-2.0 */
/* What would be done for a policy on a host, as data: nothing here does it. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "backend/backend.h"
#include "kernel/facts.h"
#include "plan/syscalls.h"
#include "policy/model.h"
#include "policy/resolve.h"

enum mount_kind {
    MOUNT_BIND,
    MOUNT_OVERLAY,
    MOUNT_TMPFS,
    MOUNT_COPY, /* a file in a private place that begins as the host's */
    MOUNT_KEPT, /* the home that is kept: a directory of the host's at another place */
    MOUNT_PROC,
    MOUNT_DEV,  /* a minimal /dev with an own devpts and shm */
    MOUNT_NODE, /* a device or socket of the host */
    MOUNT_SYMLINK,
    MOUNT_MASK_DIR,
    MOUNT_MASK_FILE,
    MOUNT_MASK_KEPT, /* what an earlier command may have left in the kept home */
    MOUNT_SEAL,      /* what is there already, made read-only in place */
    MOUNT_SHUT,      /* what is there already, read-only, with sockets that nobody can connect to */
};

struct mount_step {
    enum mount_kind kind;
    const char *source; /* of a bind, overlay, copy, device, kept home; the target of a symlink;
                           else NULL */
    const char *target; /* absolute, no "..", parents before children */
    bool read_only;
    bool no_exec;
    bool on_link;        /* of masks: over a symbolic link itself */
    uint64_t size_bytes; /* of a tmpfs */
    const struct path_rule *rule;
};

/* Landlock access rights, as the kernel numbers them. */
struct landlock_rule {
    const char *path;
    uint64_t access;
};

struct landlock_plan {
    int abi;             /* 0: no Landlock */
    uint64_t handled_fs; /* rights that need a rule */
    bool handles_tcp;    /* the command connects and binds no TCP itself: nothing is granted */
    bool scopes_abstract_sockets;
    bool scopes_signals;
    VEC(struct landlock_rule) rules;
};

struct enforcement {
    const char *what; /* "paths.work: rw /home/u/project" */
    struct origin origin;
    unsigned by;      /* 0: not on this host */
    const char *note; /* NULL or a few words */
    bool is_accepted; /* not held, and what the policy asks for says as much: no reason to refuse */
    bool is_told;     /* the same, but each run says so */
    bool is_vital;    /* where it is not held, the next start would obey the command: no best effort
                       */
};

/* See struct image_watch. */
struct watch_step {
    const char *path;
    const char *tree;
    bool is_deep;
};

struct limit_step {
    enum setting_id id;
    uint64_t value;
    bool is_explicit; /* a layer asked for it: not being able to hold it counts */
    unsigned by;
};

struct env_step {
    const char *name;
    const char *value;
    bool passed; /* from the caller; else set by bawn or the policy */
};

struct network_plan {
    uint64_t mode;
    bool own_namespace;
    bool steers;             /* what it sends comes to us */
    bool is_plain;           /* without nf_tables: that to these ports, and to our own two */
    VEC(uint16_t) ports;     /* in the order of the rules */
    bool has_opaque;         /* a rule allows a host whatever is said to it */
    bool hands_over;         /* for such rules a socket of the host's is handed in */
    const char *why_relayed; /* why not; or NULL */
    bool routes;             /* it goes through the host's own routes: mode veth */
    bool has_engine;         /* it goes through a program of its own: SETTING_NETWORK_ENGINE */
    bool is_engine_open;     /* the command could write it */
    const char *engine_path; /* of that; NULL: there is none to be */
    size_t allow, ask, deny; /* rules */
};

/* Who the command is, and what its processes may do to each other. */
struct process_plan {
    unsigned caller_uid;
    bool shows_root;      /* the caller's id is 0 inside */
    bool keeps_host_root; /* host id 0 stays host id 0 */
    bool may_trace;
    bool may_nest;     /* containers run inside */
    bool has_own_time; /* clocks that count from the boot begin at zero */
};

struct plan {
    struct arena arena;
    const struct policy *policy;    /* borrowed */
    const struct host_facts *facts; /* borrowed */
    struct disk disk;               /* of the workspace, where a rate of it is limited */
    enum backend_id backend;        /* BACKEND_COUNT: none can hold the policy */
    const char *why_not;            /* the reason where no command can be started; else NULL */
    VEC(struct mount_step) mounts;
    VEC(struct watch_step) watches;
    struct landlock_plan landlock;
    VEC(const struct syscall_rule *) syscalls;
    struct network_plan network;
    struct process_plan process;
    VEC(struct limit_step) limits;
    VEC(struct env_step) env;
    VEC(struct enforcement) rules;
    const char *gitconfig;     /* what ~/.gitconfig says inside, where that is our own; or NULL */
    const char *gitconfig_why; /* why it says nothing, where it should; or NULL */
    bool asks_reads;           /* opens of what a rule asks about are held, and asked about */
    bool holds_reads;          /* every open is held, for a hidden name may appear: sandbox.late */
    size_t unenforced;
    size_t shut;     /* trees whose sockets are to be out of reach */
    size_t given_up; /* built-in rules that nobody holds, where nobody is told of what is made */
    size_t given_up_by_preset;  /* the same of what presets protect */
    const char *first_given_up; /* of these */
};

/* Everything the plan is made from; the looker tells which rules' paths exist on the host. */
struct plan_input {
    const struct policy *policy;
    const struct host_facts *facts;
    const char *const *environ;
    const struct looker *looker;
    const struct disk *disk; /* the workspace's; NULL: was not looked for */
};

int plan_make(const struct plan_input *input, struct plan *ret_plan, struct bawn_error *err);
void plan_done(struct plan *plan);

/* Parts that are made elsewhere. Each returns 0 or -ENOMEM. */
int plan_mounts(struct plan *plan, const struct plan_input *input);
int plan_env(struct plan *plan, const char *const *environ);
int plan_process(struct plan *plan);
int plan_reach(struct plan *plan, const struct looker *looker);
int plan_network(struct plan *plan, const struct looker *looker);
/* What the other parts need to know of the network. */
void plan_network_shape(struct plan *plan);

/* Finds the ports of a plan without nf_tables. */
int plan_ports(struct plan *plan);
/* Where an allowed host is reached only by a client of the proxy: words for that, or NULL. */
const char *plan_ports_note(struct plan *plan, const struct net_rule *rule);
/* "80, 443 and 22". */
const char *plan_ports_words(struct plan *plan);

/* Where the workspace is inside. */
const char *plan_workspace_at(const struct plan *plan);

/* Whether git finds its configuration in a home of the sandbox's own: there it is ours to make. */
#define PLAN_GITCONFIG ".gitconfig"
bool plan_has_own_gitconfig(const struct policy *policy);
/* What it says, and why it says nothing; NULL: none. */
int plan_take_gitconfig(struct plan *plan, const char *text, const char *why,
                        struct bawn_error *err);

/* Whether the disk of the workspace matters. */
bool plan_limits_disk(const struct policy *policy);

/* What a limit comes to, 0 for none. */
uint64_t plan_limit(const struct plan *plan, enum setting_id id);

/* Adds a line on who holds a rule. */
int plan_enforce(struct plan *plan, const char *what, struct origin origin, unsigned by,
                 const char *note);

bool plan_has(const struct plan *plan, enum feature feature);
/* Who holds rules of a kind with this backend on this host: enum enforcer, 0: nobody. */
unsigned plan_held_by(const struct plan *plan, enum guarantee kind);
/* Whether a supervisor is told of calls. Not where containers run inside: a program there that
 * wants to be told, as another bawn does, could not; and their storage would be too slow. */
bool plan_notifies(const struct plan *plan);
/* Whether containers inside get control groups that they can arrange, below those of the limits. */
bool plan_hands_groups_in(const struct plan *plan);
/* Whether the filter that was planned tells it of any. */
bool plan_holds_calls(const struct plan *plan);
/* Whether they may have to ask somebody. */
bool plan_asks(const struct plan *plan);

int plan_print_left_out(const struct plan *plan, char **ret_text, struct bawn_error *err);
int plan_print(const struct plan *plan, enum bawn_format format, char **ret_text,
               struct bawn_error *err);

#endif
