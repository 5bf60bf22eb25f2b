/* SPDX-License-Identifier: Apache-2.0 */
#include "session/deadline.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Holds:    the pidfd, and no other descriptor.
 * Must:     end with the sandbox, whatever becomes of the launcher.
 * Mustn't:  make a call that waits for anything else.
 */
_Noreturn static void wait_and_kill(int pidfd, uint64_t timeout_ms)
{
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ms / 1000),
                               .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    struct pollfd ready = {.events = POLLIN};
    sigset_t all;

    sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    if (dup2(pidfd, 0) < 0 || sys_close_range(1, ~0U, 0) < 0 || setsid() < 0 || chdir("/") < 0)
        _exit(1);
    (void)prctl(PR_SET_NAME, "bawn: deadline", 0, 0, 0);
    if (ppoll(&ready, 1, &timeout, NULL) == 0)
        (void)sys_pidfd_send_signal(0, SIGKILL);
    _exit(0);
}

int deadline_start(int pidfd, uint64_t timeout_ms, pid_t *ret_pid, struct bawn_error *err)
{
    pid_t pid = fork();

    if (pid < 0)
        return error_errno(err, errno, "watch the time");
    if (pid == 0)
        wait_and_kill(pidfd, timeout_ms);
    *ret_pid = pid;
    return 0;
}

void deadline_end(pid_t pid)
{
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
