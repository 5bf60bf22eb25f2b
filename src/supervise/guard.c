/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/guard.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/path.h"
#include "policy/build.h"
#include "policy/glob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOVE_ENTRIES_MAX = 10000, MOVE_DEPTH_MAX = 32 };

/* Rules of one speaker share a layer; only its rank and its place in the order count here. */
static const struct layer *guard_layer(struct policy *policy, const struct image_rule *rule)
{
    struct layer *layer;

    vec_each (&policy->layers, known) {
        if ((*known)->authority == rule->authority && (*known)->order == rule->order)
            return *known;
    }
    layer = arena_new(&policy->arena, struct layer);
    if (!layer)
        return NULL;
    layer->authority = rule->authority;
    layer->order = rule->order;
    return vec_push(&policy->layers, layer) ? layer : NULL;
}

static int guard_add(struct guard *guard, const struct image_rule *from, struct bawn_error *err)
{
    struct policy *policy = &guard->policy;
    const struct layer *layer = guard_layer(policy, from);
    struct path_rule *rule = arena_new(&policy->arena, struct path_rule);

    if (from->authority >= AUTHORITY_COUNT || from->kind > RULE_SEALED ||
        from->read > ACCESS_DENY || from->write > ACCESS_DENY)
        return error_set(err, EBADMSG, "image.bad_rule", "the compiled policy has an unknown rule");
    if (!layer || !rule)
        return error_memory(err);
    *rule = (struct path_rule){
        .kind = from->kind,
        .path = image_string(guard->image, from->path),
        .spelled = image_string(guard->image, from->path),
        .read = from->read,
        .write = from->write,
        .wild = from->flags & RULE_FLAG_WILD,
        .is_repeat = from->flags & RULE_FLAG_REPEAT,
        .read_only = from->flags & RULE_FLAG_READ_ONLY,
        .link = from->flags & RULE_FLAG_LINK ? "" : NULL,
        .layer = layer,
    };
    if (!vec_push(&policy->rules, rule))
        return error_memory(err);
    return pathtree_add(&policy->tree, &policy->arena, rule, err);
}

int guard_init(struct guard *guard, const struct image *image, struct bawn_error *err)
{
    struct setting *reads = &guard->policy.settings[SETTING_READS];

    *guard = (struct guard){.image = image};
    guard->policy.workspace = image_string(image, image->workspace);
    guard->policy.home = image_string(image, image->home);
    reads->is_set = true;
    reads->number = READS_STRICT;
    if (image->default_access == ACCESS_ALLOW)
        reads->number = READS_STATIC;
    else if (image->default_access == ACCESS_ASK)
        reads->number = READS_DYNAMIC;
    image_each (image, PART_RULES, struct image_rule, rule) {
        int r = guard_add(guard, rule, err);

        if (r < 0)
            return r;
    }
    return 0;
}

void guard_done(struct guard *guard)
{
    policy_done(&guard->policy);
}

/* A path inside as the rules have it: they speak of the host. */
static const char *outside(const struct guard *guard, const char *path,
                           char buffer[static LIMIT_PATH_BYTES])
{
    return path_moved(path, image_string(guard->image, guard->image->workspace_at),
                      guard->policy.workspace, buffer, LIMIT_PATH_BYTES);
}

enum guard_answer guard_ask(const struct guard *guard, const char *path, enum path_op op)
{
    struct path_decision decisions[PATH_OP_COUNT];
    const struct path_decision *decision = &decisions[op];
    char buffer[LIMIT_PATH_BYTES];

    if (decide_path(&guard->policy, outside(guard, path, buffer), decisions) < 0)
        return GUARD_REFUSE;
    if (decision->access < ACCESS_ASK)
        return GUARD_ALLOW;
    if (decide_restricts(decision, decision->reason == DECIDED_BY_READ ? PATH_READ : op))
        return GUARD_REFUSE;
    return GUARD_UNGRANTED;
}

/* Steps that put nothing over what is there, or put it there as it was. */
static bool is_transparent(const struct image_mount *mount)
{
    return mount->step == STEP_DIR || mount->step == STEP_FILE || mount->step == STEP_SYMLINK ||
           mount->step == STEP_TEXT || mount->step == STEP_PIN || mount->step == STEP_SEAL ||
           mount->step == STEP_SEAL_ALL || mount->step == STEP_CLOSE || mount->step == STEP_AGAIN;
}

