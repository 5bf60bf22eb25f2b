#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""handover.py [--bawn PROGRAM] [CASE]...: sockets of the host's that are handed in for opaque rules: who gets one,
that it is like one of the client's own, and that it leads nowhere but to its server. In the lab. TAP on standard
output."""
import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
from world import HERE, Broken, Tap, World, asked, reached, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
WEB, OTHER = "web.example", "other.example"
V4, V6, OTHER_V4 = "203.0.113.10", "2001:db8::10", "203.0.113.66"
ECHO = 7
RULE = f"{WEB}:{ECHO} opaque"
HANDED = {"way": "handed", "echo": True}
RELAYED = {"way": "relayed", "echo": True}
SILENT = "203.0.113.14"  # of four.example, which has no other


def case(title, is_anywhere=False):
    """is_anywhere: it also holds where nothing is handed over."""
    def keep(function):
        CASES.append((title, function, is_anywhere))
        return function
    return keep


def part(want, got, what):
    """What is wanted is in it, whatever else is."""
    works({key: got.get(key) for key in want} == want, f"{what}: {got!r}, not {want!r}")


class Trial:
    """One case: attempts inside, and what the lab saw of them."""

    def __init__(self, world):
        self.world, self.events, self.errors = world, [], ""

    def words(self, allow, options=(), env=None):
        return self.world.words(["/usr/bin/python3", HERE / "handed.py"], allow, options, env)

    def tries(self, attempts, allow=(RULE,), options=(), seconds=90, env=None):
        start = self.world.witness.settle()
        status, output, self.errors, _ = self.world.run(self.words(allow, options, env), seconds=seconds,
                                                        data=json.dumps(attempts).encode())
        self.events = self.world.witness.since(start)
        if status != 0:
            raise Broken(f"status {status}\n{output}{self.errors}")
        return json.loads(output)

    def start(self, attempts, allow=(RULE,), options=(), env=None):
        running = subprocess.Popen(self.words(allow, options, env), cwd=self.world.folder, env=self.world.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running.stdin.write(json.dumps(attempts).encode())
        running.stdin.close()
        return running

    def saw_none(self, addresses):
        seen = reached(self.events, addresses)
        assert not seen, f"dialled: {[(event['address'], event['port']) for event in seen]}"


class Silent:
    """A server that lets nobody in: what waits before it is full."""

    def __init__(self, address, port):
        self.server = socket.socket()
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.server.bind((address, port))
        self.server.listen(0)
        self.clients = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex((address, port))
            self.clients.append(client)
        time.sleep(0.3)

    def __enter__(self):
        return self

    def open(self):
        """From now on it answers all."""
        self.server.listen(64)

    def __exit__(self, *_):
        for sock in (*self.clients, self.server):
            sock.close()


def net_pids():
    """The bawn-nets there are."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text() == "bawn-net\n":
                found.append(int(path.parent.name))
        except OSError:
            pass
    return sorted(found)


@case("who connects gets the socket to the server, however it connects")
def connects(t):
    hows = ["blocking", "timed", "limited", "epoll_after", "in_thread"]
    results = t.tries([{"do": "connect", "how": how, "host": WEB, "port": ECHO} for how in hows] +
                      [{"do": "connect", "how": "blocking", "host": WEB, "port": ECHO, "family": 6},
                       {"do": "connect", "how": "timed", "host": WEB, "port": ECHO, "family": 6},
                       {"do": "by_asyncio", "host": WEB, "port": ECHO}])
    for how, result in zip([*hows, "IPv6", "IPv6, timed", "asyncio"], results):
        part(HANDED, result, how)
    works(len(reached(t.events, [V4, V6], ECHO)) == len(results), "each was dialled once")


@case("a client that does not wait is told so, and the socket becomes connected")
def does_not_wait(t):
    result = t.tries([{"do": "connect", "how": "nonblocking", "host": WEB, "port": ECHO}])[0]
    part({**HANDED, "first": "EINPROGRESS", "end": "ok", "again": "ok", "then": "EISCONN", "flags": True}, result,
         "it")


@case("what another descriptor, process or set of epoll knows is relayed", True)
def shared(t):
    hows = ["epoll_before", "dup_before", "fork_before", "in_child", "bound"]
    results = t.tries([{"do": "connect", "how": how, "host": WEB, "port": ECHO} for how in hows] +
                      [{"do": "mapped", "host": WEB, "port": ECHO}])
    for how, result in zip([*hows, "mapped"], results):
        part(RELAYED, result, how)
    part({"woken": True}, results[0], "epoll")
    part({"other": "ok"}, results[1], "the copy")


