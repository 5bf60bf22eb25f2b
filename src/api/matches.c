/* SPDX-License-Identifier: Apache-2.0 */
/* Files that patterns hide, sockets that may not be connected to, and further names of files that
 * are held: found in the trees that are shown, so that they can be masked. */
#include "api/hardlinks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "policy/build.h"
#include "policy/decide.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * How it works: where the policy has a pattern that denies reading, the trees that it shows
 * are walked as far as the pattern can match there, and what it hides gets a rule of its own.
 * What is made later inside is refused when it is made. A tree that is too large
 * to be walked is refused: a pattern that cannot be held must not seem to be.
 *
 * A read-only mount does not keep anybody from connecting to a socket. So the
 * trees that somebody granted for reading are looked through for sockets, too, as
 * far as they are not too large. Of the built-in grants those that services use are
 * shown without any (plan/mounts.c), and the others are root's alone. All that is
 * granted is looked through where a file that is hidden or protected has a name
 * that no rule is about.
 */
enum { WALK_ENTRIES = 500000, SOCKET_ENTRIES = 20000, WALK_DEPTH = 64, WALK_SECONDS = 10 };
/* Directories of a work tree that a kept plan looks at again. In the others a socket that was made
 * after the plan is as good as one that was made after the start. */
enum { REPOSITORY_DIRS = 128 };

/* A pattern that hides, and the directory that all that it matches is in. */
struct seek {
    const struct path_rule *rule;
    char *start;
};

struct walk {
    struct policy *policy;
    struct view *view;
    const struct path_rule
        *sockets; /* what hides the sockets of the tree; NULL: they may be used */
    struct hardlinks hardlinks;
    VEC(struct seek) seeks;
    bool has_patterns; /* one of them may match in the tree */
    bool with_sockets;
    bool is_repository; /* the tree is the work tree around the workspace */
    bool was_cut;       /* a tree has more files than are looked through */
    size_t entries;
    size_t hidden_dirs; /* that a pattern hides */
    int64_t deadline;   /* by clock_ms */
    struct bawn_error *err;
    VEC(const struct path_rule *) rules;
    VEC(char *) paths;
};

static bool hides(const struct path_rule *rule)
{
    return rule->wild && (rule->read == ACCESS_DENY || rule->read == ACCESS_ASK);
}

static int refuse(struct walk *walk, const char *path)
{
    int r = error_set(walk->err, E2BIG, "run.too_many_files",
                      "%s has too many files: bawn cannot look through all of them for the "
                      "patterns that hide some",
                      path);

    error_hint(walk->err, "name the files or their directory instead of a pattern, or grant a "
                          "smaller tree");
    return r;
}

static int seek_patterns(struct walk *walk)
{
    vec_each (&walk->policy->rules, rule) {
        autostrbuf struct strbuf start = {0};
        struct seek seek = {.rule = *rule};

        if (!hides(*rule))
            continue;
        (void)links_literal_prefix((*rule)->path, &start);
        strbuf_add(&start, start.length == 0 ? "/" : "");
        seek.start = strbuf_take(&start);
        if (!seek.start || !vec_push(&walk->seeks, seek)) {
            free(seek.start);
            return error_memory(walk->err);
        }
    }
    return 0;
}

/* A pattern that may match in a directory, or NULL. */
static const struct path_rule *sought_in(const struct walk *walk, const char *dir)
{
    vec_each (&walk->seeks, seek) {
        if (path_is_below(seek->start, dir) || path_is_below(dir, seek->start))
            return seek->rule;
    }
    return NULL;
}

static int note(struct walk *walk, const struct path_rule *rule, const char *path)
{
    char *copy = strdup(path);

    if (!copy || !vec_push(&walk->paths, copy) || !vec_push(&walk->rules, rule))
        return error_memory(walk->err);
    return 0;
}

/* Whether what is in a directory can be reached by its name. */
static bool is_passable(const char *path)
{
    char inside[LIMIT_PATH_BYTES + 2];
    struct stat st;

    (void)snprintf(inside, sizeof(inside), "%s/.", path);
    return view_glance(AT_FDCWD, inside, &st);
}

/*
 * A directory that we cannot list, or not look into, is held whole: hidden where
 * something that is looked for is. SECURITY: the command may own it and change its
 * mode, or know a name in it: an earlier one may have closed it for that.
 */
static int note_closed(struct walk *walk, const char *path)
{
    const struct path_rule *sought = sought_in(walk, path);
    const struct path_rule *held = hardlinks_strictest(&walk->hardlinks);

    if (sought)
        return note(walk, sought, path);
    if (held)
        return note(walk, held, path);
    return walk->sockets && is_passable(path) ? note(walk, walk->sockets, path) : 0;
}

