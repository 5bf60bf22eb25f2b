/* SPDX-License-Identifier: Apache-2.0 */
/* Random sessions, applied, taken back, and broken off at every step. BAWN_TEST_CASES says how
 * many, BAWN_TEST_SEED which is the first. */
#include "base/cleanup.h"
#include "lib/layered.h"
#include "lib/test.h"
#include "overlay/pieces.h"

#include <fcntl.h>
#include <git2/global.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASES = 300, KILLED_CASES = 6, BROKEN_OFF = 9 };

/* What was asked about, and how often some was taken of it. */
struct wishes {
    struct dice dice;
    unsigned asked, parts;
};

/* Of each piece by dice whether it is taken; hunks are split before. */
static int choose_by_dice(void *context, const struct apply_asked *asked,
                          struct apply_part *ret_part, struct bawn_error *err)
{
    const struct show_options options = {.form = SHOW_TEXT};
    struct wishes *wishes = context;
    struct pieces pieces;
    int r = pieces_make(asked, &options, false, &pieces, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < pieces.hunks.list.count; i++)
        if (dice_roll(&wishes->dice, 3) && hunks_split(&pieces.hunks, i) < 0)
            return -1;
    for (size_t i = 0; i < pieces_count(&pieces); i++)
        *pieces_use(&pieces, i) = dice_roll(&wishes->dice, 2) ? HUNK_TAKEN : HUNK_LEFT;
    r = pieces_conclude(&pieces, asked, ret_part);
    pieces_done(&pieces);
    wishes->asked++;
    wishes->parts += r == APPLY_TAKE_PART;
    return r;
}

