#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the sandbox: what a start costs beside other tools, what work inside costs beside work
outside. Everything that is compared is run in turn, and stated as ratios of minima and medians.

As root it measures an ordinary user ($BENCH_USER) and root; else the user who runs it. With --write
the table in docs/BENCHMARKS.md and docs/bench.svg are made anew. Ends with 1 when a limit that does
not depend on the machine's mood is not held."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import pwd
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import bench_plot

TOP = pathlib.Path(__file__).resolve().parent.parent
LIMITS = {"bare": 4.0, "first": 20.0, "floor": 1.2, "bwrap": 0.5, "loose": 0.65, "calls": 280, "denied": 2.0, "work": 1.05,
          "exec": 1.8, "kept": 1.2, "proxy": 1.1, "loose proxy": 1.3}
# What the filtered network costs: (name, limit, whether it is the least).
NET = {"first": ("first connection of a sandbox, more than a later one", 5.0, False),
       "connect": ("time of a connection, of a direct one's", 2.7, False),
       "trip": ("time of a round trip, of a direct one's", None, False),
       "send": ("bytes to a server in a second, of a direct connection's", 0.65, True),
       "get": ("bytes from a server in a second, of a direct connection's", 0.65, True),
       "connect handed": ("time of a connection that is handed over, of a direct one's", 2.5, False),
       "send handed": ("bytes to a server by one that was handed over, of a direct connection's", 0.95, True),
       "get handed": ("bytes from a server by one that was handed over, of a direct connection's", 0.95, True),
       "send socat": ("bytes to a server, of a pair of socats'", 3.0, True),
       "get socat": ("bytes from a server, of a pair of socats'", 3.0, True)}
NET_ROUNDS = 6
MANY_MOUNTS = 225
# What calls that bawn answers cost, of what they cost where somebody answers them who looks at no rule.
CALLS = {"create, close, unlink": 2.2, "open to write, close": 2.4}


class Failed(Exception):
    pass


