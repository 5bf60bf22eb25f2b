/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of running sessions share. All they know of sessions is <bawn/session.h>. */
#ifndef VERBS_SESSION_OWN_H
#define VERBS_SESSION_OWN_H

#include "verbs_session/front.h"

#include <bawn/session.h>

static inline void front_close_session(struct bawn_session **session)
{
    bawn_session_close(*session);
}
#define autosession __attribute__((cleanup(front_close_session)))

static inline void front_free_status(struct bawn_status **status)
{
    bawn_status_free(*status);
}
#define autostatus __attribute__((cleanup(front_free_status)))

static inline void front_free_peers(struct bawn_peer **list)
{
    bawn_peer_free(*list);
}
#define autopeers __attribute__((cleanup(front_free_peers)))

/* The first word, which names the session; or NULL. */
const char *front_sid(const struct front *front);

/* {"sid": SID, "status": N} */
void front_put_end(struct strbuf *out, const struct bawn_session *session, int status);

/* What metrics say, as members of a JSON object, or for people; peers may be NULL. */
void metrics_as_json(struct strbuf *out, const struct bawn_metrics *metrics);
void metrics_as_text(struct strbuf *out, const struct bawn_metrics *metrics,
                     const struct bawn_peer *peers);
/* What sessions with overlays have left, as a member "changes" or as a table: how many have. */
int changes_put(struct strbuf *out, bool as_json, struct bawn_error *err);
/* "3 s", "12 min", "2 h 5 min", "4 d" */
void put_duration(struct strbuf *out, uint64_t seconds);

#endif
