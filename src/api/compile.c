/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for a launcher: compiled, with what it was made from, in a sealed descriptor. */
#include "plan/compile.h"
#include "api/api.h"
#include "api/ids.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

struct deps {
    const struct bawn_plan *plan;
    VEC(struct compile_dep) items;
    VEC(const char *) in_workspace;
    struct map seen;
    struct arena arena;
    bool failed;
};

static void add_dep(struct deps *deps, struct image_dep dep, const char *path, const char *text)
{
    size_t length = strlen(path);
    struct compile_dep item = {.dep = dep,
                               .path = arena_strdup(&deps->arena, path),
                               .text = text ? arena_strdup(&deps->arena, text) : NULL};

    if (map_get(&deps->seen, dep.kind, path, length))
        return;
    if (!item.path || !vec_push(&deps->items, item) ||
        !map_put(&deps->seen, dep.kind, item.path, length, deps))
        deps->failed = true;
}

/* How a path is now: absent, or the same file, directory or kind of file. */
static void add_path(struct deps *deps, enum image_dep_kind kind, const char *path)
{
    struct image_dep dep = {.kind = (uint8_t)kind};
    struct stat status;

    if (lstat(path, &status) < 0) {
        dep.kind = DEP_ABSENT;
    } else {
        dep.dev = status.st_dev;
        dep.ino = status.st_ino;
        dep.mode = status.st_mode;
        dep.mtime_ns = image_time_ns(status.st_mtim);
        dep.ctime_ns = image_time_ns(status.st_ctim);
    }
    add_dep(deps, dep, path, NULL);
}

/* Makes an absolute path that of its directory. */
static void cut_name(char *path)
{
    char *slash = strrchr(path, '/');

    slash[slash == path ? 1 : 0] = '\0';
}

/*
 * A path that a rule names. Where the caller works, by itself: directories
 * there change all the time. Elsewhere by the nearest directory that exists,
 * which rarely changes and stands for all that is in it.
 */
static void add_rule_path(struct deps *deps, const char *path)
{
    const struct policy *policy = deps->plan->plan.policy;
    char dir[LIMIT_PATH_BYTES];
    struct stat status;

    /* The workspace itself comes with what is in it. */
    if (strcmp(path, policy->workspace) == 0)
        return;
    if (path_is_below(path, "/proc") || path_is_below(path, "/sys") || path_is_below(path, "/dev"))
        return;
    (void)snprintf(dir, sizeof(dir), "%s", path);
    do
        cut_name(dir);
    while (strcmp(dir, "/") != 0 && lstat(dir, &status) < 0);
    if (strcmp(dir, policy->workspace) == 0) {
        if (!vec_push(&deps->in_workspace, path))
            deps->failed = true;
    } else if (path_is_below(path, policy->home) || path_is_below(path, policy->workspace)) {
        add_path(deps, DEP_PLACE, path);
    } else {
        add_path(deps, DEP_DIR, dir);
    }
}

/* Names that may appear in the workspace: one look tells that none did, most of the time. */
static void add_workspace(struct deps *deps)
{
    const struct policy *policy = deps->plan->plan.policy;
    size_t gate = deps->items.count;

    add_path(deps, DEP_GATE, policy->workspace);
    if (deps->failed)
        return;
    vec_each (&deps->in_workspace, path)
        add_path(deps, DEP_PLACE, *path);
    add_path(deps, DEP_PLACE, policy->workspace);
    deps->items.items[gate].dep.behind = (uint16_t)(deps->items.count - gate - 1);
}

static bool is_shown(const struct plan *plan, const char *path)
{
    vec_each (&plan->mounts, step) {
        if ((step->kind == MOUNT_BIND || step->kind == MOUNT_OVERLAY) &&
            path_is_below(path, step->target))
            return true;
    }
    return false;
}

/* A grant that somebody asked for: it counts when it appears. Those of the profile for
 * the system are there from the beginning, and an empty place needs nothing of the host. */
