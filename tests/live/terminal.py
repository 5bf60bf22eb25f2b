#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bawn on a real terminal, as somebody who types and looks sees it. TAP on stdout.

usage: terminal.py BAWN
"""

import os
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
from typist import WAIT, Skip, case, foreground, main  # noqa: E402


@case
def the_terminal_inside_is_its_own(t):
    terminal = t.run("tty")
    terminal.expect(r"/dev/pts/0\r\n")
    terminal.ends(0)


@case
def no_terminal_of_the_host_is_there(t):
    terminal = t.script("echo /dev/pts/*; echo end")
    shown = terminal.expect(r"(/dev/pts/[^\r]*)\r\nend").group(1).split()
    assert set(shown) <= {b"/dev/pts/0", b"/dev/pts/ptmx"}, f"saw {shown}"
    terminal.ends(0)


@case
def the_status_is_the_commands(t):
    t.script("exit 7").ends(7)
    t.script("kill -9 $$").ends(137)


@case
def the_size_and_the_state_are_there_from_the_start(t):
    for _ in range(10):
        terminal = t.run("stty", "-a")
        terminal.expect(r"rows 33; columns 101;")
        terminal.expect(r"erase = \^H;")
        terminal.ends(0)


@case
def a_new_size_is_seen_inside(t):
    terminal = t.script("trap 'stty size; exit 4' WINCH; echo ready;"
                        "while :; do sleep 0.05; done")
    terminal.expect("ready")
    terminal.await_raw()
    terminal.resize(40, 90)
    terminal.expect(r"40 90\r\n")
    terminal.ends(4)


@case
def job_control_works_in_the_shell(t):
    terminal = t.shell()
    terminal.type("sleep 1000\r")
    time.sleep(0.5)
    terminal.type("\x1a")
    terminal.expect(r"Stopped\s+sleep 1000")
    terminal.expect("inside> ")
    terminal.type("jobs\r")
    terminal.expect(r"Stopped\s+sleep 1000")
    terminal.type("fg\r")
    terminal.expect(r"\rsleep 1000\r\n")
    time.sleep(0.3)
    terminal.type("\x03")
    terminal.expect("inside> ")
    terminal.type("echo status=$?\r")
    terminal.expect("status=130")
    terminal.type("exit 12\r")
    terminal.ends(12)


@case
def interrupt_ends_the_command_not_bawn(t):
    terminal = t.script("trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done")
    terminal.expect("ready")
    terminal.await_raw()
    terminal.type("\x03")
    terminal.expect("caught")
    terminal.ends(9)


@case
def interrupt_without_a_trap_is_the_signals_status(t):
    terminal = t.script("echo ready; exec sleep 1000")
    terminal.expect("ready")
    terminal.await_raw()
    time.sleep(0.2)
    terminal.type("\x03")
    terminal.ends(130)


@case
def end_of_file_ends_the_shell(t):
    terminal = t.shell()
    terminal.type("\x04")
    terminal.ends(0)


@case
def end_of_file_ends_a_reader(t):
    terminal = t.run("cat")
    terminal.await_raw()
    terminal.type("a line\r")
    terminal.expect(r"a line\r\na line\r\n")
    terminal.type("\x04")
    terminal.ends(0)


@case
def much_output_comes_whole_through_a_slow_terminal(t):
    terminal = t.script("stty -opost; seq 1 160000; exit 3")
    time.sleep(0.5)
    assert terminal.poll() is None, "it ended before its output was taken"
    expected = "".join(f"{number}\n" for number in range(1, 160001)).encode()
    while len(terminal.shown) < len(expected):
        assert terminal.look(WAIT), f"only {len(terminal.shown)} bytes"
        time.sleep(0.001)
    terminal.ends(3)
    assert terminal.shown == expected, "the output is not what was written"


@case
def output_said_just_before_the_end_is_shown(t):
    terminal = t.script("stty -opost; seq 1 5000")
    time.sleep(1)
    terminal.ends(0)
    assert terminal.shown == "".join(f"{n}\n" for n in range(1, 5001)).encode()


@case
def an_editor_opens_writes_and_quits(t):
    if not shutil.which("vim"):
        raise Skip("no vim")
    terminal = t.run("vim", "-u", "NONE", "-N", "-n", "letter.txt")
    terminal.expect("letter.txt")
    terminal.await_raw()
    time.sleep(0.5)
    terminal.type("ihello from inside\x1b")
    time.sleep(0.3)
    terminal.type(":wq\r")
    terminal.ends(0)
    with open(os.path.join(t.directory, "letter.txt"), encoding="utf-8") as letter:
        assert letter.read() == "hello from inside\n"


@case
def killed_on_the_other_screen_the_terminal_comes_back(t):
    terminal = t.script(r"printf '\033[?1049h\033[?25l\033[?2004h\033[?1000;1006h';"
                        "stty raw -echo; printf drawn; kill -9 $$")
    terminal.expect("drawn")
    terminal.ends(137)
    assert terminal.shown == b"\033[?1000l\033[?1006l\033[?2004l\033[?1049l\033[?25h", (
        f"saw {terminal.shown!r}")


@case
def asked_to_end_bawn_gives_the_terminal_back(t):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        terminal = t.script(r"printf '\033[?1049hready'; exec sleep 1000")
        terminal.expect("ready")
        terminal.await_raw()
        os.kill(terminal.pid, number)
        status = terminal.end()
        assert status not in (0, None), f"status {status}"
        assert terminal.shown.endswith(b"\033[?1049l"), f"saw {terminal.shown!r}"
        terminal.is_restored()


@case
def keys_cannot_be_put_into_a_terminal(t):
    if not shutil.which("python3"):
        raise Skip("no python3")
    terminal = t.run("python3", "-c", "import fcntl, termios\n"
                     "try: fcntl.ioctl(0, termios.TIOCSTI, b'x'); print('done')\n"
                     "except OSError as e: print('errno', e.errno)")
    terminal.expect(r"errno 1\r\n")
    terminal.ends(0)


@case
def a_pipe_stays_a_pipe(t):
    terminal = t.host_shell()
    terminal.type("echo in | $bawn run -- sh -c 'cat; test -t 0; echo 0=$?; test -t 1; echo 1=$?'"
                  " | tr a-z A-Z; echo after\r")
    terminal.expect(r"IN\r\n0=1\r\n1=1\r\nafter\r\n")
    terminal.expect("host> ")


@case
def keys_are_the_pagers_behind_a_pipe(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; sleep 1'"
                  " | (cat; read key </dev/tty; echo key=$key)\r")
    terminal.expect("ready")
    assert not terminal.is_raw(), "the terminal was taken from the pager"
    terminal.type("word\r")
    terminal.expect("key=word")
    terminal.expect("host> ")


@case
def a_pager_inside_has_the_keys(t):
    terminal = t.host_shell()
    terminal.type("echo rea''dy | $bawn run -- sh -c 'cat; read key </dev/tty; echo key=$key'\r")
    terminal.expect("ready")
    terminal.await_raw()
    terminal.type("word\r")
    terminal.expect("key=word")
    terminal.expect("host> ")


@case
def stopped_from_outside_it_gives_the_terminal_to_the_shell(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; read x; echo got:$x; exit 5'\r")
    terminal.expect("ready")
    terminal.await_raw()
    os.kill(foreground(terminal), signal.SIGTSTP)
    terminal.expect("Stopped")
    terminal.expect("host> ")
    terminal.await_raw(False)
    terminal.type("echo from the ho''st\r")
    terminal.expect("from the host\r\n")
    terminal.type("fg\r")
    terminal.await_raw()
    terminal.type("word\r")
    terminal.expect("got:word")
    terminal.expect("host> ")
    terminal.await_raw(False)
    terminal.type("echo status=$?\r")
    terminal.expect("status=5")


@case
def in_the_background_it_shows_output_and_reads_no_key(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; read x; echo got:$x; exit 6' &\r")
    terminal.expect("ready")
    assert not terminal.is_raw()
    terminal.type("echo from the ho''st\r")
    terminal.expect("from the host\r\n")
    terminal.type("fg\r")
    terminal.await_raw()
    terminal.type("word\r")
    terminal.expect("got:word")
    terminal.expect("host> ")
    terminal.type("echo status=$?\r")
    terminal.expect("status=6")


if __name__ == "__main__":
    sys.exit(main())
