#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many runs, one after the other and at once, a share of them killed at random moments: the others
end as they should, and afterwards nothing of any of them is left. TAP."""
import argparse
import os
import pwd
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent.parent / "build"
STATUS = 7
SETTLE_SECONDS = 5


class Soak:
    """Directories of its own, the command that is run, and what the host looks like."""

    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.user = pwd.getpwnam(options.user) if options.user else None
        self.dir = Path(tempfile.mkdtemp(prefix="bawn-soak.", dir="/tmp"))
        for name in ("ws", "home", "run", "state", "tmp"):
            (self.dir / name).mkdir(mode=0o700)
        if self.user:
            for path in [self.dir, *self.dir.iterdir()]:
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.dir / "home"), "LC_ALL": "C.UTF-8",
                    "TMPDIR": str(self.dir / "tmp"),
                    "XDG_RUNTIME_DIR": str(self.dir / "run"),
                    "XDG_STATE_HOME": str(self.dir / "state")}
        # A daemon that nobody waits for, in a session of its own; the name is what we look for.
        inner = f"(setsid sleep 600.{os.getpid()} &) ; echo $$ >>log; exit {STATUS}"
        self.command = [str(Path(options.bawn).resolve()), "run", "-C", str(self.dir / "ws"), "--",
                        "/bin/sh", "-c", inner]
        self.pids, self.wrong = set(), []
        self.begun = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
        # A file, for a daemon that is left would keep a pipe open.
        self.errors = open(self.dir / "errors", "ab")

    def start(self):
        command = self.command
        if self.user:
            command = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}",
                       "--clear-groups", "--inh-caps=-all", "--", *command]
        process = subprocess.Popen(command, env=self.env, cwd=self.dir / "ws",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=self.errors)
        self.pids.add(process.pid)
        return process

    def end(self, process, is_killed):
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.wrong.append("took longer than 60 s")
        wanted = (STATUS, -signal.SIGKILL) if is_killed else (STATUS,)
        if process.returncode not in wanted:
            words = (self.dir / "errors").read_text(errors="replace").strip()[-200:]
            self.wrong.append(f"status {process.returncode}, last words: {words}")

    def in_a_row(self, count):
        for number in range(count):
            process = self.start()
            is_killed = number % self.options.killed == 0
            if is_killed:
                time.sleep(self.random.uniform(0, self.options.moment))
                process.kill()
            self.end(process, is_killed)

    def at_once(self, count):
        running = [self.start() for _ in range(count)]
        victims = set(self.random.sample(range(count), count // self.options.killed))
        for number in victims:
            time.sleep(self.random.uniform(0, self.options.moment))
            running[number].kill()
        for number, process in enumerate(running):
            self.end(process, number in victims)

    def processes(self):
        """Those that name our directory or our daemon, whoever they belong to."""
        marks = (str(self.dir).encode(), f"600.{os.getpid()}".encode())
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = path.read_bytes()
            except OSError:
                continue
            if int(path.parent.name) != os.getpid() and any(mark in line for mark in marks):
                found.append(f"{path.parent.name}: {line.replace(bytes(1), b' ').decode()[:80]}")
        return found

    def cgroups(self):
        """Groups that one of our launchers made, bawn-PID-START: numbers come again."""
        # os.walk minds no directory that goes away meanwhile.
        names = [os.path.join(place, name) for place, dirs, _ in os.walk("/sys/fs/cgroup")
                 for name in dirs if name.startswith("bawn-")]
        pids = set(map(str, self.pids))
        return [name for name in names if os.path.basename(name).split("-")[1] in pids
                and int(name.split("-")[-1]) >= self.begun]

    def sockets(self):
        text = Path("/proc/net/unix").read_text(errors="replace")
        return [line for line in text.splitlines() if str(self.dir) in line or "@bawn" in line]

    def files(self):
        """Of the runtime and state directories, and ours in /tmp."""
        own = [str(path) for name in ("run", "state", "home", "tmp")
               for path in (self.dir / name).rglob("*")]
        pids = set(map(str, self.pids))
        return sorted(own + [f"/tmp/{name}" for name in os.listdir("/tmp")
                             if "bawn" in name and pids & set(re.split(r"\D+", name))])

    def state(self):
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        return {"processes": self.processes(), "mounts": mounts, "cgroups": self.cgroups(),
                "sockets": self.sockets(), "files": self.files(),
                "workspace": sorted(os.listdir(self.dir / "ws"))}

    def left(self, before):
        """What was not there before, for each kind, when it had time to go."""
        for _ in range(SETTLE_SECONDS * 5):
            after = self.state()
            more = {kind: [entry for entry in after[kind] if entry not in before[kind]]
                    for kind in before}
            if not any(more.values()):
                break
            time.sleep(0.2)
        return more


class Tap:
    def __init__(self):
        self.number = self.failed = 0

    def say(self, is_ok, what, details=()):
        self.number, self.failed = self.number + 1, self.failed + (not is_ok)
        print(f"{'ok' if is_ok else 'not ok'} {self.number} - {what}")
        for line in () if is_ok else list(details)[:8]:
            print(f"# {line}")
        sys.stdout.flush()

    def end(self):
        print(f"1..{self.number}")
        print(f"{self.number - self.failed} passed, {self.failed} failed, 0 skipped")
        return 1 if self.failed else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("--user", help="as this ordinary user (from root)")
    parser.add_argument("--runs", type=int, default=1000, help="one after the other")
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--killed", type=int, default=3, help="one in this many is killed")
    parser.add_argument("--moment", type=float, default=0.02, help="within these seconds")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    return parser.parse_args()


def soak(options, tap):
    test = Soak(options)
    try:
        first = test.start()
        test.end(first, False)
        if test.wrong:
            tap.say(False, "one run works", test.wrong)
            return
        before = test.state()
        for what, work, count in (("in a row", test.in_a_row, options.runs),
                                  ("at once", test.at_once, options.at_once)):
            test.wrong.clear()
            begun = time.monotonic()
            work(count)
            tap.say(not test.wrong, f"{count} runs {what} end as they should", test.wrong)
            print(f"# {count} {what}: {time.monotonic() - begun:.1f} s")
            at_once = test.left(before)
            # What only the next start can sweep away, when the launcher was killed.
            test.end(test.start(), False)
            for kind, entries in test.left(before).items():
                tap.say(not entries, f"no {kind} are left of {count} runs {what}", entries)
                if at_once[kind] and not entries:
                    print(f"# {len(at_once[kind])} {kind} were there until the next start")
    finally:
        shutil.rmtree(test.dir, ignore_errors=True)


def main():
    options, tap = parse(), Tap()
    print(f"TAP version 13\n# seed {options.seed}", flush=True)
    soak(options, tap)
    return tap.end()


sys.exit(main())
