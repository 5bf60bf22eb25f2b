/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an image, put together. */
#include "plan/compile.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/compiler.h"
#include "plan/filter.h"
#include "policy/build.h"
#include "wire/rules.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>

uint32_t compiler_string(struct compiler *compiler, const char *text)
{
    struct strbuf *strings = &compiler->parts[PART_STRINGS];
    size_t at = strings->length;

    if (!*text)
        return 0;
    strbuf_add_bytes(strings, text, strlen(text) + 1);
    return (uint32_t)at;
}

void compiler_add(struct compiler *compiler, enum image_part part, const void *entry, size_t size)
{
    strbuf_add_bytes(&compiler->parts[part], entry, size);
    compiler->head.parts[part].count++;
}

static void set_ids(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;
    struct image *head = &compiler->head;
    /* In a user namespace 0 is somebody whom the host knows by another id. */
    bool changes = compiler->input->is_host_root && !plan->process.keeps_host_root;
    bool is_root = plan->process.shows_root || plan->process.may_nest || plan->facts->uid == 0;

    head->caller_uid = plan->facts->uid;
    head->caller_gid = plan->facts->gid;
    head->host_uid = changes ? SANDBOX_ID : plan->facts->uid;
    head->host_gid = changes ? SANDBOX_ID : plan->facts->gid;
    head->inside_uid = is_root ? 0 : plan->facts->uid;
    head->inside_gid = is_root ? 0 : plan->facts->gid;
    if (!plan->process.may_nest)
        return;
    head->sub_uid = compiler->input->sub_uid;
    head->sub_gid = compiler->input->sub_gid;
    head->sub_count = compiler->input->sub_count;
}

static void set_flags(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;
    const struct setting *proxy = &plan->policy->settings[SETTING_NETWORK_UPSTREAM_PROXY];
    struct image *head = &compiler->head;
    char inside[LIMIT_PATH_BYTES];

    head->flags =
        (plan->network.own_namespace ? IMAGE_OWN_NET : 0U) |
        (plan->network.steers ? IMAGE_STEERS : 0U) | (plan->network.is_plain ? IMAGE_PLAIN : 0U) |
        (plan->network.mode == NETWORK_ISOLATED && plan->network.steers ? IMAGE_DATAGRAMS : 0U) |
        (plan->network.hands_over ? IMAGE_HANDS_OVER : 0U) |
        (plan->network.has_engine ? IMAGE_ENGINE : 0U) | (plan->network.routes ? IMAGE_VETH : 0U) |
        (plan_has(plan, FEATURE_MOUNT_SETATTR) ? 0U : IMAGE_BIND_REMOUNT) |
        (plan->process.may_trace ? IMAGE_MAY_TRACE : 0U) |
        (plan->process.may_nest ? IMAGE_MAY_NEST : 0U) |
        (plan->process.has_own_time ? IMAGE_OWN_TIME : 0U) |
        (compiler->input->is_around ? IMAGE_AROUND : 0U) |
        (policy_number(plan->policy, SETTING_PROCESS_OBSERVE) ? IMAGE_OBSERVES : 0U) |
        (plan->holds_reads ? IMAGE_HOLDS_READS : 0U) |
        (plan_notifies(plan) && policy_number(plan->policy, SETTING_PROCESS_EXPLAIN)
             ? IMAGE_EXPLAINS
             : 0U) |
        (plan_holds_calls(plan) ? IMAGE_NOTIFIES : 0U) | (plan_asks(plan) ? IMAGE_ASKS : 0U);
    head->workspace = compiler_string(compiler, plan->policy->workspace);
    head->workspace_at = compiler_string(compiler, plan_workspace_at(plan));
    head->home = compiler_string(compiler, plan->policy->home);
    head->cwd = compiler_string(compiler, compile_inside(plan, compiler->input->cwd, inside));
    head->backend = plan->backend;
    head->reads = (uint32_t)policy_number(plan->policy, SETTING_READS);
    head->network_mode = (uint8_t)policy_number(plan->policy, SETTING_NETWORK_MODE);
    head->network_unlisted = (uint8_t)policy_number(plan->policy, SETTING_NETWORK_UNLISTED);
    if (proxy->is_set && plan->network.steers)
        head->upstream_proxy = compiler_string(compiler, proxy->text);
    head->network_engine = (uint8_t)policy_number(plan->policy, SETTING_NETWORK_ENGINE);
    head->audit = (uint8_t)policy_number(plan->policy, SETTING_AUDIT);
    head->ask_seconds = (uint32_t)policy_number(plan->policy, SETTING_ASK_TIMEOUT);
    if (compiler->input->policy_hash)
        (void)snprintf(head->policy_hash, sizeof(head->policy_hash), "%s",
                       compiler->input->policy_hash);
    if (plan->network.has_engine) {
        head->engine_path = compiler_string(compiler, plan->network.engine_path);
        head->network_bits = (uint8_t)policy_number(plan->policy, SETTING_NETWORK_CIDR);
    }
    if (plan->network.routes || plan->network.has_engine) {
        head->network_subnet = (uint32_t)(policy_number(plan->policy, SETTING_NETWORK_CIDR) >> 8);
        head->network_mtu = (uint16_t)policy_number(plan->policy, SETTING_NETWORK_MTU);
        head->network_ipv6 = (uint8_t)policy_number(plan->policy, SETTING_NETWORK_IPV6);
    }
}

