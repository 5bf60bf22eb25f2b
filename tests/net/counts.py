#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""counts.py [--bawn PROGRAM] [CASE]...: what bawn tells of connections, bytes and refusals of each host is what
the lab's servers and the program inside saw. In the lab. TAP on standard output."""
import argparse
import json
import os
import sys
import time

sys.dont_write_bytecode = True
from world import HERE, Tap, World, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
ATTACK = ["/usr/bin/python3", HERE / "attack.py"]
WEB, OTHER = "web.example", "other.example"
ALLOW = [WEB, f"{WEB}:7 opaque"]
BIG_BYTES, ECHO_BYTES, REFUSALS, NAMES, ROWS = 300000, 5000, 3, 70, 65
LATEST_SECONDS = 10
MEMBERS = ["host", "connections", "sent", "received", "refused", "uncounted"]


def row(host, connections=0, sent=0, received=0, refused=0, uncounted=0):
    return dict(zip(MEMBERS, (host, connections, sent, received, refused, uncounted)))


def get(host, path):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"


def refused(host):
    return {"do": "talk", "send": get(host, f"http://{host}/")}


ECHO = "x" * ECHO_BYTES + "."
ECHOES = 3


def handed(world):
    """How many of these are handed over, and so not counted: what goes straight to the host, if any is."""
    rules = [word for rule in ALLOW for word in ("--allow-host", rule)]
    return int("connections are handed over" in world.run([world.bawn, "plan", "--isolated", "--net", "proxy", *rules])[1])


def echo_line(world):
    count = handed(world)
    size = (ECHOES - count) * len(ECHO)
    return (f"{WEB}:7: {ECHOES} connections, {size} bytes sent, {size} received"
            f"{', not counting some that were handed over' if count else ''}\n")


ATTEMPTS = [
    {"do": "talk", "to": [WEB, 80], "send": get(WEB, f"/big?bytes={BIG_BYTES}")},
    {"do": "talk", "to": [WEB, 7], "send": ECHO, "stop": "."},
    {"do": "tunnel", "host": WEB, "port": 7, "send": ECHO, "stop": "."},
    {"do": "socks5", "host": WEB, "port": 7, "send": ECHO, "stop": "."},
    *[refused(OTHER)] * REFUSALS,
]


def by_host(rows):
    for one in rows:
        same(MEMBERS, list(one), "members")
    return {one["host"]: one for one in rows}


def expected(world, start, output):
    """The rows of ATTEMPTS: what the server got, and what came of each inside."""
    big, *others = json.loads(output)
    echoes, denied = others[:ECHOES], others[ECHOES:]
    works(big["data"].endswith("\0" * BIG_BYTES) and big["end"] == "eof", f"/big: {big['end']}")
    works(all(echo["data"] == ECHO for echo in echoes), [len(echo["data"]) for echo in echoes])
    works(all(one["data"].startswith("HTTP/1.1 403") for one in denied), denied)
    got = [event for event in world.witness.since(start) if event["kind"] == "bytes" and event["port"] == 80]
    works(len(got) == 1 and got[0]["data"].endswith("\r\n\r\n"), got)
    size = (ECHOES - handed(world)) * len(ECHO)
    return by_host([row(f"{WEB}:80", 1, len(got[0]["data"]), len(big["data"])),
                    row(f"{WEB}:7", ECHOES, size, size, 0, handed(world)),
                    row(f"{OTHER}:80", refused=REFUSALS)])


def attempts():
    return json.dumps(ATTEMPTS).encode()


def metrics_told(world, sid, want):
    """They lag a little."""
    until = time.monotonic() + LATEST_SECONDS
    while True:
        status, output, errors, _ = world.run([world.bawn, "metrics", "--json", sid])
        works(status == 0, errors)
        told = json.loads(output)
        if by_host(told["hosts"]) == want or time.monotonic() > until:
            return told
        time.sleep(0.1)


def metrics_tell(world):
    status, output, errors, _ = world.sandbox(["sleep", "100"], ALLOW, ["--detach"])
    works(status == 0, errors)
    sid = output.strip()
    try:
        told = metrics_told(world, sid, {})
        same({}, by_host(told["hosts"]), "before")
        start = world.witness.settle()
        status, output, errors, _ = world.run([world.bawn, "exec", sid, "--", *ATTACK], data=attempts())
        works(status == 0, errors)
        want = expected(world, start, output)
        told = metrics_told(world, sid, want)
        same(want, by_host(told["hosts"]), "hosts")
        for member in MEMBERS[1:]:
            same(sum(one[member] for one in want.values()), told[f"net_{member}"], f"net_{member}")
        text = world.run([world.bawn, "metrics", sid])[1]
        for line in (echo_line(world), f"{OTHER}:80: {REFUSALS} refused\n"):
            assert f"host         {line}" in text, text
    finally:
        status, _, errors, _ = world.run([world.bawn, "stop", sid])
    works(status == 0, errors)


def stats_tell(world):
    start = world.witness.settle()
    status, output, errors, _ = world.sandbox(ATTACK, ALLOW, ["--stats", "--json"], data=attempts())
    works(status == 0, errors)
    want = expected(world, start, output)
    same(want, by_host(json.loads(errors.splitlines()[-1])["hosts"]), "hosts")
    status, output, errors, _ = world.sandbox(ATTACK, ALLOW, ["--stats"], data=attempts())
    works(status == 0, errors)
    assert f"bawn: {echo_line(world)}" in errors, errors


def many_are_told(world):
    """More than fit in one write to a pipe, and more than have a row of their own."""
    hosts = [f"{'long-' * 12}{i}.{'long' * 14}.example" for i in range(NAMES)]
    status, _, errors, _ = world.sandbox(ATTACK, [WEB], ["--stats", "--json"],
                                         data=json.dumps([refused(host) for host in hosts]).encode())
    works(status == 0, errors)
    same([], [line for line in errors.splitlines() if line.startswith(("bawn:", "hint:"))], "lines that are no JSON")
    rows = json.loads(errors.splitlines()[-1])["hosts"]
    same([row(f"{host}:80", refused=1) for host in hosts[:ROWS - 1]] + [row("", refused=NAMES - ROWS + 1)], rows,
         "hosts")


CASES = {
    "metrics tells of a session what its hosts saw, while it runs": metrics_tell,
    "--stats tells the same at the end": stats_tell,
    "--stats --json tells of many hosts in one document": many_are_told,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("cases", nargs="*", help="parts of titles; all without")
    options = parser.parse_args()
    tap, world = Tap(), World(options.bawn)
    for title, function in CASES.items():
        if not options.cases or any(word in title for word in options.cases):
            tap.attempt(title, function, world)
    return tap.end()


sys.exit(main())
