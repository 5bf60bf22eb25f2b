/* SPDX-License-Identifier: Apache-2.0 */
/* Steps for what is the sandbox's own, and not the host's: private places, /dev, /proc, files with
 * a text of ours. */
#ifndef PLAN_COMPILE_OWN_H
#define PLAN_COMPILE_OWN_H

#include "plan/compiler.h"

enum { MODE_SHARED = 01777, MODE_TEXT = 0444, MODE_FILE = 0644 };

/* What is mounted from beside the root, where nobody inside sees it. */
void own_shelf(struct compiler *compiler, enum image_step step, unsigned mode, const char *name,
               const char *text);

/* A tmpfs by itself; a private place, which is part of one tmpfs with all others. */
int own_tmpfs(struct compiler *compiler, const struct mount_step *step, unsigned mode);
int own_private(struct compiler *compiler, const struct mount_step *step, unsigned mode);
/* A file that begins as the host's, in a private place. */
int own_copy(struct compiler *compiler, const struct mount_step *step);
/* The home that is kept. */
int own_kept(struct compiler *compiler, const struct mount_step *step);

/* device: the number of one that every /dev has, else 0. */
void own_node(struct compiler *compiler, const char *path, unsigned device);
int own_dev(struct compiler *compiler, const struct mount_step *step);
int own_proc(struct compiler *compiler, const struct mount_step *step);
void own_cgroup(struct compiler *compiler);
void own_files(struct compiler *compiler);

#endif