static void add_landlock(struct compiler *compiler)
{
    const struct landlock_plan *landlock = &compiler->input->plan->landlock;
    struct image *head = &compiler->head;
    char inside[LIMIT_PATH_BYTES];

    head->landlock_abi = (uint32_t)landlock->abi;
    head->landlock_fs = landlock->handled_fs;
    head->landlock_net = landlock->handles_tcp ? 3 : 0;
    head->landlock_scoped =
        (landlock->scopes_abstract_sockets ? 1U : 0U) | (landlock->scopes_signals ? 2U : 0U);
    vec_each (&landlock->rules, rule) {
        const char *path = compile_inside(compiler->input->plan, rule->path, inside);
        struct image_landlock_rule entry = {.path = compiler_string(compiler, path),
                                            .access = rule->access};

        compiler_add(compiler, PART_LANDLOCK, &entry, sizeof(entry));
    }
    if (compiler->tells && (landlock->handled_fs & LANDLOCK_ACCESS_FS_READ_FILE)) {
        struct image_landlock_rule entry = {.path = compiler_string(compiler, TOLD_PATH),
                                            .access = LANDLOCK_ACCESS_FS_READ_FILE};

        compiler_add(compiler, PART_LANDLOCK, &entry, sizeof(entry));
    }
}

static void add_watches(struct compiler *compiler)
{
    vec_each (&compiler->input->plan->watches, watch) {
        struct image_watch entry = {.path = compiler_string(compiler, watch->path),
                                    .tree = compiler_string(compiler, watch->tree),
                                    .flags = watch->is_deep ? WATCH_DEEP : 0};

        compiler_add(compiler, PART_WATCHES, &entry, sizeof(entry));
    }
}

static uint32_t keep_string(void *context, const char *text)
{
    return compiler_string(context, text);
}

static void add_rules(struct compiler *compiler)
{
    vec_each (&compiler->input->plan->policy->layers, layer) {
        struct image_layer entry = rules_pack_layer(*layer, keep_string, compiler);

        compiler_add(compiler, PART_LAYERS, &entry, sizeof(entry));
    }
    vec_each (&compiler->input->plan->policy->rules, rule) {
        struct image_rule entry = rules_pack(*rule, keep_string, compiler);

        compiler_add(compiler, PART_RULES, &entry, sizeof(entry));
    }
}

