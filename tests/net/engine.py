#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""engine.py [--bawn PROGRAM] [CASE]...: the mode isolated by slirp4netns and pasta. In the lab. TAP on standard output.

The lab (with --tun) is this machine and the world; LAB_ENGINES names a folder with the two programs, else they are
in /usr/bin. What must not arrive is not in the lab's log, and no program is left when a sandbox is gone.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from world import HERE, Broken, Tap, World, cases_of, reached, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
case = cases_of(CASES)
ENGINES = ("slirp4netns", "pasta")
FOLDER = Path(os.environ.get("LAB_ENGINES", "/usr/bin"))
WEB, V4, V6, OWN = "web.example", "203.0.113.10", "2001:db8::10", "198.51.100.99"
WITH_V6 = ("--set", "sandbox.network.ipv6=true")
SPECIAL = ["10.0.0.5", "192.168.1.5", "172.16.0.5", "100.64.0.5", "169.254.169.254", "0.0.0.5", "192.0.0.5", "198.18.0.9",
           "224.0.0.5", "240.0.0.1", "10.0.2.1", "10.0.2.2", "10.0.2.3", "10.0.2.77", "127.0.0.1", OWN]
# Each kind of IPv6 address that is not public; then this machine's own, and another one of its network.
SPECIAL_V6 = ["fd00::5", "fd00::2", "fd00::3", "fd00::64", "fd00::8000:0:0:5", "fd00:ec2::254", "fc00::5", "fe80::2", "fe80::5",
              "fec0::5", "ff02::1", "ff05::5", "ff0e::5", "::a00:5", "::ffff:10.0.0.5", "::ffff:169.254.169.254",
              "::ffff:0:a00:5", "64:ff9b::a00:5", "64:ff9b::cb00:710a", "64:ff9b:1::5", "2002:a00:5::1", "2002:cb00:710a::1",
              "2001::5", "2001:2::5", "2001:1ff::5", "100::5", "200::5", "1000::5", "4000::5", "5f00::5", "9000::5", "e000::5",
              "::1", "2001:db8::99", "2001:db8:5::5", "2001:db8:5::7"]
SECONDS = 20
# Connects or sends, and says what came of it. How: "device" and "unicast" name the interface, "message" names it in the
# message that is sent; "source ADDRESS" is sent from there, "segment ADDRESS" is to come by there (segment routing).
TRY = r"""
import errno, json, socket, struct, sys
FREEBIND, UNICAST, PKTINFO, RTHDR = 78, 76, 50, 57
results = []
index = socket.if_nametoindex("tap0")
def place(address, port):
    if ":" not in address:
        return address, port
    return address, port, 0, index if address.startswith(("fe80:", "ff0")) else 0
def packed(address):
    return socket.inet_pton(socket.AF_INET6, address)
for way, address, port, how in json.loads(sys.argv[1]):
    end = "connected"
    how, _, other = how.partition(" ")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if way == "udp" else socket.SOCK_STREAM) as sock:
        sock.settimeout(float(sys.argv[2]))
        try:
            if how == "device":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"tap0")
            elif how == "unicast":
                sock.setsockopt(socket.IPPROTO_IPV6, UNICAST, struct.pack("!I", index))
            elif how == "source":
                sock.setsockopt(socket.IPPROTO_IPV6, FREEBIND, 1)
                sock.bind(place(other, 0))
            elif how == "segment":
                sock.setsockopt(socket.IPPROTO_IPV6, RTHDR,
                                struct.pack("8B", 0, 4, 4, 1, 1, 0, 0, 0) + packed(address) + packed(other))
            if how == "message":
                sock.sendmsg([b"datagram"], [(socket.IPPROTO_IPV6, PKTINFO, bytes(16) + struct.pack("I", index))], 0,
                             place(address, port))
            else:
                sock.connect(place(address, port))
            if way == "udp":
                if how != "message":
                    sock.send(b"datagram")
                end = "answered" if sock.recv(100) else "empty"
        except OSError as error:
            end = errno.errorcode.get(error.errno, str(error)) if error.errno else "timed out"
    results.append([address, port, end])
print(json.dumps(results))
"""


def processes(engine):
    """Those that live: pasta does not wait for its children, and runs as passt.avx2 where the processor can."""
    names = ("pasta", "passt") if engine == "pasta" else (engine[:15],)
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            before, _, after = path.read_text().rpartition(")")
            if before.partition("(")[2].startswith(names) and after.split()[0] != "Z":
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


