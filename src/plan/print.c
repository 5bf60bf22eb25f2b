/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, printed. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/plan.h"
#include "policy/build.h"

#include <stdio.h>
#include <string.h>

static const char *const mount_words[] = {
    [MOUNT_BIND] = "bind",       [MOUNT_OVERLAY] = "overlay",   [MOUNT_TMPFS] = "tmpfs",
    [MOUNT_PROC] = "proc",       [MOUNT_DEV] = "dev",           [MOUNT_NODE] = "node",
    [MOUNT_SYMLINK] = "symlink", [MOUNT_MASK_DIR] = "mask dir", [MOUNT_MASK_FILE] = "mask file",
    [MOUNT_SEAL] = "seal",       [MOUNT_SHUT] = "shut",         [MOUNT_KEPT] = "kept",
    [MOUNT_COPY] = "copy",       [MOUNT_MASK_KEPT] = "mask",
};

static const char *const action_words[] = {
    [SYSCALL_EPERM] = "EPERM",       [SYSCALL_EACCES] = "EACCES",
    [SYSCALL_ENOSYS] = "ENOSYS",     [SYSCALL_EAFNOSUPPORT] = "EAFNOSUPPORT",
    [SYSCALL_NOTIFY] = "supervisor",
};

static const char *enforcement_word(const struct plan *plan)
{
    return plan->backend == BACKEND_COUNT ? "none" : plan->unenforced ? "partial" : "full";
}

static const char *backend_word(const struct plan *plan)
{
    return backend_row(plan->backend)->name;
}

static void add_size(struct strbuf *out, uint64_t bytes)
{
    if (bytes >= 1ULL << 30 && bytes % (1ULL << 30) == 0)
        strbuf_addf(out, "%llu GiB", (unsigned long long)(bytes >> 30));
    else if (bytes >= 1ULL << 20)
        strbuf_addf(out, "%llu MiB", (unsigned long long)(bytes >> 20));
    else
        strbuf_addf(out, "%llu bytes", (unsigned long long)bytes);
}

static void print_process(const struct plan *plan, struct strbuf *out)
{
    const struct process_plan *process = &plan->process;

    strbuf_addf(out, "command: as uid %u%s%s%s%s%s\n", process->caller_uid,
                process->shows_root ? ", shown as 0 inside" : "",
                process->caller_uid != 0   ? ""
                : process->keeps_host_root ? ", which stays root of the host"
                                           : ", without the rights of the host's root",
                process->may_trace ? ", may trace its own processes" : "",
                !process->may_nest ? ""
                : plan_hands_groups_in(plan)
                    ? ", may run containers, with control groups of their own"
                    : ", may run containers",
                process->has_own_time ? ", with clocks since boot that begin at zero" : "");
}

/* The file of our own, with what it says. */
static void print_gitconfig(const struct plan *plan, struct strbuf *out)
{
    const char *line = plan->gitconfig;

    strbuf_add(out, "  file         ");
    strbuf_add_escaped(out, plan->policy->home);
    strbuf_add(out, "/" PLAN_GITCONFIG);
    if (plan->gitconfig_why) {
        strbuf_add(out, " is not made: ");
        strbuf_add_escaped(out, plan->gitconfig_why);
    } else {
        strbuf_add(out, ", of your git configuration what runs nothing:");
    }
    strbuf_add(out, "\n");
    while (line && *line) {
        char text[256];
        size_t length = strcspn(line, "\n");

        (void)text_escape(text, sizeof(text), line + (*line == '\t'), length - (*line == '\t'),
                          TEXT_ONE_LINE);
        strbuf_addf(out, "%s%s", *line == '[' ? "                 " : " ", text);
        strbuf_add(out, *line == '[' ? "" : "\n");
        line += length + (line[length] == '\n');
    }
}

