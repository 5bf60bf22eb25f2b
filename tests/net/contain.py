#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""contain.py [--bawn PROGRAM] [CASE]...: what a contained program tries to do with the network, and what must
happen. In the lab. TAP on standard output.

Each case has both sides: what is allowed works, and what is not fails as it must while the lab's servers and its
packet log, which no program inside can reach, saw nothing of it.
"""
import argparse
import base64
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
from harness import Server, forwarding  # noqa: E402
from world import HERE, Broken, Tap, World, asked, has_nft, reached, requests, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
WEB, OTHER = "web.example", "other.example"
WEB_ADDRESSES, OTHER_ADDRESSES = ["203.0.113.10", "2001:db8::10"], ["203.0.113.66", "2001:db8::66"]
RESET = ("ECONNRESET", "EPIPE", "eof")
FORMERR, NXDOMAIN, NOTIMP, REFUSED = 1, 3, 4, 5
RSS_KIB = 64 << 10


def case(title, goes_red=True):
    def keep(function):
        CASES.append((title, function, goes_red))
        return function
    return keep


def get(host, path="/here", more="", method="GET"):
    """A request to a proxy."""
    return f"{method} http://{host}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"


def plain(host, path="/here", more="", method="GET"):
    """The same to a server."""
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"


def code(result):
    """The status of an answer, or None."""
    words = result.get("data", "").split(" ", 2)
    return int(words[1]) if words[0].startswith("HTTP/1.") and words[1].isdigit() else None


def closed(result):
    """Whether it ended without a byte: reset, refused, or an end."""
    return (result.get("errno") in ("ECONNREFUSED", "ECONNRESET")
            or result.get("end") in RESET and not result.get("data")
            or result.get("end") in ("SSLError", "SSLEOFError", "SSLZeroReturnError"))


def is_denied(result):
    """Refused on a connection that was not made to a proxy."""
    return closed(result) or code(result) in (400, 403, 405)


def one_of(want, got, what):
    assert got in want, f"{what}: {got!r}, not one of {want!r}"


class Trial:
    """One case: attempts inside, and what the lab saw of them."""

    def __init__(self, world):
        self.world = world
        self.events = []

    def tries(self, attempts, allow=(WEB,), options=(), seconds=90):
        start = self.world.witness.settle()
        status, output, errors, _ = self.world.sandbox(
            ["/usr/bin/python3", HERE / "attack.py"], allow, options, seconds=seconds,
            data=json.dumps(attempts).encode())
        self.events = self.world.witness.since(start)
        if status != 0:
            raise Broken(f"status {status}\n{output}{errors}")
        return json.loads(output)

    def killing(self, attempts, kills):
        """The attempts, while each bawn-net is killed that has served for a while, so many of them."""
        start = self.world.witness.settle()
        words = self.world.words(["/usr/bin/python3", HERE / "attack.py"], [WEB])
        with subprocess.Popen(words, cwd=self.world.folder, env=self.world.env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdin.write(json.dumps(attempts).encode())
            running.stdin.close()
            done = set()
            while running.poll() is None:
                for pid in set(net_pids()) - done if len(done) < kills else ():
                    time.sleep(0.3)
                    os.kill(pid, signal.SIGKILL)
                    done.add(pid)
                time.sleep(0.01)
            output, errors = running.stdout.read(), running.stderr.read().decode()
        self.events = self.world.witness.since(start)
        works(running.returncode == 0 and done, f"status {running.returncode}, killed: {done}\n{errors}")
        return json.loads(output), errors

    def saw_no_dial(self, addresses=None):
        """No TCP packet but those that ask for names."""
        seen = [event for event in reached(self.events, addresses) if event["port"] != 53]
        assert not seen, f"dialled: {[(event['address'], event['port']) for event in seen]}"

    def saw_no_question(self, *names):
        seen = [event for event in asked(self.events) if not names or event["name"] in names]
        assert not seen, f"asked: {[(event['name'], event.get('type')) for event in seen]}"

    def saw_nothing(self):
        self.saw_no_dial()
        self.saw_no_question()

    def saw_no_word(self):
        """A connection was made, but not a byte of the client's went on."""
        seen = [event for event in self.events if event["kind"] in ("bytes", "sni", "http")
                and event.get("port") != 53 and event.get("data") != ""]
        assert not seen, f"the server got: {seen[:2]}"


def ways(host, port=80):
    """The same request by each way in, with what a refusal is there."""
    send, stop = plain(host), "lab /here"
    return [
        ("forward", {"do": "talk", "send": get(host)}, lambda r: code(r) == 403),
        ("CONNECT", {"do": "tunnel", "host": host, "port": port, "send": send}, lambda r: code(r) == 403),
        ("SOCKS5", {"do": "socks5", "host": host, "port": port, "send": send, "stop": stop},
         lambda r: r.get("reply") == 2),
        ("SOCKS4a", {"do": "socks4", "host": host, "port": port, "send": send, "stop": stop},
         lambda r: r.get("reply") == 91),
        ("transparent", {"do": "talk", "to": [host, port], "send": send},
         lambda r: "gai" in r or is_denied(r)),
    ]


def succeeded(result):
    return "lab /here" in result.get("data", "")


@case("H-03 the same rule on every way in")
def same_rule(t):
    rows = ways(WEB)
    for (way, _, _), result in zip(rows, t.tries([row[1] for row in rows])):
        works(succeeded(result), f"allowed, {way}: {result}")
    same(len(rows), len(requests(t.events, host=WEB)), "requests that arrived")
    for host in (OTHER, *OTHER_ADDRESSES[:1], WEB_ADDRESSES[0]):
        rows = ways(host)
        for (way, _, is_refusal), result in zip(rows, t.tries([row[1] for row in rows])):
            assert is_refusal(result), f"{host}, {way}: {result}"
        t.saw_nothing()


@case("H-03 all that is allowed goes through an upstream proxy, which alone looks names up", goes_red=False)
def through_upstream(t):
    proxy = Server("127.0.0.1", 3128, forwarding({f"{WEB}:80": (WEB_ADDRESSES[0], 80)}))
    options = ["--set", "sandbox.network.upstream_proxy=http://127.0.0.1:3128",
               "--set", "sandbox.network.upstream_no_proxy=four.example"]
    rows = ways(WEB)
    for (way, _, _), result in zip(rows, t.tries([row[1] for row in rows], options=options)):
        works(succeeded(result), f"allowed, {way}: {result}")
    same([f"CONNECT {WEB}:80 HTTP/1.1"] * len(rows), [head.decode().split("\r\n")[0] for head in proxy.said], "asked for")
    same(len(rows), len(requests(t.events, host=WEB)), "requests that arrived")
    t.saw_no_question()
    rows = ways("four.example")
    for (way, _, _), result in zip(rows, t.tries([row[1] for row in rows], ["four.example"], options)):
        works(succeeded(result), f"past it, {way}: {result}")
    works(asked(t.events, "four.example"), "nobody asked for what goes past it")
    for host in (OTHER, OTHER_ADDRESSES[0], "127.0.0.1"):
        rows = ways(host, 3128 if host == "127.0.0.1" else 80)[1:4]
        for (way, _, is_refusal), result in zip(rows, t.tries([row[1] for row in rows], options=options)):
            assert is_refusal(result), f"{host}, {way}: {result}"
        t.saw_nothing()
    same(5, proxy.count, "connections to the proxy")
    proxy.close()


