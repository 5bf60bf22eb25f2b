/* SPDX-License-Identifier: Apache-2.0 */
/* How a probe says what became of an attempt: "ok", the errno's name, or a signal's. */
#ifndef PROBE_VERDICT_H
#define PROBE_VERDICT_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a call returned, as an attempt's result: 0 or an errno. */
static inline int verdict_of(long returned)
{
    return returned == -1 ? errno : 0;
}

static inline const char *verdict_word(int errnum)
{
    if (errnum == 0)
        return "ok";
    return strerrorname_np(errnum) ? strerrorname_np(errnum) : "E?";
}

/* Runs attempt in a process of its own, at most 10 s, and writes its verdict to word. */
static inline void verdict_apart(int (*attempt)(void *), void *context, char *word, size_t size)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child < 0) {
        snprintf(word, size, "fork-%s", verdict_word(errno));
        return;
    }
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(10);
        _exit(attempt(context));
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        snprintf(word, size, "SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(word, size, "%s", verdict_word(WEXITSTATUS(status)));
}

/* One line of a probe's answer: the verdict, then what was attempted. */
static inline void verdict_say(const char *word, const char *what)
{
    printf("%s\t%s\n", word, what);
    fflush(stdout);
}

#endif
