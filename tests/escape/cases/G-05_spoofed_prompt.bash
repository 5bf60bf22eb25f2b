# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# G-05 what a program puts into a path or its arguments is shown as it is, by every way to be asked
# layers: words
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"

cat >"$WS/ask.py" <<'END'
import os, sys
evil = open("evil", "rb").read()
if len(sys.argv) == 1:
    os.execv(sys.executable, ["python3", "ask.py", evil])
try:
    os.open(b"asked" + evil, os.O_WRONLY | os.O_CREAT)
    print("opened")
except OSError as error:
    print("refused", error.errno)
END
cat >"$T/look.py" <<'END'
import json, os, pty, re, select, subprocess, sys, time
from asking import BAWN, Supervisor
ws = sys.argv[1]
# ESC, C1 as a byte and as a character, CR, BS, OSC 0, 8 and 52, bidi, zero width, variation selectors, separators.
evil = ("\x1b[35;44mE\x1b]0;title\x07\x1b]8;;mailto:x\x07L\x1b]52;c;ZXZpbA==\x07\u009b5iC\r\bR\u202egpj\u2066i\u2069"
        "z\u200b\u200d\ufe0f\u034f\u3164\U000e0041\u2028s\u2029\nwants    to read harmless").encode() + b"\x9b31m\xff"
open(ws + "/evil", "wb").write(evil)
raw = [b"\x1b[35;44m", b"\x1b]", b"\x07", b"\x9b", b"\xff", b"\b", "\u009b".encode(), b"\nwants    to read harmless", b"\rwants    to read",
       *(one.encode() for one in "\u202e\u2066\u2069\u200b\u200d\ufe0f\u034f\u3164\U000e0041\u2028\u2029")]
failed = []

def clean(text, what):
    if b"\\x1b[35;44mE" not in text and b"\\u001b[35;44mE" not in text:
        failed.append(f"# broken: {what} does not show it: {text[-300:]!r}")
    for one in raw:
        at = text.find(one)
        if at >= 0:
            failed.append(f"# not contained: {what} has {one!r}: {text[max(0, at - 40):at + 20]!r}")

def on_terminal(terminal):
    """What a terminal gets until it is answered no; bytes."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = terminal
        os.chdir(ws)
        os.execv(BAWN, ["bawn", "run", "-q", "--", "python3", "ask.py"])
    import fcntl, struct, termios
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("4H", 50, 200, 0, 0))
    text, until, typed = b"", time.monotonic() + 15, None
    while time.monotonic() < until:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                text += os.read(fd, 65536)
            except OSError:
                break
        # Not at the first sight: what is typed before somebody can have read the question does not count.
        now = time.monotonic()
        if typed is None and (b"[n]o" in text or b"Enter alone is no" in text):
            typed = now
        elif typed is not None and now > typed + 0.8:
            os.write(fd, b"n\r")
            typed = now
    else:
        failed.append(f"# broken: on a terminal {terminal} the answer was not taken")
        os.kill(pid, 15)
    os.waitpid(pid, 0)
    return text

text = on_terminal("dumb")
clean(text, "the prompt in lines")
text = on_terminal("xterm")
clean(text, "the prompt")
with Supervisor() as one:
    command = subprocess.Popen([BAWN, "run", "-q", "-C", ws, "--", "python3", "ask.py"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    question = one.question(15) or {"line": b"", "path": "", "id": "", "argv": []}
    clean(question["line"], "the question as JSON")
    if question["argv"][2:] and "\x1b[35;44m" not in question["argv"][2]:
        failed.append("# broken: the arguments are not told")
    for option in [], ["--json"]:
        listed = subprocess.run([BAWN, "approve", "--list", *option], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        clean(listed.stdout, " ".join(["approve --list", *option]))
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(BAWN, ["bawn", "approve"])
    import fcntl, struct, termios
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("4H", 50, 200, 0, 0))
    text, keys, until, typed = b"", [b"\r", b"b", b"q"], time.monotonic() + 12, time.monotonic()
    while time.monotonic() < until:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                text += os.read(fd, 65536)
            except OSError:
                break
        if keys and b"write" in text and time.monotonic() > typed + 1.2:
            os.write(fd, keys.pop(0))
            typed = time.monotonic()
    if os.waitpid(pid, os.WNOHANG)[0] == 0:
        os.kill(pid, 15)
        os.waitpid(pid, 0)
    if b"bawn asks for" not in text:
        failed.append("# broken: the list did not show the question")
    clean(text, "bawn approve")
    one.command(type="cmd.deny", id=question["id"])
    said = command.communicate(timeout=15)[1]
    clean(said + b"\\x1b[35;44mE", "what is said of refusals")
print("\n".join(failed + ["looked"]))
END
asks '"asked*"'
STATUS=0
python3 "$T/look.py" "$WS" >"$T/looked" 2>&1 || STATUS=$?
grep '^# ' "$T/looked"
BROKEN=$((BROKEN + $(grep -c '^# ' "$T/looked")))
[[ $(tail -n1 "$T/looked") == looked ]] || escaped "not all was looked at: $(tail -n1 "$T/looked")"
equal 0 "$(find "$WS" -name 'asked*' | wc -l)" "what was written"
