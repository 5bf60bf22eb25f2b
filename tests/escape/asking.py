# SPDX-License-Identifier: Apache-2.0
"""Somebody who is asked: a client of 'bawn supervise' on its standard input and output, for cases.

with Supervisor() as one: one.question(), one.say(...), one.reply(seq), one.pid
"""
import json
import os
import re
import select
import subprocess
import time

BAWN = os.environ["BAWN"]


class Supervisor:
    def __init__(self, *options):
        self.process = subprocess.Popen([BAWN, "supervise", "--stdio", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.waiting = b""
        self.heard = []
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
        self.heard.append(event)
        return event

    def until(self, is_it, seconds=10):
        while True:
            event = self.hear(seconds)
            if event is None or is_it(event):
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
