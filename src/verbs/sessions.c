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
        "holds the boundaries: mounts, namespaces, Landlock, a system call filter and limits.\n"
        "The exit status is the command's; 126 when it cannot be run, 127 when it is not there, "
        "128+N when signal N ended it, 124 when its time was up, 125 when bawn refused or failed "
        "before it ran, or when bawn could not write the command's output to a file.\n"
        "On a terminal the command gets a terminal of its own. Ctrl-Z stops it, and bawn with it, "
        "until 'fg' in your shell. Pipes and files stay as they are, with one exception: a file to "
        "write that the policy does not let the command write by its "
        "name. The command gets a pipe, and bawn writes the file.",
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
    .details = "Runs your shell ($SHELL) on a terminal of its own, as 'bawn run' would. Job "
               "control, Ctrl-C and resizing work. Afterwards your terminal is as it was.",
    .groups = run_groups,
};

#define SESSION_WORDS                                                                              \
    "SID is the session's name as 'bawn ps' shows it; its first letters are enough. You may "      \
    "leave it out where only one session runs."

static const struct option_group *const groups[] = {&verb_options, NULL};

const struct verb verb_ps = {
    .name = "ps",
    .arguments = "",
    .summary = "list the sessions that run",
    .details =
        "Lists your sessions: those started with --detach, and others that have run for a moment. "
        "ENFORCED says whether the kernel holds the whole policy ('full') or what --best-effort "
        "left of it ('partial'). ps also removes what a killed session left behind.\n"
        "With --all, MODE is 'exit N' for a session that has ended, or 'lost' if bawn was killed "
        "and nobody knows the status. With --json each session then has a 'state', and 'status' "
        "and 'ended' where they are known.",
    .groups = (const struct option_group *const[]){&ps_options, &verb_options, NULL},
};

const struct verb verb_status = {
    .name = "status",
    .arguments = "[SID]",
    .summary = "tell all about a session",
    .details =
        "Prints what runs in a session, where, what holds it, and what it uses. The state is "
        "'starting' until a detached command runs, then 'running'; 'stopped' when it was just "
        "killed; 'error' when something else than a session of this bawn answers.\n"
        "With --json an unknown SID is an answer, not a failure: every member is null, and the "
        "exit status is 0. 'auto_allow' is true where bawn holds the whole policy and a probe "
        "failed to break out: then commands may run without asking a person first.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = groups,
};

const struct verb verb_metrics = {
    .name = "metrics",
    .arguments = "[SID]",
    .summary = "tell what a session uses",
    .details =
        "Prints time, memory and processes of a session, and how often it hit a limit. Without a "
        "control group these are samples of this moment.\n"
        "With the network modes proxy and isolated it also prints the connections and bytes of "
        "each host that a command reached, and how often a host was refused. A connection counts "
        "when it has ended, a second or so later. After the first 64 hosts all others "
        "count as one, 'further hosts'; with --json its name is \"\".\n" SESSION_WORDS,
    .max_args = 1,
    .groups = groups,
};

const struct verb verb_stop = {
    .name = "stop",
    .arguments = "[SID]",
    .summary = "end a session and all that is in it",
    .details = "Sends SIGTERM to the commands of a session. If they do not end in time, kills the "
               "whole sandbox. Returns when nothing is left.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&stop_options, &verb_options, NULL},
};

const struct verb verb_attach = {
    .name = "attach",
    .arguments = "[SID]",
    .summary = "watch or use a detached session",
    .details = "Shows the last 64 KiB that a detached command wrote, and then what it writes. If "
               "the command has a terminal and you are on one, your keys go to it; Ctrl-\\ "
               "detaches again. When the command ends, attach exits with its status.\n"
               "With --json attach reads no keys, and each line is one document: {\"output\": "
               "TEXT} for output, and {\"sid\": SID, \"status\": N} at the end.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = groups,
};

const struct verb verb_approve = {
    .name = "approve",
    .arguments = "[SID]",
    .summary = "answer what commands ask",
    .details =
        "Where a rule says ask, or sandbox.confirm names the path, the command waits for a person. "
        "'bawn run' asks on its terminal. approve asks in another: it lists what waits in the "
        "session, or in all of yours, as it comes and goes. Enter shows one whole, with the rule "
        "that would be saved, and these keys answer:\n"
        "o: once. s: the same thing, while the session lasts. d: all in its directory, while the "
        "session lasts. p, a: also for later sessions, by a rule in the project's policy or in "
        "yours. n: no. N: no, while the session lasts. b goes back, and q leaves.\n"
        "The first answer counts, whoever gives it. Without one the answer is no after "
        "sandbox.ask_timeout; and at once where nobody can be asked: neither on a terminal nor by "
        "an approve that runs.\n"
        "Without a terminal, or with --json, approve prints each question as it comes, and how it "
        "ended. With --json each is a line in the words of docs/PROTOCOL-approvals.md: "
        "{\"type\": \"event.fs_request\", \"id\": ID, ...} and {\"type\": \"event.settled\", "
        "\"id\": ID, \"answer\": \"allow\", ...}. --yes and --no answer then. --list alone is "
        "nobody who can be asked. The exit status of --yes and --no is 1 where somebody else "
        "answered otherwise before.\n" SESSION_WORDS,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&approve_options, &verb_options, NULL},
};

