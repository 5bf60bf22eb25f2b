#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose keys are whose: in a pipeline, behind script, tmux and nohup. TAP on stdout.

usage: keys.py BAWN [CASE]...
"""

import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from typist import READER, WAIT, Skip, case, main, read, reads_a_word, stop, wait_for  # noqa: E402


@case
def tee_keeps_a_log_and_the_command_has_the_keys(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- cat | tee log\r")
    terminal.await_raw()
    terminal.type("a line\r")
    terminal.expect("a line\r\na line\r\n")
    terminal.type("\x04")
    terminal.expect("host> ")
    assert read(t, "log") == "a line\n"
    terminal.is_restored()
    terminal.type(f"$bawn run -- {READER} | tee log\r")
    terminal.expect("ready")
    terminal.await_raw()
    stop(terminal)
    terminal.type("fg\r")
    terminal.await_raw()
    terminal.type("word\r")
    terminal.expect("got:word")
    terminal.expect("host> ")
    assert read(t, "log") == "ready\ngot:word\n"
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; read x; echo no' | tee log; echo status=${PIPESTATUS[0]}\r")
    terminal.expect("ready")
    terminal.await_raw()
    terminal.type("\x03")
    terminal.expect("status=130")
    terminal.is_restored()


@case
def behind_a_pipe_who_polls_for_keys_gets_them_and_the_end(t):
    program = ("import os, select\n"
               "print(\"rea\" \"dy\", flush=True)\n"
               "while True:\n"
               "    select.select([0], [], [])\n"
               "    line = os.read(0, 100)\n"
               "    print(\"got\", line, flush=True)\n"
               "    if not line: break\n")
    with open(os.path.join(t.directory, "poll.py"), "w", encoding="utf-8") as file:
        file.write(program)
    terminal = t.host_shell()
    terminal.type("$bawn run -- /usr/bin/python3 poll.py | tee log\r")
    terminal.expect("ready")
    time.sleep(0.5)
    assert not terminal.is_raw(), "the keys were taken, and nobody wanted them"
    terminal.type("word\r")
    terminal.expect(r"got b'word\\n'")
    terminal.await_raw()
    terminal.type("more\r")
    terminal.expect(r"got b'more\\n'")
    terminal.type("\x04")
    terminal.expect("got b''")
    terminal.expect("host> ")
    terminal.is_restored()


@case
def behind_a_pipe_an_end_of_file_is_the_first_key(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- /usr/bin/python3 -c 'import select, os; print(\"rea\" \"dy\", flush=True);"
                  " select.select([0], [], []); print(\"got\", os.read(0, 9), flush=True)' | cat\r")
    terminal.expect("ready")
    time.sleep(0.3)
    terminal.type("\x04")
    terminal.expect("got b''")
    terminal.expect("host> ")
    terminal.is_restored()


@case
def behind_a_pipe_the_interrupt_ends_both(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; exec sleep 1000' | cat\r")
    terminal.expect("ready")
    time.sleep(0.2)
    terminal.type("\x03")
    terminal.expect("host> ")
    terminal.type("echo status=${PIPESTATUS[*]}\r")
    terminal.expect("status=130 130")
    terminal.is_restored()


@case
def what_is_typed_unseen_for_another_is_not_the_commands(t):
    """As with `bawn run ... | sudo tee`: the command reads, or polls, while a password is asked for."""
    terminal = t.host_shell()
    for wants in ("sh -c \"read x; echo inside:$x\"",
                  "/usr/bin/python3 -c \"import select,os; select.select([0],[],[]); print(os.read(0,99).decode())\""):
        terminal.type("(sleep 1; exec $bawn run -- " + wants.replace("$x", "\\$x") + ") | (stty -echo </dev/tty; printf pass:;"
                      " read p </dev/tty; stty echo </dev/tty; echo outside:$p; cat)\r")
        terminal.expect("pass:")
        time.sleep(2)
        terminal.type("secret\r")
        terminal.expect("outside:secret")
        time.sleep(0.5)
        terminal.type("word\r")
        shown = terminal.expect(r"(?s)(.*)host> ").group(1)
        assert b"secret" not in shown and b"word" in shown, f"saw {shown!r}"
        terminal.is_restored()


@case
def a_real_pager_behind_a_pipe_has_its_keys(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- seq 1 2000 | LESS= less\r")
    terminal.expect(r"\r\n30\r\n")
    time.sleep(0.3)
    terminal.type("G")
    terminal.expect(r"\r\n2000\r\n")
    terminal.type("q")
    terminal.expect("host> ")
    terminal.is_restored()


@case
def errors_in_a_file_and_input_from_one(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; read x; echo got:$x; echo err >&2; exit 5' 2>err\r")
    terminal.expect("ready")
    reads_a_word(terminal)
    assert read(t, "err") == "err\n"
    terminal.type("seq 1 3 >in; $bawn run -- sh -c 'cat; test -t 1; echo 1=$?; read x </dev/tty; echo got:$x; exit 5' <in\r")
    terminal.expect("1\r\n2\r\n3\r\n1=0\r\n")
    reads_a_word(terminal)
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; exec sleep 1000' <in\r")
    terminal.expect("ready")
    time.sleep(0.2)
    terminal.type("\x03")
    terminal.expect("host> ")
    terminal.type("echo status=$?\r")
    terminal.expect("status=130")
    terminal.is_restored()


@case
def in_the_middle_of_a_pipeline_its_terminal_has_the_keys(t):
    terminal = t.host_shell()
    terminal.type("echo in | $bawn run -- sh -c 'cat; read x </dev/tty; echo got:$x' | cat\r")
    terminal.expect(r"\r\nin\r\n")
    terminal.await_raw()
    terminal.type("word\r")
    terminal.expect("got:word")
    terminal.expect("host> ")
    terminal.is_restored()


@case
def nohup_outlives_the_terminal(t):
    terminal = t.host_shell()
    terminal.type("nohup $bawn run -- sh -c 'echo begun; sleep 2; echo end' &\r")
    wait_for(t, "nohup.out", "begun")
    terminal.close()
    t.terminals.remove(terminal)
    wait_for(t, "nohup.out", "begun\nend\n")


@case
def in_script_the_size_and_the_interrupt_come_through(t):
    terminal = t.open(["script", "-qec", f"{t.bawn} run -- sh -c 'trap \"stty size\" WINCH; trap \"exit 9\" INT;"
                       " echo ready; while :; do sleep 0.05; done'", "typescript"])
    terminal.expect("ready")
    terminal.await_raw()
    terminal.resize(40, 90)
    os.kill(terminal.pid, signal.SIGWINCH)
    terminal.expect("40 90")
    terminal.type("\x03")
    terminal.ends(9)


@case
def pipes_as_of_an_ssh_without_a_terminal(t):
    run = subprocess.Popen([t.bawn, "run", "--", "sh", "-c", "cat; echo end >&2; exit 5"], cwd=t.directory,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           start_new_session=True)
    out, err = run.communicate(b"line\n", timeout=WAIT)
    assert (out, err, run.returncode) == (b"line\n", b"end\n", 5), (out, err, run.returncode)
    # The connection dies: who writes has nobody who reads.
    run = subprocess.Popen([t.bawn, "run", "--", "yes"], cwd=t.directory, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, start_new_session=True)
    run.stdout.read(10)
    run.stdout.close()
    run.stdin.close()
    assert run.wait(timeout=WAIT) == 128 + signal.SIGPIPE


def tmux(t, *words):
    return subprocess.run(["tmux", "-S", os.path.join(t.directory, "tmux.sock"), "-f", "/dev/null", *words],
                          stdout=subprocess.PIPE, check=True, timeout=WAIT, cwd=t.directory).stdout.decode()


def pane_shows(t, pattern):
    deadline = time.monotonic() + WAIT
    while True:
        pane = tmux(t, "capture-pane", "-p")
        if re.search(pattern, pane):
            return pane
        assert time.monotonic() < deadline, f"waited for {pattern!r}, saw {pane!r}"
        time.sleep(0.1)


@case
def in_tmux_it_is_stopped_drawn_and_resized(t):
    try:
        tmux(t, "new-session", "-d", "-x", "80", "-y", "20", "bash --norc --noprofile -i")
    except FileNotFoundError:
        raise Skip("no tmux") from None
    try:
        with open(os.path.join(t.directory, "letter.txt"), "w", encoding="utf-8") as letter:
            letter.write("dear reader\n")
        tmux(t, "send-keys", f"PS1='ho''st> '; {t.bawn} run -- vim -u NONE -N -n letter.txt", "Enter")
        pane_shows(t, r"^dear reader\n~\n")
        tmux(t, "send-keys", "C-z")
        assert "~" not in pane_shows(t, r"Stopped(.*\n)*host>\s*$").rsplit("Stopped")[1]
        tmux(t, "send-keys", "fg", "Enter")
        pane_shows(t, r"^dear reader\n~\n")
        tmux(t, "resize-window", "-x", "50", "-y", "10")
        time.sleep(0.5)
        pane = pane_shows(t, r"^dear reader\n(~\n){8}")
        assert pane.count("~") == 8, pane
        tmux(t, "send-keys", ":q!", "Enter")
        pane_shows(t, r"host>\s*$")
    finally:
        tmux(t, "kill-server")


@case
def tmux_inside_has_windows_of_its_own(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- tmux -f /dev/null new-session 'sh -c \"echo in the pane; read x\"'\r")
    terminal.expect("in the pane")
    terminal.await_raw()
    time.sleep(0.5)
    terminal.type("\x02c")
    terminal.expect(r"1:")
    terminal.type("\x02\x1a")
    stop(terminal, "")
    terminal.type("fg\r")
    terminal.expect(r"\x1b\[\?1049h")
    terminal.await_raw()
    time.sleep(0.3)
    terminal.type("\x02:")
    time.sleep(0.3)  # or it is taken for what is pasted
    terminal.type("kill-server\r")
    terminal.expect("host> ")
    terminal.is_restored()


if __name__ == "__main__":
    sys.exit(main())
