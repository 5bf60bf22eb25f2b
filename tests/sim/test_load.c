/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled filter, loaded: the kernel does with it what the simulator says. */
#include "base/cleanup.h"
#include "sim/fixture.h"
#include "sim/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define X32_BIT        0x40000000U
#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

enum { NUMBERS = 1024 };

/* Loads the native program. The listener, -1 without one. */
static int load(const struct fixture *fixture, unsigned flags)
{
    struct sock_fprog program = {.len = (unsigned short)fixture->count, .filter = fixture->program};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        _exit(100);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* Runs in a child; its status. */
static int in_child(void (*run)(const struct fixture *fixture), const struct fixture *fixture)
{
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        run(fixture);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

/* Ends the child with its place in the list when a call did something else. */
static void expect(int place, long got, int errnum)
{
    if (errnum ? got != -1 || errno != errnum : got < 0)
        _exit(place);
}

static void make_calls(const struct fixture *fixture)
{
    if (load(fixture, 0) != 0)
        _exit(101);
    expect(1, syscall(SYS_unshare, CLONE_NEWUSER), EPERM);
    expect(2, syscall(SYS_clone3, NULL, 0), ENOSYS);
    expect(3, syscall(SYS_io_uring_setup, 1, NULL), ENOSYS);
    expect(4, syscall(SYS_socket, AF_VSOCK, SOCK_STREAM, 0), EAFNOSUPPORT);
    expect(5, syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 9), EAFNOSUPPORT);
    expect(6, syscall(SYS_socket, AF_INET, SOCK_STREAM, 262), EPERM);
    expect(7, syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0), 0);
    expect(8, syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0), 0);
    expect(9, syscall(SYS_ioctl, -1, 0xdeadbeef00005412, 0), EPERM);
    expect(10, syscall(SYS_ioctl, -1, 0x5413, 0), EBADF);
    expect(11, syscall(SYS_personality, 0x0040000), EPERM);
    expect(12, syscall(SYS_personality, 0xffffffff), 0);
    expect(13, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM);
    expect(14, syscall(SYS_ptrace, 0, 0, 0, 0), EPERM);
    expect(15, syscall(SYS_name_to_handle_at, AT_FDCWD, "/", NULL, NULL, 0), EPERM);
    expect(16, syscall(467, -1, "", 0, NULL, 0), EPERM);
    expect(17, syscall(1000), ENOSYS);
    expect(18, syscall(SYS_getpid), 0);
    expect(19, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
    expect(20, syscall(-1), ENOSYS);
    expect(21, syscall(SYS_landlock_create_ruleset, NULL, 0, 4), EINVAL);
}

START_TEST(the_kernel_answers_as_the_table_says)
{
    struct fixture fixture;
    int status;

    fixture_init(&fixture, plain, NATIVE);
    free(fixture.program);
    ck_assert_int_eq(filter_compile(&fixture.plan, &fixture.program, &fixture.count, NULL), 0);
    status = in_child(make_calls, &fixture);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    fixture_done(&fixture);
}
END_TEST

/* What the simulator says of every call that is not allowed, against the kernel. With these
 * arguments none would do anything, were it let through. */
static void make_refused_calls(const struct fixture *fixture)
{
    long all = -1;
    int tried = 0;

    if (load(fixture, 0) != 0)
        _exit(101);
    for (int number = 0; number < NUMBERS; number++) {
        struct seccomp_data data = {.nr = number, .arch = fixture->audit};
        uint32_t verdict;

        memset(data.args, 0xff, sizeof(data.args));
        verdict = sim_run(fixture->program, &data).verdict;
        if ((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO || number == SYS_vhangup)
            continue;
        if (syscall(number, all, all, all, all, all, all) != -1 ||
            errno != (int)(verdict & SECCOMP_RET_DATA))
            _exit(1);
        tried++;
    }
    _exit(tried > 600 ? 0 : 2);
}

START_TEST(kernel_and_simulator_agree_on_every_refusal)
{
    struct fixture fixture;
    int status;

    fixture_init(&fixture, plain, NATIVE);
    status = in_child(make_refused_calls, &fixture);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    fixture_done(&fixture);
}
END_TEST

#ifdef __x86_64__
static void call_i386(const struct fixture *fixture)
{
    long result = 20; /* getpid there */

    if (fixture && load(fixture, 0) != 0)
        _exit(101);
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
    _exit(result > 0 ? 0 : 102);
}

static void call_x32(const struct fixture *fixture)
{
    if (fixture && load(fixture, 0) != 0)
        _exit(101);
    syscall(SYS_getpid | X32_BIT);
}

START_TEST(foreign_calls_end_the_process)
{
    struct fixture fixture;
    int status;

    fixture_init(&fixture, plain, FILTER_X86_64);
    status = in_child(call_x32, &fixture);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "status %#x",
                  (unsigned)status);
    status = in_child(call_i386, NULL);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        test_skip("foreign_calls_end_the_process", "this kernel has no i386 calls");
    } else {
        status = in_child(call_i386, &fixture);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "status %#x",
                      (unsigned)status);
    }
    fixture_done(&fixture);
}
END_TEST
#endif

