/* SPDX-License-Identifier: Apache-2.0 */
/* Options that more than one verb takes, as rows. */
#include "verbs/rows.h"

static const char *const profiles[] = {"default",   "strict", "static", "overlay",
                                       "untrusted", "none",   NULL};
const char *const preset_words[] = {"node",   "python", "rust",   "go",       "java",  "c", "git",
                                    "claude", "codex",  "gemini", "opencode", "aider", NULL};
static const char *const reads[] = {"strict", "static", "dynamic", NULL};
static const char *const networks[] = {"none", "proxy", "isolated", "veth", "host", NULL};
static const char *const limits[] = {"default", "strict", "none", NULL};

static const char *const log_formats[] = {"text", "json", NULL};
static const char *const answer_scopes[] = {"once", "session", "directory", NULL};
static const char *const answer_files[] = {"user", "project", "local", NULL};
static const char *const prompts[] = {"auto", "never", NULL};

static const struct option rows[] = {
    {.id = OPTION_WORKSPACE,
     .letter = 'C',
     .name = "workspace",
     .value = "DIR",
     .fill = FILL_DIRS,
     .help = "The directory of the work. Relative paths start here, and bawn looks for the "
             "project's policy here and above. Default: the working directory."},
    {.id = OPTION_POLICY,
     .name = "policy",
     .value = "FILE",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "Add a policy file, in any format that bawn reads."},
    {.id = OPTION_PROFILE,
     .name = "profile",
     .value = "NAME",
     .open = true,
     .words = profiles,
     .help = "The built-in profile to start from."},
    {.id = OPTION_OVERLAY_ALL,
     .name = "overlay-all",
     .help =
         "The same as --profile overlay: the command sees the host as you do, but for secrets, "
         "your home included. Nothing of it changes: all that the command writes goes to layers. "
         "'bawn diff' shows it, 'bawn apply' takes it."},
    {.id = OPTION_PRESET,
     .name = "preset",
     .value = "NAME",
     .repeats = true,
     .open = true,
     .words = preset_words,
     .help = "Add what a kind of project or a coding agent needs. With an agent's preset every "
             "command inside can read the agent's login."},
    {.id = OPTION_PATH,
     .name = "ro",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The command may read the path."},
    {.id = OPTION_PATH,
     .name = "rw",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The command may read and write the path."},
    {.id = OPTION_PATH,
     .name = "rw-new",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_DIRS,
     .help = "The same for a directory; run makes it if it does not exist."},
    {.id = OPTION_PATH,
     .name = "overlay",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_DIRS,
     .help = "The command may write the directory, but its changes go to a layer beside it: "
             "'bawn diff' shows them, 'bawn apply' takes them."},
    {.id = OPTION_PATH,
     .name = "private",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The path is an empty directory of the sandbox's own."},
    {.id = OPTION_PATH,
     .name = "copy",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The command gets a copy of the file that it may write. Yours stays as it is, unless "
             "you give --write-back."},
    {.id = OPTION_PATH,
     .name = "ask",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "bawn asks before the command opens or changes the path, or what is below it."},
    {.id = OPTION_KEY,
     .name = "deny",
     .value = "PATTERN",
     .repeats = true,
     .fill = FILL_FILES,
     .key = "sandbox.deny",
     .help = "The command can neither read nor write what matches the pattern."},
    {.id = OPTION_KEY,
     .name = "protect",
     .value = "PATTERN",
     .repeats = true,
     .fill = FILL_FILES,
     .key = "sandbox.protect",
     .help = "The command cannot write what matches the pattern, even inside a writable path."},
    {.id = OPTION_KEY,
     .name = "reads",
     .value = "MODE",
     .words = reads,
     .key = "sandbox.reads",
     .help = "What the command may read beyond the listed paths. Default: what the policy says, "
             "else strict: nothing. static: what you may read, without secrets. dynamic: bawn asks "
             "about each file."},
    {.id = OPTION_KEY,
     .name = "net",
     .value = "MODE",
     .words = networks,
     .key = "sandbox.network.mode",
     .help = "Which network the command has. proxy lets it reach the hosts that are allowed, "
             "isolated all hosts but those of private networks and this machine itself, veth the "
             "same for root by the host's NAT, without rules on hosts. host is no boundary."},
    {.id = OPTION_KEY,
     .name = "allow-host",
     .value = "RULE",
     .repeats = true,
     .key = "sandbox.network.allow",
     .help = "Hosts that the command may connect to. A rule is NAME, *.NAME, **.NAME, an address "
             "or a range, with or without :PORT. 'NAME:PORT opaque' lets it speak neither TLS nor "
             "HTTP there, as ssh does; bawn-policy(5) tells of ech=allow and by=PROGRAM."},
    {.id = OPTION_KEY,
     .name = "deny-host",
     .value = "RULE",
     .repeats = true,
     .key = "sandbox.network.deny",
     .help =
         "Hosts that the command may not connect to. This wins over --allow-host and --ask-host."},
    {.id = OPTION_KEY,
     .name = "ask-host",
     .value = "RULE",
     .repeats = true,
     .key = "sandbox.network.ask",
     .help = "Hosts that bawn asks about: a connection waits until somebody answers. Where nobody "
             "can be asked it is refused."},
    {.id = OPTION_KEY,
     .name = "host-port",
     .value = "PORT",
     .repeats = true,
     .key = "sandbox.network.host_ports",
     .help = "A port of the host's loopback that the command may connect to, at 127.0.0.1 or "
             "localhost as outside."},
    {.id = OPTION_KEY,
     .name = "publish",
     .value = "PORTS",
     .repeats = true,
     .key = "sandbox.network.publish",
     .help = "A port inside that the host may connect to: [ADDRESS:]PORT[:PORT], the host's port "
             "and that inside."},
    {.id = OPTION_KEY,
     .name = "limits",
     .value = "PRESET",
     .words = limits,
     .key = "sandbox.limits.preset",
     .help = "How much memory and processor time, and how many processes, the command may use."},
    {.id = OPTION_KEY,
     .name = "debug",
     .key = "sandbox.process.debug",
     .help = "Let debuggers trace processes inside."},
    {.id = OPTION_KEY,
     .name = "allow-containers",
     .key = "sandbox.process.containers",
     .help = "Let rootless containers run inside."},
    {.id = OPTION_KEY,
     .name = "allow-kvm",
     .key = "sandbox.devices.kvm",
     .help = "Let virtual machines run inside: the command gets /dev/kvm."},
    {.id = OPTION_KEY,
     .name = "map-root",
     .key = "sandbox.process.map_root",
     .help = "Give the command uid 0 inside, without its rights outside."},
    {.id = OPTION_KEY,
     .name = "as-root",
     .key = "sandbox.process.as_root",
     .help = "When root runs bawn: the command stays root to the host's files. The boundaries "
             "hold, but there is one wall less."},
    {.id = OPTION_KEY,
     .name = "own-time",
     .key = "sandbox.process.time_ns",
     .help = "Let the clocks that count from the boot, as in /proc/uptime, begin at zero inside."},
    {.id = OPTION_KEY,
     .name = "explain",
     .key = "sandbox.process.explain",
     .help = "Also tell what the command looked for and the rules hide, such as a file that is "
             "there outside. The command is slower then."},
    {.id = OPTION_KEY,
     .name = "workspace-mount",
     .value = "DIR",
     .key = "sandbox.workspace_mount",
     .help = "Where the workspace is inside, such as /workspace. Default: where it is outside. The "
             "outside path is no secret: the kernel lists it in /proc/self/mountinfo."},
    {.id = OPTION_KEY,
     .name = "timeout",
     .value = "TIME",
     .key = "sandbox.limits.time",
     .help = "End the command after this time: 90s, 10m, 2h. It goes on while the command is "
             "stopped, as by Ctrl-Z."},
    {.id = OPTION_ENV,
     .name = "env",
     .value = "NAME[=VALUE]",
     .repeats = true,
     .help = "Pass the variable on, as it is or with this value. bawn keeps the value nowhere."},
    {.id = OPTION_SET,
     .name = "set",
     .value = "KEY=VALUE",
     .repeats = true,
     .help = "Set any key of the policy; a list gets one more entry."},
    {.id = OPTION_CLAUDE,
     .name = "claude",
     .help = "Also read the settings.json files of Claude Code."},
    {.id = OPTION_ISOLATED,
     .name = "isolated",
     .help = "Read no policy of the organisation, the user or the project, and no BAWN_* "
             "variable."},
};
const struct option_group load_options = {"Which policy", rows, sizeof(rows) / sizeof(rows[0])};
const struct option_group load_place = {"Which policy", rows, 1};

/* What is started: run and shell take these. */
static const struct option run_rows[] = {
    {.id = OPTION_DETACH,
     .letter = 'd',
     .name = "detach",
     .help = "Start the command in the background and print the session's name."},
    {.id = OPTION_LOG_SIZE,
     .name = "log-size",
     .value = "SIZE",
     .help = "With --detach: how much of the newest output bawn keeps for 'bawn logs': 64K, 100M; "
             "0 keeps nothing. Default: 8M."},
    {.id = OPTION_STATS,
     .name = "stats",
     .help =
         "At the end, say what the command used, and how many connections and bytes went to each "
         "host that it reached. With --json, one document in one line, with refused hosts, too; "
         "what else bawn says on standard error is a document in a line of its own then."},
    {.id = OPTION_COLS,
     .name = "cols",
     .value = "N",
     .help = "The command's terminal has N columns, whatever size yours has."},
    {.id = OPTION_ROWS,
     .name = "rows",
     .value = "N",
     .help = "The command's terminal has N lines. With --detach, --cols or --rows gives the "
             "command a terminal even if you have none; 'bawn attach' shows it."},
    {.id = OPTION_FD,
     .name = "fd",
     .value = "N",
     .repeats = true,
     .help = "Pass your descriptor N on, under the same number: a pipe, a file, a connected unix "
             "socket. The command gets no other descriptor except the three standard streams."},
    {.id = OPTION_WRITE_BACK,
     .name = "write-back",
     .help = "At the end, replace your files of mode copy by the copies that the command changed, "
             "except where yours changed meanwhile. Look at them: a contained program wrote them."},
    {.id = OPTION_SESSION,
     .name = "session",
     .value = "NAME",
     .help =
         "Keep the changes of the overlays under this name. A later run of that name finds them "
         "again. Default: a name of its own, which bawn tells at the end."},
    {.id = OPTION_REVIEW,
     .name = "review",
     .help =
         "When the command has ended, show what it changed in overlays, as 'bawn diff' does. On a "
         "terminal bawn then asks whether to take it, all or by choice, to keep it for later, or "
         "to "
         "drop it."},
    {.id = OPTION_PROMPT,
     .name = "prompt",
     .value = "WHEN",
     .words = prompts,
     .help = "What a rule asks about is asked on your terminal: auto, where bawn is in its "
             "foreground; or never. 'bawn approve' answers, too. Default: auto."},
    {.id = OPTION_DEBUG_LOG,
     .name = "debug-log",
     .value = "FILE",
     .fill = FILL_FILES,
     .help = "For bug reports: append to FILE what bawn does and decides at the start and the end, "
             "and each refusal with path, rule and verdict. - is standard error. The log has the "
             "names of programs, but no arguments and no variables."},
    {.id = OPTION_LOG_FORMAT,
     .name = "log-format",
     .value = "FORMAT",
     .words = log_formats,
     .help = "The form of the debug log: lines for people, or one JSON object a line."},
    {.id = OPTION_EVENTS,
     .name = "events",
     .value = "FD",
     .help = "For programs: write what happens to your descriptor FD, one JSON object a line: the "
             "start, each refusal, hosts, limits, the end. A reader who is slow misses some, and "
             "never holds the command up, which does not get the descriptor. "
             "docs/PROTOCOL-audit.md describes the objects."},
    {.id = OPTION_BEST_EFFORT,
     .name = "best-effort",
     .help = "Run even where this host cannot enforce a rule, and say which."},
};
const struct option_group run_options = {"How it runs", run_rows,
                                         sizeof(run_rows) / sizeof(run_rows[0])};

static const struct option plan_rows[] = {
    {.id = OPTION_IMAGE,
     .name = "image",
     .help = "Print the compiled plan instead: each step in its order, each rule, and everything "
             "that it was made from."},
    {.id = OPTION_BEST_EFFORT,
     .name = "best-effort",
     .help = "With --image: print the plan even where this host cannot enforce a rule."},
};
const struct option_group plan_options = {"What is printed", plan_rows,
                                          sizeof(plan_rows) / sizeof(plan_rows[0])};

static const struct option exec_rows[] = {
    {.id = OPTION_COLS,
     .name = "cols",
     .value = "N",
     .help = "The command's terminal has N columns, whatever size yours has."},
    {.id = OPTION_ROWS,
     .name = "rows",
     .value = "N",
     .help =
         "The command's terminal has N lines. Without --cols and --rows it has the size of yours."},
};
const struct option_group exec_options = {"How it runs", exec_rows,
                                          sizeof(exec_rows) / sizeof(exec_rows[0])};

static const struct option stop_rows[] = {
    {.id = OPTION_GRACE,
     .name = "timeout",
     .value = "TIME",
     .help = "How long bawn waits after SIGTERM before it kills the command: 0, 10s, 2m. Default: "
             "10 seconds."},
};
const struct option_group stop_options = {"How it ends", stop_rows,
                                          sizeof(stop_rows) / sizeof(stop_rows[0])};

static const struct option ps_rows[] = {
    {.id = OPTION_ALL,
     .letter = 'a',
     .name = "all",
     .help = "Also list sessions that were started with --detach and ended within the last day, "
             "with their exit status; and the changes that sessions with overlays have left."},
};
const struct option_group ps_options = {"Which sessions", ps_rows,
                                        sizeof(ps_rows) / sizeof(ps_rows[0])};

static const struct option logs_rows[] = {
    {.id = OPTION_FOLLOW,
     .letter = 'f',
     .name = "follow",
     .help = "Go on with new output until the command ends."},
    {.id = OPTION_TAIL,
     .letter = 'n',
     .name = "tail",
     .value = "N",
     .help = "Begin with the last N lines."},
    {.id = OPTION_RAW,
     .name = "raw",
     .help = "Give a terminal every byte as the command wrote it, which may change the terminal."},
};
const struct option_group logs_options = {"What is shown", logs_rows,
                                          sizeof(logs_rows) / sizeof(logs_rows[0])};

static const struct option audit_rows[] = {
    {.id = OPTION_FORMAT,
     .name = "format",
     .value = "FORMAT",
     .words = log_formats,
     .help = "text: one line for people each. json: the records as they are, one object a line."},
    {.id = OPTION_TAIL,
     .letter = 'n',
     .name = "tail",
     .value = "N",
     .help = "Begin with the last N records."},
    {.id = OPTION_FOLLOW,
     .letter = 'f',
     .name = "follow",
     .help = "Go on with new records until the session ends."},
    {.id = OPTION_VERIFY,
     .name = "verify",
     .help = "Say whether the records are as bawn wrote them. Without ID: those of all sessions."},
};
const struct option_group audit_options = {"What is shown", audit_rows,
                                           sizeof(audit_rows) / sizeof(audit_rows[0])};

static const struct option wait_rows[] = {
    {.id = OPTION_GRACE,
     .name = "timeout",
     .value = "TIME",
     .help = "How long to wait for all of them: 0, 90s, 2h. Without it: for as long as it takes."},
};
const struct option_group wait_options = {"For how long", wait_rows,
                                          sizeof(wait_rows) / sizeof(wait_rows[0])};

static const struct option approve_rows[] = {
    {.id = OPTION_LIST, .name = "list", .help = "Print what waits now, and end."},
    {.id = OPTION_ANSWER_YES,
     .name = "yes",
     .value = "ID",
     .help = "Allow what a question is about. ID is SESSION:NUMBER, as --list shows it, or the "
             "number alone."},
    {.id = OPTION_ANSWER_NO, .name = "no", .value = "ID", .help = "Deny it."},
    {.id = OPTION_ANSWER_SCOPE,
     .name = "scope",
     .value = "SCOPE",
     .words = answer_scopes,
     .help = "For how much --yes or --no holds: once, for the same thing while the session lasts, "
             "or for all that is in its directory. Default: once; with --save: session."},
    {.id = OPTION_ANSWER_SAVE,
     .name = "save",
     .value = "FILE",
     .words = answer_files,
     .help =
         "Also save the rule for later sessions, as 'bawn policy save' would with this --scope: "
         "in your own policy or in one of the project's."},
};
const struct option_group approve_options = {"What is answered", approve_rows,
                                             sizeof(approve_rows) / sizeof(approve_rows[0])};

static const struct option every_verb[] = {
    {.id = OPTION_JSON, .name = "json", .help = "Print one JSON document, errors too."},
    {.id = OPTION_QUIET,
     .letter = 'q',
     .name = "quiet",
     .help = "Leave out warnings and notes about the policy."},
    {.id = OPTION_HELP, .letter = 'h', .name = "help", .help = "Print this help."},
};
const struct option_group verb_options = {"Options", every_verb,
                                          sizeof(every_verb) / sizeof(every_verb[0])};