class Trial:
    def __init__(self, world, engine):
        self.world, self.engine = world, engine
        self.set = ["--net", "isolated", "--set", f"sandbox.network.engine={engine}"]
        if FOLDER != Path("/usr/bin"):
            self.set += ["--set", f"sandbox.network.engine_path={FOLDER / engine}"]

    def words(self, command, *options):
        return self.world.words(command, (), (*self.set, *options))

    def sandbox(self, command, *options, **how):
        return self.world.run(self.words(command, *options), **how)

    def tries(self, attempts, *options, wait=4):
        status, output, errors, _ = self.sandbox(["/usr/bin/python3", "-c", TRY, json.dumps(attempts), wait], *options,
                                                 seconds=300)
        works(status == 0, f"status {status}: {output}{errors}")
        return json.loads(output)

    def is_gone(self, seconds=1.0):
        until = time.monotonic() + seconds
        while processes(self.engine) and time.monotonic() < until:
            time.sleep(0.02)
        same([], processes(self.engine), "programs that are left")

    def start(self, *options):
        words = ["sh", "-c", "echo ready; exec cat"]
        process = subprocess.Popen(self.words(words, *options), cwd=self.world.folder, env=self.world.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = process.stdout.readline()
        if line != b"ready\n":
            process.kill()
            raise Broken(f"{line} {process.stderr.read().decode()}")
        return process


@case("a command reaches public hosts by name and by address, with TCP and UDP")
def reaches(t):
    status, output, errors, _ = t.sandbox(["curl", "-sS", "-m", "10", f"http://{WEB}/here", f"http://{V4}/here"])
    works((status, output) == (0, "lab /here\nlab /here\n"), f"{status} {output} {errors}")
    results = t.tries([["tcp", V4, 443, ""], ["udp", V4, 7, ""], ["tcp", V4, 80, "device"]])
    same(["connected", "answered", "connected"], [row[2] for row in results], "ways out")
    status, output, errors, _ = t.sandbox(["sh", "-c", "env | grep -ci proxy=; cat /etc/resolv.conf"])
    assert output.startswith("0\n") and "198.18.0.1" in output, output + errors
    t.is_gone()


@case("with IPv6 it reaches public hosts of IPv6, too, by name and by address, with TCP and UDP")
def reaches_v6(t):
    places = ["http://six.example/six", f"http://[{V6}]/here", f"http://{V4}/here"]
    status, output, errors, _ = t.sandbox(["curl", "-sS", "-m", "10", *places], *WITH_V6)
    works((status, output) == (0, "lab /six\nlab /here\nlab /here\n"), f"{status} {output} {errors}")
    results = t.tries([["tcp", V6, 443, ""], ["udp", V6, 7, ""], ["tcp", V6, 80, "device"], ["udp", V6, 7, "device"],
                       ["udp", V6, 7, "message"], ["tcp", V6, 80, "source fd00::64"], ["tcp", V4, 443, ""]], *WITH_V6)
    same(["connected", "answered", "connected", "answered", "answered", "connected", "connected"],
         [row[2] for row in results], "ways out")
    status, output, errors, _ = t.sandbox(["getent", "ahosts", WEB], *WITH_V6)
    assert V6 in output and V4 in output, output + errors
    t.is_gone()


@case("nothing that is not public is reached, nor this machine, also by who names the interface")
def special(t):
    start = t.world.witness.settle()
    targets = [[way, address, 80, how] for address in (*SPECIAL, V6, "fd00::5") for way in ("tcp", "udp")
               for how in ("", "device") if not (address == "127.0.0.1" and way == "udp" and not how)]
    for options in ((), ("--set", "sandbox.network.ipv6=false")):
        for address, port, end in t.tries(targets, *options):
            assert end not in ("connected", "answered"), f"{address}:{port}: {end}"
    same([], t.world.witness.since(start), "what the lab saw")
    status, output, errors, _ = t.sandbox(["getent", "ahosts", "six.example"])
    same((2, ""), (status, output), errors)


@case("with IPv6 neither, also by who picks where he sends from, or what it is to pass")
def special_v6(t):
    start = t.world.witness.settle()
    plain = ("", "device", "unicast", "source fd00::64")
    targets = [[way, address, 80, how] for address in SPECIAL_V6 for way in ("tcp", "udp") for how in plain]
    for (_, _, _, how), (address, port, end) in zip(targets, t.tries(targets, *WITH_V6, wait=1)):
        assert end not in ("connected", "answered", "timed out"), f"{address}:{port} {how}: {end}"
    # Who gives a source that is not his is not told.
    targets = [[way, address, 80, f"source {source}"] for address in SPECIAL_V6 for way in ("tcp", "udp")
               for source in ("::1", "2001:db8:5::5", "fe80::5")]
    targets += [["udp", address, 80, "message"] for address in SPECIAL_V6]
    targets += [[way, V6, 80, f"segment {address}"] for address in SPECIAL_V6 for way in ("tcp", "udp")]
    for (_, _, _, how), (address, port, end) in zip(targets, t.tries(targets, *WITH_V6, wait=0.2)):
        assert end not in ("connected", "answered"), f"{address}:{port} {how}: {end}"
    results = t.tries([["tcp", address, 80, how] for address in SPECIAL for how in ("", "device")], *WITH_V6)
    assert not [row for row in results if row[2] == "connected"], results
    same([], t.world.witness.since(start), "what the lab saw")


@case("names lead to no IPv6 address that is not public")
def names_v6(t):
    start = t.world.witness.settle()
    for name in ("unique.example", "metadata6.example", "translated.example", "stateless.example", "loop6.example",
                 "mixed6.example"):
        status, output, errors, _ = t.sandbox(["getent", "ahosts", name], *WITH_V6)
        same((2, ""), (status, output), f"{name}: {errors}")
    same([], reached(t.world.witness.since(start)), "what the lab saw")


@case("the program ends with the session, however that ends")
def ends(t):
    for command, options, want in ((["true"], (), 0), (["/nowhere"], (), 127), (["sleep", "9"], ("--timeout", "1s"), 124)):
        status, output, errors, _ = t.sandbox(command, *options)
        same(want, status, output + errors)
        t.is_gone()
    process = t.start()
    assert processes(t.engine)
    process.kill()
    process.wait(SECONDS)
    t.is_gone(5)
    process = t.start()
    process.terminate()
    process.wait(SECONDS)
    t.is_gone()


@case("when the program is killed there is no network, which is said once, and the command goes on")
def killed(t):
    start = None
    words = ["sh", "-c", f"echo ready; read -r _; for at in {V4} [{V6}]; do curl -sS -m 5 http://$at/here; echo $?; done"]
    process = subprocess.Popen(t.words(words, *WITH_V6), cwd=t.world.folder, env=t.world.env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    works(process.stdout.readline() == b"ready\n", "no command")
    for pid in processes(t.engine):
        os.kill(pid, signal.SIGKILL)
    t.is_gone(2)
    start = t.world.witness.settle()
    output, errors = process.communicate(b"\n", SECONDS)
    same((b"7\n7\n", 0), (output, process.returncode), errors)
    same(1, errors.count(b"the command has no network any more: " + t.engine.encode()), errors)
    same([], t.world.witness.since(start), "what the lab saw")


@case("its network and the size of packets can be chosen")
def chosen(t):
    status, output, errors, _ = t.sandbox(["sh", "-c", f"ip addr show tap0; curl -sS -m 5 http://{V4}/here"], "--set",
                                          "sandbox.network.cidr=172.20.0.0/20", "--set", "sandbox.network.mtu=1400")
    works(status == 0, errors)
    assert "inet 172.20.0." in output and "/20" in output and "mtu 1400" in output and "lab /here" in output, output
    status, output, errors, _ = t.sandbox(["true"], "--set", "sandbox.network.cidr=10.9.8.4/30")
    assert status == 125 and "takes a network of /16 to /25" in errors, errors


@case("what cannot be had is refused before anything runs, with the reason")
def refused(t):
    for options, words in ((("--deny-host", "other.example"), "no rules on hosts"),
                           (("--allow-host", "10.0.0.5"), "public IPv4"),
                           (("--publish", "9201:7000"), "without an engine"),
                           (("--set", "sandbox.network.engine_path=/usr/bin/nowhere"), "is not there: install it"),
                           (("--rw", t.world.folder, "--set", f"sandbox.network.engine_path={t.world.folder}/engine"),
                            "the command can write that program")):
        (t.world.folder / "engine").write_text("#!/bin/sh\ntouch ran\n")
        (t.world.folder / "engine").chmod(0o755)
        status, output, errors, _ = t.sandbox(["echo", "ran"], *options)
        same((125, ""), (status, output), f"{options}: {errors}")
        assert words in errors and "hint: " in errors, f"{options}: {errors}"
    assert not (t.world.folder / "ran").exists()
    status, output, errors, _ = t.sandbox(["echo", "ran"], "--set", "sandbox.network.engine_path=/usr/bin/false")
    same((125, ""), (status, output), errors)
    assert f"{t.engine} does not start" in errors, errors
    project = t.world.folder / ".bawn"
    project.mkdir(exist_ok=True)
    (project / "policy.yaml").write_text(f"sandbox: {{network: {{engine: {t.engine}, engine_path: /usr/bin/false}}}}\n")
    status, output, errors, _ = t.world.run([t.world.bawn, "policy", "show"])
    assert "engine" not in output and "only the user and the org" in output + errors, output + errors
    (project / "policy.yaml").unlink()
    status, output, errors, _ = t.world.run([t.world.bawn, "plan", "--isolated", *t.set])
    assert "[namespace, firewall] network isolated (public IPv4 addresses, by the engine" in output, output


@case("IPv6 is planned and answered as it is, and refused where it would be another's")
def told_v6(t):
    status, output, errors, _ = t.world.run([t.world.bawn, "plan", "--isolated", *t.set, *WITH_V6])
    assert "[namespace, firewall] network isolated (public addresses, IPv6 too, by the engine" in output, output + errors
    assert "[namespace, firewall] sandbox.network.ipv6: true" in output, output
    for address, options, want in ((V6, WITH_V6, 0), (V6, (), 1), ("fd00::5", WITH_V6, 1), ("64:ff9b::1", WITH_V6, 1)):
        status, output, errors, _ = t.world.run([t.world.bawn, "check", "--isolated", *t.set, *options, "connect",
                                                 f"[{address}]:443"])
        same(want, status, f"{address}: {output}{errors}")
    status, output, errors, _ = t.sandbox(["echo", "ran"], "--allow-host", "2001:db8::10", *WITH_V6)
    same((0, "ran\n"), (status, output), errors)
    for value in ("true", "false"):
        for mode, why in (("isolated", "bawn-net reaches IPv6 hosts"), ("proxy", "bawn-net reaches IPv6 hosts"),
                          ("host", "what the host has")):
            words = ["--net", mode, "--set", f"sandbox.network.ipv6={value}", "--", "echo", "ran"]
            status, output, errors, _ = t.world.run([t.world.bawn, "run", "-q", "--isolated", *words])
            same((125, ""), (status, output), f"{mode}: {errors}")
            assert "sandbox.network.ipv6: only the mode veth, and" in errors and why in errors, errors
    words = ["--net", "none", "--set", f"sandbox.network.engine={t.engine}", *WITH_V6, "--", "echo", "ran"]
    status, output, errors, _ = t.world.run([t.world.bawn, "run", "-q", "--isolated", *words])
    same((0, "ran\n"), (status, output), errors)


# A network whose host has no IPv6, and a user who may have made it.
WITHOUT_V6 = """
ip link set lo up
ip link add way0 type veth peer name way1
for name in way0 way1; do ip link set $name up; done
ip addr add 192.0.2.5/30 dev way0
ip route add default via 192.0.2.6
exec setpriv --ambient-caps=-all --inh-caps=-all -- "$@"
"""


@case("where the host has no IPv6, pasta does not start with it, which is said; slirp4netns leads nowhere")
def host_without_v6(t):
    own = ["unshare", "--user", "--map-current-user", "--keep-caps", "--net", "sh", "-c", WITHOUT_V6, "sh"]
    words = t.words(["curl", "-sS", "-m", "5", f"http://[{V6}]/here"], *WITH_V6)
    status, output, errors, _ = t.world.run([*own, *words])
    if t.engine == "pasta":
        same((125, ""), (status, output), errors)
        assert "pasta gives the sandbox no IPv6" in errors and "hint: sandbox.network.ipv6: false" in errors, errors
        status, output, errors, _ = t.world.run([*own, *t.words(["echo", "ran"])])
        works((status, output) == (0, "ran\n"), errors)
    else:
        assert status in (7, 28), f"{status} {output} {errors}"
    t.is_gone()


def has_tun():
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("cases", nargs="*", help="beginnings or parts of titles; all without")
    options = parser.parse_args()
    tap, world = Tap(), World(options.bawn)
    for engine in ENGINES:
        for title, function in CASES:
            title = f"{engine}: {title}"
            if options.cases and not any(word in title for word in options.cases):
                continue
            if not (FOLDER / engine).exists():
                tap.skip(title, f"{engine} is not installed")
            elif not has_tun():
                tap.skip(title, "/dev/net/tun cannot be opened")
            else:
                tap.attempt(title, function, Trial(world, engine))
    return tap.end()


sys.exit(main())
