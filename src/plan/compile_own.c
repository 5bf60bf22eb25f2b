/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/compile_own.h"

#include "base/error.h"
#include "base/path.h"
#include "plan/place.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "wire/net.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where nobody counts what is in it as memory, a tmpfs is no larger than the memory may be. */
static uint64_t tmpfs_size(const struct compiler *compiler, uint64_t wanted)
{
    const struct plan *plan = compiler->input->plan;
    uint64_t memory = plan_limit(plan, SETTING_LIMITS_MEMORY);

    return plan->facts->cgroup == CGROUP_NONE && memory && memory < wanted ? memory : wanted;
}

/* In a tree of the host there is nothing to mount on, and nothing is made there. */
static int refuse_private(struct compiler *compiler, const struct mount_step *step)
{
    (void)error_set(compiler->err, ENOENT, "run.private", "private %s: there is no such directory",
                    step->target);
    error_hint(compiler->err, "make it yourself, because bawn makes nothing in a tree of the host; "
                              "or grant the path in another mode");
    return -ENOENT;
}

void own_shelf(struct compiler *compiler, enum image_step step, unsigned mode, const char *name,
               const char *text)
{
    struct image_mount entry = {
        .step = (uint8_t)step, .flags = STEP_ON_SHELF, .mode = (uint16_t)mode};

    entry.source = text ? compiler_string(compiler, text) : 0;
    entry.target = compiler_string(compiler, name);
    compiler_add(compiler, PART_SKELETON, &entry, sizeof(entry));
}

/* Whether there is something to mount on, or what keeps it: 1, 0 for a cache that the home, which
 * is the workspace, has not; or an error. */
static int make_room(struct compiler *compiler, const struct mount_step *step)
{
    const struct cover *cover = place_cover(compiler, step->target);
    enum look look =
        cover && cover->kind == COVER_TREE ? place_look(compiler, step->target) : LOOK_DIRECTORY;

    if (look == LOOK_ABSENT && step->rule && step->rule->layer->authority == AUTHORITY_BUILTIN)
        return 0;
    if (look == LOOK_ABSENT || look == LOOK_OTHER)
        return refuse_private(compiler, step);
    place_pin_parents(compiler, step->target);
    place_make_point(compiler, step->target, false);
    return 1;
}

int own_tmpfs(struct compiler *compiler, const struct mount_step *step, unsigned mode)
{
    struct image_mount mount = {.step = STEP_TMPFS,
                                .mode = (uint16_t)mode,
                                .flags = step->read_only ? STEP_READ_ONLY : 0,
                                .size_bytes = step->size_bytes ? step->size_bytes : 4096};
    int r = make_room(compiler, step);

    if (r <= 0)
        return r;
    place_step(compiler, PLACE_LATE, mount, NULL, step->target);
    return place_add_cover(compiler, step->target, COVER_OWN, true, false);
}

/* All that is private and writable is in one file system: a start mounts one, not five, and the
 * limit is that of them all. */
static void add_pool(struct compiler *compiler, uint64_t size_bytes)
{
    struct image_mount pool = {
        .step = STEP_POOL, .mode = MODE_DIR, .size_bytes = tmpfs_size(compiler, size_bytes)};

    if (place_is_made(compiler, "pool", MADE_ON_SHELF))
        return;
    own_shelf(compiler, STEP_DIR, MODE_DIR, "pool", NULL);
    place_step(compiler, PLACE_LATE, pool, NULL, "/");
}

/* A private place in a private place is a directory like others. */
static bool is_in_pool(const struct compiler *compiler, const char *target)
{
    const struct cover *cover = place_cover(compiler, target);

    return cover && cover->is_pool;
}

int own_private(struct compiler *compiler, const struct mount_step *step, unsigned mode)
{
    struct image_mount mount = {.step = STEP_PRIVATE, .mode = (uint16_t)mode};
    char name[32];
    int r;

    if (step->read_only)
        return own_tmpfs(compiler, step, mode);
    if (is_in_pool(compiler, step->target)) {
        place_make_dir(compiler, step->target, mode);
        return 0;
    }
    r = make_room(compiler, step);
    if (r <= 0)
        return r;
    add_pool(compiler, step->size_bytes);
    (void)snprintf(name, sizeof(name), "pool/%u", compiler->private_count++);
    place_step(compiler, PLACE_LATE, mount, name, step->target);
    r = place_add_cover(compiler, step->target, COVER_OWN, true, false);
    if (r == 0)
        compiler->covers.items[compiler->covers.count - 1].is_pool = true;
    return r;
}