static bool is_wanted(const struct policy *policy, const struct path_rule *rule)
{
    return rule->kind == RULE_PATH && rule->read != ACCESS_PRIVATE &&
           (rule->layer->authority != AUTHORITY_BUILTIN || path_is_below(rule->path, policy->home));
}

static void add_rules(struct deps *deps)
{
    const struct plan *plan = &deps->plan->plan;

    vec_each (&plan->policy->rules, at) {
        const struct path_rule *rule = *at;

        if (!rule->wild && (is_wanted(plan->policy, rule) || is_shown(plan, rule->path)))
            add_rule_path(deps, rule->path);
    }
}

/* The program that makes plans is one of the things that they are made from. */
static void add_self(struct deps *deps)
{
    char self[LIMIT_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return;
    self[length] = '\0';
    add_path(deps, DEP_FILE, self);
}

static void add_files(struct deps *deps)
{
    const struct bawn_policy *policy = deps->plan->source;

    vec_each (&policy->policy.layers, layer) {
        if ((*layer)->file && *(*layer)->file == '/')
            add_path(deps, DEP_FILE, (*layer)->file);
    }
    vec_each (&policy->looked_for, path)
        add_path(deps, DEP_FILE, *path);
}

static void add_variables(struct deps *deps)
{
    static const char *const names[] = {"HOME",          "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
                                        "XDG_DATA_HOME", "XDG_STATE_HOME",  "XDG_RUNTIME_DIR",
                                        "USER"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = environ_get(deps->plan->source->environ, names[i]);

        add_dep(deps, (struct image_dep){.kind = value ? DEP_ENV : DEP_NO_ENV}, names[i], value);
    }
}

/* Whether a path is shown in a tree whose files belong to the command when root runs bawn. */
static bool is_mapped(const struct plan *plan, const char *path)
{
    const struct mount_step *nearest = NULL;

    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_BIND && path_is_below(path, step->target))
            nearest = step;
    }
    return nearest && compile_maps_owner(plan, nearest);
}

/* What everybody may do with a file, and with the directories on the way to it. */
static bool is_open_to_all(const char *path)
{
    char dir[LIMIT_PATH_BYTES];
    struct stat status;

    if (lstat(path, &status) < 0 || !(status.st_mode & 07))
        return false;
    (void)snprintf(dir, sizeof(dir), "%s", path);
    do {
        cut_name(dir);
        if (lstat(dir, &status) < 0 || !(status.st_mode & 01))
            return false;
    } while (strcmp(dir, "/") != 0);
    return true;
}

/*
 * Ordinary users: the command has the caller's rights. Root: it has those of
 * others, and of the owner in trees that are mapped to it. SECURITY: the owner of
 * a file, or of a directory on the way to it, gives himself the rights that its
 * mode does not.
 */
static bool reaches(void *context, const char *path)
{
    const struct bawn_plan *plan = context;
    char dir[LIMIT_PATH_BYTES];
    struct stat status;

    if (plan->plan.facts->uid == 0 && ids_are_all())
        return plan->plan.process.keeps_host_root || is_mapped(&plan->plan, path) ||
               is_open_to_all(path);
    if (access(path, R_OK) == 0 || access(path, W_OK) == 0 || access(path, X_OK) == 0)
        return true;
    (void)snprintf(dir, sizeof(dir), "%s", path);
    while (lstat(dir, &status) < 0)
        cut_name(dir);
    return status.st_uid == plan->plan.facts->uid;
}

static bool is_steady(void *context, const char *path)
{
    char dir[LIMIT_PATH_BYTES];
    struct stat status;

    (void)context;
    (void)snprintf(dir, sizeof(dir), "%s", path);
    for (;;) {
        if (lstat(dir, &status) < 0 || status.st_uid != 0 || S_ISLNK(status.st_mode) ||
            (status.st_mode & 022))
            return false;
        if (strcmp(dir, "/") == 0)
            return true;
        cut_name(dir);
    }
}

static bool is_private(void *context, const char *path)
{
    struct stat status;

    (void)context;
    return stat(path, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) &&
           (status.st_mode & 06) != 06;
}

