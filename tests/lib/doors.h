/* SPDX-License-Identifier: Apache-2.0 */
/* Into a control group, as a sandbox's pid 1 goes. */
#ifndef TEST_DOORS_H
#define TEST_DOORS_H

#include "kernel/cgroup.h"

#include <unistd.h>

static inline bool enter_cgroup(const struct cgroup *group)
{
    int doors[CGROUP_PATHS];
    int count = cgroup_open_doors(group, doors, NULL);
    bool is_in = count > 0;

    while (count-- > 0) {
        is_in = cgroup_enter(doors[count], NULL) == 0 && is_in;
        (void)close(doors[count]);
    }
    return is_in;
}

#endif
