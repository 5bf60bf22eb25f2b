/* SPDX-License-Identifier: Apache-2.0 */
/* Every held call with every odd spelling of a name: supervised beside native. Each try has a tree
 * of its own, so that its effect is seen as well as its answer. */
#include "lib/supervised.h"

#include <sys/un.h>

enum { TRIES_MAX = 8192, LONG_NAME = 256, LONG_PATH = 4097 };
enum { PATH_FD = 40, READ_FD, WRITE_FD, LINK_FD, GONE_FD, DIR_FD, PIPE_FD, GONE_DIR_FD, LAST_FD };

static char name_255[LONG_NAME];
static char name_256[LONG_NAME + 1];
static char path_4095[LONG_PATH];
static char path_4096[LONG_PATH];

/* What stands for these texts is made at the start. */
static const char *const spellings[] = {
    ".",
    "..",
    "./",
    "../",
    "../..",
    "/",
    "//",
    "",
    "x",
    "x/",
    "x//",
    "x/.",
    "x/..",
    "x/absent",
    "sub",
    "sub/",
    "sub/.",
    "sub/..",
    "sub/./",
    "sub/inner",
    "empty",
    "empty/",
    "empty/.",
    "empty/..",
    "empty/absent",
    "link",
    "link/",
    "link/.",
    "link/..",
    "slashlink",
    "slashlink/",
    "dotlink",
    "dirlink",
    "dirlink/",
    "dirlink/.",
    "dirlink/..",
    "dirlink/absent",
    "dirlink/../absent",
    "linklink",
    "linklink/",
    "dangling",
    "dangling/",
    "dangling/.",
    "dangling/x",
    "dirdangling",
    "loop",
    "loop/",
    "loop/x",
    "absent",
    "absent/",
    "absent/.",
    "absent/..",
    "absent/x",
    "fifo",
    "fifo/",
    "sock",
    "readonly",
    "locked/x",
    "locked",
    "/proc/self/fd/40",
    "/proc/self/fd/40/",
    "/proc/self/fd/41",
    "/proc/self/fd/42",
    "/proc/self/fd/43",
    "/proc/self/fd/44",
    "/proc/self/fd/45",
    "/proc/self/fd/45/absent",
    "/proc/self/fd/45/..",
    "/proc/self/fd/46",
    "/proc/self/fd/99",
    "/proc/self/cwd",
    "/proc/self/cwd/",
    "/proc/self/cwd/absent",
    "/proc/self",
    "/proc/thread-self/fd/40",
    name_255,
    name_256,
    path_4095,
    path_4096,
    NULL,
};

static const int starts[] = {PATH_FD, READ_FD,     LINK_FD, GONE_FD, DIR_FD,
                             PIPE_FD, GONE_DIR_FD, 99,      -1,      AT_FDCWD};

/* What came of one try. */
struct outcome {
    char what[80];
    bool is_ok;
    int errnum;
    int flags; /* of what was opened */
    mode_t mode;
    uint64_t state; /* of the tree */
};
static struct outcome (*outcomes)[TRIES_MAX]; /* shared; two columns */
static size_t column;
static size_t tries;
static const char *root_dir; /* of this column's trees */

static void prepare_names(void)
{
    memset(name_255, 'n', 255);
    memset(name_256, 'n', 256);
    for (size_t i = 0; i < 4094; i += 2)
        memcpy(path_4095 + i, "./", 3);
    memcpy(path_4095 + 4094, "x", 2);
    memcpy(path_4096, path_4095, sizeof(path_4095));
    memcpy(path_4096 + 4094, "//", 3);
    memcpy(path_4096 + 4095, "x", 2);
}