class Place:
    """A user's workspace, made for this run and removed after it."""

    def __init__(self, user, programs):
        self.user, self.programs = user, programs
        entry = pwd.getpwnam(user)
        self.other = entry.pw_uid != os.getuid()
        home = pathlib.Path(entry.pw_dir)
        self.base = pathlib.Path(tempfile.mkdtemp(prefix=".bawn-bench-", dir=home))
        self.work = self.base / "work"
        self.work.mkdir()
        self.shm = pathlib.Path(tempfile.mkdtemp(prefix="bawn-bench-", dir="/dev/shm"))
        for path in (self.base, self.work, self.shm):
            self.give(path)
        self.env = {"HOME": str(home), "USER": user, "LOGNAME": user, "LANG": "C.UTF-8",
                    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "SHELL": "/bin/sh"}

    def give(self, path):
        if self.other:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)

    def become(self, mounts=0):
        """The words in front of a command that make it run as this user."""
        words = []
        if mounts:
            words = ["unshare", "-m", "sh", "-c",
                     'for i in $(seq "$1"); do mkdir -p "$2/$i"; mount -t tmpfs bench "$2/$i"; '
                     'done; shift 2; exec "$@"', "sh", str(mounts), str(self.base / "mounts")]
        return words + (["runuser", "-u", self.user, "--"] if self.other else [])

    def run(self, *words, check=True):
        done = subprocess.run(self.become() + [str(word) for word in words], env=self.env,
                              cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if check and done.returncode != 0:
            raise Failed(f"{' '.join(map(str, words))}: {done.returncode}: {done.stderr.strip()}")
        return done

    def bawn(self, *words):
        return [str(self.programs / "bawn"), *words]

    def copy_net(self):
        """The programs that measure the network, where the user can read them."""
        to = self.base / "net"
        shutil.copytree(TOP / "tests/net", to, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (to, *to.rglob("*")):
            self.give(path)
        return to

    def time(self, rounds, commands, at_once=1, mounts=0):
        """Samples in seconds for each of the named commands, run in turn; leaves out those that
        cannot run here."""
        args = [str(self.programs / "bench_spawn"), str(rounds), str(at_once)]
        for i, words in enumerate(commands.values()):
            args += ([",,"] if i else []) + [str(word) for word in words]
        done = subprocess.run(self.become(mounts) + args, env=self.env, cwd=self.work,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        samples = {}
        for name, line in zip(commands, done.stdout.splitlines()):
            failures, *times = map(int, line.split())
            if failures:
                print(f"  {name}: left out, {failures} runs failed", file=sys.stderr)
            else:
                samples[name] = [time_ns / 1e9 for time_ns in times]
        return samples

    def remove(self):
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.rmtree(self.shm, ignore_errors=True)


def tell(what):
    print(f"measuring {what}", file=sys.stderr, flush=True)


def ratio(samples, name, base):
    """(of minima, of medians), or None."""
    if name not in samples or base not in samples:
        return None
    return (min(samples[name]) / min(samples[base]),
            statistics.median(samples[name]) / statistics.median(samples[base]))


def mount_count():
    return len(pathlib.Path("/proc/self/mountinfo").read_text().splitlines())


# The other tools, told to do the same as far as they can.


def bwrap_filter(path):
    """A filter of the usual kind for --seccomp: refuses what bawn's refuses, by number alone."""
    refused = [101, 134, 153, 155, 156, 159, 161, 163, 164, 165, 166, 167, 168, 169, 172, 173, 174,
               175, 176, 179, 180, 212, 227, 246, 248, 249, 250, 256, 272, 278, 279, 298, 300, 303,
               304, 305, 308, 310, 311, 312, 313, 320, 321, 323, 425, 426, 427, 428, 429, 430, 431,
               432, 433, 438, 440, 442, 443, 447, 467]
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, 0xC000003E), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    code += [(0x15, len(refused) - i, 0, number) for i, number in enumerate(refused)]
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
    path.write_bytes(b"".join(struct.pack("HBBI", *line) for line in code))
    path.chmod(0o644)


def bwrap_words(place, filter_path):
    """The plan of bawn's default profile for bubblewrap; what it masks is left out, to bubblewrap's
    advantage."""
    words = [f"@input={filter_path}", "/usr/bin/bwrap", "--unshare-all", "--die-with-parent",
             "--new-session", "--cap-drop", "ALL"]
    for step in json.loads(place.run(*place.bawn("plan", "--json")).stdout)["mounts"]:
        source, target = step["source"], step["target"]
        if step["kind"] == "bind":
            words += ["--ro-bind" if step["read_only"] else "--bind", source, target]
        elif step["kind"] == "symlink":
            words += ["--symlink", source, target]
        elif step["kind"] in ("tmpfs", "proc", "dev"):
            words += ["--" + step["kind"], target]
    return words + ["--chdir", place.work, "--seccomp", "3", "/bin/true"]


def group_words(place):
    """Control groups as bawn makes them for root: one, or with v1 one for each kind of limit."""
    if place.other or os.getuid() != 0:
        return []
    name = f"bawn-bench-{os.getpid()}"
    if pathlib.Path("/sys/fs/cgroup/cgroup.procs").exists():
        return [f"g:/sys/fs/cgroup/{name}"]
    return [f"g:/sys/fs/cgroup/{kind}/{name}" for kind in ("memory", "pids", "cpu")
            if pathlib.Path(f"/sys/fs/cgroup/{kind}/tasks").exists()]


def floor_words(place, groups=()):
    """The namespaces and mounts of the same plan, made by a program that does nothing else."""
    words = [str(place.programs / "bench_floor"), *groups]
    for step in json.loads(place.run(*place.bawn("plan", "--json")).stdout)["mounts"]:
        source, target = step["source"], step["target"]
        if step["kind"] == "bind":
            # What is in a tree that is bound needs no mount of its own to be there.
            words.append(f"{'r' if step['read_only'] else 'w'}:{target}")
        elif step["kind"] == "symlink":
            words.append(f"l:{source}:{target}")
        elif step["kind"] in ("tmpfs", "proc", "dev"):
            words.append(f"{step['kind'][0]}:{target}")
    return words + ["--", "/bin/true"]


def crun_bundle(place):
    """A bundle for crun with the host's /usr; the directory, or None."""
    bundle = place.base / "bundle"
    for path in (bundle, bundle / "rootfs"):
        path.mkdir()
        place.give(path)
    place.run("sh", "-c", f"cd {bundle} && crun spec --rootless && mkdir -p rootfs/usr && "
              "for i in bin lib lib64; do ln -s usr/$i rootfs/$i; done")
    config = json.loads((bundle / "config.json").read_text())
    config["process"].update(terminal=False, args=["/bin/true"])
    config["mounts"] = [mount for mount in config["mounts"] if mount["type"] != "cgroup"]
    config["mounts"].append({"destination": "/usr", "type": "none", "source": "/usr",
                             "options": ["rbind", "ro"]})
    (bundle / "config.json").write_text(json.dumps(config))
    return bundle


def start_commands(place, rounds):
    """What starts /bin/true, by name; the slow ones not in every round."""
    # A workspace that no plan was made for yet; and where there is a plan, something that it was
    # made from changes: the place of a project's policy appears.
    fresh = (f"cd {place.base} && rm -rf fresh && mkdir -p fresh/$$ && "
             "ln -s $$ fresh/workspace")
    other = place.base / "other"
    stale = f"mkdir -p {other} && {{ rmdir {other}/.bawn 2>/dev/null || mkdir {other}/.bawn; }}"
    slow = f"@every={max(1, rounds // 10)}"
    commands = {"bare": ["/bin/true"], "bawn run": place.bawn("run", "--", "/bin/true")}
    if shutil.which("bwrap"):
        bwrap_filter(place.base / "filter")
        commands["bubblewrap"] = bwrap_words(place, place.base / "filter")
    if shutil.which("unshare"):
        commands["unshare"] = ["/usr/bin/unshare", "-UrmpfniuC", "--mount-proc", "/bin/true"]
    if shutil.which("crun"):
        commands["crun"] = [slow, "/usr/bin/crun", "--cgroup-manager=disabled",
                            f"--root={place.base}/crun", "run", "--bundle", crun_bundle(place),
                            f"bawn-bench-{os.getpid()}"]
    if shutil.which("firejail"):
        commands["firejail"] = [slow, "/usr/bin/firejail", "--quiet", "--noprofile", "--net=none",
                                "--private-tmp", "--private-dev", "--caps.drop=all",
                                "--nonewprivs", "--seccomp", "/bin/true"]
    commands["bawn run, first time"] = [slow, f"@before={fresh}", *place.bawn(
        "run", "--workspace", place.base / "fresh/workspace", "--", "/bin/true")]
    commands["bawn run, plan made anew"] = [slow, f"@before={stale}", *place.bawn(
        "run", "--workspace", other, "--", "/bin/true")]
    return commands


# The work that is done inside and outside.


def write_tree(place):
    """A tree of 3,000 small files, a C file of 2,000 lines, a project of 30 files, a repository."""
    script = r"""
import os
for d in range(100):
    os.makedirs(f"tree/d{d % 10}/e{d}")
    for f in range(30):
        with open(f"tree/d{d % 10}/e{d}/f{f}.txt", "w") as out:
            out.write(f"{d} {f} line\n" * (10 + (d * f) % 90))
with open("big.c", "w") as out:
    out.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
    for i in range(400):
        out.write(f"int f{i}(int n)\n{{\n    char s[64]; snprintf(s, sizeof(s), \"%d\", n * {i});\n"
                  f"    return (int)strlen(s);\n}}\n")
os.mkdir("project")
for i in range(30):
    with open(f"project/m{i}.c", "w") as out:
        out.write("#include <stddef.h>\nint printf(const char *, ...);\n" + "".join(
            f"int m{i}_{j}(int n) {{ return n * {j} + printf(\"%d\", n); }}\n" for j in range(9)))
with open("project/Makefile", "w") as out:
    out.write("all: " + " ".join(f"m{i}.o" for i in range(30)) + "\n"
              "%.o: %.c\n\t@$(CC) -O1 -c -o $@ $<\n")
with open("loop.py", "w") as out:
    out.write('''import argparse, collections, csv, decimal, email, json, logging, re, sqlite3
data = [{"id": i, "name": f"n{i}", "tags": [str(j) for j in range(8)]} for i in range(6000)]
for _ in range(3):
    text = json.dumps(data)
    data = json.loads(text)
count = collections.Counter(re.findall(r"[a-z]+", text))
total = sum(i * i % 7 for i in range(500000))
''')
"""
    place.run("python3", "-c", script)
    place.run("sh", "-ec", "mkdir repo; cp -r tree repo/; cd repo; git init -q; "
              "git config user.name bench; git config user.email bench@localhost; "
              "git config gc.auto 0; git config core.fsync none; git add .; git commit -qm first")


# name: (options of bawn, script). A script leaves things as they were.
#
# Or (options, script, limit, what sh does before it, outside and not timed). @shm is a directory on
# tmpfs. What one process does alone is also done below the least program that holds calls (LEAST).
WORK = {
    "find and stat": ([], "for i in 1 2 3 4 5 6 7 8; do find tree -type f -size +0 | wc -l; "
                          "ls -lR tree; done"),
    "tar of a tree": ([], "for i in 1 2 3 4 5; do tar cf - tree | wc -c; done"),
    "C compile": ([], "gcc -O1 -c -o big.o big.c; rm big.o"),
    "make -j2": ([], "make -s -C project -j2 all; rm project/*.o"),
    "python": ([], "python3 loop.py"),
    "git status": (["--preset", "git"], "cd repo; for i in 1 2 3 4 5 6 7 8 9 10; do git status "
                                        "--short; git log --oneline -3; done"),
    "tar x of 5,000 files": ([], "tar xf many.tar -C out", 2.0, "rm -rf out; mkdir out"),
    "the same, on tmpfs": (["--rw", "@shm"], "tar xf many.tar -C @shm", 2.5, "rm -rf @shm/*"),
    "tar x of /usr/include": ([], "tar xf include.tar -C out", 1.15, "rm -rf out; mkdir out"),
    "git clone of 5,000 files": (["--preset", "git"], "git clone -q many.git out", 1.15,
                                 "rm -rf out"),
    "cp -r of 5,000 files": ([], "cp -r many out", 1.15, "rm -rf out"),
    "rm -rf of 5,000 files": ([], "rm -rf out", 2.5, "rm -rf out; cp -r many out"),
    "npm ci --offline": ([], "cd npm; npm ci --offline --cache ../npm-cache --no-audit --no-fund "
                             "--no-update-notifier", 1.15, "rm -rf npm/node_modules"),
    "git commit": (["--preset", "git"],
                   "cd repo; h=$(git rev-parse HEAD); for i in 1 2 3; do date +%s%N >"
                   "tree/d1/e1/f1.txt; git add -A; git commit -qm x; done; git reset -q --hard $h"),
}
# The same where every open is held, and everything is decided.
ASKED = ["--reads", "dynamic"]
LATE = ["--preset", "git", "--deny", "**/.env", "--set", "sandbox.late=held"]
WORK |= {
    "find and stat, reads: dynamic": (ASKED, WORK["find and stat"][1], 2.5),
    "C compile, reads: dynamic": (ASKED, WORK["C compile"][1], 1.25),
    "python start, reads: dynamic": (ASKED, "for i in 1 2 3 4 5; do python3 -c pass; done", 1.5),
    "find and stat, late: held": (LATE, WORK["find and stat"][1], 3.0),
    "git status, late: held": (LATE, WORK["git status"][1], 2.0),
}
# The same in an overlay: at most a tenth more than in a tree that is written at once. Outside nothing is
# changed that the overlay shows.
OVERLAY = ["--overlay", ".", "--session", "bench"]
COME_AND_GO = "d=out.$$; mkdir $d; tar xf many.tar -C $d; rm -rf $d"
WORK |= {
    "find and stat, in an overlay": (OVERLAY, WORK["find and stat"][1], 1.16),
    "python, in an overlay": (OVERLAY, WORK["python"][1], 1.16),
    "tar x and rm of 5,000 files": ([], COME_AND_GO, 2.5),
    "tar x and rm of 5,000 files, in an overlay": (OVERLAY, COME_AND_GO, 2.75),
}


LEAST = ("git status", "tar x of 5,000 files", "the same, on tmpfs", "tar x of /usr/include",
         "cp -r of 5,000 files", "rm -rf of 5,000 files")


def write_many(place):
    """5,000 small files as a tree, an archive and a repository; the headers of this host."""
    script = r"""
import os
for d in range(100):
    os.makedirs(f"many/d{d % 10}/e{d}")
    for f in range(50):
        with open(f"many/d{d % 10}/e{d}/f{f}.txt", "w") as out:
            out.write(f"{d} {f} line\n" * (5 + (d * f) % 40))
"""
    place.run("python3", "-c", script)
    place.run("sh", "-ec", "tar cf many.tar many; tar cf include.tar -C /usr include; "
              "git init -q many.src; cp -r many many.src/; cd many.src; "
              "git -c core.fsync=none add .; git -c user.name=bench -c user.email=bench@localhost "
              "commit -qm first; cd ..; git clone -q --bare many.src many.git; rm -rf many.src")


# Packages that a host with npm has itself.
NPM_PLACES = ("/usr/share/nodejs", "/usr/share/nodejs/npm/node_modules",
              "/usr/lib/node_modules/npm/node_modules", "/usr/local/lib/node_modules/npm/node_modules")
NPM_PACKAGES = ("abbrev", "ansi-regex", "balanced-match", "cacache", "chownr", "debug", "glob",
                "graceful-fs", "ini", "minimatch", "minipass", "ms", "node-gyp", "nopt", "semver",
                "ssri", "tar", "which", "yallist")


def write_npm(place):
    """A project that depends on packages of the host, packed from where npm is installed and put
    into a cache of its own. False, with a word, where that cannot be."""
    if not shutil.which("npm"):
        print("  npm ci: left out, there is no npm", file=sys.stderr)
        return False
    found = {}
    for name in NPM_PACKAGES:
        for folder in NPM_PLACES:
            if (pathlib.Path(folder) / name / "package.json").exists():
                found.setdefault(name, f"{folder}/{name}")
    options = ("--offline --cache ../npm-cache --ignore-scripts --no-audit --no-fund "
               "--no-update-notifier")
    # Of their dependencies those count that are there; npm would ask the network for the others.
    script = rf"""
import json, os, shutil, subprocess, sys
found = json.loads(sys.argv[1])
os.mkdir("npm")
os.mkdir("npm/packed")
for name, path in found.items():
    to = f"npm/packed/{{name}}"
    shutil.copytree(path, to, symlinks=False, ignore=shutil.ignore_patterns("node_modules"))
    with open(f"{{to}}/package.json") as file:
        about = json.load(file)
    keep = {{key: about[key] for key in ("name", "version", "main", "bin") if key in about}}
    with open(f"{{to}}/package.json", "w") as file:
        json.dump(keep, file)
    subprocess.run(["tar", "czf", f"npm/{{name}}.tgz", "--transform", f"s,^{{name}},package,",
                    "-C", "npm/packed", name], check=True)
shutil.rmtree("npm/packed")
with open("npm/package.json", "w") as file:
    json.dump({{"name": "bench", "version": "1.0.0", "private": True, "dependencies":
               {{name: f"file:{{name}}.tgz" for name in found}}}}, file)
sys.exit(subprocess.run("cd npm && npm install {options}", shell=True).returncode)
"""
    done = place.run("python3", "-c", script, json.dumps(found), check=False)
    if not found or done.returncode != 0:
        print(f"  npm ci: left out, {done.stderr.strip() or 'npm has no packages here'}",
              file=sys.stderr)
    return bool(found) and done.returncode == 0


# What the filter sends out: calls that make, move or remove names, and opens that may write.
NOTIFIED = ("creat,openat2,mkdir,mkdirat,mknod,mknodat,symlink,symlinkat,link,linkat,rename,"
            "renameat,renameat2,truncate,unlink,unlinkat,rmdir")


def trace_of(place, words, *options):
    trace = place.base / "trace"
    place.run("strace", "-f", "-qq", "-e", "signal=none", *options, "-o", trace, *words)
    return trace.read_text(errors="replace").splitlines()


def count_notified(place, words):
    calls = trace_of(place, words, "--seccomp-bpf", "-e", f"trace=open,openat,{NOTIFIED}")
    return sum(1 for line in calls
               if re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)", line)
               or re.match(rf"\d+ +({NOTIFIED.replace(',', '|')})\(", line))


def measure_work(place, rounds, rows, only=""):
    """In a session that runs: what the start costs is told elsewhere."""
    write_tree(place)
    write_many(place)
    has_npm = write_npm(place)
    for name, (options, script, *more) in WORK.items():
        if only not in name or (name.startswith("npm") and not has_npm):
            continue
        tell(name)
        limit = more[0] if more else LIMITS["work"]
        before = more[1].replace("@shm", str(place.shm)) if len(more) > 1 else None
        options = [word.replace("@shm", str(place.shm)) for word in options]
        script = script.replace("@shm", str(place.shm))
        first = [f"@before={before}"] if before else []
        words = ["/bin/sh", "-c", f"{{ {script}; }} >/dev/null"]
        with session(place, *options) as sid:
            inside = (place.bawn("exec", sid, "--") if sid else
                      place.bawn("run", *options, "--")) + words
            if before:
                place.run("sh", "-c", before)
            place.run(*inside)
            ways = {"native": first + words, "again": first + words, "bawn": first + inside}
            if name in LEAST:
                ways["held"] = first + [place.programs / "bench_held", *words]
            samples = place.time(rounds, ways)
        if "--overlay" in options:
            place.run(*place.bawn("discard", "bench"), check=False)
        if "bawn" not in samples:
            continue
        if before:
            place.run("sh", "-c", before)
        rows.append({"name": name, "native": min(samples["native"]),
                     "notified": count_notified(place, words),
                     "bawn": ratio(samples, "bawn", "native"),
                     "held": ratio(samples, "held", "native") if "held" in samples else None,
                     "noise": ratio(samples, "again", "native"), "limit": limit})


def measure_calls(place, rows):
    (place.work / "calls").mkdir()
    place.give(place.work / "calls")
    shutil.copy(place.programs / "bench_calls", place.work)
    least = {}
    ways = {"native": [], "bawn": place.bawn("run", "--")}
    if (place.programs / "bench_held").exists():
        ways["held"] = [place.programs / "bench_held"]
    for _ in range(3):
        for where, words in ways.items():
            for line in place.run(*words, "./bench_calls", "calls").stdout.splitlines():
                time_ns, _, name = line.partition(" ")
                times = least.setdefault(name, {})
                times[where] = min(times.get(where, math.inf), int(time_ns) / 1e3)
    rows += [{"name": name, **times} for name, times in least.items()]


# Starts.


def measure_start(place, rounds, mounts, rows):
    tell(f"starts as {place.user}")
    commands = start_commands(place, rounds)
    place.run(*commands["bawn run"])
    more = max(0, mounts - mount_count())
    commands["bawn run, a file is made"] = place.bawn("run", "--", "/usr/bin/touch", "touched")
    # Beside nothing else first: what other tools leave to the kernel to clean up goes on for a while
    # after they have ended, and meets whoever comes next.
    commands["bawn run, filtered network"] = place.bawn("run", "--net", "proxy", "--", "/bin/true")
    place.run(*commands["bawn run, filtered network"])
    commands["floor"] = floor_words(place)
    by_itself = ["bawn run", "bawn run, first time", "bawn run, plan made anew",
                 "bawn run, a file is made", "bawn run, filtered network", "floor"]
    if group_words(place):
        by_itself.append("floor, with control groups")
        commands[by_itself[-1]] = floor_words(place, group_words(place))
    alone = place.time(4 * rounds, {name: commands[name] for name in ("bare", *by_itself)},
                       mounts=more)
    for name in by_itself[1:4] + by_itself[5:]:
        del commands[name]
    samples = place.time(rounds, commands, mounts=more)
    if "bawn run" not in samples or "bawn run" not in alone:
        raise Failed("bawn run -- /bin/true failed")
    tools = {name: ratio(samples, name, "bare") for name in samples}
    tools["bawn run, among the others"] = tools["bawn run"]
    tools.update((name, ratio(alone, name, "bare")) for name in by_itself)
    rows.append({"user": place.user, "mounts": max(mounts, mount_count()),
                 "bare": min(samples["bare"]),
                 "tools": tools,
                 "proxy": ratio(alone, "bawn run, filtered network", "bawn run"),
                 "floor": ratio(alone, "bawn run", "floor"),
                 "bwrap": ratio(samples, "bawn run", "bubblewrap")})
    shutil.rmtree(place.base / "bundle", ignore_errors=True)


def count_calls(place):
    """(all system calls of bawn run -- true, those that are not the command's own). The least of
    some runs: under strace one may live so long that it has more to do."""
    words = place.bawn("run", "--", "/bin/true")
    counts = []
    place.run(*words)
    for _ in range(3):
        lines = [line.split(maxsplit=1) for line in trace_of(place, words)]
        calls = [(pid, text) for pid, text in lines if re.match(r"\w+\(", text)]
        # The command is the process that becomes another program.
        command = next(pid for pid, text in calls
                       if text.startswith("execve(") and pid != calls[0][0])
        own = [text for pid, text in calls if pid == command]
        behind = next(i for i, text in enumerate(own) if text.startswith("execve("))
        counts.append((len(calls), len(calls) - (len(own) - behind - 1)))
    return min(counts)


def is_warm(place):
    """Whether a second start reads no policy: nothing but the launcher and the command is run."""
    words = place.bawn("run", "--", "/bin/true")
    place.run(*words)
    return not any("bawn-policy" in line for line in trace_of(place, words, "-e", "trace=execve"))


DENIED = {"gone": "not there, in the workspace", "else": "not there, elsewhere",
          "work": "there, in the workspace", "usr": "there, in a read-only tree"}


def denied_paths(place, kind, count):
    if kind == "usr":
        there = [str(path) for path in pathlib.Path("/usr/share").rglob("*")
                 if path.is_file() and not path.is_symlink()]
        return sorted(there)[:count]
    below = {"gone": f"{place.work}/gone", "else": "/srv/none", "work": f"{place.work}/deny"}[kind]
    return [f"{below}/d{i % 40}/f{i}" for i in range(count)]


def measure_denied(place, rounds, rows):
    """Policies that deny 5 and 5,000 paths of each kind."""
    tell("denied paths")
    for path in denied_paths(place, "work", 5000):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).touch()
    for kind, name in DENIED.items():
        commands = {}
        for count in (5, 5000):
            policy = place.base / f"deny-{kind}-{count}.yaml"
            policy.write_text("sandbox:\n  deny:\n" + "".join(
                f"    - {path}\n" for path in denied_paths(place, kind, count)))
            commands[count] = place.bawn("run", "--policy", policy, "--", "/bin/true")
            done = place.run(*commands[count], check=False)
            if done.returncode != 0:
                print(f"  {count} denied paths {name}: {done.stderr.strip()}", file=sys.stderr)
        rows.append({"name": name, "ratio": ratio(place.time(rounds, commands), 5000, 5)})
    shutil.rmtree(place.work / "deny")


