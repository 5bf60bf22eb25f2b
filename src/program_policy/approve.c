/* SPDX-License-Identifier: Apache-2.0 */
/* bawn policy approve: the user takes a project's policy as it is now. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "program_policy/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Shows the file and asks. Returns 1 for yes, 0 for no. */
static int ask(const char *shown_path, const char *data, size_t length, struct bawn_error *err)
{
    autofree char *shown = text_escape_new(data, length, TEXT_LINES);
    char answer[16] = "";

    if (!shown)
        return error_memory(err);
    /* The one place besides main that writes: a question must be seen before it is answered. */
    (void)fprintf(stderr,
                  "%s%s--\n"
                  "Approve %s as shown? It may then widen what you and your organisation "
                  "did not deny, until it changes. [y/N] ",
                  shown, length > 0 && data[length - 1] != '\n' ? "\n" : "", shown_path);
    (void)fflush(stderr);
    if (!fgets(answer, sizeof(answer), stdin))
        return 0;
    return strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 || strcmp(answer, "yes\n") == 0;
}

/* Returns 1 when the user said yes to the text, 0 when not. */
static int confirm(const char *shown_path, const char *text, size_t length, struct bawn_error *err)
{
    int result;

    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        return ask(shown_path, text, length, err);
    result = error_set(err, EINVAL, "usage.no_terminal",
                       "policy approve: there is no terminal to confirm on");
    error_hint(err, "read %s, then add --yes", shown_path);
    return result;
}

static int print_done(struct output *output, const char *path, bool approved, const char *store)
{
    struct strbuf *out = &output->text;

    if (output->json) {
        json_open(out, NULL, '{');
        json_put_bool(out, "approved", approved);
        json_put_string(out, "file", path);
        json_put_string(out, "record", store);
        json_close(out, '}');
    } else if (approved && !output->quiet) {
        strbuf_add(out, "approved ");
        strbuf_add_escaped(out, path);
        strbuf_add(out, " (recorded in ");
        strbuf_add_escaped(out, store);
        strbuf_add(out, ")\n");
    } else if (!approved && !output->quiet) {
        strbuf_add(out, "not approved\n");
    }
    return approved ? STATUS_OK : STATUS_FINDINGS;
}

static int run_approve(const struct options *options, struct output *output, struct bawn_error *err)
{
    autoload struct bawn_load *load = NULL;
    autofree char *path = NULL;
    autofree char *text = NULL;
    autofree char *store = NULL;
    size_t length = 0;
    char shown[512];
    int result = load_collect(options, &load, err);

    if (result == 0 && options->words.count > 0)
        path = strdup(options->words.items[0]);
    else if (result == 0)
        result = bawn_policy_project_file(load, &path, err);
    if (result == 0 && !path)
        result = error_memory(err);
    if (result == 0)
        result = file_read(AT_FDCWD, path, LIMIT_CONFIG_BYTES, &text, &length, err);
    if (result == -ENOENT && options->words.count == 0)
        error_hint(err, "name the file, or the directory of the project with --workspace");
    if (result < 0 || !path)
        return result;
    text_escape(shown, sizeof(shown), path, strlen(path), TEXT_ONE_LINE);
    result = options_has(options, OPTION_YES) ? 1 : confirm(shown, text, length, err);
    if (result > 0)
        result = bawn_policy_approve(load, path, text, length, &store, err);
    else if (result == 0)
        return print_done(output, path, false, NULL);
    return result < 0 ? result : print_done(output, path, true, store);
}

static const struct option rows[] = {
    {.id = OPTION_YES,
     .letter = 'y',
     .name = "yes",
     .help = "Do not ask. Needed where there is no terminal."},
};
static const struct option_group group = {"How", rows, sizeof(rows) / sizeof(rows[0])};

const struct verb verb_policy_approve = {
    .name = "policy approve",
    .arguments = "[FILE]",
    .summary = "let a project's policy file widen, as it is now",
    .details =
        "The policy of a project may only narrow what you and your organisation allow. This verb "
        "records the hash of FILE: until its content changes, the file may widen too. Default: "
        ".bawn/policy.yaml of the workspace.\n"
        "On a terminal bawn shows the file and asks you. The exit status is 1 when you decline.",
    .fill = FILL_FILES,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&group, &load_place, &verb_options, NULL},
    .run = run_approve,
};
