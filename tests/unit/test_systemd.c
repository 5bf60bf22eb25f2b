/* SPDX-License-Identifier: Apache-2.0 */
/* Asking systemd for a scope: a real manager where there is one, a real bus, and bad answers. */
#include "base/cleanup.h"
#include "kernel/cgroup.h"
#include "kernel/cgroup_place.h"
#include "lib/doors.h"
#include "lib/test.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1024 * 1024, SERVER_LIFE_SECONDS = 20 };

/* XDG_RUNTIME_DIR of the caller, from before the cases set their own. */
static const char *real_runtime;

static char runtime_dir[TEST_DIR_BYTES];

static void make_runtime(void)
{
    char path[128];

    test_make_dir(runtime_dir, "systemd");
    (void)snprintf(path, sizeof(path), "%s/systemd", runtime_dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", runtime_dir, 1), 0);
}

static void remove_runtime(void)
{
    static const char *const names[] = {"systemd/private", "bus"};
    /* The second two are the bus's own. */
    static const char *const dirs[] = {"systemd", "dbus-1/services", "dbus-1"};
    char path[128];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", runtime_dir, names[i]);
        (void)unlink(path);
    }
    for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", runtime_dir, dirs[i]);
        (void)rmdir(path);
    }
    ck_assert_int_eq(rmdir(runtime_dir), 0);
}

static int ask(struct bawn_error *err)
{
    struct cgroup_limits limits = {.pids = 50};
    struct cgroup group;
    int r = cgroup_new(&group, CGROUP_V2_SYSTEMD, "bawn-1-1", &limits, err);

    ck_assert_int_eq(group.kind, r == 0 ? CGROUP_V2_SYSTEMD : CGROUP_NONE);
    return r;
}

