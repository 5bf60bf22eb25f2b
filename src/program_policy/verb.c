/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that there are. */
#include "program_policy/verb.h"

#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option only_bawn[] = {
    {.id = OPTION_JSON, .name = "json", .help = "Print one JSON document, errors too."},
    {.id = OPTION_QUIET,
     .letter = 'q',
     .name = "quiet",
     .help = "Leave out warnings and notes about the policy."},
    {.id = OPTION_HELP,
     .letter = 'h',
     .name = "help",
     .help = "Print this help, or that of the verb behind it."},
    {.id = OPTION_VERSION, .letter = 'V', .name = "version", .help = "Print the version."},
};
static const struct option_group bawn_options = {"Options", only_bawn,
                                                 sizeof(only_bawn) / sizeof(only_bawn[0])};

const struct verb verb_bawn = {
    .name = "",
    .arguments = "VERB [OPTION]... [ARGUMENT]...",
    .summary = "run programs and AI agents inside the boundaries of a policy",
    .details = "bawn runs commands inside boundaries that the kernel holds. A policy says what a "
               "contained program may read, write, run and connect to. bawn answers questions "
               "about the policy, and says what this host can enforce.\n"
               "'bawn help VERB' tells more about a verb.",
    .groups = (const struct option_group *const[]){&bawn_options, NULL},
    .verbs =
        (const struct verb *const[]){
            &verb_run,       &verb_shell,  &verb_ps,      &verb_status, &verb_stop,
            &verb_attach,    &verb_logs,   &verb_audit,   &verb_wait,   &verb_approve,
            &verb_supervise, &verb_exec,   &verb_metrics, &verb_check,  &verb_why,
            &verb_plan,      &verb_detect, &verb_doctor,  &verb_policy, &verb_learn,
            &verb_diff,      &verb_apply,  &verb_discard, &verb_undo,   &verb_rm,
            &verb_gc,        &verb_gen,    &verb_help,    NULL},
};

const char *verb_word(const struct verb *verb)
{
    const char *space = strrchr(verb->name, ' ');

    return space ? space + 1 : verb->name;
}

static int unknown_verb(const struct verb *above, const char *word, struct bawn_error *err)
{
    char command[64];
    const char *words[32] = {NULL};
    const char *nearest;
    char shown[256];
    int result;

    for (size_t i = 0; above->verbs && above->verbs[i] && i + 1 < sizeof(words) / sizeof(words[0]);
         i++)
        words[i] = verb_word(above->verbs[i]);
    nearest = words_nearest(words, word);
    (void)snprintf(command, sizeof(command), "bawn%s%s", above->name[0] ? " " : "", above->name);
    text_escape(shown, sizeof(shown), word, strlen(word), TEXT_ONE_LINE);
    result =
        error_set(err, EINVAL, "usage.unknown_verb", "%s: '%s' has no such verb", shown, command);
    if (nearest)
        error_hint(err, "did you mean '%s'?", nearest);
    else if (above->verbs)
        error_hint(err, "'%s --help' lists the verbs", command);
    return result;
}

const struct verb *verb_find(const struct verb *above, const char *word, struct bawn_error *err)
{
    for (const struct verb *const *verb = above->verbs; verb && *verb; verb++) {
        if (strcmp(verb_word(*verb), word) == 0)
            return *verb;
    }
    (void)unknown_verb(above, word, err);
    return NULL;
}

enum bawn_format output_format(const struct output *output)
{
    return output->json ? BAWN_FORMAT_JSON : BAWN_FORMAT_TEXT;
}

int verdict_status(enum bawn_verdict verdict)
{
    return verdict == BAWN_DENY ? STATUS_DENIED : verdict == BAWN_ASK ? STATUS_ASK : STATUS_OK;
}

static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);

        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
    return 0;
}

int output_write(int fd, struct strbuf *text)
{
    if (text->length > 0 && text->text[text->length - 1] != '\n')
        strbuf_add(text, "\n");
    if (text->failed)
        return -ENOMEM;
    return text->length > 0 ? write_all(fd, text->text, text->length) : 0;
}

void output_flush(struct output *output)
{
    (void)output_write(STDERR_FILENO, &output->notes);
    strbuf_done(&output->notes);
}