static void add_net_rules(struct compiler *compiler)
{
    const struct policy *policy = compiler->input->plan->policy;

    vec_each (&policy->net_rules, rule) {
        struct image_net_rule entry = rules_pack_net(*rule, keep_string, compiler);

        compiler_add(compiler, PART_NET_RULES, &entry, sizeof(entry));
    }
    vec_each (&policy->items, item) {
        struct image_item entry;

        if (!rules_keep_list(item->list))
            continue;
        entry = rules_pack_item(item, keep_string, compiler);
        compiler_add(compiler, PART_ITEMS, &entry, sizeof(entry));
    }
    vec_each (&compiler->input->plan->network.ports, port) {
        uint32_t entry = *port;

        compiler_add(compiler, PART_PORTS, &entry, sizeof(entry));
    }
}

static void add_env(struct compiler *compiler, enum image_env_kind what, const char *name,
                    const char *value)
{
    struct image_env entry = {.name = compiler_string(compiler, name),
                              .value = compiler_string(compiler, value),
                              .what = what};

    compiler_add(compiler, PART_ENV, &entry, sizeof(entry));
}

static void add_environment(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;
    char inside[LIMIT_PATH_BYTES];

    vec_each (&plan->policy->items, item) {
        if (item->list == LIST_ENV_PASS)
            add_env(compiler, ENV_PASS, item->value, "");
        else if (item->list == LIST_ENV_DENY)
            add_env(compiler, ENV_DENY, item->value, "");
    }
    vec_each (&plan->env, step) {
        if (!step->passed)
            add_env(compiler, ENV_SET, step->name, compile_inside(plan, step->value, inside));
    }
}

static void add_limits(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;

    compiler->head.limits = (struct image_limits){
        .pids = plan_limit(plan, SETTING_LIMITS_PIDS),
        .memory_high = plan_limit(plan, SETTING_LIMITS_MEMORY_HIGH),
        .memory = plan_limit(plan, SETTING_LIMITS_MEMORY),
        .cpu_percent = plan_limit(plan, SETTING_LIMITS_CPU),
        .io_weight = plan_limit(plan, SETTING_LIMITS_IO_WEIGHT),
        .io_read_bytes = plan_limit(plan, SETTING_LIMITS_IO_READ_BYTES),
        .io_write_bytes = plan_limit(plan, SETTING_LIMITS_IO_WRITE_BYTES),
        .io_read_ops = plan_limit(plan, SETTING_LIMITS_IO_READ_OPS),
        .io_write_ops = plan_limit(plan, SETTING_LIMITS_IO_WRITE_OPS),
        .open_files = plan_limit(plan, SETTING_LIMITS_OPEN_FILES),
        .file_size = plan_limit(plan, SETTING_LIMITS_FILE_SIZE),
        .layer_size = plan_limit(plan, SETTING_LIMITS_LAYER_SIZE),
        .time_ms = plan_limit(plan, SETTING_LIMITS_TIME) * 1000,
        .cgroup = (uint8_t)plan->facts->cgroup,
    };
    /* The caller's other programs keep half of what the kernel counts for all of them together. */
    if (policy_number(plan->policy, SETTING_LIMITS_PRESET) != LIMITS_NONE) {
        compiler->head.limits.inotify_instances = (plan->facts->inotify_instances + 1) / 2;
        compiler->head.limits.inotify_watches = (plan->facts->inotify_watches + 1) / 2;
    }
    /* Which controllers a group gets is not known before it is made. What nobody can hold in any
     * case is in the notes. */
    compiler->head.limits.is_wish = compiler->input->best_effort;
    vec_each (&plan->limits, step) {
        if (step->id <= SETTING_LIMITS_IO_WRITE_OPS && step->is_explicit &&
            plan->policy->settings[step->id].layer->authority != AUTHORITY_BUILTIN &&
            (step->by & BY_CGROUP))
            compiler->head.limits.demanded |= 1U << (step->id - SETTING_LIMITS_PIDS);
    }
}

