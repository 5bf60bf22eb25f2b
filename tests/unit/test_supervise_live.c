/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that wait, race, have terminals and containers; signals in between. */
#include "lib/supervised.h"

static atomic_int alarms;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void catch_alarm(int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};

    MUST(sigaction(SIGALRM, &action, NULL) == 0);
}

/* Sends a signal, to the process or to one thread, a while after it began to wait. */
struct sender {
    pid_t thread; /* 0: the process */
    int number;
};

static void *send_later(void *of)
{
    struct sender *sender = of;

    (void)usleep(150 * 1000);
    if (sender->thread)
        (void)syscall(SYS_tgkill, getpid(), sender->thread, sender->number);
    else
        (void)kill(getpid(), sender->number);
    return NULL;
}

static void interrupt_open(int flags, pid_t thread, int wanted)
{
    struct sender sender = {.thread = thread, .number = SIGALRM};
    sigset_t alarm;
    sigset_t before;
    pthread_t other;

    catch_alarm(flags);
    /* The thread that sends blocks it. */
    (void)sigemptyset(&alarm);
    (void)sigaddset(&alarm, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm, &before);
    MUST(pthread_create(&other, NULL, send_later, &sender) == 0);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    EXPECT(wanted, open("fifo", O_WRONLY));
    MUST(pthread_join(other, NULL) == 0);
}

static void *open_reading(void *path);

/* A handler that restarts calls: the open goes on, and ends when the other end comes. */
static void restart_open(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 50 * 1000}};
    pthread_t thread;
    void *other;
    int fd;

    catch_alarm(SA_RESTART);
    MUST(pthread_create(&thread, NULL, open_reading, (void *)(uintptr_t) "fifo") == 0);
    MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    fd = open("fifo", O_WRONLY);
    EXPECT(0, fd);
    MUST(pthread_join(thread, &other) == 0);
    close(fd);
    close((int)(intptr_t)other);
}

static void *restart_elsewhere(void *set)
{
    pthread_t thread;
    void *other;
    int fd;

    MUST(pthread_create(&thread, NULL, open_reading, (void *)(uintptr_t) "fifo") == 0);
    (void)pthread_sigmask(SIG_UNBLOCK, set, NULL);
    fd = open("fifo", O_WRONLY);
    EXPECT(0, fd);
    if (fd < 0)
        fd = open("fifo", O_WRONLY); /* or the other end would wait for ever */
    MUST(pthread_join(thread, &other) == 0);
    close(fd);
    close((int)(intptr_t)other);
    return NULL;
}

