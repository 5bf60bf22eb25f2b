/* SPDX-License-Identifier: Apache-2.0 */
/* The plan's mounts as the steps of a launcher that decides nothing. */
#include "base/error.h"
#include "base/path.h"
#include "plan/place.h"
#include "policy/build.h"
#include "policy/decide.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MODE_SHARED = 01777, MODE_PRIVATE = 0700 };

bool compile_maps_owner(const struct plan *plan, const struct mount_step *step)
{
    const struct policy *policy = plan->policy;

    return !step->read_only || policy_is_in_home(policy, step->source) ||
           path_is_below(step->source, policy->workspace);
}

/* In place of what a writable tree shows there: the same, read-only. */
static bool is_seal(const struct compiler *compiler, const struct mount_step *step)
{
    const struct cover *cover = place_cover(compiler, step->target);

    return cover && cover->kind == COVER_TREE && step->read_only &&
           strcmp(step->source, step->target) == 0;
}

static int bind_step(struct compiler *compiler, const struct mount_step *step)
{
    bool file = place_look(compiler, step->source) != LOOK_DIRECTORY;
    bool is_root = strcmp(step->target, "/") == 0;
    bool early = step->read_only && place_is_early(compiler, step->target) && !is_root;
    struct image_mount mount = {.step = is_seal(compiler, step) ? STEP_SEAL : STEP_BIND};

    if (file)
        mount.flags |= STEP_IS_FILE;
    if (step->read_only)
        mount.flags |= STEP_READ_ONLY;
    if (mount.step == STEP_SEAL)
        place_pin_parents(compiler, step->target);
    else if (!is_root)
        place_make_point(compiler, step->target, file);
    if (mount.step == STEP_BIND && compiler->head.host_uid != compiler->head.caller_uid &&
        compile_maps_owner(compiler->input->plan, step))
        mount.flags |= STEP_IDMAP;
    else if (early && place_is_steady(compiler, step->source))
        mount.flags |= STEP_STEADY;
    /* The root itself is what all else is mounted on. */
    place_step(compiler, early || is_root ? PLACE_EARLY : PLACE_LATE, mount, step->source,
               step->target);
    return place_add_cover(compiler, step->target, file ? COVER_FILE : COVER_TREE, !step->read_only,
                           early);
}

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
    error_hint(compiler->err, "make one there, for it lies in a tree of the host, where bawn makes "
                              "nothing; or grant the path otherwise");
    return -ENOENT;
}

/* What is mounted from beside the root, where nobody inside sees it. */
static void add_shelf(struct compiler *compiler, enum image_step step, unsigned mode,
                      const char *name, const char *text)
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

static int tmpfs_step(struct compiler *compiler, const struct mount_step *step, unsigned mode)
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
    add_shelf(compiler, STEP_DIR, MODE_DIR, "pool", NULL);
    place_step(compiler, PLACE_LATE, pool, NULL, "/");
}

/* A private place in a private place is a directory like others. */
static bool is_in_pool(const struct compiler *compiler, const char *target)
{
    const struct cover *cover = place_cover(compiler, target);

    return cover && cover->is_pool;
}

static int private_step(struct compiler *compiler, const struct mount_step *step, unsigned mode)
{
    struct image_mount mount = {.step = STEP_PRIVATE, .mode = (uint16_t)mode};
    char name[32];
    int r;

    if (step->read_only)
        return tmpfs_step(compiler, step, mode);
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
static void node_step(struct compiler *compiler, const char *path, unsigned device)
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
static int dev_step(struct compiler *compiler, const struct mount_step *step)
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
        struct mount_step own = {.target = step->target, .size_bytes = 65536};

        r = tmpfs_step(compiler, &own, MODE_DIR);
    } else {
        place_make_point(compiler, step->target, false);
    }
    /* What is denied is not there. */
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        if (!is_denied(compiler, nodes[i].path))
            node_step(compiler, nodes[i].path, nodes[i].device);
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
    return r == 0 && !is_denied(compiler, "/dev/shm") ? private_step(compiler, &shm, MODE_SHARED)
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

