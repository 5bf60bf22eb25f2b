/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry of a directory: looked at, moved, removed.
 *
 * SECURITY: the names come from a layer that a command filled, and the host's tree may change while
 * it is worked on. A directory is reached from the root of its tree through no link and no mount,
 * and an entry in it by its one name, never followed.
 */
#ifndef OVERLAY_NAMED_H
#define OVERLAY_NAMED_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { NAMED_DIGEST_BYTES = 65 }; /* SHA-256 in hexadecimal */

/* The directory of that path below the root ("": the root), O_PATH. -errno. */
int named_open_dir(int root_fd, const char *path);
/* The directory that an entry is in, and the entry's name, which lies within path. */
int named_open_parent(int root_fd, const char *path, const char **ret_name);

/* st_mode 0: there is none. -errno for all else. */
int named_stat(int dir_fd, const char *name, struct stat *ret_status);
/* The same of a path below a root; a directory on the way that is missing or is none counts as
 * "there is none". */
int named_find(int root_fd, const char *path, struct stat *ret_status);

/* Opens a regular file for reading and looks at it: -EINVAL when it is none. */
int named_open_file(int dir_fd, const char *name, struct stat *ret_status);

/* Digests of files with several names, which are read once. Nobody makes or removes names
 * meanwhile, or they are read again. */
struct named_memo {
    struct arena arena;
    struct map files;
};
void named_memo_done(struct named_memo *memo);

/* Digests of a file's bytes (no plain SHA-256 of them: holes cost nothing), and of all that an
 * entry is (type, mode, bytes, what a link leads to, and in a directory every entry), without its
 * times. */
int named_hash(int fd, char ret_digest[static NAMED_DIGEST_BYTES]);
int named_digest(int dir_fd, const char *name, struct named_memo *memo,
                 char ret_digest[static NAMED_DIGEST_BYTES]);
/* The same of what shows that nobody worked in it, without reading files: names, inodes, sizes,
 * times of what is in a directory, and its mode. */
int named_shape(int dir_fd, const char *name, char ret_digest[static NAMED_DIGEST_BYTES]);

/* What a link leads to, in memory of its own. NULL with errno. */
char *named_read_link(int dir_fd, const char *name);

/* The names in a directory, sorted by their bytes. */
struct named_list {
    VEC(char *) list;
};
int named_read(int dir_fd, struct named_list *ret_names);
void named_list_done(struct named_list *names);

/* The mode of anything but a link. */
int named_set_mode(int dir_fd, const char *name, mode_t mode);

/* Renames, also a directory that its owner cannot write to. */
int named_move(int from_fd, const char *from, int to_fd, const char *to);

/* Removes with all that is in it, however deep. Nothing there: 0. */
int named_remove(int dir_fd, const char *name);

/* Whether a rename from one directory to the other is possible at all. */
bool named_same_place(int dir_fd, int other_fd);

/* "/proc/self/fd/N", for calls that know no descriptor of a path. */
enum { NAMED_PROC_BYTES = 32 };
const char *named_proc_path(int fd, char room[static NAMED_PROC_BYTES]);

#define autonamed __attribute__((cleanup(named_list_done)))

#endif
