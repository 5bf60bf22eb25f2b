/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/core.h"

#include "supervise/answer.h"

#include <string.h>

/* So many of the last calls make a caller one of several. */
enum { CORE_OFTEN = 4 };

void core_init(struct core *core, int notify_fd)
{
    *core = (struct core){.notify_fd = notify_fd, .is_shared = true};
    core->can_bind =
        sched_getaffinity(0, sizeof(core->own), &core->own) == 0 && CPU_COUNT(&core->own) > 1;
    answer_here(notify_fd, true);
}

/* Whether two threads or more have called often lately. */
static bool has_several(const struct core *core)
{
    unsigned often = 0;

    for (unsigned i = 0; i < CORE_CALLS && often < 2; i++) {
        unsigned count = 0;
        bool is_first = true;

        for (unsigned k = 0; k < CORE_CALLS; k++) {
            count += core->last[k] == core->last[i];
            is_first = is_first && (k >= i || core->last[k] != core->last[i]);
        }
        often += is_first && core->last[i] && count >= CORE_OFTEN;
    }
    return often >= 2;
}

void core_note(struct core *core, pid_t tid)
{
    bool is_shared;

    core->last[core->next++ % CORE_CALLS] = tid;
    is_shared = !has_several(core);
    if (is_shared != core->is_shared)
        answer_here(core->notify_fd, is_shared);
    core->is_shared = is_shared;
}

void core_bind(const struct core *core, pid_t tid, struct core_binding *ret_binding)
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
    (void)sched_setaffinity(0, sizeof(one), &one);
}

void core_free_caller(const struct core_binding *binding)
{
    if (binding->is_bound)
        (void)sched_setaffinity(binding->tid, sizeof(binding->before), &binding->before);
}

void core_free_self(const struct core *core, const struct core_binding *binding)
{
    if (binding->is_bound)
        (void)sched_setaffinity(0, sizeof(core->own), &core->own);
}