@case("what a client has set is set, and a second connect is told what it would be")
def options(t):
    results = t.tries([{"do": "options", "host": WEB, "port": ECHO}, {"do": "again", "host": WEB, "port": ECHO}])
    part({**HANDED, "lost": []}, results[0], "options")
    part({**HANDED, "again": "EISCONN"}, results[1], "again")


@case("a server that is not there refuses, and nothing is handed in")
def not_there(t):
    rule = f"{WEB}:4 opaque"
    results = t.tries([{"do": "refused", "host": WEB, "port": 4}, {"do": "refused_later", "host": WEB, "port": 4}],
                      [rule])
    part({"end": "ECONNREFUSED"}, results[0], "who waits")
    part({"first": "EINPROGRESS", "end": "ECONNREFUSED"}, results[1], "who does not")


@case("a socket that was handed in leads nowhere else")
def away(t):
    for do in ("away", "after_shutdown", "passed_on"):
        result = t.tries([{"do": do, "host": WEB, "port": ECHO, "elsewhere": OTHER_V4, "other_port": ECHO}])[0]
        works("tried" in result, f"{do}: {result}")
        allowed = {"connect": ("EISCONN", "EACCES", "ECONNABORTED", "EPIPE", "ECONNRESET"),
                   "then": ("EISCONN", "EACCES", "ECONNABORTED"), "sendto": ("EPERM",), "sendmsg": ("EPERM",),
                   "unspec": ("EACCES",), "bind": ("EACCES",), "listen": ("EACCES",)}
        for what, end in result["tried"].items():
            assert end in allowed.get(what, ("EPERM",)), f"{do}, {what}: {end}"
        if do != "after_shutdown":
            part(HANDED, result, do)
        t.saw_none([OTHER_V4])


@case("no race leads it elsewhere: other sockets at its number while a call is held")
def race(t):
    env = {"HOLD_SECONDS": "2"}
    t.tries([{"do": "others"}], env=env)  # its plan is proven, with a server of the launcher's
    listening = listeners()
    with t.start([{"do": "race", "host": WEB, "port": ECHO, "elsewhere": OTHER_V4, "other_port": ECHO}],
                 env=env) as running:
        start = t.world.witness.settle()
        grown = set()
        while running.poll() is None:
            grown |= listeners() - listening
            for port in grown:
                answered = answers(port)
                assert not answered, f"the host answers at port {port}"
            time.sleep(0.2)
        output, errors = running.stdout.read(), running.stderr.read()
    t.events = t.world.witness.since(start)
    works(running.returncode == 0, errors.decode())
    result = json.loads(output)[0]
    works(result.get("rounds", 0) > 20, result)
    t.saw_none([OTHER_V4])


def listeners():
    """Ports of the host's that somebody listens at."""
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A":
                found.add(int(words[1].rsplit(":", 1)[1], 16))
    return found


def answers(port):
    with socket.socket() as sock:
        sock.settimeout(0.5)
        return sock.connect_ex(("127.0.0.1", port)) == 0


@case("sockets of UNIX, UDP and the sandbox's own loopback are as ever", True)
def others(t):
    result = t.tries([{"do": "others"}])[0]
    works(result == {"unix@": True, "unixh": True, "udp": True, "interfaces": True, "127.0.0.1": True, "::1": True,
                     "autobound": True, "nobody": "ECONNREFUSED", "short": "ENOTSOCK"}, result)


@case("rules that are not opaque are judged as ever, beside one that is")
def others_rules(t):
    request = "GET /here HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"
    results = t.tries([{"do": "talk", "host": WEB, "port": 80, "send": request.format(WEB)},
                       {"do": "talk", "host": WEB, "port": 80, "send": request.format(OTHER)},
                       {"do": "talk", "host": WEB, "port": 8080, "send": request.format(WEB)},
                       {"do": "connect", "how": "blocking", "host": WEB, "port": ECHO}],
                      [RULE, f"{WEB}:80"])
    part({"way": "relayed"}, results[0], "HTTP")
    works(results[0]["data"].startswith("HTTP/1.1 200"), results[0])
    assert results[1].get("data", "").startswith("HTTP/1.1 403"), results[1]
    assert results[2].get("data", "").startswith("HTTP/1.1 403"), results[2]
    part(HANDED, results[3], "the opaque one")
    t.saw_none([OTHER_V4])


