# SPDX-License-Identifier: Apache-2.0
"""How a case is asked: of the query, or of the kernel inside a sandbox. Each way answers, for each row
of a case, None where the answer is the table's, else a sentence that says what came instead."""
import json
import os
import re
import stat

import vectors
from world import BIN, EMPTY, SEED, START, is_own

REFUSED = "EACCES EPERM ENOENT ELOOP EROFS EXDEV ENOTDIR ENAMETOOLONG EBUSY ENODEV EINVAL".split()
PATHS = ("read", "write", "exec")


LOOPBACK = re.compile(rb"127\.|localhost|\[::1\]", re.IGNORECASE)


def is_host(row):
    return row.operation == "connect" and not row.what.startswith(b"unix:")


class NotTried(Exception):
    """The way has no answer to a case, and the table does not say so."""


class Query:
    """bawn check, and the rule that it names."""
    name, worlds, is_query, is_nested = "query", (None,), True, False

    @staticmethod
    def can(_row):
        return True

    @staticmethod
    def why_not(_case):
        return None

    def ask(self, world, rows):
        return [self.ask_one(world, row) for row in rows] if len(rows) < 2 else self.ask_all(world, rows)

    def ask_all(self, world, rows):
        """One start for each operation; one for each row where a question is an error."""
        answers = {}
        for operation in {row.operation for row in rows}:
            some = [row for row in rows if row.operation == operation]
            data = self.check(world, operation, some)
            if isinstance(data, list) and len(data) == len(some):
                answers.update((row, self.compare(row, one)) for row, one in zip(some, data))
            else:
                answers.update((row, self.ask_one(world, row)) for row in some)
        return [answers[row] for row in rows]

    def ask_one(self, world, row):
        return self.compare(row, self.check(world, row.operation, [row]))

    @staticmethod
    def start(world, arguments, **options):
        return world.run(arguments, **options)

    def check(self, world, operation, rows):
        if operation == "load":
            operation, rows = "read", [vectors.Row("read\t/\t", 0)]
        done = self.start(world, ["check", operation, "--json", "-q", *world.policy(), "--",
                                  *[row.what for row in rows]])
        return json.loads(done.stdout.decode("utf-8", "surrogateescape") or "null")

    @staticmethod
    def compare(row, data):
        error = data.get("error") if isinstance(data, dict) else None
        if row.operation == "resolve":
            # One that leads nowhere is refused with the reason; one that may not be read leads there.
            code = error["code"] if error else data["code"]
            got = f"error {code}".encode()
            if not code.startswith("path."):
                got = data["target"].encode("utf-8", "surrogateescape")
            return None if got == row.verdict or b"\\x" in row.text.encode() else f"{got}"
        if row.operation == "load":
            return None if error and error["code"] == row.rule else f"{data}"
        got = "error" if error else data["verdict"]
        rule = "" if error else data["rule"]
        return None if (got, rule) == (row.verdict, row.rule) else f"{got} {rule}"


class Kernel:
    """A try inside bawn run, and a witness outside. there: what a row names is there before."""
    name, worlds, is_query, is_nested = "kernel", (True, False), False, False
    command = ("run", "-q")

    @staticmethod
    def can(row):
        """A question about a path's name alone has no answer of the kernel's, nor has a senseless one."""
        return row.operation in (*PATHS, "connect", "load") and row.verdict != "error"

    @staticmethod
    def why_not(_case):
        """Why no row of a case can be asked in this way."""
        return None

    def ask(self, world, rows):
        if rows[0].operation == "load":
            done = self.start(world, b"")
            return [None if done.returncode == 125 else f"started: {done.returncode}"]
        # Reading comes first: what was written must not be read back.
        tried = sorted(rows, key=lambda row: ("read", "exec", "connect", "write").index(row.operation))
        lines = b"enter\0" + world.inside(vectors.WORKSPACE.encode()) + b"\0"
        for row in tried:
            operation = "make" if row.short_of == "removing" else row.operation
            operation = "reach" if is_host(row) else operation
            lines += operation.encode() + b"\0" + self.spell(world, row) + b"\0"
        before = {}
        done = self.start(world, lines, lambda: before.update(
            {row: world.look(row) for row in tried if row.operation in PATHS}))
        results = done.stdout.decode().splitlines()[1:]
        if len(results) != len(tried):
            said = done.stderr.decode("utf-8", "replace").strip().replace("\n", "; ")
            raise NotTried(f"status {done.returncode}, {len(results)} of {len(tried)} lines: {said}")
        modes = world.case.modes()
        answers = {}
        for row, line in zip(tried, results):
            way, error, *data = (line.split(" ") + [""])[:3]
            mode = modes.get(row.rule.removeprefix("paths."))
            judge = Judge(world, row, way, error, data[0] if data else "", mode)
            answers[row] = judge.connect() if row.operation == "connect" else judge.path(before[row])
        return [answers[row] for row in rows]

    def start(self, world, lines, when_ready=lambda: None):
        more = ["--best-effort"] if world.case.best_effort else []
        return world.converse([*self.command, *more, *world.policy(), "--ro", START, "--",
                               world.inside(f"{START}/probe".encode())], lines, when_ready)

    @staticmethod
    def spell(world, row):
        """What the probe is to try: what a row names, and of a host its number, by which the servers know it."""
        if row.operation != "connect":
            return world.inside(row.what)
        if not is_host(row):
            return world.inside(row.what[5:])
        host, port = row.what.rsplit(b":", 1)
        world.serve(int(port))
        return b"%s %s %d" % (host, port, row.number)


