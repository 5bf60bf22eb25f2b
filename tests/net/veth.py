#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""veth.py [--bawn PROGRAM] [CASE]...: the network mode veth. In the lab, as root. TAP on standard output.

The lab is the world. Between it and the sandboxes is a host of the test's own: a network namespace with one
cable to the lab, by which all its packets leave. What must not arrive is seen neither by the lab's log nor by the
servers of that host; and when a sandbox is gone, however it went, the host is as it was before.
"""
import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from world import HERE, Broken, Tap, World, asked, cases_of, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
case = cases_of(CASES)
WEB, V4, V6 = "web.example", "203.0.113.10", "2001:db8::10"
LAB_END, HOST_END = "192.0.2.1", "192.0.2.2"
LAB_END_V6, HOST_END_V6, NEIGHBOUR_V6 = "2001:db8:7::1", "2001:db8:7::2", "2001:db8:7::9"
WITH_V6 = ("--set", "sandbox.network.ipv6=true")
OWN_PORT = 9000
SPECIAL = ["10.0.0.5", "192.168.1.5", "172.16.0.5", "100.64.0.5", "169.254.169.254", "0.0.0.5", "192.0.0.5", "198.18.0.9",
           "224.0.0.5", "240.0.0.1"]
SPECIAL_V6 = ["fd00::5", "fd00:ec2::254", "fc00::5", "fd62:6177:6e00::5", "fec0::5", "::a00:5",
              "::ffff:10.0.0.5", "::ffff:0:a00:5", "64:ff9b::a00:5", "64:ff9b::cb00:710a", "64:ff9b:1::5", "2002:a00:5::1",
              "2001::5", "2001:2::5", "100::5", "200::5", "4000::5", "5f00::5", "9000::5", "e000::5", LAB_END_V6, NEIGHBOUR_V6]
SECONDS = 20
AT_ONCE = 3  # seconds: a refusal, not a wait
# Connects to each address and port and says what came of it; datagrams are sent where "udp" stands in front.
TRY = r"""
import errno, json, socket, sys, time
results = []
for way, address, port in json.loads(sys.argv[1]):
    kind = socket.SOCK_DGRAM if way == "udp" else socket.SOCK_STREAM
    begun, end = time.monotonic(), "connected"
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind) as sock:
        sock.settimeout(5)
        try:
            sock.connect((address, port, 0, 2) if address.startswith(("fe80:", "ff02:")) else (address, port))
            if way == "udp":
                sock.send(b"datagram")
                end = "answered" if sock.recv(100) else "empty"
        except OSError as error:
            end = errno.errorcode.get(error.errno, str(error)) if error.errno else "timed out"
    results.append([address, port, end, time.monotonic() - begun])
