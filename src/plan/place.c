/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/place.h"

#include "base/path.h"

#include <errno.h>
#include <string.h>

const struct cover *place_cover(const struct compiler *compiler, const char *path)
{
    const struct cover *best = NULL;

    /* Parents come first: the last one that fits is the nearest. */
    vec_each (&compiler->covers, cover) {
        if (path_is_below(path, cover->path) && strcmp(path, cover->path) != 0)
            best = cover;
    }
    return best;
}

int place_add_cover(struct compiler *compiler, const char *path, enum cover_kind kind,
                    bool writable, bool early)
{
    struct cover cover = {.path = path, .kind = kind, .writable = writable, .early = early};

    return vec_push(&compiler->covers, cover) ? 0 : -ENOMEM;
}

bool place_is_early(const struct compiler *compiler, const char *target)
{
    const struct cover *cover = place_cover(compiler, target);

    return !cover || cover->early;
}

bool place_is_steady(const struct compiler *compiler, const char *path)
{
    const struct compile_input *input = compiler->input;

    return input->is_steady && input->is_steady(input->context, path);
}

void place_step(struct compiler *compiler, enum place_when when, struct image_mount step,
                const char *source, const char *target)
{
    const struct cover *cover = place_cover(compiler, target);

    if (cover && (cover->kind == COVER_KEPT ||
                  (cover->kind == COVER_TREE && !place_is_steady(compiler, target))))
        step.flags |= STEP_IN_TREE;
    step.source = source ? compiler_string(compiler, source) : 0;
    step.target = compiler_string(compiler, target + 1);
    if (when == PLACE_LATE) {
        strbuf_add_bytes(&compiler->late, (const char *)&step, sizeof(step));
        compiler->late_count++;
    } else {
        compiler_add(compiler, when == PLACE_EARLY ? PART_MOUNTS : PART_SKELETON, &step,
                     sizeof(step));
    }
}

enum place_when place_when_made(const struct compiler *compiler, const char *target)
{
    return place_cover(compiler, target) ? PLACE_LATE : PLACE_SKELETON;
}

bool place_is_made(struct compiler *compiler, const char *path, enum made_kind kind)
{
    size_t length = strlen(path);
    const char *kept;

    if (map_get(&compiler->made, kind, path, length))
        return true;
    kept = arena_strndup(&compiler->arena, path, length);
    if (!kept || !map_put(&compiler->made, kind, kept, length, compiler))
        compiler->late.failed = true;
    return false;
}

/* What is made in the kept home stays there. */
static uint16_t dir_mode(const struct cover *cover)
{
    return cover && cover->kind == COVER_KEPT ? MODE_PRIVATE : MODE_DIR;
}

void place_make_parents(struct compiler *compiler, const char *target)
{
    const struct cover *cover = place_cover(compiler, target);
    size_t from = cover ? strlen(cover->path) : 0;
    char path[LIMIT_PATH_BYTES];

    if (cover && (cover->kind == COVER_TREE || cover->kind == COVER_PROC))
        return;
    for (size_t i = from + 1; target[i]; i++) {
        if (target[i] != '/' || i >= sizeof(path))
            continue;
        memcpy(path, target, i);
        path[i] = '\0';
        if (!place_is_made(compiler, path, MADE_ENTRY))
            place_step(compiler, place_when_made(compiler, path),
                       (struct image_mount){.step = STEP_DIR, .mode = dir_mode(cover)}, NULL, path);
    }
}

void place_make_dir(struct compiler *compiler, const char *target, unsigned mode)
{
    place_make_parents(compiler, target);
    if (!place_is_made(compiler, target, MADE_ENTRY))
        place_step(compiler, place_when_made(compiler, target),
                   (struct image_mount){.step = STEP_DIR, .mode = (uint16_t)mode}, NULL, target);
}

void place_make_point(struct compiler *compiler, const char *target, bool is_file)
{
    const struct cover *cover = place_cover(compiler, target);

    place_make_parents(compiler, target);
    if ((cover && (cover->kind == COVER_TREE || cover->kind == COVER_PROC)) ||
        place_is_made(compiler, target, MADE_ENTRY))
        return;
    place_step(
        compiler, place_when_made(compiler, target),
        (struct image_mount){.step = is_file ? STEP_FILE : STEP_DIR, .mode = dir_mode(cover)}, NULL,
        target);
}

enum look place_look(const struct compiler *compiler, const char *path)
{
    char target[LIMIT_PATH_BYTES];
    const struct looker *looker = compiler->input->looker;

    return looker->look(looker->context, path, target, sizeof(target));
}

/*
 * SECURITY: a mount point cannot be renamed, but a directory above it can, and
 * then another can be made in its place. So every directory between a writable
 * tree's root and what is held or hidden in it is a mount point too.
 */
void place_pin_parents(struct compiler *compiler, const char *target)
{
    const struct cover *cover = place_cover(compiler, target);
    char path[LIMIT_PATH_BYTES];

    if (!cover || cover->kind != COVER_TREE || !cover->writable)
        return;
    for (size_t i = strlen(cover->path) + 1; target[i]; i++) {
        if (target[i] != '/' || i >= sizeof(path))
            continue;
        memcpy(path, target, i);
        path[i] = '\0';
        if (!place_is_made(compiler, path, MADE_PIN))
            place_step(compiler, PLACE_LATE, (struct image_mount){.step = STEP_PIN}, NULL, path);
    }
}