static unsigned long number_of(const char *variable, unsigned long otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

struct session {
    struct dice dice;
    const char *picture_path; /* where it leaves a picture of what it sees */
};

static void shake_inside(void *context)
{
    struct session *session = context;
    autofree char *picture = NULL;
    FILE *file;

    layered_shake(&session->dice, 5 + dice_roll(&session->dice, 60));
    picture = layered_picture(".", LAYERED_SHAPE);
    file = fopen(session->picture_path, "we");
    if (!file || fputs(picture, file) < 0 || fclose(file) != 0)
        _exit(1);
}

static char *read_picture(const char *path)
{
    struct strbuf text = {0};
    char line[4096];
    FILE *file = fopen(path, "re");
    size_t got;

    ck_assert_ptr_nonnull(file);
    while ((got = fread(line, 1, sizeof(line), file)) > 0)
        strbuf_add_bytes(&text, line, got);
    (void)fclose(file);
    return strbuf_take(&text);
}

/* A tree, and a session that changed it. NULL: there is no overlay here. */
static char *make_case(struct layered *layered, unsigned long seed, const char *store_base)
{
    struct session session = {.dice = {.state = seed * 7919}};
    char path[LAYERED_DIR_BYTES + 16];
    int status;
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    layered_init(layered, layered_fast_dir(), store_base ? store_base : layered_fast_dir());
    ck_assert_int_eq(chdir(layered->lower), 0);
    layered_shake(&session.dice, 20 + dice_roll(&session.dice, 100));
    ck_assert_int_eq(fchdir(here), 0);
    (void)close(here);
    (void)snprintf(path, sizeof(path), "%s/seen", layered->dir);
    session.picture_path = path;
    status = layered_run(layered, shake_inside, &session);
    if (status == LAYERED_NO_OVERLAY) {
        layered_done(layered);
        return NULL;
    }
    ck_assert_int_eq(status, 0);
    layered_note(layered);
    return read_picture(path);
}

static void is_picture(const struct layered *layered, const char *wanted, enum layered_depth depth,
                       unsigned long seed, const char *what)
{
    autofree char *got = layered_picture(layered->lower, depth);

    ck_assert_msg(strcmp(got, wanted) == 0, "seed %lu, %s:\n--- is\n%s--- should be\n%s", seed,
                  what, got, wanted);
}

static void apply_all(struct layered *layered, const struct apply_options *options,
                      unsigned long seed)
{
    struct apply_result result;
    struct bawn_error err = {0};
    int r = apply_changes(layered->store_fd, &layered->tree, 1, options, &result, &err);

    ck_assert_msg(r == 0, "seed %lu: apply: %d %s", seed, r, err.message);
    vec_each (&result.items, item)
        ck_assert_msg(item->fate == APPLY_DONE || (options->choose && item->cause <= APPLY_LEFT),
                      "seed %lu: %s %s", seed, item->path, item->why);
    apply_result_done(&result);
}

static void undo_all(struct layered *layered, unsigned long seed)
{
    const struct apply_options options = {0};
    struct apply_result result;
    struct bawn_error err = {0};
    int r = apply_undo(layered->store_fd, &options, &result, &err);

    ck_assert_msg(r == 0, "seed %lu: undo: %d %s", seed, r, err.message);
    apply_result_done(&result);
}

static void is_empty_layer(struct layered *layered, unsigned long seed)
{
    char path[LAYERED_DIR_BYTES + 16];
    autonamed struct named_list names = {0};

    layered_find(layered);
    ck_assert_msg(layered->changes.list.count == 0, "seed %lu: %zu changes are left", seed,
                  layered->changes.list.count);
    (void)snprintf(path, sizeof(path), "%s/1/upper", layered->store);
    ck_assert_int_eq(named_read(layered->tree.tree.upper_fd, &names), 0);
    ck_assert_msg(names.list.count == 0, "seed %lu: the layer is not empty", seed);
}

/* False: no overlay. */
static bool one_case(unsigned long seed, const char *store_base)
{
    const struct apply_options options = {0}, dry = {.dry_run = true};
    enum layered_depth depth = store_base ? LAYERED_EXACT : LAYERED_INODE;
    struct layered layered;
    autofree char *merged = make_case(&layered, seed, store_base), *before = NULL;
    size_t count;

    if (!merged)
        return false;
    before = layered_picture(layered.lower, depth);
    count = layered.changes.list.count;
    apply_all(&layered, &dry, seed);
    is_picture(&layered, before, depth, seed, "after a dry run");
    apply_all(&layered, &options, seed);
    is_picture(&layered, merged, LAYERED_SHAPE, seed, "applied");
    is_empty_layer(&layered, seed);
    undo_all(&layered, seed);
    is_picture(&layered, before, depth, seed, "taken back");
    layered_find(&layered);
    ck_assert_msg(layered.changes.list.count == count, "seed %lu: %zu changes, not %zu", seed,
                  layered.changes.list.count, count);
    apply_all(&layered, &options, seed);
    is_picture(&layered, merged, LAYERED_SHAPE, seed, "applied again");
    layered_done(&layered);
    return true;
}

START_TEST(a_tree_becomes_what_the_session_saw_and_itself_again)
{
    unsigned long first = number_of("BAWN_TEST_SEED", 1);
    unsigned long count = number_of("BAWN_TEST_CASES", CASES);

    (void)printf("seeds %lu to %lu\n", first, first + count - 1);
    for (unsigned long seed = first; seed < first + count; seed++)
        if (!one_case(seed, NULL)) {
            test_skip("apply_random", "no overlay in a user namespace");
            return;
        }
}
END_TEST

START_TEST(the_same_with_the_store_on_another_file_system)
{
    unsigned long first = number_of("BAWN_TEST_SEED", 1);
    unsigned long count = number_of("BAWN_TEST_CASES", CASES) / 10 + 1;

    if (strcmp(layered_fast_dir(), layered_slow_dir()) == 0) {
        test_skip("apply_other", "/dev/shm takes no attributes");
        return;
    }
    for (unsigned long seed = first; seed < first + count; seed++)
        if (!one_case(seed, layered_slow_dir())) {
            test_skip("apply_other", "no overlay in a user namespace");
            return;
        }
}
END_TEST

/* Whether both have the same lines, in whatever order. */
static int by_text(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static size_t cut_lines(char *text, const char **lines, size_t size)
{
    size_t count = 0;
    char *cursor = text;

    for (char *line; count < size && (line = strsep(&cursor, "\n"));)
        lines[count++] = line;
    qsort(lines, count, sizeof(*lines), by_text);
    return count;
}

static bool is_same_lines(const char *one, const char *other)
{
    enum { LINES = 4096 };
    autofree char *own = strdup(one), *others = strdup(other);
    const char *lines[LINES], *other_lines[LINES];
    size_t count = cut_lines(own, lines, LINES);

    if (cut_lines(others, other_lines, LINES) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i], other_lines[i]) != 0)
            return false;
    return true;
}

static bool is_undone_by(const struct layered *layered, const char *before)
{
    autofree char *now = layered_picture(layered->lower, LAYERED_INODE);

    return strcmp(now, before) == 0;
}

static char *read_index(const struct layered *layered)
{
    char path[LAYERED_DIR_BYTES + 16];

    (void)snprintf(path, sizeof(path), "%s/1/base/index", layered->store);
    return read_picture(path);
}