/* The same in a thread that is not the first, and that alone takes the signal. */
static void restart_open_in_thread(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 50 * 1000}};
    sigset_t alarm;
    pthread_t thread;

    catch_alarm(SA_RESTART);
    (void)sigemptyset(&alarm);
    (void)sigaddset(&alarm, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    alarms = 0;
    MUST(pthread_create(&thread, NULL, restart_elsewhere, &alarm) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    HOLDS(alarms == 1);
    (void)pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
}

/* Signals that nobody handles: ignored, stopping, deadly. */
static void quit_open(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        /* A shell starts what runs in the background with this one ignored. */
        (void)signal(SIGQUIT, SIG_DFL);
        (void)open("fifo", O_WRONLY);
        _exit(1);
    }
    (void)usleep(100 * 1000);
    MUST(kill(pid, SIGWINCH) == 0); /* ignored */
    MUST(kill(pid, SIGSTOP) == 0 && waitpid(pid, &status, WUNTRACED) == pid);
    HOLDS(WIFSTOPPED(status));
    MUST(kill(pid, SIGCONT) == 0);
    (void)usleep(100 * 1000);
    HOLDS(waitpid(pid, &status, WNOHANG) == 0); /* it waits on */
    MUST(kill(pid, SIGQUIT) == 0 && waitpid(pid, &status, 0) == pid);
    HOLDS(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
}

static void interrupt_opens(void)
{
    MUST(mkfifo("fifo", 0600) == 0);
    interrupt_open(0, 0, EINTR);
    interrupt_open(0, getpid(), EINTR);
    restart_open();
    restart_open_in_thread();
    quit_open();
}

START_TEST(an_open_that_waits_is_interrupted_as_without_a_supervisor)
{
    struct command command = {.after = interrupt_opens};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

static void *open_reading(void *path)
{
    int fd;

    (void)usleep(150 * 1000);
    fd = open(path, O_RDONLY); /* not trapped */
    return fd < 0 ? NULL : (void *)(intptr_t)fd;
}

/* The other end comes later; meanwhile others are served. */
static void wait_for_fifo(void)
{
    struct timespec begin;
    struct timespec end;
    pthread_t thread;
    void *other;
    char byte = 0;
    int fd;

    MUST(mkfifo("fifo", 0600) == 0);
    MUST(pthread_create(&thread, NULL, open_reading, (void *)(uintptr_t) "fifo") == 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    fd = open("fifo", O_WRONLY);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    MUST(pthread_join(thread, &other) == 0);
    EXPECT(0, fd);
    HOLDS(fcntl(fd, F_GETFL) == (O_WRONLY | O_LARGEFILE | 0100000));
    HOLDS(write(fd, "x", 1) == 1 && read((int)(intptr_t)other, &byte, 1) == 1);
    HOLDS((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 100);
    close(fd);
    close((int)(intptr_t)other);
}

/* Nobody ever comes: the caller is killed, and the others go on. */
static void die_waiting(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        (void)open("fifo", O_WRONLY);
        _exit(1);
    }
    (void)usleep(100 * 1000);
    EXPECT(0, open("meanwhile", O_WRONLY | O_CREAT, 0666));
    MUST(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    HOLDS(WIFSIGNALED(status));
    EXPECT(0, open("after", O_WRONLY | O_CREAT, 0666));
}

static void open_waiting(void)
{
    wait_for_fifo();
    die_waiting();
}

START_TEST(an_open_that_waits_holds_up_nobody)
{
    struct command command = {.after = open_waiting};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

static void open_tty(void)
{
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    char text[16] = "";
    int number = -1;
    int unlock = 0;
    char path[32];
    int slave;
    int tty;

    EXPECT(0, master);
    EXPECT(ENXIO, open("/dev/tty", O_RDWR));
    MUST(ioctl(master, TIOCSPTLCK, &unlock) == 0 && ioctl(master, TIOCGPTN, &number) == 0);
    (void)snprintf(path, sizeof(path), "/dev/pts/%d", number);
    slave = open(path, O_RDWR);
    EXPECT(0, slave);
    MUST(ioctl(slave, TIOCSCTTY, 0) == 0);
    tty = open("/dev/tty", O_RDWR);
    EXPECT(0, tty);
    HOLDS(write(tty, "inside", 6) == 6);
    HOLDS(read(master, text, sizeof(text) - 1) == 6 && strcmp(text, "inside") == 0);
    if (dup2(slave, 2) != 2)
        _exit(1);
    tty = open("/dev/stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    HOLDS(write(tty, "stderr", 6) == 6);
    HOLDS(read(master, text, sizeof(text) - 1) == 6 && strcmp(text, "stderr") == 0);
}

static void open_tty_in_session(void)
{
    in_fork((void (*)(void))setsid);
    open_tty();
}

/* In a session with a terminal of its own, which is what /dev/tty would be out here. */
static void check_tty(uid_t host_uid)
{
    struct command command = {.after = open_tty_in_session};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    char seen[256] = "";
    struct sandbox sandbox;
    int slave;

    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    ck_assert_int_gt(setsid(), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(slave, 0);
    ck_assert_int_eq(ioctl(slave, TIOCSCTTY, 0), 0);
    sandbox_run(&sandbox, &command, host_uid);
    check_expected();
    ck_assert_int_eq(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_lt(read(master, seen, sizeof(seen)), 0);
}

START_TEST(dev_tty_is_the_terminal_of_the_caller)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        check_tty(who[_i]);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* A path that a second thread keeps changing between what may and what must not be made. */
enum { RACE_TRIES = 20000 };
static char racing[64];

static void *rewrite_path(void *unused)
{
    volatile char *byte = &racing[11]; /* "config" or "conf0g" */

    /* One byte differs: each read sees one or the other, whole. Each stays a while, so that either
     * may be there where both threads have one core. */
    for (volatile unsigned turn = 0; !atomic_load(&shared->is_over); turn++)
        *byte = turn & 64 ? '0' : 'i';
    return unused;
}

static void race_path(void)
{
    pthread_t thread;

    memcpy(racing, "q/.git/config", 14);
    MUST(pthread_create(&thread, NULL, rewrite_path, NULL) == 0);
    for (int i = 0; i < RACE_TRIES; i++) {
        int fd = open(racing, O_WRONLY | O_CREAT, 0666);

        atomic_fetch_add(&shared->counter, fd >= 0);
        close(fd);
        if (access("q/.git/config", F_OK) == 0)
            shared->status = 1;
    }
    atomic_store(&shared->is_over, 1);
    MUST(pthread_join(thread, NULL) == 0);
}

START_TEST(a_path_that_changes_meanwhile_is_decided_and_used_once)
{
    struct command command = {.before = prepare_protected, .after = race_path};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_int_eq(shared->status, 0);
    /* Both sides of the race were met. */
    ck_assert_int_gt(atomic_load(&shared->counter), 0);
    ck_assert_uint_gt(sandbox.refusals, 0);
}
END_TEST

/* A directory and a link to a protected one change places while files are made through it. */
static void *swap_dirs(void *unused)
{
    while (!atomic_load(&shared->is_over))
        (void)renameat2_("ok/dir", "ok/link", RENAME_EXCHANGE);
    return unused;
}

static void race_dirs(void)
{
    pthread_t thread;

    MUST(mkdir("ok/dir", 0755) == 0 && symlink("../p/.git/hooks", "ok/link") == 0);
    MUST(pthread_create(&thread, NULL, swap_dirs, NULL) == 0);
    for (int i = 0; i < RACE_TRIES / 4; i++) {
        int fd = open("ok/dir/x", O_WRONLY | O_CREAT, 0666);

        atomic_fetch_add(&shared->counter, fd >= 0);
        close(fd);
        if (access("p/.git/hooks/x", F_OK) == 0)
            shared->status = 1;
    }
    atomic_store(&shared->is_over, 1);
    MUST(pthread_join(thread, NULL) == 0);
}

START_TEST(a_directory_that_becomes_a_link_leads_nowhere)
{
    struct command command = {.before = prepare_protected, .after = race_dirs};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_int_eq(shared->status, 0);
    ck_assert_int_gt(atomic_load(&shared->counter), 0);
    ck_assert_uint_gt(sandbox.refusals, 0);
}
END_TEST

static void create_many(void)
{
    char path[32];

    for (int i = 0; i < 5000; i++) {
        int fd;

        (void)snprintf(path, sizeof(path), "many%d", i);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd <= 2 || close(fd) != 0)
            HOLDS(fd > 2);
    }
    HOLDS(access("many4999", F_OK) == 0);
}

START_TEST(a_signal_to_the_supervisor_spoils_no_answer)
{
    struct command command = {.after = create_many};
    struct itimerval often = {.it_interval = {.tv_usec = 100}, .it_value = {.tv_usec = 100}};
    struct itimerval never = {0};
    struct sigaction action = {.sa_handler = on_alarm};
    struct sandbox sandbox;

    sandbox_start(&sandbox, &command, who[_i]);
    /* What poll says, now and then, when a signal comes. */
    ck_assert_int_eq(supervisor_serve(sandbox.supervisor, POLLERR, NULL), 0);
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    sandbox_serve(&sandbox);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    sandbox_end(&sandbox);
    check_expected();
}
END_TEST

/* Whether a file that is made now gets the mode that this umask leaves. */
static bool makes_with(mode_t mask, const char *name)
{
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    struct stat st = {0};
    bool is_right = fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == (0666 & ~mask);

    close(fd);
    return unlink(name) == 0 && is_right;
}

static mode_t mask_of(unsigned turn)
{
    static const mode_t masks[] = {022, 077, 0, 027, 0177};

    return masks[turn % ARRAY_LENGTH(masks)];
}

enum { MASK_TURNS = 3000 };

struct mask_turns {
    pthread_barrier_t barrier;
    unsigned wrong;
};

/* Sets the one that all threads share, in turn with who makes files. */
static void *set_masks(void *context)
{
    struct mask_turns *turns = context;

    for (unsigned i = 0; i < MASK_TURNS; i++) {
        (void)umask(mask_of(i));
        (void)pthread_barrier_wait(&turns->barrier);
        if (!makes_with(mask_of(i), "second"))
            turns->wrong++;
        (void)pthread_barrier_wait(&turns->barrier);
    }
    return NULL;
}

static void share_mask(void)
{
    struct mask_turns turns = {.wrong = 0};
    unsigned wrong = 0;
    pthread_t thread;

    MUST(pthread_barrier_init(&turns.barrier, NULL, 2) == 0);
    MUST(pthread_create(&thread, NULL, set_masks, &turns) == 0);
    for (unsigned i = 0; i < MASK_TURNS; i++) {
        (void)pthread_barrier_wait(&turns.barrier);
        if (!makes_with(mask_of(i), "first"))
            wrong++;
        (void)pthread_barrier_wait(&turns.barrier);
    }
    MUST(pthread_join(thread, NULL) == 0);
    HOLDS(wrong == 0 && turns.wrong == 0);
}

/* A child has a copy, and what it sets is its own. */
static void inherit_mask(void)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < 200; i++) {
        int status = 0;
        pid_t pid;

        (void)umask(mask_of(i));
        wrong += !makes_with(mask_of(i), "parent");
        pid = fork();
        if (pid == 0) {
            bool is_right = makes_with(mask_of(i), "child");

            (void)umask(mask_of(i + 1));
            _exit(is_right && makes_with(mask_of(i + 1), "child") ? 0 : 1);
        }
        MUST(waitpid(pid, &status, 0) == pid);
        wrong += status != 0 || !makes_with(mask_of(i), "parent");
    }
    HOLDS(wrong == 0);
}

static void use_masks(void)
{
    share_mask();
    inherit_mask();
}

START_TEST(files_have_the_modes_that_the_callers_umask_leaves)
{
    struct command command = {.after = use_masks};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

static Suite *supervise_live_suite(void)
{
    Suite *suite = suite_create("supervise_live");
    TCase *all = tcase_create("supervise_live");
    int runs = geteuid() == 0 ? ARRAY_LENGTH(who) : 1;

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, an_open_that_waits_holds_up_nobody, 0, runs);
    tcase_add_loop_test(all, an_open_that_waits_is_interrupted_as_without_a_supervisor, 0, runs);
    tcase_add_loop_test(all, dev_tty_is_the_terminal_of_the_caller, 0, runs);
    tcase_add_loop_test(all, a_path_that_changes_meanwhile_is_decided_and_used_once, 0, runs);
    tcase_add_loop_test(all, a_directory_that_becomes_a_link_leads_nowhere, 0, runs);
    tcase_add_loop_test(all, a_signal_to_the_supervisor_spoils_no_answer, 0, runs);
    tcase_add_loop_test(all, files_have_the_modes_that_the_callers_umask_leaves, 0, runs);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return test_run(supervise_live_suite(), "supervise_live");
}
