/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/user.h"

#include "launch/pty.h"
#include "launch/sync.h"
#include "lib/test.h"
#include "session/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534 };

struct bawn {
    struct terminal terminal;
    struct loop loop;
    struct loop_source signals;
    pid_t command;
    int status;
};

static int on_signal(void *context, uint32_t events)
{
    struct bawn *bawn = context;
    struct signalfd_siginfo info;

    (void)events;
    if (read(bawn->signals.fd, &info, sizeof(info)) != sizeof(info))
        return -EIO;
    switch (info.ssi_signo) {
    case SIGWINCH:
        terminal_resize(&bawn->terminal);
        break;
    case SIGTSTP:
        terminal_suspend(&bawn->terminal);
        (void)raise(SIGSTOP);
        terminal_resume(&bawn->terminal);
        break;
    case SIGCONT:
        terminal_resume(&bawn->terminal);
        break;
    case SIGTERM:
        (void)kill(bawn->command, SIGKILL);
        break;
    case SIGCHLD:
        if (waitpid(bawn->command, &bawn->status, WNOHANG) == bawn->command)
            loop_end(&bawn->loop);
        break;
    default:
        break;
    }
    return 0;
}

/* A case that fails leaves nobody behind. */
static void die_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static pid_t start_command(const char *script, int slave, int side_fd)
{
    pid_t pid = fork();

    if (pid == 0) {
        sigset_t none;

        die_with_parent();
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        if (dup2(side_fd, USER_SIDE_FD) < 0 || fcntl(USER_SIDE_FD, F_SETFD, 0) < 0 ||
            pty_take(slave, EXEC_TTY) < 0)
            _exit(98);
        (void)execl("/bin/sh", "sh", "-c", script, NULL);
        _exit(97);
    }
    return pid;
}

/* The terminal inside is of the host's devpts here. */
static void open_inside(int user_fd, int *ret_master, int *ret_slave)
{
    struct termios state;
    struct winsize size;
    int locked = 0;

    *ret_master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ret_master < 0 || ioctl(*ret_master, TIOCSPTLCK, &locked) < 0)
        _exit(90);
    *ret_slave = ioctl(*ret_master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ret_slave < 0 || terminal_read_state(user_fd, &state, &size) < 0 ||
        pty_set(*ret_slave, &state, &size) < 0)
        _exit(91);
}

