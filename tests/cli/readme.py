#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme.py README HOME: does in HOME what the README shows, and compares what is printed with what the
README says is printed. HOME stands for /home/ada; the project is src/app below it.

A block whose first line starts with "$ " is commands and what they print; a line "..." stands for any
lines. A block of YAML is the file that the text before it names in backquotes. Other blocks are not
for this program."""
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

ADA = "/home/ada"
MARK = "-- next command --"
# What is not bawn runs outside, and does nothing that needs a boundary.
COMMANDS = ("bawn", "cd", "session=$(bawn")


def blocks(text):
    """(language, line, text before the block, block)"""
    lines = text.splitlines()
    at, before = 0, ""
    while at < len(lines):
        if not lines[at].startswith("```"):
            before = lines[at] if lines[at].strip() else before
            at += 1
            continue
        end = lines.index("```", at + 1)
        yield lines[at][3:], at + 1, before, lines[at + 1:end]
        at, before = end + 1, ""


def make_home(home):
    app = home / "src/app"
    for path in (app / "src", app / "src/generated", home / "notes", home / "letters", home / ".ssh", home / ".npm-global/bin"):
        path.mkdir(parents=True)
    (home / ".ssh/id_ed25519").write_text("a key\n")
    (home / "letters/bank.txt").write_text("rest\n")
    (app / "src/main.c").write_text("int main(void) { return 0; }\n")
    (app / ".env").write_text("TOKEN=1\n")
    (app / "Makefile").write_text("test: src/main.c\n\t@cc -o app src/main.c && ./app && echo passed\n")
    (app / "bad.yaml").write_text("version: 1\nsandbox:\n  raeds: strict\n")
    (app / ".claude").mkdir()
    (app / ".claude/settings.json").write_text('{"permissions": {"deny": ["Read(./secret.txt)"]}}\n')
    (app / "srt-settings.json").write_text('{"filesystem": {"denyRead": ["secret.txt"]}}\n')
    # The agent itself is started by tests/live/agents.bats.
    (home / ".npm-global/bin/claude").write_text("#!/bin/sh\n")
    (home / ".npm-global/bin/claude").chmod(0o755)
    subprocess.run(["git", "init", "-q", "-b", "main", app], check=True)


def split(block):
    """[(command, the lines that it prints)]"""
    steps = []
    for line in block:
        if line.startswith("$ "):
            if line[2:].split()[0] not in COMMANDS:
                raise ValueError(f"README.md shows a command that is not tried outside: {line}")
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps


def play(steps, home):
    """What each command prints, on both streams, as the README has it."""
    script = "".join(f"echo '{MARK}'\n{command}\n" for command, _ in steps)
    done = subprocess.run(["bash", "-c", f"exec 2>&1\n{script}"], cwd=home / "src/app", text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, timeout=60)
    printed = done.stdout.replace(str(home), ADA)
    printed = re.sub(r"^[a-z0-9]{6}(?= (stopped|ended),)", "k3f9q2", printed, flags=re.M)
    return [part.splitlines() for part in printed.split(MARK + "\n")[1:]]


def matches(expected, printed):
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def main():
    readme, home = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    wrong = played = 0
    make_home(home)
    os.environ["HOME"] = str(home)
    os.environ["PATH"] = f"{home}/.npm-global/bin:{os.environ['PATH']}"
    for language, line, before, block in blocks(readme.read_text()):
        if language == "yaml":
            name = re.search(r"`([^`]+\.yaml)`", before).group(1)
            path = home / name[2:] if name.startswith("~/") else home / "src/app" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(block) + "\n")
        if not block[0].startswith("$ "):
            continue
        steps = split(block)
        for (command, expected), printed in zip(steps, play(steps, home), strict=True):
            played += 1
            if not matches(expected, printed):
                wrong += 1
                print(f"README.md, block at line {line}: $ {command}")
                print("\n".join(difflib.unified_diff(expected, printed, "README", "printed", "", "",
                                                     lineterm="")))
    print(f"{played} commands, {wrong} wrong")
    return 1 if wrong or not played else 0


if __name__ == "__main__":
    sys.exit(main())
