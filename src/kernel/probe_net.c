/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: a network namespace, and a filtered network in it. No packet leaves the namespace. */
#include "kernel/probe_try.h"
#include "kernel/steer.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

PROBE_WORK(try_net_ns)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd;

    if (!try_enter(result, env, CLONE_NEWNET))
        return false;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return probe_fail(result, "socket");
    if (ioctl(fd, SIOCGIFFLAGS, &request) < 0)
        return probe_fail(result, "SIOCGIFFLAGS");
    request.ifr_flags |= IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &request) == 0 || probe_fail(result, "SIOCSIFFLAGS");
}

PROBE_WORK(try_steer)
{
    struct steer steer = {.takes_datagrams = true};
    int errnum;

    if (!try_net_ns(result, env))
        return false;
    errnum = -steer_make(&steer);
    return errnum == 0 || probe_fail_with(result, errnum, steer.doing);
}
