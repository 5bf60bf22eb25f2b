#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""approve.py [--socket PATH] [--allow PATTERN]... [--deny PATTERN]...: answers what sandboxes ask.

A client of 'bawn supervise' in the standard library alone. A question that matches a pattern (of its path,
or of HOST:PORT; * and ? as in a shell) is answered at once, deny before allow. Others are put to you:
y once, a for the session, d for its directory, n no; with --no-input they are denied."""
import argparse
import fnmatch
import json
import os
import selectors
import socket
import sys


def usual_socket():
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return runtime + "/bawn/supervisor"
    return "/run/bawn/supervisor" if os.getuid() == 0 else f"/tmp/bawn-{os.getuid()}/supervisor"


def shown(text):
    """What a program inside made up may have control characters in it: never print it as it is."""
    return json.dumps(text)


def target(question):
    if "host" not in question:
        return question["path"]
    return f"{question['host']}:{question['port']}" if "port" in question else question["host"]


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""
        self.waiting = {}  # id: question, oldest first
        self.seq = 0

    def say(self, type, **members):
        self.seq += 1
        self.socket.sendall(json.dumps({"type": type, "seq": self.seq, **members}).encode() + b"\n")

    def hear(self):
        """The events that came; None: the supervisor is gone."""
        got = self.socket.recv(65536)
        if not got:
            return None
        *lines, self.rest = (self.rest + got).split(b"\n")
        return [json.loads(line) for line in lines]


def by_pattern(question, options):
    for answer, patterns in (("cmd.deny", options.deny), ("cmd.approve", options.allow)):
        if any(fnmatch.fnmatchcase(target(question), pattern) for pattern in patterns):
            return answer
    return None


def put(client):
    """Shows the oldest question."""
    question = next(iter(client.waiting.values()))
    who = question.get("exe", question.get("comm", "?"))
    words = "[y]es once, [a]lways in this session" + (", [d]irectory" if "grant_tree" in question else "") + ", [n]o"
    print(f"{question['id']}: {shown(who)} wants to {question['op']} {shown(target(question))}\n{words}? ", end="", flush=True)


def take(client, event, options):
    kind = event["type"]
    if kind in ("event.fs_request", "event.net_request"):
        command = by_pattern(event, options)
        if not command and options.no_input:
            command = "cmd.deny"
        if command:
            print(f"{event['id']}: {'allow' if command == 'cmd.approve' else 'deny'} {event['op']} {shown(target(event))}", flush=True)
            client.say(command, id=event["id"])
            return
        client.waiting[event["id"]] = event
        if len(client.waiting) == 1:
            put(client)
    elif kind == "event.settled":
        if client.waiting.pop(event["id"], None):
            print(f"\n{event['id']}: {event['answer']}, by {event['by']}", flush=True)
            if client.waiting:
                put(client)
    elif kind == "reply" and "error" in event:
        print(f"refused: {event['error']['message']} ({event['error']['hint']})", file=sys.stderr)


def answer(client, line):
    if not client.waiting:
        return
    question = next(iter(client.waiting.values()))
    scope = {"y": "once", "a": "host" if "host" in question else "file", "d": "dir"}.get(line.strip()[:1].lower())
    if scope:
        client.say("cmd.approve", id=question["id"], scope=scope)
    else:
        client.say("cmd.deny", id=question["id"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--socket", default=usual_socket())
    parser.add_argument("--allow", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--deny", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--no-input", action="store_true", help="deny what no pattern answers")
    options = parser.parse_args()
    client = Client(options.socket)
    client.say("cmd.hello", version=1)
    ready = selectors.DefaultSelector()
    ready.register(client.socket, selectors.EVENT_READ)
    if not options.no_input:
        ready.register(sys.stdin, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is sys.stdin:
                line = sys.stdin.readline()
                if not line:
                    return 0
                answer(client, line)
                continue
            events = client.hear()
            if events is None:
                print("the supervisor is gone", file=sys.stderr)
                return 1
            for event in events:
                take(client, event, options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"approve.py: {error}; is 'bawn supervise' running?")