/* Whether the names in a directory tell nothing of the files. */
static bool is_blind(const struct walk *walk, int dir_fd)
{
    struct stat st;

    return walk->hardlinks.files.count && !view_glance(dir_fd, ".", &st);
}

/* The work tree around the workspace: the user's, though nobody names it. */
static bool is_repository(const struct policy *policy, const struct path_rule *rule)
{
    return policy->repository && rule->kind == RULE_PATH &&
           rule->layer->authority == AUTHORITY_BUILTIN &&
           strcmp(rule->path, policy->repository) == 0;
}

/* Whether nothing else is looked for. */
static bool is_for_sockets(const struct walk *walk)
{
    return !walk->has_patterns && walk->hardlinks.files.count == 0;
}

static int walk_dir(struct walk *walk, int parent_fd, const char *name, char *path, unsigned depth);
static int walk_tree(struct walk *walk, const char *root);

/* Whether the walk is over: without patterns it is for sockets alone, and has its limit. */
static bool is_over(const struct walk *walk)
{
    return !walk->has_patterns && walk->entries > SOCKET_ENTRIES;
}

static bool is_listed(const struct walk *walk, const char *path)
{
    vec_each (&walk->policy->items, item) {
        if (item->list == LIST_NETWORK_UNIX_SOCKETS && strcmp(item->value, path) == 0)
            return true;
    }
    return false;
}

/* Notes a file that a pattern hides. If it has more hard links, another walk looks for them. */
static int note_hidden(struct walk *walk, const struct path_rule *rule, int dir_fd,
                       const char *name, const char *path)
{
    bool is_good = true;
    bool is_closed;
    struct stat st;

    if (!view_glance(dir_fd, name, &st))
        return note(walk, rule, path);
    if (S_ISDIR(st.st_mode))
        is_good = hardlinks_count_dir(&walk->hardlinks, rule, path, &is_closed);
    else
        is_good = hardlinks_count(&walk->hardlinks, rule, path, &st);
    /* A file changes when it gets another name. A directory does not when a file in it does. */
    if (S_ISREG(st.st_mode))
        (void)view_note_file(walk->view, path);
    walk->hidden_dirs += S_ISDIR(st.st_mode);
    return is_good ? note(walk, rule, path) : error_memory(walk->err);
}

static void forget_notes(struct walk *walk)
{
    vec_each (&walk->paths, path)
        free(*path);
    walk->paths.count = walk->rules.count = 0;
}

/* SECURITY: not every file system says in its lists what is what. */
static bool lists_socket(int dir_fd, const struct dirent *entry)
{
    struct stat st;

    return entry->d_type == DT_SOCK ||
           (entry->d_type == DT_UNKNOWN && view_glance(dir_fd, entry->d_name, &st) &&
            S_ISSOCK(st.st_mode));
}

static bool is_inside(const char *path, const char *dir)
{
    return path_is_below(path, dir) && strcmp(path, dir) != 0;
}

/* SECURITY: a project's grant grants nothing. It may not stand for what others grant below it
 * either: it could be so large that the walk ends before it gets there. */
static bool is_grant(const struct path_rule *rule)
{
    return rule->kind == RULE_PATH && !rule->wild && rule->layer->authority != AUTHORITY_PROJECT &&
           (rule->read == ACCESS_ALLOW || rule->read == ACCESS_OVERLAY);
}

/* A tree that is shown, and in no other one that is; of those in a hidden directory alone, if there
 * is one. */
static bool is_root(const struct policy *policy, const struct path_rule *rule, const char *hidden)
{
    if (!is_grant(rule) || (hidden && !is_inside(rule->path, hidden)))
        return false;
    vec_each (&policy->rules, other) {
        if (is_grant(*other) && is_inside(rule->path, (*other)->path) &&
            (!hidden || is_inside((*other)->path, hidden)))
            return false;
    }
    return true;
}

/* SECURITY: what is granted in a directory that is hidden is shown all the same, so it is looked
 * through like any other tree. */
static int walk_below(struct walk *walk, const char *hidden)
{
    size_t count = walk->policy->rules.count;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct path_rule *rule = walk->policy->rules.items[i];

        if (!is_root(walk->policy, rule, hidden))
            continue;
        r = walk_tree(walk, rule->path);
    }
    return r;
}

/* A tree where sockets may be used: what is held in it is walked by itself. */
static bool is_writable_root(const struct policy *policy, const char *path)
{
    vec_each (&policy->rules, rule) {
        if (is_grant(*rule) && (*rule)->write == ACCESS_ALLOW && strcmp((*rule)->path, path) == 0)
            return true;
    }
    return false;
}

