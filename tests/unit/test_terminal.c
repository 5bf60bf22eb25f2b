/* SPDX-License-Identifier: Apache-2.0 */
/* The relay between two real terminals, and the terminal that pid 1 makes. */
#include "launch/pty.h"
#include "launch/sync.h"
#include "lib/test.h"
#include "lib/user.h"
#include "session/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

START_TEST(keys_reach_the_command_and_its_words_come_back)
{
    struct user user;

    user_start(&user, 0, "stty size; read line; echo got:$line; exit 5");
    user_expect(&user, "24 80\r\n");
    user_await_raw(&user);
    ck_assert_int_eq(fcntl(user.slave, F_GETFL) & O_NONBLOCK, 0);
    user_send(&user, "hellp\bo\r");
    user_expect(&user, "got:hello\r\n");
    user_ends(&user, 5);
    user_expect_last(&user, "");
}
END_TEST

START_TEST(interrupt_key_reaches_the_command_only)
{
    struct user user;

    user_start(&user, 0,
               "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done");
    user_expect(&user, "ready");
    user_await_raw(&user);
    user_send(&user, "\003");
    user_expect(&user, "caught");
    user_ends(&user, 9);
}
END_TEST

START_TEST(a_megabyte_passes_through_a_slow_reader_whole)
{
    struct user user;

    user_start(&user, 0, "stty -opost; seq 1 160000; exit 3");
    user_pause(300);
    user_sees_idle(&user, 500);
    ck_assert_int_eq(recv(user.shell_sock, &(char){0}, 1, MSG_DONTWAIT), -1);
    user_expect_numbers(&user, 160000, 4096, 1);
    user_ends(&user, 3);
    user_expect_last(&user, "");
}
END_TEST

START_TEST(a_terminal_that_cannot_be_opened_anew_is_not_waited_for_either)
{
    struct user user;

    user_start(&user, USER_CANNOT_OPEN, "stty -opost; seq 1 30000; read x; exit 3");
    user_await_raw(&user);
    user_pause(500);
    user_sees_idle(&user, 300);
    /* Were it stuck in a write, it would not hear this. */
    ck_assert_int_eq(kill(user.bawn, SIGTSTP), 0);
    ck_assert_int_eq(user_await(&user, NULL), 'S');
    user_order(&user, 'f');
    user_expect_numbers(&user, 30000, 4096, 0);
    user_send(&user, "\r");
    user_ends(&user, 3);
}
END_TEST

START_TEST(a_terminal_that_cannot_be_opened_anew_is_not_slow)
{
    /* Measured: 0.5 s; byte by byte 12 s. */
    enum { BYTES = 8000000, SECONDS_MAX = 5 };
    struct user user;
    char bytes[8192];
    size_t total = 0, count;
    time_t began = time(NULL);

    user_start(&user, USER_CANNOT_OPEN, "stty -opost; head -c 8000000 /dev/zero; read x; exit 3");
    while (total < BYTES && (count = user_read(&user, bytes, sizeof(bytes), USER_WAIT_MS)) > 0)
        total += count;
    ck_assert_uint_eq(total, BYTES);
    ck_assert_int_le(time(NULL) - began, SECONDS_MAX);
    user_send(&user, "\r");
    user_ends(&user, 3);
}
END_TEST

START_TEST(what_was_said_before_the_end_is_shown_after_it)
{
    struct user user;

    user_start(&user, 0, "stty -opost; seq 1 10000; exit 7");
    user_pause(500);
    user_expect_numbers(&user, 10000, 8192, 0);
    user_ends(&user, 7);
    user_expect_last(&user, "");
}
END_TEST

START_TEST(a_command_that_reads_nothing_holds_nobody_up)
{
    struct user user;
    char keys[4096];
    size_t sent = 0;
    ssize_t count;

    user_start(&user, 0,
               "stty -icanon -echo; echo ready; sleep 1.5; echo alive; while :; do "
               "case $(dd bs=4096 count=1 2>&9) in *q*) exit 11; esac; done");
    user_expect(&user, "ready");
    user_await_raw(&user);
    memset(keys, 'k', sizeof(keys));
    for (int quiet = 0; quiet < 20;) {
        count = write(user.master, keys, sizeof(keys));
        sent += count > 0 ? (size_t)count : 0;
        quiet = count > 0 ? 0 : quiet + 1;
        ck_assert_uint_lt(sent, 1024 * 1024);
        user_pause(count > 0 ? 0 : 10);
    }
    user_sees_idle(&user, 300);
    user_expect(&user, "alive\r\n");
    /* Now it reads, and all that was held up comes, this key last. */
    while (write(user.master, "q", 1) < 0)
        user_pause(10);
    user_ends(&user, 11);
}
END_TEST

