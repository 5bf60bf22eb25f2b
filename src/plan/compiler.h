/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that compile an image share. */
#ifndef PLAN_COMPILER_H
#define PLAN_COMPILER_H

#include "base/strbuf.h"
#include "plan/compile.h"

/* Who the command is to the host when root runs bawn: an id that nobody else has. */
enum { SANDBOX_ID = 2147482999 };

/* What covers a part of the new root. */
enum cover_kind { COVER_TREE, COVER_OWN, COVER_KEPT, COVER_PROC, COVER_FILE };
struct cover {
    const char *path; /* absolute */
    enum cover_kind kind;
    bool writable;
    bool early; /* mounted before all is sealed at once */
    bool is_no_exec;
    bool is_pool; /* part of the one tmpfs of all private places */
};

struct compiler {
    const struct compile_input *input;
    struct image head;
    struct strbuf parts[PART_COUNT]; /* the bytes of each part */
    struct strbuf late;              /* mounts that come after the seal */
    uint32_t late_count;
    unsigned private_count;
    unsigned texts;
    unsigned copies;
    bool tells; /* the sandbox has PART_TOLD at TOLD_PATH */
    VEC(struct cover) covers;
    VEC(const char *) hollows; /* empty places in the way of what is granted below them */
    struct arena arena;
    struct map made; /* directories of the new root, and pins */
    struct bawn_error *err;
};

/* Whether there is to be a /proc and none can be made. */
bool compile_lacks_proc(const struct plan *plan);

/* A path of the host as it is inside; buffer has room for it. */
const char *compile_inside(const struct plan *plan, const char *path, char *buffer);

uint32_t compiler_string(struct compiler *compiler, const char *text);
void compiler_add(struct compiler *compiler, enum image_part part, const void *entry, size_t size);
/* The parts as one block, to be freed with free(). */
int compiler_join(struct compiler *compiler, struct image **ret_image);
void compiler_done(struct compiler *compiler);

/* What the command may know of its rules (compile_told.c), into PART_TOLD. */
int compile_told(struct compiler *compiler);

#endif
