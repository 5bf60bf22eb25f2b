#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bawn as a job of the user's shell: stopped, continued, in the background. TAP on stdout.

usage: jobs.py BAWN [CASE]...
"""

import os
import signal
import sys
import time

sys.dont_write_bytecode = True
from typist import (READER, WAIT, case, foreground, main,  # noqa: E402
                    read, reads_a_word, run_bawn, stop, wait_until)


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return stat.read().rpartition(")")[2].split()[0]


@case
def ctrl_z_gives_the_shell_back_and_fg_goes_on(t):
    for shell in ((), ("zsh", "-f", "-i", "+Z"), ("dash", "-i")):
        terminal = t.host_shell(*shell)
        terminal.type(f"$bawn run -- {READER}\r")
        for _ in range(2):
            terminal.expect("ready" if _ == 0 else "")
            terminal.await_raw()
            stop(terminal)
            terminal.type("fg\r")
        reads_a_word(terminal)


@case
def the_shell_knows_it_as_a_stopped_job(t):
    terminal = t.host_shell()
    terminal.type(f"$bawn run -- {READER}\r")
    terminal.expect("ready")
    terminal.await_raw()
    before = terminal.before
    stop(terminal)
    terminal.type("jobs\r")
    terminal.expect(r"\[1\]\+\s+Stopped\s+\$bawn run")
    assert terminal.state() == before, "the state is not what the shell had"
    terminal.type("kill %1\r")
    terminal.expect("host> ")
    time.sleep(0.5)
    terminal.type("wait %1; echo status=$?\r")
    terminal.expect("status=143")


def editor(t):
    terminal = t.host_shell()
    with open(os.path.join(t.directory, "letter.txt"), "w", encoding="utf-8") as letter:
        letter.write("dear reader\n")
    terminal.type("$bawn run -- vim -u NONE -N -n letter.txt\r")
    terminal.expect(r"\x1b\[\?1049h")
    terminal.expect("dear reader")
    terminal.await_raw()
    time.sleep(0.3)
    return terminal


def is_back_in_the_editor(terminal):
    terminal.expect(r"\x1b\[\?1049h")
    terminal.expect("dear reader")
    terminal.await_raw()
    time.sleep(0.3)


@case
def an_editor_is_stopped_and_draws_again(t):
    terminal = editor(t)
    terminal.type("ofrom the first half\x1b")
    time.sleep(0.2)
    for _ in range(2):
        terminal.type("\x1a")
        terminal.expect(r"\x1b\[\?1049l")
        stop(terminal, "")
        terminal.type("fg\r")
        is_back_in_the_editor(terminal)
    terminal.type("oand from the second\x1b:wq\r")
    terminal.expect(r"\x1b\[\?1049l")
    terminal.expect("host> ")
    with open(os.path.join(t.directory, "letter.txt"), encoding="utf-8") as letter:
        assert letter.read() == "dear reader\nfrom the first half\nand from the second\n"
    terminal.is_restored()


@case
def an_editor_that_is_stopped_from_outside_leaves_its_screen_itself(t):
    terminal = editor(t)
    os.killpg(foreground(terminal), signal.SIGTSTP)
    terminal.expect(r"\x1b\[\?1049l")
    stop(terminal, "")
    terminal.type("fg\r")
    is_back_in_the_editor(terminal)
    terminal.type(":q!\r")
    terminal.expect("host> ")
    terminal.is_restored()


@case
def a_pager_and_a_monitor_are_stopped_and_draw_again(t):
    terminal = t.host_shell()
    for command, shown in (("env LESS= less /etc/passwd", "root:"), ("top -d 100", "COMMAND")):
        terminal.type(f"$bawn run -- {command}\r")
        terminal.expect(shown)
        terminal.await_raw()
        time.sleep(0.3)
        terminal.look(0.1)
        terminal.shown = b""
        stop(terminal)
        terminal.type("fg\r")
        terminal.expect(shown)
        terminal.await_raw()
        time.sleep(0.2)
        terminal.type("q")
        terminal.expect("host> ")
        terminal.is_restored()


@case
def a_program_that_draws_and_knows_nothing_of_stops_is_asked_to_draw_again(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- bash -c 'trap \"echo again\" WINCH;"
                  " printf \"\\033[?1049h\\033[?25lrea\"dy; while ! read -t 0.1 x; do :; done;"
                  " printf \"\\033[?25h\\033[?1049l\"; exit 4'\r")
    terminal.expect("ready")
    terminal.await_raw()
    terminal.type("\x1a")
    terminal.expect(r"\x1b\[\?1049l\x1b\[\?25h")
    stop(terminal, "")
    terminal.type("fg\r")
    terminal.expect(r"\x1b\[\?1049h\x1b\[\?25l")
    terminal.expect("again")
    terminal.await_raw()
    terminal.type("\r")
    terminal.expect("host> ")
    terminal.type("echo status=$?\r")
    terminal.expect("status=4")


@case
def ctrl_z_stops_the_script_that_started_it(t):
    terminal = t.host_shell()
    terminal.type(f"sh -c '$0 run -- sh -c \"echo rea\\\"\\\"dy; read x; echo got:\\$x\"; echo after' $bawn\r")
    terminal.expect("ready")
    terminal.await_raw()
    stop(terminal)
    terminal.type("fg\r")
    terminal.await_raw()
    terminal.type("word\r")
    terminal.expect("got:word\r\nafter\r\n")


@case
def a_command_that_stops_itself_stops_bawn(t):
    terminal = t.host_shell()
    for name in ("STOP", "TSTP"):
        terminal.type(f"$bawn run -- sh -c 'kill -{name} $$; echo go\"\"ing on; exit 3'\r")
        terminal.expect("Stopped")
        terminal.expect("host> ")
        terminal.await_raw(False)
        terminal.type("fg\r")
        terminal.expect("going on")
        terminal.expect("host> ")
        terminal.type("echo status=$?\r")
        terminal.expect("status=3")


@case
def the_shell_inside_suspends_itself(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- bash --norc --noprofile -i\r")
    terminal.await_raw()
    terminal.type("PS1='in''side> '\r")
    terminal.expect("inside> ")
    terminal.type("sleep 1000\r")
    time.sleep(0.5)
    terminal.type("\x1a")
    terminal.expect(r"Stopped\s+sleep 1000")
    terminal.expect("inside> ")
    terminal.type("suspend\r")
    terminal.expect("Stopped")
    terminal.expect("host> ")
    terminal.type("fg\r")
    terminal.await_raw()
    terminal.type("jobs\r")
    terminal.expect(r"Stopped\s+sleep 1000")
    terminal.type("exit 7\rexit 7\r")
    terminal.expect("host> ")
    terminal.type("echo status=$?\r")
    terminal.expect("status=7")


@case
def asked_from_outside_it_stops_though_the_command_does_not_want_to(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'trap \"\" TSTP; echo rea\"\"dy; read x; echo got:$x; exit 5'\r")
    terminal.expect("ready")
    terminal.await_raw()
    os.killpg(foreground(terminal), signal.SIGTSTP)
    stop(terminal, "")
    terminal.type("fg\r")
    reads_a_word(terminal)


@case
def without_a_terminal_it_is_stopped_and_continued_all_the_same(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo begun; sleep 1; echo end' </dev/null >out 2>&1; echo status=$?\r")
    deadline = time.monotonic() + WAIT
    while not os.path.exists(os.path.join(t.directory, "out")) or "begun" not in read(t, "out"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    stop(terminal)
    time.sleep(1.5)
    assert read(t, "out") == "begun\n", "the command went on"
    terminal.type("fg\r")
    deadline = time.monotonic() + WAIT
    while read(t, "out") != "begun\nend\n":
        assert time.monotonic() < deadline, read(t, "out")
        time.sleep(0.05)


@case
def what_a_command_writes_to_an_overlay_is_limited_while_bawn_is_stopped(t):
    terminal = t.host_shell()
    session = f"jobs-{os.getpid()}-{os.path.basename(t.directory)}"
    # Without a word from anybody: what writes goes on when the command, and with it bawn, is stopped.
    terminal.type(f"$bawn run -q --overlay . --session {session} --set sandbox.limits.layer_size=32M --"
                  " sh -c '(sleep 1; exec cat /dev/zero >big) & kill -STOP $$'\r")
    terminal.expect("Stopped")
    terminal.expect(r"takes more than 32 MiB \(limits.layer_size\)")
    terminal.type("\r")
    terminal.expect("host> ")
    shown = run_bawn(t, "diff", session, "--list")
    assert shown[1] == "A  big\n", shown
    run_bawn(t, "discard", session)


@case
def bg_lets_it_run_until_it_reads(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; read x; echo first:$x; sleep 0.5; echo la\"\"ter; read x;"
                  " echo got:$x; exit 5'\r")
    terminal.expect("ready")
    terminal.await_raw()
    terminal.type("one\r")
    terminal.expect("first:one")
    time.sleep(0.1)  # a child of vfork is not stopped before its exec, outside neither
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect("host> ")
    terminal.await_raw(False)
    terminal.type("bg\r")
    terminal.expect("later")
    assert not terminal.is_raw(), "a job in the background took the terminal"
    time.sleep(0.3)
    terminal.type("jobs\r")
    terminal.expect(r"Stopped")
    terminal.type("fg\r")
    reads_a_word(terminal)


@case
def in_the_background_a_read_stops_it(t):
    terminal = t.host_shell()
    terminal.type(f"$bawn run -- sh -c 'sleep 0.5; echo rea\"\"dy; read x; echo got:$x; exit 5' &\r")
    terminal.expect("host> ")
    terminal.type("jobs\r")
    terminal.expect("Running")
    terminal.expect("ready")
    time.sleep(0.5)
    assert not terminal.is_raw()
    terminal.type("jobs\r")
    terminal.expect(r"Stopped")
    terminal.type("fg\r")
    reads_a_word(terminal)


@case
def in_the_background_nothing_stops_what_wants_no_keys(t):
    terminal = t.host_shell()
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; sleep 0.5; echo done; exit 5' & wait $!; echo status=$?\r")
    terminal.expect("ready\r\ndone\r\n")
    terminal.expect("status=5")
    terminal.is_restored()


@case
def without_a_shell_ctrl_z_stops_nobody(t):
    """As with script, ssh and a terminal that was opened for it: nobody could continue it."""
    for argv in (["sh", "-c", f"exec {t.bawn} run -- {READER}"],
                 ["script", "-qec", f"{t.bawn} run -- {READER}", "typescript"]):
        terminal = t.open(argv)
        terminal.expect("ready")
        terminal.await_raw()
        terminal.type("\x1a")
        time.sleep(0.5)
        terminal.await_raw()
        terminal.type("word\r")
        terminal.expect("got:word")
        terminal.ends(5)


@case
def a_shell_that_starts_a_program_meanwhile_goes_on(t):
    """It may be waiting for a child of vfork, which is stopped before its exec."""
    loop = "sh -c 'trap \"echo int; exit 9\" INT; echo ready; while :; do /bin/true; done'"
    terminal = t.open(["sh", "-c", f"exec {t.bawn} run -- {loop}"])
    terminal.expect("ready")
    terminal.await_raw()
    for _ in range(8):
        terminal.type("\x1a")
        time.sleep(0.15)
    time.sleep(1)
    terminal.type("\x03")
    terminal.expect("int")
    terminal.ends(9)
    terminal = t.host_shell()
    terminal.type(f"$bawn run -- {loop}\r")
    terminal.expect("ready")
    terminal.await_raw()
    deadline = time.monotonic() + WAIT
    while b"Stopped" not in terminal.shown:
        assert time.monotonic() < deadline, "it is never stopped"
        if terminal.is_raw():
            terminal.type("\x1a")
        terminal.look(0.7)
    terminal.type("\r")  # it may have been too late for the last key
    stop(terminal, "")
    terminal.type("fg\r")
    terminal.await_raw()
    terminal.type("\x03")
    terminal.expect("int")
    terminal.expect("host> ")


@case
def a_terminal_that_goes_away_ends_it_stopped_or_not(t):
    """The connection of an ssh dies, a window is closed."""
    for is_stopped in (False, True):
        terminal = t.host_shell()
        terminal.type(f"$bawn run -- {READER}\r")
        terminal.expect("ready")
        terminal.await_raw()
        group = foreground(terminal)
        if is_stopped:
            stop(terminal)
            assert state_of(group) == "T"
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
        terminal.status = -9
        terminal.close()
        t.terminals.remove(terminal)
        deadline = time.monotonic() + WAIT
        while os.path.exists(f"/proc/{group}"):
            assert time.monotonic() < deadline, f"bawn lives on, in state {state_of(group)}"
            time.sleep(0.05)


@case
def the_time_limit_holds_while_it_is_stopped(t):
    terminal = t.host_shell()
    terminal.type(f"$bawn run --timeout 2s -- {READER}\r")
    terminal.expect("ready")
    terminal.await_raw()
    began = time.monotonic()
    stop(terminal)
    terminal.expect("the time limit of 2 s was reached")
    time.sleep(0.5)
    terminal.type("wait %1; echo status=$?\r")
    terminal.expect("status=124")
    assert time.monotonic() - began < 10
    terminal.is_restored()


@case
def a_stopped_session_says_so_and_is_ended(t):
    runtime = os.path.join(t.directory, "runtime")
    os.mkdir(runtime, 0o700)
    os.environ["XDG_RUNTIME_DIR"] = runtime
    terminal = t.host_shell()
    # What is to end does not read before it hears that.
    terminal.type("$bawn run -- sh -c 'echo rea\"\"dy; trap \"echo asked; exit 3\" TERM; while :; do read x; done'\r")
    terminal.expect("ready")
    terminal.await_raw()
    wait_until(lambda: "sh -c" in run_bawn(t, "ps")[1])
    stop(terminal)
    status, _, said = run_bawn(t, "status")
    assert status == 125 and "is stopped" in said and "hint: " in said and "fg" in said, said
    status, _, said = run_bawn(t, "exec", "--", "true")
    assert status == 125 and "is stopped" in said, said
    status, said, _ = run_bawn(t, "stop")
    assert status == 0 and "status 3" in said, said
    terminal.is_restored()


if __name__ == "__main__":
    sys.exit(main())