/* Some is taken, taken back, taken again; then the rest. False: no overlay. */
static bool one_case_in_parts(unsigned long seed, struct wishes *wishes)
{
    const struct apply_options all = {0},
                               some = {.choose = choose_by_dice, .choose_context = wishes};
    struct layered layered;
    autofree char *merged = make_case(&layered, seed, NULL), *before = NULL;
    autofree char *index = NULL, *index_now = NULL, *taken = NULL;
    struct dice dice = {.state = seed * 104729};

    if (!merged)
        return false;
    before = layered_picture(layered.lower, LAYERED_INODE);
    index = read_index(&layered);
    wishes->dice = dice;
    apply_all(&layered, &some, seed);
    taken = layered_picture(layered.lower, LAYERED_SHAPE);
    /* Where nothing was wanted, nothing was done. */
    if (is_undone_by(&layered, before))
        goto rest;
    undo_all(&layered, seed);
    is_picture(&layered, before, LAYERED_INODE, seed, "some was taken back");
    index_now = read_index(&layered);
    ck_assert_msg(is_same_lines(index, index_now), "seed %lu: notes\n%s--- should be\n%s", seed,
                  index_now, index);
    layered_find(&layered);
    wishes->dice = dice;
    apply_all(&layered, &some, seed);
    is_picture(&layered, taken, LAYERED_SHAPE, seed, "some, again");
rest:
    layered_find(&layered);
    apply_all(&layered, &some, seed);
    layered_find(&layered);
    apply_all(&layered, &all, seed);
    is_picture(&layered, merged, LAYERED_SHAPE, seed, "the rest");
    is_empty_layer(&layered, seed);
    layered_done(&layered);
    return true;
}

START_TEST(what_is_taken_in_parts_becomes_the_whole)
{
    unsigned long first = number_of("BAWN_TEST_SEED", 1);
    unsigned long count = number_of("BAWN_TEST_CASES", CASES);
    struct wishes wishes = {0};

    ck_assert_int_gt(git_libgit2_init(), 0);
    (void)printf("seeds %lu to %lu\n", first, first + count - 1);
    for (unsigned long seed = first; seed < first + count; seed++)
        if (!one_case_in_parts(seed, &wishes)) {
            test_skip("apply_parts", "no overlay in a user namespace");
            return;
        }
    (void)printf("%u questions, %u files in part\n", wishes.asked, wishes.parts);
    ck_assert_msg(count < CASES || wishes.parts > count / 10, "%u", wishes.parts);
}
END_TEST

/* Ends the process at the n-th step. */
static void count_down(void *context)
{
    unsigned *steps = context;

    if (--*steps == 0)
        _exit(BROKEN_OFF);
}

enum work { WORK_APPLY, WORK_UNDO, WORK_RECOVER };

/* True: it came to its end before that step. */
static bool break_off(struct layered *layered, enum work work, struct dice *dice, unsigned steps)
{
    struct wishes wishes = {.dice = dice ? *dice : (struct dice){0}};
    struct apply_options options = {.step = count_down,
                                    .step_context = &steps,
                                    .choose = dice ? choose_by_dice : NULL,
                                    .choose_context = &wishes};
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct apply_result result = {0};
        struct bawn_error err = {0};
        enum apply_recovered recovered;
        int r = work == WORK_APPLY
                    ? apply_changes(layered->store_fd, &layered->tree, 1, &options, &result, &err)
                : work == WORK_UNDO ? apply_undo(layered->store_fd, &options, &result, &err)
                                    : apply_recover(layered->store_fd, &options, &recovered, &err);
        if (r < 0)
            (void)fprintf(stderr, "work %d, step %u: %s\n", work, steps, err.message);
        _exit(r == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) != 1, "it failed: %x", status);
    return WEXITSTATUS(status) == 0;
}

static enum apply_recovered recover(struct layered *layered, unsigned long seed)
{
    enum apply_recovered recovered;
    struct bawn_error err = {0};
    int r = apply_recover(layered->store_fd, NULL, &recovered, &err);

    ck_assert_msg(r == 0, "seed %lu: recover: %s", seed, err.message);
    return recovered;
}

/* Whatever it was, the tree is one or the other now, and nothing of ours lies about. */
static bool is_whole(struct layered *layered, const char *before, const char *merged,
                     unsigned long seed, unsigned step)
{
    autofree char *shape = layered_picture(layered->lower, LAYERED_SHAPE);
    autofree char *exact = layered_picture(layered->lower, LAYERED_INODE);

    if (strcmp(exact, before) == 0)
        return false;
    ck_assert_msg(strcmp(shape, merged) == 0,
                  "seed %lu, step %u: between:\n%s--- before\n%s--- merged\n%s", seed, step, exact,
                  before, merged);
    return true;
}

