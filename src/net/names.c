/* SPDX-License-Identifier: Apache-2.0 */
#include "net/names.h"

#include "base/error.h"
#include "net/table.h"

#include <stdlib.h>
#include <string.h>

/* The first two of the range are the network's and the resolver's own. */
enum { FIRST_NUMBER = 2, V4_NUMBERS = 1 << 17 };

_Static_assert(FIRST_NUMBER + NAMES_MAX <= V4_NUMBERS, "all numbers are in the range");

static const uint32_t first_v4 = 198U << 24 | 18U << 16;
static const uint8_t prefix_v4[12] = {[10] = 0xff, [11] = 0xff};
static const uint8_t prefix_v6[8] = {0xfd, 0x53, 0x05, 0xec};

struct given {
    struct table_entry entry;
    uint32_t number;
    char name[];
};

struct names {
    struct table by_name;
    struct given **by_number; /* from FIRST_NUMBER on */
    size_t most;
};

struct names *names_new(size_t most, struct bawn_error *err)
{
    struct names *names = calloc(1, sizeof(*names));

    if (!names) {
        (void)error_memory(err);
        return NULL;
    }
    names->most = most < NAMES_MAX ? most : NAMES_MAX;
    names->by_number = calloc(names->most, sizeof(struct given *));
    if (!names->by_number)
        (void)error_memory(err);
    if (!names->by_number || table_init(&names->by_name, names->most, err) < 0) {
        names_free(names);
        return NULL;
    }
    return names;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->by_name.count; i++)
        free(names->by_number[i]);
    free(names->by_number);
    table_done(&names->by_name);
    free(names);
}

/* Numbers are given from the first on, and then those of the names that go. */
static struct given *add(struct names *names, const char *name)
{
    size_t bytes = strlen(name) + 1;
    struct given *given = malloc(sizeof(*given) + bytes);
    struct given *oldest;

    if (!given)
        return NULL;
    memcpy(given->name, name, bytes);
    given->entry.name = given->name;
    given->number = (uint32_t)names->by_name.count;
    if (names->by_name.count == names->most) {
        oldest = (struct given *)names->by_name.oldest;
        given->number = oldest->number;
        table_remove(&names->by_name, &oldest->entry);
        free(oldest);
    }
    names->by_number[given->number] = given;
    table_put(&names->by_name, &given->entry);
    return given;
}

static void write_number(uint8_t out[static 4], uint32_t number)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(number >> (24 - 8 * i));
}

bool names_give(struct names *names, const char *name, struct name_addresses *ret_addresses)
{
    struct given *given = (struct given *)table_find(&names->by_name, name);
    uint32_t number;

    if (given)
        table_use(&names->by_name, &given->entry);
    else
        given = add(names, name);
    if (!given)
        return false;
    number = FIRST_NUMBER + given->number;
    write_number(ret_addresses->v4, first_v4 + number);
    memset(ret_addresses->v6, 0, sizeof(ret_addresses->v6));
    memcpy(ret_addresses->v6, prefix_v6, sizeof(prefix_v6));
    write_number(ret_addresses->v6 + 12, number);
    return true;
}

/* The number behind the prefix, if the address is in one of the ranges. */
static bool read_number(const struct host *address, uint64_t *ret_number)
{
    const uint8_t *bytes = address->address;
    uint64_t number = 0;

    for (int i = 8; i < 16; i++)
        number = number << 8 | bytes[i];
    *ret_number = number;
    if (address->kind != HOST_ADDRESS)
        return false;
    if (memcmp(bytes, prefix_v4, sizeof(prefix_v4)) != 0)
        return memcmp(bytes, prefix_v6, sizeof(prefix_v6)) == 0;
    *ret_number = (uint32_t)number - first_v4;
    return (uint32_t)number >= first_v4 && *ret_number < V4_NUMBERS;
}

bool names_find(struct names *names, const struct host *address, char ret_name[LIMIT_HOST_BYTES])
{
    struct given *given;
    uint64_t number;

    if (!read_number(address, &number) || number < FIRST_NUMBER ||
        number - FIRST_NUMBER >= names->by_name.count)
        return false;
    given = names->by_number[number - FIRST_NUMBER];
    table_use(&names->by_name, &given->entry);
    memcpy(ret_name, given->name, strlen(given->name) + 1);
    return true;
}

bool names_is_synthetic(const struct host *address)
{
    uint64_t number;

    return read_number(address, &number);
}