static void plant_tree(size_t number)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "%zu", number);
    MUST(mkdir(name, 0755) == 0 && chdir(name) == 0);
    MUST(mkdir("sub", 0755) == 0 && mkdir("empty", 0755) == 0 && mkdir("locked", 0) == 0);
    put_file("x", "0123456789");
    put_file("y", "other");
    put_file("readonly", "x");
    put_file("gone", "gone");
    put_file("sub/inner", "inner");
    MUST(link("gone", "kept") == 0 && mkdir("gonedir", 0755) == 0);
    MUST(chmod("readonly", 0444) == 0 && symlink("x", "link") == 0);
    MUST(symlink("x/", "slashlink") == 0 && symlink("sub/.", "dotlink") == 0);
    MUST(symlink("sub", "dirlink") == 0 && symlink("link", "linklink") == 0);
    MUST(symlink("appears", "dangling") == 0 && symlink("appears/", "dirdangling") == 0);
    MUST(symlink("loop", "loop") == 0 && mkfifo("fifo", 0600) == 0);
    MUST(mknod("sock", S_IFSOCK | 0600, 0) == 0 && chdir("..") == 0);
}

static void hold(int fd, int number)
{
    MUST(fd >= 0 && dup2(fd, number) == number);
    close(fd);
}

/* Descriptors of every kind; opened so that no call of it is held: the files for writing are a try
 * of their own. */
static void open_all(void)
{
    int ends[2];

    hold(open("x", O_PATH), PATH_FD);
    hold(open("x", O_RDONLY), READ_FD);
    hold(open("x", O_WRONLY), WRITE_FD);
    hold(open("link", O_PATH | O_NOFOLLOW), LINK_FD);
    hold(open("gone", O_RDONLY), GONE_FD);
    hold(open("sub", O_RDONLY | O_DIRECTORY), DIR_FD);
    hold(open("gonedir", O_RDONLY | O_DIRECTORY), GONE_DIR_FD);
    MUST(pipe(ends) == 0 && unlink("gone") == 0 && rmdir("gonedir") == 0);
    hold(ends[0], PIPE_FD);
    close(ends[1]);
}

static void close_all(void)
{
    for (int fd = PATH_FD; fd < LAST_FD; fd++)
        close(fd);
}

static void mix(uint64_t *state, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *state = (*state ^ ((const unsigned char *)bytes)[i]) * 1099511628211ULL;
}