/* Both without a leading slash; "" is the root. */
static bool covers(const char *target, const char *path)
{
    size_t length = strlen(target);

    return length == 0 ||
           (strncmp(path, target, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

bool guard_is_host_tree(const struct guard *guard, const char *path)
{
    char buffer[LIMIT_PATH_BYTES];
    const char *there = outside(guard, path, buffer);
    const char *target = there + strspn(there, "/");
    bool is_host = false;

    /* The last mount over a place is the one that is seen. Steps are named for where they are made;
     * what comes after the workspace was moved is not about it. */
    image_each (guard->image, PART_MOUNTS, struct image_mount, mount) {
        if (mount->step == STEP_AGAIN && there == buffer)
            break;
        if (!is_transparent(mount) && covers(image_string(guard->image, mount->target), target))
            is_host = mount->step == STEP_BIND || mount->step == STEP_OVERLAY;
    }
    return is_host;
}

/* How far a pattern has come along a path. */
struct reach {
    const struct path_rule *rule;
    bool has_name;  /* a component that is not ** has matched */
    bool ends_star; /* the last component was taken by ** */
};

static bool reach_end(const struct reach *reach, const char *pattern)
{
    size_t length;

    if (!path_next(&pattern, &length))
        return false;
    /* What a leading or user-written ** takes is protected where a link leads as well. */
    return !reach->ends_star || (reach->has_name && reach->rule->kind == RULE_PROTECTED);
}

/* Whether a proper beginning of the pattern matches the whole path. */
static bool reaches(struct reach reach, const char *pattern, const char *path)
{
    const char *rest = path;
    const char *next = pattern;
    size_t name_length = 0;
    size_t length = 0;
    const char *name = path_next(&rest, &name_length);
    const char *component = path_next(&next, &length);

    if (!name)
        return reach_end(&reach, pattern);
    if (!component)
        return false;
    if (reach.rule->wild && length == 2 && memcmp(component, "**", 2) == 0) {
        if (reaches(reach, next, path))
            return true;
        reach.ends_star = true;
        return reaches(reach, pattern, rest);
    }
    if (reach.rule->wild ? !glob_match(component, length, name, name_length)
                         : length != name_length || memcmp(component, name, length) != 0)
        return false;
    reach.has_name = true;
    reach.ends_star = false;
    return reaches(reach, next, rest);
}

/* with_grants: those that merely do not say yes to writing are counted too. */
static bool has_below(const struct guard *guard, const char *path, bool with_grants)
{
    char buffer[LIMIT_PATH_BYTES];

    path = outside(guard, path, buffer);
    vec_each (&guard->policy.rules, rule) {
        if ((*rule)->write >= ACCESS_ASK && (with_grants || !(*rule)->read_only) &&
            reaches((struct reach){.rule = *rule}, (*rule)->path, path))
            return true;
    }
    return false;
}

bool guard_has_below(const struct guard *guard, const char *path)
{
    return has_below(guard, path, false);
}

struct move {
    const struct guard *guard;
    size_t entries;
    char from[2 * LIMIT_PATH_BYTES];
    char to[2 * LIMIT_PATH_BYTES];
};

static int move_entry(struct move *move, bool is_link)
{
    bool was_refused = guard_ask(move->guard, move->from, PATH_WRITE) != GUARD_ALLOW;
    bool is_refused = guard_ask(move->guard, move->to, PATH_WRITE) != GUARD_ALLOW;

    if (was_refused && !is_refused)
        return -EBUSY;
    if (is_refused && !was_refused)
        return -EACCES;
    if (is_link && guard_has_below(move->guard, move->to) &&
        !guard_has_below(move->guard, move->from))
        return -EACCES;
    return 0;
}

static bool move_push(char path[static 2 * LIMIT_PATH_BYTES], size_t length, const char *name)
{
    int added = snprintf(path + length, 2 * LIMIT_PATH_BYTES - length, "/%s", name);

    return added > 0 && (size_t)added < 2 * LIMIT_PATH_BYTES - length;
}

static int move_tree(struct move *move, int dir_fd, const char *name, unsigned depth)
{
    size_t from_length = strlen(move->from);
    size_t to_length = strlen(move->to);
    const struct dirent *entry;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int r = 0;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return -EXDEV;
    }
    while (r == 0 && (entry = readdir(dir))) {
        struct stat st = {0};

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++move->entries > MOVE_ENTRIES_MAX || depth > MOVE_DEPTH_MAX ||
            !move_push(move->from, from_length, entry->d_name) ||
            !move_push(move->to, to_length, entry->d_name)) {
            r = -EXDEV;
            break;
        }
        if (entry->d_type == DT_UNKNOWN &&
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            r = -EXDEV;
            break;
        }
        r = move_entry(move, entry->d_type == DT_LNK || S_ISLNK(st.st_mode));
        if (r == 0 && (entry->d_type == DT_DIR || S_ISDIR(st.st_mode)))
            r = move_tree(move, fd, entry->d_name, depth + 1);
        move->from[from_length] = move->to[to_length] = '\0';
    }
    (void)closedir(dir);
    return r;
}

static bool same_parent(const char *a, const char *b)
{
    const char *a_end = strrchr(a, '/');
    const char *b_end = strrchr(b, '/');

    return a_end && b_end && a_end - a == b_end - b && memcmp(a, b, (size_t)(a_end - a)) == 0;
}

int guard_move(const struct guard *guard, int dir_fd, const char *name, const char *from,
               const char *to)
{
    autofree struct move *move = NULL;

    /* Two names in one directory that no rule goes through: below them the same rules hold. */
    if (same_parent(from, to) && !has_below(guard, from, true) && !has_below(guard, to, true))
        return 0;
    move = calloc(1, sizeof(*move));
    if (!move)
        return -ENOMEM;
    move->guard = guard;
    (void)snprintf(move->from, sizeof(move->from), "%s", from);
    (void)snprintf(move->to, sizeof(move->to), "%s", to);
    return move_tree(move, dir_fd, name, 1);
}
