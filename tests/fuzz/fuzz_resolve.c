/* SPDX-License-Identifier: Apache-2.0 */
/* Paths resolved over a file system that the input describes. */
#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "lib/policy.h"
#include "policy/resolve.h"

#include <errno.h>

/*
 * Each line says one thing:
 *     d PATH          a directory
 *     f PATH          a file
 *     u PATH          the host does not say
 *     l PATH TARGET   a symbolic link
 *     w PATH          the workspace, which is a real directory
 *     ro|rw|private|ask|deny PATH   a rule of the policy
 *     PATH            a path to resolve
 */
enum { ENTRIES = 24, QUESTIONS = 16, RULES = 12, LOOKS = 40 * 4096 };

struct entry {
    enum look look;
    const char *path;
    const char *target;
};

struct world {
    struct entry entries[ENTRIES];
    size_t count;
    const char *workspace;
    const char *questions[QUESTIONS];
    size_t question_count;
    unsigned looks; /* a resolution is bounded: it cannot look more often than this */
};

static enum look world_look(void *context, const char *path, char *target, size_t target_size)
{
    struct world *world = context;

    fuzz_require(++world->looks < LOOKS);
    fuzz_require(fuzz_is_normal(path));
    /* No link leads through the workspace: the caller has resolved it. */
    if (strncmp(world->workspace, path, strlen(path)) == 0)
        return LOOK_DIRECTORY;
    for (size_t i = 0; i < world->count; i++) {
        const struct entry *entry = &world->entries[i];

        if (strcmp(entry->path, path) != 0)
            continue;
        if (entry->look == LOOK_LINK)
            (void)snprintf(target, target_size, "%s", entry->target);
        return entry->look;
    }
    return LOOK_ABSENT;
}

static void add_entry(struct world *world, enum look look, const char *path, const char *target)
{
    if (world->count < ENTRIES && path)
        world->entries[world->count++] =
            (struct entry){.look = look, .path = path, .target = target};
}

static void add_rule(struct test_policy *test, const struct layer *layer, const char *mode,
                     const char *path)
{
    struct path_rule rule = {
        .kind = RULE_PATH, .path = path, .spelled = path, .layer = layer, .origin = {0}};

    if (rule_set_mode(&rule, mode) && fuzz_is_normal(path) && test->policy.rules.count < RULES)
        fuzz_require(policy_add_rule(&test->policy, &rule, test->report) == 0);
}

static void read_line(struct world *world, struct test_policy *test, const struct layer *layer,
                      char *line)
{
    char *path = fuzz_split(line);
    char *target;

    if (!path) {
        if (world->question_count < QUESTIONS)
            world->questions[world->question_count++] = line;
        return;
    }
    if (strcmp(line, "d") == 0) {
        add_entry(world, LOOK_DIRECTORY, path, NULL);
    } else if (strcmp(line, "f") == 0) {
        add_entry(world, LOOK_OTHER, path, NULL);
    } else if (strcmp(line, "u") == 0) {
        add_entry(world, LOOK_UNKNOWN, path, NULL);
    } else if (strcmp(line, "w") == 0) {
        if (fuzz_is_normal(path) && strlen(path) < LIMIT_PATH_BYTES)
            world->workspace = path;
    } else if (strcmp(line, "l") == 0) {
        target = fuzz_split(path);
        if (target)
            add_entry(world, LOOK_LINK, path, target);
    } else {
        add_rule(test, layer, line, path);
    }
}

static void check_question(struct world *world, const struct policy *policy, const char *path)
{
    struct looker looker = {.look = world_look, .context = world};
    char resolved[LIMIT_PATH_BYTES] = "unset";
    char again[LIMIT_PATH_BYTES] = "unset";
    struct bawn_error err = {0};
    int r;

    world->looks = 0;
    r = resolve_path(policy, world->workspace, path, &looker, resolved, &err);
    if (r < 0) {
        fuzz_require(err.errnum == -r && *err.code && *err.message);
        fuzz_require(r == -ELOOP || r == -ENAMETOOLONG || r == -EINVAL || r == -ENOENT ||
                     r == -ENOTDIR || r == -EACCES || r == -EXDEV);
        return;
    }
    fuzz_require(r == 0 && err.errnum == 0);
    fuzz_require(fuzz_is_normal(resolved) && strlen(resolved) < LIMIT_PATH_BYTES);
    r = resolve_path(policy, world->workspace, resolved, &looker, again, &err);
    if (r < 0 || strcmp(resolved, again) != 0)
        (void)fprintf(stderr, "'%s' is '%s' is '%s' (%s)\n", path, resolved, again, err.message);
    fuzz_require(r == 0 && strcmp(resolved, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = fuzz_lines_begin(data, size);
    struct world world = {.workspace = TEST_WORKSPACE};
    const struct layer *layer;
    struct test_policy test;
    char *line;

    test_policy_init(&test);
    layer = policy_add_layer(&test.policy, LAYER_USER, AUTHORITY_USER, "user", NULL, NULL);
    fuzz_require(layer);
    while ((line = fuzz_line(&lines)))
        read_line(&world, &test, layer, line);
    fuzz_require(test_policy_finish(&test) == 0);
    for (size_t i = 0; i < world.question_count; i++) {
        check_question(&world, NULL, world.questions[i]);
        check_question(&world, &test.policy, world.questions[i]);
    }
    test_policy_done(&test);
    fuzz_lines_end(&lines);
    return 0;
}