print(json.dumps(results))
"""


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Host:
    """A machine between the lab and the sandboxes, with servers at its own addresses that count who comes."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "--mount", "--propagation", "private", "sleep", "infinity"],
                                       stdin=subprocess.DEVNULL)
        own = os.readlink("/proc/self/ns/net")
        until = time.monotonic() + SECONDS
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own or not self.is_asleep():
            works(time.monotonic() < until, "no namespace for the host")
            time.sleep(0.01)
        self.enter = ["nsenter", "-t", str(self.holder.pid), "-n", "-m", f"--wd={os.environ['LAB_WORK']}"]
        run("ip", "link", "add", "cable0", "type", "veth", "peer", "name", "cable1", "netns", self.holder.pid)
        run("ip", "link", "set", "cable0", "addrgenmode", "none")
        run("ip", "addr", "add", f"{LAB_END}/30", "dev", "cable0")
        run("ip", "link", "set", "cable0", "up")
        # All other addresses are the lab's own.
        run("ip", "route", "add", f"{HOST_END}/32", "dev", "cable0", "table", "local")
        run("ip", "addr", "add", f"{LAB_END_V6}/64", "dev", "cable0", "nodad")
        run("ip", "-6", "route", "add", f"{HOST_END_V6}/128", "dev", "cable0", "table", "local")
        for words in (("ip", "link", "set", "lo", "up"), ("ip", "addr", "add", f"{HOST_END}/30", "dev", "cable1"),
                      ("ip", "link", "set", "cable1", "addrgenmode", "none"),
                      ("ip", "link", "set", "cable1", "up"), ("ip", "route", "add", "default", "via", LAB_END),
                      ("ip", "addr", "add", f"{HOST_END_V6}/64", "dev", "cable1", "nodad"),
                      ("ip", "-6", "route", "add", "default", "via", LAB_END_V6)):
            self.run(*words)
        resolv = Path(os.environ["LAB"]) / "host-resolv.conf"
        resolv.write_text("nameserver 203.0.113.53\noptions timeout:1 attempts:1\n")
        self.run("mount", "--bind", resolv, os.path.realpath("/etc/resolv.conf"))
        self.forward(True)
        self.forward_v6(True)
        self.server = subprocess.Popen([*self.enter, "/usr/bin/python3", "-c", COUNTER, str(OWN_PORT)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        works(self.server.stdout.readline() == b"ready\n", "no servers on the host")
        before = None
        while (now := self.state()) != before:  # routes come with the cable
            before = now
            time.sleep(0.5)

    def is_asleep(self):
        return Path(f"/proc/{self.holder.pid}/comm").read_text() == "sleep\n"

    def run(self, *words):
        run(*self.enter, *words)

    def says(self, *words):
        done = subprocess.run([*self.enter, *[str(word) for word in words]], stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, text=True)
        return done.stdout + done.stderr

    def forward(self, does):
        self.run("sysctl", "-qw", f"net.ipv4.ip_forward={int(does)}")

    def forward_v6(self, does):
        self.run("sysctl", "-qw", f"net.ipv6.conf.all.forwarding={int(does)}")

    def visitors(self):
        """How many came to its servers so far."""
        self.server.stdin.write(b"\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def state(self):
        """All that a sandbox could leave behind."""
        links = re.sub(r"(?m)^\d+: ([^:@]*).*$", r"\1", self.says("ip", "-o", "link"))
        return links, self.says("nft", "list", "ruleset"), self.says("ip", "route", "show", "table", "all"), \
            self.says("ip", "rule"), self.says("sysctl", "-ae", "--pattern", "forward|rp_filter")


# Accepts on all of the host's own addresses, TCP and UDP; tells the count when it is asked.
COUNTER = r"""
import socket, sys, threading
count, lock = 0, threading.Lock()
def came():
    global count
    with lock:
        count += 1
def streams(sock):
    while True:
        other, _ = sock.accept()
        came()
        other.close()
def datagrams(sock):
    while True:
        data, peer = sock.recvfrom(1000)
        came()
        sock.sendto(data, peer)
port = int(sys.argv[1])
stream = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
datagram = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
datagram.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
datagram.bind(("::", port))
threading.Thread(target=streams, args=(stream,), daemon=True).start()
threading.Thread(target=datagrams, args=(datagram,), daemon=True).start()
print("ready", flush=True)
for _ in sys.stdin:
    print(count, flush=True)
"""


class Running:
    """A sandbox that lives until its input ends; inside it is what the shell is told."""

    def __init__(self, trial, *options, command=("cat",)):
        self.trial, self.options, self.command = trial, options, command
        self.process = self.init = None

    def __enter__(self):
        words = ["sh", "-c", 'echo ready; exec "$@"', "sh", *self.command]
        self.process = subprocess.Popen(self.trial.words(words, *self.options), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if line != b"ready\n":
            self.process.kill()
            raise Broken(f"{line} {self.process.stderr.read().decode()}")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()

    def children(self):
        """The processes that the launcher started, by their names. nsenter has become the launcher."""
        found = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                before, _, after = path.read_text().rpartition(")")
            except OSError:
                continue
            if int(after.split()[1]) == self.process.pid:
                found[before.partition("(")[2]] = int(path.parent.name)
        return found

    def name(self):
        """Of the host's end."""
        names = set(re.findall(r"bawn[0-9a-f]{8}", self.trial.host.says("ip", "-o", "link")))
        return names - self.trial.names_before

    def enter(self):
        """As root of the host, in the sandbox's network: by the shell that is the command."""
        wanted = b"\0".join(word.encode() for word in self.command) + b"\0"
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    if path.read_bytes() == wanted:
                        return ["nsenter", "-t", path.parent.name, "-n"]
                except OSError:
                    pass
        raise Broken("no command inside")


class Trial:
    def __init__(self, world, host):
        self.world, self.host = world, host
        self.before = host.state()
        self.names_before = set()

    def words(self, command, *options):
        inside = self.world.words(command, (), ("--net", "veth", *options))
        return [*self.host.enter, *inside]

    def sandbox(self, command, *options, **how):
        return self.world.run(self.words(command, *options), **how)

    def bawn(self, *words):
        status, output, errors, _ = self.world.run([*self.host.enter, self.world.bawn, *words])
        return status, output + errors

    def tries(self, attempts, *options):
        status, output, errors, _ = self.sandbox(["/usr/bin/python3", "-c", TRY, json.dumps(attempts)], *options)
        works(status == 0, f"status {status}: {output}{errors}")
        return json.loads(output)

    def is_clean(self, seconds=0.0):
        """The host is as it was before: at once, or soon."""
        until = time.monotonic() + seconds
        while (after := self.host.state()) != self.before and time.monotonic() < until:
            time.sleep(0.02)
        for was, became in zip(self.before, after):
            same(was, became, "the host afterwards")


def arrived(events):
    """What somebody sent to the lab, but for names, and for what interfaces say to their neighbours."""
    return [event for event in events if event["kind"] != "dns" and event.get("protocol") not in ("icmp6", "0")
            and 53 not in (event.get("port"), event.get("source", (None, None))[1])]


def refused(results):
    for address, port, end, seconds in results:
        assert end not in ("connected", "answered", "timed out") and seconds < AT_ONCE, f"{address}:{port}: {end} {seconds}"


@case("a command reaches public hosts by name and by address, with TCP and UDP, as the host")
def reaches(t):
    start = t.world.witness.settle()
    status, output, errors, _ = t.sandbox(["curl", "-sS", "-m", "10", f"http://{WEB}/here", f"http://{V4}/here"])
    works((status, output) == (0, "lab /here\nlab /here\n"), f"{status} {output} {errors}")
    results = t.tries([["tcp", V4, 443], ["udp", V4, 7], ["tcp", V4, 9]])
    same(["connected", "answered", "ECONNREFUSED"], [row[2] for row in results], "ways out")
    events = t.world.witness.since(start)
    works(asked(events, WEB), "nobody asked the host's server for the name")
    accepted = [event for event in events if event["kind"] == "accept"]
    works(accepted, f"no connection in the log: {events}")
    t.is_clean()


@case("names are answered by datagram and by stream with their own IPv4 addresses, and private ones are not there")
def names(t):
    ask = ("import socket,sys\n"
           "for name in sys.argv[1:]:\n"
           "    try: print(name, sorted({row[4][0] for row in socket.getaddrinfo(name, 80)}))\n"
           "    except OSError as error: print(name, type(error).__name__)\n")
    listed = [WEB, "alias.example", "six.example", "private.example", "metadata.example", "mixed.example", "mixed6.example",
              "localhost", "nowhere.example"]
    status, output, errors, _ = t.sandbox(["/usr/bin/python3", "-c", ask, *listed])
    works(status == 0, errors)
    same({WEB: f"['{V4}']", "alias.example": f"['{V4}']", "six.example": "gaierror", "private.example": "gaierror",
          "metadata.example": "gaierror", "mixed.example": "gaierror", "mixed6.example": "['203.0.113.21']",
          "localhost": "['127.0.0.1', '::1']", "nowhere.example": "gaierror"},
         dict(line.split(" ", 1) for line in output.splitlines()), "answers")
    stream = ("import socket,struct\n"
              "sock = socket.create_connection(('198.18.0.1', 53), 5)\n"
              "query = struct.pack('!6H', 7, 256, 1, 0, 0, 0) + b'\\3web\\7example\\0\\0\\1\\0\\1'\n"
              "sock.sendall(struct.pack('!H', len(query)) + query)\n"
              "print(socket.inet_ntoa(sock.recv(600)[-4:]))\n")
    status, output, errors, _ = t.sandbox(["/usr/bin/python3", "-c", stream])
    same((0, V4 + "\n"), (status, output), errors)


@case("nothing that is not public is reached, and each attempt is refused at once")
def special(t):
    start = t.world.witness.settle()
    refused(t.tries([[way, address, 80] for address in (*SPECIAL, V6, "fd00::5", "fe80::5") for way in ("tcp", "udp")]))
    same([], t.world.witness.since(start), "what the lab saw")


@case("none of the host's own addresses is reached, whatever port")
def own(t):
    before = t.host.visitors()
    with Running(t) as running:
        address = re.search(r"inet ([0-9.]+)/30", t.host.says("ip", "addr", "show", next(iter(running.name()))))[1]
        targets = [[way, to, OWN_PORT] for to in (HOST_END, address, "127.0.0.1") for way in ("tcp", "udp")]
        status, output, errors, _ = t.world.run(
            [*running.enter(), "/usr/bin/python3", "-c", TRY, json.dumps(targets)])
        works(status == 0, errors)
        refused(json.loads(output))
    refused(t.tries([[way, HOST_END, port] for way in ("tcp", "udp") for port in (OWN_PORT, 22, 53)]))
    same(before, t.host.visitors(), "who came to the host's servers")


@case("the host's rules hold alone, against somebody with all rights in the sandbox's network")
def second_layer(t):
    before, start = t.host.visitors(), t.world.witness.settle()
    with Running(t) as running:
        inside = running.enter()
        run(*inside, "sh", "-c", "ip route show type prohibit | while read -r _ to _; do ip route del prohibit $to; done")
        same("", subprocess.run([*inside, "ip", "route", "show", "type", "prohibit"], check=True, capture_output=True,
                                text=True).stdout, "routes that refuse")
        targets = [["tcp", address, 80] for address in SPECIAL[:5]] + [["udp", address, 80] for address in SPECIAL[:5]]
        targets += [["tcp", HOST_END, OWN_PORT], ["udp", HOST_END, OWN_PORT]]
        _, output, errors, _ = t.world.run([*inside, "/usr/bin/python3", "-c", TRY, json.dumps(targets)])
        refused(json.loads(output))
        # IPv6, by an address that it gives itself.
        run(*inside, "ip", "addr", "add", "2001:db8:9::2/64", "dev", "eth0", "nodad")
        run(*inside, "ip", "-6", "route", "add", "default", "dev", "eth0")
        name = next(iter(running.name()))
        t.host.run("ip", "addr", "add", "2001:db8:9::1/64", "dev", name, "nodad")
        _, output, errors, _ = t.world.run([*inside, "/usr/bin/python3", "-c", TRY,
                                            json.dumps([["tcp", "2001:db8:9::1", OWN_PORT]])])
        assert "connected" not in output, output + errors
    same(before, t.host.visitors(), "who came to the host's servers")
    same([], t.world.witness.since(start), "what the lab saw")
    t.is_clean(2)


@case("with IPv6 public hosts of IPv6 are reached, too, by name and by address, with TCP and UDP, as the host")
def reaches_v6(t):
    start = t.world.witness.settle()
    places = ["http://six.example/six", f"http://[{V6}]/here", f"http://{V4}/here"]
    status, output, errors, _ = t.sandbox(["curl", "-sS", "-m", "10", *places], *WITH_V6)
    works((status, output) == (0, "lab /six\nlab /here\nlab /here\n"), f"{status} {output} {errors}")
    results = t.tries([["tcp", V6, 443], ["udp", V6, 7], ["tcp", V6, 9], ["tcp", V4, 443], ["udp", V4, 7]], *WITH_V6)
    same(["connected", "answered", "ECONNREFUSED", "connected", "answered"], [row[2] for row in results], "ways out")
    peers = {event["peer"][0] for event in t.world.witness.since(start) if event["kind"] == "accept" and event["address"] == V6}
    same({HOST_END_V6}, peers, "who the lab saw")
    t.is_clean()


@case("with IPv6 nothing that is not public is reached, nor the host, nor its neighbours, and that at once")
def special_v6(t):
    before, start = t.host.visitors(), t.world.witness.settle()
    refused(t.tries([[way, address, 80] for address in (*SPECIAL, *SPECIAL_V6) for way in ("tcp", "udp")], *WITH_V6))
    # These are on the link, where nobody answers; the host hears the last two.
    for _, _, end, _ in t.tries([[way, to, OWN_PORT] for to in ("fe80::5", "ff02::1", "ff05::1") for way in ("tcp", "udp")],
                                *WITH_V6):
        assert end in ("timed out", "EHOSTUNREACH", "ENETUNREACH"), end
    refused(t.tries([[way, HOST_END_V6, port] for way in ("tcp", "udp") for port in (OWN_PORT, 22, 53)], *WITH_V6))
    status, output, errors, _ = t.sandbox(["getent", "ahosts", "unique.example"], *WITH_V6)
    same((2, ""), (status, output), errors)
    same(before, t.host.visitors(), "who came to the host's servers")
    same([], arrived(t.world.witness.since(start)), "what the lab saw")
    t.is_clean()


@case("with IPv6 the host's rules hold alone, also for an address that the host gets later")
def second_layer_v6(t):
    before, start = t.host.visitors(), t.world.witness.settle()
    with Running(t, *WITH_V6) as running:
        inside = running.enter()
        run(*inside, "sh", "-c", "ip -6 route show type prohibit | while read -r _ to _; do ip -6 route del prohibit $to; done")
        same("", subprocess.run([*inside, "ip", "-6", "route", "show", "type", "prohibit"], check=True, capture_output=True,
                                text=True).stdout, "routes that refuse")
        name = next(iter(running.name()))
        address = re.search(r"inet6 (fd62:6177:6e00:\S+)/96", t.host.says("ip", "addr", "show", name))[1]
        t.host.run("ip", "addr", "add", "2001:db8:8::2/64", "dev", "cable1", "nodad")
        targets = [[way, to, 80] for to in SPECIAL_V6 for way in ("tcp", "udp") if not to.startswith(("ff", "::ffff:10"))]
        targets += [[way, to, OWN_PORT] for to in (HOST_END_V6, address, "2001:db8:8::2") for way in ("tcp", "udp")]
        _, output, errors, _ = t.world.run([*inside, "/usr/bin/python3", "-c", TRY, json.dumps(targets)], seconds=200)
        t.host.run("ip", "addr", "del", "2001:db8:8::2/64", "dev", "cable1")
        for address, port, end, _ in json.loads(output):
            assert end not in ("connected", "answered"), f"{address}:{port}: {end}"
    same(before, t.host.visitors(), "who came to the host's servers")
    same([], arrived(t.world.witness.since(start)), "what the lab saw")
    t.is_clean(2)


@case("with IPv6 nobody of the host's, and nobody beyond it, connects to a server inside")
def nobody_in_v6(t):
    serve = ("import socket\n"
             "sock = socket.create_server(('::', 7000), family=socket.AF_INET6)\n"
             "sock.settimeout(4)\n"
             "print('serving', flush=True)\n"
             "try: sock.accept(); print('came', flush=True)\n"
             "except TimeoutError: print('nobody', flush=True)\n")
    with Running(t, *WITH_V6, command=("/usr/bin/python3", "-c", serve)) as running:
        works(running.process.stdout.readline() == b"serving\n", "no server")
        host = re.search(r"inet6 (fd62:6177:6e00:\S+)1/96", t.host.says("ip", "addr", "show", next(iter(running.name()))))[1]
        attempt = ["timeout", "1.2", "/usr/bin/python3", "-c", TRY, json.dumps([["tcp", f"{host}2", 7000]])]
        _, output, _, _ = t.world.run([*t.host.enter, *attempt])
        assert "connected" not in output, output
        run("ip", "-6", "route", "add", f"{host}2/128", "via", HOST_END_V6, "dev", "cable0", "table", "local")
        _, output, _, _ = t.world.run(attempt)
        run("ip", "-6", "route", "del", f"{host}2/128", "table", "local")
        assert "connected" not in output, output
        same(b"nobody\n", running.process.stdout.readline(), "at the server inside")


@case("with IPv6 a host that does not forward it is not changed: the reason is given; without, it is no matter")
def no_forwarding_v6(t):
    status, _, errors, _ = t.sandbox(["true"], *WITH_V6)  # so that a plan is kept
    works(status == 0, errors)
    t.host.forward_v6(False)
    try:
        for _ in range(2):
            status, output, errors, _ = t.sandbox(["echo", "ran"], *WITH_V6)
            same((125, ""), (status, output), errors)
            assert "does not forward packets of" in errors and "sandbox.network.ipv6: false" in errors, errors
        _, said = t.bawn("plan", "--isolated", "--net", "veth", *WITH_V6)
        assert "[not on this host] network veth (this host does not forward packets of IPv6" in said, said
        status, output, errors, _ = t.sandbox(["echo", "ran"])
        same((0, "ran\n"), (status, output), errors)
    finally:
        t.host.forward_v6(True)
    t.host.run("ip", "-6", "route", "add", "fd00::/8", "via", LAB_END_V6)
    status, output, errors, _ = t.sandbox(["echo", "ran"], *WITH_V6)
    t.host.run("ip", "-6", "route", "del", "fd00::/8")
    same((125, ""), (status, output), errors)
    assert "fd62:6177:6e00::/64, to which this host has a route" in errors, errors
    t.is_clean()


@case("a launcher that is killed with IPv6 leaves nothing either")
def killed_v6(t):
    with Running(t, *WITH_V6) as running:
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(SECONDS)
        t.is_clean(5)


@case("nobody of the host's, and nobody beyond it, connects to a server inside")
def nobody_in(t):
    serve = ("import socket,sys,threading\n"
             "def datagrams():\n"
             "    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); sock.bind(('0.0.0.0', 7000))\n"
             "    sock.recv(100); print('came', flush=True)\n"
             "threading.Thread(target=datagrams, daemon=True).start()\n"
             "sock = socket.create_server(('0.0.0.0', 7000))\n"
             "sock.settimeout(4)\n"
             "print('serving', flush=True)\n"
             "try: sock.accept(); print('came', flush=True)\n"
             "except TimeoutError: print('nobody', flush=True)\n")
    with Running(t, command=("/usr/bin/python3", "-c", serve)) as running:
        works(running.process.stdout.readline() == b"serving\n", "no server")
        host = re.search(r"inet ([0-9.]+)\.(\d+)/30", t.host.says("ip", "addr", "show", next(iter(running.name()))))
        inside = f"{host[1]}.{int(host[2]) + 1}"
        targets = json.dumps([["tcp", inside, 7000], ["udp", inside, 7000]])
        for who in (t.host.enter, []):
            if not who:
                run("ip", "route", "add", f"{inside}/32", "via", HOST_END, "table", "local")
            attempt = ["timeout", "1.2", "/usr/bin/python3", "-c", TRY, targets]
            _, output, _, _ = t.world.run([*who, *attempt])
            assert "connected" not in output and "answered" not in output, output
        run("ip", "route", "del", f"{inside}/32", "table", "local")
        same(b"nobody\n", running.process.stdout.readline(), "at the server inside")


@case("a launcher that is killed leaves no link, no rule and no route")
def killed(t):
    for _ in range(3):
        with Running(t) as running:
            works(len(running.name()) == 1, t.host.says("ip", "link"))
            running.process.send_signal(signal.SIGKILL)
            running.process.wait(SECONDS)
            t.is_clean(5)


@case("nothing is left after any other end: exit, a failure, stop, a signal, the time limit")
def ends(t):
    for command, options, want in ((["true"], (), 0), (["sh", "-c", "exit 3"], (), 3), (["/nowhere"], (), 127),
                                   (["sleep", "9"], ("--timeout", "1s"), 124), (["sh", "-c", "kill -9 $$"], (), 137)):
        status, output, errors, _ = t.sandbox(command, *options)
        same(want, status, output + errors)
        t.is_clean()
    with Running(t) as running:
        until = time.monotonic() + SECONDS
        while (status := t.bawn("stop")[0]) != 0 and time.monotonic() < until:
            time.sleep(0.1)  # it is to be found when it has lived for a moment
        works(status == 0, "stop")
        running.process.wait(SECONDS)
        t.is_clean()
    with Running(t) as running:
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(SECONDS)
        t.is_clean()


@case("when the process that takes the network down is killed, the session ends, and nothing is left")
def guard_killed(t):
    with Running(t) as running:
        guard = running.children().get("bawn: veth")
        works(guard, running.children())
        os.kill(guard, signal.SIGKILL)
        running.process.wait(SECONDS)
        same(125, running.process.returncode, "status")
        assert b"takes the network down" in running.process.stderr.read()
        t.is_clean(2)


@case("many at once have addresses of their own, and the end of one is no matter to the others")
def many(t):
    fetch = ("sh", "-c", f"read -r _; curl -sS -m 10 http://{WEB}/here; cat")
    group = [Running(t, command=fetch) for _ in range(6)]
    for running in group:
        running.__enter__()
    try:
        same(6, len(re.findall(r"bawn[0-9a-f]{8}@", t.host.says("ip", "-o", "link"))), "links")
        same(6, len(set(re.findall(r"inet (\S+)/30 .*bawn", t.host.says("ip", "addr")))), "addresses")
        group[0].process.kill()
        for running in group[1:]:
            running.process.stdin.write(b"\n")
            running.process.stdin.flush()
            same(b"lab /here\n", running.process.stdout.readline(), "what came")
    finally:
        for running in group:
            running.__exit__()
    t.is_clean(5)


@case("one sandbox does not reach another")
def apart(t):
    serve = "import socket; s = socket.create_server(('0.0.0.0', 7000)); print('serving', flush=True); s.accept(); print('came')"
    with Running(t, command=("/usr/bin/python3", "-c", serve)) as running:
        works(running.process.stdout.readline() == b"serving\n", "no server")
        host = re.search(r"inet ([0-9.]+)\.(\d+)/30", t.host.says("ip", "addr", "show", next(iter(running.name()))))
        refused(t.tries([["tcp", f"{host[1]}.{int(host[2]) + 1}", 7000], ["tcp", f"{host[1]}.{host[2]}", OWN_PORT]]))
        running.process.kill()
    t.is_clean(5)


@case("addresses can be chosen, and are refused where the host has a route to them")
def chosen(t):
    cidr = ("--set", "sandbox.network.cidr=10.9.8.4/30")
    with Running(t, *cidr, "--set", "sandbox.network.mtu=1400") as running:
        same({"bawn0a090804"}, running.name(), "name")
        assert "10.9.8.5/30" in t.host.says("ip", "addr") and "mtu 1400" in t.host.says("ip", "link", "show", "bawn0a090804")
        inside = subprocess.run([*running.enter(), "ip", "addr"], check=True, capture_output=True, text=True).stdout
        assert "10.9.8.6/30" in inside and "mtu 1400" in inside, inside
        status, output, errors, _ = t.sandbox(["true"], *cidr)
        same(125, status, output + errors)
        assert "has a route to sandbox.network.cidr" in errors and "hint: " in errors, errors
    t.is_clean()
    t.host.run("ip", "route", "add", "10.9.8.6/32", "via", LAB_END)
    status, output, errors, _ = t.sandbox(["true"], *cidr)
    t.host.run("ip", "route", "del", "10.9.8.6/32")
    same(125, status, output + errors)
    t.is_clean()


@case("free addresses are found beside the host's routes; where there are none, the reason is given")
def crowded(t):
    t.host.run("ip", "route", "add", "10.0.0.0/8", "via", LAB_END)
    with Running(t) as running:
        assert next(iter(running.name())).startswith("bawnac1d"), running.name()
    for network in ("172.16.0.0/12", "192.168.0.0/16"):
        t.host.run("ip", "route", "add", network, "via", LAB_END)
    status, output, errors, _ = t.sandbox(["echo", "ran"])
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"):
        t.host.run("ip", "route", "del", network)
    same((125, ""), (status, output), errors)
    assert "find free addresses" in errors and "sandbox.network.cidr" in errors, errors
    t.is_clean()


@case("a host that does not forward is not changed: the reason and the command are given")
def no_forwarding(t):
    status, _, errors, _ = t.sandbox(["true"])  # so that a plan is kept
    works(status == 0, errors)
    t.host.forward(False)
    try:
        for _ in range(2):
            status, output, errors, _ = t.sandbox(["echo", "ran"])
            same((125, ""), (status, output), errors)
            assert "does not forward packets" in errors and "sysctl -w net.ipv4.ip_forward=1" in errors, errors
        same("0\n", t.host.says("cat", "/proc/sys/net/ipv4/ip_forward"), "ip_forward")
        _, said = t.bawn("plan", "--isolated", "--net", "veth")
        assert "[not on this host] network veth (this host does not forward packets" in said, said
    finally:
        t.host.forward(True)
    t.is_clean()


@case("the rules stay when somebody flushes the host's firewall")
def flushed(t):
    before = t.host.visitors()
    with Running(t, command=("sh", "-c", "read -r _; curl -sS -m 5 http://" + f"{HOST_END}:{OWN_PORT}/; echo $?")) as running:
        t.host.run("nft", "flush", "ruleset")
        running.process.stdin.write(b"\n")
        running.process.stdin.flush()
        same(b"7\n", running.process.stdout.readline(), "curl")
    same(before, t.host.visitors(), "who came to the host's servers")


@case("rules on hosts are refused where nobody holds them, and what plan and check say is what happens")
def words(t):
    for options in (("--deny-host", "other.example"), ("--allow-host", "10.0.0.5"), ("--allow-host", V6),
                    ("--publish", "9201:7000"), ("--host-port", "9101"), ("--set", f"sandbox.network.hosts.{WEB}={V4}")):
        status, output, errors, _ = t.sandbox(["echo", "ran"], *options)
        same((125, ""), (status, output), f"{options}: {errors}")
        assert "hint: " in errors, errors
    status, output, errors, _ = t.sandbox(["echo", "ran"], "--allow-host", WEB)
    same((0, "ran\n"), (status, output), errors)
    for target, want in ((f"{V4}:80", 0), (f"{WEB}:80", 0), ("10.0.0.5:80", 1), (f"[{V6}]:80", 1), ("127.0.0.1:80", 1),
                         ("169.254.169.254:80", 1), ("localhost:80", 1)):
        got, said = t.bawn("check", "--isolated", "--net", "veth", "connect", target)
        same(want, got, f"check {target}: {said}")
    status, said = t.bawn("plan", "--isolated", "--net", "veth", "--set", "sandbox.network.cidr=10.9.8.4/30")
    same(0, status, said)
    assert "[namespace, firewall] network veth (public IPv4 addresses, by the host's NAT)" in said, said
    assert "sandbox.network.cidr: 10.9.8.4/30" in said and "enforcement: full" in said, said
    status, said = t.bawn("check", "--isolated", "--net", "veth", "connect", "10.0.0.5:80")
    assert "this network does not reach private addresses" in said, said


@case("an ordinary user is refused, with the reason")
def ordinary(t):
    copy = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    status, output, errors, _ = t.world.run([*t.host.enter, *copy, t.world.bawn, "run", "--isolated", "--net", "veth",
                                             "--", "echo", "ran"], env={"HOME": "/nonexistent"})
    same((125, ""), (status, output), errors)
    assert "only root can have it; --net isolated" in errors, errors
    t.is_clean()


@case("the command holds nothing of the host's: no descriptor, no right over its network, no name of its address")
def nothing_inside(t):
    look = ("ls -l /proc/self/fd | grep -c 'socket:'; ip link add dummy9 type dummy 2>&1 | tail -1;"
            " ip route del default 2>&1 | tail -1; nft list tables 2>&1 | tail -1; true")
    status, output, errors, _ = t.sandbox(["sh", "-c", look])
    works(status == 0, errors)
    lines = output.splitlines()
    same("0", lines[0], output)
    for line in lines[1:3]:
        assert "not permitted" in line, output
    t.is_clean()


@case("exec into the session has the same network, and a detached one is taken down when it ends")
def others(t):
    status, name, errors, _ = t.sandbox(["sleep", "60"], "--detach")
    works(status == 0, errors)
    name = name.strip()
    status, said = t.bawn("exec", name, "--", "curl", "-sS", "-m", "10", f"http://{WEB}/here")
    same((0, "lab /here\n"), (status, said), "exec")
    same(1, len(re.findall(r"bawn[0-9a-f]{8}@", t.host.says("ip", "-o", "link"))), "links")
    t.bawn("stop", name)
    t.is_clean(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("cases", nargs="*", help="beginnings or parts of titles; all without")
    options = parser.parse_args()
    tap, world, host = Tap(), World(options.bawn), Host()
    for title, function in CASES:
        if not options.cases or any(word in title for word in options.cases):
            tap.attempt(title, function, Trial(world, host))
    host.server.kill()
    host.holder.kill()
    return tap.end()


sys.exit(main())