static void print_mounts(const struct plan *plan, struct strbuf *out)
{
    strbuf_addf(out, "\nnew root (%zu steps):\n", plan->mounts.count);
    vec_each (&plan->mounts, step) {
        strbuf_addf(out, "  %-9s %s ", mount_words[step->kind],
                    step->kind == MOUNT_BIND || step->kind == MOUNT_KEPT
                        ? step->read_only ? "ro" : "rw"
                        : "  ");
        strbuf_add_escaped(out, step->target);
        if (step->kind == MOUNT_SYMLINK) {
            strbuf_add(out, " -> ");
            strbuf_add_escaped(out, step->source);
        }
        if (step->kind == MOUNT_KEPT) {
            strbuf_add(out, ", which is ");
            strbuf_add_escaped(out, step->source);
        }
        strbuf_add(out, step->no_exec ? ", asked about, run only after a yes" : "");
        if (step->size_bytes) {
            strbuf_add(out, ", at most ");
            add_size(out, step->size_bytes);
        }
        if (step->kind == MOUNT_PROC && !plan_has(plan, FEATURE_FRESH_PROC))
            strbuf_add(out, ", a few files of the one around");
        strbuf_add(out, "\n");
    }
    if (plan->gitconfig || plan->gitconfig_why)
        print_gitconfig(plan, out);
    if (strcmp(plan_workspace_at(plan), plan->policy->workspace) != 0) {
        strbuf_add(out, "  the workspace is shown at ");
        strbuf_add_escaped(out, plan_workspace_at(plan));
        strbuf_add(out, " instead\n");
    }
}

static void print_landlock(const struct plan *plan, struct strbuf *out)
{
    const struct landlock_plan *landlock = &plan->landlock;

    if (landlock->abi == 0) {
        strbuf_add(out, "\nLandlock: not on this host\n");
        return;
    }
    strbuf_addf(out, "\nLandlock: ABI %d, %zu path rules%s%s%s%s\n", landlock->abi,
                landlock->rules.count,
                landlock->handled_fs == 0          ? ", files left to the mounts"
                : landlock->handled_fs & (1U << 2) ? ", reads and writes"
                                                   : ", writes",
                !landlock->handles_tcp     ? ""
                : plan->network.hands_over ? ", TCP left to bawn"
                                           : ", no TCP",
                landlock->scopes_abstract_sockets ? ", abstract sockets" : "",
                landlock->scopes_signals ? ", signals" : "");
    if (plan_holds_calls(plan))
        strbuf_add(out, "  programs inside find no Landlock: calls that bawn makes for them would "
                        "bypass their rules\n");
}

/* Whether an earlier rule has the same name and action. */
static bool is_repeated(const struct plan *plan, size_t index)
{
    const struct syscall_rule *rule = plan->syscalls.items[index];

    for (size_t i = 0; i < index; i++)
        if (plan->syscalls.items[i]->action == rule->action &&
            strcmp(plan->syscalls.items[i]->name, rule->name) == 0)
            return true;
    return false;
}

/* Names in the order of the table, each once, by what is done with them. */
static void print_syscalls(const struct plan *plan, struct strbuf *out)
{
    strbuf_addf(out, "\nsyscall filter (%zu rules, every ABI of the machine):\n",
                plan->syscalls.count);
    for (unsigned action = 0; action <= SYSCALL_NOTIFY; action++) {
        size_t width = 0;

        for (size_t i = 0; i < plan->syscalls.count; i++) {
            const struct syscall_rule *rule = plan->syscalls.items[i];
            const char *some = rule->arg >= 0 ? "(some)" : "";

            if (rule->action != action || is_repeated(plan, i))
                continue;
            if (width == 0 || width + strlen(rule->name) + strlen(some) > 76) {
                strbuf_addf(out, "%s  %-13s", width ? "\n" : "", width ? "" : action_words[action]);
                width = 15;
            }
            strbuf_addf(out, " %s%s", rule->name, some);
            width += strlen(rule->name) + strlen(some) + 1;
        }
        if (width)
            strbuf_add(out, "\n");
    }
}

/* Enforced is all the same; what works is less. */
static void print_ports(const struct network_plan *network, struct strbuf *out)
{
    if (!network->is_plain)
        return;
    strbuf_add(out, "  without nf_tables: programs that know of no proxy reach the ports");
    vec_each (&network->ports, port)
        strbuf_addf(out, "%s %u", port == network->ports.items ? "" : ",", *port);
    strbuf_addf(out,
                "\n  and are refused at all others, which the proxy at 127.0.0.1:%d reaches;\n"
                "  the command itself cannot listen at these ports\n",
                LIMIT_OWN_PORT);
}

