/* SPDX-License-Identifier: Apache-2.0 */
/* The calls, and how their arguments are chosen. */
#ifndef DIFFER_STEPS_H
#define DIFFER_STEPS_H

#include "differ/actor.h"

enum { DEPTH_MAX = 3 };

mode_t choose_mode(struct actor *actor);
/* A directory to start at, told; *ret_may is what the path may be with it. */
int choose_dir(struct actor *actor, unsigned *ret_may);
int choose_slot(struct actor *actor, unsigned *ret_slot);
/* Whether a link of /proc leads out of the base. */
bool is_outside(const struct actor *actor, const char *link);
/* Keeps what was opened in a slot, but for a directory that leads elsewhere. */
void keep(struct actor *actor, uint32_t slot);
void tell_opened(struct actor *actor);
void tell_cwd(struct actor *actor);

void step_open(struct actor *actor);
void step_openat2(struct actor *actor);
void step_mkdir(struct actor *actor);
void step_mknod(struct actor *actor);
void step_symlink(struct actor *actor);
void step_link(struct actor *actor);
void step_rename(struct actor *actor);
void step_remove(struct actor *actor);
void step_truncate(struct actor *actor);
void step_chmod(struct actor *actor);
void step_attribute(struct actor *actor);
void step_bind(struct actor *actor);
void step_umask(struct actor *actor);
void step_chdir(struct actor *actor);
void step_home(struct actor *actor);
void step_gone(struct actor *actor);
void step_look(struct actor *actor);
void step_use(struct actor *actor);
void step_set_id(struct actor *actor);
void step_child(struct actor *actor);

#endif