START_TEST(a_new_size_is_seen_inside)
{
    struct winsize size = {.ws_row = 40, .ws_col = 100};
    struct user user;

    user_start(&user, 0,
               "trap 'stty size; exit 4' WINCH; echo ready; while :; do sleep 0.05; done");
    user_expect(&user, "ready");
    user_await_raw(&user);
    ck_assert_int_eq(ioctl(user.master, TIOCSWINSZ, &size), 0);
    user_expect(&user, "40 100\r\n");
    user_ends(&user, 4);
}
END_TEST

/* The terminal goes away, in the middle of a line or not: the command's input ends. */
START_TEST(a_terminal_that_goes_away_is_an_end_of_file)
{
    static const char *const keys[] = {"", "half a line", "a line\r"};
    static const char *const said[] = {"+end0\n", "half a line+end0\n", "a line\n+end0\n"};
    struct user user;
    int status = -1;

    user_start(&user, 0, "stty -echo; echo ready; cat >&9; echo +end$? >&9; echo lost; exit 6");
    user_expect(&user, "ready");
    user_await_raw(&user);
    user_send(&user, keys[_i]);
    user_pause(100);
    (void)close(user.master);
    user_expect_side(&user, said[_i]);
    ck_assert_int_eq(user_await(&user, &status), 'E');
    ck_assert_int_eq(status, 6);
}
END_TEST

START_TEST(killed_on_the_other_screen_the_terminal_comes_back)
{
    struct user user;

    user_start(&user, 0,
               "stty raw -echo; printf '\\033[?1049h\\033[?25l\\033[?20'; sleep 0.2;"
               "printf '04h\\033[?1000;1006hdrawn\\033]0;ti'; kill -9 $$");
    user_expect(&user, "drawn\033]0;ti");
    user_ends(&user, 128 + SIGKILL);
    user_expect_last(&user, "\030\033[?1000l\033[?1006l\033[?2004l\033[?1049l\033[?25h");
}
END_TEST

START_TEST(nothing_is_added_to_what_a_tidy_command_says)
{
    struct user user;

    user_start(&user, 0, "printf '\\033[?1049h\\033[?25lx\\033[?25h\\033[?1049l'");
    user_ends(&user, 0);
    user_expect_last(&user, "\033[?1049h\033[?25lx\033[?25h\033[?1049l");
}
END_TEST

START_TEST(a_terminal_closed_and_opened_again_inside_is_heard)
{
    struct user user;

    user_start(&user, 0,
               "exec 8</dev/null; echo ready; exec <&8 >&9 2>&9; sleep 0.6; echo back >/dev/tty;"
               "read x </dev/tty; exit 2$x");
    user_expect(&user, "ready");
    user_await_raw(&user);
    user_sees_idle(&user, 300);
    user_expect(&user, "back");
    user_send(&user, "1\r");
    user_ends(&user, 21);
}
END_TEST

START_TEST(asked_to_end_it_gives_the_terminal_back)
{
    struct user user;

    user_start(&user, 0, "printf '\\033[?25lready'; sleep 1000");
    user_expect(&user, "ready");
    user_await_raw(&user);
    ck_assert_int_eq(kill(user.bawn, SIGTERM), 0);
    user_ends(&user, 128 + SIGKILL);
    user_expect_last(&user, "\033[?25h");
}
END_TEST

