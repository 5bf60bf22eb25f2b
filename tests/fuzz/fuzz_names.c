/* SPDX-License-Identifier: Apache-2.0 */
/* Names and their addresses against a plain list in the order of use. Of each byte the low bits are
 * the name, the highest says whether its address is looked up instead. */
#include "fuzz/fuzz.h"
#include "net/names.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 5, NAMES = 16 };

static unsigned char order[MOST]; /* the last is the newest */
static size_t count;
static struct name_addresses addresses[NAMES];

static bool use(unsigned char which)
{
    unsigned char *at = memchr(order, which, count);

    if (!at)
        return false;
    memmove(at, at + 1, (size_t)(order + count - at - 1));
    order[count - 1] = which;
    return true;
}

static void give(struct names *names, unsigned char which)
{
    struct name_addresses got;
    unsigned char gone = order[0];
    char name[16];

    (void)snprintf(name, sizeof(name), "n%u.test", which);
    fuzz_require(names_give(names, name, &got));
    if (use(which)) {
        fuzz_require(memcmp(&got, &addresses[which], sizeof(got)) == 0);
        return;
    }
    if (count == MOST) {
        fuzz_require(memcmp(&got, &addresses[gone], sizeof(got)) == 0);
        memmove(order, order + 1, --count);
    }
    order[count++] = which;
    addresses[which] = got;
}

static void find(struct names *names, unsigned char which, bool by_v6)
{
    struct host address = {.kind = HOST_ADDRESS, .address = {[10] = 0xff, [11] = 0xff}};
    char name[LIMIT_HOST_BYTES], expected[16];
    bool is_there = memchr(order, which, count);

    if (!is_there)
        return;
    if (by_v6)
        memcpy(address.address, addresses[which].v6, 16);
    else
        memcpy(address.address + 12, addresses[which].v4, 4);
    (void)snprintf(expected, sizeof(expected), "n%u.test", which);
    fuzz_require(names_is_synthetic(&address));
    fuzz_require(names_find(names, &address, name) && strcmp(name, expected) == 0);
    (void)use(which);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct names *names = names_new(MOST, NULL);

    fuzz_require(names);
    count = 0;
    for (size_t i = 0; i < size; i++) {
        if (data[i] & 0x80)
            find(names, data[i] % NAMES, data[i] & 0x40);
        else
            give(names, data[i] % NAMES);
    }
    names_free(names);
    return 0;
}