@case("an address that is allowed is handed over, one that is not is refused")
def by_address(t):
    results = t.tries([{"do": "connect", "how": "blocking", "host": V4, "port": ECHO},
                       {"do": "talk", "host": OTHER_V4, "port": ECHO, "send": "hello", "stop": "hello"},
                       {"do": "talk", "host": "127.0.0.1", "port": ECHO, "send": "hello"},
                       {"do": "talk", "host": "169.254.169.254", "port": 80, "send": "hello"}],
                      [f"{V4}:{ECHO} opaque"])
    part(HANDED, results[0], "it")
    for result in results[1:]:
        assert not result.get("data") and "way" not in result or result.get("data", "").startswith("HTTP/1.1 403"), result
    t.saw_none([OTHER_V4, "169.254.169.254"])


@case("names that lead to private addresses, to loopback or elsewhere are refused", True)
def names(t):
    bad = ["private.example", "loop.example", "metadata.example", "mixed.example", "own.example"]
    for name in bad:
        result = t.tries([{"do": "talk", "host": name, "port": ECHO, "send": "hello"}], [f"{name}:{ECHO} opaque"])[0]
        assert not result.get("data"), f"{name}: {result}"
        t.saw_none(["10.0.0.5", "127.0.0.1", "169.254.169.254", "198.51.100.99", "203.0.113.20"])


@case("a deny wins over an opaque rule")
def deny(t):
    result = t.tries([{"do": "talk", "host": "deep.web.example", "port": ECHO, "send": "hello"},
                      {"do": "connect", "how": "blocking", "host": "second.example", "port": ECHO}],
                     ["**.example opaque"], ["--deny-host", "deep.web.example"])
    assert not result[0].get("data"), result[0]
    part(HANDED, result[1], "the other")
    t.saw_none(["203.0.113.12"])


@case("a rule for one program is the relay's")
def by_program(t):
    result = t.tries([{"do": "connect", "how": "blocking", "host": WEB, "port": ECHO},
                      {"do": "connect", "how": "blocking", "host": "second.example", "port": ECHO}],
                     [f"{WEB}:{ECHO} opaque by=/usr/bin/python3", f"second.example:{ECHO} opaque"])
    part(RELAYED, result[0], "it")
    part(HANDED, result[1], "the other")


@case("a server that does not answer: limits, signals, and who is stopped")
def hangs(t):
    rule = "four.example:9700 opaque"
    with Silent(SILENT, 9700):
        results = t.tries([{"do": "hangs", "host": "four.example", "port": 9700, "kind": "limit"},
                           {"do": "hangs", "host": "four.example", "port": 9700, "kind": "signal"},
                           {"do": "hangs", "host": "four.example", "port": 9700, "kind": "restart"}], [rule])
        part({"end": "EINPROGRESS", "way": "handed"}, results[0], "limit")
        part({"end": "EINTR", "way": "handed", "heard": 1}, results[1], "signal")
        part({"end": "EINTR", "way": "handed", "heard": 1}, results[2], "restart")
        for result, least in zip(results, (0.9, 0.9, 1.9)):
            works(least < result["seconds"] < least + 1.5, result)
        with t.start([{"do": "hangs", "host": "four.example", "port": 9700, "kind": "none"}], [rule]) as running:
            time.sleep(1.5)
            begun = time.monotonic()
            running.send_signal(signal.SIGTERM)
            running.wait(20)
            works(time.monotonic() - begun < 5, f"it took {time.monotonic() - begun} s to stop")


@case("one that hangs holds nobody up")
def nobody_waits(t):
    rule = "four.example:9700 opaque"
    with Silent(SILENT, 9700):
        with t.start([{"do": "hangs", "host": "four.example", "port": 9700, "kind": "limit", "seconds": 6}],
                     [rule, RULE]) as running:
            time.sleep(1)
            begun = time.monotonic()
            part(HANDED, t.tries([{"do": "connect", "how": "blocking", "host": WEB, "port": ECHO}])[0], "another")
            works(time.monotonic() - begun < 5, "it waited")
            running.wait(30)