def measure_crowd(place, rows):
    tell("many runs")
    words = place.bawn("run", "--", "/bin/true")
    place.run(*words)
    samples = place.time(1000, {"bawn": words})
    rows["in_a_row"] = sum(samples["bawn"]) if "bawn" in samples else None
    samples = place.time(1, {"bawn": words}, at_once=200)
    rows["at_once"] = samples["bawn"][0] if "bawn" in samples else None


def measure_memory(place, rows):
    """KiB of the launcher and of pid 1: resident, and with shared pages shared out."""
    with subprocess.Popen(place.become() + place.bawn("run", "--", "/bin/sleep", "60"),
                          env=place.env, cwd=place.work, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        time.sleep(0.5)
        try:
            below, found = [process.pid], {}
            while below:
                pid = below.pop()
                proc = pathlib.Path(f"/proc/{pid}")
                below += map(int, (proc / f"task/{pid}/children").read_text().split())
                if (proc / "comm").read_text().startswith("bawn"):
                    found[pid] = (proc / "smaps_rollup").read_text()
            for row, word in (("rss", "Rss"), ("pss", "Pss")):
                rows[row] = sum(int(re.search(rf"^{word}:\s+(\d+)", text, re.M)[1])
                                for text in found.values())
        except PermissionError:
            print("  memory: left out, pid 1 shows it to root alone", file=sys.stderr)
        finally:
            process.terminate()


@contextlib.contextmanager
def session(place, *options):
    """A session in the background, if this bawn has them."""
    words = place.bawn("run", "--detach", *options, "--", "/bin/sleep", "600")
    name = place.run("timeout", "5", *words, check=False).stdout.strip()
    try:
        yield name if re.fullmatch(r"\w+", name) else None
    finally:
        if name:
            place.run(*place.bawn("stop", name), check=False)


def measure_exec(place, rounds, rows):
    with session(place) as name:
        probe = name and place.run(*place.bawn("exec", name, "--", "/bin/true"), check=False)
        if not name or probe.returncode != 0:
            print("  exec: left out, this bawn has no sessions", file=sys.stderr)
            return
        samples = place.time(4 * rounds, {"bare": ["/bin/true"],
                                          "bawn": place.bawn("exec", name, "--", "/bin/true")})
        rows["exec"] = ratio(samples, "bawn", "bare")
        bench = place.programs / "bench_exec"
        if bench.exists():
            times = place.run(bench, name, 4 * rounds).stdout.splitlines()
            bare, kept = ([int(time_ns) / 1e9 for time_ns in line.split()] for line in times[:2])
            rows["kept"] = ratio({"bare": bare, "kept": kept}, "kept", "bare")


def measure_net(place, result):
    """In the lab, which only root can make: no packet leaves it."""
    if os.getuid() != 0:
        print("  network: left out, only root can make the lab", file=sys.stderr)
        return
    tell(f"the network as {place.user}")
    words = [TOP / "tests/net/lab", "--user", place.user, "--", place.copy_net() / "bench.py", "--json",
             "--bawn", place.programs / "bawn", "--bench", place.programs / "bench_net",
             "--rounds", NET_ROUNDS]
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failed("tests/net/bench.py failed in the lab")
    found = json.loads(done.stdout)
    for name, (_, _, is_least) in NET.items():
        if name in found:
            # Rates are told; of what takes time the time.
            result["net"].setdefault(name, {})[place.user] = (
                found[name] if is_least or name == "first" else [1 / value for value in found[name]])


# What is written.


def both(pair):
    return f"{pair[0]:.2f} ({pair[1]:.2f})" if pair else "–"


def over(pair, limit):
    return " ✗" if pair and pair[0] > limit else ""


def is_over(name, pair):
    _, limit, is_least = NET[name]
    return limit is not None and (pair[0] < limit if is_least else pair[0] > limit)


def net_table(result):
    users_of = dict.fromkeys(user for pairs in result["net"].values() for user in pairs)
    rows = []
    for name, (title, limit, is_least) in NET.items():
        unit = " ms" if name == "first" else ""
        pairs = result["net"].get(name, {})
        cells = [both(pairs[user]) + unit + (" ✗" if is_over(name, pairs[user]) else "")
                 if user in pairs else "–" for user in users_of]
        if pairs:
            rows.append([title, *cells, f"{'≥' if is_least else '≤'} {limit}{unit}" if limit else ""])
    return table(["filtered network", *users_of, "limit"], rows)


def table(head, rows):
    ruler = ["---"] + ["---:"] * (len(head) - 1)
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, ruler, *rows])


