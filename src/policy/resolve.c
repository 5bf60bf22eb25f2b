/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/resolve.h"

#include "base/error.h"
#include "base/scratch.h"
#include "base/trail.h"
#include "policy/told.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "done" is the resolved path so far, the trail what is still to walk. Both are bounded as the
 * kernel bounds them. */
struct resolver {
    const struct policy *policy;
    const char *workspace;
    const struct looker *looker;
    char done[LIMIT_PATH_BYTES]; /* "" is the root */
    struct trail trail;
    struct bawn_error *err;
};

static const char *done_text(const struct resolver *resolver)
{
    return *resolver->done ? resolver->done : "/";
}

/* Who is inside just looks, also at what is private. What is denied is a cover, if it is there. */
static enum look look_around(const struct resolver *resolver, const struct looker *looker,
                             const char *path, char *target, size_t target_size)
{
    struct path_decision decisions[PATH_OP_COUNT];

    if (told_decide(resolver->policy, path, decisions) < 0)
        return LOOK_UNKNOWN;
    return decisions[PATH_READ].access >= ACCESS_ASK
               ? LOOK_ABSENT
               : looker->look(looker->context, path, target, target_size);
}

/* How a path looks from inside: a hidden one is absent, a private one is empty. */
static enum look look_inside(const struct resolver *resolver, const struct looker *looker,
                             const char *path, char *target, size_t target_size)
{
    struct path_decision decisions[PATH_OP_COUNT];
    struct tree_answer answer;
    const struct path_decision *read = &decisions[PATH_READ];

    if (!resolver->policy)
        return looker->look(looker->context, path, target, target_size);
    if (resolver->policy->told.cwd)
        return look_around(resolver, looker, path, target, target_size);
    if (pathtree_ask(&resolver->policy->tree, path, &answer) < 0)
        return LOOK_UNKNOWN;
    decide_answer(resolver->policy, &answer, decisions);
    /* What only leads to a grant keeps its links: the new root has them too. */
    if (answer.is_skeleton || read->access == ACCESS_ALLOW || read->access == ACCESS_OVERLAY ||
        read->access == ACCESS_ASK)
        return looker->look(looker->context, path, target, target_size);
    if (read->access == ACCESS_PRIVATE && read->rule && strcmp(read->rule->path, path) == 0)
        return LOOK_DIRECTORY;
    return LOOK_ABSENT;
}

static int step_up(struct resolver *resolver)
{
    const struct looker *looker =
        resolver->looker->closer ? resolver->looker->closer : resolver->looker;
    scratch char target[LIMIT_PATH_BYTES];
    char *slash = strrchr(resolver->done, '/');

    if (!slash)
        return 0; /* the parent of the root is the root */
    switch (look_inside(resolver, looker, resolver->done, target, sizeof(target))) {
    case LOOK_DIRECTORY:
        *slash = '\0';
        return 0;
    case LOOK_OTHER:
    case LOOK_LINK:
        return error_set(resolver->err, ENOTDIR, "path.not_directory",
                         "'%s' is not a directory, so '..' behind it leads nowhere",
                         resolver->done);
    case LOOK_UNKNOWN:
        return error_set(resolver->err, EACCES, "path.unknown", "'%s' cannot be looked at",
                         resolver->done);
    case LOOK_ABSENT:
        break;
    }
    return error_set(resolver->err, ENOENT, "path.dotdot",
                     "'..' behind '%s', which does not exist inside the sandbox", resolver->done);
}

