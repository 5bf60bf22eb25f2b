/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/strings.h"

#include <string.h>

size_t strings_measure(char *const *strings, uint32_t *ret_count)
{
    size_t size = 0;

    for (*ret_count = 0; *strings; strings++, ++*ret_count)
        size += strlen(*strings) + 1;
    return size;
}

char *strings_add(char *at, char *const *strings)
{
    for (; *strings; strings++)
        at = stpcpy(at, *strings) + 1;
    return at;
}

bool strings_are_few(size_t args, size_t envs)
{
    return args > 0 && args <= STRINGS_MAX && envs <= STRINGS_MAX - args;
}

bool strings_split(char *bytes, size_t size, size_t args, size_t envs, char **room)
{
    char *end = bytes + size;
    size_t count = 0;

    if (size == 0 || end[-1] != '\0')
        return false;
    for (char *at = bytes; at < end; at += strlen(at) + 1, count++) {
        if (count == args + envs)
            return false;
        room[count < args ? count : count + 1] = at;
    }
    room[args] = room[args + envs + 1] = NULL;
    return count == args + envs;
}
