/* SPDX-License-Identifier: Apache-2.0 */
/* Options that more than one verb takes, as rows. */
#include "verbs/rows.h"

static const char *const profiles[] = {"default", "strict", "static", "untrusted", "none", NULL};
const char *const preset_words[] = {"node",   "python", "rust",   "go",       "java",  "c", "git",
                                    "claude", "codex",  "gemini", "opencode", "aider", NULL};
static const char *const reads[] = {"strict", "static", "dynamic", NULL};
static const char *const networks[] = {"none", "proxy", "isolated", "veth", "host", NULL};
static const char *const limits[] = {"default", "strict", "none", NULL};

static const char *const log_formats[] = {"text", "json", NULL};

static const struct option rows[] = {
    {.id = OPTION_WORKSPACE,
     .letter = 'C',
     .name = "workspace",
     .value = "DIR",
     .fill = FILL_DIRS,
     .help = "The directory of the work. Relative paths start here, and the project's policy is "
             "looked for here and above. Without it: the working directory."},
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
    {.id = OPTION_PRESET,
     .name = "preset",
     .value = "NAME",
     .repeats = true,
     .open = true,
     .words = preset_words,
     .help = "Add what a kind of project or a coding agent needs. With an agent's, every command "
             "inside can read its login."},
    {.id = OPTION_PATH,
     .name = "ro",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The path may be read."},
    {.id = OPTION_PATH,
     .name = "rw",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The path may be read and written."},
    {.id = OPTION_PATH,
     .name = "rw-new",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_DIRS,
     .help = "The same of a directory that run makes where there is none."},
    {.id = OPTION_PATH,
     .name = "overlay",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The path may be written, but what is written stays beside it. Not in this "
             "version: run refuses it."},
    {.id = OPTION_PATH,
     .name = "private",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The path is an empty place of the sandbox's own."},
    {.id = OPTION_PATH,
     .name = "copy",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "The file is there as a copy that may be written: yours stays as it is, unless "
             "--write-back is given."},
    {.id = OPTION_PATH,
     .name = "ask",
     .value = "PATH",
     .repeats = true,
     .fill = FILL_FILES,
     .help = "Each use of the path is asked about. Nobody is asked in this version: while a "
             "command runs it is refused."},
    {.id = OPTION_KEY,
     .name = "deny",
     .value = "PATTERN",
     .repeats = true,
     .fill = FILL_FILES,
     .key = "sandbox.deny",
     .help = "What matches the pattern can be neither read nor written."},
    {.id = OPTION_KEY,
     .name = "protect",
     .value = "PATTERN",
     .repeats = true,
     .fill = FILL_FILES,
     .key = "sandbox.protect",
     .help = "What matches the pattern cannot be written, even inside a writable path."},
    {.id = OPTION_KEY,
     .name = "reads",
     .value = "MODE",
     .words = reads,
     .key = "sandbox.reads",
     .help = "What may be read beyond the listed paths. Without it and without a policy that "
             "says so: dynamic on a terminal, else strict. Nobody is asked in this version: while "
             "a command runs both are the same."},
    {.id = OPTION_KEY,
     .name = "net",
     .value = "MODE",
     .words = networks,
     .key = "sandbox.network.mode",
     .help = "How much of the network there is. In this version run has none and host, and "
             "refuses the others."},
    {.id = OPTION_KEY,
     .name = "allow-host",
     .value = "RULE",
     .repeats = true,
     .key = "sandbox.network.allow",
     .help = "Hosts that may be connected to. A rule is NAME, *.NAME, **.NAME, an address or a "
             "range, each with :PORT if wanted."},
    {.id = OPTION_KEY,
     .name = "deny-host",
     .value = "RULE",
     .repeats = true,
     .key = "sandbox.network.deny",
     .help = "Hosts that may not; this wins over the other two."},
    {.id = OPTION_KEY,
     .name = "ask-host",
     .value = "RULE",
     .repeats = true,
     .key = "sandbox.network.ask",
     .help = "Hosts that are asked about."},
    {.id = OPTION_KEY,
     .name = "limits",
     .value = "PRESET",
     .words = limits,
     .key = "sandbox.limits.preset",
     .help = "How much memory, processor time and how many processes."},
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
     .help = "Let virtual machines run inside: /dev/kvm is there."},
    {.id = OPTION_KEY,
     .name = "map-root",
     .key = "sandbox.process.map_root",
     .help = "Be uid 0 inside, without its rights outside."},
    {.id = OPTION_KEY,
     .name = "as-root",
     .key = "sandbox.process.as_root",
     .help = "When root runs bawn: stay root to the host's files. The boundaries hold, but there "
             "is one wall less."},
    {.id = OPTION_KEY,
     .name = "workspace-mount",
     .value = "DIR",
     .key = "sandbox.workspace_mount",
     .help = "Where the workspace is inside, such as /workspace. Without it: where it is outside. "
             "That path stays no secret: the kernel lists it in /proc/self/mountinfo."},
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
     .help = "Let the variable through, as it is or with this value. The value is kept nowhere."},
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
     .help = "With --detach: how much of what the command says is kept for 'bawn logs', the newest "
             "of it: 64K, 100M; 0 is nothing. Without it: 8M."},
    {.id = OPTION_STATS,
     .name = "stats",
     .help = "Say in one line at the end what the command used."},
    {.id = OPTION_COLS,
     .name = "cols",
     .value = "N",
     .help = "The command's terminal has N columns, whatever size yours has."},
    {.id = OPTION_ROWS,
     .name = "rows",
     .value = "N",
     .help = "The same for its lines. With --detach either gives the command a terminal, though "
             "you have none: 'bawn attach' shows it."},
    {.id = OPTION_FD,
     .name = "fd",
     .value = "N",
     .repeats = true,
     .help =
         "The command also gets descriptor N of yours, under the same number: a pipe, a file, a "
         "connected unix socket. All others but the three streams are closed."},
    {.id = OPTION_WRITE_BACK,
     .name = "write-back",
     .help = "At the end, files of mode copy that were changed inside replace yours. Not one that "
             "changed outside meanwhile. What they say was written inside: look at it."},
    {.id = OPTION_DEBUG_LOG,
     .name = "debug-log",
     .value = "FILE",
     .fill = FILL_FILES,
     .help = "Append what bawn does and decides at the start and the end to FILE, and what it "
             "refuses meanwhile with path, rule and verdict, for reports of bugs; - is standard "
             "error. It has the names of programs, not their arguments, and no variables."},
    {.id = OPTION_LOG_FORMAT,
     .name = "log-format",
     .value = "FORMAT",
     .words = log_formats,
     .help = "The form of that log: lines for people, or one JSON object a line."},
    {.id = OPTION_BEST_EFFORT,
     .name = "best-effort",
     .help = "Go on where this host cannot enforce a rule, and say which."},
};
const struct option_group run_options = {"How it runs", run_rows,
                                         sizeof(run_rows) / sizeof(run_rows[0])};

