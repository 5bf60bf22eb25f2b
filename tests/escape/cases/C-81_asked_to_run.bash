# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-81 a yes to running one file runs no other, whatever its path or its memory leads to by then
# layers: mount notify
# not: nested, nobody outside can be asked
# seconds: 90
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"
export SANDBOX_SECONDS=80

mkdir -p "$WS/.bawn"
echo 'sandbox: {ask: ["*.tool"]}' >"$WS/.bawn/policy.yaml"
printf '#!/bin/sh\nexit 7\n' >"$WS/plain"
cp /bin/false "$WS/yes.tool"
cp /bin/true "$WS/no.tool"
printf '#!%s/no.tool\n' "$WS" >"$WS/script"
chmod 755 "$WS/plain" "$WS/yes.tool" "$WS/no.tool" "$WS/script"
# What ends with 0 was no.tool.
cat >"$WS/swap.py" <<'END'
import ctypes, mmap, os, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
yes, no, plain = (os.path.join(os.getcwd(), name) for name in ("yes.tool", "no.tool", "plain"))
argv = (ctypes.c_char_p * 2)(b"x", None)
envp = (ctypes.c_char_p * 1)(None)
shared = mmap.mmap(-1, 4096)
buffer = ctypes.c_char.from_buffer(shared)


def put(path):
    shared[: len(path) + 1] = path.encode() + b"\0"


def attempt(call):
    pid = os.fork()
    if pid == 0:
        call()
        os._exit(100)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def flip(first, second, change):
    over = threading.Event()

    def run():
        while not over.is_set():
            change(first)
            change(second)

    thread = threading.Thread(target=run)
    thread.start()
    return lambda: (over.set(), thread.join())


def relink(path):
    os.symlink(path, "link.new")
    os.rename("link.new", "link")


def count(name, call, times):
    ran = sum(attempt(call) == 0 for _ in range(times))
    print("%s\t%s" % ("ok" if ran else "EACCES", name))


def at(fd):
    libc.syscall(ctypes.c_long(322), fd, b"", argv, envp, 0x1000)


for name, other in (("memory", plain), ("memory of a yes", yes)):
    end = flip(other, no, put)
    count(name, lambda: libc.execve(ctypes.byref(buffer), argv, envp), 300)
    end()
relink(plain)
for name, other in (("link", plain), ("link of a yes", yes)):
    end = flip(other, no, relink)
    count(name, lambda: libc.execve(b"link", argv, envp), 100)
    end()
handle = os.open(no, os.O_PATH)
count("descriptor", lambda: at(handle), 1)
count("proc", lambda: libc.execve(b"/proc/self/fd/%d" % handle, argv, envp), 1)
count("interpreter", lambda: libc.execve(b"script", argv, envp), 1)
count("root", lambda: libc.execve(b"/proc/self/root" + no.encode(), argv, envp), 1)
print("%s\tyes" % ("ok" if attempt(lambda: libc.execve(yes.encode(), argv, envp)) == 1 else "EACCES"))
print("%s\tplain" % ("ok" if attempt(lambda: libc.execve(plain.encode(), argv, envp)) == 7 else "EACCES"))
END
source "$ESCAPE/answers.bash"
answering <<END
default: deny
rules:
- {op: exec, path: "$WS/yes.tool", answer: allow, scope: once}
END
sandbox -- python3 swap.py
sandbox_ran
answers <<END
EACCES memory
EACCES memory of a yes
EACCES link
EACCES link of a yes
EACCES descriptor
EACCES proc
EACCES interpreter
EACCES root
ok yes
ok plain
END
