#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bawn-net alone, without a sandbox: clients, servers and the program in a network namespace of the test's own.

    tests/net/run.py [--build DIR] [--sanitized] [CASE...]

DIR has bawn-net and net_image. Every case has a bawn-net of its own. The witness is the server: what it has seen."""
import argparse
import ctypes
import fcntl
import hashlib
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

from harness import (BARRED, PORT, REACHED, Net, Server, ask, connect, enter_namespace, forwarding, hello, listener,
                     read_all, read_exactly, read_head, socks4a, socks5, status_of, steer, tunnel, unsteer, until)

BUILD = "build"
SANITIZED = False
CHURN = 0
CASES = []
RULES = ["allow=good.test", "pin=good.test=127.0.0.2", "opaque=raw.test", "pin=raw.test=127.0.0.2",
         "ech=ech.test", "pin=ech.test=127.0.0.2", "allow=127.0.0.3", "deny=bad.test", "ask=ask.test",
         "pin=bad.test=127.0.0.2", "pin=other.test=127.0.0.2"]


def case(function):
    CASES.append(function)
    return function


def equal(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, not {wanted!r}"[:600])


def holds(value, what):
    if not value:
        raise AssertionError(what)


def start(words=None, **more):
    return Net(BUILD, RULES if words is None else words, **more)


def echo(server, sock):
    while data := sock.recv(65536):
        server.said.append(data)
        sock.sendall(data)


def web(server, sock):
    """Answers each request that comes on the connection, as a server does that knows keep-alive."""
    data = b""
    while part := sock.recv(65536):
        data += part
        server.said.append(part)
        while b"\r\n\r\n" in data:
            head, data = data.split(b"\r\n\r\n", 1)
            close = b"connection: close" in head.lower()
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" +
                         (b"Connection: close\r\n" if close else b"") + b"\r\nhello")
            if close:
                return


def saying(answer):
    def serve(server, sock):
        server.said.append(read_head(sock))
        sock.sendall(answer)
    return serve


def get(host, more="", method="GET", path="/"):
    """A request, the last on its connection."""
    return f"{method} http://{host}{path} HTTP/1.1\r\nHost: {host}\r\nProxy-Connection: close\r\n{more}\r\n"


@case
def it_is_confined_before_it_hears_anybody():
    net = start()
    connect().close()
    time.sleep(0.1)
    with open(f"/proc/{net.pid}/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    equal(status["NoNewPrivs"], "1", "no_new_privs")
    equal(int(status["CapEff"], 16), 0, "capabilities")
    if not SANITIZED:
        equal(status["Seccomp"], "2", "filter")
    net.stop()


@case
def a_request_goes_on_in_a_form_of_its_own():
    server = Server("127.0.0.2", 80, web)
    net = start()
    answer = ask(get("good.test", "X-Own: 1\r\nProxy-Authorization: secret\r\nConnection: keep-alive, X-Hop\r\n"
                                  "X-Hop: 1\r\n", path="/a?b"))
    equal(status_of(answer), 200)
    holds(answer.endswith(b"\r\n\r\nhello") and b"Connection: close" in answer, answer)
    equal(b"".join(server.said), b"GET /a?b HTTP/1.1\r\nHost: good.test\r\nX-Own: 1\r\nConnection: close\r\n\r\n")
    events = [event for event in net.events(1.5) if event.what == REACHED]
    equal([(event.host, event.times) for event in events], [("good.test:80", 1)], "events")
    holds(events[0].received >= 5 and events[0].sent > 20, "bytes")
    net.stop()
    server.close()


@case
def a_refusal_says_what_why_and_what_would_allow_it():
    server = Server("127.0.0.2", 80, web)
    net = start()
    answer = ask(get("other.test"))
    equal(status_of(answer), 403)
    for text in (b"X-Bawn-Denied: unlisted\r\n", b"Connection: close\r\n", b"text/plain", b"other.test:80",
                 b"--allow-host", b"bawn policy save host", b"good.test"):
        holds(text in answer, (text, answer))
    holds(b"X-Bawn-Denied: deny bad.test\r\n" in ask(get("bad.test")), "denied")
    equal(server.count, 0, "dialled")
    net.stop()
    server.close()


@case
def the_same_rule_holds_on_every_way():
    servers = [Server("127.0.0.2", port, echo) for port in (80, 443)]
    net = start()
    steer()
    equal(status_of(ask(get("bad.test"))), 403, "http")
    equal(tunnel("bad.test", 443)[1], 403, "connect")
    equal(socks5("bad.test", 443)[1], 2, "socks 5")
    equal(socks4a("bad.test", 443)[1], 91, "socks 4a")
    equal(status_of(ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 80, "192.0.2.9")), 403, "direct, http")
    equal(ask(hello("bad.test"), 443, "192.0.2.9"), b"<reset>", "direct, tls")
    equal(ask(hello("bad.test"), 443, "2001:db8::9"), b"<reset>", "direct, IPv6")
    equal(ask("", 443, "192.0.2.9"), b"<reset>", "direct, nothing")
    equal([server.count for server in servers], [0, 0], "dialled")
    found = {(event.way, event.host) for event in net.events(0.2) if event.what == BARRED}
    equal(found, {("http", "bad.test:80"), ("http", "bad.test:443"), ("socks", "bad.test:443"),
                  ("connect", "192.0.2.9:80"), ("connect", "192.0.2.9:443"), ("connect", "[2001:db8::9]:443")}, "events")
    unsteer()
    net.stop()
    for server in servers:
        server.close()


@case
def the_same_refusal_is_told_once_a_second():
    net = start()
    for _ in range(50):
        equal(status_of(ask(get("bad.test"))), 403)
    events = [event for event in net.events(1.5) if event.what == BARRED]
    equal(sum(event.times for event in events), 50, "times")
    holds(len(events) <= 3, len(events))
    equal((events[0].pid, events[0].comm, events[0].exe), (4711, "tester", "/usr/bin/tester"), "who was refused")
    equal([event.pid for event in events[1:]], [0] * (len(events) - 1), "who were, of those that were counted")
    equal(len(net.questions), 1, "questions")
    net.stop()


@case
def a_client_that_nobody_knows_is_refused_all_the_same():
    net = start()
    net.answers = False
    began = time.monotonic()
    equal(status_of(ask(get("bad.test"))), 403)
    holds(0.5 < time.monotonic() - began < 3, time.monotonic() - began)
    equal([(event.pid, event.comm) for event in net.events(0.2)], [(0, "")], "who")
    sock = connect()
    sock.sendall(get("worse.test").encode())
    sock.close()  # it is not there any more when the launcher would look
    equal(status_of(ask(get("bad.test"))), 403)
    net.stop()


def tunnel_says(host, data, port=443):
    """What comes back through a tunnel after these bytes."""
    sock, status = tunnel(host, port)
    equal(status, 200, host)
    with sock:
        sock.sendall(data)
        return read_all(sock, len(data))


@case
def a_tunnel_carries_what_names_its_host():
    server = Server("127.0.0.2", 443, echo)
    net = start()
    data = hello("good.test")
    equal(tunnel_says("good.test", data), data, "agrees")
    equal(tunnel_says("ech.test", hello("ech.test", ech=True)), hello_of(server), "ech, by rule")
    equal(tunnel_says("raw.test", b"\0\1\2 anything"), b"\0\1\2 anything", "opaque")
    server.said.clear()
    equal(tunnel_says("good.test", hello("bad.test")), b"<reset>", "another name")
    equal(tunnel_says("good.test", hello(None)), b"<reset>", "no name")
    equal(tunnel_says("good.test", hello("good.test", ech=True)), b"<reset>", "ech")
    equal(tunnel_says("good.test", b"SSH-2.0-x\r\n\r\n"), b"<reset>", "what begins with letters")
    equal(tunnel_says("good.test", b"\0\1\2\3"), b"<reset>", "neither")
    equal(server.said, [], "what the server has seen")
    net.stop()
    server.close()


def hello_of(server):
    return b"".join(server.said)[-1000000:].split(b"anything")[0][len(hello("good.test")):]


@case
def a_hello_may_come_byte_by_byte():
    server = Server("127.0.0.2", 443, echo)
    net = start()
    sock, status = tunnel("good.test", 443)
    equal(status, 200)
    data = hello("good.test")
    for byte in data[:-1]:
        sock.send(bytes([byte]))
    time.sleep(0.1)
    equal(server.said, [], "before it is whole")
    sock.send(data[-1:])
    equal(read_exactly(sock, len(data)), data)
    net.stop()
    server.close()


@case
def an_address_may_be_called_anything_that_is_not_denied():
    server = Server("127.0.0.3", 443, echo)
    net = start()
    data = hello("whatever.test")
    equal(tunnel_says("127.0.0.3", data), data, "any name")
    data = hello(None)
    equal(tunnel_says("127.0.0.3", data), data, "no name")
    equal(tunnel_says("127.0.0.3", hello("bad.test")), b"<reset>", "a denied name")
    net.stop()
    server.close()


@case
def socks_carries_the_same():
    server = Server("127.0.0.2", 443, echo)
    net = start()
    for way, granted in ((socks5, 0), (socks4a, 90)):
        sock, answer = way("good.test", 443)
        equal(answer, granted)
        data = hello("good.test")
        sock.sendall(data)
        equal(read_exactly(sock, len(data)), data)
    with connect() as sock:
        sock.sendall(b"\5\1\0\5\3\0\1\x7f\0\0\2\1\xbb")
        equal(read_exactly(sock, 12)[:4], b"\5\0\5\7", "UDP, asked for before the answer")
    with connect() as sock:
        sock.sendall(b"\5\1\2")
        equal(read_all(sock), b"\5\xff", "only with a password")
    net.stop()
    server.close()


@case
def names_that_are_none_are_refused():
    server = Server("127.0.0.2", 443, echo)
    net = start()
    for name in (b"good.test\0", b"good.test\0.evil.test", b"good\ntest", b"good test", b"%00good.test",
                 b"a" * 255, b"", b"\xff\xfe", b"good.test:443", b"-"):
        equal(socks5("", 443, name)[1], 2, name)
    equal(server.count, 0, "dialled")
    net.stop()
    server.close()


SMUGGLING = {
    "both lengths": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n\r\n",
    "two lengths": "Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
    "a list of lengths": "Content-Length: 5, 5\r\n\r\nhello",
    "a signed length": "Content-Length: +5\r\n\r\nhello",
    "a coding with a tab": "Transfer-Encoding:\tchunked\x0b\r\n\r\n0\r\n\r\n",
    "two codings": "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a bare line end": "X: 1\nContent-Length: 5\r\n\r\nhello",
    "a folded line": "X: 1\r\n Content-Length: 5\r\n\r\nhello",
    "a chunk that is too large": "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n",
    "a chunk without an end": "Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n",
    "a negative chunk": "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "a second host": "Host: good.test\r\n\r\n",
    "a zero byte": "X: \0\r\n\r\n",
}


@case
def what_two_readers_could_read_differently_is_refused():
    server = Server("127.0.0.2", 80, web)
    net = start()
    for name, rest in SMUGGLING.items():
        server.said.clear()
        equal(status_of(ask("POST http://good.test/one HTTP/1.1\r\nHost: good.test\r\n" + rest)), 400, name)
        holds(b"".join(server.said).count(b" HTTP/1.1") <= 1, (name, server.said))
        holds(b"/two" not in b"".join(server.said), name)
    server.said.clear()
    answer = ask(get("good.test") + get("good.test", path="/two"))
    equal(answer.count(b"HTTP/1.1 200"), 1, "another request behind the last")
    ask("POST http://good.test/one HTTP/1.1\r\nHost: good.test\r\nContent-Length: 0\r\n\r\n" + get("bad.test", path="/two"))
    holds(b"/two" not in b"".join(server.said), "what the server has seen")
    net.stop()
    server.close()


@case
def the_host_of_a_request_is_the_one_that_is_dialled():
    server = Server("127.0.0.2", 80, web)
    net = start()
    equal(status_of(ask("GET http://good.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n")), 400, "target and Host")
    for request, wanted in (("GET / HTTP/1.1\r\nHost: good.test\r\n\r\n", 200),
                            ("GET / HTTP/1.1\r\nHost: raw.test\r\n\r\n", 403),
                            ("GET http://raw.test/ HTTP/1.1\r\n\r\n", 403),
                            ("GET / HTTP/1.1\r\n\r\n", 400),
                            ("CONNECT bad.test:443 HTTP/1.1\r\n\r\n", 405)):
        server.said.clear()
        equal(status_of(tunnel_says("good.test", request.encode(), 80) or b""), wanted if wanted != 200 else 200, request)
        holds(wanted == 200 or not server.said, server.said)
    net.stop()
    server.close()


@case
def a_web_socket_begins_when_the_server_agrees():
    def serve(server, sock):
        head = read_head(sock)
        time.sleep(0.2)
        sock.setblocking(False)
        try:
            server.said.append(sock.recv(100))
        except BlockingIOError:
            server.said.append(b"")
        sock.setblocking(True)
        if b"/yes" in head:
            sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            sock.sendall(read_exactly(sock, 4))
        else:
            sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nno")
    server = Server("127.0.0.2", 80, serve)
    net = start()
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    with connect() as sock:
        sock.sendall((get("good.test", upgrade, path="/yes") + "abcd").encode())
        equal(status_of(read_head(sock)), 101)
        equal(read_exactly(sock, 4), b"abcd")
    with connect() as sock:
        sock.sendall((get("good.test", upgrade, path="/no") + get("bad.test")).encode())
        equal(status_of(read_all(sock)), 200)
    equal(server.said, [b"", b""], "before its answer")
    equal(status_of(ask(get("good.test", "Connection: Upgrade\r\nUpgrade: h2c\r\n"))), 200, "h2c")
    equal(status_of(ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")), 505, "HTTP/2")
    equal(status_of(ask(get("good.test", method="TRACE"))), 405, "TRACE")
    net.stop()
    server.close()


@case
def heads_that_are_too_large_are_refused():
    server = Server("127.0.0.2", 80, web)
    net = start()
    equal(status_of(ask(get("good.test", "X: " + "a" * (1 << 20) + "\r\n"))), 431, "one field")
    equal(status_of(ask(get("good.test", "X: a\r\n" * 10000))), 431, "many fields")
    equal(status_of(ask(get("good.test", "X: a\r\n" * 129))), 431, "more than it takes")
    equal(server.count, 0, "dialled")
    net.stop()
    server.close()


@case
def a_hostile_server_is_a_bad_gateway():
    def endless(server, sock):
        read_head(sock)
        for _ in range(100000):
            sock.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")

    def giant(server, sock):
        read_head(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\n")

    net = start()
    for name, serve in (("endless", endless), ("giant", giant), ("old", saying(b"<html>hello")),
                        ("empty", saying(b"")), ("early", saying(b"HTTP/1.1 200 OK\r\nX: 1\r\n")),
                        ("unasked", saying(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"))):
        server = Server("127.0.0.2", 80, serve)
        holds(b"HTTP/1.1 502 Bad Gateway" in ask(get("good.test")), name)
        server.close()
    holds(b"HTTP/1.1 502 Bad Gateway" in ask(get("good.test")), "nobody there")
    equal(tunnel("good.test", 80)[1], 502, "nobody there, CONNECT")
    equal(socks5("good.test", 80)[1], 5, "nobody there, SOCKS")
    holds(net.memory_kb() < 40000 or SANITIZED, net.memory_kb())
    net.stop()


@case
def an_answer_ends_where_it_says():
    def holding(answer):
        def serve(server, sock):
            server.said.append(read_head(sock))
            sock.sendall(answer)
            read_all(sock)
        return serve

    net = start()
    ok, length = b"HTTP/1.1 200 OK\r\n", b"Content-Length: 5\r\n"
    for name, method, answer, wanted in (
            ("length", "GET", ok + length + b"\r\nhello", b"\r\n\r\nhello"),
            ("more than its length", "GET", ok + length + b"\r\nhello, unwanted", b"\r\n\r\nhello"),
            ("chunks", "GET", ok + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nunwanted", b"0\r\n\r\n"),
            ("no body", "GET", b"HTTP/1.1 304 Not Modified\r\n" + length + b"\r\n", b"\r\n\r\n"),
            ("HEAD", "HEAD", ok + length + b"\r\nunwanted", b"\r\n\r\n")):
        server = Server("127.0.0.2", 80, holding(answer))
        began = time.monotonic()
        found = ask(get("good.test", method=method))
        holds(found.endswith(wanted) and b"unwanted" not in found, (name, found))
        holds(time.monotonic() - began < 1, f"{name}: waits for the server")
        server.close()
    for name, answer in (("length", ok + length + b"\r\nhel"),
                         ("chunks", ok + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel"),
                         ("no chunks", ok + b"Transfer-Encoding: chunked\r\n\r\nhello, hello, hello")):
        server = Server("127.0.0.2", 80, saying(answer))
        holds(ask(get("good.test")).endswith(b"<reset>"), f"{name}: a part taken for the whole")
        server.close()
    server = Server("127.0.0.2", 80, saying(ok + length + b"Content-Length: 6\r\n\r\nhello"))
    equal(status_of(ask(get("good.test"))), 502, "two lengths")
    server.close()
    net.stop()


@case
def answers_before_the_last_one_come_at_once():
    def serve(server, sock):
        server.said.append(read_head(sock))
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + read_exactly(sock, 4))
    server = Server("127.0.0.2", 80, serve)
    net = start()
    with connect() as sock:
        sock.sendall(get("good.test", "Content-Length: 4\r\nExpect: 100-continue\r\n", "POST").encode())
        equal(status_of(read_head(sock)), 100)
        sock.sendall(b"abcd")
        holds(read_all(sock).endswith(b"abcd"), "body")
    net.stop()
    server.close()


@case
def either_side_may_end_first():
    def collect(server, sock):
        server.said.append(read_all(sock))
        sock.sendall(b"end:" + hashlib.sha256(server.said[-1]).digest())

    def early(server, sock):
        sock.sendall(b"bye")
        sock.shutdown(socket.SHUT_WR)
        server.said.append(read_all(sock))

    net = start()
    server = Server("127.0.0.2", 9, collect)
    sock, _ = tunnel("raw.test", 9)
    sock.sendall(b"abc")
    sock.shutdown(socket.SHUT_WR)
    equal(read_all(sock), b"end:" + hashlib.sha256(b"abc").digest())
    server.close()
    server = Server("127.0.0.2", 9, early)
    sock, _ = tunnel("raw.test", 9)
    equal(read_all(sock), b"bye")
    sock.sendall(b"still here")
    sock.close()
    holds(until(lambda: server.said == [b"still here"]), server.said)
    server.close()
    net.stop()


@case
def a_reset_is_passed_on():
    def cut(server, sock):
        sock.recv(3)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    net = start()
    server = Server("127.0.0.2", 9, cut)
    sock, _ = tunnel("raw.test", 9)
    sock.sendall(b"abc")
    equal(read_all(sock), b"<reset>", "server")
    server.close()
    server = Server("127.0.0.2", 9, lambda server, sock: server.said.append(read_all(sock)))
    sock, _ = tunnel("raw.test", 9)
    sock.sendall(b"abc")
    holds(until(lambda: net.fds() > 5), "connected")
    time.sleep(0.1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()
    holds(until(lambda: server.said == [b"abc<reset>"]), server.said)
    server.close()
    net.stop()


def pour(sock, size, seed):
    """Sends so many bytes; their checksum."""
    block = hashlib.shake_256(bytes([seed])).digest(1 << 20)
    digest = hashlib.sha256()
    while size:
        part = block[:min(size, len(block))]
        sock.sendall(part)
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()


def drink(sock, size=None):
    digest = hashlib.sha256()
    while size != 0 and (part := sock.recv(min(1 << 18, size or 1 << 18))):
        digest.update(part)
        size = size and size - len(part)
    return digest.hexdigest()


@case
def much_passes_both_ways_at_once_and_whole():
    size = 64 << 20

    def serve(server, sock):
        thread = threading.Thread(target=lambda: server.said.append(drink(sock)))
        thread.start()
        server.sent = pour(sock, size, 1)
        sock.shutdown(socket.SHUT_WR)
        thread.join()
    net = start()
    server = Server("127.0.0.2", 9, serve)
    sock, _ = tunnel("raw.test", 9)
    sock.settimeout(30)
    sent = []

    def send():
        sent.append(pour(sock, size, 2))
        sock.shutdown(socket.SHUT_WR)
    thread = threading.Thread(target=send)
    thread.start()
    received = drink(sock)
    thread.join()
    holds(until(lambda: server.said), "the server's end")
    equal((received, server.said[0]), (server.sent, sent[0]), "checksums")
    server.close()
    net.stop()


@case
def bodies_of_requests_and_answers_are_whole():
    size = 24 << 20

    def serve(server, sock):
        head = read_head(sock)
        if b"chunked" in head.lower():
            server.said.append(read_chunks(sock))
        else:
            server.said.append(drink(sock, size))
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        server.sent = pour(sock, size, 3)

    net = start()
    server = Server("127.0.0.2", 80, serve)
    for field in (f"Content-Length: {size}", "Transfer-Encoding: chunked"):
        with connect(timeout=30) as sock:
            sock.sendall(get("good.test", field + "\r\n", "POST").encode())
            wanted = pour(sock, size, 4) if "Length" in field else pour_chunks(sock, size)
            equal(status_of(read_head(sock)), 200)
            equal(drink(sock), server.sent, "answer")
            equal(server.said.pop(), wanted, field)
    server.close()
    net.stop()


def pour_chunks(sock, size):
    block = hashlib.shake_256(b"5").digest(100000)
    digest = hashlib.sha256()
    while size > 0:
        part = block[:min(size, 1 + size % 99991)]
        sock.sendall(b"%x;note=1\r\n%s\r\n" % (len(part), part))
        digest.update(part)
        size -= len(part)
    sock.sendall(b"0\r\n\r\n")
    return digest.hexdigest()


def read_chunks(sock):
    file = sock.makefile("rb")
    digest = hashlib.sha256()
    while size := int(file.readline().split(b";")[0], 16):
        digest.update(file.read(size))
        file.read(2)
    return digest.hexdigest()


def switches(net):
    with open(f"/proc/{net.pid}/status", encoding="ascii") as status:
        return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)


@case
def who_does_not_read_holds_up_nobody_and_spins_nothing():
    def flood(server, sock):
        while True:
            sock.sendall(b"x" * 65536)

    def deaf(server, sock):
        time.sleep(100)
    net = start()
    server = Server("127.0.0.2", 9, flood)
    other = Server("127.0.0.2", 10, deaf)
    web_server = Server("127.0.0.2", 80, web)
    stuck = []
    for _ in range(20):
        stuck.append(tunnel("raw.test", 9)[0])
        sock = tunnel("raw.test", 10)[0]
        sock.setblocking(False)
        try:
            while True:
                sock.send(b"y" * 65536)
        except BlockingIOError:
            pass
        stuck.append(sock)
    time.sleep(1)
    equal(status_of(ask(get("good.test"))), 200, "others are served")
    time.sleep(0.5)
    before, cpu = switches(net), net.cpu_ms()
    time.sleep(1.5)
    holds(switches(net) - before <= 4 and net.cpu_ms() - cpu <= 10, (switches(net) - before, net.cpu_ms() - cpu))
    holds(net.memory_kb() < 40000 or SANITIZED, net.memory_kb())
    for sock in stuck:
        sock.close()
    holds(until(lambda: net.fds() < 120, 15), net.fds())
    for one in (server, other, web_server):
        one.close()
    net.stop()


@case
def who_is_slow_is_refused_and_others_are_served():
    server = Server("127.0.0.2", 80, web)
    silent = Server("127.0.0.2", 9, echo)
    net = start()
    before = net.memory_kb()
    slow = [connect() for _ in range(1000)]
    for sock in slow:
        sock.sendall(b"GET http://good.test/ HTTP/1.1\r\nX: 1\r\n")
    mute, _ = tunnel("good.test", 9)
    began = time.monotonic()
    mute.settimeout(15)
    for _ in range(10):
        began_one = time.monotonic()
        equal(status_of(ask(get("good.test"))), 200)
        holds(time.monotonic() - began_one < 1, "others wait")
        for sock in slow:
            sock.send(b"Y: 1\r\n")
        time.sleep(0.2)
    holds(net.memory_kb() - before < 12000 or SANITIZED, net.memory_kb() - before)
    equal(read_all(mute), b"<reset>", "who says nothing")
    holds(9 < time.monotonic() - began < 12, time.monotonic() - began)
    hints = [event.hint for event in net.events(0.2) if event.host == "good.test:9"]
    holds(hints and "opaque" in hints[0], hints)
    slow[0].settimeout(30)
    equal(status_of(read_all(slow[0])), 408, "a head that never ends")
    holds(28 < time.monotonic() - began < 33, time.monotonic() - began)
    for sock in slow:
        sock.close()
    holds(until(lambda: net.fds() < 20, 10), net.fds())
    server.close()
    silent.close()
    net.stop()


def files_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def serve_many(address, port):
    """An echo server for thousands, in a process of its own."""
    sock = listener(address, port)
    pid = os.fork()
    if pid:
        sock.close()
        return pid
    ctypes.CDLL(None).prctl(1, 9)  # ends with its parent
    files_limit()
    poll = select.epoll()
    poll.register(sock, select.EPOLLIN)
    open_ones = {}
    while True:
        for fd, _ in poll.poll():
            if fd == sock.fileno():
                new, _ = sock.accept()
                open_ones[new.fileno()] = new
                poll.register(new, select.EPOLLIN)
                continue
            data = b""
            try:
                data = open_ones[fd].recv(65536)
                if data:
                    open_ones[fd].send(data)
            except OSError:
                data = b""
            if not data:
                open_ones.pop(fd).close()


def end_process(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@case
def ten_thousand_connections_are_open_at_once():
    # Two sockets each, and some for others. Root may have more than there are for users, but not everywhere.
    files = 20480
    if files_limit() < files:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        except (PermissionError, ValueError):
            pass
    count = min(10000, (files_limit() - 480) // 2)
    server = serve_many("127.0.0.2", 9)
    net = start(["opaque=raw.test", "pin=raw.test=127.0.0.2"])
    socks = []
    for i in range(count):
        sock, status = tunnel("raw.test", 9)
        equal(status, 200, i)
        socks.append(sock)
    for sock in socks:
        sock.sendall(b"ping")
    for sock in socks:
        equal(read_exactly(sock, 4), b"ping")
    memory = net.memory_kb()
    holds(memory < 6 * count + 20000 or SANITIZED, memory)
    before, cpu = switches(net), net.cpu_ms()
    time.sleep(0.5)
    holds(switches(net) - before <= 3 and net.cpu_ms() - cpu <= 10, "idle ones make calls")
    print(f"# {count} connections: {memory} KiB")
    for sock in socks:
        sock.close()
    holds(until(lambda: net.fds() < 20, 10), net.fds())
    net.stop()
    end_process(server)


@case
def without_descriptors_it_waits_and_goes_on():
    server = serve_many("127.0.0.2", 9)
    net = start(["opaque=raw.test", "pin=raw.test=127.0.0.2"], wrapper=["prlimit", "--nofile=300:300"])
    socks = [connect() for _ in range(200)]
    time.sleep(0.3)
    cpu = net.cpu_ms()
    time.sleep(1)
    holds(net.cpu_ms() - cpu <= 30, "it spins")
    for sock in socks:
        sock.close()
    holds(until(lambda: tunnel("raw.test", 9)[1] == 200), "when they have ended")
    sock, status = tunnel("raw.test", 9)
    equal(status, 200)
    sock.sendall(b"ping")
    equal(read_exactly(sock, 4), b"ping")
    net.stop()
    end_process(server)


@case
def who_is_one_too_many_is_told_so_at_once():
    server = serve_many("127.0.0.2", 9)
    net = start(["opaque=raw.test", "pin=raw.test=127.0.0.2"], wrapper=["prlimit", "--nofile=400:400"])
    socks = []
    while len(socks) < 400:
        sock, status = tunnel("raw.test", 9)
        if status != 200:
            break
        socks.append(sock)
    equal(status, 503, len(socks))
    holds(20 < len(socks) < 200, len(socks))
    for _ in range(100):
        began = time.monotonic()
        answer = ask(get("raw.test"))
        equal(status_of(answer), 503)
        holds(b"no descriptors for more (ulimit -n)" in answer and time.monotonic() - began < 1, answer)
    with connect() as sock:
        sock.sendall(b"\5\1\0")
        equal(read_all(sock), b"<reset>", "SOCKS")
    mute = [connect() for _ in range(200)]
    cpu = net.cpu_ms()
    for sock in socks:
        sock.sendall(b"ping")
        equal(read_exactly(sock, 4), b"ping", "others")
    time.sleep(1)
    holds(net.cpu_ms() - cpu <= 60, net.cpu_ms() - cpu)
    for sock in mute + socks[:1]:
        sock.close()
    holds(until(lambda: tunnel("raw.test", 9)[1] == 200), "when another one has ended")
    net.stop()
    end_process(server)


def use_up_pipes():
    """The pages that all pipes of a user share; those who hold them."""
    with open("/proc/sys/fs/pipe-user-pages-soft", encoding="ascii") as limit:
        pages = int(limit.read())
    held = []
    while pages > 0:
        held.append(os.pipe())
        try:
            pages -= fcntl.fcntl(held[-1][1], 1031, 1 << 20) // 4096
        except PermissionError:
            break
    return held


@case
def without_pipes_bytes_pass_all_the_same():
    size, count = 6 << 20, 30

    def serve(server, sock):
        server.said.append(drink(sock, size))
        sock.sendall(b"x")
        server.sent = pour(sock, size, 1)

    def deaf(server, sock):
        time.sleep(100)
    for name, more, prepare in (("few descriptors", {"wrapper": ["prlimit", "--nofile=420:420"]}, list),
                                ("no pages", {}, use_up_pipes)):
        held = prepare()
        net = start(**more)
        server, silent = Server("127.0.0.2", 9, serve), Server("127.0.0.2", 10, deaf)
        wanted = []

        def client():
            sock, status = tunnel("raw.test", 9)
            equal(status, 200, name)
            sock.settimeout(60)
            sent = pour(sock, size, 2)
            equal(read_exactly(sock, 1), b"x", name)
            wanted.append((sent, drink(sock)))
        # What pipes there are is full of bytes that nobody reads.
        stuck = []
        for _ in range(count):
            sock, _ = tunnel("raw.test", 10)
            sock.setblocking(False)
            try:
                while True:
                    sock.send(b"z" * 65536)
            except BlockingIOError:
                stuck.append(sock)
        threads = [threading.Thread(target=client) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(len(wanted), count, name)
        equal({sent for sent, _ in wanted}, set(server.said), name)
        equal({got for _, got in wanted}, {server.sent}, name)
        for sock in stuck:
            sock.close()
        for pair in held:
            os.close(pair[0])
            os.close(pair[1])
        server.close()
        silent.close()
        net.stop()


@case
def a_client_that_is_killed_leaves_nothing():
    def flood(server, sock):
        try:
            while True:
                sock.sendall(b"x" * 65536)
        except OSError as error:
            server.said.append(type(error).__name__)
    net = start()
    server = Server("127.0.0.2", 9, flood)
    before = net.fds()
    pid = os.fork()
    if pid == 0:
        sock, _ = tunnel("raw.test", 9)
        while sock.recv(65536):
            pass
    time.sleep(0.3)
    end_process(pid)
    holds(until(lambda: server.said), "the server's end")
    holds(until(lambda: net.fds() <= before + 6), net.fds())
    server.close()
    net.stop()


@case
def many_connections_leave_nothing():
    count = CHURN or (4000 if SANITIZED else 20000)
    server = serve_many("127.0.0.2", 9)
    net = start(["opaque=raw.test", "pin=raw.test=127.0.0.2"])

    def churn(times):
        for i in range(times):
            sock, status = tunnel("raw.test", 9)
            equal(status, 200)
            if i % 3 == 0:
                sock.sendall(b"ping")
                equal(read_exactly(sock, 4), b"ping")
            if i % 5 == 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
    churn(1000)
    holds(until(lambda: net.fds() < 20), net.fds())
    fds, memory, told = net.fds(), net.memory_kb(), 0
    for left in range(count - 1000, 0, -19000):
        churn(min(left, 19000))
        told += sum(event.times for event in net.events() if event.what == REACHED)
    holds(until(lambda: net.fds() <= fds), (fds, net.fds()))
    holds(net.memory_kb() - memory < 1000 or SANITIZED, (memory, net.memory_kb()))
    events = [event for event in net.events(1.5) if event.what == REACHED]
    equal(told + sum(event.times for event in events), count, "told of")
    net.stop()
    end_process(server)


@case
def ports_of_the_host_that_are_listed_are_reached():
    server = Server("127.0.0.1", 9, echo)
    six = Server("::1", 10, echo, socket.AF_INET6)
    net = start(["port=9", "port=10"])
    for port in (9, 10):
        sock, status = tunnel("localhost", port)
        equal(status, 200, port)
        sock.sendall(b"raw")
        equal(read_exactly(sock, 3), b"raw")
    equal(tunnel("localhost", 11)[1], 403, "another port")
    server.close()
    six.close()
    net.stop()


@case
def in_isolated_mode_what_is_public_is_opaque():
    server = Server("203.0.113.7", 9, echo)
    net = start([], mode="isolated", listeners=[listener("127.0.0.1", PORT)])
    sock, status = tunnel("203.0.113.7", 9)
    equal(status, 200)
    sock.sendall(b"raw")
    equal(read_exactly(sock, 3), b"raw")
    equal(tunnel("10.0.0.1", 9)[1], 403, "private")
    equal(tunnel("169.254.169.254", 80)[1], 403, "metadata")
    server.close()
    net.stop()


def lookup(name, kind=1):
    """The address that stands for a name, by a question over UDP."""
    question = b"".join(bytes([len(part)]) + part for part in name.encode().split(b".")) + b"\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(5)
        sock.sendto(b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + question + struct.pack("!HH", kind, 1), ("198.18.0.1", 53))
        answer = sock.recv(4096)
    if answer[7] == 0:
        return None
    return socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, answer[-4 if kind == 1 else -16:])


def dns_listener():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IP, 8, 1)
    sock.bind(("0.0.0.0", 53))
    sock.setblocking(False)
    return sock


@case
def an_address_that_was_handed_out_means_its_name():
    server = Server("127.0.0.2", 443, echo)
    plain = Server("127.0.0.2", 80, web)
    net = start(listeners=[listener("127.0.0.1", PORT), listener("::1", PORT, socket.AF_INET6), dns_listener()])
    steer()
    address = lookup("good.test")
    holds(address and address.startswith("198.1"), address)
    equal(lookup("other.test"), None, "a name that no rule allows")
    data = hello("good.test")
    with connect(address, 443) as sock:
        sock.sendall(data)
        equal(read_exactly(sock, len(data)), data, "direct")
    equal(ask(hello("raw.test"), 443, address), b"<reset>", "direct, another name")
    equal(status_of(ask("GET / HTTP/1.1\r\nHost: good.test\r\nConnection: close\r\n\r\n", 80, address)), 200,
          "direct, http")
    equal(status_of(ask("GET / HTTP/1.1\r\nHost: raw.test\r\n\r\n", 80, address)), 403, "direct, another host")
    equal(tunnel_says(address, data), data, "CONNECT")
    six = lookup("good.test", 28)
    with connect(six, 443) as sock:
        sock.sendall(data)
        equal(read_exactly(sock, len(data)), data, "direct, IPv6")
    equal(tunnel("198.19.200.200", 443)[1], 403, "one that was not")
    unsteer()
    server.close()
    plain.close()
    net.stop()


UPSTREAM = ["allow=good.test", "opaque=raw.test", "allow=near.test", "direct=**.near.test", "pin=near.test=127.0.0.2",
            "allow=pinned.test", "pin=pinned.test=203.0.113.7", "allow=203.0.113.8", "allow=203.0.113.9",
            "direct=203.0.113.9/32", "deny=bad.test", "allow=10.1.2.3", "allow=127.0.0.3", "port=7000",
            "allow=unknown.test", "upstream=http://127.0.0.9:3128"]
BEHIND = {"good.test:443": ("127.0.0.2", 443), "good.test:80": ("127.0.0.2", 80), "raw.test:22": ("127.0.0.2", 22),
          "203.0.113.7:443": ("127.0.0.2", 443), "203.0.113.8:443": ("127.0.0.2", 443),
          "10.1.2.3:443": ("127.0.0.2", 443)}


def asked(proxy):
    """What the proxy was asked for, since the last time."""
    lines = [head.split(b"\r\n")[0].decode() for head in proxy.said]
    proxy.said.clear()
    return lines


@case
def an_upstream_proxy_gets_names_and_is_asked_for_tunnels_only():
    servers = [Server("127.0.0.2", 443, echo), Server("127.0.0.2", 80, web)]
    proxy = Server("127.0.0.9", 3128, forwarding(BEHIND))
    net = start(UPSTREAM)
    data = hello("good.test")
    equal(tunnel_says("good.test", data), data, "CONNECT")
    equal(proxy.said, [b"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n"], "what the proxy heard")
    asked(proxy)
    answer = ask(get("good.test", "Proxy-Authorization: secret\r\n", path="/a"))
    holds(status_of(answer) == 200 and answer.endswith(b"hello"), answer)
    equal(asked(proxy), ["CONNECT good.test:80 HTTP/1.1"], "a plain request")
    equal(b"".join(servers[1].said), b"GET /a HTTP/1.1\r\nHost: good.test\r\nConnection: close\r\n\r\n", "the server")
    sock, answer = socks5("good.test", 443)
    equal(answer, 0, "SOCKS")
    sock.sendall(data)
    equal(read_exactly(sock, len(data)), data)
    asked(proxy)
    equal(tunnel_says("203.0.113.8", hello(None)) != b"<reset>", True, "an address")
    equal(asked(proxy), ["CONNECT 203.0.113.8:443 HTTP/1.1"], "an address")
    data = hello("pinned.test")
    equal(tunnel_says("pinned.test", data), data, "a pinned name")
    equal(asked(proxy), ["CONNECT 203.0.113.7:443 HTTP/1.1"], "goes to where it is pinned")
    events = {event.host for event in net.events(1.5) if event.what == REACHED}
    equal(events, {"good.test:443", "good.test:80", "203.0.113.8:443", "pinned.test:443"}, "events")
    net.stop()
    proxy.close()
    for server in servers:
        server.close()


@case
def the_rules_hold_before_an_upstream_proxy():
    server = Server("127.0.0.2", 443, echo)
    proxy = Server("127.0.0.9", 3128, forwarding({**BEHIND, "bad.test:443": ("127.0.0.2", 443)}))
    net = start(UPSTREAM)
    steer()
    equal(tunnel("bad.test", 443)[1], 403, "denied")
    equal(tunnel("other.test", 443)[1], 403, "unlisted")
    equal(tunnel("127.0.0.9", 3128)[1], 403, "the proxy itself")
    for address in ("169.254.169.254", "10.9.9.9", "127.0.0.2", "[::1]", "203.0.113.1"):
        equal(tunnel(address, 443)[1], 403, address)
    equal(ask(hello("good.test"), 443, "203.0.113.1"), b"<reset>", "direct")
    equal((proxy.count, server.count), (0, 0), "connections")
    equal(tunnel_says("good.test", hello("bad.test")), b"<reset>", "another name in the tunnel")
    equal(tunnel_says("good.test", b"CONNECT bad.test:443 HTTP/1.1\r\nHost: bad.test\r\n\r\n")[:12], b"HTTP/1.1 405",
          "CONNECT in the tunnel")
    equal(server.said, [], "what the server has seen")
    unsteer()
    net.stop()
    proxy.close()
    server.close()


@case
def in_the_mode_isolated_public_hosts_go_through_an_upstream_proxy():
    servers = [Server("127.0.0.2", 443, echo), Server("203.0.113.9", 443, echo)]
    proxy = Server("127.0.0.9", 3128, forwarding({**BEHIND, "any.test:443": ("127.0.0.2", 443)}))
    net = start(["upstream=http://127.0.0.9:3128", "direct=203.0.113.9", "deny=bad.test"], mode="isolated")
    equal(tunnel_says("any.test", b"anything"), b"anything", "a name")
    equal(tunnel_says("203.0.113.8", b"anything"), b"anything", "an address")
    equal(asked(proxy), ["CONNECT any.test:443 HTTP/1.1", "CONNECT 203.0.113.8:443 HTTP/1.1"])
    equal(tunnel_says("203.0.113.9", b"anything"), b"anything", "past it")
    for host in ("bad.test", "10.1.2.3", "127.0.0.9", "169.254.169.254"):
        equal(tunnel(host, 443)[1], 403, host)
    equal((asked(proxy), servers[1].count), ([], 1), "connections")
    net.stop()
    proxy.close()
    for server in servers:
        server.close()


@case
def some_hosts_go_past_the_upstream_proxy():
    servers = [Server("127.0.0.2", 443, echo), Server("203.0.113.9", 443, echo), Server("127.0.0.3", 443, echo)]
    proxy = Server("127.0.0.9", 3128, forwarding(BEHIND))
    net = start(UPSTREAM)
    data = hello("near.test")
    equal(tunnel_says("near.test", data), data, "a name")
    equal(tunnel_says("203.0.113.9", data), data, "an address")
    equal(tunnel_says("127.0.0.3", data), data, "the host's loopback")
    equal([server.count for server in servers], [1, 1, 1], "dialled")
    equal(proxy.count, 0, "the proxy")
    equal(tunnel_says("10.1.2.3", data), data, "a private address that is listed")
    equal(asked(proxy), ["CONNECT 10.1.2.3:443 HTTP/1.1"])
    net.stop()
    proxy.close()
    for server in servers:
        server.close()


@case
def a_name_that_an_upstream_proxy_looks_up_is_not_looked_up_here():
    def stub_socket(address):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_IP, 8, 1)
        sock.bind((address, 53))
        return sock

    server = Server("127.0.0.2", 443, echo)
    proxy = Server("127.0.0.9", 3128, forwarding(BEHIND))
    questions, stub, inside = [], stub_socket("127.0.0.77"), stub_socket("0.0.0.0")
    inside.setblocking(False)

    def hear():
        while True:
            data, peer = stub.recvfrom(4096)
            questions.append(data[13:13 + data[12]].decode())
            stub.sendto(data[:2] + b"\x81\x83" + data[4:6] + bytes(6) + data[12:], peer)

    threading.Thread(target=hear, daemon=True).start()
    net = start([*UPSTREAM, "allow=far.near.test"], resolv="nameserver 127.0.0.77\n",
                listeners=[listener("127.0.0.1", PORT), listener("::1", PORT, socket.AF_INET6), inside])
    steer()
    address = lookup("good.test")
    holds(address and address.startswith("198.1"), address)
    data = hello("good.test")
    with connect(address, 443) as sock:
        sock.sendall(data)
        equal(read_exactly(sock, len(data)), data, "direct")
    equal(asked(proxy), ["CONNECT good.test:443 HTTP/1.1"])
    equal(lookup("other.test"), None, "a name that no rule allows")
    equal(questions, [], "questions")
    equal(lookup("far.near.test"), None, "one that goes past it")
    holds(questions and set(questions) == {"far"}, questions)
    unsteer()
    net.stop()
    proxy.close()
    server.close()


@case
def what_an_upstream_proxy_says_behind_its_answer_is_the_servers():
    def speaking(server, sock):
        server.said.append(read_head(sock))
        for byte in b"HTTP/1.0 200 ok\r\nX: 1\r\n\r":
            sock.sendall(bytes([byte]))
        time.sleep(0.05)
        sock.sendall(b"\nSSH-2.0-test\r\n")
        sock.sendall(read_exactly(sock, 4))

    proxy = Server("127.0.0.9", 3128, speaking)
    net = start(UPSTREAM)
    sock, status = tunnel("raw.test", 22)
    equal(status, 200)
    equal(read_exactly(sock, 14), b"SSH-2.0-test\r\n", "the first word is the server's")
    sock.sendall(b"abcd")
    equal(read_all(sock), b"abcd")
    net.stop()
    proxy.close()


@case
def an_upstream_proxy_that_does_not_do_it_is_a_bad_gateway():
    def giant(server, sock):
        read_head(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\n")

    net = start(UPSTREAM)
    for serve, words in (
            (forwarding({}), b"the upstream proxy refuses the connection (status 403)"),
            (saying(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n"),
             b"the upstream proxy wants a login (status 407)"),
            (saying(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), b"(status 101)"),
            (saying(b"HTTP/1.1 204 No Content\r\n\r\n"), b"(status 204)"),
            (saying(b""), b"the upstream proxy ended before it had answered"),
            (saying(b"HTTP/1.1 200 OK\r\nX: 1\r\n"), b"the upstream proxy ended before it had answered"),
            (saying(b"<html>hello"), b"the upstream proxy does not answer in HTTP/1"),
            (saying(b"HTTP/1.1 200 OK\r\nno field\r\n\r\n"), b"the upstream proxy does not answer in HTTP/1"),
            (saying(b"\0" * 100000), b"the upstream proxy does not answer in HTTP/1"),
            (giant, b"the upstream proxy does not answer in HTTP/1")):
        proxy = Server("127.0.0.9", 3128, serve)
        answer = ask(get("good.test"))
        holds(status_of(answer) == 502 and words in answer and b"never" not in answer, (words, answer))
        equal(tunnel("good.test", 443)[1], 502, words)
        equal(socks5("good.test", 443)[1], 1, words)
        proxy.close()
    holds(b"the upstream proxy does not answer (Connection refused)" in ask(get("good.test")), "nobody there")
    equal(net.events(0.2), [], "events")
    net.stop()


@case
def an_upstream_proxy_that_hangs_holds_up_nobody_else():
    def hanging(server, sock):
        read_head(sock)
        read_all(sock)
        server.said.append(b"gone")

    server = Server("127.0.0.2", 443, echo)
    proxy = Server("127.0.0.9", 3128, hanging)
    net = start(UPSTREAM)
    data = hello("near.test")
    equal(tunnel_says("near.test", data), data, "before")
    holds(until(lambda: net.fds() <= 7), net.fds())
    before = net.fds()
    stuck = [connect(timeout=60) for _ in range(20)]
    for sock in stuck:
        sock.sendall(b"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n")
    holds(until(lambda: proxy.count == 20), proxy.count)
    equal(tunnel_says("near.test", data), data, "another host")
    spent = net.cpu_ms()
    for sock in stuck[1:]:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    holds(until(lambda: len(proxy.said) == 19), "the proxy is let go with its client")
    answer = read_head(stuck[0])
    equal(status_of(answer), 504, "the time is limited")
    stuck[0].close()
    holds(until(lambda: net.fds() <= before), (before, net.fds()))
    holds(SANITIZED or net.cpu_ms() - spent < 1000, "it waits without work")
    net.stop()
    proxy.close()
    server.close()


@case
def an_upstream_proxy_may_have_a_name():
    server = Server("127.0.0.2", 443, echo)
    proxy = Server("127.0.0.9", 3128, forwarding(BEHIND))
    data = hello("good.test")
    words = [word for word in UPSTREAM if not word.startswith("upstream=")]
    for name, more in (("proxy.test", ["pin=proxy.test=127.0.0.9"]), ("nowhere.test", [])):
        net = start([*words, f"upstream=http://{name}:3128", *more])
        if more:
            equal(tunnel_says("good.test", data), data, name)
        else:
            holds(b"the upstream proxy's name has no address" in ask(get("good.test")), name)
        equal(tunnel(name, 3128)[1], 403, "the command cannot go there itself")
        net.stop()
    server.close()
    proxy.close()
    local = Server("127.0.0.1", 3128, forwarding(BEHIND))
    server = Server("127.0.0.2", 443, echo)
    net = start([*words, "upstream=http://localhost:3128"])
    equal(tunnel_says("good.test", data), data, "localhost")
    net.stop()
    local.close()
    server.close()


def main():
    global BUILD, SANITIZED, CHURN
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--sanitized", action="store_true", help="what it takes is not held against it")
    parser.add_argument("--churn", type=int, default=0, metavar="N", help="so many connections, one after another")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    BUILD = os.path.abspath(options.build)
    SANITIZED, CHURN = options.sanitized, options.churn
    enter_namespace()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    chosen = [one for one in CASES if not options.cases or one.__name__ in options.cases]
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    for number, one in enumerate(chosen, 1):
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            try:
                signal.alarm(100 + CHURN // 200)
                one()
                sys.stdout.flush()
                os._exit(0)
            except BaseException:
                for line in traceback.format_exc().splitlines():
                    print("# " + line)
                sys.stdout.flush()
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        failed += status != 0
        print(f"{'ok' if status == 0 else 'not ok'} {number} {one.__name__} # {time.monotonic() - began:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
