/* SPDX-License-Identifier: Apache-2.0 */
#include "net/upstream_socket.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62
#endif

/* KERNEL(5.7): a socket may be bound to an interface by anybody, and then tells its number. To
 * learn it libc opens a socket of a kind that the filter of the process does not allow. 0: there is
 * no such interface. */
static unsigned find_interface(const char *name)
{
    autoclose int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int number = 0;
    socklen_t size = sizeof(number);

    if (fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name) + 1) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &number, &size) == 0)
        return (unsigned)number;
    return (unsigned)strtoul(name, NULL, 10);
}

static void swap_prefix(struct in6_addr *address, uint8_t first, uint8_t second)
{
    address->s6_addr[0] = first;
    address->s6_addr[1] = second;
}

const char *upstream_socket_address(const struct resolv_server *server,
                                    char out[static INET6_ADDRSTRLEN])
{
    struct in6_addr address;

    if (!server->scope[0])
        return server->address;
    if (find_interface(server->scope) == 0 || inet_pton(AF_INET6, server->address, &address) != 1)
        return NULL;
    swap_prefix(&address, 0x01, 0x00);
    return inet_ntop(AF_INET6, &address, out, INET6_ADDRSTRLEN);
}

/* The server that c-ares means by an address, where it is another one. */
static void find_server(const struct resolv_conf *conf, struct sockaddr_in6 *address)
{
    for (size_t i = 0; i < conf->server_count; i++) {
        const struct resolv_server *server = &conf->servers[i];
        struct in6_addr own, told;
        unsigned interface;

        if (!server->scope[0] || inet_pton(AF_INET6, server->address, &own) != 1)
            continue;
        told = own;
        swap_prefix(&told, 0x01, 0x00);
        if (memcmp(&told, &address->sin6_addr, sizeof(told)) != 0)
            continue;
        interface = find_interface(server->scope);
        if (interface != 0) {
            address->sin6_addr = own;
            address->sin6_scope_id = interface;
            return;
        }
    }
}

static ares_socket_t open_socket(int family, int type, int protocol, void *context)
{
    (void)context;
    return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

static int close_socket(ares_socket_t fd, void *context)
{
    (void)context;
    return close(fd);
}

static int connect_to(ares_socket_t fd, const struct sockaddr *address, ares_socklen_t size,
                      const struct resolv_conf *conf)
{
    struct sockaddr_in6 server;

    if (address->sa_family != AF_INET6 || size != sizeof(server))
        return connect(fd, address, size);
    memcpy(&server, address, sizeof(server));
    find_server(conf, &server);
    return connect(fd, (const struct sockaddr *)&server, sizeof(server));
}

/* SECURITY: the socket is connected: what comes is from its server. */
static ares_ssize_t receive(ares_socket_t fd, void *data, size_t size, int flags,
                            struct sockaddr *from, ares_socklen_t *from_size, void *context)
{
    ares_ssize_t got = recvfrom(fd, data, size, flags, from, from_size);
    struct sockaddr_in6 *peer = (struct sockaddr_in6 *)from;

    (void)context;
    if (got >= 0 && from && *from_size == sizeof(*peer) && from->sa_family == AF_INET6 &&
        IN6_IS_ADDR_LINKLOCAL(&peer->sin6_addr)) {
        swap_prefix(&peer->sin6_addr, 0x01, 0x00);
        peer->sin6_scope_id = 0;
    }
    return got;
}

#if ARES_VERSION < 0x012200
static int connect_socket(ares_socket_t fd, const struct sockaddr *address, ares_socklen_t size,
                          void *context)
{
    return connect_to(fd, address, size, context);
}

static ares_ssize_t send_parts(ares_socket_t fd, const struct iovec *parts, int count,
                               void *context)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};

    (void)context;
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

bool upstream_socket_set(ares_channel channel, const struct resolv_conf *conf)
{
    static const struct ares_socket_functions functions = {
        .asocket = open_socket,
        .aclose = close_socket,
        .aconnect = connect_socket,
        .arecvfrom = receive,
        .asendv = send_parts,
    };

    ares_set_socket_functions(channel, &functions, (void *)conf);
    return true;
}
#else
/* None of the options is needed. */
static int set_option(ares_socket_t fd, ares_socket_opt_t option, const void *value,
                      ares_socklen_t size, void *context)
{
    (void)fd, (void)option, (void)value, (void)size, (void)context;
    errno = ENOSYS;
    return -1;
}

static int connect_socket(ares_socket_t fd, const struct sockaddr *address, ares_socklen_t size,
                          unsigned flags, void *context)
{
    (void)flags;
    return connect_to(fd, address, size, context);
}

/* An address comes only with TCP Fast Open, which is not set. */
static ares_ssize_t send_bytes(ares_socket_t fd, const void *bytes, size_t size, int flags,
                               const struct sockaddr *to, ares_socklen_t to_size, void *context)
{
    (void)context;
    return sendto(fd, bytes, size, flags | MSG_NOSIGNAL, to, to_size);
}

static int get_name(ares_socket_t fd, struct sockaddr *address, ares_socklen_t *size, void *context)
{
    (void)context;
    return getsockname(fd, address, size);
}

bool upstream_socket_set(ares_channel channel, const struct resolv_conf *conf)
{
    static const struct ares_socket_functions_ex functions = {
        .version = 1,
        .flags = ARES_SOCKFUNC_FLAG_NONBLOCKING,
        .asocket = open_socket,
        .aclose = close_socket,
        .asetsockopt = set_option,
        .aconnect = connect_socket,
        .arecvfrom = receive,
        .asendto = send_bytes,
        .agetsockname = get_name,
    };

    return ares_set_socket_functions_ex(channel, &functions, (void *)conf) == ARES_SUCCESS;
}
#endif
