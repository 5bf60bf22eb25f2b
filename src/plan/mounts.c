/* SPDX-License-Identifier: Apache-2.0 */
/* Path rules into a new root: what is mounted where. */
#include "base/path.h"
#include "base/scratch.h"
#include "plan/spot.h"
#include "policy/build.h"
#include "policy/decide_near.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * How it works: the literal paths of all rules, parents first, each with what
 * the policy decides for it. Where that differs from what is mounted around
 * the path a step is made. Everything starts hidden, or read-only with "reads: static";
 * so a hidden path costs nothing unless something visible surrounds it.
 */
struct rooms {
    VEC(struct spot) open; /* the spots that surround the current one */
    enum view outside;
    struct map parents; /* directories, and the link that leads through them or "" */
    struct decide_dirs dirs;
};

bool plan_maps_owner(const struct plan *plan, const struct mount_step *step)
{
    const struct policy *policy = plan->policy;

    return !step->read_only || policy_is_in_home(policy, step->source) ||
           path_is_below(step->source, policy->workspace) ||
           (policy->repository && path_is_below(step->source, policy->repository));
}

bool plan_shows_as_owned(const struct plan *plan, const char *path)
{
    const struct mount_step *nearest = NULL;

    vec_each (&plan->mounts, step) {
        if ((step->kind == MOUNT_BIND || step->kind == MOUNT_OVERLAY) &&
            path_is_below(path, step->target))
            nearest = step;
    }
    return nearest && plan_maps_owner(plan, nearest);
}

