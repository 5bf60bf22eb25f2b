/* SPDX-License-Identifier: Apache-2.0 */
/* What the command reaches besides files and hosts: devices, sockets and ports of the host, tools;
 * and who it is. */
#include "base/path.h"
#include "base/scratch.h"
#include "plan/plan.h"
#include "policy/build.h"
#include "policy/decide.h"

#include <errno.h>
#include <string.h>

static const char *no_time(struct plan *plan)
{
    const struct feature_fact *fact = &plan->facts->features[FEATURE_TIME_NS];

    return arena_printf(&plan->arena, "no time namespace here (%s: %s)", fact->step,
                        strerror(fact->errnum));
}

/* Whose work sandbox.late is, in words. */
static const char *late_note(const struct plan *plan, unsigned *by)
{
    if (policy_number(plan->policy, SETTING_LATE) == LATE_WATCH) {
        *by = BY_WATCH;
        return NULL;
    }
    if (!plan_notifies(plan)) {
        *by = 0;
        return "opens cannot be held here, nor with sandbox.process.containers: use watch";
    }
    return plan->holds_reads ? "each open is made outside, under no hidden name"
                             : "no rule hides a name that could appear: no open is held";
}

int plan_process(struct plan *plan)
{
    static const struct {
        enum setting_id id;
        unsigned by;
    } settings[] = {
        {SETTING_PROCESS_DEBUG, BY_SECCOMP},
        {SETTING_PROCESS_MAP_ROOT, BY_NAMESPACE},
        {SETTING_PROCESS_AS_ROOT, BY_NAMESPACE},
        {SETTING_PROCESS_CONTAINERS, BY_NAMESPACE},
        {SETTING_PROCESS_TIME_NS, BY_NAMESPACE},
        {SETTING_PROCESS_EXPLAIN, BY_SUPERVISOR},
        {SETTING_PROCESS_OBSERVE, BY_SUPERVISOR},
        {SETTING_PROCESS_UNSANDBOXED, BY_APPLICATION},
        {SETTING_LATE, BY_SUPERVISOR},
    };
    const struct policy *policy = plan->policy;

    plan->process = (struct process_plan){
        .caller_uid = plan->facts->uid,
        .shows_root = policy_number(policy, SETTING_PROCESS_MAP_ROOT) != 0,
        .keeps_host_root = plan->facts->uid == 0 && policy_number(policy, SETTING_PROCESS_AS_ROOT),
        .may_trace = policy_number(policy, SETTING_PROCESS_DEBUG) != 0,
        .may_nest = policy_number(policy, SETTING_PROCESS_CONTAINERS) != 0,
        .has_own_time =
            policy_number(policy, SETTING_PROCESS_TIME_NS) && plan_has(plan, FEATURE_TIME_NS),
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const struct setting *setting = &policy->settings[settings[i].id];
        unsigned by = settings[i].by;
        const char *note = NULL;

        if (by == BY_NAMESPACE)
            by = plan_held_by(plan, GUARANTEE_ID);
        /* Subordinate ids are what a nested container's users are made of. */
        if (settings[i].id == SETTING_PROCESS_CONTAINERS && setting->number &&
            !plan_has(plan, FEATURE_SUBUID))
            by = 0;
        if (settings[i].id == SETTING_PROCESS_TIME_NS && setting->number &&
            !plan_has(plan, FEATURE_TIME_NS)) {
            by = 0;
            note = no_time(plan);
        }
        if ((settings[i].id == SETTING_PROCESS_EXPLAIN ||
             settings[i].id == SETTING_PROCESS_OBSERVE) &&
            setting->number && !plan_notifies(plan)) {
            by = 0;
            note = "calls cannot be looked at here, nor with sandbox.process.containers";
        }
        if (settings[i].id == SETTING_LATE)
            note = late_note(plan, &by);
        if (setting->is_set && plan->backend != BACKEND_COUNT &&
            plan_enforce(plan,
                         arena_printf(&plan->arena, "%s: %s", setting_table[settings[i].id].key,
                                      setting->text),
                         setting->origin, by, note) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Whether a device is not to be there, whoever lists it. */
static bool is_denied_device(const struct policy *policy, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    vec_each (&policy->items, item) {
        if (item->list == LIST_DEVICES_DENY && strcmp(item->value, path) == 0)
            return true;
    }
    return decide_path(policy, path, decisions) < 0 ||
           decide_refuses(&decisions[PATH_READ], PATH_READ);
}

/* A node or socket of the host that is put where it is on the host. */
static int add_node(struct plan *plan, const struct looker *looker, const char *what,
                    const char *path, struct origin origin)
{
    scratch char target[LIMIT_PATH_BYTES];
    enum look found = looker->look(looker->context, path, target, sizeof(target));
    bool exists = found == LOOK_OTHER;
    unsigned by = plan_held_by(plan, GUARANTEE_NODE);
    struct mount_step step = {.kind = MOUNT_NODE, .source = path, .target = path};

    if (exists && (by & BY_MOUNT) && !vec_push(&plan->mounts, step))
        return -ENOMEM;
    return plan_enforce(plan, arena_printf(&plan->arena, "%s: %s", what, path), origin, by,
                        exists                    ? NULL
                        : found == LOOK_DIRECTORY ? "a directory: list what is in it, one by one"
                                                  : "does not exist now");
}

/* SECURITY: what is listed does not get past a rule that denies its path. */
static int add_denied(struct plan *plan, const char *what, const char *path, struct origin origin)
{
    return plan_enforce(plan, arena_printf(&plan->arena, "%s: %s", what, path), origin,
                        plan_held_by(plan, GUARANTEE_NODE),
                        "another rule denies the path: it is not there");
}

static int add_device(struct plan *plan, const struct looker *looker, const char *what,
                      const char *path, struct origin origin)
{
    return is_denied_device(plan->policy, path) ? add_denied(plan, what, path, origin)
                                                : add_node(plan, looker, what, path, origin);
}

static int add_socket(struct plan *plan, const struct looker *looker, const char *what,
                      const char *path, struct origin origin)
{
    struct path_decision decision;
    int r = decide_socket(plan->policy, path, &decision);

    if (r < 0)
        return r;
    return decision.access >= ACCESS_ASK ? add_denied(plan, what, path, origin)
                                         : add_node(plan, looker, what, path, origin);
}

static int plan_item(struct plan *plan, const struct looker *looker, const struct item *item)
{
    const char *key = list_table[item->list].key;

    switch (item->list) {
    case LIST_DEVICES_ALLOW:
        return add_device(plan, looker, key, item->value, item->origin);
    case LIST_NETWORK_UNIX_SOCKETS:
        return add_socket(plan, looker, key, item->value, item->origin);
    case LIST_EXCLUDED_COMMANDS:
        return plan_enforce(plan, arena_printf(&plan->arena, "%s: %s", key, item->value),
                            item->origin, BY_APPLICATION, "runs outside the sandbox");
    case LIST_TOOLS:
        return plan_enforce(plan, arena_printf(&plan->arena, "%s: %s", key, item->value),
                            item->origin, BY_APPLICATION, "offered by the program that asks");
    case LIST_TOOL_RULES:
    case LIST_COMMAND_RULES:
        return plan_enforce(plan,
                            arena_printf(&plan->arena, "tool_rules.%s: %s %s", item->key,
                                         access_word(item->access),
                                         item->list == LIST_TOOL_RULES ? "" : item->value),
                            item->origin, BY_APPLICATION, NULL);
    default:
        return 0; /* the environment, presets and locks have done their work by now */
    }
}

/* The procfs around us would show what is outside: where no fresh one can be had there are a few of
 * its files. */
static int plan_proc(struct plan *plan)
{
    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_PROC && !plan_has(plan, FEATURE_FRESH_PROC))
            return plan_enforce(
                plan, "/proc: the sandbox's own processes",
                step->rule ? step->rule->origin : (struct origin){0}, 0,
                "the kernel refuses a fresh procfs here: there would be a few files of the "
                "one around that tell of the machine, and no process, not even "
                "/proc/self");
    }
    return 0;
}

/* Whether nothing writable would be at a path inside that programs have to write to. */
static bool lacks_place(const struct plan *plan, const struct looker *looker, const char *path)
{
    const struct mount_step *nearest = NULL;
    scratch char target[LIMIT_PATH_BYTES];

    vec_each (&plan->mounts, step) {
        if (path_is_below(path, step->target) && step->kind != MOUNT_SHUT)
            nearest = step;
    }
    if (!nearest)
        return true;
    /* Over a tree of the host there must be a directory to mount on. */
    return nearest->kind == MOUNT_BIND && nearest->read_only &&
           looker->look(looker->context, path, target, sizeof(target)) == LOOK_DIRECTORY;
}

/* What programs that make containers need beside their rights: places to write and, where the
 * caller may use them, the devices of their file systems and networks. */
static int plan_nesting(struct plan *plan, const struct looker *looker)
{
    static const char *const places[] = {"/var/cache", "/var/lib/containers"};
    static const struct {
        enum feature feature;
        const char *path;
    } devices[] = {{FEATURE_FUSE, "/dev/fuse"}, {FEATURE_TUN, "/dev/net/tun"}};
    const struct setting *setting = &plan->policy->settings[SETTING_PROCESS_CONTAINERS];
    int r = 0;

    if (!plan->process.may_nest || !plan_held_by(plan, GUARANTEE_ID))
        return 0;
    for (size_t i = 0; r == 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        struct mount_step step = {.kind = MOUNT_TMPFS,
                                  .target = places[i],
                                  .size_bytes = plan_limit(plan, SETTING_LIMITS_TMP_SIZE)};

        if (lacks_place(plan, looker, places[i]) && !vec_push(&plan->mounts, step))
            r = -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < sizeof(devices) / sizeof(devices[0]); i++) {
        if (plan_has(plan, devices[i].feature))
            r = add_device(plan, looker, setting_table[SETTING_PROCESS_CONTAINERS].key,
                           devices[i].path, setting->origin);
    }
    return r;
}

int plan_reach(struct plan *plan, const struct looker *looker)
{
    const struct setting *kvm = &plan->policy->settings[SETTING_DEVICES_KVM];
    int r = plan_proc(plan);

    if (r == 0 && policy_number(plan->policy, SETTING_DEVICES_KVM))
        r = add_device(plan, looker, "sandbox.devices.kvm", "/dev/kvm", kvm->origin);
    vec_each (&plan->policy->items, item) {
        if (r == 0)
            r = plan_item(plan, looker, item);
    }
    return r == 0 ? plan_nesting(plan, looker) : r;
}
