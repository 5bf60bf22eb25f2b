#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bawn-net alone, as in run.py: connections that are kept behind an answer. Each request is judged like the first, and
no server sees another one than bawn-net does.

    tests/net/kept.py [--build DIR] [--sanitized] [CASE...]"""
import socket
import struct
import sys
import threading
import time

import run
from harness import (REACHED, Server, connect, hello, read_all, read_exactly, read_head, status_of, tunnel, until)
from run import SMUGGLING, case, equal, holds, start

run.CASES.clear()


def request(host, more="", method="GET", path="/", direct=False):
    target = path if direct else f"http://{host}{path}"
    return f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode()


def answer_of(sock):
    """One answer whose length is told: (status, whether the connection is kept, body)."""
    head = read_head(sock)
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if fields.get(b"transfer-encoding") == b"chunked":
        body = b""
        while not body.endswith(b"0\r\n\r\n"):
            part = sock.recv(1)
            holds(part, f"chunks end: {body!r}")
            body += part
    else:
        body = read_exactly(sock, int(fields.get(b"content-length", b"0")))
    return status_of(head), fields.get(b"connection") == b"keep-alive", body


def say(sock, *args, **more):
    sock.sendall(request(*args, **more))
    return answer_of(sock)


def is_ended(sock):
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def careless(server, sock):
    """Keeps the connection whatever comes, and sees no body: what is in one is its next request."""
    data = b""
    while part := sock.recv(65536):
        data += part
        while b"\r\n\r\n" in data:
            head, data = data.split(b"\r\n\r\n", 1)
            server.said.append(head)
            server.most = max(getattr(server, "most", 0), 1 + data.count(b"\r\n\r\n"))
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            if b"Connection: close" in head:
                return


def paths(server):
    return [head.split(b" ")[1].decode() for head in server.said]


@case
def requests_for_one_host_go_on_one_connection():
    server = Server("127.0.0.2", 80, careless)
    net = start()
    with connect() as sock:
        for i in range(5):
            equal(say(sock, "good.test", path=f"/{i}"), (200, True, b"hello"))
        equal(say(sock, "good.test", "Connection: close\r\n", path="/5"), (200, False, b"hello"))
        holds(is_ended(sock), "behind the last")
    equal((paths(server), server.count), ([f"/{i}" for i in range(6)], 2), "requests, connections")
    events = [event for event in net.events(1.5) if event.what == REACHED]
    equal([(event.host, event.times) for event in events], [("good.test:80", 2)], "told of")
    net.stop()
    server.close()


@case
def each_request_is_decided_on_anew():
    one, other = Server("127.0.0.2", 80, careless), Server("127.0.0.3", 80, careless)
    net = start()
    with connect() as sock:
        for host, status in (("good.test", 200), ("127.0.0.3", 200), ("good.test", 200)):
            equal(say(sock, host, path=f"/{host}")[0], status, host)
        status, keeps, text = say(sock, "bad.test", path="/bad")
        equal((status, keeps), (403, False))
        holds(b"bad.test:80" in text, text)
        holds(is_ended(sock), "behind a refusal")
    with connect() as sock:
        equal(say(sock, "good.test")[0], 200)
        equal(say(sock, "good.test", direct=True)[0], 400, "a target that is not whole")
    equal((one.count, other.count, paths(other)), (3, 1, ["/127.0.0.3"]), "connections")
    events = {event.host: event.times for event in net.events(1.5) if event.what == REACHED}
    equal(events, {"good.test:80": 3, "127.0.0.3:80": 1}, "told of")
    net.stop()
    one.close()
    other.close()


@case
def every_host_of_a_kept_connection_is_that_of_its_address():
    server = Server("127.0.0.2", 80, careless)
    net = start()
    for second, status in ((request("raw.test", direct=True), 403), (request("bad.test"), 403),
                           (b"GET / HTTP/1.1\r\n\r\n", 400), (request("good.test:81", direct=True), 403),
                           (request("bad.test", method="CONNECT", path=":443", direct=True), 400),
                           (b"SSH-2.0-client\r\n\r\n", 400)):
        server.said.clear()
        sock, _ = tunnel("good.test", 80)
        equal(say(sock, "good.test", direct=True, path="/a"), (200, True, b"hello"))
        equal(say(sock, "good.test", direct=True, path="/b"), (200, True, b"hello"))
        sock.sendall(second)
        equal(answer_of(sock)[:2], (status, False), second)
        holds(is_ended(sock), second)
        equal(paths(server), ["/a", "/b"], second)
        sock.close()
    sock, _ = tunnel("good.test", 80)
    equal(say(sock, "good.test", direct=True)[0], 200)
    sock.sendall(hello("good.test"))
    read_all(sock)
    equal(len(server.said), 3, "TLS behind HTTP")
    net.stop()
    server.close()


@case
def a_body_is_the_last_that_a_server_sees():
    server = Server("127.0.0.2", 80, careless)
    net = start()
    hidden = request("bad.test", path="/two", direct=True)
    with connect() as sock:
        for i in range(3):
            server.said.clear()
            equal(say(sock, "good.test", path="/first")[0], 200)
            for method in ("GET", "POST"):
                sock.sendall(request("good.test", f"Content-Length: {len(hidden)}\r\n", method) + hidden)
                equal(answer_of(sock), (200, True, b"hello"), method)
            sock.sendall(request("good.test", "Transfer-Encoding: chunked\r\n", "POST") +
                         b"%x;a=b\r\n%s\r\n0\r\n\r\n" % (len(hidden), hidden))
            equal(answer_of(sock), (200, True, b"hello"), "chunks")
            equal(paths(server), ["/first", "/", "/", "/"])
            holds(all(b"Connection: close" in head for head in server.said[1:]), server.said)
    net.stop()
    server.close()


@case
def smuggling_behind_a_kept_request_is_refused():
    server = Server("127.0.0.2", 80, careless)
    net = start()
    cases = {**SMUGGLING, "a folded line": "X: a\r\n Content-Length: 5\r\n\r\n", "a bare LF": "X: a\nY: b\r\n\r\n",
             "fields behind the chunks": "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: bad.test\r\n\r\n",
             "a note with a line": "Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\n"}
    for name, rest in cases.items():
        for is_piped in (False, True):
            server.said.clear()
            with connect() as sock:
                second = b"POST http://good.test/one HTTP/1.1\r\nHost: good.test\r\n" + rest.encode()
                sock.sendall(request("good.test", path="/first") + (second if is_piped else b""))
                equal(answer_of(sock)[0], 200, name)
                if not is_piped:
                    sock.sendall(second)
                equal(status_of(read_all(sock).replace(b"<reset>", b"")), 400, name)
            holds(paths(server) in (["/first"], ["/first", "/one"]), (name, server.said))
    net.stop()
    server.close()


@case
def requests_in_a_row_are_answered_one_after_another():
    server = Server("127.0.0.2", 80, careless)
    net = start()
    count = 1000
    with connect() as sock:
        sock.sendall(b"".join(request("good.test", path=f"/{i}") for i in range(count)))
        for i in range(count):
            equal(answer_of(sock), (200, True, b"hello"), i)
        sock.sendall(request("good.test", "Content-Length: 3\r\n", "POST") + b"abc" +
                     request("good.test", path="/behind") + request("bad.test", path="/bad"))
        equal([answer_of(sock)[0] for _ in range(3)], [200, 200, 403])
    equal(paths(server), [f"/{i}" for i in range(count)] + ["/", "/behind"])
    equal(server.most, 1, "requests at once")
    net.stop()
    server.close()


@case
def a_server_that_ends_first_is_asked_again_where_that_changes_nothing():
    def once(server, sock):
        """Says nothing against another request, and ends."""
        server.said.append(read_head(sock))
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        if server.waits:
            server.said.append(read_head(sock))  # takes the next one, and does not answer it
    for waits in (False, True):
        server = Server("127.0.0.2", 80, once)
        server.waits = waits
        net = start()
        with connect() as sock:
            for _ in range(4):
                equal(say(sock, "good.test"), (200, True, b"hello"))
                time.sleep(0.05 if not waits else 0)
            equal(say(sock, "good.test", "Content-Length: 0\r\n", "POST"), (200, True, b"hello"))
        equal(sum(b"POST" in head for head in server.said), 1, "sent again")
        sock, _ = tunnel("good.test", 80)
        equal(say(sock, "good.test", direct=True)[0], 200)
        if not waits:
            holds(is_ended(sock), "a server's end is passed on")
        sock.close()
        server.close()
        net.stop()
    server = Server("127.0.0.2", 80, lambda server, sock: read_head(sock))
    net = start()
    with connect() as sock:
        equal(say(sock, "good.test")[0], 502, "it never answers")
    equal(server.count, 1, "asked again and again")
    server.close()
    net.stop()


@case
def what_a_server_says_unasked_is_no_answer():
    evil = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

    def early(server, sock):
        read_head(sock)
        sock.sendall(server.answer)
        time.sleep(0.05)
        sock.sendall(evil if server.is_late else b"")
        read_all(sock)
    good = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    for name, answer, is_late in (("at once", good + evil, False), ("late", good, True),
                                  ("behind chunks", chunks + evil, False), ("late, chunks", chunks, True),
                                  ("no body", b"HTTP/1.1 304 Not Modified\r\n\r\n" + evil, False)):
        server = Server("127.0.0.2", 80, early)
        server.answer, server.is_late = answer, is_late
        net = start()
        with connect() as sock:
            for _ in range(3):
                holds(b"evil" not in say(sock, "good.test")[2], name)
                time.sleep(0.15)
        equal(server.count, 3, name)
        net.stop()
        server.close()


@case
def an_answer_without_a_known_end_ends_the_connection():
    def serve(server, sock):
        read_head(sock)
        sock.sendall(server.answer)
    ok = b"HTTP/1.1 200 OK\r\n"
    net = start()
    for name, method, answer, keeps in (
            ("to the end", "GET", ok + b"\r\nhello", False),
            ("old", "GET", b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", False),
            ("chunks", "GET", ok + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", True),
            ("HEAD", "HEAD", ok + b"Content-Length: 5\r\n\r\n", True),
            ("204", "GET", b"HTTP/1.1 204 No Content\r\n\r\n", True),
            ("304", "GET", b"HTTP/1.1 304 Not Modified\r\n\r\n", True),
            ("its own end", "GET", ok + b"Content-Length: 0\r\nConnection: close\r\n\r\n", True)):
        server = Server("127.0.0.2", 80, serve)
        server.answer = answer
        for _ in range(2):
            with connect() as sock:
                sock.sendall(request("good.test", method=method))
                head = read_head(sock)
                equal(b"Connection: keep-alive\r\n" in head, keeps, name)
                equal(b"Connection: close\r\n" in head, not keeps, name)
                if not keeps:
                    read_all(sock)
        server.close()
    server = Server("127.0.0.2", 80, careless)
    with connect() as sock:
        sock.sendall(b"GET http://good.test/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        holds(b"Connection: close\r\n" in read_all(sock), "an old client")
    server.close()
    net.stop()


@case
def a_tunnel_or_a_web_socket_may_come_later():
    def serve(server, sock):
        while head := read_head(sock):
            if b"Upgrade: websocket" in head:
                sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
                sock.sendall(read_exactly(sock, 4))
                return
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    web, raw = Server("127.0.0.2", 80, serve), Server("127.0.0.2", 9, run.echo)
    net = start()
    with connect() as sock:
        equal(say(sock, "good.test")[0], 200)
        sock.sendall(request("good.test", "Connection: Upgrade\r\nUpgrade: websocket\r\n") + b"abcd")
        equal(status_of(read_head(sock)), 101)
        equal(read_exactly(sock, 4), b"abcd")
    with connect() as sock:
        equal(say(sock, "good.test")[0], 200)
        sock.sendall(b"CONNECT raw.test:9 HTTP/1.1\r\nHost: raw.test:9\r\n\r\n")
        equal(status_of(read_head(sock)), 200)
        sock.sendall(b"ping")
        equal(read_exactly(sock, 4), b"ping")
    with connect() as sock:
        equal(say(sock, "good.test")[0], 200)
        sock.sendall(b"CONNECT bad.test:9 HTTP/1.1\r\nHost: bad.test:9\r\n\r\n")
        equal(status_of(read_head(sock)), 403)
    net.stop()
    web.close()
    raw.close()


@case
def where_descriptors_are_few_nobody_keeps_them():
    server = Server("127.0.0.2", 80, careless)
    net = start(wrapper=["prlimit", "--nofile=300:300"])
    socks, kept = [], 0
    for _ in range(100):
        sock = connect()
        status, keeps, _ = say(sock, "good.test")
        equal(status, 200)
        kept += keeps
        (socks if keeps else []).append(sock)
    holds(5 < kept < 50, kept)
    for sock in socks:
        sock.close()
    holds(until(lambda: net.fds() < 20), net.fds())
    net.stop()
    server.close()


@case
def many_requests_on_kept_connections_leave_nothing():
    def serve(server, sock):
        while read_head(sock):
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    server = Server("127.0.0.2", 80, serve)
    net = start()

    def client(rounds):
        for i in range(rounds):
            with connect() as sock:
                for _ in range(20):
                    equal(say(sock, "good.test")[0], 200)
                sock.sendall(request("good.test")[:-i % 30 - 1])
                if i % 3 == 0:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def churn(rounds):
        threads = [threading.Thread(target=client, args=(rounds,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        holds(until(lambda: net.fds() < 20, 10), net.fds())
    churn(3)
    memory = net.memory_kb()
    churn(12 if run.SANITIZED else 40)
    holds(net.memory_kb() - memory < 500 or run.SANITIZED, (memory, net.memory_kb()))
    holds(until(lambda: [event for event in net.events(0.2) if event.what == REACHED]), "told of")
    net.stop()
    server.close()


@case
def a_client_that_says_nothing_more_makes_no_work():
    server = Server("127.0.0.2", 80, careless)
    net = start()
    socks = []
    for _ in range(50):
        socks.append(connect())
        equal(say(socks[-1], "good.test")[0], 200)
    before, cpu = run.switches(net), net.cpu_ms()
    time.sleep(1)
    holds(run.switches(net) - before <= 3 and net.cpu_ms() - cpu <= 10, "it spins")
    socks[0].settimeout(40)
    began = time.monotonic()
    holds(is_ended(socks[0]), "it waits for ever")
    holds(20 < time.monotonic() - began < 35, time.monotonic() - began)
    holds(until(lambda: net.fds() < 20), net.fds())
    net.stop()
    server.close()


if __name__ == "__main__":
    sys.exit(run.main())
