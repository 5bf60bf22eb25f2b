/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that bawn answers itself: those that start a session, and those of one that runs. */
#include "verbs/verb.h"

static const struct option_group *const run_groups[] = {&run_options, &load_options, &verb_options,
                                                        NULL};

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
        "On a terminal the command gets one of its own. Ctrl-Z stops it, and bawn with it, until "
        "'fg' in your shell. Pipes stay as they are, and so do files, but for one to write that "
        "the policy does not let the command write by its name: bawn writes that, and inside it "
        "is a pipe.",
    .max_args = ARGS_ANY,
    .fill = FILL_FILES,
    .ends_at_word = true,
    .groups = run_groups,
};

const struct verb verb_shell = {
    .name = "shell",
    .arguments = "",
    .summary = "an interactive shell inside the boundaries of the policy",
    .busy = "reading the policy and looking through what it grants",
    .details = "Runs your shell ($SHELL) on a terminal of its own, as 'bawn run' would: job "
               "control, Ctrl-C and resizing work, and the terminal is as it was afterwards.",
    .groups = run_groups,
};

#define SESSION_WORDS                                                                              \
    "SID is the session's name as 'bawn ps' shows it; its first letters are enough, and where "    \
    "only one session runs it may be left out."

static const struct option_group *const groups[] = {&verb_options, NULL};

const struct verb verb_ps = {
    .name = "ps",
    .arguments = "",
    .summary = "list the sessions that run",
    .details =
        "Lists your sessions: those started with --detach, and others that have run for a moment. "
        "ENFORCED says whether the kernel holds the whole policy ('full') or what --best-effort "
        "left of it ('partial'). What was left behind by a session that was killed is removed. "
        "With --all MODE is 'exit N' for a session that has ended, or 'lost' where bawn was "
        "killed and nobody knows; with --json each session then has a 'state', and 'status' and "
        "'ended' where they are known.",
    .groups = (const struct option_group *const[]){&ps_options, &verb_options, NULL},
};

const struct verb verb_status = {
    .name = "status",
    .arguments = "[SID]",
    .summary = "tell all about a session",
    .details =
        "Prints what runs in a session, where, what holds it, and what it uses. The state is "
        "'starting' until a detached command runs, then 'running'; 'stopped' when it was just "
        "killed; 'error' when what answers is no session of this bawn. With --json an unknown SID "
        "is an answer, not a failure: every member is null, and the exit status is "
        "0; 'auto_allow' is true where the whole policy is held and a probe was contained: then "
        "commands need no question before.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = groups,
};

const struct verb verb_metrics = {
    .name = "metrics",
    .arguments = "[SID]",
    .summary = "tell what a session uses",
    .details = "Prints time, memory and processes of a session, and how often a limit was hit. "
               "Where no control group counts, they are sampled now.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = groups,
};

const struct verb verb_stop = {
    .name = "stop",
    .arguments = "[SID]",
    .summary = "end a session and all that is in it",
    .details = "Sends SIGTERM to its commands, and ends the whole sandbox when that does not end "
               "it in time. Returns when nothing is left.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&stop_options, &verb_options, NULL},
};

const struct verb verb_attach = {
    .name = "attach",
    .arguments = "[SID]",
    .summary = "watch or use a detached session",
    .details =
        "Shows the last 64 KiB of what a detached command said, and then what it says. If it was "
        "started on a terminal and you are on one, the keys go to it: Ctrl-\\ detaches again. "
        "When the command ends, its exit status is that of attach. With --json no key is read, and "
        "each line is one document: {\"output\": TEXT} for what is said, and {\"sid\": SID, "
        "\"status\": N} at the end.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = groups,
};

#define KEPT_WORDS                                                                                 \
    "SID is the session's name as 'bawn ps --all' shows it; its first letters are enough. "        \
    "Without "                                                                                     \
    "it the only session is meant that runs; or, if none runs, the only one that is kept."

const struct verb verb_logs = {
    .name = "logs",
    .arguments = "[SID]",
    .summary = "show what a detached command said",
    .details =
        "Shows the output of a command that was started with --detach: while it runs, and for a "
        "day after its end. The newest 8 MiB are kept, or what --log-size said; where older text "
        "is gone, that is said. Of the sessions that have ended the last 256 are kept. On a "
        "terminal colours stay, and whatever else a terminal would obey is shown as \\xNN, "
        "unless --raw is given; into a pipe or a file all bytes go as they are. With --json each "
        "line is one document: {\"output\": TEXT} for what was said, and {\"sid\": SID, "
        "\"state\": STATE, \"status\": N, \"dropped\": BYTES, \"incomplete\": WHY} at the end, "
        "with null for what is not so; the state is "
        "'running', 'ended', or 'lost' where bawn was killed.\n" KEPT_WORDS,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&logs_options, &verb_options, NULL},
};

const struct verb verb_wait = {
    .name = "wait",
    .arguments = "[SID]...",
    .summary = "wait for the end of sessions",
    .details =
        "Waits until each session has ended, and ends with the exit status of the last one's "
        "command, as 'bawn run' would. Of a detached session the status is kept for a day. The "
        "exit status is 125 where the time is over before, where there is no such session, and "
        "where bawn was killed, so that nobody knows.\n" KEPT_WORDS,
    .max_args = ARGS_ANY,
    .groups = (const struct option_group *const[]){&wait_options, &verb_options, NULL},
};

const struct verb verb_exec = {
    .name = "exec",
    .arguments = "[SID] -- COMMAND [ARGUMENT]...",
    .summary = "run one more command in a session",
    .details =
        "Runs COMMAND inside the boundaries of a session that runs, with the same policy, in the "
        "same directory. Your environment is filtered as it is for 'bawn run'. Signals are passed "
        "on, the exit status is the command's, and the command ends with this "
        "program.\n" SESSION_WORDS,
    .max_args = ARGS_ANY,
    .fill = FILL_FILES,
    .ends_at_word = true,
    .groups = (const struct option_group *const[]){&exec_options, &verb_options, NULL},
};
