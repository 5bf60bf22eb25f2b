/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mounts.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_BYTES = 16 * 1024 * 1024 };

int mounts_read(int dir_fd, const char *path, char **ret_list, struct bawn_error *err)
{
    autoclose int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    autofree char *text = NULL;
    size_t size = 0;
    size_t length = 0;
    ssize_t got;

    if (fd < 0)
        return error_errno(err, errno, "open the list of mounts");
    do {
        if (length + 4096 > size) {
            char *more = size < LIST_BYTES ? realloc(text, size = size * 2 + 16384) : NULL;

            if (!more)
                return error_memory(err);
            text = more;
        }
        got = read(fd, text + length, size - length - 1);
        if (got < 0)
            return error_errno(err, errno, "read the list of mounts");
        length += (size_t)got;
    } while (got > 0);
    text[length] = '\0';
    *ret_list = take_ptr(&text);
    return 0;
}

/* A word of a line into room, or "" if there is none or it does not fit. */
static void take_word(const char *at, const char *end, char *room, size_t size)
{
    size_t length = at < end ? strcspn(at, " \n") : 0;

    *room = '\0';
    if (length >= size)
        return;
    memcpy(room, at, length);
    room[length] = '\0';
}

/* "ID PARENT DEVICE ROOT POINT FLAGS [TAGS...] - TYPE SOURCE OPTIONS" */
bool mounts_next(const char **rest, struct mounts_row *ret_row)
{
    const char *line = *rest;
    const char *end = strchr(line, '\n');
    const char *tail;

    if (!end)
        return false;
    *rest = end + 1;
    tail = memmem(line, (size_t)(end - line), " - ", 3);
    for (int i = 0; i < 4 && line < end; i++)
        line += strcspn(line, " \n") + 1;
    take_word(line, end, ret_row->point, sizeof(ret_row->point));
    text_unescape_octal(ret_row->point);
    take_word(tail ? tail + 3 : end, end, ret_row->type, sizeof(ret_row->type));
    return true;
}

void mounts_add_below(struct strbuf *out, const char *list, const char *path)
{
    struct mounts_row row;

    while (mounts_next(&list, &row)) {
        if (path_is_below(row.point, path))
            strbuf_addf(out, "%s %s\n", row.point, row.type);
    }
}
