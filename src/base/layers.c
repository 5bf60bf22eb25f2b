/* SPDX-License-Identifier: Apache-2.0 */
#include "base/layers.h"

#include <string.h>

bool layers_is_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);

    return length > 0 && length < LAYERS_NAME_BYTES && strspn(name, letters) == length &&
           *name != '.' && *name != '-';
}