@case("H-03 the login at an upstream proxy is a file of the user's, and nowhere inside", goes_red=False)
def login_at_upstream(t):
    login = "me:Secret-word 1"
    proxy = Server("127.0.0.1", 3128, forwarding({f"{WEB}:80": (WEB_ADDRESSES[0], 80)}, login))
    place = Path(t.world.env["HOME"], ".config/bawn/proxy-login")
    log, hidden = t.world.folder / "login-log", base64.b64encode(login.encode()).decode()
    options = ["--set", "sandbox.network.upstream_proxy=http://127.0.0.1:3128", "--rw", place.parent.parent.parent,
               "--debug-log", log]
    place.parent.mkdir(parents=True, exist_ok=True)

    def said(text, mode=0o600):
        if text is not None:
            place.write_text(text)
            place.chmod(mode)
        return runs(t, ["sh", "-c", f"curl -sS -m 10 http://{WEB}/here; env; cat {place}; ls -l {place}; "
                        "cat /proc/[0-9]*/environ | tr '\\0' '\\n'"], WEB, options)

    try:
        result = said(None)
        works("the upstream proxy wants a login (status 407)" in result, result)
        for text in (login, login + "\n"):
            result = said(text)
            works("lab /here" in result, result)
            assert "Secret" not in result and hidden not in result + log.read_text(), result
        works(f"Proxy-Authorization: Basic {hidden}\r\n".encode() in proxy.said[-1], proxy.said)
        same([], [event for event in t.events if "roxy-" in json.dumps(event)], "headers that went on to the server")
        result = said("me:other")
        works("does not take the login in ~/.config/bawn/proxy-login (status 407)" in result, result)
        for text, mode, why in ((login, 0o640, "others may read or write it"), ("me", 0o600, "one line USER:PASSWORD"),
                                (login + "\nX: y\n", 0o600, "one line USER:PASSWORD"),
                                (f"me:{'x' * 600}", 0o600, "one line USER:PASSWORD"), ("", 0o600, "one line")):
            result = said(text, mode)
            works(why in result and "proxy-login is not used" in result and "status 407" in result, (text, result))
            assert "Secret" not in result, result
        place.write_text(login)
        _, plan, errors, _ = t.world.run([t.world.bawn, "plan", "--isolated", "--net", "proxy", *options[:2]])
        works("127.0.0.1:3128" in plan, errors)
        assert "Secret" not in plan + errors, plan
    finally:
        place.unlink(missing_ok=True)
        proxy.close()


@case("H an address that stands for a name has that name, and nobody outside is asked for any", goes_red=False)
def names_of_addresses(t):
    python = ("import socket, sys; a = socket.gethostbyname(sys.argv[1]); print(a, *socket.gethostbyaddr(a)[:1]);"
              " six = socket.getaddrinfo(sys.argv[1], 1, socket.AF_INET6)[0][4][0]; print(socket.getnameinfo((six, 1), 0)[0])")
    said = runs(t, ["sh", "-c", f"set -- $(getent ahosts {WEB} | grep STREAM | grep -v :); getent hosts $1; /usr/bin/python3 -c '{python}' {WEB};"
                    " perl -MSocket -e 'print scalar gethostbyaddr(inet_aton($ARGV[0]), AF_INET), \"\\n\"' $1;"
                    f" for a in {OTHER_ADDRESSES[0]} {WEB_ADDRESSES[0]} 198.18.7.7; do getent hosts $a || echo none; done"], WEB)
    lines = said.splitlines()
    works(len(lines) == 7 and lines[0].split()[1:] == [WEB] and lines[1].split()[1:] == [WEB]
          and lines[2:4] == [WEB, WEB], said)
    same(["none"] * 3, lines[4:], "names of others")
    same({WEB}, {event["name"] for event in asked(t.events)}, "names that were asked for outside")


@case("H who wants addresses only of a family that the machine has gets both", goes_red=False)
def families_of_names(t):
    said = runs(t, ["sh", "-c", f"for which in ahostsv4 ahostsv6; do getent $which {WEB} | grep -c {WEB}; done"], WEB)
    same(["1", "1"], said.splitlines(), "answers")


@case("H-03 a refusal says why, and which rule")
def refusal_says_why(t):
    result = t.tries([{"do": "talk", "send": get(OTHER)}])[0]
    same(403, code(result), "status")
    assert "x-bawn-denied:" in result["data"].lower(), result
    assert OTHER in result["data"].partition("\r\n\r\n")[2], result


@case("H-04 a SOCKS name with bytes that no name has")
def socks_bytes(t):
    names = [f"{WEB}\0.{OTHER}", f"{WEB}\0", f"a\x01.{WEB}", f"{WEB} ", f" {WEB}", f"{WEB}%00", f"{WEB}\r\n", "a" * 255,
             "", ".", "..", f"{WEB}..", f".{WEB}", f"-.{WEB}", "\xff" * 8, "w\xc3\xa9b.example", f"{WEB}/", f"{WEB}:80",
             f"user@{WEB}", "*", f"*.{WEB}", "[::1]", "0x7f.1", "127.1", "2130706433", "017700000001"]
    attempts = [{"do": "socks5", "host": name, "port": 80} for name in names]
    attempts += [{"do": "socks4", "host": name, "port": 80} for name in names if "\0" not in name]
    for attempt, result in zip(attempts, t.tries(attempts)):
        want = 2 if attempt["do"] == "socks5" else 91
        same(want, result.get("reply", result), f"{attempt['do']} {attempt['host']!r}")
    t.saw_nothing()


@case("H-05 rules match whole labels")
def whole_labels(t):
    rows = [(f"*.{WEB}", {f"deep.{WEB}": True, WEB: False, "notweb.example": False, "evil-web.example": False,
                          "web.example.test": False}),
            (f"**.{WEB}", {f"deep.{WEB}": True, WEB: True, "notweb.example": False, "web.example.test": False}),
            (WEB, {WEB: True, WEB.upper() + ".": True, f"deep.{WEB}": False, "notweb.example": False,
                   "evil-web.example": False, "web.example.test": False})]
    for rule, hosts in rows:
        results = t.tries([{"do": "talk", "send": get(host)} for host in hosts], [rule])
        for (host, is_allowed), result in zip(hosts.items(), results):
            same(200 if is_allowed else 403, code(result), f"{rule}: {host}")
        for host, is_allowed in hosts.items():
            if not is_allowed:
                t.saw_no_question(host)


@case("H-05 no rule stands for every host")
def no_global_wildcard(t):
    for rule in ("*", "[*]", "**", "*.", "**.", "*.*", "w*b.example", "*web.example"):
        status, output, _, _ = t.world.sandbox(["echo", "ran"], [rule])
        same(125, status, rule)
        same("", output, rule)


BAD = {"loop.example": "127.0.0.1", "loop6.example": "::1", "zero.example": "0.0.0.0", "private.example": "10.0.0.5",
       "home.example": "192.168.1.5", "carrier.example": "100.64.0.5", "local.example": "169.254.1.5",
       "metadata.example": "169.254.169.254", "metadata6.example": "fd00:ec2::254", "mapped.example": "169.254.169.254",
       "translated.example": "64:ff9b::a9fe:a9fe", "stateless.example": "::ffff:0:a9fe:a9fe",
       "unique.example": "fd00::5", "cast.example": "224.0.0.5",
       "fake.example": "198.18.0.9", "inward.example": "10.0.0.5"}


