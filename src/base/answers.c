/* SPDX-License-Identifier: Apache-2.0 */
#include "base/answers.h"

#include "base/limits.h"
#include "base/mutant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = LIMIT_PATH_BYTES + 64 };

void answers_done(struct answers *answers)
{
    while (answers->newest) {
        struct answer *answer = answers->newest;

        answers->newest = answer->older;
        free(answer);
    }
    map_done(&answers->map);
    *answers = (struct answers){0};
}

/* The length, or 0 where it does not fit. */
static size_t write_key(char key[static KEY_BYTES], const char *op, const char *path)
{
    int length = snprintf(key, KEY_BYTES, "%s %s", op, path);

    return length > 0 && length < KEY_BYTES ? (size_t)length : 0;
}

static const struct answer *newer(const struct answer *one, const struct answer *other)
{
    return !one || (other && other->order > one->order) ? other : one;
}

static const struct answer *find_any(const struct answers *answers, const char *op)
{
    size_t length = strlen(op);

    for (const struct answer *answer = answers->newest; answer; answer = answer->older)
        if (strncmp(answer->key, op, length) == 0 && answer->key[length] == ' ')
            return answer;
    return NULL;
}

const struct answer *answers_find(const struct answers *answers, const char *op, const char *path)
{
    const struct answer *found;
    char key[KEY_BYTES];
    size_t length;

    if (!answers->newest)
        return NULL;
    if (!LAYER("answers"))
        return find_any(answers, op);
    length = write_key(key, op, path);
    if (!length)
        return NULL;
    found = map_get(&answers->map, false, key, length);
    for (size_t first = strlen(op) + 1; length > first; length--)
        if (key[length - 1] == '/')
            found = newer(found, map_get(&answers->map, true, key, length));
    return found;
}

/* One that is new, and not said yet. */
static struct answer *add(struct answers *answers, const char *key, size_t length, bool is_tree)
{
    struct answer *answer =
        answers->count < ANSWERS_MOST ? malloc(sizeof(*answer) + length + 1) : NULL;

    if (!answer)
        return NULL;
    memcpy(answer->key, key, length);
    answer->key[length] = '\0';
    if (!map_put(&answers->map, is_tree, answer->key, length, answer)) {
        free(answer);
        return NULL;
    }
    answer->older = answers->newest;
    answers->newest = answer;
    answers->count++;
    return answer;
}

bool answers_keep(struct answers *answers, const char *op, const char *path,
                  const struct answer *answer)
{
    const char *slash = strrchr(path, '/');
    char key[KEY_BYTES];
    size_t length = write_key(key, op, path);
    struct answer *kept;

    if (length && answer->is_tree && slash)
        length -= strlen(slash + 1);
    kept = length ? map_get(&answers->map, answer->is_tree, key, length) : NULL;
    if (length && !kept)
        kept = add(answers, key, length, answer->is_tree);
    if (!kept)
        return false;
    kept->order = ++answers->last;
    kept->is_allowed = answer->is_allowed;
    kept->is_tree = answer->is_tree;
    kept->by = answer->by;
    return true;
}