/* The ids behind the caller's, for containers inside. Root takes some that nobody has. */
static void find_subordinates(struct compile_input *input)
{
    enum { FIRST = 0x7ffe0000, WANTED = 65535 };
    unsigned uid = input->plan->facts->uid;
    uint32_t uids = 0;
    uint32_t gids = 0;

    if (input->is_host_root) {
        input->sub_uid = input->sub_gid = FIRST;
        uids = gids = WANTED;
    } else if (uid == 0) {
        /* Our own, without that of root. */
        input->sub_uid = input->sub_gid = 1;
        uids = ids_from_root("/proc/self/uid_map") - 1;
        gids = ids_from_root("/proc/self/gid_map") - 1;
    } else if (!ids_range("/etc/subuid", uid, &input->sub_uid, &uids) ||
               !ids_range("/etc/subgid", uid, &input->sub_gid, &gids)) {
        return;
    }
    input->sub_count = uids < gids ? uids : gids;
    if (input->sub_count > WANTED)
        input->sub_count = WANTED;
}

static bool is_name(const char *text)
{
    return text && *text && strlen(text) < 32 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
               strlen(text);
}

static int seal_image(const struct image *image, int *ret_fd, struct bawn_error *err)
{
    autoclose int fd = memfd_create("bawn-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return error_errno(err, errno, "memfd_create");
    for (size_t done = 0; done < image->size;) {
        ssize_t written = write(fd, (const char *)image + done, image->size - done);

        if (written < 0)
            return error_errno(err, errno, "write the compiled plan");
        done += (size_t)written;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        return error_errno(err, errno, "seal the compiled plan");
    *ret_fd = take_fd(&fd);
    return 0;
}

/* prctl refuses those that the kernel does not know. */
static unsigned last_capability(void)
{
    unsigned last = 0;

    while (last < 63 && prctl(PR_CAPBSET_READ, (unsigned long)last + 1, 0, 0, 0) >= 0)
        last++;
    return last;
}

int bawn_plan_compile(const struct bawn_plan *plan, unsigned flags, int *ret_fd,
                      struct bawn_error *err)
{
    struct deps deps = {.plan = plan};
    const struct policy *policy = plan->plan.policy;
    const char *user = environ_get(plan->source->environ, "USER");
    autofree struct image *image = NULL;
    char cwd[LIMIT_PATH_BYTES];
    struct utsname name;
    int r = 0;

    if (uname(&name) < 0)
        return error_errno(err, errno, "uname");
    if (!getcwd(cwd, sizeof(cwd)) || !path_is_below(cwd, policy->workspace))
        (void)snprintf(cwd, sizeof(cwd), "%s", policy->workspace);
    add_self(&deps);
    add_files(&deps);
    add_rules(&deps);
    add_variables(&deps);
    add_workspace(&deps);
    if (deps.failed) {
        r = error_memory(err);
    } else {
        struct compile_input input = {.plan = &plan->plan,
                                      .looker = &host_looker,
                                      .reaches = reaches,
                                      .is_steady = is_steady,
                                      .is_private = is_private,
                                      .context = (void *)(uintptr_t)plan,
                                      .cwd = cwd,
                                      .user = is_name(user) ? user : "user",
                                      .release = name.release,
                                      .last_capability = last_capability(),
                                      .best_effort = flags & BAWN_COMPILE_BEST_EFFORT,
                                      .is_once = plan->source->patterns > 0,
                                      .deps = deps.items.items,
                                      .dep_count = deps.items.count};

        input.is_host_root = plan->plan.facts->uid == 0 && ids_are_all();
        find_subordinates(&input);
        r = compile_image(&input, &image, err);
    }
    if (r == 0 && getrandom(&image->nonce, sizeof(image->nonce), 0) < 0)
        r = error_errno(err, errno, "getrandom");
    if (r == 0)
        r = seal_image(image, ret_fd, err);
    vec_done(&deps.items);
    vec_done(&deps.in_workspace);
    map_done(&deps.seen);
    arena_done(&deps.arena);
    return r;
}
