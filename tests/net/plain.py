#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""plain.py [--bawn PROGRAM] [CASE]...: the filtered network where there is no nf_tables: what is reached at which
port, and that nothing else is. In the lab. TAP on standard output.

Each bawn is started by without_nft; the cases of contain.py, ports.py and clients.py run in that way, too, if
without_nft starts the whole program.
"""
import argparse
import json
import os
import socket
import sys

sys.dont_write_bytecode = True
from world import HERE, Broken, Tap, World, asked, cases_of, has_nft, reached, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
case = cases_of(CASES)
WEB, OTHER = "web.example", "other.example"
V4, V6, OTHER_V4, OTHER_V6 = "203.0.113.10", "2001:db8::10", "203.0.113.66", "2001:db8::66"
AT_ONCE = 2  # seconds
NAMED = 8080
LIMIT = 16
PLAIN, NFT = [HERE / "without_nft"], [HERE / "without_nft", "--pass"]


def request(host):
    return f"GET /here HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"


def direct(host, port=80):
    return {"do": "talk", "to": [host, port], "send": request(f"[{host}]" if ":" in host else host)}


def is_answered(result):
    return result.get("data", "").startswith("HTTP/1.1 200") and "lab /here" in result["data"]


def is_refused(result):
    """By the kernel, at once."""
    return result.get("errno") == "ECONNREFUSED" and result["took"] < AT_ONCE


def is_reset(result):
    """By bawn-net, at once."""
    return (not result.get("data") and result["took"] < AT_ONCE
            and (result.get("end") in ("ECONNRESET", "eof") or result.get("errno") == "ECONNRESET"))


class Trial:
    def __init__(self, world):
        self.world, self.events = world, []

    def tries(self, attempts, allow=(WEB,), options=()):
        start = self.world.witness.settle()
        status, output, errors, _ = self.world.sandbox(["/usr/bin/python3", HERE / "attack.py"], allow, options,
                                                       data=json.dumps(attempts).encode())
        self.events = self.world.witness.since(start)
        if status != 0:
            raise Broken(f"status {status}\n{output}{errors}")
        return json.loads(output)

    def dialled(self):
        return sorted({(event["address"], event["port"]) for event in reached(self.events) if event["port"] != 53})

    def said(self, *words, before=None):
        """The status and the words of another verb."""
        status, output, errors, _ = self.world.run([*(before or self.world.before), self.world.bawn, *words])
        return status, output + errors


@case("80, 443 and the ports of rules are reached, by name and by address, in both families")
def listed(t):
    rules = [WEB, f"{WEB}:{NAMED}", f"{V4}", f"[{V6}]:80", f"{V4}:7 opaque"]
    attempts = [direct(WEB), direct(WEB, NAMED), direct(V4), direct(V6), direct(V4, NAMED)]
    for attempt, result in zip(attempts, t.tries(attempts, rules)):
        works(is_answered(result), f"{attempt}: {result}")
    works({(V4, 80), (V4, NAMED), (V6, 80)} <= set(t.dialled()), t.dialled())
    result = t.tries([{"do": "tls", "to": [WEB, 443], "sni": WEB}], rules)[0]
    works("lab /here" in result.get("data", ""), result)
    result = t.tries([{"do": "talk", "to": [V4, 7], "send": "hello", "stop": "hello"}], rules)[0]
    works(result.get("data") == "hello", result)


@case("at any other port of an allowed host a client is refused at once, and nobody is dialled; by the proxy it works")
def unlisted(t):
    attempts = [direct(host, port) for host in (WEB, V4, V6) for port in (1, 7, 22, 801, NAMED, 8443, 65535)]
    for attempt, result in zip(attempts, t.tries(attempts, [WEB, V4, V6])):
        assert is_refused(result), f"{attempt}: {result}"
    same([], t.dialled(), "dialled")
    attempts = [{"do": "tunnel", "host": WEB, "port": NAMED, "send": request(WEB)},
                {"do": "socks5", "host": WEB, "port": NAMED, "send": request(WEB), "stop": "lab /here"},
                {"do": "talk", "send": f"GET http://{WEB}:{NAMED}/here HTTP/1.1\r\nHost: {WEB}:{NAMED}\r\n"
                                       "Connection: close\r\n\r\n"}]
    for attempt, result in zip(attempts, t.tries(attempts)):
        works("lab /here" in result.get("data", ""), f"{attempt}: {result}")
    works({port for _, port in t.dialled()} == {NAMED}, t.dialled())


@case("other hosts are refused at listed ports as with nf_tables, and nobody is dialled or asked")
def others(t):
    attempts = [direct(host, port) for host in (OTHER_V4, OTHER_V6, "10.0.0.5", "169.254.169.254") for port in (80, NAMED)]
    for attempt, result in zip(attempts, t.tries(attempts, [WEB, f"{WEB}:{NAMED}"])):
        assert result.get("data", "").startswith("HTTP/1.1 403"), f"{attempt}: {result}"
    same([], t.dialled(), "dialled")
    for result in t.tries([direct(OTHER), direct(OTHER, NAMED)], [WEB, f"{WEB}:{NAMED}"]):
        assert "gai" in result, result
    same([], asked(t.events), "questions")


@case("a rule for one port opens no other, of hosts that another rule allows there")
def own_port(t):
    rules = [f"{WEB}:80", f"second.example:{NAMED}"]
    first, second, third, fourth = t.tries(
        [direct(WEB), direct(WEB, NAMED), direct("second.example"), direct("second.example", NAMED)], rules)
    works(is_answered(first) and is_answered(fourth), f"{first} {fourth}")
    for result in (second, third):
        assert result.get("data", "").startswith("HTTP/1.1 403"), result
    same([(V4, 80), ("203.0.113.11", NAMED)], [one for one in t.dialled() if one[0] != V6], "dialled")


@case("22 is listed for hosts that are allowed whatever is said, and for no others")
def ssh(t):
    result = t.tries([{"do": "talk", "to": [WEB, 22], "stop": "SSH-", "seconds": 5}], [f"{WEB} opaque"])[0]
    works(result.get("data", "").startswith("SSH-"), result)
    assert is_refused(t.tries([direct(WEB, 22)])[0])


@case("the loopback inside is not the host's, at no listed port, whatever rules say")
def loopback(t):
    rules = [WEB, "127.0.0.1", "localhost", "127.0.0.0/8", "[::1]:80", f"127.0.0.1:{NAMED}"]
    attempts = [direct(host, port) for port in (80, 443, 53, NAMED)
                for host in ("127.0.0.1", "127.0.0.2", "localhost", "::1", "::ffff:127.0.0.1", "0.0.0.0")]
    for attempt, result in zip(attempts, t.tries(attempts, rules)):
        assert is_reset(result), f"{attempt}: {result}"
    same([], t.dialled(), "dialled")
    attempts = [{"do": "talk", "to": [host, 800], "send": f"GET http://{WEB}/here HTTP/1.1\r\nHost: {WEB}\r\n"
                 "Connection: close\r\n\r\n"} for host in ("127.0.0.1", "::1", "127.0.0.2", OTHER_V4)]
    v4, v6, nobody, other = t.tries(attempts, rules)
    works("lab /here" in v4.get("data", "") and "lab /here" in v6.get("data", ""), f"{v4} {v6}")
    assert is_reset(nobody), nobody
    assert "lab /here" not in other.get("data", ""), other


@case("datagrams are refused at once but for questions for names, which any address answers, by TCP too")
def datagrams(t):
    attempts = [{"do": "udp", "to": [host, port]} for host in (V4, V6, OTHER_V4) for port in (7, 80, 443, NAMED)]
    for attempt, result in zip(attempts, t.tries(attempts, [WEB, f"{WEB}:{NAMED}", V4, V6])):
        assert is_refused(result), f"{attempt}: {result}"
    assert not [event for event in t.events if event["kind"] == "packet" and event["protocol"] == "udp"
                and event["port"] != 53], t.events
    for over in ("udp", "tcp"):
        for to in ("198.18.0.1", "8.8.8.8", OTHER_V6):
            known, unknown = t.tries([{"do": "dns", "name": name, "to": to, "over": over} for name in (WEB, OTHER)])
            works(known.get("code") == 0, f"{over} {to}: {known}")
            same(3, unknown.get("code"), f"{over} {to}: {unknown}")
            same([], asked(t.events, OTHER), "questions")


@case("a program inside cannot listen at a port that a rule names, by no trick; at others, and a published one, it can")
def listening(t):
    rules, options = [f"{WEB}:{NAMED}", f"{WEB}:7001", WEB], ["--publish", "9201:7001"]
    tricks = [(), (socket.SO_REUSEADDR,), (socket.SO_REUSEPORT,), (socket.SO_REUSEADDR, socket.SO_REUSEPORT)]
    attempts = [{"do": "listen", "at": [host, NAMED], "options": trick} for trick in tricks
                for host in ("127.0.0.1", "0.0.0.0", "::1", "::", V4)]
    attempts.append(direct(WEB, NAMED))
    *results, after = t.tries(attempts, rules, options)
    for attempt, result in zip(attempts, results):
        same("EADDRINUSE", result.get("errno"), attempt)
    works(is_answered(after), after)
    attempts = [{"do": "listen", "at": [host, port], "options": tricks[1]} for port in (7000, 7001)
                for host in ("127.0.0.1", "0.0.0.0", "::1", "::")]
    for attempt, result in zip(attempts, t.tries(attempts, rules, options)):
        works(result.get("data") == "mine", f"{attempt}: {result}")
    low = t.tries([{"do": "listen", "at": ["0.0.0.0", 81]}], rules, options)[0]
    same("EACCES", low.get("errno"), "a port below 1024")


@case("so many ports are listened at and no more; plan says which, and check is not another")
def limit(t):
    ports = [NAMED, *range(5000, 5000 + LIMIT)]
    rules = [f"{WEB}:{port}" for port in ports]
    kept = ports[:LIMIT - 2]
    options = [word for port in range(9111, 9119) for word in ("--host-port", str(port))]
    options += [word for port in range(9211, 9219) for word in ("--publish", f"{port}:{port - 2000}")]
    results = t.tries([direct(WEB, port) for port in ports], rules, options)
    works(is_answered(results[0]), results[0])
    for port, result in zip(ports[1:], results[1:]):
        # The lab has nobody there: those that are listened at are dialled, and told so.
        assert is_refused(result) == (port not in kept), f"{port}: {result}"
    same(set(kept), {port for _, port in t.dialled()}, "dialled")
    words = [word for rule in rules for word in ("--allow-host", rule)]
    status, said = t.said("plan", "--isolated", *words)
    works(status == 0, said)
    assert f"reach the ports 80, 443, {', '.join(str(port) for port in kept)}\n" in said, said
    assert f"more than {LIMIT} ports: by the proxy alone" in said, said
    plan = json.loads(t.said("plan", "--isolated", "--json", *words)[1])
    same([80, 443, *kept], plan["network"]["ports"], "ports")
    for port in (ports[0], ports[-1]):
        status, said = t.said("check", "--isolated", *words, "connect", f"{WEB}:{port}")
        same(0, status, said)


@case("host ports are the host's on the loopback alone; the same port of an allowed host is that host's")
def host_port(t):
    with socket.create_server(("127.0.0.1", 9101)) as service:
        service.settimeout(0.1)
        attempts = [direct(V4, 9101), direct(OTHER_V4, 9101)]
        allowed, refused = t.tries(attempts, [V4], ["--host-port", "9101"])
        assert refused.get("data", "").startswith("HTTP/1.1 403"), refused
        works("HTTP/1.1 502" in allowed.get("data", "") or is_reset(allowed), allowed)
        same([(V4, 9101)], t.dialled(), "dialled")
        try:
            service.accept()
            raise AssertionError("the host's own server was reached")
        except TimeoutError:
            pass


@case("the mode isolated is refused, with the reason; with best effort there is no network")
def isolated(t):
    status, output, errors, _ = t.world.sandbox(["echo", "ran"], (), ["--net", "isolated"])
    same((125, ""), (status, output), errors)
    assert "needs nf_tables" in errors and "--net proxy" in errors, errors
    attempts = [direct(V4), direct(V6), {"do": "udp", "to": [V4, 53]}, direct("127.0.0.1", 800)]
    for attempt, result in zip(attempts, t.tries(attempts, (), ["--net", "isolated", "--best-effort"])):
        assert result.get("errno") in ("ENETUNREACH", "ECONNREFUSED"), f"{attempt}: {result}"
    same([], t.dialled(), "dialled")


@case("a plan that was kept in one world is not used in the other, either way")
def stale(t):
    for _ in range(2):
        for before, wanted in ((PLAIN, is_refused), (NFT, is_answered), (NFT, is_answered), (PLAIN, is_refused)):
            t.world.before = before
            result = t.tries([direct(WEB, NAMED)])[0]
            works(wanted(result), f"{before}: {result}")
            works(is_answered(t.tries([direct(WEB)])[0]), f"{before}: port 80")
    t.world.before = PLAIN


@case("a kept plan starts as fast as any")
def kept(t):
    for _ in range(2):
        t.world.sandbox(["true"], [WEB])
    took = min(t.world.sandbox(["true"], [WEB])[3] for _ in range(5))
    t.world.before = NFT
    for _ in range(2):
        t.world.sandbox(["true"], [WEB])
    other = min(t.world.sandbox(["true"], [WEB])[3] for _ in range(5))
    t.world.before = PLAIN
    works(took < 2 * other + 0.05, f"{took} s, with nf_tables {other} s")


@case("doctor and plan tell of it, and call nothing left out")
def told(t):
    _, said = t.said("doctor")
    assert "nf_tables" in said and "The network mode isolated does not work" in " ".join(said.split()), said
    status, said = t.said("plan", "--isolated", "--allow-host", WEB)
    assert status == 0 and "not on this host] allow" not in said and "not on this host] network" not in said, said
    assert "without nf_tables: programs that know of no proxy reach the ports 80, 443\n" in said, said
    _, said = t.said("plan", "--isolated", "--allow-host", WEB, before=NFT)
    assert "nf_tables" not in said, said


@case("in a sandbox inside another: what both allow is reached, what one of them does not allow is not even asked for")
def nested(t):
    build = t.world.bawn.rpartition("/")[0]
    inner = World(t.world.bawn, more=["--ro", build])
    attempts = [direct(WEB), {"do": "talk", "send": f"GET http://{WEB}:{NAMED}/here HTTP/1.1\r\nHost: {WEB}:{NAMED}\r\n"
                              "Connection: close\r\n\r\n"},
                direct("second.example"), direct(OTHER), direct(OTHER_V4), direct("plain.example"), direct("10.0.0.5"),
                direct("private.example"), direct(WEB, NAMED), {"do": "udp", "to": [V4, 443]}]
    command = inner.words(["/usr/bin/python3", HERE / "attack.py"], [WEB, "second.example", "10.0.0.5", "private.example"])
    # An ordinary user's without_nft keeps newuidmap from mapping what containers need.
    for before in ([], PLAIN) if os.geteuid() == 0 else ([],):
        t.world.before = before
        start = t.world.witness.settle()
        status, output, errors, _ = t.world.sandbox(
            command, [WEB, "plain.example", "private.example"], ["--allow-containers", "--ro", build],
            data=json.dumps(attempts).encode())
        t.events = t.world.witness.since(start)
        works(status == 0, f"status {status}\n{output}{errors}")
        results = json.loads(output)
        for result in results[:2]:
            works("lab /here" in result.get("data", ""), result)
        for attempt, result in zip(attempts[2:], results[2:]):
            assert "lab /here" not in result.get("data", "") and result["took"] < AT_ONCE, f"{attempt}: {result}"
        same({(V4, 80), (V4, NAMED)}, {one for one in t.dialled() if one[0] != V6}, "dialled")
        same([], [event["name"] for event in asked(t.events) if event["name"] not in (WEB, "private.example")],
             "questions")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("cases", nargs="*", help="beginnings or parts of titles; all without")
    options = parser.parse_args()
    if not has_nft():
        sys.exit("plain.py: without nf_tables there is nothing to compare with")
    tap = Tap()
    for title, function in CASES:
        if not options.cases or any(word in title for word in options.cases):
            tap.attempt(title, function, Trial(World(options.bawn, before=PLAIN)))
    return tap.end()


sys.exit(main())
