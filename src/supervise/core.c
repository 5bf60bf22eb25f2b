/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/core.h"

#include "supervise/answer.h"

/* With more of the last calls made by others a caller is no longer the only one. */
enum { CORE_OTHERS = CORE_CALLS / 4 };

void core_init(struct core *core, int notify_fd)
{
    *core = (struct core){.notify_fd = notify_fd, .is_shared = true};
    core->can_bind =
        sched_getaffinity(0, sizeof(core->own), &core->own) == 0 && CPU_COUNT(&core->own) > 1;
    answer_here(notify_fd, true);
}

static unsigned count_others(const struct core *core, pid_t tid)
{
    unsigned count = 0;

    for (unsigned i = 0; i < CORE_CALLS; i++)
        count += core->last[i] && core->last[i] != tid;
    return count;
}

void core_note(struct core *core, pid_t tid)
{
    unsigned others;
    bool is_shared = core->is_shared;

    core->last[core->next++ % CORE_CALLS] = tid;
    others = count_others(core, tid);
    if (others == 0)
        is_shared = true;
    else if (others > CORE_OTHERS)
        is_shared = false;
    if (is_shared != core->is_shared)
        answer_here(core->notify_fd, is_shared);
    core->is_shared = is_shared;
    if (core->bound && (!is_shared || --core->bound == 0))
        core_rest(core);
}

int core_patience_ms(const struct core *core)
{
    return core->bound ? CORE_BOUND_MS : -1;
}

void core_rest(struct core *core)
{
    if (core->can_bind)
        (void)sched_setaffinity(0, sizeof(core->own), &core->own);
    core->bound = 0;
}

void core_bind(struct core *core, pid_t tid, struct core_binding *ret_binding)
{
    int here = sched_getcpu();
    cpu_set_t one;

    *ret_binding = (struct core_binding){.tid = tid};
    if (!core->is_shared || !core->can_bind || here < 0 ||
        sched_getaffinity(tid, sizeof(ret_binding->before), &ret_binding->before) < 0 ||
        !CPU_ISSET((unsigned)here, &ret_binding->before))
        return;
    CPU_ZERO(&one);
    CPU_SET((unsigned)here, &one);
    if (sched_setaffinity(tid, sizeof(one), &one) < 0)
        return;
    ret_binding->is_bound = true;
    if (!core->bound && sched_setaffinity(0, sizeof(one), &one) == 0)
        core->bound = CORE_BOUND_CALLS;
}

void core_free(const struct core_binding *binding)
{
    if (binding->is_bound)
        (void)sched_setaffinity(binding->tid, sizeof(binding->before), &binding->before);
}
