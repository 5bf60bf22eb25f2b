/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls in an overlay: its changes, made once more on a copy of the tree, give what the
 * overlay showed; and so does `git apply`, of what git knows. BAWN_TEST_SEED chooses others: the
 * number that a failure ends with is added to it.
 */
#include "base/cleanup.h"
#include "lib/scene.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CASES = 150, FIRST_CALLS = 100, CALLS = 60, NAME_BYTES = 64, FILE_BYTES = 4096 };

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static unsigned choose(uint64_t *state, unsigned count)
{
    return (unsigned)(next_random(state) % count);
}

/* Few names, so that one is met again: at most three of them, one in the other. */
static void choose_path(uint64_t *state, char path[static NAME_BYTES])
{
    static const char *const names[] = {"a", "b", "d e", "f\ng\377"};
    size_t length = 0;

    for (unsigned depth = 1 + choose(state, 3); depth > 0; depth--)
        length += (size_t)snprintf(path + length, NAME_BYTES - length, "%s%s", length ? "/" : "",
                                   names[choose(state, sizeof(names) / sizeof(names[0]))]);
}

static void write_some(uint64_t *state, const char *path, int flags)
{
    static const char *const contents[] = {"",       "one\n",      "two\nlines\n",
                                           "no end", "\r\n\033[m", "b\0b"};
    unsigned which = choose(state, sizeof(contents) / sizeof(contents[0]));
    size_t length = which == 5 ? 3 : strlen(contents[which]);
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags, 0644);

    if (fd < 0)
        return;
    (void)!write(fd, contents[which], length);
    /* Mostly there are no two alike. */
    if (which != 1)
        (void)dprintf(fd, "%u\n", choose(state, 1000));
    (void)close(fd);
}