@case("H-08 an allowed name must not lead to a special address")
def bad_addresses(t):
    attempts = []
    for name in BAD:
        attempts += [{"do": "talk", "send": get(name)}, {"do": "talk", "to": [name, 80], "send": plain(name)},
                     {"do": "socks5", "host": name, "port": 80}]
    results = t.tries(attempts, list(BAD))
    for at, name in enumerate(BAD):
        forward, direct, socks = results[at * 3:at * 3 + 3]
        same(403, code(forward), f"{name}: {forward}")
        assert "gai" in direct or is_denied(direct), f"{name}: {direct}"
        same(2, socks.get("reply"), name)
        works(asked(t.events, name), f"{name} was never asked for")
    t.saw_no_dial()


@case("H-08 of a mixed set only the ordinary address can be dialled")
def mixed_sets(t):
    for name, good, bad in (("mixed.example", "203.0.113.20", "10.0.0.5"),
                            ("mixed6.example", "203.0.113.21", "fd00::5")):
        results = t.tries([{"do": "talk", "send": get(name)} for _ in range(3)]
                          + [{"do": "talk", "to": [name, 80], "send": plain(name)}], [name])
        for result in results:
            assert code(result) in (200, 403) or "gai" in result or closed(result), result
        t.saw_no_dial([bad, "::ffff:" + bad])
        others = [event["address"] for event in reached(t.events) if event["port"] != 53]
        assert set(others) <= {good}, others


@case("H-08 a special address that is listed can be reached", goes_red=False)
def listed_address(t):
    result = t.tries([{"do": "talk", "send": get("private.example")}], ["private.example", "10.0.0.5"])[0]
    works(code(result) == 200, result)
    works(reached(t.events, ["10.0.0.5"]), "nothing arrived")


@case("H-09 a second answer is not what is dialled")
def rebinding(t):
    name = "turn.example"
    attempts = [{"do": "talk", "send": get(name)} for _ in range(4)]
    attempts += [{"do": "talk", "to": [name, 80], "send": plain(name)} for _ in range(4)]
    results = t.tries(attempts, [name])
    works(code(results[0]) == 200, results[0])
    t.saw_no_dial(["127.0.0.1", "::1"])
    assert {event["address"] for event in reached(t.events) if event["port"] != 53} == {"203.0.113.30"}


SPELLED = ["169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::169.254.169.254]",
           "[64:ff9b::169.254.169.254]", "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376",
           "169.254.43518", "169.254.169.254.", "[fe80::a9fe:a9fe%25lo]", "[fd00:ec2:0:0:0:0:0:254]"]


@case("H-10 metadata cannot be reached by any spelling")
def metadata(t):
    attempts = []
    for host in SPELLED:
        attempts += [{"do": "talk", "send": get(host)}, {"do": "tunnel", "host": host, "port": 80, "send": plain(host)}]
    results = t.tries(attempts)
    for attempt, result in zip(attempts, results):
        one_of((400, 403), code(result), f"{attempt}: {result}")
    t.saw_nothing()
    direct = [{"do": "talk", "to": [host, 80], "send": plain(host), "seconds": 5}
              for host in ("169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe")]
    direct += [{"do": "socks5", "host": "\xa9\xfe\xa9\xfe", "kind": 1, "port": 80},
               {"do": "socks5", "host": "\0" * 10 + "\xff\xff\xa9\xfe\xa9\xfe", "kind": 4, "port": 80},
               {"do": "socks5", "host": "169.254.169.254", "port": 80}]
    for attempt, result in zip(direct, t.tries(direct)):
        assert is_denied(result) or result.get("reply") == 2 or result.get("errno"), f"{attempt}: {result}"
    t.saw_nothing()


@case("H-10 metadata cannot be reached by a redirect")
def metadata_redirect(t):
    start = t.world.witness.settle()
    for to in ("http://169.254.169.254/latest", "http://metadata.example/latest", "http://[fd00:ec2::254]/"):
        status, output, _, _ = t.world.sandbox(
            ["curl", "-sSfL", "-m", "20", f"http://{WEB}/redirect?to={to}"], [WEB, "metadata.example"])
        assert status not in (0, 124, 125), f"{to}: {status} {output}"
    t.events = t.world.witness.since(start)
    t.saw_no_dial(["169.254.169.254", "fd00:ec2::254"])


@case("H-11 a name that cannot be looked up is refused in time")
def lookup_fails(t):
    names = ["fail.example", "silent.example", "absent.example"]
    attempts = [{"do": "talk", "send": get(name)} for name in names]
    attempts += [{"do": "lookup", "name": name} for name in names]
    results = t.tries(attempts, names)
    for name, result in zip(names, results):
        one_of((403, 502, 504), code(result), f"{name}: {result}")
        assert result["took"] < 15, f"{name}: {result['took']} s"
    for name, result in zip(names, results[3:]):
        assert "gai" in result and result["seconds"] < 30, f"{name}: {result}"
    t.saw_no_dial()


def client_hello(sni, extensions=b""):
    """A ClientHello of our own making: with any SNI, or none, and any more extensions."""
    def sized(data, size=2):
        return len(data).to_bytes(size, "big") + data
    more = extensions
    if sni is not None:
        more += struct.pack("!H", 0) + sized(sized(b"\0" + sized(sni.encode())))
    more += struct.pack("!H", 43) + sized(b"\x02\x03\x04") + struct.pack("!H", 10) + sized(sized(b"\0\x1d"))
    more += struct.pack("!H", 13) + sized(sized(b"\x04\x03\x08\x04"))
    more += struct.pack("!H", 51) + sized(sized(b"\0\x1d" + sized(bytes(range(32)))))
    body = b"\x03\x03" + bytes(32) + b"\0" + sized(b"\x13\x01\x13\x02") + b"\x01\0" + sized(more)
    return (b"\x16\x03\x01" + sized(b"\x01" + sized(body, 3))).decode("latin-1")


ECH = struct.pack("!HH", 0xFE0D, 10) + b"\0\0\x01\0\x01\x07\0\0\0\0"
TRICKS = {"another name": client_hello(OTHER), "no name": client_hello(None), "an empty name": client_hello(""),
          "ECH": client_hello(WEB, ECH), "two names": client_hello(WEB, struct.pack("!H", 0)
                                                                  + b"\0\x0e\0\x0c\0\0\x09" + b"other.one"),
          "an address": client_hello("203.0.113.10"), "ssh": "SSH-2.0-lab\r\n", "zeros": "\0" * 64,
          "another Host": plain(OTHER), "garbage": "hello\r\n\r\n", "SSL 2": "\x80\x2e\x01\x03\x01" + "\0" * 41}


