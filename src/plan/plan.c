/* SPDX-License-Identifier: Apache-2.0 */
/* A policy and a host into a plan: pure, and the same every time. */
#include "plan/plan.h"

#include "base/error.h"
#include "base/path.h"
#include "plan/spot.h"
#include "policy/build.h"
#include "policy/decide.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void plan_done(struct plan *plan)
{
    vec_done(&plan->mounts);
    vec_done(&plan->watches);
    vec_done(&plan->landlock.rules);
    vec_done(&plan->syscalls);
    vec_done(&plan->network.ports);
    vec_done(&plan->limits);
    vec_done(&plan->env);
    vec_done(&plan->rules);
    arena_done(&plan->arena);
}

bool plan_has(const struct plan *plan, enum feature feature)
{
    return plan->facts->features[feature].available;
}

bool plan_notifies(const struct plan *plan)
{
    return plan_has(plan, FEATURE_NOTIFY) &&
           !policy_number(plan->policy, SETTING_PROCESS_CONTAINERS);
}

bool plan_hands_groups_in(const struct plan *plan)
{
    bool is_limited = false;

    for (enum setting_id id = SETTING_LIMITS_PIDS; id <= SETTING_LIMITS_IO_WRITE_OPS; id++)
        is_limited |= plan_limit(plan, id) > 0;
    if (!plan->process.may_nest || !is_limited || !plan_has(plan, FEATURE_CGROUP_NS) ||
        (plan->facts->cgroup != CGROUP_V2 && plan->facts->cgroup != CGROUP_V2_SYSTEMD))
        return false;
    /* Not where a tree of the host shows its own. */
    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_BIND && path_is_below("/sys/fs/cgroup", step->target))
            return false;
    }
    return true;
}

bool plan_holds_calls(const struct plan *plan)
{
    vec_each (&plan->syscalls, rule) {
        if ((*rule)->action == SYSCALL_NOTIFY)
            return true;
    }
    return false;
}

int plan_enforce(struct plan *plan, const char *what, struct origin origin, unsigned by,
                 const char *note)
{
    struct enforcement line = {.what = what, .origin = origin, .by = by, .note = note};

    if (!what)
        return -ENOMEM;
    if (by == 0)
        plan->unenforced++;
    return vec_push(&plan->rules, line) ? 0 : -ENOMEM;
}

unsigned plan_held_by(const struct plan *plan, enum guarantee kind)
{
    unsigned by = backend_row(plan->backend)->holds[kind];

    /* Without notification the supervisor holds nothing but limits. */
    if (kind != GUARANTEE_LIMIT && !plan_notifies(plan))
        by &= ~(unsigned)BY_SUPERVISOR;
    return by;
}

/* The first that works; what cannot be started tells at least what it would hold. */
static void choose_backend(struct plan *plan)
{
    const struct backend_fact *backends = plan->facts->backends;

    while (plan->backend < BACKEND_COUNT &&
           !(backend_is_planned(plan->backend) && backends[plan->backend].available))
        plan->backend++;
    if (!backend_row(plan->backend)->can_start)
        plan->why_not = backends[backend_first()].reason;
}

/* Landlock's rights by the ABI that brought them. */
enum {
    RIGHT_EXECUTE = 1 << 0,
    RIGHT_WRITE_FILE = 1 << 1,
    RIGHT_READ_FILE = 1 << 2,
    RIGHT_READ_DIR = 1 << 3,
    RIGHT_REMOVE_DIR = 1 << 4,
    RIGHT_REMOVE_FILE = 1 << 5,
    RIGHT_MAKE_ALL = 0x7f << 6, /* char, dir, reg, sock, fifo, block, sym */
    RIGHT_REFER = 1 << 13,      /* ABI 2 */
    RIGHT_TRUNCATE = 1 << 14,   /* ABI 3 */
    RIGHT_IOCTL_DEV = 1 << 15,  /* ABI 5 */
};