/* The number of the call that a child of this one is held in, and what it is told; 0: it ended. */
static int await_notification(int listener)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    struct seccomp_notif request = {0};
    struct seccomp_notif_resp response = {.error = -EACCES};

    if (poll(&ready, 1, 10000) != 1)
        _exit(103);
    if (!(ready.revents & POLLIN))
        return 0;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
        _exit(104);
    response.id = request.id;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) < 0)
        _exit(105);
    return request.data.nr;
}

static void open_in_all_ways(const struct fixture *fixture)
{
    int listener = load(fixture, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    pid_t pid;

    if (listener < 0)
        _exit(101);
    /* Nobody answers yet: these would wait for ever. */
    alarm(10);
    expect(1, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
    expect(2, open("/dev/null", O_PATH | O_CREAT | O_RDWR | O_CLOEXEC, 0600), 0);
    /* KERNEL(6.3): before it, overlayfs has no such files. */
    if (open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) < 0)
        expect(3, -1, EOPNOTSUPP);
    pid = fork();
    if (pid == 0) {
        expect(4, open("/dev/null", O_WRONLY | O_CLOEXEC), EACCES);
        expect(5, open("/dev/null", O_RDONLY | O_TRUNC | O_CLOEXEC), EACCES);
        expect(6, open("/dev/null", O_RDONLY | O_CREAT | O_CLOEXEC, 0600), EACCES);
        expect(7, truncate("/dev/null", 0), EACCES);
        _exit(0);
    }
    for (int i = 0; i < 3; i++)
        expect(8, await_notification(listener) == SYS_openat ? 0 : -1, 0);
    expect(9, await_notification(listener) == SYS_truncate ? 0 : -1, 0);
    expect(10, waitpid(pid, &listener, 0), 0);
    _exit(listener ? 106 : 0);
}

START_TEST(opens_for_writing_wait_for_the_listener)
{
    struct fixture fixture;
    int status;

    fixture_init(&fixture, protecting, NATIVE);
    status = in_child(open_in_all_ways, &fixture);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    fixture_done(&fixture);
}
END_TEST

START_TEST(an_open_that_is_not_told_writes_to_no_file)
{
    /* What the filter takes for granted about the kernel. */
    static const int untold[] = {O_PATH | O_CREAT | O_TRUNC | O_RDWR,
                                 020000000 | O_RDWR | O_TRUNC,
                                 020000000 | O_RDWR | O_TRUNC | O_CREAT,
                                 O_TMPFILE | O_RDWR | O_TRUNC | O_CREAT,
                                 O_TMPFILE | O_RDWR | O_TRUNC,
                                 O_TMPFILE | O_PATH | O_CREAT | O_TRUNC | O_RDWR,
                                 O_RDONLY | O_APPEND | O_EXCL};
    char dir[] = "/tmp/bawn-filter-XXXXXX";
    char path[64], made[64];

    ck_assert_ptr_nonnull(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/there", dir);
    (void)snprintf(made, sizeof(made), "%s/absent", dir);
    for (size_t i = 0; i < COUNT_OF(untold); i++) {
        autoclose int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        autoclose int old = -EBADF;
        autoclose int new = -EBADF;

        ck_assert_int_eq((int)pwrite(file, "x", 1, 0), 1);
        old = (int)syscall(SYS_openat, AT_FDCWD, path, untold[i], 0600);
        if (old >= 0)
            ck_assert_int_lt((int)write(old, "yy", 2), 0);
        ck_assert_int_eq((int)lseek(file, 0, SEEK_END), 1);
        new = (int)syscall(SYS_openat, AT_FDCWD, made, untold[i], 0600);
        ck_assert_int_lt(new, 0);
        ck_assert_int_ne(access(made, F_OK), 0);
    }
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("load");
    TCase *all = tcase_create("load");

    tcase_set_timeout(all, 60);
    tcase_add_test(all, the_kernel_answers_as_the_table_says);
    tcase_add_test(all, kernel_and_simulator_agree_on_every_refusal);
#ifdef __x86_64__
    tcase_add_test(all, foreign_calls_end_the_process);
#endif
    tcase_add_test(all, opens_for_writing_wait_for_the_listener);
    tcase_add_test(all, an_open_that_is_not_told_writes_to_no_file);
    suite_add_tcase(suite, all);
    return test_run(suite, "load");
}
