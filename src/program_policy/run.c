/* SPDX-License-Identifier: Apache-2.0 */
/* bawn run and shell: makes the plan of the policy and hands it to the launcher. */
#include "base/cleanup.h"
#include "program_policy/load.h"

#include <bawn/run.h>
#include <string.h>

/* What the launcher is told again: the words of this command line, as they were typed. */
int run_with_plan(const struct options *options, struct output *output, struct bawn_error *err)
{
    autopolicy struct bawn_policy *policy = NULL;
    autohost struct bawn_host *host = NULL;
    autoplan struct bawn_plan *plan = NULL;
    autoclose int fd = -EBADF;
    autofree char *left_out = NULL;
    unsigned flags = options_has(options, OPTION_BEST_EFFORT) ? BAWN_COMPILE_BEST_EFFORT : 0;
    struct bawn_probe *probe = NULL;
    int result = bawn_host_probe_start(&probe, err);
    int probed;

    if (result == 0)
        result = load_policy_to_run(options, output, true, &policy, err);
    probed = bawn_host_probe_finish(probe, &host, result == 0 ? err : NULL);
    if (result == 0)
        result = probed;
    if (result == 0)
        result = bawn_plan_new(policy, host, &plan, err);
    if (result == 0)
        result = bawn_plan_compile(plan, flags, &fd, err);
    if (result == 0 && !output->quiet)
        result = bawn_plan_left_out(plan, &left_out, err);
    if (result < 0)
        return result;
    for (const char *line = left_out; line && *line; line += strcspn(line, "\n") + 1)
        strbuf_addf(&output->notes, "bawn: %.*s\n", (int)strcspn(line, "\n"), line);
    output_flush(output);
    return bawn_launcher_exec(fd, output->args, err);
}
