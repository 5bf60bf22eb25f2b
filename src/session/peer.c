/* SPDX-License-Identifier: Apache-2.0 */
#include "session/peer.h"

#include "base/json.h"

void peer_as_json(struct strbuf *out, const struct bawn_peer *peer)
{
    json_open(out, NULL, '{');
    json_put_string(out, "host", peer->host);
    json_put_uint(out, "connections", peer->connections);
    json_put_uint(out, "sent", peer->sent);
    json_put_uint(out, "received", peer->received);
    json_put_uint(out, "refused", peer->refused);
    json_put_uint(out, "uncounted", peer->uncounted);
    json_close(out, '}');
}

const char *peer_name(const struct bawn_peer *peer)
{
    return peer->host[0] ? peer->host : "further hosts";
}

void peer_traffic(struct strbuf *out, const struct bawn_peer *peer)
{
    strbuf_addf(out, "%llu connections, %llu bytes sent, %llu received",
                (unsigned long long)peer->connections, (unsigned long long)peer->sent,
                (unsigned long long)peer->received);
    if (peer->uncounted)
        strbuf_add(out, peer->uncounted < peer->connections
                            ? ", not counting some that were handed over"
                            : " (handed over: not counted)");
}
