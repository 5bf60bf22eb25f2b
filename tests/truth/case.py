# SPDX-License-Identifier: Apache-2.0
"""One case: a random small tree and a random small policy. Data alone, so that parts can be left out."""
import os

NAMES = ["a", "b", "c", "k.pem", ".env", ".git", "hooks", "config", ".bashrc", ".vscode", ".ssh", ".cache",
         ".config"]
PATTERNS = ["*.pem", ".env", "a*", "**/b/c", "b/*", "?", "/**/c", "[ab]", "c/**", "a/b"]
WORDS = ["ro", "rw", "deny", "protect", "private"]
MODES = ["ro", "rw", "deny", "private"]
FLAGS = [(.1, "--reads static"), (.1, "--profile strict"), (.06, "--workspace-mount /workspace"),
         (.05, "--map-root"), (.04, "--allow-containers"), (.04, "--net host"), (.03, "--as-root"),
         (.03, "--preset git"), (.03, "--preset rust")]
# Workspace and home, below the directory that all is in; "o" is neither.
PLACES = [("w", "h")] * 4 + [("h", "h"), ("w/a", "h"), ("h/a", "h")]


class Case:
    def __init__(self, rng):
        self.tree = []   # (kind, path, detail), made in this order
        self.rules = []  # (how it is said, word or mode, path or pattern)
        self.work, self.home = rng.choice(PLACES)
        self.places = ["h", "o", "w"]
        self.flags = [flag for chance, flag in FLAGS if rng.random() < chance]
        dirs = list(self.places)
        for _ in range(rng.randint(4, 16)):
            self.add_entry(rng, dirs)
        for path in self.places[3:]:
            if rng.random() < .05:
                self.tree.append(("mode", path, rng.choice([0, 0o111, 0o311, 0o444, 0o500, 0o755])))
            if rng.random() < .03:
                self.tree.append(("other", path, None))
        for _ in range(rng.randint(0, 5)):
            self.rules.append(self.rule(rng))
        if rng.random() < .12:
            self.rules.append(("project", rng.choice(["deny", "protect"]), rng.choice(PATTERNS + NAMES)))

    def add_entry(self, rng, dirs):
        path = f"{rng.choice(dirs)}/{rng.choice(NAMES)}"
        kind = rng.choices(["dir", "file", "link", "hard", "socket", "fifo"], [8, 8, 5, .5, 1.5, .3])[0]
        detail = None
        files = [entry[1] for entry in self.tree if entry[0] == "file"]
        # What is no directory there could be no policy either: nothing starts.
        if path in self.places or path == "h/.config" or (kind == "hard" and not files):
            return
        if kind == "link":
            detail = self.some_path(rng, .2)
            if rng.random() < .5:
                detail = os.path.relpath("/" + detail, "/" + os.path.dirname(path))
            else:
                detail = "/BASE/" + detail
        elif kind == "hard":
            detail = rng.choice(files)
        elif kind == "dir":
            dirs.append(path)
        self.places.append(path)
        self.tree.append((kind, path, detail))

    def some_path(self, rng, absent):
        path = rng.choice(self.places)
        return f"{path}/{rng.choice(NAMES)}" if rng.random() < absent else path

    def rule(self, rng):
        word = rng.choice(WORDS)
        if rng.random() < .3 or (word in ("deny", "protect") and rng.random() < .5):
            return ("pattern", rng.choice(["deny", "protect"]), rng.choice(PATTERNS + NAMES))
        path = self.some_path(rng, .3)
        if path in (self.work, self.home):
            word = "ro"  # no command starts in what is hidden
        if rng.random() < .5:
            return ("option", word, path)
        return ("path", "ro" if path in (self.work, self.home) else rng.choice(MODES), path)

    def has(self, kind):
        return any(entry[0] == kind for entry in self.tree)

    def roots(self, word=None):
        """The paths that rules name."""
        return [rule[2] for rule in self.rules if rule[0] in ("option", "path") and word in (None, rule[1])]

    def text(self):
        lines = [f"workspace {self.work}, home {self.home}, options {' '.join(self.flags) or 'none'}"]
        lines += [f"tree {' '.join(str(word) for word in entry)}" for entry in self.tree]
        return lines + [f"rule {' '.join(rule)}" for rule in self.rules]

    def smaller(self):
        """Each case that has one part less."""
        for field in ("rules", "tree", "flags"):
            parts = getattr(self, field)
            for index in reversed(range(len(parts))):
                yield self.changed(**{field: parts[:index] + parts[index + 1:]})
        if (self.work, self.home) != ("w", "h"):
            yield self.changed(work="w", home="h")

    def changed(self, **fields):
        case = Case.__new__(Case)
        case.__dict__.update(self.__dict__, **fields)
        return case


def questions(case, rng, base):
    """Paths worth asking about: what is there, what rules name, and names in, beside and below it."""
    paths = {f"{base}/{name}" for name in case.places + case.roots()}
    for name in case.places:
        paths |= {f"{base}/{name}/{child}" for child in rng.sample(NAMES, 3)}
        if rng.random() < .2:
            paths.add(f"{base}/{name}/../{rng.choice(NAMES)}")
        if rng.random() < .2:
            paths.add(f"{base}/{name}/{rng.choice(NAMES)}/{rng.choice(NAMES)}")
    return sorted(paths)
