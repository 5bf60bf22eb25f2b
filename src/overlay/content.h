/* SPDX-License-Identifier: Apache-2.0 */
/* What a file has in it, and what a link leads to. */
#ifndef OVERLAY_CONTENT_H
#define OVERLAY_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CONTENT_HEX = 64 };

struct content {
    unsigned mode; /* as in struct stat; 0: there is none */
    off_t size;
    char *
        bytes; /* ends with a NUL that is not counted; NULL: larger than the limit, or unreadable */
    size_t length;
    int errnum; /* why it cannot be read, or 0 */
};

/* Of a regular file or link below a directory; of something else only mode and size. 0 or -errno,
 * but what cannot be read says so, and what is not there has mode 0. */
int content_read(int root_fd, const char *path, size_t limit, struct content *ret_content);
void content_done(struct content *content);

/* SHA-256 of a regular file, of at most size bytes, as text. */
int content_hash(int root_fd, const char *path, off_t size, char ret_hex[static CONTENT_HEX + 1]);

#endif
