/* SPDX-License-Identifier: Apache-2.0 */
/* What the events of a run told, until it is asked for: see bawn/learn.h. */
#ifndef API_LEARNED_H
#define API_LEARNED_H

#include "base/vec.h"
#include "policy/learned.h"

#include <bawn/learn.h>

struct use {
    char *what; /* a path on the host, a host with its port, a name; owned */
    char program[LEARNED_PROGRAM_BYTES];
    bool is_lookup; /* of a host: only its name was asked for */
    uint64_t uses;
};

struct bawn_learned {
    bool has_started;
    bool has_acted;      /* a program inside other than bawn's own, before it becomes the command */
    char *command, *cwd; /* as it was started; owned */
    struct learned_paths paths; /* as they came: read and written */
    VEC(struct use) hosts;
    VEC(struct bawn_unlearned) unlearned; /* texts are owned */
    VEC(struct bawn_rule) rules;
    VEC(struct bawn_evidence) evidence;
    uint64_t left_out;
};

/* A script is run by the program that its first line names, which the kernel opens unseen. */
int learned_take_interpreters(struct bawn_learned *learned, const char *path, const char *program);

#endif
