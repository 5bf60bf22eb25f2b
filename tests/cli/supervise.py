#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""supervise.py WHAT SOCKET [ARGUMENT]...: clients of 'bawn supervise', for supervise.bats.

  transcript DOC WORK  answers as the transcript in DOC does, and compares
  answer WORD N        says cmd.WORD to N questions, and prints what it hears
  say LINE...          says each line after the hello, and prints each reply
  hold                 says hello, and never answers
  hostile PID          does what no client should; prints what the process PID has grown by
  slow PID N MS        answers N questions, one in MS, reading nothing meanwhile; prints the same
"""
import json
import os
import re
import select
import socket
import sys
import time


class Client:
    def __init__(self, path, hello=True):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(20)
        self.file = self.socket.makefile("rb")
        self.log = []
        if hello:
            self.say({"type": "cmd.hello", "version": 1, "seq": 1})
            assert self.hear()["ok"] is True

    def say(self, command):
        line = json.dumps(command)
        self.log.append("> " + line)
        self.socket.sendall(line.encode() + b"\n")

    def hear(self):
        line = self.file.readline()
        if not line:
            raise EOFError
        self.log.append("< " + line.decode().rstrip("\n"))
        return json.loads(line)

    def question(self):
        while True:
            event = self.hear()
            if event["type"].endswith("_request"):
                return event

    def reply(self, to):
        while True:
            event = self.hear()
            if event["type"] == "reply" and event["to"] == to:
                return event


def transcript(path, doc, work):
    wanted = re.search("```ndjson\n(.*?)```", open(doc).read(), re.S).group(1).splitlines()
    said = [json.loads(line[2:]) for line in wanted if line[0] == ">"]
    client = Client(path, hello=False)
    client.say(said.pop(0))
    print("ready", flush=True)
    while True:
        event = client.hear()
        if event["type"].endswith("_request"):
            client.say({**said.pop(0), "id": event["id"]})
        if event["type"] == "event.session" and event["state"] == "end":
            break

    def plain(line, place, sid):
        line = line.replace(place, "/WORK").replace(sid, "SESSION")
        return re.sub(r'"(pid|timeout_ms)": \d+', r'"\1": 0', line)

    def session(lines):
        return next(json.loads(line[2:]) for line in lines if "event.session" in line)

    ours = [plain(line, work, session(client.log)["session"]) for line in client.log]
    told = session(wanted)
    wanted = [plain(line, told["workspace"], told["session"]) for line in wanted]
    if ours != wanted:
        print("\n".join(client.log))
        sys.exit("not what the protocol says")


def answer(path, word, count):
    client = Client(path)
    print("ready", flush=True)
    for i in range(int(count)):
        question = client.question()
        print(json.dumps(question), flush=True)
        client.say({"type": "cmd." + word, "id": question["id"], "seq": 100 + i})
        print(json.dumps(client.reply(100 + i)), flush=True)
    # Whoever leaves before the session has heard it takes the answer along.
    try:
        while True:
            client.hear()
    except (EOFError, TimeoutError):
        pass


def say(path, *lines):
    client = Client(path)
    for line in lines:
        client.socket.sendall(line.encode() + b"\n")
        while (event := client.hear())["type"] != "reply":
            pass
        print(json.dumps(event), flush=True)


def hold(path):
    client = Client(path)
    print("ready", flush=True)
    try:
        while True:
            print(json.dumps(client.hear()), flush=True)
    except (EOFError, TimeoutError):
        pass


def size(pid):
    status = open(f"/proc/{pid}/status").read()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)), len(os.listdir(f"/proc/{pid}/fd"))


def code_of(path, data):
    """The code of the first reply to what is sent after the hello; "closed" if the connection ended."""
    client = Client(path)
    try:
        client.socket.sendall(data)
        return client.hear()["error"]["code"]
    except (EOFError, ConnectionError):
        return "closed"


def endless(path, total):
    """No newline in all of it."""
    client = Client(path)
    sent = 0
    try:
        while sent < total:
            sent += client.socket.send(b"x" * 65536)
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert sent < total, "all of it was read"
    return sent


def deaf(path):
    """Sends commands for as long as they are taken, and reads no answer."""
    client = Client(path)
    client.socket.setblocking(False)
    sent, until = 0, time.time() + 2
    while time.time() < until:
        try:
            sent += client.socket.send(b'{"type":"cmd.nothing"}\n' * 1000)
        except BlockingIOError:
            if not select.select([], [client.socket], [], 0.3)[1]:
                break
    return client, sent


def hostile(path, pid):
    hello = b'{"type": "cmd.hello", "version": 1}\n'
    # Once, so that what is only made at first is there.
    code_of(path, b"{}\n")
    time.sleep(0.5)
    before = size(pid)
    assert endless(path, 100 << 20) < 1 << 20
    assert code_of(path, b"[" * 60000 + b"\n") == "protocol.json"
    assert code_of(path, b'{"type":' * 6000 + b"\n") == "protocol.json"
    assert code_of(path, b'{"type": "\xff\xfe"}\n') == "protocol.json"
    assert code_of(path, b'{"type": "cmd.hello\x00"}\n') == "protocol.json"
    assert code_of(path, b'\x00\n') == "protocol.json"
    assert code_of(path, b'{"type": "cmd.hello\\u0000", "version": 1}\n') == "protocol.json"
    assert code_of(path, b"\n") == "protocol.json"
    assert code_of(path, b"[]\n") == "protocol.json"
    assert code_of(path, b"{}\n") == "protocol.unknown"
    assert code_of(path, b'{"type": "cmd.nothing"}\n') == "protocol.unknown"
    assert code_of(path, b'{"type": "cmd.hello", "version": 2}\n') == "protocol.version"
    assert code_of(path, b'{"type": "cmd.hello", "version": 1, "more": 1}\n') == "protocol.member"
    assert code_of(path, b'{"type": "cmd.hello", "version": 1, "version": 1}\n') == "protocol.json"
    assert code_of(path, b'{"type": "cmd.hello", "version": 1, "seq": {}}\n') == "protocol.value"
    assert code_of(path, b'{"type": "cmd.approve"}\n') == "protocol.member"
    for id in ("", ":", "x", "aaaaaa:1", "aaaaaa:99999999999999999999", "../../x:1", "a" * 60000):
        assert code_of(path, json.dumps({"type": "cmd.approve", "id": id}).encode() + b"\n") == "approve.unknown", id
    early = Client(path, hello=False)
    early.say({"type": "cmd.approve", "id": "x:1"})
    assert early.hear()["error"]["code"] == "protocol.hello"
    halves = [Client(path, hello=False) for _ in range(4)]
    for half in halves:
        half.socket.sendall(hello[:20])
    deafs = [deaf(path) for _ in range(4)]
    # Others are answered at once.
    start = time.time()
    assert code_of(path, b"{}\n") == "protocol.unknown"
    assert time.time() - start < 2
    many = []
    for _ in range(40):
        one = socket.socket(socket.AF_UNIX)
        one.connect(path)
        many.append(one)
    time.sleep(0.5)
    during = size(pid)
    for one in many + [half.socket for half in halves] + [one.socket for one, _ in deafs] + [early.socket]:
        one.shutdown(socket.SHUT_RDWR)
        one.close()
    time.sleep(0.5)
    after = size(pid)
    print(json.dumps({"before": before, "during": during, "after": after}))
    assert after[1] == before[1], "descriptors stay"
    assert during[1] <= before[1] + 16 + 1, "more descriptors than clients, and the mark"
    assert during[0] < before[0] + 12 * 1024 and after[0] < before[0] + 4 * 1024, "memory grows"


def slow(path, pid, count, wait_ms):
    client = Client(path)
    print("ready", flush=True)
    first, answered = None, 0
    for i in range(int(count)):
        try:
            question = client.question()
        except EOFError:
            break
        client.log.clear()
        time.sleep(int(wait_ms) / 1000)
        client.say({"type": "cmd.deny" if i % 2 else "cmd.approve", "id": question["id"]})
        answered += 1
        # With what the first hundred needed.
        if i == 100:
            first = size(pid)
    last = size(pid)
    print(json.dumps({"answered": answered, "first": first, "last": last}), flush=True)
    assert first is None or (last[0] < first[0] + 2048 and last[1] <= first[1]), "memory grows"


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
