/* SPDX-License-Identifier: Apache-2.0 */
#include "differ/steps.h"

#include <fcntl.h>
#include <sys/stat.h>

static const struct {
    void (*make)(struct actor *actor);
    uint32_t weight;
} kinds[] = {
    {step_open, 26},    {step_openat2, 8}, {step_mkdir, 10},    {step_mknod, 5},
    {step_symlink, 8},  {step_link, 7},    {step_rename, 12},   {step_remove, 14},
    {step_truncate, 4}, {step_chmod, 7},   {step_attribute, 6}, {step_bind, 4},
    {step_umask, 3},    {step_chdir, 5},   {step_home, 4},      {step_gone, 1},
    {step_look, 6},     {step_use, 14},    {step_set_id, 1},    {step_child, 3},
};

void steps_make(struct actor *actor, unsigned count)
{
    uint32_t all = 0;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        all += kinds[i].weight;
    for (unsigned step = 0; step < count; step++) {
        uint32_t chosen = actor_pick(actor, all);
        size_t kind = 0;

        while (chosen >= kinds[kind].weight)
            chosen -= kinds[kind++].weight;
        tell(actor, "%*s%s", (int)actor->depth * 2, "",
             actor_is_lost(actor->shares ? actor->base_fd : AT_FDCWD) ? "lost " : "");
        kinds[kind].make(actor);
        actor->used = 0;
    }
}

void steps_begin(struct actor *actor)
{
    static const char *const dirs[] = {"a", "a/b", "a/b/c", "b", "b/a", "c"};

    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        CALL(actor, mkdirat(actor->base_fd, dirs[i], 0755));
        tell(actor, "begin %s", dirs[i]);
        tell_result(actor);
        tell_end(actor);
    }
}
