/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "net/resolve.h"
#include "net/resolve_own.h"

#include <errno.h>
#include <string.h>

enum { AT_ONCE = 64 };

/* Room for the address that was asked, of either family. */
union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct in_pktinfo))];
};

static void read_local(struct msghdr *message, struct asker *asker)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        struct in_pktinfo v4;

        if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            memcpy(&v4, CMSG_DATA(part), sizeof(v4));
            asker->local_v4 = v4.ipi_addr;
            asker->has_local_v4 = true;
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            memcpy(&asker->local_v6, CMSG_DATA(part), sizeof(asker->local_v6));
            asker->has_local_v6 = true;
        }
    }
}

static void write_local(struct msghdr *message, union control *control, int level, int type,
                        const void *data, size_t size)
{
    control->head =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(size), .cmsg_level = level, .cmsg_type = type};
    message->msg_control = control;
    message->msg_controllen = CMSG_SPACE(size);
    memcpy(CMSG_DATA(&control->head), data, size);
}

/* What finds no room is asked again. */
void resolve_send_datagram(const struct asker *asker, const uint8_t *bytes, size_t size)
{
    union control control = {.bytes = {0}};
    struct in_pktinfo v4 = {.ipi_spec_dst = asker->local_v4};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr message = {.msg_name = (void *)&asker->peer,
                             .msg_namelen = asker->peer_bytes,
                             .msg_iov = &part,
                             .msg_iovlen = 1};

    if (asker->has_local_v6)
        write_local(&message, &control, IPPROTO_IPV6, IPV6_PKTINFO, &asker->local_v6,
                    sizeof(asker->local_v6));
    else if (asker->has_local_v4)
        write_local(&message, &control, IPPROTO_IP, IP_PKTINFO, &v4, sizeof(v4));
    (void)sendmsg(asker->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_door(void *context, uint32_t events)
{
    struct door *door = context;
    uint8_t bytes[RESOLVE_QUERY_BYTES];

    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        struct asker asker = {.fd = door->source.fd};
        struct iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
        union control control;
        struct msghdr message = {.msg_name = &asker.peer,
                                 .msg_namelen = sizeof(asker.peer),
                                 .msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof(control)};
        ssize_t got = recvmsg(asker.fd, &message, MSG_DONTWAIT);

        /* An error of the socket is somebody's that is gone: reading it has taken it away. */
        if (got < 0 && errno == EAGAIN)
            return;
        if (got < 0 || message.msg_flags & MSG_TRUNC)
            continue;
        asker.peer_bytes = message.msg_namelen;
        read_local(&message, &asker);
        (void)resolve_ask(door->resolver, &asker, bytes, (size_t)got);
    }
}

int resolve_serve_udp(struct resolver *resolver, int fd, struct bawn_error *err)
{
    struct door *door = &resolver->doors[resolver->door_count];
    int family = 0, on = 1, r;
    socklen_t size = sizeof(family);

    if (resolver->door_count == RESOLVE_DOORS)
        return error_set(err, EMFILE, "network.doors", "too many sockets for names");
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0)
        return error_errno(err, errno, "look at the socket for names");
    r = family == AF_INET6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on))
                           : setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
    /* KERNEL: answers from an address that no interface has, as all are here but ::1. */
    if (r == 0 && family == AF_INET6)
        r = setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on));
    if (r < 0)
        return error_errno(err, errno, "set the socket for names");
    *door =
        (struct door){.resolver = resolver,
                      .source = {.fd = fd, .events = EPOLLIN, .ready = on_door, .context = door}};
    r = hub_add(resolver->hub, &door->source, err);
    if (r == 0)
        resolver->door_count++;
    return r;
}
