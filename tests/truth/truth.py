#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random small policies over random small trees. What 'bawn check' says, and what the kernel then lets a
command do under 'bawn run', are the same; a plan that was kept holds what a new one holds. TAP.

How it works: a probe tries some hundred operations outside and inside, and undoes each. Where check denies one
it must fail inside, where check allows it the answer must be that of the host. Then it changes things at random:
what is changed on disk afterwards, and what could be read, must have been allowed. A case that fails is made
smaller before it is shown; --seed and --only show it again."""
import argparse
import errno
import os
import random
import re
import stat
import sys
import time
from pathlib import Path

from case import Case, questions
from host import Host

BUILD = Path(__file__).resolve().parent.parent.parent / "build"
READS = ("read", "list", "exec")
METADATA = ("chmod", "touch", "setxattr")
PRESENT = ("write", "append", "truncate", *METADATA)
ABSENT = ("create", "mkdir", "symlink", "mkfifo", "bind")
AT_NAME = ("rename", "link")  # these do not follow a link at the end
CHANGES = ["do_unlink", "do_rmdir", "do_rename", "do_rename", "do_exchange", "do_link", "do_symlink", "do_mkdir",
           "do_open_up", "do_write"]
LAX, STRICT, KEPT = ("the kernel refuses what check denies", "the kernel allows what check allows",
                     "a plan that was kept holds what a new one holds")


def errno_name(code):
    return errno.errorcode.get(code, str(code)) if code else "ok"


def short(answer):
    return f"{answer['verdict']} by {answer['rule']} ({answer['target']})"


def operations(path):
    """What can be tried at a path without harm, as (operation, path, second path)."""
    is_there, is_present = os.path.exists(path), os.path.lexists(path)
    mode = os.stat(path).st_mode if is_there else 0
    found = [*READS, *(PRESENT if is_there else ()), *(() if is_present else ABSENT)]
    if not stat.S_ISDIR(mode):
        found.append("connect")
    # Else the way back may lead through what was moved.
    if is_present and os.path.realpath(os.path.dirname(path)) == os.path.dirname(path):
        found += AT_NAME
    if stat.S_ISDIR(mode):
        found = [name for name in found if name not in ("write", "truncate", "link")]
    if not stat.S_ISREG(mode):
        found = [name for name in found if name not in ("exec", "append")]
    return [(name, path, path + ".t" if name in AT_NAME else None) for name in found]


def as_line(attempt):
    return "\t".join(word for word in attempt if word) + "\n"


class Truth:
    def __init__(self, options, host):
        self.options, self.host = options, host
        self.started = self.refused = self.attempts = 0

    def judge_denied(self, case, attempt, within, answer):
        """Whether something happened that should not have."""
        name, path, _ = attempt
        base = self.host.base
        if within[0] != 0 or (name in ("read", "list") and not within[1]):
            return False  # the last is a directory on the way, or a mask: no file here is empty
        if name == "list":
            # A name that leads to something granted has to be there.
            real, ways = os.path.realpath(path), [os.path.realpath(base / root) + "/" for root in case.roots()]
            names = [f"{path}/{entry}" for entry in within[1].split("/")
                     if entry and not any(way.startswith(f"{real}/{entry}/") for way in ways)]
            answers, _ = self.host.check(case, "read", names)
            return bool(names) and any(entry["verdict"] != "allow" for entry in answers or ())
        # Nothing of the host is in a private place, and nothing stays there.
        private = [os.path.realpath(base / root) for root in [*case.roots("private"), f"{case.home}/.cache"]]
        if any((os.path.realpath(path) + "/").startswith(root + "/") for root in private):
            return False
        # docs/THREATS.md: what a protected name further down is not held against.
        if answer["code"] == "write.protected" and name in (*METADATA, "connect"):
            return False
        if answer["code"] == "path.unknown" or (name == "mkdir" and path.endswith("/.git")):
            return False
        if name == "connect" and "--reads static" in case.flags:
            return False
        return "--allow-containers" not in case.flags or not (
            name in ABSENT or answer["code"] == "write.protected")

    def judge_allowed(self, case, attempt, out, within, answer):
        """Whether something did not work that should have."""
        name, path, _ = attempt
        if answer["rule"] == "skeleton" or is_private(answer):
            return False
        if within[0] == out[0] or (within[0] and out[0]):
            return name == "read" and within[1] != out[1]
        # Where containers are allowed a mask can be opened, and what is closed to its owner.
        if within[0] == 0 and "--allow-containers" in case.flags:
            return False
        # Further names of what a pattern hides are masked, but check does not look for them.
        if within[0] == errno.EACCES and case.has("hard"):
            return False
        if within[0] == errno.EXDEV or (name, within[0]) in (
                ("rename", errno.EBUSY), ("link", errno.EPERM)):
            return False
        # What is below the name is protected, so that only a directory may be made there.
        if name in ("symlink", "bind") and within[0] == errno.EACCES:
            return False
        # A directory that is closed is covered whole where something in it is held.
        if within[0] in (errno.EACCES, errno.EROFS) and case.has("mode"):
            return False
        # A grant of what is not there shows nothing.
        roots = [str(self.host.base / root) for root in case.roots()]
        return os.path.exists(path) or not any(
            (root + "/").startswith(path + "/") or (path + "/").startswith(root + "/") for root in roots)

    def judge(self, case, attempt, out, within, verdicts):
        name, path, to = attempt
        read, write = verdicts[path]
        answer = read if name in READS else write
        if os.path.islink(path) and name in (*AT_NAME, *ABSENT):
            return None  # a question about a link is one about where it leads
        if name in AT_NAME and verdicts[to][1]["verdict"] != "allow":
            answer = verdicts[to][1]
        what = (f"{name} {path}: outside {errno_name(out[0])} {out[1]}, inside {errno_name(within[0])} {within[1]}; "
                f"{short(answer)}")
        if answer["verdict"] != "allow":
            return (LAX, name, what) if self.judge_denied(case, attempt, within, answer) else None
        if self.judge_allowed(case, attempt, out, within, answer):
            return (STRICT, f"{name} {errno_name(out[0])} {errno_name(within[0])}", what)
        return None

    def refuse(self):
        self.refused += 1
        return []

    def compare(self, case, seed):
        """All differences of one case, as (which promise, kind, what)."""
        host, rng = self.host, random.Random(seed)
        host.forget()
        host.make(case)
        paths = questions(case, rng, host.base)
        attempts = [attempt for path in paths for attempt in operations(path)]
        asked = sorted({*paths, *(attempt[2] for attempt in attempts if attempt[2])})
        reads, _ = host.check(case, "read", asked)
        writes, _ = host.check(case, "write", asked)
        if reads is None or writes is None:
            return self.refuse()
        verdicts = dict(zip(asked, zip(reads, writes)))
        lines = [as_line(attempt) for attempt in attempts]
        native, why = host.outside(case, lines)
        if native is None:
            raise RuntimeError(f"the probe outside: {why}")
        before = host.state()
        inside, why = host.inside(case, lines)
        if inside is None:
            return self.refuse()
        self.started += 1
        self.attempts += len(lines)
        found = [self.judge(case, *row, verdicts) for row in zip(attempts, native, inside)]
        found = [difference for difference in found if difference]
        found += self.changed(case, before, verdicts, "that was undone")
        return found or self.mutate(case, rng, paths, before, verdicts)

    def changed(self, case, before, verdicts, when):
        """What is not on disk as it was, and might not be written: not before, nor now."""
        after = self.host.state()
        paths = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
        for path in paths:
            if os.path.islink(path):
                os.unlink(path)
        paths = [path for path in paths if path not in verdicts or verdicts[path][1]["verdict"] != "allow"]
        if not paths or case.has("hard") or "--allow-containers" in case.flags:
            return []
        answers, _ = self.host.check(case, "write", paths)
        return [(LAX, f"change {when}", f"{path}: {before.get(path)} became {after.get(path)}; {short(answer)}")
                for path, answer in zip(paths, answers or ())
                if answer["verdict"] != "allow" and not self.is_told(path, before.get(path), after.get(path), answer)]

    @staticmethod
    def is_told(path, before, after, answer):
        """docs/THREATS.md: the mode of what is at a protected name; what is at .git may be removed, and
        a directory made there."""
        both = [one for one in (before, after) if one]
        if path.endswith("/.git") and not after:
            return True
        return answer["code"] == "write.protected" and (
            (len(both) == 2 and before[2] == after[2] and stat.S_IFMT(before[0]) == stat.S_IFMT(after[0]))
            or all(stat.S_ISDIR(one[0]) for one in both))

    def mutate(self, case, rng, paths, before, verdicts):
        """Changes of all kinds in a row."""
        lines = []
        for _ in range(60):
            lines.append(f"{rng.choice(CHANGES)}\t{rng.choice(paths)}\t{rng.choice(paths)}\n")
            if rng.random() < .3:
                lines.append(f"read\t{rng.choice(paths)}\n")
        lines += [f"read\t{path}\n" for path in paths]
        inside, why = self.host.inside(case, lines)
        if inside is None:
            return [(STRICT, "second run", why)]
        names = {}
        for path, (_, _, content) in before.items():
            for token in re.findall(r"#T\d+;", content):
                names.setdefault(token, []).append(path)
        found = []
        for line, (code, seen) in zip(lines, inside):
            for token in re.findall(r"#T\d+;", seen) if code == 0 and line.startswith("read") else ():
                if all(path in verdicts and verdicts[path][0]["verdict"] != "allow" for path in names[token]):
                    found.append((LAX, "hidden content", f"{line.strip()}: what {names[token]} holds"))
        return found + self.changed(case, before, verdicts, "in a row")

    def keep(self, case, seed):
        """Something changes outside between two starts."""
        host, rng = self.host, random.Random(seed)
        host.forget()
        host.make(case)
        time.sleep(.03)  # what is new is not relied on
        for _ in range(2):
            if host.inside(case, ["read\t/dev/null\n"])[0] is None:
                return self.refuse()
        done = [host.change(case, rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        lines = [as_line(attempt) for path in questions(case, rng, host.base) for attempt in operations(path)]
        self.started += 1
        self.attempts += len(lines)
        kept, why_kept = host.inside(case, lines)
        host.forget()
        fresh, why = host.inside(case, lines)
        if kept is None or fresh is None:
            return self.refuse() if kept == fresh else [(KEPT, "start", f"{done}: {why_kept} {why}")]
        return [(KEPT, "answers", f"{done}: {line.strip()}: kept {old}, new {new}")
                for line, old, new in zip(lines, kept, fresh) if old != new and not line.startswith("connect")]

    def shrink(self, look, case, seed, difference):
        """The smallest case that shows the same, found in a limited time."""
        end = time.monotonic() + self.options.shrink
        going = True
        while going:
            going = False
            for smaller in case.smaller():
                if time.monotonic() > end:
                    return case, difference
                same = [one for one in look(smaller, seed) if one[:2] == difference[:2]]
                if same:
                    case, difference, going = smaller, same[0], True
                    break
        return case, difference


def is_private(answer):
    rule = answer["rule"] or ""
    return "private" in rule or rule.startswith(("paths.cache", "paths.tmp", "paths.home"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("--user", help="as this ordinary user (from root)")
    parser.add_argument("--dir", help="where the trees are made; the user's home without it, /home for root")
    parser.add_argument("--seconds", type=float, default=600, help="no further case after this time")
    parser.add_argument("--cases", type=int, default=10 ** 9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="this case of the seed alone")
    parser.add_argument("--shrink", type=float, default=30, help="seconds to make a case smaller")
    return parser.parse_args()


def search(options, truth, found):
    end = time.monotonic() + options.seconds
    numbers = range(options.cases) if options.only is None else [options.only]
    for number in numbers:
        if time.monotonic() > end:
            break
        seed = options.seed * 1000003 + number
        look = truth.keep if number % 4 == 3 else truth.compare
        case = Case(random.Random(seed))
        for difference in look(case, seed):
            if difference[:2] not in found:
                found[difference[:2]] = (number, *truth.shrink(look, case, seed, difference))


def main():
    options = parse()
    host = Host(options)
    truth, found = Truth(options, host), {}
    print(f"TAP version 13\n# seed {options.seed}", flush=True)
    try:
        search(options, truth, found)
    finally:
        host.done()
    for index, promise in enumerate((LAX, STRICT, KEPT)):
        shown = [value for key, value in found.items() if key[0] == promise]
        print(f"{'not ok' if shown else 'ok'} {index + 1} - {promise}")
        for number, case, difference in shown:
            for line in [f"--only {number}: {difference[2]}", *case.text()]:
                print(f"# {line}")
    is_enough = truth.started > truth.refused
    print(f"{'ok' if is_enough else 'not ok'} 4 - most of the policies start")
    print(f"1..4\n# {truth.started} started, {truth.refused} refused, {truth.attempts} attempts")
    return 0 if is_enough and not found else 1


if __name__ == "__main__":
    sys.exit(main())