static int compare_paths(const char *a, const char *b)
{
    /* "/" sorts before every other byte, so that a directory comes right before what is in it. */
    for (; *a && *a == *b; a++, b++)
        ;
    if (*a == *b)
        return 0;
    if (*a == '\0' || *b == '\0')
        return *a ? 1 : -1;
    if (*a == '/' || *b == '/')
        return *a == '/' ? -1 : 1;
    return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static int compare_spots(const void *a, const void *b)
{
    const struct spot *left = a;
    const struct spot *right = b;

    int order = compare_paths(left->rule->path, right->rule->path);

    /* qsort need not keep the order of equals, and a plan is the same every time. */
    return order ? order : left->number < right->number ? -1 : left->number > right->number;
}

/* With reads: dynamic what nobody listed is shown. */
static bool shows_all(const struct plan *plan)
{
    return plan->asks_reads && policy_number(plan->policy, SETTING_READS) == READS_DYNAMIC;
}

static enum view view_of(const struct plan *plan,
                         const struct path_decision decisions[PATH_OP_COUNT])
{
    if (decisions[PATH_READ].reason == DECIDED_BY_SKELETON)
        return shows_all(plan) ? VIEW_ASKED : VIEW_HIDDEN;
    switch (decisions[PATH_READ].access) {
    case ACCESS_DENY:
        return VIEW_HIDDEN;
    case ACCESS_ASK:
        return plan->asks_reads ? VIEW_ASKED : VIEW_ASK;
    case ACCESS_PRIVATE:
        return decisions[PATH_WRITE].access == ACCESS_DENY ? VIEW_SEALED : VIEW_PRIVATE;
    default:
        break;
    }
    switch (decisions[PATH_WRITE].access) {
    case ACCESS_ALLOW:
        return VIEW_RW;
    case ACCESS_OVERLAY:
        return VIEW_OVERLAY;
    case ACCESS_PRIVATE:
        return decisions[PATH_READ].rule == decisions[PATH_WRITE].rule ? VIEW_COPY : VIEW_PRIVATE;
    default:
        return VIEW_RO;
    }
}

static enum view surrounding(struct rooms *rooms, const char *path)
{
    while (rooms->open.count > 0 &&
           !path_is_below(path, rooms->open.items[rooms->open.count - 1].rule->path))
        rooms->open.count--;
    return rooms->open.count ? rooms->open.items[rooms->open.count - 1].view : rooms->outside;
}

static int add_step(struct plan *plan, struct mount_step step)
{
    return vec_push(&plan->mounts, step) ? 0 : -ENOMEM;
}

static int add_private(struct plan *plan, const struct path_rule *rule, bool read_only)
{
    struct mount_step step = {
        .kind = MOUNT_TMPFS, .target = rule->path, .read_only = read_only, .rule = rule};

    if (strcmp(rule->path, "/proc") == 0)
        step.kind = MOUNT_PROC;
    else if (strcmp(rule->path, "/dev") == 0)
        step.kind = MOUNT_DEV;
    else
        step.size_bytes = plan_limit(plan, SETTING_LIMITS_TMP_SIZE);
    return add_step(plan, step);
}

static bool is_kept_home(const struct plan *plan, const struct spot *spot)
{
    return plan->policy->kept_home && spot->winner && spot->winner->is_kept;
}

static int add_kept(struct plan *plan, const struct path_rule *rule)
{
    return add_step(plan, (struct mount_step){.kind = MOUNT_KEPT,
                                              .source = plan->policy->kept_home,
                                              .target = rule->path,
                                              .rule = rule});
}

/* A visible tree in surroundings that show it otherwise. */
/* SECURITY: what a program is started from the kernel opens itself, and nobody asks. */
static int add_bind(struct plan *plan, const struct spot *spot, enum look look)
{
    bool is_asked = spot->view == VIEW_ASKED;
    /* With best effort what cannot be an overlay is not written at all. */
    bool is_overlay = spot->view == VIEW_OVERLAY && overlay_by(plan, look, NULL);
    /* KERNEL: sysfs maps no ids, which is what root's command needs of a tree to write to. */
    bool can_write = spot->write_asks && !path_is_below(spot->rule->path, "/sys");

    return add_step(plan, (struct mount_step){
                              .kind = is_overlay ? MOUNT_OVERLAY : MOUNT_BIND,
                              .source = spot->rule->path,
                              .target = spot->rule->path,
                              .read_only = spot->view == VIEW_RO || (is_asked && !can_write) ||
                                           (spot->view == VIEW_OVERLAY && !is_overlay),
                              .no_exec = is_asked,
                              .rule = spot->rule,
                          });
}

static int add_mask(struct plan *plan, const struct path_rule *rule, enum look look)
{
    return add_step(plan, (struct mount_step){
                              .kind = look == LOOK_DIRECTORY ? MOUNT_MASK_DIR : MOUNT_MASK_FILE,
                              .target = rule->path,
                              .read_only = true,
                              .rule = rule,
                          });
}

/*
 * Where services keep their sockets, beside /run and /tmp, which are private.
 * SECURITY: a read-only mount does not keep anybody from connecting to a socket,
 * and nobody knows which ones will be made. Through an overlay the kernel finds
 * none of them, but what the host renames or makes meanwhile may not be seen
 * either: so this is not done to trees that the caller works in.
 */
static const struct path_rule service_places[] = {{.path = "/opt", .link = "/opt"},
                                                  {.path = "/srv", .link = "/srv"},
                                                  {.path = "/var", .link = "/var"}};
enum { PLACE_COUNT = sizeof(service_places) / sizeof(service_places[0]) };

/* What is installed: files of root's own, and no service keeps anything there. */
static bool is_package_list(const char *path)
{
    return strcmp(path, "/var/lib/dpkg") == 0 || strcmp(path, "/var/lib/rpm") == 0;
}

static bool is_shut(const struct plan *plan, const struct spot *spot, enum view around)
{
    const char *path = spot->rule->path;
    const struct policy *policy = plan->policy;

    /* KERNEL: an overlay does not even tell that a directory is there which is closed to who
     * mounted it, and root's command is not root: no way to the workspace could be opened below it.
     */
    if (plan->facts->uid == 0 && path_is_below(policy->workspace, path))
        return false;
    if ((spot->view != VIEW_RO && spot->view != VIEW_ASKED) || is_package_list(path) ||
        policy_is_in_home(policy, path) || path_is_below(path, policy->workspace) ||
        path_is_below(policy->home, path) ||
        (policy->repository && path_is_below(path, policy->repository)))
        return false;
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        if (around == VIEW_RO || around == VIEW_ASKED ? strcmp(path, service_places[i].path) == 0
                                                      : path_is_below(path, service_places[i].path))
            return around != VIEW_RW && around != VIEW_OVERLAY;
    }
    return false;
}

