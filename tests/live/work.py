#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole pieces of work as people do them, outside and inside with the default profile and one preset:
both must succeed and leave the same files, and a table says what the sandbox costs. From root, as an
ordinary user. Sources of C programs come from Debian's archive, everything else is made here."""
import argparse
import hashlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent.parent / "build"
OUTPUT_LINES = 15


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def fetch_source(name, into):
    """The upstream source of a Debian package, unpacked; asked for with the machine's own sources."""
    lists = into / "sources"
    lists.mkdir(parents=True)
    for path in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]:
        if path.is_file():
            text = path.read_text()
            text = text.replace("Types: deb\n", "Types: deb-src\n")
            text = "".join("deb-src" + line[3:] if line.startswith("deb ") else line
                           for line in text.splitlines(True))
            if "debian" in text:
                (lists / path.name).write_text(text)
    options = ["-o", f"Dir::Etc::sourceparts={lists}", "-o", "Dir::Etc::sourcelist=/dev/null",
               "-o", f"Dir::State::lists={into}/lists", "-o", f"Dir::Cache={into}/cache", "-qq"]
    (into / "lists/partial").mkdir(parents=True)
    (into / "cache").mkdir()
    subprocess.run(["apt-get", *options, "update"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["apt-get", *options, "--download-only", "source", name], cwd=into, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (into / "source").mkdir()
    subprocess.run(["tar", "-C", into / "source", "--strip-components=1", "-xf",
                    next(into.glob("*.orig.tar.*"))], check=True)
    return into / "source"


def make_zlib(work, sources):
    shutil.copytree(sources("zlib"), work / "zlib", symlinks=True)


def make_lua(work, sources):
    shutil.copytree(sources("lua5.4"), work / "lua", symlinks=True)


def make_cargo(work, _):
    write(work / "Cargo.toml", '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2021"\n')
    write(work / "src/lib.rs", "pub fn sum(n: u64) -> u64 { (0..=n).sum() }\n"
          "#[cfg(test)]\nmod tests { #[test] fn adds() { assert_eq!(super::sum(4), 10); } }\n")
    write(work / "src/main.rs", 'fn main() { println!("{}", sum::sum(10)); }\n')


def make_go(work, _):
    write(work / "go.mod", "module example.org/sum\n\ngo 1.19\n")
    write(work / "sum.go", "package main\n\nimport \"fmt\"\n\nfunc sum(n int) (s int) {\n"
          "\tfor i := 0; i <= n; i++ {\n\t\ts += i\n\t}\n\treturn\n}\n\n"
          "func main() { fmt.Println(sum(10)) }\n")
    write(work / "sum_test.go", "package main\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n"
          "\tif sum(4) != 10 {\n\t\tt.Fatal(sum(4))\n\t}\n}\n")


def make_java(work, _):
    for i in range(20):
        write(work / f"src/Part{i}.java",
              f"public class Part{i} {{ static int value(int x) {{ return x + {i}; }} }}\n")
    calls = " + ".join(f"Part{i}.value(1)" for i in range(20))
    write(work / "src/Main.java", "public class Main { public static void main(String[] a) { "
          f"System.out.println({calls}); }} }}\n")


def make_npm(work, _):
    for i in range(20):
        write(work / f"parts/part{i}/package.json",
              f'{{"name": "part{i}", "version": "1.0.0", "main": "index.js"}}\n')
        write(work / f"parts/part{i}/index.js", f"module.exports = (x) => x + {i};\n")
    needs = ", ".join(f'"part{i}": "file:part{i}-1.0.0.tgz"' for i in range(20))
    write(work / "package.json", '{"name": "whole", "version": "1.0.0", "scripts": {"test": '
          f'"node --test test.js"}}, "dependencies": {{{needs}}}}}\n')
    write(work / "test.js", "const test = require('node:test'), assert = require('node:assert');\n"
          "for (let i = 0; i < 20; i++)\n"
          "    test('part ' + i, () => assert.equal(require('part' + i)(1), 1 + i));\n")


def make_python(work, _):
    write(work / "part/setup.py", "from setuptools import setup\n"
          "setup(name='part', version='1.0', py_modules=['part'])\n")
    write(work / "part/part.py", "def add(a, b):\n    return a + b\n")
    write(work / "test_part.py", "import unittest, part\n\n\nclass Add(unittest.TestCase):\n"
          "    def test(self):\n        self.assertEqual(part.add(1, 2), 3)\n")


def make_git(work, _):
    for i in range(200):
        write(work / f"seed/dir{i % 10}/file{i}", f"{i}\n" * 20)


def make_podman(work, _):
    root = work / "root"
    (root / "bin").mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/sh")
    for name in ("echo", "id", "cat"):
        (root / "bin" / name).symlink_to("sh")
    subprocess.run(["tar", "-C", root, "-cf", work / "image.tar", "."], check=True)
    shutil.rmtree(root)


# What is printed must be the same inside and outside, and so must the files that are named.
JOBS = [
    {"name": "C: zlib, configure, make, test", "preset": "c", "make": make_zlib,
     "script": "cd zlib && ./configure >/dev/null && make -j2 >/dev/null 2>&1 &&"
               " make test 2>&1 | grep -c 'test OK'", "same": ["zlib/libz.a"]},
    {"name": "C: lua, make, run", "preset": "c", "make": make_lua,
     "script": "cd lua/src && make -s linux-noreadline >/dev/null 2>&1 &&"
               " ./lua -e 'print(_VERSION, 2^10)'", "same": []},
    {"name": "cargo build, test, run", "preset": "rust", "make": make_cargo,
     "script": "cargo build -q --offline && cargo test -q --offline 2>&1 | grep -c '1 passed' &&"
               " target/debug/sum", "same": []},
    {"name": "go build, test, run", "preset": "go", "make": make_go,
     "script": "go build -o sum . && go test ./... | cut -f1 && ./sum", "same": ["sum"]},
    {"name": "javac, jar, java", "preset": "java", "make": make_java,
     "script": "javac -d out src/*.java && jar cfe sum.jar Main -C out . && java -jar sum.jar",
     "same": ["out/Main.class"]},
    {"name": "npm install, ci, test", "preset": "node", "make": make_npm,
     "script": "for p in parts/*; do npm pack --silent ./$p >/dev/null; done &&"
               " npm install --silent --offline --no-audit && npm ci --silent --offline --no-audit &&"
               " npm test 2>&1 | grep -E '^# (pass|fail)'",
     "same": ["node_modules/part7/index.js"]},
    {"name": "venv, pip install, unittest", "preset": "python", "make": make_python,
     "script": "/usr/bin/python3 -m venv v && v/bin/pip install -q --no-index --no-build-isolation ./part"
               " 2>/dev/null && v/bin/python -m unittest 2>&1 | tail -1", "same": []},
    {"name": "sqlite: 200 transactions, WAL", "preset": None, "make": lambda *_: None,
     "script": "(echo 'pragma journal_mode=wal; create table t(a, b);';"
               " for i in $(seq 200); do echo \"begin; insert into t values($i, hex(zeroblob(500)));"
               " commit;\"; done; echo 'pragma integrity_check; select sum(a) from t;') | sqlite3 db",
     "same": []},
    {"name": "git: clone to submodule", "preset": "git", "make": make_git, "same": [],
     "says": "before you use git there, look at the config where it leads",
     "script": "set -e; export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=a"
               " GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@example.org"
               " GIT_CONFIG_KEY_2=protocol.file.allow GIT_CONFIG_VALUE_2=always\n"
               "git init -q -b main one; cp -r seed/. one; cd one; git add .; git commit -qm first\n"
               "cd ..; git clone -q one two; cd two; git checkout -q -b side; echo x >side\n"
               "git add side; git commit -qm side; git checkout -q main; echo y >main\n"
               "git add main; git commit -qm main; git checkout -q side; git rebase -q main\n"
               "echo z >>main; git stash -q; git stash pop -q; git checkout -q main\n"
               "git gc -q; git worktree add -q ../tree; git worktree list | wc -l\n"
               "git worktree remove ../tree; git submodule --quiet add ../one sub\n"
               "git commit -qm sub; git submodule status | cut -d' ' -f3\n"
               "git log --format=%s side | tr '\\n' ' '; git fsck 2>&1 | wc -l"},
    {"name": "a web server, curl beside it", "preset": "python", "make": make_git, "same": [],
     "script": "/usr/bin/python3 -u -m http.server --bind 127.0.0.1 8976 >log 2>&1 & server=$!\n"
               "for i in $(seq 100); do curl -sf http://127.0.0.1:8976/ >/dev/null && break; sleep 0.05;"
               " done\nfor i in $(seq 20); do curl -sf http://127.0.0.1:8976/seed/dir0/file0; done | wc -l\n"
               "kill $server; wait $server 2>/dev/null; true"},
    {"name": "podman: import, run", "preset": None, "options": ["--allow-containers"],
     "make": make_podman, "same": [], "only_inside": True,
     "script": "podman import -q image.tar local:1 >/dev/null 2>&1 || podman import image.tar local:1"
               " >/dev/null; podman run --rm --cgroups=disabled --network none local:1 /bin/echo hi"},
]


class Lane:
    """The user, a home of its own below the machine's temporary directory, and what was fetched."""

    def __init__(self, options):
        self.options = options
        self.user = pwd.getpwnam(options.user) if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        self.dir = Path(tempfile.mkdtemp(prefix="bawn-work.", dir="/tmp"))
        self.dir.chmod(0o755)
        self.home = self.dir / "home"
        self.home.mkdir(mode=0o700)
        self.fetched = {}
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8",
                    "USER": self.user.pw_name, "LOGNAME": self.user.pw_name}

    def source(self, name):
        if name not in self.fetched:
            into = Path(self.options.sources).resolve() / name
            done = into / "done"
            if not done.exists():
                shutil.rmtree(into, ignore_errors=True)
                into.mkdir(parents=True)
                done.write_text(str(fetch_source(name, into)))
            self.fetched[name] = Path(done.read_text())
        return self.fetched[name]

    def own(self, path):
        if os.getuid() == 0:
            subprocess.run(["chown", "-Rh", f"{self.user.pw_uid}:{self.user.pw_gid}", path], check=True)

    def run(self, command, where):
        if os.getuid() == 0:
            command = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}",
                       "--init-groups", "--inh-caps=-all", "--", *command]
        begun = time.monotonic()
        done = subprocess.run(command, cwd=where, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False, timeout=600)
        return time.monotonic() - begun, done

    def attempt(self, job, is_inside):
        """Seconds, what was printed, and hashes of the files that must be the same."""
        work = self.home / "src"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        job["make"](work, self.source)
        self.own(self.home)
        command = ["sh", "-c", job["script"]]
        if is_inside:
            preset = ["--preset", job["preset"]] if job["preset"] else []
            command = [str(Path(self.options.bawn).resolve()), "run", *preset,
                       *job.get("options", []), "--", *command]
        seconds, done = self.run(command, work)
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode}\n{done.stdout}{done.stderr}")
        if is_inside and (job.get("says", "") not in done.stderr or
                          not job.get("says") and done.stderr):
            raise RuntimeError(f"said on standard error:\n{done.stderr}")
        files = [hashlib.sha256((work / name).read_bytes()).hexdigest() for name in job["same"]]
        return seconds, done.stdout, files

    def compare(self, job):
        """The fastest of both, in turns: (outside, inside)."""
        best = {False: None, True: None}
        results = []
        for _ in range(self.options.rounds):
            for is_inside in [True] if job.get("only_inside") else [False, True]:
                seconds, *result = self.attempt(job, is_inside)
                results.append(result)
                best[is_inside] = min(seconds, best[is_inside] or seconds)
        if any(result != results[0] for result in results):
            raise RuntimeError("not the same: " + "\n".join(map(str, results)))
        if not results[0][0].strip():
            raise RuntimeError("it printed nothing")
        return best[False], best[True]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bawn", default=BUILD / "bawn")
    parser.add_argument("--sources", default=BUILD / "work-sources", help="where sources are kept")
    parser.add_argument("--user", default="bawn-test", help="from root: as this user")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("jobs", nargs="*", help="parts of names; all without")
    options = parser.parse_args()
    lane = Lane(options)
    failed = 0
    print("| work | preset | outside | inside | ratio |\n| --- | --- | ---: | ---: | ---: |")
    try:
        for job in JOBS:
            if options.jobs and not any(part in job["name"] for part in options.jobs):
                continue
            try:
                outside, inside = lane.compare(job)
                times = f"{outside:.2f} s | {inside:.2f} s | {inside / outside:.2f}" if outside else \
                    f"| {inside:.2f} s | "
                preset = job["preset"] or " ".join(job.get("options", []))
                print(f"| {job['name']} | {preset} | {times} |", flush=True)
            except (RuntimeError, subprocess.SubprocessError, OSError) as error:
                failed += 1
                text = "\n".join(str(error).splitlines()[:OUTPUT_LINES])
                print(f"| {job['name']} | failed |\n{text}", flush=True)
    finally:
        shutil.rmtree(lane.dir, ignore_errors=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
