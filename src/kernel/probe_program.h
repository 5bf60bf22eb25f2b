/* SPDX-License-Identifier: Apache-2.0 */
/* Installed programs, run to see whether they work: side by side, bounded in time and output. */
#ifndef KERNEL_PROBE_PROGRAM_H
#define KERNEL_PROBE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

enum { PROGRAM_ARGS = 12, PROGRAM_OUTPUT = 1024 };

enum program_stream { PROGRAM_STDOUT, PROGRAM_STDERR, PROGRAM_STREAMS };

struct program {
    const char *argv[PROGRAM_ARGS + 1]; /* argv[0]: its absolute path; NULL: nothing to run */
    const char *home;     /* stands in for HOME and XDG_RUNTIME_DIR; NULL: the user's own */
    const char *variable; /* one more "NAME=VALUE" of its environment, or NULL */
    bool ended;           /* false: killed at the time limit, or never started */
    int status;           /* as from waitpid, when ended */
    char output[PROGRAM_STREAMS][PROGRAM_OUTPUT]; /* how each begins */
    size_t length[PROGRAM_STREAMS];
};

/*
 * Where a program is: in /usr/local/bin, /usr/bin or /bin, and only when nobody
 * but root can replace it. PATH is not asked. False when there is none.
 */
bool program_find(const char *name, char *ret_path, size_t size);

/*
 * Runs them all at once, in "/", with stdin empty and an environment of PATH, HOME
 * and XDG_RUNTIME_DIR. What is still running at the limit is killed, with
 * everything it started; so is what the others left behind. What root's programs
 * mount goes with them. Returns 0 or a negative errno when nothing could be started.
 */
int program_run_all(struct program *programs, size_t count, int timeout_ms);

/* Whether it ended with status 0. */
bool program_succeeded(const struct program *program);

#endif
