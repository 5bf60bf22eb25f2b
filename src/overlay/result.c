/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of each change. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "overlay/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void apply_result_done(struct apply_result *result)
{
    vec_done(&result->items);
    arena_done(&result->arena);
}

static void count(struct apply_result *result, enum apply_fate fate)
{
    result->in_part += fate == APPLY_PARTLY;
    if (fate <= APPLY_PARTLY)
        result->done++;
    else if (fate == APPLY_LEFT)
        result->left++;
    else
        result->refused++;
}

int plan_tell(struct plan *plan, unsigned tree, const struct change *change, enum apply_fate fate,
              const char *hint, const char *format, ...)
{
    struct apply_result *result = plan->result;
    bool is_left = plan->is_lenient && fate >= APPLY_CONFLICT;
    struct apply_item item = {.tree = tree,
                              .kind = change->kind,
                              .fate = is_left ? APPLY_LEFT : fate,
                              .cause = fate,
                              .hint = hint};
    autofree char *why = NULL, *shown = NULL;
    va_list args;
    int length;

    va_start(args, format);
    length = vasprintf(&why, format, args);
    va_end(args);
    if (length < 0) {
        why = NULL;
        return -ENOMEM;
    }
    /* Names come from the layer: what would steer a terminal is shown as text. */
    shown = text_escape_new(why, (size_t)length, TEXT_ONE_LINE);
    item.path = arena_strdup(&result->arena, change->path);
    item.why = shown ? arena_strdup(&result->arena, shown) : NULL;
    if (!item.path || !item.why || !vec_push(&result->items, item))
        return -ENOMEM;
    count(result, item.fate);
    return 0;
}

int plan_compare_paths(const char *one, const char *other)
{
    while (*one && *one == *other) {
        one++;
        other++;
    }
    if (*one == *other)
        return 0;
    if (!*one || !*other)
        return *one ? 1 : -1;
    if (*one == '/' || *other == '/')
        return *one == '/' ? -1 : 1;
    return (unsigned char)*one < (unsigned char)*other ? -1 : 1;
}
