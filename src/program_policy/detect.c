/* SPDX-License-Identifier: Apache-2.0 */
/* bawn detect: what this host has. */
#include "base/cleanup.h"
#include "program_policy/own.h"
#include "program_policy/verb.h"

static int run_detect(const struct options *options, struct output *output, struct bawn_error *err)
{
    autohost struct bawn_host *host = NULL;
    autofree char *text = NULL;
    int result = bawn_host_probe(&host, err);

    (void)options;
    if (result == 0)
        result = bawn_host_print(host, output_format(output), &text, err);
    if (result < 0)
        return result;
    strbuf_add(&output->text, text);
    return bawn_host_can_start(host) ? STATUS_OK : STATUS_FINDINGS;
}

const struct verb verb_detect = {
    .name = "detect",
    .arguments = "",
    .summary = "list the backends and kernel features of this host",
    .busy = "trying what this host can do",
    .details = "Tries each mechanism in a short-lived process and lists the backends, each with "
               "its version or the reason why it cannot be used, and the features of the kernel. "
               "It leaves nothing behind.\n"
               "The exit status is 1 when bawn can start no command here. With --json 'ok' says so "
               "too, and 'best' names the backend that bawn would use.",
    .groups = (const struct option_group *const[]){&verb_options, NULL},
    .run = run_detect,
};
