#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes random file calls outside and inside a sandbox, and compares what each call gave and what is there afterwards.

The calls are made by differ.c, which a seed alone leads. A line of its log is one call. What is found is
printed with the seed, the first line that differs and the lines before it; --seed N --mode M --place P --cases 1
makes the same calls again.
"""
import argparse
import collections
import hashlib
import json
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
SAME = ("alone", "processes", "threads", "restarted", "interrupted")
MODES = (*SAME, "race", "protected")
# What a call on files may give where others change the same files. Not: EINTR, EIO, ENOSYS, ESRCH, ESTALE, EMFILE ...
RACING = set("ENOENT ENOTDIR EEXIST EISDIR ELOOP EACCES EPERM ENOTEMPTY EBUSY EINVAL EBADF EXDEV ENXIO ENAMETOOLONG "
             "EADDRINUSE EOPNOTSUPP ENODATA ERANGE E2BIG EFAULT ENOTTY EROFS ESPIPE".split())
# What is there when the mode "protected" begins, and what only begins with it.
GUARDED = (".git/config", ".git/hooks/a", ".bashrc", ".envrc", ".vscode/a", ".claude/a", "a/.git/config", "a/.git/hooks/a",
           "a/.vscode/b", "b/.profile", "b/.mcp.json", "a/b/.gitconfig", "c/.GIT/config")
BASE = "0" + 6 * "/z"
TIME_LIMIT = 60


def no_follow(_call, result):
    """Without the flag, if it is there."""
    return re.sub(r" fl=([0-7]+)", lambda found: f" fl={int(found[1], 8) & ~os.O_NOFOLLOW:o}", result)


def last_name(_call, result):
    """The address: two bytes, the name that it ends with, and a NUL."""
    name = result.split(" ", 2)[2].rsplit("/", 1)[1] if result.startswith("0 ") else ""
    size = len(re.sub(r"\\x..", ".", name)) + 3
    return f"0 {size} {name}"


TWO_MISTAKES = "EINVAL|ERANGE|E2BIG|EFAULT|ENOENT|ENOTDIR|ELOOP|EBADF|EACCES|ENAMETOOLONG"
# What a call gives inside where the kernel outside gives something else: (the call, outside, inside, why).
# Each is a pattern for a whole line without its result, and for the results; or a function that makes what is given
# inside of what is given outside.
KNOWN = [
    (r"openat2 .*\" [0-7]*1[0-7]{7} \d+ \w+ \d+", r".*", "ENOSYS",
     "README: a descriptor with O_PATH cannot be put in place, and whoever uses openat2 knows kernels without it"),
    (r"set-id \d+ \d+", "0|EACCES", "EPERM", "THREATS: no file may be run with its owner's rights"),
    (r"mknod(at)? .* 2\d{4}", r"E\w+", "EPERM", "device nodes are refused, whatever the path"),
    (r'openat2 .* "[^$].* [13579bdf] \d+', r".*", "EXDEV",
     "RESOLVE_NO_XDEV: a relative path must stay below the directory where it begins"),
    (r'linkat .* 1[04]00', r"0|E\w+", r"0|E\w+",
     "KERNEL(6.10): AT_EMPTY_PATH is for whoever opened the file with the credentials that it has now"),
    (r'bind "/proc/self/.*', last_name, None, "THREATS: such a socket tells only its last name"),
    (r"[lf]?setxattr .*|[lf]?removexattr .*", TWO_MISTAKES, TWO_MISTAKES,
     "KERNEL(6.13): of two mistakes, that of the arguments is told before that of the path; before, the other way round"),
    (r".*(n{256}|nnn\.\.\.).*", r"E\w+", r"E\w+", "a name that is too long, and another mistake"),
    (r'openat2 .*\.\.\.40\d\d bytes" .*', r".*", "ENAMETOOLONG",
     "a path of an openat2 with limits that is too long once the link at its end is followed"),
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
    return (call, result) if sign else (line.strip(), "")


def find(table, outside, inside):
    """Why it may be so, or None."""
    (call, out), (other, within) = split(outside), split(inside)
    if table is KNOWN:
        call, other = (text.replace("lost ", "") for text in (call, other))
    for pattern, was, now, why in table if call == other else ():
        if re.fullmatch(pattern, call) and (was(call, out) == within if callable(was) else
                                            re.fullmatch(was, out) and re.fullmatch(now, within)):
            return why
    return None


class Host:
    """Where the calls are made, and by whom."""

    def __init__(self, options):
        self.bawn = str(Path(options.bawn).resolve())
        self.holds_reads = options.held
        self.session = f"differ-{os.getpid()}" if options.overlay else None
        self.is_root = os.getuid() == 0
        self.user = pwd.getpwnam(options.user) if options.user else pwd.getpwuid(os.getuid())
        # Not in root's home, which is closed to the command.
        home = options.dir or (self.user.pw_dir if self.user.pw_uid else "/home")
        self.dir = Path(tempfile.mkdtemp(prefix="bawn-differ.", dir=home))
        self.memory = Path(tempfile.mkdtemp(prefix="bawn-differ.", dir="/dev/shm"))
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.dir), "LC_ALL": "C.UTF-8",
                    "XDG_STATE_HOME": str(self.dir / "state"), "XDG_RUNTIME_DIR": str(self.dir / "run")}
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
        is_inside = command[0] == self.bawn
        if self.is_root and self.user.pw_uid != 0 and is_inside:
            command = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups",
                       "--inh-caps=-all", "--", *command]
        try:
            done = subprocess.run(command, env=self.env, cwd=str(self.dir / "w"), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False)
        except subprocess.TimeoutExpired as error:
            return (error.stdout or b"").decode("ascii", "replace").splitlines(), f"no end after {TIME_LIMIT} s"
        text = done.stderr.decode("utf-8", "replace")
        # The kernel alone lets no signal interrupt a call on a file.
        is_bad = done.returncode or (not is_inside and re.search(r"interrupted [1-9]", text))
        return (done.stdout.decode("ascii", "replace").splitlines(),
                f"status {done.returncode}: {text}" if is_bad else "")

    def sandbox(self):
        """With a name hidden that none of the calls uses: a pattern would have unreadable directories masked."""
        held = ["--set", "sandbox.late=held", "--deny", str(self.dir / "w/hidden")] if self.holds_reads else []
        overlay = ["--overlay", str(self.dir / "w"), "--session", self.session] if self.session else []
        return [self.bawn, "run", "-q", "-C", str(self.dir / "w"), "--ro", str(self.program.parent), *held, *overlay]

    def take(self):
        """With --overlay: what was written inside becomes real. What is wrong, as text."""
        _, wrong = self.run([self.bawn, "apply", "--protected", "--skip-unfit", self.session])
        if "no session has changes" in wrong:
            wrong = ""
        else:
            self.run([self.bawn, "discard", self.session])
        return wrong

    def sides(self, mode, place, seed, steps):
        """Both runs: each its log, what went wrong, and the tree as it is seen from outside."""
        return [self.side(mode, place, seed, steps, is_inside) for is_inside in (False, True)]

    def side(self, mode, place, seed, steps, is_inside):
        where = self.places(place)[is_inside]
        words = [mode, str(seed), str(steps), str(where)]
        on_host = place == "disk" or not is_inside
        if on_host:
            self.make(where)
        if not is_inside:
            command = [str(self.program), "outside", str(self.user.pw_uid), str(self.user.pw_gid), str(where.parent), *words]
        else:
            command = [*self.sandbox(), "--",
                       *([] if on_host else ["sh", "-c", 'mkdir "$5" && exec "$@"', "sh"]), str(self.program), *words]
        log, wrong = self.run(command)
        if is_inside and self.session:
            wrong = wrong or self.take()
        found = tree(where, self.user.pw_uid if self.session else None) if place == "disk" else []
        if on_host:
            wipe(where)
        return log, wrong, found

    def make(self, where):
        wipe(where)
        where.mkdir(exist_ok=True)
        os.chown(where, self.user.pw_uid, self.user.pw_gid)

    def check(self, paths):
        """What bawn says of writing them."""
        done = subprocess.run([self.bawn, "check", "-q", "--json", "-C", str(self.dir / "w"), "write", *paths], cwd="/",
                              env=self.env, stdout=subprocess.PIPE, check=False)
        answers = json.loads(done.stdout)
        return answers if isinstance(answers, list) else [answers]

    def guarded(self, seed, steps):
        """Names that bawn protects among the others: what is wrong afterwards, as lines; and the log."""
        where = self.places("disk")[1]
        self.make(where)
        base = where / BASE
        for name in GUARDED:
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text(f"#{name}\n")
        for path in [where / "0", *(where / "0").rglob("*")]:
            os.lchown(path, self.user.pw_uid, self.user.pw_gid)
        before = state(where)
        log, wrong = self.run([*self.sandbox(), "--", str(self.program), "protected", str(seed), str(steps), str(where)])
        after = state(where)
        wipe(where)
        lines = [f"inside: {wrong}"] if wrong else []
        lines += [line for line in log if is_odd(line)]
        changed = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
        for path, answer in zip(changed, self.check([os.fsdecode(path) for path in changed])) if changed else ():
            if answer["verdict"] != "allow" and not is_told(path, before, after):
                lines.append(f"{path!r}: {before.get(path)} became {after.get(path)}; {answer}")
        return lines, log


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


def tree(path, taken_by=None):
    """What is there, a line for each name; names of one file have one number. taken_by: a user's id; only what he can
    take out of an overlay: no sockets, and nothing that he may not read."""
    lines, numbers, files = [], {}, {}

    def look(name):
        status = os.lstat(name)
        wanted = 0o500 if stat.S_ISDIR(status.st_mode) else 0o400
        if taken_by is not None and status.st_ino not in files and (stat.S_ISSOCK(status.st_mode) or (
                taken_by and not stat.S_ISLNK(status.st_mode) and status.st_mode & wanted != wanted)):
            return
        status = files.setdefault(status.st_ino, status)  # as it was before this function changed its mode
        kind = stat.S_IFMT(status.st_mode)
        # Not those of directories, of which some may be missing, nor of links: each is one of its own then.
        counts = taken_by is None or kind == stat.S_IFREG
        number = numbers.setdefault(status.st_ino if counts else name, len(numbers))
        size = 0 if kind == stat.S_IFDIR else status.st_size
        links = status.st_nlink if counts else 0
        line = (f"{os.fsencode(os.path.relpath(name, path))!r} mode={status.st_mode:o} size={size} nlink={links} "
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


def state(path):
    """Of each path below: type, file, content."""
    found = {}

    def look(name):
        status = os.lstat(name)
        kind, content = stat.S_IFMT(status.st_mode), b""
        if kind in (stat.S_IFREG, stat.S_IFDIR):
            os.chmod(name, stat.S_IMODE(status.st_mode) | 0o700)
        if kind == stat.S_IFLNK:
            content = os.readlink(name)
        elif kind == stat.S_IFREG:
            content = Path(os.fsdecode(name)).read_bytes()
        elif kind == stat.S_IFDIR:
            for entry in os.listdir(name):
                look(os.path.join(name, entry))
            os.chmod(name, stat.S_IMODE(status.st_mode))
        found[name] = (kind, status.st_ino, content)

    look(os.fsencode(path))
    return found


def is_told(path, before, after):
    """docs/THREATS.md: what is at .git may be removed, and a directory made there; what holds protected names moves with
    them, where the same ones are protected there."""
    old, new = before.get(path), after.get(path)
    if path.endswith(b"/.git") and not new:
        return True
    if all(one[0] == stat.S_IFDIR for one in (old, new) if one):
        return True
    others = after if old else before
    return not (old and new) and any((old or new) == other and os.path.basename(name) == os.path.basename(path)
                                     for name, other in others.items())


def is_odd(line):
    """A result that no call on files should give."""
    call, result = split(line)
    result = result.split(" ")[0]
    return result.startswith("E") and result not in RACING and not (
        result == "ENOSYS" and re.fullmatch(KNOWN[0][0], call.replace("lost ", "")))


def miscounted(lines):
    """Files of a tree that have not as many names as they say."""
    found = (re.search(r" mode=(\d+) size=\d+ nlink=(\d+) owner=\S+ node=(\d+)", line) for line in lines)
    files = collections.Counter(match.groups() for match in found if not stat.S_ISDIR(int(match[1], 8)))
    return [f"file {node} of mode {mode} says {links} names and has {count}"
            for (mode, links, node), count in files.items() if int(links) != count]


def first_difference(outside, inside, met):
    """The line and both texts; whether the rest was not looked at."""
    for index in range(max(len(outside), len(inside))):
        out = outside[index] if index < len(outside) else "(nothing)"
        within = inside[index] if index < len(inside) else "(nothing)"
        if out == within:
            continue
        why = find(KNOWN, out, within) or find(ENDING, out, within)
        met[why] += 1
        if why is None:
            return (index, out, within), False
        if find(KNOWN, out, within) is None:
            return None, True
    return None, False


def compare(sides, context, met):
    """What differs, as lines; none where nothing does. Counts in met what is known."""
    (out, out_wrong, out_tree), (within, within_wrong, within_tree) = sides
    lines = [f"{side}: {wrong}" for side, wrong in (("outside", out_wrong), ("inside", within_wrong)) if wrong]
    for what, one, other in (("", out, within), ("as seen from outside: ", out_tree, within_tree)):
        found, is_cut = first_difference(one, other, met)
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
    parser.add_argument("--held", action="store_true", help="with sandbox.late: held, so that every open is made outside")
    parser.add_argument("--overlay", action="store_true", help="in an overlay, whose changes are then applied")
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


def look(host, options, mode, place, seed, met):
    """What is wrong with one case, as lines; and how many calls it made."""
    if mode == "protected":
        lines, log = host.guarded(seed, options.steps)
        return lines, len(log)
    if mode == "race":
        lines, count = [], 0
        for name, (log, wrong, files) in zip(("outside", "inside"), host.sides(mode, place, seed, options.steps)):
            lines += [f"{name}: {line}" for line in (*([wrong] if wrong else []), *filter(is_odd, log), *miscounted(files))]
            count += len(log)
        return lines, count
    sides = host.sides(mode, place, seed, options.steps)
    if options.log:
        for name, side in zip(("outside", "inside"), sides):
            (Path(options.log) / name).write_text("\n".join([*side[0], *side[2], ""]))
    return compare(sides, options.context, met), len(sides[0][0])


def main():
    options = parse()
    host, found, counts, met = Host(options), {}, {}, collections.Counter()
    print(f"TAP version 13\n# seed {options.seed}", flush=True)
    ways = [(mode, place) for mode in options.mode or MODES for place in options.place or ("disk", "memory")
            if (mode, place) != ("protected", "memory")]
    end = time.monotonic() + options.seconds
    try:
        for number in range(options.cases):
            for mode, place in ways:
                if time.monotonic() > end and (mode, place) in counts:
                    continue
                seed = options.seed + number
                lines, count = look(host, options, mode, place, seed, met)
                counts[mode, place] = counts.get((mode, place), 0) + count
                if lines:
                    found.setdefault((mode, place), []).append(
                        [f"again: --seed {seed} --mode {mode} --place {place} --steps {options.steps} --cases 1", *lines])
            if time.monotonic() > end or sum(map(len, found.values())) >= options.most:
                break
    finally:
        host.done()
    for index, way in enumerate(ways):
        print(f"{'not ok' if way in found else 'ok'} {index + 1} - {way[0]}, {way[1]}: {'as outside' if way[0] in SAME else 'as it should be'}")
        for lines in found.get(way, []):
            print("".join(f"# {line}\n" for line in lines), end="")
    print(f"1..{len(ways)}\n# {sum(counts.values())} lines")
    for why, count in met.most_common():
        if why:
            print(f"# known, {count} times: {why}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