int own_kept(struct compiler *compiler, const struct mount_step *step)
{
    struct image_mount mount = {.step = STEP_KEPT};
    int r = make_room(compiler, step);

    if (r <= 0)
        return r;
    /* Noted: when somebody has removed it, it is made anew. */
    (void)place_look(compiler, step->source);
    if (compiler->head.host_uid != compiler->head.caller_uid)
        mount.flags |= STEP_IDMAP;
    place_step(compiler, PLACE_LATE, mount, step->source, step->target);
    return place_add_cover(compiler, step->target, COVER_KEPT, true, false);
}

int own_copy(struct compiler *compiler, const struct mount_step *step)
{
    const struct cover *cover = place_cover(compiler, step->target);
    struct image_mount mount = {.step = STEP_COPY};
    const char *wrong = NULL;

    if (!cover || (cover->kind != COVER_OWN && cover->kind != COVER_KEPT))
        wrong = "there is no private place around it";
    else if (++compiler->copies > LIMIT_COPIES)
        wrong = "there are too many copies";
    if (wrong) {
        (void)error_set(compiler->err, EINVAL, "run.copy", "copy %s: %s", step->target, wrong);
        error_hint(compiler->err, "use mode ro or rw for it");
        return -EINVAL;
    }
    /* Only root can open it for the command. */
    if (compiler->head.host_uid != compiler->head.caller_uid)
        mount.flags |= STEP_IDMAP;
    place_make_parents(compiler, step->target);
    place_step(compiler, PLACE_LATE, mount, step->source, step->target);
    return 0;
}

/* Whether only root can change what the name of a node leads to; its own mode says nothing. */
static bool is_steady_node(const struct compiler *compiler, const char *path)
{
    char dir[LIMIT_PATH_BYTES];

    (void)snprintf(dir, sizeof(dir), "%s", path);
    path_cut_name(dir);
    return place_is_steady(compiler, dir);
}

/* SECURITY: read-only: what is read and written is the device or the peer, but its mode and owner
 * are the host's. Not needed for what lies in root's own /dev, if the command is not root there. */
void own_node(struct compiler *compiler, const char *path, unsigned device)
{
    struct image_mount mount = {.step = STEP_NODE, .size_bytes = device};
    bool is_usual = device != 0;
    char source[LIMIT_PATH_BYTES];

    if (resolve_path(NULL, "/", path, compiler->input->looker, source, NULL) < 0)
        (void)snprintf(source, sizeof(source), "%s", path);
    if (!is_usual || compiler->head.host_uid == 0 || !is_steady_node(compiler, source))
        mount.flags |= STEP_READ_ONLY;
    /* A device that only its owner may use: its twin belongs to the command. */
    if (!is_usual && compiler->head.host_uid != compiler->head.caller_uid &&
        compiler->input->is_private &&
        compiler->input->is_private(compiler->input->context, source))
        mount.flags |= STEP_IDMAP;
    place_make_point(compiler, path, true);
    place_step(compiler, PLACE_LATE, mount, source, path);
}

static bool is_denied(const struct compiler *compiler, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return decide_path(compiler->input->plan->policy, path, decisions) < 0 ||
           decisions[PATH_READ].access >= ACCESS_ASK;
}

