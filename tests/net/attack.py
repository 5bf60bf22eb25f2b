#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""attack.py: reads attempts from standard input, a JSON list, tries them inside and prints what came of each,
a JSON list too. An attempt is {"do": FUNCTION, ARGUMENT: ...}; bytes are text, one character each."""
import errno
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time

PROXY = ("127.0.0.1", 800)
SECONDS = 20
ANSWER_BYTES = 1 << 20
MSG_FASTOPEN, TCP_FASTOPEN_CONNECT = 0x20000000, 30
TYPES = {"A": 1, "NS": 2, "CNAME": 5, "NULL": 10, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33,
         "SVCB": 64, "HTTPS": 65, "AXFR": 252, "ANY": 255}


def to_bytes(text):
    return text.encode("latin-1")


def resolver():
    with open("/etc/resolv.conf", encoding="utf-8") as lines:
        return next(line.split()[1] for line in lines if line.startswith("nameserver"))


def read_all(sock, seconds=SECONDS, stop=None):
    """Until the end, the time's end, or a text: {"data", "end"}."""
    data, until = b"", time.monotonic() + seconds
    try:
        while len(data) < ANSWER_BYTES:
            sock.settimeout(max(0.01, until - time.monotonic()))
            more = sock.recv(65536)
            if not more:
                return {"data": data.decode("latin-1"), "end": "eof"}
            data += more
            if stop and to_bytes(stop) in data:
                return {"data": data.decode("latin-1"), "end": "stop"}
        return {"data": data.decode("latin-1"), "end": "full"}
    except TimeoutError:
        return {"data": data.decode("latin-1"), "end": "timeout"}
    except OSError as error:
        return {"data": data.decode("latin-1"), "end": errno.errorcode.get(error.errno, str(error))}


def send_parts(sock, send, pause=0.0):
    for part in [send] if isinstance(send, str) else send:
        try:
            sock.sendall(to_bytes(part))
        except OSError:
            return  # what it answered tells why
        time.sleep(pause)


def talk(to=PROXY, send="", pause=0.0, seconds=SECONDS, stop=None, shut=False):
    """Connects, says all parts, and reads."""
    with socket.create_connection(tuple(to), SECONDS) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send_parts(sock, send, pause)
        if shut:
            sock.shutdown(socket.SHUT_WR)
        return read_all(sock, seconds, stop)


def tunnel(host, port, send="", seconds=SECONDS, stop=None, pause=0.0):
    """CONNECT, and then something in the tunnel."""
    with socket.create_connection(PROXY, SECONDS) as sock:
        sock.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode("latin-1"))
        head = read_all(sock, SECONDS, "\r\n\r\n")
        if not head["data"].startswith("HTTP/1.1 200"):
            return {"connect": head["data"][:12], **head}
        send_parts(sock, send, pause)
        return {"connect": "HTTP/1.1 200", **read_all(sock, seconds, stop)}


def socks5(host, port, command=1, kind=3, send="", stop=None):
    """The reply's code; 3 is a name, 1 and 4 are addresses."""
    with socket.create_connection(PROXY, SECONDS) as sock:
        sock.settimeout(SECONDS)
        sock.sendall(b"\5\1\0")
        if sock.recv(2) != b"\5\0":
            return {"reply": "method"}
        name = to_bytes(host)
        if kind == 3:
            name = bytes([len(name)]) + name
        sock.sendall(bytes([5, command, 0, kind]) + name + struct.pack("!H", port))
        answer = sock.recv(4096)
        code = answer[1] if len(answer) > 1 else None
        if code == 0 and send:
            send_parts(sock, send)
            return {"reply": code, **read_all(sock, SECONDS, stop)}
        return {"reply": code}


def socks4(host, port, send="", stop=None):
    """4a: the name stands behind an address that is none."""
    with socket.create_connection(PROXY, SECONDS) as sock:
        sock.settimeout(SECONDS)
        sock.sendall(b"\4\1" + struct.pack("!H", port) + b"\0\0\0\1user\0" + to_bytes(host) + b"\0")
        answer = sock.recv(4096)
        code = answer[1] if len(answer) > 1 else None
        if code == 90 and send:
            send_parts(sock, send)
            return {"reply": code, **read_all(sock, SECONDS, stop)}
        return {"reply": code}