static const struct option plan_rows[] = {
    {.id = OPTION_IMAGE,
     .name = "image",
     .help = "Print the compiled plan instead: each step in its order, each rule, and what it was "
             "made from."},
    {.id = OPTION_BEST_EFFORT,
     .name = "best-effort",
     .help = "With --image: go on where this host cannot enforce a rule."},
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
     .help = "The same for its lines. Without --cols and "
             "--rows both follow yours."},
};
const struct option_group exec_options = {"How it runs", exec_rows,
                                          sizeof(exec_rows) / sizeof(exec_rows[0])};

static const struct option stop_rows[] = {
    {.id = OPTION_GRACE,
     .name = "timeout",
     .value = "TIME",
     .help = "How long the command has after SIGTERM before it is killed: 0, 10s, 2m. Without it: "
             "10 seconds."},
};
const struct option_group stop_options = {"How it ends", stop_rows,
                                          sizeof(stop_rows) / sizeof(stop_rows[0])};

static const struct option ps_rows[] = {
    {.id = OPTION_ALL,
     .letter = 'a',
     .name = "all",
     .help = "Also those that were started with --detach and ended within a day, with their exit "
             "status."},
};
const struct option_group ps_options = {"Which sessions", ps_rows,
                                        sizeof(ps_rows) / sizeof(ps_rows[0])};

static const struct option logs_rows[] = {
    {.id = OPTION_FOLLOW,
     .letter = 'f',
     .name = "follow",
     .help = "Go on with what the command says, until it ends."},
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

static const struct option wait_rows[] = {
    {.id = OPTION_GRACE,
     .name = "timeout",
     .value = "TIME",
     .help = "How long to wait for all of them: 0, 90s, 2h. Without it: for as long as it takes."},
};
const struct option_group wait_options = {"For how long", wait_rows,
                                          sizeof(wait_rows) / sizeof(wait_rows[0])};

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
