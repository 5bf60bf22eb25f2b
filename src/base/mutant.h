/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking one layer of the sandbox out, to see which tests notice. Only a build of its own for the
 * tests can: everywhere else LAYER(x) is the constant true and no variable is looked at.
 */
#ifndef BASE_MUTANT_H
#define BASE_MUTANT_H

#ifdef BAWN_MUTANT
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool layer_is_on(const char *name)
{
    const char *omitted = getenv("BAWN_TEST_OMIT");

    return !omitted || strcmp(omitted, name) != 0;
}
#define LAYER(name) layer_is_on(name)
#define LAYERS_ALL  (!getenv("BAWN_TEST_OMIT"))
#else
#define LAYER(name) true
#define LAYERS_ALL  true
#endif

#endif
