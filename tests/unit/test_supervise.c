/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules protect, tried with every call that could reach it. */
#include "lib/supervised.h"

#include <sys/un.h>

static void try_opens(void)
{
    int dir = open("p/.git", O_RDONLY | O_DIRECTORY);
    int config = open("p/.git/config", O_RDONLY);
    char path[32];

    EXPECT(EACCES, open("p/.git/hooks/pre-commit", O_WRONLY | O_CREAT, 0755));
    EXPECT(EACCES, open("p/.git/hooks/pre-commit", O_WRONLY | O_CREAT | O_EXCL, 0755));
    EXPECT(EACCES, creat("p/.git/hooks/pre-commit", 0755));
    EXPECT(ENOENT, open("p/.git/hooks/pre-commit", O_WRONLY));
    EXPECT(EACCES, open("p/.git/config", O_WRONLY));
    EXPECT(EACCES, open("p/.git/config", O_RDWR));
    EXPECT(EACCES, open("p/.git/config", O_RDONLY | O_TRUNC));
    EXPECT(EEXIST, open("p/.git/config", O_RDWR | O_CREAT | O_EXCL, 0666));
    EXPECT(0, open("p/.git/config", O_RDONLY | O_CREAT, 0666));
    EXPECT(0, open("p/.git/other", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, openat(dir, "config", O_WRONLY));
    EXPECT(EACCES, openat(dir, "hooks/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, openat2_(dir, "config", O_WRONLY, 0, RESOLVE_BENEATH));
    EXPECT(EACCES, openat2_(dir, "hooks/x", O_WRONLY | O_CREAT, 0666, RESOLVE_BENEATH));
    EXPECT(EACCES, openat2_(dir, "/hooks/x", O_WRONLY | O_CREAT, 0666, RESOLVE_IN_ROOT));
    EXPECT(EACCES, openat2_(AT_FDCWD, "p/.git/config", O_RDWR, 0, 0));
    EXPECT(0, openat2_(AT_FDCWD, "p/.git/config", O_RDONLY, 0, 0));
    EXPECT(ENOSYS, openat2_(AT_FDCWD, "p/.git/config", O_PATH, 0, 0));
    EXPECT(EACCES, openat2_(AT_FDCWD, "secret.key", O_RDONLY, 0, 0));
    EXPECT(EACCES, openat2_(AT_FDCWD, "secret.key", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
    EXPECT(EACCES, open("new.key", O_WRONLY | O_CREAT, 0600));
    EXPECT(EACCES, truncate("p/.git/config", 0));
    EXPECT(EACCES, truncate("toconfig", 0));
    EXPECT(EACCES, open("toconfig", O_WRONLY));
    EXPECT(EACCES, open("toabsent", O_WRONLY | O_CREAT, 0666));
    EXPECT(0, open("tonew", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("into/config", O_WRONLY));
    EXPECT(EACCES, open("tohooks/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("ok/../p/./.git//hooks/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("/proc/self/cwd/p/.git/config", O_WRONLY));
    EXPECT(EACCES, open("/proc/self/root/w/p/.git/hooks/x", O_WRONLY | O_CREAT, 0666));
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", config);
    EXPECT(EACCES, open(path, O_WRONLY));
    (void)snprintf(path, sizeof(path), "/dev/fd/%d", config);
    EXPECT(EACCES, open(path, O_RDWR));
    EXPECT(EACCES, truncate(path, 0));
    (void)snprintf(path, sizeof(path), "/dev/fd/%d/hooks/x", dir);
    EXPECT(EACCES, open(path, O_WRONLY | O_CREAT, 0666));
    (void)snprintf(path, sizeof(path), "/dev/fd/%d/fine", dir);
    EXPECT(0, open(path, O_WRONLY | O_CREAT, 0666));
    MUST(chdir("p/.git") == 0);
    EXPECT(EACCES, open("config", O_WRONLY));
    EXPECT(EACCES, open("hooks/../config", O_WRONLY));
    EXPECT(EACCES, open("../../q/.git/config", O_WRONLY | O_CREAT, 0666));
    MUST(chdir("hooks") == 0);
    EXPECT(EACCES, open("x", O_WRONLY | O_CREAT, 0666));
    MUST(chdir("/w") == 0);
    EXPECT(ENOENT, open("/w/home/.bashrc", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("/w/vendor", O_WRONLY | O_CREAT, 0666));
    close(dir);
    close(config);
}

static int set_flags(const char *path, int flags)
{
    int fd = open(path, O_RDONLY);
    int r = ioctl(fd, FS_IOC_SETFLAGS, &flags);
    int errnum = errno;

    close(fd);
    errno = errnum;
    return r;
}

static void try_names(void)
{
    int config = open("p/.git/config", O_PATH);
    char path[32];

    EXPECT(EEXIST, mkdir("p/.git/hooks", 0777));
    EXPECT(EACCES, mkdir("q/.git/hooks", 0777));
    EXPECT(EACCES, mkdir("p/.git/hooks/sub", 0777));
    EXPECT(EACCES, mkdir("vendor", 0777));
    EXPECT(EACCES, mknod("q/.git/config", S_IFREG | 0644, 0));
    EXPECT(EPERM, mknod("ok/whiteout", S_IFCHR | 0644, 0));
    EXPECT(EACCES, symlink("/tmp", "q/.git/hooks"));
    EXPECT(EACCES, link("file", "q/.git/config"));
    EXPECT(EACCES, link("p/.git/config", "ok/stolen"));
    EXPECT(EACCES, linkat(AT_FDCWD, "toconfig", AT_FDCWD, "ok/stolen", AT_SYMLINK_FOLLOW));
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", config);
    EXPECT(EACCES, linkat(AT_FDCWD, path, AT_FDCWD, "ok/stolen", AT_SYMLINK_FOLLOW));
    EXPECT(EACCES, linkat(config, "", AT_FDCWD, "ok/stolen", AT_EMPTY_PATH));
    EXPECT(EEXIST, link("file", "p/.git/config"));
    EXPECT(EACCES, rename("file", "q/.git/config"));
    EXPECT(EACCES, rename("file", "p/.git/hooks/x"));
    EXPECT(EBUSY, rename("file", "p/.git/config"));
    EXPECT(EBUSY, rename("p/.git/config", "ok/config"));
    EXPECT(EBUSY, renameat2_("file", "p/.git/config", RENAME_EXCHANGE));
    EXPECT(EBUSY, renameat2_("p/.git/config", "file", RENAME_EXCHANGE));
    EXPECT(EEXIST, renameat2_("file", "p/.git/config", RENAME_NOREPLACE));
    EXPECT(EPERM, renameat2_("file", "ok/file", RENAME_WHITEOUT));
    EXPECT(ENOENT, rename("absent", "q/.git/config"));
    EXPECT(EXDEV, rename("p/.git", "p/.git2"));
    EXPECT(EXDEV, renameat2_("p/.git", "ok", RENAME_EXCHANGE));
    EXPECT(EXDEV, renameat2_("ok", "p/.git", RENAME_EXCHANGE));
    EXPECT(EBUSY, rename("p/.husky", "ok/husky"));
    EXPECT(EXDEV, rename("x", "q2/.git"));
    EXPECT(EXDEV, rename("homex", "home"));
    EXPECT(EACCES, symlink("x", "q2/.git"));
    EXPECT(EXDEV, rename("evil", "q2/.git"));
    EXPECT(EACCES, link("evil", "q2/.git"));
    EXPECT(EACCES, symlink("..", "q/.git/modules"));
    EXPECT(0, symlink(".git", "q2/innocent"));
    EXPECT(0, rename("plain", "q2/plain"));
    EXPECT(EXDEV, rename("file", "q2/.git"));
    EXPECT(EPERM, set_flags("q2", FS_CASEFOLD_FL));
    EXPECT(EPERM, set_flags("q2", FS_CASEFOLD_FL | FS_NODUMP_FL));
    EXPECT(EACCES, set_flags("p/.git/config", FS_NODUMP_FL));
    EXPECT(EACCES, set_flags("p/.git/hooks", FS_NODUMP_FL));
    EXPECT(EXDEV, rename("ok", "q/.git/modules"));
    EXPECT(0, mkdir("q/.git/modules", 0777));
    EXPECT(0, mkdir("q/.git/modules/m", 0777));
    EXPECT(EXDEV, rename("q/.git/modules/m", "ok/m"));
    EXPECT(EXDEV, rename("ok", "q/.git/modules/ok"));
    EXPECT(0, rename("q/.git/modules/m", "q/.git/modules/n"));
    EXPECT(0, rename("p", "ok/p"));
    EXPECT(0, rename("ok/p", "p"));
    EXPECT(0, mkdir("q2/.git", 0777));
    EXPECT(EACCES, mkdir("q2/.git/hooks", 0777));
    EXPECT(0, mkdir("home", 0777));
    EXPECT(EACCES, open("home/.bashrc", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, rename("file", "home/.bashrc"));
    close(config);
}

static void try_modes(void)
{
    int config = open("p/.git/config", O_RDONLY);
    int dir = open("p/.git", O_RDONLY | O_DIRECTORY);
    char path[32];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", config);
    EXPECT(EACCES, chmod("p/.git/config", 0755));
    EXPECT(EACCES, chmod("toconfig", 0));
    EXPECT(EACCES, chmod(path, 0755));
    EXPECT(EACCES, chmod("p/.git/hooks", 0));
    EXPECT(EACCES, fchmod(config, 0755));
    EXPECT(EACCES, syscall(SYS_fchmodat, dir, "config", 0755));
    EXPECT(EACCES, fchmodat2_(dir, "config", 0755, 0));
    EXPECT(EACCES, fchmodat2_(config, "", 0755, AT_EMPTY_PATH));
    EXPECT(EACCES, setxattr("p/.git/config", "user.a", "x", 1, 0));
    EXPECT(EACCES, lsetxattr("p/.git/config", "user.a", "x", 1, 0));
    EXPECT(EACCES, fsetxattr(config, "system.posix_acl_access", "x", 1, 0));
    EXPECT(EACCES, removexattr("toconfig", "user.a"));
    EXPECT(EACCES, fremovexattr(config, "user.a"));
    EXPECT(EBADF, fsetxattr(AT_FDCWD, "user.a", "x", 1, 0));
    EXPECT(0, chmod("file", 0755));
    EXPECT(0, chmod("p/.git", 0755));
    close(config);
    close(dir);
}

/* pid 1 can be reached by the supervisor, and must not be through it. */
static void try_proc(void)
{
    EXPECT(EACCES, open("/proc/1/comm", O_WRONLY));
    EXPECT(EACCES, open("/proc/1/mem", O_RDWR));
    EXPECT(EACCES, open("/proc/1/fd/2", O_WRONLY));
    EXPECT(EACCES, open("/proc/1/root/w/ok/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("/proc/1/cwd/ok/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(ENOSYS, openat2_(AT_FDCWD, "/proc/1/environ", O_RDONLY, 0, 0));
    EXPECT(ENOSYS, openat2_(AT_FDCWD, "/proc/1/environ", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
    EXPECT(EACCES, open("/proc/sys/kernel/hostname", O_WRONLY));
    EXPECT(ENOSYS, openat2_(AT_FDCWD, "/proc/self/environ", O_RDONLY, 0, 0));
    EXPECT(ENOSYS, openat2_(AT_FDCWD, "/proc/uptime", O_RDONLY, 0, 0));
    EXPECT(0, open("/proc/self/oom_score_adj", O_WRONLY));
    EXPECT(0, open("/proc/self/mem", O_RDWR));
}

static long bind_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    long r;

    memcpy(address.sun_path, path, strlen(path));
    r = bind(fd, (struct sockaddr *)&address, sizeof(address));
    close(fd);
    return r;
}

static void try_sockets(void)
{
    EXPECT(EADDRINUSE, bind_at("p/.git/config"));
    EXPECT(EACCES, bind_at("q/.git/config"));
    EXPECT(EACCES, bind_at("/w/q/.git/config"));
    EXPECT(EACCES, bind_at("into/hooks/x"));
    EXPECT(EACCES, bind_at("tohooks/x"));
    EXPECT(EACCES, bind_at("/proc/self/cwd/tohooks/x"));
    EXPECT(EACCES, bind_at("x/.husky"));
    EXPECT(EACCES, bind_at("x/.git"));
    EXPECT(EACCES, bind_at("other.key"));
    EXPECT(EADDRINUSE, bind_at("tonew"));
    EXPECT(0, bind_at("ok/socket"));
    EXPECT(0, bind_at("p/.git/socket"));
    EXPECT(0, unlink("p/.git/socket"));
    EXPECT(ENOENT, access("q/.git/config", F_OK));
}

static bool is_empty(const char *dir)
{
    struct dirent **names;

    return scandir(dir, &names, NULL, NULL) == 2;
}

static void try_protected(void)
{
    char text[16] = "";
    int fd;

    try_opens();
    try_names();
    try_modes();
    try_sockets();
    in_fork(try_proc);
    fd = open("p/.git/config", O_RDONLY);
    MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) == 7 && strcmp(text, "witness") == 0);
    HOLDS(is_empty("p/.git/hooks"));
    EXPECT(EBUSY, rmdir("p/.git/hooks"));
    EXPECT(EBUSY, unlink("p/.git/config"));
    EXPECT(ENOENT, access("q/.git/config", F_OK));
    EXPECT(ENOENT, access("ok/stolen", F_OK));
    EXPECT(ENOENT, access("q/.git/hooks", F_OK));
}

/* A protected file is open, and the name that it was opened by is gone; another is not. */
static void open_renamed(void)
{
    prepare_protected();
    put_file("p/.husky/old", "witness");
    MUST(link("p/.husky/old", "p/.husky/kept") == 0);
    MUST(dup2(open("p/.husky/old", O_RDONLY), 60) == 60 && unlink("p/.husky/old") == 0);
}

static void try_nameless(void)
{
    struct stat st;

    EXPECT(EACCES, fchmod(60, 0777));
    EXPECT(EACCES, fsetxattr(60, "user.x", "x", 1, 0));
    EXPECT(EACCES, open("/proc/self/fd/60", O_WRONLY));
    EXPECT(EACCES, truncate("/proc/self/fd/60", 0));
    EXPECT(EACCES, chmod("/proc/self/fd/60", 0777));
    EXPECT(EACCES, linkat(AT_FDCWD, "/proc/self/fd/60", AT_FDCWD, "ok/x", AT_SYMLINK_FOLLOW));
    EXPECT(EACCES, linkat(60, "", AT_FDCWD, "ok/x", AT_EMPTY_PATH));
    HOLDS(stat("p/.husky/kept", &st) == 0 && st.st_size == 7 && (st.st_mode & 0777) == 0644);
    EXPECT(ENOENT, access("ok/x", F_OK));
}

START_TEST(what_is_protected_stays_when_its_name_is_gone)
{
    struct command command = {.before = open_renamed, .after = try_nameless};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

/* Where a path is too long to be told, nothing is decided, and nothing done. */
enum { DEEP_DIRS = 25 };
static char deep_name[201];

static void go_deep(void)
{
    memset(deep_name, 'd', sizeof(deep_name) - 1);
    for (int i = 0; i < DEEP_DIRS; i++) {
        MUST(mkdir(deep_name, 0755) == 0 && chdir(deep_name) == 0);
        if (i == 18) /* 3,800 bytes: still short enough */
            MUST(dup2(open(".", O_PATH), 60) == 60);
    }
    put_file("there", "x");
}

static void try_deep(void)
{
    char name[256] = "";

    EXPECT(0, open("there", O_RDONLY));
    EXPECT(ENAMETOOLONG, open("there", O_WRONLY));
    EXPECT(ENAMETOOLONG, open("new", O_WRONLY | O_CREAT, 0666));
    EXPECT(ENAMETOOLONG, mkdir("new", 0777));
    EXPECT(ENAMETOOLONG, chmod("there", 0600));
    EXPECT(ENAMETOOLONG, unlink("there"));
    memset(name, 'n', 255);
    EXPECT(0, openat(60, name, O_WRONLY | O_CREAT, 0666));
    EXPECT(0, mkdirat(60, ".git", 0777));
    EXPECT(EACCES, openat(60, ".git/config", O_WRONLY | O_CREAT, 0666));
}

START_TEST(in_directories_too_deep_to_be_named_nothing_is_changed)
{
    struct command command = {.before = go_deep, .after = try_deep};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

START_TEST(what_is_protected_stays_whichever_call_is_tried)
{
    struct command command = {.before = prepare_protected, .after = try_protected};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
    ck_assert_uint_gt(sandbox.refusals, 50);
    ck_assert_ptr_nonnull(strstr(sandbox.refused, "\nunlink /w/p/.git/config EBUSY protected /"));
}
END_TEST

enum { TIMES = 500, NAMES = 1000 };

static void insist(void)
{
    char name[64];

    for (int i = 0; i < TIMES; i++)
        MUST(unlink("p/.git/config") < 0);
    /* More than are remembered: the first is told before the last. */
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(name, sizeof(name), "p/.git/hooks/%d", i);
        MUST(mkdir(name, 0777) < 0);
    }
    MUST(open("ok/new", O_WRONLY | O_CREAT, 0666) >= 0);
}

START_TEST(what_is_refused_again_and_again_is_counted)
{
    struct command command = {.before = prepare_protected, .after = insist};
    struct sandbox sandbox;
    const char *first;

    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_uint_eq(sandbox.refusals + sandbox.lost, TIMES + NAMES);
    ck_assert_uint_gt(sandbox.reports, 2 + 32);
    ck_assert_uint_lt(sandbox.reports, NAMES);
    first = strstr(sandbox.refused, "unlink /w/p/.git/config EBUSY ");
    ck_assert_ptr_eq(first, sandbox.refused);
    ck_assert_ptr_nonnull(strstr(first + 1, "unlink /w/p/.git/config EBUSY "));
    ck_assert_ptr_null(strstr(sandbox.refused, "ok/new"));
}
END_TEST

/* However much is in it, nobody looks: only the two names count. */
static void move_large(void)
{
    EXPECT(0, rename("many", "many2"));
    EXPECT(0, rename("many2", "q2/many"));
    EXPECT(EXDEV, rename("q2/many", ".git"));
    EXPECT(0, rename("plain", "q2/plain"));
}

static void prepare_large(void)
{
    char path[32];

    prepare_protected();
    for (int i = 0; i < 10001; i++) {
        (void)snprintf(path, sizeof(path), "many/%d", i);
        MUST(mknod(path, S_IFREG | 0644, 0) == 0);
    }
}

START_TEST(a_directory_is_moved_by_its_names_alone)
{
    struct command command = {.before = prepare_large, .after = move_large};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

/* A directory of the host that came in as a descriptor: the mounts there are not the sandbox's. */
static int host_dir = -1;

static void use_host_dir(void)
{
    char path[64];

    EXPECT(EACCES, openat(host_dir, "x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, mkdirat(host_dir, "x", 0777));
    EXPECT(EACCES, openat(host_dir, "../escape-x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, openat2_(host_dir, "witness", O_RDONLY, 0, 0));
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d/x", host_dir);
    EXPECT(EACCES, open(path, O_WRONLY | O_CREAT, 0666));
}

START_TEST(a_directory_of_the_host_is_not_written_by_descriptor)
{
    struct command command = {.after = use_host_dir};
    char dir[TEST_DIR_BYTES];
    struct sandbox sandbox;
    int fd;

    test_make_dir(dir, "host");
    ck_assert_int_eq(chmod(dir, 0777), 0);
    host_dir = open(dir, O_RDONLY | O_DIRECTORY);
    fd = openat(host_dir, "witness", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    close(fd);
    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_int_eq(unlinkat(host_dir, "witness", 0), 0);
    ck_assert_int_eq(rmdir(dir), 0); /* nothing else is in it */
    check_expected();
}
END_TEST

/* As in a sandbox around this one, whose filter refuses the call. */
static void lose_readv(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), ALLOW};
    struct sock_fprog program = {.len = ARRAY_LENGTH(code), .filter = code};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0);
}

/* A path is where its reader may read, whichever way that is found out. */
static void try_memory(void)
{
    char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *end = pages + 4096 - 4;

    MUST(pages != MAP_FAILED);
    memcpy(pages, "seen", 5);
    memcpy(end, "none", 5);
    EXPECT(0, mkdir(pages, 0777));
    EXPECT(0, mkdir(end, 0777));
    MUST(mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    EXPECT(EFAULT, rmdir(end));
    EXPECT(0, rmdir(pages));
    MUST(mprotect(pages, 4096, PROT_NONE) == 0);
    EXPECT(EFAULT, mkdir(pages, 0777));
    EXPECT(ENOENT, access("seen", F_OK));
    EXPECT(EFAULT, mkdir((char *)8, 0777));
}

START_TEST(memory_that_the_caller_cannot_read_is_no_path)
{
    struct command command = {.after = try_memory};
    struct sandbox sandbox;

    if (_i == 1)
        lose_readv();
    sandbox_run(&sandbox, &command, OWN_ID);
    check_expected();
}
END_TEST

static Suite *supervise_suite(void)
{
    Suite *suite = suite_create("supervise");
    TCase *all = tcase_create("supervise");
    int runs = geteuid() == 0 ? ARRAY_LENGTH(who) : 1;

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, what_is_protected_stays_whichever_call_is_tried, 0, runs);
    tcase_add_loop_test(all, what_is_refused_again_and_again_is_counted, 0, runs);
    tcase_add_loop_test(all, a_directory_is_moved_by_its_names_alone, 0, runs);
    tcase_add_loop_test(all, what_is_protected_stays_when_its_name_is_gone, 0, runs);
    tcase_add_loop_test(all, memory_that_the_caller_cannot_read_is_no_path, 0, 2);
    tcase_add_loop_test(all, in_directories_too_deep_to_be_named_nothing_is_changed, 0, runs);
    tcase_add_loop_test(all, a_directory_of_the_host_is_not_written_by_descriptor, 0, runs);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return test_run(supervise_suite(), "supervise");
}
