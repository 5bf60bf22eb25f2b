/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/pieces.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/show_own.h"

#include <errno.h>
#include <string.h>

enum { MODE_BITS = 07777, PIECES_BYTES = 8 * 1024 * 1024 };

void pieces_done(struct pieces *pieces)
{
    free(pieces->head);
    free(pieces->mode.text);
    free(pieces->whole.text);
    free(pieces->before.bytes);
    free(pieces->after.bytes);
    hunks_done(&pieces->hunks);
    *pieces = (struct pieces){0};
}

/* What was shown since is taken off. */
static int take_shown(struct show *show, char **ret_text)
{
    *ret_text = strbuf_take(show->out);
    *show->out = (struct strbuf){0};
    return *ret_text ? 0 : error_memory(show->err);
}

static enum piece_kind kind_of(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_ADDED:
        return change->from ? PIECE_MOVE : PIECE_ADDITION;
    case CHANGE_DELETED:
        return PIECE_DELETION;
    case CHANGE_REPLACED:
        return PIECE_REPLACEMENT;
    case CHANGE_CHANGED:
        break;
    }
    if (change->what & CHANGE_CONTENT)
        return PIECE_CHANGE;
    return change->what & CHANGE_MODE ? PIECE_MODE : PIECE_ATTRIBUTES;
}

/* All of it is one piece. */
static int make_one(struct show *show, const struct change *change, struct pieces *pieces)
{
    int r = show_text(show, change);

    pieces->whole.is_there = true;
    pieces->whole.kind = kind_of(change);
    return r < 0 ? r : take_shown(show, &pieces->whole.text);
}

static int make_mode(struct show *show, const struct change *change, const struct pair *pair,
                     struct piece *piece)
{
    bool has_mode = (pair->before.mode ^ pair->after.mode) & MODE_BITS;

    if (!has_mode && !(change->what & CHANGE_ATTRIBUTES))
        return 0;
    piece->is_there = true;
    piece->kind = has_mode ? PIECE_MODE : PIECE_ATTRIBUTES;
    pair_add_modes(show, pair);
    if (change->what & CHANGE_ATTRIBUTES)
        strbuf_add(show->out, "other extended attributes\n");
    return take_shown(show, &piece->text);
}

static void use_merged(struct pair *pair, const struct apply_asked *asked)
{
    char *bytes = malloc(asked->merged->length + 1);

    free(pair->after.bytes);
    pair->after.bytes = bytes;
    pair->after.length = asked->merged->length;
    pair->after.size = (off_t)asked->merged->length;
    if (bytes)
        memcpy(bytes, asked->merged->bytes, asked->merged->length);
}

/* A file that has another content, and maybe another mode. */
static int make_several(struct show *show, const struct apply_asked *asked, struct pieces *pieces)
{
    const char *path = asked->change->path;
    autopair struct pair pair = {0};
    int r = pair_read(show, path, path, PIECES_BYTES, &pair), has_hunks = 0;

    if (r < 0)
        return r;
    if (asked->merged)
        use_merged(&pair, asked);
    if (asked->merged && !pair.after.bytes)
        return error_memory(show->err);
    pair.after.mode = asked->mode;
    has_hunks = pair_find_hunks(show, &pair, &pieces->hunks);
    if (has_hunks < 0)
        return has_hunks;
    pair_add_head(show, &pair, has_hunks);
    r = take_shown(show, &pieces->head);
    if (r == 0)
        r = make_mode(show, asked->change, &pair, &pieces->mode);
    if (r == 0 && !has_hunks && (!asked->merged || !pair_is_same(&pair))) {
        pieces->whole.is_there = true;
        pieces->whole.kind = PIECE_CHANGE;
        r = pair_add_words(show, &pair);
        if (r == 0)
            r = take_shown(show, &pieces->whole.text);
    }
    if (r == 0 && has_hunks) {
        pieces->before.bytes = take_ptr(&pair.before.bytes);
        pieces->before.length = pair.before.length;
        pieces->after.bytes = take_ptr(&pair.after.bytes);
        pieces->after.length = pair.after.length;
    }
    return r;
}

static bool has_several(const struct apply_asked *asked)
{
    const struct change *change = asked->change;

    return change->kind == CHANGE_CHANGED && S_ISREG(change->after.st_mode) &&
           (asked->merged || change->what & CHANGE_CONTENT);
}

