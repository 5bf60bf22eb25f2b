/* SPDX-License-Identifier: Apache-2.0 */
/* The plan's mounts as the steps of a launcher that decides nothing. */
#include "base/error.h"
#include "base/path.h"
#include "plan/compile_own.h"
#include "plan/place.h"
#include "plan/spot.h"
#include "policy/build.h"

#include <errno.h>
#include <string.h>

/* In place of what a tree shows there: the same, held. Read-only, or of a writable tree what is
 * asked about, from which nothing can be run before somebody said yes. */
static uint8_t in_place(const struct compiler *compiler, const struct mount_step *step)
{
    const struct cover *cover = place_cover(compiler, step->target);

    if (!cover || cover->kind != COVER_TREE || cover->is_no_exec ||
        strcmp(step->source, step->target) != 0)
        return STEP_BIND;
    if (step->read_only)
        return STEP_SEAL;
    return step->no_exec && cover->writable ? STEP_PIN : STEP_BIND;
}

static int bind_step(struct compiler *compiler, const struct mount_step *step)
{
    bool file = place_look(compiler, step->source) != LOOK_DIRECTORY;
    bool is_root = strcmp(step->target, "/") == 0;
    bool early = step->read_only && place_is_early(compiler, step->target) && !is_root;
    struct image_mount mount = {.step = in_place(compiler, step)};

    if (file)
        mount.flags |= STEP_IS_FILE;
    if (step->read_only)
        mount.flags |= STEP_READ_ONLY;
    if (step->no_exec)
        mount.flags |= STEP_NO_EXEC;
    if (mount.step == STEP_SEAL)
        place_pin_parents(compiler, step->target);
    else if (mount.step == STEP_BIND && !is_root)
        place_make_point(compiler, step->target, file);
    if (mount.step == STEP_BIND && compiler->head.host_uid != compiler->head.caller_uid &&
        plan_maps_owner(compiler->input->plan, step))
        mount.flags |= STEP_IDMAP;
    else if (early && !step->no_exec && place_is_steady(compiler, step->source))
        mount.flags |= STEP_STEADY;
    /* The root itself is what all else is mounted on. */
    place_step(compiler, early || is_root ? PLACE_EARLY : PLACE_LATE, mount, step->source,
               step->target);
    if (place_add_cover(compiler, step->target, file ? COVER_FILE : COVER_TREE, !step->read_only,
                        early) < 0)
        return -ENOMEM;
    compiler->covers.items[compiler->covers.count - 1].is_no_exec = step->no_exec;
    return 0;
}

/* A tree with a layer above it: which one, the session says. */
static int overlay_step(struct compiler *compiler, const struct mount_step *step)
{
    struct image_mount mount = {.step = STEP_OVERLAY};

    if (!place_is_made(compiler, OVERLAY_LOWER, MADE_ON_SHELF))
        own_shelf(compiler, STEP_DIR, MODE_DIR, OVERLAY_LOWER, NULL);
    if (!place_is_made(compiler, OVERLAY_LAYER, MADE_ON_SHELF))
        own_shelf(compiler, STEP_DIR, MODE_DIR, OVERLAY_LAYER, NULL);
    place_make_point(compiler, step->target, false);
    if (compiler->head.host_uid != compiler->head.caller_uid)
        mount.flags |= STEP_IDMAP;
    place_step(compiler, PLACE_LATE, mount, step->source, step->target);
    return place_add_cover(compiler, step->target, COVER_TREE, true, false) < 0 ? -ENOMEM : 0;
}

/* Whether something below is shown after all: then it is no mask but an empty place with a way, and
 * is closed when that was made. */
static bool leads_on(const struct compiler *compiler, const struct mount_step *step)
{
    const struct plan *plan = compiler->input->plan;
    const struct mount_step *last = plan->mounts.items + plan->mounts.count;

    return (step->kind == MOUNT_MASK_DIR || step->kind == MOUNT_MASK_KEPT ||
            (step->kind == MOUNT_TMPFS && step->read_only)) &&
           step + 1 < last && path_is_below(step[1].target, step->target);
}

static int hollow_step(struct compiler *compiler, const struct mount_step *step)
{
    struct mount_step own = {.target = step->target, .size_bytes = 65536};

    return own_tmpfs(compiler, &own, MODE_DIR);
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
    return compiler->head.host_uid != compiler->head.caller_uid &&
           !plan_shows_as_owned(compiler->input->plan, path);
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
        return own_tmpfs(compiler, &own, MODE_DIR);
    }
    return 0;
}

/* Whether a mask may be left out where the path is gone by the time of the start: somebody masks it
 * when it is there again, or root makes it, and its mode holds. */
static bool may_be_gone(const struct compiler *compiler, const struct path_rule *rule,
                        const char *path)
{
    if (watch_is_left_to_root(compiler->input->plan, rule, path))
        return true;
    vec_each (&compiler->input->plan->watches, watch) {
        if (!watch->is_deep && strcmp(watch->path, path) == 0)
            return true;
    }
    return false;
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
    if (in_proc || (!seal && (foreign || may_be_gone(compiler, step->rule, step->target))))
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
        own_shelf(compiler, STEP_DIR, MODE_DIR, "empty", NULL);
    place_step(compiler, place_is_early(compiler, step->target) ? PLACE_EARLY : PLACE_LATE, mount,
               NULL, step->target);
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
                   : own_private(compiler, step,
                                 policy_is_in_home(compiler->input->plan->policy, step->target)
                                     ? MODE_PRIVATE
                                 : strcmp(step->target, "/run") == 0 || !step->rule ? MODE_DIR
                                                                                    : MODE_SHARED);
    case MOUNT_KEPT:
        r = open_way(compiler, step->target);
        return r < 0 ? r : own_kept(compiler, step);
    case MOUNT_MASK_KEPT:
        if (leads_on(compiler, step))
            return hollow_step(compiler, step);
        place_step(compiler, PLACE_LATE,
                   (struct image_mount){.step = STEP_MASK_KEPT, .flags = STEP_READ_ONLY}, NULL,
                   step->target);
        return 0;
    case MOUNT_PROC:
        return own_proc(compiler, step);
    case MOUNT_DEV:
        return own_dev(compiler, step);
    case MOUNT_NODE:
        own_node(compiler, step->target, 0);
        return 0;
    case MOUNT_COPY:
        return own_copy(compiler, step);
    case MOUNT_SYMLINK:
        if (place_is_made(compiler, step->target, MADE_ENTRY))
            return 0;
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
        r = open_way(compiler, step->target);
        return r < 0 ? r : overlay_step(compiler, step);
    }
    return -EINVAL;
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

int compile_mounts(struct compiler *compiler)
{
    struct image_mount seal = {.step = STEP_SEAL_ALL};
    struct strbuf *mounts = &compiler->parts[PART_MOUNTS];
    int r = 0;

    own_shelf(compiler, STEP_FILE, 0, "mask-file", NULL);
    own_shelf(compiler, STEP_DIR, 0, "mask-dir", NULL);
    vec_each (&compiler->input->plan->mounts, step) {
        if (r == 0)
            r = one_step(compiler, step);
    }
    if (r == 0)
        r = move_workspace(compiler);
    if (r < 0)
        return r;
    own_cgroup(compiler);
    own_files(compiler);
    close_hollows(compiler);
    compiler_add(compiler, PART_MOUNTS, &seal, sizeof(seal));
    if (compiler->late.length)
        strbuf_add_bytes(mounts, compiler->late.text, compiler->late.length);
    mounts->failed |= compiler->late.failed;
    compiler->head.parts[PART_MOUNTS].count += compiler->late_count;
    return 0;
}