/* All that a call could have changed. */
static void mix_tree(uint64_t *state, const char *dir)
{
    struct dirent **names;
    int count = scandir(dir, &names, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        char path[600];
        char value[64] = "";
        struct stat st;
        ssize_t length;

        (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
        if (strcmp(name, "..") != 0 && lstat(path, &st) == 0) {
            long seen[] = {st.st_mode, st.st_uid, st.st_gid, S_ISREG(st.st_mode) ? st.st_size : 0,
                           (long)st.st_nlink};

            length = lgetxattr(path, "user.tried", value, sizeof(value));
            mix(state, seen, sizeof(seen));
            mix(state, &length, sizeof(length));
            mix(state, name, strlen(name));
            length = readlink(path, value, sizeof(value));
            mix(state, value, length > 0 ? (size_t)length : 0);
            if (S_ISDIR(st.st_mode) && strcmp(name, ".") != 0)
                mix_tree(state, path);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

static const char *shown(const char *path)
{
    if (!path)
        return "NULL";
    if (strlen(path) < 40)
        return path;
    return strlen(path) > 4000 ? (strlen(path) == 4095 ? "(4095)" : "(4096)")
                               : (strlen(path) == 255 ? "(255)" : "(256)");
}

/* One try: the tree is entered, the call made, and what came of it noted. */
static void note(const char *call, const char *path, int start, long result)
{
    struct outcome *outcome = &outcomes[column][tries];
    int errnum = errno;
    struct stat st = {0};

    (void)snprintf(outcome->what, sizeof(outcome->what), "%s %s %d", call, shown(path), start);
    outcome->is_ok = result >= 0;
    outcome->errnum = result < 0 ? errnum : 0;
    if (result > 2 && fstat((int)result, &st) == 0) {
        outcome->flags = fcntl((int)result, F_GETFL);
        /* Of directories above the trees the first side has changed it. */
        outcome->mode = S_ISDIR(st.st_mode) ? S_IFDIR : st.st_mode;
        close((int)result);
    }
    close_all();
    outcome->state = 14695981039346656037ULL;
    mix_tree(&outcome->state, ".");
}

static void enter(void)
{
    char name[64];

    tries++;
    if (!outcomes) /* only counted */
        return;
    (void)snprintf(name, sizeof(name), "/w/%s/%zu", root_dir, tries);
    MUST(tries < TRIES_MAX && chdir(name) == 0);
    open_all();
}

#define TRY(path, start, call)                                                                     \
    do {                                                                                           \
        enter();                                                                                   \
        if (outcomes)                                                                              \
            note(#call, path, start, (errno = 0, (long)(call)));                                   \
    } while (0)

static void try_opens(const char *p)
{
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_WRONLY | O_NONBLOCK));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_RDWR | O_CREAT | O_NONBLOCK, 0640));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_WRONLY | O_CREAT | O_EXCL, 0666));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_RDWR | O_DIRECTORY | O_NONBLOCK));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_RDONLY | O_CREAT | O_DIRECTORY, 0666));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_RDONLY | O_TRUNC | O_NONBLOCK));
    TRY(p, AT_FDCWD, syscall(SYS_open, p, O_ACCMODE | O_NONBLOCK));
    /* Procfs is not for openat2. */
    if (p && strcmp(p, "/proc/self") == 0)
        return;
    TRY(p, AT_FDCWD, openat2_(AT_FDCWD, p, O_RDONLY | O_NONBLOCK, 0, 0));
    TRY(p, AT_FDCWD, openat2_(AT_FDCWD, p, O_RDWR | O_CREAT | O_NONBLOCK, 0666, 0));
    TRY(p, AT_FDCWD, openat2_(AT_FDCWD, p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, 0));
    TRY(p, AT_FDCWD, openat2_(AT_FDCWD, p, O_RDWR | O_NONBLOCK, 0, RESOLVE_NO_SYMLINKS));
    TRY(p, AT_FDCWD, openat2_(AT_FDCWD, p, O_WRONLY | O_CREAT | O_NONBLOCK, 0666, RESOLVE_BENEATH));
    TRY(p, DIR_FD, openat2_(DIR_FD, p, O_RDWR | O_NONBLOCK, 0, RESOLVE_IN_ROOT));
}

/* Of a socket at such a name only the last part is told back. */
static bool is_of_proc(const char *path)
{
    return path && strncmp(path, "/proc/", 6) == 0;
}

/* A socket at that path, given with or without the zero behind it; the bytes are told back. */
static long bind_at(int domain, const char *path, bool with_zero)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct sockaddr_un told = {0};
    socklen_t size = sizeof(told);
    size_t length = strlen(path);
    int fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t given;
    long r;

    MUST(fd >= 0);
    if (length > sizeof(address.sun_path))
        length = sizeof(address.sun_path);
    memcpy(address.sun_path, path, length);
    given = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (with_zero ? 1 : 0));
    r = bind(fd, (struct sockaddr *)&address, given);
    if (r == 0 && (getsockname(fd, (struct sockaddr *)&told, &size) < 0 ||
                   (!is_of_proc(path) && memcmp(&address, &told, length + 2) != 0))) {
        errno = EPROTO;
        r = -1;
    }
    close(fd);
    return r;
}

static void try_binding(const char *p)
{
    if (!p)
        return;
    TRY(p, AT_FDCWD, bind_at(AF_UNIX, p, true));
    TRY(p, AT_FDCWD, bind_at(AF_UNIX, p, false));
    TRY(p, AT_FDCWD, bind_at(AF_INET, p, false));
}

