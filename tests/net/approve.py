#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bawn-net alone, as in run.py: hosts that a person is asked about. The test is the launcher: it hears the questions
and answers them. Witnesses are the servers, and the name server that no name may reach before it was allowed.

    tests/net/approve.py [--build DIR] [--sanitized] [CASE...]"""
import socket
import struct
import sys
import threading
import time

import run
from harness import (ASKED, BARRED, BY_CLIENT, BY_NOBODY, BY_TIME, GIVEN_UP, ONCE, PORT, SESSION, Server, connect, hello,
                     listener, read_all, read_exactly, read_head, socks4a, socks5, status_of, steer, tunnel, unsteer, until)
from kept import answer_of, request
from run import case, echo, equal, get, holds, start, web

run.CASES.clear()

RULES = ["patience=20", "allow=good.test", "pin=good.test=127.0.0.2", "ask=ask.test", "pin=ask.test=127.0.0.2",
         "ask=more.test", "pin=more.test=127.0.0.2", "deny=bad.test", "ask-opaque=raw.test", "pin=raw.test=127.0.0.2",
         "ask=192.0.2.7", "ask=2001:db8::7"]


class Later:
    """What comes of it, in a thread of its own."""

    def __init__(self, work, *args):
        self.result = None
        self.thread = threading.Thread(target=self.run, args=(work, args), daemon=True)
        self.thread.start()

    def run(self, work, args):
        self.result = work(*args)

    def get(self, seconds=10.0):
        self.thread.join(seconds)
        holds(not self.thread.is_alive(), "it still waits")
        return self.result

    def waits(self, seconds=0.3):
        self.thread.join(seconds)
        return self.thread.is_alive()


class Names:
    """A name server with these names, and all that it was asked for."""

    def __init__(self, address, names):
        self.names, self.asked = names, []
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((address, 53))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                data, peer = self.sock.recvfrom(2048)
            except OSError:
                return
            labels, at = [], 12
            while data[at]:
                labels.append(data[at + 1:at + 1 + data[at]].decode())
                at += 1 + data[at]
            name, kind = ".".join(labels), struct.unpack_from("!H", data, at + 1)[0]
            self.asked.append(name)
            found = [socket.inet_aton(one) for one in self.names.get(name, [])] if kind == 1 else []
            code = 0x8180 if name in self.names else 0x8183
            answers = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + one for one in found)
            self.sock.sendto(data[:2] + struct.pack("!5H", code, 1, len(found), 0, 0) + data[12:at + 5] + answers, peer)


def start_asking(words=(), **more):
    return start([*RULES, *words], **more)


def start_naming(words=(), resolv="nameserver 127.0.0.77\n"):
    """With a resolver inside, at 127.0.0.53."""
    inside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inside.setsockopt(socket.IPPROTO_IP, 8, 1)
    inside.bind(("127.0.0.53", 53))
    inside.setblocking(False)
    return start_asking(words, resolv=resolv,
                        listeners=[listener("127.0.0.1", PORT), listener("::1", PORT, socket.AF_INET6), inside])


def look_up(name, kind=1):
    """(code, addresses) that the resolver inside answers."""
    question = b"\x12\x34\1\0\0\1\0\0\0\0\0\0"
    for label in name.split("."):
        question += bytes([len(label)]) + label.encode()
    question += b"\0" + struct.pack("!HH", kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(5)
        sock.sendto(question, ("127.0.0.53", 53))
        answer = sock.recv(2048)
    code, count = answer[3] & 15, struct.unpack_from("!H", answer, 6)[0]
    size = 4 if kind == 1 else 16
    family = socket.AF_INET if kind == 1 else socket.AF_INET6
    return code, [socket.inet_ntop(family, answer[len(question) + 12:len(question) + 12 + size])] if count == 1 else []


def tunnel_says(host, port, data):
    sock, status = tunnel(host, port)
    if status != 200:
        return status, read_all(sock)
    sock.sendall(data)
    return status, read_exactly(sock, len(data))


def socks_says(how, host, port, data):
    sock, status = how(host, port)
    if status not in (0, 90):
        return status, b""
    sock.sendall(data)
    return status, read_exactly(sock, len(data))


def direct_says(address, port, data):
    with connect(address, port) as sock:
        sock.sendall(data)
        try:
            return read_exactly(sock, len(data))
        except ConnectionResetError:
            return b"<reset>"


def said(text, port=PORT, address="127.0.0.1"):
    return run.ask(text, port, address)


@case
def a_question_says_who_wants_what_and_what_would_allow_it():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    client = Later(said, get("ask.test"))
    [question] = net.asked()
    equal((question.op, question.host, question.way, question.rule, question.grant, question.grant_tree),
          ("connect", "ask.test:80", "http", "ask ask.test", "host ask.test:80", ""))
    equal((question.pid, question.comm, question.exe), (4711, "tester", "/usr/bin/tester"), "who")
    equal(question.verdict, 2, "verdict")
    holds(client.waits() and server.count == 0, "it did not wait")
    net.settle(question, True)
    equal(status_of(client.get()), 200)
    equal(server.count, 1)
    net.stop()
    server.close()


@case
def the_same_is_asked_on_every_way():
    servers = [Server("127.0.0.2", port, echo) for port in (443, 9)]
    net = start_naming()
    steer()
    data = hello("ask.test")
    ways = [(Later(tunnel_says, "ask.test", 443, data), (200, data)),
            (Later(socks_says, socks5, "ask.test", 443, data), (0, data)),
            (Later(socks_says, socks4a, "ask.test", 443, data), (90, data)),
            (Later(direct_says, look_up("ask.test")[1][0], 443, data), data),
            (Later(direct_says, look_up("ask.test", 28)[1][0], 443, data), data),
            (Later(tunnel_says, "raw.test", 9, b"anything"), (200, b"anything")),
            (Later(direct_says, look_up("raw.test")[1][0], 9, b"anything"), b"anything")]
    questions = net.asked(2)
    equal(sorted(question.host for question in questions), ["ask.test:443", "raw.test:9"])
    holds(all(client.waits(0.1) for client, _ in ways) and not any(server.count for server in servers), "they did not wait")
    for question in questions:
        net.settle(question, True)
    for client, wanted in ways:
        equal(client.get(), wanted)
    for address, host in (("192.0.2.7", "192.0.2.7:443"), ("2001:db8::7", "[2001:db8::7]:443")):
        client = Later(direct_says, address, 443, data)
        [question] = net.asked()
        equal((question.host, question.way, question.grant), (host, "connect", f"host {host}"))
        holds(client.waits(0.1), "direct")
        net.settle(question, False)
        equal(client.get(), b"<reset>", "direct")
    unsteer()
    net.stop()
    for server in servers:
        server.close()


@case
def an_address_that_was_allowed_is_reached():
    server = Server("192.0.2.7", 443, echo)
    net = start_asking()
    data = hello("any.test")
    client = Later(tunnel_says, "192.0.2.7", 443, data)
    net.settle(net.asked()[0], True)
    equal(client.get(), (200, data))
    equal(server.count, 1)
    net.stop()
    server.close()


@case
def no_is_told_in_the_way_that_the_client_came():
    server = Server("127.0.0.2", 443, echo)
    net = start_asking()
    for by, words in ((BY_CLIENT, b"the answer was no"), (BY_TIME, b"nobody answered in time"),
                      (BY_NOBODY, b"nobody could be asked")):
        client = Later(said, get("ask.test"))
        [question] = net.asked()
        net.settle(question, False, by=by)
        answer = client.get()
        equal(status_of(answer), 403)
        for text in (b"X-Bawn-Denied: ask ask.test\r\n", words, b"without approval", b"--allow-host 'ask.test:80'",
                     b"bawn policy save host 'ask.test:80'", b"bawn approve"):
            holds(text in answer, (text, answer))
        holds(until(lambda: [event for event in net.events(0.3) if event.what == BARRED and
                             words.decode() in event.message and event.rule == "ask ask.test"]), f"told: {words}")
        time.sleep(1.1)
    for work, wanted in ((lambda: tunnel("ask.test", 443)[1], 403), (lambda: socks5("ask.test", 443)[1], 2),
                         (lambda: socks4a("ask.test", 443)[1], 91)):
        client = Later(work)
        net.settle(net.asked()[0], False)
        equal(client.get(), wanted)
        time.sleep(1.1)
    equal(server.count, 0, "dialled")
    net.stop()
    server.close()


@case
def once_is_for_one_connection_and_the_session_for_all():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    for _ in range(2):
        client = Later(said, get("ask.test"))
        net.settle(net.asked()[0], True, ONCE)
        equal(status_of(client.get()), 200)
    client = Later(said, get("ask.test"))
    net.settle(net.asked()[0], False, ONCE)
    equal(status_of(client.get()), 403)
    equal(status_of(said(get("ask.test"))), 403, "at once: the answer is the same")
    equal([event.host for event in net.events(0.1) if event.what == ASKED], [], "asked again")
    time.sleep(1.1)
    client = Later(said, get("ask.test"))
    net.settle(net.asked()[0], True, SESSION)
    equal(status_of(client.get()), 200)
    for _ in range(5):
        equal(status_of(said(get("ask.test"))), 200)
    # Another port, and another host, are others.
    for host, name in (("ask.test:81", "ask.test:81"), ("more.test", "more.test:80")):
        client = Later(said, get(host))
        [question] = net.asked()
        equal(question.host, name)
        net.settle(question, False, SESSION)
        equal(status_of(client.get()), 403)
        equal(status_of(said(get(host))), 403, "no, for the session")
    equal([event.host for event in net.events(0.3) if event.what == ASKED], [], "asked again")
    net.stop()
    server.close()


@case
def a_kept_connection_asks_once_for_each_host():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    with connect() as sock:
        sock.settimeout(10)
        sock.sendall(request("good.test"))
        equal(answer_of(sock)[0], 200)
        sock.sendall(request("ask.test"))
        net.settle(net.asked()[0], True)
        equal(answer_of(sock)[0], 200)
        for _ in range(3):
            sock.sendall(request("ask.test"))
            equal(answer_of(sock)[0], 200, "again")
        sock.sendall(request("more.test"))
        [question] = net.asked()
        equal(question.host, "more.test:80")
        net.settle(question, True)
        equal(answer_of(sock)[0], 200, "another")
        sock.sendall(request("ask.test"))
        [question] = net.asked()
        equal(question.host, "ask.test:80")
        net.settle(question, False)
        equal(answer_of(sock)[0], 403)
    net.stop()
    server.close()


@case
def nobody_else_waits():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    clients = [Later(said, get("ask.test")) for _ in range(20)]
    [question] = net.asked()
    began = time.monotonic()
    for _ in range(100):
        equal(status_of(said(get("good.test"))), 200)
    holds(time.monotonic() - began < 3, time.monotonic() - began)
    holds(all(client.waits(0) for client in clients), "they did not wait")
    equal([event.host for event in net.events(0.1) if event.what == ASKED], [], "asked twice")
    net.settle(question, True)
    for client in clients:
        equal(status_of(client.get()), 200)
    net.stop()
    server.close()


@case
def who_goes_away_is_not_waited_for():
    net = start_asking()
    equal(status_of(said(get("bad.test"))), 403)
    net.events(0.1)
    fds = net.fds()
    for leaves in ("close", "reset", "said"):
        sock = connect()
        sock.sendall(get("ask.test").encode() + (b"more" if leaves == "said" else b""))
        [question] = net.asked()
        if leaves == "reset":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        net.unknown = True
        sock.close()
        found = []
        holds(until(lambda f=found: f.extend(net.events(0.05)) or GIVEN_UP in [event.what for event in f]), leaves)
        equal([event.number for event in found if event.what == GIVEN_UP], [question.number], leaves)
        net.unknown = False
        # The answer comes too late, and means nobody.
        net.settle(question, True)
    holds(until(lambda: net.fds() == fds), (fds, net.fds()))
    net.stop()


@case
def who_only_sends_no_more_still_gets_its_answer():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    with connect() as sock:
        sock.sendall(get("ask.test").encode())
        sock.shutdown(socket.SHUT_WR)
        [question] = net.asked()
        time.sleep(2)
        equal([event.what for event in net.events(0.1)], [], "given up")
        net.settle(question, True)
        equal(status_of(read_all(sock)), 200)
    net.stop()
    server.close()


@case
def of_two_that_wait_one_may_go():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    first = connect()
    first.sendall(get("ask.test").encode())
    [question] = net.asked()
    client = Later(said, get("ask.test"))
    time.sleep(0.2)
    first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    first.close()
    time.sleep(0.2)
    equal([event.what for event in net.events(0.1)], [], "given up")
    net.settle(question, True)
    equal(status_of(client.get()), 200)
    equal(server.count, 1)
    net.stop()
    server.close()


@case
def an_answer_that_was_lost_is_no_some_time_after():
    net = start_asking(["patience=1"])
    began = time.monotonic()
    answer = said(get("ask.test"))
    holds(status_of(answer) == 403 and b"nobody answered in time" in answer, answer)
    # The launcher's patience comes first.
    holds(5 < time.monotonic() - began < 9, time.monotonic() - began)
    equal([event.what for event in net.events(0.3)], [ASKED, GIVEN_UP, BARRED], "events")
    net.stop()


@case
def what_is_no_verdict_changes_nothing():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    client = Later(said, get("ask.test"))
    [question] = net.asked()
    number = question.number
    for packet in (struct.pack("=2IQ2I", 4, 0, number + 1, 1, 1), struct.pack("=2IQ2I", 4, 0, 0, 1, 1),
                   struct.pack("=2IQ2I", 4, 9, number, 1, 1), struct.pack("=2IQ2I", 4, 0, number, 1, 99),
                   struct.pack("=2IQ", 4, 0, number), struct.pack("=2IQ2I", 4, 0, number, 1, 1) + b"more",
                   struct.pack("=I", 4)):
        net.control.send(packet)
    holds(client.waits(0.5) and server.count == 0, "it was taken for one")
    net.settle(question, True)
    equal(status_of(client.get()), 200)
    # Of a second answer to the same nothing comes.
    net.settle(question, True)
    client = Later(said, get("ask.test"))
    holds(client.waits(0.3), "an old answer counts")
    net.settle(net.asked()[0], False)
    equal(status_of(client.get()), 403)
    net.stop()
    server.close()


@case
def nobody_asks_about_more_than_so_many_at_once():
    net = start(["patience=20", "unlisted=ask", "allow=good.test", "pin=good.test=127.0.0.2"])
    server = Server("127.0.0.2", 80, web)
    socks = []
    for number in range(64):
        socks.append(connect())
        socks[-1].sendall(get(f"host{number}.test").encode())
    questions = net.asked(64, 10)
    equal({question.rule for question in questions}, {"unlisted"})
    answer = said(get("one-more.test"))
    holds(status_of(answer) == 403 and b"nobody could be asked" in answer, answer)
    equal(status_of(said(get("good.test"))), 200)
    socks[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socks[0].close()
    holds(until(lambda: GIVEN_UP in [event.what for event in net.events(0.05)]), "given up")
    client = Later(said, get("one-more.test"))
    net.settle(net.asked()[0], False)
    equal(status_of(client.get()), 403)
    net.stop()
    server.close()


@case
def answers_that_were_forgotten_are_asked_for_again():
    net = start(["patience=20", "unlisted=ask"])
    for number in range(520):
        client = Later(said, get(f"host{number}.test"))
        net.settle(net.asked()[0], False, SESSION)
        equal(status_of(client.get()), 403)
    equal(status_of(said(get("host519.test"))), 403, "the last")
    client = Later(said, get("host0.test"))
    net.settle(net.asked()[0], False, SESSION)
    equal(status_of(client.get()), 403, "the first")
    net.stop()


@case
def a_name_leaves_only_after_it_was_allowed():
    names = Names("127.0.0.77", {"far.test": ["203.0.113.20"], "good2.test": ["203.0.113.20"]})
    server = Server("203.0.113.20", 443, echo)
    net = start_naming(["ask=far.test", "ask=*.wide.test", "allow=good2.test"])
    steer()
    data = hello("far.test")
    code, addresses = look_up("far.test")
    holds(code == 0 and addresses and addresses[0].startswith("198.18."), addresses)
    holds(look_up("far.test", 28)[1][0].startswith("fd53:"), "AAAA")
    for kind in (16, 15, 65, 33, 255):
        equal(look_up("far.test", kind), (0, []), kind)
    for number in range(50):
        holds(look_up(f"secret{number}.wide.test")[1], "a name below")
    equal(names.asked, [], "upstream")
    client = Later(direct_says, addresses[0], 443, data)
    [question] = net.asked()
    equal(question.host, "far.test:443")
    other = Later(tunnel_says, "secret.wide.test", 443, data)
    net.settle(net.asked()[0], False)
    equal(other.get()[0], 403)
    equal(names.asked, [], "upstream, while it waits")
    net.settle(question, False)
    equal(client.get(), b"<reset>")
    equal((names.asked, server.count), ([], 0), "upstream, after no")
    unsteer()
    time.sleep(1.1)
    client = Later(tunnel_says, addresses[0], 443, data)
    net.settle(net.asked()[0], True)
    equal(client.get(), (200, data))
    equal((set(names.asked), server.count), ({"far.test"}, 1), "after yes")
    # Once is over: it is asked about, though the address is known by now.
    client = Later(tunnel_says, "far.test", 443, data)
    net.settle(net.asked()[0], False)
    equal(client.get()[0], 403)
    equal(server.count, 1)
    net.stop()
    server.close()


@case
def a_name_that_was_allowed_is_vetted_as_any_other():
    names = Names("127.0.0.77", {"private.test": ["10.1.2.3"], "mixed.test": ["203.0.113.20", "169.254.169.254"],
                                 "loop.test": ["127.0.0.2"], "barred.test": ["203.0.113.66"],
                                 "listed.test": ["10.9.9.9"], "both.test": ["10.9.9.9", "203.0.113.20"]})
    servers = [Server(address, 80, web) for address in
               ("10.1.2.3", "203.0.113.20", "169.254.169.254", "127.0.0.2", "203.0.113.66", "10.9.9.9")]
    net = start(["patience=20", "unlisted=ask", "deny=203.0.113.66", "ask=10.9.9.0/24"], resolv="nameserver 127.0.0.77\n")
    for name, rule in (("private.test", b"special private"), ("mixed.test", b"special link-local"),
                       ("loop.test", b"special loopback"), ("barred.test", b"deny 203.0.113.66")):
        client = Later(said, get(name))
        net.settle(net.asked()[0], True, SESSION)
        answer = client.get()
        holds(status_of(answer) == 403 and b"X-Bawn-Denied: " + rule in answer, (name, answer))
    equal([server.count for server in servers], [0] * len(servers), "dialled")
    # An address that a rule asks about is asked about by itself.
    for name in ("listed.test", "both.test"):
        for is_allowed in (False, True):
            client = Later(said, get(name))
            [question] = net.asked()
            equal(question.host, f"{name}:80")
            net.settle(question, True)
            [question] = net.asked()
            equal((question.host, question.rule, question.grant),
                  ("10.9.9.9:80", "ask 10.9.9.0/24", "host 10.9.9.9:80"))
            net.settle(question, is_allowed)
            equal(status_of(client.get()), 200 if is_allowed else 403, name)
            time.sleep(0 if is_allowed else 1.1)
    equal([server.count for server in servers], [0, 0, 0, 0, 0, 2], "dialled")
    for literal in ("10.1.2.3", "127.0.0.2", "169.254.169.254", "203.0.113.66"):
        equal(status_of(said(get(literal))), 403, literal)
    equal([event.host for event in net.events(0.2) if event.what == ASKED], [], "asked about what is denied")
    equal(set(names.asked), set(names.names), "looked up")
    net.stop()
    for server in servers:
        server.close()


@case
def what_was_allowed_must_be_what_it_seems():
    servers = [Server("127.0.0.2", port, echo) for port in (443, 80)]
    net = start_asking()

    def tunnelled(data, port=443):
        sock, status = tunnel("ask.test", port)
        equal(status, 200)
        sock.sendall(data)
        return read_all(sock)

    for data, wanted in ((hello("bad.test"), b"<reset>"), (hello("good.test"), b"<reset>"), (hello(None), b"<reset>"),
                         (hello("ask.test", ech=True), b"<reset>"), (b"SSH-2.0-x\r\n", b"<reset>")):
        client = Later(tunnelled, data)
        net.settle(net.asked()[0], True)
        equal(client.get(20), wanted, data[:10])
    client = Later(tunnelled, b"GET / HTTP/1.1\r\nHost: bad.test\r\n\r\n", 80)
    net.settle(net.asked()[0], True)
    equal(status_of(client.get()), 403, "another host")
    equal([said for server in servers for said in server.said], [], "the servers heard")
    net.stop()
    for server in servers:
        server.close()


@case
def the_end_of_the_launcher_is_no():
    server = Server("127.0.0.2", 80, web)
    net = start_asking()
    sock = connect()
    sock.sendall(get("ask.test").encode())
    net.asked()
    net.stop()
    equal(read_all(sock), b"<reset>")
    equal(server.count, 0)
    server.close()


@case
def through_an_upstream_proxy_it_is_the_same():
    names = Names("127.0.0.77", {})
    proxy = Server("127.0.0.9", 3128, run.forwarding({"far.test:443": ("127.0.0.2", 443)}))
    server = Server("127.0.0.2", 443, echo)
    net = start_asking(["ask=far.test", "upstream=http://127.0.0.9:3128"], resolv="nameserver 127.0.0.77\n")
    data = hello("far.test")
    client = Later(tunnel_says, "far.test", 443, data)
    [question] = net.asked()
    time.sleep(0.2)
    equal(proxy.count, 0, "asked the proxy")
    net.settle(question, False)
    equal(client.get()[0], 403)
    time.sleep(1.1)
    client = Later(tunnel_says, "far.test", 443, data)
    net.settle(net.asked()[0], True)
    equal(client.get(), (200, data))
    equal((names.asked, proxy.count), ([], 1))
    net.stop()
    server.close()
    proxy.close()


@case
def a_burst_of_questions_loses_none():
    server = Server("127.0.0.2", 80, web)
    net = start([f"pin=host{number}.test=127.0.0.2" for number in range(30)] + ["patience=20", "unlisted=ask"])
    net.questions.clear()
    clients = [Later(said, get(f"host{number % 30}.test")) for number in range(600)]
    time.sleep(1)
    memory, fds = net.memory_kb(), net.fds()
    questions = net.asked(30, 10)
    time.sleep(1)
    holds(abs(net.memory_kb() - memory) < 600 or run.SANITIZED, (memory, net.memory_kb()))
    holds(abs(net.fds() - fds) < 10, (fds, net.fds()))
    for question in questions:
        net.settle(question, True)
    for client in clients:
        equal(status_of(client.get(20)), 200)
    holds(until(lambda: net.fds() < 30), net.fds())
    net.stop()
    server.close()


@case
def a_full_channel_is_tried_again():
    net = start(["patience=20", "unlisted=ask", "deny=*.bad.test"])
    # Refusals fill what nobody reads.
    for number in range(200):
        said(get(f"a{number}.bad.test"))
    client = Later(said, get("ask.test"))
    holds(client.waits(0.5), "it was refused")
    [question] = [event for event in net.events(0.5) if event.what == ASKED and event.host == "ask.test:80"] or net.asked()
    net.settle(question, False)
    equal(status_of(client.get()), 403)
    net.stop()


if __name__ == "__main__":
    sys.exit(run.main())