@case("H-13 TLS that names another host, or none, is closed")
def fronting(t):
    good = t.tries([{"do": "tls", "to": [WEB, 443], "sni": WEB, "way": way} for way in ("tunnel", "transparent")])
    for result in good:
        works(succeeded(result), result)
    same([WEB, WEB], [event["sni"] for event in t.events if event["kind"] == "sni"], "names that arrived")
    attempts = []
    for send in TRICKS.values():
        attempts += [{"do": "tunnel", "host": WEB, "port": 443, "send": send, "seconds": 2},
                     {"do": "talk", "to": [WEB, 443], "send": send, "seconds": 2}]
    results = t.tries(attempts)
    for at, name in enumerate(TRICKS):
        tunnel, direct = results[at * 2:at * 2 + 2]
        same("HTTP/1.1 200", tunnel.get("connect"), f"{name}: {tunnel}")
        assert is_denied(tunnel), f"{name} in a tunnel: {tunnel}"
        assert is_denied(direct), f"{name}: {direct}"
    t.saw_no_word()


@case("H-13 a ClientHello in many pieces is read whole")
def split_hello(t):
    good, bad = client_hello(WEB), client_hello(OTHER)
    pieces = [[hello[at:at + 7] for at in range(0, len(hello), 7)] for hello in (good, bad)]
    results = t.tries([{"do": "talk", "to": [WEB, 443], "send": send, "pause": 0.002, "seconds": 3}
                       for send in pieces])
    same([WEB], [event["sni"] for event in t.events if event["kind"] == "sni"], "names that arrived")
    assert is_denied(results[1]), results[1]


@case("H-13 what is neither TLS nor HTTP needs an opaque rule")
def opaque(t):
    attempts = [{"do": "talk", "to": [WEB, 7], "send": "lab\0echo", "stop": "echo", "seconds": 5},
                {"do": "socks5", "host": WEB, "port": 7, "send": "lab\0echo", "stop": "echo"}]
    for result in t.tries(attempts, [f"{WEB}:7"]):
        assert is_denied(result), result
    t.saw_no_word()
    for result in t.tries(attempts, [f"{WEB}:7 opaque"]):
        works(result.get("data") == "lab\0echo", result)


@case("H-14 the Host of every request is the host that was allowed")
def host_header(t):
    both = plain(WEB).replace("Connection: close\r\n", "") + plain(OTHER)
    two = plain(WEB, more=f"Host: {OTHER}\r\n")
    attempts = {
        "absolute form, another Host": {"do": "talk", "send": get(WEB).replace(f"Host: {WEB}", f"Host: {OTHER}")},
        "two Hosts": {"do": "talk", "send": get(WEB, more=f"Host: {OTHER}\r\n")},
        "two Hosts, transparent": {"do": "talk", "to": [WEB, 80], "send": two},
        "another Host, transparent": {"do": "talk", "to": [WEB, 80], "send": plain(OTHER)},
        "absolute form, transparent": {"do": "talk", "to": [WEB, 80], "send": get(OTHER)},
        "no Host, transparent": {"do": "talk", "to": [WEB, 80], "send": "GET /here HTTP/1.1\r\n\r\n"},
        "another Host in a tunnel": {"do": "tunnel", "host": WEB, "port": 80, "send": plain(OTHER)},
        "user in the authority": {"do": "talk", "send": get(f"{WEB}@{OTHER}")},
        "another port in Host": {"do": "talk", "to": [WEB, 80], "send": plain(WEB + ":22")},
    }
    for name, result in zip(attempts, t.tries(list(attempts.values()))):
        assert is_denied(result), f"{name}: {result}"
    same([], requests(t.events), "requests that arrived")
    for attempt in ({"do": "talk", "to": [WEB, 80], "send": both}, {"do": "tunnel", "host": WEB, "port": 80, "send": both}):
        result = t.tries([attempt])[0]
        works("lab /here" in result["data"], result)
        same(1, len(requests(t.events)), "requests that arrived")
        same([], requests(t.events, host=OTHER), "requests for another host")
        assert result["data"].count("HTTP/1.1 200") == 1 and "HTTP/1.1 4" in result["data"] or \
            result["end"] in RESET, result


@case("H-14 a request for the address that stands for a name is for the name", goes_red=False)
def host_of_address(t):
    found, result = t.tries([{"do": "lookup", "name": WEB}, {"do": "talk", "send": get("198.18.0.2")}])
    works(code(result) == 200, (found, result))
    same([WEB], [event["host"] for event in requests(t.events)], "hosts of requests")