/* SIGTSTP, the shell, and `fg`; twice. */
START_TEST(stopped_it_gives_the_terminal_back_and_takes_it_again)
{
    struct user user;

    user_start(&user, 0,
               "stty -echo; printf '\\033[?1049h\\033[?2004hready'; trap 'stty size' WINCH;"
               "while :; do read x && break; done; printf '\\033[?2004l\\033[?1049l'; exit 1$x");
    user_expect(&user, "ready");
    user_await_raw(&user);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(kill(user.bawn, SIGTSTP), 0);
        ck_assert_int_eq(user_await(&user, NULL), 'S');
        user_has_state(&user);
        user_expect(&user, "\033[?2004l\033[?1049l");
        user.before.c_cc[VERASE]++; /* the user sets it otherwise meanwhile: that is kept */
        ck_assert_int_eq(tcsetattr(user.slave, TCSANOW, &user.before), 0);
        user_order(&user, 'f');
        user_expect(&user, "\033[?2004h\033[?1049h");
        user_await_raw(&user);
        user_expect(&user, "24 80\r\n"); /* it was asked to draw again */
    }
    user_send(&user, "2\r");
    user_expect(&user, "\033[?2004l\033[?1049l");
    user_ends(&user, 12);
}
END_TEST

/* SIGSTOP leaves no time; a shell then brings the raw state back with `fg`. */
START_TEST(stopped_without_warning_it_still_knows_the_first_state)
{
    struct termios raw;
    struct user user;

    user_start(&user, 0, "stty -echo; echo ready; read x; exit 1$x");
    user_expect(&user, "ready");
    user_await_raw(&user);
    ck_assert_int_eq(tcgetattr(user.slave, &raw), 0);
    ck_assert_int_eq(kill(user.bawn, SIGSTOP), 0);
    ck_assert_int_eq(user_await(&user, NULL), 'S');
    ck_assert_int_eq(tcsetattr(user.slave, TCSANOW, &user.before), 0);
    /* `bg`: keys are the shell's, and the state is not touched. */
    user_order(&user, 'b');
    user_pause(200);
    user_has_state(&user);
    user_send(&user, "shell\r");
    user_sees_idle(&user, 300);
    ck_assert_int_eq(read(user.slave, &(char[16]){0}, 16), 6);
    ck_assert_int_eq(tcsetattr(user.slave, TCSANOW, &raw), 0);
    user_order(&user, 'f');
    user_pause(200);
    user_send(&user, "3\r");
    user_ends(&user, 13);
}
END_TEST

START_TEST(a_terminal_that_was_taken_away_is_not_read)
{
    struct user user;

    user_start(&user, 0, "stty -echo; echo ready; read x; exit 1$x");
    user_expect(&user, "ready");
    user_await_raw(&user);
    user_order(&user, 't');
    user_pause(200);
    user_send(&user, "shell\r");
    user_sees_idle(&user, 300);
    ck_assert_int_eq(read(user.slave, &(char[16]){0}, 16), 6);
    user_order(&user, 'f');
    user_pause(200);
    user_send(&user, "5\r");
    user_ends(&user, 15);
}
END_TEST

START_TEST(started_in_the_background_it_only_shows_output)
{
    struct user user;

    user_start(&user, USER_IN_BACKGROUND, "stty -echo; echo ready; read x; exit 1$x");
    user_expect(&user, "ready");
    user_has_state(&user);
    user_send(&user, "shell\r");
    user_sees_idle(&user, 300);
    ck_assert_int_eq(read(user.slave, &(char[16]){0}, 16), 6);
    /* A shell that knows it as running only gives it the terminal. */
    user_order(&user, _i ? 'f' : 'g');
    user_await_raw(&user);
    user_send(&user, "4\r");
    user_ends(&user, 14);
}
END_TEST

START_TEST(without_keys_the_state_is_not_touched)
{
    struct user user;

    user_start(&user, USER_NO_KEYS, "echo ready; sleep 0.4; exit 8");
    user_expect(&user, "ready");
    user_has_state(&user);
    user_send(&user, "less\r");
    ck_assert_int_eq(read(user.slave, &(char[16]){0}, 16), 5);
    user_ends(&user, 8);
}
END_TEST

START_TEST(what_is_no_terminal_is_refused)
{
    struct terminal terminal = {0};
    struct bawn_error err = {0};
    struct loop loop;
    int pipes[2];
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    terminal_stop(&terminal);
    ck_assert_int_eq(loop_init(&loop, NULL), 0);
    ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
    ck_assert_int_eq(terminal_start(&terminal, &loop, pipes[0], pipes[1], master, &err), -ENOTTY);
    ck_assert_ptr_nonnull(strstr(err.message, "the user's terminal"));
    ck_assert_int_eq(terminal_start(&terminal, &loop, master, master, -EBADF, &err), -EBADF);
    terminal_stop(&terminal);
    /* Nothing was left open: the next descriptor is the next number. */
    ck_assert_int_eq(dup(0), pipes[1] + 1);
}
END_TEST