static void try_making(const char *p)
{
    TRY(p, AT_FDCWD, syscall(SYS_mkdir, p, 0750));
    TRY(p, AT_FDCWD, syscall(SYS_mknod, p, S_IFIFO | 0640, 0));
    TRY(p, AT_FDCWD, syscall(SYS_mknod, p, S_IFREG | 0640, 0));
    TRY(p, AT_FDCWD, syscall(SYS_symlink, "target", p));
    TRY(p, AT_FDCWD, syscall(SYS_symlink, p, "new"));
    TRY(p, AT_FDCWD, syscall(SYS_link, p, "new"));
    TRY(p, AT_FDCWD, syscall(SYS_link, "y", p));
    TRY(p, AT_FDCWD, syscall(SYS_linkat, AT_FDCWD, p, AT_FDCWD, "new", AT_SYMLINK_FOLLOW));
}

static void try_moving(const char *p)
{
    TRY(p, AT_FDCWD, syscall(SYS_unlink, p));
    TRY(p, AT_FDCWD, syscall(SYS_rmdir, p));
    TRY(p, AT_FDCWD, syscall(SYS_unlinkat, AT_FDCWD, p, 7));
    TRY(p, AT_FDCWD, syscall(SYS_rename, p, "new"));
    TRY(p, AT_FDCWD, syscall(SYS_rename, "y", p));
    TRY(p, AT_FDCWD, syscall(SYS_rename, "empty", p));
    TRY(p, AT_FDCWD, renameat2_(p, "y", RENAME_NOREPLACE));
    TRY(p, AT_FDCWD, renameat2_("y", p, RENAME_NOREPLACE));
    TRY(p, AT_FDCWD, renameat2_("y", p, RENAME_EXCHANGE));
    /* Two things are wrong with it: the kernel names the other one. */
    if (p == name_256)
        return;
    TRY(p, AT_FDCWD, syscall(SYS_rename, p, "/proc/self/fd/41"));
    TRY(p, AT_FDCWD, syscall(SYS_rename, p, "/proc/self/fd/98"));
    TRY(p, AT_FDCWD, renameat2_(p, "/proc/self/fd/42", RENAME_EXCHANGE));
}

static void try_changing(const char *p)
{
    TRY(p, AT_FDCWD, syscall(SYS_truncate, p, 3));
    TRY(p, AT_FDCWD, syscall(SYS_chmod, p, 0700));
    TRY(p, AT_FDCWD, fchmodat2_(AT_FDCWD, p, 0700, AT_SYMLINK_NOFOLLOW));
    TRY(p, AT_FDCWD, fchmodat2_(AT_FDCWD, p, 0700, AT_EMPTY_PATH));
    TRY(p, AT_FDCWD, syscall(SYS_setxattr, p, "user.tried", "v", 1, 0));
    TRY(p, AT_FDCWD, syscall(SYS_lsetxattr, p, "user.tried", "v", 1, 0));
    TRY(p, AT_FDCWD, syscall(SYS_setxattr, "x", p, "v", 1, 0));
    TRY(p, AT_FDCWD, syscall(SYS_removexattr, p, "user.tried"));
    TRY(p, AT_FDCWD, syscall(SYS_lremovexattr, p, "user.tried"));
}