static void print_network(const struct plan *plan, struct strbuf *out)
{
    const struct network_plan *network = &plan->network;

    strbuf_addf(out, "\nnetwork: %s, %s", setting_table[SETTING_NETWORK_MODE].words[network->mode],
                network->own_namespace ? "in a namespace of its own" : "in the host's namespace");
    if (network->allow + network->ask + network->deny)
        strbuf_addf(out, "; %zu hosts allowed, %zu asked about, %zu denied", network->allow,
                    network->ask, network->deny);
    strbuf_add(out, "\n");
    print_ports(network, out);
    if (network->hands_over)
        strbuf_add(out, "  opaque hosts: connections are handed over, and pass by bawn-net\n");
    else if (network->has_opaque)
        strbuf_addf(out, "  opaque hosts: connections go through bawn-net: %s\n",
                    network->why_relayed);
    for (enum setting_id id = SETTING_NETWORK_UNLISTED; id <= SETTING_NETWORK_AUTHZ_PORT; id++)
        if (plan->policy->settings[id].is_set)
            strbuf_addf(out, "  %s: %s\n", setting_table[id].key, plan->policy->settings[id].text);
}

#define SHARE_WORDS "half of the free room"

static bool is_share(const struct limit_step *step)
{
    return step->id == SETTING_LIMITS_LAYER_SIZE && step->value == LAYER_SIZE_SHARE;
}

static void add_limit(struct strbuf *out, const struct limit_step *step)
{
    bool is_rate =
        step->id >= SETTING_LIMITS_IO_READ_BYTES && step->id <= SETTING_LIMITS_IO_WRITE_OPS;

    if (is_share(step)) {
        strbuf_add(out, SHARE_WORDS);
        return;
    }
    switch (setting_table[step->id].type) {
    case VALUE_SIZE:
        add_size(out, step->value);
        break;
    case VALUE_PERCENT:
        strbuf_addf(out, "%llu %% of one CPU", (unsigned long long)step->value);
        break;
    case VALUE_SECONDS:
        strbuf_addf(out, "%llu s", (unsigned long long)step->value);
        break;
    default:
        strbuf_addf(out, "%llu", (unsigned long long)step->value);
    }
    if (is_rate)
        strbuf_add(out, " per second");
}

static void print_limits(const struct plan *plan, struct strbuf *out)
{
    strbuf_add(out, "\nlimits:\n");
    vec_each (&plan->limits, step) {
        char by[96];

        enforcer_words(step->by, by, sizeof(by));
        if (step->by == 0 && !step->is_explicit)
            (void)snprintf(by, sizeof(by), "not on this host: left out");
        strbuf_addf(out, "  %-12s ", setting_table[step->id].key + strlen("sandbox.limits."));
        add_limit(out, step);
        strbuf_addf(out, "  [%s]\n", by);
    }
}

static void print_env(const struct plan *plan, struct strbuf *out)
{
    size_t width = 0;

    strbuf_add(out, "\nenvironment:\n  passed on:");
    vec_each (&plan->env, variable) {
        if (!variable->passed)
            continue;
        if (width > 60) {
            strbuf_add(out, "\n            ");
            width = 0;
        }
        strbuf_addf(out, " %s", variable->name);
        width += strlen(variable->name) + 1;
    }
    strbuf_add(out, "\n");
    vec_each (&plan->env, variable) {
        if (variable->passed)
            continue;
        strbuf_addf(out, "  set:       %s=", variable->name);
        strbuf_add_escaped(out, variable->value);
        strbuf_add(out, "\n");
    }
}

static bool is_builtin_list(const struct enforcement *line)
{
    return strncmp(line->what, "secret ", 7) == 0 || strncmp(line->what, "protected ", 10) == 0;
}

