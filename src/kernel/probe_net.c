/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: a network namespace, and a filtered network in it. No packet leaves the namespace. */
#include "kernel/probe_try.h"
#include "kernel/steer.h"
#include "kernel/veth.h"
#include "kernel/who.h"
#include "wire/net.h"

#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

PROBE_WORK(use_net_ns)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd;

    (void)env;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return probe_fail(result, "socket");
    if (ioctl(fd, SIOCGIFFLAGS, &request) < 0)
        return probe_fail(result, "SIOCGIFFLAGS");
    request.ifr_flags |= IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &request) == 0 || probe_fail(result, "SIOCSIFFLAGS");
}

PROBE_WORK(try_net_ns)
{
    return try_enter(result, env, CLONE_NEWNET) && use_net_ns(result, env);
}

/* Asks for sockets that are not there. KERNEL: it loads the modules that would know of them; the
 * first client of a sandbox would wait for that. */
static void load_diag(int diag_fd)
{
    static const uint16_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP};

    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
        const struct net_ends ends = {.family = AF_INET, .protocol = protocols[i]};
        uint64_t number;

        (void)who_socket(diag_fd, &ends, &number);
    }
}

static bool make_steer(struct steer *steer, struct probe_result *result)
{
    int errnum = -steer_make(steer);

    if (steer->diag_fd >= 0)
        load_diag(steer->diag_fd);
    return errnum == 0 || probe_fail_with(result, errnum, steer->doing);
}

PROBE_WORK(use_steer)
{
    struct steer steer = {.takes_datagrams = true};

    (void)env;
    return make_steer(&steer, result);
}

PROBE_WORK(try_steer)
{
    return try_net_ns(result, env) && use_steer(result, env);
}

PROBE_WORK(try_anyip)
{
    struct steer steer = {.is_plain = true, .ports = {NET_PORT, NET_DNS_PORT}, .port_count = 2};

    return try_net_ns(result, env) && make_steer(&steer, result);
}

PROBE_WORK(may_veth)
{
    int forwards = geteuid() == 0 ? veth_forwards(AF_INET) : -EPERM;

    (void)env;
    if (forwards == -EPERM)
        return probe_fail_with(result, EPERM, "root");
    return forwards > 0 ||
           probe_fail_with(result, forwards < 0 ? -forwards : ENETUNREACH, "ip_forward");
}

/* Both ends in one namespace are enough to see whether the kernel has all of it. */
PROBE_WORK(try_veth)
{
    struct veth veth = {.subnet = 0};
    int sock, errnum;

    if (!may_veth(result, env) || !try_net_ns(result, env))
        return false;
    sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (sock < 0)
        return probe_fail(result, "socket");
    errnum = -veth_make(&veth, sock);
    return errnum == 0 || probe_fail_with(result, errnum, veth.doing);
}

/* KERNEL: with both ends in one namespace no gateway of IPv6 can be the other one. */
PROBE_WORK(try_veth_v6)
{
    int forwards = veth_forwards(AF_INET6);

    (void)env;
    return forwards > 0 ||
           probe_fail_with(result, forwards < 0 ? -forwards : ENETUNREACH, "forwarding");
}