static int proc_step(struct compiler *compiler, const struct mount_step *step)
{
    place_make_point(compiler, step->target, false);
    if (compile_lacks_proc(compiler->input->plan))
        show_machine(compiler);
    else
        place_step(compiler, PLACE_LATE, (struct image_mount){.step = STEP_PROC}, NULL,
                   step->target);
    return place_add_cover(compiler, step->target, COVER_PROC, true, false);
}

/* Whether something below is shown after all: then it is no mask but an empty place with a way, and
 * is closed when that was made. */
static bool leads_on(const struct compiler *compiler, const struct mount_step *step)
{
    const struct plan *plan = compiler->input->plan;
    const struct mount_step *last = plan->mounts.items + plan->mounts.count;

    return (step->kind == MOUNT_MASK_DIR || (step->kind == MOUNT_TMPFS && step->read_only)) &&
           step + 1 < last && path_is_below(step[1].target, step->target);
}

static int hollow_step(struct compiler *compiler, const struct mount_step *step)
{
    struct mount_step own = {.target = step->target, .size_bytes = 65536};

    return tmpfs_step(compiler, &own, MODE_DIR);
}

/* After all that is below them was placed. */
static void close_hollows(struct compiler *compiler)
{
    vec_each (&compiler->input->plan->mounts, step) {
        if (leads_on(compiler, step))
            place_step(compiler, PLACE_LATE, (struct image_mount){.step = STEP_CLOSE}, NULL,
                       step->target);
    }
    vec_each (&compiler->hollows, path)
        place_step(compiler, PLACE_LATE, (struct image_mount){.step = STEP_CLOSE}, NULL, *path);
}

/* Whether the command owns nothing there: root runs bawn, and the tree is shown as it is. What is
 * closed to the set-up then, which has the command's id by now, is closed to the command too. */
static bool is_foreign(const struct compiler *compiler, const char *path)
{
    const struct plan *plan = compiler->input->plan;
    const struct mount_step *nearest = NULL;

    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_BIND && path_is_below(path, step->target))
            nearest = step;
    }
    return compiler->head.host_uid != compiler->head.caller_uid &&
           !(nearest && compile_maps_owner(plan, nearest));
}

/*
 * Root runs bawn, and the command is not root to the host: a directory that is
 * open to root alone, such as /root, would keep it, and the set-up, from what is
 * granted further down. It sees nothing of it in any case: so there is an empty
 * place instead, with a way.
 */
static int open_way(struct compiler *compiler, const char *target)
{
    const struct compile_input *input = compiler->input;
    const struct cover *cover = place_cover(compiler, target);
    char path[LIMIT_PATH_BYTES];

    if (!cover || cover->kind != COVER_TREE || !input->is_shut ||
        !is_foreign(compiler, cover->path))
        return 0;
    for (size_t i = strlen(cover->path) + 1; i < sizeof(path) && target[i]; i++) {
        struct mount_step own = {.size_bytes = 65536};

        memcpy(path, target, i);
        path[i] = '\0';
        if (target[i] != '/' || !input->is_shut(input->context, path))
            continue;
        own.target = arena_strdup(&compiler->arena, path);
        if (!own.target || !vec_push(&compiler->hollows, own.target))
            return -ENOMEM;
        return tmpfs_step(compiler, &own, MODE_DIR);
    }
    return 0;
}

