/* SPDX-License-Identifier: Apache-2.0 */
/* A tree with an overlay on it, which the kernel makes in a user namespace. */
#ifndef TESTS_LIB_SCENE_H
#define TESTS_LIB_SCENE_H

#include "lib/test.h"
#include "overlay/changes.h"
#include "overlay/show.h"

enum { PATH_BYTES = TEST_DIR_BYTES + 16, NO_OVERLAY = 77 };

/* A directory with lower, upper and merged in it. */
struct scene {
    char dir[TEST_DIR_BYTES];
    struct overlay_tree tree;
    struct changes changes;
};

/* A scene whose tree a script made. False: there is no overlay for this user here. Scripts are
 * bash's and end at the first failure; "attr FILE NAME [VALUE]" sets an extended attribute or takes
 * it away. */
bool scene_start(struct scene *scene, const char *name, const char *lower_script);
static inline bool scene_make(struct scene *scene, const char *name, const char *lower_script)
{
    /* Here, since the program that has the cases removes their directories. */
    *scene = (struct scene){.tree = {.path = "/tree"}};
    test_make_dir(scene->dir, name);
    return scene_start(scene, name, lower_script);
}
void scene_end(struct scene *scene);

/* Runs a script in a directory of the scene's; in "merged" with the overlay there. */
int scene_try(const struct scene *scene, const char *where, const char *script);
void scene_run(const struct scene *scene, const char *where, const char *script);
/* In a child, whose directory is the scene's: merged becomes the overlay. */
void scene_enter(void);

/* Finds the changes anew. */
void scene_find(struct scene *scene);
/* They are these; a line for each: kind, what in letters, path, source, bar. */
void scene_has(struct scene *scene, const char *wanted);
/* What a form shows of them; the caller frees it. */
char *scene_shown(const struct scene *scene, struct show_options options);
void scene_shows(struct scene *scene, struct show_options options, const char *wanted);
/* Writes a file into the scene's directory. */
void scene_keep(const struct scene *scene, const char *name, const char *text);

#endif
