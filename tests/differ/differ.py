#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes random file calls outside and inside a sandbox, and compares what each call gave and what is there afterwards.

The calls are made by differ.c, which a seed alone leads. A line of its log is one call. What is found is
printed with the seed, the first line that differs and the lines before it; --seed N --mode M --place P --cases 1
makes the same calls again.
"""
import argparse
import hashlib
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
MODES = ("alone", "processes", "threads", "restarted", "interrupted")
TIME_LIMIT = 60



def no_follow(result):
    """Without the flag, if it is there."""
    return re.sub(r" fl=([0-7]+)", lambda found: f" fl={int(found[1], 8) & ~os.O_NOFOLLOW:o}", result)


# What a call gives inside where the kernel outside gives something else: (the call, outside, inside, why).
# Each is a pattern for a whole line without its result, and for the results; or a function that makes what is given
# inside of what is given outside.
KNOWN = [
    (r"openat2 .*\" [0-7]*1[0-7]{7} \d+ \w+ \d+", r".*", "ENOSYS",
     "README: a descriptor with O_PATH cannot be put in place, and whoever uses openat2 knows kernels without it"),
    (r"set-id \d+ \d+", "0|EACCES", "EPERM", "THREATS: no file may be run with its owner's rights"),
    (r"mknod(at)? .* 2\d{4}", r"E\w+", "EPERM", "device nodes are refused, whatever the path"),
    (r"openat2 .* [13579bdf] \d+", r".*", "EXDEV", "RESOLVE_NO_XDEV: the workspace is a mount inside"),
    (r'linkat .* 1[04]00', r"0|E\w+", r"0|E\w+",
     "KERNEL(6.10): AT_EMPTY_PATH is for whoever opened the file with the credentials that it has now"),
    (r'bind "/proc/self/.*', r"0 .*", r"0 .*", "THREATS: such a socket tells only its last name"),
    (r"l?setxattr .*|fsetxattr .*|[lf]?removexattr .*", r"EINVAL|ERANGE|E2BIG|EFAULT",
     r"E2BIG|EFAULT|ENOENT|ENOTDIR|ELOOP|EBADF|EACCES|ENAMETOOLONG|ERANGE",
     "KERNEL(6.13): of two mistakes, that of the arguments is told before that of the path"),
    (r".*(n{256}|nnn\.\.\.).*", r"E\w+", r"E\w+", "a name that is too long, and another mistake"),
    (r"openat2 .*", no_follow, None,
     "O_NOFOLLOW of an openat2 with limits, or of a file without a name, is not among the flags of the descriptor"),
    (r"flags s\d \d+", r"0 .* mode=(10|4)[01][0-3].*", r"EACCES .*",
     "the file is opened anew, which needs a right that the descriptor does not"),
]


# The same, but what is there differs from here on: the rest of the case tells nothing.
ENDING = [
    (r"lost .*|.* lost .*", r".*", r"(EACCES|EBUSY).*",
     "a directory above the one where the path starts cannot be searched any more: bawn judges by whole paths"),
]


def split(line):
    """The call and its result."""
    call, sign, result = line.strip().partition(" = ")
    return (call, result) if sign else (line, "")


def is_in(table, outside, inside):
    (call, out), (other, within) = split(outside), split(inside)
    if table is KNOWN:
        call, other = (text.replace("lost ", "") for text in (call, other))
    return call == other and any(
        re.fullmatch(pattern, call) and (was(out) == within if callable(was) else
                                         re.fullmatch(was, out) and re.fullmatch(now, within))
        for pattern, was, now, _ in table)


class Host:
    """Where the calls are made, and by whom."""

    def __init__(self, options):
        self.bawn = str(Path(options.bawn).resolve())
        self.is_root = os.getuid() == 0
        self.user = pwd.getpwnam(options.user) if options.user else pwd.getpwuid(os.getuid())
        # Not in root's home, which is closed to the command.
        home = options.dir or (self.user.pw_dir if self.user.pw_uid else "/home")
        self.dir = Path(tempfile.mkdtemp(prefix="bawn-differ.", dir=home))
        self.memory = Path(tempfile.mkdtemp(prefix="bawn-differ.", dir="/dev/shm"))
        self.program = self.dir / "bin" / "differ"
        self.program.parent.mkdir()
        shutil.copy(options.program, self.program)
        for path in (self.dir, self.program.parent, self.memory):
            path.chmod(0o755)
        (self.dir / "w").mkdir()
        for path in (self.dir, self.dir / "w", self.memory):
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def done(self):
        for path in (self.dir, self.memory):
            wipe(path)
            path.rmdir()

    def places(self, place):
        """The directory outside, and inside. Names are of one length: a path has as many bytes on both sides."""
        if place == "disk":
            return self.dir / "w" / "t", self.dir / "w" / "t"
        outside = self.memory / "t"
        return outside, Path("/tmp") / ("t" * (len(str(outside)) - len("/tmp/")))

    def run(self, command):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.dir), "LC_ALL": "C.UTF-8",
               "XDG_STATE_HOME": str(self.dir / "state"), "XDG_RUNTIME_DIR": str(self.dir / "run")}
        if self.is_root and self.user.pw_uid != 0 and command[0] == self.bawn:
            command = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups",
                       "--inh-caps=-all", "--", *command]
        try:
            done = subprocess.run(command, env=env, cwd=str(self.dir / "w"), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False)
        except subprocess.TimeoutExpired as error:
            return (error.stdout or b"").decode("ascii", "replace").splitlines(), f"no end after {TIME_LIMIT} s"
        text = done.stderr.decode("utf-8", "replace")
        return (done.stdout.decode("ascii", "replace").splitlines(),
                f"status {done.returncode}: {text}" if done.returncode else "")

    def sides(self, mode, place, seed, steps):
        """Both runs: each its log, what went wrong, and the tree as it is seen from outside."""
        found = []
        for is_inside in (False, True):
            where = self.places(place)[is_inside]
            words = [mode, str(seed), str(steps), str(where)]
            on_host = place == "disk" or not is_inside
            if on_host:
                wipe(where)
                where.mkdir(exist_ok=True)
                os.chown(where, self.user.pw_uid, self.user.pw_gid)
            if not is_inside:
                command = [str(self.program), "outside", str(self.user.pw_uid), str(self.user.pw_gid), str(where.parent),
                           *words]
            else:
                command = [self.bawn, "run", "-q", "-C", str(self.dir / "w"), "--ro", str(self.program.parent), "--",
                           *([] if on_host else ["sh", "-c", 'mkdir "$5" && exec "$@"', "sh"]), str(self.program), *words]
            log, wrong = self.run(command)
            found.append((log, wrong, tree(where) if place == "disk" else []))
            if on_host:
                wipe(where)
        return found


def wipe(path):
    """All that is in it, whatever its modes."""
    if not path.exists():
        return
    path.chmod(0o755)
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            wipe(Path(entry.path))
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def tree(path):
    """What is there, a line for each name; names of one file have one number."""
    lines, numbers = [], {}

    def look(name):
        status = os.lstat(name)
        kind = stat.S_IFMT(status.st_mode)
        number = numbers.setdefault(status.st_ino, len(numbers))
        size = 0 if kind == stat.S_IFDIR else status.st_size
        line = (f"{os.fsencode(os.path.relpath(name, path))!r} mode={status.st_mode:o} size={size} nlink={status.st_nlink} "
                f"owner={status.st_uid}:{status.st_gid} node={number}")
        if kind in (stat.S_IFREG, stat.S_IFDIR):
            line += "".join(f" {key}={os.getxattr(name, key, follow_symlinks=False)!r}" for key in
                            sorted(os.listxattr(name, follow_symlinks=False)))
            os.chmod(name, 0o700)
        if kind == stat.S_IFLNK:
            line += f" -> {os.fsencode(os.readlink(name))!r}"
        elif kind == stat.S_IFREG:
            line += f" {hashlib.md5(Path(name).read_bytes()).hexdigest()}"
        lines.append(line)
        if kind == stat.S_IFDIR:
            for entry in sorted(os.listdir(name), key=os.fsencode):
                look(os.path.join(name, entry))

    look(str(path))
    return lines


def first_difference(outside, inside):
    """The line and both texts; whether the rest was not looked at."""
    for index in range(max(len(outside), len(inside))):
        out = outside[index] if index < len(outside) else "(nothing)"
        within = inside[index] if index < len(inside) else "(nothing)"
        if out == within or is_in(KNOWN, out, within):
            continue
        return (None, True) if is_in(ENDING, out, within) else ((index, out, within), False)
    return None, False


def compare(sides, context):
    """What differs, as lines; none where nothing does."""
    (out, out_wrong, out_tree), (within, within_wrong, within_tree) = sides
    lines = [f"{side}: {wrong}" for side, wrong in (("outside", out_wrong), ("inside", within_wrong)) if wrong]
    for what, one, other in (("", out, within), ("as seen from outside: ", out_tree, within_tree)):
        found, is_cut = first_difference(one, other)
        if is_cut:
            break
        if found:
            index, before, after = found
            lines += [f"    {line[:400]}" for line in other[max(0, index - context):index]]
            return [*lines, f"{what}outside: {before[:600]}", f"{what}inside:  {after[:600]}"]
    return lines


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("--program", help="differ.c, built; without it the one beside bawn, or below it in tests")
    parser.add_argument("--user", help="as this ordinary user (from root)")
    parser.add_argument("--dir", help="where the files are made; the user's home without it, /home for root")
    parser.add_argument("--seconds", type=float, default=20, help="no further case after this time")
    parser.add_argument("--cases", type=int, default=10 ** 9)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first case; each has the next one")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--place", action="append", choices=("disk", "memory"))
    parser.add_argument("--context", type=int, default=8, help="lines before the one that differs")
    parser.add_argument("--most", type=int, default=3, help="no further case after so many that differ")
    parser.add_argument("--log", help="a directory where both logs of the last case are left")
    options = parser.parse_args()
    if not options.program:
        bin_dir = Path(options.bawn).resolve().parent
        options.program = next((path for path in (bin_dir / "tests/differ", bin_dir / "differ") if path.is_file()), None)
        if not options.program:
            parser.error("there is no program 'differ' beside bawn: build it, or name it with --program")
    return options


def main():
    options = parse()
    host, found, counts = Host(options), {}, {}
    print(f"TAP version 13\n# seed {options.seed}", flush=True)
    ways = [(mode, place) for mode in options.mode or MODES for place in options.place or ("disk", "memory")]
    end = time.monotonic() + options.seconds
    try:
        for number in range(options.cases):
            for mode, place in ways:
                if time.monotonic() > end and (mode, place) in counts:
                    continue
                seed = options.seed + number
                sides = host.sides(mode, place, seed, options.steps)
                counts[mode, place] = counts.get((mode, place), 0) + len(sides[0][0])
                if options.log:
                    for name, side in zip(("outside", "inside"), sides):
                        (Path(options.log) / name).write_text("\n".join([*side[0], *side[2], ""]))
                lines = compare(sides, options.context)
                if lines:
                    found.setdefault((mode, place), []).append(
                        [f"again: --seed {seed} --mode {mode} --place {place} --steps {options.steps} --cases 1", *lines])
            if time.monotonic() > end or sum(map(len, found.values())) >= options.most:
                break
    finally:
        host.done()
    for index, way in enumerate(ways):
        print(f"{'not ok' if way in found else 'ok'} {index + 1} - {way[0]}, {way[1]}: as outside")
        for lines in found.get(way, []):
            print("".join(f"# {line}\n" for line in lines), end="")
    print(f"1..{len(ways)}\n# {sum(counts.values())} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
