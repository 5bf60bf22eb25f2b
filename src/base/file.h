/* SPDX-License-Identifier: Apache-2.0 */
/* Whole small files. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <bawn/error.h>
#include <stddef.h>

/*
 * Reads a regular file of at most limit bytes; *ret_data ends with a NUL that
 * is not counted. A FIFO or device is refused without waiting for it.
 * -ENOENT is returned quietly enough for callers that expect it.
 */
int file_read(int dir_fd, const char *path, size_t limit, char **ret_data, size_t *ret_length,
              struct bawn_error *err);

/* The same of the file of that very name: a link is refused with -ELOOP. With its status. */
struct stat;
int file_read_itself(int dir_fd, const char *name, size_t limit, char **ret_data,
                     size_t *ret_length, struct stat *ret_status, struct bawn_error *err);

/* Replaces the file whole, or leaves the old one: a temporary file beside it, then a rename. */
int file_write(int dir_fd, const char *path, const char *data, size_t length,
               struct bawn_error *err);

/* The same, on disk when it returns, with the owner and the mode of another file; like NULL: a new
 * one, of that mode. */
int file_replace(int dir_fd, const char *name, const char *data, size_t length, unsigned mode,
                 const struct stat *like, struct bawn_error *err);

/* Locks what others lock, too, before they change what is in it. The lock ends with the descriptor.
 * SECURITY: who can read a file can hold its lock, a contained program too: after five seconds this
 * gives up. */
int file_lock(int fd, const char *path, struct bawn_error *err);

/* Writes all of it: 0, or a negative errno. */
int file_put(int fd, const char *data, size_t length);

/* Opens a path that has no link in it, with O_CLOEXEC: a descriptor, or a negative errno. */
int file_open_linkless(const char *path, int flags);

/* Creates a directory (0700) and those above it that are missing. */
int file_make_dirs(const char *path, struct bawn_error *err);

/*
 * The null device, with O_CLOEXEC and the access given (O_RDONLY, O_RDWR).
 * Another file at its name is refused, without waiting for it: what is written
 * to it would be kept, or read by somebody.
 */
int file_open_null(int access, struct bawn_error *err);

#endif