static int push_link(struct resolver *resolver, const char *target)
{
    int r;

    if (resolver->looker->follows)
        resolver->looker->follows(resolver->looker->context, resolver->done, resolver->trail.rest);
    r = trail_link(&resolver->trail, target);
    if (r == -ELOOP)
        return error_set(resolver->err, ELOOP, "path.loop",
                         "more than %d symbolic links, the last at '%s'", LIMIT_SYMLINKS,
                         resolver->done);
    if (r < 0)
        return error_set(resolver->err, ENAMETOOLONG, "path.too_long",
                         "the path behind the link '%s' is too long", resolver->done);
    if (*target == '/')
        resolver->done[0] = '\0';
    else
        *strrchr(resolver->done, '/') = '\0';
    return 0;
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/*
 * SECURITY: procfs links are not names. /proc/self/root is the root again and
 * /proc/self/cwd the workspace; one that names an open file or belongs to
 * another process leads where no path rule was asked.
 * Returns 1 when it dealt with the component.
 */
static int step_magic(struct resolver *resolver)
{
    static const char *const magic[] = {"root", "cwd", "exe", "fd", "map_files", "ns"};
    scratch char copy[LIMIT_PATH_BYTES];
    char *save = NULL;
    const char *part;
    const char *last = NULL;
    bool own;

    if (strcmp(resolver->done, "/dev/fd") == 0) {
        (void)snprintf(resolver->done, sizeof(resolver->done), "/proc/self/fd");
        return 1;
    }
    if (strncmp(resolver->done, "/proc/", 6) != 0)
        return 0;
    (void)snprintf(copy, sizeof(copy), "%s", resolver->done + 6);
    part = strtok_r(copy, "/", &save);
    own = strcmp(part, "self") == 0 || strcmp(part, "thread-self") == 0;
    if (!own && !is_number(part))
        return 0;
    part = strtok_r(NULL, "/", &save);
    if (part && strcmp(part, "task") == 0) {
        (void)strtok_r(NULL, "/", &save);
        part = strtok_r(NULL, "/", &save);
    }
    for (size_t i = 0; part && i < sizeof(magic) / sizeof(magic[0]); i++)
        if (strcmp(part, magic[i]) == 0)
            last = magic[i];
    if (!last)
        return 0;
    if (own && strcmp(last, "root") == 0) {
        resolver->done[0] = '\0';
        return 1;
    }
    if (own && strcmp(last, "cwd") == 0) {
        (void)snprintf(resolver->done, sizeof(resolver->done), "%s",
                       strcmp(resolver->workspace, "/") == 0 ? "" : resolver->workspace);
        return 1;
    }
    part = strtok_r(NULL, "/", &save);
    if (own && strcmp(last, "fd") == 0 &&
        (!part || (is_number(part) && strtoul(part, NULL, 10) < 3)))
        return 1; /* the directory itself, and the three streams everybody has */
    return error_set(resolver->err, EXDEV, "path.magic_link",
                     "'%s' names an open file or another process, not a path", resolver->done);
}

static int step_down(struct resolver *resolver, const char *name)
{
    size_t used = strlen(resolver->done);
    size_t length = strlen(name);
    scratch char target[LIMIT_PATH_BYTES];
    int r;

    if (used + 1 + length >= sizeof(resolver->done))
        return error_set(resolver->err, ENAMETOOLONG, "path.too_long", "it is longer than %d bytes",
                         LIMIT_PATH_BYTES - 1);
    resolver->done[used] = '/';
    memcpy(resolver->done + used + 1, name, length + 1);
    r = step_magic(resolver);
    if (r != 0)
        return r < 0 ? r : 0;
    /* The host's link would name this process, not the one inside. */
    if (strcmp(resolver->done, "/proc/self") == 0 ||
        strcmp(resolver->done, "/proc/thread-self") == 0)
        return 0;
    switch (look_inside(resolver, resolver->looker, resolver->done, target, sizeof(target))) {
    case LOOK_LINK:
        return push_link(resolver, target);
    case LOOK_UNKNOWN:
        return error_set(resolver->err, EACCES, "path.unknown", "'%s' cannot be looked at",
                         resolver->done);
    default:
        return 0;
    }
}

int resolve_path(const struct policy *policy, const char *workspace, const char *path,
                 const struct looker *looker, char ret_path[LIMIT_PATH_BYTES],
                 struct bawn_error *err)
{
    scratch struct resolver resolver;
    scratch char name[NAME_MAX + 1];
    size_t used;
    int r;

    resolver.policy = policy;
    resolver.workspace = workspace;
    resolver.looker = looker;
    resolver.err = err;
    resolver.done[0] = '\0';
    resolver.trail.links = 0;
    if (*path == '\0')
        return error_set(err, EINVAL, "path.empty", "an empty path");
    used = *path == '/' ? 0 : strlen(workspace) + 1;
    if (used + strlen(path) >= LIMIT_PATH_BYTES)
        return error_set(err, ENAMETOOLONG, "path.too_long", "it is longer than %d bytes",
                         LIMIT_PATH_BYTES - 1);
    if (used)
        (void)stpcpy(stpcpy(resolver.trail.rest, workspace), "/");
    (void)stpcpy(resolver.trail.rest + used, path);
    while ((r = trail_next(&resolver.trail, name)) > 0) {
        r = strcmp(name, "..") == 0 ? step_up(&resolver) : step_down(&resolver, name);
        if (r < 0)
            return r;
    }
    if (r < 0)
        return error_set(err, ENAMETOOLONG, "path.too_long", "a name in it is longer than %d bytes",
                         NAME_MAX);
    (void)stpcpy(ret_path, done_text(&resolver));
    return 0;
}