static uint64_t landlock_rights(int abi, bool full)
{
    uint64_t rights = RIGHT_WRITE_FILE | RIGHT_REMOVE_DIR | RIGHT_REMOVE_FILE | RIGHT_MAKE_ALL;

    if (abi >= 2)
        rights |= RIGHT_REFER;
    /* KERNEL(6.2): handling TRUNCATE or READ_FILE taxes every read-only open. */
    if (full) {
        rights |= RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR;
        if (abi >= 3)
            rights |= RIGHT_TRUNCATE;
        if (abi >= 5)
            rights |= RIGHT_IOCTL_DEV;
    }
    return rights;
}

/* The second wall behind the mounts: doing without it is a decision, not a default. */
static int enforce_without_landlock(struct plan *plan)
{
    const struct feature_fact *fact = &plan->facts->features[FEATURE_LANDLOCK];

    return plan_enforce(plan, "a second layer below the mounts", (struct origin){0}, 0,
                        arena_printf(&plan->arena, "no Landlock here (%s: %s)", fact->step,
                                     strerror(fact->errnum)));
}

/* KERNEL: a rule for a file with a right that only directories have is refused. */
static uint64_t rights_of(const struct mount_step *step, const struct looker *looker)
{
    const uint64_t of_files =
        RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV;
    char target[LIMIT_PATH_BYTES];

    return step->kind == MOUNT_BIND && looker->look(looker->context, step->source, target,
                                                    sizeof(target)) != LOOK_DIRECTORY
               ? of_files
               : ~0ULL;
}

static int plan_landlock(struct plan *plan, const struct looker *looker)
{
    const uint64_t reading = RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR;
    struct landlock_plan *landlock = &plan->landlock;
    const struct setting *reads = &plan->policy->settings[SETTING_READS];
    /* Landlock is the wall, or the second one behind the mounts. */
    bool is_wall = plan_held_by(plan, GUARANTEE_READ) & BY_LANDLOCK;
    bool is_second = plan_held_by(plan, GUARANTEE_READ) & BY_MOUNT;
    bool full = is_wall || (reads->is_set && reads->number == READS_STRICT);

    landlock->abi = plan_has(plan, FEATURE_LANDLOCK) ? plan->facts->landlock_abi : 0;
    if (landlock->abi == 0)
        return is_second ? enforce_without_landlock(plan) : 0;
    /* Landlock forbids every mount once it handles files: nested containers need those. And where
     * the supervisor makes all calls that write, it would have nothing to say about them. */
    if (policy_number(plan->policy, SETTING_PROCESS_CONTAINERS) ||
        (is_second && plan_has(plan, FEATURE_NOTIFY) && !full))
        landlock->handled_fs = 0;
    else
        landlock->handled_fs = landlock_rights(landlock->abi, full);
    landlock->handles_tcp =
        plan->network.hands_over ||
        (landlock->abi >= 4 && policy_number(plan->policy, SETTING_NETWORK_MODE) == NETWORK_NONE &&
         (plan_held_by(plan, GUARANTEE_OFFLINE) & BY_LANDLOCK));
    landlock->scopes_abstract_sockets = landlock->abi >= 6;
    landlock->scopes_signals = landlock->abi >= 6;
    /* The directories that lead to what is granted: what can be listed there is there because it is
     * granted. */
    if (is_second && (landlock->handled_fs & RIGHT_READ_DIR) &&
        !vec_push(&landlock->rules,
                  ((struct landlock_rule){.path = "/", .access = RIGHT_READ_DIR})))
        return -ENOMEM;
    vec_each (&plan->mounts, step) {
        struct landlock_rule rule = {.path = step->target};
        bool only_read;

        if (step->kind == MOUNT_SYMLINK || step->kind == MOUNT_MASK_DIR ||
            step->kind == MOUNT_MASK_FILE || step->kind == MOUNT_MASK_KEPT ||
            step->kind == MOUNT_SEAL || step->kind == MOUNT_SHUT || step->kind == MOUNT_COPY)
            continue;
        /* SECURITY: without mounts a private tree or an overlay is the host's own: nothing of it is
         * granted, and of an overlay only what it shows. */
        if (is_wall && step->kind != MOUNT_BIND && step->kind != MOUNT_OVERLAY)
            continue;
        only_read = step->read_only || (is_wall && step->kind == MOUNT_OVERLAY);
        rule.access = landlock->handled_fs & (only_read ? reading : ~0ULL);
        if (rule.access)
            rule.access &= rights_of(step, looker);
        if (rule.access && !vec_push(&landlock->rules, rule))
            return -ENOMEM;
    }
    return 0;
}