/* A minimal /dev: what programs cannot do without. */
int own_dev(struct compiler *compiler, const struct mount_step *step)
{
    /* With their numbers, major and minor. */
    static const struct {
        const char *path;
        unsigned device;
    } nodes[] = {{"/dev/null", 0x103},
                 {"/dev/zero", 0x105},
                 {"/dev/full", 0x107},
                 {"/dev/urandom", 0x109},
                 {"/dev/tty", 0x500}};
    static const char *const links[][2] = {
        {"/proc/self/fd", "/dev/fd"},       {"/proc/self/fd/0", "/dev/stdin"},
        {"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"},
        {"urandom", "/dev/random"}, /* the same since 5.6 */
        {"pts/ptmx", "/dev/ptmx"}};
    struct mount_step shm = {.target = "/dev/shm",
                             .size_bytes =
                                 plan_limit(compiler->input->plan, SETTING_LIMITS_TMP_SIZE)};
    int r = 0;

    if (place_cover(compiler, step->target)) {
        struct mount_step own = {.target = step->target,
                                 .size_bytes = 65536 + compiler->parts[PART_TOLD].length};

        r = own_tmpfs(compiler, &own, MODE_DIR);
        if (r == 0 && !vec_push(&compiler->hollows, step->target))
            r = -ENOMEM;
    } else {
        place_make_point(compiler, step->target, false);
    }
    /* What is denied is not there. */
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        if (!is_denied(compiler, nodes[i].path))
            own_node(compiler, nodes[i].path, nodes[i].device);
    }
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        if (!is_denied(compiler, links[i][1]))
            place_step(compiler, place_when_made(compiler, links[i][1]),
                       (struct image_mount){.step = STEP_SYMLINK}, links[i][0], links[i][1]);
    }
    if (r == 0 && !is_denied(compiler, "/dev/pts")) {
        place_make_point(compiler, "/dev/pts", false);
        place_step(compiler, PLACE_LATE, (struct image_mount){.step = STEP_DEVPTS}, NULL,
                   "/dev/pts");
        r = place_add_cover(compiler, "/dev/pts", COVER_PROC, true, false);
    }
    return r == 0 && !is_denied(compiler, "/dev/shm") ? own_private(compiler, &shm, MODE_SHARED)
                                                      : r;
}

bool compile_lacks_proc(const struct plan *plan)
{
    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_PROC)
            return !plan_has(plan, FEATURE_FRESH_PROC);
    }
    return false;
}

/*
 * Where the kernel refuses a fresh procfs: files of the one around that tell of
 * the machine, and that every procfs has alike. SECURITY: no directory. Those of
 * processes show who runs outside, and through root and environ the host itself; a rule may deny
 * single files of the others.
 */
static void show_machine(struct compiler *compiler)
{
    static const char *const files[] = {
        "/proc/cpuinfo",
        "/proc/devices",
        "/proc/filesystems",
        "/proc/meminfo",
        "/proc/stat",
        "/proc/swaps",
        "/proc/uptime",
        "/proc/version",
        "/proc/vmstat",
        "/proc/sys/crypto/fips_enabled",
        "/proc/sys/kernel/cap_last_cap",
        "/proc/sys/kernel/ngroups_max",
        "/proc/sys/kernel/osrelease",
        "/proc/sys/kernel/pid_max",
        "/proc/sys/kernel/random/uuid",
        "/proc/sys/vm/overcommit_memory",
    };
    static const struct image_mount file = {.step = STEP_PROC,
                                            .flags = STEP_READ_ONLY | STEP_IS_FILE};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (is_denied(compiler, files[i]) || place_look(compiler, files[i]) != LOOK_OTHER)
            continue;
        place_make_point(compiler, files[i], true);
        place_step(compiler, PLACE_EARLY, file, files[i] + strlen("/proc/"), files[i]);
    }
}

int own_proc(struct compiler *compiler, const struct mount_step *step)
{
    place_make_point(compiler, step->target, false);
    if (compile_lacks_proc(compiler->input->plan))
        show_machine(compiler);
    else
        place_step(compiler, PLACE_LATE, (struct image_mount){.step = STEP_PROC}, NULL,
                   step->target);
    return place_add_cover(compiler, step->target, COVER_PROC, true, false);
}

static bool may_read(const struct compiler *compiler, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return decide_path(compiler->input->plan->policy, path, decisions) == 0 &&
           decisions[PATH_READ].access == ACCESS_ALLOW;
}

/* A file of the sandbox's own where the host has one that the policy shows. */
static void text_step(struct compiler *compiler, const char *path, const char *text)
{
    const struct compile_input *input = compiler->input;
    struct image_mount mount = {.step = STEP_SHELF, .flags = STEP_READ_ONLY | STEP_OPTIONAL};
    char name[32];
    char resolved[LIMIT_PATH_BYTES];
    const struct cover *cover;

    if (!may_read(compiler, path) ||
        resolve_path(NULL, "/", path, input->looker, resolved, NULL) < 0)
        return;
    cover = place_cover(compiler, resolved);
    if (!cover || cover->kind == COVER_OWN) {
        if (place_is_made(compiler, resolved, MADE_ENTRY))
            return; /* a tree of one file: it is listed by itself */
        place_make_parents(compiler, resolved);
        place_step(compiler, place_when_made(compiler, resolved),
                   (struct image_mount){.step = STEP_TEXT, .mode = MODE_TEXT}, text, resolved);
        return;
    }
    if (place_look(compiler, resolved) != LOOK_OTHER)
        return;
    (void)snprintf(name, sizeof(name), "text-%u", compiler->texts++);
    own_shelf(compiler, STEP_TEXT, MODE_TEXT, name, text);
    place_step(compiler, place_is_early(compiler, resolved) ? PLACE_EARLY : PLACE_LATE, mount, name,
               resolved);
}

