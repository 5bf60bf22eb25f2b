/* SPDX-License-Identifier: Apache-2.0 */
/* Packets on a control socket: whatever comes, no descriptor is left, and strings that are taken
 * are those that were sent; so are hosts. */
#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/control.h"
#include "wire/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The first byte: how many descriptors come with it. The rest is the packet, as it is. */
enum { HEAD_BYTES = (int)sizeof(struct control_message) };

static void check_strings(struct control_message *message, char *bytes, size_t size)
{
    struct control_strings strings;
    struct control_message again = {0};
    autofree char *copy = malloc(size + 1);
    autofree char *joined = NULL;
    size_t joined_size;

    fuzz_require(copy);
    memcpy(copy, bytes, size);
    if (control_strings_split(message, bytes, size, &strings) < 0)
        return;
    fuzz_require(strings.argv[0] && !strings.argv[message->args] && !strings.envp[message->envs]);
    fuzz_require(control_strings_join(&again, strings.argv, strings.envp, &joined, &joined_size) ==
                 0);
    fuzz_require(again.args == message->args && again.envs == message->envs);
    fuzz_require(joined_size == size && memcmp(joined, copy, size) == 0);
    free(strings.argv);
}

static void check_hosts(const char *bytes, size_t size)
{
    /* A block of that very size, so that a byte too far is seen. */
    autofree struct control_host *hosts = malloc(size ? size : 1);
    int count;

    fuzz_require(hosts);
    memcpy(hosts, bytes, size);
    count = control_hosts_count(hosts, size);
    fuzz_require(count == -EPROTO || (size_t)count * sizeof(*hosts) == size);
    for (int i = 0; i < count; i++)
        fuzz_require(strlen(hosts[i].host) < sizeof(hosts[i].host));
}

static void check_packet(int sock, size_t size, size_t fd_count)
{
    static char bytes[CONTROL_BYTES_MAX];
    struct control_message message;
    int fds[CONTROL_FDS];
    size_t behind = 0;
    int r = control_receive(sock, &message, bytes, sizeof(bytes), &behind, fds);

    fuzz_require(r == 0 || r == -EPROTO || r == -EPIPE);
    for (size_t i = 0; i < CONTROL_FDS; i++)
        fuzz_require((fds[i] >= 0) == (r == 0 && i < fd_count));
    packet_drop_fds(fds, CONTROL_FDS);
    if (r < 0)
        return;
    fuzz_require(fd_count <= CONTROL_FDS && behind == size - HEAD_BYTES);
    fuzz_require(message.version == CONTROL_VERSION && message.kind < CONTROL_COUNT);
    check_hosts(bytes, behind);
    check_strings(&message, bytes, behind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int socks[2];
    int fds[PACKET_FDS_MAX];
    size_t fd_count = size > 0 ? data[0] % (PACKET_FDS_MAX + 1) : 0;
    struct iovec parts[2] = {0};
    int lowest;

    if (size < 2 || size > 64 * 1024)
        return 0;
    parts[0] = (struct iovec){.iov_base = (void *)(uintptr_t)(data + 1), .iov_len = size - 1};
    fuzz_require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) == 0);
    for (size_t i = 0; i < fd_count; i++)
        fds[i] = socks[0];
    fuzz_require(packet_send(socks[0], parts, fds, fd_count) == 0);
    lowest = dup(socks[0]);
    close(lowest);
    check_packet(socks[1], size - 1, fd_count);
    fuzz_require(fcntl(lowest, F_GETFD) < 0);
    close(socks[0]);
    close(socks[1]);
    return 0;
}