static bool has_rules(const struct policy *policy)
{
    vec_each (&policy->rules, rule) {
        if ((*rule)->wild || (*rule)->write == ACCESS_DENY)
            return true;
    }
    return false;
}

/* Without memory for the answer: yes. */
static bool may_be_written(const struct policy *policy, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return decide_path(policy, path, decisions) < 0 ||
           decisions[PATH_WRITE].access == ACCESS_ALLOW ||
           decisions[PATH_WRITE].access == ACCESS_OVERLAY;
}

/* Whether calls that write must be judged one by one: what protects names in trees of the host that
 * may be written, and what somebody wrote about names in private ones, is held by nobody else. */
static bool has_to_judge(const struct policy *policy)
{
    if (!has_rules(policy))
        return false;
    vec_each (&policy->rules, rule) {
        bool is_grant = (*rule)->kind == RULE_PATH &&
                        ((*rule)->write == ACCESS_ALLOW || (*rule)->write == ACCESS_OVERLAY) &&
                        may_be_written(policy, (*rule)->path);
        bool is_pattern =
            (*rule)->kind == RULE_PATTERN && (*rule)->layer->authority != AUTHORITY_BUILTIN;

        if (is_grant || is_pattern)
            return true;
    }
    return policy->kept_home != NULL;
}

bool plan_asks(const struct plan *plan)
{
    if (!plan_holds_calls(plan))
        return false;
    vec_each (&plan->policy->rules, rule) {
        if ((*rule)->write == ACCESS_ASK || (*rule)->read == ACCESS_ASK)
            return true;
    }
    return policy_number(plan->policy, SETTING_READS) == READS_DYNAMIC;
}

static int plan_syscalls(struct plan *plan)
{
    bool judges = plan_notifies(plan) && (plan->holds_reads || has_to_judge(plan->policy));
    bool holds[] = {
        [WHEN_ALWAYS] = true,
        [WHEN_NOT_DEBUG] = !policy_number(plan->policy, SETTING_PROCESS_DEBUG),
        [WHEN_NOT_CONTAINERS] = !policy_number(plan->policy, SETTING_PROCESS_CONTAINERS),
        [WHEN_PROTECTING] = judges,
        [WHEN_TRACE_TOLD] = judges && !policy_number(plan->policy, SETTING_PROCESS_DEBUG),
        [WHEN_BINDING] = judges && plan_has(plan, FEATURE_TAKE_FD),
        [WHEN_HANDING_OVER] = plan->network.hands_over,
        [WHEN_HOLDING] = plan->holds_reads,
        [WHEN_ASKING] = plan->asks_reads,
        [WHEN_CONNECTING] = plan->asks_reads && plan_has(plan, FEATURE_TAKE_FD),
        [WHEN_EXPLAINING] =
            plan_notifies(plan) && (policy_number(plan->policy, SETTING_PROCESS_EXPLAIN) ||
                                    policy_number(plan->policy, SETTING_PROCESS_OBSERVE)),
    };

    if (!plan_has(plan, FEATURE_SECCOMP))
        return 0;
    for (size_t i = 0; i < syscall_table_count; i++)
        if (holds[syscall_table[i].when] && !vec_push(&plan->syscalls, &syscall_table[i]))
            return -ENOMEM;
    return 0;
}

static bool has_overlays(const struct plan *plan)
{
    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_OVERLAY)
            return true;
    }
    return false;
}

