/* SPDX-License-Identifier: Apache-2.0 */
/* The files of data/, which the build puts into the program: nothing at run time can swap them. */
#include "api/api.h"

#include <stdio.h>
#include <string.h>

const struct builtin_file *builtin_find(const char *folder, const char *name)
{
    char path[128];

    if (snprintf(path, sizeof(path), "%s%s%s.yaml", folder, *folder ? "/" : "", name) >=
        (int)sizeof(path))
        return NULL;
    for (const struct builtin_file *file = builtin_files; file->name; file++)
        if (strcmp(file->name, path) == 0)
            return file;
    return NULL;
}