static int add_deps(struct compiler *compiler)
{
    const struct compile_input *input = compiler->input;
    struct compile_deps deps = {0};
    int r = input->collect ? input->collect(input->context, &deps, compiler->err) : 0;

    vec_each (&deps.items, given) {
        struct image_dep entry = given->dep;

        entry.path = compiler_string(compiler, given->path);
        entry.text = given->text ? compiler_string(compiler, given->text) : 0;
        compiler_add(compiler, PART_DEPS, &entry, sizeof(entry));
    }
    /* What a machine with too much to do could not answer in time may be there the next time. */
    if (deps.is_once || input->plan->facts->is_hasty)
        compiler->head.flags |= IMAGE_ONCE;
    vec_done(&deps.items);
    return r;
}

static int add_filter(struct compiler *compiler)
{
    autofree struct sock_filter *program = NULL;
    size_t count = 0;
    int r = filter_compile(compiler->input->plan, &program, &count, compiler->err);

    if (r < 0)
        return r;
    strbuf_add_bytes(&compiler->parts[PART_FILTER], (const char *)program,
                     count * sizeof(*program));
    compiler->head.parts[PART_FILTER].count = (uint32_t)count;
    return 0;
}

/* SECURITY: what a later start trusts. Best effort is for what this command may do. */
static int refuse_unsealed(const struct compiler *compiler, const struct enforcement *line)
{
    (void)error_set(compiler->err, ENOTSUP, "run.unsealed",
                    "%s: the command could make it, and bawn would trust it later", line->what);
    error_hint(compiler->err, "make its directory, so that bawn can hold it; or choose a smaller "
                              "workspace; or leave out --allow-containers");
    return -ENOTSUP;
}

static void add_note(struct compiler *compiler, const struct enforcement *line)
{
    uint32_t note = compiler_string(compiler, line->what);

    compiler_add(compiler, PART_NOTES, &note, sizeof(note));
}

/* What nobody can hold here: a reason to refuse, or with best effort a note. Those come first. */
static int add_notes(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;
    const struct enforcement *first = NULL;
    const struct enforcement *vital = NULL;

    vec_each (&plan->rules, line) {
        if (line->by || line->is_accepted)
            continue;
        if (line->is_vital)
            vital = line;
        if (!first && !line->is_told)
            first = line;
        add_note(compiler, line);
    }
    compiler->head.dropped = compiler->head.parts[PART_NOTES].count;
    vec_each (&plan->rules, line) {
        if (!line->by && line->is_accepted)
            add_note(compiler, line);
    }
    if (compiler->head.parts[PART_NOTES].count)
        compiler->head.flags |= IMAGE_PARTIAL;
    if (vital)
        return refuse_unsealed(compiler, vital);
    if (!first || compiler->input->best_effort)
        return 0;
    (void)error_set(compiler->err, ENOTSUP, "run.unenforced", "%s: %s%s", first->what,
                    first->note ? first->note : "cannot be enforced on this host",
                    compiler->head.dropped > 1 ? "; and more" : "");
    error_hint(
        compiler->err,
        plan->process.may_nest
            ? "with --allow-containers nobody is asked about what is made: make it before, or "
              "take that rule out; 'bawn plan' shows who holds each rule; --best-effort goes "
              "on without"
            : "'bawn plan' shows who holds each rule, 'bawn doctor' what the host lacks; "
              "--best-effort goes on without");
    return -ENOTSUP;
}

/* SECURITY: the procfs around us shows processes outside, and through their root and environ the
 * host itself: without a fresh one no process is shown. */
static int refuse_proc(const struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;

    if (compiler->input->best_effort || !compile_lacks_proc(plan))
        return 0;
    (void)error_set(compiler->err, ENOTSUP, "run.no_proc",
                    "the kernel refuses a /proc of the sandbox's own (%s)",
                    strerror(plan->facts->features[FEATURE_FRESH_PROC].errnum));
    error_hint(compiler->err,
               "the kernel does so in containers that cover parts of /proc: 'bawn doctor' shows "
               "how to start them; --best-effort goes on with a /proc that has no processes");
    return -ENOTSUP;
}

/* SECURITY: with capabilities, what keeps the command from the kernel's files in /proc are their
 * permission bits, which root passes. */
