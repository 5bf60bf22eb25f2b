#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""ports.py [--bawn PROGRAM] [CASE]...: ports of the host's that a command may use, ports inside that the host may
use, and the mode isolated. In the lab. TAP on standard output.

What must arrive arrives, what must not is seen neither by the lab's log nor by the servers of the case.
"""
import argparse
import hashlib
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
from world import HERE, Broken, Tap, World, asked, cases_of, has_nft, reached, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
case = cases_of(CASES)
WEB, OTHER = "web.example", "other.example"
V4, V6, OTHER_V4 = "203.0.113.10", "2001:db8::10", "203.0.113.66"
SECONDS = 20
INSIDE = 7000
SPECIAL = ["10.0.0.5", "192.168.1.5", "172.16.0.5", "100.64.0.5", "169.254.169.254", "127.0.0.1", "0.0.0.0", "224.0.0.5",
           "255.255.255.255", "240.0.0.1", "::1", "fd00::5", "fe80::5", "ff02::5", "fd00:ec2::254", "64:ff9b::a00:5",
           "::ffff:10.0.0.5"]
CAST = ["224.0.0.5", "255.255.255.255", "ff02::5", "fe80::5"]  # the kernel tells nobody that they are refused
RSS_KIB = 64 << 10
MODES = ("proxy", "isolated") if has_nft() else ("proxy",)


def plain(host, path="/here"):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"


def is_refused(result):
    """Refused, by whichever way."""
    return (result.get("errno") in ("ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "EACCES", "EINVAL", "EADDRNOTAVAIL")
            or result.get("data", "").startswith(("HTTP/1.1 403", "HTTP/1.1 400"))
            or result.get("reply") == 2 or result.get("end") in ("ECONNRESET", "eof") and not result.get("data")
            or "gai" in result)


class Service:
    """A server of the host's on loopback: it answers, or speaks first, and counts who comes."""

    def __init__(self, port, addresses=("127.0.0.1",), answer=None, speaks_first=False):
        self.port, self.count, self.answer, self.speaks_first = port, 0, answer, speaks_first
        self.listeners = [socket.create_server((address, port), backlog=256,
                                               family=socket.AF_INET6 if ":" in address else socket.AF_INET)
                          for address in addresses]

    def __enter__(self):
        for listener in self.listeners:
            threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        return self

    def __exit__(self, *_):
        for listener in self.listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        with sock:
            try:
                if self.answer:
                    self.answer(sock)
                else:
                    if not self.speaks_first:
                        sock.recv(65536)
                    sock.sendall(f"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhost {self.port}".encode())
                    sock.shutdown(socket.SHUT_WR)
                    sock.recv(65536)
            except OSError:
                pass


class Echo:
    """Datagrams come back from each of these addresses."""

    def __init__(self, port, *addresses):
        self.seen, self.sockets, self.threads, self.is_over = [], [], [], False
        for address in addresses:
            sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            sock.bind((address, port))
            sock.settimeout(0.1)
            self.sockets.append((address, sock))

    def __enter__(self):
        self.threads = [threading.Thread(target=self.serve, args=row) for row in self.sockets]
        for thread in self.threads:
            thread.start()
        return self

    def serve(self, address, sock):
        with sock:
            while not self.is_over:
                try:
                    data, peer = sock.recvfrom(65536)
                    self.seen.append((address, peer))
                    sock.sendto(data, peer)
                except OSError:
                    pass  # nobody has said anything, or nobody is there any more

    def __exit__(self, *_):
        self.is_over = True
        for thread in self.threads:
            thread.join()


