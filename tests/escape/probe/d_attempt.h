/* SPDX-License-Identifier: Apache-2.0 */
/* A system call as an attempt with a verdict. */
#ifndef PROBE_D_ATTEMPT_H
#define PROBE_D_ATTEMPT_H

#include "verdict.h"

#include <stdlib.h>
#include <sys/syscall.h>

struct attempt {
    const char *what;
    long number;
    unsigned long args[6];
};

/* -1 with errno set is a refusal; anything else went through. */
static inline void say(const char *what, long result)
{
    verdict_say(verdict_word(verdict_of(result)), what);
}

static inline int attempt_call(void *context)
{
    const struct attempt *attempt = context;
    const unsigned long *a = attempt->args;

    return verdict_of(syscall(attempt->number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

/* In a process of its own, since a filter may end it or the call may change it. */
static inline void attempt_run(const struct attempt *attempt)
{
    struct attempt copy = *attempt;
    char word[32];

    verdict_apart(attempt_call, &copy, word, sizeof(word));
    verdict_say(word, attempt->what);
}

#endif