/* A tree that is shown by now, without its sockets. */
static int shut_spot(struct plan *plan, const struct spot *spot)
{
    if (!plan_held_by(plan, GUARANTEE_SERVICE))
        return 0;
    plan->shut++;
    if (!plan_has(plan, FEATURE_OVERLAY))
        return 0;
    return add_step(plan, (struct mount_step){.kind = MOUNT_SHUT,
                                              .target = spot->rule->path,
                                              .read_only = true,
                                              .rule = spot->rule});
}

/*
 * Whether it is a link that only a pattern hides. SECURITY: what it leads to has
 * another name, which the pattern is not about: so the link itself is covered. Where a
 * literal path leads there is a rule of its own.
 */
static bool is_hidden_link(const struct spot *spot, enum view around)
{
    const struct path_rule *rule = spot->winner;

    return view_is_visible(around) && (spot->view == VIEW_HIDDEN || spot->view == VIEW_ASK) &&
           rule && rule->kind == RULE_PATTERN && (rule->wild || rule->link);
}

/* Whether a link of the host's on the way to a grant is to be made. In a private place that is so
 * for what is shown alone. */
static bool needs_link(const struct spot *spot, const char *link, enum view around)
{
    if (view_is_visible(around) || spot->view == VIEW_HIDDEN)
        return false;
    if (around != VIEW_PRIVATE)
        return true;
    return (view_is_visible(spot->view) || spot->view == VIEW_COPY) &&
           !path_is_below(link, "/dev") && !path_is_below(link, "/proc");
}

/* One path: makes its step, if it needs one. */
static int place_spot(struct plan *plan, struct spot *spot, enum view around, enum look look,
                      const char *link_target)
{
    const struct path_rule *rule = spot->rule;

    if (look == LOOK_LINK && is_hidden_link(spot, around)) {
        spot->has_step = true;
        return add_step(plan, (struct mount_step){.kind = MOUNT_MASK_FILE,
                                                  .target = rule->path,
                                                  .read_only = true,
                                                  .on_link = true,
                                                  .rule = rule});
    }
    if (look == LOOK_LINK) {
        /* Inside a visible tree the link is there already. */
        if (!needs_link(spot, rule->path, around))
            return 0;
        spot->has_step = true;
        return add_step(plan, (struct mount_step){.kind = MOUNT_SYMLINK,
                                                  .source = arena_strdup(&plan->arena, link_target),
                                                  .target = rule->path,
                                                  .rule = rule});
    }
    if (spot->view == VIEW_COPY) {
        spot->has_step = true;
        return add_step(plan, (struct mount_step){.kind = MOUNT_COPY,
                                                  .source = rule->path,
                                                  .target = rule->path,
                                                  .rule = rule});
    }
    /* It is there, and its opens are held; in a tree from which programs can be run it becomes a
     * mount of its own, so that the kernel itself runs nothing of it. */
    if (spot->view == VIEW_ASKED && view_is_visible(around) &&
        (around == VIEW_ASKED || (look != LOOK_DIRECTORY && look != LOOK_OTHER)))
        return 0;
    /* An empty place in an empty place is there only if it is made. */
    if (spot->view == around &&
        (around != VIEW_PRIVATE || rule->read != ACCESS_PRIVATE ||
         path_is_below(rule->path, "/dev") || view_in_own_proc(rule->path, around)))
        return 0;
    if (spot->view == VIEW_PRIVATE) {
        spot->has_step = true;
        return is_kept_home(plan, spot) ? add_kept(plan, rule) : add_private(plan, rule, false);
    }
    if (spot->view == VIEW_SEALED && around != VIEW_PRIVATE) {
        spot->has_step = true; /* empty, and it stays so */
        return add_private(plan, rule, true);
    }
    if (spot->view == VIEW_SEALED && !view_in_own_proc(rule->path, around))
        return 0; /* nothing is there yet: creating it is what must be refused */
    if (look != LOOK_DIRECTORY && look != LOOK_OTHER)
        return 0;
    spot->has_step = true;
    if (spot->view == VIEW_SEALED)
        return add_step(
            plan, (struct mount_step){
                      .kind = MOUNT_SEAL, .target = rule->path, .read_only = true, .rule = rule});
    if (spot->view != VIEW_HIDDEN && spot->view != VIEW_ASK)
        return add_bind(plan, spot, look);
    if (view_is_visible(around) || view_in_own_proc(rule->path, around))
        return add_mask(plan, rule, look);
    spot->has_step = false;
    return 0;
}

