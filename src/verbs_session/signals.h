/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of a client that stands for a command elsewhere. */
#ifndef VERBS_SESSION_SIGNALS_H
#define VERBS_SESSION_SIGNALS_H

#include "base/loop.h"
#include "session/terminal.h"

struct signals {
    int fd;
    struct loop_source source;
    struct terminal *terminal;
    int (*pass_on)(void *context, int signal); /* those that are for the command, and SIGWINCH */
    void *context;
};

int signals_watch(struct signals *signals, struct loop *loop, struct terminal *terminal,
                  int (*pass_on)(void *context, int signal), void *context, struct bawn_error *err);
void signals_done(struct signals *signals);

#endif
