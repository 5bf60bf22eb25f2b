/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host as a policy and its plan see it. SECURITY: nothing of it is looked
 * at but through a view, and a view notes all that it was asked, with the
 * answer. The notes go into the compiled plan, which is used again only where
 * every one of them still holds (program_bawn/cache.c): what was not noted cannot have
 * been used. scripts/layers.py refuses the calls that would go past it.
 *
 * What the launcher has in the plan's key is not noted: ids and groups,
 * capabilities, namespaces, the working directory, the BAWN_* variables.
 */
#ifndef API_VIEW_H
#define API_VIEW_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "plan/compile.h"
#include "policy/resolve.h"

#include <dirent.h>
#include <sys/stat.h>

struct view_note;

struct view {
    struct looker links;  /* the same, where it only counts whether a name is a link */
    struct looker looker; /* looks, and notes it */
    char *const *environ; /* the caller's; borrowed */
    struct arena arena;   /* of the notes */
    struct map seen;      /* paths, by the kind of look */
    VEC(struct view_note *) notes;
    const char *home; /* see view_usual_home; "": nobody knows; NULL: nobody asked yet */
    char *mounts;     /* see view_mounts; NULL: nobody asked yet */
    size_t listed;    /* directories */
    bool is_past;     /* bawn itself has changed since what was looked at */
    bool is_moving; /* something was changing while it was read: the notes may be newer than that */
    bool failed;    /* out of memory: something was not noted */
};

struct view *view_new(char *const *variables);
void view_free(struct view *view);
static inline void view_auto(struct view **view)
{
    view_free(*view);
}
#define autoview __attribute__((cleanup(view_auto)))

/* The value of a variable, or NULL. */
const char *view_variable(struct view *view, const char *name);

enum look view_look(struct view *view, const char *path);

/* Whether it was looked at, and was not there. */
bool view_knows_absent(const struct view *view, const char *path);

/* Whether only root can make the path lead elsewhere. */
bool view_is_steady(struct view *view, const char *path);

/* Whether a file of root's is closed to the caller, or to all others. */
bool view_is_closed(struct view *view, const char *path, bool to_all);

/* As lstat. Of the status, replay compares the type, the mode and the owner. */
bool view_stat(struct view *view, const char *path, struct stat *ret_status);

/* A file, whatever links lead to it; see file_read. */
int view_read(struct view *view, const char *path, size_t limit, char **ret_data,
              size_t *ret_length, struct bawn_error *err);

/* A file that somebody else reads for the plan, before or right after it does: 0, or an errno where
 * there is none. */
int view_note_file(struct view *view, const char *path);

/* A directory to be listed, opened without following a link; NULL with errno. */
DIR *view_open_dir(struct view *view, int parent_fd, const char *name, const char *path);

/* The list of mounts, of which those at the path and below it count; see base/mounts.h. "" where
 * nobody can read it. */
const char *view_mounts(struct view *view, const char *path);

/*
 * Without a note: only for what is told to the user or makes a plan stricter. A plan that is kept
 * does not know when the answer becomes another.
 */
bool view_glance(int dir_fd, const char *name, struct stat *ret_status);
DIR *view_glance_dir(int parent_fd, const char *name);

/* The working directory, which the launcher has in the key; false: there is none. */
bool view_cwd(char ret_path[LIMIT_PATH_BYTES]);

/* Whether the caller is root, which the launcher has in the key, too. */
bool view_is_root(void);

/* The workspace: the directory that the name leads to; or an errno. */
int view_workspace(struct view *view, const char *name, char **ret_path);

/* The caller's home by the user database, resolved; false: nobody knows one. */
bool view_usual_home(struct view *view, char ret_home[LIMIT_PATH_BYTES]);

/* A user's name by the same; NULL: nobody knows one. */
const char *view_user_name(struct view *view, uid_t uid);

/* The program that runs is one of the things that a plan is made from. */
void view_self(struct view *view);

/* Nothing more is looked at, or not before this is called once more. */
void view_finish(struct view *view);

/* What the launcher checks: all notes of the views, names behind their directories. Strings belong
 * to the views. */
int view_collect(struct view *const *views, size_t count, struct compile_deps *deps,
                 struct bawn_error *err);

/* For questions that no plan is made from: the host's files as they are, not noted. */
extern const struct looker view_passing;

#endif
