/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a session: written by its launcher, read by whoever lists sessions. */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

#include "base/strbuf.h"
#include "kernel/cgroup.h"
#include "session/registry.h"
#include "wire/image.h"

/* What goes in. */
struct record_facts {
    const char *sid;
    const struct image *image;
    char *const *argv;   /* NULL: no command of its own */
    const char *changes; /* the name that its changes are kept under, or NULL */
    const struct cgroup *group;
    bool is_detached, has_terminal;
};
void record_write(struct strbuf *out, const struct record_facts *facts);

/* What comes out: the fields that bawn itself needs. */
struct record {
    char sid[SID_BYTES];
    pid_t pid;
    uint64_t start;   /* of the launcher, in ticks since boot */
    uint64_t started; /* seconds since 1970 */
    bool is_detached, has_terminal;
    char backend[16], enforcement[16];
    char workspace[LIMIT_PATH_BYTES];
    char command[1024]; /* words joined by spaces, made printable */
    char cgroups[CGROUP_PATHS][CGROUP_PATH_BYTES];
    char *text;                  /* the whole of it, where it is in a list */
    struct strbuf *not_enforced; /* set before: gets what is not held, a printable line each; NULL:
                                  * nobody wants it */
};
/* False when it is no record. */
bool record_read(const char *text, struct record *ret_record);

/* Reads all records whose launcher lives, and takes away the rest: their directories and control
 * groups. Oldest first. */
struct record_list {
    VEC(struct record) records;
};
int record_list_read(const struct registry *registry, struct record_list *list,
                     struct bawn_error *err);
void record_list_done(struct record_list *list);
#define autorecords __attribute__((cleanup(record_list_done)))

#endif