/* Over what is there: unreadable, or read-only in place. */
static void cover_step(struct compiler *compiler, const struct mount_step *step)
{
    const struct compile_input *input = compiler->input;
    bool seal = step->kind == MOUNT_SEAL;
    bool in_proc = path_is_below(step->target, "/proc");
    struct image_mount mount = {.step = step->kind == MOUNT_MASK_DIR    ? STEP_MASK_DIR
                                        : step->kind == MOUNT_MASK_FILE ? STEP_MASK_FILE
                                                                        : STEP_SEAL,
                                .flags = STEP_READ_ONLY};
    const struct cover *cover = place_cover(compiler, step->target);
    bool foreign;

    if (cover && cover->kind == COVER_OWN)
        return; /* of the tree that has it nothing is shown */
    /* KERNEL: where a part of /proc is covered for good, no container gets a fresh one. The
     * permission bits hold there: no id inside is the host's root. */
    if (in_proc && (compile_lacks_proc(input->plan) || input->plan->process.may_nest))
        return;
    /* Not needed where the permission bits say no to the id the command has on the host. Only the
     * root of a user namespace may write in /proc/sys, and only host root elsewhere. */
    if (seal && in_proc && compiler->head.inside_uid != 0 && compiler->head.host_uid != 0)
        return;
    foreign = is_foreign(compiler, step->target);
    /* SECURITY: root's own files that we list ourselves are left to their modes; those are noted,
     * and looked at before the next start. Whoever else owns a file may open it while we run. */
    if (!seal && input->is_closed && step->rule &&
        step->rule->layer->authority == AUTHORITY_BUILTIN &&
        input->is_closed(input->context, step->target, foreign))
        return;
    if (in_proc || (!seal && foreign))
        mount.flags |= STEP_OPTIONAL;
    if (step->on_link)
        mount.flags |= STEP_IN_TREE | STEP_ON_LINK;
    place_pin_parents(compiler, step->target);
    place_step(compiler, place_is_early(compiler, step->target) ? PLACE_EARLY : PLACE_LATE, mount,
               mount.step == STEP_MASK_DIR    ? "mask-dir"
               : mount.step == STEP_MASK_FILE ? "mask-file"
                                              : NULL,
               step->target);
}

/* A tree that is shown by now, through an overlay. */
static void shut_step(struct compiler *compiler, const struct mount_step *step)
{
    struct image_mount mount = {.step = STEP_SHUT, .flags = STEP_READ_ONLY};

    if (compiler->input->best_effort)
        mount.flags |= STEP_OPTIONAL;
    if (!place_is_made(compiler, "empty", MADE_ON_SHELF))
        add_shelf(compiler, STEP_DIR, MODE_DIR, "empty", NULL);
    place_step(compiler, place_is_early(compiler, step->target) ? PLACE_EARLY : PLACE_LATE, mount,
               NULL, step->target);
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
                   (struct image_mount){.step = STEP_TEXT}, text, resolved);
        return;
    }
    if (place_look(compiler, resolved) != LOOK_OTHER)
        return;
    (void)snprintf(name, sizeof(name), "text-%u", compiler->texts++);
    add_shelf(compiler, STEP_TEXT, 0, name, text);
    place_step(compiler, place_is_early(compiler, resolved) ? PLACE_EARLY : PLACE_LATE, mount, name,
               resolved);
}

/* KERNEL: without a name server libraries ask 127.0.0.1, and some spin there. To this address,
 * which no network has, there is no way: sending fails at once. */
static const char no_resolver[] = "# the sandbox has no network of its own\n"
                                  "nameserver 192.0.2.1\n"
                                  "options timeout:1 attempts:1\n";

static void own_files(struct compiler *compiler)
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
    if (input->plan->network.mode != NETWORK_HOST)
        text_step(compiler, "/etc/resolv.conf", no_resolver);
}

