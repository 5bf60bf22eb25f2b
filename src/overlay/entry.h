/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One name of a layer or of the tree below it, held by a descriptor.
 *
 * SECURITY: what a layer has was chosen by a command that nobody trusts. A name is opened with
 * O_PATH: no link is followed, no device is woken, nobody waits at a FIFO. Only what is a regular
 * file then is opened for reading, through that descriptor and not by its name.
 */
#ifndef OVERLAY_ENTRY_H
#define OVERLAY_ENTRY_H

#include "base/cleanup.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct entry {
    int fd; /* O_PATH */
    struct stat status;
};

/* Of an entry of a directory: 0 or -errno. "" is the directory itself. */
int entry_open(int dir_fd, const char *name, struct entry *ret_entry);
/* The same far below a directory, one name after the other. "" is the directory itself. */
int entry_open_below(int root_fd, const char *path, struct entry *ret_entry);
void entry_close(struct entry *entry);

/* A regular file, for reading: a descriptor or -errno. */
int entry_open_data(const struct entry *entry);
/* What a symbolic link leads to: its length or -errno. Ends with NUL. */
int entry_read_link(const struct entry *entry, char ret_target[static PATH_MAX]);
/* All names in a directory; the caller closes it. NULL and errno. */
DIR *entry_list(int dir_fd);
/* The next name but "." and ".."; NULL at the end, errno then says whether it is one. */
struct dirent *entry_next(DIR *dir);

/* Extended attributes: the length or -errno. */
int entry_list_attributes(const struct entry *entry, char *names, size_t size);
int entry_get_attribute(const struct entry *entry, const char *name, char *value, size_t size);
/* Whether an attribute has just this value. */
bool entry_has_attribute(const struct entry *entry, const char *name, const char *value);

/* Reads until the buffer is full or the file ends: how much, or -errno. */
ssize_t entry_read(int fd, char *bytes, size_t size);

/* No lack of memory or descriptors, but a fact about the file. */
bool entry_is_own_fault(int errnum);
/* It is not there, or not any more. */
bool entry_is_gone(int errnum);

#define autoentry __attribute__((cleanup(entry_close)))
#define ENTRY_NONE                                                                                 \
    {                                                                                              \
        .fd = -EBADF                                                                               \
    }

#endif