static int collect_spots(struct plan *plan, struct spot **ret_spots, size_t *ret_count)
{
    const struct policy *policy = plan->policy;
    struct spot *spots = calloc(policy->rules.count + PLACE_COUNT, sizeof(*spots));
    size_t count = 0;

    if (!spots)
        return -ENOMEM;
    vec_each (&policy->rules, rule) {
        if (!(*rule)->wild && !(*rule)->only_dir) {
            spots[count].rule = *rule;
            spots[count].number = count;
            count++;
        }
    }
    for (size_t i = 0; i < PLACE_COUNT; i++, count++) {
        spots[count].rule = &service_places[i];
        spots[count].number = count;
    }
    qsort(spots, count, sizeof(*spots), compare_spots);
    *ret_spots = spots;
    *ret_count = count;
    return 0;
}

static int decide_spot(struct plan *plan, struct rooms *rooms, struct spot *spot)
{
    struct path_decision decisions[PATH_OP_COUNT];
    int r = decide_near(plan->policy, &rooms->dirs, spot->rule->path, decisions);

    spot->view = view_of(plan, decisions);
    spot->winner = decisions[PATH_READ].rule;
    spot->write_winner = decisions[PATH_WRITE].rule;
    spot->write_asks = decisions[PATH_WRITE].access == ACCESS_ASK;
    return r;
}

/*
 * The first symbolic link among the directories above a path, or "". SECURITY:
 * a mount is made at the path itself or not at all. Through a link it would
 * show what the link leads to, and the command may have made the link; the
 * place it leads to has a rule of its own where the grant is to hold there.
 */
static const char *link_above(struct plan *plan, struct rooms *rooms, const struct looker *looker,
                              const char *path)
{
    size_t length = (size_t)(strrchr(path, '/') - path);
    char *parent = arena_strndup(&plan->arena, path, length);
    scratch char target[LIMIT_PATH_BYTES];
    const char *above;

    if (!parent || length == 0)
        return parent;
    above = map_get(&rooms->parents, 0, parent, length);
    if (above)
        return above;
    above = link_above(plan, rooms, looker, parent);
    if (above && !*above &&
        looker->look(looker->context, parent, target, sizeof(target)) == LOOK_LINK)
        above = parent;
    if (above && !map_put(&rooms->parents, 0, parent, length, (void *)above))
        return NULL;
    return above;
}

/* A link on the way to a grant is made in the new root, once, where nothing shows it already. */
static int place_link(struct plan *plan, struct rooms *rooms, const struct looker *looker,
                      const struct spot *spot, const char *link)
{
    scratch char target[LIMIT_PATH_BYTES];
    enum view around = surrounding(rooms, link);
    struct mount_step step = {.kind = MOUNT_SYMLINK, .target = link, .rule = spot->rule};

    if (!needs_link(spot, link, around) || map_get(&rooms->parents, 1, link, strlen(link)))
        return 0;
    (void)looker->look(looker->context, link, target, sizeof(target));
    step.source = arena_strdup(&plan->arena, target);
    if (!step.source || !map_put(&rooms->parents, 1, link, strlen(link), (void *)step.source))
        return -ENOMEM;
    return add_step(plan, step);
}

