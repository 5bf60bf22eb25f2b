/* SPDX-License-Identifier: Apache-2.0 */
/* ptrace is refused whatever it is about, and only held so that it is known that somebody wanted
 * it: leak checkers do, and say nothing that a user could make sense of. */
#include "supervise/call.h"

#include <errno.h>

int trace_refuse(struct call *call)
{
    struct supervisor_notes *notes = call->options->notes;

    if (notes && !notes->tracer[0])
        (void)caller_name(call->caller, notes->tracer);
    return -EPERM;
}
