#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_add.py BAWN SESSION SEED: random changes, taken with the same random answers by 'git add -p' and by
'bawn apply --interactive'. Both must ask the same and give the same files. Works in the empty directory where
it is started. Says how many questions there were.

Only keys that git offers are pressed: 2.39 takes one that was there at an earlier question, too, and goes
astray. And a hunk is not edited in a file in which one was split: git then refuses some that fit."""
import os
import random
import re
import subprocess
import sys

FILES = 20
ANSWERS = 250
# An editor that takes a new line out, or leaves an old one in, but not the last change of all: what becomes of
# that depends on what else is taken in git.
EDITOR = """#!/usr/bin/env python3
import sys
path = sys.argv[1]
lines = open(path, "rb").read().split(b"\\n")
changes = [i for i, line in enumerate(lines) if line[:1] in (b"+", b"-")]
for i in changes if len(changes) > 1 else []:
    if lines[i + 1].startswith(b"\\\\"):
        continue
    if lines[i].startswith(b"+"):
        del lines[i]
        break
    if len(changes) % 3 == 0:
        lines[i] = b" " + lines[i][1:]
        break
open(path, "wb").write(b"\\n".join(lines))
"""


def line(dice):
    if dice.random() < 0.1:
        return dice.choice([b"", b"\t", b"@@ -1 +1 @@", b"# no comment", b"-", b"+", b"int main(void)"])
    return b"line %d" % dice.randrange(8)


def changed(dice, lines):
    made = []
    rare = dice.choice([3, 6, 12])
    for one in lines:
        what = dice.randrange(rare * 3)
        if what != 0:
            made.append(one)
        if what < 3:
            made.append(line(dice))
    return made


def text(dice, lines):
    whole = b"".join(one + b"\n" for one in lines)
    return whole[:-1] if whole.endswith(b"\n") and dice.random() < 0.15 else whole


def answer(dice, keys, count):
    """One of the keys, and what belongs to it."""
    weights = {"y": 4, "n": 4, "s": 8, "e": 2, "q": 0, "?": 0, "a": 0.2, "d": 0.2}
    key = dice.choices(keys, [weights.get(key, 1) for key in keys])[0]
    if key == "g":
        return f"g {dice.randrange(count + 2)}"
    if key == "/":
        return dice.choice(["/line 3", "/^[-+]line", "/[", "/nothing like it"])
    return dice.choice([key.upper(), key + "es"]) if key in "yn" and dice.random() < 0.1 else key


def answer_all(dice, words, environ):
    """Answers what a command asks: all that it says, and the answers."""
    given = ""
    said = b""
    read = 0
    barred = ""
    asked = re.compile(rb"\((\d+)/(\d+)\) Stage [^\[]*\[([^\]]*)\]\? \Z|\[(y/n)\]\? \Z")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=environ) as process:
        while chunk := os.read(process.stdout.fileno(), 65536):
            said += chunk
            found = asked.search(said[-200:])
            if not found:
                continue
            if given.count("\n") == ANSWERS:
                process.stdin.close()
                said += process.stdout.read()
                break
            if b"\ndiff --git" in said[read:]:
                barred = ""
            read = len(said)
            keys = (found[4] or found[3].replace(b",", b"/").replace(b"//", b"/")).decode().split("/")
            if found[3] and b"/" in found[3]:
                keys.append("/")
            one = answer(dice, [key for key in keys if key and key != barred], int(found[2] or 0)) + "\n"
            barred = {"s": "e", "e": "s"}.get(one[0], barred)
            given += one
            process.stdin.write(one.encode())
            process.stdin.flush()
        process.wait()
    return said, given


def run(*words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more).stdout


def keys_in_order(match):
    # Of an edited hunk git still offers to split it as it was.
    return "[" + ",".join(sorted(key for key in match.group(1).split(",") if key != "s")) + "]"


def dialogue(text, last):
    """What was asked, without what the two are free to say in their own words."""
    text = re.sub(r"^index .*\n", "", text, flags=re.M)
    text = text.replace(") Stage ", ") Take ").replace("Take mode change", "Take this mode change")
    text = re.sub(r"\[([a-zA-Z/?,]+)\](?=\?)", keys_in_order, text)
    return re.sub(last, "", text).rstrip("\n")


def main():
    bawn, session, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    dice = random.Random(seed)
    editor = os.path.join(os.getcwd(), "editor")
    os.mkdir("tree")
    os.mkdir("new")
    with open(editor, "w", encoding="ascii") as file:
        file.write(EDITOR)
    os.chmod(editor, 0o755)
    names = [f"f{number:02}" for number in range(FILES)]
    for name in names:
        lines = [line(dice) for _ in range(dice.randrange(60))]
        for where, content in (("tree", text(dice, lines)), ("new", text(dice, changed(dice, lines)))):
            with open(f"{where}/{name}", "wb") as file:
                file.write(content)
        if dice.random() < 0.3:
            os.chmod(f"new/{name}", 0o755)
    environ = dict(os.environ, EDITOR=editor, VISUAL=editor, LC_ALL="C.UTF-8", GIT_CONFIG_NOSYSTEM="1")
    run("cp", "-a", "tree", "repository")
    git = ["git", "-C", "repository", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "diff.indentHeuristic=false",
           "-c", "core.quotePath=false"]
    run(*git, "init", "-q")
    run(*git, "add", ".")
    run(*git, "commit", "-qm", "x")
    run("sh", "-c", "cp new/* repository/")
    run(bawn, "run", "-q", "--overlay", "tree", "--session", session, "--", "sh", "-c", "cp new/* tree/")
    theirs, given = answer_all(dice, [*git, "add", "-p"], environ)
    ours = run(bawn, "apply", session, "--interactive", input=given.encode(), env=environ)
    theirs = dialogue(theirs.decode(errors="replace"), r"\n*$")
    ours = dialogue(ours.decode(errors="replace"), r"\n*applied [^\n]*\n$")
    if theirs != ours:
        for number, (one, other) in enumerate(zip(theirs.split("\n"), ours.split("\n"))):
            if one != other:
                break
        sys.exit(f"seed {seed}: other questions: git\n" + "\n".join(theirs.split("\n")[max(0, number - 30):number + 8]) +
                 "\n--- bawn\n" + "\n".join(ours.split("\n")[max(0, number - 30):number + 8]))
    for name in names:
        with open(f"tree/{name}", "rb") as file:
            content = file.read()
        mode = b"100755" if os.stat(f"tree/{name}").st_mode & 0o100 else b"100644"
        if run(*git, "show", f":{name}") != content:
            sys.exit(f"seed {seed}: {name} is\n{content!r}\n--- git\n{run(*git, 'show', f':{name}')!r}")
        if not run(*git, "ls-files", "-s", name).startswith(mode):
            sys.exit(f"seed {seed}: {name} has another mode")
    print(ours.count("]? "))


main()