def handshake(sock, sni, verify="ca.pem", path="/here", host=None):
    context = ssl.create_default_context(cafile=verify)
    context.check_hostname = sni is not None
    with context.wrap_socket(sock, server_hostname=sni) as secure:
        secure.settimeout(SECONDS)
        secure.sendall(f"GET {path} HTTP/1.1\r\nHost: {host or sni}\r\nConnection: close\r\n\r\n".encode())
        return read_all(secure)


def tls(to, sni, way="transparent", host=None):
    """TLS to an address or a name, by itself or in a tunnel, with any SNI."""
    if way == "transparent":
        sock = socket.create_connection(tuple(to), SECONDS)
    else:
        sock = socket.create_connection(PROXY, SECONDS)
        sock.sendall(f"CONNECT {to[0]}:{to[1]} HTTP/1.1\r\nHost: {to[0]}:{to[1]}\r\n\r\n".encode())
        head = read_all(sock, SECONDS, "\r\n\r\n")
        if not head["data"].startswith("HTTP/1.1 200"):
            return {"connect": head["data"][:12], **head}
    with sock:
        return handshake(sock, sni, host=host)


def lookup(name, family=0):
    begun = time.monotonic()
    try:
        found = socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM)
        return {"addresses": [one[4][0] for one in found], "seconds": time.monotonic() - begun}
    except socket.gaierror as error:
        return {"gai": error.errno, "seconds": time.monotonic() - begun}


