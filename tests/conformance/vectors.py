# SPDX-License-Identifier: Apache-2.0
"""Reads tests/vectors: which questions there are, and what must be answered."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORKSPACE, HOME = "/home/vector/work", "/home/vector/home"
MODE = re.compile(r"([\w.-]+): \{root: [^}]*mode: (\w+)")


def expand(text, escapes):
    """$W, $H and, where asked for, \\n \\t \\\\ \\xNN; bytes, since names are bytes."""
    text = re.sub(r"\$W(?!ORKSPACE)", WORKSPACE, text)
    text = re.sub(r"\$H(?!OME)", HOME, text)
    raw = text.encode("utf-8", "surrogateescape")
    if not escapes:
        return raw
    words = {b"n": b"\n", b"t": b"\t", b"\\": b"\\"}
    return re.sub(rb"\\(?:x([0-9a-fA-F]{2})|([nt\\]))",
                  lambda m: bytes([int(m[1], 16)]) if m[1] else words[m[2]], raw)


class Row:
    """One question: operation, what, verdict, the rule that wins, why it is not tried."""

    def __init__(self, line, number):
        columns = line.split("\t")
        self.reason = columns.pop()[2:] if columns[-1].startswith("! ") else None
        self.short_of = None
        for word in ("listing", "removing"):
            if self.reason and self.reason.startswith(word + ": "):
                self.short_of, self.reason = word, None
        self.number, self.operation, self.text = number, columns[0], columns[1]
        self.what = expand(columns[1], True)
        self.verdict = columns[2] if len(columns) > 2 else ""
        self.rule = expand(columns[3], False).decode() if len(columns) > 3 else ""
        if self.operation == "resolve":
            self.verdict = expand(columns[2], True)


class Case:
    """A policy, what is made before, and the rows."""

    def __init__(self, file, name):
        self.file, self.name = file, name
        self.profile, self.presets, self.keys = "default", [], []
        self.best_effort, self.reason = False, None
        self.layers, self.tree, self.rows, self.later = [], [], [], []

    def modes(self):
        """What mode the grants have that the policy names, those of profile and presets too."""
        texts = [(ROOT / "data/profiles" / f"{self.profile}.yaml").read_text()]
        texts += [(ROOT / "data/presets" / f"{name}.yaml").read_text() for name in self.presets]
        texts += [text.decode() for _, text in self.layers]
        # sandbox.home and sandbox.reads make these.
        laid_over = any("overlay_all: true" in text for text in texts)
        return {"home": "private", "sys": "private",
                **{name: "overlay" if laid_over and mode == "rw" else mode
                   for text in texts for name, mode in MODE.findall(text)}}


def read_cases(path):
    """The cases of one file."""
    cases, case, section, rows = [], None, None, False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "case":
            case, rows = Case(path.name, rest), False
            cases.append(case)
        elif rows:
            case.rows.append(Row(line, number))
        elif line[0] == "|" and isinstance(section, list):
            section.append(expand(line[2:], True))
        elif line[0] == "|":
            kind, text = case.layers[-1]
            case.layers[-1] = (kind, text + expand(line[1:].removeprefix(" "), False) + b"\n")
        else:
            section = {"tree": case.tree, "later": case.later}.get(word)
            rows = word == "rows"
            if word == "layer":
                case.layers.append((rest, b""))
            elif word == "profile":
                case.profile = rest
            elif word == "preset":
                case.presets.append(rest)
            elif word == "set":
                case.keys.append(expand(rest, False).decode())
            elif word == "best-effort":
                case.best_effort = True
            elif word == "!":
                case.reason = rest
            elif word not in ("tree", "later", "rows"):
                raise SystemExit(f"{path}:{number}: cannot read '{line}'")
    return cases
