/* SPDX-License-Identifier: Apache-2.0 */
#include "net/own.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* KERNEL: to an address of its own the kernel sends from that very address. For datagrams the
 * choice is made when they are connected, before any is sent. */
static bool is_own(const struct host *address, uint16_t port)
{
    struct sockaddr_storage far_end, near_end = {0};
    socklen_t size = host_address(address->address, port, &far_end);
    socklen_t near_bytes = sizeof(near_end);
    autoclose int fd = socket(far_end.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct host near_host = {0};

    if (fd < 0 || connect(fd, (struct sockaddr *)&far_end, size) < 0 ||
        getsockname(fd, (struct sockaddr *)&near_end, &near_bytes) < 0)
        return false;
    host_from_address(&near_end, &near_host);
    return memcmp(near_host.address, address->address, sizeof(near_host.address)) == 0;
}

bool own_is_barred(const struct policy *policy, const struct host *to, const struct host *address,
                   bool is_approved, struct net_decision *ret_decision)
{
    if (decide_net_lists(policy, to, address, is_approved) || !is_own(address, to->port))
        return false;
    *ret_decision = (struct net_decision){
        .access = ACCESS_DENY, .reason = NET_BY_SPECIAL, .special = "this machine's own"};
    return true;
}