def question(name, kind, number=0x1234, flags=0x100):
    labels = b"".join(bytes([len(label)]) + to_bytes(label) for label in name.split(".") if label)
    return struct.pack("!HHHHHH", number, flags, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", TYPES[kind], 1)


def dns(name=None, kind="A", to=None, send=None, over="udp", seconds=3):
    """A question as it goes over the wire, or any bytes: {"code", "count"} of the answer, or its end."""
    query = to_bytes(send) if send is not None else question(name, kind)
    to = (to or resolver(), 53)
    family = socket.AF_INET6 if ":" in to[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if over == "udp" else socket.SOCK_STREAM) as sock:
        sock.settimeout(seconds)
        try:
            sock.connect(to)
            sock.sendall(query if over == "udp" else struct.pack("!H", len(query)) + query)
            answer = sock.recv(65536)
            if over == "tcp":
                answer = answer[2:] or sock.recv(65536)
        except TimeoutError:
            return {"end": "timeout"}
    if len(answer) < 12:
        return {"end": "short"}
    return {"code": answer[3] & 15, "count": struct.unpack_from("!H", answer, 6)[0], "same_id": answer[:2] == query[:2]}


def udp(to, send="lab", seconds=2):
    """Whether anything comes back, and which error."""
    with socket.socket(socket.AF_INET6 if ":" in to[0] else socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(seconds)
        sock.connect(tuple(to))
        sock.send(to_bytes(send))
        try:
            return {"data": sock.recv(65536).decode("latin-1")}
        except TimeoutError:
            return {"end": "timeout"}


def datagram(to, size=100, is_connected=True, seconds=3):
    """Three datagrams of so many bytes, one after the other: how many come back, and from where."""
    with socket.socket(socket.AF_INET6 if ":" in to[0] else socket.AF_INET, socket.SOCK_DGRAM) as sock:
        data, back, whence = os.urandom(size), 0, set()
        sock.settimeout(seconds)
        if is_connected:
            sock.connect(tuple(to))
        for _ in range(3):
            if is_connected:
                sock.send(data)
            else:
                sock.sendto(data, tuple(to))
            answer, peer = sock.recvfrom(65536)
            back += answer == data
            whence.add(tuple(peer[:2]))
    return {"back": back, "from": sorted(whence)}


def named(name, port, family, size=100, is_connected=True):
    """The same to a name, as a client finds its address."""
    to = socket.getaddrinfo(name, port, getattr(socket, family), socket.SOCK_DGRAM)[0][4][:2]
    return {"to": list(to), **datagram(to, size, is_connected)}


def flows(to, count):
    """A datagram from each of so many sockets: how many answers come."""
    back = 0
    for number in range(count):
        with socket.socket(socket.AF_INET6 if ":" in to[0] else socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(3)
            sock.connect(tuple(to))
            data = str(number).encode()
            sock.send(data)
            back += sock.recv(100) == data
    return {"back": back}


def two_targets(first, second, port):
    """One socket, two places: each answer comes from the right one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(3)
        sock.sendto(b"one", (first, port))
        sock.sendto(b"two", (second, port))
        return {"got": sorted([data.decode(), peer[0], peer[1]] for data, peer in (sock.recvfrom(100), sock.recvfrom(100)))}


def cast(to):
    """To a broadcast or multicast address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sock.settimeout(2)
        sock.sendto(b"lab", tuple(to))
        try:
            return {"data": sock.recvfrom(100)[0].decode("latin-1")}
        except TimeoutError:
            return {"end": "timeout"}


def make(family, kind, protocol):
    """Whether there can be such a socket."""
    with socket.socket(getattr(socket, family), getattr(socket, kind), protocol):
        return {"made": True}


def fast_open(to, how, send):
    """TCP Fast Open, by each call that has it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.settimeout(SECONDS)
        data = to_bytes(send)
        if how == "sendto":
            sock.sendto(data, MSG_FASTOPEN, tuple(to))
        elif how == "sendmsg":
            sock.sendmsg([data], [], MSG_FASTOPEN, tuple(to))
        else:
            sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
            sock.connect(tuple(to))
            sock.sendall(data)
        return read_all(sock, 5)


def relayed(host, port):
    """CONNECT through a relay that runs here."""
    listener = socket.create_server(("127.0.0.1", 0))

    def relay():
        near, _ = listener.accept()
        with near, socket.create_connection(PROXY, SECONDS) as far:
            far.sendall(near.recv(65536))
            near.sendall(far.recv(65536))

    threading.Thread(target=relay, daemon=True).start()
    return talk(listener.getsockname(), f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n", seconds=5)


def crowd(count, send, then, hold=0.0):
    """Many clients that say something and then nothing, while another one asks: its answer and time."""
    clients = []
    for _ in range(count):
        sock = socket.create_connection(PROXY, SECONDS)
        sock.sendall(to_bytes(send))
        clients.append(sock)
    time.sleep(hold)
    begun = time.monotonic()
    result = talk(send=then)
    result["seconds"] = time.monotonic() - begun
    result["data"] = result["data"][:200]
    for sock in clients:
        sock.close()
    return result


def listen(at, options=()):
    """Whether a program inside can listen there, and is then reached; options are of the socket, each 1."""
    with socket.socket(socket.AF_INET6 if ":" in at[0] else socket.AF_INET) as sock:
        for option in options:
            sock.setsockopt(socket.SOL_SOCKET, option, 1)
        sock.bind(tuple(at))
        sock.listen()
        with socket.create_connection(sock.getsockname()[:2], SECONDS) as client:
            peer, _ = sock.accept()
            with peer:
                peer.sendall(b"mine")
            return read_all(client)


def sleep(seconds):
    time.sleep(seconds)
    return {}


def main():
    results = []
    for attempt in json.load(sys.stdin):
        begun = time.monotonic()
        try:
            result = globals()[attempt.pop("do")](**attempt)
        except socket.gaierror as error:
            result = {"gai": error.errno}
        except (ssl.SSLError, TimeoutError) as error:
            result = {"end": type(error).__name__, "why": str(error)}
        except OSError as error:
            result = {"errno": errno.errorcode.get(error.errno, str(error))}
        result.setdefault("took", round(time.monotonic() - begun, 2))
        results.append(result)
    json.dump(results, sys.stdout)
    sys.stdout.flush()
    os._exit(0)


main()