/* KERNEL: without a name server libraries ask 127.0.0.1, and some spin there. To this address,
 * which no network has, there is no way: sending fails at once. */
static const char no_resolver[] = "# the sandbox has no network of its own\n"
                                  "nameserver 192.0.2.1\n"
                                  "options timeout:1 attempts:1\n";

static const char own_resolver[] = "# bawn answers for the hosts that the policy allows\n"
                                   "nameserver " NET_DNS_ADDRESS "\n";

static const char routed_resolver[] = "# bawn asks the servers of the host\n"
                                      "nameserver " NET_DNS_ADDRESS "\n";

/* In the home, which is the command's own then: it may change it like any file of its own. Where
 * the home is kept, one that is there already stays. */
static void gitconfig_step(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;
    struct image_mount file = {.step = STEP_TEXT, .mode = MODE_FILE};
    const struct cover *cover;
    char path[LIMIT_PATH_BYTES];

    if (!plan->gitconfig || (size_t)snprintf(path, sizeof(path), "%s/" PLAN_GITCONFIG,
                                             plan->policy->home) >= sizeof(path))
        return;
    cover = place_cover(compiler, path);
    if (cover && (cover->is_pool || cover->kind == COVER_KEPT) &&
        !place_is_made(compiler, path, MADE_ENTRY))
        place_step(compiler, place_when_made(compiler, path), file, plan->gitconfig, path);
}

/* Where /dev is the sandbox's own, or nothing is there. */
static void told_step(struct compiler *compiler)
{
    const struct cover *cover = place_cover(compiler, TOLD_PATH);
    struct image_mount file = {.step = STEP_TOLD, .mode = MODE_TEXT};

    if (!compiler->parts[PART_TOLD].length || (cover && cover->kind != COVER_OWN) ||
        place_is_made(compiler, TOLD_PATH, MADE_ENTRY))
        return;
    place_make_parents(compiler, TOLD_PATH);
    place_step(compiler, place_when_made(compiler, TOLD_PATH), file, NULL, TOLD_PATH);
    compiler->tells = true;
}

void own_files(struct compiler *compiler)
{
    const struct compile_input *input = compiler->input;
    const struct image *head = &compiler->head;
    char text[2 * LIMIT_PATH_BYTES];
    char home[LIMIT_PATH_BYTES];

    (void)snprintf(text, sizeof(text),
                   "%s%s:x:%u:%u::%.4000s:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n",
                   head->inside_uid ? "root:x:0:0::/root:/usr/sbin/nologin\n" : "",
                   head->inside_uid ? input->user : "root", head->inside_uid, head->inside_gid,
                   compile_inside(input->plan, input->plan->policy->home, home));
    text_step(compiler, "/etc/passwd", text);
    text_step(compiler, "/etc/hosts",
              "127.0.0.1 localhost bawn\n::1 localhost ip6-localhost ip6-loopback\n");
    if (input->plan->network.routes || input->plan->network.has_engine)
        text_step(compiler, "/etc/resolv.conf", routed_resolver);
    else if (input->plan->network.steers)
        text_step(compiler, "/etc/resolv.conf", own_resolver);
    else if (input->plan->network.mode != NETWORK_HOST)
        text_step(compiler, "/etc/resolv.conf", no_resolver);
    gitconfig_step(compiler);
    told_step(compiler);
}

/* The groups as programs that make containers look for them. */
void own_cgroup(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;

    if (!plan->process.may_nest || place_cover(compiler, "/sys/fs/cgroup") ||
        !plan_has(plan, FEATURE_CGROUP_NS))
        return;
    place_make_point(compiler, "/sys/fs/cgroup", false);
    place_step(compiler, PLACE_LATE,
               (struct image_mount){.step = STEP_CGROUP, .flags = STEP_OPTIONAL}, NULL,
               "/sys/fs/cgroup");
}
