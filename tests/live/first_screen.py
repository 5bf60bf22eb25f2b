#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a full-screen program on a terminal of its own, waits until a pattern is on the screen, and
ends the program.

first_screen.py PATTERN COMMAND...: 0 when the pattern came, else 1 with the screen on standard error.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

TIMEOUT_SECONDS = 60
# What programs ask of a terminal before they draw, and what xterm says.
QUESTIONS = ((b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[c", b"\x1b[?62;22c"), (b"\x1b[0c", b"\x1b[?62;22c"),
             (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"))


def text_of(screen):
    """Without escapes; words that are placed apart by moving the cursor are still apart."""
    screen = re.sub(rb"\x1b\][^\x07\x1b]*(\x07|\x1b\\)", b"", screen)
    screen = re.sub(rb"\x1b\[[0-9;]*[CGHf]", b" ", screen)
    screen = re.sub(rb"\x1b[\[(P_][0-9;?<>=!$]*[ -/]*[@-~]", b"", screen)
    return re.sub(r"\s+", " ", screen.decode("utf-8", "replace"))


def watch(fd, pattern):
    screen = b""
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end:
        if not select.select([fd], [], [], 0.2)[0]:
            continue
        try:
            some = os.read(fd, 65536)
        except OSError:
            break
        if not some:
            break
        for question, answer in QUESTIONS:
            if question in some:
                os.write(fd, answer)
        screen += some
        if re.search(pattern, text_of(screen)):
            return True, screen
    return False, screen


def main():
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    found, screen = watch(fd, sys.argv[1])
    os.kill(pid, signal.SIGTERM)
    # What it still draws must not keep it waiting.
    while select.select([fd], [], [], 10)[0]:
        try:
            if not os.read(fd, 65536):
                break
        except OSError:
            break
    os.waitpid(pid, 0)
    if not found:
        print(text_of(screen)[-3000:], file=sys.stderr)
    sys.exit(0 if found else 1)


main()
