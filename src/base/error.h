/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a struct bawn_error, and adding context on the way up. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <bawn/error.h>
#include <stddef.h>

/* Sets the message to "FORMAT: strerror(errnum)". Returns -errnum. err may be NULL. */
__attribute__((format(printf, 3, 4))) int error_errno(struct bawn_error *err, int errnum,
                                                      const char *format, ...);

/* Sets code and message; the caller says it all. Returns -errnum. */
__attribute__((format(printf, 4, 5))) int error_set(struct bawn_error *err, int errnum,
                                                    const char *code, const char *format, ...);

/* Adds the remedy to an error that is set. */
__attribute__((format(printf, 2, 3))) void error_hint(struct bawn_error *err, const char *format,
                                                      ...);

/* What another process sent as an error, which may be anything: -errnum, or 0 when it is none. */
int error_take(const void *bytes, size_t size, struct bawn_error *err);

/* -ENOMEM with its message. */
int error_memory(struct bawn_error *err);

#endif
