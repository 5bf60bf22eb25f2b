#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""asked.py [--bawn PROGRAM] [--answerer PROGRAM] [CASE]...: hosts that a person is asked about, who here is the program
answerer: what waits, what an answer opens, and that it opens nothing else. In the lab. TAP on standard output.

The witnesses are the lab's servers, its name server and its packet log."""
import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
from world import HERE, Broken, Tap, World, asked, cases_of, has_nft, reached, requests, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
case = cases_of(CASES)
WEB, OTHER, SECOND = "web.example", "other.example", "second.example"
WEB_V4, WEB_V6, OTHER_V4 = "203.0.113.10", "2001:db8::10", "203.0.113.66"
ASK = ("--set", "sandbox.network.unlisted=ask")
BY_CLIENT, BY_TIME, BY_NOBODY, GIVEN_UP = 1, 2, 3, 4
FIELDS = ("path", "op", "call", "rule", "grant", "pid", "comm", "exe", "argv")
CURL = "/usr/bin/curl"


def get(host, path="/here"):
    return f"GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"


def plain(host, path="/here"):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"


def code(result):
    words = result.get("data", "").split(" ", 2)
    return int(words[1]) if words[0].startswith("HTTP/1.") and words[1].isdigit() else None


def net_pids(of):
    """Those of bawn-net below a process."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if (entry / "comm").read_text().strip() == "bawn-net" and int(fields[1]) == of:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def fds_of(pid, status):
    """How many it has; whom the kernel does not tell hears for how many there is room."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return int(status.split("FDSize:")[1].split()[0])


