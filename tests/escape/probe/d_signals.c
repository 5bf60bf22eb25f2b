/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals, priorities and limits for a process outside.
 *   d_signals reach PID   every call that names a process by its number
 *   d_signals group       what sends to the caller's own group, which must hold nobody outside
 *   d_signals all         kill(-1), then exit 7
 */
#include "d_attempt.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

#define NUMBER_PIDFD_OPEN       434
#define NUMBER_PROCESS_MRELEASE 448
#define IOPRIO_PROCESS          1
#define IOPRIO_IDLE             (3 << 13)

static void set_owner(const char *what, int command, long argument)
{
    int ends[2];

    if (pipe(ends) == -1)
        exit(1);
    say(what, fcntl(ends[0], command, argument));
    close(ends[0]);
    close(ends[1]);
}

static void reach(pid_t pid)
{
    struct f_owner_ex owner = {F_OWNER_TID, pid};
    struct rlimit limit = {0, 0};
    siginfo_t info = {.si_code = SI_QUEUE};
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    say("kill-0", kill(pid, 0));
    say("kill-STOP", kill(pid, SIGSTOP));
    say("kill-KILL", kill(pid, SIGKILL));
    say("kill-group", kill(-pid, SIGKILL));
    say("tgkill", syscall(SYS_tgkill, pid, pid, SIGKILL));
    say("tkill", syscall(SYS_tkill, pid, SIGKILL));
    say("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, &info));
    say("rt_tgsigqueueinfo", syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGUSR1, &info));
    say("pidfd_open", syscall(NUMBER_PIDFD_OPEN, pid, 0));
    set_owner("F_SETOWN", F_SETOWN, pid);
    set_owner("F_SETOWN-group", F_SETOWN, -pid);
    set_owner("F_SETOWN_EX", F_SETOWN_EX, (long)&owner);
    say("prlimit", prlimit(pid, RLIMIT_CPU, &limit, NULL));
    say("setpriority", setpriority(PRIO_PROCESS, (id_t)pid, 19));
    say("sched_setaffinity", sched_setaffinity(pid, sizeof(cpus), &cpus));
    say("ioprio_set", syscall(SYS_ioprio_set, IOPRIO_PROCESS, pid, IOPRIO_IDLE));
    say("getpgid", getpgid(pid));
    say("getsid", getsid(pid));
}

/* The last of these ends the caller too. */
static void group(void)
{
    verdict_say(getpgrp() > 0 ? "inside" : "outside", "leader-of-group");
    verdict_say(getsid(0) > 0 ? "inside" : "outside", "leader-of-session");
    set_owner("F_SETOWN-own-group", F_SETOWN, -getpgrp());
    say("kill-own-group", kill(0, SIGKILL));
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "reach") == 0) {
        reach((pid_t)atol(argv[2]));
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "group") == 0) {
        group();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "all") == 0) {
        say("kill-all", kill(-1, SIGKILL));
        return 7;
    }
    return 2;
}
