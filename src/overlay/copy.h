/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of files, links and directories with what belongs to them. */
#ifndef OVERLAY_COPY_H
#define OVERLAY_COPY_H

#include <bawn/error.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Whose copy it becomes, and of what kind. */
struct copy_how {
    bool is_exact; /* of the host's own things, to be put back: set-id bits and all attributes, too
                    */
    bool has_owner;
    bool is_left;  /* not waited for: the caller waits for the disk as a whole */
    bool is_now;   /* the time of the copy is its own */
    mode_t set_id; /* bits that the copy may have, if what is copied has them */
    uid_t uid;
    gid_t gid;
};

/*
 * Makes "to", which must not exist, like "from": a file, a link, a FIFO, or a directory, which
 * stays empty and writable for its owner until copy_finish. Files keep their holes. -errno; what
 * was made until then stays for the caller to remove.
 */
int copy_one(int from_fd, const char *from, int to_fd, const char *to, const struct copy_how *how);
/* A directory's owner, attributes, mode and times, when all is in it. */
int copy_finish(int from_fd, const char *from, int to_fd, const char *to,
                const struct copy_how *how);

/* An entry with all that is in it, exactly. */
int copy_exactly(int from_fd, const char *from, int to_fd, const char *to);

/* The extended attributes user.* and the access lists; those that "to" has and "from" has not are
 * removed. Both may be O_PATH. Attributes of overlays themselves are passed over unless is_exact.
 */
int copy_attributes(int from_fd, int to_fd, bool is_exact);

/* The bytes of a file, all or with its holes. */
int copy_bytes(int from_fd, int to_fd);

/* Writes a file of these bytes with the owner, mode, attributes and times as if "from" were copied.
 */
int copy_text(int from_fd, const char *from, int to_fd, const char *to, const char *bytes,
              size_t length, const struct copy_how *how);

#endif
