/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/rlimit.h"

#include "base/error.h"
#include "base/mutant.h"

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the kernel has it: the C libraries disagree about the type of a resource. */
struct kernel_rlimit {
    uint64_t soft, hard;
};

static int lower(int resource, const char *word, uint64_t value, struct bawn_error *err)
{
    struct kernel_rlimit limit = {value, value};

    if (syscall(SYS_prlimit64, 0, resource, &limit, NULL) == 0)
        return 0;
    /* To raise a hard limit takes a right that nobody in a user namespace has: one that is lower
     * stays. */
    if (errno != EPERM || syscall(SYS_prlimit64, 0, resource, NULL, &limit) < 0)
        return error_errno(err, errno, "limit %s", word);
    if (limit.hard > value)
        return error_errno(err, EPERM, "limit %s", word);
    limit.soft = limit.hard;
    if (syscall(SYS_prlimit64, 0, resource, &limit, NULL) < 0)
        return error_errno(err, errno, "limit %s", word);
    return 0;
}

int rlimit_apply(const struct rlimit_values *values, struct bawn_error *err)
{
    const struct {
        int resource;
        const char *word;
        uint64_t value;
    } rows[] = {
        /* KERNEL: with 0 the host's handler of crashes is run all the same, with 1 it is not; for a
         * file both are too little. */
        {RLIMIT_CORE, "core files", 1},
        {RLIMIT_NOFILE, "open files", values->open_files},
        {RLIMIT_FSIZE, "file size", values->file_size},
        {RLIMIT_NPROC, "processes", values->processes},
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].value && LAYER("rlimit"))
            r = lower(rows[i].resource, rows[i].word, rows[i].value, err);
    return r;
}
