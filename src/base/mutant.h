/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a layer of the sandbox out, or some ("mount+notify"), to see which tests notice. Only
 * a build of its own for the tests can: everywhere else LAYER(x) is the constant true and no
 * variable is looked at.
 */
#ifndef BASE_MUTANT_H
#define BASE_MUTANT_H

#include <stdbool.h>

#ifdef BAWN_MUTANT
#include <stdlib.h>
#include <string.h>

static inline bool layer_is_on(const char *name)
{
    const char *at = getenv("BAWN_TEST_OMIT");
    size_t length = strlen(name);

    while (at && *at) {
        size_t word = strcspn(at, "+");

        if (word == length && strncmp(at, name, length) == 0)
            return false;
        at += word + (at[word] != '\0');
    }
    return true;
}
#define LAYER(name) layer_is_on(name)
#define LAYERS_ALL  (!getenv("BAWN_TEST_OMIT"))
#else
#define LAYER(name) true
#define LAYERS_ALL  true
#endif

#endif
