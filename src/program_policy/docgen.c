/* SPDX-License-Identifier: Apache-2.0 */
/* docgen man|policy|bash|zsh|fish: prints documentation made from the tables. Run by the build. */
#include "program_policy/docgen.h"

#include "base/cleanup.h"
#include "program_policy/help.h"
#include "program_policy/load.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { ROFF_WIDTH = 78 };

static const char release_date[] = "2026-11-15";

/* What the tables do not say. */
static const struct roff_entry statuses[] = {
    {"0", "Done. check, why: the policy allows all of it."},
    {"1", "detect: bawn can start no command here. check, why: the policy denies it. policy lint: "
          "there are warnings. doctor: something keeps the native sandbox from full strength. "
          "policy approve: declined."},
    {"2", "check, why: the policy denies nothing, but bawn would ask about something."},
    {"124", "run: the time limit was reached."},
    {"125", "Wrong usage, a policy that bawn refuses, or a failure of bawn itself. Standard error "
            "says what, why and what to do. With --json standard output has the same as an object "
            "'error' with the members code, message and hint, and complaints about a policy. run, "
            "shell and exec: the command never ran, or bawn could not write its output to a file."},
    {"126, 127", "run, shell, exec: the command cannot be run (126) or is not there (127)."},
    {"128+N", "run, shell, exec, attach: signal N ended the command."},
    {"others", "run, shell, exec, attach: the command's own."},
};

static const struct roff_entry variables[] = {
    {"BAWN_POLICY", "A policy file that bawn reads before those of --policy."},
    {"BAWN_PROFILE", "The profile to start from; --profile wins over it."},
    {"BAWN_*",
     "Single values of the policy, between the files and the options: sandbox.limits.memory is "
     "BAWN_LIMITS_MEMORY, and so on; see bawn-policy(5). An unknown one is an error."},
    {"HOME, XDG_CONFIG_HOME",
     "Where bawn looks for the user's files. Where that lies in the workspace, those files count "
     "as the project's, and bawn takes the user's from the home that the user database names."},
    {"NO_COLOR",
     "When set and not empty, bawn prints no colours. It prints colours on terminals only."},
    {"COLUMNS", "The width of help texts, instead of that of the terminal."},
};

static const struct roff_entry files[] = {
    {"/etc/bawn/policy.yaml",
     "The policy of the organisation. No other layer can re-open what it denies."},
    {"$XDG_CONFIG_HOME/bawn/policy.yaml",
     "The policy of the user. Without the variable the directory is ~/.config."},
    {".bawn/policy.yaml", "The policy of a project, in the workspace or above it. It may only "
                          "narrow, unless you approve it with 'bawn policy approve'."},
    {".bawn/local.yaml", "The same, for one checkout; not meant to be shared."},
    {"$XDG_CONFIG_HOME/bawn/approved", "The hashes of the project files that you approved."},
    {"~/.cache/bawn/plans",
     "Compiled plans, in the home that /etc/passwd names, whatever XDG_CACHE_HOME says. You can "
     "remove the directory whenever no sandbox runs."},
    {"~/.local/state/bawn/sessions",
     "The output and exit status of detached commands, in the same home, for a day after their "
     "end. No sandbox sees it. You can remove the directory whenever no sandbox runs."},
};

static const struct roff_entry examples[] = {
    {"bawn run -- npm test",
     "Runs a command that reaches this directory and the system's files, no more."},
    {"bawn check write src/main.c", "May a program that works here write this file?"},
    {"bawn check connect --net proxy --allow-host '*.example.org' www.example.org:443",
     "The same question about a host, with rules from the command line."},
    {"bawn why read ~/.ssh/id_ed25519", "Which rule keeps the key from being read, and where "
                                        "it stands."},
    {"bawn policy lint", "What is wrong with the policies that count here."},
    {"bawn plan --profile strict --json",
     "What bawn would do on this host, for a program to read."},
    {"bawn doctor", "What this host lacks, and the remedy."},
};

bool docgen_is_shared(const struct option_group *group)
{
    return group == &verb_options || group == &load_options || group == &load_place;
}

/* One character of text; before is the one in front of it. */
static void roff_char(struct strbuf *out, char before, char c, bool literal)
{
    switch (c) {
    case '\\':
        strbuf_add(out, "\\e");
        break;
    case '\'':
        strbuf_add(out, "\\(aq");
        break;
    case '~':
        strbuf_add(out, "\\(ti");
        break;
    case '^':
        strbuf_add(out, "\\(ha");
        break;
    case '-':
        /* A hyphen inside a word; else a minus, which can be copied from the page. */
        strbuf_add(out, literal || !isalpha((unsigned char)before) ? "\\-" : "-");
        break;
    default:
        strbuf_add_bytes(out, &c, 1);
    }
}

void roff_literal(struct strbuf *out, const char *text)
{
    if (*text == '.')
        strbuf_add(out, "\\&");
    for (; *text; text++)
        roff_char(out, ' ', *text, true);
}

void roff_prose(struct strbuf *out, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " \n");

        if (column > 0) {
            bool fits = column + 1 + length <= ROFF_WIDTH;

            strbuf_add(out, fits ? " " : "\n");
            column = fits ? column + 1 : 0;
        }
        if (column == 0 && *text == '.')
            strbuf_add(out, "\\&");
        for (size_t i = 0; i < length; i++)
            roff_char(out, i > 0 ? text[i - 1] : ' ', text[i], false);
        column += length;
        text += length;
        if (*text == '\n') {
            strbuf_add(out, "\n.PP\n");
            column = 0;
        }
        if (*text)
            text++;
    }
    strbuf_add(out, "\n");
}

