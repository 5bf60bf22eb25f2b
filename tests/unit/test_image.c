/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled plans: what the compiler makes of a policy, and that a damaged image is refused. */
#include "base/cleanup.h"
#include "lib/test.h"
#include "wire/image.h"

#include <bawn/bawn.h>
#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The image of the policy that these settings give; the caller frees it. */
static struct image *compile_so(const char *const *settings, const char *root, bool at_once,
                                size_t *ret_size)
{
    struct bawn_load *load = NULL;
    struct bawn_policy *policy = NULL;
    struct bawn_host *host = NULL;
    struct bawn_plan *plan = NULL;
    struct bawn_error err = {0};
    struct stat status;
    struct image *image;
    int fd = -1;

    ck_assert_int_eq(bawn_load_new(&load, &err), 0);
    bawn_load_isolated(load, true);
    bawn_load_matches(load, true);
    bawn_load_at_once(load, at_once);
    ck_assert_int_eq(bawn_load_workspace(load, root, &err), 0);
    for (; *settings; settings += 2)
        ck_assert_msg(bawn_load_set(load, settings[0], settings[1], "test", &err) == 0, "%s",
                      err.message);
    ck_assert_msg(bawn_policy_load(load, &policy, NULL, &err) == 0, "%s", err.message);
    ck_assert_int_eq(bawn_host_probe_kernel(&host, &err), 0);
    ck_assert_int_eq(bawn_plan_new(policy, host, &plan, &err), 0);
    ck_assert_msg(bawn_plan_compile(plan, 0, &fd, &err) == 0, "%s", err.message);
    ck_assert_int_eq(fstat(fd, &status), 0);
    *ret_size = (size_t)status.st_size;
    image = malloc(*ret_size);
    ck_assert_ptr_nonnull(image);
    ck_assert_int_eq(pread(fd, image, *ret_size, 0), (ssize_t)*ret_size);
    ck_assert_int_lt(write(fd, "x", 1), 0);
    ck_assert_int_eq(errno, EPERM);
    (void)close(fd);
    bawn_plan_free(plan);
    bawn_host_free(host);
    bawn_policy_free(policy);
    bawn_load_free(load);
    return image;
}

static struct image *compile(const char *const *settings, const char *root, size_t *ret_size)
{
    return compile_so(settings, root, false, ret_size);
}

static const struct image_mount *find_step(const struct image *image, enum image_step step,
                                           const char *target)
{
    image_each (image, PART_MOUNTS, struct image_mount, mount) {
        if (mount->step == step && strcmp(image_string(image, mount->target), target) == 0)
            return mount;
    }
    return NULL;
}

static char *make_workspace(void)
{
    static char dir[TEST_DIR_BYTES];
    char path[2 * TEST_DIR_BYTES];

    test_make_dir(dir, "image");
    (void)snprintf(path, sizeof(path), "%s/.git", dir);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/.git/hooks", dir);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    return dir;
}

static void drop_workspace(const char *dir)
{
    char path[2 * TEST_DIR_BYTES];

    (void)snprintf(path, sizeof(path), "%s/.git/hooks", dir);
    (void)rmdir(path);
    (void)snprintf(path, sizeof(path), "%s/.git", dir);
    (void)rmdir(path);
    (void)rmdir(dir);
}

START_TEST(what_is_protected_is_sealed_and_its_parents_are_pinned)
{
    static const char *const none[] = {NULL};
    char *dir = make_workspace();
    char hooks[64];
    char git[64];
    size_t size;
    struct image *image = compile(none, dir, &size);

    (void)snprintf(hooks, sizeof(hooks), "%s/.git/hooks", dir + 1);
    (void)snprintf(git, sizeof(git), "%s/.git", dir + 1);
    drop_workspace(dir);
    ck_assert_int_eq(image_check(image, size, NULL), 0);
    ck_assert_ptr_nonnull(find_step(image, STEP_SEAL, hooks));
    ck_assert_ptr_nonnull(find_step(image, STEP_PIN, git));
    ck_assert(find_step(image, STEP_PIN, git) < find_step(image, STEP_SEAL, hooks));
    ck_assert_ptr_nonnull(find_step(image, STEP_BIND, dir + 1));
    ck_assert(!(find_step(image, STEP_BIND, dir + 1)->flags & STEP_READ_ONLY));
    ck_assert_int_gt(image_count(image, PART_FILTER), 50);
    free(image);
}
END_TEST

static const struct image_dep *find_dep(const struct image *image, const struct image_dep *wanted,
                                        const char *path)
{
    image_each (image, PART_DEPS, struct image_dep, dep) {
        if (dep->kind == wanted->kind && strcmp(image_string(image, dep->path), path) == 0)
            return dep;
    }
    return NULL;
}

/* Whether the image depends on no less. Where one view asked whether a name is a link, and another
 * what it is, a shared one asks what it is; and a directory that answers for names is looked at. */
