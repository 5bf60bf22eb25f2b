/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *path_next(const char **cursor, size_t *ret_length)
{
    const char *start = *cursor;
    size_t length;

    for (;;) {
        while (*start == '/')
            start++;
        length = strcspn(start, "/");
        if (length != 1 || *start != '.')
            break;
        start += 1;
    }
    *cursor = start + length;
    *ret_length = length;
    return length ? start : NULL;
}

static bool is_dotdot(const char *name, size_t length)
{
    return length == 2 && name[0] == '.' && name[1] == '.';
}

bool path_has_dotdot(const char *path)
{
    const char *name;
    size_t length;

    while ((name = path_next(&path, &length)))
        if (is_dotdot(name, length))
            return true;
    return false;
}

static void normalize_into(struct strbuf *out, const char *path)
{
    const char *name;
    size_t length;

    while ((name = path_next(&path, &length))) {
        if (!is_dotdot(name, length)) {
            strbuf_add_bytes(out, "/", 1);
            strbuf_add_bytes(out, name, length);
            continue;
        }
        while (out->length > 0 && out->text[--out->length] != '/')
            ;
        if (out->text)
            out->text[out->length] = '\0';
    }
}

char *path_normalize(const char *base, const char *path)
{
    autostrbuf struct strbuf out = {0};
    char *text;

    if (*path != '/')
        normalize_into(&out, base);
    normalize_into(&out, path);
    if (out.length == 0)
        strbuf_add(&out, "/");
    if (out.length >= LIMIT_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    text = strbuf_take(&out);
    if (!text)
        errno = ENOMEM;
    return text;
}

bool path_is_below(const char *path, const char *dir)
{
    size_t length = strlen(dir);

    if (length == 1) /* "/" */
        return true;
    return strncmp(path, dir, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

size_t path_depth(const char *path)
{
    size_t depth = 0;
    size_t length;

    while (path_next(&path, &length))
        depth++;
    return depth;
}

const char *path_moved(const char *path, const char *from, const char *to, char *buffer,
                       size_t size)
{
    const char *rest = strcmp(from, "/") == 0 ? path : path + strlen(from);
    int length;

    if (strcmp(from, to) == 0 || !path_is_below(path, from))
        return path;
    length = snprintf(buffer, size, "%s%s", strcmp(to, "/") == 0 && *rest ? "" : to, rest);
    return length > 0 && (size_t)length < size ? buffer : path;
}

void path_cut_name(char *path)
{
    char *slash = strrchr(path, '/');

    slash[slash == path ? 1 : 0] = '\0';
}