static int refuse_nesting_as_root(const struct compiler *compiler)
{
    const struct process_plan *process = &compiler->input->plan->process;

    if (!process->may_nest || !process->keeps_host_root)
        return 0;
    (void)error_set(compiler->err, EINVAL, "run.as_root_containers",
                    "bawn cannot allow containers to a command that stays the host's root");
    error_hint(compiler->err, "leave one out: --as-root or --allow-containers");
    return -EINVAL;
}

static int refuse_backend(const struct compile_input *input, struct bawn_error *err)
{
    int r = error_set(err, ENOTSUP, "run.no_sandbox", "no sandbox on this host: %s",
                      input->plan->why_not);

    if (input->plan->facts->userns_block == USERNS_SECCOMP)
        error_hint(
            err, "a filter around bawn refuses them: if it belongs to another bawn, start that one "
                 "with --allow-containers; for other containers 'bawn doctor' has the remedy");
    else
        error_hint(err, "'bawn doctor' says what is missing and how to get it");
    return r;
}

int compiler_join(struct compiler *compiler, struct image **ret_image)
{
    struct image *head = &compiler->head;
    size_t size = sizeof(*head);
    char *bytes;

    for (int i = 0; i < PART_COUNT; i++) {
        if (compiler->parts[i].failed)
            return error_memory(compiler->err);
        head->parts[i].at = (uint32_t)size;
        size += (compiler->parts[i].length + 7) & ~(size_t)7;
    }
    head->parts[PART_STRINGS].count = (uint32_t)compiler->parts[PART_STRINGS].length;
    if (size > UINT32_MAX)
        return error_set(compiler->err, E2BIG, "run.too_big", "the policy is too big");
    head->size = size;
    bytes = calloc(1, size);
    if (!bytes)
        return error_memory(compiler->err);
    memcpy(bytes, head, sizeof(*head));
    for (int i = 0; i < PART_COUNT; i++) {
        if (compiler->parts[i].length)
            memcpy(bytes + head->parts[i].at, compiler->parts[i].text, compiler->parts[i].length);
    }
    *ret_image = (struct image *)(void *)bytes;
    return 0;
}

static int compile_parts(struct compiler *compiler, struct image **ret_image)
{
    int r;

    memcpy(compiler->head.magic, image_magic, sizeof(image_magic));
    (void)snprintf(compiler->head.version, sizeof(compiler->head.version), "%s", BAWN_VERSION);
    (void)snprintf(compiler->head.release, sizeof(compiler->head.release), "%s",
                   compiler->input->release);
    compiler->head.last_capability = compiler->input->last_capability;
    strbuf_add_bytes(&compiler->parts[PART_STRINGS], "", 1);
    set_ids(compiler);
    set_flags(compiler);
    r = refuse_proc(compiler);
    if (r == 0)
        r = refuse_nesting_as_root(compiler);
    if (r == 0)
        r = add_notes(compiler);
    if (r == 0)
        r = compile_told(compiler);
    if (r == 0)
        r = compile_mounts(compiler);
    if (r == -ENOMEM)
        return error_memory(compiler->err);
    if (r == 0)
        r = add_filter(compiler);
    if (r < 0)
        return r;
    add_landlock(compiler);
    add_rules(compiler);
    add_net_rules(compiler);
    add_watches(compiler);
    add_environment(compiler);
    add_limits(compiler);
    r = add_deps(compiler);
    return r < 0 ? r : compiler_join(compiler, ret_image);
}

void compiler_done(struct compiler *compiler)
{
    for (int i = 0; i < PART_COUNT; i++)
        strbuf_done(&compiler->parts[i]);
    strbuf_done(&compiler->late);
    vec_done(&compiler->covers);
    vec_done(&compiler->hollows);
    map_done(&compiler->made);
    arena_done(&compiler->arena);
}

int compile_image(const struct compile_input *input, struct image **ret_image,
                  struct bawn_error *err)
{
    struct compiler compiler = {.input = input, .err = err};
    int r;

    if (!backend_row(input->plan->backend)->can_start)
        return refuse_backend(input, err);
    r = compile_parts(&compiler, ret_image);
    compiler_done(&compiler);
    return r;
}
