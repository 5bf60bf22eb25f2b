/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/layered.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "lib/test.h"
#include "overlay/named.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char *fast_base(void)
{
    static char base[] = "/dev/shm/bawn-test.XXXXXX";

    return base;
}

static bool takes_attributes(const char *dir)
{
    return setxattr(dir, "user.test", "1", 1, 0) == 0 && removexattr(dir, "user.test") == 0;
}

const char *layered_fast_dir(void)
{
    return takes_attributes(fast_base()) ? fast_base() : test_base();
}

const char *layered_slow_dir(void)
{
    return test_base();
}

static void remove_all(const char *path)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    (void)named_remove(fd, path + 1);
    (void)close(fd);
}

int layered_test_run(Suite *suite, const char *name)
{
    bool is_made = mkdtemp(fast_base()) != NULL;
    int status = test_run(suite, name);

    if (is_made)
        remove_all(fast_base());
    return status;
}

static int open_path(const char *dir, const char *name)
{
    char path[PATH_MAX];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_msg(fd >= 0, "open %s: %s", path, strerror(errno));
    return fd;
}

static void make_dir(const char *dir, const char *name, mode_t mode)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    ck_assert_msg(mkdir(path, mode) == 0, "mkdir %s: %s", path, strerror(errno));
}

void layered_init(struct layered *layered, const char *tree_base, const char *store_base)
{
    *layered = (struct layered){0};
    (void)snprintf(layered->dir, sizeof(layered->dir), "%s/tree.XXXXXX", tree_base);
    (void)snprintf(layered->store, sizeof(layered->store), "%s/bawn-test-store.XXXXXX", store_base);
    ck_assert_ptr_nonnull(mkdtemp(layered->dir));
    ck_assert_ptr_nonnull(mkdtemp(layered->store));
    (void)umask(022);
    make_dir(layered->dir, "lower", 0755);
    make_dir(layered->dir, "merged", 0755);
    make_dir(layered->store, "1", 0700);
    make_dir(layered->store, "1/upper", 0755);
    make_dir(layered->store, "1/work", 0700);
    (void)snprintf(layered->lower, sizeof(layered->lower), "%s/lower", layered->dir);
    layered->store_fd = open_path(layered->store, ".");
    layered->layer_fd = open_path(layered->store, "1");
    layered->tree.number = 1;
    layered->tree.changes = &layered->changes;
    layered->tree.tree = (struct overlay_tree){.path = layered->lower,
                                               .lower_fd = open_path(layered->dir, "lower"),
                                               .upper_fd = open_path(layered->store, "1/upper")};
}

void layered_done(struct layered *layered)
{
    changes_done(&layered->changes);
    (void)close(layered->tree.tree.lower_fd);
    (void)close(layered->tree.tree.upper_fd);
    (void)close(layered->layer_fd);
    (void)close(layered->store_fd);
    remove_all(layered->dir);
    remove_all(layered->store);
}

static void write_line(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) < 0)
        _exit(LAYERED_NO_OVERLAY);
}

