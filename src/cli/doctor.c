/* SPDX-License-Identifier: Apache-2.0 */
/* bawn doctor: what this host lacks, and the remedy. */
#include "base/cleanup.h"
#include "cli/own.h"
#include "cli/verb.h"

static int run_doctor(const struct options *options, struct output *output, struct bawn_error *err)
{
    autohost struct bawn_host *host = NULL;
    autofree char *text = NULL;
    int found = bawn_host_probe(&host, err);

    (void)options;
    if (found == 0)
        found = bawn_host_doctor(host, output_format(output), &text, err);
    if (found < 0)
        return found;
    strbuf_add(&output->text, text);
    return found > 0 ? STATUS_FINDINGS : STATUS_OK;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "tell what this host lacks, what that costs, and the remedy",
    .busy = "trying what this host can do",
    .details = "Tries what a sandbox at full strength needs and gives, for each thing that is "
               "missing, what it costs and the exact remedy.\n"
               "The exit status is 1 when something keeps the native sandbox from full strength.",
    .groups = (const struct option_group *const[]){&verb_options, NULL},
    .run = run_doctor,
};