static void try_descriptors(int d)
{
    static const char *const names[] = {"", ".", "..", "inner", "absent", "/"};

    TRY(NULL, d, syscall(SYS_fchmod, d, 0700));
    /* KERNEL(6.13): this number means the current directory to fsetxattr, and to no other call on a
     * descriptor; to older kernels it means nothing. */
    if (d != AT_FDCWD)
        TRY(NULL, d, syscall(SYS_fsetxattr, d, "user.tried", "v", 1, 0));
    TRY(NULL, d, syscall(SYS_fremovexattr, d, "user.tried"));
    TRY(NULL, d, fchmodat2_(d, NULL, 0700, AT_EMPTY_PATH));
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *p = names[i];

        TRY(p, d, syscall(SYS_openat, d, p, O_WRONLY));
        TRY(p, d, syscall(SYS_openat, d, p, O_WRONLY | O_CREAT, 0600));
        TRY(p, d, openat2_(d, p, O_RDONLY, 0, 0));
        TRY(p, d, syscall(SYS_mkdirat, d, p, 0700));
        TRY(p, d, syscall(SYS_symlinkat, "target", d, p));
        TRY(p, d, syscall(SYS_linkat, d, p, AT_FDCWD, "new", 0));
        TRY(p, d, syscall(SYS_linkat, d, p, AT_FDCWD, "new", AT_EMPTY_PATH));
        TRY(p, d, syscall(SYS_unlinkat, d, p, 0));
        TRY(p, d, syscall(SYS_unlinkat, d, p, AT_REMOVEDIR));
        TRY(p, d, syscall(SYS_renameat, d, p, AT_FDCWD, "new"));
        if (d != GONE_FD)
            TRY(p, d, syscall(SYS_renameat, AT_FDCWD, "y", d, p));
        TRY(p, d, syscall(SYS_fchmodat, d, p, 0700));
        TRY(p, d, fchmodat2_(d, p, 0700, AT_EMPTY_PATH));
    }
}

static void try_all(void)
{
    tries = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(spellings); i++) {
        try_opens(spellings[i]);
        try_making(spellings[i]);
        try_moving(spellings[i]);
        try_binding(spellings[i]);
        try_changing(spellings[i]);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(starts); i++)
        try_descriptors(starts[i]);
}

/* root_dir: where a column's trees are. */
static void try_in(const char *dir, size_t which)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        root_dir = dir;
        column = which;
        drop_rights();
        try_all();
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void natively(void)
{
    for (int i = 0; i < 2; i++) {
        MUST(mkdir(i ? "b" : "a", 0755) == 0 && chdir(i ? "b" : "a") == 0);
        for (size_t number = 1; number <= tries; number++)
            plant_tree(number);
        MUST(chdir("..") == 0);
    }
    try_in("a", 0);
}

static void supervised(void)
{
    try_in("b", 1);
}

START_TEST(every_spelling_of_a_name_is_as_without_a_supervisor)
{
    struct command command = {.before = natively, .after = supervised};
    struct sandbox sandbox;
    unsigned differing = 0;

    prepare_names();
    try_all(); /* counts */
    outcomes = mmap(NULL, 2 * sizeof(*outcomes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                    -1, 0);
    ck_assert(outcomes != MAP_FAILED);
    sandbox_run(&sandbox, &command, who[_i]);
    for (size_t i = 1; i <= tries; i++) {
        const struct outcome *a = &outcomes[0][i];
        const struct outcome *b = &outcomes[1][i];

        ck_assert_str_eq(a->what, b->what);
        ck_assert_str_ne(a->what, "");
        if (a->is_ok == b->is_ok && a->errnum == b->errnum && a->flags == b->flags &&
            a->mode == b->mode && a->state == b->state)
            continue;
        differing++;
        (void)fprintf(stderr, "%s: native %s %o %o, supervised %s %o %o%s\n", a->what,
                      strerrorname_np(a->errnum), (unsigned)a->flags, a->mode,
                      strerrorname_np(b->errnum), (unsigned)b->flags, b->mode,
                      a->state == b->state ? "" : ", another effect");
    }
    ck_assert_uint_eq(differing, 0);
}
END_TEST

static Suite *supervise_names_suite(void)
{
    Suite *suite = suite_create("supervise_names");
    TCase *all = tcase_create("supervise_names");
    int runs = geteuid() == 0 ? ARRAY_LENGTH(who) : 1;

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, every_spelling_of_a_name_is_as_without_a_supervisor, 0, runs);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return test_run(supervise_names_suite(), "supervise_names");
}
