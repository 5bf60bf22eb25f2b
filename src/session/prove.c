/* SPDX-License-Identifier: Apache-2.0 */
/* The proof of a new kind of sandbox: somebody inside tries to get out. */
#include "base/cleanup.h"
#include "base/error.h"
#include "launch/launch.h"
#include "session/session.h"
#include "supervise/supervise.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { PROOF_LIMIT_MS = 30000 };

/* A witness on the host's loopback: reaching it from inside would be an escape. */
static int open_witness(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        if (fd >= 0)
            (void)close(fd);
        return -errno;
    }
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static int judge(const struct sync_message *message, const char *word, struct bawn_error *err)
{
    if (message->point != SYNC_PROVED)
        return error_set(err, EPROTO, "launch.protocol", "awaited 'proved', got '%s'",
                         sync_word(message->point));
    if (message->value == 0)
        return 0;
    (void)error_set(err, EPERM, "run.not_contained",
                    "the sandbox does not hold on this host: a probe inside could %s", word);
    error_hint(err, "nothing was run; 'bawn doctor' tells what this host lacks");
    return -EPERM;
}

static int await_proof(const struct launch *launch, struct supervisor *supervisor,
                       struct bawn_error *err)
{
    struct pollfd ready[2] = {{.fd = launch->sock, .events = POLLIN},
                              {.fd = launch->notify_fd, .events = POLLIN}};
    struct sync_message message;
    int fds[SYNC_FDS];
    char word[128];
    size_t size = sizeof(word) - 1;
    int result = 0;

    while (!ready[0].revents) {
        int count = poll(ready, 2, PROOF_LIMIT_MS);

        if (count < 0 && errno != EINTR)
            return error_errno(err, errno, "poll");
        if (count == 0)
            return error_set(err, ETIMEDOUT, "run.not_proven", "the probe inside gave no answer");
        if (count > 0 && ready[1].revents)
            result = supervisor_serve(supervisor, (uint32_t)ready[1].revents, err);
        if (result < 0 && result != -EPIPE)
            return result;
        if (result == -EPIPE)
            ready[1].fd = -1;
    }
    result = sync_receive(launch->sock, &message, word, &size, fds, err);
    if (result < 0)
        return result;
    word[size] = '\0';
    return judge(&message, word, err);
}

struct spare {
    const struct session_proving *proving;
    struct supervisor *supervisor;
};

/* While the sandbox is being made there is time for that. What is wrong with the rules shows with
 * the first call. */
static void use_spare(void *context)
{
    const struct spare *spare = context;

    if (spare->supervisor)
        (void)supervisor_read_rules(spare->supervisor, NULL);
    spare->proving->spares(spare->proving->context);
}

static int prove(struct launch *launch, struct supervisor *supervisor, struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_PROVE, .job = (uint32_t)getpid()};
    uint16_t port = 0;
    autoclose int witness = open_witness(&port);
    int result;

    message.value = witness >= 0 ? port : 0;
    result = sync_send(launch->sock, &message, NULL, 0, NULL, 0, err);
    return result < 0 ? result : await_proof(launch, supervisor, err);
}

int session_prove(const struct image *image, const struct session_proving *proving,
                  struct launch *ret_launch, struct bawn_error *err)
{
    struct supervisor_options options = {
        .image = image, .notify_fd = -EBADF, .root_fd = -EBADF, .dial_fd = -EBADF};
    struct spare spare = {.proving = proving};
    struct launch_request request = {.image = image,
                                     .is_proof = true,
                                     .cgroup_fd = -EBADF,
                                     .spares = use_spare,
                                     .begins_context = &spare};
    int result = 0;

    *ret_launch = (struct launch)LAUNCH_NONE;
    if (image->flags & IMAGE_NOTIFIES)
        result = supervisor_new(&options, &spare.supervisor, err);
    if (result == 0)
        result = launch_start(&request, ret_launch, err);
    if (result == 0 && spare.supervisor)
        supervisor_listen(spare.supervisor, ret_launch->notify_fd, ret_launch->root_fd);
    if (result == 0)
        result = prove(ret_launch, spare.supervisor, err);
    supervisor_free(spare.supervisor);
    return result;
}
