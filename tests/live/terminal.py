#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bawn on a real terminal, as somebody who types and looks sees it. TAP on stdout.

usage: terminal.py BAWN

Each case has a terminal, a working directory and a time limit of its own.
"""

import fcntl
import os
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

WAIT = 15  # seconds for anything to appear
CASES = []


class Skip(Exception):
    """This machine cannot run the case."""


def case(function):
    CASES.append(function)
    return function


class Terminal:
    """A terminal with a program that leads a session on it."""

    def __init__(self, argv, rows=33, columns=101, cwd=None, env=None):
        self.shown = b""
        self.status = None
        self.master, self.slave = os.openpty()
        self.resize(rows, columns)
        # A state that no default brings back by chance.
        state = termios.tcgetattr(self.slave)
        state[6][termios.VERASE] = b"\x08"
        state[3] &= ~termios.ECHOK
        termios.tcsetattr(self.slave, termios.TCSANOW, state)
        self.before = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if self.pid == 0:
            self._become(argv, cwd, env)

    def _become(self, argv, cwd, env):
        try:
            # Whoever runs this may ignore signals, as nohup does; a shell on a terminal does not.
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM,
                           signal.SIGPIPE, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for stream in range(3):
                os.dup2(self.slave, stream)
            os.closerange(3, 256)
            if cwd:
                os.chdir(cwd)
            os.execvpe(argv[0], argv, env or environment())
        finally:
            os._exit(127)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def state(self):
        return termios.tcgetattr(self.slave)

    def is_raw(self):
        return not self.state()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def await_raw(self, wanted=True):
        deadline = time.monotonic() + WAIT
        while self.is_raw() != wanted:
            assert time.monotonic() < deadline, f"the terminal's being raw is not {wanted}"
            self.look(0.01)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def look(self, seconds):
        """Reads what is shown within the time; False when that was nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.shown += os.read(self.master, 65536)
        return True

    def expect(self, pattern):
        """Waits until the pattern is shown, forgets all up to its end, returns the match."""
        deadline = time.monotonic() + WAIT
        while True:
            match = re.search(pattern.encode(), self.shown)
            if match:
                self.shown = self.shown[match.end():]
                return match
            left = deadline - time.monotonic()
            assert left > 0 and (self.poll() is None or self.look(0.2)), (
                f"waited for {pattern!r}, saw {self.shown[-400:]!r}")
            self.look(min(left, 0.2))

    def poll(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def end(self):
        """Waits for the program's end and for all that it still showed; returns its status."""
        deadline = time.monotonic() + WAIT
        while self.poll() is None:
            assert time.monotonic() < deadline, f"it does not end; saw {self.shown[-400:]!r}"
            self.look(0.05)
        while self.look(0.1):
            pass
        return self.status

    def ends(self, status):
        found = self.end()
        assert found == status, f"exit status {found}, not {status}; saw {self.shown[-400:]!r}"
        self.is_restored()

    def is_restored(self):
        assert self.state() == self.before, f"the terminal's state is {self.state()}"
        flags = fcntl.fcntl(self.slave, fcntl.F_GETFL)
        assert not flags & os.O_NONBLOCK, "O_NONBLOCK was left on the terminal"

    def close(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        os.close(self.slave)


def environment():
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "USER", "LANG", "XDG_CONFIG_HOME",
                                                "XDG_CACHE_HOME", "XDG_STATE_HOME",
                                                "XDG_RUNTIME_DIR") if name in os.environ}
    return {**kept, "TERM": "xterm-256color", "SHELL": "/bin/bash"}


class Case:
    """What a case is given: terminals that are closed with it, and a directory of its own."""

    def __init__(self, bawn, directory):
        self.bawn = bawn
        self.directory = directory
        self.terminals = []

    def open(self, argv, **options):
        terminal = Terminal(argv, cwd=self.directory, **options)
        self.terminals.append(terminal)
        return terminal

    def run(self, *argv):
        return self.open([self.bawn, "run", "--", *argv])

    def script(self, text):
        return self.run("/bin/sh", "-c", text)

    def shell(self):
        terminal = self.open([self.bawn, "shell"])
        terminal.await_raw()
        terminal.type("PS1='in''side> '\r")
        terminal.expect("inside> ")
        return terminal

    def host_shell(self):
        """The user's own shell, with job control: bawn is one of its jobs."""
        if not shutil.which("bash"):
            raise Skip("no bash")
        terminal = self.open(["bash", "--norc", "--noprofile", "--noediting", "-i"])
        terminal.type(f"PS1='ho''st> '; bawn={self.bawn}\r")
        terminal.expect("host> ")
        return terminal


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


def foreground(terminal):
    """The process group that has the terminal: asked of the master, whose owner may."""
    return struct.unpack("i", fcntl.ioctl(terminal.master, termios.TIOCGPGRP, b"\0" * 4))[0]


def run_case(bawn, function):
    """0 passed, 1 failed, 2 skipped; in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bawn-terminal-") as directory:
        t = Case(bawn, directory)
        try:
            function(t)
        except Skip as skip:
            print(f"# {skip}")
            return 2
        except (AssertionError, OSError) as problem:
            print("# " + str(problem).replace("\n", "\n# "))
            return 1
        finally:
            for terminal in t.terminals:
                terminal.close()
    return 0


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    bawn = os.path.abspath(sys.argv[1])
    require = os.environ.get("BAWN_TEST_REQUIRE") == "all"
    failed = 0
    print(f"1..{len(CASES)}", flush=True)
    for number, function in enumerate(CASES, 1):
        pid = os.fork()
        if pid == 0:
            signal.alarm(90)
            try:
                result = run_case(bawn, function)
            finally:
                sys.stdout.flush()
            os._exit(result)
        result = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        is_skip = result == 2 and not require
        failed += result != 0 and not is_skip
        print(f"{'ok' if result == 0 or is_skip else 'not ok'} {number} - {function.__name__}"
              f"{' # SKIP' if is_skip else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