static int64_t clock_ms(void)
{
    struct timespec now;

    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A manager that takes the greeting and the call, and answers with these bytes. */
struct answer {
    const char *greeting;
    const char *bytes;
    size_t size;
    bool stays; /* silent afterwards, instead of hanging up */
};

_Noreturn static void serve(int listener, const struct answer *answer)
{
    char bytes[4096];
    ssize_t got = 0;
    int fd;

    alarm(SERVER_LIFE_SECONDS);
    fd = accept(listener, NULL, NULL);
    (void)!read(fd, bytes, sizeof(bytes));
    (void)!write(fd, answer->greeting, strlen(answer->greeting));
    if (answer->size) {
        /* BEGIN alone, and the call after it. */
        while (got < 200)
            got += read(fd, bytes, sizeof(bytes));
        (void)!write(fd, answer->bytes, answer->size);
    }
    if (answer->stays)
        for (;;)
            pause();
    _exit(0);
}

static int ask_server(const struct answer *answer, struct bawn_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t pid;
    int r;

    make_runtime();
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/systemd/private", runtime_dir);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    if ((pid = fork()) == 0)
        serve(listener, answer);
    r = ask(err);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    close(listener);
    remove_runtime();
    return r;
}

START_TEST(without_a_runtime_directory_there_is_nobody_to_ask)
{
    struct bawn_error err = {0};

    ck_assert_int_eq(unsetenv("XDG_RUNTIME_DIR"), 0);
    ck_assert_int_eq(ask(&err), -ENOENT);
    ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", "relative", 1), 0);
    ck_assert_int_eq(ask(&err), -ENOENT);
    make_runtime();
    ck_assert_int_eq(ask(&err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.message, runtime_dir));
    remove_runtime();
}
END_TEST

START_TEST(refused_greeting_is_an_error)
{
    struct answer answer = {.greeting = "REJECTED EXTERNAL\r\n"};
    struct bawn_error err = {0};

    ck_assert_int_eq(ask_server(&answer, &err), -EACCES);
}
END_TEST

START_TEST(greeting_without_an_end_is_an_error)
{
    static char endless[4097];
    struct answer answer = {.greeting = endless};

    memset(endless, 'O', sizeof(endless) - 1);
    ck_assert_int_eq(ask_server(&answer, NULL), -EPROTO);
}
END_TEST

START_TEST(manager_that_hangs_up_is_an_error)
{
    struct answer answer = {.greeting = ""};
    int r = ask_server(&answer, NULL);

    ck_assert_msg(r == -ECONNRESET || r == -EPIPE, "%d", r);
}
END_TEST

START_TEST(silent_manager_is_not_waited_for_beyond_the_limit)
{
    struct answer answer = {.greeting = "OK 0123\r\n", .stays = true};
    int64_t before = clock_ms();

    ck_assert_int_eq(ask_server(&answer, NULL), -ETIMEDOUT);
    ck_assert_int_lt(clock_ms() - before, 8000);
}
END_TEST

/* The fixed part of a header: type, length of the body, length of the fields. */
static struct answer reply(char bytes[64], char order, char type, uint32_t body, uint32_t fields)
{
    uint32_t serial = 7;

    memset(bytes, 0, 64);
    bytes[0] = order;
    bytes[1] = type;
    bytes[3] = 1;
    memcpy(bytes + 4, &body, 4);
    memcpy(bytes + 8, &serial, 4);
    memcpy(bytes + 12, &fields, 4);
    return (struct answer){.greeting = "OK 0123\r\n", .bytes = bytes, .size = 64};
}

START_TEST(replies_that_are_too_long_or_torn_are_errors)
{
    static const struct {
        char order, type;
        uint32_t body, fields;
        int expected;
    } rows[] = {
        {'l', 3, UINT32_MAX, 0, -EPROTO},
        {'l', 3, 0, UINT32_MAX, -EPROTO},
        {'l', 3, 0x3fff, 0x3fff, -EMSGSIZE},
        {'l', 3, 16384, 0, -EMSGSIZE},
        {'l', 3, 4096, 8, -ECONNRESET},
        {'x', 2, 0, 0, -EPROTO},
        {'l', 3, 8, 8, -EACCES},
        {'l', 3, 0, 0, -EACCES},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bawn_error err = {0};
        char bytes[64];
        struct answer answer =
            reply(bytes, rows[i].order, rows[i].type, rows[i].body, rows[i].fields);
        int r = ask_server(&answer, &err);

        ck_assert_msg(r == rows[i].expected, "row %zu: %d, %s", i, r, err.message);
    }
}
END_TEST

START_TEST(scope_that_never_comes_is_an_error)
{
    char bytes[64];
    struct answer answer = reply(bytes, 'l', 2, 0, 0);
    struct bawn_error err = {0};

    ck_assert_int_eq(ask_server(&answer, &err), -ETIMEDOUT);
    ck_assert_ptr_nonnull(strstr(err.message, "bawn-1-1.scope"));
}
END_TEST

/* A program whose first line of output says that it is ready. */
static pid_t start_program(const char *const *argv)
{
    int fds[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    if ((pid = fork()) == 0) {
        (void)dup2(fds[1], 1);
        (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
        alarm(SERVER_LIFE_SECONDS);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(fds[1]);
    if (read(fds[0], &byte, 1) == 1)
        return pid;
    (void)waitpid(pid, NULL, 0);
    return -1;
}

static void stop_program(pid_t pid)
{
    if (pid <= 0)
        return;
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Stands in for the manager on a bus: refuses, and says what it was asked. */
static const char manager_program[] =
    "import sys\n"
    "import dbus, dbus.mainloop.glib, dbus.service\n"
    "from gi.repository import GLib\n"
    "class Asked(dbus.DBusException):\n"
    "    _dbus_error_name = 'org.freedesktop.systemd1.Asked'\n"
    "def word(value):\n"
    "    if isinstance(value, dbus.Array):\n"
    "        return f'{value.signature}{[int(x) for x in value]}'\n"
    "    return f'{value}'\n"
    "class Manager(dbus.service.Object):\n"
    "    @dbus.service.method('org.freedesktop.systemd1.Manager', 'ssa(sv)a(sa(sv))', 'o')\n"
    "    def StartTransientUnit(self, name, mode, properties, aux):\n"
    "        words = ' '.join(f'{key}={word(value)}' for key, value in properties)\n"
    "        raise Asked(f'name={name} mode={mode} {words} aux={len(aux)}')\n"
    "dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)\n"
    "bus = dbus.bus.BusConnection(sys.argv[1])\n"
    "name = dbus.service.BusName('org.freedesktop.systemd1', bus)\n"
    "manager = Manager(bus, '/org/freedesktop/systemd1')\n"
    "print('ready', flush=True)\n"
    "GLib.MainLoop().run()\n";

/* libdbus checks every byte of a message before it passes it on. */
START_TEST(real_bus_passes_on_what_is_asked)
{
    char address[128], expected[256];
    struct bawn_error err = {0};
    pid_t bus, manager = -1;
    int r = -1;

    make_runtime();
    (void)snprintf(address, sizeof(address), "unix:path=%s/bus", runtime_dir);
    bus = start_program((const char *const[]){"dbus-daemon", "--session", "--nofork",
                                              "--print-address", "--address", address, NULL});
    if (bus > 0)
        manager = start_program(
            (const char *const[]){"/usr/bin/python3", "-c", manager_program, address, NULL});
    if (manager > 0)
        r = ask(&err);
    stop_program(manager);
    stop_program(bus);
    remove_runtime();
    if (manager < 0) {
        test_skip("real_bus_passes_on_what_is_asked",
                  "no dbus-daemon, or no python3 with dbus and gi");
        return;
    }
    ck_assert_int_eq(r, -EACCES);
    (void)snprintf(expected, sizeof(expected),
                   "systemd refuses a scope: name=bawn-1-1.scope mode=fail "
                   "Description=bawn session Delegate=1 CollectMode=inactive-or-failed "
                   "PIDs=u[%d] aux=0",
                   (int)getpid());
    ck_assert_str_eq(err.message, expected);
}
END_TEST

/* In the group: above its memory it is killed. */
static int hog_in(const struct cgroup *group)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        char *memory;

        if (!enter_cgroup(group))
            _exit(97);
        memory = mmap(NULL, 160 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            _exit(98);
        for (size_t at = 0; at < 160 * MIB; at += 4096)
            memory[at] = 1;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

START_TEST(real_manager_gives_a_scope_that_ends_with_us)
{
    struct cgroup_limits limits = {.pids = 50, .memory = 64 * MIB, .cpu_percent = 50};
    char name[CGROUP_NAME_BYTES], scope[CGROUP_PATH_BYTES] = "";
    struct bawn_error err = {0};
    int fds[2], status;
    pid_t pid;

    ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", real_runtime, 1), 0);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    /* A process of its own: it is moved, and the scope is to end with it. */
    if ((pid = fork()) == 0) {
        struct cgroup_metrics metrics;
        struct cgroup group;

        ck_assert_int_eq(cgroup_name(name, &err), 0);
        ck_assert_msg(cgroup_new(&group, CGROUP_V2_SYSTEMD, name, &limits, &err) == 0, "%s",
                      err.message);
        ck_assert_uint_eq(group.held & (CGROUP_PIDS | CGROUP_MEMORY), CGROUP_PIDS | CGROUP_MEMORY);
        ck_assert_int_eq(WTERMSIG(hog_in(&group)), SIGKILL);
        ck_assert_int_eq(cgroup_measure(&group, &metrics, NULL), 0);
        ck_assert_uint_gt(metrics.oom_kills, 0);
        (void)snprintf(scope, sizeof(scope), "%s", group.paths[0]);
        *strrchr(scope, '/') = '\0';
        ck_assert_int_eq(access(scope, F_OK), 0);
        ck_assert_int_eq((int)write(fds[1], scope, strlen(scope)), (int)strlen(scope));
        ck_assert_msg(cgroup_remove(&group, &err) == 0, "%s", err.message);
        _exit(0);
    }
    close(fds[1]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_gt(read(fds[0], scope, sizeof(scope) - 1), 0);
    ck_assert_ptr_nonnull(strstr(scope, ".scope"));
    for (int i = 0; i < 1000 && access(scope, F_OK) == 0; i++)
        usleep(10000);
    ck_assert_msg(access(scope, F_OK) < 0, "%s is still there", scope);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("systemd");
    TCase *cases = tcase_create("systemd");

    real_runtime = getenv("XDG_RUNTIME_DIR");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, without_a_runtime_directory_there_is_nobody_to_ask);
    tcase_add_test(cases, refused_greeting_is_an_error);
    tcase_add_test(cases, greeting_without_an_end_is_an_error);
    tcase_add_test(cases, manager_that_hangs_up_is_an_error);
    tcase_add_test(cases, silent_manager_is_not_waited_for_beyond_the_limit);
    tcase_add_test(cases, replies_that_are_too_long_or_torn_are_errors);
    tcase_add_test(cases, scope_that_never_comes_is_an_error);
    tcase_add_test(cases, real_bus_passes_on_what_is_asked);
    /* In the lane with virtual machines; here only where the user has such a manager. */
    if (real_runtime && access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
        tcase_add_test(cases, real_manager_gives_a_scope_that_ends_with_us);
    suite_add_tcase(suite, cases);
    return test_run(suite, "systemd");
}
