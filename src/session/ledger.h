/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of audit trails, for those who write and those who read them.
 *
 * How it works: a place that no sandbox sees (see places_open_heads) has one file for each session,
 * ID.ndjson, and in heads a file ID with the number of its records and the hash of the last
 * (wire/chain.h). An ID is the time of the start and the SID, so that names are sorted by time. The
 * launcher holds a lock on the file while it lives. A trail is kept for 90 days, as long as all
 * together are not too many and not too large; then the oldest go. That of a session that lives
 * stays.
 */
#ifndef SESSION_LEDGER_H
#define SESSION_LEDGER_H

#include "session/registry.h"
#include "wire/chain.h"

enum {
    LEDGER_TIME_LENGTH = 19, /* 20261116T231455.042 */
    LEDGER_ID_BYTES = LEDGER_TIME_LENGTH + 1 + SID_BYTES,
    LEDGER_NAME_BYTES = LEDGER_ID_BYTES + 8,
    LEDGER_SECONDS = 90 * 24 * 60 * 60,
    LEDGER_MOST = 4096,
};
#define LEDGER_ALL_BYTES (256ULL * 1024 * 1024)

struct ledger_place {
    int dir_fd, heads_fd; /* O_PATH */
    char path[LIMIT_PATH_BYTES];
};
#define LEDGER_NOWHERE                                                                             \
    {                                                                                              \
        .dir_fd = -EBADF, .heads_fd = -EBADF                                                       \
    }
/* -ENOENT without a message: nothing was ever recorded. */
int ledger_open_place(struct ledger_place *place, bool makes, struct bawn_error *err);
void ledger_close_place(struct ledger_place *place);
#define autoledgerplace __attribute__((cleanup(ledger_close_place)))

/* Of a session that starts now. */
void ledger_make_id(const char *sid, char ret_id[static LEDGER_ID_BYTES]);
bool ledger_is_id(const char *word);

/* Both files of one, to write: new ones, of the caller's alone; the first is locked. -EEXIST: there
 * is one. */
int ledger_make(const struct ledger_place *place, const char *id, int *ret_fd, int *ret_head_fd);
void ledger_remove(const struct ledger_place *place, const char *id);
/* The same to read; *ret_head_fd may be a negative errno. With O_RDWR they can be mended. */
int ledger_open(const struct ledger_place *place, const char *id, int flags, int *ret_head_fd);
/* Whether its launcher lives. */
bool ledger_is_alive(int fd);

struct ledger_ids {
    VEC(char *) items; /* sorted: the oldest first */
};
int ledger_list(const struct ledger_place *place, struct ledger_ids *ids, struct bawn_error *err);
/* Those that have a head: also one whose trail somebody took away. */
int ledger_list_heads(const struct ledger_place *place, struct ledger_ids *ids,
                      struct bawn_error *err);
void ledger_ids_done(struct ledger_ids *ids);
#define autoledgerids __attribute__((cleanup(ledger_ids_done)))

/* Removes those that are too old, too many or too large. */
void ledger_sweep(const struct ledger_place *place);

#endif