static void print_rules(const struct plan *plan, struct strbuf *out)
{
    size_t listed = 0;

    strbuf_add(out, "\nwho holds each rule:\n");
    vec_each (&plan->rules, line) {
        char by[96];

        /* The built-in lists are long; they are worth a line each only where they do not hold. */
        if (is_builtin_list(line) && line->by) {
            listed++;
            continue;
        }
        enforcer_words(line->by, by, sizeof(by));
        strbuf_addf(out, "  [%s] ", by);
        strbuf_add_escaped(out, line->what);
        if (line->note)
            strbuf_addf(out, " (%s)", line->note);
        strbuf_add(out, "\n");
    }
    if (listed)
        strbuf_addf(out, "  and %zu entries of the built-in lists, all held\n", listed);
}

static void print_text(const struct plan *plan, struct strbuf *out)
{
    const char *first = backend_row(backend_first())->name;

    strbuf_addf(out, "backend: %s, enforcement: %s\n", backend_word(plan), enforcement_word(plan));
    if (plan->why_not && *plan->why_not)
        strbuf_addf(out, "%s is not available here: %s ('bawn doctor' tells the remedy)\n", first,
                    plan->why_not);
    if (plan->why_not)
        strbuf_addf(out, "bawn starts commands with the %s backend only: 'run' would refuse\n",
                    first);
    print_process(plan, out);
    print_mounts(plan, out);
    print_landlock(plan, out);
    print_syscalls(plan, out);
    print_network(plan, out);
    print_limits(plan, out);
    strbuf_addf(out, "\naudit: %s\n",
                setting_table[SETTING_AUDIT].words[policy_number(plan->policy, SETTING_AUDIT)]);
    print_env(plan, out);
    print_rules(plan, out);
}

