/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs about what sessions with overlays changed. */
#include "verbs/verb.h"

static const char *const choices[] = {"mine", "theirs", "merge", NULL};

static const struct option diff_rows[] = {
    {.id = OPTION_LIST,
     .name = "list",
     .help = "One line for each path: A added, M changed, D deleted, R moved, T of another type."},
    {.id = OPTION_STAT, .name = "stat", .help = "How many lines changed in each file."},
    {.id = OPTION_PATCH,
     .name = "patch",
     .help =
         "A patch for 'git apply'. What git cannot hold, or keeps in .git, is left out, and lines "
         "that begin with # name it."},
};
static const struct option_group diff_options = {"What is shown", diff_rows,
                                                 sizeof(diff_rows) / sizeof(diff_rows[0])};

static const struct option apply_rows[] = {
    {.id = OPTION_INTERACTIVE,
     .letter = 'i',
     .name = "interactive",
     .help =
         "Show each change and ask: take it, leave it, or choose among its lines, with the keys "
         "of 'git add -p'. Answers are lines of standard input. What could not be taken is "
         "named and left, and does not stop the rest."},
    {.id = OPTION_FILE,
     .name = "file",
     .value = "GLOB",
     .repeats = true,
     .help = "Take paths that match, beside those named: '*.c' at any depth, 'src/*.c' from the "
             "top of the tree on, "
             "'src/**/*.c' below it."},
    {.id = OPTION_DRY_RUN,
     .name = "dry-run",
     .help = "Change nothing. Say what would be taken, and what is in the way."},
    {.id = OPTION_CONFLICTS,
     .name = "conflicts",
     .value = "WHOSE",
     .words = choices,
     .help = "Where your file changed since the session began: mine takes the session's, theirs "
             "leaves yours, merge joins the lines of both if they do not overlap. Default: nothing "
             "is taken, and the paths are named."},
    {.id = OPTION_PROTECTED,
     .name = "protected",
     .help = "Also take paths that the policy protects, such as hooks of git and settings of "
             "editors. Programs run them with your rights: read them first."},
    {.id = OPTION_SKIP,
     .name = "skip-unfit",
     .help = "Leave what is never taken: devices, sockets, files with set-user-id. Without this "
             "option they stop the whole."},
};
static const struct option_group apply_options = {"What is taken", apply_rows,
                                                  sizeof(apply_rows) / sizeof(apply_rows[0])};

#define CHANGES_WORDS                                                                              \
    "NAME is the session's, as 'bawn run' told it at the end, or as --session gave it. You may "   \
    "leave it out where only one session has changes to this directory."

const struct verb verb_diff = {
    .name = "diff",
    .arguments = "[NAME] [--] [PATH]...",
    .summary = "show what a session with overlays changed",
    .details =
        "Compares the layers of a session with your files: what was added, changed, deleted or "
        "moved, line by line. With PATH only what is at or below that path. Nothing of yours has "
        "changed yet; 'bawn apply' takes it, 'bawn discard' drops it.\n"
        "On a terminal the output goes through $PAGER. Control characters are shown escaped "
        "there. Of a directory that was deleted it says how many files go with it; --patch has "
        "each of them.\n" CHANGES_WORDS,
    .max_args = ARGS_ANY,
    .fill = FILL_FILES,
    .groups = (const struct option_group *const[]){&diff_options, &verb_options, NULL},
};

const struct verb verb_apply = {
    .name = "apply",
    .arguments = "[NAME] [--] [PATH]...",
    .summary = "take what a session with overlays changed",
    .details =
        "Makes the changes of a session in your files: all of them, or those at and below PATH. "
        "It takes all or nothing: if anything is in the way, nothing changes, and bawn names it. "
        "After a crash in the middle, the next of these commands finishes or takes it back.\n"
        "With --interactive you choose change by change, and hunk by hunk in texts. y takes, n "
        "leaves, a and d do so with the rest of the file, s splits a hunk, e opens it in $VISUAL "
        "or "
        "$EDITOR, q ends the questions, ? names all keys. What you take is applied when all is "
        "answered; the rest stays in the session, and you can take it later.\n"
        "In the way are files that changed since the session began, protected paths, devices, "
        "sockets, set-user-id files, and what cannot be read. The exit status is 1 then.\n"
        "What was taken leaves the session. 'bawn undo' takes it back, as long as nobody has "
        "changed these files since.\n" CHANGES_WORDS,
    .max_args = ARGS_ANY,
    .fill = FILL_FILES,
    .groups = (const struct option_group *const[]){&apply_options, &verb_options, NULL},
};

const struct verb verb_discard = {
    .name = "discard",
    .arguments = "[NAME]...",
    .summary = "drop what a session with overlays changed",
    .details = "Removes the layers of a session, and with them its changes. Your files stay as "
               "they are. This cannot be undone.\n" CHANGES_WORDS,
    .max_args = ARGS_ANY,
    .groups = (const struct option_group *const[]){&verb_options, NULL},
};

static const struct option undo_rows[] = {
    {.id = OPTION_FORCE,
     .name = "force",
     .help =
         "Also files and directories that changed since. What was written to them since is lost, "
         "and so is what was put into directories that the apply made."},
};
static const struct option_group undo_options = {"What is taken back", undo_rows,
                                                 sizeof(undo_rows) / sizeof(undo_rows[0])};

const struct verb verb_undo = {
    .name = "undo",
    .arguments = "[NAME]",
    .summary = "take back the last apply of a session",
    .details = "Puts your files back as they were before the last 'bawn apply' of this session. "
               "If one of them changed since, nothing is taken back, and bawn names it. The exit "
               "status is 1 then.\n" CHANGES_WORDS,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&undo_options, &verb_options, NULL},
};

static const struct option gc_rows[] = {
    {.id = OPTION_OLDER,
     .name = "older",
     .value = "DURATION",
     .help = "Also remove sessions that were not used for so long, as in 30d: their changes are "
             "lost. And what is kept for undo from that age on, instead of a week."},
    {.id = OPTION_DRY_RUN, .name = "dry-run", .help = "Remove nothing. Say what would be removed."},
};
static const struct option_group gc_options = {"What is removed", gc_rows,
                                               sizeof(gc_rows) / sizeof(gc_rows[0])};

const struct verb verb_gc = {
    .name = "gc",
    .arguments = "",
    .summary = "free the room that layers take and nobody needs",
    .details =
        "Removes what is left of sessions with overlays and is of no use: sessions without a "
        "change and without anything to undo, what is kept for 'bawn undo' for more than a week, "
        "and what a killed bawn left half made or half removed. Changes go only with --older. "
        "Sessions in use stay as they are, and kept homes, too.\n"
        "The exit status is 1 when a session could not be looked at, as when its tree is gone.",
    .groups = (const struct option_group *const[]){&gc_options, &verb_options, NULL},
};