/* pid 1's part, in a devpts of its own as the sandbox has one. */
static _Noreturn void own_devpts(void)
{
    static const char said[] = "/dev/tty\r\n/dev/pts/0\r\n";
    char name[sizeof(said)] = "";
    int master;
    int slave;
    pid_t pid;
    int status;

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        _exit(77);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=0600") < 0)
        _exit(77);
    if (pty_open(&master, &slave) < 0 || !(fcntl(master, F_GETFD) & FD_CLOEXEC) ||
        !(fcntl(slave, F_GETFD) & FD_CLOEXEC))
        _exit(1);
    pid = fork();
    if (pid == 0) {
        if (pty_take(slave, EXEC_TTY) < 0)
            _exit(98);
        (void)execl("/bin/sh", "sh", "-c", "test -t 0 && test -t 2 && tty </dev/tty && tty", NULL);
        _exit(97);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        _exit(2);
    for (size_t used = 0; used < sizeof(said) - 1;) {
        ssize_t count = read(master, name + used, sizeof(said) - 1 - used);

        if (count <= 0)
            _exit(3);
        used += (size_t)count;
    }
    _exit(strcmp(name, said) == 0 ? 0 : 4);
}

START_TEST(the_sandboxs_terminal_is_its_own)
{
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        own_devpts();
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        test_skip("the_sandboxs_terminal_is_its_own", "no user namespace or devpts");
    else
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* Only the streams that are named; the others stay what they are. */
START_TEST(streams_that_are_not_named_stay)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int slave;
    int status;
    pid_t pid;

    ck_assert_int_eq(unlockpt(master), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_gt(slave, 2);
    pid = fork();
    if (pid == 0) {
        (void)close(1);
        if (open("/dev/null", O_WRONLY) != 1 || pty_take(slave, EXEC_TTY_0 | EXEC_TTY_2) < 0)
            _exit(98);
        (void)execl("/bin/sh", "sh", "-c", "test -t 0 && ! test -t 1 && test -t 2 && : </dev/tty",
                    NULL);
        _exit(97);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("terminal");
    TCase *cases = tcase_create("terminal");

    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, keys_reach_the_command_and_its_words_come_back);
    tcase_add_test(cases, interrupt_key_reaches_the_command_only);
    tcase_add_test(cases, a_megabyte_passes_through_a_slow_reader_whole);
    tcase_add_test(cases, a_terminal_that_cannot_be_opened_anew_is_not_waited_for_either);
    tcase_add_test(cases, a_terminal_that_cannot_be_opened_anew_is_not_slow);
    tcase_add_test(cases, what_was_said_before_the_end_is_shown_after_it);
    tcase_add_test(cases, a_command_that_reads_nothing_holds_nobody_up);
    tcase_add_test(cases, a_new_size_is_seen_inside);
    tcase_add_loop_test(cases, a_terminal_that_goes_away_is_an_end_of_file, 0, 3);
    tcase_add_test(cases, killed_on_the_other_screen_the_terminal_comes_back);
    tcase_add_test(cases, nothing_is_added_to_what_a_tidy_command_says);
    tcase_add_test(cases, a_terminal_closed_and_opened_again_inside_is_heard);
    tcase_add_test(cases, asked_to_end_it_gives_the_terminal_back);
    tcase_add_test(cases, stopped_it_gives_the_terminal_back_and_takes_it_again);
    tcase_add_test(cases, stopped_without_warning_it_still_knows_the_first_state);
    tcase_add_test(cases, a_terminal_that_was_taken_away_is_not_read);
    tcase_add_loop_test(cases, started_in_the_background_it_only_shows_output, 0, 2);
    tcase_add_test(cases, without_keys_the_state_is_not_touched);
    tcase_add_test(cases, what_is_no_terminal_is_refused);
    tcase_add_test(cases, the_sandboxs_terminal_is_its_own);
    tcase_add_test(cases, streams_that_are_not_named_stay);
    suite_add_tcase(suite, cases);
    return test_run(suite, "terminal");
}
