/* SPDX-License-Identifier: Apache-2.0 */
/* The files of data/, which the build puts into the program: nothing at run time can swap them. */
#include "api/api.h"
#include "base/text.h"

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

/* The name of a file in a folder, without ".yaml"; false when it is elsewhere or too long to be
 * one. */
static bool builtin_name(const struct builtin_file *file, const char *folder, char ret_name[64])
{
    size_t prefix = strlen(folder);
    int length;

    if (strncmp(file->name, folder, prefix) != 0 || file->name[prefix] != '/')
        return false;
    length = (int)(strlen(file->name) - prefix - 1 - strlen(".yaml"));
    return snprintf(ret_name, 64, "%.*s", length, file->name + prefix + 1) < 64;
}

void builtin_hint(const char *folder, const char *name, struct strbuf *out)
{
    VEC(const char *) known = {0};
    struct arena arena = {0};
    const char *nearest;
    char word[64];

    for (const struct builtin_file *file = builtin_files; file->name; file++) {
        const char *copy;

        if (!builtin_name(file, folder, word))
            continue;
        copy = arena_strdup(&arena, word);
        if (!copy || !vec_push(&known, copy))
            out->failed = true;
    }
    nearest = text_nearest(name, known.items, known.count);
    if (nearest)
        strbuf_addf(out, "did you mean '%s'?", nearest);
    for (size_t i = 0; !nearest && i < known.count; i++)
        strbuf_addf(out, "%s%s",
                    i == 0                 ? "there are "
                    : i + 1 == known.count ? " and "
                                           : ", ",
                    known.items[i]);
    vec_done(&known);
    arena_done(&arena);
}
