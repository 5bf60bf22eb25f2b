/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of libbawn's objects, tied to the scope of a variable. */
#ifndef PROGRAM_POLICY_OWN_H
#define PROGRAM_POLICY_OWN_H

#include <bawn/bawn.h>

#define OWN_CLEANUP(thing)                                                                         \
    static inline void own_free_##thing(struct bawn_##thing **address)                             \
    {                                                                                              \
        if (*address)                                                                              \
            bawn_##thing##_free(*address);                                                         \
    }

OWN_CLEANUP(load)
OWN_CLEANUP(policy)
OWN_CLEANUP(report)
OWN_CLEANUP(decision)
OWN_CLEANUP(host)
OWN_CLEANUP(plan)
OWN_CLEANUP(saved)

#define autoload     __attribute__((cleanup(own_free_load)))
#define autopolicy   __attribute__((cleanup(own_free_policy)))
#define autoreport   __attribute__((cleanup(own_free_report)))
#define autodecision __attribute__((cleanup(own_free_decision)))
#define autohost     __attribute__((cleanup(own_free_host)))
#define autoplan     __attribute__((cleanup(own_free_plan)))
#define autosaved    __attribute__((cleanup(own_free_saved)))

#endif
