# SPDX-License-Identifier: Apache-2.0
"""The hosts of a case: a server on every address of its network, and one for names. Each name has an address
of its own, and the log tells which row was served."""
import ipaddress
import re
import selectors
import socket
import struct
import threading

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nreached"
FIRST = "20.0.0.0"  # no rule of a table names what is here


def words_of(target):
    """(host as rules compare it, port)"""
    host, port = target.rsplit(":", 1)
    return host.strip("[]").lower().rstrip("."), int(port)


class Hosts:
    """Serves in a thread of its own, which ends with the process."""

    def __init__(self):
        self.names, self.ports, self.served, self.calls = {}, set(), {}, set()
        self.lock = threading.Lock()
        self.selector = selectors.DefaultSelector()
        names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        names.bind(("127.0.0.1", 53))
        self.selector.register(names, selectors.EVENT_READ, self.answer)
        threading.Thread(target=self.loop, daemon=True).start()

    def listen(self, port):
        if port in self.ports:
            return
        self.ports.add(port)
        server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
        self.selector.register(server, selectors.EVENT_READ, self.accept)

    def loop(self):
        while True:
            for key, _ in self.selector.select(1):
                key.data(key.fileobj)

    def address(self, name):
        with self.lock:
            return self.names.setdefault(name, str(ipaddress.ip_address(FIRST) + 1 + len(self.names)))

    def answer(self, sock):
        """Every name has one address of IPv4, and nothing else."""
        query, peer = sock.recvfrom(2048)
        at, labels = 12, []
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1").lower())
            at += 1 + query[at]
        end = at + 5
        is_address = struct.unpack_from("!H", query, at + 1)[0] == 1
        reply = query[:2] + struct.pack("!HHHHH", 0x8180, 1, int(is_address), 0, 0) + query[12:end]
        if is_address:
            reply += struct.pack("!HHHIH", 0xc00c, 1, 1, 60, 4) + socket.inet_aton(self.address(".".join(labels)))
        sock.sendto(reply, peer)

    def accept(self, server):
        self.selector.register(server.accept()[0], selectors.EVENT_READ, self.serve)

    def serve(self, connection):
        self.selector.unregister(connection)
        address, port = connection.getsockname()[:2]
        try:
            row, way = re.match(rb"GET /(\d+)/(\w+) ", connection.recv(4096)).groups()
            with self.lock:
                self.served.setdefault(int(row), set()).add(way.decode())
            connection.sendall(REPLY)
        except (AttributeError, OSError):
            with self.lock:
                self.calls.add((str(ipaddress.ip_address(address.removeprefix("::ffff:"))), port))
        connection.close()

    def seen(self, row):
        """The ways by which a row was served."""
        with self.lock:
            return set(self.served.get(row, ()))

    def place(self, target):
        """Where who calls for a target ends, unless the policy pins its name."""
        host, port = words_of(target)
        try:
            address = ipaddress.ip_address(host)
            return str(getattr(address, "ipv4_mapped", None) or address), port
        except ValueError:
            return self.address(host), port

    def called(self, target):
        """Whether somebody called there, and did not say what a row says."""
        with self.lock:
            calls = set(self.calls)
        return self.place(target) in calls
