/* SPDX-License-Identifier: Apache-2.0 */
#include "api/repository.h"

#include "api/api.h"
#include "base/cleanup.h"
#include "base/path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POINTER_BYTES = LIMIT_PATH_BYTES + 64, CONFIG_BYTES = 256 * 1024 };

static bool join(char out[LIMIT_PATH_BYTES], const char *dir, const char *name)
{
    return (size_t)snprintf(out, LIMIT_PATH_BYTES, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
                            name) < LIMIT_PATH_BYTES;
}

/* Whether it is the user's, and of that type: S_IFDIR, S_IFREG. */
static bool is_own(struct view *view, const char *dir, const char *name, mode_t type)
{
    char path[LIMIT_PATH_BYTES];
    struct stat status;

    return join(path, dir, name) && view_stat(view, path, &status) &&
           (status.st_mode & S_IFMT) == type && status.st_uid == getuid();
}

/* The same of a directory by itself. */
static bool is_own_dir(struct view *view, const char *path, dev_t *ret_device)
{
    struct stat status;

    if (!view_stat(view, path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != getuid())
        return false;
    *ret_device = status.st_dev;
    return true;
}

/* Whether git would take it for a repository. HEAD is another file after each commit: only that it
 * is there counts. */
static bool is_git_dir(struct view *view, const char *dir)
{
    char head[LIMIT_PATH_BYTES];
    dev_t device;

    return is_own_dir(view, dir, &device) && is_own(view, dir, "objects", S_IFDIR) &&
           is_own(view, dir, "refs", S_IFDIR) && is_own(view, dir, "config", S_IFREG) &&
           join(head, dir, "HEAD") && view_look(view, head) == LOOK_OTHER;
}

/* The one line of a small file of the user's, behind its start; NULL: that is not what it is. */
static char *read_line(struct view *view, const char *dir, const char *name, const char *start)
{
    autofree char *text = NULL;
    char path[LIMIT_PATH_BYTES];
    size_t length;

    if (!is_own(view, dir, name, S_IFREG) || !join(path, dir, name) ||
        view_read(view, path, POINTER_BYTES, &text, &length, NULL) < 0 || strlen(text) != length ||
        strncmp(text, start, strlen(start)) != 0)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    return text[strlen(start)] ? strdup(text + strlen(start)) : NULL;
}

/* Where a path leads that git wrote down, from the directory that it is relative to. */
static bool follow(struct view *view, const char *dir, const char *path,
                   char ret_path[LIMIT_PATH_BYTES])
{
    return resolve_path(NULL, dir, path, &view->looker, ret_path, NULL) == 0;
}

/*
 * Whether the path that a repository has written down is this one. SECURITY: a
 * link of the user's on the way may be an earlier command's, which had the work
 * tree in its workspace and put another directory in its place. Root's are only
 * where root is somebody else.
 */
static bool names(struct view *view, const char *dir, const char *path, const char *expected)
{
    char resolved[LIMIT_PATH_BYTES];
    struct link_notes notes;
    struct stat status;
    bool is_named;

    link_notes_init(&notes, &view->looker);
    is_named = resolve_path(NULL, dir, path, &notes.looker, resolved, NULL) == 0 &&
               strcmp(resolved, expected) == 0 && !notes.links.failed;
    for (const char *link = NULL; is_named && (link = link_notes_next(&notes, link));)
        is_named = view_stat(view, link, &status) && status.st_uid == 0 && getuid() != 0;
    link_notes_done(&notes);
    return is_named;
}

static bool is_git_name(const char *dir)
{
    size_t length = strlen(dir);

    return length > 4 && strcmp(dir + length - 4, ".git") == 0;
}

/* A linked work tree: its part is COMMON/worktrees/NAME, with a file that names its .git. */
static bool is_linked(struct view *view, struct repository *found)
{
    autofree char *common = read_line(view, found->git_dir, "commondir", "");
    autofree char *back = read_line(view, found->git_dir, "gitdir", "");
    char expected[LIMIT_PATH_BYTES];
    const char *rest;

    if (!common || !back || !follow(view, found->git_dir, common, found->common_dir) ||
        !path_is_below(found->git_dir, found->common_dir) || !is_git_name(found->common_dir))
        return false;
    rest = found->git_dir + strlen(found->common_dir);
    return strncmp(rest, "/worktrees/", 11) == 0 && !strchr(rest + 11, '/') &&
           join(expected, found->top, ".git") && names(view, found->git_dir, back, expected) &&
           is_git_dir(view, found->common_dir);
}

/* The value of core.worktree, as git writes it: one line, without quotes or escapes. */
static char *read_worktree(struct view *view, const char *git_dir)
{
    autofree char *text = NULL;
    char path[LIMIT_PATH_BYTES];
    bool is_core = false;
    size_t length;
    char *rest;

    if (!join(path, git_dir, "config") ||
        view_read(view, path, CONFIG_BYTES, &text, &length, NULL) < 0 || strlen(text) != length)
        return NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (*line == '[')
            is_core = strcmp(line, "[core]") == 0;
        else if (is_core && strncmp(line, "\tworktree = ", 12) == 0)
            return line[12 + strcspn(line + 12, "\"\\#;")] ? NULL : strdup(line + 12);
    }
    return NULL;
}

