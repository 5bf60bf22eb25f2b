/* SPDX-License-Identifier: Apache-2.0 */
/* The audit trail: what sandboxes were refused, how they began and how they ended. */
#ifndef BAWN_AUDIT_H
#define BAWN_AUDIT_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A session that was recorded. Only the library makes this struct: later versions may add members
 * at the end. */
struct bawn_trail {
    struct bawn_trail *next; /* of a list, or NULL */
    const char *id;          /* its name: the time of its start, and the SID that it had */
    const char *state;       /* "running", "ended", or "lost" where bawn was killed */
    const char *started;     /* when, as RFC 3339 has it; "": not known */
    const char *command;     /* one line, printable, masked and cut; "": not known */
    int status;              /* of one that has ended: what 'bawn run' ended with; else 0 */
};

/* Lists the trails of this user, oldest first. Returns how many there are; the list is NULL when
 * there is none. bawn keeps each for 90 days, at most 4096 of them and 256 MiB: then the oldest go.
 */
BAWN_API int bawn_trail_list(struct bawn_trail **ret_list, struct bawn_error *err);

/* Frees the whole list. */
BAWN_API void bawn_trail_free(struct bawn_trail *list);

/* One trail. */
struct bawn_audit;

/*
 * Opens a trail by its name or the beginning of it, or by the SID of its session or the beginning
 * of that; NULL: the only one. -ESRCH: there is none such ("audit.none", "audit.unknown"); -EINVAL:
 * several match
 * ("audit.ambiguous"). If bawn was killed while it wrote a record, what is there of that is removed
 * now: bawn_audit_mended tells.
 */
BAWN_API int bawn_audit_open(const char *id, struct bawn_audit **ret_audit, struct bawn_error *err);
BAWN_API void bawn_audit_close(struct bawn_audit *audit);

/* The whole name. */
BAWN_API const char *bawn_audit_id(const struct bawn_audit *audit);

/* How many bytes of a torn record were removed; 0: there was none. */
BAWN_API uint64_t bawn_audit_mended(const struct bawn_audit *audit);

/* Goes on with the last records of those that are there, instead of the first. */
BAWN_API int bawn_audit_tail(struct bawn_audit *audit, uint64_t records, struct bawn_error *err);

/* Reads the next record: one JSON object, printable, until the next call. Returns 1; 0: there is no
 * more so far. Says nothing of whether it is genuine. */
BAWN_API int bawn_audit_read(struct bawn_audit *audit, const char **ret_record,
                             struct bawn_error *err);

/* Waits until there may be more to read: 1. 0: nothing more will come. */
BAWN_API int bawn_audit_wait(struct bawn_audit *audit, struct bawn_error *err);

struct bawn_audit_proof {
    bool is_whole;     /* nothing was changed, removed, moved, added or cut off */
    uint64_t records;  /* how many are as they were written */
    uint64_t record;   /* the first that is not, by its number; 0: it is not one record */
    const char *fault; /* what is wrong: "edited", "removed", "reordered", "form", "cut", "added",
                        * "head"; NULL: nothing */
    const char *words; /* the same in a sentence, also of what is no fault; or NULL */
};

/* Looks at all of it, from the first record to the head. Returns 0 also where something is wrong.
 * Afterwards nothing is left to read. */
BAWN_API int bawn_audit_verify(struct bawn_audit *audit, struct bawn_audit_proof *ret_proof,
                               struct bawn_error *err);

/* The trails of which only the head is left, because somebody removed them. The list has their
 * names alone. */
BAWN_API int bawn_trail_list_removed(struct bawn_trail **ret_list, struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