/*
 * We cannot mount over a path behind a directory that we may not enter. So we hide the whole
 * directory, or make it read-only, so that it stays closed. SECURITY: the command may own the
 * directory and open it; an earlier command may have closed it.
 */
static int place_behind(struct plan *plan, struct rooms *rooms, const struct looker *looker,
                        struct spot *spot)
{
    bool hides = spot->view != VIEW_RO;
    unsigned kind = hides ? 2 : 3;
    scratch char target[LIMIT_PATH_BYTES];
    char *closed = arena_strdup(&plan->arena, spot->rule->path);
    enum look look = LOOK_UNKNOWN;

    while (closed && look == LOOK_UNKNOWN && strcmp(closed, "/") != 0) {
        path_cut_name(closed);
        look = looker->look(looker->context, closed, target, sizeof(target));
    }
    if (!closed)
        return -ENOMEM;
    spot->has_step = look == LOOK_DIRECTORY;
    if (!spot->has_step || map_get(&rooms->parents, kind, closed, strlen(closed)))
        return 0;
    if (!map_put(&rooms->parents, kind, closed, strlen(closed), closed))
        return -ENOMEM;
    return add_step(plan, (struct mount_step){.kind = hides ? MOUNT_MASK_DIR : MOUNT_BIND,
                                              .source = hides ? NULL : closed,
                                              .target = closed,
                                              .read_only = true,
                                              .rule = spot->rule});
}

static bool needs_mount(const struct spot *spot, enum view around)
{
    return view_is_visible(around) && spot->view != around && spot->view != VIEW_RW &&
           spot->view != VIEW_OVERLAY && spot->view != VIEW_ASKED;
}

/* What is hidden in the kept home: an earlier command, with other rules, may have left it there. */
static bool is_hidden_in_kept(const struct plan *plan, const struct rooms *rooms,
                              const struct spot *spot)
{
    return (spot->view == VIEW_HIDDEN || spot->view == VIEW_ASK) && rooms->open.count > 0 &&
           is_kept_home(plan, &rooms->open.items[rooms->open.count - 1]);
}

/* Whether it counts what is there: nothing is shown around what is hidden. A plan does not depend
 * on what it did not ask, such as whether other sandboxes run. */
static bool matters(const struct spot *spot, enum view around)
{
    bool is_sealed = spot->write_winner && spot->write_winner->kind == RULE_SEALED;

    return spot->view != VIEW_HIDDEN ||
           (around != VIEW_HIDDEN &&
            !(around == VIEW_PRIVATE && is_sealed && !view_in_own_proc(spot->rule->path, around)));
}

/* All rules of one path; they share the step that the first of them makes. */
static int plan_path(struct plan *plan, const struct looker *looker, struct rooms *rooms,
                     struct spot *spots, size_t count)
{
    scratch char target[LIMIT_PATH_BYTES];
    const char *path = spots[0].rule->path;
    const char *link = link_above(plan, rooms, looker, path);
    enum look look = LOOK_OTHER;
    enum view around = surrounding(rooms, link && *link ? link : path);
    int r = link ? decide_spot(plan, rooms, &spots[0]) : -ENOMEM;

    /* A mount cannot ask: the supervisor holds it, as it does names that are not there yet. */
    if (r == 0 && spots[0].view == VIEW_RO && spots[0].write_asks && around == VIEW_RW &&
        plan_held_by(plan, GUARANTEE_ASK))
        spots[0].view = VIEW_RW;
    if (link && *link)
        look = LOOK_LINK;
    else if (r == 0 && matters(&spots[0], around))
        look = looker->look(looker->context, path, target, sizeof(target));
    if (r == 0 && is_hidden_in_kept(plan, rooms, &spots[0])) {
        spots[0].has_step = true;
        look = LOOK_DIRECTORY; /* for what lies below it */
        r = add_step(plan, (struct mount_step){.kind = MOUNT_MASK_KEPT,
                                               .target = path,
                                               .read_only = true,
                                               .rule = spots[0].rule});
    } else if (r == 0 && *link)
        r = place_link(plan, rooms, looker, &spots[0], link);
    else if (r == 0 && look == LOOK_UNKNOWN && needs_mount(&spots[0], around))
        r = place_behind(plan, rooms, looker, &spots[0]);
    else if (r == 0)
        r = place_spot(plan, &spots[0], around, look, target);
    if (r == 0 && look == LOOK_DIRECTORY && is_shut(plan, &spots[0], around))
        r = shut_spot(plan, &spots[0]);
    if (look == LOOK_UNKNOWN && spots[0].has_step)
        look = LOOK_OTHER; /* masked with the directory that it is in */
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct path_rule *rule = spots[i].rule;