static void json_mounts(const struct plan *plan, struct strbuf *out)
{
    json_open(out, "mounts", '[');
    vec_each (&plan->mounts, step) {
        json_open(out, NULL, '{');
        json_put_string(out, "kind", mount_words[step->kind]);
        json_put_string(out, "source", step->source);
        json_put_string(out, "target", step->target);
        json_put_bool(out, "read_only", step->read_only);
        if (step->no_exec)
            json_put_bool(out, "no_exec", true);
        if (step->size_bytes)
            json_put_uint(out, "size_bytes", step->size_bytes);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_put_string(out, "gitconfig", plan->gitconfig);
}

static void json_landlock(const struct plan *plan, struct strbuf *out)
{
    json_open(out, "landlock", '{');
    json_put_uint(out, "abi", (uint64_t)plan->landlock.abi);
    json_put_uint(out, "handled_fs", plan->landlock.handled_fs);
    json_put_bool(out, "no_tcp", plan->landlock.handles_tcp && !plan->network.hands_over);
    json_put_bool(out, "scope_abstract_sockets", plan->landlock.scopes_abstract_sockets);
    json_put_bool(out, "scope_signals", plan->landlock.scopes_signals);
    json_put_bool(out, "usable_inside", plan->landlock.abi > 0 && !plan_holds_calls(plan));
    json_open(out, "rules", '[');
    vec_each (&plan->landlock.rules, rule) {
        json_open(out, NULL, '{');
        json_put_string(out, "path", rule->path);
        json_put_uint(out, "access", rule->access);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
}

static void json_syscalls(const struct plan *plan, struct strbuf *out)
{
    json_open(out, "syscalls", '[');
    vec_each (&plan->syscalls, rule) {
        json_open(out, NULL, '{');
        json_put_string(out, "name", (*rule)->name);
        json_put_string(out, "action", action_words[(*rule)->action]);
        if ((*rule)->arg >= 0) {
            json_put_uint(out, "arg", (uint64_t)(*rule)->arg);
            json_put_uint(out, "mask", (*rule)->mask);
            json_put_uint(out, "value", (*rule)->value);
            json_put_bool(out, "not", (*rule)->is_not);
        }
        json_put_string(out, "why", (*rule)->why);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void json_rest(const struct plan *plan, struct strbuf *out)
{
    char by[96];

    json_put_string(out, "workspace_at", plan_workspace_at(plan));
    json_open(out, "process", '{');
    json_put_uint(out, "uid", plan->process.caller_uid);
    json_put_bool(out, "shows_root", plan->process.shows_root);
    json_put_bool(out, "keeps_host_root", plan->process.keeps_host_root);
    json_put_bool(out, "may_trace", plan->process.may_trace);
    json_put_bool(out, "may_nest", plan->process.may_nest);
    json_put_bool(out, "groups_inside", plan_hands_groups_in(plan));
    json_put_bool(out, "own_time", plan->process.has_own_time);
    json_close(out, '}');
    json_open(out, "network", '{');
    json_put_string(out, "mode", setting_table[SETTING_NETWORK_MODE].words[plan->network.mode]);
    json_put_bool(out, "own_namespace", plan->network.own_namespace);
    if (plan->network.is_plain) {
        json_open(out, "ports", '[');
        vec_each (&plan->network.ports, port)
            json_put_uint(out, NULL, *port);
        json_close(out, ']');
    }
    json_put_bool(out, "hands_over", plan->network.hands_over);
    for (enum setting_id id = SETTING_NETWORK_UNLISTED; id <= SETTING_NETWORK_AUTHZ_PORT; id++)
        if (plan->policy->settings[id].is_set)
            json_put_string(out, strrchr(setting_table[id].key, '.') + 1,
                            plan->policy->settings[id].text);
    json_close(out, '}');
    json_open(out, "limits", '[');
    vec_each (&plan->limits, step) {
        json_open(out, NULL, '{');
        json_put_string(out, "key", setting_table[step->id].key);
        if (is_share(step))
            json_put_string(out, "value", SHARE_WORDS);
        else
            json_put_uint(out, "value", step->value);
        enforcer_words(step->by, by, sizeof(by));
        json_put_string(out, "by", by);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_put_string(out, "audit",
                    setting_table[SETTING_AUDIT].words[policy_number(plan->policy, SETTING_AUDIT)]);
    json_open(out, "environment", '[');
    vec_each (&plan->env, variable) {
        json_open(out, NULL, '{');
        json_put_string(out, "name", variable->name);
        json_put_bool(out, "passed", variable->passed);
        if (!variable->passed)
            json_put_string(out, "value", variable->value);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_open(out, "rules", '[');
    vec_each (&plan->rules, line) {
        json_open(out, NULL, '{');
        json_put_string(out, "rule", line->what);
        enforcer_words(line->by, by, sizeof(by));
        json_put_string(out, "by", by);
        json_put_bool(out, "enforced", line->by != 0);
        json_put_string(out, "note", line->note);
        json_put_string(out, "file", line->origin.file);
        json_put_uint(out, "line", line->origin.line);
        json_put_uint(out, "column", line->origin.column);
        json_close(out, '}');
    }
    json_close(out, ']');
}

int plan_print(const struct plan *plan, enum bawn_format format, char **ret_text,
               struct bawn_error *err)
{
    struct strbuf out = {0};

    if (format == BAWN_FORMAT_JSON) {
        json_open(&out, NULL, '{');
        json_put_string(&out, "backend", backend_word(plan));
        json_put_string(&out, "enforcement", enforcement_word(plan));
        json_mounts(plan, &out);
        json_landlock(plan, &out);
        json_syscalls(plan, &out);
        json_rest(plan, &out);
        json_close(&out, '}');
        strbuf_add(&out, "\n");
    } else {
        print_text(plan, &out);
    }
    return strbuf_give(&out, ret_text, err);
}

int plan_print_left_out(const struct plan *plan, char **ret_text, struct bawn_error *err)
{
    autostrbuf struct strbuf out = {0};
    bool is_strict = policy_number(plan->policy, SETTING_LIMITS_PRESET) == LIMITS_STRICT;

    strbuf_add(&out, "");
    if (plan->gitconfig_why) {
        strbuf_add(&out, "your git configuration is not there inside, neither name nor mail: ");
        strbuf_add_escaped(&out, plan->gitconfig_why);
        strbuf_add(&out, "\n");
    }
    vec_each (&plan->limits, step) {
        if (!is_strict || step->by != 0 || step->is_explicit || step->id != SETTING_LIMITS_CPU)
            continue;
        strbuf_addf(&out, "%s: ", setting_table[step->id].key);
        add_limit(&out, step);
        strbuf_add(&out, " of the strict limits is left out: there is no control group to hold it; "
                         "'bawn doctor' tells the remedy\n");
    }
    return strbuf_give(&out, ret_text, err);
}
