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
from world import HERE, Broken, Tap, World, cases_of, same, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
CASES = []
case = cases_of(CASES)
ENGINES = ("slirp4netns", "pasta")
FOLDER = Path(os.environ.get("LAB_ENGINES", "/usr/bin"))
WEB, V4, V6, OWN = "web.example", "203.0.113.10", "2001:db8::10", "198.51.100.99"
SPECIAL = ["10.0.0.5", "192.168.1.5", "172.16.0.5", "100.64.0.5", "169.254.169.254", "0.0.0.5", "192.0.0.5", "198.18.0.9",
           "224.0.0.5", "240.0.0.1", "10.0.2.1", "10.0.2.2", "10.0.2.3", "10.0.2.77", "127.0.0.1", OWN]
SECONDS = 20
# Connects or sends, also by naming the interface, and says what came of it.
TRY = r"""
import errno, json, socket, sys
results = []
for way, address, port, device in json.loads(sys.argv[1]):
    end = "connected"
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if way == "udp" else socket.SOCK_STREAM) as sock:
        sock.settimeout(4)
        try:
            if device:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            sock.connect((address, port))
            if way == "udp":
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

    def tries(self, attempts, *options):
        status, output, errors, _ = self.sandbox(["/usr/bin/python3", "-c", TRY, json.dumps(attempts)], *options,
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
    results = t.tries([["tcp", V4, 443, ""], ["udp", V4, 7, ""], ["tcp", V4, 80, "tap0"]])
    same(["connected", "answered", "connected"], [row[2] for row in results], "ways out")
    status, output, errors, _ = t.sandbox(["sh", "-c", "env | grep -ci proxy=; cat /etc/resolv.conf"])
    assert output.startswith("0\n") and "198.18.0.1" in output, output + errors
    t.is_gone()


@case("nothing that is not public is reached, nor this machine, also by who names the interface")
def special(t):
    start = t.world.witness.settle()
    targets = [[way, address, 80, device] for address in (*SPECIAL, V6, "fd00::5") for way in ("tcp", "udp")
               for device in ("", "tap0") if not (address == "127.0.0.1" and way == "udp" and not device)]
    for address, port, end in t.tries(targets):
        assert end not in ("connected", "answered"), f"{address}:{port}: {end}"
    same([], t.world.witness.since(start), "what the lab saw")


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
    words = ["sh", "-c", f"echo ready; read -r _; curl -sS -m 5 http://{V4}/here; echo $?"]
    process = subprocess.Popen(t.words(words), cwd=t.world.folder, env=t.world.env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    works(process.stdout.readline() == b"ready\n", "no command")
    for pid in processes(t.engine):
        os.kill(pid, signal.SIGKILL)
    t.is_gone(2)
    start = t.world.witness.settle()
    output, errors = process.communicate(b"\n", SECONDS)
    same((b"7\n", 0), (output, process.returncode), errors)
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
