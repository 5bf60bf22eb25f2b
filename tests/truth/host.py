# SPDX-License-Identifier: Apache-2.0
"""Makes a case on disk, and asks and runs bawn there."""
import json
import os
import pwd
import re
import shutil
import socket
import stat
import subprocess
import tempfile
from pathlib import Path

from case import NAMES

HERE = Path(__file__).resolve().parent
OTHER_ID = 12345


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def as_yaml(sandbox):
    """A lone JSON document would be taken for another tool's settings."""
    return f"version: 1\nsandbox: {json.dumps(sandbox)}\n"


class Host:
    def __init__(self, options):
        self.is_root = os.getuid() == 0
        self.user = pwd.getpwnam(options.user) if options.user else pwd.getpwuid(os.getuid())
        self.bawn = str(Path(options.bawn).resolve())
        # Not in /tmp, which is the sandbox's own inside, nor in root's home, which is closed to the command.
        place = options.dir or (self.user.pw_dir if self.user.pw_uid else "/home")
        self.dir = Path(tempfile.mkdtemp(prefix="bawn-truth.", dir=place))
        self.base, self.tools = self.dir / "B", self.dir / "P"
        self.tools.mkdir()
        self.probe = str(self.tools / "probe")
        subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-static", "-o", self.probe,
                        str(HERE / "probe.c")], check=True)
        for path in (self.dir, self.tools):
            path.chmod(0o755)
        self.own(self.dir)
        self.sockets, self.forgotten = [], 0

    def done(self):
        self.clear()
        shutil.rmtree(self.dir, ignore_errors=True)

    def clear(self):
        for sock in self.sockets:
            sock.close()
        self.sockets = []
        if self.base.exists():
            subprocess.run(["chmod", "-R", "u+rwX", str(self.base)], check=False, stderr=subprocess.DEVNULL)
            shutil.rmtree(self.base)

    def own(self, path):
        if self.is_root:
            os.lchown(path, self.user.pw_uid, self.user.pw_gid)

    def make(self, case):
        self.clear()
        for name in ("w", "o", "h", case.work):
            self.make_dir(self.base / name)
        for number, entry in enumerate(case.tree):
            self.make_entry(entry, number)
        place = self.base / case.work / ".bawn"
        sandbox = {word: [pattern] for how, word, pattern in case.rules if how == "project"}
        if sandbox and not os.path.lexists(place):
            self.make_dir(place)
            (place / "policy.yaml").write_text(as_yaml(sandbox))
            self.own(place / "policy.yaml")

    def make_dir(self, path):
        for part in [*reversed(path.parents), path]:
            if part.is_relative_to(self.base) and not os.path.lexists(part):
                part.mkdir()
                self.own(part)

    def make_entry(self, entry, number):
        """What cannot be made, because an entry was left out that it needs, is left out too."""
        kind, name, detail = entry
        path = self.base / name
        try:
            if kind == "mode":
                if not path.is_symlink():
                    path.chmod(detail)
            elif kind == "other":
                if self.is_root:
                    os.lchown(path, OTHER_ID, OTHER_ID)
            else:
                self.make_dir(path.parent)
                self.make_node(kind, path, detail, number)
                if kind != "hard":
                    self.own(path)
        except OSError:
            pass

    def make_node(self, kind, path, detail, number):
        if kind == "dir":
            path.mkdir(exist_ok=True)
        elif kind == "file":
            path.write_text(f"#!/bin/true\n#T{number};\n")
            path.chmod(0o755)
        elif kind == "link":
            path.symlink_to(detail.replace("/BASE", str(self.base)))
        elif kind == "hard":
            os.link(self.base / detail, path, follow_symlinks=False)
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            sock = socket.socket(socket.AF_UNIX)
            sock.bind(str(path))
            sock.listen(64)
            self.sockets.append(sock)

    def change(self, case, rng):
        """One change of the tree from outside; tells which."""
        name, other = rng.choice(case.places), rng.choice(case.places)
        if name in ("w", "h", "o", case.work) or rng.random() < .3:
            name = f"{name}/{rng.choice(NAMES)}"
        path = self.base / name
        what = rng.choice(["remove", "dir", "file", "link", "socket", "mode", "other", "swap", "move", "again"])
        try:
            if what == "mode":
                self.make_entry((what, other, rng.choice([0, 0o111, 0o311, 0o500, 0o755])), 0)
            elif what == "other":
                self.make_entry((what, name, None), 0)
            elif what == "swap":
                path.rename(self.base / "swap")
                (self.base / other).rename(path)
                (self.base / "swap").rename(self.base / other)
            elif what == "move":
                path.rename(self.base / other / "c")
            elif what == "again":  # most file systems give the same number again
                kind = "dir" if path.is_dir() else "file"
                remove(path)
                self.make_entry((kind, name, None), 99)
            else:
                remove(path)
                if what != "remove":
                    self.make_entry((what, name, "/BASE/" + other), 99)
        except OSError as error:
            return f"{what} {name} {other} ({error.strerror})"
        return f"{what} {name} {other}"

    def words(self, case):
        """The options that are the policy."""
        words, paths = " ".join(case.flags).split(), {}
        for how, word, path in case.rules:
            if how == "option":
                words += [f"--{word}", str(self.base / path)]
            elif how == "pattern":
                words += [f"--{word}", path]
            elif how == "path":
                paths[f"{word}{len(paths)}"] = {"root": str(self.base / path), "mode": word}
        if paths:
            (self.tools / "policy.yaml").write_text(as_yaml({"paths": paths}))
            words += ["--policy", str(self.tools / "policy.yaml")]
        return words + ["--ro", str(self.tools)]

    def forget(self):
        """Plans that were kept count no more: a variable that policies may name has another value."""
        self.forgotten += 1

    def call(self, command, case, text=""):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.base / case.home), "LC_ALL": "C.UTF-8",
               "XDG_STATE_HOME": str(self.dir / f"state{self.forgotten}"), "XDG_RUNTIME_DIR": str(self.dir / "run")}
        env.update({name: value for name, value in os.environ.items() if name.startswith("BAWN_TEST_")})
        if self.is_root and self.user.pw_uid != 0:
            command = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups",
                       "--inh-caps=-all", "--", *command]
        return subprocess.run(command, env=env, cwd="/", input=text, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)

    def check(self, case, operation, paths):
        """The answers, or None and why not."""
        sets = {"--map-root": "process.map_root", "--allow-containers": "process.containers",
                "--as-root": "process.as_root"}
        command = [self.bawn, "check", "-q", "--json", "-C", str(self.base / case.work)]
        for word in self.words(case):
            if word in sets:
                command += ["--set", f"sandbox.{sets[word]}=true"]
            elif word == "--workspace-mount":
                command += ["--set"]
            else:
                command += ["sandbox.workspace_mount=/workspace" if word == "/workspace" else word]
        done = self.call([*command, operation, *paths], case)
        if done.returncode not in (0, 1, 2):
            return None, f"check {done.returncode}: {done.stderr}{done.stdout[-300:]}"
        answers = json.loads(done.stdout)
        return answers if isinstance(answers, list) else [answers], ""

    def inside(self, case, lines):
        text = "".join(lines)
        if "--workspace-mount /workspace" in case.flags:
            work = re.escape(str(self.base / case.work))
            text = re.sub(work + r"(?=[/\t\n]|\.t\n)", "/workspace", text)
        command = [self.bawn, "run", "-q", "-C", str(self.base / case.work), *self.words(case), "--", self.probe]
        return self.results(self.call(command, case, text), lines)

    def outside(self, case, lines):
        """By the same user without any right of root's."""
        drop = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--"]
        is_root = self.is_root and self.user.pw_uid == 0
        return self.results(self.call([*(drop if is_root else []), self.probe], case, "".join(lines)), lines)

    @staticmethod
    def results(done, lines):
        rows = [row.split("\t", 1) for row in done.stdout.split("\n")[:-1]]
        if done.returncode != 0 or len(rows) != len(lines):
            return None, f"status {done.returncode}: {done.stderr}"
        # Names of a directory come in any order.
        return [(int(code), "/".join(sorted(seen.split("/")))) for code, seen in rows], ""

    def state(self):
        """What is on disk: of each path what a command could change."""
        found = {}
        for place, dirs, files in os.walk(self.base):
            for name in dirs + files:
                path = os.path.join(place, name)
                status = os.lstat(path)
                content = ""
                if stat.S_ISLNK(status.st_mode):
                    content = os.readlink(path)
                elif stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK):
                    content = Path(path).read_text(errors="replace")
                found[path] = (status.st_mode, status.st_uid, content)
        return found