static int walk_entry(struct walk *walk, int dir_fd, const struct dirent *entry, char *path,
                      unsigned depth)
{
    struct path_decision decisions[PATH_OP_COUNT];
    const struct path_rule *rule;
    int r = 0;

    if (++walk->entries > WALK_ENTRIES ||
        (walk->entries % 1024 == 0 && clock_ms() > walk->deadline))
        return refuse(walk, path);
    if (is_over(walk))
        return 0;
    if (decide_path(walk->policy, path, decisions) < 0)
        return error_memory(walk->err);
    if (walk->sockets && decisions[PATH_WRITE].access == ACCESS_DENY &&
        lists_socket(dir_fd, entry) && !is_listed(walk, path))
        return note(walk, walk->sockets, path);
    rule = decisions[PATH_READ].rule;
    /* Nothing of the host is there, but for what is granted further down. */
    if (decisions[PATH_READ].access >= ACCESS_PRIVATE) {
        if (rule && hides(rule) && decisions[PATH_READ].access >= ACCESS_ASK)
            r = note_hidden(walk, rule, dir_fd, entry->d_name, path);
        return r < 0 ? r : walk_below(walk, path);
    }
    if (walk->hardlinks.files.count) {
        const struct held_file *held = hardlinks_match(&walk->hardlinks, dir_fd, entry);

        if (held &&
            decisions[held->rule->read >= ACCESS_ASK ? PATH_READ : PATH_WRITE].access < ACCESS_ASK)
            return note(walk, held->rule, path);
    }
    if (is_for_sockets(walk) && is_writable_root(walk->policy, path))
        return 0;
    return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN
               ? walk_dir(walk, dir_fd, entry->d_name, path, depth + 1)
               : 0;
}

