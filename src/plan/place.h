/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a step of the new root is placed: what covers its target, what must be
 * made there first, and when.
 *
 * How it works: the plan's steps come parents first. For each target we know
 * what covers it: nothing (the new root's own tmpfs), a private tmpfs, the home
 * that is kept, the sandbox's procfs, or a tree of the host. In the first three
 * the directories on the way are made; in a tree of the host they are there. In
 * that and in the kept home no link among them is followed.
 */
#ifndef PLAN_PLACE_H
#define PLAN_PLACE_H

#include "plan/compiler.h"

enum { MODE_DIR = 0755, MODE_PRIVATE = 0700 };

/* With the root's own directory, once; before all is sealed at once; after it. */
enum place_when { PLACE_SKELETON, PLACE_EARLY, PLACE_LATE };

/* The nearest mount above a path; NULL: the new root itself. */
const struct cover *place_cover(const struct compiler *compiler, const char *path);
int place_add_cover(struct compiler *compiler, const char *path, enum cover_kind kind,
                    bool writable, bool early);

/* Whether a read-only mount can be made before the seal: what it lies in is there by then. */
bool place_is_early(const struct compiler *compiler, const char *target);
/* Entries are made in the root's own directory once, in a private tmpfs at every start. */
enum place_when place_when_made(const struct compiler *compiler, const char *target);
/* Whether only root can change what the name leads to. */
bool place_is_steady(const struct compiler *compiler, const char *path);
enum look place_look(const struct compiler *compiler, const char *path);

/* Adds a step; a source that is NULL is none. */
void place_step(struct compiler *compiler, enum place_when when, struct image_mount step,
                const char *source, const char *target);

/* Whether it was asked about before: the first who asks makes it. */
enum made_kind { MADE_ENTRY, MADE_PIN, MADE_ON_SHELF };
bool place_is_made(struct compiler *compiler, const char *path, enum made_kind kind);

/* The directories above a target that are ours to make. */
void place_make_parents(struct compiler *compiler, const char *target);
/* A directory of the sandbox's own, and those above it. */
void place_make_dir(struct compiler *compiler, const char *target, unsigned mode);
/* What a mount needs below it: a directory or a file, unless a tree of the host has it. */
void place_make_point(struct compiler *compiler, const char *target, bool is_file);
/* The directories above a target, in a writable tree of the host, become mount points. */
void place_pin_parents(struct compiler *compiler, const char *target);

#endif
