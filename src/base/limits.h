/* SPDX-License-Identifier: Apache-2.0 */
/* The largest input of each kind: past these bawn refuses instead of growing. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
    LIMIT_PATH_BYTES = 4096,              /* as the kernel's PATH_MAX, with the final NUL */
    LIMIT_SYMLINKS = 40,                  /* as the kernel's MAXSYMLINKS */
    LIMIT_CONFIG_BYTES = 8 * 1024 * 1024, /* one policy file */
    LIMIT_CONFIG_NODES = 400000,          /* values in one policy file */
    LIMIT_CONFIG_DEPTH = 32,              /* nesting of one policy file */
    LIMIT_KEY_BYTES = 255,                /* one key of a policy file */
    LIMIT_COMPLAINTS = 100,               /* then "and more", and the first error */
    LIMIT_RULES = 250000,                 /* rules of one kind in a policy */
    LIMIT_OWN_PORT = 800,                 /* inside, bawn's: nobody else can have it */
    LIMIT_PORTS = 8,                      /* ports of the host's, and ports published */
    LIMIT_STEERED_PORTS = 16,             /* that are listened at inside, without nf_tables */
    LIMIT_PROGRAMS = 64,                  /* that rules about hosts are for */
    LIMIT_HOST_BYTES = 254,               /* a DNS name */
    LIMIT_FURTHER_FDS = 8,                /* that a command gets beside its streams */
    LIMIT_COPIES = 16,                    /* files that are copied into a sandbox */
    LIMIT_COPY_BYTES = 32 * 1024 * 1024,  /* one of them */
};

#endif
