/* SPDX-License-Identifier: Apache-2.0 */
/* What is noted for the end of the run. */
#include "base/cleanup.h"
#include "supervise/call.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* Refused whatever it is about, and only held so that it is known that somebody wanted it: leak
 * checkers do, and say nothing that a user could make sense of. */
int notes_trace(struct call *call)
{
    struct supervisor_notes *notes = call->options->notes;

    if (notes && !notes->tracer[0])
        (void)caller_name(call->caller, notes->tracer);
    return -EPERM;
}

void notes_write(const struct call *call, const char *path)
{
    struct supervisor_notes *notes = call->options->notes;
    const char *name = strrchr(path, '/');
    char buffer[GUARD_PATH_BYTES];
    const char *outside;

    if (!notes || !name || strcasecmp(name, "/.git") != 0 || !guard_is_host_tree(call->guard, path))
        return;
    outside = guard_outside(call->guard, path, buffer);
    for (unsigned i = 0; i < notes->gitfile_count && i < NOTES_GITFILES; i++)
        if (strcmp(notes->gitfiles[i], outside) == 0)
            return;
    if (notes->gitfile_count < NOTES_GITFILES && strlen(outside) < NOTES_PATH_BYTES)
        (void)stpcpy(notes->gitfiles[notes->gitfile_count], outside);
    notes->gitfile_count++;
}
