# SPDX-License-Identifier: Apache-2.0
"""Starts bawn-net as the launcher would, in a network namespace of the test's own."""
import base64
import ctypes
import fcntl
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

PORT = 800
BARRED, REACHED, ASKED, GIVEN_UP = 7, 8, 12, 13
RESOLV, WHO, VERDICT = 0, 2, 4
ONCE, SESSION = 0, 1
BY_CLIENT, BY_TIME, BY_NOBODY = 1, 2, 3
QUESTION = struct.Struct("=2IQ4H16s16s")
ANSWER = struct.Struct("=IiQQ16s1024s")
CLIENT = (4711, b"tester", b"/usr/bin/tester")  # who every client is, as the launcher would tell it
EVENT_HEAD = struct.Struct("=4I2i2I2Q2IQ")


def enter_namespace():
    """Once more, in namespaces of our own: no packet leaves them."""
    if os.environ.get("BAWN_TEST_NETNS") == "1":
        lo_up()
        return
    os.environ["BAWN_TEST_NETNS"] = "1"
    words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    os.execvp(words[0], words + [sys.executable] + sys.argv)


def lo_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(sock, 0x8914, request)
    for family in (socket.AF_INET, socket.AF_INET6):
        add_local_route(family)


def add_local_route(family):
    """local default dev lo: every address is here."""
    route = struct.pack("=8BI", family, 0, 0, 0, 254, 2, 254 if family == socket.AF_INET else 0, 2, 0)
    source = socket.inet_pton(family, "127.0.0.1" if family == socket.AF_INET else "::1")
    # By loopback, and from there: what is its own source is this machine's own.
    attributes = struct.pack("=HHi", 8, 4, 1) + struct.pack("=HH", 4 + len(source), 7) + source
    size = 16 + len(route) + len(attributes)
    message = struct.pack("=IHHII", size, 24, 0x1 | 0x4 | 0x400 | 0x200, 1, 0) + route + attributes
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.sendto(message, (0, 0))
        answer = sock.recv(4096)
        error = -struct.unpack("=i", answer[16:20])[0]
        if error:
            raise OSError(error, "route: " + os.strerror(error))


class Event:
    def __init__(self, data):
        head = EVENT_HEAD.unpack(data[:EVENT_HEAD.size])
        texts = data[EVENT_HEAD.size:].split(b"\0")
        self.what, self.verdict, self.pid, self.times = head[1], head[3], head[4], head[6]
        self.sent, self.received = head[8], head[9]
        self.number = head[12]
        self.way, self.host, self.rule = (text.decode() for text in texts[1:4])
        self.message, self.hint = (text.decode() for text in texts[5:7])
        self.comm, self.exe = texts[0].decode(), texts[7].decode()
        self.op, self.grant, self.grant_tree = (text.decode() for text in texts[9:12])


def steer():
    """What is for nobody here goes to bawn-net, as the set-up of a sandbox does it."""
    ruleset = f"""table inet steer {{
    chain steered {{
        type filter hook prerouting priority mangle; policy accept;
        ip daddr 127.0.0.0/8 return
        ip6 daddr ::1 return
        meta nfproto ipv4 meta l4proto tcp tproxy ip to 127.0.0.1:{PORT}
        meta nfproto ipv6 meta l4proto tcp tproxy ip6 to [::1]:{PORT}
    }}
}}
"""
    subprocess.run(["nft", "-f", "-"], input=ruleset.encode(), check=True)


def unsteer():
    subprocess.run(["nft", "delete", "table", "inet", "steer"], check=True)


def listener(address, port, family=socket.AF_INET):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    if port == PORT:
        level, option = (socket.IPPROTO_IP, 19) if family == socket.AF_INET else (socket.IPPROTO_IPV6, 75)
        sock.setsockopt(level, option, 1)
    sock.bind((address, port))
    sock.listen(4096)
    sock.setblocking(False)
    return sock


def program(build, name):
    """A program of the tests: in the build directory, or where all are together."""
    path = f"{build}/tests/{name}"
    return path if os.path.exists(path) else f"{build}/{name}"


class Net:
    """One bawn-net. words: as net_image takes them."""

    def __init__(self, build, words, mode="proxy", listeners=None, resolv="", wrapper=()):
        image = subprocess.run([program(build, "net_image"), mode, *words], check=True, stdout=subprocess.PIPE).stdout
        memory = os.memfd_create("image")
        os.write(memory, image)
        self.control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel, channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listeners = listeners or [listener("127.0.0.1", PORT), listener("::1", PORT, socket.AF_INET6)]
        fds = [memory, control.fileno(), *[sock.fileno() for sock in self.listeners], channel.fileno()]
        self.process = subprocess.Popen([*wrapper, f"{build}/bawn-net", str(len(self.listeners)), "0", "0"],
                                        preexec_fn=lambda: take_fds(fds), close_fds=False)
        for fd in (control, channel, *self.listeners):
            fd.close()
        os.close(memory)
        self.control.send(struct.pack("=I", RESOLV) + resolv.encode())
        self.pid = self.process.pid
        self.programs = 0  # which ones every client is
        self.questions, self.answers = [], True
        self.unknown = False  # nobody has the client's end
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        """As the launcher does, who knows all clients."""
        while True:
            try:
                said = self.control.recv(65536)
            except OSError:
                return
            if not said:
                return
            if len(said) == QUESTION.size and struct.unpack_from("=I", said)[0] == WHO:
                question = QUESTION.unpack(said)
                self.questions.append(question)
                if not self.answers:
                    continue
                pid, comm, exe = (0, b"", b"") if self.unknown else CLIENT
                self.control.send(ANSWER.pack(WHO, pid, question[2], self.programs if question[1] else 0, comm, exe))

    def events(self, seconds=0.0):
        """All that come until so long nothing has come."""
        found = []
        self.channel.settimeout(seconds or 0.01)
        while True:
            try:
                found.append(Event(self.channel.recv(65536)))
            except (TimeoutError, BlockingIOError):
                return found

    def asked(self, count=1, seconds=3.0):
        """Questions for people, when so many have come."""
        found = []
        until(lambda: found.extend(event for event in self.events(0.01) if event.what == ASKED) or len(found) >= count,
              seconds)
        if len(found) != count:
            raise AssertionError(f"{count} were to be asked: {[event.host for event in found]}")
        return found

    def settle(self, question, is_allowed, scope=ONCE, by=BY_CLIENT):
        """As the launcher does, when somebody has answered."""
        self.control.send(struct.pack("=2IQ2I", VERDICT, scope, question.number, is_allowed, by))

    def fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def memory_kb(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def cpu_ms(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.control.shutdown(socket.SHUT_RDWR)
        self.control.close()
        result = self.process.wait(10)
        self.channel.close()
        if result != 0:
            raise AssertionError(f"bawn-net ended with {result}")


def take_fds(fds):
    """They become 0, 1... as wire/net.h says; all others are closed."""
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 200) for fd in fds]
    for number, fd in enumerate(high):
        os.dup2(fd, number)
    os.closerange(len(fds), 4096)
    ctypes.CDLL(None).prctl(1, 9)


