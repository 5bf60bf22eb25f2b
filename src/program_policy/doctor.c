/* SPDX-License-Identifier: Apache-2.0 */
/* bawn doctor: what this host lacks, and the remedy. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "program_policy/load.h"

#include <string.h>

/* The policy's part, behind the host's. */
static int add_advice(const struct bawn_report *report, const char *host, struct output *output,
                      struct bawn_error *err)
{
    autofree char *text = bawn_report_print(report, output_format(output));
    struct strbuf *out = &output->text;

    if (!text || !host)
        return error_memory(err);
    if (output->json) {
        const char *end = strrchr(host, '}');

        strbuf_add_bytes(out, host, end ? (size_t)(end - host) : 0);
        json_put_raw(out, "policy", text);
        json_close(out, '}');
        return 0;
    }
    strbuf_add(out, host);
    if (bawn_report_count(report) == 0)
        strbuf_add(out, "\n"
                        "The policy gives nothing away that needs a warning.\n");
    else
        strbuf_addf(out, "\nOf the policy:\n%s", text);
    return 0;
}

static int run_doctor(const struct options *options, struct output *output, struct bawn_error *err)
{
    autohost struct bawn_host *host = NULL;
    autopolicy struct bawn_policy *policy = NULL;
    autoreport struct bawn_report *advice = NULL;
    autofree char *text = NULL;
    int found = bawn_host_probe(&host, err);
    int result;

    if (found == 0)
        found = bawn_host_doctor(host, output_format(output), &text, err);
    if (found < 0)
        return found;
    /* What the host lacks is worth knowing though the policy cannot be read. */
    result = load_policy(options, output, &policy, NULL, err);
    if (result < 0 && !output->json)
        strbuf_add(&output->notes, text);
    if (result == 0)
        result = bawn_policy_advise(policy, &advice, err);
    if (result == 0)
        result = add_advice(advice, text, output, err);
    if (result < 0)
        return result;
    return found > 0 ? STATUS_FINDINGS : STATUS_OK;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "say what this host lacks and what the policy gives away, with the remedy",
    .busy = "trying what this host can do",
    .details =
        "Tries what a sandbox at full strength needs. For each thing that this host lacks it says "
        "what that costs, and the exact remedy. Then it says what the policy gives away: commands "
        "that run outside, a home that is granted whole, secrets that are opened.\n"
        "The exit status is 1 when something keeps the native sandbox from full strength.",
    .groups = (const struct option_group *const[]){&load_options, &verb_options, NULL},
    .run = run_doctor,
};