static void roff_option(struct strbuf *out, const struct option *option)
{
    autostrbuf struct strbuf help = {0};

    strbuf_add(out, ".TP\n");
    if (option->letter)
        strbuf_addf(out, "\\fB\\-%c\\fR, ", option->letter);
    strbuf_add(out, "\\fB\\-\\-");
    roff_literal(out, option->name);
    strbuf_add(out, "\\fR");
    if (option->value) {
        strbuf_add(out, " \\fI");
        roff_literal(out, option->value);
        strbuf_add(out, "\\fR");
    }
    strbuf_add(out, "\n");
    help_add_option(&help, option);
    if (option->repeats)
        strbuf_add(&help, " May be given more than once.");
    if (help.text)
        roff_prose(out, help.text);
}

static void roff_group(struct strbuf *out, const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        roff_option(out, &group->rows[i]);
}

static void roff_synopsis(struct strbuf *out, const struct verb *verb)
{
    for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
        roff_synopsis(out, verb->verbs[i]);
    if (verb->verbs)
        return;
    strbuf_addf(out, ".br\n\\fBbawn %s\\fR [\\fIOPTION\\fR]...%s", verb->name,
                verb->arguments[0] ? " \\fI" : "");
    roff_literal(out, verb->arguments);
    strbuf_add(out, verb->arguments[0] ? "\\fR\n" : "\n");
}

static void roff_verb(struct strbuf *out, const struct verb *verb)
{
    for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
        roff_verb(out, verb->verbs[i]);
    if (verb->verbs)
        return;
    strbuf_addf(out, ".SS bawn %s", verb->name);
    strbuf_addf(out, "%s%s\n", verb->arguments[0] ? " " : "", verb->arguments);
    roff_prose(out, verb->details);
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        if (!docgen_is_shared(*group))
            roff_group(out, *group);
    }
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        if (*group == &load_options)
            strbuf_add(out, ".PP\nIt takes the options that select a policy, below.\n");
        if (*group == &load_place)
            strbuf_add(out, ".PP\nIt takes \\fB\\-\\-workspace\\fR, below.\n");
    }
}

void roff_title(struct strbuf *out, const char *name, unsigned section, const char *manual)
{
    strbuf_addf(out, ".TH %s %u %s \"bawn %s\" \"%s\"\n", name, section, release_date,
                bawn_version(), manual);
}

void roff_entries(struct strbuf *out, const struct roff_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        strbuf_add(out, ".TP\n\\fB");
        roff_literal(out, entries[i].name);
        strbuf_add(out, "\\fR\n");
        roff_prose(out, entries[i].text);
    }
}

static void roff_examples(struct strbuf *out)
{
    strbuf_add(out, ".SH EXAMPLES\n");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        if (i > 0)
            strbuf_add(out, ".PP\n");
        roff_prose(out, examples[i].text);
        strbuf_add(out, ".PP\n.RS 4\n.nf\n");
        roff_literal(out, examples[i].name);
        strbuf_add(out, "\n.fi\n.RE\n");
    }
}

void docgen_man(struct strbuf *out)
{
    strbuf_add(out, ".\\\" Made by docgen from the tables of the command line.\n");
    roff_title(out, "BAWN", 1, "User Commands");
    strbuf_add(out, ".SH NAME\nbawn \\- ");
    roff_prose(out, verb_bawn.summary);
    strbuf_add(out, ".SH SYNOPSIS\n.nh\n.ad l\n\\fBbawn\\fR \\fB\\-\\-help\\fR | "
                    "\\fB\\-\\-version\\fR\n");
    roff_synopsis(out, &verb_bawn);
    strbuf_add(out, ".ad b\n.hy\n.SH DESCRIPTION\n");
    roff_prose(out, verb_bawn.details);
    strbuf_add(out, ".PP\n");
    roff_prose(out, "Options may stand before and after the arguments; '--' ends them. bawn prints "
                    "control characters and bytes that are not UTF-8 in names as \\xNN or \\u{N}.");
    strbuf_add(out, ".SH VERBS\n");
    roff_verb(out, &verb_bawn);
    strbuf_add(out, ".SH OPTIONS\n.SS Of every verb\n");
    roff_group(out, &verb_options);
    strbuf_add(out, ".SS Which policy\n");
    roff_group(out, &load_options);
    strbuf_add(out, ".SH EXIT STATUS\n");
    roff_entries(out, statuses, sizeof(statuses) / sizeof(statuses[0]));
    strbuf_add(out, ".SH ENVIRONMENT\n");
    roff_entries(out, variables, sizeof(variables) / sizeof(variables[0]));
    strbuf_add(out, ".SH FILES\n");
    roff_entries(out, files, sizeof(files) / sizeof(files[0]));
    roff_examples(out);
    strbuf_add(out, ".SH SEE ALSO\n.BR bawn\\-policy (5)\n");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(struct strbuf *out);
    } kinds[] = {{"man", docgen_man},
                 {"policy", docgen_policy},
                 {"bash", docgen_bash},
                 {"zsh", docgen_zsh},
                 {"fish", docgen_fish}};
    autostrbuf struct strbuf out = {0};

    for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, argv[1]) == 0)
            kinds[i].print(&out);
    }
    if (!out.text) {
        (void)fprintf(stderr, "usage: docgen man|policy|bash|zsh|fish\n");
        return 2;
    }
    if (out.failed || fputs(out.text, stdout) < 0 || fflush(stdout) != 0) {
        (void)fprintf(stderr, "docgen: cannot write\n");
        return 1;
    }
    return 0;
}
