/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network namespace, made beside the rest.
 *
 * How it works: making one takes the kernel as long as all the mounts of a
 * sandbox. So a thread of execution that shares all but its namespaces with the
 * set-up makes it on another core. Before that it maps the ids, while the set-up
 * makes the other namespaces. The set-up joins the network through a socket as
 * soon as it is there. Then, while the set-up goes on, the maker brings the
 * loopback up, makes the listeners of a network that is filtered, sets the
 * counts, and ends.
 */
#include "launch/net.h"

#include "base/error.h"
#include "kernel/sys.h"
#include "launch/counts.h"
#include "launch/own.h"
#include "policy/setting.h"
#include "wire/net.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The errno. */
static int make_socket(int *ret_sock)
{
    /* Closed with all other descriptors of the set-up. */
    *ret_sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return *ret_sock < 0 ? errno : 0;
}

/* The errno. */
static int loopback_up(int sock)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

    return (int)-sys_bare(SYS_ioctl, sock, SIOCSIFFLAGS, (long)(uintptr_t)&request, 0);
}

void net_tell_spare(int spare_fd)
{
    const uint64_t one = 1;

    /* If it fails, the launcher waits for pid 1 to be ready instead. */
    if (spare_fd >= 0)
        (void)sys_bare(SYS_write, spare_fd, (long)(uintptr_t)&one, sizeof(one), 0);
}

/* The errno. */
static int make_listeners(struct net_maker *maker)
{
    if (maker->errnum || maker->loopback_errnum)
        return 0;
    if (maker->image->flags & IMAGE_STEERS)
        return -steer_make(&maker->steer);
    return maker->image->flags & (IMAGE_VETH | IMAGE_ENGINE) ? -steer_names(&maker->steer) : 0;
}

static void await(uint32_t *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        (void)sys_bare(SYS_futex, (long)(uintptr_t)flag, FUTEX_WAIT, 0, 0);
}

static void tell(uint32_t *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    (void)sys_bare(SYS_futex, (long)(uintptr_t)flag, FUTEX_WAKE, 1, 0);
}

/* Shares its memory, errno too, with the set-up: only a call that fails writes there, and then the
 * set-up fails with it. All else is bare calls. */
static _Noreturn int make_namespace(void *context)
{
    struct net_maker *maker = context;

    maker->ids_errnum = ids_are_from_outside(maker->image) ? 0 : -ids_map_own(maker->image);
    tell(&maker->has_ids);
    maker->errnum = unshare(CLONE_NEWNET) < 0 ? errno : make_socket(&maker->sock);
    tell(&maker->is_ready);
    maker->loopback_errnum = maker->errnum ? 0 : loopback_up(maker->sock);
    maker->steer_errnum = make_listeners(maker);
    maker->counts_errnum = -counts_limit(&maker->image->limits);
    net_tell_spare(maker->spare_fd);
    for (;;)
        (void)syscall(SYS_exit, 0);
}

/* Each is listened at once. */
static void add_port(struct steer *steer, unsigned long port)
{
    unsigned i = 0;

    while (i < steer->port_count && steer->ports[i] != port)
        i++;
    if (i == steer->port_count && i < STEER_PORTS)
        steer->ports[steer->port_count++] = (uint16_t)port;
}

/* Those of the host's that are reached by the same number inside. Where nf_tables does not steer,
 * those that are answered at all, too. */
static void find_ports(const struct image *image, struct steer *steer)
{
    steer->count = steer->port_count = 0;
    if (steer->is_plain) {
        add_port(steer, NET_PORT);
        add_port(steer, NET_DNS_PORT);
    }
    image_each (image, PART_PORTS, uint32_t, port)
        add_port(steer, *port);
    image_each (image, PART_ITEMS, struct image_item, item) {
        if (item->list == LIST_NETWORK_HOST_PORTS)
            add_port(steer, strtoul(image_string(image, item->value), NULL, 10));
    }
}

int net_begin(struct net_maker *maker, const struct image *image, int spare_fd,
              struct bawn_error *err)
{
    /* Not on ours: all of that would be cleared first. */
    _Alignas(16) static char stack[16384];
    const int flags = CLONE_VM | CLONE_FILES;

    maker->image = image;
    maker->steer.is_plain = image->flags & IMAGE_PLAIN;
    maker->steer.route_fd = maker->steer.rules_fd = -EBADF;
    maker->steer.is_guarded = image->flags & IMAGE_ENGINE;
    maker->steer.has_v6 = image->network_ipv6;
    maker->steer.takes_datagrams = image->flags & IMAGE_DATAGRAMS;
    find_ports(image, &maker->steer);
    maker->spare_fd = spare_fd;
    maker->has_ids = maker->is_ready = 0;
    maker->pid = clone(make_namespace, stack + sizeof(stack), flags, maker);
    return maker->pid < 0 ? error_errno(err, errno, "start the maker of the network") : 0;
}

int net_await_ids(struct net_maker *maker)
{
    await(&maker->has_ids);
    return -maker->ids_errnum;
}

int net_join(struct net_maker *maker, struct bawn_error *err)
{
    int fd;

    await(&maker->is_ready);
    if (maker->errnum)
        return error_errno(err, maker->errnum, "make the network namespace");
    fd = ioctl(maker->sock, SIOCGSKNS);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
        return error_errno(err, errno, "join the network namespace");
    return 0;
}

int net_end(struct net_maker *maker, struct bawn_error *err)
{
    while (waitpid(maker->pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    if (maker->loopback_errnum)
        return error_errno(err, maker->loopback_errnum, "bring the loopback up");
    if (maker->steer_errnum) {
        (void)error_errno(err, maker->steer_errnum, "filter the network: %s", maker->steer.doing);
        error_hint(err, "'bawn doctor' says what this kernel lacks; --net none runs without it");
        return -maker->steer_errnum;
    }
    return maker->counts_errnum
               ? error_errno(err, maker->counts_errnum, "limit what the user may have")
               : 0;
}
