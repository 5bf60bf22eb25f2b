/* SPDX-License-Identifier: Apache-2.0 */
#include "base/environ.h"

#include <stdlib.h>
#include <string.h>

const char *environ_get(char *const *variables, const char *name)
{
    size_t length = strlen(name);

    for (; variables && *variables; variables++) {
        if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
            return *variables + length + 1;
    }
    return NULL;
}

void environ_free(char **variables)
{
    for (char **variable = variables; variable && *variable; variable++)
        free(*variable);
    free(variables);
}

char **environ_copy(const char *const *variables)
{
    size_t count = 0;
    char **copy;

    while (variables && variables[count])
        count++;
    copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(variables[i]);
        if (!copy[i]) {
            environ_free(copy);
            return NULL;
        }
    }
    return copy;
}