def start_table(result):
    starts = result["start"]
    names = list(dict.fromkeys(name for start in starts for name in start["tools"]))
    head = ["start of /bin/true"]
    head += [f"{start['user']}, {start['mounts']} mounts" for start in starts]
    limits = {"bawn run": LIMITS["bare"], "bawn run, first time": LIMITS["first"],
              "bawn run, plan made anew": LIMITS["first"]}
    rows = [[name] + [both(start["tools"].get(name)) +
                      over(start["tools"].get(name), limits.get(name, math.inf))
                      for start in starts] for name in names]
    rows.append(["bawn run against the floor"] + [both(start["floor"]) +
                                                  over(start["floor"], LIMITS["floor"])
                                                  for start in starts])
    rows.append(["filtered network against none"] + [both(start["proxy"]) +
                                                     over(start["proxy"], LIMITS["proxy"])
                                                     for start in starts])
    rows.append(["bawn run against bubblewrap"] + [both(start["bwrap"]) +
                                                   over(start["bwrap"], LIMITS["bwrap"])
                                                   for start in starts])
    return table(head, rows) + "\nBare is " + ", ".join(
        f"{start['bare'] * 1e3:.2f} ms" for start in starts) + ".\n"


def single_rows(result):
    single = result["single"]
    calls = [str(single["all_calls"]), str(single["own_calls"])]
    rows = [["system calls of `bawn run -- true`, with the command's", calls[0], ""],
            ["system calls of bawn's own", calls[1] +
             (" ✗" if single["own_calls"] >= LIMITS["calls"] else ""), f"< {LIMITS['calls']}"]]
    for row in result["denied"]:
        rows.append([f"start with 5,000 denied paths against 5: {row['name']}",
                     both(row["ratio"]) + over(row["ratio"], LIMITS["denied"])
                     if row["ratio"] else "does not start ✗",
                     f"≤ {LIMITS['denied']}"])
    for name, key, limit in (("`bawn exec` in a session against bare", "exec", "exec"),
                             ("the same by library, connection kept", "kept", "kept")):
        if single.get(key):
            rows.append([name, both(single[key]) + over(single[key], LIMITS[limit]),
                         f"≤ {LIMITS[limit]}"])
    for name, key, unit in (("1,000 runs in a row", "in_a_row", "s"),
                            ("200 runs at once", "at_once", "s"),
                            ("memory of launcher and pid 1, resident", "rss", "KiB"),
                            ("the same, shared pages shared out", "pss", "KiB")):
        if single.get(key):
            rows.append([name, f"{single[key]:.2f} {unit}" if unit == "s" else
                         f"{single[key]} {unit}", ""])
    return rows