/* Whether a path is where git keeps submodules, of a repository or of one of its work trees. */
static bool is_in_modules(const char *path)
{
    const char *worktree = strstr(path, "/.git/worktrees/");
    const char *rest = worktree ? strchr(worktree + strlen("/.git/worktrees/"), '/') : NULL;

    return strstr(path, "/.git/modules/") || (rest && strncmp(rest, "/modules/", 9) == 0);
}

/* A submodule: in the part of .git/modules that is its own, whose configuration names it. */
static bool is_submodule(struct view *view, struct repository *found)
{
    autofree char *back = NULL;

    if (!is_in_modules(found->git_dir))
        return false;
    (void)snprintf(found->common_dir, sizeof(found->common_dir), "%s", found->git_dir);
    if (!is_git_dir(view, found->git_dir))
        return false;
    back = read_worktree(view, found->git_dir);
    return back && names(view, found->git_dir, back, found->top);
}

/* A file .git: "gitdir: PATH". */
static bool follow_file(struct view *view, struct repository *found)
{
    autofree char *path = read_line(view, found->top, ".git", "gitdir: ");
    char common[LIMIT_PATH_BYTES];

    if (!path || !follow(view, found->top, path, found->git_dir) ||
        !join(common, found->git_dir, "commondir"))
        return false;
    return view_look(view, common) == LOOK_ABSENT ? is_submodule(view, found)
                                                  : is_linked(view, found);
}

/* Whether all directories from the work tree down to the workspace are the user's, in one file
 * system. */
static bool is_way_own(struct view *view, const char *top, const char *workspace)
{
    char dir[LIMIT_PATH_BYTES];
    dev_t device;
    dev_t first;

    (void)snprintf(dir, sizeof(dir), "%s", workspace);
    if (!is_own_dir(view, dir, &first))
        return false;
    while (strcmp(dir, top) != 0) {
        path_cut_name(dir);
        if (!is_own_dir(view, dir, &device) || device != first)
            return false;
    }
    return true;
}

/* The nearest directory with something named .git. The home is where projects are, not one. */
static enum look find_top(struct view *view, const char *workspace, const char *home,
                          char ret_top[LIMIT_PATH_BYTES], char ret_git[LIMIT_PATH_BYTES])
{
    enum look look = LOOK_ABSENT;

    (void)snprintf(ret_top, LIMIT_PATH_BYTES, "%s", workspace);
    while (!path_is_below(home, ret_top) && strcmp(ret_top, "/") != 0 &&
           join(ret_git, ret_top, ".git")) {
        look = view_look(view, ret_git);
        if (look != LOOK_ABSENT)
            return look;
        path_cut_name(ret_top);
    }
    return LOOK_ABSENT;
}

bool repository_find(struct view *view, const char *workspace, const char *home,
                     struct repository *ret_found)
{
    enum look look = find_top(view, workspace, home, ret_found->top, ret_found->git_dir);
    bool is_found = false;

    memcpy(ret_found->common_dir, ret_found->git_dir, sizeof(ret_found->git_dir));
    if (look == LOOK_DIRECTORY && strcmp(ret_found->top, workspace) == 0)
        return true; /* nothing of it lies outside */
    /* A workspace in .git is in no work tree. */
    if ((look == LOOK_DIRECTORY || look == LOOK_OTHER) &&
        !path_is_below(workspace, ret_found->git_dir) &&
        is_way_own(view, ret_found->top, workspace))
        is_found = look == LOOK_DIRECTORY ? is_git_dir(view, ret_found->git_dir)
                                          : follow_file(view, ret_found);
    if (!is_found)
        *ret_found = (struct repository){0};
    return is_found;
}
