/* SPDX-License-Identifier: Apache-2.0 */
/* Error values: text is made printable as it goes in, so that no later reader has to. */
#include "base/error.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void error_begin(struct bawn_error *err, int errnum, const char *code)
{
    memset(err, 0, sizeof(*err));
    err->errnum = errnum;
    (void)snprintf(err->code, sizeof(err->code), "%s", code);
}

/* Both forms of strerror_r are thread-safe; which one there is depends on the libc. */
static const char *reason_of(int errnum, char *room, size_t size)
{
#ifdef __GLIBC__
    return strerror_r(errnum, room, size);
#else
    return strerror_r(errnum, room, size) == 0 ? room : "unknown error";
#endif
}

int error_errno(struct bawn_error *err, int errnum, const char *format, ...)
{
    char what[sizeof(err->message)];
    char full[sizeof(err->message)];
    char reason[128];
    va_list args;

    if (!err)
        return -errnum;
    error_begin(err, errnum, "system");
    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    (void)snprintf(full, sizeof(full), "%.*s: %s", (int)(sizeof(full) - sizeof(reason) - 3), what,
                   reason_of(errnum, reason, sizeof(reason)));
    text_escape(err->message, sizeof(err->message), full, strlen(full), TEXT_ONE_LINE);
    return -errnum;
}

int error_set(struct bawn_error *err, int errnum, const char *code, const char *format, ...)
{
    char full[sizeof(err->message)];
    va_list args;

    if (!err)
        return -errnum;
    error_begin(err, errnum, code);
    va_start(args, format);
    (void)vsnprintf(full, sizeof(full), format, args);
    va_end(args);
    text_escape(err->message, sizeof(err->message), full, strlen(full), TEXT_ONE_LINE);
    return -errnum;
}

void error_hint(struct bawn_error *err, const char *format, ...)
{
    char full[sizeof(err->hint)];
    va_list args;

    if (!err)
        return;
    va_start(args, format);
    (void)vsnprintf(full, sizeof(full), format, args);
    va_end(args);
    text_escape(err->hint, sizeof(err->hint), full, strlen(full), TEXT_LINES);
}

int error_take(const void *bytes, size_t size, struct bawn_error *err)
{
    struct bawn_error sent;

    if (size != sizeof(sent))
        return 0;
    memcpy(&sent, bytes, size);
    if (sent.errnum <= 0 || !memchr(sent.code, '\0', sizeof(sent.code)) ||
        !memchr(sent.message, '\0', sizeof(sent.message)) ||
        !memchr(sent.hint, '\0', sizeof(sent.hint)))
        return 0;
    (void)error_set(err, sent.errnum, sent.code, "%s", sent.message);
    error_hint(err, "%s", sent.hint);
    return -sent.errnum;
}

int error_memory(struct bawn_error *err)
{
    return error_errno(err, ENOMEM, "allocate");
}
