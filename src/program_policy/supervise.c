/* SPDX-License-Identifier: Apache-2.0 */
/* bawn supervise: programs and rules answer what sessions ask. */
#include "approvals/approvals.h"

#include "base/error.h"
#include "program_policy/verb.h"

#include <errno.h>

static int refuse(struct bawn_error *err, const char *what, const char *hint)
{
    (void)error_set(err, EINVAL, "usage.bad_value", "%s", what);
    error_hint(err, "%s", hint);
    return -EINVAL;
}

static int run_supervise(const struct options *options, struct output *output,
                         struct bawn_error *err)
{
    struct approvals_request request = {.sid =
                                            options->words.count ? options->words.items[0] : NULL,
                                        .socket_path = options_value(options, OPTION_SOCKET),
                                        .rules_path = options_value(options, OPTION_RULES),
                                        .uses_stdio = options_has(options, OPTION_STDIO),
                                        .is_dry = options_has(options, OPTION_DRY_RUN),
                                        .json = output->json,
                                        .quiet = output->quiet};
    int result;

    if (request.uses_stdio && (request.socket_path || request.rules_path))
        return refuse(err, "--stdio: standard output is for the protocol alone",
                      "leave out --socket and --rules, or start a second 'bawn supervise'");
    if (request.is_dry && !request.rules_path)
        return refuse(err, "--dry-run: there are no rules to try", "add --rules FILE");
    request.uses_socket = request.socket_path || (!request.uses_stdio && !request.rules_path);
    result = approvals_serve(&request, err);
    return result < 0 ? result : STATUS_OK;
}

static const struct option rows[] = {
    {.id = OPTION_SOCKET,
     .name = "socket",
     .value = "PATH",
     .fill = FILL_FILES,
     .help = "Where clients connect: a UNIX socket in a directory of yours that nobody else may "
             "enter. Default: 'supervisor' in the directory of sessions, which no sandbox sees."},
    {.id = OPTION_STDIO,
     .name = "stdio",
     .help = "Speak the protocol on standard input and output, for the program that started bawn. "
             "Ends with its input."},
    {.id = OPTION_RULES,
     .name = "rules",
     .value = "FILE",
     .fill = FILL_FILES,
     .help = "Answer by the rules in FILE, without clients unless --socket is given, too. Each "
             "answer is a line on standard output. SIGHUP reads FILE anew."},
    {.id = OPTION_DRY_RUN,
     .name = "dry-run",
     .help = "With --rules: print what the rules would answer, and leave the answers to others."},
};
static const struct option_group group = {"Who answers", rows, sizeof(rows) / sizeof(rows[0])};

const struct verb verb_supervise = {
    .name = "supervise",
    .arguments = "[SID]",
    .summary = "let programs or rules answer what sessions ask",
    .details =
        "Where a rule says ask, a command waits until somebody answers. supervise puts the "
        "questions of your sessions, also of those that start later, to programs that connect to "
        "its socket: newline-delimited JSON, which docs/PROTOCOL-approvals.md describes. The first "
        "answer counts, whoever gives it. When the last client goes, and nobody else can be asked, "
        "the answer to all that waits is no. So it is when supervise ends, or is killed.\n"
        "With --rules it answers by itself. FILE is YAML with a list, as in 'rules: [{op: read, "
        "path: "
        "/srv/data/**, answer: allow, scope: dir}]'. "
        "The first rule that matches counts. op is read, write, exec, connect or bind, or a list "
        "of these. path and program are patterns of whole paths as the command sees them, host is "
        "as for --allow-host. answer is allow, deny, or ask, which leaves the question to other "
        "approvers. scope is once (the default), file, dir or host; persist says where the answer "
        "is kept: session, user, project, local or org. What no rule matches is denied, unless "
        "'default: ask' leaves it to others. Keep FILE where no sandbox can write. A program's "
        "name is no proof of what it does: it may have loaded anything.\n"
        "With SID only that session is served, and supervise ends with it. SID is the session's "
        "name as 'bawn ps' shows it; its first letters are enough.\n"
        "With --json the lines on standard output are JSON objects.",
    .max_args = 1,
    .groups = (const struct option_group *const[]){&group, &verb_options, NULL},
    .run = run_supervise,
};