/* Becomes root of a namespace of its own, with the overlay at merged. */
static void enter(const struct layered *layered)
{
    char map[64], options[4 * LAYERED_DIR_BYTES + 128], merged[LAYERED_DIR_BYTES + 16];
    unsigned uid = geteuid(), gid = getegid();

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        _exit(LAYERED_NO_OVERLAY);
    write_line("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof(map), "0 %u 1", uid);
    write_line("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof(map), "0 %u 1", gid);
    write_line("/proc/self/gid_map", map);
    (void)snprintf(options, sizeof(options),
                   "lowerdir=%s,upperdir=%s/1/upper,workdir=%s/1/work,userxattr", layered->lower,
                   layered->store, layered->store);
    (void)snprintf(merged, sizeof(merged), "%s/merged", layered->dir);
    if (mount("overlay", merged, "overlay", MS_NOSUID | MS_NODEV, options) < 0 || chdir(merged) < 0)
        _exit(LAYERED_NO_OVERLAY);
}

static int wait_for(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int layered_run(struct layered *layered, void (*act)(void *context), void *context)
{
    pid_t pid;

    /* The coarse clock would be right; this one has no tick in which the tree was just made. */
    (void)clock_gettime(CLOCK_REALTIME, &layered->since);
    pid = fork();
    if (pid == 0) {
        enter(layered);
        act(context);
        _exit(0);
    }
    return wait_for(pid);
}

static void run_script(void *script)
{
    (void)umask(022);
    (void)execl("/bin/bash", "bash", "-ec", script, NULL);
    _exit(LAYERED_NO_OVERLAY);
}

int layered_script(struct layered *layered, const char *where, const char *script)
{
    char path[LAYERED_DIR_BYTES + 16];
    pid_t pid;

    if (strcmp(where, "merged") == 0)
        return layered_run(layered, run_script, (void *)(uintptr_t)script);
    (void)snprintf(path, sizeof(path), "%s/%s",
                   strcmp(where, "upper") == 0 ? layered->store : layered->dir,
                   strcmp(where, "upper") == 0 ? "1/upper" : where);
    pid = fork();
    if (pid == 0) {
        if (chdir(path) < 0)
            _exit(LAYERED_NO_OVERLAY);
        run_script((void *)(uintptr_t)script);
    }
    return wait_for(pid);
}

void layered_must(struct layered *layered, const char *where, const char *script)
{
    int status = layered_script(layered, where, script);

    ck_assert_msg(status == 0, "in %s: %s: exit status %d", where, script, status);
}

void layered_find(struct layered *layered)
{
    struct bawn_error err = {0};

    changes_done(&layered->changes);
    layered->changes = (struct changes){0};
    ck_assert_msg(changes_find(&layered->tree.tree, &layered->changes, &err) == 0, "%s",
                  err.message);
}

void layered_note(struct layered *layered)
{
    struct bawn_error err = {0};

    layered_find(layered);
    ck_assert_msg(base_note(&layered->tree.tree, layered->layer_fd, &layered->changes,
                            layered->since, &err) == 0,
                  "%s", err.message);
}

/* Those that the tests give: each file system lists them in an order of its own. */
static void add_attributes(struct strbuf *out, const char *path)
{
    static const char *const names[] = {"user.k", "user.one", "user.two"};
    char value[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ssize_t size = lgetxattr(path, names[i], value, sizeof(value));

        if (size >= 0)
            strbuf_addf(out, " %s=%.*s", names[i], (int)size, value);
    }
}

static void add_picture(struct strbuf *out, int dir_fd, const char *name, const char *path,
                        enum layered_depth depth)
{
    char full[PATH_MAX], digest[NAMED_DIGEST_BYTES];
    struct stat st, opened;

    ck_assert_int_eq(fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    strbuf_addf(out, "%s %o", path, st.st_mode);
    if (S_ISREG(st.st_mode)) {
        autoclose int fd = named_open_file(dir_fd, name, &opened);

        ck_assert_msg(fd >= 0 && named_hash(fd, digest) == 0, "read %s", path);
        strbuf_addf(out, " %.16s", digest);
    } else if (S_ISLNK(st.st_mode)) {
        autofree char *target = named_read_link(dir_fd, name);

        strbuf_addf(out, " -> %s", target ? target : "?");
    }
    (void)snprintf(full, sizeof(full), "/proc/self/fd/%d/%s", dir_fd, name);
    add_attributes(out, full);
    if (depth >= LAYERED_EXACT)
        strbuf_addf(out, " %lld.%09ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    if (depth >= LAYERED_INODE)
        strbuf_addf(out, " #%llu", (unsigned long long)st.st_ino);
    strbuf_add(out, "\n");
    if (S_ISDIR(st.st_mode)) {
        autoclose int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        autonamed struct named_list names = {0};

        ck_assert_int_eq(named_read(fd, &names), 0);
        vec_each (&names.list, inner) {
            autofree char *below = NULL;

            if (asprintf(&below, "%s/%s", path, *inner) < 0)
                abort();
            add_picture(out, fd, *inner, below, depth);
        }
    }
}

char *layered_picture(const char *path, enum layered_depth depth)
{
    struct strbuf out = {0};
    autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    add_picture(&out, fd, ".", "", depth);
    return strbuf_take(&out);
}

unsigned dice_roll(struct dice *dice, unsigned sides)
{
    dice->state += 0x9e3779b97f4a7c15ULL;
    uint64_t mixed = dice->state;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
    return (unsigned)((mixed ^ mixed >> 31) >> 33) % sides;
}

enum { SHAKE_PATH = 64, SHAKE_BYTES = 6000 };

static const char *roll_path(struct dice *dice, char path[static SHAKE_PATH])
{
    static const char *const names[] = {"a", "b", "c", "d e", "f\n", "\xff\x01"};
    unsigned depth = 1 + dice_roll(dice, 3);
    size_t at = 0;

    for (unsigned i = 0; i < depth; i++)
        at += (size_t)snprintf(path + at, SHAKE_PATH - at, "%s%s", i ? "/" : "",
                               names[dice_roll(dice, 6)]);
    return path;
}

static void shake_write(struct dice *dice, const char *path, int flags)
{
    char bytes[SHAKE_BYTES];
    size_t length = dice_roll(dice, 3) ? dice_roll(dice, 40) : dice_roll(dice, SHAKE_BYTES);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags, 0644);

    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(dice_roll(dice, 4) ? 'a' + dice_roll(dice, 26) : '\n');
    if (fd < 0)
        return;
    if (dice_roll(dice, 5) == 0)
        (void)!lseek(fd, 100000, SEEK_SET);
    (void)!write(fd, bytes, length);
    (void)close(fd);
}

/* Some lines of a file become others, go, or come. */
static void shake_lines(struct dice *dice, const char *path)
{
    char bytes[SHAKE_BYTES], made[2 * SHAKE_BYTES];
    int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
    size_t length = 0;

    for (ssize_t i = 0; i < got && length < sizeof(made) - 8; i++) {
        unsigned what = dice_roll(dice, 40);

        if (what > 0)
            made[length++] = bytes[i];
        if (what == 1)
            length += (size_t)snprintf(made + length, 8, "%u\n", dice_roll(dice, 100));
    }
    if (got > 0 && ftruncate(fd, 0) == 0)
        (void)!pwrite(fd, made, length, 0);
    if (fd >= 0)
        (void)close(fd);
}

static void shake_mode(struct dice *dice, const char *path)
{
    static const mode_t files[] = {0644, 0600, 0755, 0400, 0666};
    static const mode_t dirs[] = {0755, 0700, 0500, 01777, 0555};
    struct stat st;

    if (lstat(path, &st) == 0 && !S_ISLNK(st.st_mode))
        (void)chmod(path, (S_ISDIR(st.st_mode) ? dirs : files)[dice_roll(dice, 5)]);
}

static void shake_attribute(struct dice *dice, const char *path)
{
    static const char *const names[] = {"user.one", "user.two"};
    char value[8];

    (void)snprintf(value, sizeof(value), "%u", dice_roll(dice, 100));
    if (dice_roll(dice, 3))
        (void)lsetxattr(path, names[dice_roll(dice, 2)], value, strlen(value), 0);
    else
        (void)lremovexattr(path, names[dice_roll(dice, 2)]);
}

static void shake_once(struct dice *dice)
{
    char path[SHAKE_PATH], other[SHAKE_PATH];

    (void)roll_path(dice, path);
    (void)roll_path(dice, other);
    switch (dice_roll(dice, 18)) {
    case 0:
    case 1:
        shake_write(dice, path, O_CREAT | O_TRUNC);
        break;
    case 2:
        shake_write(dice, path, O_APPEND);
        break;
    case 3:
        (void)!truncate(path, dice_roll(dice, 50));
        break;
    case 4:
    case 5:
        (void)mkdir(path, 0755);
        break;
    case 6:
        (void)!rename(path, other);
        break;
    case 7:
        (void)!link(path, other);
        break;
    case 8:
        (void)!symlink(other, path);
        break;
    case 9:
        shake_mode(dice, path);
        break;
    case 10:
        (void)unlink(path);
        break;
    case 11:
        if (dice_roll(dice, 2))
            (void)named_remove(AT_FDCWD, path);
        (void)mkdir(path, 0755);
        break;
    case 12:
        shake_attribute(dice, path);
        break;
    case 13:
    case 14:
    case 15:
    case 16:
        shake_lines(dice, path);
        break;
    default:
        if (dice_roll(dice, 3) == 0)
            (void)mkfifo(path, 0644);
        else if (dice_roll(dice, 2)) {
            (void)named_remove(AT_FDCWD, path);
            shake_write(dice, path, O_CREAT | O_EXCL);
        }
    }
}

void layered_shake(struct dice *dice, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        shake_once(dice);
}
