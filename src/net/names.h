/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that stand for names inside: a client that connects to one means its name.
 *
 * How it works: a name gets a number, and with it an address of either family: 198.18.0.0
 * plus the number, fd53:5ec:: plus the number. It keeps them as long as it is in use;
 * when all are taken, the one that has not been used for the longest is given anew.
 */
#ifndef NET_NAMES_H
#define NET_NAMES_H

#include "policy/netrule.h"

#include <bawn/error.h>

enum { NAMES_MAX = 65536 };

struct name_addresses {
    uint8_t v4[4];
    uint8_t v6[16];
};

struct names;

/* most is NAMES_MAX, but for tests. */
struct names *names_new(size_t most, struct bawn_error *err);
void names_free(struct names *names);

/* The addresses of a name, which it has from now on. False when out of memory. */
bool names_give(struct names *names, const char *name, struct name_addresses *ret_addresses);

/* The name that an address stands for. */
bool names_find(struct names *names, const struct host *address, char ret_name[LIMIT_HOST_BYTES]);

/* Whether an address can only mean a name, known or not. */
bool names_is_synthetic(const struct host *address);

#endif