class Trial:
    def __init__(self, world):
        self.world, self.events = world, []

    def start(self, command, options=(), **how):
        words = self.world.words(command, (), options)
        return subprocess.Popen(words, cwd=self.world.folder, env=self.world.env, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def tries(self, attempts, *options, seconds=90):
        start = self.world.witness.settle()
        status, output, errors, _ = self.world.sandbox(["/usr/bin/python3", HERE / "attack.py"], (), options,
                                                       seconds=seconds, data=json.dumps(attempts).encode())
        self.events = self.world.witness.since(start)
        if status != 0:
            raise Broken(f"status {status}\n{output}{errors}")
        return json.loads(output)

    def fails(self, *options):
        """What an error at load says; nothing ran."""
        status, output, errors, _ = self.world.sandbox(["echo", "ran"], (), options)
        same((125, ""), (status, output), f"{options}: {errors}")
        return errors

    def bawn(self, *words):
        """The status and the words of another verb."""
        status, output, errors, _ = self.world.run([self.world.bawn, *words])
        return status, output + errors


class Inside:
    """A server inside, published."""

    def __init__(self, trial, address="127.0.0.1", *options, port=INSIDE):
        self.trial, self.words, self.options = trial, [str(HERE / "serve.py"), address, str(port)], options
        self.running, self.errors = None, ""

    def __enter__(self):
        self.running = self.trial.start(["/usr/bin/python3", *self.words], self.options)
        line = self.running.stdout.readline()
        if line != b"ready\n":
            self.running.kill()
            raise Broken(f"no server inside: {line} {self.running.stderr.read()}")
        return self

    def __exit__(self, *_):
        self.running.stdin.close()
        try:
            self.running.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.running.kill()
        self.errors = self.running.stderr.read().decode()
        self.running.stdout.close()
        self.running.stderr.close()

    def children(self, name):
        """The processes of this run's launcher with such a name."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = path.read_text().rpartition(")")
                if int(words[2].split()[1]) == self.running.pid and words[0].partition("(")[2] == name:
                    found.append(int(path.parent.name))
            except OSError:
                pass
        return found


def visit(to, say=b"echo hello\n", shut=False, seconds=SECONDS):
    """What a client of the host's gets: its bytes, how it ended, and how long it took."""
    begun, data = time.monotonic(), b""
    try:
        with socket.create_connection(to, seconds) as sock:
            sock.sendall(say)
            if shut:
                sock.shutdown(socket.SHUT_WR)
            while more := sock.recv(1 << 20):
                data += more
        end = "eof"
    except OSError as error:
        end = type(error).__name__
    return data, end, time.monotonic() - begun


def by_all_ways(host, port):
    at = f"[{host}]" if ":" in host else host
    socks = {"host": host, "kind": 3}
    if ":" in host:
        socks = {"host": socket.inet_pton(socket.AF_INET6, host).decode("latin-1"), "kind": 4}
    return [("direct", {"do": "talk", "to": [host, port], "send": plain(host)}),
            ("CONNECT", {"do": "tunnel", "host": at, "port": port, "send": plain(host)}),
            ("forward", {"do": "talk", "send": plain(f"{at}:{port}", f"http://{at}:{port}/here")}),
            ("SOCKS5", {"do": "socks5", **socks, "port": port, "send": plain(host), "stop": "host"})]


@case("host port: reached at 127.0.0.1, ::1 and localhost, by every way; no other port is")
def host_port(t):
    for addresses in (("127.0.0.1",), ("::1",), ("127.0.0.1", "::1")):
        with Service(9101, addresses) as wanted, Service(9102, ("127.0.0.1", "::1")) as other:
            # What is said to the proxy is an address of the host's, and what is dialled.
            rows = [row for host in ("127.0.0.1", "::1", "localhost") for row in by_all_ways(host, 9101)
                    if row[0] == "direct" or host in ("localhost", *addresses)]
            for (way, attempt), result in zip(rows, t.tries([row[1] for row in rows], "--host-port", "9101")):
                works("host 9101" in result.get("data", ""), f"service at {addresses}, {way}: {attempt}: {result}")
            same(len(rows), wanted.count, "connections")
            rows = [row for host in ("127.0.0.1", "::1", "localhost") for row in by_all_ways(host, 9102)]
            rows += by_all_ways(OTHER_V4, 9101)
            before = wanted.count
            for (way, attempt), result in zip(rows, t.tries([row[1] for row in rows], "--host-port", "9101")):
                assert is_refused(result), f"{way}: {attempt}: {result}"
            same((0, before), (other.count, wanted.count), "connections that none was allowed")


@case("host port: one that is denied stays refused")
def host_port_denied(t):
    with Service(9101, ("127.0.0.1", "::1")) as service:
        for rule in ("localhost", "localhost:9101", "127.0.0.1", "127.0.0.0/8", "127.0.0.1:9101"):
            rows = by_all_ways("127.0.0.1", 9101) + by_all_ways("localhost", 9101)
            results = t.tries([row[1] for row in rows], "--host-port", "9101", "--deny-host", rule)
            for (way, attempt), result in zip(rows, results):
                assert is_refused(result), f"{rule}, {way}: {attempt}: {result}"
        same(0, service.count, "connections")


@case("host port: with nobody there it is refused at once")
def host_port_nobody(t):
    rows = by_all_ways("127.0.0.1", 9103) + by_all_ways("::1", 9103)[:1]
    for (way, _), result in zip(rows, t.tries([row[1] for row in rows], "--host-port", "9103")):
        assert "host" not in result.get("data", "").rpartition("\r\n\r\n")[2].split() and result["took"] < 3, f"{way}: {result}"


@case("host port: eight work, a ninth and what cannot work are refused when the policy is read")
def host_port_limits(t):
    ports = range(9111, 9119)
    services = [Service(port, speaks_first=True).__enter__() for port in ports]
    options = [word for port in ports for word in ("--host-port", str(port))]
    results = t.tries([{"do": "talk", "to": ["127.0.0.1", port]} for port in ports], *options)
    for port, result in zip(ports, results):
        works(f"host {port}" in result.get("data", ""), f"{port}: {result}")
    # In the mode isolated there are more sockets beside them.
    results = t.tries([{"do": "talk", "to": ["127.0.0.1", port]} for port in ports], "--net", MODES[-1], *options,
                      "--publish", "9219:7000")
    for port, result in zip(ports, results):
        works(f"host {port}" in result.get("data", ""), f"{MODES[-1]}, {port}: {result}")
    for service in services:
        service.__exit__()
    assert "more than 8" in t.fails(*options, "--host-port", "9119")
    for port in ("0", "65536", "-1", "x", "", "800"):
        said = t.fails("--host-port", port)
        assert "host_ports" in said or "host-port" in said, said
    assert "800" in t.fails("--host-port", "800")
    # The same twice is once.
    with Service(9111, speaks_first=True):
        result = t.tries([{"do": "talk", "to": ["127.0.0.1", 9111]}], "--host-port", "9111", "--host-port", "9111")[0]
        works("host 9111" in result.get("data", ""), result)


@case("host port: below 1024, and that of names")
def host_port_low(t):
    results = t.tries([{"do": "talk", "to": ["127.0.0.1", 80], "send": plain("localhost")},
                       {"do": "dns", "name": WEB, "to": "127.0.0.1", "over": "tcp"},
                       {"do": "dns", "name": WEB}, {"do": "dns", "name": WEB, "over": "tcp"}],
                      "--host-port", "80", "--host-port", "53", "--allow-host", WEB)
    works("lab /here" in results[0].get("data", ""), results[0])
    for result in results[1:]:
        works(result.get("code") == 0 and result.get("count"), results[1:])


@case("host port: two sandboxes at once, and no port of one is the other's")
def host_port_two(t):
    with Service(9101, speaks_first=True) as service:
        attempts = json.dumps([{"do": "talk", "to": ["127.0.0.1", 9101]}] * 20).encode()
        runs = [t.start(["/usr/bin/python3", HERE / "attack.py"], ["--host-port", "9101"]) for _ in range(2)]
        for running in runs:
            running.stdin.write(attempts)
            running.stdin.close()
            running.stdin = None
        for running in runs:
            output, errors = running.communicate(timeout=60)
            works(running.returncode == 0, errors)
            for result in json.loads(output):
                works("host 9101" in result.get("data", ""), result)
        same(40, service.count, "connections")
        result = t.tries([{"do": "talk", "to": ["127.0.0.1", 9101]}])[0]
        same("ECONNREFUSED", result.get("errno"), "a sandbox without it")


@case("publish: a server inside on any of its addresses is reached at 127.0.0.1 of the host's, and nowhere else")
def publish(t):
    for address in ("127.0.0.1", "0.0.0.0", "::1", "::"):
        with Inside(t, address, "--publish", f"9201:{INSIDE}"):
            for _ in range(3):
                data, end, took = visit(("127.0.0.1", 9201))
                works((data, end) == (b"echo hello", "eof") and took < 5, f"{address}: {data} {end} {took}")
            for elsewhere in (("::1", 9201), (V4, 9201), (V6, 9201), ("127.0.0.1", INSIDE)):
                same("ConnectionRefusedError", visit(elsewhere)[1], f"{elsewhere}")


@case("publish: the forms with an address, with one port, and several")
def publish_forms(t):
    options = ("--publish", f"[::1]:9202:{INSIDE}", "--publish", f"0.0.0.0:9203:{INSIDE}", "--publish", str(INSIDE),
               "--publish", f"[::]:9204:{INSIDE}")
    with Inside(t, "127.0.0.1", *options):
        for to in (("::1", 9202), ("127.0.0.1", 9203), (V4, 9203), ("127.0.0.1", INSIDE), ("::1", 9204), (V6, 9204)):
            works(visit(to)[0] == b"echo hello", f"{to}: {visit(to)}")
        for to in (("127.0.0.1", 9202), ("::1", 9203), (V4, INSIDE)):
            same("ConnectionRefusedError", visit(to)[1], f"{to}")
    for wrong in ("0", "65536", "9201:0", "x", "1.2.3:80", "[::1]80", "::1:80", "9201:80:90", "127.0.0.1", "",
                  f"9201:{800}"):
        said = t.fails("--publish", wrong)
        assert "publish" in said, f"{wrong}: {said}"
    assert "more than 8" in t.fails(*[word for port in range(9) for word in ("--publish", str(9300 + port))])


def transfers(port):
    size = (32 << 20) + 77
    block = os.urandom(1 << 20)
    sent = (block * 33)[:size]
    want = hashlib.sha256(sent)
    data, end, _ = visit(("127.0.0.1", port), b"sum\n" + sent, shut=True, seconds=60)
    works((data.decode(), end) == (f"{size} {want.hexdigest()}", "eof"), f"up: {data[:100]} {end}")
    data, end, _ = visit(("127.0.0.1", port), f"give {size}\n".encode(), seconds=60)
    works(end == "eof" and data == (bytes(range(256)) * (size // 256 + 1))[:size], f"down: {len(data)} {end}")
    # The client's end comes first, and what is asked for after it.
    data, end, _ = visit(("127.0.0.1", port), b"give 1000000\n", shut=True)
    works((len(data), end) == (1000000, "eof"), f"half closed: {len(data)} {end}")


@case("publish: large transfers both ways are whole, and half closed connections")
def publish_bytes(t):
    with Inside(t, "127.0.0.1", "--publish", f"9201:{INSIDE}"):
        transfers(9201)


@case("publish: in a sandbox with containers, and in the mode isolated")
def publish_elsewhere(t):
    for options in (["--allow-containers"], ["--net", MODES[-1]]):
        with Inside(t, "127.0.0.1", "--publish", f"9201:{INSIDE}", *options):
            works(visit(("127.0.0.1", 9201))[0] == b"echo hello", f"{options}: {visit(('127.0.0.1', 9201))}")


@case("publish: where nobody listens inside the client's connection ends at once")
def publish_nobody(t):
    with Inside(t, "127.0.0.1", "--publish", "9201:7001"):
        for say in (b"", b"echo hello\n", b"x" * 1000000):
            for _ in range(3):
                data, end, took = visit(("127.0.0.1", 9201), say)
                works(data == b"" and took < 2, f"{len(say)} bytes: {data} {end} {took}")


@case("publish: a port that is in use is an error, and nothing runs")
def publish_in_use(t):
    with Service(9201):
        said = t.fails("--publish", "9201")
        assert "9201" in said and "OTHER" in said, said
    said = t.fails("--publish", "198.51.100.255x:9201")
    assert "publish" in said, said


@case("publish: 200 clients at once, one that says nothing, and the port is free afterwards")
def publish_many(t):
    with Inside(t, "127.0.0.1", "--publish", f"9201:{INSIDE}"), \
            socket.create_connection(("127.0.0.1", 9201)) as silent:
        results = []
        clients = [threading.Thread(target=lambda: results.append(visit(("127.0.0.1", 9201), b"give 50000\n")))
                   for _ in range(200)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        wrong = [(len(data), end) for data, end, _ in results if (len(data), end) != (50000, "eof")]
        works(len(results) == 200 and not wrong, f"{len(wrong)} of {len(results)} failed: {wrong[:3]}")
        silent.sendall(b"echo late\n")
        works(silent.recv(100) == b"echo late", "the silent one")
    with Service(9201):
        pass


@case("publish: whoever waits for the end of a session finds its ports free")
def publish_ends(t):
    for round in range(12):
        words = t.world.words(["sleep", "60"], (), ["--detach", "--publish", "9201:7001"])
        status, sid, errors, _ = t.world.run(words)
        works(status == 0, errors)
        if round % 2:
            visit(("127.0.0.1", 9201), b"x")  # bawn-net runs, and has them, too
        works(t.bawn("stop", sid.strip())[0] == 0, "stop")
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", 9201)) != 0, f"round {round}: the port is still open"


@case("publish: a session that is detached, and its end")
def publish_detached(t):
    words = t.world.words(["/usr/bin/python3", HERE / "serve.py", "127.0.0.1", INSIDE], (),
                          ["--detach", "--publish", f"9201:{INSIDE}"])
    words = [*words[:-4], "sh", "-c", f"sleep 60 | python3 {HERE}/serve.py 127.0.0.1 {INSIDE}"]
    status, output, errors, _ = t.world.run(words)
    works(status == 0, f"{words}: {output}{errors}")
    name = output.strip()
    try:
        for _ in range(100):
            data, end, _ = visit(("127.0.0.1", 9201))
            if data == b"echo hello":
                break
            time.sleep(0.1)
        works(data == b"echo hello", f"{data} {end}")
    finally:
        status, output, errors, _ = t.world.run([t.world.bawn, "stop", name])
    works(status == 0, f"{output}{errors}")
    until = time.monotonic() + 5
    while visit(("127.0.0.1", 9201))[1] != "ConnectionRefusedError":
        assert time.monotonic() < until, "its port is still there"


@case("publish: bawn-net or the door is killed or stopped: no client hangs, and bawn-net comes again")
def publish_killed(t):
    with Inside(t, "127.0.0.1", "--publish", f"9201:{INSIDE}") as server:
        for _ in range(2):
            works(visit(("127.0.0.1", 9201))[0] == b"echo hello", "before")
            for pid in server.children("bawn-net"):
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)
        works(visit(("127.0.0.1", 9201))[0] == b"echo hello", "after bawn-net was killed")
        doors = server.children("bawn: door")
        works(len(doors) == 1, f"doors: {doors}")
        os.kill(doors[0], signal.SIGSTOP)
        kept = [socket.create_connection(("127.0.0.1", 9201)) for _ in range(3)]
        time.sleep(0.3)
        os.kill(doors[0], signal.SIGKILL)
        for sock in kept:
            sock.settimeout(5)
            try:
                works(sock.recv(100) == b"", "bytes from nowhere")
            except TimeoutError as late:
                raise Broken("a client hangs where the door is gone") from late
            except OSError:
                pass
            sock.close()
        data, end, took = visit(("127.0.0.1", 9201))
        works(took < 5 and data in (b"", b"echo hello"), f"after the door was killed: {data} {end} {took}")
        # As often as it takes until no new one is started: then the port is shut.
        for _ in range(8):
            visit(("127.0.0.1", 9201), seconds=5)
            for pid in server.children("bawn-net"):
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)
        data, end, took = visit(("127.0.0.1", 9201))
        works(data == b"" and took < 5, f"at last: {data} {end} {took}")


@case("publish: opens no way out, and the door holds nothing of the host's")
def publish_no_way_out(t):
    start = t.world.witness.settle()
    with Inside(t, "127.0.0.1", "--publish", f"9201:{INSIDE}") as server:
        visit(("127.0.0.1", 9201))
        doors = server.children("bawn: door")
        works(len(doors) == 1, f"doors: {doors}")
        if os.getuid() == 0:  # nobody else may look
            held = sorted(os.readlink(path) for path in Path(f"/proc/{doors[0]}/fd").iterdir())
            assert all(name.startswith("socket:") for name in held) and len(held) <= 2, held
            assert os.readlink(f"/proc/{doors[0]}/ns/net") != os.readlink("/proc/self/ns/net"), "the host's network"
    rows = [row for host in (V4, "127.0.0.1") for row in by_all_ways(host, 80)]
    for (way, _), result in zip(rows, t.tries([row[1] for row in rows], "--publish", "9201")):
        assert is_refused(result), f"{way}: {result}"
    t.events = t.world.witness.since(start)
    same([], reached(t.events, port=80), "dialled")


ISOLATED = ("--net", "isolated")


@case("isolated: UDP by address and by name, both families, connected and not, of any size")
def udp_echo(t):
    with Echo(9401, V4, V6):
        for size in (0, 1, 1200, 2048, 2049, 9000, 60000, 65000, 65507):
            hosts = (V4, V6) if size <= 65000 else (V4,)  # that is the most that a packet of ours can have
            attempts = [{"do": "datagram", "to": [host, 9401], "size": size, "is_connected": way}
                        for host in hosts for way in (True, False)]
            attempts += [{"do": "named", "name": WEB, "port": 9401, "family": family, "size": size, "is_connected": way}
                         for family in ("AF_INET", "AF_INET6")[:len(hosts)] for way in (True, False)]
            for attempt, result in zip(attempts, t.tries(attempts, *ISOLATED)):
                want = result.get("to") or attempt.get("to")
                works(result.get("back") == 3 and result.get("from") == [want], f"{attempt}: {result}")


@case("isolated: one socket and two targets, two clients and one port, the answers are each one's own")
def udp_pairs(t):
    with Echo(9401, V4, OTHER_V4):
        result, *clients = t.tries([{"do": "two_targets", "first": V4, "second": OTHER_V4, "port": 9401}]
                                   + [{"do": "datagram", "to": [V4, 9401]}] * 2, *ISOLATED)
        same([["one", V4, 9401], ["two", OTHER_V4, 9401]], result.get("got", result), "answers")
        for client in clients:
            works(client.get("back") == 3, client)


@case("isolated: a closed port is ECONNREFUSED at once")
def udp_closed(t):
    attempts = [{"do": "udp", "to": [host, 9402]} for host in (V4, V6)]
    for result in t.tries(attempts, *ISOLATED):
        works(result.get("errno") == "ECONNREFUSED" and result["took"] < 1, result)


@case("isolated: special addresses are refused, of UDP and of TCP")
def special(t):
    attempts = [{"do": "udp", "to": [host, 9401]} for host in SPECIAL]
    attempts += [{"do": "talk", "to": [host, 80], "send": plain(host), "seconds": 5} for host in SPECIAL]
    attempts += [{"do": "tunnel", "host": f"[{host}]" if ":" in host else host, "port": 80} for host in SPECIAL]
    attempts += [{"do": "cast", "to": [host, 9401]} for host in ("255.255.255.255", "224.0.0.5", "203.0.113.255")]
    for attempt, result in zip(attempts, t.tries(attempts, *ISOLATED)):
        if attempt["do"] == "cast" or "timeout" in result.get("end", "") and attempt["to"][0] in CAST:
            assert "data" not in result, f"{attempt}: {result}"
        else:
            assert is_refused(result), f"{attempt}: {result}"
    # What comes back from the lab itself comes to its loopback.
    same([], [event for event in t.events if event["kind"] == "packet" and event["port"] != 53
              and event["address"] in SPECIAL and event["source"][1] != 53
              and (event["protocol"], event["address"]) != ("icmp", "127.0.0.1")], "packets")


@case("isolated: TCP to any public address and any name, and what rules deny is refused, of UDP too")
def isolated_rules(t):
    attempts = [{"do": "talk", "to": [host, 80], "send": plain(host)} for host in (V4, V6, OTHER_V4, WEB, OTHER)]
    attempts += [{"do": "talk", "to": [OTHER_V4, 7], "send": "no protocol that anybody knows", "shut": True}]
    attempts += [{"do": "talk", "send": plain(OTHER, f"http://{OTHER}/here")}]
    for attempt, result in zip(attempts, t.tries(attempts, *ISOLATED)):
        works("lab /here" in result.get("data", "") or "no protocol" in result.get("data", ""), f"{attempt}: {result}")
    with Echo(9401, V4, OTHER_V4) as echo:
        for rule in (OTHER_V4, "203.0.113.64/28", OTHER):
            attempts = [{"do": "udp", "to": [V4, 9401]}, {"do": "named", "name": OTHER, "port": 9401, "family": "AF_INET"},
                        {"do": "talk", "to": [OTHER, 80], "send": plain(OTHER)},
                        {"do": "talk", "send": plain(OTHER, f"http://{OTHER}/here")}]
            if rule != OTHER:
                attempts += [{"do": "udp", "to": [OTHER_V4, 9401]},
                             {"do": "talk", "to": [OTHER_V4, 80], "send": plain(OTHER_V4)}]
            first, *rest = t.tries(attempts, *ISOLATED, "--deny-host", rule, "--deny-host", "2001:db8::66")
            works("data" in first, first)
            for attempt, result in zip(attempts[1:], rest):
                assert is_refused(result), f"{rule}: {attempt}: {result}"
            same([], reached(t.events, [OTHER_V4]), "dialled")
        same(set(), {address for address, _ in echo.seen} - {V4}, "datagrams")


@case("isolated: questions for names to any server are answered by ours")
def isolated_names(t):
    servers = ["198.51.100.53", "203.0.113.53", "2001:db8::53", None]
    attempts = [{"do": "dns", "name": name, "to": to, "over": over} for to in servers for over in ("udp", "tcp")
                for name in (WEB, OTHER)]
    for attempt, result in zip(attempts, t.tries(attempts, *ISOLATED, "--deny-host", OTHER)):
        if attempt["name"] == WEB:
            works(result.get("code") == 0 and result.get("count"), f"{attempt}: {result}")
        else:
            same(3, result.get("code", result), f"{attempt}")
    same([], asked(t.events, OTHER), "asked")
    same(set(), {event["address"] for event in t.events if event["kind"] == "packet" and event["port"] == 53
                 and event["source"][0] != event["address"]} & set(servers), "servers that were asked")


def net_state():
    """(KiB, descriptors) of each bawn-net."""
    found = []
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            text = path.read_text()
            if text.startswith("Name:\tbawn-net\n"):
                files = len(os.listdir(path.parent / "fd")) if os.getuid() == 0 else 0  # nobody else may look
                found.append((int(text.partition("VmRSS:")[2].split()[0]), files))
        except (OSError, IndexError):
            pass
    return found


@case("isolated: flows do not take the descriptors that connections need")
def few_files(t):
    with Echo(9401, V4):
        words = t.world.words(["/usr/bin/python3", HERE / "attack.py"], (), [*ISOLATED, "--limits", "none"])
        status, output, errors, _ = t.world.run(["prlimit", "--nofile=300", *words], data=json.dumps(
            [{"do": "flows", "to": [V4, 9401], "count": 1000},
             {"do": "talk", "to": [V4, 80], "send": plain(V4)}]).encode())
        works(status == 0, f"{status} {errors}")
        flows, talk = json.loads(output)
        same(1000, flows.get("back", flows), "answers")
        works("lab /here" in talk.get("data", ""), talk)


@case("isolated: 3000 flows all work, and bawn-net stays small")
def udp_flows(t):
    most, ended = [(0, 0)], threading.Event()

    def look():
        while not ended.wait(0.1):
            most.extend(net_state())
    looker = threading.Thread(target=look)
    looker.start()
    try:
        with Echo(9401, V4):
            results = t.tries([{"do": "flows", "to": [V4, 9401], "count": 3000}, {"do": "flows", "to": [OTHER_V4, 9], "count": 1},
                               {"do": "talk", "to": [V4, 80], "send": plain(V4)}], *ISOLATED, "--limits", "none")
    finally:
        ended.set()
        looker.join()
    same(3000, results[0].get("back", results[0]), "answers")
    works("lab /here" in results[2].get("data", ""), results[2])
    memory, files = max(kib for kib, _ in most), max(files for _, files in most)
    assert 0 < memory < RSS_KIB and files < 1200, f"{memory} KiB, {files} descriptors"


def http_proxy(sock):
    head = sock.recv(65536)
    sock.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\noutside " + head.split(b"\r\n")[0])
    sock.shutdown(socket.SHUT_WR)
    sock.recv(1)


def socks_proxy(sock):
    sock.recv(100)
    sock.sendall(b"\5\0")
    asked_for = sock.recv(300)
    sock.sendall(b"\5\0\0\1\0\0\0\0\0\0")
    sock.recv(65536)
    sock.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\noutside " + asked_for[5:5 + asked_for[4]])
    sock.shutdown(socket.SHUT_WR)
    sock.recv(1)


@case("a proxy of the host's is what programs inside use, if the policy names its port")
def own_proxy(t):
    curl = ["curl", "-sS", "-m", "10", "http://any.invalid/x"]
    for key, answer, command, want in (
            ("http_proxy_port", http_proxy, curl, "outside GET http://any.invalid/x HTTP/1.1"),
            ("socks_proxy_port", socks_proxy, ["sh", "-c", 'curl -sS -m 10 -x "$ALL_PROXY" http://any.invalid/x'],
             "outside any.invalid")):
        for mode in MODES:
            with Service(9501, answer=answer) as proxy:
                start = t.world.witness.settle()
                status, output, errors, _ = t.world.sandbox(
                    command, (), ["--net", mode, "--set", f"sandbox.network.{key}=9501"])
                works((status, output) == (0, want), f"{key}: {status} {output} {errors}")
                same(1, proxy.count, "connections")
                same([], asked(t.world.witness.since(start)), "questions")


@case("the port of who authorizes is reached from inside, and no other")
def authorizer(t):
    for mode in ("proxy", "isolated"):
        with Service(9501) as service, Service(9502) as other:
            options = ["--net", mode, "--set", "sandbox.network.authz_port=9501"]
            attempts = [{"do": "talk", "to": [host, port], "send": "echo hi\n"} for host in ("127.0.0.1", "::1")
                        for port in (9501, 9502)]
            results = t.tries(attempts, *options)
            same(["connected", "refused"] * 2,
                 ["refused" if result.get("errno") == "ECONNREFUSED" else "connected" for result in results], results)
            same((2, 0), (service.count, other.count), "connections")


@case("what plan, check, why and policy say is what happens")
def words(t):
    common = ["--isolated", "--host-port", "9101", "--publish", f"9201:{INSIDE}"]
    for target, status in (("localhost:9101", 0), ("127.0.0.1:9101", 0), ("::1:9101", None), ("[::1]:9101", 0),
                           ("localhost:9102", 1), ("127.0.0.1:9102", 1), (f"{V4}:80", 1), (f"{WEB}:80", 1)):
        got, said = t.bawn("check", *common, "connect", target)
        if status is not None:
            same(status, got, f"check {target}: {said}")
    for target, status in ((f"{V4}:80", 0), (f"{WEB}:80", 0), (f"{OTHER}:80", 1), ("10.0.0.5:80", 1), ("127.0.0.1:80", 1),
                           ("localhost:80", 1), ("127.0.0.1:9101", 0), ("169.254.169.254:80", 1), ("224.0.0.5:80", 1)):
        got, said = t.bawn("check", *common, "--net", "isolated", "--deny-host", OTHER, "connect", target)
        same(status, got, f"isolated, check {target}: {said}")
        assert "Allowed hosts: none" not in said, said
    _, said = t.bawn("why", *common, "connect", "localhost:9101")
    assert "9101" in said and "host" in said, said
    for verb in (("plan",), ("policy", "show"), ("policy", "export")):
        status, said = t.bawn(*verb, *common, "--net", "isolated")
        same(0, status, said)
        assert "9101" in said and f"9201:{INSIDE}" in said and "isolated" in said, f"{verb}: {said}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("cases", nargs="*", help="beginnings or parts of titles; all without")
    options = parser.parse_args()
    tap, world = Tap(), World(options.bawn)
    for title, function in CASES:
        # What that mode does without nf_tables is a case of plain.py.
        if title.startswith("isolated:") and not has_nft():
            continue
        if not options.cases or any(word in title for word in options.cases):
            tap.attempt(title, function, Trial(world))
    return tap.end()


sys.exit(main())