/* What the presets say, in the order of the settings from SETTING_LIMITS_PIDS on; 0: nothing. */
static uint64_t preset_limit(const struct plan *plan, enum setting_id id)
{
    const struct host_facts *facts = plan->facts;
    uint64_t gib = 1ULL << 30;
    uint64_t preset = policy_number(plan->policy, SETTING_LIMITS_PRESET);
    bool strict = preset == LIMITS_STRICT;
    uint64_t half = facts->memory_bytes / 2;
    uint64_t eighth = facts->memory_bytes / 8 >> 20 << 20;
    const uint64_t least = 256ULL << 20;

    if (preset == LIMITS_NONE)
        return 0;
    switch (id) {
    case SETTING_LIMITS_PIDS:
        return 1024;
    case SETTING_LIMITS_MEMORY_HIGH:
        return strict || half < 2 * gib ? gib : half / 10 * 9;
    case SETTING_LIMITS_MEMORY:
        return strict || half < 2 * gib ? 2 * gib : half;
    case SETTING_LIMITS_TMP_SIZE:
        return strict || eighth < least ? least : eighth;
    case SETTING_LIMITS_LAYER_SIZE:
        return has_overlays(plan) ? LAYER_SIZE_SHARE : 0;
    case SETTING_LIMITS_IO_WEIGHT:
        return 100;
    case SETTING_LIMITS_CPU:
        return strict ? 80 : 80ULL * (facts->cpus ? facts->cpus : 1);
    default:
        return 0;
    }
}

bool plan_limits_disk(const struct policy *policy)
{
    for (enum setting_id id = SETTING_LIMITS_IO_READ_BYTES; id <= SETTING_LIMITS_IO_WRITE_OPS; id++)
        if (policy->settings[id].is_set)
            return true;
    return false;
}

/* Why a rate of the workspace's disk cannot be held, or NULL. */
static const char *rate_not_held(const struct plan *plan, enum setting_id id)
{
    if (!plan->disk.is_found)
        return plan->disk.why;
    if (id != SETTING_LIMITS_IO_WRITE_BYTES && id != SETTING_LIMITS_IO_WRITE_OPS)
        return NULL;
    if (plan->facts->cgroup == CGROUP_V1)
        return "cgroup v1 slows down direct writes only";
    return plan->disk.counts_writes ? NULL : "on this file system only direct writes are counted";
}

static const char *limit_note(struct plan *plan, const struct limit_step *step)
{
    const char *not_held;

    if (step->by && step->value < plan->policy->settings[step->id].number)
        return "a smaller one holds";
    if (step->id == SETTING_LIMITS_LAYER_SIZE && !has_overlays(plan))
        return "without effect: there is no overlay";
    if (step->id < SETTING_LIMITS_IO_READ_BYTES || step->id > SETTING_LIMITS_IO_WRITE_OPS)
        return NULL;
    not_held = rate_not_held(plan, step->id);
    if (plan->facts->cgroup == CGROUP_NONE)
        not_held = "there is no control group to hold it";
    return not_held ? not_held
                    : arena_printf(&plan->arena, "of the disk %u:%u, which the workspace is on",
                                   plan->disk.major, plan->disk.minor);
}

static unsigned limit_by(const struct plan *plan, enum setting_id id)
{
    enum cgroup_kind kind = plan->facts->cgroup;
    unsigned can = plan_held_by(plan, GUARANTEE_LIMIT);
    unsigned group = kind == CGROUP_NONE ? 0 : can & BY_CGROUP;

    switch (id) {
    case SETTING_LIMITS_PIDS:
        return group ? group : can & BY_RLIMIT;
    case SETTING_LIMITS_MEMORY:
        return group ? group : can & BY_SUPERVISOR;
    case SETTING_LIMITS_CPU:
        return group;
    /* KERNEL: v1 slows nobody down at a soft limit, and has no weights that hold. */
    case SETTING_LIMITS_MEMORY_HIGH:
    case SETTING_LIMITS_IO_WEIGHT:
        return kind == CGROUP_V2 || kind == CGROUP_V2_SYSTEMD ? group : 0;
    case SETTING_LIMITS_IO_READ_BYTES:
    case SETTING_LIMITS_IO_WRITE_BYTES:
    case SETTING_LIMITS_IO_READ_OPS:
    case SETTING_LIMITS_IO_WRITE_OPS:
        return rate_not_held(plan, id) ? 0 : group;
    case SETTING_LIMITS_OPEN_FILES:
    case SETTING_LIMITS_FILE_SIZE:
        return can & BY_RLIMIT;
    case SETTING_LIMITS_TMP_SIZE:
        return plan_held_by(plan, GUARANTEE_PRIVATE);
    default:
        return can & BY_SUPERVISOR;
    }
}