/* Breaks off the work at each step, and the recovery from that at a later one each time. */
static void break_everywhere(struct layered *layered, enum work work, struct dice *dice,
                             const char *before, const char *merged, unsigned long seed)
{
    for (unsigned step = 1;; step++) {
        bool is_done = break_off(layered, work, dice, step), is_applied;

        for (unsigned further = 1 + step % 3; !break_off(layered, WORK_RECOVER, NULL, further);)
            further += 1 + step % 5;
        (void)recover(layered, seed);
        is_applied = is_whole(layered, before, merged, seed, step);
        if (is_done) {
            /* Unless the session left all as it was. */
            ck_assert_msg(is_applied == (work == WORK_APPLY) || layered->changes.list.count == 0,
                          "seed %lu, step %u", seed, step);
            return;
        }
        /* Back to where it began. */
        if (work == WORK_APPLY && is_applied) {
            undo_all(layered, seed);
            is_picture(layered, before, LAYERED_INODE, seed, "taken back after it was broken off");
        }
        layered_find(layered);
        if (step > 2000)
            ck_abort_msg("seed %lu: no end", seed);
        if (work == WORK_UNDO && !is_applied) {
            struct wishes wishes = {.dice = dice ? *dice : (struct dice){0}};
            const struct apply_options options = {.choose = dice ? choose_by_dice : NULL,
                                                  .choose_context = &wishes};

            apply_all(layered, &options, seed);
            is_picture(layered, merged, LAYERED_SHAPE, seed, "applied after it was broken off");
        }
    }
}

START_TEST(what_is_broken_off_anywhere_is_nothing_or_all)
{
    unsigned long first = number_of("BAWN_TEST_SEED", 1);
    unsigned long count = number_of("BAWN_TEST_CASES", CASES) * KILLED_CASES / CASES;

    for (unsigned long seed = first; seed < first + count; seed++) {
        struct layered layered;
        autofree char *merged = make_case(&layered, seed, NULL), *before = NULL;

        if (!merged) {
            test_skip("apply_broken_off", "no overlay in a user namespace");
            return;
        }
        before = layered_picture(layered.lower, LAYERED_INODE);
        break_everywhere(&layered, WORK_APPLY, NULL, before, merged, seed);
        break_everywhere(&layered, WORK_UNDO, NULL, before, merged, seed);
        layered_done(&layered);
    }
}
END_TEST

/* The same with some of it; then the rest. False: no overlay. */
static bool break_parts_everywhere(unsigned long seed, unsigned *found)
{
    struct dice dice = {.state = seed * 104729};
    struct wishes wishes = {.dice = dice};
    const struct apply_options some = {.choose = choose_by_dice, .choose_context = &wishes};
    struct layered layered;
    autofree char *merged = make_case(&layered, seed, NULL), *before = NULL, *taken = NULL;

    if (!merged)
        return false;
    before = layered_picture(layered.lower, LAYERED_INODE);
    apply_all(&layered, &some, seed);
    taken = layered_picture(layered.lower, LAYERED_SHAPE);
    /* In many nothing is taken in part: they would only take time. */
    if (wishes.parts > 0) {
        (*found)++;
        undo_all(&layered, seed);
        layered_find(&layered);
        break_everywhere(&layered, WORK_APPLY, &dice, before, taken, seed);
        break_everywhere(&layered, WORK_UNDO, &dice, before, taken, seed);
    }
    layered_find(&layered);
    apply_all(&layered, &(struct apply_options){0}, seed);
    is_picture(&layered, merged, LAYERED_SHAPE, seed, "all at last");
    layered_done(&layered);
    return true;
}

START_TEST(parts_that_are_broken_off_anywhere_are_nothing_or_all)
{
    unsigned long first = number_of("BAWN_TEST_SEED", 1);
    unsigned long count = number_of("BAWN_TEST_CASES", CASES) * KILLED_CASES / CASES;
    unsigned found = 0;

    ck_assert_int_gt(git_libgit2_init(), 0);
    for (unsigned long seed = first; found < count && seed < first + 50 * count; seed++)
        if (!break_parts_everywhere(seed, &found)) {
            test_skip("apply_parts_broken_off", "no overlay in a user namespace");
            return;
        }
    ck_assert_msg(found == count, "only %u sessions with parts", found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("apply_random");
    TCase *tcase = tcase_create("apply_random");

    tcase_add_test(tcase, a_tree_becomes_what_the_session_saw_and_itself_again);
    tcase_add_test(tcase, the_same_with_the_store_on_another_file_system);
    tcase_add_test(tcase, what_is_broken_off_anywhere_is_nothing_or_all);
    tcase_add_test(tcase, what_is_taken_in_parts_becomes_the_whole);
    tcase_add_test(tcase, parts_that_are_broken_off_anywhere_are_nothing_or_all);
    suite_add_tcase(suite, tcase);
    return layered_test_run(suite, "apply_random");
}