class Answerer:
    """A program in a person's place. It hears of all that is asked while it runs."""

    def __init__(self, program, env, rules):
        self.process = subprocess.Popen([program, *rules], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.asked, self.settled, self.is_ready = [], [], threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            words = line.rstrip("\n").split("\t")
            if words[0] == "ready":
                self.is_ready.set()
            elif words[0] == "asked":
                self.asked.append(dict(zip(FIELDS, words[1:])))
            else:
                self.settled.append(tuple(int(word) for word in words[1:]))

    def hosts(self):
        return [question["path"] for question in self.asked]

    def waits_for(self, count, seconds=20):
        until = time.monotonic() + seconds
        while len(self.asked) < count:
            works(time.monotonic() < until, f"asked: {self.asked}")
            time.sleep(0.02)

    def end(self):
        self.process.kill()
        self.process.wait()


class Running:
    """A command inside, and who answers for it; None: nobody."""

    def __init__(self, trial, command, answers, options):
        world = trial.world
        self.trial, self.start = trial, world.witness.settle()
        self.process = subprocess.Popen(world.words(command, (), options), cwd=world.folder, env=world.env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.answerer = None if answers is None else Answerer(trial.answerer, world.env, answers)
        works(not self.answerer or self.answerer.is_ready.wait(20), "the answerer does not come in")

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.close()

    def end(self, seconds=90):
        """(status, output, errors)."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Broken("it does not end") from None
        result = status, self.process.stdout.read().decode(), self.process.stderr.read().decode()
        if self.answerer:
            self.answerer.end()
        self.trial.events = self.trial.world.witness.since(self.start)
        return result


class Trial:
    """One case: attempts inside, the answers, and what the lab saw of them."""

    def __init__(self, world, answerer):
        self.world, self.answerer, self.events, self.heard, self.errors = world, answerer, [], None, ""

    def begin(self, answers, options=ASK, command=None):
        return Running(self, command or ["/usr/bin/python3", HERE / "attack.py"], answers, options)

    def tries(self, attempts, answers, options=ASK, command=None):
        running = self.begin(answers, options, command)
        running.send(json.dumps(attempts).encode())
        status, output, self.errors = running.end()
        self.heard = running.answerer
        if status != 0:
            raise Broken(f"status {status}\n{output}{self.errors}")
        return json.loads(output)

    def saw_no_dial(self, addresses=None):
        seen = [event for event in reached(self.events, addresses) if event["port"] != 53]
        assert not seen, f"dialled: {[(event['address'], event['port']) for event in seen]}"

    def saw_no_question(self, *names):
        seen = [event for event in asked(self.events) if not names or event["name"] in names]
        assert not seen, f"looked up: {[event['name'] for event in seen]}"


def ways(host, port=80):
    """The same request by each way in, with what a refusal is there."""
    send, stop = plain(host), "lab /here"
    reset = ("ECONNRESET", "EPIPE", "eof")
    return [
        ("forward", {"do": "talk", "send": get(host)}, lambda r: code(r) == 403),
        ("CONNECT", {"do": "tunnel", "host": host, "port": port, "send": send}, lambda r: code(r) == 403),
        ("SOCKS5", {"do": "socks5", "host": host, "port": port, "send": send, "stop": stop}, lambda r: r.get("reply") == 2),
        ("SOCKS4a", {"do": "socks4", "host": host, "port": port, "send": send, "stop": stop},
         lambda r: r.get("reply") == 91),
        ("direct", {"do": "talk", "to": [host, port], "send": send},
         lambda r: code(r) == 403 or r.get("end") in reset and not r.get("data")),
    ]


@case("a yes opens the host on every way, and each connection is asked about")
def every_way(t):
    attempts = ways(WEB)
    result = t.tries([attempt for _, attempt, _ in attempts], [f"{WEB}:80=once"])
    for (way, _, _), one in zip(attempts, result):
        works("lab /here" in one.get("data", ""), (way, one))
    same([f"{WEB}:80"] * len(attempts), t.heard.hosts(), "questions")
    same(len(attempts), len(requests(t.events)), "requests")


@case("a no refuses it on every way, and nothing of it leaves")
def no_way(t):
    for word, by in (("no", "the answer was no"), ("never", "the answer was no")):
        attempts = ways(WEB)
        result = t.tries([attempt for _, attempt, _ in attempts], [f"{WEB}:80={word}"])
        for (way, _, is_refused), one in zip(attempts, result):
            assert is_refused(one), (way, one)
        assert by in result[0]["data"] and "X-Bawn-Denied: unlisted" in result[0]["data"], result[0]
        # Who tries again at once is told the same.
        assert 1 <= len(t.heard.asked) <= (len(attempts) if word == "no" else 1), t.heard.asked
        t.saw_no_dial()
        t.saw_no_question()


@case("an answer for the session is given once")
def session(t):
    attempts = ways(WEB)
    result = t.tries([attempt for _, attempt, _ in attempts], [f"{WEB}:80=session"])
    for (way, _, _), one in zip(attempts, result):
        works("lab /here" in one.get("data", ""), (way, one))
    same([f"{WEB}:80"], t.heard.hosts(), "questions")


@case("the question says who wants what")
def says(t):
    t.tries([{"do": "talk", "send": get(WEB)}], [f"{WEB}:80=no"], ["--ask-host", WEB])
    [question] = t.heard.asked
    pid = int(question.pop("pid"))
    assert pid > 1, pid
    works(question["exe"].startswith("/usr/bin/python3") and question["argv"] == "/usr/bin/python3", question)
    same({"path": f"{WEB}:80", "op": "connect", "call": "http", "rule": f"ask {WEB}", "grant": f"host {WEB}:80"},
         {name: question[name] for name in ("path", "op", "call", "rule", "grant")}, "question")
    same([(0, 0, BY_CLIENT)], t.heard.settled, "settled")


@case("addresses are asked about as they are, of either family")
def addresses(t):
    result = t.tries([{"do": "talk", "send": get(WEB_V4)}, {"do": "talk", "send": get(f"[{WEB_V6}]")},
                      {"do": "talk", "to": [WEB_V4, 80], "send": plain(WEB_V4)},
                      {"do": "talk", "to": [WEB_V6, 80], "send": plain(f"[{WEB_V6}]")},
                      {"do": "talk", "send": get(OTHER_V4)}],
                     [f"{WEB_V4}:80=once", f"[{WEB_V6}]:80=once", "*=no"])
    for one in result[:4]:
        works("lab /here" in one.get("data", ""), one)
    same(403, code(result[4]), "another address")
    same([f"{WEB_V4}:80", f"[{WEB_V6}]:80", f"{WEB_V4}:80", f"[{WEB_V6}]:80", f"{OTHER_V4}:80"], t.heard.hosts(), "questions")
    t.saw_no_dial([OTHER_V4])


@case("H-22 no name leaves before it is allowed, however it is asked for")
def names(t):
    secrets = [f"secret-{number}.attacker.example" for number in range(40)]
    kinds = ("A", "AAAA", "TXT", "NULL", "ANY", "MX", "CNAME", "SRV", "HTTPS", "NS")
    attempts = [{"do": "dns", "name": name, "kind": kind} for name in secrets for kind in kinds]
    attempts += [{"do": "talk", "send": get(secrets[0])}, {"do": "talk", "to": [secrets[1], 80],
                                                          "send": plain(secrets[1])}]
    attempts += [{"do": "talk", "to": [WEB, 80], "send": plain(WEB)}]
    result = t.tries(attempts, [f"{WEB}:80=once", "*=no"])
    works("lab /here" in result[-1].get("data", ""), result[-1])
    seen = {event["name"] for event in asked(t.events)}
    same({WEB}, seen, "what the name server heard")
    same([f"{secrets[0]}:80", f"{secrets[1]}:80", f"{WEB}:80"], t.heard.hosts(), "questions")


@case("H-22 the lookup comes after the answer")
def late_lookup(t):
    running = t.begin([f"{WEB}:80=silent"])
    running.send(json.dumps([{"do": "talk", "to": [WEB, 80], "send": plain(WEB), "seconds": 5}]).encode())
    running.answerer.waits_for(1)
    time.sleep(1)
    before = t.world.witness.since(running.start)
    running.answerer.end()
    result = json.loads(running.end()[1])
    same([], [event["name"] for event in asked(before)], "names, while it waits")
    same([], [event for event in reached(before) if event["port"] != 53], "dialled, while it waits")
    same(None if result[0].get("end") == "ECONNRESET" else 403, code(result[0]), "refused")
    t.saw_no_question()
    works("lab /here" in t.tries([{"do": "talk", "to": [WEB, 80], "send": plain(WEB)}],
                                 [f"{WEB}:80=once"])[0].get("data", ""), "allowed")
    works(asked(t.events, WEB), "looked up")


@case("H-08 a name that was allowed and leads inward is refused")
def inward(t):
    inner = ["private.example", "loop.example", "metadata.example", "mapped.example", "mixed.example", "inward.example",
             "own.example", "unique.example", "zero.example", "turn.example"]
    attempts = [{"do": "talk", "send": get(name)} for name in inner]
    attempts += [{"do": "talk", "send": get(literal)} for literal in ("10.0.0.5", "169.254.169.254", "127.0.0.1", "[::1]")]
    result = t.tries([*attempts, {"do": "talk", "send": get(WEB)}], ["*=session"])
    works("lab /here" in result[-1].get("data", ""), result[-1])
    for name, one in zip(inner, result):
        if name != "turn.example":
            same(403, code(one), name)
    for one in result[len(inner):-1]:
        same(403, code(one), "an address")
    t.saw_no_dial(["10.0.0.5", "127.0.0.1", "::1", "169.254.169.254", "203.0.113.20", "198.51.100.99", "fd00::5", "0.0.0.0"])
    same({f"{name}:80" for name in (*inner, WEB)}, set(t.heard.hosts()), "questions")


@case("an answer for one port opens no other one")
def other_port(t):
    result = t.tries([{"do": "tunnel", "host": WEB, "port": 80, "send": plain(WEB), "stop": "lab /here"},
                      {"do": "tunnel", "host": WEB, "port": 22, "send": "SSH-2.0-x\r\n"},
                      {"do": "tunnel", "host": WEB, "port": 443, "send": "x"},
                      {"do": "talk", "send": get(f"{WEB}:8080")}],
                     [f"{WEB}:80=session", "*=no"])
    works("lab /here" in result[0].get("data", ""), result[0])
    same([403] * 3, [code(one) for one in result[1:]], "other ports")
    same([f"{WEB}:{port}" for port in (80, 22, 443, 8080)], t.heard.hosts(), "questions")
    same({80}, {event["port"] for event in reached(t.events) if event["port"] != 53}, "dialled")


@case("what was allowed must be for that host: another Host, another SNI, none")
def fronting(t):
    attempts = [{"do": "tunnel", "host": WEB, "port": 80, "send": plain(OTHER)},
                {"do": "talk", "to": [WEB, 80], "send": plain(OTHER)},
                {"do": "tls", "to": [WEB, 443], "sni": OTHER},
                {"do": "tls", "to": [WEB, 443], "sni": None}]
    result = t.tries(attempts, [f"{WEB}:80=session", f"{WEB}:443=session", "*=no"])
    for one in result:
        assert "lab " not in one.get("data", ""), one
    seen = [event for event in t.events if event["kind"] in ("sni", "http")]
    assert not seen, seen
    same({f"{WEB}:80", f"{WEB}:443"}, set(t.heard.hosts()), "questions")


@case("H-18 where a server sends the client is asked about by itself")
def redirect(t):
    send = [get(WEB, f"/redirect?to=http://{OTHER}/"), get(OTHER)]
    result = t.tries([{"do": "talk", "send": one} for one in send], [f"{WEB}:80=session", "*=no"])
    works(code(result[0]) in (200, 301, 302, 307, 404), result[0])
    same(403, code(result[1]), "there")
    same([f"{WEB}:80", f"{OTHER}:80"], t.heard.hosts(), "questions")
    t.saw_no_dial([OTHER_V4])


@case("what is denied is not asked about, and no answer opens it")
def denied(t):
    result = t.tries([attempt for _, attempt, _ in ways(OTHER)], ["*=session"], [*ASK, "--deny-host", OTHER])
    for (way, _, is_refused), one in zip(ways(OTHER), result):
        assert is_refused(one) or "gai" in one, (way, one)
    same([], t.heard.hosts(), "questions")
    t.saw_no_dial()
    result = t.tries([{"do": "talk", "send": get(WEB)}], ["*=session"], [*ASK, "--deny-host", WEB_V4, "--deny-host", WEB_V6])
    same(403, code(result[0]), "a name that leads to what is denied")
    same([f"{WEB}:80"], t.heard.hosts(), "questions")
    t.saw_no_dial([WEB_V4, WEB_V6])
    # An alias of web.example, and an alias of that.
    result = t.tries([{"do": "talk", "send": get(name)} for name in ("alias.example", "chain.example", SECOND)],
                     ["*=session"], [*ASK, "--deny-host", WEB])
    same([403, 403, 200], [code(one) for one in result], "another name for what is denied")
    assert f"X-Bawn-Denied: deny {WEB}" in result[0]["data"], result[0]
    t.saw_no_dial([WEB_V4, WEB_V6])


@case("without somebody to ask it is no at once, and says so")
def nobody(t):
    begun = time.monotonic()
    result = t.tries([{"do": "talk", "send": get(WEB)}], None)
    assert code(result[0]) == 403 and "nobody could be asked" in result[0]["data"], result
    assert time.monotonic() - begun < 15, time.monotonic() - begun
    t.saw_no_dial()
    t.saw_no_question()


@case("without an answer it is no when the time is over")
def late(t):
    result = t.tries([{"do": "talk", "send": get(WEB)}], [], [*ASK, "--set", "sandbox.ask_timeout=1s"])
    assert code(result[0]) == 403 and "nobody answered in time" in result[0]["data"], result
    same([(0, 0, BY_TIME)], t.heard.settled, "settled")
    t.saw_no_dial()
    t.saw_no_question()


@case("when the last who could answer goes it is no")
def gone(t):
    running = t.begin([])
    running.send(json.dumps([{"do": "talk", "send": get(WEB)}]).encode())
    running.answerer.waits_for(1)
    running.answerer.end()
    result = json.loads(running.end()[1])
    assert code(result[0]) == 403 and "nobody could be asked" in result[0]["data"], result
    t.saw_no_dial()


@case("a client that goes is not asked about any more")
def client_gone(t):
    script = ("read line; curl -sS -m 60 http://web.example/here & sleep 2; kill -9 $!; sleep 4; echo done")
    running = t.begin([], ASK, ["sh", "-c", script])
    running.send(b"\n")
    running.answerer.waits_for(1)
    status, output, _ = running.end()
    works(status == 0 and "done" in output, output)
    same([(0, 0, GIVEN_UP)], running.answerer.settled, "settled")
    t.saw_no_dial()
    t.saw_no_question()


@case("a bawn-net that is killed lets nobody through, and what was allowed for the session stays so")
def killed(t):
    script = ("read line; for i in 1 2; do curl -sS -m 30 http://web.example/here; echo $?; done;"
              " read line; curl -sS -m 30 http://web.example/here; echo $?; curl -sS -m 30 http://second.example/x; echo $?")
    running = t.begin([f"{WEB}:80=session"], ASK, ["bash", "-c", script])
    running.process.stdin.write(b"\n")
    running.process.stdin.flush()
    running.answerer.waits_for(1)
    time.sleep(1.5)
    [first] = net_pids(running.process.pid)
    os.kill(first, signal.SIGKILL)
    time.sleep(0.5)
    running.send(b"\n")
    running.answerer.waits_for(2)
    [second] = net_pids(running.process.pid)
    assert first != second, "another one"
    os.kill(second, signal.SIGKILL)
    status, output, errors = running.end()
    works(status == 0 and output.count("lab /here\n0\n") == 3, (output, errors))
    assert "lab /x" not in output, output
    same([f"{WEB}:80", f"{SECOND}:80"], running.answerer.hosts()[:2], "questions")
    t.saw_no_question(SECOND)


@case("rules for one program are judged before anybody is asked")
def by_program(t):
    if not Path(CURL).exists():
        return
    script = f"read line; {CURL} -sS -m 20 http://{WEB}/here; python3 {HERE}/attack.py <<E\n" + \
        json.dumps([{"do": "talk", "send": get(WEB)}]) + "\nE\n"
    running = t.begin([f"{WEB}:80=session"], ["--ask-host", f"{WEB} by={CURL}"], ["sh", "-c", script])
    running.send(b"\n")
    status, output, errors = running.end()
    works(status == 0 and output.startswith("lab /here"), (status, output, errors))
    assert "403" in output and output.count("lab /here") == 1, output
    same([f"{WEB}:80"], running.answerer.hosts(), "questions")


@case("with opaque the connection is relayed, and asked about")
def opaque(t):
    result = t.tries([{"do": "talk", "to": [WEB, 7], "send": "hello", "stop": "hello"},
                      {"do": "socks5", "host": WEB, "port": 7, "send": "hello", "stop": "hello"}],
                     [f"{WEB}:7=once"], ["--ask-host", f"{WEB}:7 opaque"])
    for one in result:
        works(one.get("data") == "hello", one)
    same([f"{WEB}:7"] * 2, t.heard.hosts(), "questions")
    result = t.tries([{"do": "talk", "to": [WEB, 7], "send": "hello", "stop": "hello"}],
                     [f"{WEB}:7=no"], ["--ask-host", f"{WEB}:7 opaque"])
    assert not result[0].get("data"), result
    t.saw_no_dial()


@case("in the mode isolated nobody is asked about datagrams")
def datagrams(t):
    if not has_nft():
        return
    log = t.world.folder / "events"
    result = t.tries([{"do": "udp", "to": [WEB_V4, 7], "send": "x"}], ["*=session"],
                     ["--net", "isolated", "--ask-host", WEB_V4, "--debug-log", str(log)])
    text = log.read_text()
    log.unlink()
    assert not result[0].get("data"), result
    assert "nobody is asked about datagrams" in text, text[-2000:]
    same([], t.heard.hosts(), "questions")
    assert not [event for event in t.events if event["kind"] == "packet" and event["protocol"] == "udp"
                and event["address"] == WEB_V4 and event["port"] == 7], "a datagram left"


@case("question and answer are in the log")
def logged(t):
    log = t.world.folder / "events"
    t.tries([{"do": "talk", "send": get(WEB)}], [f"{WEB}:80=session"], [*ASK, "--debug-log", str(log)])
    text = log.read_text()
    log.unlink()
    for word in ("asked", "settled"):
        assert any(f" {word} " in line or f"{word} " in line and f"{WEB}:80" in line for line in text.splitlines()), text


@case("200 connections to 50 hosts wait for a slow answer, and nobody else does")
def crowd(t):
    hosts = [f"host{number}.example" for number in range(50)]
    script = f"""
import socket, sys, threading, time
sys.stdin.readline()
def get(host, seconds=80):
    with socket.create_connection(("127.0.0.1", 800), seconds) as sock:
        sock.settimeout(seconds)
        sock.sendall(f"GET http://{{host}}/here HTTP/1.1\\r\\nHost: {{host}}\\r\\nConnection: close\\r\\n\\r\\n".encode())
        data = b""
        while part := sock.recv(65536):
            data += part
    return data
def pace():
    began = time.monotonic()
    for _ in range(40):
        assert b"lab /here" in get("{WEB}")
    return time.monotonic() - began
alone = min(pace(), pace())
answers = []
threads = [threading.Thread(target=lambda host=f"host{{n % 50}}.example": answers.append(get(host))) for n in range(200)]
for thread in threads:
    thread.start()
time.sleep(2)
beside = min(pace(), pace(), pace())
print(alone, beside, len(answers))
sys.stdout.flush()
for thread in threads:
    thread.join()
print(sum(b" 403 " in answer[:20] for answer in answers), time.monotonic())
"""
    running = t.begin(["100", f"{WEB}:80=session", *[f"{host}:80=silent" for host in hosts]],
                      [*ASK, "--set", "sandbox.ask_timeout=15s"], ["/usr/bin/python3", "-c", script])
    running.send(b"\n")
    running.answerer.waits_for(51, 40)
    time.sleep(3)
    [net] = net_pids(running.process.pid)
    sizes = []
    for _ in range(4):
        status = Path(f"/proc/{net}/status").read_text()
        sizes.append((int(status.split("VmRSS:")[1].split()[0]), fds_of(net, status)))
        time.sleep(1)
    status, output, errors = running.end(120)
    works(status == 0, (output, errors))
    alone, beside, early = output.split("\n")[0].split()
    assert float(beside) < 3 * float(alone) + 0.5, (alone, beside)
    same(0, int(early), "answered before")
    same(200, int(output.split("\n")[1].split()[0]), "refused")
    assert max(size for size, _ in sizes) - min(size for size, _ in sizes) < 600, sizes
    assert max(size for size, _ in sizes) < 64 << 10, sizes
    assert max(fds for _, fds in sizes) <= 256, sizes
    same(51, len(running.answerer.asked), "questions")
    t.saw_no_question(*hosts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("--answerer", default=BUILD / "tests/answerer")
    parser.add_argument("cases", nargs="*", help="beginnings or parts of titles; all without")
    options = parser.parse_args()
    tap, world = Tap(), World(options.bawn)
    for title, function in CASES:
        if not options.cases or any(word in title for word in options.cases):
            tap.attempt(title, function, Trial(world, str(Path(options.answerer).resolve())))
    return tap.end()


sys.exit(main())