class Server:
    """Accepts at an address; serve(sock) has a thread for each connection."""

    def __init__(self, address, port, serve, family=socket.AF_INET):
        self.sock = listener(address, port, family)
        self.sock.setblocking(True)
        self.serve = serve
        self.count = 0
        self.said = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                sock, _ = self.sock.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self.one, args=(sock,), daemon=True).start()

    def one(self, sock):
        try:
            self.serve(self, sock)
        except OSError:
            pass
        finally:
            sock.close()

    def close(self):
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


def pump(source, target):
    """All that comes, and its end."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def forwarding(servers, login=None):
    """A proxy outside that knows CONNECT: HOST:PORT to the address and port of a server. What it hears is in said.
    login: USER:PASSWORD that it wants."""
    wanted = b"Proxy-Authorization: Basic " + base64.b64encode((login or "").encode()) + b"\r\n"

    def serve(server, sock):
        head = read_head(sock)
        server.said.append(head)
        target = servers.get(head.split(b" ")[1].decode())
        if login and wanted not in head:
            sock.sendall(b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n")
            return
        if not head.startswith(b"CONNECT ") or target is None:
            sock.sendall(b"HTTP/1.1 403 Not here\r\nContent-Length: 5\r\n\r\nnever")
            return
        with socket.create_connection(target) as far:
            sock.sendall(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
            threading.Thread(target=pump, args=(far, sock), daemon=True).start()
            pump(sock, far)
            time.sleep(0.2)
    return serve


def connect(address="127.0.0.1", port=PORT, timeout=30.0):
    sock = socket.create_connection((address, port), timeout=timeout)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def read_all(sock, limit=1 << 30):
    """Until the end. The text "reset" for a reset."""
    data = bytearray()
    try:
        while len(data) < limit:
            part = sock.recv(65536)
            if not part:
                break
            data += part
    except ConnectionResetError:
        return bytes(data) + b"<reset>"
    return bytes(data)


def read_exactly(sock, size):
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            break
        data += part
    return data


def read_head(sock):
    """Up to the empty line and no further."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        part = sock.recv(65536, socket.MSG_PEEK)
        if not part:
            break
        end = (data + part).find(b"\r\n\r\n")
        data += sock.recv(end + 4 - len(data) if end >= 0 else len(part))
    return data


def ask(text, port=PORT, address="127.0.0.1"):
    """What a proxy answers to these bytes."""
    with connect(address, port) as sock:
        sock.sendall(text if isinstance(text, bytes) else text.encode())
        return read_all(sock)


def status_of(answer):
    words = answer.split(b" ", 2)
    return int(words[1]) if len(words) > 1 and answer.startswith(b"HTTP/1.") else answer


def tunnel(host, port):
    """CONNECT; the socket, and the status."""
    sock = connect()
    sock.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    head = read_head(sock)
    return sock, status_of(head)


def socks5(host, port, name_bytes=None):
    """The socket, and the number that SOCKS 5 answers."""
    sock = connect()
    name = host.encode() if name_bytes is None else name_bytes
    sock.sendall(b"\5\1\0")
    assert read_exactly(sock, 2) == b"\5\0"
    sock.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + struct.pack("!H", port))
    answer = read_exactly(sock, 10)
    return sock, answer[1] if len(answer) == 10 else None


def socks4a(host, port):
    sock = connect()
    sock.sendall(b"\4\1" + struct.pack("!H", port) + b"\0\0\0\1me\0" + host.encode() + b"\0")
    answer = read_exactly(sock, 8)
    return sock, answer[1] if len(answer) == 8 else None


def hello(name, ech=False):
    """The first message of a TLS client."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    data = outgoing.read()
    return add_extension(data, 0xFE0D, b"\0" * 40) if ech else data


def add_extension(record, kind, content):
    body = bytearray(record[9:])
    at = 34
    at += 1 + body[at]
    at += 2 + struct.unpack_from("!H", body, at)[0]
    at += 1 + body[at]
    length = struct.unpack_from("!H", body, at)[0]
    extension = struct.pack("!HH", kind, len(content)) + content
    struct.pack_into("!H", body, at, length + len(extension))
    body += extension
    message = b"\1" + len(body).to_bytes(3, "big") + bytes(body)
    return record[:3] + struct.pack("!H", len(message)) + message


def until(test, seconds=5.0):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