def call_row(row):
    least = row["bawn"] / row["held"] if "held" in row else None
    return [row["name"], f"{row['native']:.1f} µs", f"{row['held']:.1f} µs" if least else "", f"{row['bawn']:.1f} µs",
            f"{row['bawn'] / row['native']:.2f}",
            f"{least:.2f}" + over([least], CALLS.get(row["name"], math.inf)) if least else "",
            f"≤ {CALLS[row['name']]}" if row["name"] in CALLS else ""]


def work_tables(result):
    parts = []
    if result["work"]:
        parts.append(table(
            ["work inside against outside", "outside", "calls answered", "bawn", "limit",
             "the least program that holds calls", "outside again"],
            [[row["name"], f"{row['native'] * 1e3:.0f} ms", str(row["notified"]),
              both(row["bawn"]) + over(row["bawn"], row["limit"]), f"≤ {row['limit']}",
              both(row["held"]) if row["held"] else "", both(row["noise"])] for row in result["work"]]))
    if result["calls"]:
        parts.append(table(
            ["calls", "outside", "answered by the least program", "inside", "against outside", "against the least",
             "limit"],
            [call_row(row) for row in result["calls"]]))
    return parts


def report(result):
    parts = [f"Linux {os.uname().release}, {os.cpu_count()} processors, {result['runs']} rounds "
             "for starts, minima, medians in brackets. ✗: over its limit.\n", start_table(result),
             table(["", "", "limit"], single_rows(result))]
    if result["net"]:
        parts.append(net_table(result))
    parts += work_tables(result)
    return "\n".join(parts)


