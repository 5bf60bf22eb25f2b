/* SPDX-License-Identifier: Apache-2.0 */
/* At the end of a run: what it changed, and what is to become of that. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/program.h"
#include "program_changes/own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The same as the verbs, so that one command does one thing. */
static int become(const char *verb, const char *name, const char *option, struct bawn_error *err)
{
    char *argv[] = {(char *)(uintptr_t) "bawn-changes", (char *)(uintptr_t)verb,
                    (char *)(uintptr_t)name, (char *)(uintptr_t)option, NULL};

    return error_errno(err, -program_become(argv[0], argv, environ), "start bawn-changes");
}

static void put_help(const char *name)
{
    (void)printf("t - take all of it\n"
                 "c - choose, change by change and line by line\n"
                 "k - keep it for later: bawn apply %s\n"
                 "drop - remove it, which cannot be undone\n",
                 name);
}

/* Nothing said is kept. A letter alone drops nothing. */
static int ask(const char *name, struct bawn_error *err)
{
    autofree char *answer = NULL;
    size_t size = 0;

    for (;;) {
        (void)printf("Take it [t,c,k,drop,?]? ");
        (void)fflush(stdout);
        if (getline(&answer, &size, stdin) < 0) {
            (void)puts("");
            return STATUS_OK;
        }
        answer[strcspn(answer, "\r\n")] = '\0';
        if (strcmp(answer, "t") == 0)
            return become("apply", name, NULL, err);
        if (strcmp(answer, "c") == 0)
            return become("apply", name, "--interactive", err);
        if (strcmp(answer, "drop") == 0)
            return become("discard", name, NULL, err);
        if (!*answer || strcmp(answer, "k") == 0)
            return STATUS_OK;
        put_help(name);
    }
}

int review_run(struct request *request, struct bawn_error *err)
{
    int result = diff_run(request, err);
    char name[LAYERS_NAME_BYTES];

    if (result != STATUS_OK || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return result;
    memcpy(name, request->store.name, sizeof(name));
    /* Another process needs the lock. */
    store_close(&request->store);
    return ask(name, err);
}