uint64_t plan_limit(const struct plan *plan, enum setting_id id)
{
    const struct setting *setting = &plan->policy->settings[id];
    uint64_t preset = preset_limit(plan, id);

    if (!setting->is_set)
        return preset;
    /* A project narrows: it cannot lift what the preset says. */
    if (setting->layer->authority == AUTHORITY_PROJECT && preset && preset < setting->number)
        return preset;
    return setting->number;
}

/* What nobody can hold of a profile's own limits is left out, and said: memory above which a
 * command is slowed down, time of the CPU. The hard limits are held everywhere. */
static void accept_profile(struct plan *plan, const struct setting *setting)
{
    struct enforcement *line = &plan->rules.items[plan->rules.count - 1];

    if (setting->layer->authority != AUTHORITY_BUILTIN)
        return;
    line->is_accepted = true;
    line->note = "the profile's; left out, for this host cannot";
}

static int plan_limits(struct plan *plan)
{
    for (enum setting_id id = SETTING_LIMITS_PIDS; id <= SETTING_LIMITS_TIME; id++) {
        const struct setting *setting = &plan->policy->settings[id];
        struct limit_step step = {.id = id,
                                  .value = plan_limit(plan, id),
                                  .is_explicit = setting->is_set,
                                  .by = limit_by(plan, id)};

        /* What nobody asked for and the kernel does anyway is not worth a line. */
        if (step.value == 0 ||
            (!setting->is_set && (id == SETTING_LIMITS_TMP_SIZE || id == SETTING_LIMITS_IO_WEIGHT)))
            continue;
        if (!vec_push(&plan->limits, step))
            return -ENOMEM;
        if (step.is_explicit &&
            plan_enforce(plan,
                         arena_printf(&plan->arena, "%s: %s", setting_table[id].key, setting->text),
                         setting->origin, step.by, limit_note(plan, &step)) < 0)
            return -ENOMEM;
        if (step.is_explicit && step.by == 0)
            accept_profile(plan, setting);
    }
    return 0;
}

bool plan_has_own_gitconfig(const struct policy *policy)
{
    struct path_decision decisions[PATH_OP_COUNT];
    char path[LIMIT_PATH_BYTES];

    return (size_t)snprintf(path, sizeof(path), "%s/" PLAN_GITCONFIG, policy->home) <
               sizeof(path) &&
           decide_path(policy, path, decisions) == 0 &&
           decisions[PATH_READ].access == ACCESS_PRIVATE &&
           decisions[PATH_WRITE].access == ACCESS_PRIVATE && decisions[PATH_READ].rule &&
           policy_is_in_home(policy, decisions[PATH_READ].rule->path);
}

int plan_take_gitconfig(struct plan *plan, const char *text, const char *why,
                        struct bawn_error *err)
{
    if (text)
        plan->gitconfig = arena_strdup(&plan->arena, text);
    if (why)
        plan->gitconfig_why = arena_strdup(&plan->arena, why);
    return (text && !plan->gitconfig) || (why && !plan->gitconfig_why) ? error_memory(err) : 0;
}

int plan_make(const struct plan_input *input, struct plan *ret_plan, struct bawn_error *err)
{
    struct plan *plan = ret_plan;
    int r;

    memset(plan, 0, sizeof(*plan));
    plan->policy = input->policy;
    plan->facts = input->facts;
    if (input->disk)
        plan->disk = *input->disk;
    choose_backend(plan);
    plan_network_shape(plan);
    plan->asks_reads = plan->holds_reads = watch_asks(plan);
    r = plan_mounts(plan, input);
    if (r == 0)
        r = plan_landlock(plan, input->looker);
    if (r == 0)
        r = plan_syscalls(plan);
    if (r == 0)
        r = plan_network(plan, input->looker);
    if (r == 0)
        r = plan_process(plan);
    if (r == 0)
        r = plan_reach(plan, input->looker);
    if (r == 0)
        r = plan_limits(plan);
    if (r == 0)
        r = plan_env(plan, input->environ);
    if (r < 0) {
        plan_done(plan);
        return error_memory(err);
    }
    return 0;
}