def write_docs(result):
    page = TOP / "docs" / "BENCHMARKS.md"
    begin, end = "<!-- made by scripts/bench.py: begin -->\n", "<!-- end -->"
    before, _, rest = page.read_text().partition(begin)
    page.write_text(before + begin + report(result) + end + rest.partition(end)[2])
    (TOP / "docs" / "bench.svg").write_text(bench_plot.draw(result, LIMITS))


# What is run.


def copy_programs(build, to):
    """Where every user can run them, and no build changes them meanwhile."""
    to.mkdir()
    tests = [f"tests/bench_{name}" for name in ("spawn", "calls", "exec", "floor", "held", "net")]
    for name in ("bawn", "bawn-changes", "bawn-git", "bawn-net", "bawn-policy", *tests):
        if (build / name).exists():
            shutil.copy(build / name, to)
    for path in (to.parent, to, *to.iterdir()):
        path.chmod(0o755)
    return to


def users():
    if os.getuid() != 0:
        return [pwd.getpwuid(os.getuid()).pw_name]
    for name in (os.environ.get("BENCH_USER"), os.environ.get("SUDO_USER"), "bawn-test"):
        with contextlib.suppress(KeyError):
            if name and pwd.getpwnam(name).pw_uid != 0:
                return [name, "root"]
    return ["root"]


