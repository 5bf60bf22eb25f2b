#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host with firewall rules, and a neighbour, in network namespaces of their own.

gen_net.py COMMAND...: as root of a network namespace. Loopback is up; a neighbour, 192.0.2.2 and 2001:db8::2, has
servers, and so has loopback. Then COMMAND runs. It asks with

gen_net.py try UID [TARGET]...: what a process of that user gets at tcp:HOST:PORT, udp:HOST:PORT or icmp:HOST,
a line each: the name of the server that answered, 'refused', or 'silent' for one that took its time.

gen_net.py serve UID PORT: a server of that user on loopback, asked by the caller."""
import contextlib
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time

HERE = ("192.0.2.1", "2001:db8::1")
NEIGHBOUR = ("192.0.2.2", "2001:db8::2")
LOOPBACK_TCP = (53, 3128, 3129, 5300, 8080, 9090)
LOOPBACK_UDP = (53, 5300, 9090)
SLOW_S = 0.5
SO_ORIGINAL_DST = 80
ICMP_ECHO = struct.pack("!BBHHH", 8, 0, 0, 0, 1)


def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def listen(kind, host, port):
    sock = socket.socket(family_of(host), kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind((host, port))
    if kind == socket.SOCK_STREAM:
        sock.listen(64)
    return sock


def meant(conn):
    """Where the client of a redirected connection wanted to go; "" if it came as it was sent."""
    try:
        if conn.family == socket.AF_INET:
            port, host = struct.unpack("!2xH4s8x", conn.getsockopt(socket.SOL_IP, SO_ORIGINAL_DST, 16))
        else:
            port, host = struct.unpack("!2xH4x16s4x", conn.getsockopt(socket.IPPROTO_IPV6, SO_ORIGINAL_DST, 28))
    except OSError:
        return ""
    host = socket.inet_ntop(conn.family, host)
    return "" if (host, port) == conn.getsockname()[:2] else f" for {host}:{port}"


def answer(sock, name):
    if sock.type == socket.SOCK_STREAM:
        conn, _ = sock.accept()
        with conn, contextlib.suppress(OSError):
            conn.sendall(f"{name}:{sock.getsockname()[1]}{meant(conn)}\n".encode())
    else:
        _, client = sock.recvfrom(64)
        with contextlib.suppress(OSError):
            sock.sendto(f"{name}:{sock.getsockname()[1]}\n".encode(), client)


def serve(name, socks):
    with selectors.DefaultSelector() as selector:
        for sock in socks:
            selector.register(sock, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                answer(key.fileobj, name)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def addresses(device, hosts):
    ip("addr", "add", f"{hosts[0]}/24", "dev", device)
    ip("-6", "addr", "add", f"{hosts[1]}/64", "dev", device, "nodad")
    ip("link", "set", device, "up")


def neighbour():
    """In a namespace of its own: says so, waits for its end of the cable, and serves."""
    print(flush=True)
    sys.stdin.readline()
    addresses("cable1", NEIGHBOUR)
    socks = [listen(kind, host, port) for host in ("0.0.0.0", "::")
             for kind, port in ((socket.SOCK_STREAM, 80), (socket.SOCK_STREAM, 53), (socket.SOCK_DGRAM, 53))]
    print(flush=True)
    serve("neighbour", socks)


def loopback():
    socks = [listen(socket.SOCK_STREAM, host, port) for host in ("0.0.0.0", "::") for port in LOOPBACK_TCP]
    # One for each address: it answers from where it was asked.
    socks += [listen(socket.SOCK_DGRAM, host, port) for host in ("127.0.0.1", "127.0.0.53", "::1") for port in LOOPBACK_UDP]
    print(flush=True)
    serve("loopback", socks)


@contextlib.contextmanager
def helper(*words):
    with subprocess.Popen([*words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def run(command):
    me = [sys.executable, os.path.abspath(__file__)]
    ip("link", "set", "lo", "up")
    with open("/proc/sys/net/ipv4/ping_group_range", "w", encoding="ascii") as file:
        file.write("0 60000")
    with helper("unshare", "--net", *me, "neighbour") as other, helper(*me, "loopback"):
        ip("link", "add", "cable0", "type", "veth", "peer", "name", "cable1")
        ip("link", "set", "cable1", "netns", str(other.pid))
        addresses("cable0", HERE)
        ip("route", "add", "default", "via", NEIGHBOUR[0])
        ip("-6", "route", "add", "default", "via", NEIGHBOUR[1])
        other.stdin.write("\n")
        other.stdin.flush()
        other.stdout.readline()
        return subprocess.run(command, check=False).returncode


def ask(target):
    kind, rest = target.split(":", 1)
    if kind == "icmp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as sock:
            sock.settimeout(2)
            sock.sendto(ICMP_ECHO, (rest, 0))
            return f"echo of {sock.recvfrom(64)[1][0]}"
    host, port = rest.rsplit(":", 1)
    with socket.socket(family_of(host), socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        sock.connect((host, int(port)))
        if kind == "udp":
            sock.send(b"?")
        return sock.recv(128).decode().strip()


def outcome(target):
    start = time.monotonic()
    try:
        said = ask(target)
    except TimeoutError:
        return "silent"
    except (ConnectionRefusedError, ConnectionResetError, PermissionError) as error:
        said = "refused"
        if target.startswith("tcp") and isinstance(error, PermissionError):
            said = str(error)
    return said if time.monotonic() - start < SLOW_S else f"{said}, late"


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def attempt(uid, targets):
    become(uid)
    for target in targets:
        print(f"{target} {outcome(target)}")


def serve_once(uid, port):
    pid = os.fork()
    if pid == 0:
        become(uid)
        serve("user", [listen(socket.SOCK_STREAM, host, port) for host in ("127.0.0.1", "::1")])
    for host in ("127.0.0.1", "::1"):
        said = "refused"
        for _ in range(100):
            said = outcome(f"tcp:{host}:{port}")
            if said != "refused":
                break
            time.sleep(0.02)
        print(said)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def main():
    words = sys.argv[1:]
    if words[0] == "neighbour":
        neighbour()
    elif words[0] == "loopback":
        loopback()
    elif words[0] == "try":
        attempt(int(words[1]), words[2:])
    elif words[0] == "serve":
        serve_once(int(words[1]), int(words[2]))
    else:
        sys.exit(run(words))


if __name__ == "__main__":
    main()