static void remove_all(const char *path)
{
    (void)nftw(path, test_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void set_mode(uint64_t *state, const char *path)
{
    static const mode_t modes[] = {0644, 0755, 0600, 0700, 0640, 0744};
    struct stat status;

    /* A directory stays one that can be changed. */
    if (lstat(path, &status) == 0 && !S_ISLNK(status.st_mode))
        (void)chmod(path, modes[choose(state, 6)] | (S_ISDIR(status.st_mode) ? 0700 : 0));
}

/* git looks at names through a link that the patch makes a directory, and gives up where that meets
 * another link. So these lead nowhere. */
static const char *const targets[] = {"nowhere", "nowhere/else", "../out"};

/* Many fail, which is as good. */
static void make_something(uint64_t *state)
{
    char path[NAME_BYTES];
    char other[NAME_BYTES];

    choose_path(state, path);
    choose_path(state, other);
    switch (choose(state, 8)) {
    case 0:
        (void)!symlink(targets[choose(state, 3)], path);
        break;
    case 1:
        (void)mkfifo(path, 0644);
        break;
    case 2:
        set_mode(state, path);
        break;
    case 3:
    case 4:
        (void)mkdir(path, 0755);
        break;
    default:
        write_some(state, path, O_TRUNC);
    }
}

static void call_something(uint64_t *state)
{
    char path[NAME_BYTES];
    char other[NAME_BYTES];

    choose_path(state, path);
    choose_path(state, other);
    switch (choose(state, 16)) {
    case 0:
    case 1:
    case 2:
        write_some(state, path, O_TRUNC);
        break;
    case 3:
        write_some(state, path, O_APPEND);
        break;
    case 4:
    case 5:
    case 6:
        (void)mkdir(path, 0755);
        break;
    case 7:
        (void)rmdir(path);
        break;
    case 8:
        (void)unlink(path);
        break;
    case 9:
    case 10:
        (void)rename(path, other);
        break;
    case 11:
        (void)!symlink(targets[choose(state, 3)], path);
        break;
    case 12:
        set_mode(state, path);
        break;
    case 13:
        remove_all(strchr(path, '/') ? path : other);
        break;
    case 14:
        (void)(choose(state, 4) ? link(path, other) : mkfifo(path, 0644));
        break;
    default:
        (void)lsetxattr(path, "user.k", choose(state, 2) ? "1" : "2", 1, 0);
        (void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    }
}

/* In a child: calls in a directory, or in the overlay. Then all that is there is listed. */
static void list_all(const char *path, FILE *out, bool is_for_git);

static void call_in(const struct scene *scene, const char *where, uint64_t seed)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        FILE *whole = NULL;
        FILE *known = NULL;

        (void)umask(022);
        if (chdir(scene->dir) < 0)
            _exit(1);
        if (strcmp(where, "merged") == 0) {
            whole = fopen("whole.seen", "we");
            known = fopen("known.seen", "we");
            scene_enter();
        }
        if (chdir(where) < 0)
            _exit(1);
        for (unsigned i = 0; i < (whole ? 0 : FIRST_CALLS); i++)
            make_something(&seed);
        for (unsigned i = 0; i < (whole ? CALLS : 0); i++)
            call_something(&seed);
        if (whole) {
            list_all(".", whole, false);
            list_all(".", known, true);
            (void)fclose(whole);
            (void)fclose(known);
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static ssize_t read_all(const char *path, char bytes[static FILE_BYTES])
{
    autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    return fd < 0 ? -1 : read(fd, bytes, FILE_BYTES);
}

static void list_one(const char *path, const struct stat *status, FILE *out, bool is_for_git)
{
    char bytes[FILE_BYTES];
    ssize_t length = 0;
    unsigned mode = status->st_mode;

    if (is_for_git && !S_ISREG(mode) && !S_ISLNK(mode))
        return;
    if (is_for_git)
        mode &= S_IFMT | S_IXUSR;
    if (S_ISLNK(mode))
        length = readlink(path, bytes, sizeof(bytes));
    else if (S_ISREG(mode))
        length = read_all(path, bytes);
    (void)fprintf(out, "%s %o %zd:", path, mode, length);
    (void)fwrite(bytes, 1, length > 0 ? (size_t)length : 0, out);
    if (!is_for_git) {
        length = lgetxattr(path, "user.k", bytes, sizeof(bytes));
        (void)fprintf(out, " %.*s", length > 0 ? (int)length : 0, bytes);
    }
    (void)fprintf(out, "\n");
}

static void list_all(const char *path, FILE *out, bool is_for_git)
{
    struct dirent **names;
    struct stat status;
    int count;

    if (lstat(path, &status) < 0)
        return;
    list_one(path, &status, out, is_for_git);
    count = S_ISDIR(status.st_mode) ? scandir(path, &names, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char below[PATH_MAX];

        (void)snprintf(below, sizeof(below), "%s/%s", path, names[i]->d_name);
        if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0)
            list_all(below, out, is_for_git);
        free(names[i]);
    }
    if (count > 0)
        free(names);
}

/* Makes a path of the copy what it is in the layer. Hard links of the copy are of no matter. */
static void take_over(const struct change *change)
{
    char from[PATH_MAX];
    char bytes[FILE_BYTES];
    const char *path = *change->path ? change->path : ".";
    unsigned mode = change->after.st_mode;
    ssize_t length;

    (void)snprintf(from, sizeof(from), "../upper/%s", path);
    if (change->kind != CHANGE_CHANGED || !S_ISDIR(mode))
        remove_all(path);
    if (change->kind == CHANGE_DELETED)
        return;
    if (S_ISDIR(mode)) {
        (void)mkdir(path, 0700);
    } else if (S_ISLNK(mode)) {
        length = readlink(from, bytes, sizeof(bytes) - 1);
        ck_assert_int_gt(length, 0);
        bytes[length] = '\0';
        ck_assert_int_eq(symlink(bytes, path), 0);
    } else if (S_ISFIFO(mode)) {
        ck_assert_int_eq(mkfifo(path, 0600), 0);
    } else {
        autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        length = read_all(from, bytes);
        ck_assert_int_eq(write(fd, bytes, (size_t)length), length);
    }
    if (!S_ISLNK(mode))
        ck_assert_int_eq(chmod(path, mode & 07777), 0);
    length = lgetxattr(from, "user.k", bytes, sizeof(bytes));
    if (length >= 0)
        ck_assert_int_eq(lsetxattr(path, "user.k", bytes, (size_t)length, 0), 0);
    else
        (void)lremovexattr(path, "user.k");
}

static void list_copy(const char *name, bool is_for_git)
{
    autofree char *path = NULL;
    FILE *out;

    ck_assert_int_gt(asprintf(&path, "../%s", name), 0);
    out = fopen(path, "we");
    ck_assert_ptr_nonnull(out);
    list_all(".", out, is_for_git);
    ck_assert_int_eq(fclose(out), 0);
}

static void replays(struct scene *scene)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/copy", scene->dir);
    ck_assert_int_eq(chdir(path), 0);
    vec_each (&scene->changes.list, change) {
        ck_assert_int_eq(change->bar, CHANGE_FREE);
        take_over(change);
    }
    list_copy("whole.got", false);
}

static void try_case(uint64_t seed)
{
    static const struct show_options patch = {.form = SHOW_PATCH};
    autofree char *text = NULL;
    struct scene scene;
    char path[PATH_BYTES];

    scene = (struct scene){.tree = {.path = "/tree"}};
    test_make_dir(scene.dir, "random");
    if (!scene_start(&scene, "random", "true"))
        return;
    call_in(&scene, "lower", seed);
    call_in(&scene, "merged", next_random(&seed));
    scene_find(&scene);
    text = scene_shown(&scene, patch);
    scene_keep(&scene, "patch", text);
    /* git knows neither directories with nothing in them nor FIFOs, and would stumble over them. */
    scene_run(&scene, ".",
              "cp -a lower copy; cp -a lower git; cd git; find . -type p -delete;"
              "find . -mindepth 1 -depth -type d -empty -delete;"
              "! grep -qa '^diff --git' ../patch || git apply --whitespace=nowarn ../patch");
    replays(&scene);
    (void)snprintf(path, sizeof(path), "%s/git", scene.dir);
    ck_assert_int_eq(chdir(path), 0);
    list_copy("known.got", true);
    scene_run(&scene, ".", "cmp whole.seen whole.got; cmp known.seen known.got");
    ck_assert_int_eq(chdir("/"), 0);
    remove_all(scene.dir);
    scene_end(&scene);
}

static uint64_t first_seed(void)
{
    const char *given = getenv("BAWN_TEST_SEED");

    return given ? strtoull(given, NULL, 0) : 1;
}

START_TEST(changes_made_again_give_what_was_seen)
{
    uint64_t state = first_seed() + (uint64_t)_i;

    try_case(next_random(&state));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("changes_random");
    TCase *tcase = tcase_create("changes_random");

    (void)printf("BAWN_TEST_SEED=%llu\n", (unsigned long long)first_seed());
    (void)fflush(stdout);
    tcase_add_loop_test(tcase, changes_made_again_give_what_was_seen, 0, CASES);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "changes_random");
}
