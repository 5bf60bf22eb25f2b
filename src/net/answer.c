/* SPDX-License-Identifier: Apache-2.0 */
#include "net/answer.h"

#include "net/http.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* The line that begins there; *ret_next: behind its end. NULL: it has none. */
static const char *line_end(const char *at, const char *end, const char **ret_next)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    if (!newline)
        return NULL;
    *ret_next = newline + 1;
    return newline > at && newline[-1] == '\r' ? newline - 1 : newline;
}

int answer_read(const char *bytes, size_t size, int *ret_status, size_t *ret_head_bytes)
{
    const char *end = bytes + size, *at = bytes, *next = NULL;
    const char *stop;
    int status = http_read_status(bytes, size);

    if (status < 0)
        return status;
    while ((stop = line_end(at, end, &next))) {
        if (stop == at) {
            *ret_status = status;
            *ret_head_bytes = (size_t)(next - bytes);
            return status && *ret_head_bytes <= ANSWER_HEAD_MAX ? 1 : -EBADMSG;
        }
        at = next;
    }
    return size < ANSWER_HEAD_MAX ? 0 : -EBADMSG;
}

/* Whether a line is about the connection between server and proxy. */
static bool is_for_us(const char *line, size_t length)
{
    static const char *const ours[] = {"connection:", "keep-alive:", "proxy-connection:"};

    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        if (length >= strlen(ours[i]) && strncasecmp(line, ours[i], strlen(ours[i])) == 0)
            return true;
    return false;
}

void answer_write(const char *bytes, size_t head_bytes, struct strbuf *out)
{
    const char *end = bytes + head_bytes, *at = bytes, *next = NULL;
    const char *stop;

    while ((stop = line_end(at, end, &next)) && stop > at) {
        if (!is_for_us(at, (size_t)(stop - at))) {
            strbuf_add_bytes(out, at, (size_t)(stop - at));
            strbuf_add(out, "\r\n");
        }
        at = next;
    }
    strbuf_add(out, "Connection: close\r\n\r\n");
}
