/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong: one fixed-size value that needs no heap and crosses a socket whole. */
#ifndef BAWN_ERROR_H
#define BAWN_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define BAWN_API __attribute__((visibility("default")))

/*
 * Every call that can fail takes one of these as its last parameter; NULL is
 * accepted. The text is complete: what failed, and why. The hint says what to
 * do about it and may be empty. Both are printable: control characters and
 * bytes that are not UTF-8 are shown escaped.
 */
struct bawn_error {
    int errnum;         /* a positive errno value; 0: no error */
    char code[48];      /* a stable word for programs, e.g. "config.unknown_key" */
    char message[1536]; /* "what: why", without a final newline */
    char hint[1024];    /* the remedy, or "" */
};

/* How a value is printed: for people, or one JSON document for programs. */
enum bawn_format { BAWN_FORMAT_TEXT, BAWN_FORMAT_JSON };

/* "0.1.0" */
BAWN_API const char *bawn_version(void);

#ifdef __cplusplus
}
#endif
#endif