HIDDEN = f"GET /hidden HTTP/1.1\r\nHost: {WEB}\r\n\r\n"
SMUGGLED = {
    "length and chunks": f"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "chunks and length": f"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{HIDDEN}",
    "two lengths": f"Content-Length: 0\r\nContent-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "a list of lengths": f"Content-Length: 0, {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "a signed length": f"Content-Length: +0\r\n\r\n{HIDDEN}",
    "a length in hex": f"Content-Length: 0x0\r\n\r\n{HIDDEN}",
    "a length of many digits": f"Content-Length: 18446744073709551616\r\n\r\n{HIDDEN}",
    "xchunked": f"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "chunked, identity": f"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{HIDDEN}",
    "two codings": f"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a space before the colon": f"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a tab in the coding": f"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a bare LF": f"X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a bare CR": f"X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a folded line": f"X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a NUL": f"X: a\0b\r\n\r\n{HIDDEN}",
    "a huge chunk": f"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{HIDDEN}",
    "a negative chunk": f"Transfer-Encoding: chunked\r\n\r\n-1\r\n{HIDDEN}",
    "a chunk without its end": f"Transfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n{HIDDEN}",
    "a chunk ended by LF": f"Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n{HIDDEN}",
    "a note on a chunk with a line in it": f"Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\na\r\n0\r\n\r\n{HIDDEN}",
    "fields behind the last chunk": f"Transfer-Encoding: chunked\r\n\r\n0\r\nHost: {OTHER}\r\n\r\n{HIDDEN}",
}


@case("H-16 smuggled requests do not arrive")
def smuggling(t):
    first = f"POST /echo HTTP/1.1\r\nHost: {WEB}\r\n"
    forward = f"POST http://{WEB}/echo HTTP/1.1\r\nHost: {WEB}\r\n"
    for name, rest in SMUGGLED.items():
        results = t.tries([{"do": "talk", "send": forward + rest, "seconds": 5, "shut": True},
                           {"do": "talk", "to": [WEB, 80], "send": first + rest, "seconds": 5, "shut": True}])
        for result in results:
            # A body that goes wrong is found when the request is on its way.
            one_of((400, None) if "chunk " in name + " " else (400,), code(result), f"{name}: {result}")
            assert result["end"] in RESET, f"{name}: {result}"
        arrived = requests(t.events)
        assert len(arrived) <= 2 and not [one for one in arrived if one["target"] == "/hidden"], f"{name}: {arrived}"
    result = t.tries([{"do": "talk", "send": forward + "Connection: close\r\nContent-Length: 5\r\n\r\nhello"}])[0]
    works(result["data"].endswith("hello"), result)


@case("H-16 nor do they behind a request whose connection is kept")
def smuggling_later(t):
    for name, rest in SMUGGLED.items():
        attempts = [{"do": "talk", **({} if front else {"to": [WEB, 80]}), "pause": pause, "seconds": 5,
                     "send": [f"GET {front}/here HTTP/1.1\r\nHost: {WEB}\r\n\r\n",
                              f"POST {front}/echo HTTP/1.1\r\nHost: {WEB}\r\n{rest}"]}
                    for front in ("", f"http://{WEB}") for pause in (0, 0.05)]
        for result in t.tries(attempts):
            works("lab /here" in result["data"], f"{name}: {result}")
            assert result["data"].count("HTTP/1.1 200") == 1, f"{name}: {result}"
            assert "HTTP/1.1 400" in result["data"] or result["end"] in RESET and "chunk " in name + " ", f"{name}: {result}"
        arrived = requests(t.events)
        assert len(arrived) <= 8 and not [one for one in arrived if one["target"] == "/hidden"], f"{name}: {arrived}"
    # A body that a careless server takes for a request is the last that it sees on that connection.
    body = HIDDEN.replace(WEB, OTHER)
    result = t.tries([{"do": "talk", "pause": 0.05, "stop": "HTTP/1.1 403", "seconds": 5, "send": [
        f"GET http://{WEB}/here HTTP/1.1\r\nHost: {WEB}\r\n\r\n",
        f"POST http://{WEB}/echo HTTP/1.1\r\nHost: {WEB}\r\nContent-Length: {len(body)}\r\n\r\n{body}",
        f"GET http://{OTHER}/ HTTP/1.1\r\nHost: {OTHER}\r\n\r\n"]}])[0]
    works(result["data"].count("HTTP/1.1 200") == 2 and result["end"] == "stop", result)
    same(["keep-alive", "close"], [one["headers"].get("connection") for one in requests(t.events)], "the servers' connections")
    t.saw_no_dial(OTHER_ADDRESSES)


@case("H-16 a malformed first line is 400")
def first_lines(t):
    lines = ["GET", "GET /", f"GET  http://{WEB}/ HTTP/1.1", f"GET http://{WEB}/ HTTP/1.1 x", f"GET http://{WEB}/ HTTP/3.0",
             f" GET http://{WEB}/ HTTP/1.1", f"GET http://{WEB}/\0 HTTP/1.1", f"G\x01T http://{WEB}/ HTTP/1.1",
             "GET http:/// HTTP/1.1", "GET / HTTP/1.1", f"GET file://{WEB}/ HTTP/1.1", f"GET ftp://{WEB}/ HTTP/1.1",
             f"CONNECT {WEB} HTTP/1.1", f"CONNECT {WEB}:0 HTTP/1.1", f"CONNECT {WEB}:99999 HTTP/1.1",
             f"CONNECT http://{WEB}:80/ HTTP/1.1", f"CONNECT {WEB}:80:80 HTTP/1.1", f"CONNECT {WEB}:0x50 HTTP/1.1"]
    results = t.tries([{"do": "talk", "send": f"{line}\r\nHost: {WEB}\r\n\r\n", "seconds": 5} for line in lines])
    for line, result in zip(lines, results):
        one_of((400, 403, 405, 505), code(result), f"{line!r}: {result}")
    same([], requests(t.events), "requests that arrived")


@case("H-17 an upgrade does not change the host, and what is unknown is refused")
def upgrades(t):
    socket_lines = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: bGFibGFibGFibGFibGFiYQ==\r\n"
    asks = socket_lines + "Connection: Upgrade\r\n"
    head = f" http://{WEB}/ws HTTP/1.1\r\nHost: {WEB}\r\n"
    odd = {
        "websocket elsewhere": get(OTHER, more=asks).replace("Connection: close\r\n", ""),
        "HTTP/2 by prior knowledge": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\0\0\0\4\0\0\0\0\0",
        "TRACE": f"TRACE{head}\r\n",
        "CONNECT of UDP": f"CONNECT {WEB}:443 HTTP/1.1\r\nHost: {WEB}\r\nUpgrade: connect-udp\r\n"
                          "Connection: Upgrade\r\n\r\n",
    }
    for name, result in zip(odd, t.tries([{"do": "talk", "send": send, "seconds": 5} for send in odd.values()])):
        if name != "CONNECT of UDP":
            assert is_denied(result) or code(result) in (501, 505), f"{name}: {result}"
    same([], requests(t.events), "requests that arrived")
    result = t.tries([{"do": "talk", "send": f"GET{head}Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
                       "Connection: Upgrade, HTTP2-Settings\r\n\r\n", "seconds": 5}])[0]
    assert code(result) != 101, result
    assert all("upgrade" not in one["headers"] for one in requests(t.events)), requests(t.events)
    attempts = [{"do": "talk", "send": f"GET{head}{asks}\r\n", "seconds": 1},
                {"do": "talk", "to": [WEB, 80], "send": [plain(WEB, "/ws", asks).replace("Connection: close\r\n", ""),
                                                        "lab\0echo"], "pause": 0.3, "stop": "lab\0echo", "seconds": 5}]
    plain_socket, echoed = t.tries(attempts)
    works(code(plain_socket) == 101, plain_socket)
    works(code(echoed) == 101 and echoed["data"].endswith("lab\0echo"), echoed)


@case("H-08 an address of this machine is none like others, unless it is listed")
def own_address(t):
    attempts = [{"do": "talk", "to": ["own.example", 80], "send": plain("own.example")},
                {"do": "talk", "send": get("own.example")}]
    for result in t.tries(attempts, allow=["own.example"]):
        same(403, code(result), result)
    t.saw_no_dial(["198.51.100.99"])
    attempts = [{"do": "talk", "to": ["198.51.100.99", 80], "send": plain("198.51.100.99")},
                {"do": "talk", "to": ["2001:db8::99", 80], "send": plain("[2001:db8::99]")}]
    if has_nft():
        for result in t.tries(attempts, allow=[], options=["--net", "isolated"]):
            same(403, code(result), result)
        t.saw_no_dial(["198.51.100.99", "2001:db8::99"])
    works(code(t.tries(attempts[:1], allow=["198.51.100.99"])[0]) == 200, "one that is listed")


@case("H-18 redirects are the client's to follow")
def redirect(t):
    result = t.tries([{"do": "talk", "send": get(WEB, f"/redirect?to=http://{OTHER}/")}])[0]
    works(code(result) == 302, result)
    t.saw_no_dial(OTHER_ADDRESSES)
    t.saw_no_question(OTHER)
    start = t.world.witness.settle()
    url = f"http://{WEB}/redirect?to=http://{OTHER}/"
    status, output, errors, _ = t.world.sandbox(["curl", "-sSL", "-m", "20", url], [WEB])
    t.events = t.world.witness.since(start)
    assert status not in (124, 125) and "lab /" not in output, f"{status} {output}{errors}"
    works(requests(t.events, host=WEB), "the first request did not arrive")
    t.saw_no_dial(OTHER_ADDRESSES)
    t.saw_no_question(OTHER)


@case("H-19 a relay inside gets the same verdict")
def relay(t):
    allowed, denied = t.tries([{"do": "relayed", "host": host, "port": 443} for host in (WEB, OTHER)])
    works(code(allowed) == 200, allowed)
    same(403, code(denied), denied)
    t.saw_no_dial(OTHER_ADDRESSES)
    t.saw_no_question(OTHER)


def listening():
    """Every address and port of the lab that takes connections or datagrams."""
    found = set()
    for name in ("tcp", "tcp6", "udp", "udp6"):
        with open(f"/proc/net/{name}", encoding="utf-8") as lines:
            for line in list(lines)[1:]:
                words = line.split()
                if name.startswith("udp") or words[3] == "0A":
                    found.add((name, words[1]))
    return found


@case("H-20 nobody outside reaches the listeners")
def open_relay(t):
    before = listening()
    words = t.world.words(["/usr/bin/python3", HERE / "attack.py"], [WEB])
    attempts = [{"do": "talk", "send": get(WEB)}, {"do": "sleep", "seconds": 4}]
    with subprocess.Popen(words, cwd=t.world.folder, env=t.world.env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        running.stdin.write(json.dumps(attempts).encode())
        running.stdin.close()
        time.sleep(2)
        new = {one for one in listening() - before if one[0].startswith("tcp")}
        same(set(), new, "listeners outside")
        for address in ("127.0.0.1", "::1", "203.0.113.10"):
            try:
                socket.create_connection((address, 800), 2).close()
                raise AssertionError(f"{address}:800 takes connections outside")
            except ConnectionRefusedError:
                pass
        # Another sandbox, which may nothing, has not this one's rights.
        other = t.tries([{"do": "talk", "send": get(WEB)}, {"do": "lookup", "name": WEB}], [])
        same(403, code(other[0]), other[0])
        assert "gai" in other[1], other[1]
        t.saw_nothing()
        output = json.loads(running.stdout.read())
    works(code(output[0]) == 200, output[0])


@case("H-21 services of the host's loopback cannot be reached")
def loopback(t):
    names = ["127.0.0.1", "localhost", "[::1]", "127.0.0.2", "0.0.0.0", "[::]", "a.localhost", "[::ffff:127.0.0.1]"]
    for options in ([], ["--set", "sandbox.network.allow_local_binding=true"]):
        results = t.tries([{"do": "talk", "send": get(name)} for name in names], options=options)
        for name, result in zip(names, results):
            one_of((400, 403), code(result), f"{name}: {result}")
        t.saw_nothing()
        direct = t.tries([{"do": "talk", "to": [name, 8080], "send": plain(name)}
                          for name in ("127.0.0.1", "::1", "localhost", "127.0.0.2")], options=options)
        for result in direct:
            same("ECONNREFUSED", result.get("errno"), result)
        t.saw_nothing()


@case("H-22 names cannot carry anything out")
def exfiltration(t):
    secret = "s3cr3t"
    outside = "203.0.113.53"
    names = [f"{secret}.{OTHER}", f"{secret}.{WEB}", f"{secret * 10}.{secret * 10}.test", "x" * 63 + ".test", secret,
             f"{WEB}.{secret}.test", "254.169.254.169.in-addr.arpa"]
    attempts = []
    for kind in ("A", "AAAA", "TXT", "NULL", "ANY", "MX", "CNAME", "SRV", "HTTPS", "SVCB", "PTR", "NS"):
        attempts += [{"do": "dns", "name": name, "kind": kind} for name in names[:3]]
    attempts += [{"do": "dns", "name": name, "over": over, "to": to}
                 for name in names for over in ("udp", "tcp") for to in (outside, None)]
    for attempt, result in zip(attempts, t.tries(attempts)):
        one_of((NXDOMAIN, NOTIMP, REFUSED), result.get("code", result), f"{attempt}")
        same(0, result["count"], f"{attempt}")
    t.saw_nothing()
    ways_out = [{"do": "talk", "to": [outside, 853], "send": client_hello("dns.example"), "seconds": 5},
                {"do": "udp", "to": [outside, 853]}, {"do": "talk", "to": [outside, 443], "send": client_hello(None)}]
    for result in t.tries(ways_out):
        assert is_denied(result) or result.get("errno"), result
    t.saw_nothing()


@case("H-22 of an allowed name only its addresses are asked for")
def allowed_types(t):
    kinds = ("TXT", "NULL", "ANY", "MX", "HTTPS", "SVCB", "SRV", "NS", "CNAME")
    results = t.tries([{"do": "dns", "name": WEB, "kind": kind} for kind in kinds])
    for kind, result in zip(kinds, results):
        one_of((0, NXDOMAIN, NOTIMP, REFUSED), result.get("code", result), kind)
        assert result["count"] == 0 or kind == "ANY", f"{kind}: {result}"
    assert {event["type"] for event in asked(t.events)} <= {"A", "AAAA"}, asked(t.events)
    good = t.tries([{"do": "dns", "name": WEB, "kind": kind, "over": over, "to": to}
                    for kind in ("A", "AAAA") for over in ("udp", "tcp") for to in (None, "203.0.113.53")])
    for result in good:
        works(result.get("code") == 0 and result.get("count"), result)
    assert {event["source"] for event in asked(t.events)} <= {"127.0.0.1"}, asked(t.events)


@case("H-24 what is no question gets an error or nothing, and the next one an answer")
def bad_questions(t):
    def query(counts=(1, 0, 0, 0), body=b"\3web\7example\0\0\1\0\1", flags=0x100):
        return (struct.pack("!HHHHHH", 0x1234, flags, *counts) + body).decode("latin-1")
    bad = {
        "empty": "", "one byte": "a", "a header only": query(body=b""), "no question": query((0, 0, 0, 0)),
        "two questions": query((2, 0, 0, 0), b"\3web\7example\0\0\1\0\1\5other\7example\0\0\1\0\1"),
        "a loop": query(body=b"\xc0\x0c\0\1\0\1"), "a pointer ahead": query(body=b"\xc0\xff\0\1\0\1"),
        "two pointers": query(body=b"\xc0\x0e\xc0\x0c\0\1\0\1"), "cut short": query(body=b"\3web\7exa"),
        "a long label": query(body=b"\x40" + b"a" * 64 + b"\0\0\1\0\1"), "a long name": query(
            body=(b"\x3f" + b"a" * 63) * 5 + b"\0\0\1\0\1"), "an answer": query(flags=0x8180),
        "another opcode": query(flags=0x2800), "many records": query((1, 65535, 65535, 65535)),
        "another class": query(body=b"\3web\7example\0\0\1\0\3"), "a NUL in a label": query(body=b"\4we\0b\7example\0\0\1\0\1"),
    }
    attempts = []
    for send in bad.values():
        attempts += [{"do": "dns", "send": send, "seconds": 0.5}] if send else []
        attempts += [{"do": "dns", "send": send, "over": "tcp", "seconds": 0.5}]
    attempts += [{"do": "dns", "send": "\xff" * 65535, "over": "tcp", "seconds": 0.5}]
    results = t.tries([*attempts, {"do": "dns", "name": WEB}])
    for attempt, result in zip(attempts, results):
        if "code" in result:
            one_of((FORMERR, NXDOMAIN, NOTIMP, REFUSED), result["code"], f"{attempt}")
        else:
            assert result.get("end") or result.get("errno"), f"{attempt}: {result}"
    works(results[-1].get("code") == 0, "the next question")
    assert {event["name"] for event in asked(t.events)} <= {WEB}, asked(t.events)


@case("H-25 UDP, ping and raw sockets lead nowhere")
def datagrams(t):
    targets = [("203.0.113.10", 7), ("203.0.113.10", 443), ("2001:db8::10", 443), ("198.51.100.9", 123), ("10.0.0.5", 5353)]
    for to, result in zip(targets, t.tries([{"do": "udp", "to": to} for to in targets])):
        one_of(("ECONNREFUSED", "ENETUNREACH"), result.get("errno", result), f"{to}")
    results = t.tries([{"do": "socks5", "host": "\0\0\0\0", "kind": 1, "port": 0, "command": 3},
                       {"do": "socks5", "host": WEB, "port": 80, "command": 2},
                       {"do": "make", "family": "AF_INET", "kind": "SOCK_DGRAM", "protocol": 1},
                       {"do": "make", "family": "AF_INET6", "kind": "SOCK_DGRAM", "protocol": 58},
                       {"do": "make", "family": "AF_INET", "kind": "SOCK_RAW", "protocol": 255},
                       {"do": "make", "family": "AF_INET6", "kind": "SOCK_RAW", "protocol": 58},
                       {"do": "make", "family": "AF_PACKET", "kind": "SOCK_DGRAM", "protocol": 0}])
    same([7, 7], [result.get("reply") for result in results[:2]], "SOCKS commands")
    for result in results[2:]:
        one_of(("EACCES", "EPERM", "EAFNOSUPPORT"), result.get("errno", result), "sockets")
    t.saw_nothing()
    same([], [event for event in t.events if event["kind"] == "packet" and event["port"] != 53
              and event["source"][1] != 53], "packets")


@case("H-28 TCP Fast Open is refused")
def fast_open(t):
    results = t.tries([{"do": "fast_open", "to": [address, 80], "how": how, "send": plain(OTHER)}
                       for address in (OTHER_ADDRESSES[0], WEB_ADDRESSES[0], "169.254.169.254")
                       for how in ("sendto", "sendmsg", "option")])
    for result in results:
        same("EPERM", result.get("errno", result), "fast open")
    t.saw_nothing()


def net_memory():
    """KiB of each bawn-net that runs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
            if lines["Name"].strip() == "bawn-net" and "VmRSS" in lines:
                found.append(int(lines["VmRSS"].split()[0]))
        except (OSError, KeyError):
            pass
    return found


class Watch:
    """The most memory that bawn-net had, looked at ever and again."""

    def __init__(self):
        self.most = 0

    def during(self, function):
        ended = threading.Event()

        def look():
            while not ended.wait(0.05):
                self.most = max([self.most, *net_memory()])
        looker = threading.Thread(target=look)
        looker.start()
        try:
            return function()
        finally:
            ended.set()
            looker.join()


@case("H-31 giant headers are refused, and memory stays small")
def giant_headers(t):
    watch = Watch()
    big = get(WEB).replace("\r\n\r\n", "\r\nX: " + "a" * (1 << 20) + "\r\n\r\n")
    many = get(WEB).replace("\r\n\r\n", "\r\n" + "X: a\r\n" * 10000 + "\r\n")
    attempts = [{"do": "talk", "send": big}, {"do": "talk", "send": many},
                {"do": "talk", "send": "GET http://" + "a" * (1 << 20)},
                {"do": "talk", "to": [WEB, 80], "send": big.replace(f"http://{WEB}", "")},
                {"do": "talk", "send": get(WEB)}]
    results = watch.during(lambda: t.tries([*attempts, {"do": "sleep", "seconds": 0.5}]))[:-1]
    for result in results[:-1]:
        one_of((431, 414, 400), code(result), str(result)[:300])
    works(code(results[-1]) == 200, results[-1])
    same(1, len(requests(t.events)), "requests that arrived")
    assert 0 < watch.most < RSS_KIB, f"{watch.most} KiB"


@case("H-31 a thousand clients that say nothing more do not hold up another")
def slow_clients(t):
    watch = Watch()
    attempts = [{"do": "crowd", "count": 1000, "send": "GET http://web", "then": get(WEB), "hold": 0.5},
                {"do": "crowd", "count": 100, "send": get(WEB, "/big?bytes=20000000"), "then": get(WEB), "hold": 1},
                {"do": "crowd", "count": 200, "send": "\5", "then": get(WEB)}]
    results = watch.during(lambda: t.tries(attempts, options=["--limits", "none"]))
    for result in results:
        same(200, code(result), result)
        assert result["seconds"] < 3, result
    assert 0 < watch.most < RSS_KIB, f"{watch.most} KiB"


@case("H-33 answers of a hostile server are bounded")
def hostile_answers(t):
    # What is no answer at all becomes 502. What goes wrong in or behind the body cannot any more: there the
    # connection ends, so that nothing of it can be taken for another answer.
    for how in ("old", "close", "status", "header", "switch", "early", "lengths", "both", "chunk", "nul", "second"):
        attempts = [{"do": "talk", "send": get(WEB, f"/hostile/{how}"), "seconds": 25},
                    {"do": "talk", "to": [WEB, 80], "send": plain(WEB, f"/hostile/{how}"), "seconds": 25},
                    {"do": "talk", "send": get(WEB)}]
        *results, after = t.tries(attempts)
        for result in results:
            if how in ("lengths", "both", "chunk", "nul", "second"):
                assert code(result) == 502 or closed(result) or \
                    "\r\nconnection: close\r\n" in result["data"].lower(), f"{how}: {result}"
            else:
                assert "HTTP/1.1 502 " in result["data"], f"{how}: {str(result)[:400]}"
            assert result["end"] in RESET and result["took"] < 20, f"{how}: {result}"
            assert len(result["data"]) < 200000, f"{how}: {len(result['data'])} bytes"
        works(code(after) == 200, how)
    half, slow = t.tries([{"do": "talk", "send": get(WEB, f"/hostile/{how}")} for how in ("half", "slow")])
    assert half["data"].endswith("cut") and half["end"] in RESET, half
    works(slow["data"].endswith("lab"), slow)


def net_pids():
    """The processes of bawn-net, oldest first."""
    return sorted(int(path.parent.name) for path in Path("/proc").glob("[0-9]*/comm") if comm(path) == "bawn-net")


def comm(path):
    try:
        return path.read_text().strip()
    except OSError:
        return ""


@case("H when bawn-net is killed the network closes, and the next one has the same rules", goes_red=False)
def killed(t):
    ask = [{"do": "talk", "send": get(host), "seconds": 10} for host in (OTHER, WEB)]
    attempts = [*ask, {"do": "sleep", "seconds": 1}, *ask]
    results, _ = t.killing(attempts, 1)
    same([403, 403], [code(results[0]), code(results[3])], "another host, before and after")
    works([code(results[1]), code(results[4])] == [200, 200], f"before and after: {results}")
    t.saw_no_dial(OTHER_ADDRESSES)
    t.saw_no_question(OTHER)
    # As often as it takes until no new one is started.
    results, errors = t.killing([{"do": "sleep", "seconds": 0.3}, *ask] * 12, 8)
    works("no network any more" in errors, errors)
    assert closed(results[-1]) and closed(results[-2]), results[-2:]
    t.saw_no_dial(OTHER_ADDRESSES)
    t.saw_no_question(OTHER)


@case("H deny wins, ports count, and a rule for an address is no rule for its names", goes_red=False)
def precedence(t):
    results = t.tries([{"do": "talk", "send": get(host)} for host in (WEB, OTHER, f"{WEB}:8080")],
                      ["**.example:80"], ["--deny-host", OTHER])
    works(code(results[0]) == 200, results[0])
    same([403, 403], [code(result) for result in results[1:]], "a denied host, a port that no rule has")
    t.saw_no_dial(OTHER_ADDRESSES)
    same([], reached(t.events, port=8080), "connections to another port")
    address = WEB_ADDRESSES[0]
    attempts = [{"do": "talk", "to": [address, 80], "send": plain(address)}, {"do": "talk", "send": get(address)},
                {"do": "talk", "send": get(WEB)}, {"do": "talk", "to": [address, 443], "send": client_hello(OTHER)},
                {"do": "talk", "to": [address, 80], "send": plain(OTHER)}]
    results = t.tries(attempts, [address], ["--deny-host", OTHER])
    for result in results[:2]:
        works(succeeded(result), result)
    same(403, code(results[2]), "a name, where its address is allowed")
    for result in results[3:]:
        assert is_denied(result), result
    same([], [event for event in t.events if event["kind"] == "sni"] + requests(t.events, host=OTHER), "what arrived")


@case("H aliases and large answers work, and only what was asked for is looked up", goes_red=False)
def aliases(t):
    names = ["alias.example", "chain.example", "many.example"]
    for name, result in zip(names, t.tries([{"do": "talk", "send": get(name)} for name in names], names)):
        works(code(result) == 200, f"{name}: {result}")
    assert {event["name"] for event in asked(t.events)} <= set(names), asked(t.events)
    assert {event["host"] for event in requests(t.events)} == set(names), requests(t.events)


def runs(t, command, rule, options=()):
    """A command with one rule, and what it said."""
    start = t.world.witness.settle()
    _, output, errors, _ = t.world.sandbox(command, [rule], options)
    t.events = t.world.witness.since(start)
    return output + errors


def curl(program="curl", *more):
    return [program, "-sS", "-m", "10", *more, f"http://{WEB}/here"]


DIRECT = ("--noproxy", "*")


@case("H a rule for one program opens the host to that program and its helpers", goes_red=False)
def by_program(t):
    for more in ((), DIRECT):
        said = runs(t, curl("curl", *more), f"{WEB} by=/usr/bin/curl")
        works("lab /here" in said, said)
    said = runs(t, curl("curl", *DIRECT), "*.example by=/usr/bin/curl")
    works("lab /here" in said, said)
    said = runs(t, ["git", "ls-remote", f"http://{WEB}/x"], f"{WEB} by=/usr/bin/git")
    works(requests(t.events, host=WEB), said)


@case("H a rule for one program opens the host to no other")
def by_other(t):
    own = t.world.folder / "own"
    link = t.world.folder / "link"
    own.write_bytes(Path("/usr/bin/curl").read_bytes())
    own.chmod(0o755)
    link.unlink(missing_ok=True)
    link.symlink_to("/usr/bin/curl")
    for command, program in (
            (curl(), "/usr/bin/git"), (curl("curl", *DIRECT), "/usr/bin/git"),
            (curl(own), "/usr/bin/curl"),  # a copy of it
            (curl(own), own),  # a program that the command can write
            (curl(), link),  # a name that the command can give to another
            (["git", "-c", f"alias.x=!{' '.join(map(str, curl(own)))}", "x"], "/usr/bin/git"),
            (curl(), "/usr/bin/none")):
        said = runs(t, command, f"{WEB} by={program}")
        assert "lab /here" not in said, f"{command} by={program}: {said}"
        t.saw_no_dial(WEB_ADDRESSES)


@case("H a rule for one program does not count for a socket that another has, too")
def by_sharing(t):
    share = ["/usr/bin/python3", HERE / "share.py", "/usr/bin/sleep", WEB, "80"]
    if t.world.is_contained:
        said = runs(t, share, WEB)
        works("lab /shared" in said, said)
    for more in ([], ["hidden"]):
        said = runs(t, share + more, f"{WEB} by=/usr/bin/sleep")
        assert "lab /shared" not in said, said
        t.saw_no_dial(WEB_ADDRESSES)


@case("H names that a rule for one program only matches are nobody else's to ask for")
def by_names(t):
    results = t.tries([{"do": "dns", "name": name, "over": over} for over in ("udp", "tcp")
                       for name in (WEB, "secret.example")], ["*.example by=/usr/bin/curl"])
    same([NXDOMAIN] * 4, [result.get("code", result) for result in results], "answers")
    t.saw_no_question()


@case("H a refusal names the program", goes_red=False)
def refusal_names(t):
    log = t.world.folder / "log"
    said = runs(t, ["sh", "-c", f"{' '.join(curl())}; getent hosts {OTHER}; exit 9"], "x.example",
                ["--debug-log", log, "--events", "2"])
    told = [json.loads(line) for line in said.splitlines() if line.startswith('{"seq"')]
    for op, argv, path in (("connect", curl(), f"{WEB}:80"), ("lookup", ["getent", "hosts", OTHER], OTHER)):
        works(any(one["event"] == "barred" and one["op"] == op and one["argv"] == argv and one["path"] == path
                  and one["hint"].startswith(f"add --allow-host '{path}'") for one in told), told)
    same([9], [one["status"] for one in told if one["event"] == "end"], "the status that is told")
    lines = [line for line in log.read_text().splitlines() if " barred " in line]
    for call, program in (("http", "curl"), ("lookup", "getent")):
        works(any(f" comm={program} " in line and f" exe=/usr/bin/{program} " in line and f" call={call} " in line
                  for line in lines), lines)


@case("H a refusal of a name for its addresses names the program, too", goes_red=False)
def refusal_of_addresses_names(t):
    log = t.world.folder / "log-addresses"
    name, program = "private.example", "import socket, sys; socket.getaddrinfo(sys.argv[1], 80)"
    runs(t, ["sh", "-c", f"curl -sS -m 10 http://{name}/; getent hosts {name}; sleep 1.2; "
             f"/usr/bin/python3 -c '{program}' {name}; :"], name, ["--debug-log", log])
    lines = [line for line in log.read_text().splitlines() if " barred " in line]
    for call, program in (("http", "curl"), ("lookup", "getent"), ("lookup", "python3")):
        works(any(f" comm={program} " in line and f" exe=/usr/bin/{program}" in line
                  and f" call={call} " in line for line in lines), (call, program, lines))


def naive():
    """What stands in for bawn where nothing is to be contained."""
    proxy = subprocess.Popen(["/usr/bin/python3", HERE / "naive.py"], stdout=subprocess.PIPE)
    works(proxy.stdout.readline() == b"ready\n", "the naive proxy does not start")
    return proxy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("--without-sandbox", action="store_true", help="contain nothing: every case must go red")
    parser.add_argument("cases", nargs="*", help="beginnings or parts of titles; all without")
    options = parser.parse_args()
    tap = Tap(options.without_sandbox)
    world = World(options.bawn, not options.without_sandbox)
    proxy = naive() if options.without_sandbox else None
    for title, function, goes_red in CASES:
        if (not options.cases or any(word in title for word in options.cases)) and (
                goes_red or not options.without_sandbox):
            tap.attempt(title, function, Trial(world))
    if proxy:
        proxy.kill()
    return tap.end()


sys.exit(main())