class Judge:
    """One row, what the probe said, and what the witness sees."""

    def __init__(self, world, row, way, error, data, mode):
        self.world, self.row, self.way, self.error, self.mode = world, row, way, error, mode
        self.data = bytes.fromhex(data) if re.fullmatch("([0-9a-f]{2})*", data) else b""
        self.failed_data = data if data.startswith("E") else ""
        self.said = f"{way} {error}{' ' + self.failed_data if self.failed_data else ''}"

    def path(self, before):
        after = self.world.look(self.row)
        allowed = self.row.verdict == "allow"
        return getattr(self, f"{self.row.operation}_{'allowed' if allowed else 'refused'}")(before, after)

    def read_refused(self, _before, _after):
        # Of a directory that leads to a grant nothing but the way may be seen.
        if self.way == "list" and self.row.short_of == "listing":
            return None
        if self.way != "-":
            return f"not refused: {self.said}"
        return None if self.error in REFUSED else f"refused oddly: {self.error}"

    exec_refused = read_refused

    def write_refused(self, before, after):
        if wrong := self.read_refused(before, after):
            return wrong
        # Another row may write there by another name, or make a directory of it.
        if self.is_written_elsewhere() or (before is None and after and stat.S_ISDIR(after[0])):
            return None
        return None if before == after else f"refused, but outside {before} became {after}"

    def is_written_elsewhere(self):
        place = self.world.real(self.row)
        return any(row.operation == "write" and row.verdict == "allow" and self.world.real(row) == place
                   for row in self.world.case.rows)

    def read_allowed(self, before, _after):
        if self.mode == "private":
            if self.data.startswith(SEED):
                return "the host's file is shown in a private place"
            return None if self.way != "-" or self.error == "ENOENT" else self.said
        if self.way == "-":
            return None if self.error == "ENOENT" and before is None else self.said
        # A file of the host's may be another inside, such as /etc/passwd; one of the case's may not.
        if before is None or self.way in ("list", "decoy") or not before[1].startswith(SEED):
            return None
        return None if self.data == before[1] else f"other bytes: {self.data!r}"

    def exec_allowed(self, before, _after):
        if self.way == "exec":
            return None
        return None if self.error == "ENOENT" and (before is None or self.mode == "private") else self.said

    def write_allowed(self, before, after):
        if self.way not in ("open", "below") or self.failed_data:
            return self.said
        if self.mode in ("private", "copy", "overlay"):
            return None if before == after else f"private, but outside {before} became {after}"
        if self.way == "below" or not after or not is_own(self.world.real(self.row)):
            return None if after else "written, but not there outside"
        return None if after[1].startswith(b"written inside") else f"outside: {after}"

    def reach(self):
        """A host: whatever way the probe has, by itself and by the proxy, must end alike."""
        seen = self.world.hosts.seen(self.row.number)
        if self.row.verdict != "allow":
            # Nor may somebody have called there for it, and said nothing.
            called = self.world.hosts.called(self.row.what.decode())
            return f"{self.way}, served: {seen}, called: {called}" if self.way != "-" or seen or called else None
        # Loopback inside is the sandbox's own, so that of the host is reached by the proxy or by host_ports.
        ways = {"connect": {"straight", "proxy"}}
        if LOOPBACK.match(self.row.what) and self.row.rule.startswith("allow "):
            ways["proxy"] = {"proxy"}
        if "network host" in self.row.rule:
            ways["connect"] = {"straight"}
        return None if ways.get(self.way) == seen else f"{self.way}, served: {seen}"

    def connect(self):
        if is_host(self.row):
            return self.reach()
        server = self.world.listeners.get(os.path.normpath(Kernel.spell(self.world, self.row)))
        seen = False
        if server:
            server.setblocking(False)
            try:
                server.accept()[0].close()
                seen = True
            except BlockingIOError:
                pass
        if self.row.verdict == "allow" and not server and self.error == "ENOENT":
            return None
        if self.row.verdict == "allow" and self.mode == "private":
            return f"{self.said}: the host's socket in a private place" if seen else None
        if self.row.verdict == "allow":
            return None if self.way == "connect" and seen else f"{self.said}, seen outside: {seen}"
        return f"{self.said}, seen outside: {seen}" if self.way != "-" or seen else None