def measure_quick(place):
    """What holds on a busy machine too."""
    result = {"start": [], "single": {}, "denied": [], "work": [], "calls": [], "net": {},
              "runs": 40}
    measure_start(place, 40, 0, result["start"])
    result["single"]["all_calls"], result["single"]["own_calls"] = count_calls(place)
    result["warm"] = is_warm(place)
    return result


def measure_all(places, runs, work_runs):
    result = {"start": [], "single": {}, "denied": [], "work": [], "calls": [], "net": {},
              "runs": runs}
    for place in places:
        for mounts in (25, MANY_MOUNTS) if os.getuid() == 0 else (0,):
            measure_start(place, runs, mounts, result["start"])
    place = places[0]
    single = result["single"]
    single["all_calls"], single["own_calls"] = count_calls(place)
    result["warm"] = is_warm(place)
    measure_denied(place, max(10, runs // 4), result["denied"])
    measure_exec(place, runs, single)
    measure_crowd(place, single)
    measure_memory(place, single)
    for each in places:
        measure_net(each, result)
    measure_work(place, work_runs, result["work"])
    measure_calls(place, result["calls"])
    return result


def broken(result):
    """What no noise explains."""
    if result["single"]["own_calls"] >= LIMITS["calls"]:
        yield f"{result['single']['own_calls']} system calls to start, {LIMITS['calls']} or more"
    if not result["warm"]:
        yield "a second start reads the policy again"
    for row in result["denied"]:
        if not row["ratio"]:
            yield f"no start with 5,000 denied paths {row['name']}"
    for start in result["start"]:
        if start["bwrap"] and min(start["bwrap"]) > LIMITS["loose"]:
            yield f"a start takes {start['bwrap'][0]:.2f} of bubblewrap's time ({start['user']})"
        if start["proxy"] and min(start["proxy"]) > LIMITS["loose proxy"]:
            yield f"a filtered network takes {start['proxy'][0]:.2f} of a start without ({start['user']})"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build")
    parser.add_argument("--runs", type=int, default=int(os.environ.get("BENCH_RUNS", "100")))
    parser.add_argument("--work-runs", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="starts of one user alone")
    parser.add_argument("--work", action="store_true", help="work inside alone, and single calls")
    parser.add_argument("--only", default="", metavar="TEXT", help="with --work: rows whose name has it")
    parser.add_argument("--calls", action="store_true", help="single calls alone")
    parser.add_argument("--net", action="store_true", help="the filtered network alone")
    parser.add_argument("--check", action="store_true", help="end with 1 when a limit is not held")
    parser.add_argument("--json", type=pathlib.Path, help="write what was measured to this file")
    parser.add_argument("--write", action="store_true", help="make the tables in docs anew")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="bawn-bench-"))
        programs = copy_programs(options.build, pathlib.Path(scratch) / "bin")
        places = []
        for user in users()[:1] if options.quick else users():
            places.append(Place(user, programs))
            stack.callback(places[-1].remove)
        if options.work or options.calls:
            result = {"work": [], "calls": []}
            if options.work:
                measure_work(places[0], options.work_runs, result["work"], options.only)
            if not options.only:
                measure_calls(places[0], result["calls"])
            print("\n".join(work_tables(result)))
            return 1 if options.check and any(row["bawn"][0] > row["limit"]
                                              for row in result["work"]) else 0
        if options.net:
            result = {"net": {}}
            for place in places:
                measure_net(place, result)
            print(net_table(result))
            return 1 if options.check and any(is_over(name, pair)
                                              for name, pairs in result["net"].items()
                                              for pair in pairs.values()) else 0
        result = (measure_quick(places[0]) if options.quick else
                  measure_all(places, options.runs, options.work_runs))
    print(report(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.write:
        write_docs(result)
    problems = list(broken(result)) if options.check or not options.quick else []
    for problem in problems:
        print(f"bench: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"bench: {failure}")