static int one_step(struct compiler *compiler, const struct mount_step *step)
{
    int r = 0;

    switch (step->kind) {
    case MOUNT_BIND:
        r = open_way(compiler, step->target);
        return r < 0 ? r : bind_step(compiler, step);
    case MOUNT_TMPFS:
        r = open_way(compiler, step->target);
        if (r == 0 && leads_on(compiler, step))
            return hollow_step(compiler, step);
        return r < 0
                   ? r
                   : private_step(compiler, step,
                                  policy_is_in_home(compiler->input->plan->policy, step->target)
                                      ? MODE_PRIVATE
                                  : strcmp(step->target, "/run") == 0 || !step->rule ? MODE_DIR
                                                                                     : MODE_SHARED);
    case MOUNT_PROC:
        return proc_step(compiler, step);
    case MOUNT_DEV:
        return dev_step(compiler, step);
    case MOUNT_NODE:
        node_step(compiler, step->target, 0);
        return 0;
    case MOUNT_SYMLINK:
        place_make_parents(compiler, step->target);
        place_step(compiler, place_when_made(compiler, step->target),
                   (struct image_mount){.step = STEP_SYMLINK}, step->source, step->target);
        return 0;
    case MOUNT_MASK_DIR:
    case MOUNT_MASK_FILE:
    case MOUNT_SEAL:
        if (leads_on(compiler, step))
            return hollow_step(compiler, step);
        cover_step(compiler, step);
        return 0;
    case MOUNT_SHUT:
        shut_step(compiler, step);
        return 0;
    case MOUNT_OVERLAY:
        break;
    }
    (void)error_set(compiler->err, ENOTSUP, "run.overlay", "overlay %s: not carried out yet",
                    step->target);
    error_hint(compiler->err, "use mode rw, or private for an empty place");
    return -ENOTSUP;
}

const char *compile_inside(const struct plan *plan, const char *path, char *buffer)
{
    return path_moved(path, plan->policy->workspace, plan_workspace_at(plan), buffer,
                      LIMIT_PATH_BYTES);
}

static int refuse_place(struct compiler *compiler, const char *what)
{
    (void)error_set(compiler->err, EINVAL, "run.workspace_mount",
                    "the workspace cannot be shown at %s: %s",
                    plan_workspace_at(compiler->input->plan), what);
    error_hint(compiler->err, "choose a path that nothing else is at, such as /workspace");
    return -EINVAL;
}

/* The workspace somewhere else: as it is by now, with all that is held in it. Where it was is
 * closed, for a tree around it may show it there without all that. */
static int move_workspace(struct compiler *compiler)
{
    const struct plan *plan = compiler->input->plan;
    const char *from = plan->policy->workspace;
    const char *to = plan_workspace_at(plan);
    const struct cover *cover = place_cover(compiler, to);
    struct image_mount again = {.step = STEP_AGAIN};
    struct image_mount mask = {.step = STEP_MASK_DIR, .flags = STEP_READ_ONLY};

    if (strcmp(from, to) == 0)
        return 0;
    if (path_is_below(to, from) || path_is_below(from, to))
        return refuse_place(compiler, "one would lie in the other");
    if (cover && cover->kind != COVER_OWN)
        return refuse_place(compiler, "a tree of the host is shown there");
    vec_each (&plan->mounts, step) {
        if (path_is_below(step->target, to))
            return refuse_place(compiler, "something else is there");
    }
    place_make_point(compiler, to, false);
    place_step(compiler, PLACE_LATE, again, from + 1, to);
    place_step(compiler, PLACE_LATE, mask, "mask-dir", from);
    return 0;
}

/* The groups as programs that make containers look for them. */
static void cgroup_step(struct compiler *compiler)
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

int compile_mounts(struct compiler *compiler)
{
    struct image_mount seal = {.step = STEP_SEAL_ALL};
    struct strbuf *mounts = &compiler->parts[PART_MOUNTS];
    int r = 0;

    add_shelf(compiler, STEP_FILE, 0, "mask-file", NULL);
    add_shelf(compiler, STEP_DIR, 0, "mask-dir", NULL);
    vec_each (&compiler->input->plan->mounts, step) {
        if (r == 0)
            r = one_step(compiler, step);
    }
    if (r == 0)
        r = move_workspace(compiler);
    if (r < 0)
        return r;
    cgroup_step(compiler);
    own_files(compiler);
    close_hollows(compiler);
    compiler_add(compiler, PART_MOUNTS, &seal, sizeof(seal));
    if (compiler->late.length)
        strbuf_add_bytes(mounts, compiler->late.text, compiler->late.length);
    mounts->failed |= compiler->late.failed;
    compiler->head.parts[PART_MOUNTS].count += compiler->late_count;
    return 0;
}
