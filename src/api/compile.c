/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for a launcher: compiled, with what it was made from, in a sealed descriptor. */
#include "plan/compile.h"

#include "api/api.h"
#include "api/outer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/places.h"
#include "kernel/ids.h"
#include "plan/image_print.h"
#include "policy/build.h"
#include "policy/explain.h"

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

static bool find_range(struct view *view, const char *file, uid_t uid, uint32_t *ret_first,
                       uint32_t *ret_count)
{
    enum { FILE_BYTES = 1024 * 1024 };
    autofree char *text = NULL;
    size_t length;

    return view_read(view, file, FILE_BYTES, &text, &length, NULL) == 0 &&
           ids_range(text, uid, view_user_name(view, uid), ret_first, ret_count);
}

/* The ids behind the caller's, for containers inside. Root takes some that nobody has. */
static void find_subordinates(struct compile_input *input, struct view *view)
{
    enum { FIRST = 0x7ffe0000, WANTED = 65535 };
    unsigned uid = input->plan->facts->uid;
    uint32_t uids = 0;
    uint32_t gids = 0;

    if (!input->plan->process.may_nest)
        return;
    if (input->is_host_root) {
        input->sub_uid = input->sub_gid = FIRST;
        uids = gids = WANTED;
    } else if (uid == 0) {
        /* Our own, without that of root. */
        input->sub_uid = input->sub_gid = 1;
        uids = ids_from_root("/proc/self/uid_map") - 1;
        gids = ids_from_root("/proc/self/gid_map") - 1;
    } else if (!find_range(view, "/etc/subuid", uid, &input->sub_uid, &uids) ||
               !find_range(view, "/etc/subgid", uid, &input->sub_gid, &gids)) {
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

struct compiling {
    const struct bawn_plan *plan;
    struct view *view;
};

static bool is_steady(void *context, const char *path)
{
    const struct compiling *compiling = context;

    return view_is_steady(compiling->view, path);
}

static bool is_closed(void *context, const char *path, bool to_all)
{
    const struct compiling *compiling = context;

    return view_is_closed(compiling->view, path, to_all);
}

static bool is_shut(void *context, const char *path)
{
    const struct compiling *compiling = context;
    struct stat status;

    return view_stat(compiling->view, path, &status) && !(status.st_mode & S_IXOTH);
}

static bool is_private(void *context, const char *path)
{
    const struct compiling *compiling = context;
    struct stat status;

    return view_stat(compiling->view, path, &status) &&
           (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) && (status.st_mode & 06) != 06;
}

/* All that was looked at for the policy, the plan, and the image. */
static int collect(void *context, struct compile_deps *deps, struct bawn_error *err)
{
    const struct compiling *compiling = context;
    const struct bawn_plan *plan = compiling->plan;
    struct view *const views[] = {plan->source->view, plan->view, compiling->view};
    bool is_one = compiling->view == plan->source->view;

    if (plan->source->is_at_once)
        view_finish(plan->source->view);
    view_finish(compiling->view);
    deps->is_once = plan->source->linked > 0;
    return view_collect(views, is_one ? 1 : sizeof(views) / sizeof(views[0]), deps, err);
}

static int look_and_make(const struct bawn_plan *plan, unsigned flags, struct view *view,
                         struct image **ret_image, struct bawn_error *err)
{
    struct compiling compiling = {.plan = plan, .view = view};
    const struct policy *policy = plan->plan.policy;
    autostrbuf struct strbuf shown = {0};
    char hash[65];
    char cwd[LIMIT_PATH_BYTES];
    struct utsname name;
    const char *user;

    if (uname(&name) < 0)
        return error_errno(err, errno, "uname");
    if (!view_cwd(cwd) || !path_is_below(cwd, policy->workspace))
        (void)snprintf(cwd, sizeof(cwd), "%s", policy->workspace);
    user = view_variable(view, "USER");
    view_self(view);
    explain_policy(policy, false, BAWN_FORMAT_JSON, &shown);
    if (shown.failed)
        return error_memory(err);
    hash_text(shown.text, shown.length, hash);
    struct compile_input input = {.plan = &plan->plan,
                                  .looker = &view->looker,
                                  .is_closed = is_closed,
                                  .is_shut = is_shut,
                                  .is_steady = is_steady,
                                  .is_private = is_private,
                                  .collect = collect,
                                  .context = &compiling,
                                  .cwd = cwd,
                                  .user = is_name(user) ? user : "user",
                                  .release = name.release,
                                  .policy_hash = hash,
                                  .last_capability = last_capability(),
                                  .best_effort =
                                      flags & BAWN_COMPILE_BEST_EFFORT ||
                                      !policy_number(policy, SETTING_REQUIRE_OS_SANDBOX)};

    input.is_around = outer_is_there();
    input.is_host_root = plan->plan.facts->uid == 0 && ids_are_all();
    find_subordinates(&input, view);
    return compile_image(&input, ret_image, err);
}

static int make_image(const struct bawn_plan *plan, unsigned flags, struct image **ret_image,
                      struct bawn_error *err)
{
    struct view *view = view_of(plan->source);
    int r;

    if (!view)
        return error_memory(err);
    r = look_and_make(plan, flags, view, ret_image, err);
    view_leave(plan->source, view);
    return r;
}

/* Whoever wants an image means to run something. */
static int make_kept_home(const struct plan *plan, struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES];

    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_KEPT)
            return places_find_home(strrchr(step->source, '/') + 1, true, path, err);
    }
    return 0;
}

int bawn_plan_compile(const struct bawn_plan *plan, unsigned flags, int *ret_fd,
                      struct bawn_error *err)
{
    autofree struct image *image = NULL;
    int r = make_kept_home(&plan->plan, err);

    if (r == 0)
        r = make_image(plan, flags, &image, err);

    if (r == 0 && getrandom(&image->nonce, sizeof(image->nonce), 0) < 0)
        r = error_errno(err, errno, "getrandom");
    return r == 0 ? seal_image(image, ret_fd, err) : r;
}

int bawn_plan_print_image(const struct bawn_plan *plan, unsigned flags, char **ret_text,
                          struct bawn_error *err)
{
    autostrbuf struct strbuf out = {0};
    autofree struct image *image = NULL;
    int r = make_image(plan, flags, &image, err);

    if (r == 0)
        r = image_print(image, &out, err);
    if (r < 0)
        return r;
    *ret_text = strbuf_take(&out);
    return *ret_text ? 0 : error_memory(err);
}