@case("many at once", True)
def many(t):
    result = t.tries([{"do": "many", "host": WEB, "port": ECHO, "count": 100}])[0]
    works(result["echoes"] == 100 and set(result["ways"]) <= {"handed", "relayed"}, result)


@case("bawn-net is killed: what was handed over stays, what comes is served again, and then refused")
def killed(t):
    before = set(net_pids())
    start = t.world.witness.settle()
    with t.start([{"do": "lives_on", "host": WEB, "port": ECHO, "seconds": 6}]) as running:
        done = set()
        while running.poll() is None:
            for pid in set(net_pids()) - before - done:
                time.sleep(0.3)
                os.kill(pid, signal.SIGKILL)
                done.add(pid)
            time.sleep(0.02)
        output, errors = running.stdout.read(), running.stderr.read().decode()
    t.events = t.world.witness.since(start)
    works(running.returncode == 0, errors)
    result = json.loads(output)[0]
    part(HANDED, result, "the first")
    works(result["ends"].get("ok"), result)
    works(len(done) == 4 and "has no network any more" in errors, f"killed: {done}; {errors}")
    assert result["ends"].get("ECONNREFUSED"), f"not refused at the end: {result}"


def plan(world, *more):
    status, said, errors, _ = world.run([world.bawn, "plan", "--isolated", "--net", "proxy", "--best-effort", *more])
    works(status in (0, 1) and said, f"{status} {said} {errors}")
    return said


@case("plan says whether connections are handed over, and why not; so it is", True)
def planned(t):
    rows = [(("--set", "sandbox.network.upstream_proxy=http://203.0.113.10:8080"), "upstream proxy"),
            (("--allow-containers",), "cannot be held")]
    for more, want in rows:
        said = plan(t.world, "--allow-host", RULE, *more)
        works(f"go through bawn-net: {want}" in said or want in said, f"{more}: {said}")
    said = plan(t.world, "--allow-host", WEB)
    assert "opaque hosts" not in said and "TCP left" not in said, said
    said = plan(t.world, "--allow-host", RULE)
    result = t.tries([{"do": "connect", "how": "blocking", "host": WEB, "port": ECHO}])[0]
    if "connections are handed over" in said:
        part(HANDED, result, "as planned")
        assert "TCP left to bawn" in said, said
    else:
        works("opaque hosts: connections go through bawn-net: " in said, said)
        part(RELAYED, result, "as planned")
        assert "TCP left to bawn" not in said, said


@case("metrics and --stats do not claim to know how much passed")
def counted(t):
    result = t.tries([{"do": "connect", "how": "blocking", "host": WEB, "port": ECHO},
                      {"do": "connect", "how": "bound", "host": WEB, "port": ECHO}], options=["--stats", "--json"])
    part(HANDED, result[0], "one")
    part(RELAYED, result[1], "the other")
    rows = json.loads(t.errors.splitlines()[-1])["hosts"]
    works(rows == [{"host": f"{WEB}:{ECHO}", "connections": 2, "sent": 5, "received": 5, "refused": 0,
                    "uncounted": 1}], rows)
    t.tries([{"do": "connect", "how": "blocking", "host": WEB, "port": ECHO}], options=["--stats"])
    assert "1 connections, 0 bytes sent, 0 received (handed over: not counted)" in t.errors, t.errors


@case("what is refused is told")
def told(t):
    log = t.world.folder / "events"
    t.tries([{"do": "away", "host": WEB, "port": ECHO, "elsewhere": OTHER_V4, "other_port": ECHO}],
            options=["--debug-log", str(log)])
    text = log.read_text()
    for call in ("connect", "bind", "listen"):
        works(any(f"call={call}" in line and "a socket from outside" in line for line in text.splitlines()),
              f"{call}: {text[-3000:]}")
    log.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("cases", nargs="*", help="beginnings or parts of titles; all without")
    options_given = parser.parse_args()
    tap, world = Tap(), World(options_given.bawn)
    is_here = "connections are handed over" in plan(world, "--allow-host", RULE)
    if not is_here:
        print("# nothing is handed over here; what is left is that all works by the relay")
    for title, function, is_anywhere in CASES:
        if (is_here or is_anywhere) and (not options_given.cases or any(word in title for word in options_given.cases)):
            tap.attempt(title, function, Trial(world))
    return tap.end()


sys.exit(main())