        if (!rule->link)
            r = enforce_literal(plan, rule, &spots[0], around, look);
    }
    if (r == 0 && watch_is_needed(plan, &spots[0], around))
        r = watch_literal(plan, &spots[0]);
    plan->holds_reads |= watch_is_held(plan, &spots[0], around);
    /* SECURITY: what surrounds a path is what is mounted there, not what was decided: an "ask"
     * without a step of its own must not make what is below it seem hidden. */
    if (r == 0 && spots[0].has_step && look != LOOK_LINK && !vec_push(&rooms->open, spots[0]))
        r = -ENOMEM;
    return r;
}

const char *plan_workspace_at(const struct plan *plan)
{
    const struct setting *setting = &plan->policy->settings[SETTING_WORKSPACE_MOUNT];

    return setting->is_set ? setting->text : plan->policy->workspace;
}

/* Whether a rule on the root itself shows it otherwise than all that no rule names: of two mounts
 * there only one would be the root. */
static bool is_root_ruled(struct plan *plan, struct rooms *rooms, struct spot *spots, size_t count)
{
    return count > 0 && strcmp(spots[0].rule->path, "/") == 0 &&
           decide_spot(plan, rooms, &spots[0]) == 0 && view_is_visible(spots[0].view) &&
           spots[0].view != rooms->outside;
}

int plan_mounts(struct plan *plan, const struct plan_input *input)
{
    bool is_static = policy_number(plan->policy, SETTING_READS) == READS_STATIC;
    bool is_asked = shows_all(plan);
    struct rooms rooms = {.outside = is_static ? VIEW_RO : is_asked ? VIEW_ASKED : VIEW_HIDDEN};
    struct spot *spots = NULL;
    size_t count = 0;
    int r = collect_spots(plan, &spots, &count);

    if (r == 0 && is_root_ruled(plan, &rooms, spots, count))
        rooms.outside = VIEW_HIDDEN;
    else if (r == 0 && (is_static || is_asked))
        r = add_step(plan, (struct mount_step){.kind = MOUNT_BIND,
                                               .source = "/",
                                               .target = "/",
                                               .read_only = true,
                                               .no_exec = is_asked});
    for (size_t i = 0; r == 0 && i < count;) {
        size_t same = 1;

        while (i + same < count && strcmp(spots[i].rule->path, spots[i + same].rule->path) == 0)
            same++;
        r = plan_path(plan, input->looker, &rooms, spots + i, same);
        i += same;
    }
    vec_each (&plan->policy->rules, rule) {
        if (r == 0 && (*rule)->only_dir && !(*rule)->link)
            r = enforce_only_dir(plan, *rule);
        else if (r == 0 && (*rule)->wild && !(*rule)->link)
            r = enforce_pattern(plan, *rule);
        if (r == 0 && (*rule)->wild && watch_is_needed_for(plan, *rule))
            r = watch_pattern(plan, *rule);
        plan->holds_reads |= watch_is_held_for(plan, *rule);
    }
    if (r == 0)
        r = enforce_given_up(plan);
    if (r == 0)
        r = enforce_shut(plan);
    vec_done(&rooms.open);
    map_done(&rooms.parents);
    decide_dirs_done(&rooms.dirs);
    free(spots);
    return r;
}
