# SPDX-License-Identifier: Apache-2.0
"""What tests in the lab use: the log as a witness, bawn, and TAP on standard output."""
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SETTLE_SECONDS, ASK_SECONDS = 30, 3
NETLINK_NETFILTER = 12
# Clears every variable that speaks of a proxy, then runs the command.
BARE = ["sh", "-c", 'for name in $(env | grep -iE "^[^=]*proxy|:800" | cut -d= -f1); do unset "$name"; done;'
        ' exec "$@"', "sh"]


class Broken(Exception):
    """What must work does not."""


def works(is_so, what):
    """What is allowed, and what the lab itself must do."""
    if not is_so:
        raise Broken(str(what))


def same(want, got, what):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def cases_of(cases):
    """For a list of cases, what puts a function there under its title."""
    def case(title):
        def keep(function):
            cases.append((title, function))
            return function
        return keep
    return case


def has_nft():
    """Whether there is nf_tables; without_nft runs what is to go without."""
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER).close()
        return True
    except OSError:
        return False


class Witness:
    """What the lab's servers and its packet log saw."""

    def __init__(self):
        self.path, self.number = os.environ["LAB_LOG"], 0

    def read(self, start):
        with open(self.path, "rb") as log:
            log.seek(start)
            whole, _, _ = log.read().rpartition(b"\n")
            return [json.loads(line) for line in whole.splitlines()]

    def end(self):
        """Where the last whole line ends."""
        with open(self.path, "rb") as log:
            return log.read().rfind(b"\n") + 1

    def settle(self):
        """Waits until both have written down what came before now; where the log ends then. Where a busy machine lost
        the question or the packet, it is asked again."""
        until = time.monotonic() + SETTLE_SECONDS
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(ASK_SECONDS)
            while time.monotonic() < until:
                self.number += 1
                name = f"settle-{os.getpid()}-{self.number}"
                start = self.end()
                query = struct.pack("!HHHHHH", 1, 0x100, 1, 0, 0, 0) + bytes([len(name)]) + name.encode() + b"\0\0\1\0\1"
                sock.sendto(query, ("127.0.0.1", 53))
                if self.has_seen(start, name):
                    # Else the kernel refuses the answer, by a packet that is seen.
                    while name.encode() not in sock.recv(600):
                        pass
                    return self.end()
        raise Broken("the lab's servers do not answer")

    def has_seen(self, start, name):
        until = time.monotonic() + ASK_SECONDS
        while time.monotonic() < until:
            if {event["kind"] for event in self.read(start) if name in json.dumps(event)} >= {"packet", "dns"}:
                return True
            time.sleep(0.01)
        return False

    def since(self, start):
        self.settle()
        return [event for event in self.read(start) if "settle-" not in json.dumps(event)]


def reached(events, addresses=None, port=None):
    """The packets that open a connection, or try to, to one of these addresses."""
    return [event for event in events if event["kind"] == "packet" and event["protocol"] == "tcp"
            and (addresses is None or event["address"] in addresses) and port in (None, event["port"])]


def asked(events, name=None):
    """The questions for a name, or for any."""
    return [event for event in events if event["kind"] == "dns" and (name is None or event["name"] == name)]


def requests(events, **what):
    return [event for event in events if event["kind"] == "http"
            and all(event.get(key) == value for key, value in what.items())]


class World:
    """A workspace, and commands in it, inside bawn and outside."""

    def __init__(self, bawn, is_contained=True, more=(), before=()):
        self.bawn, self.is_contained, self.more = str(Path(bawn).resolve()), is_contained, list(more)
        self.before = list(before)  # what runs bawn
        self.witness = Witness()
        self.folder = Path(os.environ["LAB_WORK"])
        self.ca = self.folder / "ca.pem"
        self.ca.write_bytes(Path(os.environ["LAB_CA"]).read_bytes())
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("LAB_")}

    def run(self, command, env=None, seconds=60, data=None):
        """(status, output, errors, seconds); status 124 when it took too long."""
        begun = time.monotonic()
        try:
            done = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.env, **(env or {})},
                                  input=data, stdin=None if data is not None else subprocess.DEVNULL,
                                  capture_output=True, timeout=seconds, check=False)
            status, output, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            status, output, errors = 124, late.stdout or b"", late.stderr or b""
        return status, output.decode(errors="replace"), errors.decode(errors="replace"), time.monotonic() - begun

    def words(self, command, allow=(), options=(), env=None):
        """The command inside bawn; as it is where nothing is to contain it."""
        if not self.is_contained:
            return [str(word) for word in command]
        mode = () if "--net" in options else ("--net", "proxy")
        words = [*self.before, self.bawn, "run", "-q", "--isolated", *mode, "--ro", HERE, *self.more, *options]
        for rule in allow:
            words += ["--allow-host", rule]
        for name, value in (env or {}).items():
            words += ["--env", f"{name}={value}"]
        return [str(word) for word in (*words, "--", *command)]

    def sandbox(self, command, allow=(), options=(), env=None, **how):
        return self.run(self.words(command, allow, options, env), env, **how)


class Tap:
    """Results, one a line."""

    def __init__(self, goes_red=False):
        self.number = self.failed = 0
        self.goes_red = goes_red

    def say(self, is_ok, title, why=""):
        self.number += 1
        self.failed += not is_ok
        print(f"{'ok' if is_ok else 'not ok'} {self.number} - {title}")
        if why:
            lines = str(why).splitlines()
            shown = lines if len(lines) <= 12 else [*lines[:5], "...", *lines[-6:]]
            print("".join(f"# {line[:400]}\n" for line in shown), end="")
        sys.stdout.flush()

    def skip(self, title, why):
        self.number += 1
        print(f"ok {self.number} - {title} # SKIP {why}", flush=True)

    def attempt(self, title, function, *arguments):
        """A case: passes unless it raises. AssertionError: something was not contained."""
        try:
            function(*arguments)
            is_red, why = False, ""
        except AssertionError as error:
            is_red, why = True, f"not contained: {error}"
        except Exception as error:  # whatever it is, the next case is tried
            is_red, why = None, f"broken: {type(error).__name__}: {error}"
        if self.goes_red:
            self.say(is_red is True, f"goes red: {title}", why or "stayed green")
        else:
            self.say(is_red is False, title, why)

    def end(self):
        print(f"1..{self.number}", flush=True)
        return 1 if self.failed else 0