static _Noreturn void run_bawn(const char *script, int user_fd, int side_fd, unsigned flags)
{
    static const int numbers[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGCHLD, SIGHUP};
    struct bawn *bawn = calloc(1, sizeof(*bawn));
    int master;
    int slave;
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        (void)sigaddset(&set, numbers[i]);
    if (!bawn || sigprocmask(SIG_BLOCK, &set, NULL) < 0 || loop_init(&bawn->loop, NULL) < 0)
        _exit(92);
    open_inside(user_fd, &master, &slave);
    bawn->command = start_command(script, slave, side_fd);
    (void)close(slave);
    (void)close(side_fd);
    if (flags & USER_CANNOT_OPEN && geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
        _exit(93);
    die_with_parent(); /* a change of the uid takes it back */
    bawn->signals = (struct loop_source){.fd = signalfd(-1, &set, SFD_CLOEXEC),
                                         .events = EPOLLIN,
                                         .ready = on_signal,
                                         .context = bawn};
    if (loop_add(&bawn->loop, &bawn->signals, NULL) < 0 ||
        terminal_start(&bawn->terminal, &bawn->loop, flags & USER_NO_KEYS ? -EBADF : user_fd,
                       user_fd, master, NULL) < 0)
        _exit(94);
    if (bawn->terminal.does_write_wait != !!(flags & USER_CANNOT_OPEN))
        _exit(95);
    if (loop_run(&bawn->loop, -1, NULL) < 0)
        _exit(96);
    terminal_stop(&bawn->terminal);
    terminal_stop(&bawn->terminal);
    if (WIFSIGNALED(bawn->status))
        _exit(128 + WTERMSIG(bawn->status));
    _exit(WEXITSTATUS(bawn->status));
}

/* Says 'S' when bawn stopped, and then takes the terminal; 'E' and the status when it ended. */
static void shell_report(int sock, int user_fd, pid_t bawn)
{
    int status;
    char said[2] = {0};

    if (waitpid(bawn, &status, WNOHANG | WUNTRACED) != bawn)
        return;
    said[0] = WIFSTOPPED(status) ? 'S' : 'E';
    said[1] = WIFSTOPPED(status) ? 0 : (char)WEXITSTATUS(status);
    (void)tcsetpgrp(user_fd, getpgrp());
    (void)send(sock, said, sizeof(said), 0);
    if (!WIFSTOPPED(status))
        _exit(0);
}

static _Noreturn void run_shell(int sock, int user_fd, pid_t bawn)
{
    for (;;) {
        struct pollfd asked = {.fd = sock, .events = POLLIN};
        char order;

        shell_report(sock, user_fd, bawn);
        if (poll(&asked, 1, 10) <= 0)
            continue;
        if (recv(sock, &order, 1, 0) != 1)
            _exit(0);
        (void)tcsetpgrp(user_fd, order == 'f' || order == 'g' ? bawn : getpgrp());
        if (order != 't' && order != 'g')
            (void)kill(-bawn, SIGCONT);
    }
}

static _Noreturn void lead_session(const struct user *user, int sock, int side_fd,
                                   const char *script, unsigned flags)
{
    pid_t bawn;

    die_with_parent();
    (void)close(user->master);
    if (setsid() < 0 || ioctl(user->slave, TIOCSCTTY, 0) < 0)
        _exit(80);
    (void)signal(SIGTTOU, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    bawn = fork();
    if (bawn == 0) {
        (void)setpgid(0, 0);
        if (!(flags & USER_IN_BACKGROUND))
            (void)tcsetpgrp(user->slave, getpid());
        (void)signal(SIGTTOU, SIG_DFL);
        (void)signal(SIGHUP, SIG_DFL);
        (void)close(sock);
        run_bawn(script, user->slave, side_fd, flags);
    }
    (void)setpgid(bawn, bawn);
    (void)close(side_fd);
    (void)send(sock, &bawn, sizeof(bawn), 0);
    run_shell(sock, user->slave, bawn);
}

void user_order(const struct user *user, char order)
{
    ck_assert_int_eq(send(user->shell_sock, &order, 1, 0), 1);
}

void user_pause(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

void user_start(struct user *user, unsigned flags, const char *script)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    int socks[2];
    int side[2];

    *user = (struct user){.master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)};
    ck_assert_int_ge(user->master, 0);
    ck_assert_int_eq(grantpt(user->master), 0);
    ck_assert_int_eq(unlockpt(user->master), 0);
    user->slave = open(ptsname(user->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(user->slave, 0);
    ck_assert_int_eq(ioctl(user->master, TIOCSWINSZ, &size), 0);
    ck_assert_int_eq(tcgetattr(user->slave, &user->before), 0);
    /* A state that no default brings back by chance. */
    user->before.c_cc[VERASE] = 'H' & 0x1f;
    user->before.c_lflag &= ~(tcflag_t)ECHOK;
    ck_assert_int_eq(tcsetattr(user->slave, TCSANOW, &user->before), 0);
    if (flags & USER_CANNOT_OPEN)
        ck_assert_int_eq(fchmod(user->slave, 0), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
    ck_assert_int_eq(pipe2(side, O_CLOEXEC), 0);
    user->shell = fork();
    ck_assert_int_ge(user->shell, 0);
    if (user->shell == 0)
        lead_session(user, socks[1], side[1], script, flags);
    user->shell_sock = socks[0];
    user->side_fd = side[0];
    (void)close(socks[1]);
    (void)close(side[1]);
    ck_assert_int_eq(recv(user->shell_sock, &user->bawn, sizeof(pid_t), 0), sizeof(pid_t));
}

void user_send(const struct user *user, const char *keys)
{
    ck_assert_int_eq(write(user->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

size_t user_read(const struct user *user, char *bytes, size_t size, int timeout_ms)
{
    struct pollfd shown = {.fd = user->master, .events = POLLIN};
    ssize_t count;

    if (poll(&shown, 1, timeout_ms) <= 0)
        return 0;
    count = read(user->master, bytes, size);
    return count > 0 ? (size_t)count : 0;
}

void user_expect(struct user *user, const char *text)
{
    size_t length = strlen(text);
    char *found;

    while (!(found = memmem(user->seen, user->seen_count, text, length))) {
        size_t count = user_read(user, user->seen + user->seen_count,
                                 sizeof(user->seen) - user->seen_count, USER_WAIT_MS);

        ck_assert_msg(count > 0, "waited for \"%s\", saw \"%.*s\"", text, (int)user->seen_count,
                      user->seen);
        user->seen_count += count;
    }
    user->seen_count -= (size_t)(found - user->seen) + length;
    memmove(user->seen, found + length, user->seen_count);
}

void user_expect_last(struct user *user, const char *text)
{
    size_t count;

    while ((count = user_read(user, user->seen + user->seen_count,
                              sizeof(user->seen) - user->seen_count, 100)) > 0)
        user->seen_count += count;
    ck_assert_msg(user->seen_count == strlen(text) &&
                      memcmp(user->seen, text, user->seen_count) == 0,
                  "saw \"%.*s\"", (int)user->seen_count, user->seen);
}

char user_await(const struct user *user, int *ret_status)
{
    struct pollfd told = {.fd = user->shell_sock, .events = POLLIN};
    char said[2] = {0};

    ck_assert_int_eq(poll(&told, 1, USER_WAIT_MS), 1);
    ck_assert_int_eq(recv(user->shell_sock, said, sizeof(said), 0), sizeof(said));
    if (ret_status)
        *ret_status = (unsigned char)said[1];
    return said[0];
}

static bool user_has_raw(const struct user *user)
{
    struct termios state;

    ck_assert_int_eq(tcgetattr(user->slave, &state), 0);
    return !(state.c_lflag & (ICANON | ECHO | ISIG)) && !(state.c_oflag & OPOST);
}

void user_await_raw(const struct user *user)
{
    for (int waited = 0; !user_has_raw(user) && waited < USER_WAIT_MS; waited += 10)
        user_pause(10);
    ck_assert(user_has_raw(user));
}

void user_has_state(const struct user *user)
{
    struct termios state;

    ck_assert_int_eq(tcgetattr(user->slave, &state), 0);
    ck_assert_uint_eq(state.c_iflag, user->before.c_iflag);
    ck_assert_uint_eq(state.c_oflag, user->before.c_oflag);
    ck_assert_uint_eq(state.c_cflag, user->before.c_cflag);
    ck_assert_uint_eq(state.c_lflag, user->before.c_lflag);
    ck_assert_mem_eq(state.c_cc, user->before.c_cc, sizeof(state.c_cc));
    /* The flag is everybody's who shares the terminal. */
    ck_assert_int_eq(fcntl(user->slave, F_GETFL) & O_NONBLOCK, 0);
}

void user_ends(const struct user *user, int expected_status)
{
    int status = -1;

    ck_assert_int_eq(user_await(user, &status), 'E');
    ck_assert_int_eq(status, expected_status);
    ck_assert_int_eq(waitpid(user->shell, NULL, 0), user->shell);
    user_has_state(user);
}

/* Processor time of bawn so far, in clock ticks. */
static unsigned long user_ticks(const struct user *user)
{
    unsigned long in_user = 0;
    unsigned long in_kernel = 0;
    char path[64];
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)user->bawn);
    file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                            &in_user, &in_kernel),
                     2);
    (void)fclose(file);
    return in_user + in_kernel;
}

void user_sees_idle(const struct user *user, long ms)
{
    unsigned long before = user_ticks(user);

    user_pause(ms);
    ck_assert_uint_le(user_ticks(user) - before, (unsigned long)(ms / 50));
}

void user_expect_numbers(const struct user *user, unsigned last, size_t piece, long slow_ms)
{
    char bytes[8192];
    char line[16] = "";
    size_t at = 0;
    unsigned number = 0;

    while (number < last || line[at]) {
        size_t count = user_read(user, bytes, piece, USER_WAIT_MS);

        ck_assert_msg(count > 0, "nothing after %u", number);
        for (size_t i = 0; i < count; i++) {
            if (!line[at]) {
                (void)snprintf(line, sizeof(line), "%u\n", ++number);
                at = 0;
            }
            ck_assert_int_eq(bytes[i], line[at++]);
        }
        if (slow_ms)
            user_pause(slow_ms);
    }
}

void user_expect_side(const struct user *user, const char *text)
{
    char bytes[64] = "";
    size_t used = 0;
    struct pollfd side = {.fd = user->side_fd, .events = POLLIN};

    while (used < strlen(text) && poll(&side, 1, USER_WAIT_MS) == 1) {
        ssize_t count = read(user->side_fd, bytes + used, sizeof(bytes) - 1 - used);

        ck_assert_int_gt(count, 0);
        used += (size_t)count;
    }
    ck_assert_str_eq(bytes, text);
}
