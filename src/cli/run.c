/* SPDX-License-Identifier: Apache-2.0 */
/* bawn run and shell: makes the plan of the policy and hands it to the launcher. */
#include "base/cleanup.h"
#include "cli/load.h"

#include <bawn/run.h>

/* What the launcher is told again: the words of this command line, as they were typed. */
static int run_run(const struct options *options, struct output *output, struct bawn_error *err)
{
    autopolicy struct bawn_policy *policy = NULL;
    autohost struct bawn_host *host = NULL;
    autoplan struct bawn_plan *plan = NULL;
    autoclose int fd = -EBADF;
    autofree char *left_out = NULL;
    unsigned flags = options_has(options, OPTION_BEST_EFFORT) ? BAWN_COMPILE_BEST_EFFORT : 0;
    int result = load_policy_to_run(options, output, &policy, err);

    if (result == 0)
        result = bawn_host_probe_kernel(&host, err);
    if (result == 0)
        result = bawn_plan_new(policy, host, &plan, err);
    if (result == 0)
        result = bawn_plan_compile(plan, flags, &fd, err);
    if (result == 0 && !output->quiet)
        result = bawn_plan_left_out(plan, &left_out, err);
    if (result < 0)
        return result;
    if (left_out && *left_out)
        strbuf_addf(&output->notes, "bawn: %s", left_out);
    output_flush(output);
    return bawn_launcher_exec(fd, output->args, err);
}

const struct verb verb_run = {
    .name = "run",
    .arguments = "[--] [COMMAND [ARGUMENT]...]",
    .summary = "run a command inside the boundaries of the policy",
    .busy = "reading the policy and looking through what it grants",
    .details =
        "Runs COMMAND, or your shell, where it can reach only what the policy grants. The kernel "
        "holds the boundaries: mounts, namespaces, Landlock, a system call filter and limits. The "
        "exit status is the command's; 126 and 127 when it cannot be run or is not there, 128+N "
        "when signal N ended it, 124 when its time was up, 125 when bawn refused or failed before "
        "it ran, or could not write what it said to a file.\n"
        "On a terminal the command gets one of its own; pipes stay as they are, and so do files, "
        "but for one to write that the policy does not let the command write by its name: bawn "
        "writes that, and inside it is a pipe.",
    .max_args = ARGS_ANY,
    .fill = FILL_FILES,
    .ends_at_word = true,
    .groups =
        (const struct option_group *const[]){&run_options, &load_options, &verb_options, NULL},
    .run = run_run,
};

const struct verb verb_shell = {
    .name = "shell",
    .arguments = "",
    .summary = "an interactive shell inside the boundaries of the policy",
    .busy = "reading the policy and looking through what it grants",
    .details = "Runs your shell ($SHELL) on a terminal of its own, as 'bawn run' would: job "
               "control, Ctrl-C and resizing work, and the terminal is as it was afterwards.",
    .groups =
        (const struct option_group *const[]){&run_options, &load_options, &verb_options, NULL},
    .run = run_run,
};
