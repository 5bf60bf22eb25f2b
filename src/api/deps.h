/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan was made from: when one of these is not so any more, it is made anew. */
#ifndef API_DEPS_H
#define API_DEPS_H

#include "api/api.h"
#include "plan/compile.h"

struct deps {
    const struct bawn_plan *plan;
    VEC(struct compile_dep) items;
    VEC(const char *) in_workspace; /* paths of rules there; borrowed */
    struct map seen;
    struct arena arena;
    bool is_moving; /* something changed meanwhile: what was read may be older than what is noted */
    bool failed;
};

/* Looks at all of it. 0 or -ENOMEM. */
int deps_collect(struct deps *deps, const struct bawn_plan *plan, struct bawn_error *err);
void deps_done(struct deps *deps);

#endif
