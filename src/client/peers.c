/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a session, as it counts them. */
#include "base/error.h"
#include "base/text.h"
#include "client/client.h"
#include "wire/packet.h"

#include <string.h>

/* The caller gets a pointer to the first member of the first, which is all of them. */
struct peer {
    struct bawn_peer shown;
    char host[CONTROL_HOST_BYTES];
};

static struct bawn_peer *list_new(const struct control_host *hosts, size_t count)
{
    struct peer *peers = calloc(count, sizeof(*peers));

    for (size_t i = 0; peers && i < count; i++) {
        text_escape(peers[i].host, sizeof(peers[i].host), hosts[i].host, strlen(hosts[i].host),
                    TEXT_ONE_LINE);
        peers[i].shown = (struct bawn_peer){.next = i + 1 < count ? &peers[i + 1].shown : NULL,
                                            .host = peers[i].host,
                                            .connections = hosts[i].connections,
                                            .sent = hosts[i].sent,
                                            .received = hosts[i].received,
                                            .refused = hosts[i].refused,
                                            .uncounted = hosts[i].uncounted};
    }
    return peers ? &peers->shown : NULL;
}

int bawn_session_peers(struct bawn_session *session, struct bawn_peer **ret_list,
                       struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_HOSTS};
    struct client_heard heard = {0};
    int result = client_ask(session, &message, CONTROL_HOSTS, &heard, err);

    *ret_list = NULL;
    if (result < 0)
        return result;
    packet_drop_fds(&heard.fd, 1);
    if (heard.host_count == 0)
        return 0;
    *ret_list = list_new(session->behind.hosts, (size_t)heard.host_count);
    return *ret_list ? heard.host_count : error_memory(err);
}

void bawn_peer_free(struct bawn_peer *list)
{
    free(list);
}
