# SPDX-License-Identifier: Apache-2.0
"""A real terminal with somebody who types and looks, and cases that use it. TAP on stdout.

Each case has a terminal, a working directory and a time limit of its own.
"""

import fcntl
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

WAIT = 15  # seconds for anything to appear
AT_ONCE = 6
READER = "sh -c 'echo rea\"\"dy; read x; echo got:$x; exit 5'"  # a command that a case reads a word with
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

    def host_shell(self, *argv):
        """The user's own shell, with job control: bawn is one of its jobs."""
        argv = argv or ("bash", "--norc", "--noprofile", "--noediting", "-i")
        if not shutil.which(argv[0]):
            raise Skip(f"no {argv[0]}")
        terminal = self.open(list(argv))
        terminal.type(f"PS1='ho''st> '; bawn={self.bawn}\r")
        terminal.expect("host> ")
        return terminal


def foreground(terminal):
    """The process group that has the terminal: asked of the master, whose owner may."""
    return struct.unpack("i", fcntl.ioctl(terminal.master, termios.TIOCGPGRP, b"\0" * 4))[0]


def stop(terminal, keys="\x1a"):
    """Types what stops it; the host's shell has a terminal as it was."""
    terminal.type(keys)
    terminal.expect(r"(Stopped|suspended)")
    terminal.expect("host> ")
    terminal.await_raw(False)
    terminal.type("echo from the ho''st\r")
    terminal.expect("from the host\r\n")
    terminal.expect("host> ")


def reads_a_word(terminal, status=5):
    terminal.await_raw()
    terminal.type("word\r")
    terminal.expect("got:word")
    terminal.expect("host> ")
    terminal.await_raw(False)
    terminal.type("echo status=$?\r")
    terminal.expect(f"status={status}")


def read(t, name):
    with open(os.path.join(t.directory, name), encoding="utf-8") as file:
        return file.read()


def wait_for(t, name, text):
    deadline = time.monotonic() + WAIT
    while True:
        if os.path.exists(os.path.join(t.directory, name)) and text in read(t, name):
            return
        assert time.monotonic() < deadline, f"{name} never said {text!r}"
        time.sleep(0.05)


def run_bawn(t, *words):
    done = subprocess.run([t.bawn, *words], cwd=t.directory, stdin=subprocess.DEVNULL, timeout=WAIT,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def wait_until(holds):
    deadline = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


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


def start_case(bawn, function):
    """Its pid, and a file that gets what it says."""
    said = tempfile.TemporaryFile()
    pid = os.fork()
    if pid == 0:
        os.dup2(said.fileno(), 1)
        signal.alarm(90)
        try:
            result = run_case(bawn, function)
        finally:
            sys.stdout.flush()
        os._exit(result)
    return pid, said


def main():
    if len(sys.argv) < 2:
        print(f"usage: {sys.argv[0]} BAWN [CASE]...", file=sys.stderr)
        return 2
    bawn = os.path.abspath(sys.argv[1])
    cases = [function for function in CASES if function.__name__ in (sys.argv[2:] or function.__name__)]
    require = os.environ.get("BAWN_TEST_REQUIRE") == "all"
    failed = 0
    started = []
    print(f"1..{len(cases)}", flush=True)
    for number, function in enumerate(cases):
        # Most of the time they wait: some at once.
        started += [start_case(bawn, later) for later in cases[len(started):number + AT_ONCE]]
        pid, said = started[number]
        result = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said.seek(0)
        sys.stdout.write(said.read().decode("utf-8", "replace"))
        is_skip = result == 2 and not require
        failed += result != 0 and not is_skip
        print(f"{'ok' if result == 0 or is_skip else 'not ok'} {number + 1} - {function.__name__}"
              f"{' # SKIP' if is_skip else ''}", flush=True)
    return 1 if failed else 0
