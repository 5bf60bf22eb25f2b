/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for a launcher: compiled, with what it was made from, in a sealed descriptor. */
#include "plan/compile.h"

#include "api/api.h"
#include "api/deps.h"
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
        path_cut_name(dir);
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
        path_cut_name(dir);
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
        path_cut_name(dir);
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
    struct deps deps;
    const struct policy *policy = plan->plan.policy;
    const char *user = environ_get(plan->source->environ, "USER");
    autofree struct image *image = NULL;
    char cwd[LIMIT_PATH_BYTES];
    struct utsname name;
    int r;

    if (uname(&name) < 0)
        return error_errno(err, errno, "uname");
    if (!getcwd(cwd, sizeof(cwd)) || !path_is_below(cwd, policy->workspace))
        (void)snprintf(cwd, sizeof(cwd), "%s", policy->workspace);
    r = deps_collect(&deps, plan, err);
    if (r == 0) {
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
                                      .is_once = plan->source->patterns > 0 || deps.is_moving,
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
    deps_done(&deps);
    return r;
}