#define KEPT_WORDS                                                                                 \
    "SID is the session's name as 'bawn ps --all' shows it; its first letters are enough. "        \
    "Without "                                                                                     \
    "it the only session is meant that runs; or, if none runs, the only one that is kept."

const struct verb verb_logs = {
    .name = "logs",
    .arguments = "[SID]",
    .summary = "show the output of a detached command",
    .details =
        "Shows the output of a command that was started with --detach, while it runs and for a day "
        "after its end. bawn keeps the newest 8 MiB, or as much as --log-size says, and says where "
        "older text is gone. It keeps the last 256 sessions that have ended.\n"
        "On a terminal logs passes colours on, and shows other control characters as \\xNN, unless "
        "you give --raw. Into a pipe or a file it writes all bytes as they are.\n"
        "With --json each line is one document: {\"output\": TEXT} for output, and {\"sid\": SID, "
        "\"state\": STATE, \"status\": N, \"dropped\": BYTES, \"incomplete\": WHY} at the end. "
        "Members that do not apply are null. The state is 'running', 'ended', or 'lost' if bawn "
        "was killed.\n" KEPT_WORDS,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&logs_options, &verb_options, NULL},
};

const struct verb verb_audit = {
    .name = "audit",
    .arguments = "[ID]",
    .summary = "show what was recorded of a session",
    .details =
        "bawn records of each session how it began (command, policy, what holds it), each refusal "
        "that it knows of with the program, its arguments, the path and the rule, limits that were "
        "reached, and how it ended. The key 'audit' of the policy says whether; see "
        "bawn-policy(5). Refusals that the kernel makes alone have no record: what is not there "
        "inside, system calls that the filter denies, Landlock.\n"
        "Passwords and tokens are masked where they can be told: in URLs and headers, values of "
        "names such as API_KEY, words behind --token, tokens of well-known forms.\n"
        "Without ID, audit lists the sessions that are recorded, the newest last. ID is a name "
        "from that list, or the SID of a session; the first letters of either are enough.\n"
        "The records are in ~/.local/state/bawn/audit, where no sandbox sees them. Each has the "
        "hash of the one before, and a file apart has the hash of the last, so that --verify finds "
        "out what was changed, removed, moved or cut off: then the exit status is 1. It cannot "
        "find out that your own account wrote all of it anew, with the file apart. bawn keeps a "
        "trail for 90 days; at most 4096 of them and 256 MiB, then the oldest go. After 4 MiB of "
        "one session single refusals are only counted, once a minute.\n"
        "With --json each record is one document in a line, and so is what --verify finds; the "
        "list is one document.",
    .max_args = 1,
    .groups = (const struct option_group *const[]){&audit_options, &verb_options, NULL},
};

const struct verb verb_wait = {
    .name = "wait",
    .arguments = "[SID]...",
    .summary = "wait for the end of sessions",
    .details = "Waits until each session has ended, and exits with the status of the last one's "
               "command, as 'bawn run' would. bawn keeps the status of a detached session for a "
               "day. The exit status is 125 if the time is over before, if there is no such "
               "session, or if bawn was killed and nobody knows the status.\n" KEPT_WORDS,
    .max_args = ARGS_ANY,
    .groups = (const struct option_group *const[]){&wait_options, &verb_options, NULL},
};

const struct verb verb_exec = {
    .name = "exec",
    .arguments = "[SID] -- COMMAND [ARGUMENT]...",
    .summary = "run one more command in a session",
    .details =
        "Runs COMMAND inside a running session, with the same policy and in the same directory. "
        "bawn filters your environment as for 'bawn run', and passes signals on. The exit status "
        "is the command's. When you end 'bawn exec', the command ends too.\n" SESSION_WORDS,
    .max_args = ARGS_ANY,
    .fill = FILL_FILES,
    .ends_at_word = true,
    .groups = (const struct option_group *const[]){&exec_options, &verb_options, NULL},
};

const struct verb verb_rm = {
    .name = "rm",
    .arguments = "NAME...",
    .summary = "remove all that is kept of sessions that have ended",
    .details =
        "Removes what bawn keeps of a session: what its commands changed in overlays, as 'bawn "
        "discard' does, and the output and exit status of a detached command. This cannot be "
        "undone. Audit trails stay: nothing is ever taken out of them.\n"
        "NAME is as 'bawn ps --all' shows it, in full. A session that runs is refused, and then "
        "nothing is removed.",
    .min_args = 1,
    .max_args = ARGS_ANY,
    .groups = groups,
};
