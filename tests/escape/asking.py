# SPDX-License-Identifier: Apache-2.0
"""Somebody who is asked: a client of 'bawn supervise' on its standard input and output, for cases.

with Supervisor() as one: one.question(), one.say(...), one.reply(seq), one.pid
"""
import json
import os
import re
import select
import socket
import struct
import subprocess
import time

BAWN = os.environ["BAWN"]


class Supervisor:
    def __init__(self, *options):
        self.process = subprocess.Popen([BAWN, "supervise", "--stdio", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.waiting = b""
        self.heard = []  # and nobody looked for
        self.seq = 0

    def __enter__(self):
        if not self.command(type="cmd.hello", version=1).get("ok"):
            raise SystemExit("# broken: nobody answers")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def say(self, **members):
        self.process.stdin.write(json.dumps(members).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, seconds=10):
        """The next event; None if there is none in time."""
        return self.heard.pop(0) if self.heard else self.read(seconds)

    def read(self, seconds):
        until = time.monotonic() + seconds
        while b"\n" not in self.waiting:
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                return None
            got = os.read(self.process.stdout.fileno(), 65536)
            if not got:
                return None
            self.waiting += got
        line, self.waiting = self.waiting.split(b"\n", 1)
        event = json.loads(line)
        event["line"] = line
        return event

    def until(self, is_it, seconds=10):
        """The first such event, whatever else comes before it: that stays."""
        for event in self.heard:
            if is_it(event):
                self.heard.remove(event)
                return event
        while (event := self.read(seconds)) and not is_it(event):
            self.heard.append(event)
        return event

    def question(self, seconds=10):
        return self.until(lambda event: event["type"].endswith("_request"), seconds)

    def settled(self, id, seconds=10):
        return self.until(lambda event: event["type"] == "event.settled" and event["id"] == id, seconds)

    def command(self, **members):
        """Says it, and returns the reply; {}: there is none."""
        self.seq += 1
        try:
            self.say(**members, seq=self.seq)
        except BrokenPipeError:
            return {}
        return self.until(lambda event: event["type"] == "reply" and event["to"] == self.seq) or {}


def size(pid):
    """Resident memory in KiB, and open descriptors; where they cannot be looked at, the room for them."""
    status = open(f"/proc/{pid}/status").read()
    memory, room = (int(re.search(rf"{name}:\s+(\d+)", status).group(1)) for name in ("VmRSS", "FDSize"))
    try:
        return memory, len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return memory, room


class Control:
    """The control socket of a session, by packets of one's own: src/wire/control.h."""

    ASKS, ANSWER = 12, 14
    SIZE = 7 * 4 + 60 + 8  # struct control_message

    def __init__(self, sid):
        self.path = f"{os.environ['XDG_RUNTIME_DIR']}/bawn/{sid}/control"
        for self.version in range(1, 100):
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.socket.settimeout(5)
            self.socket.connect(self.path)
            try:
                self.send(self.ASKS)
                if self.socket.recv(65536):
                    return
            except OSError:
                pass
        raise SystemExit("# broken: no version of the control protocol is known")

    def send(self, kind, job=0, flags=0, value=0):
        self.socket.send(struct.pack("4Ii", self.version, kind, job, flags, value).ljust(self.SIZE, b"\0"))

    def answer(self, number, yes=True, scope=0, saved=0):
        self.send(self.ANSWER, number, int(yes) | scope << 4, saved)

    def is_closed(self):
        try:
            while self.socket.recv(65536):
                pass
            return True
        except ConnectionError:
            return True
        except TimeoutError:
            return False