class Bare(Kernel):
    """The same tries without a sandbox: which rows would not notice that there is none."""
    name = "bare"

    def start(self, world, lines, when_ready=lambda: None):
        return world.converse([], lines, when_ready, [f"{START}/probe"])


# A sandbox that grants all it can of what a case's host has of its own, and lets others start in it.
# What rows open of the built-in lists it opens too. Not /var: overlays cannot be stacked any higher.
OPENED = ("~/.ssh", "~/.kube", "~/.aws", "~/.docker", "$XDG_DATA_HOME/pnpm", "$CLAUDE_CONFIG_DIR", "/**/.claude",
          "$CLAUDE_CONFIG_DIR/.credentials.json", "~/.claude.json", "$CODEX_HOME", "/**/.codex", "$CODEX_HOME/auth.json",
          "$GEMINI_CLI_HOME/.gemini", "/**/.gemini", "$GEMINI_CLI_HOME/.gemini/oauth_creds.json", "$XDG_DATA_HOME/opencode/auth.json",
          "~/.aider", "~/.aider.conf.yml")
OUTER = ("run", "-q", "--isolated", "--net", "host", "--allow-containers", "-C", START, "--ro", "/sys",
         *[word for path in (*EMPTY, f"{vectors.HOME}/.cache") for word in ("--rw", path)],
         *[word for path in OPENED for word in ("--set", f"sandbox.reopen={path}")], "--", f"{BIN}/bawn")


def prepare_outer(world):
    """Nobody holds these for a sandbox in which others start, unless they are there."""
    for home in (world.user.pw_dir, vectors.HOME):
        for name in ("config", "cache"):
            world.make_dirs(f"{home}/.{name}/bawn".encode())
    os.makedirs("/etc/bawn", exist_ok=True)


class Own(Query):
    """bawn check inside a sandbox, about that very sandbox: what it is told of its rules, and what the kernel
    there says. A case has no libraries of its own, so the program brings them along."""
    name, worlds, is_query = "own", (True,), False
    can = staticmethod(Kernel.can)

    @staticmethod
    def why_not(case):
        """Nobody is told where /dev is the host's: the profile none makes none."""
        text = b"".join(text for _, text in case.layers) + "".join(case.keys).encode()
        shows_all = re.search(rb"root: /,|reads(=|: *)(static|dynamic)", text)
        return "/dev is the host's, with no place for what is told" if case.profile == "none" and shows_all else None

    def ask(self, world, rows):
        if rows[0].operation == "load":
            return [None for _ in rows]
        world.bring_asker()
        return super().ask(world, rows)

    def check(self, world, operation, rows):
        # A case need not show the workspace, but who asks about the directory it is in must be there.
        is_there = any(b"/cwd" in row.what for row in rows)
        more = ["--best-effort"] if world.case.best_effort else []
        there = world.inside(START.encode())
        done = world.run(["run", "-q", *more, *world.policy(), "--ro", START, "--",
                          there + b"/libs/ld", "--library-path", there + b"/libs", there + b"/program",
                          "check", operation, "--json", "-q", "--", *[spell_own(world, row) for row in rows]],
                         cwd=vectors.WORKSPACE if is_there else START)
        if not done.stdout.strip():
            raise NotTried(f"status {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()}")
        return json.loads(done.stdout.decode("utf-8", "surrogateescape"))

    def compare(self, row, data):
        got = "error" if data.get("error") else data["verdict"]
        if got != row.verdict:
            return f"{got} {data.get('rule', data.get('error'))}"
        if data["sandbox"] != "this":
            return f"about another sandbox: {data}"
        # What nobody inside may know is refused without a name, or by the lists; a run looks for sockets and seals.
        if got == "deny" and re.match("(default|unlisted|this sandbox|policy file|secret .*|deny socket .*)$", data["rule"]):
            return None
        return None if data["rule"] == row.rule else f"{got} {data['rule']}"


def spell_own(world, row):
    """A path as it is inside."""
    if is_host(row):
        return row.what
    kind, path = (b"unix:", row.what[5:]) if row.what.startswith(b"unix:") else (b"", row.what)
    return kind + world.inside(os.path.join(vectors.WORKSPACE.encode(), path))


class NestedQuery(Query):
    """bawn check inside a sandbox."""
    name, is_nested = "nested query", True

    @staticmethod
    def start(world, arguments, **options):
        prepare_outer(world)
        return world.run([*OUTER, *arguments], **options)


class Nested(Kernel):
    """A try inside bawn run inside bawn run."""
    name, is_nested = "nested", True
    command = (*OUTER, *Kernel.command)

    def start(self, world, lines, when_ready=lambda: None):
        prepare_outer(world)
        return super().start(world, lines, when_ready)


WAYS = {way.name: way for way in (Query(), Kernel(), Own(), NestedQuery(), Nested(), Bare())}
USUAL = ["query", "kernel", "own", "nested query", "nested"]