int pieces_make(const struct apply_asked *asked, const struct show_options *options, bool has_many,
                struct pieces *ret_pieces, struct bawn_error *err)
{
    autostrbuf struct strbuf out = {0};
    const struct show_tree at = {.tree = &asked->tree->tree, .changes = asked->tree->changes};
    struct show show = {
        .options = options, .at = &at, .has_many = has_many, .out = &out, .err = err};
    int r;

    *ret_pieces = (struct pieces){0};
    r = has_several(asked) ? make_several(&show, asked, ret_pieces)
                           : make_one(&show, asked->change, ret_pieces);
    if (r < 0)
        pieces_done(ret_pieces);
    return r;
}

size_t pieces_count(const struct pieces *pieces)
{
    return pieces->mode.is_there + pieces->whole.is_there + pieces->hunks.list.count;
}

size_t pieces_hunk(const struct pieces *pieces, size_t index)
{
    size_t before = pieces->mode.is_there + pieces->whole.is_there;

    return index < before ? SIZE_MAX : index - before;
}

static const struct piece *piece_at(const struct pieces *pieces, size_t index)
{
    return index == 0 && pieces->mode.is_there ? &pieces->mode : &pieces->whole;
}

enum piece_kind pieces_kind(const struct pieces *pieces, size_t index)
{
    return pieces_hunk(pieces, index) != SIZE_MAX ? PIECE_HUNK : piece_at(pieces, index)->kind;
}

enum hunk_use *pieces_use(struct pieces *pieces, size_t index)
{
    size_t hunk = pieces_hunk(pieces, index);

    if (hunk != SIZE_MAX)
        return &pieces->hunks.list.items[hunk].use;
    return index == 0 && pieces->mode.is_there ? &pieces->mode.use : &pieces->whole.use;
}

int pieces_show(const struct pieces *pieces, size_t index, const struct show_options *options,
                struct strbuf *out)
{
    struct show show = {.options = options, .out = out};
    size_t hunk = pieces_hunk(pieces, index);

    if (hunk != SIZE_MAX)
        show_hunk(&show, &pieces->hunks.list.items[hunk]);
    else
        strbuf_add(out, piece_at(pieces, index)->text);
    return out->failed ? -ENOMEM : 0;
}

static bool is_same(const struct merge_text *one, const struct merge_text *other)
{
    return one->length == other->length &&
           (one->length == 0 || memcmp(one->bytes, other->bytes, one->length) == 0);
}

static int copy_merged(const struct merge_text *merged, struct merge_text *ret_text)
{
    ret_text->bytes = malloc(merged->length + 1);
    ret_text->length = merged->length;
    if (!ret_text->bytes)
        return -ENOMEM;
    memcpy(ret_text->bytes, merged->bytes, merged->length);
    return 0;
}

/* What becomes of the content. */
static int conclude_content(const struct pieces *pieces, struct apply_part *part)
{
    int r;

    if (pieces->hunks.list.count == 0) {
        bool is_left = pieces->whole.is_there && pieces->whole.use != HUNK_TAKEN;

        part->content = is_left ? APPLY_HOSTS : APPLY_SESSIONS;
        return 0;
    }
    r = hunks_compose(&pieces->hunks, &pieces->before, &part->text);
    if (r < 0)
        return r;
    part->content = is_same(&part->text, &pieces->after)    ? APPLY_SESSIONS
                    : is_same(&part->text, &pieces->before) ? APPLY_HOSTS
                                                            : APPLY_TEXT;
    if (part->content != APPLY_TEXT) {
        free(part->text.bytes);
        part->text = (struct merge_text){0};
    }
    return 0;
}

int pieces_conclude(const struct pieces *pieces, const struct apply_asked *asked,
                    struct apply_part *ret_part)
{
    bool has_content = pieces->whole.is_there || pieces->hunks.list.count > 0;
    int r;

    *ret_part = (struct apply_part){.has_mode = pieces->mode.use == HUNK_TAKEN};
    r = conclude_content(pieces, ret_part);
    if (r < 0)
        return r;
    if (ret_part->content == APPLY_SESSIONS && (ret_part->has_mode || !pieces->mode.is_there))
        return APPLY_TAKE;
    if ((ret_part->content == APPLY_HOSTS || !has_content) && !ret_part->has_mode)
        return APPLY_LEAVE;
    if (ret_part->content == APPLY_SESSIONS && asked->merged) {
        ret_part->content = APPLY_TEXT;
        r = copy_merged(asked->merged, &ret_part->text);
    }
    return r < 0 ? r : APPLY_TAKE_PART;
}