static bool has_dep(const struct image *image, const struct image_dep *wanted, const char *path)
{
    static const struct image_dep entry = {.kind = DEP_ENTRY}, absent = {.kind = DEP_ABSENT},
                                  gate = {.kind = DEP_GATE};

    return find_dep(image, wanted, path) ||
           (wanted->kind == DEP_NO_LINK &&
            (find_dep(image, &entry, path) || find_dep(image, &absent, path))) ||
           ((wanted->kind == DEP_NO_LINK || wanted->kind == DEP_ENTRY) &&
            find_dep(image, &gate, path));
}

START_TEST(a_plan_that_is_made_at_once_is_the_same)
{
    static const char *const some[] = {"sandbox.deny", "secret.txt", "sandbox.limits.pids", "99",
                                       NULL};
    char *dir = make_workspace();
    size_t size, other_size;
    struct image *image = compile(some, dir, &size);
    struct image *other = compile_so(some, dir, true, &other_size);

    drop_workspace(dir);
    for (unsigned part = 0; part < PART_COUNT; part++)
        if (part != PART_DEPS && part != PART_STRINGS)
            ck_assert_uint_eq(image_count(image, part), image_count(other, part));
    ck_assert_uint_gt(image_count(other, PART_DEPS), 500);
    image_each (image, PART_DEPS, struct image_dep, dep) {
        const char *path = image_string(image, dep->path);

        ck_assert_msg(has_dep(other, dep, path), "%d %s", dep->kind, path);
    }
    image_each (image, PART_MOUNTS, struct image_mount, mount)
        ck_assert_ptr_nonnull(find_step(other, mount->step, image_string(image, mount->target)));
    free(image);
    free(other);
}
END_TEST

START_TEST(the_seal_comes_after_what_is_read_only_and_before_the_rest)
{
    static const char *const none[] = {NULL};
    char *dir = make_workspace();
    size_t size;
    struct image *image = compile(none, dir, &size);
    bool sealed = false;

    drop_workspace(dir);
    image_each (image, PART_MOUNTS, struct image_mount, mount) {
        if (mount->step == STEP_SEAL_ALL)
            sealed = true;
        /* Before the seal only what may be sealed, after it no tree that relies on it. */
        if (!sealed)
            ck_assert(mount->flags & STEP_READ_ONLY);
        else
            ck_assert(!(mount->flags & STEP_STEADY));
    }
    ck_assert(sealed);
    free(image);
}
END_TEST

/* Everything that the launcher reads of an image. */
static unsigned long read_all(const struct image *image)
{
    unsigned long sum = strlen(image_string(image, image->cwd));

    for (enum image_part part = PART_SKELETON; part <= PART_MOUNTS; part++) {
        image_each (image, part, struct image_mount, mount)
            sum += strlen(image_string(image, mount->source)) +
                   strlen(image_string(image, mount->target));
    }
    image_each (image, PART_RULES, struct image_rule, rule)
        sum += strlen(image_string(image, rule->path));
    image_each (image, PART_ENV, struct image_env, env)
        sum += strlen(image_string(image, env->name)) + strlen(image_string(image, env->value));
    image_each (image, PART_DEPS, struct image_dep, dep)
        sum += strlen(image_string(image, dep->path)) + strlen(image_string(image, dep->text));
    image_each (image, PART_FILTER, struct sock_filter, filter)
        sum += filter->k;
    return sum;
}

START_TEST(a_damaged_image_is_refused_or_harmless)
{
    static const char *const none[] = {NULL};
    char *dir = make_workspace();
    size_t size;
    struct image *image = compile(none, dir, &size);
    unsigned long sum = 0;
    int refused = 0;

    drop_workspace(dir);
    srand(1);
    for (int i = 0; i < 4000; i++) {
        struct image *copy = malloc(size);
        size_t at = (size_t)rand() % (i % 2 ? size : sizeof(*image));

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, image, size);
        for (size_t k = at; k < at + 4 && k < size; k++)
            ((unsigned char *)copy)[k] = (unsigned char)rand();
        if (image_check(copy, size, NULL) == 0)
            sum += read_all(copy);
        else
            refused++;
        free(copy);
    }
    ck_assert_uint_gt(sum, 0);
    ck_assert_int_gt(refused, 100);
    /* Cut anywhere, it is none. */
    for (size_t length = 0; length < size; length += 61)
        ck_assert_int_eq(image_check(image, length, NULL), -EBADMSG);
    free(image);
}
END_TEST

static Suite *image_suite(void)
{
    Suite *suite = suite_create("image");
    TCase *tcase = tcase_create("image");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_is_protected_is_sealed_and_its_parents_are_pinned);
    tcase_add_test(tcase, a_plan_that_is_made_at_once_is_the_same);
    tcase_add_test(tcase, the_seal_comes_after_what_is_read_only_and_before_the_rest);
    tcase_add_test(tcase, a_damaged_image_is_refused_or_harmless);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_run(image_suite(), "image");
}
