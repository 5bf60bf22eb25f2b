/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs_session/signals.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

static int on_signal(void *context, uint32_t events)
{
    struct signals *signals = context;
    struct signalfd_siginfo info;

    (void)events;
    if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
        return 0;
    switch (info.ssi_signo) {
    case SIGWINCH:
        terminal_resize(signals->terminal);
        break;
    case SIGCONT:
        terminal_resume(signals->terminal);
        return 0;
    case SIGTSTP:
        terminal_suspend(signals->terminal);
        (void)kill(getpid(), SIGSTOP);
        terminal_resume(signals->terminal);
        return 0;
    default:
        break;
    }
    return signals->pass_on(signals->context, (int)info.ssi_signo);
}

int signals_watch(struct signals *signals, struct loop *loop, struct terminal *terminal,
                  int (*pass_on)(void *context, int signal), void *context, struct bawn_error *err)
{
    static const int watched[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                                  SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        sigaddset(&set, watched[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return error_errno(err, errno, "block signals");
    *signals = (struct signals){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                .terminal = terminal,
                                .pass_on = pass_on,
                                .context = context};
    if (signals->fd < 0)
        return error_errno(err, errno, "signalfd");
    signals->source = (struct loop_source){
        .fd = signals->fd, .events = POLLIN, .ready = on_signal, .context = signals};
    return loop_add(loop, &signals->source, err);
}

void signals_done(struct signals *signals)
{
    if (signals->fd >= 0)
        (void)close(take_fd(&signals->fd));
}
