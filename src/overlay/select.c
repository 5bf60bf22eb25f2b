/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/select.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "policy/glob.h"

#include <stdio.h>
#include <string.h>

static bool is_same_or_below(const char *path, const char *dir, size_t length)
{
    return strncmp(path, dir, length) == 0 &&
           (path[length] == '\0' || path[length] == '/' || length == 0);
}

static bool name_matches(const char *pattern, size_t pattern_length, const char *name,
                         size_t name_length)
{
    autofree char *room = malloc(pattern_length + 1);
    enum glob_kind kind;
    size_t length;

    if (!room || glob_classify(pattern, pattern_length, room, &length, &kind))
        return false;
    return glob_match(pattern, pattern_length, name, name_length);
}

/* As within a name: behind each ** only the last one has to be tried again. What is below a match
 * matches, as if each pattern ended in one. */
static bool glob_matches(const char *pattern, const char *path)
{
    const char *again_pattern = NULL, *again_path = NULL;

    for (;;) {
        const char *rest_pattern = pattern, *rest_path = path;
        size_t pattern_length, path_length;
        const char *part = path_next(&rest_pattern, &pattern_length);
        const char *name = path_next(&rest_path, &path_length);

        if (!part)
            return true;
        if (pattern_length == 2 && strncmp(part, "**", 2) == 0) {
            again_pattern = pattern = rest_pattern;
            again_path = path;
        } else if (name && name_matches(part, pattern_length, name, path_length)) {
            pattern = rest_pattern;
            path = rest_path;
        } else if (again_pattern && path_next(&again_path, &path_length)) {
            pattern = again_pattern;
            path = again_path;
        } else {
            return false;
        }
    }
}

bool select_matches(const char *wish, const char *tree_path, const char *path)
{
    autofree char *full = NULL;
    size_t length;

    while (strncmp(wish, "./", 2) == 0)
        wish += 2 + strspn(wish + 2, "/");
    if (strcmp(wish, ".") == 0)
        wish = "";
    if (*wish == '/') {
        if (asprintf(&full, "%s%s%s", strcmp(tree_path, "/") == 0 ? "" : tree_path,
                     *path ? "/" : "", path) < 0) {
            full = NULL;
            return false;
        }
        path = full;
    }
    length = strlen(wish);
    while (length > 0 && wish[length - 1] == '/')
        length--;
    return is_same_or_below(path, wish, length) || glob_matches(wish, path);
}
