/* SPDX-License-Identifier: Apache-2.0 */
/* bawn plan: what would be done for a policy on this host. */
#include "base/cleanup.h"
#include "base/json.h"
#include "program_policy/load.h"

static unsigned compile_flags(const struct options *options)
{
    return options_has(options, OPTION_BEST_EFFORT) ? BAWN_COMPILE_BEST_EFFORT : 0;
}

static int run_plan(const struct options *options, struct output *output, struct bawn_error *err)
{
    autopolicy struct bawn_policy *policy = NULL;
    autohost struct bawn_host *host = NULL;
    autoplan struct bawn_plan *plan = NULL;
    autofree char *text = NULL;
    int result = load_policy_to_run(options, output, false, &policy, err);

    if (result == 0)
        result = bawn_host_probe(&host, err);
    if (result == 0)
        result = bawn_plan_new(policy, host, &plan, err);
    if (result == 0)
        result = options_has(options, OPTION_IMAGE)
                     ? bawn_plan_print_image(plan, compile_flags(options), &text, err)
                     : bawn_plan_print(plan, output_format(output), &text, err);
    if (result < 0)
        return result;
    if (options_has(options, OPTION_IMAGE) && output->json) {
        json_open(&output->text, NULL, '{');
        json_put_string(&output->text, "image", text);
        json_close(&output->text, '}');
        return STATUS_OK;
    }
    strbuf_add(&output->text, text);
    return STATUS_OK;
}

const struct verb verb_plan = {
    .name = "plan",
    .arguments = "",
    .summary = "print what bawn would do for the policy on this host",
    .busy = "reading the policy and looking through what it grants",
    .details = "Prints the mounts, Landlock rules, system call filter, network, limits and "
               "environment that the policy gives on this host. For each rule it says what "
               "enforces it, or that nothing here can. It changes nothing.",
    .groups =
        (const struct option_group *const[]){&plan_options, &load_options, &verb_options, NULL},
    .run = run_plan,
};
