/* SPDX-License-Identifier: Apache-2.0 */
/* bawn metrics: what a session uses, and the hosts it reached. */
#include "base/json.h"
#include "session/peer.h"
#include "verbs_session/own.h"

/* The order is that of struct bawn_metrics. */
static const char *const names[] = {
    "counted",         "elapsed_ms",   "pids_current", "pids_peak",    "pids_limit",
    "memory_current",  "memory_peak",  "memory_limit", "cpu_usec",     "throttled_usec",
    "throttled_count", "oom_kills",    "pids_refused", "exec_jobs",    "viewers",
    "net_connections", "net_refused",  "net_sent",     "net_received", "net_uncounted",
    "layers_bytes",    "layers_limit",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == sizeof(struct bawn_metrics) / 8,
               "each value has a name");

void metrics_as_json(struct strbuf *out, const struct bawn_metrics *metrics)
{
    const uint64_t *values = &metrics->is_counted;

    json_put_bool(out, names[0], values[0] != 0);
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
        json_put_uint(out, names[i], values[i]);
}

static void put_memory(struct strbuf *out, const char *name, uint64_t bytes)
{
    strbuf_addf(out, "%-12s %.1f MiB\n", name, (double)bytes / (1 << 20));
}

static void put_count(struct strbuf *out, const char *name, uint64_t value)
{
    strbuf_addf(out, "%-12s %llu\n", name, (unsigned long long)value);
}

static void put_traffic(struct strbuf *out, const char *name, const struct bawn_peer *sum)
{
    strbuf_addf(out, "%-12s ", name);
    if (sum->host)
        strbuf_addf(out, "%s: ", peer_name(sum));
    if (sum->connections)
        peer_traffic(out, sum);
    if (sum->connections && sum->refused)
        strbuf_add(out, ", ");
    if (sum->refused)
        strbuf_addf(out, "%llu refused", (unsigned long long)sum->refused);
    strbuf_add(out, "\n");
}

void metrics_as_text(struct strbuf *out, const struct bawn_metrics *metrics,
                     const struct bawn_peer *peers)
{
    const struct bawn_peer sum = {.connections = metrics->net_connections,
                                  .sent = metrics->net_sent,
                                  .received = metrics->net_received,
                                  .refused = metrics->net_refused,
                                  .uncounted = metrics->net_uncounted};

    strbuf_addf(out, "%-12s ", "age");
    put_duration(out, metrics->elapsed_ms / 1000);
    strbuf_addf(out, "\n%-12s %.2f s\n", "cpu", (double)metrics->cpu_usec / 1e6);
    if (metrics->throttled_count)
        strbuf_addf(out, "%-12s %.2f s\n", "throttled", (double)metrics->throttled_usec / 1e6);
    put_memory(out, "memory", metrics->memory_current);
    put_memory(out, "at most", metrics->memory_peak);
    if (metrics->memory_limit)
        put_memory(out, "limit", metrics->memory_limit);
    put_count(out, "processes", metrics->pids_current);
    if (metrics->pids_limit)
        put_count(out, "limit", metrics->pids_limit);
    if (metrics->oom_kills)
        put_count(out, "oom kills", metrics->oom_kills);
    if (metrics->pids_refused)
        put_count(out, "refused", metrics->pids_refused);
    if (metrics->layers_bytes)
        put_memory(out, "layers", metrics->layers_bytes);
    if (metrics->layers_limit)
        put_memory(out, "limit", metrics->layers_limit);
    put_count(out, "exec", metrics->jobs);
    put_count(out, "viewers", metrics->viewers);
    if (sum.connections || sum.refused)
        put_traffic(out, "network", &sum);
    for (const struct bawn_peer *peer = peers; peer; peer = peer->next)
        put_traffic(out, "host", peer);
    if (!metrics->is_counted)
        strbuf_add(out, "(sampled: no control group counts here)\n");
}

static void hosts_as_json(struct strbuf *out, const struct bawn_peer *list)
{
    json_open(out, "hosts", '[');
    for (const struct bawn_peer *peer = list; peer; peer = peer->next)
        peer_as_json(out, peer);
    json_close(out, ']');
}

int front_metrics(struct front *front, struct bawn_error *err)
{
    autosession struct bawn_session *session = NULL;
    autopeers struct bawn_peer *peers = NULL;
    struct bawn_metrics metrics = {0};
    struct strbuf out = {0};
    int result = bawn_session_open(front_sid(front), &session, err);

    if (result == 0)
        result = bawn_session_metrics(session, &metrics, sizeof(metrics), err);
    if (result == 0)
        result = bawn_session_peers(session, &peers, err);
    if (result < 0)
        return result;
    if (front->json) {
        json_open(&out, NULL, '{');
        json_put_string(&out, "sid", bawn_session_sid(session));
        metrics_as_json(&out, &metrics);
        hosts_as_json(&out, peers);
        json_close(&out, '}');
    } else {
        metrics_as_text(&out, &metrics, peers);
    }
    return front_print(&out);
}