static int walk_dir(struct walk *walk, int parent_fd, const char *name, char *path, unsigned depth)
{
    size_t length = strlen(path);
    const struct dirent *entry;
    DIR *dir;
    int r = 0;

    if (walk->has_patterns && !walk->sockets && walk->hardlinks.files.count == 0 &&
        !sought_in(walk, path))
        return 0;
    if (depth > WALK_DEPTH)
        return walk->has_patterns ? refuse(walk, path) : 0;
    if (walk->is_repository && is_for_sockets(walk) && walk->view->listed >= REPOSITORY_DIRS)
        dir = view_glance_dir(parent_fd, name);
    else
        dir = view_open_dir(walk->view, parent_fd, name, path);
    if (!dir && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return 0;
    if (!dir || is_blind(walk, dirfd(dir))) {
        if (dir)
            (void)closedir(dir);
        r = note_closed(walk, path);
        return r < 0 ? r : walk_below(walk, path);
    }
    while (r == 0 && !is_over(walk) && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (length + strlen(entry->d_name) + 2 > LIMIT_PATH_BYTES) {
            r = refuse(walk, path);
            break;
        }
        (void)snprintf(path + length, LIMIT_PATH_BYTES - length, "%s%s", length > 1 ? "/" : "",
                       entry->d_name);
        r = walk_entry(walk, dirfd(dir), entry, path, depth);
        path[length] = '\0';
    }
    (void)closedir(dir);
    return r;
}

/* What says no to the sockets of a tree that may be read: as strong as the grant. */
static const struct path_rule *socket_rule(struct walk *walk, const struct path_rule *grant)
{
    struct path_rule *rule = arena_new(&walk->policy->arena, struct path_rule);

    if (rule)
        *rule = (struct path_rule){.kind = RULE_PATTERN,
                                   .path = grant->path,
                                   .spelled = "socket in a read-only tree",
                                   .read = ACCESS_DENY,
                                   .write = ACCESS_DENY,
                                   .layer = grant->layer,
                                   .origin = grant->origin};
    return rule;
}

/* What the system has is not the caller's to link to. */
static bool may_have_links(const struct walk *walk, const struct path_rule *rule)
{
    return walk->hardlinks.files.count &&
           (rule->write == ACCESS_ALLOW || rule->layer->authority != AUTHORITY_BUILTIN);
}

/* A grant may be of one file, and that a socket. */
static bool is_socket(const struct walk *walk, const char *path)
{
    struct stat status;

    return view_stat(walk->view, path, &status) && S_ISSOCK(status.st_mode);
}

/* Whether one of the trees that are walked anyway has it. */
static bool is_walked(const struct policy *policy, const char *path)
{
    vec_each (&policy->rules, rule) {
        if (is_root(policy, *rule, NULL) && path_is_below(path, (*rule)->path))
            return true;
    }
    return false;
}

/* Where all is shown that nothing denies, what a pattern hides is looked for where the pattern
 * begins. */
static int walk_shown(struct walk *walk)
{
    char path[LIMIT_PATH_BYTES];
    int r = 0;

    walk->sockets = NULL;
    walk->has_patterns = true;
    for (size_t i = 0; r == 0 && i < walk->seeks.count; i++) {
        const char *start = walk->seeks.items[i].start;

        if (is_walked(walk->policy, start))
            continue;
        (void)snprintf(path, sizeof(path), "%s", start);
        r = walk_dir(walk, AT_FDCWD, start, path, 0);
    }
    return r;
}

/* Whether somebody's rule makes a path read-only, inside of a writable tree too. */
static bool is_held(const struct policy *policy, const struct path_rule *rule)
{
    return !rule->wild &&
           (rule->layer->authority != AUTHORITY_BUILTIN || is_repository(policy, rule)) &&
           (rule->read_only || (rule->kind == RULE_PATTERN && rule->read < ACCESS_ASK)) &&
           is_walked(policy, rule->path);
}

/* What is no directory is not opened: a plan is not kept where that failed. */
static int walk_tree(struct walk *walk, const char *root)
{
    enum look look = view_look(walk->view, root);
    char path[LIMIT_PATH_BYTES];

    if (walk->sockets && is_socket(walk, root) && !is_listed(walk, root))
        return note(walk, walk->sockets, root);
    if (look != LOOK_DIRECTORY && look != LOOK_UNKNOWN)
        return 0;
    (void)snprintf(path, sizeof(path), "%s", root);
    return walk_dir(walk, AT_FDCWD, root, path, 0);
}

/* A tree for what is to be looked for in it. */
static int walk_rule(struct walk *walk, const struct path_rule *rule, bool is_held_here)
{
    int r;

    walk->sockets = is_held_here ? socket_rule(walk, rule) : NULL;
    walk->is_repository = is_repository(walk->policy, rule);
    walk->has_patterns = sought_in(walk, rule->path);
    if (is_held_here && !walk->sockets)
        return error_memory(walk->err);
    if (!walk->has_patterns && !walk->sockets && !may_have_links(walk, rule))
        return 0;
    if (!walk->has_patterns)
        walk->entries = 0;
    r = walk_tree(walk, rule->path);
    walk->was_cut |= is_over(walk);
    return r;
}

static int walk_trees(struct walk *walk)
{
    const struct policy *policy = walk->policy;
    size_t count = policy->rules.count;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct path_rule *rule = policy->rules.items[i];
        bool is_held_here = walk->with_sockets && is_held(policy, rule);

        if (is_held_here || is_root(policy, rule, NULL))
            r = walk_rule(walk, rule, is_held_here);
    }
    /* Trees inside of one that was too large. */
    for (size_t i = 0; r == 0 && walk->was_cut && i < count; i++) {
        if (is_grant(policy->rules.items[i]) && !is_root(policy, policy->rules.items[i], NULL))
            r = walk_rule(walk, policy->rules.items[i], false);
    }
    if (r == 0 && walk->seeks.count && policy_number(policy, SETTING_READS) == READS_STATIC)
        r = walk_shown(walk);
    return r;
}

int matches_find(struct policy *policy, struct view *view, bool with_patterns, size_t *ret_linked,
                 struct bawn_report *report, struct bawn_error *err)
{
    struct walk walk = {.policy = policy,
                        .view = view,
                        .with_sockets = with_patterns,
                        .deadline = clock_ms() + WALK_SECONDS * 1000,
                        .err = err};
    int r = hardlinks_find(&walk.hardlinks, policy, view, report);
    size_t held;

    if (r < 0)
        r = error_memory(err);
    if (r == 0 && with_patterns)
        r = seek_patterns(&walk);
    held = walk.hardlinks.files.count;
    if (r == 0 && (with_patterns || held))
        r = walk_trees(&walk);
    if (r == 0 && walk.hardlinks.files.count > held) {
        forget_notes(&walk);
        walk.entries = 0;
        r = walk_trees(&walk);
    }
    *ret_linked = walk.hardlinks.files.count + walk.hidden_dirs;
    for (size_t i = 0; r == 0 && i < walk.paths.count; i++)
        r = policy_add_match(policy, walk.rules.items[i], walk.paths.items[i], err);
    forget_notes(&walk);
    vec_each (&walk.seeks, seek)
        free(seek->start);
    vec_done(&walk.seeks);
    vec_done(&walk.paths);
    vec_done(&walk.rules);
    hardlinks_done(&walk.hardlinks);
    return r;
}
