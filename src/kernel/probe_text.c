/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of /proc and /etc, which have no size before they are read. */
#include "base/cleanup.h"
#include "kernel/probe_try.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { READ_LIMIT_BYTES = 4 * 1024 * 1024, READ_CHUNK_BYTES = 16 * 1024 };

char *probe_read(const char *path)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    autofree char *text = NULL;
    size_t used = 0;

    if (fd < 0)
        return NULL;
    while (used < READ_LIMIT_BYTES) {
        char *grown = realloc(text, used + READ_CHUNK_BYTES + 1);
        ssize_t got;

        if (!grown)
            return NULL;
        text = grown;
        got = read(fd, text + used, READ_CHUNK_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return NULL;
        used += (size_t)got;
        text[used] = '\0';
        if (got == 0)
            return take_ptr(&text);
    }
    return NULL;
}

long probe_read_number(const char *path)
{
    autofree char *text = probe_read(path);
    char *end;
    long value;

    if (!text)
        return -1;
    value = strtol(text, &end, 10);
    return end == text ? -1 : value;
}

long probe_status_number(const char *status, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = status; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return strtol(line + length + 1, NULL, 10);
    }
    return -1;
}
