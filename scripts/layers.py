#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks src/LAYERS: every #include "folder/file.h" below src must be allowed for its folder, and
every folder must be listed. Then that the pure folders ask the system nothing, and that what a plan
is made from is looked at in one place, which notes it."""
import pathlib
import re
import sys

src = pathlib.Path(__file__).resolve().parent.parent / "src"
allowed = {}
for line in (src / "LAYERS").read_text().splitlines():
    line = line.split("#")[0].strip()
    if line:
        folder, _, rest = line.partition(":")
        allowed[folder.strip()] = set(rest.split())

bad = []
for path in sorted(src.rglob("*.[ch]")):
    folder = path.relative_to(src).parts[0]
    if folder not in allowed:
        bad.append(f"{path}: the folder {folder} is not in src/LAYERS")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not found:
            continue
        target = found.group(1)
        if target in ("installed.h", "steer_rules.h", "veth_rules.h"):  # meson makes them
            continue
        if "/" not in target:
            bad.append(f"{path}:{number}: name the folder: {target}")
            continue
        other = target.split("/")[0]
        if other != folder and other not in allowed[folder] and target not in allowed[folder]:
            bad.append(f"{path}:{number}: {folder} may not include {target}")
pure = {"policy", "config", "plan"}
# Headers of the system that give constants only.
constants = {"plan/syscalls.c": {"fcntl.h", "sched.h", "sys/socket.h"}}
system = re.compile(r"\s*#\s*include\s+<(unistd|fcntl|dirent|pwd|time|sys/[a-z]+)\.h>")
forbidden = re.compile(r"\b(open|openat|fopen|stat|lstat|readlink|getenv|time|clock_gettime|getpid|"
                       r"getuid|realpath|access)\s*\(")
for path in sorted(src.rglob("*.c")):
    if path.relative_to(src).parts[0] in pure:
        allowed_here = constants.get(str(path.relative_to(src)), set())
        for number, line in enumerate(path.read_text().splitlines(), 1):
            header = system.match(line)
            if header and header.group(1) + ".h" not in allowed_here:
                bad.append(f"{path}:{number}: a pure folder includes <{header.group(1)}.h>")
            if forbidden.search(line) and not line.lstrip().startswith(("*", "/*", '"')):
                bad.append(f"{path}:{number}: a pure folder asks the system: {line.strip()}")
# What a policy and its plan are made from is looked at through a view, which notes it. Those that
# only write, start the launcher, answer questions or print rules for others have no plan to look for.
view = "api/view.c"
not_planning = {view, "api/approve.c", "api/firewall.c", "api/inside.c", "api/learn.c",
                "api/learned.c", "api/outer.c", "api/program.c", "api/query.c",
                "api/run.c", "api/start.c", "api/store.c"}
looks = re.compile(r"\b(open|openat|openat2|fopen|opendir|fdopendir|stat|lstat|fstatat|statx|statfs|"
                   r"access|faccessat|readlink|readlinkat|realpath|getcwd|getenv|secure_getenv|"
                   r"environ_get|getgroups|geteuid|getpw\w+|getgr\w+|file_read|isatty|scandir|glob|"
                   r"nftw)\s*\(|\bview_passing\b")
for path in sorted((src / "api").glob("*.c")):
    if str(path.relative_to(src)) in not_planning:
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if looks.search(line) and not line.lstrip().startswith(("*", "/*", '"')):
            bad.append(f"{path}:{number}: looks at the host past {view}: {line.strip()}")
if bad:
    print("\n".join(bad))
sys.exit(1 if bad else 0)
